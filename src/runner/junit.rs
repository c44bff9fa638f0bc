//! JUnit XML reports: the counts of their test cases.

use crate::event::RunReport;

/// A report that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JunitError {
    /// Not well-formed as far as it was read.
    #[error("malformed XML at byte {at}: {what}")]
    Malformed {
        /// Where, from the start of the file.
        at: usize,
        /// What is wrong there.
        what: &'static str,
    },
    /// XML, but its root is neither `testsuites` nor `testsuite`.
    #[error("not a JUnit report: the root element is `{root}`")]
    NotJunit {
        /// The root element.
        root: String,
    },
}

/// Reads a report.
pub fn read_junit(xml: &[u8]) -> Result<RunReport, JunitError> {
    let _ = xml;
    Err(JunitError::Malformed { at: 0, what: "no element" })
}
