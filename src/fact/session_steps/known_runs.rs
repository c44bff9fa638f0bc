//! Command lines that were read for one story, so that the next story of the same session need not read them again.

use std::collections::HashMap;
use std::mem;

use super::CommandRun;
use crate::digest::hex_digest;
use crate::event::agent_work::ShellCommand;

/// The runs of the latest story, by the digest of what was recorded.
#[derive(Debug, Default)]
pub struct KnownRuns {
    /// The texts of the files that gave the lines their meaning.
    texts: u128,
    runs: HashMap<String, CommandRun>,
    used: HashMap<String, CommandRun>,
}

impl KnownRuns {
    /// Forgets everything if the known texts of the files are others than before.
    pub fn keep_for(&mut self, texts: u128) {
        if self.texts != texts {
            *self = Self { texts, ..Self::default() };
        }
    }

    /// Returns the run of a command, which is read if it is not known.
    pub(super) fn of(&mut self, command: &ShellCommand, read: impl FnOnce() -> CommandRun) -> CommandRun {
        let rest = format!("{:?} {} {:?}", command.ended, command.background, command.shell);
        let key = hex_digest(&[command.line.as_bytes(), command.tail.as_bytes(), rest.as_bytes()]);
        let run = self.used.remove(&key).or_else(|| self.runs.remove(&key)).unwrap_or_else(read);
        self.used.entry(key).or_insert(run).clone()
    }

    /// Forgets the runs that no command had since the last call.
    pub(super) fn forget_unused(&mut self) {
        self.runs = mem::take(&mut self.used);
    }
}
