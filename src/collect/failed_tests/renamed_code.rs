//! Names that a change gave to code: a test of that code uses them, and is the same test.

use std::collections::BTreeSet;

use super::code_changes::CodeChange;
use super::same_test::has_same_body;
use super::test_words::hides_more;
use super::words;
use crate::fact::weakening::{DeclaredTest, defined_names, definitions};

/// The names that are defined no more, and those that are defined now.
#[derive(Clone, Debug, Default)]
pub(super) struct NewNames {
    gone: BTreeSet<String>,
    new: BTreeSet<String>,
}

impl NewNames {
    /// Reads the changes that led to one content, each from another start.
    pub(super) fn of(changes: &[Vec<CodeChange>]) -> Self {
        let mut names = Self::default();
        for change in changes {
            let old = change.iter().flat_map(|file| defined_names(&file.path, &file.old)).collect();
            let new = change.iter().flat_map(|file| defined_names(&file.path, &file.new)).collect();
            names.add(&old, &new);
        }
        let now: Vec<String> = changes.iter().flatten().flat_map(|file| defined_names(&file.path, &file.new)).collect();
        names.gone.retain(|name| !now.contains(name));
        names
    }

    /// Adds the names of a file of tests and its helpers.
    pub(super) fn with(mut self, old: &str, new: &str) -> Self {
        let of = |text: &str| definitions(text).into_iter().collect();
        self.add(&of(old), &of(new));
        self
    }

    fn add(&mut self, old: &BTreeSet<String>, new: &BTreeSet<String>) {
        self.gone.extend(old.difference(new).cloned());
        self.new.extend(new.difference(old).cloned());
    }

    /// Returns `true` if two tests differ in little more than their name, layout, and the names of the code.
    pub(super) fn is_same_test(&self, old: &DeclaredTest, new: &DeclaredTest) -> bool {
        let is_same = |old: &DeclaredTest| has_same_body(old, new) && !hides_more(old, new);
        is_same(old) || self.put_into(old, new).is_some_and(|old| is_same(&old))
    }

    /// Returns the old test with the new names that `new` uses, in the order in which both use them.
    pub(super) fn put_into(&self, old: &DeclaredTest, new: &DeclaredTest) -> Option<DeclaredTest> {
        let ((name, was), (_, is)) = (parts(old), parts(new));
        let only_in = |one: &str, other: &str, wanted: &BTreeSet<String>| {
            let known: BTreeSet<&str> = words(other).collect();
            let mut found: Vec<String> = Vec::new();
            for word in words(one).filter(|word| wanted.contains(*word) && !known.contains(word)) {
                if !found.iter().any(|one| one == word) {
                    found.push(word.to_owned());
                }
            }
            found
        };
        let (gone, came) = (only_in(was, is, &self.gone), only_in(is, was, &self.new));
        if gone.is_empty() || gone.len() != came.len() {
            return None;
        }
        let mut body = name.to_owned();
        let mut rest = was;
        while let Some(start) = rest.find(is_of_word) {
            let word = rest[start..].split(|c| !is_of_word(c)).next().unwrap_or_default();
            let put = gone.iter().position(|one| one == word).map_or(word, |at| came[at].as_str());
            body.push_str(&rest[..start]);
            body.push_str(put);
            rest = &rest[start + word.len()..];
        }
        body.push_str(rest);
        Some(DeclaredTest { body, ..old.clone() })
    }

    /// Returns `true` if all code that a test names and that has another name now is the same apart from that name.
    pub(super) fn has_same_code(&self, body: &str, changes: &[Vec<CodeChange>]) -> bool {
        let is_renamed = |change: &[CodeChange], old: &str, new: &str| {
            let one = |side: fn(&CodeChange) -> &str, name: &str| {
                change.iter().find_map(|file| definition_of(side(file), name, new))
            };
            one(|file| &file.old, old).is_some_and(|was| one(|file| &file.new, new) == Some(was))
        };
        let mut gone = words(body).filter(|word| self.gone.contains(*word));
        gone.all(|old| changes.iter().any(|change| self.new.iter().any(|new| is_renamed(change, old, new))))
    }
}

