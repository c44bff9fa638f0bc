//! The gate `evidence`: a declared command passed on the judged content.
//!
//! Three trees must agree on the command's inputs: the one before the run, the one after it, and the judged one. No
//! clock is used: the newest run *of this content* decides.

mod absence;

use std::collections::BTreeSet;

use minijinja::{Value, context};
use serde::Deserialize;

use super::finding::{Answer, Finding};
use super::finding_text::{self, list};
use super::{GateKind, can_be_read, quarantine};
use crate::event::{Ended, Grade};
use crate::fact::{Base, Facts, OpenRunState, RunFact, RunProof, Subject, SubjectKind};
use crate::gates::finding_text::plain;
use crate::policy::{Command, Gate, PathRules, Policy, read_params};
use crate::repo_path::RepoPath;
use crate::shell_quote::shell_word;

/// The reason of a finding about a run that passed with files on disk which the commit does not contain.
pub const NOT_ADDED: &str = "not-added";

/// The kind `evidence`.
pub const KIND: GateKind = GateKind { name: "evidence", words: "tests", check: can_be_read::<Params>, evaluate };

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    /// `true` if the runner's own counts matter.
    #[serde(default)]
    counts: bool,
    /// `true` if a change requires a run. Otherwise only a known failure counts.
    #[serde(default = "yes")]
    required: bool,
    /// The paths to ignore. They are read with the commands, whose inputs they narrow.
    #[serde(default)]
    #[expect(dead_code, reason = "named here so that it is a known key")]
    ignore: Vec<String>,
    /// The checks of a forge that prove the same, by name: each must have succeeded on this very commit.
    #[serde(default)]
    checks: Vec<String>,
}

const fn yes() -> bool {
    true
}

fn evaluate(gate: &Gate, policy: &Policy, facts: &Facts) -> Vec<Finding> {
    let Ok(params) = read_params::<Params>(&gate.params) else { return Vec::new() };
    let commands = || policy.commands.iter().filter(|command| command.gate == gate.id);
    let mut findings = Vec::new();
    for subject in
        facts.subjects.iter().filter(|subject| subject.tree.is_some() || subject.role == SubjectKind::WorkingTree)
    {
        if commands().next().is_none() {
            findings.extend(undeclared(gate, subject));
        }
        for command in commands() {
            let unfinished = facts.unfinished.contains(&command.name);
            let alone = commands().count() == 1;
            let open = facts.open_runs.iter().find(|open| open.command == command.name).map(|open| open.state);
            let asked = false;
            let case = EvidenceCase { gate, params: &params, command, subject, alone, unfinished, open, asked };
            findings.push(case.answer(facts));
        }
    }
    findings
}

/// Returns the answer for a command that must have passed on a subject, even if the change touches nothing it reads.
/// `counts`: a run without a test proves nothing.
pub(super) fn of_command(gate: &Gate, command: &Command, subject: &Subject, facts: &Facts, counts: bool) -> Finding {
    let params = Params { counts, required: true, ignore: Vec::new(), checks: Vec::new() };
    let unfinished = facts.unfinished.contains(&command.name);
    let open = facts.open_runs.iter().find(|open| open.command == command.name).map(|open| open.state);
    let (alone, asked) = (false, true);
    EvidenceCase { gate, params: &params, command, subject, alone, unfinished, open, asked }.answer(facts)
}

/// Returns a finding if no command is declared at all, for gates that have a message for it.
fn undeclared(gate: &Gate, subject: &Subject) -> Option<Finding> {
    let ignore: Vec<String> =
        gate.params.get("ignore").and_then(|value| value.clone().try_into().ok()).unwrap_or_default();
    let rules = PathRules::new(&["**".to_owned()], &ignore).ok()?;
    gate.messages.get("undeclared")?;
    let paths: Vec<_> = subject.changed.as_ref()?.iter().filter(|path| rules.matches(path)).cloned().collect();
    if paths.is_empty() {
        return None;
    }
    let words = finding_text::say(gate, "undeclared", &context! { paths => list(&paths) });
    Some(Finding { paths, ..words.finding(&subject.name, Answer::Unknown, "undeclared") })
}

/// One command and one content.
struct EvidenceCase<'a> {
    gate: &'a Gate,
    params: &'a Params,
    command: &'a Command,
    subject: &'a Subject,
    /// `true` if no other command is declared for the gate.
    alone: bool,
    /// `true` if a run of it was started and has not ended.
    unfinished: bool,
    /// The state of its newest run, if its status is unknown.
    open: Option<OpenRunState>,
    /// `true` if a run is required whatever changed.
    asked: bool,
}

