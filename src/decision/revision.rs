//! Revisions: explicit changes of a record.

use serde::{Deserialize, Serialize};

use super::{AdrStatus, Decision, RecordKind, references, same_text};

pub(super) use super::references::{named_in, number};

/// The trailer of a commit message that revises a record of the code: `Decision-Revision: NAME: what changed`.
pub const TRAILER: &str = "Decision-Revision";

/// The smallest number of words, in addition to the name, with which a revision says what changed.
const MIN_WORDS: usize = 3;

/// A text that says which record is revised and what changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Revision {
    /// The place: `docs/adr/0007-x.md:1`, `a1b2c3d`.
    pub place: String,
    /// The ids it says it revises.
    pub ids: Vec<String>,
    /// The text.
    pub text: String,
    /// `true` if it is an architecture decision record, and may revise others of its kind.
    pub global: bool,
}

impl Revision {
    /// Returns an ADR as a revision, once it is in force.
    pub fn of_adr(decision: &Decision) -> Option<Self> {
        let in_force = matches!(decision.status, None | Some(AdrStatus::Accepted));
        (decision.kind == RecordKind::Adr && in_force).then(|| Self {
            place: format!("{}:{}", decision.path, decision.line),
            ids: decision.revises.clone(),
            text: decision.text.clone(),
            global: true,
        })
    }

    /// Returns the value of a trailer as a revision.
    pub fn of_trailer(commit: &str, value: &str) -> Self {
        let first = value.split_whitespace().next().unwrap_or_default();
        let ids = references::adr(first).into_iter().chain(named_in(value)).collect();
        Self { place: commit.to_owned(), ids, text: value.to_owned(), global: false }
    }

    /// Returns `true` if it names a record, whatever it says about it. An ADR that mentions a tag without changing it
    /// does not.
    pub fn names(&self, decision: &Decision) -> bool {
        if decision.kind == RecordKind::Adr {
            let same = |id: &String| id.eq_ignore_ascii_case(&decision.id);
            self.ids.iter().any(same) || (!self.global && same_text::names(&self.text, &decision.id))
        } else if self.global {
            references::changes(&self.text, &decision.name())
        } else {
            same_text::names(&self.text, &decision.name())
        }
    }

    /// Returns `true` if it names a record of its own scope and says what changed: only an ADR revises an ADR.
    pub fn revises(&self, decision: &Decision) -> bool {
        let about = if decision.kind == RecordKind::Adr { 1 } else { same_text::words(&decision.name()).len() };
        self.names(decision)
            && (self.global || decision.kind != RecordKind::Adr)
            && same_text::words(&self.text).len() >= about + MIN_WORDS
    }
}
