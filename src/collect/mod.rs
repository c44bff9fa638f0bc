//! Collects the facts for one judgement: they are read once, in a constant number of calls of git.

mod apart;
pub mod attested;
pub(crate) mod changed_files;
mod commit_queue;
pub mod commits;
pub(crate) mod contracts;
mod decision_index;
pub(crate) mod decisions;
mod draft;
pub(crate) mod earlier_runs;
pub(crate) mod failed_tests;
pub(crate) mod fewer_tests;
pub(crate) mod forge_query;
pub(crate) mod from_verdict;
#[cfg(feature = "symbols")]
pub(crate) mod functions;
mod judged_work;
mod judgement_notes;
pub(crate) mod merge_base;
mod named_texts;
pub(crate) mod plan_progress;
mod pushed_updates;
mod quarantine;
pub(crate) mod run_comparison;
pub(crate) mod run_products;
mod test_changes;
pub(crate) mod tested_changes;
mod tree_differences;
pub(crate) mod undeclared_runs;
pub(crate) mod unnamed_failures;

use std::thread;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use self::draft::Draft;
pub use self::judgement_notes::JOURNAL_REMOVED;
use self::judgement_notes::{
    edited_dependency_note, folders_at_runs, journal_notes, local_file_notes, named_text_notes, tool_folder_notes,
};
pub use self::merge_base::{BaseOf, Lineage, lineage, pushed, target};
pub use self::named_texts::{unread_scratch_files, unread_scratch_files_here};
pub use self::pushed_updates::{at_push, begin_push, parse_updates};
use crate::collect::named_texts::{NamedTexts, scratch_files};
use crate::fact::{Facts, HostedHead, NewCommits, Note, Story, SubjectKind};
use crate::git::{ConcealmentKind, EditSurvey, GitError, Repo};
use crate::journal::{Journal, JournalError, JournalState};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::Policy;
use crate::runner::Project;
use crate::timeline;

/// An error while facts are read.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// git could not answer.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The journal could not be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// The sources of facts.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// The repository.
    pub repo: &'a Repo,
    /// The journal.
    pub journal: &'a Journal,
    /// The state of the journal so far.
    pub state: &'a JournalState,
    /// The policy in force.
    pub policy: &'a Policy,
}

/// Collects the facts for `gate check` and a client's stop: the commit that is checked out and, if it differs, the
/// working tree.
pub fn at_stop(
    sources: Sources<'_>,
    moment: Moment,
    head: Option<&Lineage>,
    EditSurvey { snapshot, concealment }: &EditSurvey,
) -> Result<Facts, CollectError> {
    let mut drafts = Vec::new();
    if let Some(head) = head {
        let mut draft = Draft::commit("HEAD", sources.repo, head)?;
        draft.subject.checked_out = Some(true);
        drafts.push(draft);
    }
    if !snapshot.is_clean() {
        drafts.push(Draft::working_tree(sources.repo, head, snapshot)?);
    }
    let mut facts = finish(sources, moment, drafts)?;
    new_work(sources, &mut facts, head)?;
    decisions::collect(sources.repo, sources.policy, &mut facts)?;
    // What these two hide or change is named by its files.
    let by_file = [ConcealmentKind::LocalExclude, ConcealmentKind::LocalFilter];
    let notes = concealment
        .iter()
        .filter(|one| !by_file.contains(&one.kind))
        .map(|one| Note::new(one.kind.as_str(), one.what.clone()));
    facts.notes.extend(notes);
    facts.notes.extend(tool_folder_notes(&snapshot.tool_folders));
    facts.notes.extend(local_file_notes(sources, snapshot.local_files.iter()));
    Ok(facts)
}

/// Returns the steps of `session`, as far as its client reported them. `project` is seen from the root of the working
/// tree.
pub fn story(
    journal: &Journal,
    state: &JournalState,
    session: &str,
    project: Project<'_>,
) -> Result<Story, JournalError> {
    let read = journal.session_events(state, session)?;
    if read.events.is_empty() {
        return Ok(Story::default());
    }
    let mut story = Story::of(&timeline::merge(vec![read.events]), Some(session), project);
    story.cut |= read.cut;
    Ok(story)
}

/// Compares a commit and reads its new commits in advance, while something else takes longer. An error is ignored: it
/// will occur again when they are needed.
pub fn compare_ahead(sources: Sources<'_>, commit: &Lineage) {
    thread::scope(|scope| {
        scope.spawn(|| {
            if let Ok(new) = new_with(sources, Moment::Stop, &commit.commit) {
                let _ = commit.ahead.set((Moment::Stop, new));
            }
        });
        let _ = Draft::commit("", sources.repo, commit).map(|draft| finish(sources, Moment::Stop, vec![draft]));
    });
}

/// Collects the facts for one commit, which need not be checked out: `gate check --rev`.
pub fn at_commit(sources: Sources<'_>, moment: Moment, name: &str, commit: &Lineage) -> Result<Facts, CollectError> {
    let mut draft = Draft::commit(name, sources.repo, commit)?;
    draft.subject.checked_out = Some(sources.repo.head()?.commit.as_ref() == Some(&commit.commit));
    let mut facts = finish(sources, moment, vec![draft])?;
    new_work(sources, &mut facts, Some(commit))?;
    decisions::collect(sources.repo, sources.policy, &mut facts)?;
    Ok(facts)
}

