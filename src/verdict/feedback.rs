//! The feedback for the agent: full at first, shorter the second time, a last warning, then only the handover.
//!
//! It names what is not proven and the command that proves it, and never a way around the gate. The texts are the
//! templates `feedback.txt` and `checklist.txt`; a file of the user's own takes precedence.

use serde::Serialize;

use crate::gates::finding::{self, Answer, Effect, Finding, GateResult};
use crate::gates::{claims, word_judge};
use crate::templates::{self, TemplateError};
use crate::verdict::{Attempt, Outcome};

/// The attempt that gets the last warning.
pub const LAST_WARNING: u32 = 3;

/// The values for the template.
#[derive(Serialize)]
struct FeedbackContext<'a> {
    /// The attempt, counted from 1.
    attempt: u32,
    repeated: bool,
    outcome: Outcome,
    last_warning: bool,
    findings: Vec<FeedbackParts<'a>>,
    /// Claims that the record contradicts, if that does not block.
    claims: Vec<FeedbackParts<'a>>,
    next: &'a [String],
    checklist: Vec<String>,
}

#[derive(PartialEq, Serialize)]
struct FeedbackParts<'a> {
    gate: &'a str,
    /// The subject, where the same gate says something else of another one.
    subject: Option<&'a str>,
    message: &'a str,
    /// The remedy, if no command is one.
    fix: Option<&'a str>,
}

/// Returns the feedback for one verdict, empty if nothing blocks, and the error in the user's own template if the
/// default one was used instead.
pub fn text(
    results: &[GateResult],
    next_actions: &[String],
    outcome: Outcome,
    attempt: Attempt,
) -> (String, Option<TemplateError>) {
    let stopping: Vec<_> = finding::stopping(results).collect();
    if outcome == Outcome::Pass || stopping.is_empty() {
        return (String::new(), None);
    }
    // The second answer names one thing, the first that stands in the way: a long list was given already.
    let narrow = attempt.number == 2;
    let told = stopping.iter().take(if narrow { 1 } else { stopping.len() }).flat_map(|result| {
        let first = result.decisive().next();
        let is_other = |finding: &Finding| {
            first.is_some_and(|first| first.message != finding.message && first.subject != finding.subject)
        };
        let several = result.decisive().any(is_other);
        result.decisive().map(move |finding| FeedbackParts {
            gate: &result.gate,
            subject: several.then_some(finding.subject.as_str()),
            message: &finding.message,
            fix: finding.fix.as_deref().filter(|_| finding.remedy.is_none()),
        })
    });
    let about = |result: &GateResult, finding: &Finding| is_about_words(finding) || result.gate == "loops";
    let claims =
        noticed(results).filter(|(result, finding)| !narrow && about(result, finding)).map(|(result, finding)| {
            FeedbackParts { gate: &result.gate, subject: None, message: &finding.message, fix: finding.fix.as_deref() }
        });
    // What is wrong in a commit and in the working tree alike is one thing to do.
    let mut findings: Vec<FeedbackParts<'_>> = Vec::new();
    for one in told {
        if !findings.contains(&one) {
            findings.push(one);
        }
    }
    let context = FeedbackContext {
        attempt: attempt.number,
        repeated: attempt.repeated,
        outcome,
        last_warning: attempt.number == LAST_WARNING,
        findings,
        claims: claims.collect(),
        next: if narrow { &next_actions[..next_actions.len().min(1)] } else { next_actions },
        checklist: checklist_for(results),
    };
    match templates::render("feedback.txt", &context) {
        Ok(text) => (text, None),
        Err(error) => (templates::render_built_in("feedback.txt", &context).unwrap_or_default(), Some(error)),
    }
}

/// Returns the checklist of the last warning for these results, empty if none of them is about a command.
pub fn checklist_for(results: &[GateResult]) -> Vec<String> {
    let stopping = finding::stopping(results);
    let about_a_run = stopping.flat_map(GateResult::decisive).any(|finding| finding.command.is_some());
    if about_a_run { checklist() } else { Vec::new() }
}

