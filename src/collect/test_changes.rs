//! The weakening of tests by each change: both sides of its files, read if a gate needs them.

use crate::collect::draft::Draft;
use std::collections::{BTreeMap, HashMap};

use crate::collect::{CollectError, Sources};
use crate::fact::subject::Base;
use crate::fact::weakening::{self, FilePair, Weakening};
use crate::git::{PathChange, TreeDiff, WantedFile};
use crate::moment::Moment;
use crate::regular_file;
use crate::repo_path::RepoPath;
use crate::snapshot::{DirtyPath, Snapshot};

/// The maximum number of files that are compared, and the maximum size of a file, in bytes.
const COMPARED: usize = 400;
const MAX_FILE: usize = 1 << 20;
/// The maximum number of changed files of which all code is read, and not only tests and settings.
const MAX_CODE: usize = 64;

/// Finds the weakening of tests by each change, if a gate needs it.
pub(super) fn weakened(
    sources: Sources<'_>,
    moment: Moment,
    drafts: &[Draft<'_>],
) -> Result<BTreeMap<String, Weakening>, CollectError> {
    if sources.policy.gates_of(weakening::GATE, moment).next().is_none() {
        return Ok(BTreeMap::new());
    }
    let with_base = |draft: &&Draft<'_>| matches!(draft.subject.base, Base::MergeBase { .. });
    let drafts: Vec<&Draft<'_>> = drafts.iter().filter(with_base).collect();
    let few = |draft: &&Draft<'_>| draft.subject.changed.as_ref().is_some_and(|changed| changed.len() <= MAX_CODE);
    let reads_code = drafts.iter().all(few);
    let concerns = |path: &RepoPath| weakening::concerns(path) || (reads_code && weakening::is_code(path));
    let mut pairs = pairs(sources, &drafts, &concerns)?;
    let mut found: BTreeMap<String, Weakening> = pairs
        .iter()
        .map(|(subject, pairs)| (subject.clone(), weakening::compare(pairs, &sources.policy.runners)))
        .collect();
    // The other files matter where tests are gone, which is rare.
    let emptied: Vec<_> = drafts
        .into_iter()
        .filter(|draft| found.get(&draft.subject.name).is_some_and(Weakening::removes_tests))
        .collect();
    let code =
        if emptied.is_empty() { BTreeMap::new() } else { self::pairs(sources, &emptied, &|path| !concerns(path))? };
    for draft in emptied {
        let name = &draft.subject.name;
        let mut all = pairs.remove(name).unwrap_or_default();
        all.extend(code.get(name).cloned().unwrap_or_default());
        found.entry(name.clone()).and_modify(|weakening| *weakening = std::mem::take(weakening).with_code(&all));
    }
    Ok(found)
}

/// Returns what a snapshot says of a path that differs from its commit.
fn dirty_path<'s>(snapshot: &'s Snapshot, path: &RepoPath) -> Option<&'s DirtyPath> {
    snapshot.dirty.binary_search_by(|one| one.path.cmp(path)).ok().map(|at| &snapshot.dirty[at])
}

/// Reads both sides of the files that differ and are `wanted`, by subject: in process, or in one call of git.
fn pairs(
    sources: Sources<'_>,
    drafts: &[&Draft<'_>],
    is_wanted: &dyn Fn(&RepoPath) -> bool,
) -> Result<BTreeMap<String, Vec<FilePair>>, CollectError> {
    let mut wanted: Vec<WantedFile> = Vec::new();
    let mut compared = Vec::new();
    for draft in drafts {
        let (Some(base), Some(tree), Some(changed)) = (&draft.base_tree, &draft.tree, &draft.subject.changed) else {
            continue;
        };
        // They were compared already, so that their entries are known; what differs in the working tree alone is not.
        let diff = sources.repo.diff_trees(&[(base.clone(), tree.clone())])?.pop();
        let listed = if let Some(TreeDiff::Changes(listed)) = &diff { listed.as_slice() } else { &[] };
        let known: HashMap<&RepoPath, &PathChange> = listed.iter().map(|change| (&change.path, change)).collect();
        let is_listed = matches!(diff, Some(TreeDiff::Changes(_)));
        for path in changed.iter().filter(|path| is_wanted(path)).take(COMPARED) {
            let here = draft.snapshot.and_then(|snapshot| dirty_path(snapshot, path));
            wanted.extend(match (known.get(path), here) {
                (Some(change), _) => [&change.before, &change.after].map(|entry| WantedFile::of(entry.as_ref())),
                // Both trees have what the snapshot compares with, and the other side is the file itself.
                (None, Some(dirty)) if is_listed => [WantedFile::of(dirty.base.as_ref()), WantedFile::Nowhere],
                (None, _) => [base, tree].map(|tree| WantedFile::At(tree.clone(), path.clone())),
            });
            compared.push((draft, path, here));
        }
    }
    let mut pairs: BTreeMap<String, Vec<FilePair>> = BTreeMap::new();
    if wanted.is_empty() {
        return Ok(pairs);
    }
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_FILE);
    let mut blobs = sources.repo.blobs(&wanted)?.into_iter();
    for (draft, path, here) in compared {
        let (old, committed) = (blobs.next().flatten(), blobs.next().flatten());
        let new = match here {
            Some(dirty) if dirty.now.is_none() => None,
            Some(_) => sources.repo.root().and_then(|root| regular_file::read(&root.join(path.to_os())).ok()),
            None => committed,
        };
        let readable = |bytes: &Option<Vec<u8>>| bytes.as_ref().is_none_or(|bytes| std::str::from_utf8(bytes).is_ok());
        if readable(&old) && readable(&new) {
            let pair = FilePair { path: path.clone(), old: old.and_then(text), new: new.and_then(text) };
            pairs.entry(draft.subject.name.clone()).or_default().push(pair);
        }
    }
    Ok(pairs)
}
