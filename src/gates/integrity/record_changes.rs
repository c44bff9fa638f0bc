//! The session's changes to policy, hooks and record.

use minijinja::context;

use super::{WeakenedProof, default_subject};
use crate::fact::intent::{self, Intent, IntentKind};
use crate::fact::{CommandRun, Deed, Facts, Step};
use crate::gates::finding::Answer;
use crate::moment::Moment;

/// The kinds of notes about a policy that requires less than the one in force.
const RELAXED: [&str; 3] = ["policy-relaxed", "policy-removed", "policy-broken"];

pub(super) fn notice(facts: &Facts, steps: &[Step]) -> Vec<WeakenedProof> {
    let subject = default_subject(facts);
    let mut found = Vec::new();
    let mut policy: Vec<String> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let (intents, verb) = match &step.deed {
            // What ended badly has not been done.
            Deed::Ran(ran) if ran.ended.is_none_or(crate::event::Ended::success) => (ran.intents.clone(), verb(ran)),
            Deed::Edited(touched) => (intent::of_paths(touched.iter().map(|file| &file.path)), None),
            _ => continue,
        };
        for Intent { kind, what } in intents {
            let (reason, answer) = match kind {
                IntentKind::ChangesPolicy => {
                    policy.push(step.id.clone());
                    continue;
                }
                // Where hooks of gate were taken out, they are missing now, which a note says. What other models said in
                // another name does not count.
                IntentKind::ChangesClientHooks | IntentKind::ChangesModels | IntentKind::HidesCaller => continue,
                IntentKind::ChangesHooks | IntentKind::ChangesRecord => ("kept-changed", Answer::Fail),
                IntentKind::RemovesGate => ("checks-off", Answer::Fail),
                IntentKind::SkipsHooks | IntentKind::PushesCopy | IntentKind::RedirectsHooks => match &step.deed {
                    Deed::Ran(_) if verb.is_none() => ("checks-off", Answer::Fail),
                    Deed::Ran(ran) if is_done_again(ran, &steps[at + 1..]) => ("checks-done-later", Answer::Unknown),
                    _ => ("checks-left-out", Answer::Fail),
                },
            };
            if found.iter().any(|one: &WeakenedProof| one.reason == reason && one.steps.contains(&step.id)) {
                continue;
            }
            found.push(WeakenedProof {
                subject: subject.clone(),
                answer,
                reason,
                values: context! { verb, what },
                paths: Vec::new(),
                line: None,
                steps: vec![step.id.clone()],
            });
        }
    }
    for note in &facts.notes {
        let (reason, answer, steps) = match note.kind.as_str() {
            kind if RELAXED.contains(&kind) && !policy.is_empty() => ("policy-relaxed", Answer::Fail, policy.clone()),
            kind if RELAXED.contains(&kind) => ("policy-changed", Answer::Unknown, Vec::new()),
            "journal-damaged" => ("journal-damaged", Answer::Unknown, Vec::new()),
            "hooks-off" => ("hooks-off", Answer::Unknown, Vec::new()),
            "push-unjudged" => ("push-unjudged", Answer::Unknown, Vec::new()),
            _ => continue,
        };
        found.push(WeakenedProof {
            subject: subject.clone(),
            answer,
            reason,
            values: context! { what => note.text.as_str() },
            paths: note.path.iter().cloned().collect(),
            line: note.line,
            steps,
        });
    }
    found
}

/// Returns the verb for a line whose action hooks would have judged.
fn verb(ran: &CommandRun) -> Option<&'static str> {
    let verbs = ["commit", "push", "merge", "am", "rebase", "cherry-pick", "pull"];
    ran.commands
        .iter()
        .filter(|simple| simple.program() == "git")
        .find_map(|simple| verbs.into_iter().find(|verb| simple.words.iter().skip(1).any(|word| word == verb)))
}

/// Returns `true` if the same was done later with its checks: by a plain call that passed, or a verdict that let it
/// through.
fn is_done_again(ran: &CommandRun, later: &[Step]) -> bool {
    let Some(verb) = verb(ran) else { return false };
    let moment = if verb == "push" { Moment::Push } else { Moment::Commit };
    later.iter().any(|step| match &step.deed {
        Deed::Ran(other) => {
            let ended_well = other.ended.is_some_and(crate::event::Ended::success);
            ended_well && other.intents.is_empty() && self::verb(other) == Some(verb)
        }
        Deed::Judged { moment: at, blocked, .. } => *at == moment && !blocked,
        _ => false,
    })
}