/// Returns one sentence for each finding that is not proven. A person sees them when an agent may stop.
pub fn open(results: &[GateResult]) -> Vec<String> {
    let stopping = finding::stopping(results);
    stopping.flat_map(GateResult::decisive).map(|finding| finding.message.clone()).collect()
}

/// Returns one sentence for each finding about the course of the session and its claims that does not block.
pub fn remarks(results: &[GateResult]) -> Vec<String> {
    let of_session = |gate: &str| matches!(gate, "claims" | "loops" | "completion" | "judge");
    let is_told = |finding: &Finding| is_about_words(finding) || is_about_hooks(finding);
    let found = noticed(results).filter(|(result, finding)| of_session(&result.gate) || is_told(finding));
    found.map(|(_, finding)| finding.message.clone()).collect()
}

/// Returns one sentence for each finding about changed tests that does not block: a person should see it once.
pub fn remarks_on_tests(results: &[GateResult]) -> Vec<String> {
    let found = noticed(results).filter(|(result, finding)| result.gate == "integrity" && !is_about_hooks(finding));
    found.map(|(_, finding)| finding.message.clone()).collect()
}

/// Returns one sentence for each finding about the claims of the session that does not block.
pub fn remarks_on_words(results: &[GateResult]) -> Vec<String> {
    noticed(results)
        .filter(|(_, finding)| is_about_words(finding))
        .map(|(_, finding)| finding.message.clone())
        .collect()
}

fn noticed(results: &[GateResult]) -> impl Iterator<Item = (&GateResult, &Finding)> {
    let said = results.iter().filter(|result| result.effect() == Effect::Said);
    said.flat_map(|result| result.findings.iter().map(move |finding| (result, finding)))
        .filter(|(_, finding)| matches!(finding.answer, Answer::Fail | Answer::Unknown) || is_of_judge(finding))
}

/// Returns `true` for what a judge of last resort still owes, or says of an earlier stop.
fn is_of_judge(finding: &Finding) -> bool {
    finding.answer == Answer::Pending && finding.subject == word_judge::SUBJECT
}

/// Returns `true` for what was done past the hooks.
fn is_about_hooks(finding: &Finding) -> bool {
    matches!(finding.reason.as_str(), "hooks-off" | "push-unjudged")
}

fn is_about_words(finding: &Finding) -> bool {
    [claims::TESTS, claims::BUILD, claims::HOSTED, claims::WORK].contains(&finding.subject.as_str())
}

