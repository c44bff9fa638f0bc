//! The parts of the index that `git status` does not show. They are read in process, and listed by git if the index has
//! a form that only git reads (split, sparse, another hash).

use super::refs_and_objects::parse_oid;
use super::{GitError, Repo};
use crate::git::refs_and_objects::octal;
use crate::repo_path::RepoPath;
use crate::snapshot::SnapshotEntry;

/// Arguments that list the index with its bits.
const LIST_INDEX: [&str; 5] = ["ls-files", "--stage", "-v", "-z", "--full-name"];

/// The bit of an entry whose file git does not look at.
const ASSUME_UNCHANGED: u16 = 1 << 15;
/// That of an entry whose file need not be there, among the extended ones.
const SKIP_WORKTREE: u16 = 1 << 14;
/// The mode of a commit of another repository.
const GITLINK: u32 = 0o160_000;
/// The mode of a symbolic link.
const LINK: u32 = 0o120_000;
/// The bits of the flags that hold the side of a conflict.
const STAGE: u16 = 3 << 12;
/// These bits of the side that is merged.
const THEIRS: u16 = 3 << 12;

/// The parts of the index that a snapshot needs in addition to the answer of `git status`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct IndexView {
    /// The entries whose bits make git skip their files.
    pub(super) marked: Vec<Marked>,
    /// The `.gitattributes` files, which decide the conversion of other files even if they are not on disk.
    pub(super) attributes: Vec<(RepoPath, SnapshotEntry)>,
    /// The commits of other repositories.
    pub(super) submodules: Vec<RepoPath>,
    /// The symbolic links.
    pub(super) links: Vec<RepoPath>,
    /// The entries of the requested paths. A path in conflict has several; the last one counts.
    pub(super) wanted: Vec<(RepoPath, SnapshotEntry)>,
}

/// An entry with a bit that hides its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Marked {
    pub(super) path: RepoPath,
    pub(super) entry: SnapshotEntry,
    pub(super) assume_unchanged: bool,
    pub(super) skip_worktree: bool,
}

impl Repo {
    /// Reads the index; `wanted` says which ordinary entries are needed.
    pub(super) fn index_view(&self, wanted: impl Fn(&[u8]) -> bool) -> Result<IndexView, GitError> {
        match self.index_in_process(&wanted) {
            Some(view) => Ok(view),
            None => parse(&self.git(LIST_INDEX)?, wanted),
        }
    }

    fn index_in_process(&self, wanted: impl Fn(&[u8]) -> bool) -> Option<IndexView> {
        // Only what this library can open as a whole has an index that it knows.
        self.library(|_| Ok(()))?;
        let file = self.git_dir().join("index");
        if !file.exists() {
            return Some(IndexView::default());
        }
        let mut view = IndexView::default();
        for one in git2::Index::open(&file).ok()?.iter() {
            let stage = one.flags & STAGE;
            if stage != 0 {
                if wanted(&one.path) {
                    let entry = SnapshotEntry { mode: one.mode, oid: one.id.to_string().parse().ok()? };
                    view.take_side(RepoPath::new(one.path), entry, stage == THEIRS);
                }
                continue;
            }
            let assume_unchanged = one.flags & ASSUME_UNCHANGED != 0;
            let skip_worktree = one.flags_extended & SKIP_WORKTREE != 0;
            let needed = Needed::of(&one.path, one.mode, assume_unchanged || skip_worktree, &wanted);
            if needed.any() {
                let entry = SnapshotEntry { mode: one.mode, oid: one.id.to_string().parse().ok()? };
                view.take(needed, Marked { path: RepoPath::new(one.path), entry, assume_unchanged, skip_worktree });
            }
        }
        Some(view)
    }
}

/// The reasons why an entry is needed.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent reasons")]
struct Needed {
    marked: bool,
    attributes: bool,
    submodule: bool,
    link: bool,
    wanted: bool,
}

impl Needed {
    fn of(path: &[u8], mode: u32, marked: bool, wanted: impl Fn(&[u8]) -> bool) -> Self {
        let attributes = path == b".gitattributes" || path.ends_with(b"/.gitattributes");
        Self { marked, attributes, submodule: mode == GITLINK, link: mode == LINK, wanted: wanted(path) }
    }

