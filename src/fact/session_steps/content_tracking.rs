//! The content of the working tree at each step, as far as the steps show it.
//!
//! A content is a base and, by path, a version of the file. An edit whose lines are known leads from one version to
//! another, and its inverse leads back. A snapshot names the content that it saw. Anything else leads to a new base. So
//! equal names mean equal contents, but different names may, too.

use std::collections::{BTreeMap, HashMap};

use super::ContentId;
use super::command_run::SimpleRun;
use crate::digest::{hex_digest, summand};
use crate::event::{EditKind, FileEdit, GitEvent};
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// A version of a file. Versions are only compared for equality.
type Version = u32;
/// The version of a file that does not exist.
const GONE: Version = 0;
/// The length from which texts may be cut off, in bytes: equal ones may be of different edits.
const WHOLE: usize = 4_000;
/// The number of files that differ from the base at which the base is given up.
const FILES: usize = 2_000;

#[derive(Clone, Debug, Default)]
struct TrackedContent {
    base: u32,
    files: BTreeMap<RepoPath, Version>,
    /// The sum of the digests of the files.
    sum: u128,
}

impl TrackedContent {
    fn new(base: u32) -> Self {
        Self { base, ..Self::default() }
    }

    /// Sets the version of a file, or `None` for the file as it is in the base.
    fn put(&mut self, path: &RepoPath, version: Option<Version>) {
        let summand = |version: Version| summand(&[path.as_bytes(), &version.to_be_bytes()]);
        let before = match version {
            Some(version) => self.files.insert(path.clone(), version),
            None => self.files.remove(path),
        };
        self.sum = self.sum.wrapping_sub(before.map_or(0, summand)).wrapping_add(version.map_or(0, summand));
    }
}

/// A change of one version of a file: removed and added lines, as digests.
type LineChange = (RepoPath, Option<Version>, u32, String, String);

/// Follows the content along the steps.
#[derive(Debug, Default)]
pub(super) struct Contents {
    state: TrackedContent,
    name: ContentId,
    /// The name, by the key of a state.
    names: HashMap<(u32, u128), ContentId>,
    /// The tree that a snapshot saw, by name.
    trees: HashMap<ContentId, Oid>,
    /// The state that a tree was seen in.
    states: HashMap<Oid, TrackedContent>,
    /// The version that a change leads to, or `None` for the file as it is in the base.
    changes: HashMap<LineChange, Option<Version>>,
    /// The texts that were written to a path without removing anything, oldest first.
    written: HashMap<RepoPath, Vec<(String, Version)>>,
    committed: HashMap<(RepoPath, u32), Version>,
    /// The number of times that the checked-out commit has changed.
    heads: u32,
    last: u32,
}

impl Contents {
    pub(super) fn new() -> Self {
        let mut contents = Self { last: GONE, ..Self::default() };
        contents.rename();
        contents
    }

    /// Returns the current content.
    pub(super) fn now(&self) -> ContentId {
        self.name.clone()
    }

    /// Returns the name for people: the tree, for a content that a snapshot saw.
    pub(super) fn final_name(&self, name: &ContentId) -> ContentId {
        self.trees.get(name).map_or_else(|| name.clone(), |tree| ContentId(tree.as_str().to_owned()))
    }

