//! The timeline: merges the events of several sources in order of time.
//!
//! Only this module reasons about clocks, and for people only: no judgement rests on the order it finds. The order
//! inside one source is a fact and is kept, even if its clock went back. Between sources the clock decides. git writes
//! whole seconds. Inside one second, a commit comes before events that mention it, and a push after the verdict about
//! it; a commit that a run or a verdict of that second does not know comes after it; and a branch is made after the
//! commit it begins at.

mod bypassing_pushes;
mod merge_acts;
mod merge_order;

use std::collections::{HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};

pub use self::bypassing_pushes::without_verdict;
use crate::event::{Event, EventKind, GitEvent, Origin, PushVerdict, SeenPush};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::source::git::REPORTER;

/// The largest time between two reports of the same movement of a ref, or of the same words.
const SAME: SignedDuration = SignedDuration::from_secs(10);

/// The position of an entry: its source, and its index there.
type EntryPosition = (usize, usize);

/// An entry of the timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The event. For a command that ended, its end.
    pub event: Event,
    /// The start of a command that ended: the id and time of that event.
    pub started: Option<(String, Timestamp)>,
    /// The other reporters.
    pub also: Vec<Origin>,
    /// `true` for a push of content that no verdict allowed: the hook did not run, or its answer was ignored.
    pub unjudged: bool,
}

/// Merges sources, each in its own order. If clocks cannot decide, an earlier source comes first. If two sources report
/// the same movement of a ref or the same act of an agent, the earlier one's report stays and names the other.
pub fn merge(sources: Vec<Vec<Event>>) -> Vec<Entry> {
    merge_since(sources, None)
}

/// Merges as [`merge`] does, for a known time since which pushes are judged here: earlier pushes are ignored, and
/// without a known time, those before the first recorded event.
pub fn merge_since(sources: Vec<Vec<Event>>, judged_since: Option<Timestamp>) -> Vec<Entry> {
    let mut sources: Vec<Vec<Entry>> = sources.into_iter().map(pair_runs).collect();
    merge_acts::join(&mut sources);
    let orders = join_movements(&mut sources);
    let mentions = Mentions::of(sources.iter().flatten());
    let mut moments: Vec<Vec<Timestamp>> =
        sources.iter().map(|source| source.iter().map(|entry| mentions.moment(&entry.event)).collect()).collect();
    let predecessors = merge_order::predecessors(&sources, &orders);
    merge_order::settle(&mut moments, &predecessors);
    let mut keyed = merge_order::in_order(sources, &moments, &predecessors);
    mark_unjudged(&mut keyed, judged_since);
    keyed.into_iter().map(|(_, entry)| entry).collect()
}

/// Marks the pushes that bypassed the gate.
fn mark_unjudged(entries: &mut [(Timestamp, Entry)], judged_since: Option<Timestamp>) {
    let recorded = entries.iter().filter(|(_, entry)| movement(entry).is_none()).map(|(at, _)| *at).min();
    // git writes whole seconds.
    let judged_since = judged_since.and_then(|since| Timestamp::from_second(since.as_second()).ok());
    let Some(since) = recorded.into_iter().chain(judged_since).min() else { return };
    let verdicts: Vec<PushVerdict> = entries.iter().filter_map(|(_, entry)| PushVerdict::of(&entry.event)).collect();
    let seen = |(index, (at, entry)): (usize, &(Timestamp, Entry))| {
        let push = movement(entry).filter(|movement| movement.action == "push" && *at >= since)?;
        let (tracking, new, at) = (push.reference.clone(), push.new.clone()?, entry.event.at);
        Some((index, SeenPush { tracking, new, at }))
    };
    let (places, pushes): (Vec<usize>, Vec<SeenPush>) = entries.iter().enumerate().filter_map(seen).unzip();
    for (place, unjudged) in places.into_iter().zip(without_verdict(&pushes, &verdicts)) {
        entries[place].1.unjudged = unjudged;
    }
}

/// The times at which commits were first mentioned, and at which a push of them was last judged.
struct Mentions {
    first: HashMap<Oid, Timestamp>,
    pushed: HashMap<Oid, Timestamp>,
    /// The seconds in which a source recorded the checked-out commit.
    seconds: HashSet<i64>,
}

