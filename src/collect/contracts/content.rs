//! The files that a condition is about: those on disk, or those of a commit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use crate::collect::changed_files::{FilesOf, changed_paths};
use crate::git::{GitError, Repo, WantedFile};
use crate::globs::Globs;
use crate::oid::Oid;
use crate::regular_file;
use crate::repo_path::RepoPath;
use crate::snapshot::SnapshotEntry;

/// The maximum size of a file that is read, in bytes.
const MAX_READ: u64 = 16 << 20;

/// The maximum number of links on the way to a file.
const MAX_LINKS: usize = 40;

/// The mode of a symbolic link in a tree.
const LINK: u32 = 0o120_000;

/// Folders that tools fill.
const TOOL_FOLDERS: [&str; 8] =
    [".git", "node_modules", "__pycache__", ".venv", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".gradle"];

/// The content that a contract is checked on.
#[derive(Debug)]
pub struct ContractContent<'a> {
    /// The repository.
    pub repo: &'a Repo,
    /// The tree that the task began from.
    pub start: &'a Oid,
    /// The file of the contract itself, which is not part of the task.
    pub own_file: Option<&'a Path>,
    place: ContentPlace,
}

#[derive(Debug)]
enum ContentPlace {
    Disk(PathBuf),
    Tree(Oid, BTreeMap<RepoPath, SnapshotEntry>),
}

/// The kind of entry at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoundAt {
    Nothing,
    File,
    Folder,
    Outside,
}

/// The reason why a file cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UnreadFile {
    Missing,
    Folder,
    NoFile,
    TooLarge,
    Binary,
    Outside,
    Other(String),
}

impl fmt::Display for UnreadFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "does not exist",
            Self::Folder => "is a folder",
            Self::NoFile => "is not a regular file",
            Self::TooLarge => "is larger than 16 MiB",
            Self::Binary => "is binary",
            Self::Outside => "leads outside the repository",
            Self::Other(why) => return write!(f, "cannot be read: {why}"),
        })
    }
}

impl<'a> ContractContent<'a> {
    /// Returns the files of the working tree below `root`.
    pub fn on_disk(repo: &'a Repo, root: &Path, start: &'a Oid, own_file: Option<&'a Path>) -> Self {
        Self { repo, start, own_file, place: ContentPlace::Disk(root.to_owned()) }
    }

    /// Returns the files of a commit or tree.
    ///
    /// # Errors
    ///
    /// git cannot list them.
    pub fn in_tree(repo: &'a Repo, tree: &Oid, start: &'a Oid, own_file: Option<&'a Path>) -> Result<Self, GitError> {
        let entries = repo.tree_entries(tree)?.into_iter().collect();
        Ok(Self { repo, start, own_file, place: ContentPlace::Tree(tree.clone(), entries) })
    }

    /// Returns what is at a path. Links are followed.
    pub(super) fn at(&self, path: &str) -> FoundAt {
        match &self.place {
            ContentPlace::Disk(root) => match inside(root, path) {
                None => FoundAt::Outside,
                Some(place) => match fs::metadata(place) {
                    Ok(data) if data.is_dir() => FoundAt::Folder,
                    Ok(_) => FoundAt::File,
                    Err(_) => FoundAt::Nothing,
                },
            },
            ContentPlace::Tree(_, entries) => match self.resolve(path) {
                None => FoundAt::Outside,
                Some(path) if entries.get(&path).is_some_and(|entry| !entry.is_commit()) => FoundAt::File,
                Some(path) if is_folder(entries, &path) => FoundAt::Folder,
                Some(_) => FoundAt::Nothing,
            },
        }
    }

