//! The moves of the `HEAD` of a working tree, read from the file in which git logs them: no process is started. Where git
//! logs them otherwise (reftable), or not at all, none are found.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::oid::Oid;

/// How much of the end of a log is read, in bytes.
const MAX_TAIL: u64 = 256 * 1024;
/// The largest number of logs of branches that are read.
const MAX_BRANCHES: usize = 256;

/// One move of `HEAD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadMove {
    /// The commit it left.
    pub old: Oid,
    /// The commit it went to.
    pub new: Oid,
    /// The second it was made in, since 1970.
    second: i64,
    /// The words that git put beside it.
    message: String,
}

impl HeadMove {
    /// Returns `true` if the move made its new commit, as a commit, a merge, or a rebase does. It did not where `HEAD`
    /// only went to a commit that was there.
    pub fn makes_a_commit(&self) -> bool {
        let action = self.message.split(':').next().unwrap_or_default();
        let first = action.split_whitespace().next().unwrap_or_default();
        let goes =
            matches!(first, "checkout" | "reset" | "clone" | "branch" | "switch" | "") || action.ends_with("(start)");
        !goes && !self.message.ends_with("Fast-forward") && self.old != self.new
    }

    /// Returns `true` if the move put other files into the working tree: a checkout, a reset, or the start of a rebase.
    pub fn replaces_files(&self) -> bool {
        self.old != self.new && !self.makes_a_commit()
    }

    /// Returns a phrase for the move: `checkout: moving from a to b`.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns `true` if a person or an agent only went to another branch or commit.
    pub fn is_checkout(&self) -> bool {
        self.message.starts_with("checkout:")
    }

    /// The commit that was left by a checkout while no branch was checked out.
    pub fn left_detached(&self) -> Option<&Oid> {
        let from = self.message.strip_prefix("checkout: moving from ")?.split(" to ").next()?;
        from.parse::<Oid>().is_ok().then_some(&self.old)
    }
}

/// The size of the log of the `HEAD` in this git directory, in bytes; 0 where there is none.
pub fn size(git_dir: &Path) -> u64 {
    std::fs::metadata(git_dir.join("logs/HEAD")).map_or(0, |meta| meta.len())
}

/// The moves that were logged since the log was `from` bytes long, in their order, and how long it is now. A log that is
/// shorter was written anew, which shows nothing.
pub fn moves_since(git_dir: &Path, from: u64) -> (Vec<HeadMove>, u64) {
    let now = size(git_dir);
    if now <= from {
        return (Vec::new(), now);
    }
    let text = read(&git_dir.join("logs/HEAD"), from.max(now.saturating_sub(MAX_TAIL))).unwrap_or_default();
    (String::from_utf8_lossy(&text).lines().filter_map(head_move).collect(), now)
}

/// Returns `true` if a branch was at a commit by its log, and the branch `judged` never was.
pub fn is_of_another_branch(common_dir: &Path, judged: &str, commit: &Oid) -> bool {
    let folder = common_dir.join("logs/refs/heads");
    let own = folder.join(judged);
    let had = |log: &PathBuf| moves_in(log).iter().any(|one| one.new == *commit);
    own.is_file() && !had(&own) && logs_in(folder).iter().any(had)
}

/// Returns the branch on which a commit was made, if another one was checked out since. `git_dir` is that of the working tree.
pub fn left_branch(git_dir: &Path, commit: &Oid) -> Option<String> {
    let moves = moves_in(&git_dir.join("logs/HEAD"));
    let mut since = moves.iter().skip_while(|one| one.new != *commit || !one.makes_a_commit());
    since.find_map(|one| Some(one.message.strip_prefix("checkout: moving from ")?.split(" to ").next()?.to_owned()))
}

