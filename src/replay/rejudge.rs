//! Judges an old verdict again: the same contents and gates, with the present records and requirements.
//!
//! The result names each difference with its cause. To find the cause, one thing is changed at a time: first the
//! policy, then the evidence.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::collect::from_verdict::{self, JudgedSubject};
use crate::collect::{self, BaseOf, CollectError, Lineage, Sources};
use crate::config::{self, PolicyFiles};
use crate::engine::{Workplace, policy_files};
use crate::event::{Event, EventKind};
use crate::fact::{Base, DefaultBranch, RefUpdate, Story};
use crate::fact::{Facts, policy_relaxation};
use crate::failure::Failure;
use crate::gates::finding::GateResult;
use crate::gates::{self, ci_green, pull_request};
use crate::git::GitError;
use crate::journal::JournalLine;
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::{Policy, PolicySource};
use crate::ref_names;
use crate::replay::gate_answers::{GateAnswer, of_results};
use crate::repo_path::RepoPath;
use crate::source::project_files::DiskDirectory;
use crate::timeline;
use crate::verdict::{SubjectRecord, Verdict};

/// A verdict that cannot be judged again.
#[derive(Debug, thiserror::Error)]
pub enum AgainError {
    /// A content is not there any more.
    #[error("{0} is not in this repository (any more)")]
    Gone(String),
    /// The verdict was about content that gate never stored.
    #[error("{0}")]
    NotKept(String),
    /// The facts could not be read.
    #[error(transparent)]
    Facts(#[from] CollectError),
    /// git could not answer.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The policy could not be chosen.
    #[error("{0}")]
    Policy(#[from] Failure),
}

/// The present judgement of the content of an old verdict.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Again {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The id of the verdict.
    pub verdict: String,
    /// The present answers, by question, as for a case.
    pub gates: BTreeMap<String, GateAnswer>,
    /// The questions with another answer.
    pub differs: Vec<Difference>,
}

/// One question that is answered otherwise now.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Difference {
    /// The question.
    pub question: String,
    /// The old answer.
    pub then: GateAnswer,
    /// The present answer.
    pub now: GateAnswer,
    /// The causes, as sentences.
    pub because: Vec<String>,
}

