//! One commit, one concern: what a commit says of itself, what it touches, and whether the two are one thing.
//!
//! Everything here is a pure function over plain values. [`crate::git`] reads them out of a repository,
//! [`crate::fact`] carries them, and the gate of kind `commits` turns a [`judge::Judgement`] into findings.

pub mod author;
pub mod change;
mod connect;
pub mod derive;
pub mod draft;
pub mod judge;
pub mod judgement;
mod memo;
pub mod message;
mod misspelt;
pub mod names;
pub mod rules;
pub mod scopes;
pub mod split;
pub mod style;
pub mod texture;
pub mod trailers;
