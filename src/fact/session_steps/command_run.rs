//! A command line that was run, with the result of its analysis.

use serde::{Deserialize, Serialize};

use super::output_similarity;
use crate::command_line::{self, CheckOutcome, Extent, LineRecord};
use crate::event::{Ended, Run};
use crate::fact::intent::{self, Intent};
use crate::foreign_text::shortened_in_bytes;
use crate::runner::{CommandKind, Project};
use crate::shell::expanded_program::Leaf;
use crate::shell_kind::Shell;

/// The maximum number of commands of a line that are listed.
const COMMANDS: usize = 24;
/// The maximum number of words of a command that are listed, and the maximum length of a word, in bytes.
const WORDS: usize = 32;
const WORD: usize = 512;
/// The maximum length of a line that is kept, in bytes.
const LINE: usize = 4 * 1024;

/// A command line that was run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CommandRun {
    /// The line, secrets removed, bounded.
    pub line: String,
    /// The simple commands it would execute, in the order of the text, bounded.
    pub commands: Vec<SimpleRun>,
    /// The name of the declared command, if `gate` ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<String>,
    /// The kinds of the commands that it executes, in the words of [`command_line::LineJudgement::kind`].
    pub kinds: Vec<String>,
    /// The runner of the deciding checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<String>,
    /// The extent of the tests that it executes, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Extent>,
    /// The kind of the checks that decide, or `None` if it checks nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decides: Option<CommandKind>,
    /// The result of these checks, or `None` if it checks nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<CheckOutcome>,
    /// The end of the process, if it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// `true` if the line itself can change files of the working tree.
    pub edits: bool,
    /// The branches that it pushes to, as far as the text shows them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pushes_to: Option<String>,
    /// `true` if a time limit ended it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over_time: bool,
    /// `true` if it was left running.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// The shell that ran it, or `None` if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<Shell>,
    /// The fingerprint of its end and its output, without times, addresses and the like.
    pub outcome: String,
    /// The fingerprint of the failure. It is equal for the same failure on other content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The tests that its output names as failed, bounded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_tests: Vec<String>,
    /// Its actions that touched the safeguards of the work, as far as its text shows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intents: Vec<Intent>,
    /// The first line of its output that explains a failure, bounded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub says: String,
}

/// A simple command of a line, wrappers removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SimpleRun {
    /// The program and its arguments, as far as they are known: an unknown one is `…`.
    pub words: Vec<String>,
    /// Assignments in front of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<(String, Option<String>)>,
    /// The files that it opens for writing by redirection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// The directory that the line changed to before, or `None` if that is unknown or the start directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    /// `true` if it changes files of the working tree.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edits: bool,
}

impl SimpleRun {
    /// Returns the name of the program, without its directory.
    pub fn program(&self) -> &str {
        let whole = self.words.first().map_or("", String::as_str);
        whole.rsplit(['/', '\\']).next().unwrap_or(whole)
    }

    fn of(leaf: &Leaf, edits: bool) -> Self {
        let word = |text: Option<String>| shortened_in_bytes(text.unwrap_or_else(|| "…".to_owned()), WORD);
        Self {
            words: leaf.words().into_iter().take(WORDS).map(word).collect(),
            environment: leaf.environment.iter().take(WORDS).cloned().collect(),
            writes: leaf.writes.iter().flatten().take(WORDS).cloned().collect(),
            dir: leaf.directory.as_ref().and_then(|directory| directory.path.clone()),
            edits,
        }
    }
}

impl CommandRun {
    /// Analyses the record of a line.
    pub(super) fn of(
        line: &str,
        ended: Option<Ended>,
        tail: &str,
        background: bool,
        shell: Option<Shell>,
        project: Project<'_>,
    ) -> Self {
        let status = ended.map(|ended| match ended {
            Ended::Exited(code) => code,
            Ended::Signalled(signal) => 128 + signal,
            Ended::NotStarted => 127,
        });
        // Without a status an empty output is one that was not recorded.
        let output = (status.is_some() || !tail.is_empty()).then_some(tail);
        let judged = command_line::judge(line, &LineRecord { status, output, background, shell }, project);
        let understood = command_line::understand_in(line, shell, project).ok();
        let intents = understood.as_ref().map(intent::of_line).unwrap_or_default();
        let commands = understood.map_or_else(Vec::new, |understood| {
            let count = understood.program.leaves.len().min(COMMANDS);
            let both = understood.steps().take(count);
            both.map(|(leaf, purpose)| SimpleRun::of(leaf, purpose.edits)).collect()
        });
        let mut ran = Self {
            line: shortened_in_bytes(line.to_owned(), LINE),
            commands,
            kinds: judged.kind,
            runner: judged.runner,
            scope: judged.scope,
            decides: judged.decisive_kind,
            result: judged.result,
            ended,
            edits: judged.edits_files,
            pushes_to: judged.pushes_to,
            background,
            shell,
            over_time: !background && Ended::is_over_time(ended, tail),
            intents,
            ..Self::default()
        };
        ran.read_output(tail);
        ran
    }

    /// Returns a run that `gate` watched, with the end of its output. Its counts are known even if the output is cut off.
    pub(super) fn observed(run: &Run, tail: &str, project: Project<'_>) -> Self {
        let mut ran = Self::of(&run.command.line, Some(run.ended), tail, false, Some(Shell::Sh), project);
        ran.declared.clone_from(&run.command.name);
        ran.result = Some(match &run.report {
            _ if !run.ended.success() => CheckOutcome::Fail,
            Some(report) if report.failed > 0 => CheckOutcome::Fail,
            _ if run.masked.is_some() => CheckOutcome::Unknown,
            Some(report) if report.passed == 0 => CheckOutcome::NoTests,
            _ => CheckOutcome::Pass,
        });
        ran.read_output(tail);
        ran
    }

    /// Adds the record of the declared command that this line ran, whose output ends with `tail`: it holds results that the
    /// end of the output may not show.
    pub(super) fn shown_by(&mut self, run: &Run, tail: &str, project: Project<'_>) {
        let seen = Self::observed(run, run.output(Some(tail)), project);
        self.declared = self.declared.take().or(seen.declared);
        if matches!(self.result, None | Some(CheckOutcome::Unknown | CheckOutcome::NoTests)) {
            self.result = seen.result;
            (self.outcome, self.failure) = (seen.outcome, seen.failure);
            (self.failed_tests, self.says) = (seen.failed_tests, seen.says);
        }
    }

    fn read_output(&mut self, tail: &str) {
        let reading = output_similarity::read(self.ended, self.result, tail);
        self.outcome = reading.outcome;
        self.failure = reading.failure;
        self.failed_tests = reading.failed_tests;
        self.says = reading.says;
    }

    /// Returns `true` if it was killed, or ended by a time limit, before any of its tests is known to have failed.
    pub fn was_cut_short(&self) -> bool {
        self.failed_tests.is_empty() && (self.over_time || self.ended.is_some_and(|ended| ended.killed_by().is_some()))
    }

    /// Returns `true` if it executes tests.
    pub fn is_test(&self) -> bool {
        self.decides == Some(CommandKind::Test)
    }

    /// Returns `true` if it checks something.
    pub fn is_check(&self) -> bool {
        self.decides.is_some()
    }

    /// Returns `true` if it is known to have failed: by its checks, or by its status if it checks nothing.
    pub fn failed(&self) -> bool {
        match self.result {
            Some(result) => result == CheckOutcome::Fail,
            None => self.ended.is_some_and(|ended| !ended.success()),
        }
    }
}