/// Judges a verdict of this repository again.
pub fn again(place: &Workplace, verdict: &Verdict) -> Result<Again, AgainError> {
    let judged = judged(place, verdict)?;
    let head = judged.iter().find_map(|one| one.commit.clone());
    let base = judged.iter().find_map(|one| one.base.clone());
    let lineage = match (verdict.moment, &base) {
        // A commit that was never made stands on the work, whose base says what is asked.
        (Moment::Commit, Some(parent)) => Some(collect::lineage(&place.repo, parent, BaseOf::AnyRemote)?),
        _ => head.map(|commit| {
            let base = base.map_or(Base::Nothing, |commit| Base::MergeBase { commit, branch: String::new() });
            Lineage::new(commit, base, None)
        }),
    };
    let (policy, _) = place.policy(lineage.as_ref())?;
    let state = place.state()?;
    let sources = Sources { repo: &place.repo, journal: &place.journal, state: &state, policy: &policy };
    let mut now = from_verdict::collect(sources, verdict.moment, &judged, verdict.notes.clone())?;
    now.hosting.clone_from(&verdict.hosting);
    let events = events(place);
    let given = events.iter().position(|event| is_of(event, verdict)).map(|at| (at, events[at].id.clone()));
    if matches!(verdict.moment, Moment::Stop | Moment::After) {
        let until = given.as_ref().map_or(events.len(), |(at, _)| *at);
        let own = |event: &&Event| event.session.as_deref() == Some(verdict.session.as_str());
        // As at any stop: from where its client first told of an act.
        let before_the_first = |event: &&Event| !matches!(event.kind, EventKind::Work(_));
        let told = events[..until].iter().filter(own).skip_while(before_the_first).cloned().collect();
        let files = DiskDirectory(place.repo.root().unwrap_or(place.repo.git_dir()).to_owned());
        now.story = Story::of(&timeline::merge(vec![told]), Some(&verdict.session), policy.project(&files));
    }
    let waivers = |facts: &mut Facts, until: Option<&str>| {
        let kept = state.waivers().iter().filter(|(id, _)| until.is_none_or(|until| id.as_str() <= until));
        facts.waivers = kept.map(|(_, waived)| waived.clone()).collect();
    };
    let mut then = now.clone();
    let until = given.as_ref().map(|(_, id)| id.as_str());
    waivers(&mut then, until);
    let mut later: Vec<String> = Vec::new();
    for subject in &mut then.subjects {
        for (command, runs) in &mut subject.runs {
            runs.retain(|run| {
                let before = until.is_none_or(|until| run.id.as_str() <= until);
                let told = format!("{command} was run again later ({})", run.id);
                if !before && !later.contains(&told) {
                    later.push(told);
                }
                before
            });
        }
    }
    if then.waivers.len() < now.waivers.len() {
        later.push("a person waived it since".to_owned());
    }
    let judge = |facts: &Facts| with_the_forges_words(gates::judge(&policy, facts), verdict, &policy);
    let (before, after) = (of_results(&judge(&then)), of_results(&judge(&now)));
    let said = of_results(&verdict.gates);
    let policy_changed = (policy.digest != verdict.policy.digest).then(|| what_changed(place, verdict, &policy));
    let nothing = GateAnswer::nothing();
    let mut differs = Vec::new();
    for (question, now) in &after {
        let was = said.get(question).unwrap_or(&nothing);
        let middle = before.get(question).unwrap_or(&nothing);
        if was.verdict == now.verdict {
            continue;
        }
        let mut because = Vec::new();
        if was.verdict != middle.verdict {
            because.push(match &policy_changed {
                Some(what) => what.clone(),
                None => "the record is the same: this version of gate reads it differently from the one that judged"
                    .to_owned(),
            });
        }
        if middle.verdict != now.verdict {
            because.extend(later.iter().cloned());
        }
        differs.push(Difference { question: question.clone(), then: was.clone(), now: now.clone(), because });
    }
    Ok(Again { schema_version: 1, verdict: verdict.id.clone(), gates: after, differs })
}

/// Returns the events of the journal that can be read.
pub fn events(place: &Workplace) -> Vec<Event> {
    let lines = place.journal.events().into_iter().flatten();
    let events = lines.filter_map(|line| match line {
        JournalLine::Event(event) => Some(event),
        JournalLine::Damaged { .. } => None,
    });
    events.collect()
}

/// Returns `true` if an event records this verdict.
pub(super) fn is_of(event: &Event, verdict: &Verdict) -> bool {
    matches!(&event.kind, EventKind::Judged(judged) if judged.verdict == verdict.id)
}

/// Returns the subjects of a verdict, if all of them still exist.
pub(super) fn judged(place: &Workplace, verdict: &Verdict) -> Result<Vec<JudgedSubject>, AgainError> {
    let head = place.repo.head()?;
    let here = |commit: &Oid| match place.repo.object_kind(commit)? {
        Some(_) => Ok(()),
        None => Err(AgainError::Gone(format!("commit {}", commit.short()))),
    };
    let mut found = Vec::new();
    for record in &verdict.subjects {
        let commit = record.commit.as_ref().or(record.draft.as_ref());
        commit.into_iter().chain(&record.base).try_for_each(here)?;
        let update = update(record);
        if commit.is_none() && record.tree.is_none() && update.is_none() {
            return Err(AgainError::NotKept(match verdict.moment {
                Moment::Commit => "it was about a commit that was not made, and it was not kept".to_owned(),
                _ => format!("the {} that was judged was not kept", record.name),
            }));
        }
        let local = record.update.as_ref().and_then(|update| ref_names::branch(&update.local_ref));
        let checked_out = || head.branch.as_deref().and_then(ref_names::branch);
        let branch = local.or_else(|| checked_out().filter(|_| update.is_none())).map(str::to_owned);
        found.push(JudgedSubject {
            name: record.name.clone(),
            commit: commit.cloned(),
            work: record.tree.clone().filter(|_| commit.is_none()),
            base: record.base.clone(),
            update,
            branch,
        });
    }
    Ok(found)
}

