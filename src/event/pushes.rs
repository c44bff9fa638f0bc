//! Pushes in verdicts, and pushes in the reflogs of git.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Event, EventKind};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::ref_names;

/// A ref that a push moves, on the remote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PushedRef {
    /// The name of the remote, or its URL if it has no name.
    pub remote: String,
    /// The full name of the ref there.
    pub reference: String,
    /// The new object, or `None` if the ref is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<Oid>,
}

/// A push that a verdict let through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PushVerdict {
    /// The time.
    pub at: Timestamp,
    /// Its refs. Empty in a record of an earlier version.
    pub pushed: Vec<PushedRef>,
    /// The commits that were judged.
    pub commits: Vec<Oid>,
}

impl PushVerdict {
    /// Returns the push of an event, or `None` if it is not a verdict about a push, or one that refused it.
    pub fn of(event: &Event) -> Option<Self> {
        let EventKind::Judged(judged) = &event.kind else { return None };
        let let_through = judged.moment == Moment::Push && !judged.blocked;
        let (pushed, commits) = (judged.pushed.clone(), judged.commits.clone());
        let_through.then_some(Self { at: event.at, pushed, commits })
    }

    /// Returns `true` if it is about this commit on this remote-tracking ref.
    pub fn is_about(&self, tracking: &str, commit: &Oid) -> bool {
        if self.pushed.is_empty() {
            return self.commits.contains(commit);
        }
        let matches = |pushed: &PushedRef| {
            let branch = ref_names::short(&pushed.reference);
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
    /// The new commit.
    pub new: Oid,
    /// The time.
    pub at: Timestamp,
}
