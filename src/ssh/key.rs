//! A public key: its kind, its fingerprint, and the check of its signatures.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA512,
    RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use sha2::{Digest, Sha256};

use super::wire_format::WireReader;

/// The longest key that is read, in bytes: RSA of 8192 bits has some 1050.
const MAX_LENGTH: usize = 4096;
/// The flag with which a token signs that somebody touched it (`PROTOCOL.u2f`; FIDO's "user present").
const TOUCHED: u8 = 1;

/// A public key of a kind that can be verified with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    /// The key in the form of RFC 4253: equal keys are equal bytes.
    blob: Vec<u8>,
    kind: KeyKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum KeyKind {
    Ed25519(Vec<u8>),
    P256(Vec<u8>),
    P384(Vec<u8>),
    Rsa {
        exponent: Vec<u8>,
        modulus: Vec<u8>,
    },
    /// On a hardware token, which signs the digest of its application along with the message.
    Token {
        inner: Box<KeyKind>,
        application: Vec<u8>,
    },
}

/// A text or some bytes that are not a key for verification.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The data is not a key.
    #[error("not an SSH public key")]
    Malformed,
    /// A key of a kind that is not understood.
    #[error("signatures by keys of the kind {0} cannot be verified")]
    Unsupported(String),
}

impl PublicKey {
    /// Reads a key in the form of RFC 4253.
    pub fn from_blob(blob: &[u8]) -> Result<Self, KeyError> {
        if blob.len() > MAX_LENGTH {
            return Err(KeyError::Malformed);
        }
        let mut reader = WireReader(blob);
        let name = reader.text().ok_or(KeyError::Malformed)?;
        let kind = match name {
            "ssh-ed25519" => ed25519(&mut reader),
            "ecdsa-sha2-nistp256" => p256(&mut reader),
            "ecdsa-sha2-nistp384" => curve(&mut reader, "nistp384", 97).map(KeyKind::P384),
            "ssh-rsa" => rsa(&mut reader),
            "sk-ssh-ed25519@openssh.com" => ed25519(&mut reader).and_then(|key| token(key, &mut reader)),
            "sk-ecdsa-sha2-nistp256@openssh.com" => p256(&mut reader).and_then(|key| token(key, &mut reader)),
            other => return Err(unsupported(other)),
        };
        let kind = kind.filter(|_| reader.end().is_some()).ok_or(KeyError::Malformed)?;
        Ok(Self { blob: blob.to_vec(), kind })
    }

    /// Reads a key as files have it: its kind, then its bytes in base 64.
    pub fn from_text(kind: &str, base64: &str) -> Result<Self, KeyError> {
        let blob = STANDARD.decode(base64).map_err(|_| KeyError::Malformed)?;
        let key = Self::from_blob(&blob)?;
        if WireReader(&blob).text() == Some(kind) { Ok(key) } else { Err(KeyError::Malformed) }
    }

    /// Returns `true` if its private half is on a hardware token, which has to be touched.
    pub fn is_on_token(&self) -> bool {
        matches!(self.kind, KeyKind::Token { .. })
    }

    /// Returns the name that people and `ssh-keygen -l` use: `SHA256:…`.
    pub fn fingerprint(&self) -> String {
        format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(&self.blob)))
    }

    /// Checks that it made `signature` over `message`; `signature` is in the form of RFC 4253, section 6.6.
    pub(super) fn made(&self, signature: &[u8], message: &[u8]) -> SignatureCheck {
        let mut reader = WireReader(signature);
        verify(&self.kind, &mut reader, message).filter(|_| reader.end().is_some()).unwrap_or(SignatureCheck::No)
    }
}

/// The result of checking a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignatureCheck {
    /// It did not.
    No,
    /// A hardware token did, without a touch. Anyone with the file of such a key can ask for that, whatever the file
    /// says (OpenSSH's `PROTOCOL.u2f`), so that it does not prove a person.
    Untouched,
    /// It did.
    Yes,
}

/// Returns the error for an unsupported kind. It repeats only text that looks like the name of a kind.
fn unsupported(name: &str) -> KeyError {
    if name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || "-@.".contains(c)) && !name.is_empty() {
        KeyError::Unsupported(name.to_owned())
    } else {
        KeyError::Malformed
    }
}

fn ed25519(reader: &mut WireReader<'_>) -> Option<KeyKind> {
    reader.string().filter(|key| key.len() == 32).map(|key| KeyKind::Ed25519(key.to_vec()))
}

