//! The words of a call as the program gets them: names in the place of patterns, and paths from the root.

use globset::GlobBuilder;

use super::start_directory::{DirectoryView, StartDirectory};
use crate::runner::ProjectFiles;
use crate::shell::expanded_program::Leaf;

/// The largest number of names that one pattern stands for.
const MAX_NAMES: usize = 1_000;

/// Returns the words of a call in a directory. A pattern that is not understood, or that matches nothing, stays as it is.
pub(super) fn words_of(leaf: &Leaf, directory: &str, place: StartDirectory<'_>) -> Vec<String> {
    let view = DirectoryView(StartDirectory { start: directory, ..place });
    let mut words = Vec::new();
    for arg in &leaf.argv {
        let word = seen_from_root(&arg.text, directory, place.root);
        match if arg.pattern && !leaf.remote { matching(&word, &view) } else { None } {
            Some(names) => words.extend(names),
            None => words.push(word),
        }
    }
    words
}

/// Returns the sorted paths that a pattern stands for, or `None` if it is not understood or there are none.
fn matching(pattern: &str, files: &dyn ProjectFiles) -> Option<Vec<String>> {
    if pattern.starts_with(['/', '~']) || pattern.contains("**") || pattern.contains(['(', '{', '\\', '^', '#']) {
        return None;
    }
    let mut found = vec![String::new()];
    let parts: Vec<&str> = pattern.split('/').collect();
    for (at, part) in parts.iter().enumerate() {
        let is_last = at + 1 == parts.len();
        let mut next = Vec::new();
        if !part.contains(['*', '?', '[']) {
            let sign = if is_last { "" } else { "/" };
            next.extend(found.iter().map(|start| format!("{start}{part}{sign}")));
            found = next;
            continue;
        }
        let glob = GlobBuilder::new(part).build().ok()?.compile_matcher();
        for start in &found {
            let names = files.names(start.trim_start_matches("./").trim_end_matches('/'))?;
            let is_meant = |name: &&str| glob.is_match(name) && (!name.starts_with('.') || part.starts_with('.'));
            let plain = names.iter().filter(|name| is_last || name.ends_with('/'));
            let matched = plain.map(|name| name.trim_end_matches('/')).filter(is_meant);
            next.extend(matched.map(|name| if is_last { format!("{start}{name}") } else { format!("{start}{name}/") }));
        }
        next.sort();
        found = next;
        if found.len() > MAX_NAMES {
            return None;
        }
    }
    let last = parts.last()?;
    found.retain(|path| last.contains(['*', '?', '[']) || files.has(path));
    (!found.is_empty()).then_some(found)
}

/// Returns a word as it is written at the root of the working tree, where a command that starts there names a path below it
/// from `/`.
fn seen_from_root(word: &str, directory: &str, root: Option<&str>) -> String {
    if let Some((option, value)) = word.split_once('=').filter(|(option, _)| option.starts_with("--")) {
        return format!("{option}={}", seen_from_root(value, directory, root));
    }
    let below = root.filter(|_| directory.is_empty()).and_then(|root| word.strip_prefix(root.trim_end_matches('/')));
    match below {
        Some("" | "/") => ".".to_owned(),
        Some(path) if path.starts_with('/') => format!(".{path}"),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::command_line::coverage::tests::TaskFiles;

    #[test]
    fn patterns_stand_for_names() {
        let files = ["a.js", "test/a.js", "test/b.js", "test/.c.js", "test/sub/d.js", "test/b.txt", "lib/test/e.js"];
        let files = TaskFiles(BTreeMap::from(files.map(|path| (path, ""))));
        for (pattern, expected) in [
            ("test/*.js", "test/a.js test/b.js"),
            ("./test/?.js", "./test/a.js ./test/b.js"),
            ("test/[!a].js", "test/b.js"),
            ("*/*.js", "test/a.js test/b.js"),
            ("*/test/*.js", "lib/test/e.js"),
            ("*/a.js", "test/a.js"),
            ("test/s*", "test/sub"),
            ("test/x*", ""),
            ("test/**", ""),
            ("test/{a,b}*", ""),
        ] {
            assert_eq!(matching(pattern, &files).unwrap_or_default().join(" "), expected, "{pattern}");
        }
    }
}
