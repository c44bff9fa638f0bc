//! The weakening of tests by a change: removed tests and assertions, excluded files, lowered thresholds.
//!
//! Tests are counted in the whole texts of both sides, so that a test that moves to another file is not a loss. The
//! reader knows the languages only roughly (`gates/weakening.toml`): it reports what it found, and the gate decides if
//! it matters.

mod obsolete_tests;
mod table;
mod test_detection;
mod test_reader;
mod test_settings;
mod test_tasks;
mod test_texts;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use self::table::table;
use self::test_reader::{Test, TestInventory};
pub use self::test_texts::{is_asserting, without_next_head};
use crate::repo_path::RepoPath;
use crate::runner::Catalogue;

/// The kind of the gate that needs this.
pub const GATE: &str = "integrity";
/// The maximum number of names that are listed for one change.
const NAMES: usize = 64;
/// The maximum number of tests of the old side that are known by name.
const KNOWN: usize = 2_000;

/// The weakening of tests by a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Weakening {
    /// The findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Weakened>,
    /// Files of tests that both sides have and that differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<RepoPath>,
    /// The tests of the old side in the files that differ (the first 2000).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
}

/// One weakening.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Weakened {
    /// The kind.
    pub what: WeakeningKind,
    /// The file.
    pub path: RepoPath,
    /// The first line on the new side, counted from 1, or `None` if nothing of it is left there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The tests, tasks or settings it is about (the first 64).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The tests among them whose text names code that is gone, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obsolete: Vec<String>,
    /// The state before: a number, or a text in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub before: String,
    /// The state now.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub after: String,
}

/// The kinds of weakening.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum WeakeningKind {
    /// Tests were removed, and there are fewer than before.
    TestsRemoved,
    /// Tests were removed, and there are as many others.
    TestsReplaced,
    /// Tests exist but are skipped.
    TestsSkipped,
    /// New tests are skipped.
    TestsAddedSkipped,
    /// All tests except some are skipped.
    Focused,
    /// There are fewer assertions and no fewer tests.
    AssertionsRemoved,
    /// An assertion cannot fail.
    AssertionsEmptied,
    /// A setting excludes tests.
    LeftOut,
    /// A task or a setting runs a part of the tests instead of all.
    Narrowed,
    /// A setting ignores failures.
    Forgiven,
    /// A threshold is lower, or gone.
    ThresholdLowered,
    /// A task that ran tests runs nothing.
    TaskEmptied,
    /// A task that ran tests passes with any result.
    TaskMasked,
    /// A task that ran tests runs something else, or is gone.
    TaskReplaced,
    /// Code asks whether a test runs it.
    AsksForTest,
    /// Code sets the results of tests itself.
    ForcesResults,
    /// Code names the report that the hooks of test runners write.
    ReportWritten,
}

as_str!(WeakeningKind);

impl Weakening {
    /// Returns `true` if tests were removed, so that the code that changed with them matters, too.
    pub fn removes_tests(&self) -> bool {
        self.changes.iter().any(|change| change.what == WeakeningKind::TestsRemoved)
    }

    /// Adds the other files that differ, `all` of them: a test may be gone because the code that it was about is gone.
    #[must_use]
    pub fn with_code(mut self, all: &[FilePair]) -> Self {
        obsolete_tests::note(&mut self, all);
        self
    }

    /// Returns `true` if the weakening matters more after an earlier failure.
    pub fn may_hide_a_failure(&self) -> bool {
        self.changes.iter().any(|change| {
            matches!(
                change.what,
                WeakeningKind::TestsRemoved
                    | WeakeningKind::TestsSkipped
                    | WeakeningKind::TestsAddedSkipped
                    | WeakeningKind::LeftOut
                    | WeakeningKind::Narrowed
                    | WeakeningKind::TaskMasked
            )
        })
    }
}

/// A file before and after, or `None` if it does not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePair {
    pub path: RepoPath,
    /// The text before.
    pub old: Option<String>,
    /// The text after.
    pub new: Option<String>,
}

/// Returns `true` if a file can hold tests, or decides which tests run. Other files need not be read.
pub fn concerns(path: &RepoPath) -> bool {
    table().language(path).is_some() || decides_what_runs(path)
}

/// Returns `true` if a file holds code, in whichever language.
pub fn is_code(path: &RepoPath) -> bool {
    table().is_code(path)
}

/// Returns `true` for a file of settings or tasks, and for a shell script.
fn decides_what_runs(path: &RepoPath) -> bool {
    table().has_settings(path) || table().tasks(path).is_some() || table().is_script(path)
}

/// Returns `true` if a file holds only tests.
pub fn is_test_file(path: &RepoPath) -> bool {
    table().holds_only_tests(path)
}

