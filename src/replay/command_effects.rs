//! What a command line does to the files of the working tree, as far as its words tell.
//!
//! Three things are known of many commands: that they change no file that has content, that they change none but those
//! they name, or what they make of the whole tree. What anything else changes is in doubt.

use crate::command_line::{Purpose, Understood, understand};
use crate::replay::case;
use crate::replay::packages::{self, within};
use crate::replay::proofs_by_package::From;
use crate::replay::simulated_repository::{World, copied_to, folder};
use crate::replay::tree_content::{Content, FileText};
use crate::repo_path::seen_from;
use crate::runner::{CommandKind, Project};
use crate::shell::expanded_program::Leaf;

/// The files that a command may change.
#[derive(Debug, PartialEq)]
enum WorkingTreeEffect {
    /// None but these.
    Files(Vec<String>),
    /// Any.
    Anything,
}

impl World {
    /// Lets a line do to the working tree what is known of it.
    pub(super) fn effects(&mut self, seq: u64, command: &case::RecordedCommand) {
        let inside = folder(&command.cwd);
        let dir = inside.as_deref().unwrap_or_default();
        let files = From(&self.tree, dir);
        let Ok(Understood { program, purposes }) = understand(&command.command, Project::without_runners(&files))
        else {
            return;
        };
        let before = self.tree.clone();
        let place = CommandPlace { dir, outside: inside.is_none(), content: &before };
        let settled = is_settled(command);
        let (mut known, mut changed) = (true, Vec::new());
        for (leaf, purpose) in program.leaves.iter().zip(&purposes) {
            if !purpose.edits || leaf.remote || settled && is_update(leaf) {
                continue;
            }
            match place.change(leaf, purpose) {
                WorkingTreeEffect::Files(files) => changed.extend(files),
                WorkingTreeEffect::Anything => {
                    known &= command.exit == Some(0) && program.leaves.len() == 1 && self.follow(leaf, dir);
                }
            }
        }
        if let Some(target) = copied_to(&command.command, &before).filter(|_| command.exit == Some(0)) {
            self.copies.insert(target, before.clone());
        }
        if !known {
            self.tree = before.clone();
            self.tree.cast_doubt(seq);
            self.before = Some((seq, before));
            return;
        }
        for (number, path) in changed.iter().enumerate() {
            self.tree.put(path, FileText::Unknown((seq << 20) + 1 + number as u64));
        }
    }

    /// Does what a command of git or the shell does to the files, where its words tell.
    fn follow(&mut self, leaf: &Leaf, dir: &str) -> bool {
        let words: Option<Vec<&str>> = leaf.argv.iter().map(|arg| arg.literal()).collect();
        let Some(words) = words else { return false };
        let head = self.content_or_empty(&self.head);
        match words.as_slice() {
            ["git", "stash"] | ["git", "stash", "push" | "save", ..] => {
                self.stash.push(self.tree.clone());
                self.tree = head;
                true
            }
            ["git", "stash", "pop" | "apply"] => match self.stash.pop() {
                Some(content) => {
                    self.tree = content;
                    true
                }
                None => false,
            },
            ["git", "reset", "--hard"] | ["git", "checkout", "--", "."] | ["git", "checkout" | "restore", "."] => {
                self.tree = head;
                true
            }
            ["git", "checkout" | "restore", "--", path] | ["git", "checkout" | "restore", path] => {
                let Some(path) = seen_from("", &packages::join(dir, path)) else { return false };
                let Some(text) = head.files.get(&path) else { return false };
                self.tree.put(&path, text.clone());
                true
            }
            // What these leave in the working tree is what was there.
            ["git", "add" | "commit" | "tag" | "fetch" | "push" | "branch" | "worktree", ..] => true,
            ["rm", paths @ ..] => {
                for path in paths.iter().filter(|path| !path.starts_with('-')) {
                    if let Some(path) = seen_from("", &packages::join(dir, path)) {
                        self.tree.remove(&path);
                    }
                }
                true
            }
            _ => false,
        }
    }
}

/// Whether a line that fetches says that there was nothing new. Nothing else in it may print such words.
fn is_settled(command: &case::RecordedCommand) -> bool {
    let says = |line: &str| {
        let line = line.trim();
        line == "Already up to date." || line.starts_with("Current branch ") && line.ends_with(" is up to date.")
    };
    command.exit == Some(0) && command.output.as_deref().is_some_and(|output| output.lines().any(says))
}

/// `git pull`, `git merge` and `git rebase`.
fn is_update(leaf: &Leaf) -> bool {
    leaf.name() == Some("git") && leaf.argv.iter().any(|arg| matches!(arg.literal(), Some("pull" | "merge" | "rebase")))
}

