//! Takes a snapshot: the working tree in the form of a git tree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::thread;

use super::access_times::AccessTimes;
use super::converted_files::links_as_files;
use super::file_modes::{executable_here, overlooks_modes, tells_modes_apart};
use super::index::Marked;
use super::linked_files::{links_elsewhere, tells_cases_apart, unnamed_repositories};
use super::local_dependencies::{is_manifest, manifests_that_leave, unpushed_submodules};
use super::scratch_index::Scratch;
use super::sparse_checkout::Present;
use super::status::{FULL_STAT, STATUS, StatusPath, WorkingTreeStatus, WorktreeSide, parse_status};
use super::{GitError, Repo};
use crate::git::sparse_checkout::exists;
use crate::local_file::LocalFile;
use crate::repo_path::RepoPath;
use crate::snapshot::{DirtyPath, Presence, Snapshot, SnapshotEntry};
use crate::tool_folder::ToolFolder;

/// The answer of git about working tree and index, and the files that it reports as different.
pub(super) struct Survey {
    pub(super) status: WorkingTreeStatus,
    pub(super) marked: Vec<Marked>,
    tool_folders: Vec<ToolFolder>,
    pub(super) local_files: Vec<LocalFile>,
    /// The commits of other repositories that the index holds.
    pub(super) submodules: Vec<RepoPath>,
    /// The submodules that hide what lies in them.
    veiled: Vec<RepoPath>,
    /// What is meant to be missing; see [`Snapshot::absent`].
    absent: Vec<RepoPath>,
    /// See [`Snapshot::read`].
    read: Vec<RepoPath>,
    /// The entries of the paths that had to be read, or `None` if the file does not exist.
    files: BTreeMap<RepoPath, Option<SnapshotEntry>>,
    /// The existing paths among them that git cannot take.
    refused: BTreeSet<RepoPath>,
}

impl Repo {
    /// Returns a snapshot of the present working tree. It writes nothing into the repository, and no tree anywhere.
    ///
    /// On a tree without changes this costs one `git status` and, in parallel, one reading of the index. Each changed
    /// file is read once more.
    pub fn snapshot(&self) -> Result<Snapshot, GitError> {
        self.snapshot_in(&self.survey()?)
    }

    /// Returns the working tree as a survey found it.
    pub(super) fn snapshot_in(&self, survey: &Survey) -> Result<Snapshot, GitError> {
        let base = if let Some(head) = &survey.status.head { self.tree_of(head)? } else { self.empty_tree() };
        let mut dirty: BTreeMap<RepoPath, DirtyPath> = BTreeMap::new();
        let mut opaque: BTreeSet<RepoPath> = survey.refused.iter().chain(&survey.veiled).cloned().collect();
        let littered = survey.status.paths.iter().any(|one| one.work == WorktreeSide::LitteredSubmodule);
        let excused = if littered { self.submodules_whose_litter_is_ignored(survey)? } else { BTreeSet::new() };
        for one in &survey.status.paths {
            let littered = one.work == WorktreeSide::LitteredSubmodule && !excused.contains(&one.path);
            if littered || matches!(one.work, WorktreeSide::UnmergedSubmodule | WorktreeSide::DirtySubmodule) {
                opaque.insert(one.path.clone());
            }
            let now = match one.work {
                WorktreeSide::AsIndex => one.index.clone(),
                WorktreeSide::Gone => None,
                _ => survey.file(&one.path),
            };
            // A path that was taken out of the index and is still there comes twice: as that, and as untracked.
            let presence = if one.work == WorktreeSide::Untracked { Presence::Untracked } else { Presence::Tracked };
            let base_entry = match one.work {
                WorktreeSide::Unmerged | WorktreeSide::UnmergedSubmodule => self.entry_at(&base, &one.path)?,
                _ => one.head.clone(),
            };
            let seen = dirty.entry(one.path.clone()).or_insert_with(|| DirtyPath {
                path: one.path.clone(),
                base: None,
                now: None,
                presence,
            });
            seen.base = seen.base.take().or(base_entry);
            if presence == Presence::Untracked || seen.presence != Presence::Untracked {
                seen.now = now;
                seen.presence = presence;
            }
        }
        for marked in &survey.marked {
            let Some(now) = survey.files.get(&marked.path) else { continue };
            if now.as_ref() == Some(&marked.entry) {
                continue;
            }
            // What the index holds is what `HEAD` holds, unless git says that it is staged.
            let seen = dirty.entry(marked.path.clone()).or_insert_with(|| DirtyPath {
                path: marked.path.clone(),
                base: Some(marked.entry.clone()),
                now: None,
                presence: Presence::Hidden,
            });
            seen.now.clone_from(now);
            seen.presence = Presence::Hidden;
        }
        let kept = |one: &DirtyPath| one.base != one.now && !(survey.refused.contains(&one.path) && one.now.is_none());
        Ok(Snapshot {
            head: survey.status.head.clone(),
            base,
            dirty: dirty.into_values().filter(kept).collect(),
            opaque: opaque.into_iter().collect(),
            tool_folders: survey.tool_folders.clone(),
            local_files: survey.local_files.clone(),
            absent: survey.absent.clone(),
            read: survey.read.clone(),
        })
    }

