//! Reading what `git status --porcelain=v2 -z` and `git ls-files -s -v -z` print.

use super::GitError;
use super::read::parse_oid;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::snapshot::Entry;

/// Arguments of the one `git status` a snapshot rests on.
pub(super) const STATUS: [&str; 8] = [
    "status",
    "--porcelain=v2",
    "-z",
    "--branch",
    "--no-ahead-behind",
    "--untracked-files=all",
    "--no-renames",
    "--ignore-submodules=none",
];

/// The further argument that makes git name what is ignored, too.
pub(super) const IGNORED: &str = "--ignored=matching";

/// Arguments that list the index with its bits.
pub(super) const LIST_INDEX: [&str; 5] = ["ls-files", "--stage", "-v", "-z", "--full-name"];

/// What git says about the working tree.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    /// The commit that is checked out; `None` on an unborn branch.
    pub(super) head: Option<Oid>,
    /// The paths that differ somewhere between `HEAD`, index and working tree.
    pub(super) paths: Vec<StatusPath>,
    /// What is ignored, where [`IGNORED`] asked for it; a directory that is ignored as a whole ends with a slash.
    pub(super) ignored: Vec<Vec<u8>>,
}

/// One path of [`Status`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StatusPath {
    pub(super) path: RepoPath,
    /// What `HEAD` holds.
    pub(super) head: Option<Entry>,
    /// What the index holds.
    pub(super) index: Option<Entry>,
    pub(super) work: Work,
}

/// The working tree's side of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// As the index has it.
    AsIndex,
    /// Not there.
    Gone,
    /// There, and not as the index has it.
    Changed,
    /// A submodule whose own working tree holds what no commit holds.
    DirtySubmodule,
    /// A submodule that is as a commit has it, but for files that were never added.
    LitteredSubmodule,
    /// In conflict. `head` and `index` are not known.
    Unmerged,
    /// Not in the index and not ignored.
    Untracked,
}

/// A number in octal digits; 0 for anything else.
pub(super) fn octal(digits: &[u8]) -> u32 {
    std::str::from_utf8(digits).ok().and_then(|text| u32::from_str_radix(text, 8).ok()).unwrap_or(0)
}

/// Parses the output of [`STATUS`].
pub(super) fn parse_status(output: &[u8]) -> Result<Status, GitError> {
    let mut status = Status::default();
    for record in output.split(|&byte| byte == 0).filter(|record| !record.is_empty()) {
        let malformed = || GitError::Malformed {
            command: "status".to_owned(),
            what: String::from_utf8_lossy(&record[..record.len().min(200)]).into_owned(),
        };
        let rest = record.get(2..).ok_or_else(malformed)?;
        match record[0] {
            b'#' => {
                if let Some(oid) = rest.strip_prefix(b"branch.oid ")
                    && oid != b"(initial)"
                {
                    status.head = Some(parse_oid(oid, "status")?);
                }
            }
            b'1' => {
                // XY sub mH mI mW hH hI path
                let fields: Vec<&[u8]> = rest.splitn(8, |&byte| byte == b' ').collect();
                let [xy, sub, mode_head, mode_index, _, head, index, path] = fields[..] else {
                    return Err(malformed());
                };
                let entry = |mode: &[u8], oid: &[u8]| match octal(mode) {
                    0 => Ok(None),
                    mode => Ok(Some(Entry { mode, oid: parse_oid(oid, "status")? })),
                };
                // `S<c><m><u>`: m and u say that there is something uncommitted inside.
                let inside = sub.strip_prefix(b"S").and_then(|sub| sub.get(1..)).unwrap_or(b"..");
                let work = match xy.get(1) {
                    Some(b'.') => Work::AsIndex,
                    Some(b'D') => Work::Gone,
                    Some(_) if inside == b".U" => Work::LitteredSubmodule,
                    Some(_) if inside != b".." => Work::DirtySubmodule,
                    Some(_) => Work::Changed,
                    None => return Err(malformed()),
                };
                status.paths.push(StatusPath {
                    path: RepoPath::new(path),
                    head: entry(mode_head, head)?,
                    index: entry(mode_index, index)?,
                    work,
                });
            }
            b'u' => {
                // XY sub m1 m2 m3 mW h1 h2 h3 path
                let path = rest.splitn(10, |&byte| byte == b' ').nth(9).ok_or_else(malformed)?;
                status.paths.push(untouched(path, Work::Unmerged));
            }
            b'?' => {
                // An embedded repository is printed with a slash behind it.
                status.paths.push(untouched(rest.strip_suffix(b"/").unwrap_or(rest), Work::Untracked));
            }
            b'!' => status.ignored.push(rest.to_vec()),
            _ => return Err(malformed()),
        }
    }
    Ok(status)
}

fn untouched(path: &[u8], work: Work) -> StatusPath {
    StatusPath { path: RepoPath::new(path), head: None, index: None, work }
}

/// What of the index `git status` does not show and a snapshot needs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct IndexView {
    /// The entries whose bits make git skip their files.
    pub(super) marked: Vec<Marked>,
    /// The `.gitattributes` files, which decide how other files are converted even where they are not on disk.
    pub(super) attributes: Vec<(RepoPath, Entry)>,
    /// The entries of the paths that were asked for.
    pub(super) wanted: Vec<(RepoPath, Entry)>,
}

