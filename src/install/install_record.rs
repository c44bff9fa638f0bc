//! The state before the installation: `<git common dir>/gate/install.json`, from which `gate uninstall` restores it
//! exactly.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{InstallError, InstallTarget};
use crate::repo_path::RepoPath;

/// The format version of the record.
const VERSION: u32 = 1;

/// Everything `gate init` put into a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstallRecord {
    /// The format version.
    pub version: u32,
    #[serde(default)]
    pub hooks: Vec<HookRecord>,
    /// Other files.
    #[serde(default)]
    pub files: Vec<FileRecord>,
    /// Folders that were not there, outermost first.
    #[serde(default)]
    pub folders: Vec<PortablePath>,
}

/// A hook that was installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookRecord {
    /// `pre-push`, …
    pub name: String,
    /// The hook file.
    pub place: PortablePath,
    /// SHA-256 of the written text.
    pub digest: String,
    /// The state before.
    pub before: Before,
}

/// The file that was in the place of a hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Before {
    /// Nothing.
    Missing,
    /// A hook, which was renamed in the same folder and runs after gate's.
    Kept {
        /// Its new name in the same folder.
        name: String,
        /// SHA-256 of its bytes, or of the target of the symbolic link.
        digest: String,
        /// Its permission bits; 0 for a symbolic link.
        mode: u32,
    },
}

/// Another file that was written or edited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// The file.
    pub place: PortablePath,
    /// The purpose of the file.
    pub role: FileRole,
    /// SHA-256 of the written text.
    pub digest: String,
    /// Its text before, or `None` if it did not exist.
    pub before: Option<String>,
}

/// The purpose of a written file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileRole {
    /// `gate.toml`: the user's once it was edited or committed.
    Policy,
    /// A script of a hook manager that calls gate.
    Script,
    /// Settings of an agent client, or a file of gate that it reads.
    Client,
    /// The list of files that git is not to see in this clone.
    Exclude,
    /// Settings of a person's shell, of which nothing is kept in the record: `before` is empty where they existed.
    Shell,
    /// A file with instructions for agents, which holds a block of gate.
    Instructions,
    /// The file from which a forge starts a job: it belongs to the user once it was edited or committed.
    Job,
}

/// A path that survives a move of the repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortablePath {
    /// The base of `path`.
    pub base: PathBase,
    pub path: RepoPath,
    /// For [`PathBase::Root`]: the working tree it was, as there can be several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<RepoPath>,
}

/// The directory that a [`PortablePath`] is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathBase {
    /// The git directory that all working trees share.
    Git,
    /// The top of a working tree.
    Root,
    /// Nothing: the path is absolute.
    None,
}

impl PortablePath {
    pub(super) fn new(repository: &InstallTarget, path: &Path) -> Self {
        let bytes = |path: &Path| RepoPath::from_os(path.as_os_str());
        let real = super::hooks_dir::real;
        let full = path
            .parent()
            .map_or_else(|| path.to_owned(), |parent| real(parent).join(path.file_name().unwrap_or_default()));
        if let Ok(path) = full.strip_prefix(real(&repository.common_dir)) {
            return Self { base: PathBase::Git, path: bytes(path), root: None };
        }
        if let Some(root) = &repository.root
            && let Ok(path) = full.strip_prefix(real(root))
        {
            return Self { base: PathBase::Root, path: bytes(path), root: Some(bytes(root)) };
        }
        Self { base: PathBase::None, path: bytes(path), root: None }
    }

    pub(super) fn resolve(&self, repository: &InstallTarget) -> PathBuf {
        let path = self.path.to_os();
        match self.base {
            PathBase::None => path,
            PathBase::Git => repository.common_dir.join(path),
            PathBase::Root => {
                let then = self.root.as_ref().map(RepoPath::to_os).filter(|root| root.join(".git").exists());
                then.as_deref().unwrap_or_else(|| repository.base()).join(path)
            }
        }
    }
}

impl HookRecord {
    /// Returns the path of the hook.
    pub fn path(&self, repository: &InstallTarget) -> PathBuf {
        self.place.resolve(repository)
    }
}

impl InstallRecord {
    /// Returns the path of the record.
    pub fn path(repository: &InstallTarget) -> PathBuf {
        repository.gate_dir().join("install.json")
    }

    /// Returns the record of a repository; an empty one if nothing was installed.
    pub fn load(repository: &InstallTarget) -> Result<Self, InstallError> {
        let path = Self::path(repository);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(source) => return Err(InstallError::Io { path, source }),
        };
        let record: Self = serde_json::from_str(&text)
            .map_err(|error| InstallError::Record { path: path.clone(), message: error.to_string() })?;
        if record.version > VERSION {
            let message = format!("version {} is newer than this program", record.version);
            return Err(InstallError::Record { path, message });
        }
        Ok(record)
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        let record = Self { version: VERSION, ..self.clone() };
        // Strings, numbers and lists: there is nothing in it that JSON cannot hold.
        let mut text = serde_json::to_string_pretty(&record).unwrap_or_default();
        text.push('\n');
        text.into_bytes()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.hooks.is_empty() && self.files.is_empty() && self.folders.is_empty()
    }

    /// Replaces the record of the same hook, or adds it.
    pub(super) fn put_hook(&mut self, hook: HookRecord) {
        self.hooks.retain(|other| other.place != hook.place);
        self.hooks.push(hook);
    }

    /// Replaces the record of the same file, or adds it; the state before the installation stays.
    pub(super) fn put_file(&mut self, mut file: FileRecord) {
        if let Some(index) = self.files.iter().position(|other| other.place == file.place) {
            let known = self.files.remove(index);
            if known.digest == crate::digest::hex_digest(&[file.before.as_deref().unwrap_or_default().as_bytes()]) {
                file.before = known.before;
            }
        }
        self.files.push(file);
    }
}
