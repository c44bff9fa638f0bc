//! The test that passes in the place of a failed one: the same under another name, or one that differs in something.

use super::FailedWork;
use super::changed_tests::{ChangedTests, TestFileChange};
use super::code_changes::CodeChange;
use super::renamed_code::NewNames;
use super::renamed_tests::FoundTest;
use crate::event::test_results::TestResult;
use crate::fact::TestDifference;
use crate::fact::weakening::{DeclaredTest, is_file_of, is_same_test, names_file};
use crate::git::GitError;
use crate::repo_path::RepoPath;

/// The name of a test in the place of another one, and what has changed.
pub(super) type TestInPlace = (String, TestDifference);

impl FailedWork<'_> {
    /// Returns the name under which the same test passes now, or that of a test in its place that differs in something.
    pub(super) fn new_names(
        &self,
        changed: &ChangedTests,
        declared: &(RepoPath, DeclaredTest),
        since: Option<TestResult>,
    ) -> Result<(Option<String>, Option<TestInPlace>), GitError> {
        let (path, test) = declared;
        if let Some((home, name)) = self.new_name(changed, declared, since, &NewNames::default()) {
            let tests = changed.file(&home).map(TestFileChange::tests_now).unwrap_or_default();
            // What has the name of no single test is the list of those into which it was split.
            let is_split = tests.iter().all(|known| known.name != name);
            let is_sure = is_split || self.is_certain(changed, declared, &home, &name);
            if is_sure || !self.code_changes()?.iter().flatten().any(CodeChange::changes_behaviour) {
                return Ok((is_sure.then_some(name), None));
            }
            return Ok((None, Some((name, TestDifference::Context))));
        }
        if let Some((bare, _)) = self.open.test.split_once('[')
            && self.open.candidates.iter().any(|passed| passed == bare)
            && changed.is_looped(path, test)
        {
            return Ok((None, Some((bare.to_owned(), TestDifference::Loop))));
        }
        let new_home = changed.moved_file(path, test);
        let new_home = new_home.filter(|home| self.calls_the_same(changed, declared, home, &test.name));
        if let Some(name) = self.name_in_moved_file(new_home) {
            return Ok((None, Some((name, TestDifference::Values))));
        }
        let code = self.code_changes()?;
        let names = NewNames::of(code);
        if let Some((_, name)) = self.new_name(changed, declared, since, &names) {
            let is_told = since.is_some() && !names.has_same_code(&test.body, code);
            return Ok(if is_told { (None, Some((name, TestDifference::Code))) } else { (Some(name), None) });
        }
        // Other values are expected of code that behaves in another way.
        if since != Some(TestResult::Missing) || !code.iter().flatten().any(CodeChange::changes_behaviour) {
            return Ok((None, None));
        }
        let texts = changed.file(path).map(|file| (file.old.as_deref(), file.new.as_deref()));
        let (old, new) = texts.unwrap_or_default();
        let names = names.with(old.unwrap_or_default(), new.unwrap_or_default());
        let in_place = changed.in_place(path, test, &names);
        let passed = in_place.into_iter().find(|(home, name)| {
            self.passes(home, name) && self.has_as_many(name) && self.calls_the_same(changed, declared, home, name)
        });
        if let Some((home, name)) = passed {
            let is_kept = changed.keeps_values((path, test), (&home, &name), &[]);
            let difference = if is_kept { TestDifference::Words } else { TestDifference::Values };
            return Ok((None, Some((name, difference))));
        }
        let is_it = |(home, name): &FoundTest| {
            self.passes_in_part(home, name) && self.calls_the_same(changed, declared, home, name)
        };
        if let Some((_, name)) = changed.within(path, test).into_iter().find(is_it) {
            return Ok((None, Some((name, TestDifference::Within))));
        }
        let parameters: Vec<&str> = parameters_in(&self.open.test).collect();
        let rewritten = changed.rewritten_in_other_words(path, test, &parameters).into_iter().find(is_it);
        Ok((None, rewritten.map(|(_, name)| (name, TestDifference::Words))))
    }

    /// Returns the name under which the same test passes now.
    pub(super) fn new_name(
        &self,
        changed: &ChangedTests,
        declared: &(RepoPath, DeclaredTest),
        since: Option<TestResult>,
        names: &NewNames,
    ) -> Option<FoundTest> {
        let (path, test) = declared;
        if since.is_none() {
            let mut found = changed.renamed(path, test, false, names).into_iter();
            return found.find(|(home, name)| self.calls_the_same(changed, declared, home, name));
        }
        let passes = |path: &RepoPath, name: &str| self.passes(path, name);
        let (before, now) = self.open.family;
        let has_lost_parameters = now < before;
        if before <= 1
            && let Some(parts) = changed.parts(path, test, passes)
            && parts.split(", ").all(|name| self.calls_the_same(changed, declared, path, name))
        {
            return Some((path.clone(), parts));
        }
        let same_name = changed.regrouped(path, test, names).filter(|_| !has_lost_parameters);
        let mut found = changed.renamed(path, test, true, names).into_iter().chain(same_name);
        let is_it = |(home, name): &FoundTest| passes(home, name) && self.calls_the_same(changed, declared, home, name);
        found.find(is_it)
    }

    /// Returns the name under which the test passed in the file to which its own was moved, with the same group.
    fn name_in_moved_file(&self, new_home: Option<&RepoPath>) -> Option<String> {
        let (new_home, (_, own)) = (new_home?, self.open.test.split_once("::")?);
        let is_it = |passed: &&String| {
            names_file(passed, new_home) && passed.split_once("::").is_some_and(|(_, name)| name == own)
        };
        self.open.candidates.iter().find(is_it).cloned()
    }

    /// Returns `true` if a test of this name passed in this file.
    pub(super) fn passes(&self, path: &RepoPath, name: &str) -> bool {
        self.open.candidates.iter().any(|passed| is_same_test(passed, name) && is_file_of(passed, path))
    }

    /// Returns `true` if a test of this name passed, or one whose name a runner made of it: `adds %i` is a template.
    fn passes_in_part(&self, path: &RepoPath, name: &str) -> bool {
        let parts: Vec<&str> = template_parts(name).collect();
        let is_made_of_it = |passed: &&String| {
            let mut rest = passed.as_str();
            parts.iter().all(|part| rest.split_once(part).map(|(_, after)| rest = after).is_some())
        };
        self.passes(path, name)
            || parts.len() > 1
                && self.open.candidates.iter().any(|passed| is_made_of_it(&passed) && is_file_of(passed, path))
    }

    /// Returns `true` if a test passed with no fewer parameters than the failed one had.
    fn has_as_many(&self, name: &str) -> bool {
        let passed = self.open.candidates.iter().filter(|passed| is_same_test(passed, name)).count();
        u64::try_from(passed).is_ok_and(|passed| passed >= self.open.family.0)
    }
}

