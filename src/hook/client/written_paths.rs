//! The files of the working tree that a path of a command line stands for.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::command_line;
use crate::globs::Globs;
use crate::repo_path::RepoPath;
use crate::runner::glob_expansion::{self, is_pattern};
use crate::shell::expanded_program::Leaf;

/// The largest number of files that a pattern stands for.
const MAX_FILES: usize = 64;

/// Returns the paths that a word stands for, seen from the root: itself, or the files that it matches as a pattern. A word
/// that is not a file is a path only if the command can make it.
pub(super) fn named(root: &Path, word: &str, made: bool) -> Vec<String> {
    let is_there = |path: &str| fs::symlink_metadata(root.join(path)).is_ok();
    if is_there(word) || !is_pattern(word) {
        return if made || is_there(word) { vec![word.to_owned()] } else { Vec::new() };
    }
    let found = glob_expansion::expand(word, |folder| Some(names(root, folder))).unwrap_or_default();
    found.paths.into_iter().filter(|path| is_there(path)).take(MAX_FILES).collect()
}

/// Returns the names in a folder; those of folders, and of links to folders, end in `/`.
fn names(root: &Path, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
    let name = |entry: fs::DirEntry| {
        let sign = if entry.path().is_dir() { "/" } else { "" };
        format!("{}{sign}", entry.file_name().to_string_lossy())
    };
    entries.map(name).collect()
}

/// Returns the place to which a path leads through links, seen from the root; absolute where that is elsewhere. A command
/// that writes into a file follows a link in its place, too; one that removes it does not.
pub(super) fn real(root: &Path, path: &str, follows: bool) -> Option<String> {
    if path.starts_with(['~', '$']) {
        return None;
    }
    let real_root = root.canonicalize().ok()?;
    let mut place = root.join(path);
    let mut rest: Vec<PathBuf> = Vec::new();
    if !follows {
        let name = place.file_name()?.into();
        place.pop();
        rest.push(name);
    }
    let found = loop {
        match place.canonicalize() {
            Ok(found) => break found,
            Err(_) => match place.components().next_back()? {
                Component::Normal(name) => {
                    // A link to nothing yet leads somewhere all the same.
                    match fs::read_link(&place) {
                        Ok(target) if rest.len() < MAX_FILES => {
                            place.pop();
                            place.push(target);
                            rest.push(PathBuf::new());
                        }
                        _ => {
                            rest.push(name.into());
                            place.pop();
                        }
                    }
                }
                _ => return Some(path.to_owned()),
            },
        }
    };
    let whole =
        rest.iter().rev().fold(found, |place, part| if part.as_os_str().is_empty() { place } else { place.join(part) });
    let inner = whole.strip_prefix(&real_root).unwrap_or(&whole);
    Some(inner.to_string_lossy().into_owned())
}

/// Returns a path of a file that stands for a path: for a folder, a file in it.
pub(super) fn whole(root: &Path, path: &str) -> RepoPath {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    let place: PathBuf = root.join(path);
    if !place.is_dir() {
        return RepoPath::from(path);
    }
    let file = fs::read_dir(&place).ok().and_then(|mut entries| entries.next()?.ok());
    let name = file.map_or_else(|| "new".to_owned(), |entry| entry.file_name().to_string_lossy().into_owned());
    RepoPath::from(format!("{path}/{name}").as_str())
}

/// A search whose results are changed: `find src -name '*.py' -delete`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Search {
    starts: Vec<String>,
    names: Vec<String>,
}

impl Search {
    /// Returns the search of a command that deletes what `find` finds, or changes each of it.
    pub(super) fn of(leaf: &Leaf) -> Option<Self> {
        let deletes = leaf.name() == Some("find") && leaf.argv.iter().any(|arg| arg.text == "-delete");
        if deletes {
            return Some(Self::in_words(leaf.argv[1..].iter().map(|arg| arg.text.as_str())));
        }
        let executes = leaf.wrappers.iter().any(|wrapper| wrapper == "find -exec");
        if !executes || command_line::written_files(leaf).is_none_or(|files| !files.takes_more) {
            return None;
        }
        let words = leaf.text.split_whitespace().skip_while(|word| !word.ends_with("find")).skip(1);
        Some(Self::in_words(words.map(|word| word.trim_matches(['"', '\'']))))
    }