impl Mentions {
    fn of<'a>(entries: impl Iterator<Item = &'a Entry>) -> Self {
        let mut mentions = Self { first: HashMap::new(), pushed: HashMap::new(), seconds: HashSet::new() };
        for Entry { event, started, .. } in entries {
            let commits = match &event.kind {
                EventKind::Run(run) => run.start.head.as_slice(),
                EventKind::Judged(judged) => &judged.commits,
                _ => &[],
            };
            let at = started.as_ref().map_or(event.at, |(_, at)| *at);
            if matches!(&event.kind, EventKind::Run(_) | EventKind::Judged(_)) {
                mentions.seconds.insert(at.as_second());
            }
            for commit in commits {
                let first = mentions.first.entry(commit.clone()).or_insert(at);
                *first = at.min(*first);
                if matches!(&event.kind, EventKind::Judged(judged) if judged.moment == Moment::Push) {
                    let pushed = mentions.pushed.entry(commit.clone()).or_insert(at);
                    *pushed = at.max(*pushed);
                }
            }
        }
        mentions
    }

    /// Returns the moment of an event. An event that git dates by whole seconds moves to the time at which others
    /// mention it.
    fn moment(&self, event: &Event) -> Timestamp {
        let EventKind::Git(now) = &event.kind else { return event.at };
        if event.origin.by != REPORTER || event.at.subsec_nanosecond() != 0 {
            return event.at;
        }
        let inside = |at: &Timestamp| at.as_second() == event.at.as_second();
        let beside = |at: &Timestamp, nanos| at.saturating_add(SignedDuration::from_nanos(nanos)).unwrap_or(*at);
        let spoken = match (&now.new, now.action.as_str()) {
            (Some(new), "push") => self.pushed.get(new).filter(|at| inside(at)).map(|at| beside(at, 1)),
            (Some(new), _) => self.first.get(new).filter(|at| inside(at)).map(|at| beside(at, -1)),
            (None, _) => None,
        };
        // Whoever knows what was checked out would have spoken of a commit that was there.
        let last =
            || if self.seconds.contains(&event.at.as_second()) { beside(&event.at, 999_000_000) } else { event.at };
        spoken.unwrap_or_else(last)
    }
}

/// Joins the start and the end of a command into one entry. A run does not name its start: the latest one with the same
/// key and session is taken, as in [`crate::journal::JournalState::unfinished`].
fn pair_runs(events: Vec<Event>) -> Vec<Entry> {
    let mut open: HashMap<(String, Option<String>), Vec<usize>> = HashMap::new();
    let mut entries: Vec<Option<Entry>> = Vec::with_capacity(events.len());
    for event in events {
        let mut started = None;
        match &event.kind {
            EventKind::RunStarted(run) => {
                let key = (run.command.key.clone(), event.session.clone());
                open.entry(key).or_default().push(entries.len());
            }
            EventKind::Run(run) => {
                let key = (run.command.key.clone(), event.session.clone());
                started = open
                    .get_mut(&key)
                    .and_then(Vec::pop)
                    .and_then(|at| entries[at].take())
                    .map(|start| (start.event.id, start.event.at));
            }
            _ => {}
        }
        entries.push(Some(Entry { event, started, also: Vec::new(), unjudged: false }));
    }
    entries.into_iter().flatten().collect()
}

fn movement(entry: &Entry) -> Option<&GitEvent> {
    if let EventKind::Git(movement) = &entry.event.kind { Some(movement) } else { None }
}

/// Joins reports of one movement. A commit is known from the log of HEAD, from that of its branch, and perhaps from a
/// hook: it becomes one entry, each report used once. The name of the branch says more than `HEAD`. Returns, for each
/// source, the places of its reports in their order.
fn join_movements(sources: &mut [Vec<Entry>]) -> Vec<Vec<EntryPosition>> {
    // By new commit and action: where the reports are that stay.
    let mut known: HashMap<(String, String), Vec<EntryPosition>> = HashMap::new();
    let mut orders = Vec::with_capacity(sources.len());
    for number in 0..sources.len() {
        let (before, rest) = sources.split_at_mut(number);
        let mut kept = Vec::with_capacity(rest[0].len());
        let mut met: Vec<EntryPosition> = Vec::new();
        let mut order: Vec<EntryPosition> = Vec::new();
        for entry in std::mem::take(&mut rest[0]) {
            let Some(new) = movement(&entry) else {
                kept.push(entry);
                continue;
            };
            let key = (new.new.as_ref().map(ToString::to_string).unwrap_or_default(), new.action.clone());
            let places = known.entry(key).or_default();
            let twin = places.iter().copied().find(|&(source, at)| {
                source < number && !met.contains(&(source, at)) && is_same(&before[source][at], &entry)
            });
            if let Some((source, at)) = twin {
                met.push((source, at));
                order.push((source, at));
                absorb(&mut before[source][at], &entry);
            } else {
                places.push((number, kept.len()));
                order.push((number, kept.len()));
                kept.push(entry);
            }
        }
        rest[0] = kept;
        orders.push(order);
    }
    orders
}