/// Compares the two sides of a change. `pairs` are the files that differ and that [`concerns`] accepts, and other code.
pub fn compare(pairs: &[FilePair], runners: &Catalogue) -> Weakening {
    let mut found = Weakening::default();
    let mut languages: BTreeMap<usize, Vec<(&FilePair, TestInventory, TestInventory)>> = BTreeMap::new();
    for pair in pairs.iter().filter(|pair| pair.old != pair.new) {
        if let Some(index) = table().language(&pair.path) {
            let language = &table().language[index];
            let only_tests = is_test_file(&pair.path);
            let read = |text: &Option<String>| text.as_deref().map(|text| language.read(text, only_tests));
            let (old, new) = (read(&pair.old).unwrap_or_default(), read(&pair.new).unwrap_or_default());
            if pair.old.is_some() && pair.new.is_some() && (only_tests || !old.tests.is_empty()) {
                found.edited.push(pair.path.clone());
            }
            languages.entry(index).or_default().push((pair, old, new));
        }
        test_detection::compare(pair, &mut found.changes);
        test_detection::compare_report(pair, &mut found.changes);
        if let (Some(old), Some(new)) = (&pair.old, &pair.new) {
            test_settings::compare(&pair.path, old, new, &mut found.changes);
            test_tasks::compare(&pair.path, old, new, runners, &mut found.changes);
        }
    }
    for files in languages.values() {
        tests(files, &mut found.changes);
        let old = files.iter().flat_map(|(_, old, _)| &old.tests).map(|test| test.name.clone());
        let room = KNOWN.saturating_sub(found.known.len());
        found.known.extend(old.take(room));
    }
    found.changes.sort_by(|a, b| (a.what, &a.path).cmp(&(b.what, &b.path)));
    found
}

/// A test that a text declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclaredTest {
    /// Its name, without quotes.
    pub name: String,
    /// The code from its name up to the next test, with blanks in place of comments and of the content of texts.
    pub body: String,
    /// The texts in it, apart from messages.
    pub texts: Vec<String>,
    /// `true` if the text skips it.
    pub skipped: bool,
    /// The indentation of its line, in bytes.
    pub indent: usize,
}

impl DeclaredTest {
    /// Returns `true` if the text may skip it, and that of `old` did not. What the text says may depend on a condition.
    pub const fn is_newly_skipped(&self, old: &Self) -> bool {
        self.skipped && !old.skipped
    }

    /// Returns `true` if it has all texts of another test.
    pub fn has_texts_of(&self, old: &Self) -> bool {
        let mut texts = self.texts.clone();
        let mut take = |text: &String| texts.iter().position(|other| other == text).map(|at| texts.swap_remove(at));
        old.texts.iter().all(|text| take(text).is_some())
    }
}

/// Returns the tests that a file declares, as far as its text shows them.
pub fn declared_tests(path: &RepoPath, text: &str) -> Vec<DeclaredTest> {
    let Some(index) = table().language(path) else { return Vec::new() };
    let language = &table().language[index];
    let only_tests = is_test_file(path);
    let tests = language.read(text, only_tests).tests;
    let bodies = language.texts(text, only_tests);
    let declared = |(test, (name, body)): (Test, (String, String))| {
        let indent = indent_at(text, test.at);
        let own = text.get(test.at..test.at + body.len()).unwrap_or_default();
        DeclaredTest { texts: test_texts::texts(&body, own), name, body, skipped: test.skipped, indent }
    };
    tests.into_iter().zip(bodies).map(declared).collect()
}

/// Returns the indentation of the line that holds a byte.
fn indent_at(text: &str, at: usize) -> usize {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    text[start..at].len() - text[start..at].trim_start().len()
}

/// Returns `true` for a shell script.
pub fn is_script(path: &RepoPath) -> bool {
    table().is_script(path)
}

/// Returns `true` if a file holds code in a language that is known, and more than tests.
pub fn is_code_file(path: &RepoPath) -> bool {
    table().is_code(path) && !is_test_file(path)
}

/// Returns `true` if a file is what tests expect or read.
pub fn is_test_data(path: &RepoPath) -> bool {
    table().is_data(path)
}

/// The names that the code of a file defines, as far as its text shows them.
pub fn defined_names(path: &RepoPath, text: &str) -> Vec<String> {
    let names = if is_code_file(path) { obsolete_tests::definitions(Some(text)) } else { Vec::new() };
    names.into_iter().map(str::to_owned).collect()
}

/// The names that a text defines, code or tests, as far as it shows them.
pub fn definitions(text: &str) -> Vec<String> {
    obsolete_tests::definitions(Some(text)).into_iter().map(str::to_owned).collect()
}

