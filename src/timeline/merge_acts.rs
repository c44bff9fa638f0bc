//! Merges reports of one act of an agent: its client's hook reports it at the time, its log afterwards.
//!
//! A call has the same id in both. The entry of the hook stays, since the hook was a witness; facts that it could not
//! know (Codex passes its hooks no exit status) come from the log. Acts without an id are the same if the words are the
//! same and the times are close; that also holds for calls of clients whose hooks get no id.

use std::collections::{HashMap, HashSet};
use std::mem::{self, Discriminant};

use super::{Entry, SAME};
use crate::event::{Act, AgentWork, EventKind, FileEdit, Speaker};

/// The length of the text on which two reporters must agree. Each bounds and trims it in its own way.
const COMPARED: usize = 80;

/// The common key of two reports of the same act.
#[derive(PartialEq, Eq, Hash)]
enum Name {
    /// Session, call and kind of the act.
    Call(Option<String>, String, Discriminant<Act>),
    /// Session, sub-agent, kind of the act, and the beginning of its words.
    Words(Option<String>, Option<String>, Discriminant<Act>, String),
}

/// Makes one entry of the reports of one act. The report of an earlier source stays. Within one source, an act with the
/// id of another is a copy of it (a forked session repeats its origin) and is left out.
pub(super) fn join(sources: &mut [Vec<Entry>]) {
    let mut ids: HashSet<String> = HashSet::new();
    let mut known: HashMap<Name, Vec<(usize, usize)>> = HashMap::new();
    for number in 0..sources.len() {
        let mut kept: Vec<Entry> = Vec::with_capacity(sources[number].len());
        let mut met: HashSet<(usize, usize)> = HashSet::new();
        for entry in mem::take(&mut sources[number]) {
            let Some(work) = work(&entry) else {
                kept.push(entry);
                continue;
            };
            if !ids.insert(entry.event.id.clone()) {
                continue;
            }
            let (name, without_id) = names(&entry, work);
            let twin = [Some(&name), without_id.as_ref()].into_iter().flatten().find_map(|name| {
                known.get(name)?.iter().copied().find(|&(source, at)| {
                    source < number && !met.contains(&(source, at)) && is_same(name, &sources[source][at], &entry)
                })
            });
            if let Some((source, at)) = twin {
                met.insert((source, at));
                absorb(&mut sources[source][at], entry);
            } else {
                known.entry(name).or_default().push((number, kept.len()));
                kept.push(entry);
            }
        }
        sources[number] = kept;
    }
}

fn work(entry: &Entry) -> Option<&AgentWork> {
    if let EventKind::Work(work) = &entry.event.kind { Some(work) } else { None }
}

/// Returns the key of an act; for a call that has an id, also its key without one.
fn names(entry: &Entry, work: &AgentWork) -> (Name, Option<Name>) {
    let session = || entry.event.session.clone();
    let kind = mem::discriminant(&work.act);
    let words = |actor: Option<String>, words: &str| {
        Name::Words(session(), actor, kind, words.trim().chars().take(COMPARED).collect())
    };
    let on_what = match &work.act {
        Act::Command(command) => Some(command.line.clone()),
        Act::Edited(edits) => edits.first().map(|edit| edit.path.to_string()),
        _ => None,
    };
    if let Some(call) = &work.call {
        // Hooks that are told no id are not told of sub-agents either.
        let without_id = on_what.map(|what| words(None, &what));
        return match without_id {
            Some(name) if work.has_made_up_call() => (name, None),
            without_id => (Name::Call(session(), call.clone(), kind), without_id),
        };
    }
    let said = match &work.act {
        Act::Prompt(prompt) => prompt.text.as_str(),
        Act::Said(text) | Act::Asked(text) => text,
        Act::SubagentStarted(id) | Act::SubagentEnded(id) => id,
        Act::Session(phase) => phase.as_str(),
        _ => on_what.as_deref().unwrap_or_default(),
    };
    (words(work.actor.clone(), said), None)
}

