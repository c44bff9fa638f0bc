//! The table `gates/weakening.toml`.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::embedded;
use crate::globs::Globs;
use crate::lazy_patterns::{LazyPattern, LazyPatterns};
use crate::repo_path::RepoPath;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WeakeningTable {
    hiding: Vec<String>,
    code: Globs,
    deciding: Globs,
    variables: Vec<String>,
    data: Globs,
    splitting: Globs,
    platforms: Vec<String>,
    pub(super) replacing: LazyPatterns,
    pub(super) asks_for_test: LazyPatterns,
    pub(super) forces_results: LazyPatterns,
    pub(super) idle: Vec<String>,
    pub(super) definition: LazyPatterns,
    pub(super) language: Vec<TestLanguage>,
    pub(super) setting: Vec<TestSetting>,
    pub(super) tasks: Vec<TaskFile>,
    /// Shell scripts.
    scripts: Globs,
    loading: Vec<LoadingFile>,
}

/// A file of settings that names code which runs with every test.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadingFile {
    files: Globs,
    names: LazyPatterns,
}

/// The patterns of tests in a language.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct TestLanguage {
    pub(super) name: String,
    files: Globs,
    tests: Globs,
    pub(super) comments: Vec<String>,
    pub(super) blocks: Vec<[String; 2]>,
    pub(super) strings: Vec<char>,
    pub(super) triple: bool,
    pub(super) raw: bool,
    pub(super) test: LazyPatterns,
    pub(super) skip_next: LazyPatterns,
    pub(super) skip_inside: LazyPatterns,
    pub(super) skip_here: LazyPatterns,
    pub(super) focus: LazyPatterns,
    pub(super) asserts: LazyPatterns,
    pub(super) always: LazyPatterns,
}

/// A file that decides which tests run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TestSetting {
    files: Globs,
    #[serde(default)]
    pub(super) leaves_out: LazyPatterns,
    #[serde(default)]
    pub(super) narrows: LazyPatterns,
    #[serde(default)]
    pub(super) masks: LazyPatterns,
    #[serde(default)]
    pub(super) forgives: LazyPatterns,
    #[serde(default)]
    pub(super) least: LazyPatterns,
}

/// A file that defines commands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskFile {
    files: Globs,
    /// The pattern of the names that a file defines.
    pub(super) name: LazyPattern,
    pub(super) call: String,
}

pub(super) fn table() -> &'static WeakeningTable {
    static TABLE: OnceLock<WeakeningTable> = OnceLock::new();
    TABLE.get_or_init(|| embedded::table("weakening.toml"))
}

impl WeakeningTable {
    /// Returns the index of the language of a file.
    pub(super) fn language(&self, path: &RepoPath) -> Option<usize> {
        self.language.iter().position(|language| language.files.is_match(path.to_os()))
    }

    pub(super) fn holds_only_tests(&self, path: &RepoPath) -> bool {
        self.language(path).is_some_and(|index| self.language[index].tests.is_match(path.to_os()))
    }

    pub(super) fn hides(&self, word: &str) -> bool {
        self.hiding.iter().any(|hiding| hiding == word)
    }

    pub(super) fn chooses(&self, word: &str) -> bool {
        self.variables.iter().any(|variable| variable == word)
    }

    pub(super) fn is_data(&self, path: &RepoPath) -> bool {
        self.data.is_match(path.to_os())
    }

    pub(super) fn is_code(&self, path: &RepoPath) -> bool {
        self.code.is_match(path.to_os())
    }

    pub(super) fn decides(&self, path: &RepoPath) -> bool {
        self.deciding.is_match(path.to_os())
    }

    pub(super) fn splits(&self, path: &RepoPath) -> bool {
        self.splitting.is_match(path.to_os())
    }

    pub(super) fn is_platform(&self, word: &str) -> bool {
        self.platforms.iter().any(|platform| platform == word)
    }

