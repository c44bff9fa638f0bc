//! The parts of the record that may be signed here, and the desk that signs and keeps them.
//!
//! A run of a declared command may be signed if the gates that need it would accept gate's own observation
//! ([`proven`]), and a verdict may be if it was given here ([`verdict`]). Both become statements of [`crate::attest`];
//! [`desk`] signs them, and [`remote`] sends them. [`crate::collect::attested`] decides which of them count elsewhere.

pub mod desk;
pub mod proven;
pub mod remote;
pub mod verdict;
