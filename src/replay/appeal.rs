//! A verdict that its reader contradicts, written down as a case.

use serde_json::{Value, json};

use crate::engine::Workplace;
use crate::event::Event;
use crate::gates::finding::{self, GateResult};
use crate::moment::Moment;
use crate::replay::anonymize::Neutral;
use crate::replay::case::{AnswerWord, Case, CaseError};
use crate::replay::compose::{CaseEnd, CaseSources, commits, compose};
use crate::replay::gate_answers::{GateAnswer, of_results};
use crate::replay::rejudge::{self, AgainError};
use crate::verdict::Verdict;
use crate::{config, source, timeline};

/// A verdict that cannot be written down as a case.
#[derive(Debug, thiserror::Error)]
pub enum AppealError {
    /// The judged content no longer exists.
    #[error(transparent)]
    Gone(#[from] AgainError),
    /// git could not answer.
    #[error(transparent)]
    Git(#[from] crate::git::GitError),
    /// The written case cannot be read again.
    #[error(transparent)]
    Case(#[from] CaseError),
}

/// A case made of a verdict.
#[derive(Clone, Debug)]
pub struct Appeal {
    pub case: Value,
    /// The questions that the case answers otherwise than the verdict did: question, then, now.
    pub lost: Vec<(String, GateAnswer, GateAnswer)>,
    /// The gates that stopped and that no question of a case is about.
    pub unasked: Vec<String>,
}

/// The largest number of movements of refs that are read.
const MOVEMENTS: usize = 5_000;

/// Writes a verdict of this repository down as a case.
pub fn appeal(place: &Workplace, verdict: &Verdict, neutral: &Neutral) -> Result<Appeal, AppealError> {
    let judged = rejudge::judged(place, verdict)?;
    let stopping: Vec<&GateResult> = finding::stopping(&verdict.gates).collect();
    let findings = || stopping.iter().flat_map(|result| result.decisive());
    // One commit stands for a push of several refs: the first that is refused, else the first there is.
    let main = judged
        .iter()
        .find(|one| one.commit.is_some() && findings().any(|finding| finding.subject == one.name))
        .or_else(|| judged.iter().find(|one| one.commit.is_some()))
        .or(judged.first());
    let head = main.and_then(|one| one.commit.clone());
    let base = main.and_then(|one| one.base.clone());
    let updates: Vec<_> = judged.iter().filter_map(|one| one.update.clone()).collect();
    let end = if updates.is_empty() {
        CaseEnd::Stop { head: head.clone(), work: judged.iter().find_map(|one| one.work.clone()) }
    } else {
        CaseEnd::Push { head: head.clone(), updates }
    };
    let entries = entries(place, verdict);
    let title = findings().next().map_or_else(String::new, |finding| finding.message.clone());
    let record = CaseSources {
        id: verdict.id.clone(),
        title,
        policy: policy(place, verdict),
        base: base.clone(),
        branch: main.and_then(|one| one.branch.clone()),
        entries: &entries,
        commits: commits(place, head.as_ref(), base.as_ref())?,
        hosting: verdict.hosting.as_ref(),
        end,
    };
    let mut case = compose(Some(&place.repo), neutral, &record)?;
    let answers = crate::replay::answer(&Case::read(case.to_string().as_bytes())?)?;
    let said = of_results(&verdict.gates);
    let is_lost = |(question, said): &(&String, &GateAnswer)| {
        let now = &answers.gates[*question];
        (said.verdict == AnswerWord::Block || now.verdict == AnswerWord::Block) && said.verdict != now.verdict
    };
    let lost = said
        .iter()
        .filter(is_lost)
        .map(|(question, said)| (question.clone(), said.clone(), answers.gates[question].clone()));
    let lost = lost.collect();
    let is_asked = |gate: &str| crate::replay::gate_answers::asks(gate);
    let unasked = stopping.iter().filter(|result| !is_asked(&result.gate)).map(|result| result.gate.clone()).collect();
    case["title"] = neutral.text(&record.title).into();
    Ok(Appeal { case, lost, unasked })
}

/// Returns the text of the policy. A case is judged as a stop is, so that a gate which does not run before a commit is
/// off in the case of a refused commit.
fn policy(place: &Workplace, verdict: &Verdict) -> Option<String> {
    let text = rejudge::policy_text(place, verdict);
    if verdict.moment != Moment::Commit {
        return text;
    }
    let mut table: toml::Table = text.unwrap_or_default().parse().ok()?;
    table.entry("version").or_insert(toml::Value::Integer(1));
    let gates = table.entry("gates").or_insert_with(|| toml::Table::new().into()).as_table_mut()?;
    let unasked = config::built_in().into_iter().filter(|gate| !gate.moments.contains(&Moment::Commit));
    for gate in unasked {
        let own = gates.entry(gate.id).or_insert_with(|| toml::Table::new().into()).as_table_mut()?;
        own.insert("mode".to_owned(), "off".into());
    }
    toml::to_string(&table).ok()
}

/// Says of every question that stopped in a verdict that a pass would have been right. Returns `false` if none did.
pub fn expect_pass(case: &mut Value, verdict: &Verdict) -> bool {
    let blocked = of_results(&verdict.gates).into_iter().filter(|(_, said)| said.verdict == AnswerWord::Block);
    let expected = blocked.map(|(question, _)| (question, json!({"verdict": "pass", "why": ""})));
    let expected: serde_json::Map<String, Value> = expected.collect();
    let is_any = !expected.is_empty();
    case["expect"] = Value::Object(expected);
    is_any
}

/// Says that a block would have been the right answer to a question.
pub fn expect_block(case: &mut Value, question: &str) {
    case["expect"] = json!({ question: {"verdict": "block", "why": ""} });
}

/// Returns the events up to a verdict: those of its session and, if that has no other act, all recorded ones; and the
/// movements of refs.
fn entries(place: &Workplace, verdict: &Verdict) -> Vec<timeline::Entry> {
    let mut events = rejudge::events(place);
    if let Some(at) = events.iter().position(|event| rejudge::is_of(event, verdict)) {
        events.truncate(at);
    }
    // Evidence counts whoever's session it is of; what else others did is not of this verdict.
    let of_session = |event: &Event| event.session.as_deref() == Some(verdict.session.as_str());
    events.retain(|event| of_session(event) || matches!(event.kind, crate::event::EventKind::Run(_)));
    let mut sources = vec![events];
    let moved = source::git::read(|| place.repo.command(), MOVEMENTS).unwrap_or_default();
    sources
        .extend(moved.into_iter().map(|log| log.events.into_iter().filter(|event| event.at <= verdict.at).collect()));
    timeline::merge(sources)
}
