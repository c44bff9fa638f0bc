//! The answers of the gates to a case, in one word for each question.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;

use crate::fact::session_steps::{KnownRuns, MAX_STEPS, Story};
use crate::gates::finding::{Answer, Effect, Finding, GateResult};
use crate::gates::{self, claims};
use crate::policy::Severity;
use crate::replay::case::{self, AnswerWord, Case, CaseAct, CaseError};
use crate::replay::proofs_by_package::From;
use crate::replay::simulated_repository::World;
use crate::replay::simulated_run::Update;
use crate::replay::{case_events, case_facts, case_policy, forge_state};
use crate::runner::Project;
use crate::timeline::Entry;
use crate::verdict::assemble;

/// The questions, and the gates that answer them.
const QUESTIONS: [(&str, &[&str]); 9] = [
    ("tests", &["tests"]),
    ("build", &["build", case_policy::CHECKS]),
    ("push", &["protected-branch"]),
    ("pr_ci", &["pull-request", "ci-green"]),
    ("atomic", &["atomic"]),
    ("loop", &["loops"]),
    ("integrity", &["integrity"]),
    ("decisions", &["decisions"]),
    ("completion", &["completion", "claims", "security"]),
];

/// The answers of the gates.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Answers {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// By question.
    pub gates: BTreeMap<String, GateAnswer>,
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GateAnswer {
    /// The verdict.
    pub verdict: AnswerWord,
    /// The reason, in a sentence.
    pub why: String,
}

impl GateAnswer {
    /// Returns the answer to a question that does not arise.
    pub fn nothing() -> Self {
        Self { verdict: AnswerWord::Na, why: "does not apply here".to_owned() }
    }
}

/// Returns `true` if a question is about this gate.
pub fn asks(gate: &str) -> bool {
    QUESTIONS.iter().any(|(_, gates)| gates.contains(&gate))
}

/// Returns the questions of a case.
pub fn questions() -> impl Iterator<Item = &'static str> {
    QUESTIONS.iter().map(|(question, _)| *question)
}

/// Returns the answers that results give, by question.
pub fn of_results(results: &[GateResult]) -> BTreeMap<String, GateAnswer> {
    let contradicted = contradicted(results);
    QUESTIONS
        .iter()
        .map(|(question, gates)| {
            let results = results.iter().filter(|result| gates.contains(&result.gate.as_str()));
            let mut words: Vec<GateAnswer> = results.map(word).collect();
            words.extend(contradicted.iter().filter(|(about, _)| about == question).map(|(_, said)| said.clone()));
            ((*question).to_owned(), worst(words))
        })
        .collect()
}

/// Returns answers for claims that the record contradicts, by the question that they are about.
fn contradicted(results: &[GateResult]) -> Vec<(&'static str, GateAnswer)> {
    results
        .iter()
        .filter(|result| result.gate == "claims" && result.answer == Answer::Fail)
        .flat_map(GateResult::decisive)
        .filter_map(|finding| {
            let about = match finding.subject.as_str() {
                claims::TESTS => "tests",
                claims::BUILD => "build",
                claims::HOSTED => "pr_ci",
                _ => return None,
            };
            Some((about, GateAnswer { verdict: AnswerWord::Block, why: finding.message.clone() }))
        })
        .collect()
}

/// Judges a case.
pub fn answer(case: &Case) -> Result<Answers, CaseError> {
    judged(case).map(|(answers, _)| answers)
}

/// Judges a case. Returns the severity of its verdict, too.
pub fn judged(case: &Case) -> Result<(Answers, Severity), CaseError> {
    let mut open = OpenCase::of(case);
    for (seq, act) in case.acts()? {
        open.act(seq, &act);
    }
    open.answers(case)
}

/// A case whose acts happen one after the other, and that can be judged after any of them.
#[derive(Debug)]
pub struct OpenCase {
    world: World,
    /// The events of the latest acts.
    latest: VecDeque<Entry>,
    /// Earlier ones are not kept.
    cut: bool,
    known_runs: KnownRuns,
}

impl OpenCase {
    /// Returns a case before its first act.
    pub fn of(case: &Case) -> Self {
        Self { world: World::of(case), latest: VecDeque::new(), cut: false, known_runs: KnownRuns::default() }
    }

    /// Lets an act happen.
    pub fn act(&mut self, seq: u64, act: &CaseAct) {
        self.world.act(seq, act);
        self.latest.extend(case_events::entries(seq, act, &self.world));
        let earlier = self.latest.len().saturating_sub(MAX_STEPS);
        self.latest.drain(..earlier);
        self.cut |= earlier > 0;
    }

    /// Returns the numbers of events and of runs that are kept.
    #[cfg(test)]
    pub(super) fn kept(&self) -> (usize, usize) {
        (self.latest.len(), self.world.runs.len())
    }

