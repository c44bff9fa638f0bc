//! The commits of a range: a short one is read in process, any other from one pass of `git log --raw -z`, as git prints
//! it.

use std::collections::HashSet;
use std::io::BufReader;
use std::process::{Child, ChildStdout};
use std::{fs, iter, vec};

use jiff::Timestamp;

use super::changed_blobs::Blobs;
use super::command::{StderrTail, described, start};
use super::prefetch::Ahead;
use super::{GitError, Repo, inprocess_log, output_fields};
use crate::commit::change::{Commit, FileChange, PathStatus, Person};
use crate::git::log_entry::{Logged, Range};
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// The fields of a commit: no message, name or path can hold the NUL after a field.
const FORMAT: &str = "--format=%H%x00%P%x00%an%x00%ae%x00%cn%x00%ce%x00%B%x00";

/// Settings that make the output the same everywhere.
pub(super) const PLAIN: &[&str] = &[
    "-c", "log.showSignature=false", "-c", "log.showRoot=true", "-c", "log.follow=false", "-c", "log.mailmap=false",
    "-c", "diff.renames=true", "-c", "diff.renameLimit=400", "-c", "diff.orderFile=/dev/null", "-c",
    "diff.relative=false", "-c", "diff.ignoreSubmodules=none", "-c", "diff.external=", "-c",
    "i18n.logOutputEncoding=UTF-8", "-c", "core.quotePath=false",
];

/// The commits of a range, newest first, one at a time.
pub struct CommitLog(CommitSource);

enum CommitSource {
    Read(vec::IntoIter<Logged>),
    Printed(Box<Printed>),
    Ahead(Ahead<Result<Logged, GitError>>),
}

/// The output of a git that runs.
struct Printed {
    child: Child,
    out: BufReader<ChildStdout>,
    said: StderrTail,
    command: String,
    /// The first field of the next commit, read already.
    next: Option<Vec<u8>>,
    done: bool,
    /// Commits at which history ends because the clone is shallow.
    grafts: HashSet<String>,
}

impl Repo {
    /// Returns the time at which a commit was made, as its committer's clock showed it; `None` if it has none.
    pub fn commit_time(&self, commit: &Oid) -> Result<Option<Timestamp>, GitError> {
        let printed = self.git_unless(&[128], ["log", "-1", "--no-show-signature", "--format=%ct", commit.as_str()])?;
        let text = printed.map(|bytes| String::from_utf8_lossy(&bytes).trim().parse::<i64>());
        Ok(text.and_then(|seconds| Timestamp::from_second(seconds.ok()?).ok()))
    }

    /// Returns the short ids and the subjects of the newest commits of HEAD, at most `most` and none from before a time.
    pub fn subjects_since(&self, since: Timestamp, most: usize) -> Result<Vec<(String, String)>, GitError> {
        let (since, most) = (format!("--since=@{} +0000", since.as_second()), format!("--max-count={most}"));
        let mut args = PLAIN.to_vec();
        args.extend(["log", "-z", "--no-color", "--no-notes", "--format=%h %s", &since, &most, "HEAD", "--"]);
        // Without a commit, there is no HEAD.
        let printed = self.git_unless(&[128], args)?.unwrap_or_default();
        let lines = printed.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        Ok(lines.filter_map(|line| line.split_once(' ').map(|(id, text)| (id.to_owned(), text.to_owned()))).collect())
    }

    /// Starts reading the commits of a range.
    pub fn log(&self, range: &Range) -> Result<CommitLog, GitError> {
        let source = match self.near_commits(range) {
            Some(commits) => CommitSource::Read(commits.into_iter()),
            None => CommitSource::Printed(Box::new(self.print_log(range)?)),
        };
        Ok(CommitLog(source))
    }

    /// Returns the commits of a range that is probably long: this function does not try to read it in process.
    pub fn long_log(&self, range: &Range) -> Result<CommitLog, GitError> {
        Ok(CommitLog(CommitSource::Printed(Box::new(self.print_log(range)?))))
    }

    /// Returns the commits of a range that is short and plain.
    fn near_commits(&self, range: &Range) -> Option<Vec<Logged>> {
        // Git is told to pass grafts over, which git2 cannot be.
        if self.is_shallow() || self.common_dir().join("info/grafts").exists() {
            return None;
        }
        self.library(|library| Ok(inprocess_log::read(library, range)))?
    }

    fn print_log(&self, range: &Range) -> Result<Printed, GitError> {
        let mut command = self.command();
        command.args(PLAIN).args(["log", "-z", "--raw", "-M", "--no-abbrev", "--diff-merges=off", "--no-notes"]);
        command.args(["--no-color", "--no-ext-diff", "--no-textconv", "--no-decorate", FORMAT]);
        if let Some(limit) = range.limit {
            command.arg(format!("--max-count={limit}"));
        }
        // Otherwise it hands over each commit by itself, which takes a fifth longer.
        command.env("GIT_FLUSH", "0");
        command.arg("--end-of-options").args(&range.revisions);
        command.args(range.exclude.iter().map(|revision| format!("^{revision}"))).arg("--");
        let described = described(&command);
        let mut child =
            start(&mut command).map_err(|source| GitError::NotStarted { command: described.clone(), source })?;
        let out = child.stdout.take().ok_or_else(|| GitError::Missing("output of git log".to_owned()))?;
        let grafts = if self.is_shallow() {
            let listed = fs::read_to_string(self.common_dir().join("shallow")).unwrap_or_default();
            listed.lines().map(str::to_owned).collect()
        } else {
            HashSet::new()
        };
        Ok(Printed {
            said: StderrTail::of(&mut child),
            child,
            out: BufReader::with_capacity(1 << 16, out),
            command: described,
            next: None,
            done: false,
            grafts,
        })
    }
}

