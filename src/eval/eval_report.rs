//! The report of an evaluation.

use serde::Serialize;

use crate::eval::doubtful_labels::DoubtfulLabel;
use crate::eval::rates::{ClassRates, HitRate};
use crate::eval::suite_kind::Suite;

/// The report of `gate eval`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EvalReport {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The suites, each once for each way of judging.
    pub suites: Vec<SuiteReport>,
}

/// The way in which a suite was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, strum::IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum EvalWay {
    /// By facts alone.
    Facts,
    /// By a model alone.
    Judge,
    /// By both: open if one of them says so.
    Both,
}

as_str!(EvalWay);

/// The report on one suite.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SuiteReport {
    /// The suite.
    pub suite: Suite,
    /// The place of its cases: `built-in`, or a path.
    pub cases_from: String,
    /// The way of judging.
    pub way: EvalWay,
    /// The model that judged, by its name in the user's configuration.
    pub judge: Option<String>,
    /// The rates by class, the last one over all classes.
    pub classes: Vec<ClassRates>,
    /// The severities that are right, among the cases whose label names one.
    pub severity: HitRate,
    /// The answers on whether a person must act, among the cases whose label says so.
    pub needs_person: HitRate,
    /// The scores that are right, among the answers with a score.
    pub score: HitRate,
    /// The wrong answers.
    pub wrong: Vec<WrongAnswer>,
    /// The cases that were not judged, with the reason.
    pub unjudged: Vec<UnjudgedCase>,
    /// The labels that a reader should look at.
    pub doubtful: Vec<DoubtfulLabel>,
    /// The cost.
    pub cost: EvalCost,
}

/// A wrong answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WrongAnswer {
    /// The case.
    pub case: String,
    /// Its class.
    pub class: String,
    /// The answers that are right.
    pub expected: Vec<String>,
    /// The answer.
    pub said: String,
    /// The reason that was given.
    pub why: String,
}

/// A case that was not judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnjudgedCase {
    /// The case.
    pub case: String,
    /// The reason.
    pub why: String,
}

/// The cost of an evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EvalCost {
    /// The calls of a model.
    pub calls: u64,
    /// The tokens that went in, as far as the model says.
    pub input_tokens: u64,
    /// The tokens that came out, as far as the model says.
    pub output_tokens: u64,
    /// The time for all cases, in seconds.
    pub seconds: f64,
}

impl SuiteReport {
    /// Returns the rates over all classes.
    pub fn total(&self) -> ClassRates {
        self.classes.last().cloned().unwrap_or_default()
    }
}