    /// Judges what has happened. Returns the severity of the verdict, too.
    pub fn answers(&mut self, case: &Case) -> Result<(Answers, Severity), CaseError> {
        let world = &self.world;
        let asked = case_policy::asked(case, world)?;
        let mut stop = case_facts::at_stop(world, &asked, case.policy.ci_counts_as_tests);
        stop.hosting = forge_state::of(world, case.policy.pr.as_ref().is_some_and(case::Requirement::is_asked));
        self.known_runs.keep_for(world.tree.texts());
        let files = From(&world.tree, "");
        stop.story = Story::of_known(
            self.latest.make_contiguous(),
            None,
            Project::without_runners(&files),
            &mut self.known_runs,
        );
        stop.story.cut |= self.cut;
        stop.weakening = case_facts::weakening(world, &stop);
        stop.notes.extend(case_facts::policy_note(world));
        stop.decisions = case_facts::decisions(world, &asked, &stop);
        let results = gates::judge(&asked.policy, &stop);
        let mut severity = assemble::severity(&results);
        let mut said = of_results(&results);
        // What changed asks for no run: that is an answer, and another one than that nothing changed.
        let changed =
            stop.subjects.iter().any(|subject| subject.changed.as_ref().is_some_and(|paths| !paths.is_empty()));
        let exempt = results.iter().find(|result| result.gate == "tests" && is_exempt(result));
        if let (Some(exempt), true) = (exempt, changed) {
            said.insert("tests".to_owned(), GateAnswer { verdict: AnswerWord::Pass, ..word(exempt) });
        }
        let mut pushes = Vec::new();
        for update in &world.updates {
            let facts = case_facts::at_push(world, &[update]);
            let results = gates::judge(&asked.policy, &facts);
            severity = severity.max(assemble::severity(&results));
            let of_push = results.iter().filter(|result| result.gate == "protected-branch");
            let other = is_of_another_repository(update, world);
            pushes.extend(of_push.map(|result| tempered(word(result), update, other)));
        }
        said.insert("push".to_owned(), worst(pushes));
        Ok((Answers { schema_version: 1, gates: said }, severity))
    }
}

/// Returns `true` if a push goes to another repository, whose branches the policy does not cover: a remote other than
/// `origin` and `upstream` that has another address.
fn is_of_another_repository(update: &Update, world: &World) -> bool {
    let main = |remote: &str| matches!(remote, "" | "origin" | "upstream");
    let named = !update.remote.contains([':', '/']);
    let same = world.updates.iter().any(|other| main(&other.remote) && other.url == update.url);
    !main(&update.remote) && named && !update.url.is_empty() && !same
}

/// Softens the answer to a push that did no harm: it went to another repository, was a dry run, or was refused.
fn tempered(said: GateAnswer, update: &Update, other: bool) -> GateAnswer {
    match said.verdict {
        AnswerWord::Block if other => {
            GateAnswer { verdict: AnswerWord::Pass, why: "another repository than that of the work".to_owned() }
        }
        AnswerWord::Block | AnswerWord::Warn if update.dry => {
            GateAnswer { verdict: AnswerWord::Pass, why: "a dry run sends nothing".to_owned() }
        }
        AnswerWord::Block if update.refused => {
            GateAnswer { verdict: AnswerWord::Warn, why: format!("{}; it was refused", said.why) }
        }
        _ => said,
    }
}

fn worst(said: Vec<GateAnswer>) -> GateAnswer {
    said.into_iter().reduce(|a, b| if b.verdict > a.verdict { b } else { a }).unwrap_or_else(GateAnswer::nothing)
}

/// Returns one gate's result in a word.
fn word(result: &GateResult) -> GateAnswer {
    let decisive = || result.decisive().next();
    let why = |finding: Option<&Finding>| finding.map(|finding| finding.message.clone()).unwrap_or_default();
    let said = |verdict, finding| GateAnswer { verdict, why: why(finding) };
    match (result.answer, result.effect()) {
        (_, Effect::Blocks | Effect::CannotJudge) => said(AnswerWord::Block, decisive()),
        (Answer::Fail | Answer::Unknown | Answer::Pending | Answer::Waived, _) => said(AnswerWord::Warn, decisive()),
        (Answer::Pass, _) => match result.findings.iter().find(|finding| is_advice(finding)) {
            Some(advice) => said(AnswerWord::Warn, Some(advice)),
            None => said(AnswerWord::Pass, decisive()),
        },
        (Answer::Skip, _) => said(AnswerWord::Na, decisive()),
    }
}

/// Returns `true` if a gate of evidence requires nothing because nothing that its commands read has changed.
fn is_exempt(result: &GateResult) -> bool {
    result.answer == Answer::Skip && result.findings.iter().any(|finding| finding.reason == "not-required")
}

/// Reasons of passes that have nothing to add.
const SETTLED: [&str; 7] = ["passed", "free", "first-push", "green", "open", "merged", "moving"];

/// Returns `true` for a rule that only advises: it gives a pass with a reason of its own.
fn is_advice(finding: &Finding) -> bool {
    finding.answer == Answer::Pass && !SETTLED.contains(&finding.reason.as_str())
}
