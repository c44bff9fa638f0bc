//! What the agent is told: structured at first, narrower the second time, a last warning, then nothing but the handover.
//!
//! It names what is not proven and the command that proves it, and never a way around the gate.

use crate::gates::finding::{Effect, Finding, GateResult};
use crate::verdict::Outcome;
use crate::verdict::assemble::Attempt;

/// The attempt that is answered with the last warning.
pub const LAST_WARNING: u32 = 3;

/// The feedback for one verdict; empty when nothing stops.
pub fn text(results: &[GateResult], next_actions: &[String], outcome: Outcome, attempt: Attempt) -> String {
    let stopping: Vec<_> = results.iter().filter(|result| result.effect() >= Effect::CannotJudge).collect();
    if outcome == Outcome::Pass || stopping.is_empty() {
        return String::new();
    }
    let mut lines = vec![headline(outcome, attempt)];
    // The second answer names one thing, the first that stands in the way: a long list was given already.
    let shown = if attempt.number == 2 { 1 } else { stopping.len() };
    for result in &stopping[..shown] {
        for finding in result.decisive() {
            lines.push(format!("- {}: {}", result.gate, sentence(finding)));
        }
    }
    if outcome == Outcome::NeedsHuman {
        lines.push("Stop here and tell the person what you tried.".to_owned());
        return lines.join("\n");
    }
    match next_actions {
        [] => {}
        [only] => lines.push(format!("Next: {only}")),
        [first, ..] if attempt.number == 2 => lines.push(format!("Next: {first}")),
        several => {
            lines.push("Next, in this order:".to_owned());
            lines.extend(several.iter().enumerate().map(|(index, action)| format!("{}. {action}", index + 1)));
        }
    }
    if attempt.number == LAST_WARNING {
        lines.push("Before you answer again, check each:".to_owned());
        lines.extend(CHECKLIST.iter().map(|item| format!("[ ] {item}")));
    }
    lines.join("\n")
}

/// What the last warning asks to be checked.
pub const CHECKLIST: &[&str] = &[
    "the command ran to its end, alone, and its own exit status was seen",
    "nothing was edited after it ended",
    "what was tested is committed: `git status` shows nothing that belongs to the change",
    "if it fails for a reason outside this change, say so to the person instead of trying again",
];

fn headline(outcome: Outcome, attempt: Attempt) -> String {
    let number = attempt.number;
    let unchanged = if attempt.repeated { " Nothing has changed since this was last said." } else { "" };
    match (outcome, number) {
        (Outcome::NeedsHuman, _) => format!("Not proven after {number} attempts: this goes to a person now."),
        (Outcome::CannotJudge, _) => format!("This cannot be judged yet (attempt {number}).{unchanged}"),
        (_, LAST_WARNING) => format!("Not proven, and this is the last warning (attempt 3).{unchanged}"),
        (_, 2) => format!("Still not proven (attempt 2).{unchanged}"),
        _ => format!("Not proven yet (attempt {number}).{unchanged}"),
    }
}

fn sentence(finding: &Finding) -> String {
    match &finding.fix {
        Some(fix) if finding.remedy.is_none() => format!("{} ({fix})", finding.message),
        _ => finding.message.clone(),
    }
}