    fn in_words<'w>(words: impl Iterator<Item = &'w str>) -> Self {
        let (mut starts, mut names, mut is_test) = (Vec::new(), Vec::new(), false);
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            is_test |= word.starts_with(['-', '(', '!', '\\']);
            if !is_test {
                starts.push(word.to_owned());
            } else if word == "-name" || word == "-iname" {
                names.extend(words.next().map(str::to_owned));
            }
        }
        if starts.is_empty() {
            starts.push(".".to_owned());
        }
        Self { starts, names }
    }

    /// Returns `true` if it may find a file. `resolve` returns the place of a start, seen from the root.
    pub(super) fn finds(&self, file: &str, resolve: impl Fn(&str) -> String) -> bool {
        let below = |start: &str| {
            let start = resolve(start);
            start == "." || file == start || file.strip_prefix(&start).is_some_and(|rest| rest.starts_with('/'))
        };
        let name = Path::new(file.rsplit('/').next().unwrap_or(file));
        let is_named = |glob: &String| Globs::new(&[glob.as_str()]).is_ok_and(|globs| globs.is_match(name));
        (self.names.is_empty() || self.names.iter().any(is_named)) && self.starts.iter().any(|start| below(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_files() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("src/in")).unwrap();
        for file in ["src/a.py", "src/b.py", "src/.c.py", "src/in/d.py"] {
            fs::write(root.join(file), "").unwrap();
        }
        for (word, made, found) in [
            ("src/*.py", false, &["src/a.py", "src/b.py"][..]),
            ("*/in/*.py", false, &["src/in/d.py"]),
            ("*/none.py", false, &[]),
            ("src/new.py", true, &["src/new.py"]),
            ("src/new.py", false, &[]),
            ("src/a.py", false, &["src/a.py"]),
        ] {
            assert_eq!(named(root, word, made), found, "{word}");
        }
    }

    #[test]
    fn links_lead_to_the_file_that_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let link = |target: &str, at: &str| std::os::unix::fs::symlink(target, root.join(at)).unwrap();
        fs::create_dir_all(root.join("src")).unwrap();
        fs::create_dir_all(root.join("tests")).unwrap();
        fs::write(root.join("src/a.py"), "").unwrap();
        link("../src", "tests/link");
        link("../src/a.py", "tests/a.py");
        link("../src/new.py", "tests/nothing.py");
        link("/tmp", "tests/out");
        link("loop", "tests/loop");
        for (path, follows, found) in [
            ("tests/link/a.py", true, "src/a.py"),
            ("tests/link/new/b.py", true, "src/new/b.py"),
            ("tests/link/a.py", false, "src/a.py"),
            ("tests/a.py", true, "src/a.py"),
            ("tests/a.py", false, "tests/a.py"),
            ("tests/nothing.py", true, "src/new.py"),
            ("tests/b.py", true, "tests/b.py"),
            ("tests/link", false, "tests/link"),
        ] {
            assert_eq!(real(root, path, follows).as_deref(), Some(found), "{path} {follows}");
        }
        assert!(real(root, "tests/out/x", true).is_some_and(|path| path.starts_with('/')));
        assert!(real(root, "tests/loop", true).is_some());
    }

    #[test]
    fn what_a_search_finds() {
        let search = |words: &str| Search::in_words(words.split_whitespace());
        let found = |words: &str, file: &str| search(words).finds(file, |start| start.trim_end_matches('/').to_owned());
        for (words, file, finds) in [
            ("src -name *.py -delete", "src/in/a.py", true),
            ("src -name *.py -delete", "src/a.rs", false),
            ("src -name *.py -delete", "tests/a.py", false),
            (". -name *.pyc -delete", "src/a.py", false),
            (". -delete", "src/a.py", true),
            ("-delete", "src/a.py", true),
            ("src tests/ -type f -delete", "tests/a.py", true),
        ] {
            assert_eq!(found(words, file), finds, "{words} {file}");
        }
    }
}
