//! `gate prompt --history` and `--forget`: the state of a person's requests.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use serde::Serialize;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::prompt_history::{self, PromptHistory, PromptTrend, ScoredPrompt};
use crate::render;
use crate::render::ui::{Ui, WARN};

/// The history of requests, for programs.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct PromptHistoryReport<'a> {
    /// The version of this form: 1.
    schema_version: u32,
    /// The last ten scores, oldest first.
    scores: &'a [ScoredPrompt],
    /// The direction of the scores.
    trend: PromptTrend,
    /// The number of requests with each smell.
    smells: &'a BTreeMap<String, u64>,
    /// The kinds of questions that are open.
    open: Vec<&'a str>,
}

fn folder() -> Result<PathBuf> {
    let missing = || Failure::new(Exit::CannotJudge, "there is no home directory, so no history of requests is kept");
    Ok(prompt_history::folder().ok_or_else(|| missing().remedy("set XDG_STATE_HOME to a folder"))?)
}

fn unreadable(error: &std::io::Error) -> Failure {
    Failure::new(Exit::CannotJudge, format!("the history of requests cannot be read or written: {error}"))
}

/// Prints the history.
pub(super) fn show(json: bool, ui: &mut Ui) -> Result<Exit> {
    let read = prompt_history::read(&folder()?).map_err(|error| unreadable(&error))?;
    if let Some(path) = read.set_aside {
        say_damaged(&path, ui);
    }
    let history: &PromptHistory = &read.history;
    if json {
        let report = PromptHistoryReport {
            schema_version: 1,
            scores: &history.scores,
            trend: history.trend(),
            smells: &history.smells,
            open: history.open(),
        };
        ui.json(&report)?;
    } else {
        ui.raw(render::prompt_evaluation::history(history));
    }
    Ok(Exit::Pass)
}

/// Removes the history.
pub(super) fn forget(ui: &mut Ui) -> Result<Exit> {
    let there_was_one = prompt_history::forget(&folder()?).map_err(|error| unreadable(&error))?;
    ui.line(if there_was_one { "the history of your requests is removed" } else { "there is no history of requests" });
    Ok(Exit::Pass)
}

/// Says where a damaged file is now.
pub(super) fn say_damaged(path: &std::path::Path, ui: &mut Ui) {
    let path = path.display();
    ui.say(format_args!(
        "{WARN}gate:{WARN:#} the history of requests was damaged; it is now {path}, and a new one begins"
    ));
}
