//! One commit, one concern: compares the message of a commit with its changes.
//!
//! Everything here is a pure function over plain values. [`crate::git`] reads them out of a repository, [`crate::fact`]
//! carries them, and the gate of kind `commits` turns a [`judgement::CommitJudgement`] into findings.

pub(crate) mod author;
mod cache;
pub mod change;
pub mod change_class;
pub(crate) mod changed_names;
mod cohesion;
pub mod derive_scopes;
pub mod judge;
pub(crate) mod judgement;
pub(crate) mod message;
pub(crate) mod message_draft;
mod misspelled_scope;
pub(crate) mod package_dependencies;
pub mod rules;
pub mod scopes;
pub(crate) mod split;
pub(crate) mod subject_style;
pub(crate) mod trailers;
