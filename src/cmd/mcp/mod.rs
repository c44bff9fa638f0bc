//! `gate mcp`: the commands of gate as tools of a Model Context Protocol server on standard input and output.

mod child;
mod questions;
mod server;
mod tool_table;

use anyhow::Result;
use rmcp::ServiceExt as _;
use rmcp::transport::stdio;
use tokio::runtime::Builder;

use self::server::GateServer;
use crate::exit::Exit;
use crate::failure::Failure;

/// Arguments of `gate mcp`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Serves until the client closes standard input.
pub fn main(_args: &Args) -> Result<Exit> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let ended: Result<()> = runtime.block_on(async {
        let service = GateServer::new()?.serve(stdio()).await?;
        service.waiting().await?;
        Ok(())
    });
    // A client that closes the connection before it says hello is gone; there is nobody to tell.
    runtime.shutdown_background();
    ended.map_err(|error| Failure::new(Exit::BadInput, format!("the conversation with the client failed: {error}")))?;
    Ok(Exit::Pass)
}
