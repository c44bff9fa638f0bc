//! The runs that the journal holds, found by their trees.

use super::runs_by_tree::{self, RunPlace};
use super::{Journal, JournalError, JournalLine, RecordedRun};
use crate::oid::Oid;

impl Journal {
    /// Returns the kept runs of a command key that began and ended on exactly this tree, newest first. Its cost does
    /// not depend on the length of the journal.
    pub fn runs_on(&self, key: &str, tree: &Oid) -> Result<Vec<RecordedRun>, JournalError> {
        let (mut runs, spooled) = self.with_spool(|| match runs_by_tree::read(&self.dir, tree)? {
            Some(places) => Ok(self.runs_at(&places, key, tree)),
            None => self.runs_without_index(key, tree),
        })?;
        for line in spooled.lines() {
            if let JournalLine::Event(event) = line
                && let Some(run) = runs_by_tree::indexed(&event, None).filter(|run| run.run.start.tree == *tree)
            {
                runs.push(run);
            }
        }
        runs.retain(|run| run.run.command.key == key);
        runs.reverse();
        Ok(runs)
    }

    /// Finds runs if the index is missing: it is built if possible, otherwise the journal is read.
    fn runs_without_index(&self, key: &str, tree: &Oid) -> Result<Vec<RecordedRun>, JournalError> {
        if self.raw_lines(0)?.is_none() {
            return Ok(Vec::new());
        }
        if matches!(self.build_run_index(), Ok(true))
            && let Some(places) = runs_by_tree::read(&self.dir, tree)?
        {
            return Ok(self.runs_at(&places, key, tree));
        }
        let mut runs = Vec::new();
        let path = self.journal_path();
        let Some(mut lines) = self.raw_lines(0)? else { return Ok(runs) };
        while let Some(line) = lines.next_line().map_err(JournalError::read(&path))? {
            if let Ok(decoded) = line.decode() {
                let run = runs_by_tree::indexed(&decoded.event, Some(line.start));
                runs.extend(run.filter(|run| run.run.start.tree == *tree));
            }
        }
        Ok(runs)
    }

    /// Returns `true` if a cached run is in the journal, at the place that the cache names. One that waits in the spool
    /// is in no cache.
    pub fn holds(&self, run: &RecordedRun) -> bool {
        let Some(offset) = run.offset else { return false };
        let Ok(Some(mut lines)) = self.raw_lines(offset) else { return false };
        let line = lines.next_line();
        let decoded = line.ok().flatten().and_then(|line| line.decode().ok());
        decoded.and_then(|line| RecordedRun::of(&line.event, Some(offset))).is_some_and(|there| there.is_same(run))
    }

    /// Returns the runs of a key on a tree that are in the journal at these places.
    fn runs_at(&self, places: &[RunPlace], key: &str, tree: &Oid) -> Vec<RecordedRun> {
        let run = |place: &RunPlace| {
            let mut lines = self.raw_lines(place.offset).ok()??;
            let line = lines.next_line().ok()??.decode().ok()?;
            let run = runs_by_tree::indexed(&line.event, Some(place.offset));
            run.filter(|run| run.id == place.id && run.run.start.tree == *tree)
        };
        places.iter().filter(|place| place.key == key).filter_map(run).collect()
    }
}
