//! Statements by keys that are made here, as `ssh-keygen` and a hardware token would sign them: what of them counts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256, Sha512};

use crate::attested::{Carried, PASSED, data, own_policy};

const NAMESPACE: &str = "gate-attestation";
const APPLICATION: &str = "ssh:";

/// A key that nobody else has.
struct Key {
    pair: Ed25519KeyPair,
    /// It is on a hardware token, which signs these flags along: 1 says that it was touched.
    token: Option<u8>,
}

/// A string of RFC 4251.
fn put(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}

impl Key {
    fn new(token: Option<u8>) -> Self {
        let made = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self { pair: Ed25519KeyPair::from_pkcs8(made.as_ref()).unwrap(), token }
    }

    fn kind(&self) -> &'static str {
        if self.token.is_some() { "sk-ssh-ed25519@openssh.com" } else { "ssh-ed25519" }
    }

    fn blob(&self) -> Vec<u8> {
        let mut blob = [put(self.kind().as_bytes()), put(self.pair.public_key().as_ref())].concat();
        if self.token.is_some() {
            blob.extend(put(APPLICATION.as_bytes()));
        }
        blob
    }

    /// Its line in a list of signers.
    fn line(&self, name: &str) -> String {
        format!("{name} {} {}\n", self.kind(), STANDARD.encode(self.blob()))
    }

    /// The signature of RFC 8709, or of OpenSSH's `PROTOCOL.u2f`.
    fn made(&self, message: &[u8]) -> Vec<u8> {
        let Some(flags) = self.token else {
            return [put(self.kind().as_bytes()), put(self.pair.sign(message).as_ref())].concat();
        };
        let counted = [flags, 0, 0, 0, 7];
        let signed = [&Sha256::digest(APPLICATION.as_bytes())[..], &counted, &Sha256::digest(message)[..]].concat();
        [put(self.kind().as_bytes()), put(self.pair.sign(&signed).as_ref()), counted.to_vec()].concat()
    }

    /// `payload` in an envelope, as a line of a note.
    fn envelope(&self, payload: &Value) -> String {
        let (kind, payload) = ("application/vnd.in-toto+json", payload.to_string());
        let message = format!("DSSEv1 {} {kind} {} {payload}", kind.len(), payload.len());
        let of_hash = [put(b"sha512"), put(&Sha512::digest(&message))].concat();
        let signed = [b"SSHSIG".to_vec(), put(NAMESPACE.as_bytes()), put(b""), of_hash].concat();
        let head = [b"SSHSIG".to_vec(), 1_u32.to_be_bytes().to_vec(), put(&self.blob())].concat();
        let rest = [put(NAMESPACE.as_bytes()), put(b""), put(b"sha512"), put(&self.made(&signed))].concat();
        let signature = STANDARD.encode([head, rest].concat());
        let envelope = json!({
            "payloadType": kind,
            "payload": STANDARD.encode(payload),
            "signatures": [{ "sig": signature }],
        });
        format!("{envelope}\n")
    }
}

/// What Alice said of a run that passed.
fn passed() -> Value {
    let envelope: Value = serde_json::from_str(&data("passed.json")).unwrap();
    serde_json::from_slice(&STANDARD.decode(envelope["payload"].as_str().unwrap()).unwrap()).unwrap()
}

/// A branch whose base names `key` as Alice's.
fn carried(key: &Key) -> Carried {
    let policy = format!("{}signers = \".gate/signers\"\n", own_policy().split("signers").next().unwrap());
    Carried::with(&policy, Some(&key.line("alice@example.com")), PASSED)
}

#[test]
fn a_hardware_key_counts_where_somebody_touched_it() {
    // A token signs along what happened: 1 for a touch, 4 for a PIN. Whoever has the file of such a key can have it sign
    // without either.
    let touched = Key::new(Some(1));
    let carried = carried(&touched).noted(&touched.envelope(&passed()));
    carried.judged().counts();
    let untouched = Key { token: Some(4), ..touched };
    let carried = carried.noted(&untouched.envelope(&passed()));
    carried.judged().lacks("nobody touched the hardware key for this signature");
    // The same pair outside of a token is another key.
    let plain = Key { token: None, ..untouched };
    carried.noted(&plain.envelope(&passed())).judged().lacks("belongs to nobody on the list");
}

type Edit = fn(&mut Value);

/// A verdict of `gate ci` about the content of `carried`, as its signer says it.
fn verdict(carried: &Carried, edit: impl FnOnce(&mut Value)) -> Value {
    let repo = &carried.project.repo;
    let mut statement = json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{ "digest": { "gitTree": repo.git(["rev-parse", "HEAD^{tree}"]) } }],
        "predicateType": "https://slsa.dev/verification_summary/v1",
        "predicate": {
            "verifier": { "id": "urn:evidence-gate" },
            "timeVerified": "2026-11-22T08:00:00Z",
            "resourceUri": "git+https://github.com/o/r",
            "policy": { "uri": "x", "digest": { "gitCommit": repo.git(["rev-parse", "origin/main"]) } },
            "verificationResult": "PASSED",
            "verifiedLevels": ["GATE_TESTS", "GATE_CI_GREEN"],
        },
    });
    edit(&mut statement);
    statement
}

#[test]
fn a_signed_verdict_is_shown_and_proves_nothing() {
    const OTHER: &str = "0123456789012345678901234567890123456789";
    let key = Key::new(None);
    let edits: [(&str, Edit); 4] = [
        ("by the policy that is in force here: it passed (tests, ci-green)", |_| ()),
        ("it did not pass. That is not evidence here", |said| {
            said["predicate"]["verificationResult"] = "FAILED".into();
            said["predicate"]["verifiedLevels"] = json!(["FAILED"]);
        }),
        ("by the policy of 0123456, which is not in force here", |said| {
            said["predicate"]["policy"]["digest"]["gitCommit"] = OTHER.into();
        }),
        ("a statement about", |said| {
            said["predicate"]["verifiedLevels"] = json!(["SLSA_BUILD_LEVEL_3"]);
        }),
    ];
    let mut carried = carried(&key);
    for (says, edit) in edits {
        let statement = verdict(&carried, edit);
        carried = carried.noted(&key.envelope(&statement));
        let judged = carried.judged();
        judged.lacks(says);
        assert_eq!(judged.outcome, "blocked", "{judged:?}");
    }
    // Beside a run, nothing of it changes what that shows; and it says nothing of contents that are not judged.
    let statement = verdict(&carried, |_| ());
    carried = carried.noted(&(key.envelope(&statement) + &key.envelope(&passed())));
    let judged = carried.judged();
    judged.counts();
    assert!(judged.says("alice@example.com signed that gate ci judged"), "{judged:?}");
    let about_another = verdict(&carried, |said| said["subject"][0]["digest"]["gitTree"] = OTHER.into());
    let judged = carried.noted(&key.envelope(&about_another)).judged();
    assert!(!judged.says("signed that gate ci judged"), "{judged:?}");
}

#[test]
fn a_verdict_that_a_stranger_signed_is_not_shown() {
    let (key, stranger) = (Key::new(None), Key::new(None));
    let carried = carried(&key);
    let statement = verdict(&carried, |_| ());
    let judged = carried.noted(&stranger.envelope(&statement)).judged();
    judged.lacks("belongs to nobody on the list");
    assert!(!judged.says("signed that gate ci judged"), "{judged:?}");
}
