//! The judgement of `gate ci`, as a statement: SLSA's Verification Summary, version 1.
//!
//! It claims no level of SLSA: those need more than one judgement. The names of the gates themselves say what passed.
//!
//! A verdict is about more than content: about the commits of a range, a pull request, its checks and the policy of
//! that day. So a summary is verified and shown, and is not evidence. The runs that it rested on travel themselves.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::statement::Statement;
use super::{FORMER_MAKER, MAKER};
use crate::oid::Oid;

/// The form of the predicate.
pub const PREDICATE: &str = "https://slsa.dev/verification_summary/v1";

/// The digest that a git commit has in the list of in-toto.
const COMMIT: &str = "gitCommit";
const SHA_256: &str = "sha256";
/// The beginning of levels that are gates.
const LEVEL: &str = "GATE_";
/// The largest number of contents, and of gates, that a summary may name.
const MAX_ENTRIES: usize = 64;

/// A judgement, in the words of the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerificationSummary {
    /// The contents that were judged.
    pub trees: Vec<Oid>,
    /// The time of the judgement.
    pub at: Timestamp,
    /// The place of the contents: `git+https://host/repository`.
    pub resource: String,
    /// By which policy.
    pub policy: PolicyInForce,
    /// `true` if nothing blocked.
    pub passed: bool,
    /// The ids of the gates that passed.
    pub gates: Vec<String>,
}

