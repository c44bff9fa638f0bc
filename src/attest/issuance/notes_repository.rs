//! Signs statements and keeps them.

use std::path::{Path, PathBuf};

use anyhow::Result;
use jiff::Timestamp;

use crate::attest::sign::{SignError, SigningKey};
use crate::attest::statement::Statement;
use crate::attest::{Envelope, MAX_LINE_LENGTH, NAMESPACE, NOTES};
use crate::collect::attested::{self, MAX_NOTE};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::git::Repo;
use crate::oid::Oid;
use crate::policy::{Policy, PolicySource, Signers};
use crate::ssh::allowed_signers::{Standing, standing};
use crate::ssh::{PublicKey, SignatureError};

/// A repository whose notes are written, and the key that signs.
pub struct NotesRepository<'a> {
    repo: &'a Repo,
    key: Option<PathBuf>,
    signer: Option<SigningKey>,
}

/// A statement that is kept.
#[derive(Clone, Debug)]
pub struct KeptStatement {
    /// The statement in its envelope.
    pub envelope: Envelope,
    /// The key that signed it now, or `None` if it was there already.
    pub signed: Option<PublicKey>,
}

impl KeptStatement {
    /// Returns the common name of the key.
    pub fn by(&self) -> &str {
        self.envelope.signatures.first().map_or("", |signed| signed.keyid.as_str())
    }
}

impl<'a> NotesRepository<'a> {
    /// Returns a repository that signs with the key of this file; `None`: with that of git's settings. The key is looked for
    /// only when something is to be signed.
    pub fn new(repo: &'a Repo, key: Option<PathBuf>) -> Self {
        Self { repo, key, signer: None }
    }

    /// Signs `statement` and keeps it with each of `trees`, once. `what` names it if it is too long. `waits` hears of a
    /// key on hardware that will wait to be touched: the program's own message about that does not reach the terminal.
    pub fn sign(
        &mut self,
        trees: &[Oid],
        statement: &Statement,
        what: &str,
        waits: impl FnOnce(&PublicKey),
    ) -> Result<KeptStatement> {
        let payload = serde_json::to_vec(statement)?;
        let known = self.repo.notes(NOTES, trees, MAX_NOTE)?.contents;
        if let Some(envelope) = known.iter().find_map(|(_, note)| holding(note, &payload)) {
            return Ok(KeptStatement { envelope, signed: None });
        }
        let signer = self.signer().map_err(refused)?;
        if let Some(key) = signer.public_key().filter(PublicKey::is_on_token) {
            waits(&key);
        }
        let (envelope, key) = signer.sign(&payload).map_err(refused)?;
        let line = serde_json::to_string(&envelope)?;
        if line.len() > MAX_LINE_LENGTH {
            return Err(Failure::new(Exit::CannotJudge, format!("{what} makes too long a statement")).into());
        }
        for tree in trees {
            self.repo.add_to_note(NOTES, tree, std::slice::from_ref(&line), MAX_NOTE)?;
        }
        Ok(KeptStatement { envelope, signed: Some(key) })
    }

    fn signer(&mut self) -> Result<&SigningKey, SignError> {
        let found = match self.signer.take() {
            Some(signer) => signer,
            None => SigningKey::find(self.repo, self.key.as_deref().map(Path::new))?,
        };
        Ok(self.signer.insert(found))
    }
}

/// Returns the reason why the signatures of `key` count for nothing if `policy` is that of the base, as the end of a
/// sentence that begins with "the policy", or `None` if they count.
pub fn objection(repo: &Repo, policy: &Policy, key: &PublicKey) -> Option<String> {
    if policy.signers == Signers::Nobody {
        return Some("names no signers ([attest] in gate.toml)".to_owned());
    }
    let PolicySource::Commit(commit) = &policy.source else { return Some("is not committed".to_owned()) };
    let signers = match attested::signers(repo, policy, commit) {
        Ok((signers, _)) => signers,
        Err(why) => return Some(format!("cannot say who may sign: {why}")),
    };
    match standing(&signers, key, NAMESPACE, Timestamp::now()) {
        Standing::Allowed(_) => None,
        Standing::Expired(signer, until) => Some(format!("allowed this key of {} until {until}", signer.name)),
        Standing::NotYet(signer, from) => Some(format!("allows this key of {} from {from} on", signer.name)),
        Standing::Elsewhere(signer) => Some(format!("allows {} to sign only for other things", signer.name)),
        Standing::Unknown => Some("does not name this key as a signer".to_owned()),
    }
}

/// Returns the envelope in a note that holds exactly this payload.
fn holding(note: &[u8], payload: &[u8]) -> Option<Envelope> {
    let text = String::from_utf8_lossy(note);
    let envelopes = text.lines().filter_map(|line| serde_json::from_str::<Envelope>(line).ok());
    let mut same = envelopes.filter(|envelope| envelope.payload().as_deref() == Some(payload));
    same.find(|envelope| envelope.signers(payload).is_ok())
}

fn refused(error: SignError) -> Failure {
    let remedy = match &error {
        SignError::NoKey => {
            "git config gpg.format ssh && git config user.signingKey ~/.ssh/id_ed25519.pub, or: --key FILE"
        }
        SignError::NotStarted { .. } => "install OpenSSH, or name another program: git config gpg.ssh.program",
        SignError::Unverifiable(SignatureError::Untouched) => "use a hardware key that needs a touch",
        SignError::Unverifiable(_) => "use an Ed25519, ECDSA (P-256, P-384) or RSA key",
        SignError::Git(_) | SignError::Refused { .. } | SignError::File(_) => "",
    };
    Failure::new(Exit::CannotJudge, error).remedy(remedy)
}
