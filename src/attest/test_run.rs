//! A run of a declared command, as a statement: in-toto's Test Result, version 0.1.
//!
//! That form has a result and a configuration. Further facts that a judgement needs and gate saw are below a name of
//! this program's own: the end of the process, and the paths on which its content was not that of the subject. The
//! policy of the receiver decides if these matter.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::statement::{Resource, Statement};
use crate::digest;
use crate::event::{Ended, RunReport};
use crate::oid::Oid;
use crate::policy::command_key;
use crate::repo_path::RepoPath;

/// The form of the predicate.
pub const PREDICATE: &str = "https://in-toto.io/attestation/test-result/v0.1";
/// The largest number of paths of one sort in a statement. A run with more is not attested.
pub const MAX_PATHS: usize = 256;

/// A run, with all that a judgement elsewhere needs of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestRun {
    /// The content that it is evidence for.
    pub tree: Oid,
    /// `true` if it passed, `false` if it failed.
    pub passed: bool,
    /// The name of the command, for people.
    pub name: String,
    /// The command line.
    pub line: String,
    /// The observations of the run.
    pub seen: ObservedRun,
}

/// The observations of gate during a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedRun {
    /// The id of its event in the journal: later runs have greater ones.
    pub id: String,
    /// The directory it ran in, relative to the root.
    pub dir: RepoPath,
    /// The end of the process.
    pub ended: Ended,
    /// The report of the runner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<RunReport>,
    /// Paths that changed while it ran.
    pub changed: Vec<RepoPath>,
    /// Paths on which the content it started on is not the subject.
    pub differs: Vec<RepoPath>,
    /// Paths that were not in the index.
    pub untracked: Vec<RepoPath>,
    /// Paths that no tree can express.
    pub opaque: Vec<RepoPath>,
}

/// The predicate.
#[derive(Serialize, Deserialize)]
struct TestRunPredicate {
    result: TestRunResult,
    configuration: Vec<Resource>,
    #[serde(rename = "urn:evidence-gate/run/v1", alias = "https://docs.rs/evidence-gate/run/v1")]
    seen: ObservedRun,
}

/// The words of Test Result.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum TestRunResult {
    Passed,
    Warned,
    Failed,
}

impl TestRun {
    /// Returns the key that decides if it is a run of a declared command.
    pub fn key(&self) -> String {
        command_key(&self.line, &self.seen.dir)
    }

    /// Returns it as a statement.
    pub fn statement(&self) -> serde_json::Result<Statement> {
        let configuration = Resource {
            name: Some(self.name.clone()),
            digest: [("sha256".to_owned(), digest::sha256(self.line.as_bytes()))].into(),
            content: Some(STANDARD.encode(&self.line)),
        };
        let result = if self.passed { TestRunResult::Passed } else { TestRunResult::Failed };
        let predicate = TestRunPredicate { result, configuration: vec![configuration], seen: self.seen.clone() };
        Ok(Statement::about([&self.tree], PREDICATE, serde_json::to_value(predicate)?))
    }

    /// Reads a statement of the form [`PREDICATE`]; `Err` gives its problem.
    pub fn read(statement: &Statement) -> Result<Self, &'static str> {
        let predicate: TestRunPredicate =
            serde_json::from_value(statement.predicate.clone()).map_err(|_| "it is not a run that gate saw")?;
        let [configuration] = predicate.configuration.as_slice() else { return Err("it is not of one command") };
        let line = configuration.content.as_ref().and_then(|content| STANDARD.decode(content).ok());
        let line = line.and_then(|line| String::from_utf8(line).ok()).ok_or("it names no command line")?;
        let [tree] = <[Oid; 1]>::try_from(statement.trees()).map_err(|_| "it is not about one tree")?;
        let seen = predicate.seen;
        let passed = predicate.result == TestRunResult::Passed;
        let failed_tests = seen.report.as_ref().is_some_and(|report| report.failed > 0);
        let consistent = match predicate.result {
            TestRunResult::Passed => seen.ended.success() && !failed_tests,
            TestRunResult::Failed => !seen.ended.success() || failed_tests,
            TestRunResult::Warned => false,
        };
        if !consistent {
            return Err("its result is not how the run ended");
        }
        let lists = [&seen.changed, &seen.differs, &seen.untracked, &seen.opaque];
        if lists.iter().any(|list| list.len() > MAX_PATHS) || !is_id(&seen.id) {
            return Err("it is longer than any that gate writes");
        }
        Ok(Self { tree, passed, name: configuration.name.clone().unwrap_or_default(), line, seen })
    }
}

