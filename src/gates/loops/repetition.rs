//! Loops of one failure: of one command on unchanged content, or on content that existed before.

use std::collections::{HashMap, HashSet};

use super::{DetectedLoop, Params, is_looking, is_waiting, told};
use crate::command_line::CheckOutcome;
use crate::fact::session_steps::{CommandRun, ContentId, Deed, Step};
use crate::gates::finding::Answer;

/// The number of times that a command has failed in one way on one content since there was anything new.
struct Series<'a> {
    ran: &'a CommandRun,
    failure: &'a str,
    content: &'a ContentId,
    steps: Vec<String>,
}

/// Returns the open series at the end of the steps, which nothing new has ended.
pub(super) fn notice(params: &Params, steps: &[&Step]) -> Option<DetectedLoop> {
    let mut series: HashMap<String, Series<'_>> = HashMap::new();
    let mut tried: HashSet<(String, &ContentId)> = HashSet::new();
    let mut returns = Returns::default();
    let mut commands = 0_usize;
    for step in steps {
        let Deed::Ran(ran) = &step.deed else { continue };
        if is_waiting(params, ran) {
            // Time may have healed what came from outside; it heals no check.
            series.retain(|_, series| series.ran.is_check());
            continue;
        }
        let key = key(params, ran);
        let first = tried.insert((key.clone(), &step.before));
        let looking = is_looking(ran);
        if !looking {
            commands += 1;
        }
        let Some(failure) = stuck(ran) else {
            // It works now, or something is done that was not tried before: the world may be another one.
            if first && !looking {
                series.clear();
            } else {
                series.remove(&key);
            }
            if ran.result == Some(CheckOutcome::Pass) {
                returns = Returns::default();
            }
            continue;
        };
        returns.failed(step, ran, &key, failure);
        match series.get_mut(&key) {
            Some(known) if known.failure == failure && *known.content == step.before => {
                known.steps.push(step.id.clone());
            }
            _ => {
                // Another command that fails for the first time on this content is an attempt of its own.
                if first && !ran.is_check() {
                    series.clear();
                }
                let steps = vec![step.id.clone()];
                series.insert(key, Series { ran, failure, content: &step.before, steps });
            }
        }
    }
    let now = &steps.last()?.content;
    // Content that was not tested yet has moved on.
    let open = series.into_values().filter(|series| series.content == now);
    let worst = open.max_by_key(|series| series.steps.len());
    if let Some(found) = returns.open(params, now) {
        return Some(found);
    }
    let Series { ran, steps, .. } = worst?;
    let count = steps.len();
    if count >= params.repeats {
        return Some(told(Answer::Fail, "repeated", ran, count, steps));
    }
    #[expect(clippy::cast_precision_loss, reason = "a session has few commands")]
    let share = count as f64 / commands.max(1) as f64;
    let noted = count >= params.repeats_noted && share >= params.share_noted;
    noted.then(|| told(Answer::Unknown, "repeating", ran, count, steps))
}

/// Returns the fingerprint of a run that did not reach its purpose, or `None` if it did or if that is unknown.
fn stuck(ran: &CommandRun) -> Option<&str> {
    // `grep` that finds nothing has not failed.
    let reads = ran.kinds.iter().all(|kind| kind == "read");
    match &ran.failure {
        Some(failure) => (!reads).then_some(failure.as_str()),
        // A check that shows nothing shows no more the second time.
        None => {
            let shows_nothing = matches!(ran.result, Some(CheckOutcome::Unknown | CheckOutcome::NoTests));
            (shows_nothing && ran.ended.is_some()).then_some(ran.outcome.as_str())
        }
    }
}

/// Returns a line without commands that only pass on or print, so that `cargo test` equals `cargo test 2>&1 | tail -5`.
fn key(params: &Params, ran: &CommandRun) -> String {
    let acting = ran.commands.iter().filter(|simple| !params.filters.iter().any(|name| name == simple.program()));
    let words: Vec<String> = acting
        .map(|simple| {
            let environment = simple.environment.iter().map(|(name, value)| format!("{name}={value:?}"));
            // The same words in another package are another command.
            let dir = simple.dir.iter().map(|dir| format!("in {dir}:"));
            dir.chain(environment).chain(simple.words.iter().cloned()).collect::<Vec<_>>().join(" ")
        })
        .collect();
    if words.is_empty() { ran.line.trim().to_owned() } else { words.join("\n") }
}

/// Failures on content that had failed before, after other content.
#[derive(Default)]
struct Returns<'a> {
    /// The contents on which a failure was seen, by command and failure.
    seen: HashMap<(String, &'a str), Path<'a>>,
}

#[derive(Default)]
struct Path<'a> {
    contents: Vec<&'a ContentId>,
    ran: Option<&'a CommandRun>,
    returns: Vec<String>,
}

impl<'a> Returns<'a> {
    fn failed(&mut self, step: &'a Step, ran: &'a CommandRun, key: &str, failure: &'a str) {
        if !ran.is_check() {
            return;
        }
        let path = self.seen.entry((key.to_owned(), failure)).or_default();
        path.ran = Some(ran);
        if path.contents.last() == Some(&&step.before) {
            return;
        }
        if path.contents.contains(&&step.before) {
            path.returns.push(step.id.clone());
        } else if !path.contents.is_empty() && !path.returns.is_empty() {
            // A state that was not there before: it moves again.
            path.returns.clear();
        }
        path.contents.push(&step.before);
    }

    fn open(self, params: &Params, now: &ContentId) -> Option<DetectedLoop> {
        let stands = |path: &Path<'_>| path.contents.contains(&now) && path.returns.len() >= params.returns;
        let path = self.seen.into_values().filter(stands).max_by_key(|path| path.returns.len())?;
        Some(told(Answer::Fail, "oscillating", path.ran?, path.returns.len(), path.returns))
    }
}
