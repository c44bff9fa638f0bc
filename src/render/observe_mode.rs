//! The cases that gates would have blocked if they did more than observe.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde::Serialize;

use crate::gates::finding::{Finding, GateResult};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::render::ui::{DIM, STRONG, WARN};
use crate::verdict::{SCHEMA_VERSION, Verdict};

/// All cases of which the record is there.
#[derive(Debug)]
pub struct Observed {
    /// The cases, oldest first.
    pub cases: Vec<ObservedCase>,
    /// The number of earlier cases without a record.
    pub earlier: u64,
}

/// One case: a gate, and the content that it would have blocked.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ObservedCase {
    /// The id of the verdict; `gate explain ID` shows all of it.
    verdict: String,
    at: Timestamp,
    moment: Moment,
    gate: String,
    subjects: Vec<String>,
    #[serde(skip)]
    trees: Vec<Oid>,
    reasons: Vec<String>,
}

impl ObservedCase {
    /// Returns the case of `gate` in `verdict`.
    pub fn of(verdict: &Verdict, gate: &GateResult) -> Self {
        let named = |subject: &crate::verdict::SubjectRecord| match &subject.commit {
            Some(commit) => format!("{} {}", subject.name, commit.short()),
            None => subject.name.clone(),
        };
        let mut reasons: Vec<String> = gate.decisive().map(|finding: &Finding| finding.message.clone()).collect();
        reasons.dedup();
        Self {
            verdict: verdict.id.clone(),
            at: verdict.at,
            moment: verdict.moment,
            gate: gate.gate.clone(),
            subjects: verdict.subjects.iter().map(named).collect(),
            trees: verdict.subjects.iter().filter_map(|subject| subject.tree.clone()).collect(),
            reasons,
        }
    }

    /// Returns `true` if both are about the same content and gate.
    pub fn is_same(&self, other: &Self) -> bool {
        self.gate == other.gate && self.trees == other.trees && !self.trees.is_empty()
    }
}

/// The same, for programs.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ObservedList<'a> {
    schema_version: u32,
    cases: &'a [ObservedCase],
    earlier: u64,
}

/// Returns the cases for programs.
pub fn json(observed: &Observed) -> serde_json::Result<String> {
    let Observed { cases, earlier } = observed;
    serde_json::to_string_pretty(&ObservedList { schema_version: SCHEMA_VERSION, cases, earlier: *earlier })
}

/// Returns the cases for people.
pub fn lines(observed: &Observed) -> String {
    let mut text = String::new();
    for case in &observed.cases {
        let at = case.at.strftime("%Y-%m-%d %H:%M:%SZ");
        let (moment, gate, subjects) = (case.moment.as_str(), &case.gate, case.subjects.join(", "));
        let _ =
            writeln!(text, "{DIM}{at}{DIM:#}  {moment:<6}  {STRONG}{subjects}{STRONG:#}  {DIM}{}{DIM:#}", case.verdict);
        for reason in &case.reasons {
            let _ = writeln!(text, "  {WARN}would block{WARN:#} {gate}: {reason}");
        }
    }
    match observed.earlier {
        0 if observed.cases.is_empty() => text.push_str("nothing would have been blocked so far\n"),
        0 => {}
        1 => text.push_str("and 1 case that is no longer recorded\n"),
        many => {
            let _ = writeln!(text, "and {many} cases that are no longer recorded");
        }
    }
    text
}
