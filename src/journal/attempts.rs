//! Attempts: the number of times in a row that a gate blocked a session, and the last message that the session got
//! about it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::rescue_state::RescueState;
use crate::event::{FailingGate, Judged};
use crate::moment::Moment;
use crate::oid::Oid;

/// The largest number of trees of a verdict that are remembered with its message.
const MAX_TREES: usize = 32;
/// The largest number of branches with a failure that are remembered.
pub(super) const MAX_BRANCHES: usize = 32;

/// The sum of the verdicts of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// The refusals by branch since everything passed. The empty name: on no branch.
    branches: BTreeMap<String, BranchAttempts>,
    /// The state of the rescue.
    pub rescue: RescueState,
}

/// The refusals on one branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct BranchAttempts {
    /// The number of blocked verdicts in which it failed, by gate.
    made: BTreeMap<String, u32>,
    /// The number of these that were refused commits, since a commit passed, by gate.
    at_commit: BTreeMap<String, u32>,
    /// The failures of the last refusal, by gate: the trees (the first 32) and the fingerprint.
    last: BTreeMap<String, (Vec<Oid>, String)>,
}

impl BranchAttempts {
    fn most(&self) -> u32 {
        self.made.values().copied().max().unwrap_or(0)
    }

    /// Records that a commit passed.
    fn forget_refused_commits(&mut self) {
        for (gate, refused) in std::mem::take(&mut self.at_commit) {
            if let Some(count) = self.made.get_mut(&gate) {
                *count = count.saturating_sub(refused);
            }
        }
        self.made.retain(|_, count| *count > 0);
        self.last.retain(|gate, _| self.made.contains_key(gate));
    }
}

/// The name under which verdicts about no branch are counted.
const NO_BRANCH: &str = "";

impl SessionState {
    /// Returns the number of attempts, on the branch with the most.
    pub fn made(&self) -> u32 {
        self.branches.values().map(BranchAttempts::most).max().unwrap_or(0)
    }

    /// Returns the number of attempts by gate, on the branch with the most.
    pub fn made_by_gate(&self) -> BTreeMap<String, u32> {
        let mut most: BTreeMap<String, u32> = BTreeMap::new();
        for (gate, made) in self.branches.values().flat_map(|branch| &branch.made) {
            let count = most.entry(gate.clone()).or_default();
            *count = (*count).max(*made);
        }
        most
    }

    /// Returns the branches on which something failed since everything passed.
    pub fn failing_on(&self) -> impl Iterator<Item = &str> {
        self.branches.keys().map(String::as_str).filter(|name| *name != NO_BRANCH)
    }

    /// Returns the contents of the last refusal on a branch (the first 32), if there was one.
    pub fn refused_trees(&self, branch: &str) -> Option<&[Oid]> {
        self.branches.get(branch)?.last.values().next().map(|(trees, _)| trees.as_slice())
    }

    /// Returns `true` if a commit was refused since the last one that passed.
    pub fn refused_commits(&self) -> bool {
        self.branches.values().any(|branch| !branch.at_commit.is_empty())
    }

    /// Returns the attempt that a blocked verdict with these failures on these branches would be, counted from 1; 0 if
    /// none of them blocks. Refusals on other branches are other work.
    pub fn attempt_for(&self, failing: &[FailingGate], branches: &[String]) -> u32 {
        let on = |gate: &str| {
            let made = counted(branches).filter_map(|name| self.branches.get(name)?.made.get(gate));
            made.copied().max().unwrap_or(0)
        };
        let blocking = failing.iter().filter(|gate| gate.blocks);
        blocking.map(|gate| on(&gate.gate).saturating_add(1)).max().unwrap_or(0)
    }

