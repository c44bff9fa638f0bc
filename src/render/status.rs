//! `gate status` on one screen.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;

use crate::event::model_call::ModelCall;
use crate::fact::{Base, Facts, PlanProgress, PlanStep};
use crate::foreign_text::{one_line, shortened};
use crate::gates::finding::{Answer, GateResult};
use crate::plural::counted;
use crate::policy::{Mode, Policy, PolicySource};
use crate::render::ui::{BAD, DIM, GOOD, STRONG, WARN};

/// The longest part of a task that is shown, in characters.
const MAX_TASK: usize = 100;

/// The content of the screen.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatusView<'a> {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The full name of the branch that is checked out.
    pub branch: Option<&'a str>,
    /// The policy in force.
    #[serde(skip)]
    pub policy: &'a Policy,
    /// The judged facts.
    pub facts: &'a Facts,
    /// The answers of the gates.
    pub results: &'a [GateResult],
    /// The number of times that each gate that does not block would have blocked.
    pub would_block: &'a BTreeMap<String, u64>,
    /// The number of refusals in a row in this session, by gate.
    pub attempts: &'a BTreeMap<String, u32>,
    /// The plan that a person accepted, or `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<&'a PlanProgress>,
    /// The cost of the user's models in this session; outside of a client, in the one that asked last. Or `None` if none is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<ModelCost>,
}

/// The cost of the user's models in a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ModelCost {
    /// The session that they served.
    pub session: String,
    /// The calls.
    pub calls: u64,
    /// The calls without a valid answer.
    pub failed: u64,
    /// The tokens that went in, as far as the models say.
    pub input_tokens: u64,
    /// The tokens that came out, as far as the models say.
    pub output_tokens: u64,
    /// The time that they took, in milliseconds.
    pub milliseconds: u64,
    /// The models whose budget for today is used up.
    pub used_up: Vec<String>,
}

impl ModelCost {
    /// Adds a call.
    pub fn add(&mut self, call: &ModelCall) {
        self.calls += u64::from(!call.not_called);
        self.failed += u64::from(call.failure.is_some() && !call.not_called);
        self.input_tokens += call.input_tokens;
        self.output_tokens += call.output_tokens;
        self.milliseconds += call.milliseconds;
    }
}

/// Adds what the models cost.
fn model_lines(models: &ModelCost, text: &mut String) {
    let ModelCost { session, calls, failed, input_tokens, output_tokens, milliseconds, used_up } = models;
    if *calls > 0 {
        let seconds = milliseconds / 1000;
        let _ = writeln!(
            text,
            "\n{DIM}models:{DIM:#} {} in session {} ({failed} without an answer), {} in, {output_tokens} out, {seconds} s",
            counted(*calls, "call"),
            one_line(session),
            counted(*input_tokens, "token")
        );
    }
    for name in used_up {
        let _ = writeln!(text, "\n{WARN}models:{WARN:#} the budget of {name} for today is used up: it is not asked");
    }
}

/// Returns the status for programs.
pub fn json(status: &StatusView<'_>) -> serde_json::Result<String> {
    serde_json::to_string_pretty(status)
}

