//! The red–green proof of a change: its tests fail on the code before it, and pass on the code after it.
//!
//! The tests that are new or changed run on a clean checkout of the base with the files of tests laid over it, and on a
//! clean checkout of the judged content.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::collect::tested_changes::TestDiff;
use crate::event::{Ended, RedGreen, TestResult};
use crate::fact::weakening::{DeclaredTest, is_file_of, is_same_test};
use crate::git::{GitError, Repo};
use crate::oid::Oid;
use crate::plural::counted;
use crate::policy::Command;
use crate::recorded_run::{ScratchRun, scratch_run};
use crate::repo_path::RepoPath;
use crate::runner::{Catalogue, NamedTests};

/// The folders with installed packages that a checkout borrows, if git ignores them.
const BORROWED: [&str; 4] = ["node_modules", ".venv", "venv", "vendor"];

/// Two contents, and the command that tests them.
pub struct RedGreenTrial<'a> {
    /// The repository.
    pub repo: &'a Repo,
    pub command: &'a Command,
    /// The runners that are known.
    pub runners: &'a Catalogue,
    /// The commit before the change.
    pub base: &'a Oid,
    /// The content with the change, as a tree.
    pub tree: &'a Oid,
    /// The largest time that each run may take.
    pub patience: Duration,
}

/// The reason why a trial shows nothing.
#[derive(Debug, thiserror::Error)]
pub enum RedGreenError {
    /// No file of tests differs.
    #[error("no file of tests changed since {0}")]
    NoTests(String),
    /// The command fails on the judged content, and none of its tests ran.
    #[error("`{command}` fails on a clean checkout with the change, and no test ran: {says}")]
    Broken {
        /// The command.
        command: String,
        /// A line of its output.
        says: String,
    },
    /// A checkout could not be made.
    #[error("the content cannot be checked out: {0}")]
    Checkout(String),
    /// A run took too long.
    #[error("`{command}` did not end within {} on a clean checkout", counted(*seconds, "second"))]
    Unfinished {
        /// The command.
        command: String,
        /// The limit.
        seconds: u64,
    },
    /// The runner does not name its tests.
    #[error("the tests of `{0}` are not known by name")]
    Unnamed(String),
    /// git could not be asked.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl RedGreenTrial<'_> {
    /// Runs the command on both contents and compares the tests that are new or changed.
    pub fn run(&self) -> Result<RedGreen, RedGreenError> {
        let base_tree = self.repo.tree_of(self.base)?;
        let TestDiff { files, tests, .. } = TestDiff::between(self.repo, &base_tree, self.tree)?;
        if files.is_empty() {
            return Err(RedGreenError::NoTests(self.base.short().to_owned()));
        }
        let with = self.tests_of(self.tree, None, &[])?;
        if with.tests.is_empty() {
            let command = self.command.run.clone();
            return Err(if with.ended.success() {
                RedGreenError::Unnamed(command)
            } else {
                RedGreenError::Broken { command, says: with.says }
            });
        }
        let without = self.tests_of(&base_tree, Some(self.base), &files)?;
        Ok(compare(&tests, &with.tests, &without))
    }

    /// Runs the command on a clean checkout of `tree` with these files as they are in the judged content.
    fn tests_of(&self, tree: &Oid, commit: Option<&Oid>, files: &[RepoPath]) -> Result<ScratchRun, RedGreenError> {
        let failed = |error: std::io::Error| RedGreenError::Checkout(error.to_string());
        let folder = tempfile::Builder::new().prefix("gate-prove-").tempdir().map_err(failed)?;
        let root = folder.path().join("checkout");
        self.repo.checkout_into(tree, commit, &root)?;
        for path in files {
            let content = self.repo.blob_at(self.tree, path)?;
            lay_over(&root.join(path.to_os()), content.as_deref()).map_err(failed)?;
        }
        if let Some(here) = self.repo.root() {
            borrow_packages(here, &root, &self.command.dir);
        }
        self.ran(&root, &folder)
    }

    fn ran(&self, root: &Path, folder: &TempDir) -> Result<ScratchRun, RedGreenError> {
        let (dir, output) = (root.join(self.command.dir.to_os()), folder.path().join("output"));
        let ran = scratch_run(&self.command.run, &own_packages_first(&dir), self.runners, &dir, &output, self.patience);
        ran.ok_or_else(|| RedGreenError::Unfinished {
            command: self.command.run.clone(),
            seconds: self.patience.as_secs(),
        })
    }
}

/// Writes a file, or removes it where the change removed it.
fn lay_over(path: &Path, content: Option<&[u8]>) -> std::io::Result<()> {
    match content {
        Some(content) => {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(path, content)
        }
        None if path.exists() => fs::remove_file(path),
        None => Ok(()),
    }
}

/// Links the folders of installed packages of the working tree into a checkout that lacks them.
fn borrow_packages(here: &Path, there: &Path, dir: &RepoPath) {
    for folder in [PathBuf::new(), dir.to_os()] {
        for name in BORROWED {
            let (own, wanted) = (here.join(&folder).join(name), there.join(&folder).join(name));
            if own.is_dir() && fs::symlink_metadata(&wanted).is_err() {
                // Without them the command fails, and says why.
                #[cfg(unix)]
                let _ = std::os::unix::fs::symlink(&own, &wanted);
            }
        }
    }
}