    /// Returns `true` if the last refusal on a branch named exactly the failures in `failing` that block, on exactly this
    /// content. The content of a commit that is about to be made has no name yet, so it never counts as the same.
    pub fn repeats(&self, failing: &[FailingGate], trees: &[Oid]) -> bool {
        let trees = &trees[..trees.len().min(MAX_TREES)];
        let blocking: Vec<&FailingGate> = failing.iter().filter(|gate| gate.blocks).collect();
        let same = |branch: &BranchAttempts| {
            let told = |failing: &&FailingGate| {
                branch.last.get(&failing.gate).is_some_and(|(on, what)| on == trees && *what == failing.fingerprint)
            };
            branch.last.len() == blocking.len() && blocking.iter().all(told)
        };
        !trees.is_empty() && self.branches.values().any(same)
    }

    /// Forgets refused commits after one that passed: the earlier refusals are settled, and the next commit is another
    /// matter.
    fn forget_refused_commits(&mut self) {
        self.branches.values_mut().for_each(BranchAttempts::forget_refused_commits);
        self.branches.retain(|_, branch| branch.most() > 0);
        self.begin_anew_where_all_passed();
    }

    fn begin_anew_where_all_passed(&mut self) {
        if self.branches.is_empty() {
            *self = Self::default();
        }
    }

    /// Continues the count of another session, whose packet came here.
    pub(super) fn take_up(&mut self, other: &Self) {
        for (name, theirs) in &other.branches {
            let branch = self.branches.entry(name.clone()).or_default();
            for (gate, made) in &theirs.made {
                let count = branch.made.entry(gate.clone()).or_default();
                *count = (*count).max(*made);
            }
            for (gate, told) in &theirs.last {
                branch.last.entry(gate.clone()).or_insert_with(|| told.clone());
            }
        }
        self.rescue.take_up(&other.rescue);
    }

    /// Counts one more verdict. A count ends when everything passes and the refused parts had to be proven. It does not
    /// end on content that requires no run, or for one gate while another blocks: otherwise two gates that fail in turn
    /// would never end. It does not end on one branch while the failure is on another.
    pub(super) fn count(&mut self, judged: &Judged) {
        if judged.blocked {
            // Looking is not an attempt.
            if judged.attempt > 0 {
                self.count_refusal(judged);
            }
            return;
        }
        if judged.moment == Moment::Commit {
            self.forget_refused_commits();
        }
        if matches!(judged.moment, Moment::Stop | Moment::Push) {
            let shown = |name: &str| name == NO_BRANCH || judged.branches.iter().any(|branch| branch == name);
            self.branches
                .retain(|name, branch| !shown(name) || branch.made.keys().any(|gate| judged.idle.contains(gate)));
            self.begin_anew_where_all_passed();
        }
    }

    fn count_refusal(&mut self, judged: &Judged) {
        for name in counted(&judged.branches) {
            self.branches.entry(name.to_owned()).or_default().last.clear();
        }
        for failing in judged.failing.iter().filter(|failing| failing.blocks) {
            let made = self.attempt_for(std::slice::from_ref(failing), &judged.branches);
            for name in counted(&judged.branches) {
                let branch = self.branches.entry(name.to_owned()).or_default();
                branch.made.insert(failing.gate.clone(), made);
                if judged.moment == Moment::Commit {
                    *branch.at_commit.entry(failing.gate.clone()).or_default() += 1;
                }
                let trees = judged.trees.iter().take(MAX_TREES).cloned().collect();
                branch.last.insert(failing.gate.clone(), (trees, failing.fingerprint.clone()));
            }
        }
        while self.branches.len() > MAX_BRANCHES {
            let few = |(name, branch): &(&String, &BranchAttempts)| {
                (counted(&judged.branches).any(|one| one == *name), branch.most())
            };
            let Some(fewest) = self.branches.iter().min_by_key(few).map(|(name, _)| name.clone()) else { return };
            self.branches.remove(&fewest);
        }
    }
}

/// Returns the names under which a verdict about these branches is counted.
fn counted(branches: &[String]) -> impl Iterator<Item = &str> {
    let none = branches.is_empty().then_some(NO_BRANCH);
    branches.iter().take(MAX_BRANCHES).map(String::as_str).chain(none)
}
