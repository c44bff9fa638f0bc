//! The examples of a runner's file: command lines with what they must be read as.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::runner::catalogue::Catalogue;
use crate::runner::command_kind::{CommandKind, ExitMeaning, RunScope};
use crate::runner::invocation::{Invocation, classify};
use crate::runner::project_files::ProjectFiles;
use crate::runner::runner_definition::Runner;
use crate::runner::word_splitting::simple_commands;

/// A command line with the classification it must get.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Example {
    /// The command line: words, quotes, and `&&` only.
    pub line: String,
    /// `full`, `filtered`, `none_executed` or `not_applicable`.
    pub scope: Option<String>,
    /// The kinds, if they are not the runner's.
    pub kinds: Option<Vec<CommandKind>>,
    /// The name it gets, if it is not the id.
    pub runner: Option<String>,
    /// `true` if another runner must claim the line.
    #[serde(default)]
    pub other: bool,
    /// `true` if it edits files.
    pub edits: Option<bool>,
    /// `true` if exit status 0 is possible although nothing was executed.
    pub empty_exits_zero: Option<bool>,
    /// `true` if it watches.
    pub watches: Option<bool>,
    /// The meaning of exit status 0.
    pub exit: Option<ExitMeaning>,
    /// The files of the project, by path.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

impl ProjectFiles for BTreeMap<String, String> {
    fn read(&self, path: &str) -> Option<String> {
        self.get(path).cloned()
    }
}

impl Example {
    /// Returns the difference between what the example says and how its line is read, as a phrase, or `None` if there
    /// is none.
    pub fn difference(&self, catalogue: &Catalogue, runner: &Runner) -> Option<String> {
        let commands = simple_commands(&self.line);
        let Some([words]) = commands.as_deref() else {
            return Some("an example is one command: words and quotes, without pipes and variables".to_owned());
        };
        let argv: Vec<Option<String>> = words.iter().cloned().map(Some).collect();
        let seen = classify(catalogue, &argv, &self.files);
        let Some(name) = &seen.runner else { return Some("no runner claims this line".to_owned()) };
        if !self.other && !seen.runs.contains(&runner.id) {
            return Some(format!("the runner `{name}` claims this line"));
        }
        let own = if runner.family { name } else { &runner.id };
        let kinds = self.kinds.as_ref().unwrap_or(&runner.kinds);
        let is_any_kind = kinds.is_empty() && runner.task.is_some();
        [
            differs("runner", Some(self.runner.as_ref().unwrap_or(own)), name),
            differs("kinds", Some(kinds).filter(|_| !is_any_kind), &seen.kinds),
            differs("scope", self.scope.as_deref(), scope_name(&seen)),
            differs("edits", self.edits.as_ref(), &seen.edits),
            differs("empty-exits-zero", self.empty_exits_zero.as_ref(), &seen.empty_exits_zero),
            differs("watches", self.watches.as_ref(), &seen.watches),
            differs("exit", self.exit.as_ref(), &seen.exit),
        ]
        .into_iter()
        .flatten()
        .next()
    }
}

/// Returns a phrase about a key whose value is another one than the example says.
fn differs<T: PartialEq + std::fmt::Debug + ?Sized>(key: &str, said: Option<&T>, is: &T) -> Option<String> {
    said.filter(|said| *said != is).map(|said| format!("`{key}` is {is:?} for this line, not {said:?}"))
}

fn scope_name(seen: &Invocation) -> &'static str {
    match seen.scope {
        RunScope::Full => "full",
        RunScope::Filtered { .. } => "filtered",
        RunScope::NoneExecuted { .. } => "none_executed",
        RunScope::NotApplicable => "not_applicable",
    }
}
