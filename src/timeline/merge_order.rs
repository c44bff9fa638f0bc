//! Merges several orders into one: each source keeps its own, and its order of another source's entries counts as well.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use jiff::Timestamp;

use super::{Entry, EntryPosition, movement};
use crate::oid::Oid;

/// For an entry, those of other sources that come before it.
pub(super) type Predecessors = HashMap<EntryPosition, Vec<EntryPosition>>;

/// Returns the entries that must come before each entry, across sources: the order of each log, also if another log's
/// entry stands for one of its own, and of two movements to one commit in one second first the one that made the
/// commit. `orders` holds, for each log, the places of its entries.
pub(super) fn predecessors(sources: &[Vec<Entry>], orders: &[Vec<EntryPosition>]) -> Predecessors {
    let mut all = Predecessors::new();
    for order in orders {
        for pair in order.windows(2) {
            if pair[0].0 != pair[1].0 {
                all.entry(pair[1]).or_default().push(pair[0]);
            }
        }
    }
    let mut makers: HashMap<&Oid, EntryPosition> = HashMap::new();
    let places =
        || sources.iter().enumerate().flat_map(|(number, source)| (0..source.len()).map(move |at| (number, at)));
    let entry = |place: EntryPosition| &sources[place.0][place.1];
    for place in places() {
        if let Some(new) =
            movement(entry(place)).filter(|movement| makes_commits(&movement.action)).and_then(|it| it.new.as_ref())
        {
            makers.entry(new).or_insert(place);
        }
    }
    for place in places() {
        let Some(other) = movement(entry(place)).filter(|movement| !makes_commits(&movement.action)) else { continue };
        let maker = other.new.as_ref().and_then(|new| makers.get(new));
        if let Some(maker) =
            maker.filter(|maker| entry(**maker).event.at.as_second() == entry(place).event.at.as_second())
        {
            all.entry(place).or_default().push(*maker);
        }
    }
    all
}

/// Puts events of one second no later than the events after them.
pub(super) fn settle(moments: &mut [Vec<Timestamp>], predecessors: &Predecessors) {
    /// A chain that goes from log to log and back more often is put in order by [`in_order`] all the same.
    const ROUNDS: usize = 3;
    for _ in 0..ROUNDS {
        for source in &mut *moments {
            for at in (1..source.len()).rev() {
                if source[at - 1].as_second() == source[at].as_second() {
                    source[at - 1] = source[at - 1].min(source[at]);
                }
            }
        }
        for (&(source, at), before) in predecessors {
            let moment = moments[source][at];
            for &(source, at) in before {
                if moments[source][at].as_second() == moment.as_second() {
                    moments[source][at] = moments[source][at].min(moment);
                }
            }
        }
    }
}

fn makes_commits(action: &str) -> bool {
    ["commit", "merge", "cherry-pick", "revert", "rebase", "am", "pull"].iter().any(|maker| action.starts_with(maker))
}

/// The next entry of a source: its moment, and the source.
type NextEntry = Reverse<(Timestamp, usize)>;

/// Merges the sources: the earliest first, an earlier source first where moments are equal. Nothing comes before its
/// predecessors, unless they contradict each other.
pub(super) fn in_order(
    sources: Vec<Vec<Entry>>,
    moments: &[Vec<Timestamp>],
    predecessors: &Predecessors,
) -> Vec<(Timestamp, Entry)> {
    let mut merged = Vec::with_capacity(sources.iter().map(Vec::len).sum());
    let mut sources: Vec<_> = sources.into_iter().map(Vec::into_iter).collect();
    // By source, the entries that were taken.
    let mut taken = vec![0; sources.len()];
    let head = |source: usize, at: usize, latest: Timestamp| -> Option<NextEntry> {
        moments[source].get(at).map(|moment| Reverse((latest.max(*moment), source)))
    };
    let mut heads: BinaryHeap<NextEntry> =
        (0..sources.len()).filter_map(|source| head(source, 0, Timestamp::MIN)).collect();
    while let Some(Reverse((moment, source))) = next(&mut heads, predecessors, &taken) {
        merged.extend(sources[source].next().map(|entry| (moment, entry)));
        taken[source] += 1;
        heads.extend(head(source, taken[source], moment));
    }
    merged
}

/// Takes the earliest entry that waits for no other one; where all wait, the earliest.
fn next(heads: &mut BinaryHeap<NextEntry>, predecessors: &Predecessors, taken: &[usize]) -> Option<NextEntry> {
    let waits = |head: &NextEntry| {
        let place = (head.0.1, taken[head.0.1]);
        let before = predecessors.get(&place).into_iter().flatten();
        before.into_iter().any(|(source, at)| taken[*source] <= *at)
    };
    let mut waiting = Vec::new();
    let mut found = None;
    while let Some(head) = heads.pop() {
        if !waits(&head) {
            found = Some(head);
            break;
        }
        waiting.push(head);
    }
    heads.extend(waiting);
    found.or_else(|| heads.pop())
}
