mod args;
mod backoff;
mod check;
mod help;
mod replay;
mod run;
mod settings;

use clap::Parser;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = args::Args::parse();
    let settings = settings::Settings::load(&args.config)?;
    match args.command {
        args::Command::Run => run::run(settings).await,
        args::Command::Check => check::check(&settings),
        args::Command::Replay { file } => replay::replay(&settings, &file).await,
    }
}