    pub(super) fn settings(&self, path: &RepoPath) -> impl Iterator<Item = &TestSetting> {
        self.setting.iter().filter(|setting| setting.files.is_match(path.to_os()))
    }

    pub(super) fn has_settings(&self, path: &RepoPath) -> bool {
        self.settings(path).next().is_some()
    }

    /// Returns the code that a file of settings names because it runs with every test.
    pub(super) fn loaded(&self, path: &RepoPath, text: &str) -> Vec<String> {
        let known = self.loading.iter().filter(|file| file.files.is_match(path.to_os()));
        let found = known.flat_map(|file| file.names.about(text)).flat_map(|pattern| pattern.captures_iter(text));
        let values = found.filter_map(|groups| Some(groups.name("name")?.as_str()));
        let is_between = |c: char| c.is_whitespace() || "\"'`,[]{}".contains(c);
        let names = values.flat_map(|value| value.split(is_between)).map(|name| name.trim_start_matches("<rootDir>/"));
        names.filter(|name| name.contains(char::is_alphanumeric)).map(str::to_owned).collect()
    }

    pub(super) fn is_loading(&self, path: &RepoPath) -> bool {
        self.loading.iter().any(|file| file.files.is_match(path.to_os()))
    }

    pub(super) fn is_script(&self, path: &RepoPath) -> bool {
        self.scripts.is_match(path.to_os())
    }

    pub(super) fn tasks(&self, path: &RepoPath) -> Option<&TaskFile> {
        self.tasks.iter().find(|tasks| tasks.files.is_match(path.to_os()))
    }
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;
    use crate::globs;

    #[test]
    fn the_embedded_file_is_whole() {
        let table = table();
        let globs = table.language.iter().flat_map(|language| [&language.files, &language.tests]);
        let globs = globs.chain(table.setting.iter().map(|setting| &setting.files));
        for glob in globs
            .chain(table.tasks.iter().map(|tasks| &tasks.files))
            .chain([&table.deciding, &table.splitting])
            .flat_map(Globs::written)
        {
            globs::check(glob).unwrap();
        }
        for language in &table.language {
            let name = &language.name;
            assert!(!language.test.written().is_empty() && !language.asserts.written().is_empty(), "{name}");
            let all = [
                &language.test, &language.skip_next, &language.skip_inside, &language.skip_here, &language.focus,
                &language.asserts, &language.always,
            ];
            for pattern in all.iter().flat_map(|patterns| patterns.written()) {
                let regex = Regex::new(pattern).unwrap_or_else(|error| panic!("{name}: {error}"));
                let names = [&language.test, &language.skip_here].iter().any(|list| list.written().contains(&pattern));
                assert_eq!(regex.capture_names().flatten().any(|group| group == "name"), names, "{name}: {pattern}");
            }
        }
        for setting in &table.setting {
            for pattern in [setting.leaves_out.written(), setting.forgives.written()].concat() {
                Regex::new(pattern).unwrap();
            }
            for pattern in [setting.narrows.written(), setting.masks.written()].concat() {
                Regex::new(pattern).unwrap();
            }
            for pattern in setting.least.written() {
                let regex = Regex::new(pattern).unwrap();
                let groups: Vec<&str> = regex.capture_names().flatten().collect();
                assert_eq!(groups, ["key", "n"], "{pattern}");
            }
        }
        for pattern in table.definition.written() {
            let regex = Regex::new(pattern).unwrap();
            assert_eq!(regex.capture_names().flatten().collect::<Vec<_>>(), ["name"], "{pattern}");
        }
        for pattern in [table.asks_for_test.written(), table.forces_results.written()].concat() {
            Regex::new(pattern).unwrap();
        }
        for pattern in table.loading.iter().flat_map(|file| file.names.written()) {
            let regex = Regex::new(pattern).unwrap();
            assert_eq!(regex.capture_names().flatten().collect::<Vec<_>>(), ["name"], "{pattern}");
        }
        for tasks in &table.tasks {
            assert!(tasks.name.check().is_ok() && tasks.call.contains("{name}"));
        }
    }
}
