//! A run as the state of the journal keeps it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::event::{Event, EventKind, Origin, Run};
use crate::oid::Oid;

/// The largest length of each list of paths in a summary.
pub const MAX_PATHS: usize = 32;

/// The largest length of a command line in a summary, in bytes.
const MAX_COMMAND: usize = 512;

/// A run that the journal holds, without its output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedRun {
    /// The id of its event.
    pub id: String,
    /// The time at which it was recorded, for people.
    pub at: Timestamp,
    /// The session it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The way in which it became known.
    pub origin: Origin,
    /// The place where its line begins in the journal, in bytes; `None` for one that waits in the spool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The run. `tail` is empty, the lists of paths hold 32 at most, a very long command line is cut.
    pub run: Box<Run>,
}

impl RecordedRun {
    /// Returns the summary of a `run` event whose line begins at `offset`; `None` for any other event.
    pub(super) fn of(event: &Event, offset: Option<u64>) -> Option<Self> {
        let EventKind::Run(run) = &event.kind else { return None };
        let mut run = run.clone();
        run.tail = String::new();
        run.changed.truncate(MAX_PATHS);
        run.logs.truncate(MAX_PATHS);
        run.built.truncate(MAX_PATHS);
        for snapshot in [&mut run.start, &mut run.end] {
            snapshot.untracked.truncate(MAX_PATHS);
            snapshot.hidden.truncate(MAX_PATHS);
            snapshot.opaque.truncate(MAX_PATHS);
            snapshot.left_behind.truncate(MAX_PATHS);
            snapshot.tool_folders.truncate(MAX_PATHS);
            snapshot.local_files.truncate(MAX_PATHS);
        }
        let line = &mut run.command.line;
        line.truncate(line.floor_char_boundary(MAX_COMMAND));
        let (id, at, session, origin) = (event.id.clone(), event.at, event.session.clone(), event.origin.clone());
        Some(Self { id, at, session, origin, offset, run })
    }

    /// Returns `true` if two summaries are of one event. The id of the tool call is not in all of them.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let without_call = |one: &Self| {
            let mut one = one.clone();
            one.run.call = None;
            one
        };
        without_call(self) == without_call(other)
    }

    pub(super) fn pair(&self) -> (&Oid, &Oid) {
        (&self.run.start.tree, &self.run.end.tree)
    }
}
