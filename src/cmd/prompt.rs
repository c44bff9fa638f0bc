//! `gate prompt`: checks that a request is clear and is one task.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::git::Repo;
use crate::prompt::{PromptEvaluation, PromptText, evaluate};
use crate::prompt_lookup::{LOOKUP_TIMEOUT, look_up};
use crate::render;
use crate::render::ui::Ui;

/// The maximum number of bytes that are read from a file or from standard input.
const MAX_INPUT: u64 = 32 * 1024 * 1024;

/// Arguments of `gate prompt` and of `gate scope`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The request; by default, or with `-`, standard input
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    text: Option<String>,
    /// A file with the assistant's previous turn
    #[arg(long, value_name = "FILE")]
    previous: Option<PathBuf>,
    /// Print the evaluation as JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Reads the input and evaluates it in the current repository.
    pub(super) fn evaluate(&self) -> Result<PromptEvaluation> {
        let text = match self.text.as_deref().filter(|text| *text != "-") {
            Some(text) => text.to_owned(),
            None => utf8("the request", read(std::io::stdin().lock())?)?,
        };
        let previous = match &self.previous {
            Some(path) => Some(previous_turn(path)?),
            None => None,
        };
        let here = std::env::current_dir()?;
        let repository = Repo::discover(&here)
            .map_err(|error| Failure::new(Exit::Usage, error).remedy("run it in a git repository, or: git init"))?;
        let root = repository.work_tree().map_err(|error| Failure::new(Exit::Usage, error))?;
        let paths = repository.listed_paths().map_err(|error| Failure::new(Exit::CannotJudge, error))?;
        let reading = PromptText::of(&text);
        let findings = look_up(root, &paths, &reading.names, LOOKUP_TIMEOUT);
        Ok(evaluate(&reading, previous.as_deref(), &findings))
    }

    /// Returns `true` if the evaluation is printed as JSON.
    pub(super) fn is_json(&self) -> bool {
        self.json
    }
}

fn previous_turn(path: &Path) -> Result<String> {
    let failure = |error| Failure::new(Exit::BadInput, format!("{} cannot be read: {error}", path.display()));
    let file = std::fs::File::open(path).map_err(failure)?;
    Ok(String::from_utf8_lossy(&read(file)?).into_owned())
}

fn read(from: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = from.take(MAX_INPUT).read_to_end(&mut bytes);
    read.map_err(|error| Failure::new(Exit::BadInput, format!("the request cannot be read: {error}")))?;
    Ok(bytes)
}

fn utf8(what: &str, bytes: Vec<u8>) -> Result<String> {
    let failure =
        |_| Failure::new(Exit::BadInput, format!("{what} is not UTF-8")).remedy("convert it to UTF-8 and try again");
    Ok(String::from_utf8(bytes).map_err(failure)?)
}

/// Evaluates one request.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let evaluation = args.evaluate()?;
    if args.json {
        ui.line(serde_json::to_string_pretty(&evaluation)?);
    } else {
        ui.raw(render::prompt::lines(&evaluation));
    }
    Ok(if evaluation.band.is_halted() { Exit::NeedsHuman } else { Exit::Pass })
}
