//! The proof that an agent's own command line gives for the commands that a policy declares.
//!
//! A weaker check is never evidence for a stronger one. A line counts for a declared command only if it runs the same
//! checks, in the same directory, with the same arguments except for those that change nothing. In doubt, it proves
//! nothing.

use std::borrow::Cow;

use crate::event::{CommandRef, Ended, RunReport};
use crate::policy::Command;
use crate::repo_path::RepoPath;
use crate::runner::Project;
use crate::shell_kind::Shell;

use super::command_table::table;
use super::output_knowledge::OutputKnowledge;
use super::{CheckOutcome, LineRecord, Purpose, judge, understand, understand_in};
use crate::command_line::run_result::{RunResult, said, sum};

#[cfg(test)]
mod combined_line_tests;
#[cfg(test)]
mod daily_lines_tests;
#[cfg(test)]
mod directory_tests;
mod earlier_edits;
mod equivalence;
#[cfg(test)]
mod filtered_output_tests;
mod folder_above;
#[cfg(test)]
mod late_failure_tests;
#[cfg(test)]
mod member_tests;
mod names_of_tests;
#[cfg(test)]
mod order_tests;
mod partial_runs;
#[cfg(test)]
mod project_tests;
mod proofs;
mod report_paths;
mod required_checks;
mod rounds;
mod script_call;
mod search_path;
mod separate_lines;
mod settled;
mod sourced_file;
#[cfg(test)]
mod spelling_tests;
mod start_directory;
mod stashed_line;
mod surroundings;
#[cfg(test)]
mod surroundings_tests;
#[cfg(test)]
pub(super) mod tests;
#[cfg(test)]
mod unproven_tests;
mod words_of_call;

pub use earlier_edits::{changed_before_checks, may_change_after_checks, moves_before_checks, runs_alone};
pub use equivalence::{CommonGround, Deeds};
pub use names_of_tests::names_seen_from;
pub use partial_runs::{PartlyRun, partly_run};
pub(crate) use proofs::content_comes_and_goes;
use proofs::{CheckProof, Shown, proofs};
pub(super) use required_checks::only_prepares;
use required_checks::{RequestedCheck, asked_of_line};
pub use separate_lines::{proven_in_part, witness_together};
use start_directory::{DirectoryView, StartDirectory};
pub use stashed_line::between_stash_and_pop;
use surroundings::interfering;

/// A recorded command line that gate did not run.
#[derive(Clone, Copy, Debug)]
pub struct ObservedLine<'a> {
    /// The line.
    pub line: &'a str,
    /// The directory that it started in, relative to the root of the working tree, or an absolute path outside of it.
    pub dir: &'a RepoPath,
    /// The absolute path of the root of the working tree, if it is known: lines change to directories by such paths.
    pub root: Option<&'a str>,
    /// The end of its process, or `None` if no status was recorded.
    pub ended: Option<Ended>,
    /// Its output, standard output and standard error together, or `None` if it was not recorded.
    pub output: Option<&'a str>,
    /// `true` if lines at the beginning or in the middle of the output may be missing.
    pub cut: bool,
    /// `true` if it was still running when the record was made.
    pub background: bool,
    /// The shell that ran it, or `None` if it is unknown.
    pub shell: Option<Shell>,
}

impl ObservedLine<'_> {
    fn status(&self) -> Option<i32> {
        match self.ended? {
            Ended::Exited(status) => Some(status),
            Ended::Signalled(_) | Ended::NotStarted => None,
        }
    }

    /// Returns the output, with a mark for missing lines.
    fn text(&self) -> Option<Cow<'_, str>> {
        let output = self.output?;
        Some(if self.cut { Cow::Owned(format!("…\n{output}")) } else { Cow::Borrowed(output) })
    }

    fn record<'b>(&self, text: Option<&'b str>) -> LineRecord<'b> {
        LineRecord { status: self.status(), output: text, background: self.background, shell: self.shell }
    }
}

