//! What a command line of the agent changed: the other working trees that its words show, and `gate.toml` whatever its
//! words are.

use std::path::{Path, PathBuf};

use super::command_weight::understand;
use super::hook_context::Desk;
use super::line_runs::{heavy, place_of};
use super::own_commits;
use crate::command_line::{Purpose, Understood};
use crate::config;
use crate::digest::hex_digest;
use crate::event::agent_work::{Act, EditKind, FileEdit};
use crate::fact::intent::{self, IntentKind};
use crate::fact::script_changes;
use crate::regular_file;
use crate::repo_path::RepoPath;
use crate::shell::expanded_program::Leaf;
use crate::tool_folder::{is_dependency_path, is_marker_path};

/// Looks at what matters before a line runs, so that its own changes are told from those of others.
pub(super) fn look_before(desk: &mut Desk, line: Option<&Understood>) {
    look_at_policy(desk);
    if line.is_some_and(stashes) {
        // What nobody changed since a person last said what to do is not the agent's.
        let content = super::stop::content(&desk.place);
        let only_git = line.is_some_and(|line| heavy(line).all(|(leaf, _)| leaf.name() == Some("git")));
        if only_git && content.is_some() && content == desk.memory.task_began_on {
            desk.memory.stashes_are_persons = true;
            desk.remember();
        }
    }
}

/// Returns `true` if a line uses the stash.
fn stashes(line: &Understood) -> bool {
    let stashes = |leaf: &Leaf| leaf.name() == Some("git") && leaf.argv.iter().any(|arg| arg.text == "stash");
    line.program.leaves.iter().any(stashes)
}

/// Notes what `gate.toml` holds now. Returns `true` if that is another content than the last time.
pub(super) fn look_at_policy(desk: &mut Desk) -> bool {
    let now = match regular_file::read(&desk.root.join(config::FILE)) {
        Ok(bytes) => hex_digest(&[&bytes])[..32].to_owned(),
        Err(_) => String::new(),
    };
    let changed = desk.memory.policy.as_ref().is_some_and(|before| *before != now);
    if desk.memory.policy.as_ref() != Some(&now) {
        desk.memory.policy = Some(now);
        desk.remember();
    }
    changed
}

/// Notes what a line changed that ended just now, and returns the line as it was understood.
pub(super) fn note(desk: &mut Desk, call: &str, line: &str, at: &Path) -> Option<Understood> {
    let understood = understand(line, at);
    if let Some(understood) = &understood {
        for (leaf, one) in understood.steps().filter(|(leaf, _)| !leaf.remote) {
            if let Some(place) = place_of(leaf, at) {
                let paths = written_paths(leaf, one, &place);
                for path in &paths {
                    desk.changed_at(path);
                }
                if one.edits && leaf.writes.is_empty() {
                    desk.changed_at(&place);
                }
                note_markers(desk, call, leaf, &paths);
            }
        }
        if stashes(understood) {
            let is_persons = std::mem::take(&mut desk.memory.stashes_are_persons);
            own_commits::note_stashes(desk, is_persons);
        }
    }
    let only_went = own_commits::note(desk);
    if look_at_policy(desk) && !is_told(understood.as_ref()) && !came_with_a_commit(desk, only_went) {
        let gone = !desk.root.join(config::FILE).exists();
        let how = if gone { EditKind::Deleted } else { EditKind::Written };
        let (path, removed, added) = (RepoPath::from(config::FILE), String::new(), String::new());
        desk.record(Some(call), Act::Edited(vec![FileEdit { path, how, removed, added }]));
    }
    understood
}

/// Returns the paths that a command changed, as far as its words show them.
fn written_paths(leaf: &Leaf, one: &Purpose, place: &Path) -> Vec<PathBuf> {
    let scripts = leaf.name().filter(|name| script_changes::is_interpreter(name));
    let texts = scripts.into_iter().flat_map(|_| leaf.texts().chain(leaf.text_on_stdin()));
    let of_scripts = texts.flat_map(script_changes::changed);
    let named = leaf.writes.iter().flatten().cloned().chain(one.changed_paths(leaf)).chain(of_scripts);
    named.map(|path| place.join(path)).collect()
}

/// Records the markers of tool folders that a command wrote (an agent that makes such a marker hides the folder), and files
/// of installed packages.
fn note_markers(desk: &mut Desk, call: &str, leaf: &Leaf, written: &[PathBuf]) {
    let in_folder = |folder: &PathBuf| -> Vec<PathBuf> {
        let names = leaf.texts().filter_map(|text| Path::new(text).file_name());
        names.filter(|_| folder.is_dir()).map(|name| folder.join(name)).collect()
    };
    let all = written.iter().cloned().chain(written.iter().flat_map(in_folder));
    let inside = all.filter(|path| path.is_file()).filter_map(|path| desk.inside(&path));
    let (how, removed, added) = (EditKind::Written, String::new(), String::new());
    let edit = |path| FileEdit { path, how, removed: removed.clone(), added: added.clone() };
    let edits: Vec<FileEdit> =
        inside.filter(|path| is_marker_path(path) || is_dependency_path(path)).map(edit).collect();
    if !edits.is_empty() {
        desk.record(Some(call), Act::Edited(edits));
    }
}

/// Returns `true` if the words of the line say that it changes the policy.
fn is_told(line: Option<&Understood>) -> bool {
    line.is_some_and(|line| intent::of_line(line).iter().any(|intent| intent.kind == IntentKind::ChangesPolicy))
}

/// Returns `true` if `gate.toml` is as somebody else committed it, and came here with a checkout, or from a remote.
fn came_with_a_commit(desk: &Desk, only_went: bool) -> bool {
    let repo = &desk.place.repo;
    let Some(head) = repo.head().ok().and_then(|head| head.commit) else { return false };
    let committed = repo.blob_at(&head, &RepoPath::from(config::FILE)).ok().flatten();
    let here = regular_file::read(&desk.root.join(config::FILE)).ok();
    if committed != here || desk.memory.own.made.contains(&head) {
        return false;
    }
    only_went || repo.commits_beyond(&[head], &[]).is_ok_and(|beyond| beyond.is_empty())
}
