//! Text that a grammar cannot read, replaced by text that it can.

use std::ops::Range;

use regex::Regex;
use serde::Deserialize;

/// The number of times a pattern is applied: of two macros in a row, one pass finds the first.
const MAX_PASSES: usize = 4;

/// A repair as `gates/symbols/languages.toml` has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenRepair {
    /// Its group is replaced.
    pattern: String,
    /// The replacement: a single character, repeated for each byte, or a longer text, padded with spaces.
    with: String,
    /// It is used only for files that do not parse without it.
    #[serde(default)]
    when_broken: bool,
}

/// A pattern, and what takes the place of its group.
pub(super) struct Repair {
    pattern: Regex,
    with: String,
}

/// The repairs of a language.
pub(super) struct Repairs {
    pub(super) always: Vec<Repair>,
    pub(super) when_broken: Vec<Repair>,
}

impl Repairs {
    pub(super) fn new(written: &[WrittenRepair]) -> Self {
        let compiled = |when_broken: bool| {
            let of_kind = written.iter().filter(|repair| repair.when_broken == when_broken);
            of_kind
                .filter_map(|repair| {
                    Some(Repair { pattern: Regex::new(&repair.pattern).ok()?, with: repair.with.clone() })
                })
                .collect()
        };
        Self { always: compiled(false), when_broken: compiled(true) }
    }
}

impl Repair {
    /// Returns the repaired text with the same lines and positions, or `None` if there is nothing to repair.
    pub(super) fn apply(&self, text: &str) -> Option<String> {
        let mut repaired: Option<String> = None;
        for _ in 0..MAX_PASSES {
            let now = repaired.as_deref().unwrap_or(text);
            let found = self
                .pattern
                .captures_iter(now)
                .filter_map(|found| found.iter().skip(1).flatten().next().map(|group| group.range()));
            let places: Vec<Range<usize>> = found.collect();
            if places.is_empty() {
                break;
            }
            let mut next = now.to_owned();
            for place in places {
                let fill = self.filling(&now[place.clone()]);
                next.replace_range(place, &fill);
            }
            repaired = Some(next);
        }
        repaired
    }

    fn filling(&self, replaced: &str) -> String {
        let mut text = self.with.chars().chain(std::iter::repeat(' '));
        let only = self.with.chars().next().filter(|_| self.with.len() == 1);
        let mut next = || only.or_else(|| text.next()).unwrap_or(' ');
        replaced.bytes().map(|byte| if byte == b'\n' { '\n' } else { next() }).collect()
    }
}

/// Returns the text with all of the repairs.
pub(super) fn repaired(text: String, repairs: &[Repair]) -> String {
    repairs.iter().fold(text, |text, repair| repair.apply(&text).unwrap_or(text))
}
