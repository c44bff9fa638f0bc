//! `gate judge-words`: asks the judges of last resort, in a process that outlives the hook that started it.

use std::path::PathBuf;

use crate::engine::Workplace;
use crate::exit::Exit;
use crate::failure::Failure;

/// Arguments of `gate judge-words`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file with the question; the answer is written next to it
    question: PathBuf,
}

/// Asks the judges, and writes the answer.
pub fn main(args: &Args) -> anyhow::Result<Exit> {
    let place = Workplace::here()?;
    place.answer_words(&args.question).map_err(Failure::with(Exit::CannotJudge))?;
    Ok(Exit::Pass)
}