/// The proof that a recorded line gives for one declared command, like a [`crate::event::Run`] of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witnessed {
    /// The declared command.
    pub command: CommandRef,
    /// The end of its checks, which may differ from that of the line. 0 if they passed, or if `masked` or `report`
    /// explains their end; otherwise the status of the line, or 1.
    pub ended: Ended,
    /// The counts of its runner.
    pub report: Option<RunReport>,
    /// The reason why the record does not show the end of its checks.
    pub masked: Option<String>,
}

/// Returns the declared commands for which the record of a line proves anything. `project` is seen from the root of the
/// working tree, with its files as they were before the line: they define its tasks.
pub fn witness(commands: &[Command], told: &ObservedLine<'_>, project: Project<'_>) -> Vec<Witnessed> {
    let Ok(start) = std::str::from_utf8(told.dir.as_bytes()) else { return Vec::new() };
    let place = StartDirectory { root: told.root, start, project };
    let proofs = proofs(told, place);
    commands
        .iter()
        .filter_map(|command| {
            let command_place = StartDirectory { start: std::str::from_utf8(command.dir.as_bytes()).ok()?, ..place };
            let whole = told.line.trim() == command.run.trim() && *told.dir == command.dir;
            let asked = || {
                let mut asked = asked_of_line(&command.run, command_place)?;
                settled::unsettle(&mut asked, [(told, place)]);
                Some(asked)
            };
            if !whole && proofs.is_empty() {
                return None;
            }
            let found = if whole { of_the_same_line(told, place) } else { DeclaredProof::of(&asked()?, &proofs) };
            Some(Witnessed {
                command: command.reference(),
                ended: found.as_ref()?.ended(told),
                report: found.as_ref()?.report.clone(),
                masked: found?.masked,
            })
        })
        .collect()
}

/// Returns the text of the command in a line that may change what its checks run: `source ./env.sh`.
pub fn interfering_command(told: &ObservedLine<'_>, project: Project<'_>) -> Option<String> {
    let start = std::str::from_utf8(told.dir.as_bytes()).ok()?;
    let place = StartDirectory { root: told.root, start, project };
    let view = DirectoryView(place);
    let understood = understand_in(told.line, told.shell, project.with_files(&view)).ok()?;
    interfering(&understood, place).map(|leaf| leaf.text.clone())
}

/// Returns the files below the root of the working tree into which a line wrote only the output of its checks.
pub fn own_logs(told: &ObservedLine<'_>, project: Project<'_>) -> Vec<RepoPath> {
    let Ok(start) = std::str::from_utf8(told.dir.as_bytes()) else { return Vec::new() };
    let mut logs: Vec<String> = proofs(told, StartDirectory { root: told.root, start, project })
        .into_iter()
        .flat_map(|proof| proof.logs)
        .collect();
    logs.sort_unstable();
    logs.dedup();
    logs.iter().map(|path| RepoPath::from(path.as_str())).collect()
}

/// The proof for a declared command.
struct DeclaredProof {
    failed: bool,
    broken_off: Option<Ended>,
    report: Option<RunReport>,
    masked: Option<String>,
}

impl DeclaredProof {
    /// Combines the proofs for all checks of a command. Returns `None` if one of them is not in the line, and the
    /// others did not fail.
    fn of(asked: &[RequestedCheck], proofs: &[CheckProof]) -> Option<Self> {
        if asked.iter().all(|check| check.settled && !check.is_in(proofs)) {
            return None;
        }
        let parts: Vec<Option<Self>> = asked.iter().map(|asked| Self::of_one(asked, proofs)).collect();
        let failure = parts.iter().flatten().position(|part| part.failed);
        if let Some(at) = failure {
            return parts.into_iter().flatten().nth(at);
        }
        let parts: Vec<Self> = parts.into_iter().collect::<Option<_>>()?;
        let nothing = |(part, asked): (&Self, &RequestedCheck)| {
            !asked.is_share && part.report.as_ref().is_some_and(|report| report.passed == 0)
        };
        let empty = parts.iter().zip(asked).any(nothing);
        let broken_off = parts.iter().find_map(|part| part.broken_off);
        let masked = parts.iter().find_map(|part| part.masked.clone()).filter(|_| broken_off.is_none());
        let mut report = sum(parts.into_iter().filter_map(|part| part.report));
        if let Some(report) = report.as_mut().filter(|_| empty) {
            report.passed = 0;
        }
        Some(Self { failed: false, broken_off, report, masked })
    }

