//! A verdict for people: short, the decisive line first, then the place of the full record, the reasons and the next step.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anstyle::Style;
use minijinja::context;

use crate::gates::finding::{Answer, Effect, Finding, GateResult};
use crate::moment::Moment;
use crate::policy::Mode;
use crate::render::ui::{BAD, DIM, GOOD, STRONG, WARN};
use crate::templates::sentences::say;
use crate::verdict::feedback::{LAST_WARNING, checklist_for};
use crate::verdict::{Outcome, Verdict};

/// Returns the whole verdict in a few lines, for `gate check` and for a push that is refused.
pub fn lines(verdict: &Verdict, record: Option<&Path>) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{STRONG}gate:{STRONG:#} {}", headline(verdict));
    // Many look at the last lines of a push alone, which say why and what to do.
    if let Some(record) = record.filter(|_| verdict.outcome != Outcome::Pass) {
        let _ = writeln!(text, "  {DIM}full record: {}{DIM:#}", from_here(record).display());
    }
    let several = verdict.subjects.len() > 1;
    let mut said: Vec<&str> = Vec::new();
    for result in &verdict.gates {
        if result.effect() == Effect::Silent && verdict.outcome != Outcome::Pass {
            continue;
        }
        // What is wrong in a commit and in the working tree alike is one thing.
        let mut found: Vec<(Vec<&str>, &Finding)> = Vec::new();
        for finding in shown(result) {
            let is_same = |known: &Finding| {
                (known.answer, &known.message, &known.fix) == (finding.answer, &finding.message, &finding.fix)
            };
            match found.iter_mut().find(|(_, known)| is_same(known)) {
                Some((subjects, _)) => subjects.push(&finding.subject),
                None => found.push((vec![&finding.subject], finding)),
            }
        }
        for (subjects, finding) in found {
            said.push(&finding.message);
            let subject = if several { format!("{DIM}{}:{DIM:#} ", subjects.join(", ")) } else { String::new() };
            let (style, word) = if is_observed(result) && finding.answer == Answer::Fail {
                (WARN, "would block")
            } else {
                word(finding.answer)
            };
            // What holds nobody up is not among what is to be done next, which the end says.
            let next = finding.remedy.as_ref().filter(|_| finding.answer == Answer::Pending || is_observed(result));
            let next = next.map(|next| format!("; next: {next}")).unwrap_or_default();
            let _ = writeln!(text, "  {style}{word}{style:#} {}: {subject}{}{next}", result.gate, finding.message);
            if let Some(fix) = finding.fix.as_ref().filter(|_| finding.answer >= Answer::Pending) {
                let _ = writeln!(text, "       {fix}");
            }
        }
    }
    for note in verdict.notes.iter().filter(|note| !said.iter().any(|message| message.contains(&note.text))) {
        let _ = writeln!(text, "  {WARN}note{WARN:#} {}", note.text);
    }
    if verdict.gates.iter().any(is_observed) {
        let _ = writeln!(text, "  {DIM}{}{DIM:#}", say("terminal", "all_observed", &context! {}));
    }
    let items = if verdict.attempt == LAST_WARNING { checklist_for(&verdict.gates) } else { Vec::new() };
    if !items.is_empty() {
        let warning = say("terminal", "last_warning", &context! {});
        let _ = writeln!(text, "  {STRONG}{warning}{STRONG:#} {}", say("terminal", "check_each", &context! {}));
        for item in items {
            let _ = writeln!(text, "   [ ] {item}");
        }
    }
    if verdict.outcome == Outcome::NeedsHuman {
        let person = say("terminal", "person", &context! { actions => verdict.human_actions.join("; ") });
        let _ = writeln!(text, "  {STRONG}now:{STRONG:#}  {person}");
    }
    let shown = |action: &&String| {
        let mut findings = verdict.gates.iter().flat_map(|gate| &gate.findings);
        findings.any(|finding| finding.fix.as_ref() == Some(*action))
    };
    for action in verdict.next_actions.iter().take(1).filter(|action| !shown(action)) {
        let _ = writeln!(text, "  {STRONG}next:{STRONG:#} {action}");
    }
    text
}

