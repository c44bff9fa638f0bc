//! Code that asks whether a test runs it, so that tests may pass where the program does not.

use super::table::table;
use super::{FilePair, Weakened, WeakeningKind, is_test_file};
use crate::foreign_text::shortened_in_bytes;

/// The maximum length of a line that is shown, in bytes.
const SHOWN: usize = 120;

/// Finds questions in code, not in tests, that its old side does not ask as often.
pub(super) fn compare(pair: &FilePair, changes: &mut Vec<Weakened>) {
    let Some(new) = pair.new.as_deref().filter(|_| table().is_code(&pair.path) && !is_test_file(&pair.path)) else {
        return;
    };
    let old = pair.old.as_deref().unwrap_or_default();
    for pattern in table().asks_for_test.about(new) {
        let known = pattern.find_iter(old).count();
        let Some(found) = pattern.find_iter(new).nth(known) else { continue };
        let start = new[..found.start()].rfind('\n').map_or(0, |end| end + 1);
        let line = new[start..].lines().next().unwrap_or_default();
        changes.push(Weakened {
            what: WeakeningKind::AsksForTest,
            path: pair.path.clone(),
            line: u32::try_from(new[..start].matches('\n').count() + 1).ok(),
            names: Vec::new(),
            obsolete: Vec::new(),
            before: String::new(),
            after: shortened_in_bytes(line.trim().to_owned(), SHOWN),
        });
        return;
    }
}
