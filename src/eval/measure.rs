//! Compares answers with labels and counts them.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::eval::eval_report::{EvalCost, EvalWay, SuiteReport, UnjudgedCase, WrongAnswer};
use crate::eval::fact_answer::EvalAnswer;
use crate::eval::labelled_case::{LabelledCase, is_done};
use crate::eval::rates::{ClassRates, HitRate};
use crate::eval::suite_kind::Suite;

/// The name of the rates over all classes.
pub const ALL: &str = "all";

/// The counts of a suite so far.
pub struct Measurement {
    suite: Suite,
    classes: BTreeMap<String, ClassRates>,
    severity: HitRate,
    needs_person: HitRate,
    score: HitRate,
    wrong: Vec<WrongAnswer>,
    unjudged: Vec<UnjudgedCase>,
    began: Instant,
}

impl Measurement {
    /// Begins to measure.
    pub fn new(suite: Suite) -> Self {
        Self {
            suite,
            classes: BTreeMap::new(),
            severity: HitRate::new(0, 0),
            needs_person: HitRate::new(0, 0),
            score: HitRate::new(0, 0),
            wrong: Vec::new(),
            unjudged: Vec::new(),
            began: Instant::now(),
        }
    }

    /// Counts the answer to a labelled case, or the reason why there is none. A case whose label says nothing about the
    /// answer is left out, and the report names it.
    pub fn add(&mut self, case: &LabelledCase, answer: Result<EvalAnswer, String>) {
        let accepted: Vec<String> = case.expected.accepted(self.suite).into_iter().map(str::to_owned).collect();
        if accepted.is_empty() {
            self.leave_out(&case.id, format!("its `expected` has no label of the suite `{}`", self.suite.as_str()));
            return;
        }
        let answer = match answer {
            Ok(answer) => answer,
            Err(why) => {
                self.leave_out(&case.id, why);
                return;
            }
        };
        let label = &case.expected;
        if let Some(severity) = answer.severity.filter(|_| !label.severity_in.is_empty()) {
            hit(&mut self.severity, label.severity_in.contains(&severity));
        }
        if let Some(person) = label.requires_human_action.filter(|_| self.suite == Suite::Judge) {
            hit(&mut self.needs_person, person == answer.needs_person);
        }
        if let Some(score) = answer.score.filter(|_| self.suite == Suite::Score) {
            let (least, most) = (label.score_min.unwrap_or(0), label.score_max.unwrap_or(u8::MAX));
            hit(&mut self.score, (least..=most).contains(&score));
        }
        self.count(&case.id, case.class(), accepted, &answer);
    }

    /// Notes a case that is not counted, and the reason.
    pub fn leave_out(&mut self, id: &str, why: String) {
        self.unjudged.push(UnjudgedCase { case: id.to_owned(), why });
    }

    /// Counts an answer of a class.
    pub fn count(&mut self, id: &str, class: &str, accepted: Vec<String>, answer: &EvalAnswer) {
        let is_right = accepted.contains(&answer.word);
        let done = accepted.iter().any(|word| is_done(word));
        for class in [class, ALL] {
            let named = || ClassRates { class: class.to_owned(), hits: HitRate::new(0, 0), ..ClassRates::default() };
            let rates = self.classes.entry(class.to_owned()).or_insert_with(named);
            rates.count(is_right, done, is_done(&answer.word));
        }
        if !is_right {
            self.wrong.push(WrongAnswer {
                case: id.to_owned(),
                class: class.to_owned(),
                expected: accepted,
                said: answer.word.clone(),
                why: answer.why.clone(),
            });
        }
    }

    /// Returns the report.
    pub fn report(mut self, cases_from: String, way: EvalWay, judge: Option<String>, cost: EvalCost) -> SuiteReport {
        let all =
            self.classes.remove(ALL).unwrap_or_else(|| ClassRates { class: ALL.to_owned(), ..Default::default() });
        let mut classes: Vec<ClassRates> = self.classes.into_values().collect();
        classes.push(all);
        SuiteReport {
            suite: self.suite,
            cases_from,
            way,
            judge,
            classes,
            severity: self.severity,
            needs_person: self.needs_person,
            score: self.score,
            wrong: self.wrong,
            unjudged: self.unjudged,
            doubtful: Vec::new(),
            cost: EvalCost { seconds: self.began.elapsed().as_secs_f64(), ..cost },
        }
    }
}

fn hit(rate: &mut HitRate, is_right: bool) {
    *rate = HitRate::new(rate.right + usize::from(is_right), rate.of + 1);
}
