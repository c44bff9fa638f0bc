//! The lines of tracked files that contain certain words.

use super::command::{failed, run_any};
use super::{GitError, Repo};
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// The length of a line, in bytes, from which it is not one that people wrote.
const MAX_LINE: usize = 4096;

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The file.
    pub file: RepoPath,
    /// The line.
    pub line: String,
}

/// The content whose lines are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MentionsIn<'a> {
    /// A tree.
    Tree(&'a Oid),
    /// The working tree: tracked files, and files that are not ignored and in no tool folder.
    WorkingTree,
}

impl Repo {
    /// Returns the lines that hold any of `words`, in the files that `pathspecs` select, each after the `above` lines
    /// before it. One call of git; binary files are left out.
    pub fn mentions(
        &self,
        content: MentionsIn<'_>,
        words: &[String],
        pathspecs: &[String],
        above: usize,
    ) -> Result<Vec<Mention>, GitError> {
        let mut command = self.command();
        command.env_remove("GIT_LITERAL_PATHSPECS").args(["grep", "-z", "-I", "-F", "-f", "-", "--full-name"]);
        command.args(["--no-color", "--no-line-number", "--no-column", "--no-recurse-submodules"]);
        command.arg(format!("--before-context={above}"));
        let folders = match content {
            MentionsIn::Tree(_) => Vec::new(),
            MentionsIn::WorkingTree => self.untracked_tool_folders(&[])?,
        };
        match content {
            MentionsIn::Tree(tree) => command.arg(tree.as_str()),
            MentionsIn::WorkingTree => command.arg("--untracked"),
        };
        command.arg("--").args(pathspecs);
        command.args(folders.iter().map(|folder| format!(":(exclude,top,literal){}", folder.path)));
        let output = run_any(&mut command, Some(words.join("\n").as_bytes()))?;
        // 1: nothing was found.
        if !matches!(output.status.code(), Some(0 | 1)) {
            return Err(failed(&command, &output));
        }
        let lines = output.stdout.split(|&byte| byte == b'\n');
        let lines = lines.filter(|line| line.len() < MAX_LINE).filter_map(|line| mention(line, content));
        let mut mentions: Vec<Mention> = lines.collect();
        if content == MentionsIn::WorkingTree && !mentions.is_empty() {
            // Tool folders further down.
            let files: Vec<&RepoPath> = mentions.iter().map(|mention| &mention.file).collect();
            let folders = self.untracked_tool_folders(&files)?;
            mentions.retain(|mention| !folders.iter().any(|folder| folder.holds(&mention.file)));
        }
        Ok(mentions)
    }
}

/// Reads `[tree:]path NUL line`; other lines occur between groups of lines.
fn mention(line: &[u8], content: MentionsIn<'_>) -> Option<Mention> {
    let at = memchr::memchr(0, line)?;
    let path = match content {
        MentionsIn::Tree(tree) => line[..at].strip_prefix(tree.as_str().as_bytes())?.strip_prefix(b":")?,
        MentionsIn::WorkingTree => &line[..at],
    };
    Some(Mention { file: RepoPath::new(path), line: String::from_utf8_lossy(&line[at + 1..]).into_owned() })
}
