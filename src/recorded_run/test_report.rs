//! A report of the tests by name, requested from a runner in a way that changes nothing that anybody sees.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use tempfile::TempDir;

use crate::embedded;
use crate::runner::NamedTests;

/// The name of the plugin, as Python imports it.
const PLUGIN: &str = "gate_test_report";
/// The largest report that is read, in bytes.
const MAX_REPORT: u64 = 64 * 1024 * 1024;

/// A report that pytest was asked for.
#[derive(Debug)]
pub(super) struct PytestReport {
    folder: TempDir,
}

impl PytestReport {
    /// A folder with the plugin, if `line` starts pytest by itself: a script between could set `PYTHONPATH` anew, and
    /// pytest would fail because the plugin is missing.
    pub(super) fn prepare(line: &str) -> Option<Self> {
        if !starts_pytest(line) {
            return None;
        }
        let plugin = embedded::file(embedded::HOOKS, "pytest/gate_test_report.py")?;
        let folder = tempfile::Builder::new().prefix("gate-tests-").tempdir().ok()?;
        std::fs::write(folder.path().join(PLUGIN).with_extension("py"), plugin).ok()?;
        Some(Self { folder })
    }

    /// The variables that load the plugin and tell it where to write.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        let before = |name: &str, own: &OsStr, separator: &str| {
            let mut value = own.to_owned();
            if let Some(inherited) = std::env::var_os(name).filter(|inherited| !inherited.is_empty()) {
                value.push(separator);
                value.push(inherited);
            }
            (name.into(), value)
        };
        vec![
            before("PYTEST_PLUGINS", PLUGIN.as_ref(), ","),
            before("PYTHONPATH", self.folder.path().as_os_str(), if cfg!(windows) { ";" } else { ":" }),
            ("GATE_TEST_REPORT".into(), self.file().into()),
        ]
    }

    /// The tests that were reported; none where pytest wrote no report.
    pub(super) fn read(&self) -> NamedTests {
        let small = std::fs::metadata(self.file()).is_ok_and(|meta| meta.len() <= MAX_REPORT);
        let report = if small { std::fs::read_to_string(self.file()).unwrap_or_default() } else { String::new() };
        NamedTests::of_pytest_report(&report)
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("report.jsonl")
    }
}

/// `pytest`, `python -m pytest`, `uv run pytest` and the like, with plain arguments.
fn starts_pytest(line: &str) -> bool {
    if line.contains(['|', ';', '&', '<', '>', '$', '`', '(', ')', '\n', '=']) {
        return false;
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let own = match words.as_slice() {
        ["uv" | "poetry" | "pdm", "run", rest @ ..] => rest,
        all => all,
    };
    match own {
        ["pytest" | "py.test", ..] => true,
        [python, "-m", "pytest", ..] => {
            let version = python.rsplit('/').next().and_then(|name| name.strip_prefix("python"));
            version.is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_start_pytest_by_themselves_ask_for_a_report() {
        for line in ["pytest", "pytest -q tests", "python -m pytest -x", "python3.12 -m pytest", "uv run pytest -q"] {
            assert!(starts_pytest(line), "{line}");
        }
        for line in [
            "make test",
            "PYTHONPATH=src pytest",
            "pytest | tail -3",
            "python -I -m pytest",
            "python -m unittest",
            "tox",
            "cd api && pytest",
            "",
        ] {
            assert!(!starts_pytest(line), "{line}");
        }
    }
}
