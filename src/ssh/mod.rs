//! SSH keys, the signatures that `ssh-keygen -Y sign` makes with them, and lists of who may sign.
//!
//! Only the public half is here: signing is the work of `ssh-keygen`, which knows agents and hardware keys. What is
//! read comes from strangers, so every length is held against what is there, and what is not understood is no
//! signature. Certificates, DSA, SHA-1 and the curve P-521 are not understood.

pub mod allowed_signers;
pub mod key;
pub mod signature;
mod wire_format;

pub use allowed_signers::{Signer, Standing};
pub use key::PublicKey;
pub use signature::{Signature, SignatureError};
