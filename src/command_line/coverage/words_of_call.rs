//! The words of a call as the program gets them: names in the place of patterns, and paths from the root.

use super::script_call::{first_line, interpreter};
use super::start_directory::{DirectoryView, StartDirectory};
use crate::runner::glob_expansion::{self, is_pattern};
use crate::runner::invocation::{MatchedRunner, expands_patterns, find};
use crate::runner::{Catalogue, ProjectFiles};
use crate::shell::expanded_program::Leaf;

/// Returns the words of a call in a directory. A pattern that is not understood, or that matches nothing, stays as it is.
pub(super) fn words_of(leaf: &Leaf, directory: &str, place: StartDirectory<'_>) -> Vec<String> {
    let view = DirectoryView(StartDirectory { start: directory, ..place });
    let expands = || expands_patterns(place.project.runners, &leaf.words());
    let mut words = Vec::new();
    for arg in &leaf.argv {
        let word = seen_from_root(&arg.text, directory, place.root);
        let is_pattern = arg.pattern || !word.starts_with('-') && word.contains('*') && expands();
        match if is_pattern && !leaf.remote { matching(&word, arg.pattern, &view) } else { None } {
            Some(names) => words.extend(names),
            None => words.push(word),
        }
    }
    if leaf.remote { words } else { with_interpreter(words, &view) }
}

/// Removes the variables from a call of make whose values choose nothing, and returns them: `make test CC=gcc` is
/// `CC=gcc make test`.
pub(super) fn take_neutral_values(words: &mut Vec<Option<String>>, catalogue: &Catalogue) -> Vec<(String, String)> {
    let sets_variables = |found: MatchedRunner<'_>| found.runner.task.as_ref().is_some_and(|rules| rules.several);
    if !find(catalogue, words).is_some_and(sets_variables) {
        return Vec::new();
    }
    let is_neutral =
        |word: &mut Option<String>| word.as_ref().is_some_and(|word| catalogue.names().has_neutral_value(word));
    let taken = words.extract_if(.., is_neutral).flatten();
    taken.filter_map(|word| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))).collect()
}

/// Returns a call of a Python script with its interpreter in front, and without `./`: `./manage.py test` is
/// `python manage.py test`.
fn with_interpreter(mut words: Vec<String>, files: &dyn ProjectFiles) -> Vec<String> {
    let is_python = |path: &&str| path.rsplit_once('.').is_some_and(|(_, ending)| ending == "py");
    let script = |word: &String| word.strip_prefix("./").filter(is_python).map(str::to_owned);
    let Some(program) = words.first() else { return words };
    if let Some(path) = script(program) {
        if files.read(&path).is_some_and(|text| first_line(&text) == ["python"]) {
            words.splice(..1, ["python".to_owned(), path]);
        }
    } else if interpreter(program).as_deref() == Some("python")
        && let Some(path) = words.get(1).and_then(script)
    {
        words[1] = path;
    }
    words
}

/// Returns the sorted paths that a pattern stands for, or `None` if it is not understood or there are none. Shells differ
/// about `**`; programs look into all folders.
fn matching(pattern: &str, by_shell: bool, files: &dyn ProjectFiles) -> Option<Vec<String>> {
    let is_clear = !by_shell || !pattern.contains("**");
    if !is_clear || pattern.starts_with(['/', '~']) || pattern.contains(['(', '{', '\\', '^', '#']) {
        return None;
    }
    let expanded = glob_expansion::expand_recursively(pattern, |folder| files.names(folder));
    let mut found = expanded.filter(|found| !found.cut)?.paths;
    if !is_pattern(pattern.rsplit('/').next()?) {
        found.retain(|path| files.has(path));
    }
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
        let files = ["a.js", "test/a.js", "test/b.js", "test/b.txt", "lib/test/e.js"];
        let files = TaskFiles(BTreeMap::from(files.map(|path| (path, ""))));
        for (pattern, by_shell, expected) in [
            ("test/*.js", true, "test/a.js test/b.js"),
            ("*/a.js", true, "test/a.js"),
            ("test/x*", true, ""),
            ("**/*.js", true, ""),
            ("**/*.js", false, "a.js lib/test/e.js test/a.js test/b.js"),
            ("test/{a,b}*", true, ""),
        ] {
            assert_eq!(matching(pattern, by_shell, &files).unwrap_or_default().join(" "), expected, "{pattern}");
        }
    }
}
