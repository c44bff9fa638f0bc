//! Commits on their way from the log to whoever asked, in its order: while git looks for the changed lines of one, those
//! behind it are read and judged.

use std::collections::{HashSet, VecDeque};

use crate::commit::change::Commit;
use crate::commit::judge::Wants;
use crate::git::{Blobs, GitError, Glance, Lines, MOST_OPEN, Repo};
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// The most commits that wait for one whose lines are being looked for.
const WINDOW: usize = 4_096;

/// How many files are looked at before it is asked whether they were enough: one of each of two scopes. Then as many
/// as before, so that asking about many files does not cost more than reading them.
const AT_ONCE: usize = 2;

/// A commit with what was made of it so far.
pub(super) struct Seen<T> {
    commit: Commit,
    value: T,
    wants: Wants,
}

impl<T> Seen<T> {
    /// Judges a commit, by those of its lines that may settle it.
    pub(super) fn judge(
        mut commit: Commit,
        blobs: &Blobs,
        glance: &Glance<'_>,
        judge: impl Fn(&Commit) -> (T, Wants),
    ) -> Self {
        let (mut value, mut wants) = judge(&commit);
        let mut asked = Asked::default();
        while let (Wants::Those(paths), Some(_)) = (&wants, may_ask(&commit)) {
            let next = asked.more(paths, asked.0.len().max(AT_ONCE));
            if next.is_empty() {
                // They connect nothing, and nobody says that they are not what changed.
                if !glance.is_overruled(paths) {
                    wants = Wants::Nothing;
                }
                break;
            }
            if glance.look_at(&mut commit, blobs, &next) < next.len() {
                wants = Wants::All;
                break;
            }
            (value, wants) = judge(&commit);
        }
        Self { commit, value, wants }
    }
}

/// The files that were asked for.
#[derive(Default)]
struct Asked(HashSet<RepoPath>);

impl Asked {
    /// The first `most` of `paths` that were not asked for yet.
    fn more(&mut self, paths: &[RepoPath], most: usize) -> Vec<RepoPath> {
        paths.iter().filter(|path| self.0.insert((*path).clone())).take(most).cloned().collect()
    }
}

/// The id of a commit whose lines can be asked for: what a merge changes was judged commit by commit.
fn may_ask(commit: &Commit) -> Option<&Oid> {
    commit.id.as_ref().filter(|_| commit.parents.len() < 2)
}

/// The commits between the log and `sink`. `judge` says what it makes of a commit, and which of its changed lines that
/// depends on: then they are read, and it is asked again.
pub(super) struct Queue<'r, T, J, S> {
    repo: &'r Repo,
    lines: Lines<'r>,
    judge: J,
    sink: S,
    waiting: VecDeque<Waiting<T>>,
    /// What git said when it could not read the lines of a commit. Neither that commit nor those whose lines were asked
    /// for behind it come out.
    lost: Option<String>,
}

enum Waiting<T> {
    Judged(Commit, T),
    Asked(Commit),
}

impl<'r, T, J: Fn(&Commit) -> (T, Wants), S: FnMut(Commit, T)> Queue<'r, T, J, S> {
    pub(super) fn new(repo: &'r Repo, judge: J, sink: S) -> Self {
        Self { repo, lines: repo.lines(), judge, sink, waiting: VecDeque::new(), lost: None }
    }

    /// Takes the next commit. The lines of its files that `counts` are read in any case.
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
            let mut asked = Asked::default();
            let mut paths: Vec<RepoPath> = commit.files.iter().map(|file| file.path.clone()).filter(counts).collect();
            loop {
                let next = asked.more(&paths, usize::MAX);
                if !self.repo.look_through(&mut commit, blobs, &next) {
                    return self.ask(commit);
                }
                match (self.judge)(&commit) {
                    (_, Wants::Those(more)) if !more.iter().all(|path| asked.0.contains(path)) => paths = more,
                    _ => break,
                }
            }
            commit.looked_into = true;
        }
        let (value, _) = (self.judge)(&commit);
        self.take(Seen { commit, value, wants: Wants::Nothing })
    }

    /// Takes the next commit.
    pub(super) fn take(&mut self, seen: Seen<T>) -> Result<(), GitError> {
        if seen.wants != Wants::Nothing && may_ask(&seen.commit).is_some() {
            return self.ask(seen.commit);
        }
        self.make_room()?;
        self.waiting.push_back(Waiting::Judged(seen.commit, seen.value));
        self.settle_all()
    }

    /// Asks git for the lines of a commit.
    fn ask(&mut self, commit: Commit) -> Result<(), GitError> {
        self.make_room()?;
        if let Some(id) = may_ask(&commit).filter(|_| self.lost.is_none()) {
            self.lines.ask(id)?;
            self.waiting.push_back(Waiting::Asked(commit));
        }
        self.settle_all()
    }

    fn make_room(&mut self) -> Result<(), GitError> {
        while self.lines.open() >= MOST_OPEN || self.waiting.len() >= WINDOW {
            self.settle(true)?;
        }
        Ok(())
    }

    /// Hands out what is there.
    fn settle_all(&mut self) -> Result<(), GitError> {
        while self.settle(false)? {}
        Ok(())
    }

    /// Hands out what still waits. What git said where lines could not be read.
    pub(super) fn finish(mut self) -> Result<Option<String>, GitError> {
        while self.settle(true)? {}
        Ok(self.lost)
    }

    /// Hands out the commit at the front; `false` where there is none, or its lines are not there yet and `wait` is not
    /// set.
    fn settle(&mut self, wait: bool) -> Result<bool, GitError> {
        match self.waiting.pop_front() {
            None => Ok(false),
            Some(Waiting::Judged(commit, value)) => {
                (self.sink)(commit, value);
                Ok(true)
            }
            Some(Waiting::Asked(_)) if self.lost.is_some() => Ok(true),
            Some(Waiting::Asked(mut commit)) => match self.lines.answer(wait) {
                Ok(Some(answer)) => {
                    answer.fill(&mut commit);
                    let (value, _) = (self.judge)(&commit);
                    (self.sink)(commit, value);
                    Ok(true)
                }
                Ok(None) => {
                    self.waiting.push_front(Waiting::Asked(commit));
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
