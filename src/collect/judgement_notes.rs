//! The notes that go with a judgement: what counts although its name does not say so, and what is not judged.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::collect::draft::Draft;
use crate::collect::{Sources, run_comparison, unread_scratch_files_here};
use crate::fact::Note;
use crate::local_file::{LocalCause, LocalFile};
use crate::repo_path::RepoPath;
use crate::tool_folder::ToolFolder;

/// The message for a repository whose journal was removed as a whole.
pub const JOURNAL_REMOVED: &str = "the journal of this repository was removed, and what it recorded is gone";

/// Returns notes that say why a file counts although its name is that of prose.
pub(super) fn named_text_notes(named: &BTreeMap<RepoPath, RepoPath>) -> impl Iterator<Item = Note> {
    named.iter().map(|(path, by)| Note::new("named-text", format!("{path} counts as content: {by} names it")))
}

/// Returns notes about the folders that tools fill and that are not judged.
pub(super) fn tool_folder_notes(folders: &[ToolFolder]) -> impl Iterator<Item = Note> {
    folders.iter().map(|folder| Note::new("tool-folder", folder.sentence()))
}

/// Returns notes about the files that a checkout elsewhere does not have as they are here, without those that every
/// command ignores, those that a declared command makes, and hidden scratch files that nothing names.
pub(super) fn local_file_notes<'f>(sources: Sources<'_>, files: impl Iterator<Item = &'f LocalFile>) -> Vec<Note> {
    let commands = &sources.policy.commands;
    let counts = |path: &RepoPath| commands.is_empty() || commands.iter().any(|one| !one.inputs.leaves_out(path));
    let mut files = files.filter(|file| counts(&file.path)).peekable();
    if files.peek().is_none() {
        return Vec::new();
    }
    let made = run_comparison::made_local_files(sources);
    let files: Vec<&LocalFile> = files.filter(|file| !made.contains(file)).collect();
    let excluded = files.iter().filter(|file| file.cause == LocalCause::Excluded).map(|file| &file.path);
    let scratch = unread_scratch_files_here(sources.repo, sources.policy, excluded, None).unwrap_or_default();
    let mut by_cause: BTreeMap<LocalCause, BTreeSet<&RepoPath>> = BTreeMap::new();
    for file in files.into_iter().filter(|file| !scratch.contains(&file.path)) {
        by_cause.entry(file.cause).or_default().insert(&file.path);
    }
    by_cause
        .into_iter()
        .map(|(cause, paths)| Note::new(cause.as_str(), cause.sentence(&Vec::from_iter(paths))))
        .collect()
}

/// Returns the folders of tools that existed when the newest run of each command began, each once.
pub(super) fn folders_at_runs(drafts: &[Draft<'_>]) -> Vec<ToolFolder> {
    let mut folders: Vec<ToolFolder> = Vec::new();
    let newest = drafts.iter().flat_map(|draft| draft.subject.runs.values()).filter_map(|runs| runs.first());
    for folder in newest.flat_map(|run| &run.tool_folders) {
        if folders.iter().all(|known| known.path != folder.path) {
            folders.push(folder.clone());
        }
    }
    folders
}

/// Returns a note about files of installed packages that were edited here and not installed again since: tests use
/// them, and no commit holds them.
pub(super) fn edited_dependency_note(sources: Sources<'_>) -> Option<Note> {
    let edited = sources.state.edited_dependencies();
    let root = sources.repo.root().filter(|_| !edited.is_empty())?;
    let is_as_edited = |(path, at): &&(RepoPath, Timestamp)| {
        let written = std::fs::metadata(root.join(path.to_os())).and_then(|file| file.modified()).ok();
        let written = written.and_then(|time| Timestamp::try_from(time).ok());
        // The edit is recorded after it was made.
        written.is_some_and(|written| written <= *at)
    };
    let head = sources.repo.head().ok().and_then(|head| head.commit);
    let is_committed =
        |path: &RepoPath| head.as_ref().is_some_and(|head| sources.repo.blob_at(head, path).ok().flatten().is_some());
    let paths: BTreeSet<&RepoPath> = edited.iter().filter(is_as_edited).map(|(path, _)| path).collect();
    let paths: Vec<String> = paths.into_iter().filter(|path| !is_committed(path)).map(ToString::to_string).collect();
    let (one, it) = if paths.len() == 1 { ("was", "it") } else { ("were", "them") };
    (!paths.is_empty()).then(|| {
        let text = format!(
            "{} {one} edited here, and no commit holds {it}: tests that pass here may fail elsewhere; \
             install the packages again to see",
            paths.join(", ")
        );
        Note::new("edited-dependency", text)
    })
}

/// Returns notes about the damage of the journal, if there is any.
pub(super) fn journal_notes(sources: Sources<'_>) -> Vec<Note> {
    let integrity = &sources.state.integrity();
    let damage = (!integrity.is_intact()).then(|| integrity.to_string());
    let removal = sources.repo.lost_its_journal().then(|| JOURNAL_REMOVED.to_owned());
    damage.into_iter().chain(removal).map(|text| Note::new("journal-damaged", text)).collect()
}
