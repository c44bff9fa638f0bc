//! The contracts that were begun in a repository, each with the state at the beginning of its task.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::digest;
use crate::oid::Oid;
use crate::regular_file;

/// A contract whose task began.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BegunContract {
    /// The version of this form: 1.
    #[serde(default = "first_version")]
    pub schema_version: u32,
    /// Its name.
    pub name: String,
    /// The file it was read from.
    pub file: PathBuf,
    /// The text at the beginning. It counts even if the file changes.
    pub text: String,
    /// The digest of the text.
    pub digest: String,
    /// The tree that the task began from.
    pub tree: Oid,
    /// The commit that was checked out at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Oid>,
    /// The branch that was checked out at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The root of the working tree in which it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<PathBuf>,
    /// `true` if it was met at the last check.
    #[serde(default)]
    pub met: bool,
    /// The commit that met it when it was about to be pushed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pushed: Option<Oid>,
    /// The reason why it no longer applies, or `None` as long as it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<ContractEnd>,
}

/// The reason why a contract no longer applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ContractEnd {
    /// A commit that meets it was pushed.
    Pushed,
    /// It was met, and the next task began.
    Followed,
    /// A person dropped it.
    Dropped,
}

/// The folder of begun contracts.
#[derive(Debug)]
pub struct ContractShelf {
    folder: PathBuf,
}

impl ContractShelf {
    /// Returns the folder below gate's folder of a repository.
    pub fn of(gate_dir: &Path) -> Self {
        Self { folder: gate_dir.join("contracts") }
    }

    /// Returns all begun contracts, by name.
    ///
    /// # Errors
    ///
    /// A record cannot be read.
    pub fn all(&self) -> io::Result<Vec<BegunContract>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut all = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let text = fs::read(&path)?;
                all.push(serde_json::from_slice(&text).map_err(|error| {
                    io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", path.display()))
                })?);
            }
        }
        all.sort_by(|a: &BegunContract, b| a.name.cmp(&b.name));
        Ok(all)
    }

    /// Keeps a contract.
    ///
    /// # Errors
    ///
    /// The record cannot be written.
    pub fn put(&self, contract: &BegunContract) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        serde_json::to_writer_pretty(&mut file, contract)?;
        file.persist(self.folder.join(format!("{}.json", contract.name))).map_err(|error| error.error)?;
        Ok(())
    }
}

impl BegunContract {
    /// Returns `true` if its task is not done.
    pub const fn is_open(&self) -> bool {
        !self.met && self.end.is_none()
    }

    /// Returns the change of the file since the beginning, or `None` if it is the same.
    pub fn change(&self) -> Option<&'static str> {
        match regular_file::read(&self.file) {
            Ok(bytes) if digest::sha256(&bytes) == self.digest => None,
            Ok(_) => Some("the contract was changed after it began; the original counts"),
            Err(_) => Some("the file of the contract is gone; the original counts"),
        }
    }
}

/// Returns the version of records without one.
const fn first_version() -> u32 {
    1
}

/// Returns the digest of a contract's text.
pub fn contract_digest(text: &[u8]) -> String {
    digest::sha256(text)
}