/// An entry with a bit that hides its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Marked {
    pub(super) path: RepoPath,
    pub(super) entry: Entry,
    pub(super) assume_unchanged: bool,
    pub(super) skip_worktree: bool,
}

/// Parses the output of [`LIST_INDEX`]; `wanted` says which ordinary entries are needed.
pub(super) fn parse_index(output: &[u8], wanted: impl Fn(&[u8]) -> bool) -> Result<IndexView, GitError> {
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
        let marked = tag.is_ascii_lowercase() || tag == b'S';
        let attributes = path == b".gitattributes" || path.ends_with(b"/.gitattributes");
        if !marked && !attributes && !wanted(path) {
            continue;
        }
        let mut words = record[2..tab].split(|&byte| byte == b' ');
        let (Some(mode), Some(oid), Some(stage)) = (words.next(), words.next(), words.next()) else {
            return Err(malformed_index(record));
        };
        if stage != b"0" {
            continue;
        }
        let path = RepoPath::new(path);
        let entry = Entry { mode: octal(mode), oid: parse_oid(oid, "ls-files")? };
        if marked {
            let (assume_unchanged, skip_worktree) = (tag.is_ascii_lowercase(), tag.eq_ignore_ascii_case(&b's'));
            view.marked.push(Marked { path: path.clone(), entry: entry.clone(), assume_unchanged, skip_worktree });
        }
        if attributes {
            view.attributes.push((path.clone(), entry.clone()));
        }
        if wanted(path.as_bytes()) {
            view.wanted.push((path, entry));
        }
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
    const ZERO: &str = "0000000000000000000000000000000000000000";

    #[test]
    fn every_kind_of_record_is_understood() {
        let output = format!(
            "# branch.oid {A}\0# branch.head main\0# stash 1\0\
             1 .M N... 100644 100644 100755 {A} {A} a b\nc\0\
             1 D. N... 100644 000000 000000 {A} {ZERO} gone\0\
             1 .M S.M. 160000 160000 160000 {A} {A} sub\0\
             1 .M S..U 160000 160000 160000 {A} {A} sub1\0\
             1 .M S.MU 160000 160000 160000 {A} {A} sub3\0\
             1 .M SC.. 160000 160000 160000 {A} {A} sub2\0\
             1 .A N... 000000 000000 100644 {ZERO} {ZERO} later\0\
             u UU N... 100644 100644 100644 100644 {A} {A} {A} both sides\0\
             ? nest/\0? new\0! build/\0! a.o\0"
        );
        let status = parse_status(output.as_bytes()).unwrap();
        assert_eq!(status.head.as_ref().map(Oid::as_str), Some(A));
        let seen: Vec<_> = status.paths.iter().map(|one| (one.path.to_string(), one.work)).collect();
        let expected = [
            ("\"a b\\nc\"", Work::Changed),
            ("gone", Work::AsIndex),
            ("sub", Work::DirtySubmodule),
            ("sub1", Work::LitteredSubmodule),
            ("sub3", Work::DirtySubmodule),
            ("sub2", Work::Changed),
            ("later", Work::Changed),
            ("both sides", Work::Unmerged),
            ("nest", Work::Untracked),
            ("new", Work::Untracked),
        ];
        assert_eq!(seen, expected.map(|(path, work)| (path.to_owned(), work)));
        assert!(status.paths[1].head.is_some() && status.paths[1].index.is_none());
        assert!(status.paths[6].head.is_none() && status.paths[6].index.is_none());
        assert_eq!(status.ignored, [b"build/".to_vec(), b"a.o".to_vec()]);
    }

    #[test]
    fn an_unborn_branch_has_no_head_and_garbage_is_an_error() {
        assert_eq!(parse_status(b"# branch.oid (initial)\0# branch.head main\0").unwrap(), Status::default());
        for wrong in ["x y\0", "1 .M N...\0", "1\0", "u UU\0", "# branch.oid nonsense\0"] {
            assert!(parse_status(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn bits_are_told_apart() {
        let output = format!(
            "H 100644 {A} 0\tplain\0h 100644 {A} 0\tassumed\0S 100644 {A} 0\tskipped\0s 100755 {A} 0\tboth\0\
             M 100644 {A} 2\tconflict\0H 100644 {A} 0\t.gitattributes\0H 100644 {A} 0\tx.gitattributes\0\
             H 100644 {A} 0\td/.gitattributes\0"
        );
        let view = parse_index(output.as_bytes(), |path| path == b"plain").unwrap();
        let marked: Vec<_> =
            view.marked.iter().map(|one| (one.path.to_string(), one.assume_unchanged, one.skip_worktree)).collect();
        assert_eq!(
            marked,
            [("assumed".to_owned(), true, false), ("skipped".to_owned(), false, true), ("both".to_owned(), true, true)]
        );
        let attributes: Vec<_> = view.attributes.iter().map(|(path, _)| path.to_string()).collect();
        assert_eq!(attributes, [".gitattributes", "d/.gitattributes"]);
        assert_eq!(view.wanted.len(), 1);
        assert!(parse_index(b"H 100644\0", |_| true).is_err());
    }
}
