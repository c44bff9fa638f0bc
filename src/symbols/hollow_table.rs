//! The table of what does no work: `[hollow]` in `gates/symbols/languages.toml`.

use std::collections::HashSet;
use std::sync::OnceLock;

use regex::RegexSet;
use serde::Deserialize;

/// `[hollow]` in `gates/symbols/languages.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HollowTable {
    pub(super) through: HashSet<String>,
    pub(super) types: Vec<String>,
    pub(super) collections: HashSet<String>,
    pub(super) constants: HashSet<String>,
    pub(super) interpolations: HashSet<String>,
    pub(super) raises: HashSet<String>,
    pub(super) words: HashSet<String>,
    pub(super) discards: Patterns,
    pub(super) calls: HashSet<String>,
    pub(super) runs: HashSet<String>,
    pub(super) gives_up: Patterns,
    pub(super) prints: Patterns,
    pub(super) remarks: Patterns,
    pub(super) panics: Patterns,
    pub(super) fails: Patterns,
    pub(super) exits: Patterns,
    pub(super) conversions: Patterns,
    pub(super) constructors: Patterns,
    pub(super) asserts: Patterns,
    pub(super) empty: Patterns,
    pub(super) wraps: Patterns,
    pub(super) bindings: HashSet<String>,
    pub(super) assigns: HashSet<String>,
    pub(super) names: HashSet<String>,
    pub(super) lists: HashSet<String>,
    pub(super) marks: HashSet<String>,
    pub(super) nothing: HashSet<String>,
    pub(super) branches: HashSet<String>,
    pub(super) loops: HashSet<String>,
    pub(super) subjects: HashSet<String>,
    pub(super) middles: HashSet<String>,
    pub(super) heads: HashSet<String>,
    pub(super) head_kinds: HashSet<String>,
    pub(super) changes: HashSet<String>,
    pub(super) looks: Patterns,
    pub(super) jumps: HashSet<String>,
    pub(super) otherwise: Patterns,
    pub(super) visits: Patterns,
    pub(super) makes: HashSet<String>,
    pub(super) factories: Patterns,
    pub(super) members: HashSet<String>,
    pub(super) named_values: Patterns,
    pub(super) computes: HashSet<String>,
    pub(super) handlers: HashSet<String>,
    pub(super) pauses: Patterns,
    pub(super) defaults: Patterns,
    pub(super) replies: Patterns,
    pub(super) elsewhere: HashSet<String>,
    pub(super) before_body: HashSet<String>,
}

/// Patterns that are compiled when the first text is held against them.
#[derive(Deserialize)]
#[serde(from = "Vec<String>")]
pub(super) struct Patterns {
    written: Vec<String>,
    compiled: OnceLock<Option<RegexSet>>,
}

impl From<Vec<String>> for Patterns {
    fn from(written: Vec<String>) -> Self {
        Self { written, compiled: OnceLock::new() }
    }
}

impl Patterns {
    pub(super) fn is_match(&self, text: &str) -> bool {
        let compiled = self.compiled.get_or_init(|| RegexSet::new(&self.written).ok());
        compiled.as_ref().is_some_and(|set| set.is_match(text))
    }
}

impl HollowTable {
    /// Checks that the patterns of the table compile.
    #[cfg(test)]
    pub(super) fn check(&self) -> Result<(), regex::Error> {
        let t = self;
        let all = [&t.discards, &t.gives_up, &t.prints, &t.remarks, &t.panics, &t.fails, &t.exits, &t.looks];
        let rest = [&t.conversions, &t.constructors, &t.asserts, &t.empty, &t.wraps, &t.otherwise, &t.visits];
        let more = [&t.factories, &t.named_values, &t.pauses, &t.replies, &t.defaults];
        let mut every = all.into_iter().chain(rest).chain(more);
        every.try_for_each(|patterns| RegexSet::new(&patterns.written).map(drop))
    }
}
