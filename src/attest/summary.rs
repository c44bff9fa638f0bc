//! What `gate ci` judged, as a statement: SLSA's Verification Summary, version 1.
//!
//! No level of SLSA is claimed: those need more than one judgement. What passed is named by the gates themselves.

use serde::Serialize;
use serde_json::{Value, json};

use super::MAKER;
use super::statement::Statement;
use crate::oid::Oid;

/// The form of the predicate.
pub const PREDICATE: &str = "https://slsa.dev/verification_summary/v1";

/// A judgement, in the words of the form.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The contents that were judged.
    pub trees: Vec<Oid>,
    /// When, as a time of RFC 3339.
    pub at: String,
    /// Where they belong: `git+https://host/repository`.
    pub resource: String,
    /// By which policy.
    pub policy: Policy,
    /// Whether nothing blocked; otherwise something did.
    pub passed: bool,
    /// The ids of the gates that passed.
    pub gates: Vec<String>,
}

/// The policy that was in force.
#[derive(Clone, Debug)]
pub enum Policy {
    /// That of a commit of the resource.
    Commit(Oid),
    /// Another one, by its digest.
    Digest(String),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Predicate {
    verifier: Value,
    time_verified: String,
    resource_uri: String,
    policy: Value,
    verification_result: &'static str,
    verified_levels: Vec<String>,
}

impl Summary {
    /// It, as a statement.
    pub fn statement(&self) -> serde_json::Result<Statement> {
        let policy = match &self.policy {
            Policy::Commit(commit) => json!({
                "uri": format!("{}@{commit}#gate.toml", self.resource),
                "digest": { "gitCommit": commit },
            }),
            Policy::Digest(digest) => json!({ "uri": format!("{MAKER}/policy"), "digest": { "sha256": digest } }),
        };
        let levels =
            if self.passed { self.gates.iter().map(|gate| level(gate)).collect() } else { vec!["FAILED".to_owned()] };
        let predicate = Predicate {
            verifier: json!({ "id": MAKER, "version": { "gate": env!("CARGO_PKG_VERSION") } }),
            time_verified: self.at.clone(),
            resource_uri: self.resource.clone(),
            policy,
            verification_result: if self.passed { "PASSED" } else { "FAILED" },
            verified_levels: levels,
        };
        Ok(Statement::about(&self.trees, PREDICATE, serde_json::to_value(predicate)?))
    }
}

/// What a gate is called among levels.
fn level(gate: &str) -> String {
    let word: String =
        gate.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    format!("GATE_{word}")
}

/// Where a remote is, without who asks: `git+https://host/path`.
pub fn resource(url: &str) -> String {
    let without_user = |rest: &str| {
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        format!("{host}/{path}")
    };
    if let Some((scheme, rest)) = url.split_once("://") {
        return format!("git+{scheme}://{}", without_user(rest));
    }
    match url.split_once(':').filter(|(host, _)| !host.contains('/') && host.len() > 1) {
        Some((host, path)) => {
            format!("git+ssh://{}", without_user(&format!("{host}/{}", path.trim_start_matches('/'))))
        }
        None => format!("git+file://{url}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(passed: bool) -> Value {
        let tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904".parse().unwrap();
        let summary = Summary {
            trees: vec![tree],
            at: "2026-11-22T08:00:00Z".to_owned(),
            resource: "git+https://github.com/o/r".to_owned(),
            policy: Policy::Commit("5b825dc642cb6eb9a060e54bf8d69288fbee4904".parse().unwrap()),
            passed,
            gates: vec!["tests".to_owned(), "ci-green".to_owned()],
        };
        serde_json::to_value(summary.statement().unwrap()).unwrap()
    }

    /// The fields that the specification calls required, by their names there.
    #[test]
    fn it_has_the_form_of_the_specification() {
        let passed = summary(true);
        assert_eq!(passed["predicateType"], "https://slsa.dev/verification_summary/v1");
        let predicate = &passed["predicate"];
        for key in ["verifier", "timeVerified", "resourceUri", "policy", "verificationResult", "verifiedLevels"] {
            assert!(!predicate[key].is_null(), "{key}: {predicate:#}");
        }
        assert_eq!(predicate["verificationResult"], "PASSED");
        assert_eq!(predicate["verifiedLevels"], json!(["GATE_TESTS", "GATE_CI_GREEN"]));
        let failed = summary(false);
        assert_eq!(failed["predicate"]["verificationResult"], "FAILED");
        assert_eq!(failed["predicate"]["verifiedLevels"], json!(["FAILED"]));
    }

    #[test]
    fn remotes_are_named_without_who_asks() {
        for (url, expected) in [
            ("https://token@github.com/o/r.git", "git+https://github.com/o/r.git"),
            ("https://github.com/o/r", "git+https://github.com/o/r"),
            ("git@github.com:o/r.git", "git+ssh://github.com/o/r.git"),
            ("ssh://git@host:22/o/r", "git+ssh://host:22/o/r"),
            ("/srv/r.git", "git+file:///srv/r.git"),
        ] {
            assert_eq!(resource(url), expected);
        }
    }
}
