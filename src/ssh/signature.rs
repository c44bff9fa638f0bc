//! The signatures of `ssh-keygen -Y sign`: OpenSSH's `PROTOCOL.sshsig`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256, Sha512};

use super::key::{KeyError, PublicKey, SignatureCheck};
use super::wire_format::{WireReader, put};

const MAGIC: &[u8] = b"SSHSIG";
const VERSION: u32 = 1;
/// The longest signature that is read, in bytes: one by an RSA key of 8192 bits has some 2200.
const MAX_LENGTH: usize = 16 * 1024;
const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";

/// A signature that was taken apart and not yet held against a message.
#[derive(Clone, Debug)]
pub struct Signature {
    key: PublicKey,
    namespace: Vec<u8>,
    /// The field for later versions, which is part of the signed data.
    reserved: Vec<u8>,
    hash: Hash,
    /// The signature of the key, in the form of RFC 4253.
    made: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum Hash {
    Sha256,
    Sha512,
}

/// The reason why a signature counts for nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// It is not such a signature, or one of a later version.
    #[error("not an SSH signature")]
    Malformed,
    /// The key that it names cannot be verified with.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// It was made for something else.
    #[error("the signature was made for the namespace {0:?}")]
    Namespace(String),
    /// It was not made over this message by this key.
    #[error("the signature is not of this content")]
    Wrong,
    /// A hardware token made it without a touch.
    #[error("nobody touched the hardware key for this signature")]
    Untouched,
}

impl Signature {
    /// Takes the bytes of a signature apart.
    pub fn from_blob(blob: &[u8]) -> Result<Self, SignatureError> {
        if blob.len() > MAX_LENGTH {
            return Err(SignatureError::Malformed);
        }
        let mut reader = WireReader(blob);
        let mut parts = || {
            reader.bytes(MAGIC.len()).filter(|magic| *magic == MAGIC)?;
            reader.number().filter(|version| *version == VERSION)?;
            let parts = [reader.string()?, reader.string()?, reader.string()?, reader.string()?, reader.string()?];
            reader.end().map(|()| parts)
        };
        let [key, namespace, reserved, hash, signature] = parts().ok_or(SignatureError::Malformed)?;
        let hash = match hash {
            b"sha256" => Hash::Sha256,
            b"sha512" => Hash::Sha512,
            _ => return Err(SignatureError::Malformed),
        };
        Ok(Self {
            key: PublicKey::from_blob(key)?,
            namespace: namespace.to_vec(),
            reserved: reserved.to_vec(),
            hash,
            made: signature.to_vec(),
        })
    }

    /// Returns the bytes of a signature in the form that `ssh-keygen` writes, or `None` if it has another form.
    pub fn bytes_of_text(text: &str) -> Option<Vec<u8>> {
        let inner = text.trim().strip_prefix(BEGIN)?.strip_suffix(END)?;
        let base64: String = inner.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        STANDARD.decode(base64).ok()
    }

