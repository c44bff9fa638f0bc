//! Checks the list of signers, and that the user of this machine can sign.

use jiff::Timestamp;

use super::DoctorCheck;
use crate::attest::NAMESPACE;
use crate::attest::sign::{self, SignError, SigningKey};
use crate::collect::attested;
use crate::git::Repo;
use crate::plural::counted;
use crate::policy::{Policy, PolicySource, Signers};
use crate::ssh::allowed_signers::{Standing, standing};

/// Returns the checks of `[attest]` in `policy`, compared with the key of git's settings; empty without `[attest]`.
pub fn look(repo: &Repo, policy: &Policy) -> Vec<DoctorCheck> {
    if policy.signers == Signers::Nobody {
        return Vec::new();
    }
    let PolicySource::Commit(commit) = &policy.source else {
        let what = "signers count when gate.toml is committed, in CI when it is on the branch a change goes to";
        return vec![DoctorCheck::warn("signers", what, "")];
    };
    let (signers, wrong) = match attested::signers(repo, policy, commit) {
        Ok(read) => read,
        Err(why) => return vec![DoctorCheck::broken("signers", format!("nobody may sign: {why}"), "commit the list")],
    };
    let mut checks = vec![match signers.as_slice() {
        [] => DoctorCheck::warn("signers", "no signer is named", "add a signer, or take [attest] out"),
        some => DoctorCheck::ok("signers", format!("{} may sign statements", counted(some.len(), "signer"))),
    }];
    checks.extend(wrong.into_iter().map(|line| DoctorCheck::warn("signers", line, "this line names nobody")));
    if let Err(error) = sign::is_possible(repo) {
        let remedy = "install OpenSSH to sign; verifying needs nothing";
        checks.push(DoctorCheck::warn("signing", error.to_string(), remedy));
        return checks;
    }
    checks.push(match SigningKey::find(repo, None).map(|signer| signer.public_key()) {
        Ok(Some(key)) => match standing(&signers, &key, NAMESPACE, Timestamp::now()) {
            Standing::Allowed(signer) => DoctorCheck::ok(
                "signing",
                format!("git's signing key is that of {} ({})", signer.name, key.fingerprint()),
            ),
            Standing::Expired(..) | Standing::NotYet(..) | Standing::Elsewhere(_) | Standing::Unknown => {
                let what = format!("git's signing key {} counts for nothing in CI now", key.fingerprint());
                DoctorCheck::warn("signing", what, "gate attest --key FILE takes another one")
            }
        },
        Ok(None) => DoctorCheck::ok("signing", "the public half of git's signing key is not known here"),
        Err(SignError::NoKey) => {
            DoctorCheck::ok("signing", "git has no SSH key to sign with: gate attest wants --key FILE")
        }
        Err(error) => DoctorCheck::warn("signing", error.to_string(), ""),
    });
    checks
}