/// Returns the tests that a file declares, each with its text from its name up to the next test.
pub fn test_texts<'t>(path: &RepoPath, text: &'t str) -> Vec<(String, &'t str)> {
    let Some(index) = table().language(path) else { return Vec::new() };
    let tests = table().language[index].read(text, is_test_file(path)).tests;
    let ends = tests.iter().skip(1).map(|next| next.at).chain([text.len()]);
    tests.iter().zip(ends).map(|(test, end)| (test.name.clone(), text.get(test.at..end).unwrap_or_default())).collect()
}

/// Returns the number of assertions in a file of tests that cannot fail.
pub fn empty_assertions(path: &RepoPath, text: &str) -> usize {
    let Some(index) = table().language(path) else { return 0 };
    table().language[index].read(text, is_test_file(path)).always.len()
}

/// Returns the modules and paths of code that a file of settings loads together with every test.
pub fn loaded_names(path: &RepoPath, text: &str) -> Vec<String> {
    table().loaded(path, text)
}

/// Returns `true` if a file of settings can name code that is loaded together with every test.
pub fn names_loaded_code(path: &RepoPath) -> bool {
    table().is_loading(path)
}

/// Returns `true` if a file decides which tests a runner finds.
pub fn decides_which_tests_run(path: &RepoPath) -> bool {
    table().decides(path)
}

/// Returns `true` if a file takes its folder out of the tests that run elsewhere.
pub fn splits_tests(path: &RepoPath) -> bool {
    table().splits(path)
}

/// Returns `true` if a runner that collects the tests of `old` by its name and folder does so for `new`.
pub fn is_collected_like(old: &RepoPath, new: &RepoPath) -> bool {
    const MARKS: [&str; 8] = ["test_", "_test.", ".test.", ".spec.", "_spec.", "Test.", "Tests.", "Spec."];
    let (old_path, new_path) = (old.to_string(), new.to_string());
    let (old_folder, old_name) = old_path.rsplit_once('/').unwrap_or(("", &old_path));
    let (new_folder, new_name) = new_path.rsplit_once('/').unwrap_or(("", &new_path));
    let mark = MARKS.iter().find(|mark| old_name.contains(**mark));
    let of_platform = |name: &str| {
        name.strip_suffix("_test.go")
            .and_then(|stem| stem.rsplit_once('_'))
            .is_some_and(|(_, word)| table().is_platform(word))
    };
    let is_left_out = |name: &str| name.starts_with(['_', '.']) && !name.starts_with("__");
    is_test_file(new)
        && old_folder == new_folder
        && mark.is_none_or(|mark| new_name.contains(mark))
        && of_platform(old_name) == of_platform(new_name)
        && is_left_out(old_name) == is_left_out(new_name)
}

/// Returns `true` if the lines that `new` adds to `old` can replace what tests call, or how they are run.
pub fn adds_replacement(old: &str, new: &str) -> bool {
    let before: BTreeSet<&str> = old.lines().map(str::trim_end).collect();
    let added: Vec<&str> = new.lines().filter(|line| !before.contains(line.trim_end())).collect();
    let added = added.join("\n");
    table().replacing.about(&added).any(|pattern| pattern.is_match(&added))
}

/// Returns `true` if the lines that `new` adds to `old` contain a word that can keep a test from running.
pub fn adds_hiding_word(old: &str, new: &str) -> bool {
    adds_word(old, new, |word| table().hides(word))
}

/// Returns `true` if a line of the new text of a script, or of a file of tasks or settings, sets a variable that chooses tests, and no
/// line of the old one did so.
pub fn sets_choosing_variable(path: &RepoPath, old: &str, new: &str) -> bool {
    decides_what_runs(path) && adds_word(old, new, |word| table().chooses(word))
}

fn adds_word(old: &str, new: &str, is_wanted: impl Fn(&str) -> bool) -> bool {
    let before: BTreeSet<&str> = old.lines().map(str::trim).collect();
    let added = new.lines().map(str::trim).filter(|line| !before.contains(line));
    added.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_')).any(is_wanted)
}

/// Returns, by name, the number of tests and the number of skipped tests.
fn counts<'a>(tests: impl Iterator<Item = &'a Test>) -> BTreeMap<&'a str, (usize, usize)> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for test in tests {
        let count = counts.entry(test.name.as_str()).or_default();
        count.0 += 1;
        count.1 += usize::from(test.skipped);
    }
    counts
}

