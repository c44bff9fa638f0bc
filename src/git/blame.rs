//! Reads trees and commits: which files contain a text, the contents of many files, and which commit wrote a line.

use std::collections::BTreeMap;
use std::io::Read as _;

use super::{GitError, Repo};
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// The origin of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Since {
    /// The commit that wrote it.
    pub commit: Oid,
    /// The time at which its author wrote it, in seconds since 1970.
    pub time: i64,
    /// The name of the author.
    pub author: String,
}

impl Repo {
    /// Returns the text files of a commit that hold one of `texts`.
    pub fn holding(&self, commit: &Oid, texts: &[&str]) -> Result<Vec<RepoPath>, GitError> {
        let mut args = vec!["grep", "-l", "-z", "-I", "-F", "--full-name", "--no-color", "--no-recurse-submodules"];
        for text in texts {
            args.extend(["-e", text]);
        }
        args.extend([commit.as_str(), "--"]);
        let printed = self.git_unless(&[1], args)?.unwrap_or_default();
        let prefix = [commit.as_str().as_bytes(), b":"].concat();
        let paths = printed.split(|&byte| byte == 0).filter_map(|name| name.strip_prefix(prefix.as_slice()));
        Ok(paths.map(RepoPath::new).collect())
    }

    /// Returns the contents of files of a commit, in the order of `paths`; `None` for a file that does not exist.
    /// Starts at most one process.
    pub fn blobs_at(&self, commit: &Oid, paths: &[RepoPath]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        // Whether git2 can read here shows with the commit.
        if self.library(|library| library.find_object(git2::Oid::from_str(commit.as_str())?, None).map(drop)).is_some()
        {
            return paths.iter().map(|path| self.blob_at(commit, path)).collect();
        }
        let mut command = self.command();
        contents_of(command.args(["cat-file", "--batch"]), &format!("{commit}:"), paths)
    }

    /// Returns, for some lines of a file in `commit`, the commits that wrote them.
    pub fn since(&self, commit: &Oid, path: &RepoPath, lines: &[u32]) -> Result<BTreeMap<u32, Since>, GitError> {
        let mut command = self.command();
        command.args(["blame", "--porcelain"]);
        for line in lines {
            command.args(["-L".to_owned(), format!("{line},{line}")]);
        }
        command.args([commit.as_str(), "--"]).arg(path.to_os());
        let printed = super::command::run(&mut command, None)?;
        let printed = String::from_utf8_lossy(&printed).into_owned();
        let mut known: BTreeMap<Oid, (i64, String)> = BTreeMap::new();
        let mut at: Vec<(u32, Oid)> = Vec::new();
        for line in printed.lines().filter(|line| !line.starts_with('\t')) {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["author", ..] => {
                    if let Some((_, commit)) = at.last() {
                        known.entry(commit.clone()).or_default().1 = words[1..].join(" ");
                    }
                }
                ["author-time", time] => {
                    if let Some((_, commit)) = at.last() {
                        known.entry(commit.clone()).or_default().0 = time.parse().unwrap_or_default();
                    }
                }
                [commit, _, line, ..] => {
                    if let (Ok(commit), Ok(line)) = (commit.parse(), line.parse()) {
                        at.push((line, commit));
                    }
                }
                _ => {}
            }
        }
        let since = |(line, commit): (u32, Oid)| {
            let (time, author) = known.get(&commit).cloned().unwrap_or_default();
            (line, Since { commit, time, author })
        };
        Ok(at.into_iter().map(since).collect())
    }
}

/// Returns the contents of files, which git knows by `prefix` and their path. `batch` is `git cat-file --batch`.
pub(super) fn contents_of(
    batch: &mut std::process::Command,
    prefix: &str,
    paths: &[RepoPath],
) -> Result<Vec<Option<Vec<u8>>>, GitError> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let mut asked = Vec::new();
    for path in paths {
        // A line feed in a name would be two questions; nothing is asked instead.
        let path = if path.as_bytes().contains(&b'\n') { &b""[..] } else { path.as_bytes() };
        asked.extend([prefix.as_bytes(), path, b"\n"].concat());
    }
    let printed = super::command::run(batch, Some(&asked))?;
    let mut rest = printed.as_slice();
    let mut found = Vec::new();
    while found.len() < paths.len() {
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let head = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest = rest.get(end + 1..).unwrap_or_default();
        let words: Vec<&str> = head.rsplit(' ').collect();
        let Some(size) = words.first().and_then(|size| size.parse::<u64>().ok()).filter(|_| words.len() >= 3) else {
            found.push(None);
            continue;
        };
        let mut content = Vec::new();
        let taken = rest.take(size).read_to_end(&mut content);
        taken.map_err(|source| GitError::NotStarted { command: "cat-file --batch".to_owned(), source })?;
        rest = rest.get(content.len() + 1..).unwrap_or_default();
        found.push(Some(content).filter(|_| words[1] == "blob"));
    }
    Ok(found)
}
