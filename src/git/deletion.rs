//! The end of a path: the commit that deleted or moved it.

use super::command::run;
use super::{GitError, Repo};

/// The similarity in percent from which a file counts as moved. Below, nobody knows.
const SAME_FILE: u32 = 80;
/// The largest number of moves that are followed.
const MAX_MOVES: usize = 5;

/// The fate of a path that no longer exists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathFate {
    /// Its moves, oldest first.
    pub moves: Vec<PathMove>,
    /// The commit that deleted it at its last place, abbreviated. `None` if `HEAD` has it there.
    pub deleted_by: Option<String>,
}

/// One move of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathMove {
    /// The commit that moved it, abbreviated.
    pub commit: String,
    /// Its place before.
    pub from: String,
    /// Its place afterwards.
    pub to: String,
}

impl PathFate {
    /// Returns the place that it moved to, or `None` if it was deleted.
    pub fn moved_to(&self) -> Option<&str> {
        self.moves.last().filter(|_| self.deleted_by.is_none()).map(|one| one.to.as_str())
    }

    /// Returns the commit that took it away from its first place.
    pub fn first_commit(&self) -> Option<&str> {
        self.moves.first().map(|one| &one.commit).or(self.deleted_by.as_ref()).map(String::as_str)
    }
}

/// The movement of a file.
struct FileMove {
    similarity: u32,
    from: String,
    to: String,
}

impl Repo {
    /// Returns the fate of a path that `HEAD` does not have, or `None` if git does not know.
    pub fn fate(&self, path: &str) -> Result<Option<PathFate>, GitError> {
        let mut at = path.trim_end_matches('/').to_owned();
        if !at.contains('/') && self.has_named(&at)? {
            return Ok(None);
        }
        let mut moves = Vec::new();
        for _ in 0..MAX_MOVES {
            let Some(commit) = self.deleting_commit(&at)? else { return Ok(None) };
            match destination(&at, &self.moves(&commit)?) {
                Destination::None => return Ok(Some(PathFate { moves, deleted_by: Some(commit) })),
                Destination::Unclear => return Ok(None),
                Destination::Place(to) => {
                    moves.push(PathMove { commit, from: at, to: to.clone() });
                    at = to;
                }
            }
            if self.has(&at) {
                return Ok(Some(PathFate { moves, deleted_by: None }));
            }
        }
        Ok(None)
    }

    /// Returns `true` if git ignores a path.
    pub fn ignores(&self, path: &str) -> bool {
        let mut command = self.command();
        command.env_remove("GIT_LITERAL_PATHSPECS").args(["check-ignore", "--quiet", "--"]).arg(format!("./{path}"));
        run(&mut command, None).is_ok()
    }

    /// Returns the newest commit before `HEAD` that deleted a path, abbreviated, or `None` if none did.
    fn deleting_commit(&self, path: &str) -> Result<Option<String>, GitError> {
        let args = ["log", "-1", "--diff-filter=D", "--no-show-signature", "--format=%h", "--", path];
        let printed = self.git(args)?;
        let commit = String::from_utf8_lossy(&printed).trim().to_owned();
        Ok((!commit.is_empty()).then_some(commit))
    }

    fn has(&self, path: &str) -> bool {
        self.git(["cat-file", "-e", &format!("HEAD:{path}")]).is_ok()
    }

    /// Returns `true` if a file of the index has this name, in whatever folder.
    fn has_named(&self, name: &str) -> Result<bool, GitError> {
        let printed = self.git(["ls-files", "-z", "--full-name"])?;
        let end = format!("/{name}");
        Ok(printed.split(|&byte| byte == 0).any(|path| path.ends_with(end.as_bytes())))
    }

    /// Returns the files that a commit moved.
    fn moves(&self, commit: &str) -> Result<Vec<FileMove>, GitError> {
        let args = ["diff-tree", "-r", "-M", "--diff-filter=R", "--no-commit-id", "--name-status", "-z", commit];
        let printed = self.git(args)?;
        let words: Vec<String> =
            printed.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        let file = |three: &[String]| {
            let similarity = three[0].strip_prefix('R')?.parse().ok()?;
            Some(FileMove { similarity, from: three[1].clone(), to: three[2].clone() })
        };
        Ok(words.chunks_exact(3).filter_map(file).collect())
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Destination {
    /// It did not move.
    None,
    /// It may have moved.
    Unclear,
    /// It moved here.
    Place(String),
}

/// Returns the place that a file or a folder moved to.
fn destination(path: &str, moves: &[FileMove]) -> Destination {
    if let Some(file) = moves.iter().find(|file| file.from == path) {
        return if file.similarity >= SAME_FILE { Destination::Place(file.to.clone()) } else { Destination::Unclear };
    }
    let inside = |file: &&FileMove| file.from.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
    let folder = |file: &FileMove| file.to.strip_suffix(&file.from[path.len()..]).map(str::to_owned);
    let mut folders: Vec<Option<String>> = moves.iter().filter(inside).map(folder).collect();
    folders.dedup();
    match folders.as_slice() {
        [] => Destination::None,
        [Some(folder)] => Destination::Place(folder.clone()),
        _ => Destination::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_moved_if_all_of_its_moved_files_did() {
        let moved =
            |similarity, from: &str, to: &str| FileMove { similarity, from: from.to_owned(), to: to.to_owned() };
        let place = |to: &str| Destination::Place(to.to_owned());
        for (path, moves, expected) in [
            ("a/x.rs", vec![moved(100, "a/x.rs", "b/y.rs")], place("b/y.rs")),
            ("a/x.rs", vec![moved(60, "a/x.rs", "b/y.rs")], Destination::Unclear),
            ("a/x.rs", vec![moved(100, "a/x.rs.bak", "b/y.rs")], Destination::None),
            ("a", vec![moved(100, "a/x", "b/x"), moved(70, "a/c/y", "b/c/y")], place("b")),
            ("a", vec![moved(100, "a/x", "b/x"), moved(100, "a/y", "c/y")], Destination::Unclear),
            ("a", vec![moved(100, "a/x", "b/z")], Destination::Unclear),
            ("a", vec![moved(100, "ab/x", "b/x")], Destination::None),
        ] {
            assert_eq!(destination(path, &moves), expected, "{path}");
        }
    }
}
