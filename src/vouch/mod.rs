//! What of the record may be signed here, and the desk where it is signed and kept.
//!
//! A run of a declared command may be, where the gates that ask for it would take what gate itself saw ([`proven`]), and
//! a verdict, where it was given here ([`verdict`]). Both become statements of [`crate::attest`]; [`desk`] signs them, and
//! [`remote`] knows where they go. What of them counts elsewhere is said by [`crate::fact::attested`].

pub mod desk;
pub mod proven;
pub mod remote;
pub mod verdict;
