//! Entries of the board.

use serde::{Deserialize, Serialize};

/// An entry was put on the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Posted {
    /// The folder and the name of the entry: `reviews/api`.
    pub place: String,
    /// Its version, counted from 1. An earlier version is superseded and stays.
    pub version: u32,
    /// The author.
    pub author: String,
    /// The role in which it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The digest of the text.
    pub digest: String,
}