/// Returns `true` for a valid id. Ids are compared and shown, so that they hold nothing else.
pub(super) fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::super::MAKER;
    use super::*;

    fn run() -> TestRun {
        TestRun {
            tree: "4b825dc642cb6eb9a060e54bf8d69288fbee4904".parse().unwrap(),
            passed: true,
            name: "test".to_owned(),
            line: "cargo test".to_owned(),
            seen: ObservedRun {
                id: "019b-0001-ab".to_owned(),
                dir: RepoPath::from("web"),
                ended: Ended::Exited(0),
                report: Some(RunReport { runner: "cargo".to_owned(), passed: 3, failed: 0, skipped: 1 }),
                changed: vec![RepoPath::new(&b"caf\xe9"[..])],
                differs: Vec::new(),
                untracked: Vec::new(),
                opaque: Vec::new(),
            },
        }
    }

    #[test]
    fn a_run_survives_the_way() {
        let text = serde_json::to_string(&run().statement().unwrap()).unwrap();
        assert!(text.contains(&format!("\"{MAKER}/run/v1\"")), "{text}");
        assert!(text.contains("\"gitTree\":\"4b825dc642cb6eb9a060e54bf8d69288fbee4904\""), "{text}");
        let statement: Statement = serde_json::from_str(&text).unwrap();
        assert_eq!(TestRun::read(&statement), Ok(run()));
        assert_eq!(run().key(), command_key("cargo test", &RepoPath::from("web")));
    }

    #[test]
    fn what_contradicts_itself_is_no_run() {
        let change = |edit: &dyn Fn(&mut serde_json::Value)| {
            let mut value = serde_json::to_value(run().statement().unwrap()).unwrap();
            edit(&mut value);
            TestRun::read(&serde_json::from_value(value).unwrap()).map(|_| ())
        };
        let seen = "urn:evidence-gate/run/v1";
        let ended = Err("its result is not how the run ended");
        assert_eq!(change(&|_| ()), Ok(()));
        assert_eq!(change(&|value| value["predicate"]["result"] = "FAILED".into()), ended);
        assert_eq!(change(&|value| value["predicate"]["result"] = "WARNED".into()), ended);
        assert_eq!(change(&|value| value["predicate"][seen]["ended"] = serde_json::json!({ "exited": 1 })), ended);
        assert_eq!(change(&|value| value["predicate"][seen]["report"]["failed"] = 1.into()), ended);
        let long = Err("it is longer than any that gate writes");
        assert_eq!(change(&|value| value["predicate"][seen]["differs"] = vec!["a"; 300].into()), long);
        assert_eq!(change(&|value| value["predicate"][seen]["id"] = "a\u{1b}b".into()), long);
        for key in ["result", "configuration", seen] {
            let gone = change(&|value| drop(value["predicate"].as_object_mut().unwrap().remove(key)));
            assert_eq!(gone, Err("it is not a run that gate saw"), "{key}");
        }
        let two = change(&|value| {
            let subject = value["subject"][0].clone();
            value["subject"].as_array_mut().unwrap().push(subject);
        });
        assert_eq!(two, Err("it is not about one tree"));
        assert_eq!(
            change(&|value| value["subject"][0]["digest"] = serde_json::json!({ "sha256": "00" })),
            Err("it is not about one tree")
        );
    }
}