impl EvidenceCase<'_> {
    fn answer(&self, facts: &Facts) -> Finding {
        let shown = |run: &&RunFact| run.grade >= self.gate.min_grade && run.shows() != RunProof::Masked;
        let counted: Vec<_> = self.runs().iter().filter(shown).collect();
        let here: Vec<_> = counted.iter().copied().filter(|run| self.is_of_this_content(run)).collect();
        // A run that was broken off says nothing about the content, and takes nothing from what an earlier one said.
        let ended = here.iter().position(|run| !run.was_cut_short()).unwrap_or_default();
        let here = &here[ended..];
        // Neither does one that found nothing to do, as a second `make` does after the first.
        let busy = here.iter().position(|run| run.shows() != RunProof::Nothing).unwrap_or_default();
        let busy = if here.get(busy).is_some_and(|run| run.shows() == RunProof::Pass) { busy } else { 0 };
        let here = here[busy..].to_vec();
        if !self.is_required() {
            // What is known is said all the same: broken content is not handed over because nobody asked.
            // What the commit had before any work on it, and the working tree has no more, is not handed over.
            if let Some(newest) = here.first().filter(|run| match run.shows() {
                RunProof::Pass => true,
                RunProof::Fail => self.changes() || self.uncommitted(&counted, facts).is_none(),
                RunProof::Masked | RunProof::Nothing => false,
            }) {
                return self.judge_runs_of_this_content(newest, &here, facts);
            }
            if !self.params.required {
                let message = format!("the policy does not require `{}`", self.command.run);
                return self.settled(Answer::Skip, "not-asked", message, &[]);
            }
            if facts.folderless.contains(&self.command.name) {
                let words = context! { dir => self.command.dir.to_string() };
                return self.finding(Answer::Unknown, "astray", Vec::new(), Vec::new(), &words);
            }
            let base = match &self.subject.base {
                Base::MergeBase { branch, .. } => format!("since {branch}"),
                Base::Nothing | Base::Unknown(_) => "here".to_owned(),
            };
            return self.settled(
                Answer::Skip,
                "not-required",
                format!("nothing that `{}` reads changed {base}", self.command.run),
                &[],
            );
        }
        if here.first().is_none_or(|newest| newest.shows() != RunProof::Fail)
            && let Some(finding) = self.by_checks(facts)
        {
            return finding;
        }
        match here.first() {
            // If it failed here and passed in the working tree, the fix is there already.
            Some(newest) if newest.shows() == RunProof::Fail => self
                .uncommitted(&counted, facts)
                .unwrap_or_else(|| self.judge_runs_of_this_content(newest, &here, facts)),
            Some(newest) => self.judge_runs_of_this_content(newest, &here, facts),
            // What travelled here says what is known, and cannot make less of it.
            None if facts.receiving && counted.iter().all(|run| run.grade == Grade::Attested) => {
                self.finding(Answer::Unknown, "elsewhere", Vec::new(), Vec::new(), &context! {})
            }
            None => self.explain_absence(&counted, facts),
        }
    }

    /// Returns a finding for the forge's reports on this very commit, if the policy counts them.
    fn by_checks(&self, facts: &Facts) -> Option<Finding> {
        let names = &self.params.checks;
        let hosting =
            facts.hosting.as_ref().filter(|hosting| self.subject.commit.as_ref() == Some(&hosting.head.commit))?;
        let checks = hosting.checks.known().filter(|checks| checks.missing.is_empty())?;
        let required = hosting.required.known()?;
        if names.is_empty() || !names.iter().all(|name| super::ci_green::succeeded(checks, required, name)) {
            return None;
        }
        let message = format!("CI proves `{}` on this commit: {}", self.command.run, finding_text::list_of(names));
        Some(self.settled(Answer::Pass, "ci", message, &[]))
    }

    /// Returns `true` if something that the command reads changed, or may have changed.
    fn changes(&self) -> bool {
        let inputs = &self.command.inputs;
        let opaque = self.subject.opaque.iter().any(|path| inputs.matches_below(path));
        opaque || self.subject.changed.as_ref().is_none_or(|changed| changed.iter().any(|path| inputs.matches(path)))
    }

    fn is_required(&self) -> bool {
        self.asked || self.params.required && self.changes()
    }

    fn runs(&self) -> &[RunFact] {
        self.subject.runs.get(&self.command.name).map_or(&[], Vec::as_slice)
    }

    fn disagreement(&self, run: &RunFact) -> Option<Vec<RepoPath>> {
        run.disagreement(&self.command.inputs, &self.subject.opaque)
    }

    fn is_of_this_content(&self, run: &RunFact) -> bool {
        run.is_stable(&self.command.inputs) && run.agrees(&self.command.inputs, &self.subject.opaque)
    }

    fn judge_runs_of_this_content(&self, newest: &RunFact, here: &[&RunFact], facts: &Facts) -> Finding {
        let ids: Vec<_> = here.iter().map(|run| run.id.clone()).collect();
        match newest.shows() {
            RunProof::Fail if newest.was_cut_short() => {
                let (over_time, signal) = (newest.over_time, newest.ended.killed_by());
                self.finding(Answer::Fail, "killed", Vec::new(), ids, &context! { over_time, signal })
            }
            RunProof::Fail if let Some(tests) = quarantine::failures(newest, facts) => {
                self.finding(Answer::Waived, "quarantined", Vec::new(), ids, &context! { tests })
            }
            RunProof::Fail => {
                let fixed = self.fixed_by().map(|paths| list(&paths));
                let not_started = matches!(newest.ended, Ended::Exited(126 | 127) | Ended::NotStarted);
                let words = context! { outcome => outcome(newest), fixed, not_started };
                self.finding(Answer::Fail, "failed", Vec::new(), ids, &words)
            }
            RunProof::Nothing if self.params.counts => {
                self.finding(Answer::Fail, "vacuous", Vec::new(), ids, &context! {})
            }
            RunProof::Masked | RunProof::Nothing | RunProof::Pass => {
                let failed = |run: &&&RunFact| {
                    run.shows() == RunProof::Fail && run.came_to_an_end() && quarantine::failures(run, facts).is_none()
                };
                let failures = here.iter().filter(failed).count();
                if failures > 0 {
                    let tests: BTreeSet<&String> =
                        here.iter().filter(failed).flat_map(|run| &run.failed_tests).collect();
                    let tests: Vec<String> = tests.into_iter().map(|test| plain(test)).collect();
                    let words =
                        context! { failures, tests => (!tests.is_empty()).then(|| finding_text::list_of(&tests)) };
                    return self.finding(Answer::Unknown, "flaky", Vec::new(), ids, &words);
                }
                if here.iter().all(|run| run.on_a_copy) {
                    return self.finding(Answer::Unknown, "on-a-copy", Vec::new(), ids, &context! {});
                }
                if let Some((run, paths)) = self.beside_what_was_left(here) {
                    let words = context! { paths => list(&paths) };
                    return self.finding(Answer::Fail, "left-behind", paths, vec![run], &words);
                }
                let how = match &newest.report {
                    Some(report) if self.params.counts => format!("{} passed", report.passed),
                    _ => "by its exit status alone".to_owned(),
                };
                let message = format!("`{}` passed on this content ({how})", self.command.run);
                self.settled(Answer::Pass, "passed", message, &ids[..1])
            }
        }
    }

    /// Returns the newest run, and files that the commits removed from git and no run made since, if every run that
    /// passed could read such files.
    fn beside_what_was_left(&self, here: &[&RunFact]) -> Option<(String, Vec<RepoPath>)> {
        let left = |run: &RunFact| -> Vec<RepoPath> {
            run.left_behind.iter().filter(|path| self.command.inputs.matches(path)).cloned().collect()
        };
        let mut passed = here.iter().filter(|run| run.shows() != RunProof::Fail).map(|run| (run.id.clone(), left(run)));
        let newest = passed.next().filter(|(_, paths)| !paths.is_empty())?;
        passed.all(|(_, paths)| !paths.is_empty()).then_some(newest)
    }

    /// Returns the paths on which the newest run, which passed, differs from this commit.
    fn fixed_by(&self) -> Option<Vec<RepoPath>> {
        let newest = self.runs().iter().find(|run| run.grade >= self.gate.min_grade)?;
        let passed = newest.is_stable(&self.command.inputs) && newest.shows() == RunProof::Pass;
        let paths = self.disagreement(newest).filter(|_| passed && self.subject.role == SubjectKind::Commit)?;
        (!paths.is_empty()).then_some(paths)
    }

    fn finding(
        &self,
        answer: Answer,
        reason: &str,
        paths: Vec<RepoPath>,
        evidence: Vec<String>,
        more: &Value,
    ) -> Finding {
        let context = context! {
            name => self.command.name.as_str(),
            command => self.command.run.as_str(),
            unfinished => self.unfinished,
            ..more.clone()
        };
        let mut words = finding_text::say(self.gate, reason, &context);
        // A command can only be run on what is checked out.
        let elsewhere = self.subject.checked_out == Some(false);
        words.remedy = words.remedy.map(|remedy| match (&self.subject.branch, &self.subject.commit) {
            (Some(branch), _) if elsewhere => format!("git switch {} && {remedy}", shell_word(branch)),
            (None, Some(commit)) if elsewhere => format!("git switch --detach {} && {remedy}", commit.short()),
            _ => remedy,
        });
        let command = Some(self.command.name.clone());
        Finding { command, paths, evidence, ..words.finding(&self.subject.name, answer, reason) }
    }

    fn settled(&self, answer: Answer, reason: &str, message: String, evidence: &[String]) -> Finding {
        let (command, evidence) = (Some(self.command.name.clone()), evidence.to_vec());
        let words = finding_text::FindingText { message, remedy: None, fix: None };
        Finding { command, evidence, ..words.finding(&self.subject.name, answer, reason) }
    }
}

/// Returns `true` if any of these was not in the index when the run started.
fn is_any_untracked(run: &RunFact, paths: &[RepoPath]) -> bool {
    paths.iter().any(|path| run.untracked.contains(path))
}

/// Returns the end of a run in a few words.
fn outcome(run: &RunFact) -> String {
    let status = match run.ended {
        Ended::Exited(code) => format!("exit status {code}"),
        Ended::Signalled(signal) => format!("killed by signal {signal}"),
        Ended::NotStarted => "it could not be started".to_owned(),
    };
    match &run.report {
        Some(report) if report.failed > 0 => {
            format!("{status}, {} of {} failed", report.failed, report.passed + report.failed)
        }
        _ => status,
    }
}

#[cfg(test)]
mod tests;
