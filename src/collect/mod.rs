//! Collects the facts for one judgement: they are read once, in a constant number of calls of git.

mod apart;
pub mod attested;
pub mod changed_files;
mod commit_queue;
pub mod commits;
pub mod contracts;
mod decision_index;
pub mod decisions;
pub mod earlier_runs;
pub mod failed_tests;
pub mod forge_query;
pub mod from_verdict;
#[cfg(feature = "symbols")]
pub mod functions;
pub mod merge_base;
mod named_texts;
mod quarantine;
pub mod run_comparison;
mod test_changes;
pub mod tested_changes;
mod working_tree_diff;

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use jiff::Timestamp;
use jiff::tz::TimeZone;

pub use self::merge_base::{BaseOf, Lineage, lineage, pushed, target};
use crate::collect::merge_base::Target;
use crate::collect::named_texts::NamedTexts;
use crate::fact::commits::NewCommits;
use crate::fact::hosting::HostedHead;
use crate::fact::session_steps::Story;
use crate::fact::subject::{Base, RefUpdate, Subject, SubjectKind};
use crate::fact::{Facts, Note};
use crate::git::{
    CommitLog, ConcealmentKind, DefaultBranch, EditSurvey, GitError, Head, ObjectKind, Range, Repo, TreeDiff,
};
use crate::journal::{Journal, JournalError, JournalState};
use crate::local_file::{LocalCause, LocalFile};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::Policy;
use crate::repo_path::RepoPath;
use crate::runner::Project;
use crate::snapshot::Snapshot;
use crate::timeline;
use crate::tool_folder::ToolFolder;

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

