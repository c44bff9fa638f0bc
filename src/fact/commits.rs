//! The commits of a subject, and what each of them is judged by.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::commit::change::Commit;
use crate::commit::judge::{self, CommitJudgement};
use crate::commit::rules::{CommitRules, KIND, PathRole};
use crate::commit::scopes::ScopeTable;
use crate::moment::Moment;
use crate::policy::{Gate, Policy, Scope};
use crate::repo_path::RepoPath;

/// The commits of a subject that were not judged before, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NewCommits {
    /// The commits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<Commit>,
    /// The reason why the commits, or the changes of one of them, are unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<UnknownCommits>,
}

impl NewCommits {
    /// Returns `true` if there is nothing to judge and nothing unknown.
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty() && self.unknown.is_none()
    }
}

/// The reason why something about commits is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnknownCommits {
    /// A fragment of a sentence for people.
    pub why: String,
    /// The command that fetches the missing objects, or an empty text if none is known.
    pub fetch: String,
}

/// A table and the rules of a gate: everything that a judgement needs in addition to the commit.
#[derive(Clone, Debug)]
pub struct Yardstick {
    /// The scopes.
    pub table: ScopeTable,
    /// The rules.
    pub rules: CommitRules,
}

/// The input of a yardstick, and the yardstick itself.
type CachedYardstick = (Vec<Scope>, toml::Table, Arc<Yardstick>);

impl Yardstick {
    /// Returns the yardstick of a gate, or `None` if its parameters or the table are malformed, which cannot happen for
    /// a policy that was read. Compiling one costs more than a judgement, so the last one is kept.
    pub fn of(policy: &Policy, gate: &Gate) -> Option<Arc<Self>> {
        static LAST: Mutex<Option<CachedYardstick>> = Mutex::new(None);
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((scopes, params, known)) = &*last
            && *scopes == policy.scopes
            && *params == gate.params
        {
            return Some(Arc::clone(known));
        }
        let table = ScopeTable::new(policy.scopes.clone()).ok()?;
        let made = Arc::new(Self { table, rules: CommitRules::read(&gate.params).ok()? });
        *last = Some((policy.scopes.clone(), gate.params.clone(), Arc::clone(&made)));
        Some(made)
    }

    /// Returns the yardsticks of the gates that judge commits at a moment.
    pub fn all(policy: &Policy, moment: Moment) -> Vec<Arc<Self>> {
        policy.gates_of(KIND, moment).filter_map(|gate| Self::of(policy, gate)).collect()
    }

    /// Returns `true` if the changed lines of a file at `path` count in any commit. The lines of a file that goes along
    /// with any scope count only if the judgement needs them.
    pub fn counts(&self, path: &RepoPath) -> bool {
        !matches!(self.rules.role(path), PathRole::Along(_))
    }

    /// Judges one commit.
    pub fn judge(&self, commit: &Commit) -> CommitJudgement {
        judge::judge(commit, &self.table, &self.rules)
    }
}
