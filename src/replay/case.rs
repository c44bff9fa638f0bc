//! A case: the events of a session, written down so that it can be judged anywhere. `docs/cases.md` has the format.
//!
//! Unknown keys are ignored, and an event of an unknown kind has no effect: cases come from several recorders. Known
//! keys have their types: a case that is misread would be judged wrongly.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

mod act;

pub use self::act::{
    CaseAct, CaseCheckout, CaseChecks, CaseCommandEnd, CaseEdit, CasePull, CommitAct, CommitFile, HistoryRewrite, Push,
    RecordedCommand, RemoteMoved,
};

/// A recorded session with the policy it is judged by.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    /// The name of the case.
    #[serde(default)]
    pub id: String,
    /// The subject, in a sentence.
    #[serde(default)]
    pub title: String,
    /// The requirements.
    #[serde(default)]
    pub policy: Wanted,
    /// The repository at the beginning.
    #[serde(default)]
    pub start: Start,
    /// The events, in order; each with its kind in `t` and its number in `seq`.
    pub events: Vec<Map<String, Value>>,
    /// The expected answers, by gate.
    #[serde(default)]
    pub expect: BTreeMap<String, Expected>,
}

/// The expected answer of a gate.
#[derive(Clone, Debug, Deserialize)]
pub struct Expected {
    /// The verdict: `pass`, `block`, `warn` or `na`.
    pub verdict: String,
    /// The reason.
    #[serde(default)]
    pub why: String,
}

/// The requirements of a case.
#[derive(Clone, Debug, Default, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the case file has these keys")]
#[serde(default)]
pub struct Wanted {
    /// Patterns for the branches that nobody may push to.
    pub protected_branches: Vec<String>,
    /// The requirements for tests, and the exception for documentation.
    pub tests: Option<CaseTests>,
    /// The requirement of a build wherever its inputs changed.
    pub build: Option<Requirement>,
    /// The requirement of a pull request with green checks.
    #[serde(alias = "pull_request")]
    pub pr: Option<Requirement>,
    /// `true` if green checks of the forge on the commit replace a test run.
    pub ci_counts_as_tests: bool,
    /// `true` if only those rules on words are on that need not be named in a `gate.toml`. Otherwise all of them are.
    pub default_word_rules: bool,
    /// Whether settings of a forge or an editor may change without a test run, where no file that is known names them.
    pub ci_settings_exempt: bool,
    /// Whether a run counts of which nothing but the log of a session tells.
    pub transcripts_count: bool,
    /// The parts of the program: name, and the globs of its files.
    pub scopes: BTreeMap<String, CaseGlobs>,
    /// A whole `gate.toml`, which then counts instead of everything above.
    pub gate_toml: Option<String>,
}

/// The requirements for tests.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct CaseTests {
    /// `false`, or the requirement in words; anything but `false` requires a full run.
    #[serde(default)]
    pub required: Value,
    /// `true` if documentation may change without a test run.
    #[serde(default = "yes")]
    pub docs_only_exempt: bool,
}

/// A requirement that may be off.
#[derive(Clone, Debug, Deserialize)]
pub struct Requirement {
    /// `false`, or the requirement in words.
    #[serde(default)]
    pub required: Value,
}

impl Requirement {
    /// Returns `true` if it is on.
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
#[serde(default)]
pub struct Start {
    /// The branch that is checked out.
    pub branch: String,
    /// Its commit, which counts as the place where it leaves the default branch.
    pub head: String,
    /// The default branch of the other side, if it is known.
    pub default_branch: Option<String>,
    /// The id of its content.
    pub tree: Option<String>,
    /// Its files that matter.
    pub files: BTreeMap<String, Option<String>>,
}

/// A case that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// It is not JSON of this form.
    #[error("not a case: {0}")]
    Json(#[from] serde_json::Error),
    /// An event lacks a required key.
    #[error("event {seq} (`{t}`): {error}")]
    Event {
        /// Its number.
        seq: u64,
        /// Its kind.
        t: String,
        /// The problem.
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

    /// Returns the acts, in order.
    pub fn acts(&self) -> Result<Vec<(u64, CaseAct)>, CaseError> {
        let number = |event: &Map<String, Value>| event.get("seq").and_then(Value::as_u64);
        let numbered =
            self.events.iter().enumerate().map(|(at, event)| (number(event).unwrap_or(at as u64 + 1), event));
        numbered.map(|(seq, event)| Ok((seq, act::act(seq, event)?))).collect()
    }
}

/// The answer of a gate to a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "kebab-case")]
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

as_str!(AnswerWord);

impl AnswerWord {
    /// Returns `true` if it is the answer that a case expects. For a gate that is not concerned, any answer but a block
    /// is right.
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
