//! A throw-away index. Git itself uses it to say how files would look as entries of a tree.
//!
//! `git hash-object` would be simpler and wrong: it knows neither the index, which decides if git converts line ends,
//! nor submodules, modes and names with newlines.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use super::command::{failed, io_error, object_directories, run, run_any};
use super::refs_and_objects::parse_oid;
use super::{GitError, Repo};
use crate::commit::change::Commit;
use crate::git::refs_and_objects::octal;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::snapshot::SnapshotEntry;

/// The beginning of the names of our directories.
const PREFIX: &str = "gate-index-";

/// The name of the file in one of them that is locked as long as it is used.
const LOCK: &str = "in-use";

/// Locks a directory. The file gets its name when it is locked.
fn hold(folder: &Path) -> io::Result<File> {
    let (made, named) = (folder.join("new"), folder.join(LOCK));
    let file = File::create(&made)?;
    file.lock()?;
    fs::rename(&made, &named)?;
    Ok(file)
}

/// Removes the directories that killed processes left in the folder for temporary files. It ignores errors.
pub fn remove_leftovers() {
    for entry in fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if ours && is_left_over(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_left_over(folder: &Path) -> bool {
    match File::open(folder.join(LOCK)) {
        Ok(lock) => lock.try_lock().is_ok(),
        // One that is being made has no lock yet.
        Err(_) => is_older(folder, LEFT_AFTER),
    }
}

/// Returns `true` if the last change of a file is more than `age` ago.
pub(super) fn is_older(path: &Path, age: Duration) -> bool {
    let modified = fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok();
    modified.and_then(|modified| modified.elapsed().ok()).is_some_and(|elapsed| elapsed > age)
}

/// The age from which on a file that is being made is one that a killed process left.
pub(super) const LEFT_AFTER: Duration = Duration::from_mins(1);

/// Returns `true` if an error says nothing about the file that git was given.
fn is_outside(error: &GitError) -> bool {
    let words = [
        "unable to write", "unable to create", "insufficient permission", "Read-only file system", "Input/output error",
    ];
    match error {
        GitError::NoRoom { .. } | GitError::FilterFailed { .. } | GitError::Locked { .. } => true,
        GitError::Failed { stderr, .. } => words.iter().any(|words| stderr.contains(words)),
        _ => false,
    }
}

/// The largest number of git processes that search for the files git cannot take. After that, the rest counts as
/// unknown.
const MAX_TRIES: u32 = 256;

/// An index of our own outside the repository, removed when it is dropped.
pub(super) struct Scratch<'r> {
    repo: &'r Repo,
    /// The lock, held for the lifetime of this value: it distinguishes used directories from those that killed
    /// processes left.
    _lock: File,
    folder: TempDir,
    /// The object store that contents are written to, or `None` if only their ids are found out.
    store: Option<PathBuf>,
}

impl<'r> Scratch<'r> {
    /// Creates an empty index that leaves no objects.
    pub(super) fn reading(repo: &'r Repo) -> Result<Self, GitError> {
        Self::new(repo, None)
    }

    /// Creates an empty index whose objects go to the gate's own store, which is created if it is missing.
    pub(super) fn keeping(repo: &'r Repo) -> Result<Self, GitError> {
        let store = repo.kept_objects();
        if !store.is_dir() {
            fs::create_dir_all(&store).map_err(io_error("create", &store))?;
            repo.reload();
        }
        // What lies in a working tree may be readable by its owner alone.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let wide = fs::metadata(&store).is_ok_and(|meta| meta.permissions().mode() & 0o077 != 0);
            if wide {
                fs::set_permissions(&store, fs::Permissions::from_mode(0o700)).map_err(io_error("protect", &store))?;
            }
        }
        Self::new(repo, Some(store))
    }

    fn new(repo: &'r Repo, store: Option<PathBuf>) -> Result<Self, GitError> {
        let folder = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir()
            .map_err(io_error("create a directory in", std::env::temp_dir()))?;
        let lock = hold(folder.path()).map_err(io_error("lock a file in", folder.path()))?;
        Ok(Self { repo, _lock: lock, folder, store })
    }

    fn command(&self) -> Command {
        let mut command = self.repo.command();
        command
            .env("GIT_INDEX_FILE", self.folder.path().join("index"))
            .args(["-c", "core.untrackedCache=false", "-c", "index.sparse=false", "-c", "core.safecrlf=false"]);
        if let Some(store) = &self.store {
            let objects: &Path = &self.repo.common_dir().join("objects");
            command
                .args(["-c", "core.sharedRepository=0600"])
                .env("GIT_OBJECT_DIRECTORY", store)
                .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", object_directories([objects]));
        }
        command
    }

    /// Starts from another index, which stays as it is.
    pub(super) fn start_from(&self, index: &Path) -> Result<(), GitError> {
        fs::copy(index, self.folder.path().join("index")).map(drop).map_err(io_error("copy", index))
    }

    /// Starts from the entries of `tree`.
    pub(super) fn read_tree(&self, tree: &Oid) -> Result<(), GitError> {
        run(self.command().args(["read-tree", tree.as_str()]), None).map(drop)
    }

    /// Sets entries, or removes them (`None`), without looking at any file.
    pub(super) fn set<'a>(
        &self,
        entries: impl IntoIterator<Item = (&'a RepoPath, Option<&'a SnapshotEntry>)>,
    ) -> Result<(), GitError> {
        let entries: Vec<(&RepoPath, Option<&SnapshotEntry>)> = entries.into_iter().collect();
        if entries.is_empty() || self.set_in_process(&entries).is_some() {
            return Ok(());
        }
        let mut input = Vec::new();
        for (path, entry) in entries {
            let line = match entry {
                Some(entry) => format!("{:o} {} 0\t", entry.mode, entry.oid),
                None => format!("0 {} 0\t", "0".repeat(self.repo.empty_tree().as_str().len())),
            };
            input.extend_from_slice(line.as_bytes());
            input.extend_from_slice(path.as_bytes());
            input.push(0);
        }
        run(self.command().args(["update-index", "-z", "--index-info"]), Some(&input)).map(drop)
    }

    /// Does the same without starting git. Returns `None` if git has to do it.
    fn set_in_process(&self, entries: &[(&RepoPath, Option<&SnapshotEntry>)]) -> Option<()> {
        let mut index = self.index()?;
        for (path, entry) in entries {
            let entry = entry.as_ref()?;
            let none = git2::IndexTime::new(0, 0);
            let id = git2::Oid::from_str(entry.oid.as_str()).ok()?;
            let [dev, ino, uid, gid, file_size] = [0; 5];
            let (flags, flags_extended, mode, path) = (0, 0, entry.mode, path.as_bytes().to_vec());
            let (ctime, mtime) = (none, none);
            let entry =
                git2::IndexEntry { ctime, mtime, dev, ino, mode, uid, gid, file_size, id, flags, flags_extended, path };
            index.add(&entry).ok()?;
        }
        index.write().ok()
    }

    /// Returns the index as git2 reads it, if it can.
    fn index(&self) -> Option<git2::Index> {
        if self.repo.is_sha256() { None } else { git2::Index::open(&self.folder.path().join("index")).ok() }
    }

    /// Takes `paths` from the working tree as `git add` would. Returns those that git cannot take.
    pub(super) fn add<'a>(&self, paths: &[&'a RepoPath]) -> Result<BTreeSet<&'a RepoPath>, GitError> {
        let mut refused = BTreeSet::new();
        if !paths.is_empty() {
            self.add_halving(paths, &mut refused, &mut { MAX_TRIES })?;
        }
        Ok(refused)
    }

    /// Adds paths by halves. One bad path spoils the whole batch, and git leaves the index as it was: this halves the
    /// batch until the path is alone.
    fn add_halving<'a>(
        &self,
        paths: &[&'a RepoPath],
        refused: &mut BTreeSet<&'a RepoPath>,
        tries: &mut u32,
    ) -> Result<(), GitError> {
        let Some(left) = tries.checked_sub(1) else {
            // What was not tried is not known, and not known is never taken for unchanged.
            refused.extend(paths);
            return Ok(());
        };
        *tries = left;
        let mut command = self.command();
        command.arg("update-index");
        if self.store.is_none() {
            command.arg("--info-only");
        }
        command.args(["--add", "--remove", "--replace", "-z", "--stdin"]);
        let mut input = Vec::new();
        for path in paths {
            input.extend_from_slice(path.as_bytes());
            input.push(0);
        }
        let output = run_any(&mut command, Some(&input))?;
        match (output.status.code(), paths) {
            (Some(0), _) => Ok(()),
            (Some(_), [path]) => {
                let error = failed(&command, &output);
                // What cannot be stored is not a property of the file; an id alone needs no room.
                if matches!(error, GitError::NoRoom { .. }) || self.store.is_some() && is_outside(&error) {
                    return Err(error);
                }
                refused.insert(path);
                Ok(())
            }
            (Some(_), _) => {
                let (left, right) = paths.split_at(paths.len() / 2);
                self.add_halving(left, refused, tries)?;
                self.add_halving(right, refused, tries)
            }
            (None, _) => Err(failed(&command, &output)),
        }
    }

    /// Returns all entries, in git's order.
    pub(super) fn entries(&self) -> Result<Vec<(RepoPath, SnapshotEntry)>, GitError> {
        if let Some(entries) = self.entries_in_process() {
            return Ok(entries);
        }
        let printed = run(self.command().args(["ls-files", "--stage", "-z", "--full-name"]), None)?;
        let mut entries = Vec::new();
        for record in printed.split(|&byte| byte == 0).filter(|record| !record.is_empty()) {
            let malformed = || GitError::Malformed {
                command: "ls-files".to_owned(),
                what: String::from_utf8_lossy(record).into_owned(),
            };
            let tab = memchr::memchr(b'\t', record).ok_or_else(malformed)?;
            let mut words = record[..tab].split(|&byte| byte == b' ');
            let (Some(mode), Some(oid)) = (words.next(), words.next()) else { return Err(malformed()) };
            let entry = SnapshotEntry { mode: octal(mode), oid: parse_oid(oid, "ls-files")? };
            entries.push((RepoPath::new(&record[tab + 1..]), entry));
        }
        Ok(entries)
    }

    fn entries_in_process(&self) -> Option<Vec<(RepoPath, SnapshotEntry)>> {
        let index = self.index()?;
        let entry = |entry: git2::IndexEntry| {
            let oid = entry.id.to_string().parse().ok()?;
            Some((RepoPath::new(entry.path), SnapshotEntry { mode: entry.mode, oid }))
        };
        index.iter().map(entry).collect()
    }

    /// Writes a commit of `tree` into the store, made now by the author of `commit`.
    pub(super) fn commit_tree(&self, tree: &Oid, commit: &Commit) -> Result<Oid, GitError> {
        let mut command = self.command();
        command.args(["commit-tree", tree.as_str()]);
        for parent in &commit.parents {
            command.args(["-p", parent.as_str()]);
        }
        for (who, person) in [("AUTHOR", &commit.author), ("COMMITTER", &commit.committer)] {
            for (part, value) in [("NAME", &person.name), ("EMAIL", &person.email)] {
                // Where git did not say who it is, its configuration does.
                if !value.is_empty() {
                    command.env(format!("GIT_{who}_{part}"), value);
                }
            }
        }
        parse_oid(&run(&mut command, Some(commit.message.as_bytes()))?, "commit-tree")
    }

    /// Writes the objects of a list into a pack whose path begins with `start`, and returns the rest of its name.
    pub(super) fn pack_objects(&self, start: &Path, list: &[u8]) -> Result<String, GitError> {
        // The list has no paths, which would bring the versions of a file together.
        let printed = run(self.command().args(["pack-objects", "-q", "--window=50"]).arg(start), Some(list))?;
        Ok(String::from_utf8_lossy(&printed).trim().to_owned())
    }

    /// Writes the entries as a tree into the store. It does not check that blobs exist: in a partial clone most are on
    /// the remote.
    pub(super) fn write_tree(&self) -> Result<Oid, GitError> {
        parse_oid(&run(self.command().args(["write-tree", "--missing-ok"]), None)?, "write-tree")
    }
}