    /// Returns the submodules whose untracked files the checked-out commit tells git to ignore. A setting of this clone
    /// alone does not count, because nobody else sees it. A setting to ignore tracked changes as well does not make
    /// them content of a commit.
    fn submodules_whose_litter_is_ignored(&self, survey: &Survey) -> Result<BTreeSet<RepoPath>, GitError> {
        let Some(head) = &survey.status.head else { return Ok(BTreeSet::new()) };
        let tree = self.tree_of(head)?;
        let has = self.entry_at(&tree, &RepoPath::from(".gitmodules"))?.is_some();
        if !has {
            return Ok(BTreeSet::new());
        }
        let blob = format!("{head}:.gitmodules");
        let listed = self.git(["config", "--blob", &blob, "--list", "-z"])?;
        let mut modules: BTreeMap<&[u8], (Option<&[u8]>, bool)> = BTreeMap::new();
        for entry in listed.split(|&byte| byte == 0) {
            let Some(at) = memchr::memchr(b'\n', entry) else { continue };
            let (key, value) = (&entry[..at], &entry[at + 1..]);
            let Some(key) = key.strip_prefix(b"submodule.") else { continue };
            if let Some(name) = key.strip_suffix(b".path") {
                modules.entry(name).or_default().0 = Some(value);
            } else if let Some(name) = key.strip_suffix(b".ignore") {
                modules.entry(name).or_default().1 = matches!(value, b"untracked" | b"dirty" | b"all");
            }
        }
        Ok(modules.into_values().filter_map(|(path, ignored)| path.filter(|_| ignored).map(RepoPath::new)).collect())
    }

    /// Asks git about the working tree, and for the entries of the files whose content the answers do not give.
    pub(super) fn survey(&self) -> Result<Survey, GitError> {
        let mut survey = self.survey_itself()?;
        survey.veiled = self.veiled_submodules(&survey.submodules)?;
        Ok(survey)
    }