/// Returns `true` if two reports of one name are of one act: a call is identified by its id alone.
fn is_same(name: &Name, one: &Entry, other: &Entry) -> bool {
    one.event.origin != other.event.origin
        && (matches!(name, Name::Call(..)) || one.event.at.duration_since(other.event.at).abs() <= SAME)
}

/// Takes the facts from another report that the kept one does not have.
fn absorb(kept: &mut Entry, other: Entry) {
    if !kept.also.contains(&other.event.origin) {
        kept.also.push(other.event.origin);
    }
    let (EventKind::Work(kept), EventKind::Work(other)) = (&mut kept.event.kind, other.event.kind) else { return };
    if kept.actor.is_none() {
        kept.actor = other.actor;
    }
    match (&mut kept.act, other.act) {
        (Act::Command(kept), Act::Command(other)) => {
            kept.ended = kept.ended.or(other.ended);
            kept.background |= other.background;
            fill(&mut kept.tail, other.tail);
            if kept.dir.is_none() {
                kept.dir = other.dir;
            }
        }
        (Act::CommandEnded(kept), Act::CommandEnded(other)) => {
            kept.ended = kept.ended.or(other.ended);
            fill(&mut kept.tail, other.tail);
        }
        (Act::Edited(kept), Act::Edited(other)) => {
            for edit in other {
                match kept.iter_mut().find(|known| known.path == edit.path) {
                    Some(FileEdit { removed, added, .. }) if removed.is_empty() && added.is_empty() => {
                        (*removed, *added) = (edit.removed, edit.added);
                    }
                    Some(_) => {}
                    None => kept.push(edit),
                }
            }
        }
        // Who says that it was not a person knows more: clients tell their hooks of their own notices as of prompts.
        (Act::Prompt(kept), Act::Prompt(other)) if kept.from == Speaker::Person => kept.from = other.from,
        (Act::Stopped(kept), Act::Stopped(other)) => fill(&mut kept.text, other.text),
        _ => {}
    }
}