fn tests(files: &[(&FilePair, TestInventory, TestInventory)], changes: &mut Vec<Weakened>) {
    let old = counts(files.iter().flat_map(|(_, old, _)| &old.tests));
    let new = counts(files.iter().flat_map(|(_, _, new)| &new.tests));
    let total = |counts: &BTreeMap<&str, (usize, usize)>| counts.values().map(|count| count.0).sum::<usize>();
    let fewer = total(&new) < total(&old);
    for (pair, before, after) in files {
        let mut put = |what, names: Vec<String>, at: Option<usize>, before: usize, after: usize| {
            let (before, after) = (before.to_string(), after.to_string());
            let line = pair.new.as_deref().zip(at).map(|(text, at)| line_of(text, at));
            let names = names.into_iter().take(NAMES).collect();
            changes.push(Weakened { what, path: pair.path.clone(), line, names, obsolete: Vec::new(), before, after });
        };
        let is_gone = |name: &str| new.get(name).map_or(0, |count| count.0) < old.get(name).map_or(0, |count| count.0);
        let gone = names(&before.tests, |test| is_gone(&test.name) && !has(&after.tests, &test.name));
        if !gone.is_empty() {
            let what = if fewer { WeakeningKind::TestsRemoved } else { WeakeningKind::TestsReplaced };
            put(what, gone, None, before.tests.len(), after.tests.len());
        }
        let skips = |name: &str| {
            let skipped = |counts: &BTreeMap<&str, (usize, usize)>| counts.get(name).map_or(0, |count| count.1);
            skipped(&new) > skipped(&old)
        };
        let skipped = names(&after.tests, |test| test.skipped && skips(&test.name));
        let (known, added): (Vec<_>, Vec<_>) = skipped.into_iter().partition(|name| old.contains_key(name.as_str()));
        let count = |reading: &TestInventory| reading.tests.iter().filter(|test| test.skipped).count();
        for (what, names) in [(WeakeningKind::TestsSkipped, known), (WeakeningKind::TestsAddedSkipped, added)] {
            if !names.is_empty() {
                let first = after.tests.iter().find(|test| test.skipped && names.contains(&test.name));
                put(what, names, first.map(|test| test.at), count(before), count(after));
            }
        }
        if after.focused.len() > before.focused.len() {
            let at = after.focused.first().copied();
            put(WeakeningKind::Focused, Vec::new(), at, before.focused.len(), after.focused.len());
        }
        if !is_test_file(&pair.path) {
            continue;
        }
        if after.asserts < before.asserts && after.tests.len() >= before.tests.len() && !before.tests.is_empty() {
            put(WeakeningKind::AssertionsRemoved, Vec::new(), None, before.asserts, after.asserts);
        }
        if after.always.len() > before.always.len() {
            let at = after.always.first().copied();
            put(WeakeningKind::AssertionsEmptied, Vec::new(), at, before.always.len(), after.always.len());
        }
    }
}

/// Returns the number of the line that holds a byte, counted from 1.
fn line_of(text: &str, at: usize) -> u32 {
    let before = text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count();
    u32::try_from(before).map_or(u32::MAX, |before| before.saturating_add(1))
}

fn has(tests: &[Test], name: &str) -> bool {
    tests.iter().any(|test| test.name == name)
}

fn names(tests: &[Test], wanted: impl Fn(&Test) -> bool) -> Vec<String> {
    let mut names: Vec<String> = tests.iter().filter(|test| wanted(test)).map(|test| test.name.clone()).collect();
    names.dedup();
    names
}

/// Returns `true` if a test that an output calls `failed` may be the one that a file calls `declared`.
pub fn is_same_test(failed: &str, declared: &str) -> bool {
    // Parameters and arguments: `test_a[1-2]`, `small()`, `TestAdd/negative`.
    let whole = failed.trim();
    let whole = whole.strip_suffix(" - should panic").unwrap_or(whole);
    let bare = whole.split_once('[').map_or(whole, |(name, _)| name);
    let bare = bare.strip_suffix("()").unwrap_or(bare).trim_end();
    let ends = |text: &str| {
        text.strip_suffix(declared)
            .is_some_and(|before| before.is_empty() || before.ends_with(|c: char| !c.is_alphanumeric() && c != '_'))
    };
    // Behind the package of Go: `x/calc TestAdd/negative`.
    let last = bare.rsplit(' ').next().unwrap_or(bare);
    let is_first = |text: &str| text.split('/').next() == Some(declared);
    !declared.is_empty() && (ends(whole) || ends(bare) || is_first(bare) || last.contains('/') && is_first(last))
}

/// Returns `true` if a name gives this file, as in `tests/test_a.py::test_b`.
pub fn names_file(test: &str, path: &RepoPath) -> bool {
    file_in(test).is_some_and(|file| path.to_string().ends_with(file))
}

/// Returns the file in the name of a test, or the name itself if it is that of a file, of which no test could be read.
pub fn file_in(test: &str) -> Option<&str> {
    let is_file = |name: &str| !name.contains(' ') && table().language(&RepoPath::from(name)).is_some();
    test.split_once("::").map(|(file, _)| file).or_else(|| Some(test).filter(|name| is_file(name)))
}

/// Returns `true` if a test can be in this file. A name without a file can be in any.
pub fn is_file_of(test: &str, path: &RepoPath) -> bool {
    file_in(test).is_none_or(|file| !file.contains('.')) || names_file(test, path)
}

#[cfg(test)]
mod tests;