/// Returns the command by which a person decides about failed tests that block, for a person at a terminal. A test that
/// was changed or removed on purpose cannot pass under its name any more.
pub fn decision_of_person(verdict: &Verdict) -> Option<String> {
    let blocking = verdict.gates.iter().filter(|result| result.effect() == Effect::Blocks);
    let gate = blocking.into_iter().find(|result| {
        let mut findings = result.decisive().peekable();
        findings.peek().is_some() && findings.all(|finding| finding.reason.starts_with("failed-test"))
    })?;
    let commit = verdict.subjects.iter().find_map(|subject| subject.commit.as_ref())?;
    let command = format!("gate waive {} --rev {} --reason 'WHY'", gate.gate, commit.short());
    Some(say("terminal", "decision", &context! { command }))
}

/// Returns `true` if a gate that only observes would have blocked.
fn is_observed(result: &GateResult) -> bool {
    result.mode == Mode::Observe && result.answer == Answer::Fail
}

/// Returns the verdict for a push: one line if it may go, since long output of hooks is piped away together with the
/// status.
pub fn for_push(verdict: &Verdict, record: Option<&Path>) -> String {
    let quiet = verdict.complete
        && verdict.notes.is_empty()
        && verdict.gates.iter().all(|gate| gate.effect() == Effect::Silent);
    if quiet { format!("{STRONG}gate:{STRONG:#} {}\n", headline(verdict)) } else { lines(verdict, record) }
}

/// Returns the path as one would type it in the current directory.
fn from_here(path: &Path) -> PathBuf {
    let inner = std::env::current_dir().ok().and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    inner.unwrap_or_else(|| path.to_owned())
}

/// Returns the decisive findings, and for a verdict that passes, all proven ones.
fn shown(result: &GateResult) -> impl Iterator<Item = &Finding> {
    result.findings.iter().filter(|finding| finding.answer == result.answer || finding.answer >= Answer::Waived)
}

fn word(answer: Answer) -> (Style, &'static str) {
    match answer {
        Answer::Pass => (GOOD, "pass"),
        Answer::Skip => (DIM, "skip"),
        Answer::Waived => (WARN, "waived"),
        Answer::Pending => (WARN, "pending"),
        Answer::Unknown => (WARN, "unknown"),
        Answer::Fail => (BAD, "fail"),
    }
}

fn headline(verdict: &Verdict) -> String {
    let what = match verdict.moment {
        Moment::Push => "push",
        Moment::Commit => "commit",
        _ => "check",
    };
    let names: Vec<_> = verdict
        .subjects
        .iter()
        .take(3)
        .map(|subject| match &subject.commit {
            Some(commit) => format!("{} ({})", subject.name, commit.short()),
            None => subject.name.clone(),
        })
        .collect();
    let more = verdict.subjects.len().saturating_sub(3);
    let names = names.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() };
    let names = if names.is_empty() { say("terminal", "nothing", &context! {}) } else { names };
    let attempt =
        |again: bool, over: bool| say("terminal", "attempt", &context! { attempt => verdict.attempt, again, over });
    let (style, words, attempt) = match verdict.outcome {
        Outcome::Pass if verdict.complete => (GOOD, say("terminal", "pass", &context! {}), String::new()),
        Outcome::Pass if verdict.gates.iter().any(is_observed) => {
            (WARN, say("terminal", "observed", &context! { what }), String::new())
        }
        Outcome::Pass => (WARN, say("terminal", "reservations", &context! {}), String::new()),
        Outcome::Blocked => (BAD, say("terminal", "blocked", &context! { what }), attempt(verdict.repeated, false)),
        Outcome::NeedsHuman => {
            let blocks = verdict.gates.iter().any(|result| result.effect() == Effect::Blocks);
            let word = if blocks { "blocked" } else { "cannot_judge" };
            (BAD, say("terminal", word, &context! { what }), attempt(false, true))
        }
        Outcome::CannotJudge => {
            (WARN, say("terminal", "cannot_judge", &context! { what }), attempt(verdict.repeated, false))
        }
    };
    format!("{style}{words}{style:#}{attempt}  {names}")
}