    /// Returns the key that signed, if the signature is over `message` for `namespace`.
    pub fn verify(&self, namespace: &str, message: &[u8]) -> Result<&PublicKey, SignatureError> {
        if self.namespace != namespace.as_bytes() {
            let shown: String = String::from_utf8_lossy(&self.namespace).chars().take(64).collect();
            return Err(SignatureError::Namespace(shown));
        }
        let (name, digest) = match self.hash {
            Hash::Sha256 => (&b"sha256"[..], Sha256::digest(message).to_vec()),
            Hash::Sha512 => (&b"sha512"[..], Sha512::digest(message).to_vec()),
        };
        let mut signed = MAGIC.to_vec();
        for part in [namespace.as_bytes(), &self.reserved, name, &digest] {
            put(&mut signed, part);
        }
        match self.key.made(&self.made, &signed) {
            SignatureCheck::Yes => Ok(&self.key),
            SignatureCheck::Untouched => Err(SignatureError::Untouched),
            SignatureCheck::No => Err(SignatureError::Wrong),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMESPACE: &str = "gate-attestation";

    /// Returns a file of `tests/data/ssh`, made by `ssh-keygen` of OpenSSH 9.2 (by hand if a token would have to be
    /// touched) and accepted by it.
    fn data(name: &str) -> String {
        std::fs::read_to_string(format!("{}/tests/data/ssh/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    }

    fn blob(name: &str) -> Vec<u8> {
        Signature::bytes_of_text(&data(&format!("{name}.sig"))).unwrap()
    }

    fn key(name: &str) -> Result<PublicKey, KeyError> {
        let keys = data("keys.pub");
        let line = keys.lines().find(|line| line.ends_with(&format!(" {name}"))).unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        PublicKey::from_text(words[0], words[1])
    }

    #[test]
    fn every_kind_of_key() {
        let message = data("message");
        for name in ["ed25519", "p256", "p384", "rsa", "sk-ed25519", "sk-p256"] {
            let signature = Signature::from_blob(&blob(name)).unwrap();
            assert_eq!(signature.verify(NAMESPACE, message.as_bytes()), Ok(&key(name).unwrap()), "{name}");
            assert_eq!(signature.verify(NAMESPACE, b"what was not tested\n"), Err(SignatureError::Wrong), "{name}");
            let elsewhere = signature.verify("git", message.as_bytes());
            assert_eq!(elsewhere, Err(SignatureError::Namespace(NAMESPACE.to_owned())), "{name}");
        }
        let sha256 = Signature::from_blob(&blob("sha256")).unwrap();
        assert!(sha256.verify(NAMESPACE, message.as_bytes()).is_ok());
        let unsupported = KeyError::Unsupported("ecdsa-sha2-nistp521".to_owned());
        assert_eq!(key("p521"), Err(unsupported.clone()));
        assert_eq!(Signature::from_blob(&blob("p521")).unwrap_err(), SignatureError::Key(unsupported));
    }

    #[test]
    fn a_signature_for_something_else_cannot_be_relabelled() {
        let message = data("message");
        let git = Signature::from_blob(&blob("other-namespace")).unwrap();
        assert_eq!(git.verify("git", message.as_bytes()), Ok(&key("ed25519").unwrap()));
        let relabelled = Signature { namespace: NAMESPACE.as_bytes().to_vec(), ..git };
        assert_eq!(relabelled.verify(NAMESPACE, message.as_bytes()), Err(SignatureError::Wrong));
    }

    /// Tests that no byte can be changed, missing, or added.
    #[test]
    fn every_byte_counts() {
        let message = data("message");
        let accepted = |blob: &[u8]| {
            let signature = Signature::from_blob(blob);
            signature.is_ok_and(|signature| signature.verify(NAMESPACE, message.as_bytes()).is_ok())
        };
        for name in ["ed25519", "p256", "sk-ed25519"] {
            let good = blob(name);
            assert!(accepted(&good));
            for at in 0..good.len() {
                let mut bad = good.clone();
                bad[at] ^= 1;
                assert!(!accepted(&bad), "{name}: byte {at}");
                assert!(!accepted(&good[..at]), "{name}: cut at {at}");
            }
            assert!(!accepted(&[&good[..], b"\0"].concat()), "{name}");
        }
        assert!(!accepted(&vec![0; MAX_LENGTH + 1]));
    }

    #[test]
    fn the_text_of_a_signature() {
        for text in ["", BEGIN, &format!("{BEGIN}\n{END}x"), &format!("{BEGIN}\n!\n{END}"), &data("message")] {
            assert_eq!(Signature::bytes_of_text(text), None, "{text}");
        }
    }

    #[test]
    fn a_key_is_called_as_by_ssh_keygen() {
        assert_eq!(key("ed25519").unwrap().fingerprint(), "SHA256:0LwA8cU9Vpjs7lNir0jmWWoHG80vkwiHq7+ukB5CAKM");
    }
}