    fn fresh(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    fn rename(&mut self) {
        let key = (self.state.base, self.state.sum);
        let next = ContentId(format!("~{}", self.names.len()));
        self.name = self.names.entry(key).or_insert(next).clone();
    }

    /// Marks the current content as unknown.
    pub(super) fn unknown(&mut self) {
        self.state = TrackedContent::new(self.fresh());
        self.rename();
    }

    /// Sets the current content to the tree that a snapshot saw.
    pub(super) fn seen(&mut self, tree: &Oid) {
        if self.trees.get(&self.name) == Some(tree) {
            return;
        }
        if let Some(known) = self.states.get(tree) {
            self.state = known.clone();
        } else {
            if self.trees.contains_key(&self.name) {
                // It is not what it was taken for: something changed that nobody reported.
                self.state = TrackedContent::new(self.fresh());
            }
            self.states.insert(tree.clone(), self.state.clone());
        }
        self.rename();
        self.trees.insert(self.name.clone(), tree.clone());
    }

    /// Applies edits by a tool of the client.
    pub(super) fn edited(&mut self, edits: &[FileEdit]) {
        for edit in edits.iter().filter(|edit| !edit.path.as_bytes().starts_with(b"/")) {
            let version = self.version_after(edit);
            self.set(&edit.path, version);
        }
        self.rename();
    }

    /// Returns the version after an edit, or `None` for the file as it is in the base.
    fn version_after(&mut self, edit: &FileEdit) -> Option<Version> {
        if edit.how == EditKind::Deleted {
            return Some(GONE);
        }
        let whole = |text: &str| text.len() < WHOLE && !text.ends_with('…');
        if edit.removed == edit.added || !whole(&edit.removed) || !whole(&edit.added) {
            return Some(self.fresh());
        }
        let (removed, added) = (hex_digest(&[edit.removed.as_bytes()]), hex_digest(&[edit.added.as_bytes()]));
        let now = self.state.files.get(&edit.path).copied();
        let change = (edit.path.clone(), now, self.state.base, removed.clone(), added.clone());
        if let Some(known) = self.changes.get(&change) {
            return *known;
        }
        // A tool that writes whole files may not say what was there before. Written, written otherwise, and written
        // again as at first: it is what it was.
        let same = self.written.get(&edit.path).filter(|_| edit.removed.is_empty()).and_then(|texts| {
            let (_, current) = texts.iter().rfind(|(_, version)| Some(*version) == now)?;
            let earlier = texts.iter().find(|(text, _)| *text == added)?;
            (earlier.1 != *current).then_some(earlier.1)
        });
        let version = same.unwrap_or_else(|| self.fresh());
        if edit.removed.is_empty() {
            self.written.entry(edit.path.clone()).or_default().push((added.clone(), version));
        }
        let back = (edit.path.clone(), Some(version), self.state.base, added, removed);
        self.changes.insert(back, now);
        self.changes.insert(change, Some(version));
        Some(version)
    }

    fn set(&mut self, path: &RepoPath, version: Option<Version>) {
        self.state.put(path, version);
        if self.state.files.len() > FILES {
            self.state = TrackedContent::new(self.fresh());
        }
    }

    /// Applies a command of a line that was started in `dir` (`None` if it is unknown).
    pub(super) fn ran(&mut self, command: &SimpleRun, dir: Option<&RepoPath>) {
        match effect(command, dir) {
            Some(FileEffect::Gone(paths)) => paths.iter().for_each(|path| self.set(path, Some(GONE))),
            Some(FileEffect::AsCommitted(paths)) => {
                for path in paths {
                    let key = (path.clone(), self.heads);
                    let version = if let Some(known) = self.committed.get(&key) { *known } else { self.fresh() };
                    self.committed.insert(key, version);
                    self.set(&path, Some(version));
                }
            }
            None => return self.unknown(),
        }
        self.rename();
    }

    /// Applies an event of git that moved a ref.
    pub(super) fn moved(&mut self, event: &GitEvent) {
        let word = event.action.split(' ').next().unwrap_or_default();
        let changes = match word {
            "commit" => {
                self.heads += 1;
                event.action == "commit (merge)"
            }
            "push" | "fetch" | "branch" | "update" | "remote" | "clone" => return,
            _ => event.old.is_none() || event.old != event.new,
        };
        if changes {
            self.heads += 1;
            self.unknown();
        }
    }
}

/// The effect of a command on files, if its words show it completely.
enum FileEffect {
    Gone(Vec<RepoPath>),
    AsCommitted(Vec<RepoPath>),
}

fn effect(command: &SimpleRun, dir: Option<&RepoPath>) -> Option<FileEffect> {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    if !command.writes.is_empty() || !words.iter().all(|word| !word.contains(['*', '?', '[', '…', '$', '~'])) {
        return None;
    }
    let named = |words: &[&str]| -> Option<Vec<RepoPath>> {
        let paths = words.iter().filter(|word| !word.starts_with('-'));
        paths.map(|word| place(dir, command.dir.as_deref(), word)).collect::<Option<Vec<_>>>()
    };
    let (as_git, rest) = match words.as_slice() {
        ["git", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let paths = match (as_git, rest) {
        (_, ["rm", rest @ ..]) | (false, ["unlink", rest @ ..]) => {
            // Of a folder, the files are not known.
            let folders = rest.iter().any(|word| word.starts_with('-') && word.contains(['r', 'R']));
            return named(rest).filter(|paths| !folders && !paths.is_empty()).map(FileEffect::Gone);
        }
        (true, ["checkout", "--", rest @ ..] | ["checkout", "HEAD", "--", rest @ ..]) => named(rest)?,
        (true, ["restore", rest @ ..]) if !rest.iter().any(|word| word.starts_with('-')) => named(rest)?,
        _ => return None,
    };
    let files = !paths.is_empty() && paths.iter().all(|path| !path.as_bytes().is_empty());
    files.then_some(FileEffect::AsCommitted(paths))
}

/// Returns the path that a word means, or `None` if it is unknown or outside of the working tree.
pub(super) fn place(dir: Option<&RepoPath>, below: Option<&str>, word: &str) -> Option<RepoPath> {
    let start = String::from_utf8(dir?.as_bytes().to_vec()).ok()?;
    let below = below.unwrap_or_default();
    if word.starts_with('/') || below.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in start.split('/').chain(below.split('/')).chain(word.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(RepoPath::from(parts.join("/").as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(path: &str, removed: &str, added: &str) -> FileEdit {
        FileEdit {
            path: RepoPath::from(path),
            how: EditKind::Written,
            removed: removed.to_owned(),
            added: added.to_owned(),
        }
    }

    fn names(edits: &[FileEdit]) -> Vec<String> {
        let mut contents = Contents::new();
        let mut names = vec![contents.now().as_str().to_owned()];
        for edit in edits {
            contents.edited(std::slice::from_ref(edit));
            names.push(contents.now().as_str().to_owned());
        }
        names
    }

    fn tree(digit: char) -> Oid {
        digit.to_string().repeat(40).parse().unwrap()
    }

    #[test]
    fn an_edit_and_its_inverse_come_back() {
        let there = edit("a", "1", "2");
        let back = edit("a", "2", "1");
        let other = edit("b", "x", "y");
        let found = names(&[there.clone(), back.clone(), there.clone(), other, back.clone(), there]);
        assert_eq!((&found[0], &found[1]), (&found[2], &found[3]), "{found:?}");
        assert_ne!(found[0], found[1]);
        assert_ne!(found[3], found[4]);
        assert_eq!(found[6], found[4], "{found:?}");
        assert!(!found[..4].contains(&found[5]), "the other file is still edited");
    }

    #[test]
    fn what_is_not_known_is_new_each_time() {
        let unknown = edit("a", "", "");
        let long = edit("a", &"x".repeat(WHOLE), "y");
        for edits in [vec![unknown.clone(), unknown], vec![long.clone(), long]] {
            let found = names(&edits);
            assert_ne!(found[1], found[2]);
        }
    }

    #[test]
    fn whole_files_written_in_turn() {
        let (one, two) = (edit("a", "", "one"), edit("a", "", "two"));
        let found = names(&[one.clone(), two.clone(), one.clone(), two, one.clone(), one]);
        assert_eq!(found[1], found[3], "{found:?}");
        assert_eq!(found[2], found[4]);
        assert_eq!(found[1], found[5]);
        assert_ne!(found[5], found[6], "it may have been added twice");
    }

    #[test]
    fn snapshots_name_contents_and_find_unreported_edits() {
        let mut contents = Contents::new();
        let start = contents.now();
        contents.seen(&tree('a'));
        assert_eq!(contents.now(), start, "it was looked at, and is what it was");
        contents.edited(&[edit("f", "1", "2")]);
        contents.seen(&tree('b'));
        let edited = contents.now();
        contents.seen(&tree('c'));
        assert_ne!(contents.now(), edited, "somebody changed something");
        contents.seen(&tree('b'));
        assert_eq!(contents.now(), edited);
        contents.edited(&[edit("f", "2", "1")]);
        contents.seen(&tree('a'));
        assert_eq!(contents.final_name(&contents.now()).as_str(), tree('a').as_str());
        assert_eq!(contents.now(), start);
    }

    fn command(words: &[&str]) -> SimpleRun {
        SimpleRun { words: words.iter().map(|&word| word.to_owned()).collect(), edits: true, ..SimpleRun::default() }
    }

    #[test]
    fn commands_with_a_known_effect() {
        let root = RepoPath::default();
        let mut contents = Contents::new();
        contents.ran(&command(&["git", "checkout", "--", "f"]), Some(&root));
        let committed = contents.now();
        contents.edited(&[edit("f", "1", "2")]);
        let edited = contents.now();
        assert_ne!(edited, committed);
        contents.ran(&command(&["git", "restore", "f"]), Some(&root));
        assert_eq!(contents.now(), committed);
        contents.edited(&[edit("f", "1", "2")]);
        assert_eq!(contents.now(), edited);
        contents.ran(&command(&["rm", "-f", "f"]), Some(&root));
        let gone = contents.now();
        contents.ran(&command(&["git", "checkout", "--", "f"]), Some(&root));
        assert_eq!(contents.now(), committed);
        contents.ran(&command(&["git", "rm", "f"]), Some(&root));
        assert_eq!(contents.now(), gone);
        contents.ran(&command(&["sed", "-i", "s/a/b/", "f"]), Some(&root));
        let edited = contents.now();
        contents.ran(&command(&["sed", "-i", "s/a/b/", "f"]), Some(&root));
        assert_ne!(contents.now(), edited);
        for words in [&["rm", "-rf", "d"][..], &["rm", "*.o"], &["git", "restore", "--source=x", "f"], &["rm", "/x"]] {
            let before = contents.now();
            contents.ran(&command(words), Some(&root));
            assert_ne!(contents.now(), before, "{words:?}");
        }
    }

    #[test]
    fn commits_keep_the_content_and_other_movements_do_not() {
        let moved = |action: &str, new: char| GitEvent {
            action: action.to_owned(),
            reference: "HEAD".to_owned(),
            old: Some(tree('a')),
            new: Some(tree(new)),
            message: String::new(),
        };
        for (action, new, same) in [
            ("commit", 'b', true),
            ("commit (amend)", 'b', true),
            ("push", 'b', true),
            ("checkout", 'a', true),
            ("checkout", 'b', false),
            ("rebase (pick)", 'b', false),
            ("commit (merge)", 'b', false),
            ("reset", 'b', false),
        ] {
            let mut contents = Contents::new();
            let before = contents.now();
            contents.moved(&moved(action, new));
            assert_eq!(contents.now() == before, same, "{action}");
        }
    }

    #[test]
    fn places() {
        let dir = RepoPath::from("web");
        for (dir, below, word, expected) in [
            (Some(&dir), None, "a.ts", Some("web/a.ts")),
            (Some(&dir), Some("src"), "./a.ts", Some("web/src/a.ts")),
            (Some(&dir), None, "../a", Some("a")),
            (Some(&dir), None, "../../a", None),
            (Some(&dir), None, "/etc/x", None),
            (None, None, "a", None),
        ] {
            assert_eq!(place(dir, below, word), expected.map(RepoPath::from), "{word}");
        }
    }
}
