//! `gate prompt`: checks that a request is clear and is one task.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::prompt_history;
use crate::config::{self, PromptNotes};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::git::Repo;
use crate::prompt::{PromptEvaluation, PromptText, evaluate, phrase};
use crate::prompt_history::{folder as history_folder, update};
use crate::prompt_lookup::{LOOKUP_TIMEOUT, look_up};
use crate::render;
use crate::render::ui::{Ui, WARN};

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
    /// Print the result as JSON
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
        let previous = if let Some(path) = &self.previous { Some(previous_turn(path)?) } else { None };
        let here = std::env::current_dir()?;
        let repository = Repo::discover(&here)
            .map_err(|error| Failure::new(Exit::Usage, error).remedy("run it in a git repository, or: git init"))?;
        let root = repository.work_tree().map_err(Failure::with(Exit::Usage))?;
        let paths = repository.listed_paths().map_err(Failure::with(Exit::CannotJudge))?;
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

/// Arguments of `gate prompt` alone.
#[derive(Debug, clap::Args)]
pub struct PromptArgs {
    #[command(flatten)]
    request: Args,
    /// Show your last scores, the most common smells and the questions that are open
    #[arg(long, conflicts_with_all = ["text", "previous", "forget"])]
    history: bool,
    /// Remove your history
    #[arg(long, conflicts_with_all = ["text", "previous", "json"])]
    forget: bool,
}

/// Adds an evaluation to the person's history. Returns `true` if an improvement is to be acknowledged.
fn keep(evaluation: &PromptEvaluation, ui: &mut Ui) -> bool {
    let here =
        std::env::current_dir().ok().and_then(|here| Repo::discover(&here).ok()?.work_tree().ok().map(Path::to_owned));
    let is_off = here.is_some_and(|root| config::prompt_notes(&root) == PromptNotes::Off);
    let Some(folder) = history_folder().filter(|_| !is_off) else { return false };
    match update(&folder, |history| history.add(evaluation)) {
        Ok((rises, set_aside)) => {
            if let Some(path) = set_aside {
                prompt_history::say_damaged(&path, ui);
            }
            rises
        }
        Err(error) => {
            ui.say(format_args!("{WARN}gate:{WARN:#} the history of requests is not kept: {error}"));
            false
        }
    }
}

/// Evaluates one request, or shows or removes the history.
pub fn main(args: &PromptArgs, ui: &mut Ui) -> Result<Exit> {
    if args.history {
        return prompt_history::show(args.request.json, ui);
    }
    if args.forget {
        return prompt_history::forget(ui);
    }
    let args = &args.request;
    let evaluation = args.evaluate()?;
    let rises = keep(&evaluation, ui);
    if args.json {
        ui.json(&evaluation)?;
    } else {
        ui.raw(render::prompt_evaluation::lines(&evaluation));
        if rises {
            ui.line(phrase("en", "rising", 0, &[]));
        }
    }
    Ok(if evaluation.band.is_halted() { Exit::NeedsHuman } else { Exit::Pass })
}
