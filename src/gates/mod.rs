//! Gates: pure functions from facts to findings. They judge and never read.
//!
//! A gate is a file in `gates/`. The function of its *kind* evaluates it: one module here and one line in [`KINDS`].

pub(crate) mod ci_green;
pub(crate) mod claims;
pub(crate) mod commits;
pub(crate) mod completion;
pub(crate) mod contract;
pub(crate) mod decisions;
pub(crate) mod evidence;
pub(crate) mod finding;
mod finding_text;
mod forge_gates;
pub(crate) mod guarded;
pub(crate) mod integrity;
pub(crate) mod loops;
mod other_command;
pub(crate) mod protected_branch;
pub(crate) mod pull_request;
mod quarantine;
pub(crate) mod regression;
pub(crate) mod review;
pub(crate) mod roles;
#[cfg(test)]
mod tests;
pub(crate) mod word_judge;

use serde::de::DeserializeOwned;

pub use self::other_command::command_difference;
use crate::fact::Facts;
use crate::gates::finding::{Answer, Finding, GateResult};
use crate::policy::{Gate, ParamError, Policy, read_params};

/// An evaluator and its check of `params`.
pub struct GateKind {
    /// The word in `kind = "…"`.
    pub name: &'static str,
    /// The embedded gate whose messages are used if a gate of this kind has none of its own.
    pub words: &'static str,
    /// Checks `params`.
    pub check: fn(&toml::Table) -> Result<(), ParamError>,
    /// Evaluates the gate.
    pub evaluate: fn(&Gate, &Policy, &Facts) -> Vec<Finding>,
}

/// Every kind of gate.
pub const KINDS: &[GateKind] = &[
    ci_green::KIND,
    claims::KIND,
    commits::KIND,
    decisions::KIND,
    completion::KIND,
    contract::KIND,
    evidence::KIND,
    guarded::KIND,
    integrity::KIND,
    loops::KIND,
    protected_branch::KIND,
    pull_request::KIND,
    regression::KIND,
    roles::KIND,
    review::KIND,
    word_judge::KIND,
];

/// Returns `true` if gates of this kind look at the grade of evidence.
pub fn weighs_evidence(kind: &str) -> bool {
    [evidence::KIND.name, regression::KIND.name].contains(&kind)
}

/// The `params` of a gate that takes none.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct NoParams {}

/// Checks that `params` can be read as `T`.
fn can_be_read<T: DeserializeOwned>(params: &toml::Table) -> Result<(), ParamError> {
    read_params::<T>(params).map(drop)
}

/// Returns the kind of this name.
pub fn kind(name: &str) -> Option<&'static GateKind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// Checks the `params` of a gate of `kind`. Reading a policy gets this function as a parameter.
pub fn check_params(name: &str, params: &toml::Table) -> Result<(), ParamError> {
    match kind(name) {
        Some(kind) => (kind.check)(params),
        None => {
            let known: Vec<_> = KINDS.iter().map(|kind| kind.name).collect();
            let what = format!("there is no kind of gate `{name}`; the kinds are {}", known.join(", "));
            Err(ParamError { key: Some("kind".to_owned()), what })
        }
    }
}

/// Evaluates every gate that applies at the moment of `facts`, in the order of the policy.
pub fn judge(policy: &Policy, facts: &Facts) -> Vec<GateResult> {
    let policy = policy.without_scratch(&facts.scratch);
    let policy = &*policy.naming(&facts.named_texts);
    policy
        .gates
        .iter()
        .filter(|gate| gate.is_asked_at(facts.moment))
        .filter_map(|gate| {
            let mut findings = (kind(&gate.kind)?.evaluate)(gate, policy, facts);
            for finding in &mut findings {
                waive(gate, facts, finding);
                log::debug!("{}: {:?} {}: {}", gate.id, finding.answer, finding.reason, finding.message);
            }
            let answer = findings.iter().map(|finding| finding.answer).max().unwrap_or(Answer::Skip);
            let failed = findings.iter().filter(|finding| finding.answer == Answer::Fail);
            let severity = failed.map(|finding| finding.severity.unwrap_or(gate.severity)).max();
            Some(GateResult {
                gate: gate.id.clone(),
                title: gate.title.clone(),
                answer,
                mode: gate.mode,
                on_unknown: gate.on_unknown,
                severity: severity.unwrap_or(gate.severity),
                findings,
            })
        })
        .collect()
}

/// Turns a failure that a person waived for this very content into a waived finding.
fn waive(gate: &Gate, facts: &Facts, finding: &mut Finding) {
    if !matches!(finding.answer, Answer::Fail | Answer::Unknown) {
        return;
    }
    let tree =
        facts.subjects.iter().find(|subject| subject.name == finding.subject).and_then(|subject| subject.tree.as_ref());
    let waiver = facts.waivers.iter().find(|waiver| waiver.gate == gate.id && Some(&waiver.tree) == tree);
    if let Some(waiver) = waiver {
        finding.answer = Answer::Waived;
        finding.message = format!("{} (waived by {}: {})", finding.message, waiver.by, waiver.reason);
        finding.remedy = None;
        finding.fix = None;
    }
}
