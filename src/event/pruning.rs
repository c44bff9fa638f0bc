//! Events about the removal of old entries from the journal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Repaired;

/// The first line of a journal from which entries were removed. It stands for all that was before its rest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct JournalHead {
    /// The number of bytes that the journal had before the rest: positions of the rest stay what they were.
    pub cut: u64,
    /// The number of lines that it had there.
    pub lines: u64,
    /// The digest of the last of them, which the first line of the rest holds.
    pub resumes: String,
    /// The number of entries between this line and the rest that were kept, and their bytes.
    pub carried: (u64, u64),
    /// The digest of the last of them; empty if there are none.
    #[serde(default)]
    pub ends: String,
    /// The faults before the rest. An acknowledgement in the rest is about these.
    #[serde(default)]
    pub faults: Repaired,
    /// The number of faults that were acknowledged there.
    #[serde(default)]
    pub acknowledged: u64,
    /// The failures that did not block and whose verdicts were removed, by gate.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub would_block: BTreeMap<String, u64>,
}

impl JournalHead {
    /// Returns the number of its line: those that were carried follow it, and then the rest.
    pub fn number(&self) -> u64 {
        self.lines.saturating_sub(self.carried.0)
    }
}

/// Old entries that prove nothing any more were removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Pruned {
    /// The digest of the line that stands for them.
    pub head: String,
    /// The number of entries.
    pub entries: u64,
    /// Their size, in bytes.
    pub bytes: u64,
}
