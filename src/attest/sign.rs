//! Signs as git signs commits with SSH keys: `ssh-keygen -Y sign`, or the program that `gpg.ssh.program` names.
//!
//! It supports agents, hardware keys and passphrases. The key is the one that is given, else that of git's own settings
//! (`user.signingKey`, `gpg.ssh.defaultKeyCommand`).

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{env, fs, io};

use super::{Envelope, NAMESPACE, envelope};
use crate::git::{GitError, Repo};
use crate::ssh::{PublicKey, Signature, SignatureError};

/// The program to use if git's settings name none.
const PROGRAM: &str = "ssh-keygen";
/// The prefix of the text of a key in `user.signingKey`.
const LITERAL: &str = "key::";

/// A key to sign with, and the program that does it.
#[derive(Clone, Debug)]
pub struct SigningKey {
    key: KeySource,
    program: String,
}

#[derive(Clone, Debug)]
enum KeySource {
    /// A file: a private key, or a public one whose private half is in an agent or in the same folder.
    File(PathBuf),
    /// The text of a public key whose other half is in an agent.
    Text(String),
}

/// A signature that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    /// No key is configured.
    #[error("no SSH key to sign with is known")]
    NoKey,
    /// git's settings could not be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The program is not there.
    #[error("cannot run {program}: {source}")]
    NotStarted {
        /// The program.
        program: String,
        /// The cause.
        source: io::Error,
    },
    /// The program refused.
    #[error("{program} did not sign: {said}")]
    Refused {
        /// The program.
        program: String,
        /// Its own words.
        said: String,
    },
    /// A temporary file could not be written or read.
    #[error("a temporary file cannot be used: {0}")]
    File(#[from] io::Error),
    /// No receiver would accept the signature.
    #[error("a signature was made that gate cannot verify: {0}")]
    Unverifiable(#[from] SignatureError),
}

impl SigningKey {
    /// Returns the key that is `given`, else that of git's settings.
    pub fn find(repo: &Repo, given: Option<&Path>) -> Result<Self, SignError> {
        let program = repo.config("gpg.ssh.program")?.unwrap_or_else(|| PROGRAM.to_owned());
        let key = if let Some(path) = given { KeySource::File(path.to_owned()) } else { configured(repo)? };
        Ok(Self { key, program })
    }

    /// Returns the public half of the key, if a file or a setting has it.
    pub fn public_key(&self) -> Option<PublicKey> {
        let read = |path: &Path| fs::read_to_string(path).ok().and_then(|text| public(&text));
        match &self.key {
            KeySource::Text(text) => public(text),
            KeySource::File(path) => read(path).or_else(|| {
                let mut beside = path.clone().into_os_string();
                beside.push(".pub");
                read(Path::new(&beside))
            }),
        }
    }

    /// Signs `payload` and returns its envelope and the signing key. Before it returns, it verifies the signature in
    /// the way that readers of the envelope do.
    pub fn sign(&self, payload: &[u8]) -> Result<(Envelope, PublicKey), SignError> {
        let message = envelope::to_sign(payload);
        let text = self.signature(&message)?;
        let blob = Signature::bytes_of_text(&text).ok_or(SignatureError::Malformed)?;
        let key = Signature::from_blob(&blob)?.verify(NAMESPACE, &message)?.clone();
        Ok((Envelope::new(payload, &key, &blob), key))
    }

    fn signature(&self, message: &[u8]) -> Result<String, SignError> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("statement");
        fs::write(&file, message)?;
        let mut command = Command::new(&self.program);
        command.args(["-Y", "sign", "-n", NAMESPACE, "-f"]);
        match &self.key {
            KeySource::File(path) => command.arg(path),
            KeySource::Text(text) => {
                let public = folder.path().join("key.pub");
                fs::write(&public, text)?;
                // Only an agent can have the other half of a key that is a text.
                command.arg(public).arg("-U")
            }
        };
        let output = run(command.arg(&file))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            let said = lines[lines.len().saturating_sub(3)..].join("; ");
            return Err(SignError::Refused { program: self.program.clone(), said });
        }
        Ok(fs::read_to_string(folder.path().join("statement.sig"))?)
    }
}

/// Reads a public key in the format of a `.pub` file.
fn public(text: &str) -> Option<PublicKey> {
    let mut words = text.split_whitespace();
    PublicKey::from_text(words.next()?, words.next()?).ok()
}

/// Checks that the program that makes signatures can be started here.
pub fn is_possible(repo: &Repo) -> Result<(), SignError> {
    let program = repo.config("gpg.ssh.program")?.unwrap_or_else(|| PROGRAM.to_owned());
    // It has no option that only says its version; any answer will do.
    run(Command::new(&program).arg("-?")).map(drop)
}

/// Returns the key of git's settings.
fn configured(repo: &Repo) -> Result<KeySource, SignError> {
    if let Some(key) = repo.config("user.signingkey")? {
        return key_of(&key).ok_or(SignError::NoKey);
    }
    let Some(ask) = repo.config("gpg.ssh.defaultkeycommand")? else { return Err(SignError::NoKey) };
    let output = run(Command::new("sh").args(["-c", &ask]))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let key = printed.lines().next().and_then(literal);
    key.filter(|_| output.status.success()).map(|key| KeySource::Text(key.to_owned())).ok_or(SignError::NoKey)
}

/// Returns the SSH key that `user.signingKey` names, or `None` if the setting contains the ID of another kind of key.
fn key_of(setting: &str) -> Option<KeySource> {
    if let Some(text) = literal(setting) {
        return Some(KeySource::Text(text.to_owned()));
    }
    let path = match setting.strip_prefix("~/") {
        Some(rest) => PathBuf::from(env::var_os("HOME")?).join(rest),
        None => PathBuf::from(setting),
    };
    path.is_file().then_some(KeySource::File(path))
}

/// Returns the text of a key, if the setting is one.
fn literal(setting: &str) -> Option<&str> {
    setting.strip_prefix(LITERAL).or_else(|| setting.starts_with("ssh-").then_some(setting))
}

fn run(command: &mut Command) -> Result<Output, SignError> {
    command.stdin(Stdio::null()).output().map_err(|source| SignError::NotStarted {
        program: command.get_program().to_string_lossy().into_owned(),
        source,
    })
}
