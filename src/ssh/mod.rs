//! SSH keys, the signatures that `ssh-keygen -Y sign` makes with them, and lists of signers.
//!
//! Only the public half is here: `ssh-keygen` signs, since it supports agents and hardware keys. The input comes from
//! strangers, so every length is checked against the data, and unknown data does not count as a signature.
//! Certificates, DSA, SHA-1 and the curve P-521 are not supported.

pub mod allowed_signers;
pub mod key;
pub mod signature;
mod wire_format;

pub use allowed_signers::Signer;
pub use key::PublicKey;
pub use signature::{Signature, SignatureError};
