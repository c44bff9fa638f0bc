//! Making attestations: the parts of the record that may be signed here, and the notes that keep them.
//!
//! A run of a declared command may be signed if the gates that need it would accept gate's own observation
//! ([`provable_runs`]), and a verdict may be if it was given here ([`verdict_statement`]). [`notes_repository`] signs
//! the statements and keeps them, and [`remote`] pushes them. [`crate::collect::attested`] decides which of them count
//! elsewhere.

pub mod notes_repository;
pub mod provable_runs;
pub mod remote;
pub mod verdict_statement;
