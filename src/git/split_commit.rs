//! Splits one commit into several with the same tree at the end: new objects first, the ref once and last.

use super::command::{io_error, run};
use super::{GitError, Repo};
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::snapshot::SnapshotEntry;

/// One of the commits to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitPlan {
    /// Its whole message.
    pub message: String,
    /// The changes against the part before it; `None` removes the path.
    pub changes: Vec<(RepoPath, Option<SnapshotEntry>)>,
}

/// The plan to replace a commit by its parts.
#[derive(Clone, Debug)]
pub struct CommitRewrite {
    /// The commit that the first part follows, or `None` if the first part begins a history.
    pub parent: Option<Oid>,
    /// The tree that the last part must have.
    pub tree: Oid,
    /// The commit whose author, committer and dates are kept, or `None` for those of now.
    pub like: Option<Oid>,
    /// The parts, oldest first.
    pub parts: Vec<CommitPlan>,
}

impl Repo {
    /// Makes the commits and returns them, oldest first. No ref moves, so nothing is lost whenever this ends.
    pub fn build(&self, rewrite: &CommitRewrite) -> Result<Vec<Oid>, GitError> {
        let folder = tempfile::Builder::new()
            .prefix("gate-split-")
            .tempdir()
            .map_err(io_error("create a directory in", std::env::temp_dir()))?;
        let index = folder.path().join("index");
        let with_index = |args: &[&str], input: Option<&[u8]>| {
            let mut command = self.command();
            command.env("GIT_INDEX_FILE", &index).args(args);
            run(&mut command, input)
        };
        match &rewrite.parent {
            Some(parent) => with_index(&["read-tree", parent.as_str()], None)?,
            None => with_index(&["read-tree", "--empty"], None)?,
        };
        let head = match &rewrite.like {
            Some(commit) => Some(people(&self.git(["cat-file", "commit", commit.as_str()])?)),
            None => None,
        };
        let zero = "0".repeat(if self.is_sha256() { 64 } else { 40 });
        let mut parent = rewrite.parent.clone();
        let (mut made, mut last) = (Vec::new(), None);
        for part in &rewrite.parts {
            let mut info = Vec::new();
            // Deletions first: a file may become a directory.
            let (gone, there): (Vec<_>, Vec<_>) = part.changes.iter().partition(|(_, entry)| entry.is_none());
            for (path, entry) in gone.into_iter().chain(there) {
                let line = match entry {
                    Some(entry) => format!("{:o} {}\t", entry.mode, entry.oid),
                    None => format!("0 {zero}\t"),
                };
                info.extend_from_slice(line.as_bytes());
                info.extend_from_slice(path.as_bytes());
                info.push(0);
            }
            with_index(&["update-index", "-z", "--index-info"], Some(&info))?;
            let tree = oid(&with_index(&["write-tree"], None)?)?;
            let commit = self.make_commit(&tree, parent.as_ref(), head.as_deref(), &part.message)?;
            parent = Some(commit.clone());
            made.push(commit);
            last = Some(tree);
        }
        match last {
            Some(tree) if tree == rewrite.tree => Ok(made),
            _ => Err(GitError::Missing(format!("split that ends with the tree {}", rewrite.tree))),
        }
    }

    fn make_commit(
        &self,
        tree: &Oid,
        parent: Option<&Oid>,
        people: Option<&[u8]>,
        message: &str,
    ) -> Result<Oid, GitError> {
        let signs = self.config("commit.gpgSign")?.is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let Some(people) = people.filter(|_| !signs) else {
            let mut command = self.command();
            command.args(["commit-tree", tree.as_str()]);
            if let Some(parent) = parent {
                command.args(["-p", parent.as_str()]);
            }
            if signs {
                command.arg("-S");
            }
            if let Some(people) = people {
                command.envs(as_variables(people));
            }
            return oid(&run(&mut command, Some(message.as_bytes()))?);
        };
        // The very lines of the original, in whatever encoding: names that git would trim are kept as they are.
        let mut object = format!("tree {tree}\n").into_bytes();
        if let Some(parent) = parent {
            object.extend_from_slice(format!("parent {parent}\n").as_bytes());
        }
        object.extend_from_slice(people);
        object.push(b'\n');
        object.extend_from_slice(message.as_bytes());
        if object.last() != Some(&b'\n') {
            object.push(b'\n');
        }
        oid(&self.git_with(["hash-object", "-t", "commit", "-w", "--stdin"], &object)?)
    }

    /// Moves `HEAD` (or its branch, if it is on one) from `old` to `new`, unless it has moved since.
    pub fn move_head(&self, new: &Oid, old: &Oid, reason: &str) -> Result<(), GitError> {
        self.git(["update-ref", "-m", reason, "HEAD", new.as_str(), old.as_str()]).map(drop)
    }

    /// Returns the tree that the index holds.
    pub fn index_tree(&self) -> Result<Oid, GitError> {
        oid(&self.git(["write-tree"])?)
    }
}

/// Returns the lines `author` and `committer` of a commit. The message is written anew, in UTF-8, so `encoding` is
/// dropped; a signature covers the old content and is dropped, too.
fn people(commit: &[u8]) -> Vec<u8> {
    let mut kept = Vec::new();
    for line in commit.split(|&byte| byte == b'\n').take_while(|line| !line.is_empty()) {
        if line.starts_with(b"author ") || line.starts_with(b"committer ") {
            kept.extend_from_slice(line);
            kept.push(b'\n');
        }
    }
    kept
}

/// Returns the same people for a git that makes the commit itself, because it has to be signed.
fn as_variables(people: &[u8]) -> Vec<(String, String)> {
    let mut variables = Vec::new();
    for line in String::from_utf8_lossy(people).lines() {
        let Some((who, rest)) = line.split_once(' ') else { continue };
        let Some((name, rest)) = rest.rsplit_once(" <") else { continue };
        let Some((email, date)) = rest.split_once("> ") else { continue };
        let who = who.to_uppercase();
        variables.push((format!("GIT_{who}_NAME"), name.to_owned()));
        variables.push((format!("GIT_{who}_EMAIL"), email.to_owned()));
        variables.push((format!("GIT_{who}_DATE"), format!("@{date}")));
    }
    variables
}

fn oid(printed: &[u8]) -> Result<Oid, GitError> {
    super::refs_and_objects::parse_oid(printed, "plumbing")
}