/// Where a line is started, and what is there.
struct CommandPlace<'a> {
    dir: &'a str,
    /// It is outside of the working tree.
    outside: bool,
    content: &'a Content,
}

/// Programs that change no file that is there and make none with content.
const EMPTY: [&str; 2] = ["mkdir", "rmdir"];
/// Programs that write nothing but their output.
const PRINTERS: [&str; 16] = [
    "echo", "printf", "cat", "head", "tail", "grep", "rg", "sort", "uniq", "cut", "tr", "wc", "jq", "diff", "ls",
    "date",
];
/// Formatters that change the files they are given, and no others.
const FORMATTERS: [&str; 8] = ["prettier", "eslint", "ruff", "black", "isort", "gofmt", "biome", "stylelint"];

impl CommandPlace<'_> {
    fn change(&self, leaf: &Leaf, purpose: &Purpose) -> WorkingTreeEffect {
        let literal: Option<Vec<&str>> = leaf.argv.iter().map(|arg| arg.literal()).collect();
        let (Some(words), Some(name)) = (literal, leaf.name()) else { return WorkingTreeEffect::Anything };
        if leaf.appended || leaf.shadowed || leaf.repeated {
            return WorkingTreeEffect::Anything;
        }
        let Some(base) = self.base(leaf) else { return WorkingTreeEffect::Anything };
        let named: Vec<&str> = words[1..].iter().copied().filter(|word| !word.starts_with('-')).collect();
        if matches!(base, PathOrigin::Outside) {
            // The root is written short, and may be meant by a path that looks relative.
            let written = leaf.writes.iter().map(|path| path.as_deref().unwrap_or(".."));
            let mut paths = named.iter().copied().chain(written);
            let meant =
                |path: &str| path.starts_with("..") || !self.outside && (path.contains('/') || looks_like_file(path));
            return if paths.any(meant) { WorkingTreeEffect::Anything } else { WorkingTreeEffect::Files(Vec::new()) };
        }
        let written: Option<Vec<String>> = leaf.writes.iter().cloned().collect();
        let Some(mut paths) = written else { return WorkingTreeEffect::Anything };
        match self.own_paths(name, &words, &named, purpose, &base) {
            Some(own) => paths.extend(own),
            None => return WorkingTreeEffect::Anything,
        }
        WorkingTreeEffect::Files(paths.iter().filter_map(|path| base.path(path)).collect())
    }

    /// Returns the folder that the relative paths of a command start from, or `None` if it is not known.
    fn base(&self, leaf: &Leaf) -> Option<PathOrigin> {
        match leaf.directory.as_ref().map(|directory| directory.path.as_deref()) {
            Some(None) => None,
            Some(Some(path)) if is_elsewhere(path) => Some(PathOrigin::Outside),
            // Up from somewhere else may be the working tree.
            Some(Some(path)) if self.outside => (!path.starts_with("..")).then_some(PathOrigin::Outside),
            Some(Some(path)) => seen_from("", &packages::join(self.dir, path)).map(PathOrigin::Folder),
            None if self.outside => Some(PathOrigin::Outside),
            None => Some(PathOrigin::Folder(self.dir.to_owned())),
        }
    }

    /// The paths that a command changes, beside those it is redirected to, or `None` if it may change any.
    fn own_paths(
        &self,
        name: &str,
        words: &[&str],
        named: &[&str],
        purpose: &Purpose,
        base: &PathOrigin,
    ) -> Option<Vec<String>> {
        let owned = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        if let Some(invocation) = &purpose.invocation {
            if !invocation.edits {
                return Some(Vec::new());
            }
            let formats = invocation.kinds.iter().all(|kind| matches!(kind, CommandKind::Format | CommandKind::Lint));
            let files: Vec<&str> = named.iter().copied().filter(|path| self.is_file(base, path)).collect();
            let known = invocation.runs.iter().any(|run| FORMATTERS.contains(&run.as_str()));
            let whole = named.iter().all(|word| self.is_file(base, word) || is_verb(word));
            return (formats && known && whole && !files.is_empty()).then(|| owned(&files));
        }
        match name {
            name if EMPTY.contains(&name) || PRINTERS.contains(&name) => Some(Vec::new()),
            "tee" => Some(owned(named)),
            // What is there keeps its content.
            "touch" => Some(owned(named).into_iter().filter(|path| !self.has(base, path)).collect()),
            "cp" | "ln" => self.copied(words, named, base),
            "mv" => {
                let (_, sources) = named.split_last()?;
                let files = sources.iter().all(|path| self.is_file(base, path));
                files.then(|| self.copied(words, named, base)).flatten().map(|mut paths| {
                    paths.extend(owned(sources));
                    paths
                })
            }
            "rm" => Some(named.iter().flat_map(|path| self.below(base, path)).collect()),
            "sed"
                if !words
                    .iter()
                    .any(|word| word.starts_with("-e") || word.starts_with("-f") || word.starts_with("--")) =>
            {
                let files = named.iter().copied().filter(|word| !word.is_empty()).collect::<Vec<_>>();
                files.split_first().map(|(_, files)| owned(files)).filter(|files| !files.is_empty())
            }
            "git" => {
                git_paths(words).map(|paths| paths.iter().flat_map(|path| self.below_or_itself(base, path)).collect())
            }
            _ => None,
        }
    }

    /// What copying single files changes.
    fn copied(&self, words: &[&str], named: &[&str], base: &PathOrigin) -> Option<Vec<String>> {
        let (target, sources) = named.split_last()?;
        if is_elsewhere(target) {
            return Some(Vec::new());
        }
        let options = || words[1..].iter().filter(|word| word.starts_with('-'));
        let simple = |option: &str| !option.starts_with("--") && !option.contains(['r', 'R', 'a', 't', 'T', 'd', 'S']);
        if sources.is_empty() || !options().all(|option| simple(option)) {
            return None;
        }
        let inside = |source: &&str| {
            let file = source.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            format!("{}/{file}", target.trim_end_matches('/'))
        };
        let folder = target.ends_with('/') || *target == "." || sources.len() > 1 || self.is_folder(base, target);
        if folder {
            return Some(sources.iter().map(inside).collect());
        }
        let mut paths = vec![(*target).to_owned()];
        // A name without an extension may be that of a folder that is not known.
        if !looks_like_file(target) && !self.has(base, target) {
            paths.extend(sources.iter().map(inside));
        }
        Some(paths)
    }

    fn is_file(&self, base: &PathOrigin, path: &str) -> bool {
        self.has(base, path) || looks_like_file(path) && !self.is_folder(base, path)
    }

    fn has(&self, base: &PathOrigin, path: &str) -> bool {
        base.path(path).is_some_and(|path| self.content.files.contains_key(&path))
    }

    fn is_folder(&self, base: &PathOrigin, path: &str) -> bool {
        base.path(path).is_some_and(|path| {
            path.is_empty() || self.content.files.keys().any(|file| *file != path && within(file, &path))
        })
    }

    /// The files that are known below a path, told from the place of the command.
    fn below(&self, base: &PathOrigin, path: &str) -> Vec<String> {
        let Some(whole) = base.path(path) else { return Vec::new() };
        let files = self.content.files.keys().filter(|file| within(file, &whole));
        files
            .map(|file| packages::join(path.trim_end_matches('/'), file[whole.len()..].trim_start_matches('/')))
            .collect()
    }

    fn below_or_itself(&self, base: &PathOrigin, path: &str) -> Vec<String> {
        let below = self.below(base, path);
        if below.is_empty() { vec![path.to_owned()] } else { below }
    }
}

