//! The answers of `gate board`, for programs.

use serde::Serialize;

use crate::board::BoardEntry;

/// The answer of `gate board list`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BoardList {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The newest version of each entry, in the order of their writing.
    pub entries: Vec<BoardEntry>,
}
