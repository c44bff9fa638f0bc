//! The suites, and where their cases come from.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::eval::suite_kind::Suite;

use crate::embedded::{EVALS, file};
use crate::eval::labelled_case::LabelledCase;

/// The largest file of cases that is read, in bytes.
pub const MAX_SUITE: u64 = 16 * 1024 * 1024;

/// The folder of a project's own cases, below the root of its working tree.
pub const PROJECT_CASES: &str = ".gate/cases";

/// Cases that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file is too large.
    #[error("{}: {bytes} bytes are more than a suite may have", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// The file holds something else.
    #[error("{place}: not a list of cases: {source}")]
    Parse {
        /// The file, or the name of the suite.
        place: String,
        /// The cause, with its line.
        source: serde_json::Error,
    },
    /// A case of the project is wrong.
    #[error("{}: {what}", path.display())]
    Case {
        /// The file.
        path: PathBuf,
        /// The problem.
        what: String,
    },
}

/// Returns the cases of a suite that is part of the program.
pub fn built_in(suite: Suite) -> Result<Vec<LabelledCase>, SuiteError> {
    let text = file(EVALS, &format!("{}.json", suite.as_str())).unwrap_or("[]");
    parse(suite.as_str(), text.as_bytes())
}

/// Returns the cases of a file.
pub fn from_file(path: &Path) -> Result<Vec<LabelledCase>, SuiteError> {
    let wrong = |source| SuiteError::Read { path: path.to_owned(), source };
    let bytes = std::fs::metadata(path).map_err(wrong)?.len();
    if bytes > MAX_SUITE {
        return Err(SuiteError::TooLarge { path: path.to_owned(), bytes });
    }
    let cases = parse(&path.display().to_string(), &std::fs::read(path).map_err(wrong)?)?;
    if cases.is_empty() {
        return Err(SuiteError::Case { path: path.to_owned(), what: "the list has no cases".to_owned() });
    }
    Ok(cases)
}

fn parse(place: &str, bytes: &[u8]) -> Result<Vec<LabelledCase>, SuiteError> {
    serde_json::from_slice(bytes).map_err(|source| SuiteError::Parse { place: place.to_owned(), source })
}

/// Returns the second labels of a suite that is part of the program, by case.
pub fn second_labels(suite: Suite) -> BTreeMap<String, String> {
    let text = file(EVALS, "second-labels.json").unwrap_or("{}");
    // A test reads the embedded file.
    let mut all: BTreeMap<String, BTreeMap<String, String>> = serde_json::from_str(text).unwrap_or_default();
    all.remove(suite.as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_of_the_program_has_two_labels_and_a_class() {
        let least = [(Suite::Judge, 30), (Suite::Stuck, 16), (Suite::Compaction, 14), (Suite::Score, 10)];
        for (suite, count) in least {
            let cases = built_in(suite).unwrap();
            assert!(cases.len() >= count, "{suite:?}");
            let second = second_labels(suite);
            for case in &cases {
                assert!(second.contains_key(&case.id), "{suite:?} {}", case.id);
                assert!(!case.expected.accepted(suite).is_empty(), "{suite:?} {}", case.id);
                assert!("TCSXL".contains(case.class()), "{suite:?} {}", case.id);
            }
            assert_eq!(second.len(), cases.len(), "{suite:?}");
        }
    }

    #[test]
    fn what_holds_no_cases_is_refused_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        std::fs::write(&path, "[{\"id\": 1}]").unwrap();
        let error = from_file(&path).unwrap_err().to_string();
        assert!(error.contains("a.json") && error.contains("line 1"), "{error}");
        assert!(from_file(&folder.path().join("b.json")).is_err());
        std::fs::write(&path, "[]").unwrap();
        assert!(from_file(&path).unwrap_err().to_string().ends_with("a.json: the list has no cases"));
    }
}