    /// Returns `true` if a path is there, even as a link to nothing, or `None` if it leads outside.
    pub(super) fn is_there(&self, path: &str) -> Option<bool> {
        match &self.place {
            ContentPlace::Disk(root) => Some(fs::symlink_metadata(inside(root, path)?).is_ok()),
            ContentPlace::Tree(_, entries) => {
                let own = RepoPath::from(path.trim_start_matches("./").trim_end_matches('/'));
                Some(entries.contains_key(&own) || self.resolve(path).map(|_| self.at(path))? != FoundAt::Nothing)
            }
        }
    }

    /// Returns the contents of a file.
    pub(super) fn bytes(&self, path: &str) -> Result<Vec<u8>, UnreadFile> {
        match self.at(path) {
            FoundAt::Outside => return Err(UnreadFile::Outside),
            FoundAt::Nothing => return Err(UnreadFile::Missing),
            FoundAt::Folder => return Err(UnreadFile::Folder),
            FoundAt::File => {}
        }
        let bytes = match &self.place {
            ContentPlace::Disk(root) => read_file(&root.join(path))?,
            ContentPlace::Tree(_, entries) => {
                let entry = self.resolve(path).and_then(|path| entries.get(&path)).ok_or(UnreadFile::Missing)?;
                let read = self.repo.blobs(&[WantedFile::of(Some(entry))]);
                let read = read.map_err(|error| UnreadFile::Other(error.to_string()))?.pop().flatten();
                read.ok_or_else(|| UnreadFile::Other("its object is missing".to_owned()))?
            }
        };
        if bytes.len() as u64 > MAX_READ { Err(UnreadFile::TooLarge) } else { Ok(bytes) }
    }

    /// Returns the contents of an import map, which may lie outside of the repository.
    #[cfg(feature = "symbols")]
    pub(super) fn map_bytes(&self, path: &str) -> Result<Vec<u8>, UnreadFile> {
        let outside = self.at(path) == FoundAt::Outside || path.starts_with('/');
        let Some(root) = self.repo.root().filter(|_| outside) else { return self.bytes(path) };
        let bytes = read_file(&root.join(path))?;
        if bytes.len() as u64 > MAX_READ { Err(UnreadFile::TooLarge) } else { Ok(bytes) }
    }

    /// Returns the text of a file.
    pub(super) fn text(&self, path: &str) -> Result<String, UnreadFile> {
        let bytes = self.bytes(path)?;
        if bytes.contains(&0) { Err(UnreadFile::Binary) } else { Ok(String::from_utf8_lossy(&bytes).into_owned()) }
    }

    /// Returns the number of lines. Text after the last line break counts as one.
    pub(super) fn lines(&self, path: &str) -> Result<usize, UnreadFile> {
        Ok(self.text(path)?.lines().count())
    }