    /// The same without a look into submodules.
    pub(super) fn survey_itself(&self) -> Result<Survey, GitError> {
        let root = self.work_tree()?;
        let overlooked = overlooks_modes(&self.config_entries()?, root);
        let (status, index) = thread::scope(|scope| {
            let listing = scope.spawn(|| self.index_view(|path| overlooked || is_manifest(path)));
            // With this setting git takes a file for another one, and is silent about it.
            let cases = if tells_cases_apart(root) { &["-c", "core.ignoreCase=false"][..] } else { &[] };
            // On a disk of Windows, what the file system tells of a file varies, and git would read every file again.
            let stat = if tells_modes_apart(root) { &FULL_STAT[..] } else { &[] };
            let status = self.git(cases.iter().chain(stat).chain(&STATUS));
            let status = status.and_then(|output| parse_status(&output));
            let index = listing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (status, index)
        });
        let (mut status, index) = (status?, index?);
        self.check_index(&status)?;
        let tool_folders = self.take_tool_folders(&mut status)?;
        let (hidden, absent) = Present::new(root).split(&index.marked);
        let changed = status.paths.iter().filter(|one| needs_look(one));
        let look: BTreeSet<&RepoPath> =
            changed.clone().map(|one| &one.path).chain(hidden.iter().map(|one| &one.path)).collect();
        let untracked = status.paths.iter().filter(|one| one.work == WorktreeSide::Untracked);
        let times = AccessTimes::of(root, untracked.map(|one| &one.path));
        let mut survey = Survey {
            files: BTreeMap::new(),
            refused: BTreeSet::new(),
            marked: Vec::new(),
            status: WorkingTreeStatus::default(),
            tool_folders,
            local_files: Vec::new(),
            submodules: index.submodules,
            veiled: Vec::new(),
            absent,
            read: times.read(),
        };
        let look: Vec<&RepoPath> = look.into_iter().collect();
        let plain = if index.attributes.is_empty() { self.plain_entries(root, &look) } else { None };
        if let Some(files) = plain {
            survey.files = files;
        } else if !look.is_empty() {
            let scratch = Scratch::reading(self)?;
            let known = changed.filter_map(|one| Some((&one.path, one.index.as_ref()?)));
            let known = known.chain(hidden.iter().map(|one| (&one.path, &one.entry)));
            let attributes = index.attributes.iter().map(|(path, entry)| (path, entry));
            scratch.set(attributes.chain(known).map(|(path, entry)| (path, Some(entry))))?;
            survey.read_back(&scratch, root, &look)?;
        }
        times.restore();
        survey.local_files = self.local_files(root, &status, !index.attributes.is_empty(), &survey.files)?;
        survey.local_files.extend(links_elsewhere(root, &index.links, &status.ignored));
        survey.local_files.extend(unnamed_repositories(root, &survey.submodules));
        survey.local_files.extend(unpushed_submodules(root, &survey.submodules));
        survey.local_files.extend(manifests_that_leave(root, index.wanted.iter().map(|(path, _)| path)));
        let filled = survey.tool_folders.iter().map(|folder| folder.path.as_bytes());
        let ignored = status.ignored.iter().filter_map(|path| path.strip_suffix(b"/"));
        survey.local_files.extend(self.unlisted_packages(root, filled.chain(ignored))?);
        let attributes = index.attributes.iter().map(|(path, _)| path);
        survey.local_files.extend(self.converted_files(root, &status, attributes)?);
        survey.local_files.extend(links_as_files(root, &self.config_entries()?, &index.links));
        if overlooked {
            survey.local_files.extend(executable_here(root, &index.wanted, &survey.files));
        }
        survey.local_files.sort_by(|a, b| (a.cause, &a.path).cmp(&(b.cause, &b.path)));
        survey.local_files.dedup();
        survey.status = status;
        survey.marked = index.marked;
        Ok(survey)
    }
}

impl Survey {
    /// Returns the file at `path` as an entry.
    pub(super) fn file(&self, path: &RepoPath) -> Option<SnapshotEntry> {
        self.files.get(path).cloned().flatten()
    }

    /// Returns the marked entries whose files differ from the index.
    pub(super) fn hidden_edits(&self) -> impl Iterator<Item = &Marked> {
        self.marked.iter().filter(|one| self.files.get(&one.path).is_some_and(|now| now.as_ref() != Some(&one.entry)))
    }

    fn read_back(&mut self, scratch: &Scratch<'_>, root: &Path, look: &[&RepoPath]) -> Result<(), GitError> {
        let refused = scratch.add(look)?;
        let mut entries: BTreeMap<RepoPath, SnapshotEntry> = scratch.entries()?.into_iter().collect();
        for &path in look {
            let entry = if refused.contains(&path) { None } else { entries.remove(path) };
            // What is there and still has no entry is something git does not put into trees.
            if entry.is_none() && exists(root, path) {
                self.refused.insert(path.clone());
            }
            self.files.insert(path.clone(), entry);
        }
        Ok(())
    }
}

/// Returns `true` if the entry has to be read from the file itself.
fn needs_look(one: &StatusPath) -> bool {
    !matches!(one.work, WorktreeSide::AsIndex | WorktreeSide::Gone)
}