/// Returns the beginning of a line with which Python finds the packages of the checkout before those of the working
/// tree, which may be installed in place.
fn own_packages_first(dir: &Path) -> String {
    let is_python = ["pyproject.toml", "setup.py", "setup.cfg"].iter().any(|name| dir.join(name).is_file());
    let own = if dir.join("src").is_dir() { "$PWD/src:$PWD" } else { "$PWD" };
    if is_python { format!("export PYTHONPATH=\"{own}${{PYTHONPATH:+:$PYTHONPATH}}\"; ") } else { String::new() }
}

/// Returns the fate of the changed tests, and of others that fail without the change and pass with it: a row of a table
/// or a file of data is not a test of its own. A test that is skipped with the change says nothing about it.
fn compare(changed: &[(RepoPath, DeclaredTest)], with: &NamedTests, without: &ScratchRun) -> RedGreen {
    let is_concerned =
        |name: &str| changed.iter().any(|(path, test)| is_file_of(name, path) && is_same_test(name, &test.name));
    // Runners whose names have no file name a file that could not be loaded by its path.
    let is_in_a_failed_file = |name: &str| {
        let homes = changed.iter().filter(|(_, test)| is_same_test(name, &test.name)).map(|(path, _)| path.to_string());
        let has_failed = |home: &String| {
            without.tests.failed().any(|failed| {
                failed.strip_suffix(home.as_str()).is_some_and(|before| before.is_empty() || before.ends_with('/'))
            })
        };
        homes.into_iter().any(|home| has_failed(&home))
    };
    let mut fate = RedGreen::default();
    for (name, result) in with.results() {
        let is_red_green = || result == TestResult::Passed && without.tests.result(name) == Some(TestResult::Failed);
        if !is_concerned(name) && !is_red_green() {
            continue;
        }
        let list = match (result, without.tests.outcome(name)) {
            (TestResult::Skipped, _) => continue,
            (TestResult::Passed, Some(TestResult::Passed)) => &mut fate.indifferent,
            (TestResult::Passed, Some(TestResult::Failed)) => &mut fate.proven,
            // It fails before any test runs: what they use is not there yet.
            (TestResult::Passed, None) if without.tests.is_empty() && without.ended != Ended::Exited(0) => {
                &mut fate.proven
            }
            (TestResult::Passed, None) if is_in_a_failed_file(name) => &mut fate.proven,
            (TestResult::Passed, _) => &mut fate.unknown,
            _ => &mut fate.failing,
        };
        list.push(name.to_owned());
    }
    fate
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(names: &[&str]) -> Vec<(RepoPath, DeclaredTest)> {
        let test =
            |name: &&str| DeclaredTest { name: (*name).to_owned(), body: String::new(), ..DeclaredTest::default() };
        names.iter().map(|name| (RepoPath::from("tests/test_a.py"), test(name))).collect()
    }

    fn ran(status: i32, rows: &[(&str, TestResult)]) -> ScratchRun {
        let rows = rows.iter().map(|(name, result)| ((*name).to_owned(), *result));
        ScratchRun { ended: Ended::Exited(status), tests: NamedTests::of_cases(rows, true), says: String::new() }
    }

    #[test]
    fn a_test_is_proven_if_it_fails_without_the_change() {
        use TestResult::{Failed, Passed, Skipped};
        let names = ["tests/test_a.py::one", "tests/test_a.py::two", "tests/test_a.py::three", "tests/test_a.py::old"];
        let with = ran(0, &names.map(|name| (name, Passed))).tests;
        let changed = changed(&["one", "two", "three"]);
        let all = vec![names[0].to_owned(), names[2].to_owned(), names[1].to_owned()];
        let without = ran(1, &[(names[0], Failed), (names[1], Passed), (names[2], Skipped), (names[3], Passed)]);
        let fate = compare(&changed, &with, &without);
        assert_eq!((fate.proven, fate.indifferent, fate.unknown), (all[..1].into(), all[2..].into(), all[1..2].into()));
        // The file cannot be loaded, and nothing compiles.
        for without in [ran(1, &[("tests/test_a.py", Failed)]), ran(101, &[])] {
            assert_eq!(compare(&changed, &with, &without).proven, all);
        }
        assert_eq!(compare(&changed, &with, &ran(0, &[])).unknown, all, "nothing ran");
        let plain = ran(0, &[("one", Passed), ("two", Passed)]).tests;
        let lost = ran(1, &[("/tmp/x/checkout/tests/test_a.py", Failed)]);
        assert_eq!(compare(&changed, &plain, &lost).proven, ["one", "two"], "names without files");
        let other = ran(1, &[("/tmp/x/other_tests/test_a.py", Failed)]);
        assert_eq!(compare(&changed, &plain, &other).proven, Vec::<String>::new());
        // Its data changed.
        let fate = compare(&changed, &with, &ran(1, &[(names[3], Failed)]));
        assert_eq!(fate.proven, [names[3]]);
        // It cannot run here.
        let with = ran(0, &[(names[0], Skipped), (names[1], Passed)]).tests;
        let fate = compare(&changed, &with, &ran(1, &[(names[0], Skipped), (names[1], Failed)]));
        assert_eq!((fate.proven, fate.failing), (vec![names[1].to_owned()], Vec::new()));
    }
}
