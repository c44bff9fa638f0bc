//! Commits on their way from the log to whoever asked, in its order: while git looks for the changed lines of one, those
//! behind it are read and judged.

use std::collections::VecDeque;

use crate::commit::change::Commit;
use crate::commit::judge::Wants;
use crate::git::{GitError, Lines, MOST_OPEN, Repo};

/// The most commits that wait for one whose lines are being looked for.
const WINDOW: usize = 4_096;

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

    /// Starts what reads lines: of many commits some need it, and it starts while git finds the first.
    pub(super) fn expect_many(&mut self) -> Result<(), GitError> {
        self.lines.start()
    }

    /// Takes the next commit. `always`: its lines are read in any case.
    pub(super) fn take(&mut self, mut commit: Commit, always: bool) -> Result<(), GitError> {
        while self.lines.open() >= MOST_OPEN || self.waiting.len() >= WINDOW {
            self.settle(true)?;
        }
        // What a merge changes was judged commit by commit.
        let id = commit.id.clone().filter(|_| commit.parents.len() < 2);
        if always && id.is_some() && !self.lines.is_started() && self.repo.look_through(&mut commit) {
            let (value, _) = (self.judge)(&commit);
            self.waiting.push_back(Waiting::Judged(commit, value));
            return self.settle_all();
        }
        let mut first = if always && id.is_some() { None } else { Some((self.judge)(&commit)) };
        if let (Some((_, Wants::First(paths))), Some(_)) = (&first, &id)
            && self.repo.look_at(&mut commit, paths)
        {
            first = Some((self.judge)(&commit));
        }
        match (first, id) {
            (Some((value, Wants::Nothing)), _) | (Some((value, _)), None) => {
                self.waiting.push_back(Waiting::Judged(commit, value));
            }
            (_, Some(id)) if self.lost.is_none() => {
                self.lines.ask(&id)?;
                self.waiting.push_back(Waiting::Asked(commit));
            }
            _ => {}
        }
        self.settle_all()
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
