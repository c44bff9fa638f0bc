//! A test that was written again in other words: it calls the same code with the same values.

use std::collections::BTreeSet;
use std::ops::Range;

use super::changed_tests::{ChangedTests, TestFileChange};
use super::exact_surroundings::PREPARING;
use super::renamed_tests::FoundTest;
use super::same_names::{is_same_import, surroundings_at};
use super::same_test::joined;
use super::test_words::{Asked, is_word, tokens, wraps_more};
use super::{place_in, words};
use crate::fact::weakening::{
    DeclaredTest, adds_hiding_word, definitions, is_asserting, is_test_file, test_texts, without_next_head,
};
use crate::repo_path::RepoPath;
use crate::surroundings::{OuterStatement, OuterStatementKind, VisibleImport};

impl ChangedTests {
    /// Returns the new or changed tests that call the code of a test with all its values, those that kept most of its name
    /// first. `parameters` are the values that it had from elsewhere.
    pub(super) fn rewritten_in_other_words(
        &self,
        path: &RepoPath,
        declared: &DeclaredTest,
        parameters: &[&str],
    ) -> Vec<FoundTest> {
        let asked = Asked::of(declared);
        if !asked.asserts() {
            return Vec::new();
        }
        // A loop may go over nothing.
        let loops_more = |test: &DeclaredTest| Asked::of(test).loops().len() > asked.loops().len();
        let mut known: BTreeSet<&str> =
            self.files.iter().flat_map(TestFileChange::tests_before).map(|test| test.name.as_str()).collect();
        known.remove(declared.name.as_str());
        let mut found = Vec::new();
        for file in self.files.iter().filter(|file| file.path == *path || is_test_file(&file.path)) {
            // A test with the name of another old one is that one, unless it got the values of this one.
            let before = |test: &DeclaredTest| file.tests_before().iter().find(|old| old.name == test.name);
            let is_known = |test: &DeclaredTest| {
                known.contains(test.name.as_str()) && before(test).is_none_or(|old| holds_values(old, declared))
            };
            let asks = |test: &DeclaredTest| {
                !is_known(test)
                    && !test.is_newly_skipped(declared)
                    && !wraps_more(declared, test)
                    && !loops_more(test)
                    && !adds_hiding_word(&declared.body, &test.body)
                    && self.keeps_values((path, declared), (&file.path, &test.name), parameters)
            };
            let tests = file.tests_now().iter().filter(|test| asks(test));
            found.extend(tests.map(|test| (file.path.clone(), test.name.clone())));
        }
        let own: Vec<String> = name_words(&declared.name).collect();
        let strange = |name: &str| own.iter().filter(|word| !name_words(name).any(|other| other == **word)).count();
        found.sort_by_key(|(_, name)| strange(name));
        found
    }

    /// Returns `true` if the test `name` in `home`, with what is around it there and in files of helpers, asserts something,
    /// names the code that an old test used, and holds all values of it.
    pub(super) fn keeps_values(
        &self,
        (path, old): (&RepoPath, &DeclaredTest),
        (home, name): (&RepoPath, &str),
        parameters: &[&str],
    ) -> bool {
        let was = self.file(path).and_then(|file| file.old.as_deref()).and_then(|text| asked(path, text, &old.name));
        let new = self.file(home).and_then(|file| file.new.as_deref());
        let now = new.and_then(|text| written(home, text, name));
        let (Some((own, used)), Some(now)) = (was, now) else { return false };
        let others = self.files.iter().filter(|file| file.path != *home && is_used_as_helper(file, &now));
        let others: Vec<&TestFileChange> = others.collect();
        let helpers: Vec<&str> = others.iter().filter_map(|file| helper_text(file)).collect();
        let text = format!("{now}\n{}", helpers.join("\n"));
        let held = tokens(&text);
        let held: BTreeSet<&str> = held.iter().map(String::as_str).collect();
        let is_named = |import: &&CalledName| {
            let here = words(&now).any(|word| word == import.name);
            here || import.import.as_ref().is_some_and(|import| others.iter().any(|file| calls_as_helper(file, import)))
        };
        let now_words: BTreeSet<&str> = words(&now).collect();
        let names_parts = |call: &CalledName| {
            !call.parts.is_empty() && call.parts.iter().all(|part| now_words.contains(part.as_str()))
        };
        let mut named: BTreeSet<String> = used.iter().filter(is_named).map(|call| call.name.clone()).collect();
        // `from calc import add` instead of `import calc` and `calc.add(…)`.
        named.extend(used.iter().filter(|call| names_parts(call)).flat_map(|call| call.parts.iter().cloned()));
        let own = tokens(&own);
        let numbers: Vec<&String> = own.iter().filter(|word| is_number(word)).collect();
        let has_values = !(numbers.is_empty() && old.texts.is_empty() && parameters.is_empty());
        has_values
            && asserts_about(&text, named)
            && numbers.iter().all(|number| held.contains(number.as_str()))
            && old.texts.iter().all(|part| text.contains(part.as_str()))
            && parameters.iter().all(|part| text.contains(part))
    }
}

