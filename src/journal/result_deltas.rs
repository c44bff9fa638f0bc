//! The results of tests by number, and what changes in them from run to run.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::event::test_results::TestResult;

/// The results of a command by the number of the test.
pub(super) type Results = Vec<Option<TestResult>>;

/// Returns the results that differ, by the new result. Of a run that names every test, the others are missing.
pub(super) fn difference(
    before: &Results,
    now: &BTreeMap<usize, TestResult>,
    complete: bool,
) -> BTreeMap<TestResult, String> {
    let was = |id: usize| before.get(id).copied().flatten();
    let changed = now.iter().map(|(id, result)| (*id, *result)).filter(|(id, result)| was(*id) != Some(*result));
    let gone = before.iter().enumerate().filter(|(id, result)| complete && result.is_some() && !now.contains_key(id));
    let all: BTreeMap<usize, TestResult> = changed.chain(gone.map(|(id, _)| (id, TestResult::Missing))).collect();
    ranges_by_result(all.into_iter())
}

/// Writes numbers by result, with `-` between the first and the last of a row: `0-99,105`.
pub(super) fn ranges_by_result(results: impl Iterator<Item = (usize, TestResult)>) -> BTreeMap<TestResult, String> {
    let mut rows: BTreeMap<TestResult, Vec<(usize, usize)>> = BTreeMap::new();
    for (id, result) in results {
        let row = rows.entry(result).or_default();
        match row.last_mut() {
            Some((_, last)) if *last + 1 == id => *last = id,
            _ => row.push((id, id)),
        }
    }
    let text = |row: Vec<(usize, usize)>| {
        let mut text = String::new();
        for (first, last) in row {
            let comma = if text.is_empty() { "" } else { "," };
            let _ = if first == last { write!(text, "{comma}{first}") } else { write!(text, "{comma}{first}-{last}") };
        }
        text
    };
    rows.into_iter().map(|(result, row)| (result, text(row))).collect()
}

/// Reads the numbers that [`ranges_by_result`] wrote. What is not a number there is left out.
pub(super) fn ids_of(ranges: &str) -> impl Iterator<Item = usize> + '_ {
    ranges.split(',').flat_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let bounds = first.parse::<usize>().ok().zip(last.parse::<usize>().ok());
        // No ledger has more names.
        let (first, last) = bounds.filter(|(_, last)| *last < MAX_NAME_BYTES).unwrap_or((1, 0));
        first..=last
    })
}

/// Applies the changes of a run to the results before it.
pub(super) fn apply(results: &mut Results, changed: &BTreeMap<TestResult, String>) {
    for (result, ids) in changed {
        for id in ids_of(ids) {
            if results.len() <= id {
                results.resize(id + 1, None);
            }
            results[id] = Some(*result).filter(|result| *result != TestResult::Missing);
        }
    }
}

/// The largest size of all names, in bytes.
pub(super) const MAX_NAME_BYTES: usize = 12 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use TestResult::Passed;

    #[test]
    fn numbers_are_written_as_ranges() {
        let ids = [0, 1, 2, 5, 7, 8];
        let ranges = ranges_by_result(ids.iter().map(|id| (*id, Passed)));
        assert_eq!(ranges[&Passed], "0-2,5,7-8");
        assert_eq!(ids_of(&ranges[&Passed]).collect::<Vec<_>>(), ids);
        assert_eq!(ids_of("x,3,9-4,0-99999999999").collect::<Vec<_>>(), [3]);
    }
}
