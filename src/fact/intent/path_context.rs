//! Where a command line starts, and what its spellings of paths mean there.

use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use super::{IntentKind, guards};
use crate::fact::client_hooks;
use crate::globs::Globs;
use crate::runner::ProjectFiles;

/// Where a command line starts, and who knows what git is told there.
pub struct PathContext<'a> {
    /// The root of the working tree, the git directory and the directory in which the line starts; `None`: not known, and
    /// paths mean what they say.
    pub dirs: Option<Dirs>,
    /// The value of a configured alias of git. Asked only for words that are not a command of git.
    pub alias: &'a dyn Fn(&str) -> Option<String>,
    /// Returns `true` if the present `core.hooksPath` leads to the hooks of gate.
    pub own_hooks_path: &'a dyn Fn() -> bool,
    /// The text of a file that a command makes a part of git's settings, or runs as a script.
    pub read: &'a dyn Fn(&str) -> Option<String>,
    /// The files that define tasks, below where the line starts.
    pub files: Option<&'a dyn ProjectFiles>,
    /// The repository whose copies push to its remotes, too.
    pub own: Option<&'a dyn GuardedRepository>,
}

/// The repository that gate guards here, as seen by pushes from its copies.
pub trait GuardedRepository {
    /// Returns `true` if one of its remotes has this URL. A path is absolute.
    fn has_remote(&self, url: &str) -> bool;

    /// Returns the URLs to which another repository at `folder` pushes, or `None` if there is no other one or the hooks of
    /// gate are installed in it.
    fn unguarded_remotes(&self, folder: &str) -> Option<Vec<String>>;
}

/// The directories that paths are resolved by.
#[derive(Clone, Debug)]
pub struct Dirs {
    /// The root of the working tree.
    pub root: PathBuf,
    /// The git directory that all working trees share.
    pub common_dir: PathBuf,
    /// Where the line starts.
    pub start: PathBuf,
}

impl PathContext<'_> {
    /// Nothing is known but the words.
    pub fn unknown() -> Self {
        Self { dirs: None, alias: &|_| None, own_hooks_path: &|| false, read: &|_| None, files: None, own: None }
    }

    /// A path of a line that went to `dir`, as seen from the root of the working tree; absolute where it lies elsewhere.
    pub fn resolve(&self, dir: Option<&str>, path: &str) -> String {
        let below = |dir: &str| format!("{}/{path}", dir.trim_end_matches('/'));
        let path = match dir {
            Some(dir) if !path.starts_with(['/', '~', '$']) && !dir.is_empty() => below(dir),
            _ => path.to_owned(),
        };
        let Some(dirs) = &self.dirs else { return path };
        if path.starts_with(['~', '$']) || path.contains('\\') || path.is_empty() {
            return path;
        }
        let full = plain(&dirs.start.join(&path));
        if let Ok(inner) = full.strip_prefix(&dirs.common_dir) {
            return Path::new(".git").join(inner).to_string_lossy().trim_end_matches('/').to_owned();
        }
        match full.strip_prefix(&dirs.root) {
            Ok(inner) if inner.as_os_str().is_empty() => ".".to_owned(),
            Ok(inner) => inner.to_string_lossy().into_owned(),
            Err(_) => full.to_string_lossy().into_owned(),
        }
    }
}

/// A path without `.` and `..`, as its text shows it.
fn plain(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                found.pop();
            }
            part => found.push(part),
        }
    }
    found
}

/// A line in which spellings that stand for a directory of the repository are those directories: `$PWD`, what
/// `git rev-parse` prints, and the files that a loop goes through. `None`: there are none of them.
pub fn spelled_out(line: &str, dirs: &Dirs) -> Option<String> {
    static ASKED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let pattern = r"(?:\$\(|`)\s*git\s+(?:-C\s+\S+\s+)?rev-parse\s+(?:--path-format=\w+\s+)?(--absolute-git-dir|--git-dir|--git-common-dir|--show-toplevel|--git-path\s+[\w./-]+)\s*(?:2>\s*/dev/null\s*)?(?:\)|`)";
        Regex::new(pattern).ok()
    });
    static HERE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\$\{PWD\}|\$PWD\b|\$\(\s*pwd(?:\s+-P)?\s*\)|`pwd`|~\+").ok());
    static LOOP: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\bfor\s+\w+\s+in\s+([^;\n]*[*?\[][^;\n]*)").ok());
    if !line.contains("PWD")
        && !line.contains("pwd")
        && !line.contains("~+")
        && !line.contains("rev-parse")
        && !line.contains("for ")
    {
        return None;
    }
    let (asked, here, loops) = (ASKED.as_ref()?, HERE.as_ref()?, LOOP.as_ref()?);
    let text = asked.replace_all(line, |found: &regex::Captures<'_>| {
        match found[1].split_whitespace().collect::<Vec<_>>()[..] {
            ["--show-toplevel"] => dirs.root.to_string_lossy().into_owned(),
            ["--git-path", below] => dirs.common_dir.join(below).to_string_lossy().into_owned(),
            _ => dirs.common_dir.to_string_lossy().into_owned(),
        }
    });
    let text = here.replace_all(&text, ".");
    let text = loops.replace_all(&text, |found: &regex::Captures<'_>| {
        let words: Vec<String> = found[1].split_whitespace().map(of_pattern).collect();
        found[0].replace(&found[1], &words.join(" "))
    });
    (text != line).then(|| text.into_owned())
}

