//! The new commits, with everything that is needed to judge them.
//!
//! One pass of the log reads all of them. Changed lines are read if a judgement depends on them; if there are few
//! commits, the lines of all files that count are read.

use std::sync::Arc;

use crate::collect::commit_queue::{Queue, QueuedCommit};
use crate::commit::author;
use crate::commit::change::Commit;
use crate::fact::commits::{NewCommits, UnknownCommits, Yardstick};
use crate::git::{CommitLog, GitError, Logged, Range, Repo};
use crate::moment::Moment;
use crate::parallel_map;
use crate::policy::Policy;
use crate::repo_path::RepoPath;

/// The number of commits up to which the changed lines of all files that count are read.
const FEW: usize = 50;
/// The maximum number of commits that a verdict holds. Work on a branch has some tens; a range has so many only if the
/// state of the other side is unknown, or if a whole history moves.
pub const MAX_COMMITS: usize = 20_000;

/// Reads a range for `policy`. `branch` is the branch of the commits, whose name may reveal an agent.
pub fn collect(
    repo: &Repo,
    range: &Range,
    policy: &Policy,
    moment: Moment,
    branch: Option<&str>,
) -> Result<NewCommits, GitError> {
    let yardsticks = Yardstick::all(policy, moment);
    if yardsticks.is_empty() && !policy.roles.list.is_empty() && !is_empty(range) {
        return keep(MAX_COMMITS, repo, repo.log(&at_most(MAX_COMMITS, range))?, &yardsticks, branch);
    }
    collect_at_most(MAX_COMMITS, repo, range, &yardsticks, branch)
}

/// Reads the newest `most` commits of a range. If there are more, the result says so.
pub fn collect_at_most(
    most: usize,
    repo: &Repo,
    range: &Range,
    yardsticks: &[Arc<Yardstick>],
    branch: Option<&str>,
) -> Result<NewCommits, GitError> {
    if yardsticks.is_empty() || is_empty(range) {
        return Ok(NewCommits::default());
    }
    keep(most, repo, repo.log(&at_most(most, range))?, yardsticks, branch)
}

/// Begins to read a range before the policy is known. Returns `None` if there is nothing to read, or if it cannot be
/// read; that error will occur again.
pub fn begin(repo: &Repo, range: &Range) -> Option<CommitLog> {
    if is_empty(range) { None } else { repo.log(&at_most(MAX_COMMITS, range)).ok().map(CommitLog::ahead) }
}

/// Reads a range that was begun ([`begin`]) for `policy`.
pub fn collect_begun(
    repo: &Repo,
    log: CommitLog,
    policy: &Policy,
    moment: Moment,
    branch: Option<&str>,
) -> Result<NewCommits, GitError> {
    let yardsticks = Yardstick::all(policy, moment);
    if yardsticks.is_empty() && policy.roles.list.is_empty() {
        return Ok(NewCommits::default());
    }
    keep(MAX_COMMITS, repo, log, &yardsticks, branch)
}

/// Returns `true` if a range is empty without a call of git.
fn is_empty(range: &Range) -> bool {
    matches!(range.revisions.as_slice(), [only] if range.exclude.contains(only))
}

/// Returns one commit more than the newest `most` of a range, to detect that there are more.
fn at_most(most: usize, range: &Range) -> Range {
    Range { limit: Some(range.limit.unwrap_or(usize::MAX).min(most + 1)), ..range.clone() }
}

/// Keeps the newest `most` commits of a log.
fn keep(
    most: usize,
    repo: &Repo,
    log: CommitLog,
    yardsticks: &[Arc<Yardstick>],
    branch: Option<&str>,
) -> Result<NewCommits, GitError> {
    let mut found = NewCommits::default();
    let counts = |path: &RepoPath| yardsticks.iter().any(|yardstick| yardstick.counts(path));
    let judge = |commit: &Commit| ((), yardsticks.iter().flat_map(|yardstick| yardstick.judge(commit).wants).collect());
    found.unknown = stream(repo, log, branch, counts, judge, |commit, ()| found.commits.push(commit))?;
    if found.commits.len() > most {
        found.commits.truncate(most);
        let why = format!("more than {most} commits are new, and only the newest {most} were looked at");
        // What the other side has is known from the remote-tracking branches.
        let fetch = remote(repo)?.map(|name| format!("git fetch {name}")).unwrap_or_default();
        found.unknown = Some(UnknownCommits { why, fetch });
    }
    Ok(found)
}

