//! The order in which lines were added to notes: that of the commits of their ref.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::notes::{MAX_DEPTH, sorted_into};
use super::refs_and_objects::next_blob;
use super::{GitError, ObjectKind, Repo};
use crate::oid::Oid;

/// The largest number of commits of a ref of notes that are read, newest first. A line that is older has no order.
const MAX_COMMITS: usize = 20_000;

/// A line of the note on an object.
pub type NoteLine = (Oid, String);

/// The times at which lines were added to the notes of one ref.
#[derive(Clone, Debug, Default)]
pub struct NoteHistory {
    /// Of each commit that changed one of the notes, those before it.
    parents: HashMap<Oid, Vec<Oid>>,
    /// The commits in which a line first appeared; several where branches of the notes were merged.
    first: HashMap<NoteLine, Vec<Oid>>,
}

/// A commit, the commits before it, and the contents of notes that it replaced: object, before, after.
struct NoteCommit {
    id: Oid,
    parents: Vec<Oid>,
    changes: Vec<(Oid, Oid, Oid)>,
}

impl Repo {
    /// Returns the history of the notes on `objects` in the ref `reference`, or from that commit on. Two calls of git.
    pub fn note_history(&self, reference: &str, objects: &[Oid]) -> Result<NoteHistory, GitError> {
        let tip = if let Ok(commit) = reference.parse() { Some(commit) } else { self.reference(reference)? };
        let Some(tip) = tip.filter(|_| !objects.is_empty()) else { return Ok(NoteHistory::default()) };
        if self.object_kind(&tip)? != Some(ObjectKind::Commit) {
            return Ok(NoteHistory::default());
        }
        let mut args: Vec<String> = ["-c", "log.showRoot=true", "log", "--full-history", "--parents", "--topo-order"]
            .into_iter()
            .chain(["--raw", "--no-abbrev", "--no-renames", "--no-show-signature", "--format=commit %H %P"])
            .map(str::to_owned)
            .collect();
        args.extend([format!("--max-count={MAX_COMMITS}"), tip.to_string(), "--".to_owned()]);
        args.extend(objects.iter().flat_map(|object| (0..MAX_DEPTH).map(|depth| sorted_into(object, depth))));
        let printed = self.git(args)?;
        // Oldest first.
        let commits: Vec<NoteCommit> = note_commits(&String::from_utf8_lossy(&printed)).into_iter().rev().collect();
        let blobs: BTreeSet<&Oid> =
            commits.iter().flat_map(|commit| &commit.changes).flat_map(|(_, old, new)| [old, new]).collect();
        let contents = self.note_contents(blobs.into_iter().filter(|blob| !blob.is_zero()))?;
        Ok(NoteHistory::of(&commits, &contents))
    }

    fn note_contents<'o>(&self, blobs: impl Iterator<Item = &'o Oid>) -> Result<HashMap<&'o Oid, String>, GitError> {
        let blobs: Vec<&Oid> = blobs.collect();
        if blobs.is_empty() {
            return Ok(HashMap::new());
        }
        let names: Vec<&str> = blobs.iter().map(|blob| blob.as_str()).collect();
        let printed = self.git_with(["cat-file", "--batch"], (names.join("\n") + "\n").as_bytes())?;
        let mut rest = printed.as_slice();
        let contents = blobs.into_iter().filter_map(|blob| Some((blob, next_blob(&mut rest)?)));
        Ok(contents.map(|(blob, bytes)| (blob, String::from_utf8_lossy(&bytes).into_owned())).collect())
    }
}

fn note_commits(printed: &str) -> Vec<NoteCommit> {
    let mut commits: Vec<NoteCommit> = Vec::new();
    for line in printed.lines() {
        if let Some(ids) = line.strip_prefix("commit ") {
            let mut ids = ids.split(' ').filter_map(|id| id.parse().ok());
            commits.extend(ids.next().map(|id| NoteCommit { id, parents: ids.collect(), changes: Vec::new() }));
        } else if let Some((modes, path)) = line.strip_prefix(':').and_then(|line| line.split_once('\t'))
            && let Some(commit) = commits.last_mut()
        {
            let mut ids = modes.split(' ').skip(2);
            let mut next = || ids.next().and_then(|id| id.parse::<Oid>().ok());
            if let (Some(old), Some(new), Ok(object)) = (next(), next(), path.replace('/', "").parse()) {
                commit.changes.push((object, old, new));
            }
        }
    }
    commits
}

impl NoteHistory {
    fn of(commits: &[NoteCommit], contents: &HashMap<&Oid, String>) -> Self {
        let mut history = Self::default();
        for commit in commits {
            history.parents.insert(commit.id.clone(), commit.parents.clone());
            let lines = |blob: &Oid| contents.get(blob).map(String::as_str).unwrap_or_default().lines();
            // Where git sorts notes into folders anew, one path loses what another one gets.
            let before: HashSet<(&Oid, &str)> =
                commit.changes.iter().flat_map(|(object, old, _)| lines(old).map(move |line| (object, line))).collect();
            for (object, _, new) in &commit.changes {
                for line in lines(new).filter(|line| !before.contains(&(object, *line))) {
                    history.note(&(object.clone(), line.to_owned()), &commit.id);
                }
            }
        }
        history
    }

    /// Records that a line appears in a commit. One that existed before, and was removed, keeps its age.
    fn note(&mut self, line: &NoteLine, commit: &Oid) {
        let known = self.first.get(line).is_some_and(|first| {
            let before = self.ancestors(commit);
            first.iter().any(|first| before.contains(first))
        });
        if !known {
            self.first.entry(line.clone()).or_default().push(commit.clone());
        }
    }

    /// Returns `true` if `earlier` was there before `later` came. Two lines of one commit, or of branches of the notes that
    /// were merged afterwards, have no order.
    pub fn is_before(&self, earlier: &NoteLine, later: &NoteLine) -> bool {
        let (Some(earlier), Some(later)) = (self.first.get(earlier), self.first.get(later)) else { return false };
        later.iter().all(|later| {
            let before = self.ancestors(later);
            earlier.iter().any(|earlier| before.contains(earlier))
        })
    }

    fn ancestors(&self, commit: &Oid) -> HashSet<&Oid> {
        let mut found = HashSet::new();
        let mut left: Vec<&Oid> = self.parents.get(commit).into_iter().flatten().collect();
        while let Some(commit) = left.pop() {
            if found.insert(commit) {
                left.extend(self.parents.get(commit).into_iter().flatten());
            }
        }
        found
    }
}