/// Returns the parameters in the name of a test of pytest: `test_add[1-2]`.
fn parameters_in(test: &str) -> impl Iterator<Item = &str> {
    let inside = test.split_once('[').and_then(|(_, rest)| rest.strip_suffix(']'));
    inside.unwrap_or_default().split('-').filter(|part| !part.is_empty())
}

/// Returns what the name of a test holds between the places of its parameters: `%i`, `$sum`, `${sum}`, `#{sum}`.
fn template_parts(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(name);
    std::iter::from_fn(move || {
        let whole = rest?;
        let Some(at) = whole.find(['%', '$']).into_iter().chain(whole.find("#{")).min() else { return rest.take() };
        let (part, parameter) = whole.split_at(at);
        let inside = parameter[1..].strip_prefix('{').and_then(|inside| Some(inside.find('}')? + 3));
        let end =
            inside.or_else(|| Some(parameter[1..].find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.')? + 1));
        rest = parameter.get(end.unwrap_or(parameter.len())..);
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_parameters_is_part_of_each_name() {
        for (name, parts) in [
            ("adds", vec!["adds"]),
            ("adds %i and %i", vec!["adds ", " and ", ""]),
            ("adds $a.b to ${c + d}!", vec!["adds ", " to ", "!"]),
            ("adds #{a} and #{b}", vec!["adds ", " and ", ""]),
            ("adds # and more", vec!["adds # and more"]),
        ] {
            assert_eq!(template_parts(name).collect::<Vec<_>>(), parts, "{name}");
        }
    }
}