/// Collects the facts for a push from commits and recorded snapshots, never from the working tree.
///
/// `head` is the commit that is checked out. At the receiving end (`receiving`), the journal of the person who pushes
/// is out of reach. `begun` is the log of the first update, if it was begun ([`begin_push`]).
pub fn at_push(
    sources: Sources<'_>,
    updates: &[(RefUpdate, Option<Lineage>)],
    head: &Head,
    target: Option<&Target>,
    receiving: bool,
    mut begun: Option<CommitLog>,
) -> Result<Facts, CollectError> {
    let mut drafts = Vec::new();
    let mut notes = Vec::new();
    for (update, lineage) in updates {
        let name = update_name(update);
        let mut draft = match lineage {
            Some(lineage) => Draft::commit(&name, sources.repo, lineage)?,
            None => match merge_base::pushed_tree(sources.repo, update)? {
                Some(tree) => Draft::tree(&name, sources.repo, tree, target)?,
                None => Draft::empty(&name),
            },
        };
        if update.new.is_some() && draft.tree.is_none() && !update.remote_ref.starts_with("refs/notes/") {
            let text = format!(
                "{} is a single file without a folder: no command reads it, so none is required",
                update.remote_ref
            );
            notes.push(Note::new("no-tree", text));
        }
        if let (Some(tree), Some(target), Base::Nothing) = (&draft.tree, target, &draft.subject.base)
            && apart::is_apart(sources.repo, tree, &target.tip)?
        {
            let text = format!(
                "{name} has no history and no file in common with {}, so no command is required for it",
                target.branch
            );
            notes.push(Note::new("apart", text));
            draft.base_tree.clone_from(&draft.tree);
        }
        let checked_out = draft.subject.commit.is_some() && draft.subject.commit == head.commit;
        let local =
            head.branch.as_ref().filter(|_| checked_out && update.local_ref == "HEAD").unwrap_or(&update.local_ref);
        draft.subject.branch = local.strip_prefix("refs/heads/").map(str::to_owned);
        draft.subject.is_named_like_tag = match &draft.subject.branch {
            Some(branch) => sources.repo.reference(&format!("refs/tags/{branch}"))?.is_some(),
            None => false,
        };
        draft.subject.synced_from = merge_base::synced_from(sources.repo, update)?;
        draft.subject.checked_out = Some(checked_out);
        draft.subject.update = Some(update.clone());
        drafts.push(draft);
    }
    let pushed: Vec<_> =
        drafts.iter().map(|draft| (draft.subject.commit.clone(), draft.subject.branch.clone())).collect();
    let mut new = |((tip, branch), (update, _)): (&(Option<Oid>, Option<String>), &(RefUpdate, _))| {
        let (Sources { repo, policy, .. }, begun) = (sources, begun.take());
        let Some(tip) = tip else { return Ok(NewCommits::default()) };
        match begun {
            Some(log) => commits::collect_begun(repo, log, policy, Moment::Push, branch.as_deref()),
            None => {
                let range = brought(repo, update, tip, receiving)?;
                commits::collect(repo, &range, policy, Moment::Push, branch.as_deref())
            }
        }
    };
    let (facts, new) = thread::scope(|scope| {
        let reading =
            scope.spawn(move || pushed.iter().zip(updates).map(&mut new).collect::<Result<Vec<_>, GitError>>());
        let facts = finish(sources, Moment::Push, drafts);
        (facts, reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let mut facts = facts?;
    for (subject, new) in facts.subjects.iter_mut().zip(new?) {
        subject.commits = new;
    }
    facts.receiving = receiving;
    facts.notes.extend(notes);
    decisions::collect(sources.repo, sources.policy, &mut facts)?;
    Ok(facts)
}

/// Returns the commits that an update of a ref to `tip` brings.
fn brought(repo: &Repo, update: &RefUpdate, tip: &Oid, receiving: bool) -> Result<Range, GitError> {
    if receiving { repo.received_commits(tip) } else { repo.pushed_commits(tip, update.old.as_ref(), &update.remote) }
}

/// Begins to read the commits of an update, which takes longest, before the policy is known. Returns `None` if they
/// cannot be read in this way.
pub fn begin_push(repo: &Repo, update: &RefUpdate, receiving: bool) -> Option<CommitLog> {
    let tip = update.new.as_ref()?;
    let is_commit = matches!(repo.object_kind(tip), Ok(Some(ObjectKind::Commit)));
    if !is_commit || update.remote_ref.starts_with("refs/notes/") {
        return None;
    }
    commits::begin(repo, &brought(repo, update, tip, receiving).ok()?)
}

fn update_name(update: &RefUpdate) -> String {
    let short = |name: &str| name.strip_prefix("refs/heads/").unwrap_or(name).to_owned();
    let (local, remote) = (short(&update.local_ref), short(&update.remote_ref));
    match &update.new {
        None => format!("delete {remote}"),
        Some(_) if local == remote || local.is_empty() => remote,
        Some(_) => format!("{local} → {remote}"),
    }
}

/// A subject that is not compared yet.
pub(super) struct Draft<'a> {
    pub(super) subject: Subject,
    /// The tree that the comparisons start from: the subject's own, or that of `HEAD` for a working tree.
    pub(super) tree: Option<Oid>,
    /// The tree of the whole content, if it is known without writing it.
    pub(super) whole: Option<Oid>,
    pub(super) base_tree: Option<Oid>,
    pub(super) snapshot: Option<&'a Snapshot>,
}

impl<'a> Draft<'a> {
    pub(super) fn empty(name: &str) -> Self {
        let subject = Subject::empty(name);
        Self { subject, tree: None, whole: None, base_tree: None, snapshot: None }
    }

    pub(super) fn commit(name: &str, repo: &Repo, lineage: &Lineage) -> Result<Self, GitError> {
        let mut draft = Self::empty(name);
        let tree = repo.tree_of(&lineage.commit)?;
        draft.base_tree = base_tree(repo, &lineage.base)?;
        draft.subject.commit = Some(lineage.commit.clone());
        draft.subject.tree = Some(tree.clone());
        draft.subject.base = lineage.base.clone();
        draft.whole = Some(tree.clone());
        draft.tree = Some(tree);
        Ok(draft)
    }

    /// Returns a tree that does not belong to a commit, compared with the tip of the default branch.
    fn tree(name: &str, repo: &Repo, tree: Oid, target: Option<&Target>) -> Result<Self, GitError> {
        let mut draft = Self::empty(name);
        let base = target.map(|target| Base::MergeBase { commit: target.tip.clone(), branch: target.branch.clone() });
        draft.subject.base = base.unwrap_or(Base::Nothing);
        draft.base_tree = base_tree(repo, &draft.subject.base)?;
        draft.subject.tree = Some(tree.clone());
        draft.tree = Some(tree);
        Ok(draft)
    }

    fn working_tree(repo: &Repo, head: Option<&Lineage>, snapshot: &'a Snapshot) -> Result<Self, GitError> {
        let mut draft = Self::empty("working tree");
        draft.subject.role = SubjectKind::WorkingTree;
        draft.subject.base = head.map_or(Base::Nothing, |head| head.base.clone());
        draft.subject.opaque.clone_from(&snapshot.opaque);
        draft.subject.checked_out = Some(true);
        draft.base_tree = base_tree(repo, &draft.subject.base)?;
        draft.tree = Some(snapshot.base.clone());
        draft.whole = repo.tree_id(snapshot);
        draft.snapshot = Some(snapshot);
        Ok(draft)
    }

    /// Returns a working tree of an earlier time, as it was kept.
    pub(super) fn kept(name: &str, repo: &Repo, base: Base, tree: &Oid) -> Result<Self, GitError> {
        let mut draft = Self::empty(name);
        draft.subject.role = SubjectKind::WorkingTree;
        draft.base_tree = base_tree(repo, &base)?;
        draft.subject.base = base;
        draft.subject.tree = Some(tree.clone());
        draft.whole = Some(tree.clone());
        draft.tree = Some(tree.clone());
        Ok(draft)
    }

    /// Returns the paths on which the content at the other end of `diff` differs from this subject.
    pub(super) fn differing(&self, diff: &TreeDiff) -> Option<Vec<RepoPath>> {
        let TreeDiff::Changes(changes) = diff else { return None };
        Some(match self.snapshot {
            Some(snapshot) => working_tree_diff::differing(changes, &snapshot.dirty),
            None => working_tree_diff::listed(changes),
        })
    }
}

/// Returns the tree of the base, the empty tree if there is no base, or `None` if the base is unknown.
fn base_tree(repo: &Repo, base: &Base) -> Result<Option<Oid>, GitError> {
    match base {
        Base::MergeBase { commit, .. } => repo.tree_of(commit).map(Some),
        Base::Nothing => Ok(Some(repo.empty_tree())),
        Base::Unknown(_) => Ok(None),
    }
}

/// Makes all comparisons, in at most three calls of git (and two for each content in which prose changed), for any
/// number of subjects and runs.
pub(super) fn finish(sources: Sources<'_>, moment: Moment, mut drafts: Vec<Draft<'_>>) -> Result<Facts, CollectError> {
    let bases: Vec<_> =
        drafts.iter().filter_map(|draft| Some((draft.base_tree.clone()?, draft.tree.clone()?))).collect();
    let mut diffs = sources.repo.diff_trees(&bases)?.into_iter();
    for draft in drafts.iter_mut().filter(|draft| draft.tree.is_some()) {
        draft.subject.changed =
            draft.base_tree.as_ref().and_then(|_| diffs.next()).and_then(|diff| draft.differing(&diff));
    }

    let astray = astray(sources, &drafts)?;
    let weakening = test_changes::weakened(sources, moment, &drafts)?;
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
    let mut notes = journal_notes(sources.state);
    notes.extend(named_text_notes(&named_texts));
    if moment == Moment::Push {
        notes.extend(tool_folder_notes(&beside_runs(&drafts)));
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
        astray,
        named_texts,
        quarantine,
        ..Facts::at(moment)
    };
    tested_changes::collect(sources, &mut facts)?;
    Ok(facts)
}

/// Returns notes that say why a file counts although its name is that of prose.
fn named_text_notes(named: &BTreeMap<RepoPath, RepoPath>) -> impl Iterator<Item = Note> {
    named.iter().map(|(path, by)| Note::new("named-text", format!("{path} counts as content: {by} names it")))
}

/// Returns notes about the folders that tools fill and that are not judged.
fn tool_folder_notes(folders: &[ToolFolder]) -> impl Iterator<Item = Note> {
    folders.iter().map(|folder| Note::new("tool-folder", folder.sentence()))
}

/// Returns notes about the files that a checkout elsewhere does not have as they are here, without those that every
/// command ignores and those that a declared command makes.
fn local_file_notes<'f>(sources: Sources<'_>, files: impl Iterator<Item = &'f LocalFile>) -> Vec<Note> {
    let commands = &sources.policy.commands;
    let counts = |path: &RepoPath| commands.is_empty() || commands.iter().any(|one| !one.inputs.leaves_out(path));
    let mut files = files.filter(|file| counts(&file.path)).peekable();
    if files.peek().is_none() {
        return Vec::new();
    }
    let made = run_comparison::made_local_files(sources);
    let mut by_cause: BTreeMap<LocalCause, BTreeSet<&RepoPath>> = BTreeMap::new();
    for file in files.filter(|file| !made.contains(file)) {
        by_cause.entry(file.cause).or_default().insert(&file.path);
    }
    by_cause
        .into_iter()
        .map(|(cause, paths)| Note::new(cause.as_str(), cause.sentence(&Vec::from_iter(paths))))
        .collect()
}

/// Returns the folders of tools that existed when the newest run of each command began, each once.
fn beside_runs(drafts: &[Draft<'_>]) -> Vec<ToolFolder> {
    let mut folders: Vec<ToolFolder> = Vec::new();
    let newest = drafts.iter().flat_map(|draft| draft.subject.runs.values()).filter_map(|runs| runs.first());
    for folder in newest.flat_map(|run| &run.tool_folders) {
        if folders.iter().all(|known| known.path != folder.path) {
            folders.push(folder.clone());
        }
    }
    folders
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
fn astray(sources: Sources<'_>, drafts: &[Draft<'_>]) -> Result<Vec<String>, GitError> {
    let mut astray = Vec::new();
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
            astray.push(command.name.clone());
        }
    }
    Ok(astray)
}

