//! The proof that the record of a line gives for each of its checks.

use std::cell::OnceCell;

use crate::command_line::check_outcome::CheckView;
use crate::command_line::forged_output::{alone, files_of};
use crate::command_line::purpose::Purpose;
use crate::command_line::reviewed_line::Reviewed;
use crate::command_line::run_result::sum;
use crate::command_line::shown_output::may_show;
use crate::command_line::understanding::CHECKS;
use crate::command_line::{CheckOutcome, output_evidence};
use crate::event::{Ended, RunReport};
use crate::runner::{Catalogue, OutputOutcome, OutputReading, Runner, read_output_of};
use crate::shell::command_outcome::CommandOutcome;
use crate::shell::exit_status;
use crate::shell::expanded_program::{Leaf, LeafId, Program};

use super::ObservedLine;
use super::report_paths::report_paths;
use super::required_checks::{CheckKey, CheckSubject, RequestedCheck, asked_of_leaf, only_prepares};
use super::rounds::{all_passed, is_passed_retry};
use super::script_call::script_lines;
use super::start_directory::{DirectoryView, StartDirectory};
use super::surroundings::surroundings_change;

/// The maximum number of scripts, one inside the other, whose lines are read.
const MAX_SCRIPTS: usize = 2;

/// Exit status of a shell for a command that it did not find.
const COMMAND_NOT_FOUND: i32 = 127;

/// The end of a check, as far as the record shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// The check ran and passed.
    Passed,
    /// The check ran and failed.
    Failed,
    /// The check ran, and there was nothing to execute.
    Empty,
    /// The check was interrupted before it could find anything.
    BrokenOff(Ended),
    /// The record does not show the end of the check, for this reason.
    Open(String),
}

/// One check of the line, and its end.
#[derive(Clone, Debug)]
pub(super) struct CheckProof {
    pub(super) key: CheckKey,
    pub(super) shown: Shown,
    /// The counts of its runner, if they are surely its own.
    pub(super) report: Option<RunReport>,
    /// `true` if it ended before what follows in the line began.
    pub(super) in_order: bool,
    /// The files, from the root of the working tree, that hold only the output of the check.
    pub(super) logs: Vec<String>,
}

impl RequestedCheck {
    /// Returns `true` if one of the proofs is one of this check, or of one of its parts.
    pub(super) fn is_in(&self, proofs: &[CheckProof]) -> bool {
        proofs.iter().any(|proof| proof.key.covers(&self.key))
            || self.parts.iter().chain(&self.members).flatten().any(|part| part.is_in(proofs))
    }
}

/// Returns the proofs for all checks of a recorded line.
pub(super) fn proofs(told: &ObservedLine<'_>, place: StartDirectory<'_>) -> Vec<CheckProof> {
    proofs_within(told, place, MAX_SCRIPTS)
}