/// Returns the checklist of the last warning if a command is required to prove something.
pub fn checklist() -> Vec<String> {
    let lines = templates::render("checklist.txt", &()).or_else(|_| templates::render_built_in("checklist.txt", &()));
    lines.unwrap_or_default().lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Mode, OnUnknown, Severity};

    #[test]
    fn what_is_about_no_command_asks_nothing_about_runs() {
        let results = [GateResult {
            findings: vec![Finding { command: None, ..result("atomic", "two", None).findings.remove(0) }],
            ..result("atomic", "two", None)
        }];
        let last = text(&results, &[], Outcome::Blocked, Attempt { number: LAST_WARNING, repeated: false }).0;
        assert!(last.contains("last warning") && !last.contains("[CHECKLIST]") && !last.contains("[ ]"), "{last}");
    }

    fn result(gate: &str, message: &str, fix: Option<&str>) -> GateResult {
        GateResult {
            gate: gate.to_owned(),
            title: String::new(),
            answer: Answer::Fail,
            mode: Mode::Block,
            on_unknown: OnUnknown::Warn,
            severity: Severity::High,
            findings: vec![Finding {
                subject: "HEAD".to_owned(),
                answer: Answer::Fail,
                reason: "x".to_owned(),
                message: message.to_owned(),
                command: Some("test".to_owned()),
                paths: Vec::new(),
                line: None,
                evidence: Vec::new(),
                remedy: None,
                fix: fix.map(str::to_owned),
                persons: Vec::new(),
                severity: None,
            }],
        }
    }

    #[test]
    fn a_claim_that_the_record_contradicts_is_named_beside_what_blocks() {
        let mut claim = result("claims", "it is said, and was not run", Some("run it"));
        claim.mode = Mode::Warn;
        claim.findings[0].subject = claims::TESTS.to_owned();
        let warned = GateResult { mode: Mode::Warn, ..result("other", "a warning", None) };
        let results = [result("tests", "no run", None), claim, warned];
        let told = |number| text(&results, &[], Outcome::Blocked, Attempt { number, repeated: false }).0;
        let first = "[ATTEMPT: 1] gate: Not proven yet (attempt 1).\n- tests: no run\n- claims: it is said, and was not run (run it)";
        assert_eq!(told(1), first);
        assert!(!told(2).contains("claims"), "the second answer names one thing");
    }

    #[test]
    fn branches_that_differ_are_named() {
        let mut two = result("tests", "no run", None);
        let other = Finding { subject: "fix-1".to_owned(), message: "it failed".to_owned(), ..two.findings[0].clone() };
        two.findings.push(other);
        let told =
            |results: &[GateResult]| text(results, &[], Outcome::Blocked, Attempt { number: 1, repeated: false }).0;
        let said = told(std::slice::from_ref(&two));
        assert!(said.contains("- tests: HEAD: no run\n- tests: fix-1: it failed"), "{said}");
        two.findings[1].message = "no run".to_owned();
        assert!(told(&[two]).ends_with("- tests: no run"), "what holds of both is said once");
    }

    #[test]
    fn each_attempt_is_answered_in_its_own_words() {
        let results = [result("tests", "no run", None), result("atomic", "two things", Some("split it"))];
        let next = ["gate run test".to_owned(), "gate commit --split".to_owned()];
        let told = |number, repeated, outcome| {
            let (text, wrong) = text(&results, &next, outcome, Attempt { number, repeated });
            assert!(wrong.is_none(), "{wrong:?}");
            text
        };
        let own = "You may also run the same command in your own shell, alone on its line. If you cannot run it, say that it \
                   was not run, and why. Do not call the work done.";
        assert_eq!(
            told(1, false, Outcome::Blocked),
            format!(
                "[ATTEMPT: 1] gate: Not proven yet (attempt 1).\n- tests: no run\n- atomic: two things (split \
                 it)\nNext, in this order:\n1. gate run test\n2. gate commit --split\n{own}"
            )
        );
        assert_eq!(
            told(2, true, Outcome::Blocked),
            format!(
                "[ATTEMPT: 2] gate: Still not proven (attempt 2). Nothing has changed since the last refusal.\n- \
                 tests: no run\nNext: gate run test\n{own}"
            )
        );
        let last = told(3, false, Outcome::Blocked);
        assert!(
            last.starts_with("[ATTEMPT: 3] gate: Not proven, and this is the last warning (attempt 3). The next"),
            "{last}"
        );
        let (_, items) = last.split_once("[CHECKLIST] ").unwrap();
        assert_eq!(items.matches("\n[ ] ").count(), checklist().len());
        assert!(checklist().len() > 2 && last.contains("\n[FORCED_CONTEXT] "));
        assert_eq!(
            told(4, true, Outcome::NeedsHuman),
            "[ATTEMPT: 4] gate: Not proven after 4 attempts: this goes to a person now.\n- tests: no run\n- atomic: two things \
             (split it)\nStop here. Tell the person what is not proven and what you tried; do not call the work done."
        );
        assert!(
            told(1, false, Outcome::CannotJudge)
                .starts_with("[ATTEMPT: 1] gate: This cannot be judged yet (attempt 1).")
        );
        assert_eq!(text(&results, &next, Outcome::Pass, Attempt { number: 0, repeated: false }).0, "");
    }
}