/// Collects the facts for a CI job: a commit, and the commits of `range`.
pub fn in_range(
    sources: Sources<'_>,
    moment: Moment,
    name: &str,
    commit: &Lineage,
    range: Option<&str>,
    head: Option<&HostedHead>,
) -> Result<Facts, CollectError> {
    let mut draft = Draft::commit(name, sources.repo, commit)?;
    draft.subject.branch = head.and_then(|head| head.branch.clone());
    let mut facts = finish(sources, moment, vec![draft])?;
    let range = match range {
        Some(range) => sources.repo.named_range(range)?,
        None => sources.repo.new_commits(&commit.commit)?,
    };
    for subject in &mut facts.subjects {
        let branch = subject.branch.as_deref();
        subject.commits = commits::collect(sources.repo, &range, sources.policy, moment, branch)?;
    }
    decisions::collect(sources.repo, sources.policy, &mut facts)?;
    Ok(facts)
}

/// Reads the commits of this work that no default branch has.
fn new_work(sources: Sources<'_>, facts: &mut Facts, read: Option<&Lineage>) -> Result<(), GitError> {
    for subject in facts.subjects.iter_mut().filter(|subject| subject.role == SubjectKind::Commit) {
        let Some(tip) = &subject.commit else { continue };
        let ahead = read.filter(|lineage| lineage.commit == *tip).and_then(|lineage| lineage.ahead.get());
        subject.commits = match ahead {
            Some((moment, new)) if *moment == facts.moment => new.clone(),
            _ => new_with(sources, facts.moment, tip)?,
        };
    }
    Ok(())
}

/// Reads the commits up to `tip` that no default branch has.
fn new_with(sources: Sources<'_>, moment: Moment, tip: &Oid) -> Result<NewCommits, GitError> {
    let range = sources.repo.new_commits(tip)?;
    let branch = sources.repo.head()?.branch;
    commits::collect(sources.repo, &range, sources.policy, moment, branch.as_deref())
}

/// Makes all comparisons, in at most three calls of git (and two for each content in which prose changed), for any
/// number of subjects and runs.
fn finish(sources: Sources<'_>, moment: Moment, mut drafts: Vec<Draft<'_>>) -> Result<Facts, CollectError> {
    let bases: Vec<_> =
        drafts.iter().filter_map(|draft| Some((draft.base_tree.clone()?, draft.tree.clone()?))).collect();
    let mut diffs = sources.repo.diff_trees(&bases)?.into_iter();
    for draft in drafts.iter_mut().filter(|draft| draft.tree.is_some()) {
        draft.subject.changed =
            draft.base_tree.as_ref().and_then(|_| diffs.next()).and_then(|diff| draft.differing(&diff));
    }

    let folderless = without_folder(sources, &drafts)?;
    let weakening = test_changes::weakened(sources, moment, &drafts)?;
    let scratch = scratch_files(sources, &drafts)?;
    let policy = sources.policy.without_scratch(&scratch);
    let sources = Sources { policy: &policy, ..sources };
    let texts = NamedTexts::of(sources.repo, sources.policy, &drafts);
    for changed in drafts.iter().filter_map(|draft| draft.subject.changed.as_ref()) {
        texts.ask_of_change(changed)?;
    }
    run_comparison::runs(sources, &texts, &mut drafts)?;
    let named_texts = texts.found();
    for draft in &mut drafts {
        for command in &sources.policy.commands {
            let key = command.reference().key;
            let former = sources.state.keys_for_name(&command.name).find(|former| *former != key);
            let line = former.and_then(|former| Some(sources.state.runs(former).first()?.run.command.line.clone()));
            if let Some(line) = line {
                draft.subject.former_lines.insert(command.name.clone(), line);
            }
        }
    }
    let mut notes = journal_notes(sources);
    notes.extend(edited_dependency_note(sources));
    notes.extend(named_text_notes(&named_texts));
    if moment == Moment::Push {
        notes.extend(tool_folder_notes(&folders_at_runs(&drafts)));
        let runs = drafts.iter().flat_map(|draft| draft.subject.runs.values()).filter_map(|runs| runs.first());
        notes.extend(local_file_notes(sources, runs.flat_map(|run| &run.local_files)));
    }
    let (quarantine, ended) = quarantine::on(Timestamp::now().to_zoned(TimeZone::UTC).date(), sources.policy);
    notes.extend(ended);
    let mut facts = Facts {
        subjects: drafts.into_iter().map(|draft| draft.subject).collect(),
        waivers: sources.state.waivers().iter().map(|(_, waived)| waived.clone()).collect(),
        notes,
        weakening,
        unfinished: unfinished(sources),
        folderless,
        named_texts,
        scratch,
        quarantine,
        ..Facts::at(moment)
    };
    tested_changes::collect(sources, &mut facts)?;
    Ok(facts)
}

/// Returns the declared commands that were started after their last known run and have not ended.
fn unfinished(sources: Sources<'_>) -> Vec<String> {
    let begun = |key: &str| {
        let ended = sources.state.runs(key).iter().map(|run| &run.id).max();
        let later = |begun: &String| ended.is_none_or(|ended| begun > ended);
        sources.state.unfinished().any(|(event, started)| started.command.key == key && later(event))
    };
    let commands = sources.policy.commands.iter();
    commands.filter(|command| begun(&command.reference().key)).map(|command| command.name.clone()).collect()
}

/// Returns the declared commands whose folder is in none of the compared contents.
fn without_folder(sources: Sources<'_>, drafts: &[Draft<'_>]) -> Result<Vec<String>, GitError> {
    let mut found = Vec::new();
    for command in sources.policy.commands.iter().filter(|command| !command.dir.as_bytes().is_empty()) {
        let mut there = drafts.is_empty();
        for draft in drafts {
            let here = draft.snapshot.and(sources.repo.root());
            there |= here.is_some_and(|root| root.join(command.dir.to_os()).is_dir());
            for tree in draft.tree.iter().chain(&draft.base_tree) {
                there = there || sources.repo.has_folder(tree, &command.dir)?;
            }
        }
        if !there {
            found.push(command.name.clone());
        }
    }
    Ok(found)
}
