//! DSSE, version 1: a payload, its type, and signatures over both (secure-systems-lab/dsse, `protocol.md`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::NAMESPACE;
use crate::ssh::{PublicKey, Signature, SignatureError};

/// The type of an in-toto statement in an envelope.
pub const IN_TOTO: &str = "application/vnd.in-toto+json";
/// The largest number of signatures of an envelope that are checked.
const SIGNATURES: usize = 8;

/// A signed payload, as a line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    #[serde(rename = "payloadType")]
    pub payload_type: String,
    /// The payload in base 64.
    pub payload: String,
    pub signatures: Vec<Signed>,
}

/// One signature of an envelope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// The name of the key: for people, never for a decision.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub keyid: String,
    /// The signature in base 64: the text that `ssh-keygen` writes between its two lines.
    pub sig: String,
}

impl Envelope {
    /// Returns a payload with one signature, which has the bytes `signature`.
    pub fn new(payload: &[u8], key: &PublicKey, signature: &[u8]) -> Self {
        Self {
            payload_type: IN_TOTO.to_owned(),
            payload: STANDARD.encode(payload),
            signatures: vec![Signed { keyid: key.fingerprint(), sig: STANDARD.encode(signature) }],
        }
    }

    /// Returns the payload of an in-toto statement, or `None` if it is something else.
    pub fn payload(&self) -> Option<Vec<u8>> {
        // Either spelling of base 64 may be used; ours is the only one that we write.
        (self.payload_type == IN_TOTO).then(|| STANDARD.decode(&self.payload).ok()).flatten()
    }

    /// Returns the keys whose signatures are valid for `payload`; if there are none, the problem of the first.
    pub fn signers(&self, payload: &[u8]) -> Result<Vec<PublicKey>, SignatureError> {
        let message = to_sign(payload);
        let one = |signed: &Signed| {
            let blob = STANDARD.decode(&signed.sig).map_err(|_| SignatureError::Malformed)?;
            Signature::from_blob(&blob)?.verify(NAMESPACE, &message).cloned()
        };
        let (mut good, mut wrong) = (Vec::new(), None);
        for found in self.signatures.iter().take(SIGNATURES).map(one) {
            match found {
                Ok(key) => good.push(key),
                Err(error) => wrong = wrong.or(Some(error)),
            }
        }
        if good.is_empty() { Err(wrong.unwrap_or(SignatureError::Malformed)) } else { Ok(good) }
    }
}

/// Returns the bytes to sign: the payload and its type, so that neither can replace another.
pub fn to_sign(payload: &[u8]) -> Vec<u8> {
    let mut out = format!("DSSEv1 {} {IN_TOTO} {} ", IN_TOTO.len(), payload.len()).into_bytes();
    out.extend_from_slice(payload);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_signed_has_the_form_of_the_specification() {
        assert_eq!(to_sign(b"{}"), b"DSSEv1 28 application/vnd.in-toto+json 2 {}");
    }

    #[test]
    fn an_envelope_without_a_signature_is_signed_by_nobody() {
        let envelope =
            Envelope { payload_type: IN_TOTO.to_owned(), payload: "e30=".to_owned(), signatures: Vec::new() };
        assert_eq!(envelope.payload(), Some(b"{}".to_vec()));
        assert_eq!(envelope.signers(b"{}"), Err(SignatureError::Malformed));
        for (payload_type, payload) in [("application/json", "e30="), (IN_TOTO, "e30"), (IN_TOTO, "?")] {
            let other =
                Envelope { payload_type: payload_type.to_owned(), payload: payload.to_owned(), ..envelope.clone() };
            assert_eq!(other.payload(), None, "{payload_type} {payload}");
        }
    }
}
