//! Decides which of some lines count, by a list of signers.

use std::collections::BTreeSet;
use std::fmt;

use jiff::Timestamp;

use super::proof_statement::{self, ProofStatement};
use super::statement::Statement;
use super::summary::{self, VerificationSummary};
use super::test_run::{self, TestRun};
use super::{Envelope, MAX_LINE_LENGTH, NAMESPACE};
use crate::oid::Oid;
use crate::ssh::allowed_signers::{self, Standing};
use crate::ssh::{PublicKey, Signer};

/// A run that somebody vouches for who may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attested {
    pub run: TestRun,
    /// The signer's name in the list of signers.
    pub by: String,
    /// Their key, as people call it.
    pub key: String,
    /// The tree whose note it is in, and its line there.
    pub place: (Oid, String),
}

/// A red–green proof that somebody vouches for who may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttestedProof {
    /// The proof.
    pub statement: ProofStatement,
    /// The signer's name in the list of signers.
    pub by: String,
    /// Their key, as people call it.
    pub key: String,
}

/// A verdict of `gate ci` that somebody signed who may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedVerdict {
    /// The verdict.
    pub summary: VerificationSummary,
    /// The signer's name in the list of signers.
    pub by: String,
    /// Their key, as people call it.
    pub key: String,
}

/// A line that counts for nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RefusedLine {
    /// The tree whose note it is in.
    pub tree: Oid,
    /// The reason, as the end of a sentence that begins with "a statement".
    pub why: String,
}

impl fmt::Display for RefusedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a statement about {} does not count: {}", self.tree.short(), self.why)
    }
}

/// The contents of some lines.
#[derive(Clone, Debug, Default)]
pub struct VerifiedLines {
    /// The runs that count.
    pub runs: Vec<Attested>,
    /// The red–green proofs that count.
    pub proofs: Vec<AttestedProof>,
    /// The verdicts that were signed by who may.
    pub verdicts: Vec<SignedVerdict>,
    /// The lines that do not count, with the reason.
    pub refused: Vec<RefusedLine>,
}

/// The body of a statement.
enum StatementBody {
    Run(Attested),
    Proof(AttestedProof),
    Verdict(SignedVerdict),
    /// Something that gate does not read.
    Else,
}

/// Returns the lines that count among `lines`, each a line of the note on a tree, at the time `now`. Statements of
/// other forms are skipped.
pub fn read(lines: &[(Oid, String)], signers: &[Signer], now: Timestamp) -> VerifiedLines {
    let (mut read, mut refused) = (VerifiedLines::default(), BTreeSet::new());
    for (tree, line) in lines {
        match statement(tree, line, signers, now) {
            Ok(StatementBody::Run(run)) if read.runs.iter().all(|known| known.run != run.run) => read.runs.push(run),
            Ok(StatementBody::Proof(proof)) if !read.proofs.contains(&proof) => read.proofs.push(proof),
            // It lies in the note of each tree that it is about.
            Ok(StatementBody::Verdict(verdict)) if !read.verdicts.contains(&verdict) => read.verdicts.push(verdict),
            Ok(_) => {}
            Err(why) => drop(refused.insert(RefusedLine { tree: tree.clone(), why })),
        }
    }
    read.refused = refused.into_iter().collect();
    read
}

/// Reads a statement. It checks the signer first, and reads nothing that a stranger wrote.
fn statement(tree: &Oid, line: &str, signers: &[Signer], now: Timestamp) -> Result<StatementBody, String> {
    if line.len() > MAX_LINE_LENGTH {
        return Err("it is longer than any that gate writes".to_owned());
    }
    let envelope: Envelope = serde_json::from_str(line).map_err(|_| "it is not an envelope".to_owned())?;
    let payload = envelope.payload().ok_or("its envelope holds no in-toto statement")?;
    let keys = envelope.signers(&payload).map_err(|error| error.to_string())?;
    let signer = allowed(&keys, signers, now)?;
    let statement: Statement =
        serde_json::from_slice(&payload).map_err(|_| "it is not an in-toto statement".to_owned())?;
    if statement.kind != super::statement::TYPE {
        return Err("it is not an in-toto statement of version 1".to_owned());
    }
    let (by, key) = (signer.name.clone(), signer.key.fingerprint());
    Ok(match statement.predicate_type.as_str() {
        test_run::PREDICATE => StatementBody::Run(Attested {
            run: TestRun::read(&statement)?,
            by,
            key,
            place: (tree.clone(), line.to_owned()),
        }),
        proof_statement::PREDICATE => {
            StatementBody::Proof(AttestedProof { statement: ProofStatement::read(&statement)?, by, key })
        }
        summary::PREDICATE => match VerificationSummary::read(&statement)? {
            Some(summary) => StatementBody::Verdict(SignedVerdict { summary, by, key }),
            None => StatementBody::Else,
        },
        _ => StatementBody::Else,
    })
}

/// Returns the first of `keys` that may sign; otherwise the problem of the first.
fn allowed<'a>(keys: &[PublicKey], signers: &'a [Signer], now: Timestamp) -> Result<&'a Signer, String> {
    let mut wrong = None;
    for key in keys {
        let why = match allowed_signers::standing(signers, key, NAMESPACE, now) {
            Standing::Allowed(signer) => return Ok(signer),
            Standing::Expired(signer, until) => format!("the key of {} was allowed until {until}", signer.name),
            Standing::NotYet(signer, from) => format!("the key of {} is allowed from {from} on", signer.name),
            Standing::Elsewhere(signer) => format!("{} may sign only for other things", signer.name),
            Standing::Unknown => {
                format!("it is signed with {}, which belongs to nobody on the list", key.fingerprint())
            }
        };
        wrong.get_or_insert(why);
    }
    Err(wrong.unwrap_or_else(|| "it is not signed".to_owned()))
}