/// Returns the status for people.
pub fn lines(status: &StatusView<'_>) -> String {
    let mut text = String::new();
    let branch = status.branch.map_or("detached HEAD", |name| name.trim_start_matches("refs/heads/"));
    let policy = match &status.policy.source {
        PolicySource::Commit(commit) => format!("gate.toml of {}", commit.short()),
        PolicySource::WorkingTree => "gate.toml, not committed yet".to_owned(),
        PolicySource::Defaults => "no gate.toml: the defaults (gate init writes one)".to_owned(),
    };
    let _ = writeln!(text, "{STRONG}on{STRONG:#} {branch}{DIM}, policy: {policy}{DIM:#}");
    for subject in &status.facts.subjects {
        let commit = subject.commit.as_ref().map(|commit| format!(" {}", commit.short())).unwrap_or_default();
        let base = match &subject.base {
            Base::MergeBase { branch, .. } => format!("compared with {branch}"),
            Base::Nothing => "everything counts as new: no remote has a default branch here \
                (once one has: git remote set-head REMOTE --auto)"
                .to_owned(),
            Base::Unknown(why) => format!("everything counts as new: {why}"),
        };
        let _ = writeln!(text, "\n{STRONG}{}{STRONG:#}{commit}  {DIM}{base}{DIM:#}", subject.name);
        findings_of(&subject.name, status.results, &mut text);
    }
    // What a session did is about no content.
    let contents: Vec<&str> = status.facts.subjects.iter().map(|subject| subject.name.as_str()).collect();
    let findings = status.results.iter().flat_map(|result| &result.findings);
    let others: BTreeSet<&str> =
        findings.map(|finding| finding.subject.as_str()).filter(|name| !contents.contains(name)).collect();
    for name in others {
        let _ = writeln!(text, "\n{STRONG}{name}{STRONG:#}");
        findings_of(name, status.results, &mut text);
    }
    if status.facts.subjects.is_empty() {
        let _ = writeln!(text, "nothing is committed and nothing is there to commit");
    }
    for (gate, count) in status.would_block {
        let _ = writeln!(text, "\n{WARN}{gate}{WARN:#} would have blocked {} so far", times(*count));
    }
    for (gate, count) in status.attempts.iter().filter(|(_, count)| **count > 0) {
        let _ = writeln!(text, "\n{gate} has refused this session {} in a row", times((*count).into()));
    }
    if let Some(plan) = status.plan {
        plan_lines(plan, &mut text);
    }
    if let Some(models) = &status.models {
        model_lines(models, &mut text);
    }
    for note in &status.facts.notes {
        let _ = writeln!(text, "\n{WARN}note{WARN:#} {}", note.text);
    }
    text
}

/// Adds the plan, a line for each task.
fn plan_lines(plan: &PlanProgress, text: &mut String) {
    let how = if plan.together { "all together" } else { "in this order" };
    let _ = writeln!(text, "\n{STRONG}plan{STRONG:#} {DIM}{how}{DIM:#}");
    for PlanStep { task, commit } in &plan.steps {
        let (style, word) = if commit.is_some() { (GOOD, "named") } else { (WARN, "open") };
        let what = shortened(&task.text, MAX_TASK);
        let by = commit.as_ref().map(|commit| format!("  {DIM}{commit}{DIM:#}")).unwrap_or_default();
        let _ = writeln!(text, "  {style}{word:<10}{style:#} {}. {what}{by}", task.number);
    }
}

/// Returns "once" or "3 times".
fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// Adds the answers of the gates about one subject, a line each.
fn findings_of(subject: &str, results: &[GateResult], text: &mut String) {
    for result in results {
        for finding in result.findings.iter().filter(|finding| finding.subject == subject) {
            let (style, word) = match finding.answer {
                Answer::Pass => (GOOD, "proven"),
                Answer::Skip => (DIM, "not asked"),
                Answer::Waived => (WARN, "waived"),
                Answer::Pending => (WARN, "pending"),
                Answer::Unknown => (WARN, "unknown"),
                Answer::Fail => (BAD, "not proven"),
            };
            let mode = if result.mode == Mode::Block {
                String::new()
            } else {
                format!(" {DIM}[{}]{DIM:#}", mode(result.mode))
            };
            let _ = writeln!(text, "  {style}{word:<10}{style:#} {:<10}{mode} {}", result.gate, finding.message);
            if let Some(remedy) = finding.remedy.as_ref().filter(|_| finding.answer >= Answer::Unknown) {
                let _ = writeln!(text, "  {:<21} {DIM}next:{DIM:#} {remedy}", "");
            }
        }
    }
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Off => "off",
        Mode::Observe => "observes",
        Mode::Warn => "warns",
        Mode::Block => "blocks",
    }
}