/// Returns the lines of a definition without blanks, and with another name in place of its own.
fn definition_of(text: &str, name: &str, put: &str) -> Option<Vec<String>> {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.find(|line| line.contains(name) && definitions(line).iter().any(|known| known == name))?;
    let inside = lines.take_while(|line| depth(line) > depth(first));
    let with_name = |line: &str| {
        let parts = line.trim().split_inclusive(|c| !is_of_word(c));
        let parts = parts.map(|part| match part.strip_prefix(name) {
            Some(rest) if !rest.starts_with(is_of_word) => format!("{put}{rest}"),
            _ => part.to_owned(),
        });
        parts.collect::<String>()
    };
    Some(std::iter::once(first).chain(inside).map(with_name).collect())
}

/// Returns the name with which the code of a test begins, if it is not a string, and the rest.
fn parts(test: &DeclaredTest) -> (&str, &str) {
    if test.body.starts_with(&test.name) { test.body.split_at(test.name.len()) } else { ("", &test.body) }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo_path::RepoPath;

    /// Two tests with bodies in Python, after the code changed from `old` to `new`.
    fn is_same(old: &str, new: &str, body: &str, now: &str) -> bool {
        let change = |old: &str, new: &str| {
            vec![CodeChange { path: RepoPath::from("keys.py"), old: old.to_owned(), new: new.to_owned() }]
        };
        let test = |name: &str, body: &str| DeclaredTest {
            name: name.to_owned(),
            body: format!("{name}():\n    {body}\n"),
            ..DeclaredTest::default()
        };
        NewNames::of(&[change(old, new)]).is_same_test(&test("test_typed", body), &test("test_new", now))
    }

    #[test]
    fn a_test_whose_callee_has_a_new_name_is_the_same_test() {
        let (old, new) = ("def typed(x):\n    return x\n", "def typed_key(x):\n    return x\n");
        let both = "def typed(x):\n    return x\n\ndef typed_key(x):\n    return 3\n";
        let (class, renamed) = ("class Mru:\n    def get(self):\n", "class Lru:\n    def read(self):\n");
        for (old, new, body, now, same) in [
            (old, new, "assert typed(1) == 3", "assert typed_key(1) == 3", true),
            (old, new, "x = typed(1)\n    assert x == 3", "x = typed_key(1)\n    assert x == 3", true),
            (class, renamed, "assert Mru(1).get() == 3", "assert Lru(1).read() == 3", true),
            // What it expects has changed, or what it calls was not renamed.
            (old, new, "assert typed(1) == 3", "assert typed_key(1) == 4", false),
            (old, new, "assert typed(1) == 3", "assert typed_key is not None", false),
            (old, new, "assert typed(1) == 3", "pass", false),
            (old, new, "assert typed(1) == 3", "assert other(1) == 3", false),
            (old, both, "assert typed(1) == 3", "assert typed_key(1) == 3", false),
            (new, new, "assert typed(1) == 3", "assert typed_key(1) == 3", false),
            (old, "", "assert typed(1) == 3", "assert typed_key(1) == 3", false),
            // Two names became one.
            (class, renamed, "assert Mru(1).get() == 3", "assert Lru(1).Lru() == 3", false),
        ] {
            assert_eq!(is_same(old, new, body, now), same, "{now}");
        }
    }

    #[test]
    fn code_with_another_name_may_be_other_code() {
        let old = "def add(a, b):\n    return add(a - b, 0)\n\ndef adder():\n    pass\n";
        for (new, same) in [
            (old.replace("def add(", "def plus(").replace(" add(", " plus("), true),
            (format!("import os\n\n{}", old.replace("def add(", "def plus(").replace(" add(", " plus(")), true),
            ("def plus(a, b):\n    return a + b\n".to_owned(), false),
            (old.replace("def add(", "def plus("), false),
        ] {
            let change = CodeChange { path: RepoPath::from("calc.py"), old: old.to_owned(), new };
            let changes = [vec![change]];
            assert_eq!(NewNames::of(&changes).has_same_code("assert add(1, 2) == 3", &changes), same, "{changes:?}");
        }
    }
}
