//! A queue of commits between the log and its reader, in the order of the log. While git reads the changed lines of one
//! commit, the next ones are read and judged.

use std::collections::VecDeque;

use crate::commit::change::Commit;
use crate::git::{Blobs, ChangedLinesReader, GitError, Glance, MAX_OPEN, Repo};
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// The maximum number of commits that wait for one whose lines are being read.
const WINDOW: usize = 4_096;

/// The number of files that are read before the first judgement: one of each of two scopes. Then as many as before are
/// added each time, so that many judgements do not cost more than the reading.
const AT_ONCE: usize = 2;

/// A commit, with the results about it so far.
pub(super) struct QueuedCommit<T> {
    commit: Commit,
    value: T,
    /// `true` if git has yet to report the lines that it changes.
    is_open: bool,
}

impl<T> QueuedCommit<T> {
    /// Judges a commit by as many of its lines as may settle the result. For `counts`, see [`Queue::take_whole`].
    pub(super) fn judge(
        mut commit: Commit,
        blobs: &Blobs,
        glance: &Glance<'_>,
        counts: impl Fn(&RepoPath) -> bool,
        judge: impl Fn(&Commit) -> (T, Vec<usize>),
    ) -> Self {
        let (mut value, mut wants) = judge(&commit);
        let mut asked = RequestedFiles::of(&commit);
        let mut all_read = true;
        while may_ask(&commit).is_some() {
            let next = asked.more(&wants, asked.places.len().max(AT_ONCE));
            if next.is_empty() {
                break;
            }
            all_read &= glance.look_at(&mut commit, blobs, &next) == next.len();
            (value, wants) = judge(&commit);
        }
        // What was read settles nothing, and that holds where it is all that there is to read.
        let is_open = !wants.is_empty() && (!all_read || glance.is_overruled(&commit, &asked.places));
        if !is_open && all_read && asked.has_all(|at| counts(&commit.files[at].path)) {
            commit.looked_into = true;
            (value, _) = judge(&commit);
        }
        Self { commit, value, is_open }
    }
}

/// The files of a commit that were requested, by their index.
struct RequestedFiles {
    places: Vec<usize>,
    is_asked: Vec<bool>,
}

impl RequestedFiles {
    fn of(commit: &Commit) -> Self {
        Self { places: Vec::new(), is_asked: vec![false; commit.files.len()] }
    }

    /// Returns the first `most` of `places` that were not requested yet.
    fn more(&mut self, places: &[usize], most: usize) -> Vec<usize> {
        let mut next = Vec::new();
        for &at in places {
            if next.len() < most && !std::mem::replace(&mut self.is_asked[at], true) {
                next.push(at);
            }
        }
        self.places.extend_from_slice(&next);
        next
    }

    /// Returns `true` if some were requested, and among them all that `count`.
    fn has_all(&self, count: impl Fn(usize) -> bool) -> bool {
        !self.places.is_empty() && (0..self.is_asked.len()).all(|at| self.is_asked[at] || !count(at))
    }
}

/// Returns the id of a commit whose lines can be requested. A merge has none: its changes were judged commit by commit.
fn may_ask(commit: &Commit) -> Option<&Oid> {
    commit.id.as_ref().filter(|_| commit.parents.len() < 2)
}

/// The commits between the log and `sink`. `judge` returns its result for a commit and the changed lines that the
/// result depends on. Those are read, and `judge` is called again.
pub(super) struct Queue<'r, T, J, S> {
    repo: &'r Repo,
    lines: ChangedLinesReader<'r>,
    judge: J,
    sink: S,
    waiting: VecDeque<WaitingCommit<T>>,
    /// The error of git when it could not read the lines of a commit. That commit, and those behind it whose lines were
    /// requested, are not handed out.
    lost: Option<String>,
}

enum WaitingCommit<T> {
    Judged(Commit, T),
    Asked(Commit),
}