/// The policy that was in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyInForce {
    /// That of a commit of the resource.
    Commit(Oid),
    /// Another one, by its digest.
    Digest(String),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SummaryPredicate {
    verifier: Verifier,
    time_verified: String,
    resource_uri: String,
    policy: PolicyUsed,
    verification_result: VerificationResult,
    verified_levels: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Verifier {
    id: String,
    #[serde(default)]
    version: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
struct PolicyUsed {
    uri: String,
    #[serde(default)]
    digest: BTreeMap<String, String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum VerificationResult {
    Passed,
    Failed,
}

impl VerificationSummary {
    /// Returns it as a statement.
    pub fn statement(&self) -> serde_json::Result<Statement> {
        let digest = |name: &str, value: String| [(name.to_owned(), value)].into();
        let policy = match &self.policy {
            PolicyInForce::Commit(commit) => PolicyUsed {
                uri: format!("{}@{commit}#gate.toml", self.resource),
                digest: digest(COMMIT, commit.to_string()),
            },
            PolicyInForce::Digest(sum) => {
                PolicyUsed { uri: format!("{MAKER}/policy"), digest: digest(SHA_256, sum.clone()) }
            }
        };
        let levels =
            if self.passed { self.gates.iter().map(|gate| level(gate)).collect() } else { vec!["FAILED".to_owned()] };
        let version = [("gate".to_owned(), env!("CARGO_PKG_VERSION").to_owned())].into();
        let predicate = SummaryPredicate {
            verifier: Verifier { id: MAKER.to_owned(), version },
            time_verified: self.at.to_string(),
            resource_uri: self.resource.clone(),
            policy,
            verification_result: if self.passed { VerificationResult::Passed } else { VerificationResult::Failed },
            verified_levels: levels,
        };
        Ok(Statement::about(&self.trees, PREDICATE, serde_json::to_value(predicate)?))
    }

    /// Reads a statement of the form [`PREDICATE`]. Returns `None` if it is of another verifier. `Err` gives its
    /// problem.
    pub fn read(statement: &Statement) -> Result<Option<Self>, &'static str> {
        let verifier = statement.predicate.get("verifier").and_then(|verifier| verifier.get("id"));
        if verifier.is_some_and(|id| id != MAKER && id != FORMER_MAKER) {
            return Ok(None);
        }
        let predicate: SummaryPredicate =
            serde_json::from_value(statement.predicate.clone()).map_err(|_| "it is not a verdict that gate signed")?;
        let at = predicate.time_verified.parse().map_err(|_| "it does not say when it was judged")?;
        let digest = &predicate.policy.digest;
        let policy = match (digest.get(COMMIT).and_then(|id| id.parse().ok()), digest.get(SHA_256)) {
            (Some(commit), _) => PolicyInForce::Commit(commit),
            (None, Some(sum)) if is_hex(sum) => PolicyInForce::Digest(sum.clone()),
            (None, _) => return Err("it does not say by which policy it was judged"),
        };
        let (passed, levels) =
            (predicate.verification_result == VerificationResult::Passed, &predicate.verified_levels);
        let gates = if passed { levels.iter().map(|level| gate(level)).collect() } else { Some(Vec::new()) };
        let gates: Vec<String> = gates.ok_or("it claims levels that are not gates")?;
        let trees = statement.trees();
        if trees.is_empty() || trees.len() != statement.subject.len() {
            return Err("it is not about trees alone");
        }
        if trees.len() > MAX_ENTRIES || gates.len() > MAX_ENTRIES {
            return Err("it is longer than any that gate writes");
        }
        Ok(Some(Self { trees, at, resource: predicate.resource_uri, policy, passed, gates }))
    }
}

/// Returns the name of a gate among levels.
fn level(gate: &str) -> String {
    let word: String =
        gate.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    format!("{LEVEL}{word}")
}

/// Returns the gate of a level, or `None` if it is another level. The name is shown, so that only letters, digits and
/// hyphens may occur in it.
fn gate(level: &str) -> Option<String> {
    let word = level.strip_prefix(LEVEL).filter(|word| !word.is_empty() && word.len() <= MAX_ENTRIES)?;
    let known = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    word.chars().all(known).then(|| word.to_ascii_lowercase().replace('_', "-"))
}

fn is_hex(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the address of a remote, without the user: `git+https://host/path`.
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
    use serde_json::{Value, json};

    use super::*;

    fn judged(passed: bool) -> VerificationSummary {
        let gates = if passed { vec!["tests".to_owned(), "ci-green".to_owned()] } else { Vec::new() };
        VerificationSummary {
            trees: vec!["4b825dc642cb6eb9a060e54bf8d69288fbee4904".parse().unwrap()],
            at: "2026-11-22T08:00:00Z".parse().unwrap(),
            resource: "git+https://github.com/o/r".to_owned(),
            policy: PolicyInForce::Commit("5b825dc642cb6eb9a060e54bf8d69288fbee4904".parse().unwrap()),
            passed,
            gates,
        }
    }

    fn summary(passed: bool) -> Value {
        serde_json::to_value(judged(passed).statement().unwrap()).unwrap()
    }

    #[test]
    fn a_verdict_survives_the_way() {
        let by_digest = VerificationSummary { policy: PolicyInForce::Digest("a1".repeat(32)), ..judged(true) };
        for given in [judged(true), judged(false), by_digest] {
            let text = serde_json::to_string(&given.statement().unwrap()).unwrap();
            assert_eq!(VerificationSummary::read(&serde_json::from_str(&text).unwrap()), Ok(Some(given)));
        }
    }

    #[test]
    fn what_no_gate_signed_is_no_verdict() {
        let read = |edit: &dyn Fn(&mut Value)| {
            let mut value = summary(true);
            edit(&mut value);
            VerificationSummary::read(&serde_json::from_value(value).unwrap()).map(|read| read.is_some())
        };
        assert_eq!(read(&|_| ()), Ok(true));
        assert_eq!(read(&|value| value["predicate"]["verifier"]["id"] = "https://example.com".into()), Ok(false));
        let form = Err("it is not a verdict that gate signed");
        let levels = Err("it claims levels that are not gates");
        let policy = Err("it does not say by which policy it was judged");
        let trees = Err("it is not about trees alone");
        let long = Err("it is longer than any that gate writes");
        for (place, said, expected) in [
            ("/predicate", Value::Null, form),
            ("/predicate", json!([]), form),
            ("/predicate/verificationResult", json!("WARNED"), form),
            ("/predicate/timeVerified", json!(7), form),
            ("/predicate/timeVerified", json!("yesterday"), Err("it does not say when it was judged")),
            ("/predicate/policy/digest", json!({}), policy),
            ("/predicate/policy/digest", json!({ "sha256": "\u{1b}[31m" }), policy),
            ("/predicate/policy/digest/gitCommit", json!("HEAD"), policy),
            ("/predicate/verifiedLevels", json!(["SLSA_BUILD_LEVEL_3"]), levels),
            ("/predicate/verifiedLevels", json!(["GATE_"]), levels),
            ("/predicate/verifiedLevels", json!(["GATE_\u{1b}[31m"]), levels),
            ("/predicate/verifiedLevels", json!(["GATE_<img>"]), levels),
            ("/predicate/verifiedLevels", json!(vec!["GATE_TESTS"; 65]), long),
            ("/subject", json!([]), trees),
            ("/subject/0/digest", json!({ "sha256": "00" }), trees),
        ] {
            let found = read(&|value| *value.pointer_mut(place).unwrap() = said.clone());
            assert_eq!(found, expected, "{place}: {said}");
        }
    }

    /// Checks the fields that the specification calls required, by their names there.
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