fn fill(kept: &mut String, other: String) {
    if kept.is_empty() {
        *kept = other;
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::merge;
    use super::*;
    use crate::event::agent_work::{CommandEnd, MADE_UP, Phase, Prompt, ShellCommand, StopKind, TurnEnd};
    use crate::event::{Ended, Event, Grade, Origin};

    fn told(grade: Grade, millis: i64, call: Option<&str>, act: Act) -> Event {
        let at = Timestamp::from_millisecond(100_000 + millis).unwrap();
        Event {
            id: format!("{grade:?} {millis} {call:?} {:?}", mem::discriminant(&act)),
            at,
            session: Some("s".to_owned()),
            origin: Origin { by: "codex".to_owned(), grade },
            kind: EventKind::Work(Box::new(AgentWork { actor: None, call: call.map(str::to_owned), head: None, act })),
        }
    }

    fn command(line: &str, ended: Option<Ended>, tail: &str) -> Act {
        let (line, tail) = (line.to_owned(), tail.to_owned());
        Act::Command(Box::new(ShellCommand { line, ended, tail, ..ShellCommand::default() }))
    }

    fn prompt(from: Speaker, text: &str) -> Act {
        Act::Prompt(Prompt { from, text: text.to_owned() })
    }

    #[test]
    fn a_call_whose_hook_is_told_no_id_is_known_by_what_it_was() {
        let made_up = format!("{MADE_UP}1");
        let hooked = |millis, line: &str| told(Grade::Hooked, millis, Some(&made_up), command(line, None, ""));
        let logged = |millis, call: &str, line: &str| {
            told(Grade::Transcribed, millis, Some(call), command(line, Some(Ended::Exited(1)), "1 failed"))
        };
        let hooks = vec![hooked(0, "make test"), hooked(900, "make test"), hooked(2000, "make")];
        let log = vec![
            logged(10, "a", "make test"),
            logged(910, "b", "make test"),
            logged(1500, "c", "make test"),
            logged(60_000, "d", "make"),
        ];
        let merged = merge(vec![hooks, log]);
        let known: Vec<_> = merged.iter().map(|entry| (entry.event.origin.grade, entry.also.len())).collect();
        let (twice, hook, log) = ((Grade::Hooked, 1), (Grade::Hooked, 0), (Grade::Transcribed, 0));
        assert_eq!(known, [twice, twice, log, hook, log], "each once; the third run, and the last, were another's");
    }

    #[test]
    fn phases_of_a_session_are_not_taken_for_each_other() {
        let at = |grade, phase| told(grade, 0, None, Act::Session(phase));
        let hooks = vec![at(Grade::Hooked, Phase::Resumed)];
        let log = vec![at(Grade::Transcribed, Phase::Compacted), at(Grade::Transcribed, Phase::Resumed)];
        assert_eq!(merge(vec![hooks, log]).len(), 2);
    }

    #[test]
    fn the_log_says_what_the_hook_could_not() {
        let hooks = vec![
            told(Grade::Hooked, 0, None, prompt(Speaker::Person, "do it ")),
            told(Grade::Hooked, 10, Some("a"), command("test", None, "3 passed")),
            told(Grade::Hooked, 20, Some("b"), command("test", Some(Ended::Exited(1)), "")),
            told(Grade::Hooked, 50, None, prompt(Speaker::Person, "do it")),
        ];
        let log = vec![
            told(Grade::Transcribed, 1, None, prompt(Speaker::Person, "do it")),
            told(Grade::Transcribed, 60_000, Some("a"), command("test", Some(Ended::Exited(0)), "")),
            told(Grade::Transcribed, 60_001, Some("b"), command("test", Some(Ended::Exited(0)), "out")),
            told(Grade::Transcribed, 60_002, Some("c"), command("only here", None, "")),
            told(
                Grade::Transcribed,
                60_003,
                Some("c"),
                Act::CommandEnded(CommandEnd { ended: None, tail: String::new() }),
            ),
        ];
        let merged = merge(vec![hooks, log]);
        let shown: Vec<_> = merged
            .iter()
            .map(|entry| {
                let act = match &work(entry).unwrap().act {
                    Act::Command(command) => format!("{} {:?} {}", command.line, command.ended, command.tail),
                    Act::Prompt(prompt) => format!("{:?} {}", prompt.from, prompt.text),
                    _ => "other".to_owned(),
                };
                (act, entry.also.len())
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("Person do it ".to_owned(), 1),
                ("test Some(Exited(0)) 3 passed".to_owned(), 1),
                ("test Some(Exited(1)) out".to_owned(), 1),
                ("Person do it".to_owned(), 0),
                ("only here None ".to_owned(), 0),
                ("other".to_owned(), 0),
            ],
            "two prompts of the same words are two, a command and its end are two"
        );
    }

    #[test]
    fn who_knows_that_it_was_no_person_is_believed() {
        let stop = |text: &str| {
            Act::Stopped(TurnEnd { how: StopKind::Completed, text: text.to_owned(), running: 0, left_alone: None })
        };
        let hooks = vec![
            told(Grade::Hooked, 0, None, prompt(Speaker::Person, "run it")),
            told(Grade::Hooked, 5, None, stop("")),
        ];
        let log = vec![
            told(Grade::Transcribed, 1, None, prompt(Speaker::Hook, "run it")),
            told(Grade::Transcribed, 6, None, stop("done")),
            told(Grade::Transcribed, 20_006, None, stop("done")),
        ];
        let merged = merge(vec![hooks, log]);
        assert_eq!(merged.len(), 3, "a stop long after is another one");
        assert!(matches!(&work(&merged[0]).unwrap().act, Act::Prompt(prompt) if prompt.from == Speaker::Hook));
        assert!(matches!(&work(&merged[1]).unwrap().act, Act::Stopped(stop) if stop.text == "done"));
    }

    #[test]
    fn a_copy_is_left_out() {
        let one = told(Grade::Transcribed, 1, Some("a"), command("x", None, ""));
        let merged = merge(vec![vec![one.clone()], vec![one.clone(), one]]);
        assert_eq!((merged.len(), merged[0].also.len()), (1, 0));
    }
}