/// Returns the first commit of each branch that was made on top of `commit` in `second` (since 1970) or later, with the name of the
/// branch, oldest first. One of them probably has the work that was uncommitted at that time.
pub fn next_commits_on(common_dir: &Path, commit: &Oid, second: i64) -> Vec<(String, Oid)> {
    let folder = common_dir.join("logs/refs/heads");
    let is_next = |one: &HeadMove| one.second >= second && one.old == *commit && one.makes_a_commit();
    let mut found = Vec::new();
    for log in logs_in(folder.clone()) {
        let branch = log.strip_prefix(&folder).ok().and_then(Path::to_str).map(str::to_owned);
        found.extend(branch.zip(moves_in(&log).into_iter().find(is_next)));
    }
    found.sort_by_key(|(_, made)| made.second);
    found.into_iter().map(|(branch, made)| (branch, made.new)).collect()
}

/// Returns the files in a folder and those below it.
fn logs_in(folder: PathBuf) -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![folder], Vec::new());
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let (below, files): (Vec<_>, Vec<_>) = entries.take(MAX_BRANCHES).partition(|path| path.is_dir());
        folders.extend(below);
        found.extend(files);
        if found.len() > MAX_BRANCHES {
            break;
        }
    }
    found
}

/// The objects in the log of the stash, oldest first: the entries of `git stash list`.
pub fn stashes(common_dir: &Path) -> Vec<Oid> {
    moves_in(&common_dir.join("logs/refs/stash")).into_iter().map(|one| one.new).collect()
}

/// Returns the moves in the end of a log, oldest first.
fn moves_in(log: &Path) -> Vec<HeadMove> {
    let from = std::fs::metadata(log).map_or(0, |meta| meta.len().saturating_sub(MAX_TAIL));
    let text = read(log, from).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter_map(head_move).collect()
}

fn read(path: &Path, from: u64) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut text = Vec::new();
    file.take(MAX_TAIL).read_to_end(&mut text)?;
    Ok(text)
}

/// Reads `OLD NEW NAME <MAIL> SECONDS ZONE\tMESSAGE`.
fn head_move(line: &str) -> Option<HeadMove> {
    let (head, message) = line.split_once('\t').unwrap_or((line, ""));
    let mut words = head.split(' ');
    let (old, new) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let second = words.rev().nth(1)?.parse().ok()?;
    Some(HeadMove { old, new, second, message: message.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "1111111111111111111111111111111111111111";
    const NEW: &str = "2222222222222222222222222222222222222222";

    fn one(message: &str) -> HeadMove {
        head_move(&format!("{OLD} {NEW} A <a@example.invalid> 1700000000 +0000\t{message}")).unwrap()
    }

    #[test]
    fn what_makes_a_commit() {
        for (message, makes) in [
            ("commit: add", true),
            ("commit (amend): add", true),
            ("commit (initial): start", true),
            ("cherry-pick: add", true),
            ("merge other: Merge made by the 'ort' strategy.", true),
            ("merge other: Fast-forward", false),
            ("pull: Fast-forward", false),
            ("rebase (start): checkout main", false),
            ("rebase (pick): add", true),
            ("checkout: moving from a to b", false),
            ("reset: moving to HEAD~1", false),
            ("", false),
        ] {
            assert_eq!(one(message).makes_a_commit(), makes, "{message}");
        }
    }

    #[test]
    fn what_is_left_without_a_branch() {
        assert!(one(&format!("checkout: moving from {OLD} to main")).left_detached().is_some());
        assert!(one("checkout: moving from feature to main").left_detached().is_none());
        assert!(one("commit: moving").left_detached().is_none());
    }

    #[test]
    fn only_new_moves_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let line = |message: &str| format!("{OLD} {NEW} A <a@example.invalid> 1700000000 +0000\t{message}\n");
        assert_eq!(moves_since(dir.path(), 0), (Vec::new(), 0));
        std::fs::create_dir(dir.path().join("logs")).unwrap();
        let log = dir.path().join("logs/HEAD");
        std::fs::write(&log, line("commit: one")).unwrap();
        let (first, length) = moves_since(dir.path(), 0);
        assert_eq!(first, [one("commit: one")]);
        std::fs::write(&log, line("commit: one") + &line("commit: two")).unwrap();
        assert_eq!(moves_since(dir.path(), length).0, [one("commit: two")]);
        std::fs::write(&log, "").unwrap();
        assert_eq!(moves_since(dir.path(), length), (Vec::new(), 0));
    }
}
