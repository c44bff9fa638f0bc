//! Attestations: signed statements about contents, kept in git notes on them.
//!
//! A statement ([`statement`], in-toto) records the result of a run of a declared command ([`test_run`]), a
//! red–green proof ([`proof_statement`]), or the judgement of `gate ci` ([`summary`]). It lies in an envelope ([`envelope`], DSSE) that is signed ([`sign`]) with an
//! SSH key. The subject is a git tree, so that a reword, a squash and a rebase with equal content change nothing. The
//! receiver decides what counts ([`verify`]) by its own list of signers and by nothing that travels. [`issuance`] chooses
//! what may be signed here.

pub mod envelope;
pub mod issuance;
pub mod proof_statement;
pub mod sign;
pub mod statement;
pub mod summary;
pub mod test_run;
pub mod verify;

pub use envelope::Envelope;

/// The purpose of the signatures. A signature for another purpose, such as a commit, does not sign a statement.
pub const NAMESPACE: &str = "gate-attestation";
/// The notes that hold envelopes, one a line, each on the tree it is about.
pub const NOTES: &str = "refs/notes/gate";
/// The program that makes these statements, as a URI: a name and no address.
pub const MAKER: &str = "urn:evidence-gate";
/// The name of the maker in statements of earlier versions, which still count.
pub const FORMER_MAKER: &str = "https://docs.rs/evidence-gate";
/// The longest line that is read or written, in bytes.
pub const MAX_LINE_LENGTH: usize = 128 * 1024;