fn is_same(one: &Entry, other: &Entry) -> bool {
    let (Some(a), Some(b)) = (movement(one), movement(other)) else { return false };
    let apart = one.event.at.duration_since(other.event.at).abs();
    (a.reference == b.reference || a.reference == "HEAD" || b.reference == "HEAD") && apart <= SAME
}

fn absorb(kept: &mut Entry, other: &Entry) {
    if kept.event.origin != other.event.origin && !kept.also.contains(&other.event.origin) {
        kept.also.push(other.event.origin.clone());
    }
    if let (EventKind::Git(kept), Some(other)) = (&mut kept.event.kind, movement(other)) {
        if kept.reference == "HEAD" {
            kept.reference.clone_from(&other.reference);
        }
        if kept.old.is_none() {
            kept.old.clone_from(&other.old);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Judged;

    fn oid(digit: char) -> Oid {
        digit.to_string().repeat(40).parse().unwrap()
    }

    /// Returns a movement to a commit, as git dates it: whole seconds.
    fn moved(action: &str, commit: char) -> Event {
        let movement = GitEvent {
            action: action.to_owned(),
            reference: "refs/heads/f".to_owned(),
            old: None,
            new: Some(oid(commit)),
            message: String::new(),
        };
        let origin = Origin { by: REPORTER.to_owned(), ..Origin::observed() };
        let at = Timestamp::from_second(100).unwrap();
        Event { id: format!("{action} {commit}"), at, session: None, origin, kind: EventKind::Git(movement) }
    }

    /// Returns a verdict about a commit, `millis` into the same second.
    fn judged(moment: Moment, commit: char, millis: i64) -> Event {
        let judged = Judged { commits: vec![oid(commit)], ..Judged::at(moment) };
        let at = Timestamp::from_millisecond(100_000 + millis).unwrap();
        let id = format!("{moment} {commit}");
        Event { id, at, session: None, origin: Origin::observed(), kind: EventKind::Judged(judged) }
    }

    #[test]
    fn inside_one_second_what_is_spoken_of_was_there_before() {
        let journal =
            vec![judged(Moment::Stop, 'a', 100), judged(Moment::Push, 'a', 200), judged(Moment::Stop, 'c', 400)];
        let head = vec![moved("commit", 'a'), moved("commit", 'b'), moved("commit", 'c'), moved("commit", 'd')];
        let remote = vec![moved("push", 'a')];
        let merged = merge(vec![journal, head, remote]);
        let order: Vec<_> = merged.iter().map(|entry| entry.event.id.as_str()).collect();
        assert_eq!(
            order,
            ["commit a", "stop a", "push a", "push a", "commit b", "commit c", "stop c", "commit d"],
            "the verdict of a push comes before the push"
        );
    }
    #[test]
    fn inside_one_second_a_branch_is_made_between_the_commits_around_it() {
        let named = |action: &str, reference: &str, commit: char| {
            let mut event = moved(action, commit);
            event.id = format!("{action} {reference} {commit}");
            if let EventKind::Git(movement) = &mut event.kind {
                reference.clone_into(&mut movement.reference);
            }
            event
        };
        let head =
            vec![named("commit (initial)", "HEAD", 'a'), named("checkout", "HEAD", 'a'), named("commit", "HEAD", 'b')];
        let main = vec![named("commit (initial)", "refs/heads/main", 'a')];
        let branch = vec![named("branch", "refs/heads/f", 'a'), named("commit", "refs/heads/f", 'b')];
        let journal = vec![judged(Moment::Stop, 'b', 300)];
        let merged = merge(vec![journal, head, main, branch]);
        let order: Vec<_> = merged.iter().map(|entry| entry.event.id.as_str()).collect();
        let place = |id: &str| order.iter().position(|one| *one == id).unwrap();
        assert_eq!(order[0], "commit (initial) HEAD a");
        assert!(place("branch refs/heads/f a") < place("commit HEAD b"), "{order:?}");
        assert_eq!(*order.last().unwrap(), "stop b");
        assert_eq!(order.len(), 5);
    }
}
