//! Removed tests whose code was removed, too.

use std::collections::BTreeSet;

use super::table::table;
use super::{FilePair, Weakening, WeakeningKind, is_test_file};

/// The start of the tests in a file of Rust. Code after it is not code under test.
const OWN_TESTS: &str = "#[cfg(test)]";

/// Records, of the removed tests, those whose text names something that was defined in the code of the old side and is
/// no longer defined on the new side, itself or in a helper that is gone from its file, too. `pairs` are the files that
/// differ, tests and code. If as much is defined as before, something may only be renamed, and nothing is recorded.
pub(super) fn note(found: &mut Weakening, pairs: &[FilePair]) {
    let mut defined = (0, 0);
    let (mut before, mut after) = (BTreeSet::new(), BTreeSet::new());
    for pair in pairs.iter().filter(|pair| !is_test_file(&pair.path)) {
        let (old, new) = (definitions(pair.old.as_deref()), definitions(pair.new.as_deref()));
        defined = (defined.0 + old.len(), defined.1 + new.len());
        before.extend(old);
        after.extend(new);
    }
    let gone: BTreeSet<&str> = before.difference(&after).copied().collect();
    if defined.1 >= defined.0 || gone.is_empty() {
        return;
    }
    for change in found.changes.iter_mut().filter(|change| change.what == WeakeningKind::TestsRemoved) {
        let Some(pair) = pairs.iter().find(|pair| pair.path == change.path) else { continue };
        let (Some(index), Some(old)) = (table().language(&pair.path), pair.old.as_deref()) else { continue };
        let texts = table().language[index].texts(old, is_test_file(&pair.path));
        let left = definitions(pair.new.as_deref());
        let lost_helpers: Vec<(&str, &str)> =
            with_texts(old).into_iter().filter(|(name, _)| !left.contains(name)).collect();
        let names_it = |text: &str, own: &str| words(text).any(|word| word != own && gone.contains(word));
        let uses_it = |text: &str, own: &str| {
            let used = lost_helpers.iter().filter(|(name, _)| *name != own && words(text).any(|word| word == *name));
            used.into_iter().any(|(name, helper)| names_it(helper, name))
        };
        let about_it = |name: &&String| {
            let mut its = texts.iter().filter(|(test, _)| test == *name).peekable();
            its.peek().is_some() && its.all(|(test, text)| names_it(text, test) || uses_it(text, test))
        };
        change.obsolete = change.names.iter().filter(about_it).cloned().collect();
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Returns what a text defines: each name with its line and the deeper ones below.
fn with_texts(text: &str) -> Vec<(&str, &str)> {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let found = table().definition.about(text).flat_map(|one| one.captures_iter(text));
    let names = found.filter_map(|found| found.name("name"));
    let with_text = |name: regex::Match<'_>| {
        let start = text[..name.start()].rfind('\n').map_or(0, |at| at + 1);
        let mut lines = text[start..].split_inclusive('\n');
        let first = lines.next().unwrap_or_default();
        let below = lines.take_while(|line| line.trim().is_empty() || depth(line) > depth(first));
        (name.range(), start..start + first.len() + below.map(str::len).sum::<usize>())
    };
    names.map(with_text).map(|(name, own)| (&text[name], &text[own])).collect()
}

pub(super) fn definitions(text: Option<&str>) -> Vec<&str> {
    let text = text.unwrap_or_default();
    let code = text.split(OWN_TESTS).next().unwrap_or_default();
    let patterns = table().definition.about(code);
    patterns.flat_map(|one| one.captures_iter(code)).filter_map(|found| Some(found.name("name")?.as_str())).collect()
}
