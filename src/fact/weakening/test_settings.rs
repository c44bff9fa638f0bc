//! Settings that exclude tests, ignore their failures, or lower thresholds.

use std::collections::BTreeMap;

use regex::Regex;

use super::table::table;
use super::{Weakened, WeakeningKind};
use crate::foreign_text::shortened_in_bytes;
use crate::lazy_patterns::LazyPatterns;
use crate::repo_path::RepoPath;

/// The maximum length of a setting that is shown, in bytes.
const SHOWN: usize = 120;

pub(super) fn compare(path: &RepoPath, old: &str, new: &str, changes: &mut Vec<Weakened>) {
    let mut settings = table().settings(path).peekable();
    if settings.peek().is_none() {
        return;
    }
    let whole = new;
    let (old, new) = (without_comments(old), without_comments(new));
    let from = changes.len();
    for setting in settings {
        for (what, patterns) in [
            (WeakeningKind::LeftOut, &setting.leaves_out),
            (WeakeningKind::Narrowed, &setting.narrows),
            (WeakeningKind::TaskMasked, &setting.masks),
            (WeakeningKind::Forgiven, &setting.forgives),
        ] {
            added(path, what, patterns, &old, &new, changes);
        }
        lowered(path, &setting.least, &old, &new, changes);
    }
    for change in &mut changes[from..] {
        let text = match change.what {
            WeakeningKind::ThresholdLowered => change.names.first(),
            _ => Some(&change.after),
        };
        change.line = text.and_then(|text| line_with(whole, text.lines().next().unwrap_or_default()));
    }
}

/// Returns the line of a text that contains `said`, outside of comments, counted from 1.
fn line_with(text: &str, said: &str) -> Option<u32> {
    let said = said.trim_end_matches('…');
    let at = text.lines().position(|line| !is_comment(line) && line.contains(said)).filter(|_| !said.is_empty())?;
    u32::try_from(at + 1).ok()
}

fn is_comment(line: &str) -> bool {
    ["#", "//", ";"].iter().any(|start| line.trim_start().starts_with(start))
}

/// Removes the lines that are only a comment.
fn without_comments(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !is_comment(line)).collect()
}

fn added(
    path: &RepoPath,
    what: WeakeningKind,
    patterns: &LazyPatterns,
    old: &str,
    new: &str,
    changes: &mut Vec<Weakened>,
) {
    for pattern in patterns.about(new) {
        let (before, after) = (settings(pattern, old), settings(pattern, new));
        let length = |all: &[&str]| all.iter().map(|text| text.len()).sum::<usize>();
        if length(&after) <= length(&before) {
            continue;
        }
        let Some(new) = after.iter().find(|text| !before.contains(text)) else { continue };
        let shown = |text: &str| shortened_in_bytes(text.trim().to_owned(), SHOWN);
        changes.push(Weakened {
            what,
            path: path.clone(),
            line: None,
            names: if what == WeakeningKind::TaskMasked { vec!["every task".to_owned()] } else { Vec::new() },
            obsolete: Vec::new(),
            before: before.first().map(|text| shown(text)).unwrap_or_default(),
            after: shown(new),
        });
    }
}

/// Returns the values of a setting: up to the end of a list, of an entry, or of the line.
fn settings<'a>(pattern: &Regex, text: &'a str) -> Vec<&'a str> {
    let one = |found: regex::Match<'_>| {
        let rest = &text[found.start()..];
        let behind = found.len();
        let stop = rest[behind..].find(['\n', ',', '}', '[']).map(|at| behind + at);
        let end = match stop {
            Some(at) if rest[at..].starts_with('[') => rest[at..].find(']').map_or(rest.len(), |end| at + end + 1),
            Some(at) => at,
            None => rest.len(),
        };
        &rest[..end]
    };
    pattern.find_iter(text).map(one).collect()
}

fn lowered(path: &RepoPath, patterns: &LazyPatterns, old: &str, new: &str, changes: &mut Vec<Weakened>) {
    for pattern in patterns.about(old) {
        let (before, after) = (least(pattern, old), least(pattern, new));
        for (key, number) in before {
            let now = after.get(key).copied();
            if now.is_none_or(|now| now < number) && number > 0.0 {
                changes.push(Weakened {
                    what: WeakeningKind::ThresholdLowered,
                    path: path.clone(),
                    line: None,
                    names: vec![key.to_owned()],
                    obsolete: Vec::new(),
                    before: number.to_string(),
                    after: now.map_or_else(|| "nothing".to_owned(), |now| now.to_string()),
                });
            }
        }
    }
}

fn least<'a>(pattern: &Regex, text: &'a str) -> BTreeMap<&'a str, f64> {
    let mut found: BTreeMap<&str, f64> = BTreeMap::new();
    for groups in pattern.captures_iter(text) {
        let (Some(key), Some(number)) = (groups.name("key"), groups.name("n")) else { continue };
        let Ok(number) = number.as_str().parse::<f64>() else { continue };
        let least = found.entry(key.as_str()).or_insert(number);
        *least = least.min(number);
    }
    found
}
