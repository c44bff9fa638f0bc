//! Options that divide the work of a command: one run with each of them is one run without any.

use serde::Deserialize;

use super::{Essence, OptionChoice};

/// The options that do a share of the work each, and all of it together.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Shares {
    /// One option for each share.
    pub each: Vec<String>,
    /// Other options that choose a share.
    pub unless: Vec<String>,
}

impl Shares {
    /// Returns the arguments for each share; none if `essence` chooses one itself.
    pub(super) fn split(&self, essence: &Essence) -> Vec<Essence> {
        let chooses = |choice: &OptionChoice| self.each.contains(&choice.name) || self.unless.contains(&choice.name);
        if !essence.words.is_empty() || essence.options.iter().any(chooses) {
            return Vec::new();
        }
        let with = |option: &String| {
            let mut share = essence.clone();
            share.options.push(OptionChoice { name: option.clone(), value: None, more: false });
            share.options.sort();
            share
        };
        self.each.iter().map(with).collect()
    }
}