/// Does the same, and reads up to `scripts` scripts one inside the other.
fn proofs_within(told: &ObservedLine<'_>, place: StartDirectory<'_>, scripts: usize) -> Vec<CheckProof> {
    let view = DirectoryView(place);
    let project = place.project.with_files(&view);
    let text = told.text();
    let Ok(reviewed) = Reviewed::of(told.line, &told.record(text.as_deref()), project) else { return Vec::new() };
    let understood = &reviewed.understood;
    let program = &understood.program;
    if reviewed.harness.is_some() || told.background || program.truncated || surroundings_change(understood, place) {
        return Vec::new();
    }
    let judge = reviewed.judge(project);
    if judge.foreign.is_some() || complains_of_script(program, text.as_deref()) {
        return Vec::new();
    }
    let recorded = told.status();
    let went = |id: LeafId| {
        let fate = exit_status::fate_seen(program, id, &judge.seen);
        fate.complete && fate.given(recorded).only(CommandOutcome::Succeeded)
    };
    let moved = program.leaves.iter().enumerate().filter(|(_, leaf)| matches!(leaf.name(), Some("cd" | "pushd")));
    let arrived = moved.into_iter().all(|(id, _)| went(id));
    let mut proofs = Vec::new();
    let rounds = OnceCell::new();
    let passed = || all_passed(project.runners, understood, text.as_deref().unwrap_or_default());
    let in_rounds = |id: LeafId| rounds.get_or_init(passed).contains(&id);
    for (id, (leaf, purpose)) in program.leaves.iter().zip(&understood.purposes).enumerate() {
        let sure = leaf.directory.as_ref().is_none_or(|directory| directory.certain || arrived);
        if only_prepares(leaf, purpose) || !sure || content_comes_and_goes(program, &understood.purposes, id) {
            continue;
        }
        let watches = purpose.invocation.as_ref().is_some_and(|invocation| invocation.watches);
        let Some(asked) = asked_of_leaf(leaf, place).filter(|_| !watches) else { continue };
        let fate = exit_status::fate(program, id);
        let kind = CHECKS.into_iter().find(|kind| purpose.is(*kind));
        let view_of = |ids| CheckView { judge: &judge, leaf: id, fate, ids };
        let (shown, report) = if let Some(kind) = kind {
            let ids: Vec<LeafId> = (0..program.leaves.len()).filter(|id| understood.purposes[*id].is(kind)).collect();
            let view = view_of(&ids);
            let ending = view.ending();
            let alone = alone(project.runners, program, &understood.purposes, id);
            let empty = is_empty(&ending.reading);
            if ending.outcome == CheckOutcome::Fail && is_usage_error(project.runners, purpose, told) {
                continue;
            }
            let is_followed = || ending.by_output && !alone && view.follower().is_some();
            let is_retry = told.status() == Some(0) && !empty && is_passed_retry(program, id);
            let shown = match ending.outcome {
                CheckOutcome::Pass | CheckOutcome::Unknown if is_followed() || is_retry => Shown::Passed,
                _ if ending.by_output && !alone && !in_rounds(id) => {
                    Shown::Open("its output cannot be told from another's".to_owned())
                }
                CheckOutcome::Pass => Shown::Passed,
                CheckOutcome::Fail
                    if output_evidence::not_started(program, id, text.as_deref().unwrap_or_default()) =>
                {
                    Shown::BrokenOff(Ended::Exited(COMMAND_NOT_FOUND))
                }
                CheckOutcome::Fail => failed(leaf, told, ending.by_output),
                CheckOutcome::NoTests if empty && alone => Shown::Empty,
                // It was not reached.
                CheckOutcome::NoTests => continue,
                CheckOutcome::Unknown if fate.decides() || told.status() != Some(0) => Shown::Open(ending.because),
                CheckOutcome::Unknown => Shown::Open(format!("{}; {}", ending.because, judge.masked_by(id))),
            };
            let own = own_counts(&shown, sum(ending.reading.reports).filter(|_| alone));
            (shown, own)
        } else {
            let printed = output_evidence::printed_statuses(program, text.as_deref().unwrap_or_default());
            match by_status_alone(exit_status::fate_seen(program, id, &printed), told) {
                Some(CommandOutcome::Succeeded) => {
                    script_passed(project.runners, text.as_deref().unwrap_or_default(), program, id)
                }
                Some(CommandOutcome::Failed) => (failed(leaf, told, false), None),
                Some(CommandOutcome::NotRun) => continue,
                None if view_of(&[]).follower().is_some()
                    || told.status() == Some(0) && is_passed_retry(program, id) =>
                {
                    (Shown::Passed, None)
                }
                None if scripts > 0
                    && let Some(line) = with_script_lines(told.line, leaf, &asked, place) =>
                {
                    // The output may show what the status does not.
                    proofs.extend(proofs_within(&ObservedLine { line: &line, ..*told }, place, scripts - 1));
                    continue;
                }
                None => (Shown::Open(format!("its own status is lost: {}", judge.masked_by(id))), None),
            }
        };
        let shown = match (&shown, told.ended) {
            (Shown::Open(_), Some(ended @ (Ended::Signalled(_) | Ended::NotStarted))) => Shown::BrokenOff(ended),
            _ => shown,
        };
        let first = proofs.len();
        let in_order = !leaf.background && !leaf.late && !leaf.repeated;
        let proof = CheckProof { key: asked.key.clone(), shown, report, in_order, logs: Vec::new() };
        spread(&asked, &proof, &mut proofs);
        // `cat > file` writes no log.
        let may_check = kind.is_some() || purpose.is_unknown || purpose.kinds.contains(&"other");
        if let Some(proof) = proofs.get_mut(first).filter(|_| may_check) {
            proof.logs = logs_of(program, id, &report_paths(leaf, purpose, project.runners), place);
        }
    }
    proofs
}

