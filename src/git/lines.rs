//! The changed lines of commits: patches without context, read into textures as they are printed.

use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

use super::command::{described, run};
use super::log::{LONGEST, PLAIN, status};
use super::{GitError, Repo};
use crate::commit::change::{Commit, FileChange, Status};
use crate::commit::texture::Reader;
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// What ends the answer about one commit: git echoes a line that is no object id, and flushes behind it. No line of a
/// patch begins like this one.
const MARK: &[u8] = b"=end=\n";
/// How patches are asked for.
const PATCH: &[&str] = &[
    "-r",
    "-M",
    "-z",
    "--patch-with-raw",
    "-U0",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-abbrev",
    "--inter-hunk-context=0",
];

/// The changed lines of commits, by one process that is started when the first is asked for.
pub struct Lines<'r> {
    repo: &'r Repo,
    process: Option<Process>,
}

struct Process {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Repo {
    /// Reads the changed lines of commits.
    pub fn lines(&self) -> Lines<'_> {
        Lines { repo: self, process: None }
    }

    /// What the next commit would change against `base` (a commit or a tree), lines included. `index`: the index that
    /// git builds it from, where that is not the repository's own.
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

    fn start_lines(&self) -> Result<Process, GitError> {
        let mut command = self.command();
        command.args(PLAIN).args(["diff-tree", "--stdin", "--root"]).args(PATCH);
        command.stdin(Stdio::piped()).stderr(Stdio::null());
        let named = described(&command);
        let mut child = command.spawn().map_err(|source| GitError::NotStarted { command: named, source })?;
        let out = child.stdout.take().ok_or_else(|| GitError::Missing("output of git diff-tree".to_owned()))?;
        Ok(Process { child, out: BufReader::with_capacity(1 << 16, out) })
    }
}

impl Lines<'_> {
    /// Fills in the textures of a commit's files. Reads a patch of any size in bounded memory.
    pub fn look_into(&mut self, commit: &mut Commit) -> Result<(), GitError> {
        let Some(id) = commit.id.clone().filter(|_| commit.parents.len() < 2) else { return Ok(()) };
        let process = match &mut self.process {
            Some(process) => process,
            None => self.process.insert(self.repo.start_lines()?),
        };
        let unreadable = |source| GitError::NotStarted { command: format!("diff-tree of {id}"), source };
        if let Some(stdin) = &mut process.child.stdin {
            let question = [id.as_str().as_bytes(), b"\n", MARK].concat();
            stdin.write_all(&question).map_err(unreadable)?;
        }
        let mut files = raw(&mut process.out).map_err(unreadable)?;
        patches(&mut process.out, &mut files).map_err(unreadable)?;
        for file in files {
            if let Some(own) = commit.files.iter_mut().find(|own| own.path == file.path) {
                own.texture = file.texture;
            }
        }
        commit.looked_into = true;
        Ok(())
    }
}

/// Reads raw entries: fields that end with NUL, an empty one behind the last where patches follow.
fn raw(out: &mut impl BufRead) -> io::Result<Vec<FileChange>> {
    let mut files = Vec::new();
    let field = |out: &mut dyn BufRead| -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        out.read_until(0, &mut bytes)?;
        if bytes.last() == Some(&0) {
            bytes.pop();
        }
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
            Status::Renamed(_) | Status::Copied(_) => (field(out)?, Some(RepoPath::new(path))),
            _ => (path, None),
        };
        files.push(FileChange { path: RepoPath::new(path), from, status, texture: None });
    }
}

/// Reads patches, which come in the order of the raw entries, up to the mark or the end.
fn patches(out: &mut impl BufRead, files: &mut [FileChange]) -> io::Result<()> {
    let mut line = Vec::new();
    let mut next = 0;
    let mut current: Option<(usize, Reader)> = None;
    // `--- a/x` and `+++ b/x` stand before the first run of a file.
    let mut in_run = false;
    loop {
        line.clear();
        let read = out.take(LONGEST as u64).read_until(b'\n', &mut line)?;
        if read == 0 || line == MARK {
            break;
        }
        if line.last() != Some(&b'\n') && read == LONGEST {
            skip_to_newline(out)?;
        }
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        if text.starts_with(b"diff --git ") {
            store(files, current.take());
            current = files.get(next).map(|file| (next, Reader::new(&file.path)));
            next += 1;
            in_run = false;
        } else {
            in_run |= text.starts_with(b"@@ ");
            if let Some((_, reader)) = current.as_mut().filter(|_| in_run) {
                reader.line(text);
            }
        }
    }
    store(files, current);
    Ok(())
}

fn store(files: &mut [FileChange], read: Option<(usize, Reader)>) {
    let Some((at, reader)) = read else { return };
    let texture = reader.finish();
    if let Some(file) = files.get_mut(at) {
        // A mode or a binary file has no lines.
        file.texture = (texture.lines() > 0).then_some(texture);
    }
}

/// Skips what is left of a line that is too long to be read by anybody.
fn skip_to_newline(from: &mut impl BufRead) -> io::Result<()> {
    loop {
        let (found, used) = {
            let buffer = from.fill_buf()?;
            match memchr::memchr(b'\n', buffer) {
                Some(at) => (true, at + 1),
                None => (buffer.is_empty(), buffer.len()),
            }
        };
        from.consume(used);
        if found {
            return Ok(());
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
