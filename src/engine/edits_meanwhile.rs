//! Edits by agents during a run.

use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use super::Workplace;
use crate::event::{Act, EventKind, FileEdit};
use crate::journal::JournalLine;
use crate::repo_path::RepoPath;

/// The number of events of the journal in which edits are looked for.
const MAX_EVENTS: usize = 256;
/// The step in which a kernel counts the time of files: that of a file may lie so far before the true one.
const FILE_CLOCK_STEP: Duration = Duration::from_millis(10);

impl Workplace {
    /// Returns the reason why a run in the working tree `root` that began at `began` proves nothing, if an agent edited a file
    /// meanwhile that the run `reads`: the tests may have seen other content than that at its beginning and end.
    pub fn edited_meanwhile(
        &self,
        root: &Path,
        began: SystemTime,
        reads: impl Fn(&RepoPath) -> bool,
    ) -> Option<String> {
        let since = Timestamp::try_from(began).ok()?;
        let (lines, _) = self.journal.last_events(MAX_EVENTS).ok()?;
        // In another working tree, a file of this name may have been edited.
        let is_new = |path: &RepoPath| {
            let written = std::fs::metadata(root.join(path.to_os())).and_then(|meta| meta.modified());
            written.is_ok_and(|written| written + FILE_CLOCK_STEP >= began)
        };
        let edits = lines.iter().rev().map_while(|line| edits_after(line, since)).flatten();
        let file = edits.map(|edit| &edit.path).find(|path| reads(path) && is_new(path))?;
        Some(format!("{file} was edited while it ran; run it again"))
    }
}

/// Returns the edits that an event after `since` records; `None` for an earlier event.
fn edits_after(line: &JournalLine, since: Timestamp) -> Option<&[FileEdit]> {
    let JournalLine::Event(event) = line else { return Some(&[]) };
    if event.at < since {
        return None;
    }
    let EventKind::Work(work) = &event.kind else { return Some(&[]) };
    if let Act::Edited(edits) = &work.act { Some(edits) } else { Some(&[]) }
}
