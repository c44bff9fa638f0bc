//! Reads the output of `git status --porcelain=v2 -z`.

use super::GitError;
use super::refs_and_objects::parse_oid;
use crate::git::refs_and_objects::octal;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::snapshot::SnapshotEntry;

/// Arguments of the one `git status` a snapshot rests on.
pub(super) const STATUS: [&str; 9] = [
    "status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--untracked-files=all", "--no-renames",
    "--ignore-submodules=none", "--ignored=matching",
];

/// Settings under which git looks at all that the file system tells of a file, as it does unless somebody says less.
pub(super) const FULL_STAT: [&str; 4] = ["-c", "core.checkStat=default", "-c", "core.trustctime=true"];

/// The mode of a commit of another repository.
const GITLINK: u32 = 0o160_000;

/// The answer of git about the working tree.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct WorkingTreeStatus {
    /// The commit that is checked out; `None` on an unborn branch.
    pub(super) head: Option<Oid>,
    /// The paths that differ somewhere between `HEAD`, index and working tree.
    pub(super) paths: Vec<StatusPath>,
    /// The ignored paths; a directory that is ignored as a whole ends with a slash.
    pub(super) ignored: Vec<Vec<u8>>,
}

/// One path of [`WorkingTreeStatus`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StatusPath {
    pub(super) path: RepoPath,
    /// The entry in `HEAD`.
    pub(super) head: Option<SnapshotEntry>,
    /// The entry in the index.
    pub(super) index: Option<SnapshotEntry>,
    pub(super) work: WorktreeSide,
}

/// The working tree's side of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorktreeSide {
    /// As the index has it.
    AsIndex,
    /// The file does not exist.
    Gone,
    /// There, and not as the index has it.
    Changed,
    /// A submodule whose own working tree has changes that no commit holds.
    DirtySubmodule,
    /// A submodule that is as a commit has it, but for files that were never added.
    LitteredSubmodule,
    /// In conflict. `head` is not known, and `index` is the side that `git add` takes the mode and the line ends from.
    Unmerged,
    /// A submodule in conflict, or a file in conflict with one: the commit that will stand there is not known.
    UnmergedSubmodule,
    /// The file is neither in the index nor ignored.
    Untracked,
}

/// Parses the output of [`STATUS`].
pub(super) fn parse_status(output: &[u8]) -> Result<WorkingTreeStatus, GitError> {
    let mut status = WorkingTreeStatus::default();
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
                    mode => Ok(Some(SnapshotEntry { mode, oid: parse_oid(oid, "status")? })),
                };
                // `S<c><m><u>`: m and u say that there is something uncommitted inside.
                let inside = sub.strip_prefix(b"S").and_then(|sub| sub.get(1..)).unwrap_or(b"..");
                let work = match xy.get(1) {
                    Some(b'.') => WorktreeSide::AsIndex,
                    Some(b'D') => WorktreeSide::Gone,
                    Some(_) if inside == b".U" => WorktreeSide::LitteredSubmodule,
                    Some(_) if inside != b".." => WorktreeSide::DirtySubmodule,
                    Some(_) => WorktreeSide::Changed,
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
                let fields: Vec<&[u8]> = rest.splitn(10, |&byte| byte == b' ').collect();
                let [_, _, base, ours, theirs, _, base_id, our_id, their_id, path] = fields[..] else {
                    return Err(malformed());
                };
                status.paths.push(unmerged(path, [(ours, our_id), (base, base_id), (theirs, their_id)])?);
            }
            b'?' => {
                // An embedded repository is printed with a slash behind it.
                status.paths.push(untouched(rest.strip_suffix(b"/").unwrap_or(rest), WorktreeSide::Untracked));
            }
            b'!' => status.ignored.push(rest.to_vec()),
            _ => return Err(malformed()),
        }
    }
    Ok(status)
}

/// Returns a path in conflict. `sides` are the modes and ids of its sides in the order in which `git add` prefers them.
fn unmerged(path: &[u8], sides: [(&[u8], &[u8]); 3]) -> Result<StatusPath, GitError> {
    let submodule = sides.iter().any(|(mode, _)| octal(mode) == GITLINK);
    let work = if submodule { WorktreeSide::UnmergedSubmodule } else { WorktreeSide::Unmerged };
    let mut path = untouched(path, work);
    if let Some((mode, oid)) = sides.into_iter().find(|(mode, _)| octal(mode) != 0) {
        path.index = Some(SnapshotEntry { mode: octal(mode), oid: parse_oid(oid, "status")? });
    }
    Ok(path)
}

fn untouched(path: &[u8], work: WorktreeSide) -> StatusPath {
    StatusPath { path: RepoPath::new(path), head: None, index: None, work }
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
             u DU N... 100644 000000 100755 100755 {A} {ZERO} {A} theirs\0\
             u UU S... 160000 160000 160000 160000 {A} {A} {A} sub4\0\
             ? nest/\0? new\0! build/\0! a.o\0"
        );
        let status = parse_status(output.as_bytes()).unwrap();
        assert_eq!(status.head.as_ref().map(Oid::as_str), Some(A));
        let seen: Vec<_> = status.paths.iter().map(|one| (one.path.to_string(), one.work)).collect();
        let expected = [
            ("\"a b\\nc\"", WorktreeSide::Changed),
            ("gone", WorktreeSide::AsIndex),
            ("sub", WorktreeSide::DirtySubmodule),
            ("sub1", WorktreeSide::LitteredSubmodule),
            ("sub3", WorktreeSide::DirtySubmodule),
            ("sub2", WorktreeSide::Changed),
            ("later", WorktreeSide::Changed),
            ("both sides", WorktreeSide::Unmerged),
            ("theirs", WorktreeSide::Unmerged),
            ("sub4", WorktreeSide::UnmergedSubmodule),
            ("nest", WorktreeSide::Untracked),
            ("new", WorktreeSide::Untracked),
        ];
        assert_eq!(seen, expected.map(|(path, work)| (path.to_owned(), work)));
        assert!(status.paths[1].head.is_some() && status.paths[1].index.is_none());
        assert!(status.paths[6].head.is_none() && status.paths[6].index.is_none());
        assert_eq!(status.paths[8].index.as_ref().map(|entry| entry.mode), Some(0o100_644), "the mode of the base");
        assert_eq!(status.ignored, [b"build/".to_vec(), b"a.o".to_vec()]);
    }

    #[test]
    fn an_unborn_branch_has_no_head_and_garbage_is_an_error() {
        assert_eq!(
            parse_status(b"# branch.oid (initial)\0# branch.head main\0").unwrap(),
            WorkingTreeStatus::default()
        );
        for wrong in ["x y\0", "1 .M N...\0", "1\0", "u UU\0", "# branch.oid nonsense\0"] {
            assert!(parse_status(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }
}