/// Reads a log and hands each commit to `sink`, newest first, together with the result of `judge`, in memory that does
/// not grow with the range. `judge` also returns the changed lines that its result depends on: those are read, and it
/// is called again. If there are few commits, all lines of files that `counts` accepts are read.
pub fn stream<T: Send>(
    repo: &Repo,
    log: CommitLog,
    branch: Option<&str>,
    counts: impl Fn(&RepoPath) -> bool + Sync,
    judge: impl Fn(&Commit) -> (T, Vec<usize>) + Sync,
    sink: impl FnMut(Commit, T),
) -> Result<Option<UnknownCommits>, GitError> {
    let by_branch = branch.and_then(author::agent_of_branch);
    let with_agent = |mut commit: Commit| {
        let by_marks = author::agent_of(&commit.author, &commit.committer, &commit.message);
        commit.agent = by_marks.or_else(|| by_branch.clone());
        commit
    };
    let mut log = Readable { repo, log, unknown: None };
    let mut queue = Queue::new(repo, &judge, sink);
    let first = log.by_ref().take(FEW + 1).collect::<Result<Vec<Logged>, GitError>>()?;
    if first.len() <= FEW {
        for Logged { commit, blobs, .. } in first {
            queue.take_whole(with_agent(commit), &blobs, &counts)?;
        }
    } else {
        let (with_agent, counts, judge) = (&with_agent, &counts, &judge);
        let worker = || {
            let glance = repo.glance();
            move |Logged { commit, blobs, .. }: Logged| {
                QueuedCommit::judge(with_agent(commit), &blobs, &glance, counts, judge)
            }
        };
        parallel_map::in_order(first.into_iter().map(Ok).chain(&mut log), worker, |seen| queue.take(seen))?;
    }
    if let Some(said) = queue.finish()? { absent(repo, &said).map(Some) } else { Ok(log.unknown) }
}

/// The commits of a log up to the first one that cannot be read.
struct Readable<'r> {
    repo: &'r Repo,
    log: CommitLog,
    unknown: Option<UnknownCommits>,
}

impl Readable<'_> {
    /// Records why something is unknown.
    fn note(&mut self, unknown: Result<UnknownCommits, GitError>) -> Option<Result<Logged, GitError>> {
        match unknown {
            Ok(unknown) => {
                self.unknown = Some(unknown);
                None
            }
            Err(error) => Some(Err(error)),
        }
    }
}

impl Iterator for Readable<'_> {
    type Item = Result<Logged, GitError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.log.next()? {
                Ok(logged) if logged.cut_off => {
                    let short = logged.commit.short();
                    let why =
                        format!("this clone is shallow and ends at {short}, so what that commit changes is not here");
                    if let Some(error) = self.note(shallow(self.repo, &why)) {
                        return Some(error);
                    }
                }
                Ok(logged) => return Some(Ok(logged)),
                Err(GitError::Failed { stderr, .. }) if self.repo.is_shallow() => {
                    return self.note(shallow(self.repo, &format!("git says: {stderr}")));
                }
                Err(GitError::Failed { stderr, .. }) if stderr.contains("unable to read") => {
                    return self.note(absent(self.repo, &stderr));
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Returns the reason, and the command that fetches the objects that are missing from an incomplete clone.
fn absent(repo: &Repo, said: &str) -> Result<UnknownCommits, GitError> {
    let fetch = remote(repo)?.map(|name| format!("git fetch --refetch {name}")).unwrap_or_default();
    Ok(UnknownCommits { why: format!("objects are missing here, git says: {said}"), fetch })
}

/// Returns the remote that git asks first.
fn remote(repo: &Repo) -> Result<Option<String>, GitError> {
    let mut names: Vec<String> = repo.remotes()?.into_iter().map(|remote| remote.name).collect();
    names.sort_by_key(|name| name != "origin");
    Ok(names.into_iter().next())
}

/// Returns the reason, and the command that fetches more of a shallow clone.
fn shallow(repo: &Repo, why: &str) -> Result<UnknownCommits, GitError> {
    let fetch = remote(repo)?.map(|name| format!("git fetch --unshallow {name}")).unwrap_or_default();
    Ok(UnknownCommits { why: why.to_owned(), fetch })
}
