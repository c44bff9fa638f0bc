//! What a call is about to do to what guards the work, seen from where it runs: paths are resolved, edits are made to the
//! text in memory, and aliases of git are read.

use std::collections::BTreeMap;
use std::path::Path;

use super::command_weight;
use super::hook_context::Desk;
use crate::client_definition::{ClientFile, SettingsForm};
use crate::command_line::Understood;
use crate::engine::Workplace;
use crate::event::agent_work::FileEdit;
use crate::fact::client_hooks;
use crate::fact::intent::path_context::{Dirs, GuardedRepository, PathContext, spelled_out};
use crate::fact::intent::{self, Intent, IntentKind};
use crate::git::{Repo, is_same_place};
use crate::install::{InstallRecord, InstallTarget, git_hooks_off, hooks_in};
use crate::repo_path::RepoPath;
use crate::source::project_files::DiskDirectory;
use crate::source::sessions::Client;
use crate::user_folders::expand_home;

/// The largest file that an edit is tried on, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// What a line is about to do that starts in `at`.
pub(super) fn of_line(desk: &Desk, line: &str, at: &Path, understood: Option<&Understood>) -> Vec<Intent> {
    let Some(understood) = understood else { return Vec::new() };
    let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let workplace = &desk.place;
    let dirs =
        Dirs { root: canonical(&desk.root), common_dir: canonical(workplace.repo.common_dir()), start: canonical(at) };
    let spelled = spelled_out(line, &dirs).and_then(|line| command_weight::understand(&line, at));
    let root = dirs.root.clone();
    let alias = |name: &str| workplace.repo.config(&format!("alias.{name}")).ok().flatten();
    let own_hooks_path = || has_own_hooks_path(workplace);
    let read = |path: &str| text_at(&root.join(expand_home(path)));
    let files = DiskDirectory(at.to_owned());
    let copies = Copies { place: workplace, root: &root };
    let from = PathContext {
        dirs: Some(dirs),
        alias: &alias,
        own_hooks_path: &own_hooks_path,
        read: &read,
        files: Some(&files),
        own: Some(&copies),
    };
    intent::of_line_at(spelled.as_ref().unwrap_or(understood), &from)
}

/// Returns `true` if a `core.hooksPath` is set and the hooks of gate are called through it.
fn has_own_hooks_path(place: &Workplace) -> bool {
    let Some(hooks_path) = place.repo.config("core.hooksPath").ok().flatten() else { return false };
    git_hooks_off(&install_target(&place.repo), Some(&hooks_path)).is_empty()
}

fn install_target(repo: &Repo) -> InstallTarget {
    InstallTarget {
        root: repo.root().map(Path::to_owned),
        git_dir: repo.git_dir().to_owned(),
        common_dir: repo.common_dir().to_owned(),
        bare: repo.root().is_none(),
    }
}

/// The repository of the session, as seen by pushes from its copies.
struct Copies<'d> {
    place: &'d Workplace,
    root: &'d Path,
}

impl GuardedRepository for Copies<'_> {
    fn has_remote(&self, url: &str) -> bool {
        let whole = |url: &str| {
            let path = self.root.join(url.strip_prefix("file://").unwrap_or(url));
            path.canonicalize().unwrap_or(path)
        };
        let is_same = |own: &str| is_same_place(own, url) || whole(own) == whole(url);
        let remotes = self.place.repo.remotes().unwrap_or_default();
        remotes.iter().any(|remote| is_same(&remote.push_url) || is_same(&remote.url))
    }

    fn unguarded_remotes(&self, folder: &str) -> Option<Vec<String>> {
        let other = Repo::discover(&self.root.join(expand_home(folder))).ok()?;
        let canonical = |repo: &Repo| repo.common_dir().canonicalize().ok();
        if canonical(&other) == canonical(&self.place.repo) {
            return None;
        }
        let target = install_target(&other);
        let hooks_path = other.config("core.hooksPath").ok().flatten();
        let has_hooks = InstallRecord::load(&target).is_ok_and(|record| !record.hooks.is_empty());
        let is_guarded = has_hooks && git_hooks_off(&target, hooks_path.as_deref()).is_empty();
        (!is_guarded).then(|| other.remotes().unwrap_or_default().into_iter().map(|remote| remote.push_url).collect())
    }
}

/// Returns `true` if edits of these paths may touch what guards the work. Nothing of the repository is opened for it.
pub(super) fn may_concern(dir: Option<&Path>, edits: &[FileEdit]) -> bool {
    let named = |edit: &FileEdit| {
        let path = edit.path.to_string();
        client_hooks::is_hook_file(&path) || client_hooks::names_settings(&path)
    };
    let placed = |edit: &FileEdit| {
        let path = dir.unwrap_or_else(|| Path::new("")).join(edit.path.to_os());
        FileEdit { path: RepoPath::from_os(path.as_os_str()), ..edit.clone() }
    };
    edits.iter().any(named)
        || !intent::of_edits(edits).is_empty()
        || !intent::of_edits(&edits.iter().map(placed).collect::<Vec<_>>()).is_empty()
}

/// What edits are about to do; relative paths are below the root.
pub(super) fn of_edits(desk: &Desk, edits: &[FileEdit]) -> Vec<Intent> {
    let mut found = intent::of_edits(edits);
    for (path, (before, after)) in tried(desk, edits) {
        let known = found.iter().any(|intent| intent.what.contains(&path));
        let what = if client_hooks::switches_off(&after) && !client_hooks::switches_off(&before) {
            format!("{path} with this text")
        } else if takes_out(&path, &before, &after) {
            path
        } else {
            continue;
        };
        if !known {
            found.push(Intent { kind: IntentKind::ChangesClientHooks, what });
        }
    }
    found
}

/// The texts of the settings of clients before and after edits of some of their lines, by path. A text that is written
/// whole tells enough by itself.
fn tried(desk: &Desk, edits: &[FileEdit]) -> BTreeMap<String, (String, String)> {
    let mut texts: BTreeMap<String, (String, String)> = BTreeMap::new();
    for edit in edits.iter().filter(|edit| !edit.removed.is_empty()) {
        let path = edit.path.to_string();
        if !client_hooks::is_hook_file(&path) && !client_hooks::names_settings(&path) {
            continue;
        }
        if !texts.contains_key(&path) {
            let Some(text) = text_at(&desk.root.join(expand_home(&path))) else { continue };
            texts.insert(path.clone(), (text.clone(), text));
        }
        if let Some((_, after)) = texts.get_mut(&path) {
            *after = after.replace(&edit.removed, &edit.added);
        }
    }
    texts
}

/// Returns `true` if a client calls gate less often after a change of its file.
fn takes_out(path: &str, before: &str, after: &str) -> bool {
    let of_client = |client: &Client| path.ends_with(&ClientFile::of(client.as_str()).install.file);
    let Some(client) = Client::ALL.into_iter().find(of_client) else { return false };
    let is_own = ClientFile::of(client.as_str()).install.form == SettingsForm::Plugin && before != after;
    let calls = hooks_in(before, client).len();
    calls > 0 && (is_own || hooks_in(after, client).len() < calls)
}

fn text_at(path: &Path) -> Option<String> {
    let length = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?.len();
    (length <= MAX_FILE).then(|| std::fs::read_to_string(path).ok()).flatten()
}