/// Returns `true` if the shell may have said that it could not write a script that the line ran: then an older one ran. What it
/// says about a file has a colon beside its name, in every language.
fn complains_of_script(program: &Program, output: Option<&str>) -> bool {
    let is_named = |path: &String| {
        output.is_none_or(|output| output.contains(&format!("{path}:")) || output.contains(&format!(": {path}")))
    };
    program.followed.iter().any(is_named)
}

/// Returns `true` if a line ended with the status by which one of the runners of a check says that it was not called rightly.
fn is_usage_error(catalogue: &Catalogue, purpose: &Purpose, told: &ObservedLine<'_>) -> bool {
    let says = |runner: &Runner| told.status().is_some_and(|status| runner.usage_exit.contains(&status));
    purpose.runs().filter_map(|id| catalogue.runner(id)).any(says)
}

/// Returns `true` if a runner found nothing to execute.
fn is_empty(reading: &OutputReading) -> bool {
    let executed_nothing = |report: &RunReport| report.passed + report.failed == 0;
    reading.says == OutputOutcome::NothingRan
        || !reading.reports.is_empty() && reading.reports.iter().all(executed_nothing)
}

/// Returns the counts of a runner if they agree with the end of its check.
fn own_counts(shown: &Shown, counted: Option<RunReport>) -> Option<RunReport> {
    match shown {
        Shown::Passed => counted.filter(|report| report.failed == 0 && report.passed > 0),
        Shown::Failed => counted.filter(|report| report.failed > 0),
        _ => None,
    }
}

/// Returns a line with the lines of a script of the project in place of its call, if all of them are known.
fn with_script_lines(line: &str, leaf: &Leaf, asked: &RequestedCheck, place: StartDirectory<'_>) -> Option<String> {
    let CheckSubject::Program(call) = &asked.key.what else { return None };
    asked.parts.as_ref()?;
    // Variables and wrappers are for the whole script.
    let is_plain = leaf.environment.is_empty() && leaf.given.is_empty() && leaf.withheld.is_empty();
    if !is_plain || !leaf.wrappers.is_empty() || leaf.repeated || leaf.remote {
        return None;
    }
    let lines = script_lines(call, &asked.key.directory, place)?;
    let words: Vec<&str> = leaf.argv.iter().map(|arg| arg.text.as_str()).collect();
    let (before, after) = line.split_once(&words.join(" "))?;
    Some(format!("{before}(\n{lines}\n){after}"))
}

/// Returns the files, from the root of the working tree, that a check overwrites with its output, and its `reports`.
fn logs_of(program: &Program, id: LeafId, reports: &[String], place: StartDirectory<'_>) -> Vec<String> {
    let leaf = &program.leaves[id];
    // What is appended to may hold something that the check reads.
    let appends = |path: &str| {
        let mut tees = program.leaves.iter().filter(|leaf| leaf.name() == Some("tee"));
        leaf.text.contains(">>")
            || tees.any(|tee| {
                let has = |word: &str| tee.argv.iter().any(|arg| arg.text == word);
                has(path) && (has("-a") || has("--append"))
            })
    };
    let from_root = |path: &str| match &leaf.directory {
        Some(directory) if !path.starts_with('/') => place.inside(&format!("{}/{path}", directory.path.as_ref()?)),
        _ => place.inside(path),
    };
    let shown = files_of(program, id).into_iter().filter(|path| !appends(path));
    shown.chain(reports.iter().map(String::as_str)).filter_map(from_root).collect()
}

