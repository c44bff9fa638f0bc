//! Decisions that were written down: architecture decision records, and `@RATIONALE` and `@REJECTED` in comments.
//!
//! Everything here is a pure function over texts: it finds the records of a file ([`read`]), and compares the records
//! of two states ([`compare`]). The grammar of the tags and of `[DEF:id:ADR]` is that of the GRACE agents. Their rule
//! is the reason for all of this: a record must not vanish as a shortcut out of a failure.

mod adr;
mod comments;
pub mod compare;
pub mod contradictions;
mod pattern_occurrence;
mod references;
pub mod revision;
pub mod rules;
mod same_code;
mod same_text;
mod tags;

pub use self::same_code::is_same_code;

use serde::{Deserialize, Serialize};

use crate::globs::Globs;
use crate::repo_path::RepoPath;

/// The marks of records. A file without them is not read.
pub const MARKS: [&str; 3] = ["@RATIONALE", "@REJECTED", "[DEF:"];

/// One record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Decision {
    /// The kind of record.
    pub kind: RecordKind,
    /// The name that other records use: `adr-4`, or the id of its `[DEF:…]`. Empty for a tag.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The text in one line; for an ADR, its title and decision.
    pub text: String,
    /// The `[DEF:…]` around it. Empty: none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub within: String,
    /// The status of an ADR.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<AdrStatus>,
    /// The ids that an ADR says it supersedes, amends or revises.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revises: Vec<String>,
    /// The signs that a rejected path is back: texts of added lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<String>,
    /// The same: globs of added files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The file.
    pub path: RepoPath,
    /// The line, counted from 1.
    pub line: u32,
}

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RecordKind {
    /// An architecture decision record, which holds for the whole program.
    Adr,
    /// The reason for something.
    Rationale,
    /// An approach that was tried or considered, and must not come back.
    Rejected,
}

/// The status of an architecture decision record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AdrStatus {
    /// It is being discussed.
    Proposed,
    /// It is in force.
    Accepted,
    /// It was decided against.
    Rejected,
    /// It is no longer in force and has no replacement.
    Deprecated,
    /// Another one is in force instead.
    Superseded,
}

impl RecordKind {
    /// Returns the word as written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Adr => "ADR",
            Self::Rationale => "@RATIONALE",
            Self::Rejected => "@REJECTED",
        }
    }
}

impl Decision {
    /// Returns a name for sentences: its id, or the first words of its text.
    pub fn name(&self) -> String {
        if self.id.is_empty() { same_text::name(&self.text) } else { self.id.clone() }
    }

    /// Returns `true` if it says that it replaces an ADR, or that one does not bind it.
    pub fn is_against_one(&self) -> bool {
        !references::against(self).is_empty()
    }

    /// Returns `true` if it binds: a tag always does, an ADR once it is decided.
    pub fn binds(&self) -> bool {
        match self.kind {
            RecordKind::Adr => matches!(self.status, None | Some(AdrStatus::Accepted | AdrStatus::Rejected)),
            RecordKind::Rationale | RecordKind::Rejected => true,
        }
    }
}

/// Returns the records of one file. `adr`: the files that are architecture decision records.
pub fn read(path: &RepoPath, text: &[u8], adr: &Globs) -> Vec<Decision> {
    let is_adr = adr.is_match(path.to_os());
    if !is_adr && !is_marked(text) {
        return Vec::new();
    }
    // A file of another encoding has its records, too.
    let text = String::from_utf8_lossy(text);
    let mut found = tags::read(path, &text);
    if is_adr && let Some(record) = adr::read(path, &text) {
        found.push(record);
    }
    found.sort_by_key(|decision| (decision.line, decision.kind));
    found
}

/// Returns `true` if a text holds any record.
pub fn is_marked(text: &[u8]) -> bool {
    MARKS.iter().any(|mark| memchr::memmem::find(text, mark.as_bytes()).is_some())
}
