//! The old entries of a journal, and which of them stay.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::state::JournalState;
use crate::event::{Act, Event, EventKind, Judged, Rescue, Run, Speaker, TestResults};
use crate::oid::Oid;

/// The reason for which an entry stays.
#[derive(Clone, Debug, PartialEq)]
enum EntryClaim {
    /// It proves something, or nobody here can tell.
    Proves,
    /// It stays as long as its session goes on.
    Session(Option<String>),
    /// It stays as long as its session goes on, or its count of attempts has not ended.
    Attempts(Option<String>),
    /// It stays together with another entry.
    With(usize),
    /// None.
    Nothing,
}

struct OldEntry {
    /// The positions where it begins and ends.
    place: (u64, u64),
    claim: EntryClaim,
    /// The verdict, if it counts a failure that did not block.
    counts: Option<Judged>,
}

/// The old entries, in order.
pub(super) struct OldEntries<'s> {
    state: &'s JournalState,
    live: &'s HashSet<Oid>,
    /// The ids of the events that the state rests on.
    needed: HashSet<&'s str>,
    /// The packets that a session may still answer, and the sessions that handed them over.
    packets: HashSet<&'s str>,
    rescued: HashSet<String>,
    entries: Vec<OldEntry>,
    /// The commands that began and have not ended, by key and session.
    begun: HashMap<(String, Option<String>), Vec<usize>>,
    /// The run that was read last.
    last_run: Option<usize>,
    /// The edited markers and the failed tests that an entry which stays already shows.
    witnessed: HashSet<String>,
}

impl<'s> OldEntries<'s> {
    pub(super) fn new(state: &'s JournalState, live: &'s HashSet<Oid>) -> Self {
        Self {
            state,
            live,
            needed: state.needed(),
            packets: state.refused().flat_map(|(_, one)| one.rescue.packets.iter().map(String::as_str)).collect(),
            rescued: HashSet::new(),
            entries: Vec::new(),
            begun: HashMap::new(),
            last_run: None,
            witnessed: HashSet::new(),
        }
    }

    pub(super) fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Adds an entry; `None` for one that cannot be read, which proves nothing.
    pub(super) fn add(&mut self, event: Option<&Event>, place: (u64, u64)) {
        let claim = event.map_or(EntryClaim::Nothing, |event| self.claim(event));
        let counts = event.and_then(|event| match &event.kind {
            EventKind::Judged(judged) if judged.failing.iter().any(|failing| !failing.blocks) => Some(judged.clone()),
            _ => None,
        });
        self.entries.push(OldEntry { place, claim, counts });
    }

    /// Withdraws the last entry: the line after it saw another one.
    pub(super) fn forget_last(&mut self) {
        self.last_run = None;
        if let Some(last) = self.entries.last_mut() {
            last.claim = EntryClaim::Nothing;
        }
    }

    fn claim(&mut self, event: &Event) -> EntryClaim {
        let session = event.session.clone();
        if let EventKind::Run(run) = &event.kind {
            return self.claim_of_run(event, run);
        }
        if self.needed.contains(event.id.as_str()) && !matches!(event.kind, EventKind::Tests(_)) {
            return EntryClaim::Proves;
        }
        match &event.kind {
            EventKind::RunStarted(started) => {
                let begun = self.begun.entry((started.command.key.clone(), session.clone())).or_default();
                begun.push(self.entries.len());
                EntryClaim::Session(session)
            }
            EventKind::Tests(results) => self.claim_of_tests(event, results),
            EventKind::Judged(judged) => {
                let is_live = judged.trees.iter().chain(&judged.commits).any(|content| self.live.contains(content));
                if is_live || self.state.rests_on_verdict(event, judged) {
                    EntryClaim::Proves
                } else {
                    EntryClaim::Attempts(session)
                }
            }
            EventKind::Rescue(rescue) => {
                if let (Rescue::HandedOver(handed), Some(session)) = (rescue, &session)
                    && self.packets.contains(handed.id.as_str())
                {
                    self.rescued.insert(session.clone());
                }
                EntryClaim::Attempts(session)
            }
            EventKind::Work(work) => match &work.act {
                Act::Prompt(prompt) if prompt.from == Speaker::Person => EntryClaim::Attempts(session),
                Act::Edited(edits) => {
                    let known = self.state.edited_markers();
                    let markers = edits.iter().map(|edit| &edit.path).filter(|path| known.contains(path));
                    let new = markers.filter(|path| self.witnessed.insert(format!("marker {path}"))).count();
                    if new > 0 { EntryClaim::Proves } else { EntryClaim::Session(session) }
                }
                _ => EntryClaim::Session(session),
            },
            EventKind::Unknown { .. } => EntryClaim::Proves,
            EventKind::Damage(_) | EventKind::Repaired(_) | EventKind::Head(_) | EventKind::Pruned(_) => {
                EntryClaim::Nothing
            }
            _ => EntryClaim::Session(session),
        }
    }

