//! The red–green proof of a change: its tests run on the content without it and on the content with it.

use serde::{Deserialize, Serialize};

use super::CommandRef;
use crate::oid::Oid;

/// The largest number of names that each list of a recorded proof holds.
pub const MAX_NAMES: usize = 1000;

/// The fate of the tests that are new or changed, each list sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RedGreen {
    /// They fail without the change and pass with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proven: Vec<String>,
    /// They pass without the change, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indifferent: Vec<String>,
    /// They do not pass with the change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<String>,
    /// Their result without the change is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

impl RedGreen {
    /// Returns the lists.
    pub const fn lists(&self) -> [&Vec<String>; 4] {
        [&self.proven, &self.indifferent, &self.failing, &self.unknown]
    }

    /// Returns the same, with at most [`MAX_NAMES`] names in each list.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        for list in [&mut self.proven, &mut self.indifferent, &mut self.failing, &mut self.unknown] {
            list.truncate(MAX_NAMES);
        }
        self
    }
}

/// The tests of a change, run by a declared command without the change and with it, each on a clean checkout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RedGreenProof {
    /// The command.
    pub command: CommandRef,
    /// The content without the change, as a tree.
    pub base: Oid,
    /// The content with the change, as a tree.
    pub tree: Oid,
    /// The fate of its tests.
    pub results: RedGreen,
}