    const fn any(self) -> bool {
        self.marked || self.attributes || self.submodule || self.link || self.wanted
    }
}

impl IndexView {
    fn take(&mut self, needed: Needed, one: Marked) {
        if needed.attributes {
            self.attributes.push((one.path.clone(), one.entry.clone()));
        }
        if needed.submodule {
            self.submodules.push(one.path.clone());
        }
        if needed.link {
            self.links.push(one.path.clone());
        }
        if needed.wanted {
            self.wanted.push((one.path.clone(), one.entry.clone()));
        }
        if needed.marked {
            self.marked.push(one);
        }
    }

    /// Takes one side of a path in conflict, in the order of the index: the base, ours, theirs. As for `git add`, ours
    /// counts, then the base, and theirs only if it is alone.
    fn take_side(&mut self, path: RepoPath, entry: SnapshotEntry, theirs: bool) {
        if !theirs || self.wanted.last().is_none_or(|(last, _)| *last != path) {
            self.wanted.push((path, entry));
        }
    }
}

/// Parses the output of [`LIST_INDEX`].
fn parse(output: &[u8], wanted: impl Fn(&[u8]) -> bool) -> Result<IndexView, GitError> {
    let mut view = IndexView::default();
    let mut rest = output;
    while let Some(end) = memchr::memchr(0, rest) {
        let record = &rest[..end];
        rest = &rest[end + 1..];
        // TAG SP mode SP oid SP stage TAB path: the fields before the path have no tab.
        let Some(tab) = memchr::memchr(b'\t', record) else {
            return Err(malformed_index(record));
        };
        let path = &record[tab + 1..];
        let tag = record[0];
        let (assume_unchanged, skip_worktree) = (tag.is_ascii_lowercase(), tag.eq_ignore_ascii_case(&b's'));
        let mut words = record.get(2..tab).unwrap_or_default().split(|&byte| byte == b' ');
        let (Some(mode), Some(oid), Some(stage)) = (words.next(), words.next(), words.next()) else {
            return Err(malformed_index(record));
        };
        if stage != b"0" {
            if wanted(path) {
                let entry = SnapshotEntry { mode: octal(mode), oid: parse_oid(oid, "ls-files")? };
                view.take_side(RepoPath::new(path), entry, stage == b"3");
            }
            continue;
        }
        let needed = Needed::of(path, octal(mode), assume_unchanged || skip_worktree, &wanted);
        if !needed.any() {
            continue;
        }
        let entry = SnapshotEntry { mode: octal(mode), oid: parse_oid(oid, "ls-files")? };
        view.take(needed, Marked { path: RepoPath::new(path), entry, assume_unchanged, skip_worktree });
    }
    Ok(view)
}

fn malformed_index(record: &[u8]) -> GitError {
    let what = String::from_utf8_lossy(&record[..record.len().min(200)]).into_owned();
    GitError::Malformed { command: "ls-files".to_owned(), what }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

    #[test]
    fn bits_are_told_apart() {
        let output = format!(
            "H 100644 {A} 0\tplain\0h 100644 {A} 0\tassumed\0S 100644 {A} 0\tskipped\0s 100755 {A} 0\tboth\0\
             M 100644 {A} 2\tconflict\0H 100644 {A} 0\t.gitattributes\0H 100644 {A} 0\tx.gitattributes\0\
             H 100644 {A} 0\td/.gitattributes\0H 160000 {A} 0\tinner\0\
             H 120000 {A} 0\tlink\0"
        );
        let view = parse(output.as_bytes(), |path| path == b"plain").unwrap();
        let marked: Vec<_> =
            view.marked.iter().map(|one| (one.path.to_string(), one.assume_unchanged, one.skip_worktree)).collect();
        assert_eq!(
            marked,
            [("assumed".to_owned(), true, false), ("skipped".to_owned(), false, true), ("both".to_owned(), true, true)]
        );
        let attributes: Vec<_> = view.attributes.iter().map(|(path, _)| path.to_string()).collect();
        assert_eq!(attributes, [".gitattributes", "d/.gitattributes"]);
        assert_eq!(view.wanted.len(), 1);
        assert_eq!(view.submodules, [RepoPath::from("inner")]);
        assert_eq!(view.links, [RepoPath::from("link")]);
        assert!(parse(b"H 100644\0", |_| true).is_err());
    }
}