    /// Returns the proof of a check that passed and counted nothing.
    fn uncounted() -> Self {
        Self { failed: false, broken_off: None, report: None, masked: None }
    }

    fn of_one(asked: &RequestedCheck, proofs: &[CheckProof]) -> Option<Self> {
        let direct: Vec<&CheckProof> = proofs.iter().filter(|proof| proof.key.covers(&asked.key)).collect();
        if direct.is_empty() && asked.settled {
            return Some(Self::uncounted());
        }
        if direct.is_empty() {
            return Self::of(asked.parts.as_ref().or(asked.members.as_ref())?, proofs);
        }
        let mut found = Self::uncounted();
        let mut in_order = true;
        for proof in direct {
            match &proof.shown {
                // Of one check that runs again, the last result decides.
                Shown::Passed if in_order && proof.in_order => {
                    found = Self {
                        report: proof.report.clone().or(found.report.filter(|_| !found.failed)),
                        ..Self::uncounted()
                    };
                }
                Shown::Passed => found.report = found.report.or_else(|| proof.report.clone()),
                Shown::Failed => found = Self { failed: true, report: proof.report.clone(), ..Self::uncounted() },
                Shown::Empty | Shown::BrokenOff(_) | Shown::Open(_) if found.failed => {}
                Shown::Empty => found.report = Some(nothing()),
                Shown::BrokenOff(ended) => found.broken_off = Some(*ended),
                Shown::Open(why) => found.masked = Some(why.clone()),
            }
            in_order &= proof.in_order;
        }
        Some(found)
    }

    fn ended(&self, told: &ObservedLine<'_>) -> Ended {
        match (self.failed, self.broken_off, told.ended) {
            (true, _, Some(ended @ Ended::Exited(status))) if status != 0 => ended,
            (true, ..) => Ended::Exited(1),
            (false, Some(ended), _) => ended,
            (false, None, _) => Ended::Exited(0),
        }
    }
}

fn nothing() -> RunReport {
    RunReport { runner: String::new(), passed: 0, failed: 0, skipped: 0 }
}

/// Returns the proof for a command whose own line was run: the same as if `gate` had run it.
fn of_the_same_line(told: &ObservedLine<'_>, place: StartDirectory<'_>) -> Option<DeclaredProof> {
    if told.background || told.output.is_some_and(|output| table().harness_says(output).is_some()) {
        return None;
    }
    let view = DirectoryView(place);
    let project = place.project.with_files(&view);
    let text = told.text();
    let understood = understand(told.line, project).ok();
    let runs = understood.iter().flat_map(|line| &line.purposes).flat_map(Purpose::runs);
    let runners: Vec<_> = runs.filter_map(|id| project.runners.runner(id)).collect();
    let words = |ended| {
        said(
            told.line,
            &runners,
            ended,
            text.as_deref().unwrap_or("…"),
            OutputKnowledge::AsTold(told.shell),
            None,
            project,
        )
    };
    let mut shows = DeclaredProof::uncounted();
    match told.ended {
        Some(ended @ Ended::Exited(0)) => RunResult { report: shows.report, masked: shows.masked } = words(ended),
        Some(ended @ Ended::Exited(_)) => {
            shows.failed = true;
            shows.report = words(ended).report.filter(|report| report.failed > 0);
        }
        Some(ended) => shows.broken_off = Some(ended),
        None => match judge(told.line, &told.record(text.as_deref()), project).result {
            Some(CheckOutcome::Pass) => {}
            Some(CheckOutcome::Fail) => shows.failed = true,
            _ => shows.masked = Some("no status was recorded".to_owned()),
        },
    }
    Some(shows)
}
