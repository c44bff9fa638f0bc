//! The changed lines of commits: patches without context, read into textures as git prints them.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread;

use super::blame::contents_of;
use super::command::{StderrTail, described, run, start};
use super::log::{PLAIN, status};
use super::{GitError, Repo, output_fields};
use crate::commit::change::{Commit, FileChange, PathStatus};
use crate::commit::change_class::PatchReader;
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// The end of the answer about one commit: git echoes a line that is not an object id, and flushes after it. No line of
/// a patch begins like this one.
const MARK: &[u8] = b"=end=";
/// The arguments with which git prints patches.
const PATCH: &[&str] = &[
    "-r", "-M", "-z", "--patch-with-raw", "-U0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-abbrev",
    "--inter-hunk-context=0",
];

/// The largest number of commits whose lines may be requested at a time. Their ids fit the smallest pipe, so that a
/// request never waits for git.
pub const MAX_OPEN: usize = 48;

/// The changed lines of commits, by one process that is started with the first request.
///
/// Commits are requested ahead ([`ChangedLinesReader::ask`]), and the answers come in the same order
/// ([`ChangedLinesReader::answer`]): git reads the contents of one while another is judged.
pub struct ChangedLinesReader<'r> {
    repo: &'r Repo,
    process: Option<Process>,
}

/// The changes of one commit, with the textures of their lines.
#[derive(Debug)]
pub struct CommitLines(Vec<FileChange>);

struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    /// The number of commits whose answers are outstanding.
    open: usize,
    answers: Receiver<io::Result<Vec<FileChange>>>,
    said: StderrTail,
    command: String,
}

impl Repo {
    /// Reads the changed lines of commits.
    pub fn lines(&self) -> ChangedLinesReader<'_> {
        ChangedLinesReader { repo: self, process: None }
    }

    /// Returns the changes of the next commit against `base` (a commit or a tree), including lines. `index` is the
    /// index that git builds the commit from, if it is not the repository's own.
    pub fn staged(&self, base: &Oid, index: Option<&Path>) -> Result<Vec<FileChange>, GitError> {
        let mut command = self.command();
        if let Some(index) = index {
            command.env("GIT_INDEX_FILE", index);
        }
        command.args(PLAIN).args(["diff-index", "--cached"]).args(PATCH).args([base.as_str(), "--"]);
        let printed = run(&mut command, None)?;
        let mut out = printed.as_slice();
        let unreadable = |source| GitError::NotStarted { command: "diff-index".to_owned(), source };
        let mut files = raw(&mut out).map_err(unreadable)?;
        patches(&mut out, &mut files).map_err(unreadable)?;
        Ok(files)
    }

    /// Returns the files that the next commit would change against `base` (a commit or a tree). `index`: as in
    /// [`Repo::staged`].
    pub fn staged_paths(&self, base: &Oid, index: Option<&Path>) -> Result<Vec<RepoPath>, GitError> {
        let mut command = self.command();
        if let Some(index) = index {
            command.env("GIT_INDEX_FILE", index);
        }
        command.args(["diff-index", "--cached", "--name-only", "-z", "--no-renames", base.as_str(), "--"]);
        let printed = run(&mut command, None)?;
        Ok(printed.split(|&byte| byte == 0).filter(|name| !name.is_empty()).map(RepoPath::new).collect())
    }

    /// Returns the content of one file in the next commit, or `None` if it is not in it. `index`: as in
    /// [`Repo::staged`].
    pub fn staged_file(&self, path: &RepoPath, index: Option<&Path>) -> Result<Option<Vec<u8>>, GitError> {
        let read = self.library(|library| {
            let index = index.map_or_else(|| library.index(), git2::Index::open)?;
            let Some(entry) = index.get_path(Path::new(&path.to_os()), 0) else { return Ok(None) };
            Ok(Some(library.find_blob(entry.id)?.content().to_vec()))
        });
        match read {
            Some(content) => Ok(content),
            None => Ok(self.staged_contents(std::slice::from_ref(path), index)?.pop().flatten()),
        }
    }

    /// Returns the contents of files in the next commit, in the order of `paths`; `None` for a file that is not in it.
    pub fn staged_contents(&self, paths: &[RepoPath], index: Option<&Path>) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let mut command = self.command();
        if let Some(index) = index {
            command.env("GIT_INDEX_FILE", index);
        }
        contents_of(command.args(["cat-file", "--batch"]), ":", paths)
    }

    fn start_lines(&self) -> Result<Process, GitError> {
        let mut command = self.command();
        command.args(PLAIN).args(["diff-tree", "--stdin", "--root"]).args(PATCH);
        command.stdin(Stdio::piped());
        let named = described(&command);
        let mut child =
            start(&mut command).map_err(|source| GitError::NotStarted { command: named.clone(), source })?;
        let out = child.stdout.take().ok_or_else(|| GitError::Missing("output of git diff-tree".to_owned()))?;
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || answer_all(BufReader::with_capacity(1 << 16, out), &sender));
        Ok(Process {
            stdin: child.stdin.take(),
            open: 0,
            said: StderrTail::of(&mut child),
            child,
            answers,
            command: named,
        })
    }
}

