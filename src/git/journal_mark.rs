//! The mark of a repository's journal, kept in two places: a file beside the journal, and the setting `gate.journal` of the
//! repository. If the folder with the journal is removed, the setting stays and tells that there was one.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::PathBuf;

use super::command::io_error;
use super::{GitError, Repo};

/// The setting that holds the mark.
const SETTING: &str = "gate.journal";

impl Repo {
    /// Marks the journal, unless that was done before, or the repository had another journal, which is gone. Does nothing
    /// if there is no folder for a journal yet.
    pub fn mark_journal(&self) -> Result<(), GitError> {
        let setting = self.config(SETTING)?;
        match (self.journal_mark(), setting) {
            (Some(mark), None) => self.set_journal_mark(&mark),
            (None, None) if self.gate_dir().is_dir() => self.renew_journal_mark(),
            (_, Some(_)) | (None, None) => Ok(()),
        }
    }

    /// Returns `true` if the repository had another journal, which was removed.
    pub fn lost_its_journal(&self) -> bool {
        let setting = self.config(SETTING).ok().flatten();
        setting.is_some() && setting != self.journal_mark()
    }

    /// Marks the journal that is here now, whatever was here before.
    pub fn renew_journal_mark(&self) -> Result<(), GitError> {
        let mark = format!("{:016x}", RandomState::new().build_hasher().finish());
        let path = self.journal_mark_file();
        let written = fs::create_dir_all(self.gate_dir()).and_then(|()| fs::write(&path, format!("{mark}\n")));
        written.map_err(io_error("write", path))?;
        self.set_journal_mark(&mark)
    }

    fn set_journal_mark(&self, mark: &str) -> Result<(), GitError> {
        self.git(["config", "--local", SETTING, mark]).map(drop)
    }

    fn journal_mark(&self) -> Option<String> {
        fs::read_to_string(self.journal_mark_file()).ok().map(|text| text.trim().to_owned())
    }

    fn journal_mark_file(&self) -> PathBuf {
        self.gate_dir().join("mark")
    }
}