    /// A run stays if the state rests on it, or if it was on content that may still be judged. Its beginning goes with it:
    /// alone, it would be that of a command that never ended.
    fn claim_of_run(&mut self, event: &Event, run: &Run) -> EntryClaim {
        let at = self.entries.len();
        self.last_run = Some(at);
        let of = (run.command.key.clone(), event.session.clone());
        if let Some(begun) = self.begun.get_mut(&of).and_then(Vec::pop) {
            self.entries[begun].claim = EntryClaim::With(at);
        }
        let is_live = run.start.tree == run.end.tree && self.live.contains(&run.start.tree);
        if is_live || self.needed.contains(event.id.as_str()) { EntryClaim::Proves } else { EntryClaim::Session(of.1) }
    }

    /// The tests of a run stay with it. If they are a failure that is still remembered, or what became of it, the run stays
    /// with them.
    fn claim_of_tests(&mut self, event: &Event, results: &TestResults) -> EntryClaim {
        let session = event.session.as_deref();
        let mut is_witness = self.needed.contains(event.id.as_str());
        for test in &results.failed {
            // One failure in another session is enough to know of it.
            if self.state.failed_elsewhere(&results.key, test, session) {
                is_witness |= self.witnessed.insert(format!("test {} {test}", results.key));
            }
        }
        match self.last_run {
            Some(run) if is_witness => {
                self.entries[run].claim = EntryClaim::Proves;
                EntryClaim::Proves
            }
            Some(run) => EntryClaim::With(run),
            None => EntryClaim::Proves,
        }
    }

    /// Returns the places of the entries that stay if these sessions go on, and the failures that did not block and are
    /// counted no longer.
    pub(super) fn staying(&self, going_on: &HashSet<String>) -> (Vec<(u64, u64)>, BTreeMap<String, u64>) {
        let refused: HashSet<&str> = self.state.refused().map(|(session, _)| session).collect();
        let goes_on = |session: &Option<String>| session.as_ref().is_some_and(|one| going_on.contains(one));
        let is_refused = |session: &Option<String>| {
            let session = session.as_deref().unwrap_or_default();
            refused.contains(session) || self.rescued.contains(session)
        };
        let stays = |claim: &EntryClaim| match claim {
            EntryClaim::Proves => true,
            EntryClaim::Session(session) => goes_on(session),
            EntryClaim::Attempts(session) => goes_on(session) || is_refused(session),
            EntryClaim::With(_) | EntryClaim::Nothing => false,
        };
        let (mut places, mut all, mut kept) = (Vec::new(), JournalState::default(), JournalState::default());
        for entry in &self.entries {
            let stays = match entry.claim {
                EntryClaim::With(other) => stays(&self.entries[other].claim),
                _ => stays(&entry.claim),
            };
            if let Some(judged) = &entry.counts {
                all.count_would_block(judged);
                if stays {
                    kept.count_would_block(judged);
                }
            }
            places.extend(stays.then_some(entry.place));
        }
        let stayed = |gate: &str| kept.would_block().get(gate).copied().unwrap_or_default();
        let lost = all.would_block().iter().map(|(gate, count)| (gate.clone(), count.saturating_sub(stayed(gate))));
        (places, lost.filter(|(_, count)| *count > 0).collect())
    }
}
