//! Code that asks whether a test runs it, so that tests may pass where the program does not, and code that sets the results
//! of tests or writes their report itself.

use regex::Regex;

use super::table::table;
use super::{FilePair, Weakened, WeakeningKind, is_test_file};
use crate::foreign_text::shortened_in_bytes;
use crate::lazy_patterns::LazyPatterns;
use crate::runner::name_source::REPORT_VARIABLE;

/// The maximum length of a line that is shown, in bytes.
const SHOWN: usize = 120;

/// Finds code that names the report of the tests, and its old side did not.
pub(super) fn compare_report(pair: &FilePair, changes: &mut Vec<Weakened>) {
    let names = |text: &&str| text.contains(REPORT_VARIABLE);
    let Some(new) = pair.new.as_deref().filter(names) else { return };
    if pair.old.as_deref().is_none_or(|old| !names(&old)) {
        let at = new.find(REPORT_VARIABLE).unwrap_or_default();
        changes.push(weakened(WeakeningKind::ReportWritten, pair, new, at));
    }
}

/// Finds new code that sets the results of tests and, outside of tests, new code that asks whether a test runs it.
pub(super) fn compare(pair: &FilePair, changes: &mut Vec<Weakened>) {
    let Some(new) = pair.new.as_deref().filter(|_| table().is_code(&pair.path)) else { return };
    let old = pair.old.as_deref().unwrap_or_default();
    let added = |patterns: &LazyPatterns| {
        let of_pattern = |pattern: &Regex| Some(pattern.find_iter(new).nth(pattern.find_iter(old).count())?.start());
        patterns.about(new).find_map(of_pattern)
    };
    let question = if is_test_file(&pair.path) { None } else { added(&table().asks_for_test) };
    if let Some(at) = question {
        changes.push(weakened(WeakeningKind::AsksForTest, pair, new, at));
    } else if let Some(at) = added(&table().forces_results) {
        changes.push(weakened(WeakeningKind::ForcesResults, pair, new, at));
    }
}

/// Returns the weakening by what begins at `at` in the new text of a file.
fn weakened(what: WeakeningKind, pair: &FilePair, new: &str, at: usize) -> Weakened {
    let start = new[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = new[start..].lines().next().unwrap_or_default();
    Weakened {
        what,
        path: pair.path.clone(),
        line: u32::try_from(new[..start].matches('\n').count() + 1).ok(),
        names: Vec::new(),
        obsolete: Vec::new(),
        before: String::new(),
        after: shortened_in_bytes(line.trim().to_owned(), SHOWN),
    }
}