/// A file that a pattern matches, if that guards the work; else the pattern.
fn of_pattern(word: &str) -> String {
    match guards(word) {
        Some(IntentKind::ChangesHooks) => ".git/hooks/pre-push".to_owned(),
        Some(IntentKind::ChangesRecord) => ".git/gate/journal.jsonl".to_owned(),
        _ => client_hooks::hook_files_at(word).into_iter().next().unwrap_or_else(|| word.to_owned()),
    }
}

/// The words that a word with braces stands for: `a{,.bak}` is `a` and `a.bak`.
pub fn braces(word: &str) -> Vec<String> {
    let open = word.find('{');
    let inner = open.and_then(|open| Some((open, open + word[open..].find('}')?)));
    let Some((open, close)) = inner.filter(|(open, close)| word[*open..*close].contains(',')) else {
        return vec![word.to_owned()];
    };
    let whole = |part: &str| format!("{}{part}{}", &word[..open], &word[close + 1..]);
    word[open + 1..close].split(',').flat_map(|part| braces(&whole(part))).collect()
}

/// Returns `true` if a part of a path, which may be a pattern, can be this name.
pub(super) fn is_or_matches(part: &str, name: &str) -> bool {
    part == name
        || part.contains(['*', '?', '[']) && Globs::new(&[part]).is_ok_and(|globs| globs.is_match(Path::new(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dirs(start: &str) -> Dirs {
        let path = |text: &str| PathBuf::from(text);
        Dirs { root: path("/work/shop"), common_dir: path("/work/shop/.git"), start: path(start) }
    }

    #[test]
    fn paths_are_seen_from_the_root() {
        for (start, dir, path, seen) in [
            ("/work/shop", None, ".git/hooks/pre-push", ".git/hooks/pre-push"),
            ("/work/shop/.git", None, "hooks/pre-push", ".git/hooks/pre-push"),
            ("/work/shop/.git/hooks", None, "pre-push", ".git/hooks/pre-push"),
            ("/work/shop/src", Some(".."), "gate.toml", "gate.toml"),
            ("/work/shop/src", None, "../../other/.git/hooks/x", "/work/other/.git/hooks/x"),
            ("/work/shop", Some("/work/shop/.git"), "hooks", ".git/hooks"),
            ("/work/shop", None, "~/.codex/config.toml", "~/.codex/config.toml"),
            ("/work", None, "shop", "."),
        ] {
            let from = PathContext { dirs: Some(dirs(start)), ..PathContext::unknown() };
            assert_eq!(from.resolve(dir, path), seen, "{start} {path}");
        }
    }

    #[test]
    fn spellings_that_stand_for_a_directory() {
        for (line, plain) in [
            ("rm $PWD/.git/hooks/pre-push", Some("rm ./.git/hooks/pre-push")),
            ("rm \"$(git rev-parse --git-path hooks)/x\"", Some("rm \"/work/shop/.git/hooks/x\"")),
            ("G=`git rev-parse --git-dir`; rm $G/hooks/x", Some("G=/work/shop/.git; rm $G/hooks/x")),
            ("for h in .git/hooks/*; do rm $h; done", Some("for h in .git/hooks/pre-push; do rm $h; done")),
            ("for f in src/*.rs; do cat $f; done", None),
            ("cargo test", None),
        ] {
            assert_eq!(spelled_out(line, &dirs("/work/shop")).as_deref(), plain, "{line}");
        }
        assert_eq!(braces("a{,.bak}"), ["a", "a.bak"]);
        assert_eq!(braces("{a,b}/{c,d}"), ["a/c", "a/d", "b/c", "b/d"]);
        assert_eq!(braces("{}"), ["{}"]);
    }
}
