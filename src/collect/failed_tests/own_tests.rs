//! Tests in the same file as the code that they test: `#[cfg(test)] mod tests { … }` in Rust.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::repo_path::RepoPath;

/// A module of tests, up to the closing bracket at the beginning of a line.
static MODULE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?ms)^#\[cfg\(test\)\]\s*(?:#\[[^\n]*\n\s*)*(?:pub(?:\([\w:]+\))? )?mod \w+ \{\r?$.*?^\}").ok()
});

/// Returns `true` for a file of a language in which tests stand beside the code.
pub(super) fn may_be_in(path: &RepoPath) -> bool {
    path.as_bytes().ends_with(b".rs")
}

/// Returns the modules of tests in a text of Rust.
pub(super) fn of(text: &str) -> impl Iterator<Item = &str> {
    MODULE.iter().flat_map(move |module| module.find_iter(text)).map(|found| found.as_str())
}

/// Returns the text of a file without its modules of tests.
pub(super) fn without<'t>(path: &RepoPath, text: &'t str) -> Cow<'t, str> {
    match MODULE.as_ref().filter(|_| may_be_in(path)) {
        Some(module) => module.replace_all(text, ""),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_of_tests_are_found_to_their_end() {
        let text = "fn a() {\n}\n\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n    fn t() {\n    }\n}\nfn b() {}\n#[cfg(test)]\nmod more;\n";
        assert_eq!(of(text).count(), 1);
        let rest = without(&RepoPath::from("src/a.rs"), text);
        assert_eq!(rest, "fn a() {\n}\n\n\nfn b() {}\n#[cfg(test)]\nmod more;\n");
        assert_eq!(without(&RepoPath::from("src/a.py"), text), text);
        assert_eq!(of("#[cfg(test)] mod tests {\r\n    fn t() {}\r\n}\r\n").count(), 1);
    }
}