impl CommitLog {
    /// Returns `true` if the commits were read without starting git.
    pub fn is_near(&self) -> bool {
        matches!(self.0, CommitSource::Read(_))
    }

    /// Starts a thread that reads git's output ahead, so that git need not wait for the reader.
    #[must_use]
    pub fn ahead(self) -> Self {
        let CommitSource::Printed(mut printed) = self.0 else { return self };
        Self(CommitSource::Ahead(Ahead::new(iter::from_fn(move || printed.next()))))
    }
}

impl Iterator for CommitLog {
    type Item = Result<Logged, GitError>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            CommitSource::Read(commits) => commits.next().map(Ok),
            CommitSource::Printed(printed) => printed.next(),
            CommitSource::Ahead(commits) => commits.next(),
        }
    }
}

impl Printed {
    fn next(&mut self) -> Option<Result<Logged, GitError>> {
        if self.done {
            return None;
        }
        let read = self.read();
        if read.is_err() {
            self.done = true;
        }
        read.transpose()
    }

    fn field(&mut self) -> Result<Option<Vec<u8>>, GitError> {
        let mut bytes = Vec::new();
        let read = output_fields::read(&mut self.out, 0, &mut bytes);
        let any = read.map_err(|source| GitError::NotStarted { command: self.command.clone(), source })?;
        Ok(any.then_some(bytes))
    }

    fn malformed(&self, bytes: &[u8]) -> GitError {
        let what = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
        GitError::Malformed { command: self.command.clone(), what }
    }

    fn read(&mut self) -> Result<Option<Logged>, GitError> {
        let first = if let Some(first) = self.next.take() { Some(first) } else { self.field()? };
        let Some(id) = first else {
            self.finish()?;
            return Ok(None);
        };
        let mut texts: [Vec<u8>; 6] = Default::default();
        for text in &mut texts {
            *text = self.field()?.ok_or_else(|| self.malformed(b"the end in the middle of a commit"))?;
        }
        let oid = |bytes: &[u8]| {
            std::str::from_utf8(bytes)
                .ok()
                .and_then(|text| text.parse::<Oid>().ok())
                .ok_or_else(|| self.malformed(bytes))
        };
        let id = oid(&id)?;
        let [parents, an, ae, cn, ce, message] = texts;
        let parents =
            parents.split(|&b| b == b' ').filter(|word| !word.is_empty()).map(oid).collect::<Result<_, _>>()?;
        let (files, blobs) = self.files()?;
        let cut_off = self.grafts.contains(id.as_str());
        let person = |name, email| Person { name: text_of(name), email: text_of(email) };
        let commit = Commit {
            id: Some(id),
            parents,
            author: person(an, ae),
            committer: person(cn, ce),
            message: text_of(message),
            files,
            agent: None,
            looked_into: false,
        };
        Ok(Some(Logged { commit, blobs, cut_off }))
    }

    /// Returns the paths of one commit, up to the first field of the next.
    fn files(&mut self) -> Result<(Vec<FileChange>, Blobs), GitError> {
        let (mut files, mut blobs) = (Vec::new(), Blobs::default());
        while let Some(field) = self.field()? {
            let text = field.strip_prefix(b"\n").unwrap_or(&field);
            if text.is_empty() {
                continue;
            }
            if text[0] != b':' {
                self.next = Some(field);
                break;
            }
            let path = self.field()?.ok_or_else(|| self.malformed(text))?;
            blobs.push_raw(text);
            files.push(match status(text).ok_or_else(|| self.malformed(text))? {
                status @ (PathStatus::Renamed(_) | PathStatus::Copied(_)) => {
                    let to = self.field()?.ok_or_else(|| self.malformed(text))?;
                    FileChange { path: RepoPath::new(to), from: Some(RepoPath::new(path)), status, texture: None }
                }
                status => FileChange { path: RepoPath::new(path), from: None, status, texture: None },
            });
        }
        Ok((files, blobs))
    }

    /// Waits for git: its exit shows whether the range was complete.
    fn finish(&mut self) -> Result<(), GitError> {
        self.done = true;
        let status =
            self.child.wait().map_err(|source| GitError::NotStarted { command: self.command.clone(), source })?;
        if status.success() {
            return Ok(());
        }
        Err(GitError::Failed { command: self.command.clone(), status: status.code(), stderr: self.said.words() })
    }
}

/// Returns a text in UTF-8 as far as it can be.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Returns the status of a raw line, its colon still before it.
pub(super) fn status(line: &[u8]) -> Option<PathStatus> {
    let word = line.rsplit(|&byte| byte == b' ').next()?;
    let score = || std::str::from_utf8(&word[1..]).ok()?.parse::<u8>().ok();
    Some(match word.first()? {
        b'A' => PathStatus::Added,
        b'D' => PathStatus::Deleted,
        b'T' => PathStatus::TypeChanged,
        b'R' => PathStatus::Renamed(score()?),
        b'C' => PathStatus::Copied(score()?),
        b'M' | b'U' | b'X' => PathStatus::Modified,
        _ => return None,
    })
}

impl Drop for Printed {
    fn drop(&mut self) {
        // Left early: a git that writes into nothing need not be waited for, but must not stay a zombie.
        if !self.done {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
