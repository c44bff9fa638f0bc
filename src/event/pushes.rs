//! Pushes: what a verdict says of them, and what git shows of them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Event, EventKind};
use crate::moment::Moment;
use crate::oid::Oid;

/// A ref that a push moves, on the remote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PushedRef {
    /// The name of the remote, or its address where it has none.
    pub remote: String,
    /// The full name of the ref there.
    pub reference: String,
    /// Where it is moved to; `None`: it is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<Oid>,
}

/// A push that a verdict let through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PushVerdict {
    /// When.
    pub at: Timestamp,
    /// Its refs; empty in a record of an earlier version.
    pub pushed: Vec<PushedRef>,
    /// The commits that were judged.
    pub commits: Vec<Oid>,
}

impl PushVerdict {
    /// The verdict that an event tells of; `None`: of none, or of one that refused.
    pub fn of(event: &Event) -> Option<Self> {
        let EventKind::Judged(judged) = &event.kind else { return None };
        let let_through = judged.moment == Moment::Push && !judged.blocked;
        let (pushed, commits) = (judged.pushed.clone(), judged.commits.clone());
        let_through.then_some(Self { at: event.at, pushed, commits })
    }

    /// Whether it is about this commit on this remote-tracking ref.
    pub fn is_about(&self, tracking: &str, commit: &Oid) -> bool {
        if self.pushed.is_empty() {
            return self.commits.contains(commit);
        }
        let matches = |pushed: &PushedRef| {
            let branch = pushed.reference.strip_prefix("refs/heads/").unwrap_or(&pushed.reference);
            pushed.new.as_ref() == Some(commit) && tracking == format!("refs/remotes/{}/{branch}", pushed.remote)
        };
        self.pushed.iter().any(matches)
    }
}

/// A push, as the reflog of a remote-tracking ref shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenPush {
    /// The remote-tracking ref.
    pub tracking: String,
    /// Where it was moved to.
    pub new: Oid,
    /// When.
    pub at: Timestamp,
}