fn p256(reader: &mut WireReader<'_>) -> Option<KeyKind> {
    curve(reader, "nistp256", 65).map(KeyKind::P256)
}

/// Reads an uncompressed point of a curve.
fn curve(reader: &mut WireReader<'_>, name: &str, length: usize) -> Option<Vec<u8>> {
    let known = reader.text()? == name;
    reader.string().filter(|point| known && point.len() == length && point[0] == 4).map(<[u8]>::to_vec)
}

fn rsa(reader: &mut WireReader<'_>) -> Option<KeyKind> {
    let exponent = reader.unsigned()?.to_vec();
    let modulus = reader.unsigned()?.to_vec();
    Some(KeyKind::Rsa { exponent, modulus })
}

fn token(inner: KeyKind, reader: &mut WireReader<'_>) -> Option<KeyKind> {
    let application = reader.string()?.to_vec();
    Some(KeyKind::Token { inner: Box::new(inner), application })
}

/// Checks a signature. Returns `None` if the key did not make it. The caller checks the rest of `reader` afterwards.
fn verify(kind: &KeyKind, reader: &mut WireReader<'_>, message: &[u8]) -> Option<SignatureCheck> {
    let name = reader.text()?;
    match kind {
        KeyKind::Ed25519(key) => {
            let signature = (name == "ssh-ed25519").then(|| reader.string())??;
            ring(&ED25519, key, message, signature)
        }
        KeyKind::P256(key) => {
            let signature = (name == "ecdsa-sha2-nistp256").then(|| pair(reader, 32))??;
            ring(&ECDSA_P256_SHA256_FIXED, key, message, &signature)
        }
        KeyKind::P384(key) => {
            let signature = (name == "ecdsa-sha2-nistp384").then(|| pair(reader, 48))??;
            ring(&ECDSA_P384_SHA384_FIXED, key, message, &signature)
        }
        KeyKind::Rsa { exponent, modulus } => {
            let algorithm = match name {
                "rsa-sha2-512" => &RSA_PKCS1_2048_8192_SHA512,
                "rsa-sha2-256" => &RSA_PKCS1_2048_8192_SHA256,
                _ => return None,
            };
            let key = RsaPublicKeyComponents { n: modulus, e: exponent };
            key.verify(algorithm, message, reader.string()?).ok().map(|()| SignatureCheck::Yes)
        }
        KeyKind::Token { inner, application } => {
            let signature = reader.string()?;
            let rest = reader.bytes(5)?;
            // Which flags (touched, identified) and count the token signed along.
            let signed = [&Sha256::digest(application)[..], rest, &Sha256::digest(message)[..]].concat();
            let made = match (&**inner, name) {
                (KeyKind::Ed25519(key), "sk-ssh-ed25519@openssh.com") => ring(&ED25519, key, &signed, signature),
                (KeyKind::P256(key), "sk-ecdsa-sha2-nistp256@openssh.com") => {
                    let mut inner = WireReader(signature);
                    let fixed = numbers(&mut inner, 32).filter(|_| inner.end().is_some())?;
                    ring(&ECDSA_P256_SHA256_FIXED, key, &signed, &fixed)
                }
                _ => None,
            };
            made.map(|made| if rest[0] & TOUCHED == 0 { SignatureCheck::Untouched } else { made })
        }
    }
}

fn ring(
    algorithm: &'static dyn VerificationAlgorithm,
    key: &[u8],
    message: &[u8],
    signature: &[u8],
) -> Option<SignatureCheck> {
    UnparsedPublicKey::new(algorithm, key).verify(message, signature).ok().map(|()| SignatureCheck::Yes)
}

/// Reads the two numbers of an ECDSA signature, a string around them, each made as long as the curve needs it.
fn pair(reader: &mut WireReader<'_>, length: usize) -> Option<Vec<u8>> {
    let mut inner = WireReader(reader.string()?);
    numbers(&mut inner, length).filter(|_| inner.end().is_some())
}

fn numbers(reader: &mut WireReader<'_>, length: usize) -> Option<Vec<u8>> {
    let mut fixed = Vec::with_capacity(2 * length);
    for _ in 0..2 {
        let number = reader.unsigned()?;
        fixed.resize(fixed.len() + length.checked_sub(number.len())?, 0);
        fixed.extend_from_slice(number);
    }
    Some(fixed)
}
