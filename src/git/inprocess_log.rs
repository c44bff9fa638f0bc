//! The commits of a short range, read in process. The work on a branch is a few commits, and starting git costs more
//! than reading them. Git reads longer ranges, and those that need more than a comparison of trees.

use std::collections::{BinaryHeap, HashMap, VecDeque};

use git2::Repository;

use super::changed_blobs::Blobs;
use super::{PathChange, TreeDiff, inprocess_tree_diff};
use crate::commit::change::{Commit, FileChange, PathStatus, Person};
use crate::git::log_entry::{Logged, Range};
use crate::oid::Oid;

/// The largest number of commits, new and known ones, that are read in process. Git reads the rest, because it reads
/// many commits faster.
const MAX_COMMITS: usize = 48;
/// The largest number of refs that may be known ones.
const MAX_KNOWN_REFS: usize = 24;
/// The number of further known commits to look at when no new one is left: with a wrong clock, one of them may be older
/// than its parents. Git looks at as many.
const MORE: usize = 5;

/// Returns the commits of `range` as git's log has them, or `None` if git has to read them.
pub(super) fn read(library: &Repository, range: &Range) -> Option<Vec<Logged>> {
    let [tip] = range.revisions.as_slice() else { return None };
    if range.exclude.len() > MAX_KNOWN_REFS {
        return None;
    }
    let id = |text: &String| text.parse::<Oid>().ok().and_then(|_| git2::Oid::from_str(text).ok());
    let tip = id(tip)?;
    let known = range.exclude.iter().map(id).collect::<Option<Vec<_>>>()?;
    let mut new = new_commits(library, tip, &known)?;
    new.truncate(range.limit.unwrap_or(usize::MAX));
    new.iter().map(|commit| logged(library, commit)).collect()
}

/// The state of a commit that the walk met.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CommitMark {
    /// `tip` reaches it.
    New,
    /// A known one reaches it, too.
    Known,
    /// New commits build on it, or it is below such a commit.
    Below,
}

/// Returns the commits that `tip` reaches and none of `known` does, newest first, as git walks them: by date, until
/// nothing new is left to come.
fn new_commits<'r>(library: &'r Repository, tip: git2::Oid, known: &[git2::Oid]) -> Option<Vec<git2::Commit<'r>>> {
    let mut marks: HashMap<git2::Oid, CommitMark> = HashMap::new();
    let mut read: HashMap<git2::Oid, git2::Commit<'r>> = HashMap::new();
    // By date; of one date, what was met first.
    let mut queue: BinaryHeap<(i64, std::cmp::Reverse<usize>, git2::Oid)> = BinaryHeap::new();
    let (mut count, mut open, mut more) = (0, 0_usize, MORE);
    let mut new: Vec<git2::Commit<'r>> = Vec::new();
    let starts = known.iter().map(|&id| (id, CommitMark::Known)).chain([(tip, CommitMark::New)]);
    let mut meet: VecDeque<(git2::Oid, CommitMark)> = starts.collect();
    loop {
        while let Some((id, mark)) = meet.pop_front() {
            match (marks.get(&id), mark) {
                (None, _) if read.len() == MAX_COMMITS => return None,
                (None, _) => {
                    let commit = library.find_commit(id).ok()?;
                    queue.push((commit.time().seconds(), std::cmp::Reverse(count), id));
                    read.insert(id, commit);
                    count += 1;
                    open += usize::from(mark == CommitMark::New);
                    marks.insert(id, mark);
                }
                // It was taken for new, and may have come out already: git would look again, too.
                (Some(CommitMark::New), CommitMark::Known | CommitMark::Below) => return None,
                (Some(CommitMark::Known), CommitMark::New | CommitMark::Below) => {
                    marks.insert(id, CommitMark::Below);
                    let below = read.get(&id)?.parent_ids().filter(|parent| marks.contains_key(parent));
                    meet.extend(below.map(|parent| (parent, CommitMark::Below)));
                }
                _ => {}
            }
        }
        if open == 0 {
            // What a line of commits builds on, and what is below that, cannot reach one of them.
            let is_line = new.iter().all(|commit| commit.parent_count() < 2);
            let settled = is_line && queue.iter().all(|(_, _, id)| marks.get(id) == Some(&CommitMark::Below));
            let oldest = new.last().map(|commit| commit.time().seconds());
            let later = queue.peek().is_some_and(|next| oldest.is_some_and(|oldest| next.0 >= oldest));
            more = if later { more } else { more.saturating_sub(1) };
            if more == 0 || settled || queue.is_empty() {
                return Some(new);
            }
        }
        let (_, _, id) = queue.pop()?;
        let mark = *marks.get(&id)?;
        let commit = read.get(&id)?;
        meet.extend(commit.parent_ids().map(|parent| (parent, mark)));
        if mark == CommitMark::New {
            open -= 1;
            new.push(commit.clone());
        }
    }
}

/// Returns a commit with its changes, or `None` if that takes more than comparing its trees.
fn logged(library: &Repository, commit: &git2::Commit<'_>) -> Option<Logged> {
    // Git would have to recode it.
    if commit.message_encoding().is_err() || commit.message_encoding().is_ok_and(|encoding| encoding.is_some()) {
        return None;
    }
    let own = |id: git2::Oid| id.to_string().parse::<Oid>().ok();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let person = |who: git2::Signature<'_>| Person { name: text(who.name_bytes()), email: text(who.email_bytes()) };
    let parents = commit.parent_ids().map(own).collect::<Option<Vec<_>>>()?;
    let (mut files, mut blobs) = (Vec::new(), Blobs::default());
    if parents.len() < 2 {
        let before = match commit.parents().next() {
            Some(parent) => own(parent.tree_id())?,
            None => Oid::empty_tree(false),
        };
        let pair = (before, own(commit.tree_id())?);
        if pair.0 != pair.1 {
            let told = inprocess_tree_diff::compare(library, std::slice::from_ref(&pair)).remove(&pair)?;
            let TreeDiff::Changes(changes) = told else { return None };
            files = changed(&changes)?;
            for PathChange { before, after, .. } in &changes {
                blobs.push(before.as_ref().map(|entry| &entry.oid), after.as_ref().map(|entry| &entry.oid));
            }
        }
    }
    let commit = Commit {
        id: own(commit.id()),
        parents,
        author: person(commit.author()),
        committer: person(commit.committer()),
        message: text(commit.message_raw_bytes()),
        files,
        agent: None,
        looked_into: false,
    };
    Some(Logged { commit, blobs, cut_off: false })
}

/// Returns the changes of the paths, or `None` if something may have been renamed, and git has to compare contents.
fn changed(changes: &[PathChange]) -> Option<Vec<FileChange>> {
    let one = |change: &PathChange| {
        let kind = |mode: u32| mode & 0o170_000;
        let status = match (&change.before, &change.after) {
            (None, _) => PathStatus::Added,
            (_, None) => PathStatus::Deleted,
            (Some(before), Some(after)) if kind(before.mode) != kind(after.mode) => PathStatus::TypeChanged,
            _ => PathStatus::Modified,
        };
        FileChange::new(change.path.clone(), status)
    };
    let files: Vec<FileChange> = changes.iter().map(one).collect();
    let has = |status: PathStatus| files.iter().any(|file| file.status == status);
    // A changed type can be half of a rename, too.
    let renamed = has(PathStatus::Added) && has(PathStatus::Deleted) || has(PathStatus::TypeChanged);
    (!renamed).then_some(files)
}
