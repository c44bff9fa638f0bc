//! The effect of one change on the recorded decisions: a function over texts from any source.

use serde::{Deserialize, Serialize};

use crate::commit::trailers;
use crate::decision::compare::{self, FileStates, Overruling, Return};
use crate::decision::contradictions::{self, Contradiction};
use crate::decision::revision::{Revision, TRAILER};
use crate::decision::rules::DecisionRules;
use crate::decision::{self, Decision, RecordKind};
use crate::repo_path::RepoPath;

/// The changes to decisions in one subject, compared with its base.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SubjectDecisions {
    /// The subject, by name.
    pub subject: String,
    /// Records that were removed or weakened.
    pub changes: Vec<compare::RecordChange>,
    /// Rejected paths that came back.
    pub returns: Vec<Return>,
    /// New records for one place that claim to overrule a record for all.
    pub overrulings: Vec<Overruling>,
    /// Records for all that now contradict each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<Contradiction>,
}

impl SubjectDecisions {
    fn is_empty(&self) -> bool {
        self.changes.is_empty()
            && self.returns.is_empty()
            && self.overrulings.is_empty()
            && self.contradictions.is_empty()
    }
}

/// A change.
#[derive(Clone, Copy, Debug)]
pub struct DecisionChange<'a> {
    pub name: &'a str,
    /// The paths that the change touches.
    pub changed: &'a [RepoPath],
    /// The contents of these files, before and now.
    pub files: &'a [FileStates],
    /// The records `@REJECTED` of the base that have a pattern or a path.
    pub rejected: &'a [Decision],
}

/// Returns the effect of a change on the decisions, or `None` if there is none. `everything` returns all records of its
/// base, and `messages` returns those of its commits, by their names; both are called only if they matter.
pub fn of<E>(
    rules: &DecisionRules,
    change: &DecisionChange<'_>,
    everything: impl Fn() -> Result<Vec<Decision>, E>,
    messages: impl FnOnce() -> Result<Vec<(String, String)>, E>,
) -> Result<Option<SubjectDecisions>, E> {
    let DecisionChange { name, changed, files, rejected } = *change;
    let state = RecordStates::of(files, rules);
    let mut one = SubjectDecisions {
        subject: name.to_owned(),
        changes: Vec::new(),
        returns: compare::returns(&in_force(rejected, &state, changed), files),
        overrulings: overrulings(&state, &everything)?,
        contradictions: contradictions(changed, &state, &everything)?,
    };
    if !compare::changes(&state.before, &state.after, &[]).is_empty() {
        let mut revisions: Vec<Revision> =
            compare::new(&state.before, &state.after).into_iter().filter_map(Revision::of_adr).collect();
        revisions.extend(revisions_in(messages()?));
        one.changes = compare::changes(&state.before, &state.after, &revisions);
        // An ADR may have been superseded before its own status says so.
        if one.changes.iter().any(|change| change.before.kind == RecordKind::Adr && change.revision.is_none()) {
            let known: Vec<Revision> = everything()?.iter().filter_map(Revision::of_adr).collect();
            for change in one.changes.iter_mut().filter(|change| change.before.kind == RecordKind::Adr) {
                if change.revision.is_none() {
                    change.revision = known.iter().find(|revision| revision.revises(&change.before)).cloned();
                }
            }
        }
    }
    Ok((!one.is_empty()).then_some(one))
}

/// The records of the changed files, before and now.
struct RecordStates {
    before: Vec<Decision>,
    after: Vec<Decision>,
}

impl RecordStates {
    fn of(files: &[FileStates], rules: &DecisionRules) -> Self {
        let read = |path: &RepoPath, text: &Option<Vec<u8>>| {
            text.as_deref().map(|text| decision::read(path, text, &rules.adr)).unwrap_or_default()
        };
        Self {
            before: files.iter().flat_map(|file| read(&file.path, &file.before)).collect(),
            after: files.iter().flat_map(|file| read(&file.path, &file.now)).collect(),
        }
    }
}

/// Returns the rejected paths that still hold: of records in changed files, those that some record there rules out now,
/// with any reason. Removed records are handled separately.
fn in_force(rejected: &[Decision], state: &RecordStates, changed: &[RepoPath]) -> Vec<Decision> {
    let still = |keys: &[String], of: fn(&Decision) -> &[String]| -> Vec<String> {
        let holds =
            |key: &&String| state.after.iter().any(|now| now.kind == RecordKind::Rejected && of(now).contains(key));
        keys.iter().filter(holds).cloned().collect()
    };
    let held = |one: &Decision| {
        if !changed.contains(&one.path) {
            return one.clone();
        }
        let patterns = still(&one.patterns, |now| &now.patterns);
        Decision { patterns, paths: still(&one.paths, |now| &now.paths), ..one.clone() }
    };
    rejected.iter().map(held).collect()
}

/// Returns the new tags that name an ADR as overruled. The ADRs are read only if there is such a tag.
fn overrulings<E>(
    state: &RecordStates,
    everything: impl FnOnce() -> Result<Vec<Decision>, E>,
) -> Result<Vec<Overruling>, E> {
    let new: Vec<&Decision> = compare::new(&state.before, &state.after)
        .into_iter()
        .filter(|tag| tag.kind != RecordKind::Adr && tag.is_against_one())
        .collect();
    if new.is_empty() {
        return Ok(Vec::new());
    }
    let mut global = everything()?;
    global.retain(|one| one.kind == RecordKind::Adr);
    global.extend(state.after.iter().filter(|one| one.kind == RecordKind::Adr).cloned());
    Ok(compare::overrulings(&new, &global))
}

/// Returns the contradictions that this change brings among the ADRs. The others are read only if it adds to one.
fn contradictions<E>(
    changed: &[RepoPath],
    state: &RecordStates,
    everything: impl FnOnce() -> Result<Vec<Decision>, E>,
) -> Result<Vec<Contradiction>, E> {
    let new = compare::new(&state.before, &state.after);
    if !new.iter().any(|one| contradictions::concerns(one, &state.after)) {
        return Ok(Vec::new());
    }
    let mut everything = everything()?;
    everything.retain(|one| !changed.contains(&one.path));
    everything.extend(state.after.iter().cloned());
    Ok(contradictions::contradictions(&everything, &new))
}

/// Returns the revisions in the messages of commits.
fn revisions_in(messages: Vec<(String, String)>) -> Vec<Revision> {
    let revision = |(commit, message): (String, String)| {
        let (_, trailers) = trailers::split(message.split_once('\n').map_or("", |(_, rest)| rest));
        let of = |trailer: &trailers::CommitTrailer| Revision::of_trailer(&commit, &trailer.value);
        trailers.iter().filter(|trailer| trailer.is(TRAILER)).map(of).collect::<Vec<_>>()
    };
    messages.into_iter().flat_map(revision).collect()
}
