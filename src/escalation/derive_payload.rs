//! Derives the payload from a verdict and the record.

use minijinja::context;

use super::failing_command::{self, FailureProof};
use super::history::{self, FailedRun, History};
use super::{Escalation, ITEMS, bounded, line, suspect};
use crate::event::Ended;
use crate::gates::finding::{self, Answer, Finding, GateResult};
use crate::oid::Oid;
use crate::templates::sentences::say;
use crate::verdict::Verdict;

/// The length of the beginning of a task that names it, in characters.
const TASK: usize = 120;

/// The places of the data that the payload only refers to.
#[derive(Clone, Debug, Default)]
pub struct Artifacts<'a> {
    /// The place of the full verdict.
    pub record: &'a str,
    /// The place of the payload itself.
    pub payload: &'a str,
    /// The ref under which the content can be fetched, or `None` if there is none.
    pub reference: Option<&'a str>,
    /// The content that was kept, or `None` if that failed.
    pub tree: Option<&'a Oid>,
    /// The command that tries the failing command on a clean checkout.
    pub verify: &'a str,
}

/// Returns the failure that a payload of this verdict shows, or `None` if no command that was run shows one.
pub fn smallest_failure<'a>(verdict: &Verdict, history: &'a History) -> Option<&'a FailedRun> {
    let findings = || decisive(verdict).map(|(_, finding)| finding);
    let commands: Vec<&str> = findings().filter_map(|finding| finding.command.as_deref()).collect();
    history.smallest_failure(&commands).filter(|_| findings().any(is_of_a_run))
}

/// Derives the payload of a verdict. `proof` is about its [`smallest_failure`].
pub fn derive(
    verdict: &Verdict,
    history: &History,
    proof: Option<&FailureProof<'_>>,
    found: &Artifacts<'_>,
) -> Escalation {
    let findings = || decisive(verdict);
    let scope = verdict.subjects.iter().map(|subject| match &subject.commit {
        Some(commit) => say("escalation", "subject", &context! { name => &subject.name, commit => commit.as_str() }),
        None => subject.name.clone(),
    });
    let failure = proof.map(|proof| proof.failure);
    let lines = failure.iter().flat_map(|failure| failure.signature.iter().map(String::as_str));
    let suspicion = suspect(lines, findings().map(|(_, finding)| finding.reason.as_str()));
    let proven = verdict.gates.iter().filter(|result| result.answer == Answer::Pass);
    let skipped = history.acts.len().saturating_sub(ITEMS);
    Escalation {
        schema_version: 1,
        status: "blocked".to_owned(),
        attempt: verdict.attempt,
        task_scope: Some(line(&scope.collect::<Vec<_>>().join(", ")))
            .filter(|scope| !scope.is_empty())
            .unwrap_or_else(|| some(&say("escalation", "no_subject", &context! {}))),
        suspected_failure_layer: vec![line(&format!("{}: {}", suspicion.layer, suspicion.why))],
        what_was_tried: bounded(
            history.acts.iter().skip(skipped).map(history::tell),
            &some(&say("escalation", "nothing_tried", &context! {})),
        ),
        what_did_not_work: bounded(
            each_once(findings()).into_iter().map(|((gate, reason, message), prints)| {
                say("escalation", "blocked", &context! { gate, reason, message, fingerprint => prints.join(", ") })
            }),
            &some(&say("escalation", "nothing_blocked", &context! {})),
        ),
        failing_command: proof.map(|proof| failing_command::command(proof, found.verify)),
        forced_context_checked: bounded(
            verdict.notes.iter().map(|note| note.text.clone()),
            &some(&say("escalation", "nothing_noted", &context! {})),
        ),
        current_invariants: bounded(
            proven.map(|result| say("escalation", "holds", &context! { gate => &result.gate, title => &result.title })),
            &some(&say("escalation", "nothing_holds", &context! {})),
        ),
        handoff_artifacts: bounded(artifacts(verdict, history, failure, found), "-"),
        request: bounded(std::iter::once(say("escalation", "request", &context! {})), "-"),
    }
}

/// Returns the other data that is needed to continue: the task, the payload, the content, and the blocking findings.
fn artifacts<'a>(
    verdict: &'a Verdict,
    history: &History,
    failure: Option<&FailedRun>,
    found: &Artifacts<'a>,
) -> impl Iterator<Item = String> + use<'a> {
    let task = match &history.task {
        Some((event, text)) => {
            let begins: String = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TASK).collect();
            say("escalation", "task", &context! { event, begins })
        }
        None => say("escalation", "no_task", &context! {}),
    };
    let payload = say("escalation", "payload", &context! { payload => found.payload });
    let record = say("escalation", "record", &context! { record => found.record });
    let snapshot = match (found.reference, found.tree) {
        (Some(reference), Some(tree)) => {
            Some(say("escalation", "snapshot", &context! { reference, tree => tree.as_str() }))
        }
        _ => None,
    };
    let trees = verdict.subjects.iter().filter_map(|subject| {
        let tree = subject.tree.as_ref()?.as_str();
        Some(say("escalation", "content", &context! { name => &subject.name, tree }))
    });
    let signal = failure.map(|failure| {
        let (status, signal) = match failure.ended {
            Ended::Exited(status) => (Some(status), None),
            Ended::Signalled(signal) => (None, Some(signal)),
            Ended::NotStarted => (None, None),
        };
        let (command, said) = (&failure.line, failure.signature.first());
        say("escalation", "signal", &context! { command, status, signal, said })
    });
    let clears = verdict.next_actions.first().map(|action| say("escalation", "clears", &context! { action }));
    [task, payload, record].into_iter().chain(snapshot).chain(signal).chain(clears).chain(trees)
}

/// Returns the blocking findings, with their gates.
fn decisive(verdict: &Verdict) -> impl Iterator<Item = (&GateResult, &Finding)> {
    let stopping = finding::stopping(&verdict.gates);
    stopping.flat_map(|result| result.decisive().map(move |finding| (result, finding)))
}

/// The gate, the reason and the words of a finding.
type FindingKey<'a> = (&'a str, &'a str, &'a str);

/// Merges a finding about a commit and the same finding about the working tree into one, with a fingerprint for each.
fn each_once<'a>(findings: impl Iterator<Item = (&'a GateResult, &'a Finding)>) -> Vec<(FindingKey<'a>, Vec<String>)> {
    let mut found: Vec<(FindingKey<'_>, Vec<String>)> = Vec::new();
    for (result, finding) in findings {
        let what = (result.gate.as_str(), finding.reason.as_str(), finding.message.as_str());
        let print = finding.fingerprint()[..8].to_owned();
        match found.iter_mut().find(|(known, _)| *known == what) {
            Some((_, prints)) => prints.push(print),
            None => found.push((what, vec![print])),
        }
    }
    found
}

/// Returns `true` if the finding is about the end of a command, so that the latest failure says more about it.
fn is_of_a_run(finding: &Finding) -> bool {
    matches!(finding.reason.as_str(), "failed" | "stale" | "missing" | "flaky" | "unsettled")
}

/// Returns a text as an item, which is never empty, whatever the user's own words are.
fn some(text: &str) -> String {
    Some(line(text)).filter(|text| !text.is_empty()).unwrap_or_else(|| "-".to_owned())
}