impl ChangedLinesReader<'_> {
    /// Returns the number of commits whose answers are outstanding.
    pub fn open(&self) -> usize {
        self.process.as_ref().map_or(0, |process| process.open)
    }

    /// Returns `true` if the process runs.
    pub fn is_started(&self) -> bool {
        self.process.is_some()
    }

    /// Starts the process, before the first request.
    fn start(&mut self) -> Result<(), GitError> {
        if self.process.is_none() {
            self.process = Some(self.repo.start_lines()?);
        }
        Ok(())
    }

    /// Asks for the lines of a commit. No more than [`MAX_OPEN`] may be open.
    pub fn ask(&mut self, id: &Oid) -> Result<(), GitError> {
        self.start()?;
        let Some(process) = &mut self.process else { return Ok(()) };
        process.open += 1;
        if let Some(stdin) = &mut process.stdin {
            // Where git has ended, the answer that is missing says so.
            let _ = stdin.write_all(&[id.as_str().as_bytes(), b"\n", MARK, b"\n"].concat());
        }
        Ok(())
    }

    /// Returns the next answer; `None` if none is there yet and `wait` is not set, or none is outstanding.
    pub fn answer(&mut self, wait: bool) -> Result<Option<CommitLines>, GitError> {
        let Some(process) = self.process.as_mut().filter(|process| process.open > 0) else { return Ok(None) };
        let answer = if wait {
            process.answers.recv().ok()
        } else {
            match process.answers.try_recv() {
                Ok(answer) => Some(answer),
                Err(TryRecvError::Empty) => return Ok(None),
                Err(TryRecvError::Disconnected) => None,
            }
        };
        process.open -= 1;
        match answer {
            Some(Ok(files)) => Ok(Some(CommitLines(files))),
            Some(Err(source)) if source.kind() != io::ErrorKind::UnexpectedEof => {
                Err(GitError::NotStarted { command: process.command.clone(), source })
            }
            _ => {
                drop(process.stdin.take());
                let status = process.child.wait().ok().and_then(|status| status.code());
                Err(GitError::Failed { command: process.command.clone(), status, stderr: process.said.words() })
            }
        }
    }

    /// Fills in the textures of a commit's files. Reads a patch of any size in bounded memory.
    pub fn look_into(&mut self, commit: &mut Commit) -> Result<(), GitError> {
        if let Some(id) = commit.id.as_ref().filter(|_| commit.parents.len() < 2) {
            self.ask(id)?;
            if let Some(answer) = self.answer(true)? {
                answer.fill(commit);
            }
        }
        Ok(())
    }
}

impl CommitLines {
    /// Fills in the textures of the files of the requested commit.
    pub fn fill(self, commit: &mut Commit) {
        let mut textures: HashMap<RepoPath, _> =
            self.0.into_iter().filter_map(|file| Some((file.path, file.texture?))).collect();
        for own in &mut commit.files {
            own.texture = textures.remove(&own.path);
        }
        commit.looked_into = true;
    }
}

/// Reads all answers as git prints them, until git ends or the receiver is gone.
fn answer_all(mut out: impl BufRead, answers: &Sender<io::Result<Vec<FileChange>>>) {
    loop {
        let answer = raw(&mut out).and_then(|mut files| {
            let whole = patches(&mut out, &mut files)?;
            if whole { Ok(files) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
        });
        let done = answer.is_err();
        if answers.send(answer).is_err() || done {
            return;
        }
    }
}

/// Reads raw entries: fields that end with NUL, with an empty one after the last if patches follow.
fn raw(out: &mut impl BufRead) -> io::Result<Vec<FileChange>> {
    let mut files = Vec::new();
    let field = |out: &mut _| -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        output_fields::read(out, 0, &mut bytes)?;
        Ok(bytes)
    };
    loop {
        // A commit without changes prints nothing, and the mark comes at once.
        if out.fill_buf()?.first().is_none_or(|&byte| byte == MARK[0]) {
            return Ok(files);
        }
        let head = field(out)?;
        if head.is_empty() {
            return Ok(files);
        }
        if head[0] != b':' {
            continue;
        }
        let path = field(out)?;
        let Some(status) = status(&head) else { continue };
        let (path, from) = match status {
            PathStatus::Renamed(_) | PathStatus::Copied(_) => (field(out)?, Some(RepoPath::new(path))),
            _ => (path, None),
        };
        files.push(FileChange { path: RepoPath::new(path), from, status, texture: None });
    }
}

/// Reads patches, which come in the order of the raw entries, up to the mark or the end. Whether there was a mark.
fn patches(out: &mut impl BufRead, files: &mut [FileChange]) -> io::Result<bool> {
    let mut line = Vec::new();
    let mut next = 0;
    let mut current: Option<(usize, PatchReader)> = None;
    // `--- a/x` and `+++ b/x` stand before the first run of a file.
    let mut in_run = false;
    let mut is_second = false;
    let marked = loop {
        let any = output_fields::read(out, b'\n', &mut line)?;
        if !any || line == MARK {
            break any;
        }
        let text = line.as_slice();
        if text.starts_with(b"diff --git ") {
            in_run = false;
            // What changes its type is printed as gone and as new, with a head for each.
            match current.as_mut().filter(|(at, _)| files[*at].status == PathStatus::TypeChanged && !is_second) {
                Some((_, reader)) => {
                    reader.end_run();
                    is_second = true;
                }
                None => {
                    store(files, current.take());
                    current = files.get(next).map(|file| (next, PatchReader::new(&file.path)));
                    next += 1;
                    is_second = false;
                }
            }
        } else {
            in_run |= text.starts_with(b"@@ ");
            if let Some((_, reader)) = current.as_mut().filter(|_| in_run) {
                reader.line(text);
            }
        }
    };
    store(files, current);
    Ok(marked)
}

fn store(files: &mut [FileChange], read: Option<(usize, PatchReader)>) {
    let Some((at, reader)) = read else { return };
    let texture = reader.finish();
    if let Some(file) = files.get_mut(at) {
        // A mode or a binary file has no lines.
        file.texture = (texture.lines() > 0).then_some(texture);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // Asked nothing more, it ends by itself.
        if self.open > 0 {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