fn journal_notes(state: &JournalState) -> Vec<Note> {
    let integrity = state.integrity();
    if integrity.is_intact() { Vec::new() } else { vec![Note::new("journal-damaged", integrity.to_string())] }
}

/// Parses the standard input of a push hook of git: one update per line.
pub fn parse_updates(input: &[u8], remote: &str) -> Result<Vec<RefUpdate>, String> {
    let oid = |text: &str| match text.parse::<Oid>() {
        Ok(oid) if oid.is_zero() => Ok(None),
        Ok(oid) => Ok(Some(oid)),
        Err(error) => Err(error.to_string()),
    };
    let mut updates = Vec::new();
    for (index, line) in String::from_utf8_lossy(input).lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        let wrong = |what: &str| {
            let line: String = line.chars().take(120).collect();
            format!("line {} of standard input is not what git writes there ({what}): {line:?}", index + 1)
        };
        let words: Vec<_> = line.split(' ').collect();
        let (local_ref, new, remote_ref, old) = match words[..] {
            [local_ref, new, remote_ref, old] => (local_ref, new, remote_ref, old),
            // `pre-receive` has no local ref: old, new, ref.
            [old, new, remote_ref] => ("", new, remote_ref, old),
            _ => return Err(wrong("three or four words are expected")),
        };
        updates.push(RefUpdate {
            local_ref: local_ref.to_owned(),
            new: oid(new).map_err(|error| wrong(&error))?,
            remote_ref: remote_ref.to_owned(),
            old: oid(old).map_err(|error| wrong(&error))?,
            remote: remote.to_owned(),
            default_branch: DefaultBranch::Unknown("nobody asked".to_owned()),
        });
    }
    Ok(updates)
}
