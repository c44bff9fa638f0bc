//! Loops of plans and of reading, without any action.

use std::collections::HashSet;

use minijinja::context;

use super::{DetectedLoop, Params, is_looking, is_waiting};
use crate::event::agent_work::Speaker;
use crate::event::forwarded_text::own_words;
use crate::fact::session_steps::{Deed, Step};
use crate::gates::finding::Answer;

/// Finds plans in a row at the end of the steps, with no action and nothing new between them.
pub(super) fn in_a_row(params: &Params, steps: &[&Step]) -> Option<DetectedLoop> {
    let mut plans: Vec<String> = Vec::new();
    let mut known: HashSet<&str> = HashSet::new();
    let mut done = 0;
    for step in steps {
        match &step.deed {
            Deed::Planned(items) => {
                let now = items.iter().filter(|item| item.done).count();
                // Ticking off is the end of work.
                if now > done {
                    plans.clear();
                }
                done = now;
                plans.push(step.id.clone());
            }
            Deed::Used { target, reads, .. } if *reads && !target.is_empty() => {
                let new = known.insert(target.as_str());
                if new {
                    plans.clear();
                }
            }
            Deed::Ran(ran) => {
                let new = known.insert(ran.line.as_str());
                if new || !is_looking(ran) || is_waiting(params, ran) {
                    plans.clear();
                }
            }
            Deed::Prompted { from: Speaker::Person | Speaker::Agent, .. }
            | Deed::Used { .. }
            | Deed::Edited(_)
            | Deed::Subagent { .. }
            | Deed::Denied(_)
            | Deed::Git { .. } => plans.clear(),
            _ => {}
        }
    }
    (plans.len() >= params.plans).then(|| DetectedLoop {
        answer: Answer::Fail,
        reason: "planning",
        values: context! { count => plans.len() },
        steps: plans,
    })
}

/// Finds a turn that read much and did hardly anything, although the prompt requests a change.
pub(super) fn explored(params: &Params, turn: &[Step]) -> Option<DetectedLoop> {
    let prompt = turn.iter().find_map(|step| match &step.deed {
        Deed::Prompted { from: Speaker::Person, text } => Some(own_words(text)),
        _ => None,
    })?;
    if !asks_for_a_change(params, &prompt) {
        return None;
    }
    let (mut uses, mut writes) = (0_usize, 0_usize);
    for step in turn {
        match &step.deed {
            Deed::Used { .. } | Deed::Planned(_) => uses += 1,
            Deed::Edited(_) => {
                uses += 1;
                writes += 1;
            }
            Deed::Ran(ran) if !is_waiting(params, ran) => {
                uses += 1;
                writes += usize::from(ran.edits || !is_looking(ran));
            }
            _ => {}
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a session has few steps")]
    let share = writes as f64 / uses.max(1) as f64;
    (uses >= params.uses_noted && share < params.writes_noted).then(|| DetectedLoop {
        answer: Answer::Unknown,
        reason: "explored",
        values: context! { count => uses },
        steps: Vec::new(),
    })
}

fn asks_for_a_change(params: &Params, prompt: &str) -> bool {
    let text = prompt.to_lowercase();
    let words: HashSet<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '\'').collect();
    let has = |list: &[String]| {
        list.iter().any(|word| {
            let phrase = word.chars().any(|c| !c.is_alphanumeric());
            if phrase { text.contains(word.as_str()) } else { words.contains(word.as_str()) }
        })
    };
    has(&params.change_words) && !has(&params.other_words)
}
