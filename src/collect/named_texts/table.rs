//! The table `gates/named-texts.toml`: the places where the name of a prose file makes it count.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::embedded;
use crate::globs::Globs;
use crate::repo_path::RepoPath;

/// The table, as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NamedTextTable {
    aside: Globs,
    settings: Globs,
    silent: Globs,
    collecting: Globs,
    pub(super) generic: Vec<String>,
    pub(super) documents: Vec<String>,
    pub(super) includes: Vec<String>,
    pub(super) listing: Vec<String>,
    pub(super) collectors: Vec<ProseCollector>,
    pub(super) runners: Vec<Vec<String>>,
    pub(super) checkers: Vec<String>,
    pub(super) ci: Globs,
    pub(super) ci_readers: Vec<Vec<String>>,
    pub(super) whole: Vec<String>,
    pub(super) scratch: Globs,
    pub(super) built: Globs,
    pub(super) by_stem: Globs,
    pub(super) lists_top: Vec<String>,
    pub(super) own_folder: Vec<String>,
    pub(super) globbing: Vec<String>,
    pub(super) indexers: Vec<String>,
}

/// An option of a runner that collects prose as tests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProseCollector {
    pub(super) flag: String,
    /// The extension of the files that it collects.
    pub(super) takes: String,
}

/// The kinds of files in which names appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// Code, which reads the files that it names.
    Code,
    /// Settings and task files, in which a test word must be near the name.
    Settings,
    /// Other files.
    Silent,
}

pub(super) fn table() -> &'static NamedTextTable {
    static TABLE: LazyLock<NamedTextTable> = LazyLock::new(|| embedded::table("named-texts.toml"));
    &TABLE
}

/// Returns the kind of `file`.
pub(super) fn naming(file: &RepoPath) -> Naming {
    let (table, path) = (table(), file.to_os());
    if table.aside.is_match(&path) {
        Naming::Silent
    } else if table.settings.is_match(&path) {
        Naming::Settings
    } else if table.silent.is_match(&path) {
        Naming::Silent
    } else {
        Naming::Code
    }
}

/// Returns `true` if a file of code is a setting of a runner.
pub(super) fn is_of_runner(file: &RepoPath) -> bool {
    table().collecting.is_match(file.to_os())
}

/// Returns the pathspecs for code: all files except frequent kinds that are not code.
pub(super) fn code_pathspecs() -> &'static [String] {
    static SPECS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let silent = [
            "md", "mdx", "rst", "adoc", "txt", "json", "yml", "yaml", "lock", "svg", "html", "css", "csv", "po",
            "snap", "map", "xml",
        ];
        let silent = silent.iter().map(|ending| format!(":(exclude,top)*.{ending}"));
        std::iter::once(":(top)".to_owned()).chain(silent).collect()
    });
    &SPECS
}

/// Returns the pathspecs for code and data: all files except prose and what tools write.
pub(super) fn data_pathspecs() -> &'static [String] {
    static SPECS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let left_out = ["md", "mdx", "rst", "adoc", "lock", "svg", "html", "css", "po", "snap", "map"];
        let left_out = left_out.iter().map(|ending| format!(":(exclude,top)*.{ending}"));
        std::iter::once(":(top)".to_owned()).chain(left_out).collect()
    });
    &SPECS
}

/// Returns the pathspecs for settings.
pub(super) fn settings_pathspecs() -> &'static [String] {
    static SPECS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let names = [
            "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", "package.json", ".mocharc.json",
            ".mocharc.yml", ".rspec", "phpunit.xml", "phpunit.xml.dist", "Taskfile.yml", "mise.toml", ".mise.toml",
        ];
        names.iter().map(|name| format!(":(top,glob)**/{name}")).collect()
    });
    &SPECS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_well_written() {
        let table: NamedTextTable = embedded::table("named-texts.toml");
        let lists: toml::Table = embedded::table("named-texts.toml");
        for key in ["aside", "settings", "silent", "collecting", "ci", "scratch", "built", "by_stem"] {
            let globs: Vec<String> = lists[key].clone().try_into().unwrap();
            Globs::new(&globs).unwrap();
        }
        assert!(
            !table.generic.is_empty()
                && !table.includes.is_empty()
                && !table.listing.is_empty()
                && !table.runners.is_empty()
                && table.ci_readers.iter().all(|texts| !texts.is_empty())
        );
        for (file, is) in [
            ("src/lib.rs", Naming::Code),
            ("conftest.py", Naming::Code),
            ("test.sh", Naming::Code),
            ("x", Naming::Code),
            ("setup.py", Naming::Silent),
            ("eslint.config.mjs", Naming::Silent),
            ("docs/conf.py", Naming::Silent),
            ("Cargo.toml", Naming::Silent),
            ("docs/a.md", Naming::Silent),
            ("pyproject.toml", Naming::Settings),
            ("a/package.json", Naming::Settings),
            ("Makefile", Naming::Settings),
        ] {
            assert_eq!(naming(&RepoPath::from(file)), is, "{file}");
        }
    }
}