/// The paths that a command of git changes in the working tree, where its words name all of them.
fn git_paths<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    match words {
        // What these leave in the working tree is what was there.
        ["git", "add" | "commit" | "tag" | "fetch" | "push" | "branch" | "worktree", ..] => Some(Vec::new()),
        ["git", "mv" | "rm", paths @ ..] if !paths.is_empty() => {
            Some(paths.iter().copied().filter(|path| !path.starts_with('-')).collect())
        }
        ["git", "checkout" | "restore", "--", paths @ ..] if !paths.is_empty() && !paths.contains(&".") => {
            Some(paths.to_vec())
        }
        _ => None,
    }
}

/// The place from which a command names files.
enum PathOrigin {
    /// A folder of the working tree.
    Folder(String),
    /// Somewhere else.
    Outside,
}

impl PathOrigin {
    /// Returns `path` relative to the root of the working tree, or `None` if it lies outside.
    fn path(&self, path: &str) -> Option<String> {
        match self {
            _ if is_elsewhere(path) => None,
            Self::Folder(dir) => seen_from("", &packages::join(dir, path)),
            Self::Outside => None,
        }
    }
}

fn is_elsewhere(path: &str) -> bool {
    path.starts_with(['/', '~', '$']) || path.as_bytes().get(1) == Some(&b':')
}

fn looks_like_file(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or_default();
    file.trim_start_matches('.').contains('.') && !file.ends_with('.')
}

/// A word that says what a formatter does.
fn is_verb(word: &str) -> bool {
    matches!(word, "format" | "check" | "lint" | "exec" | "run" | "x") || FORMATTERS.contains(&word)
}