    /// Returns the number of files right in a folder.
    pub(super) fn files_in(&self, folder: &str) -> Result<usize, UnreadFile> {
        match self.at(folder) {
            FoundAt::Outside => return Err(UnreadFile::Outside),
            FoundAt::Nothing | FoundAt::File => return Err(UnreadFile::Missing),
            FoundAt::Folder => {}
        }
        match &self.place {
            ContentPlace::Disk(root) => {
                let entries = fs::read_dir(root.join(folder)).map_err(|error| UnreadFile::Other(error.to_string()))?;
                Ok(entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())).count())
            }
            ContentPlace::Tree(_, entries) => {
                let folder = self.resolve(folder).ok_or(UnreadFile::Outside)?;
                let parent = folder.to_os();
                let is_file = |(path, entry): &(&RepoPath, &SnapshotEntry)| {
                    path.to_os().parent() == Some(parent.as_ref()) && entry.mode != LINK && !entry.is_commit()
                };
                Ok(entries.iter().filter(is_file).count())
            }
        }
    }

    /// Returns the files that a glob matches, without those of tools.
    pub(super) fn matching(&self, glob: &str) -> Result<Vec<RepoPath>, GitError> {
        let glob = if glob.ends_with('/') { format!("{glob}**") } else { glob.trim_start_matches("./").to_owned() };
        let Ok(globs) = Globs::new(&[glob]) else { return Ok(Vec::new()) };
        let mut files = self.files()?;
        files.retain(|path| globs.is_match(path.to_os()) && !self.is_noise(path));
        Ok(files)
    }

    /// Returns all files, without links, and without ignored files of a working tree. Of nested repositories, those that are
    /// new count.
    pub(super) fn files(&self) -> Result<Vec<RepoPath>, GitError> {
        match &self.place {
            ContentPlace::Disk(root) => {
                let mut files = self.repo.work_files()?;
                let is_nested = |path: &&RepoPath| is_repository(&root.join(path.to_os()));
                let nested: Vec<RepoPath> = files.iter().filter(is_nested).cloned().collect();
                if !nested.is_empty() {
                    let before: BTreeSet<RepoPath> =
                        self.repo.tree_entries(self.start)?.into_iter().map(|(path, _)| path).collect();
                    for folder in nested.iter().filter(|folder| !before.contains(&without_slash(folder))) {
                        files.extend(files_of_nested(root, folder)?);
                    }
                }
                files.retain(|path| fs::symlink_metadata(root.join(path.to_os())).is_ok_and(|data| data.is_file()));
                Ok(files)
            }
            ContentPlace::Tree(_, entries) => {
                let is_file = |entry: &SnapshotEntry| entry.mode != LINK && !entry.is_commit();
                Ok(entries.iter().filter(|(_, entry)| is_file(entry)).map(|(path, _)| path.clone()).collect())
            }
        }
    }

    /// Asks about the state of the files as a whole.
    pub(super) fn state<T>(&self, ask: impl FnOnce(FilesOf<'_>) -> Result<T, GitError>) -> Result<T, GitError> {
        match &self.place {
            ContentPlace::Disk(_) => ask(FilesOf::WorkTree(&self.repo.snapshot()?)),
            ContentPlace::Tree(tree, _) => ask(FilesOf::Tree(tree)),
        }
    }

    /// Returns the paths that changed since the start, each with `true` if it is still there.
    pub(super) fn changed(&self) -> Result<Vec<(RepoPath, bool)>, GitError> {
        let changes = self.state(|state| changed_paths(self.repo, self.start, state))?;
        let changes = changes.into_iter().map(|change| (change.path, change.after.is_some()));
        let without_content = self.new_without_content()?.into_iter().map(|path| (path, true));
        Ok(changes.chain(without_content).filter(|(path, _)| !self.is_noise(path)).collect())
    }

    /// Returns the paths that are new and that no tree can express, such as a nested repository without a commit.
    fn new_without_content(&self) -> Result<Vec<RepoPath>, GitError> {
        if matches!(self.place, ContentPlace::Tree(..)) {
            return Ok(Vec::new());
        }
        let mut opaque = self.repo.snapshot()?.opaque;
        if !opaque.is_empty() {
            let before: BTreeSet<RepoPath> =
                self.repo.tree_entries(self.start)?.into_iter().map(|(path, _)| path).collect();
            opaque.retain(|path| !before.contains(path));
        }
        Ok(opaque)
    }

    /// Returns `true` if a file is in a folder that a tool fills, or is the contract itself.
    pub(super) fn is_noise(&self, path: &RepoPath) -> bool {
        let os = path.to_os();
        let own = match &self.place {
            ContentPlace::Disk(root) => self.own_file == Some(root.join(&os).as_path()),
            ContentPlace::Tree(..) => self.own_file.is_some_and(|own| {
                own == os || self.repo.root().is_some_and(|root| own.strip_prefix(root) == Ok(Path::new(&os)))
            }),
        };
        let mut folder = PathBuf::new();
        own || os.parent().into_iter().flat_map(Path::components).any(|part| {
            folder.push(part);
            TOOL_FOLDERS.iter().any(|name| part.as_os_str() == *name) || self.is_tool_cache(&folder)
        })
    }

    fn is_tool_cache(&self, folder: &Path) -> bool {
        let tag = folder.join("CACHEDIR.TAG");
        match &self.place {
            ContentPlace::Disk(root) => root.join(tag).exists(),
            ContentPlace::Tree(_, entries) => entries.contains_key(&RepoPath::from_os(tag.as_os_str())),
        }
    }

    /// Returns the path in a tree that a path leads to through links, or `None` if it leads outside.
    fn resolve(&self, path: &str) -> Option<RepoPath> {
        let ContentPlace::Tree(_, entries) = &self.place else { return Some(RepoPath::from(path)) };
        let mut rest: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
        let mut done: Vec<String> = Vec::new();
        let mut seen = BTreeSet::new();
        while let Some(part) = rest.pop() {
            match part.as_str() {
                "" | "." => continue,
                ".." => {
                    done.pop()?;
                    continue;
                }
                _ => done.push(part),
            }
            let here = RepoPath::from(done.join("/").as_str());
            let Some(link) = entries.get(&here).filter(|entry| entry.mode == LINK) else { continue };
            if !seen.insert((here, rest.len())) || seen.len() > MAX_LINKS {
                return None;
            }
            let target = self.repo.blobs(&[WantedFile::Is(link.oid.clone())]).ok()?.pop()??;
            let target = String::from_utf8(target).ok()?;
            if target.starts_with('/') {
                return None;
            }
            done.pop();
            rest.extend(target.split('/').rev().map(str::to_owned));
        }
        Some(RepoPath::from(done.join("/").as_str()))
    }
}

