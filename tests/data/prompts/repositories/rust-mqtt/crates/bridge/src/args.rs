use clap::{Parser, Subcommand};
use std::path::PathBuf;

#[derive(Parser)]
#[command(name = "sensorbridge", version)]
pub struct Args {
    #[arg(long, default_value = "bridge.toml")]
    pub config: PathBuf,
    #[arg(long, global = true)]
    pub verbose: bool,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    Run,
    Check,
    Replay { file: PathBuf },
}
