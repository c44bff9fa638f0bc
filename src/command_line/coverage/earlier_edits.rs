//! The files that a line changes before its checks begin (`sed -i … && npm test`): the checks saw them as the line left
//! them.

use super::ObservedLine;
use super::required_checks::{DirectoryView, StartDirectory, asked_of_leaf, only_prepares};
use crate::command_line::purpose::Purpose;
use crate::command_line::understanding::understand_in;
use crate::repo_path::RepoPath;
use crate::runner::Project;
use crate::shell::program::Leaf;

/// Returns `true` if there are changed files, and the line made all of these changes before its checks.
pub fn changed_before_checks(changed: &[RepoPath], told: &ObservedLine<'_>, project: Project<'_>) -> bool {
    if changed.is_empty() {
        return false;
    }
    let edited = edited_before_checks(told, project);
    changed.iter().all(|path| edited.contains(path))
}

/// Returns the files below the root of the working tree that a line changes by name before its first check. Returns
/// none if anything after the beginning of that check may change files, too.
fn edited_before_checks(told: &ObservedLine<'_>, project: Project<'_>) -> Vec<RepoPath> {
    let Ok(start) = std::str::from_utf8(told.dir.as_bytes()) else { return Vec::new() };
    let place = StartDirectory { root: told.root, start, project };
    let view = DirectoryView(place);
    let project = place.project.with_files(&view);
    let Ok(understood) = understand_in(told.line, told.shell, project) else { return Vec::new() };
    let steps: Vec<(&Leaf, &Purpose)> = understood.program.leaves.iter().zip(&understood.purposes).collect();
    let is_check = |(leaf, purpose): &(&Leaf, &Purpose)| may_check(purpose) && asked_of_leaf(leaf, place).is_some();
    let Some(first) = steps.iter().position(is_check) else { return Vec::new() };
    let later_edits = steps[first + 1..].iter().any(|(leaf, purpose)| may_edit(leaf, purpose));
    if understood.program.truncated || later_edits || steps.iter().any(|(leaf, _)| leaf.late) {
        return Vec::new();
    }
    steps[..first].iter().flat_map(|(leaf, purpose)| edited_by(leaf, purpose, place)).collect()
}

/// Returns `true` if a command may be a check: its program is unknown or a runner, and it changes no file.
fn may_check(purpose: &Purpose) -> bool {
    const CHECKS: [&str; 4] = ["test", "build", "typecheck", "lint"];
    !purpose.edits && (purpose.is_unknown || purpose.kinds.iter().any(|kind| CHECKS.contains(kind)))
}

/// Returns `true` unless a command is known to change no file.
fn may_edit(leaf: &Leaf, purpose: &Purpose) -> bool {
    const HARMLESS: [&str; 8] = ["test", "build", "typecheck", "push", "vcs", "pr", "ci_query", "read"];
    let harmless = !purpose.is_unknown && purpose.kinds.iter().all(|kind| HARMLESS.contains(kind));
    purpose.edits || !(harmless || only_prepares(leaf, purpose))
}

/// Returns the files that one command changes, as far as its words name them.
fn edited_by(leaf: &Leaf, purpose: &Purpose, place: StartDirectory<'_>) -> Vec<RepoPath> {
    let redirected = leaf.writes.iter().flatten().cloned();
    let named = redirected.chain(purpose.changed_paths(leaf));
    let from_root = |path: String| match &leaf.directory {
        Some(directory) if !path.starts_with('/') => place.inside(&format!("{}/{path}", directory.path.as_ref()?)),
        _ => place.inside(&path),
    };
    named.filter_map(from_root).map(|path| RepoPath::from(path.as_str())).collect()
}