/// Returns `true` for the folder of a working tree, without a link to it.
fn is_repository(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|data| data.is_dir()) && path.join(".git").exists()
}

fn without_slash(folder: &RepoPath) -> RepoPath {
    RepoPath::new(folder.as_bytes().strip_suffix(b"/").unwrap_or(folder.as_bytes()))
}

/// Returns the files of a nested repository, and of those in it, from the root of the outer one.
fn files_of_nested(root: &Path, folder: &RepoPath) -> Result<Vec<RepoPath>, GitError> {
    let place = root.join(folder.to_os());
    let mut found = Vec::new();
    for file in Repo::discover(&place)?.work_files()? {
        let path = RepoPath::from_os(folder.to_os().join(file.to_os()).as_os_str());
        if is_repository(&place.join(file.to_os())) {
            found.extend(files_of_nested(root, &path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

/// Reads one byte more of a file than is allowed at most.
fn read_file(path: &Path) -> Result<Vec<u8>, UnreadFile> {
    regular_file::read_at_most(path, MAX_READ + 1).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => UnreadFile::NoFile,
        _ => UnreadFile::Other(error.to_string()),
    })
}

fn is_folder(entries: &BTreeMap<RepoPath, SnapshotEntry>, path: &RepoPath) -> bool {
    let text = path.to_string();
    if text.is_empty() {
        return true;
    }
    let below = RepoPath::from(format!("{text}/").as_str());
    entries.contains_key(path)
        || entries.range(below.clone()..).next().is_some_and(|(next, _)| next.as_bytes().starts_with(below.as_bytes()))
}

/// Returns the place of a path below the root, or `None` if links lead out of it.
pub(super) fn inside(root: &Path, path: &str) -> Option<PathBuf> {
    let real_root = root.canonicalize().ok()?;
    let place = root.join(path);
    let mut there = place.clone();
    loop {
        if let Ok(real) = there.canonicalize() {
            return real.starts_with(&real_root).then_some(place);
        }
        // A link that leads to nothing leads somewhere all the same.
        if let Ok(target) = fs::read_link(&there) {
            let target = there.parent().unwrap_or(root).join(target);
            let lexical = target.components().any(|part| part.as_os_str() == "..");
            return (!lexical && target.starts_with(root)).then_some(place);
        }
        if !there.pop() {
            return None;
        }
    }
}
