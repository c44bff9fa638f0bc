//! A case: what happened in a session, written down so that it can be judged anywhere. `docs/cases.md` has the format.
//!
//! Keys that are not known are ignored, and an event of a kind that is not known says nothing: cases come from several
//! recorders. What is known has its type: a case that is misread would be judged wrongly.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

mod act;

pub use self::act::{
    CaseAct, CaseCheckout, CaseChecks, CaseCommandEnd, CaseEdit, CasePull, CasePushedRef, CaseStop, CaseText,
    CommitAct, CommitFile, HistoryRewrite, MovedFile, Push, RecordedCommand, RemoteMoved, Tool,
};

/// A recorded session with the policy it is judged by.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    /// What it is called.
    #[serde(default)]
    pub id: String,
    /// What it is about, in a sentence.
    #[serde(default)]
    pub title: String,
    /// What is asked for.
    #[serde(default)]
    pub policy: Wanted,
    /// The repository at the beginning.
    #[serde(default)]
    pub start: Start,
    /// What happened, in order; each with its kind in `t` and its number in `seq`.
    pub events: Vec<Map<String, Value>>,
    /// What the gates should answer, by name.
    #[serde(default)]
    pub expect: BTreeMap<String, Expected>,
}

/// What a gate should answer.
#[derive(Clone, Debug, Deserialize)]
pub struct Expected {
    /// The verdict: `pass`, `block`, `warn` or `na`.
    pub verdict: String,
    /// Why.
    #[serde(default)]
    pub why: String,
}

/// What is asked for.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Wanted {
    /// Patterns for the branches that nobody may push to.
    #[serde(default)]
    pub protected_branches: Vec<String>,
    /// Whether documentation may change without a test run, and what else is said of tests.
    #[serde(default)]
    pub tests: Option<CaseTests>,
    /// Whether a build is asked for wherever its inputs changed.
    #[serde(default)]
    pub build: Option<Requirement>,
    /// Whether a pull request with green checks is asked for.
    #[serde(default, alias = "pull_request")]
    pub pr: Option<Requirement>,
    /// Whether green checks of the forge on the commit stand for a test run.
    #[serde(default)]
    pub ci_counts_as_tests: bool,
    /// Whether only those rules on words are on that need not be named in a `gate.toml`. Otherwise all of them are.
    #[serde(default)]
    pub default_word_rules: bool,
    /// The parts of the program: name, and the globs of its files.
    #[serde(default)]
    pub scopes: BTreeMap<String, CaseGlobs>,
    /// A whole `gate.toml`, which then counts instead of everything above.
    #[serde(default)]
    pub gate_toml: Option<String>,
}

/// What is said of tests.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct CaseTests {
    /// `false`, or in words what is asked for; anything but `false` asks for a full run.
    #[serde(default)]
    pub required: Value,
    /// Whether documentation may change without one.
    #[serde(default = "yes")]
    pub docs_only_exempt: bool,
}

/// Whether something is asked for.
#[derive(Clone, Debug, Deserialize)]
pub struct Requirement {
    /// `false`, or in words what is asked for.
    #[serde(default)]
    pub required: Value,
}

impl Requirement {
    /// Whether it is asked for.
    pub fn is_asked(&self) -> bool {
        !matches!(self.required, Value::Null | Value::Bool(false))
    }
}

const fn yes() -> bool {
    true
}

/// One glob or several.
#[derive(Clone, Debug)]
pub struct CaseGlobs(pub Vec<String>);

impl<'de> Deserialize<'de> for CaseGlobs {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        match Value::deserialize(deserializer)? {
            Value::String(one) => Ok(Self(vec![one])),
            Value::Array(all) => Ok(Self(all.iter().filter_map(text).collect())),
            Value::Object(table) => {
                let paths = table.get("paths").and_then(Value::as_array).cloned().unwrap_or_default();
                Ok(Self(paths.iter().filter_map(text).collect()))
            }
            _ => Err(serde::de::Error::custom("a glob or a list of globs is expected")),
        }
    }
}

/// The repository at the beginning.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Start {
    /// The branch that is checked out.
    #[serde(default)]
    pub branch: String,
    /// Its commit, which is taken for the place where it leaves the default branch.
    #[serde(default)]
    pub head: String,
    /// The default branch of the other side, where it is known.
    #[serde(default)]
    pub default_branch: Option<String>,
    /// The id of its content.
    #[serde(default)]
    pub tree: Option<String>,
    /// Its files that matter.
    #[serde(default)]
    pub files: BTreeMap<String, Option<String>>,
}

/// A case that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// It is no JSON of this shape.
    #[error("not a case: {0}")]
    Json(#[from] serde_json::Error),
    /// An event lacks what its kind needs.
    #[error("event {seq} (`{t}`): {error}")]
    Event {
        /// Its number.
        seq: u64,
        /// Its kind.
        t: String,
        /// What is wrong.
        error: serde_json::Error,
    },
    /// Its policy is malformed.
    #[error("the policy of the case: {0}")]
    Policy(String),
}

impl Case {
    /// Reads a case.
    pub fn read(bytes: &[u8]) -> Result<Self, CaseError> {
        Ok(serde_json::from_slice(bytes)?)
    }

    /// What happened, in order.
    pub fn acts(&self) -> Result<Vec<(u64, CaseAct)>, CaseError> {
        let number = |event: &Map<String, Value>| event.get("seq").and_then(Value::as_u64);
        let numbered =
            self.events.iter().enumerate().map(|(at, event)| (number(event).unwrap_or(at as u64 + 1), event));
        numbered.map(|(seq, event)| Ok((seq, act::act(seq, event)?))).collect()
    }
}

/// What a gate answers to a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AnswerWord {
    /// The gate is not concerned.
    Na,
    /// Proven, or nothing is wrong.
    Pass,
    /// It needs a person or better evidence.
    Warn,
    /// It stops.
    Block,
}

impl AnswerWord {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Na => "na",
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Block => "block",
        }
    }

    /// Whether it is what a case expects. Where a gate is not concerned, any answer but a block is right.
    pub fn agrees(self, expected: &str) -> bool {
        match expected {
            "na" => self != Self::Block,
            "pass" => self == Self::Pass,
            "warn" => self == Self::Warn,
            "block" => self == Self::Block,
            _ => false,
        }
    }
}
