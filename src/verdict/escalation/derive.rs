//! From a verdict and the record to the payload.

use super::history::{self, History};
use super::{Escalation, ITEMS, bounded, line, suspect};
use crate::event::Ended;
use crate::gates::finding::{Answer, Effect, Finding};
use crate::verdict::Verdict;

/// What is asked of whoever receives the payload of an agent that failed.
const REQUEST: &str = "Escalate above the agent that failed. Do not run it again with the same context.";

/// Derives the payload of a verdict; `record` is the path of the full verdict.
pub fn derive(verdict: &Verdict, history: &History, record: &str) -> Escalation {
    let stopping = || verdict.gates.iter().filter(|result| result.effect() >= Effect::CannotJudge);
    let findings = || stopping().flat_map(|result| result.decisive().map(move |finding| (result, finding)));
    let scope = verdict.subjects.iter().map(|subject| match &subject.commit {
        Some(commit) => format!("{} at {commit}", subject.name),
        None => subject.name.clone(),
    });
    let failing = history.failure.as_ref().filter(|_| findings().any(|(_, finding)| is_of_a_run(finding)));
    let lines = failing.iter().flat_map(|failure| failure.signature.iter().map(String::as_str));
    let suspicion = suspect(lines, findings().map(|(_, finding)| finding.reason.as_str()));
    let proven = verdict.gates.iter().filter(|result| result.answer == Answer::Pass);
    let trees = verdict
        .subjects
        .iter()
        .filter_map(|subject| Some(format!("snapshot of {}: tree {}", subject.name, subject.tree.as_ref()?)));
    let signal = failing.map(|failure| {
        let end = match failure.ended {
            Ended::Exited(status) => format!("status {status}"),
            Ended::Signalled(signal) => format!("signal {signal}"),
            Ended::NotStarted => "no start".to_owned(),
        };
        let said = failure.signature.first().map(|said| format!(", “{said}”")).unwrap_or_default();
        format!("latest blocking signal: `{}` ended with {end}{said}", failure.line)
    });
    let skipped = history.acts.len().saturating_sub(ITEMS);
    let what_was_tried =
        bounded(history.acts.iter().skip(skipped).map(history::tell), "nothing was recorded since the first refusal");
    Escalation {
        schema_version: 1,
        status: "blocked".to_owned(),
        attempt: verdict.attempt,
        task_scope: Some(line(&scope.collect::<Vec<_>>().join(", ")))
            .filter(|scope| !scope.is_empty())
            .unwrap_or_else(|| "unborn branch".to_owned()),
        suspected_failure_layer: vec![line(&format!("{}: {}", suspicion.layer, suspicion.why))],
        what_was_tried,
        what_did_not_work: bounded(
            findings().map(|(result, finding)| {
                let print = finding.fingerprint();
                format!("{} [{}]: {} (fingerprint {})", result.gate, finding.reason, finding.message, &print[..8])
            }),
            "nothing: every gate that blocks lets this through",
        ),
        forced_context_checked: bounded(
            verdict.notes.iter().map(|note| note.text.clone()),
            "nothing was found that hides edits or damages the record",
        ),
        current_invariants: bounded(
            proven.map(|result| format!("{} holds: {}", result.gate, result.title)),
            "none of the gates that were asked passes",
        ),
        handoff_artifacts: bounded(
            std::iter::once(format!("full verdict: {record}"))
                .chain(trees)
                .chain(signal)
                .chain(verdict.next_actions.first().map(|action| format!("blocking signal clears with: {action}"))),
            "",
        ),
        request: vec![REQUEST.to_owned()],
    }
}

/// Whether the finding is about how a command ended, so that the latest failure says more about it.
fn is_of_a_run(finding: &Finding) -> bool {
    matches!(finding.reason.as_str(), "failed" | "stale" | "missing" | "flaky" | "unsettled")
}