fn update(record: &SubjectRecord) -> Option<RefUpdate> {
    let remote_ref = record.remote_ref.clone()?;
    let known = record.update.clone();
    let default_branch = match known.as_ref().and_then(|known| known.default_branch.clone()) {
        Some(name) if name.is_empty() => DefaultBranch::EmptyRemote,
        Some(name) => DefaultBranch::Known(name),
        None => DefaultBranch::Unknown("the verdict does not say".to_owned()),
    };
    let (local_ref, old, remote) = known.map(|known| (known.local_ref, known.old, known.remote)).unwrap_or_default();
    Some(RefUpdate { local_ref, new: record.commit.clone(), remote_ref, old, remote, default_branch })
}

/// Keeps the old results of gates that asked the forge, if the forge's answers were not stored. gate does not ask
/// again.
fn with_the_forges_words(mut results: Vec<GateResult>, verdict: &Verdict, policy: &Policy) -> Vec<GateResult> {
    const OF_THE_FORGE: [&str; 2] = [pull_request::KIND.name, ci_green::KIND.name];
    if verdict.hosting.is_some() {
        return results;
    }
    for result in &mut results {
        let kind = policy.gates.iter().find(|gate| gate.id == result.gate).map(|gate| gate.kind.as_str());
        let said = verdict.gates.iter().find(|said| said.gate == result.gate);
        if let (Some(said), true) = (said, kind.is_some_and(|kind| OF_THE_FORGE.contains(&kind))) {
            result.clone_from(said);
        }
    }
    results
}

/// Returns the difference between the present policy and that of the verdict, as far as the latter can be read.
fn what_changed(place: &Workplace, verdict: &Verdict, now: &Policy) -> String {
    let files = DiskDirectory(place.repo.root().unwrap_or(place.repo.git_dir()).to_owned());
    let then = policy_of(place, verdict);
    let differences = then.map(|then| {
        let less = policy_relaxation::relaxed(&then, now, &files);
        let more = policy_relaxation::relaxed(now, &then, &files);
        let told = |words: &str, list: Vec<String>| (!list.is_empty()).then(|| format!("{words}: {}", list.join("; ")));
        [told("it requires less", less), told("the one before required less", more)]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("; ")
    });
    match differences.filter(|text| !text.is_empty()) {
        Some(text) => format!("the policy changed: {text}"),
        None => "the policy changed".to_owned(),
    }
}

/// Returns the policy of a verdict, if it can still be read.
pub(super) fn policy_of(place: &Workplace, verdict: &Verdict) -> Option<Policy> {
    let source = verdict.policy.source.clone();
    let files = match &source {
        PolicySource::Commit(commit) => policy_files::at(&place.repo, commit).ok()??,
        PolicySource::WorkingTree => policy_files::here(place.repo.root()?).ok()??,
        PolicySource::Defaults => PolicyFiles::default(),
    };
    let policy = config::read_files("", &files, source, &gates::check_params).ok()?;
    (policy.digest == verdict.policy.digest).then_some(policy)
}

/// Returns the text of `gate.toml` by which a verdict was given.
pub(super) fn policy_text(place: &Workplace, verdict: &Verdict) -> Option<String> {
    text_of(place, &verdict.policy.source)
}

/// Returns the text of `gate.toml` from this place; an empty policy if it has none.
pub(super) fn text_of(place: &Workplace, source: &PolicySource) -> Option<String> {
    let bytes = match source {
        PolicySource::Commit(commit) => place.repo.blob_at(commit, &RepoPath::from(config::FILE)).ok()??,
        PolicySource::WorkingTree => std::fs::read(place.repo.root()?.join(config::FILE)).ok()?,
        PolicySource::Defaults => b"version = 1\n".to_vec(),
    };
    String::from_utf8(bytes).ok()
}