/// Adds the proof for a check and for its parts.
fn spread(asked: &RequestedCheck, proof: &CheckProof, proofs: &mut Vec<CheckProof>) {
    let proof = CheckProof { key: asked.key.clone(), ..proof.clone() };
    let parts = asked.parts.as_deref().unwrap_or_default();
    let of_part = match &proof.shown {
        // Which of its parts failed, was empty or came to be at all is not known.
        Shown::Failed | Shown::Empty | Shown::BrokenOff(_) | Shown::Open(_) if parts.len() > 1 => {
            let shown = Shown::Open(format!(
                "the task runs {} checks, and what is shown does not say how each of them ended",
                parts.len()
            ));
            CheckProof { shown, report: None, ..proof.clone() }
        }
        _ => CheckProof { report: proof.report.clone().filter(|_| parts.len() == 1), ..proof.clone() },
    };
    proofs.push(proof);
    for part in parts {
        spread(part, &of_part, proofs);
    }
}

/// Returns the outcome that the status alone shows for a command.
fn by_status_alone(fate: exit_status::Fate, told: &ObservedLine<'_>) -> Option<CommandOutcome> {
    let status = told.status().filter(|_| fate.complete)?;
    let possible = fate.given(Some(status));
    [CommandOutcome::Succeeded, CommandOutcome::Failed, CommandOutcome::NotRun]
        .into_iter()
        .find(|outcome| possible.only(*outcome))
}

/// Returns a failure, or the end of a command that a person or a time limit interrupted.
fn failed(leaf: &Leaf, told: &ObservedLine<'_>, by_output: bool) -> Shown {
    const TERM: i32 = 15;
    let clock = leaf.wrappers.iter().any(|name| name.ends_with("timeout"));
    match told.ended {
        Some(Ended::Exited(124 | 137)) if clock && !by_output => Shown::BrokenOff(Ended::Signalled(TERM)),
        Some(ended @ Ended::Exited(126 | 127 | 129 | 130 | 137 | 143)) if !by_output => Shown::BrokenOff(ended),
        _ => Shown::Failed,
    }
}

/// Decides on an unknown program that ended with 0. Failures that are counted in its output count more than the status.
fn script_passed(catalogue: &Catalogue, text: &str, program: &Program, id: LeafId) -> (Shown, Option<RunReport>) {
    let reading = read_output_of(catalogue, &[], text);
    if reading.says == OutputOutcome::Failed || reading.reports.iter().any(|report| report.failed > 0) {
        return (Shown::Open("its status is 0, and failures are in its output".to_owned()), None);
    }
    let only = program.leaves.iter().enumerate().all(|(other, _)| other == id || !may_show(program, other));
    let report = sum(reading.reports).filter(|_| only);
    match report {
        Some(report) if report.passed == 0 => (Shown::Empty, None),
        report => (Shown::Passed, report),
    }
}

/// Returns `true` if the content that a command sees may be neither that before the line nor that after it: something
/// changes it before the command, and something may change it back. An unknown command may have changed it if git
/// restores files afterwards.
pub(crate) fn content_comes_and_goes(program: &Program, purposes: &[Purpose], id: LeafId) -> bool {
    let changes = |other: LeafId| other != id && purposes[other].edits;
    let restores = |other: LeafId| changes(other) && purposes[other].kinds.contains(&"vcs");
    let unknown = |other: LeafId| purposes[other].kinds == ["other"] && !purposes[other].elsewhere;
    let late = |other: LeafId| other > id || program.leaves[other].late;
    let before = |is: &dyn Fn(LeafId) -> bool| (0..id).any(|other| !late(other) && is(other));
    let after = |is: &dyn Fn(LeafId) -> bool| (0..purposes.len()).any(|other| late(other) && is(other));
    before(&changes) && after(&changes) || before(&unknown) && after(&restores)
}
