//! The latest runs of each command, bounded in every direction.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::journal::recorded_run::RecordedRun;

/// The largest number of command keys that are kept, the most recently run ones.
pub const MAX_KEYS: usize = 64;
/// The largest number of pairs of start and end tree that are kept for a key.
pub const MAX_PAIRS: usize = 128;
/// The largest number of runs that are kept for a pair.
pub const MAX_RUNS_OF_PAIR: usize = 8;
/// The largest number of runs that are kept in all; beyond it the key with the most of them loses its oldest.
pub const MAX_RUNS: usize = 1024;

/// The runs of one key, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct KeyRuns {
    key: String,
    pairs: usize,
    #[serde(with = "super::compact_runs::compact")]
    runs: Vec<RecordedRun>,
}

impl KeyRuns {
    fn insert(&mut self, run: RecordedRun) {
        let same = self.runs.iter().filter(|old| old.pair() == run.pair()).count();
        if same >= MAX_RUNS_OF_PAIR
            && let Some(at) = self.runs.iter().rposition(|old| old.pair() == run.pair())
        {
            self.runs.remove(at);
        }
        self.pairs += usize::from(same == 0);
        self.runs.insert(0, run);
        if self.pairs > MAX_PAIRS {
            self.forget_pair();
        }
    }

    /// Forgets the pair whose latest run is the oldest.
    fn forget_pair(&mut self) {
        self.pairs -= 1;
        if self.runs.len() == self.pairs + 1 {
            self.runs.pop();
            return;
        }
        let mut seen = HashSet::new();
        let Some(last) = self.runs.iter().map(RecordedRun::pair).filter(|pair| seen.insert(*pair)).last() else {
            return;
        };
        let (start, end) = (last.0.clone(), last.1.clone());
        self.runs.retain(|run| run.pair() != (&start, &end));
    }

    fn forget_oldest(&mut self) {
        if let Some(gone) = self.runs.pop()
            && !self.runs.iter().any(|run| run.pair() == gone.pair())
        {
            self.pairs -= 1;
        }
    }
}

/// The runs of all keys, the most recently run key first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Runs {
    keys: Vec<KeyRuns>,
    total: usize,
}

impl Runs {
    pub(super) fn insert(&mut self, run: RecordedRun) {
        let mut of_key = match self.keys.iter().position(|known| known.key == run.run.command.key) {
            Some(at) => self.keys.remove(at),
            None => KeyRuns { key: run.run.command.key.clone(), pairs: 0, runs: Vec::new() },
        };
        self.total -= of_key.runs.len();
        of_key.insert(run);
        self.total += of_key.runs.len();
        self.keys.insert(0, of_key);
        if self.keys.len() > MAX_KEYS
            && let Some(gone) = self.keys.pop()
        {
            self.total -= gone.runs.len();
        }
        if self.total > MAX_RUNS
            && let Some(largest) = self.keys.iter_mut().rev().max_by_key(|known| known.runs.len())
        {
            largest.forget_oldest();
            self.total -= 1;
        }
    }

    /// Takes out the run of an event.
    pub(super) fn remove(&mut self, id: &str) {
        for of_key in &mut self.keys {
            let Some(at) = of_key.runs.iter().position(|run| run.id == id) else { continue };
            let gone = of_key.runs.remove(at);
            self.total -= 1;
            if !of_key.runs.iter().any(|run| run.pair() == gone.pair()) {
                of_key.pairs -= 1;
            }
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &RecordedRun> {
        self.keys.iter().flat_map(|known| &known.runs)
    }

    pub(super) fn of(&self, key: &str) -> &[RecordedRun] {
        self.keys.iter().find(|known| known.key == key).map_or(&[], |known| &known.runs)
    }

    /// Returns the newest run of each line that is not a declared command.
    pub(super) fn undeclared(&self) -> impl Iterator<Item = &RecordedRun> {
        self.keys.iter().filter_map(|known| known.runs.first()).filter(|run| run.run.command.name.is_none())
    }

    pub(super) fn keys_for_name(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = move |run: &RecordedRun| run.run.command.name.as_deref() == Some(name);
        self.keys.iter().filter(move |known| known.runs.iter().any(named)).map(|known| known.key.as_str())
    }
}