/// A name that a test calls, and where its file has it from.
struct CalledName {
    name: String,
    /// The functions of a module of this name that the test calls, such as `add` for `calc.add(1, 2)`.
    parts: Vec<String>,
    import: Option<VisibleImport>,
}

/// Returns the text of a test, and what it calls: of the imports of its file, or else any name.
fn asked(path: &RepoPath, text: &str, name: &str) -> Option<(String, Vec<CalledName>)> {
    let (_, own) = test_texts(path, text).into_iter().find(|(test, _)| test == name)?;
    let around = surroundings_at(path, text, place_in(text, own)).unwrap_or_default();
    let own = without_next_head(own).to_owned();
    let is_called =
        |name: &str| own.match_indices(name).any(|(at, _)| own[at + name.len()..].starts_with(['(', '.', ':']));
    let used = |name: &&String| is_called(name) && !is_asserting(name);
    let import_of = |name: &String| around.imports.iter().find(|import| import.local.as_ref() == Some(name)).cloned();
    let mut called: Vec<CalledName> = around
        .used
        .iter()
        .filter(used)
        .map(|name| CalledName { name: name.clone(), parts: parts_of(&own, name), import: import_of(name) })
        .collect();
    if called.iter().any(|call| call.import.is_some()) {
        called.retain(|call| call.import.is_some());
    }
    Some((own, called))
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns `true` if a test has all numbers and texts of another one.
fn holds_values(test: &DeclaredTest, other: &DeclaredTest) -> bool {
    let held = tokens(&test.body);
    let wanted = tokens(&other.body);
    let mut numbers = wanted.iter().filter(|word| is_number(word));
    numbers.all(|number| held.contains(number)) && test.has_texts_of(other)
}

/// Returns the names that a text calls of another one: `add` in `calc.add(1, 2)`.
fn parts_of(text: &str, name: &str) -> Vec<String> {
    let after = text.match_indices(name).map(|(at, _)| &text[at + name.len()..]);
    let part = |rest: &str| {
        let rest = rest.strip_prefix('.')?;
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        (end > 0 && rest[end..].starts_with('(')).then(|| rest[..end].to_owned())
    };
    after.filter_map(part).collect()
}

/// Returns `true` if an assertion of a text is about one of these names, or about a value that was made with one.
fn asserts_about(text: &str, mut names: BTreeSet<String>) -> bool {
    for line in joined(text.lines().map(|line| line.trim().to_owned())) {
        let words = tokens(&line);
        if !words.iter().any(|word| names.contains(word)) {
            continue;
        }
        let is_of_go = words.first().is_some_and(|word| word == "if");
        if is_of_go || words.iter().any(|word| is_asserting(word)) {
            return true;
        }
        let set = words.iter().position(|word| word == "=" || word == ":=").unwrap_or(0);
        names.extend(words[..set].iter().filter(|word| is_word(word)).cloned());
        // What a helper gets, it may assert.
        names.extend(
            words.first().filter(|word| *word == "def" || *word == "function").and_then(|_| words.get(1)).cloned(),
        );
    }
    false
}

/// Returns the text of a test with that of its file outside of other tests.
fn written(path: &RepoPath, text: &str, name: &str) -> Option<String> {
    let texts = test_texts(path, text);
    let (_, own) = texts.iter().find(|(test, _)| test == name)?;
    let around = surroundings_at(path, text, place_in(text, own)).unwrap_or_default();
    let is_test = |range: &Range<usize>| texts.iter().any(|(_, test)| range.contains(&place_in(text, test)));
    let own = without_next_head(own).to_owned();
    let names = |name: &str| words(&own).any(|word| word == name);
    // What it neither calls nor gets from its runner is not of it.
    let is_of_it = |statement: &&OuterStatement| match &statement.kind {
        _ if is_test(&statement.range) => false,
        OuterStatementKind::Definition(name) => names(name) || PREPARING.contains(&name.as_str()),
        OuterStatementKind::Assignment(set) => set.iter().any(|name| names(name)),
        OuterStatementKind::Other => PREPARING.iter().any(|start| statement.text.starts_with(start)),
        OuterStatementKind::Decorator => true,
        OuterStatementKind::Import => false,
    };
    let others: Vec<&str> =
        around.statements.iter().filter(is_of_it).map(|statement| statement.text.as_str()).collect();
    Some(format!("{own}\n{}", others.join("\n")))
}

/// Returns `true` if a test calls something that a changed file of helpers defines.
fn is_used_as_helper(file: &TestFileChange, test: &str) -> bool {
    let defined = helper_text(file).map(definitions).unwrap_or_default();
    words(test).any(|word| defined.iter().any(|name| name == word))
}

/// Returns the text of a changed file of helpers, which declares no tests.
fn helper_text(file: &TestFileChange) -> Option<&str> {
    file.new.as_deref().filter(|_| is_test_file(&file.path) && file.tests_now().is_empty())
}

/// Returns `true` if a file of helpers calls what an import names, and imports it from the same module.
fn calls_as_helper(file: &TestFileChange, import: &VisibleImport) -> bool {
    let Some(new) = helper_text(file) else { return false };
    let name = import.local.as_deref().unwrap_or_default();
    // The last statement can see all imports.
    let end = new.trim_end().len().saturating_sub(1);
    let imports = surroundings_at(&file.path, new, end).unwrap_or_default().imports;
    words(new).filter(|word| *word == name).count() > 1
        && imports.iter().any(|other| other.local == import.local && is_same_import(other, import, false))
}

fn name_words(name: &str) -> impl Iterator<Item = String> {
    name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::weakening::declared_tests;

    #[test]
    fn a_test_in_other_words_calls_the_same_code_with_the_same_values() {
        let head = "from calc import add\n\n\n";
        let old = format!("{head}def test_add():\n    assert add(1, 25) == 26\n");
        for (new, is) in [
            ("def test_sum():\n    total = add(1, 25)\n    assert total == 26\n", true),
            ("def test_sum():\n    assert 26 == add(a=1, b=25)\n", true),
            ("BIG = 25\n\n\ndef test_sum():\n    assert add(1, BIG) == 26\n", true),
            ("def check(a, b, sum):\n    assert add(a, b) == sum\n\n\ndef test_sum():\n    check(1, 25, 26)\n", true),
            ("class T(TestCase):\n    def test_sum(self):\n        self.assertEqual(add(1, 25), 26)\n", true),
            ("def test_sum():\n    assert add(1, 25) == -24\n", false),
            ("def test_sum():\n    assert add(1, 2) == 26\n", false),
            ("def test_sum():\n    add(1, 25) == 26\n", false),
            ("def test_sum():\n    total = add(1, 25)\n    assert 26 == 26\n", false),
            ("def test_sum():\n    for _ in []:\n        assert add(1, 25) == 26\n", false),
            ("def test_sum():\n    return\n    assert add(1, 25) == 26\n", false),
            ("def test_sum():\n    assert sub(51, 25) == 26 and 1\n", false),
            ("def test_sum():\n    assert add(1, 2) == 3\n\n\ndef check_add():\n    assert add(1, 25) == 26\n", false),
            ("def test_other():\n    add(1, 25, 26)\n\n\ndef test_sum():\n    assert add(1, 2) == 3\n", false),
        ] {
            let path = RepoPath::from("tests/test_a.py");
            let new = format!("{head}{new}");
            let changed = ChangedTests::of_file(&path, &old, &new);
            let declared = declared_tests(&path, &old).into_iter().next().expect("a test");
            assert_eq!(!changed.rewritten_in_other_words(&path, &declared, &[]).is_empty(), is, "{new}");
        }
    }

    #[test]
    fn a_test_may_import_its_code_otherwise_or_become_a_row_of_another_one() {
        let imported = "import calc\n\n\ndef test_add():\n    assert calc.add(1, 25) == 26\n";
        let two = "from calc import add\n\n\ndef test_sum():\n    assert add(3, 4) == 7\n\n\ndef test_add():\n    assert add(1, 25) is 26\n";
        let rows = "from calc import add\n\n\n@pytest.mark.parametrize(('a', 'b', 'sum'), [(3, 4, 7), (1, 25, 26)])\ndef test_sum(a, b, sum):\n    assert add(a, b) == sum\n";
        let path = RepoPath::from("tests/test_a.py");
        for (old, new, is) in [
            (imported, "from calc import add\n\n\ndef test_sum():\n    assert add(1, 25) == 26\n", true),
            (imported, "from calc import sub\n\n\ndef test_sum():\n    assert sub(1, 25) == 26\n", false),
            (two, rows, true),
            (two, "from calc import add\n\n\ndef test_sum():\n    assert add(3, 4) == 7\n", false),
        ] {
            let changed = ChangedTests::of_file(&path, old, new);
            let declared = declared_tests(&path, old).into_iter().find(|test| test.name == "test_add").expect("a test");
            assert_eq!(!changed.rewritten_in_other_words(&path, &declared, &[]).is_empty(), is, "{new}");
        }
    }
}
