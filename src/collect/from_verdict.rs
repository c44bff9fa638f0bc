//! The facts of a verdict, read again from the contents that it judged and from the current journal.
//!
//! Sources outside of the repository and its journal are not read again: the forge, whose answers the verdict holds,
//! and the settings of that moment.

use crate::collect::draft::Draft;
use crate::collect::{CollectError, Lineage, Sources, commits, decisions, finish};
use crate::fact::{Base, Facts, Note, RefUpdate, SubjectKind};
use crate::git::Range;
use crate::moment::Moment;
use crate::oid::Oid;

/// A subject of a verdict.
#[derive(Clone, Debug)]
pub struct JudgedSubject {
    pub name: String,
    /// The commit, or `None` for a deletion and for content that is not a commit.
    pub commit: Option<Oid>,
    /// The working tree, if it was kept.
    pub work: Option<Oid>,
    /// The commit that it was compared with.
    pub base: Option<Oid>,
    /// The update of a ref, at a push.
    pub update: Option<RefUpdate>,
    /// The local branch.
    pub branch: Option<String>,
}

/// Collects the facts about `judged` at a moment. `notes` are those of the verdict.
pub fn collect(
    sources: Sources<'_>,
    moment: Moment,
    judged: &[JudgedSubject],
    notes: Vec<Note>,
) -> Result<Facts, CollectError> {
    let mut drafts = Vec::new();
    for one in judged {
        let base = one
            .base
            .as_ref()
            .map_or(Base::Nothing, |base| Base::MergeBase { commit: base.clone(), branch: "its base".to_owned() });
        let mut draft = match (&one.commit, &one.work) {
            (Some(commit), _) => Draft::commit(&one.name, sources.repo, &Lineage::new(commit.clone(), base, None))?,
            (None, Some(tree)) => Draft::kept(&one.name, sources.repo, base, tree)?,
            (None, None) => Draft::empty(&one.name),
        };
        draft.subject.update.clone_from(&one.update);
        draft.subject.branch.clone_from(&one.branch);
        draft.subject.checked_out = Some(one.update.is_none());
        drafts.push(draft);
    }
    let mut facts = finish(sources, moment, drafts)?;
    for subject in facts.subjects.iter_mut().filter(|subject| subject.role == SubjectKind::Commit) {
        let Some(tip) = &subject.commit else { continue };
        let base = match &subject.base {
            Base::MergeBase { commit, .. } => Some(commit),
            Base::Nothing | Base::Unknown(_) => None,
        };
        // Not what is new now: what was pushed since was new then.
        let mut exclude: Vec<String> = base.into_iter().map(ToString::to_string).collect();
        if let Some(old) = subject.update.as_ref().and_then(|update| update.old.as_ref())
            && sources.repo.object_kind(old)?.is_some()
        {
            exclude.push(old.to_string());
        }
        let range = Range { revisions: vec![tip.to_string()], exclude, limit: None };
        subject.commits = commits::collect(sources.repo, &range, sources.policy, moment, subject.branch.as_deref())?;
    }
    decisions::collect(sources.repo, sources.policy, &mut facts)?;
    facts.notes = notes;
    Ok(facts)
}