impl<'r, T, J: Fn(&Commit) -> (T, Vec<usize>), S: FnMut(Commit, T)> Queue<'r, T, J, S> {
    pub(super) fn new(repo: &'r Repo, judge: J, sink: S) -> Self {
        Self { repo, lines: repo.lines(), judge, sink, waiting: VecDeque::new(), lost: None }
    }

    /// Takes the next commit. The lines of its files whose paths `counts` accepts are always read.
    pub(super) fn take_whole(
        &mut self,
        mut commit: Commit,
        blobs: &Blobs,
        counts: impl Fn(&RepoPath) -> bool,
    ) -> Result<(), GitError> {
        if may_ask(&commit).is_some() {
            if self.lines.is_started() {
                return self.ask(commit);
            }
            let mut asked = RequestedFiles::of(&commit);
            let counted: Vec<usize> = (0..commit.files.len()).filter(|&at| counts(&commit.files[at].path)).collect();
            let mut next = asked.more(&counted, usize::MAX);
            loop {
                if !self.repo.look_through(&mut commit, blobs, &next) {
                    return self.ask(commit);
                }
                let (_, wants) = (self.judge)(&commit);
                next = asked.more(&wants, usize::MAX);
                if next.is_empty() {
                    break;
                }
            }
            commit.looked_into = true;
        }
        let (value, _) = (self.judge)(&commit);
        self.take(QueuedCommit { commit, value, is_open: false })
    }

    /// Takes the next commit.
    pub(super) fn take(&mut self, seen: QueuedCommit<T>) -> Result<(), GitError> {
        if seen.is_open && may_ask(&seen.commit).is_some() {
            return self.ask(seen.commit);
        }
        self.make_room()?;
        self.waiting.push_back(WaitingCommit::Judged(seen.commit, seen.value));
        self.settle_all()
    }

    /// Asks git for the lines of a commit.
    fn ask(&mut self, commit: Commit) -> Result<(), GitError> {
        self.make_room()?;
        if let Some(id) = may_ask(&commit).filter(|_| self.lost.is_none()) {
            self.lines.ask(id)?;
            self.waiting.push_back(WaitingCommit::Asked(commit));
        }
        self.settle_all()
    }

    fn make_room(&mut self) -> Result<(), GitError> {
        while self.lines.open() >= MAX_OPEN || self.waiting.len() >= WINDOW {
            self.settle(true)?;
        }
        Ok(())
    }

    /// Hands out the commits that are ready.
    fn settle_all(&mut self) -> Result<(), GitError> {
        while self.settle(false)? {}
        Ok(())
    }

    /// Hands out the commits that still wait. Returns the error of git if lines could not be read.
    pub(super) fn finish(mut self) -> Result<Option<String>, GitError> {
        while self.settle(true)? {}
        Ok(self.lost)
    }

    /// Hands out the commit at the front. Returns `false` if there is none, or if its lines are not there yet and
    /// `wait` is not set.
    fn settle(&mut self, wait: bool) -> Result<bool, GitError> {
        match self.waiting.pop_front() {
            None => Ok(false),
            Some(WaitingCommit::Judged(commit, value)) => {
                (self.sink)(commit, value);
                Ok(true)
            }
            Some(WaitingCommit::Asked(_)) if self.lost.is_some() => Ok(true),
            Some(WaitingCommit::Asked(mut commit)) => match self.lines.answer(wait) {
                Ok(Some(answer)) => {
                    answer.fill(&mut commit);
                    let (value, _) = (self.judge)(&commit);
                    (self.sink)(commit, value);
                    Ok(true)
                }
                Ok(None) => {
                    self.waiting.push_front(WaitingCommit::Asked(commit));
                    Ok(false)
                }
                Err(GitError::Failed { stderr, .. }) if stderr.contains("unable to read") => {
                    self.lost = Some(stderr);
                    Ok(true)
                }
                Err(error) => Err(error),
            },
        }
    }
}
