//! What a call is about to write and run, and the role in which it does.

use std::path::{Path, PathBuf};

use super::command_weight;
use super::hook_context::Desk;
use super::hook_event::HookEvent;
use crate::command_line::{Purpose, Understood};
use crate::config;
use crate::event::agent_work::FileEdit;
use crate::fact::intent::path_context::{Dirs, PathContext, spelled_out};
use crate::fact::roles::{self, PlannedAct, RoleClaim};
use crate::fact::script_changes;
use crate::policy::Roles;
use crate::ref_names;
use crate::repo_path::RepoPath;
use crate::shell::expanded_program::{Arg, Leaf};

/// The kinds of commands that a role may be kept from. All others read, or change what `write` is about.
const RESTRICTED: [&str; 8] = ["test", "build", "typecheck", "lint", "install", "push", "pr", "other"];

/// Commands whose arguments are files that they make.
const MAKERS: [&str; 8] = ["touch", "tee", "cp", "mv", "ln", "install", "rsync", "truncate"];

/// The largest policy file that is looked at before anything else is opened, in bytes.
const MAX_POLICY: u64 = 1 << 20;

/// Returns `true` if the policy file above a directory names roles. Nothing else of the repository is opened for it.
pub(super) fn may_concern(dir: Option<&Path>) -> bool {
    let here = std::env::current_dir().ok();
    let Some(dir) = dir.or(here.as_deref()) else { return false };
    let file = dir.ancestors().map(|folder| folder.join(config::FILE)).find(|file| file.is_file());
    let text = file.filter(|file| file.metadata().is_ok_and(|data| data.len() <= MAX_POLICY));
    text.and_then(|file| std::fs::read_to_string(file).ok()).is_some_and(|text| text.contains("[roles"))
}

/// Returns the roles in which an agent acts.
pub(super) fn claims(desk: &Desk, told: &HookEvent, roles: &Roles) -> Vec<RoleClaim> {
    let head = desk.place.repo.head().ok().and_then(|head| head.branch);
    let branch = head.as_deref().and_then(ref_names::branch);
    let of_subagent = told.actor_type.as_deref().and_then(|kind| roles::of_subagent(roles, kind));
    let of_branch = branch.and_then(|branch| roles::of_branch(roles, branch));
    of_subagent.into_iter().chain(roles::of_process()).chain(of_branch).collect()
}

/// What a call is about to do, as far as it shows.
#[derive(Clone, Copy)]
pub(super) enum CallPlan<'a> {
    /// It runs a line that starts in a directory.
    Line(&'a str, &'a Path, Option<&'a Understood>),
    /// It edits files.
    Edits(&'a [FileEdit]),
    /// It does something else.
    Unknown,
}

impl<'a> CallPlan<'a> {
    /// Returns the meaning of its line.
    pub(super) const fn line(self) -> Option<&'a Understood> {
        match self {
            Self::Line(_, _, understood) => understood,
            Self::Edits(_) | Self::Unknown => None,
        }
    }
}

/// Returns what a call is about to write and run.
pub(super) fn planned(desk: &Desk, plan: CallPlan<'_>) -> PlannedAct {
    match plan {
        CallPlan::Line(line, at, understood) => of_line(desk, line, at, understood),
        CallPlan::Edits(edits) => {
            let paths = edits.iter().map(|edit| edit.path.to_string()).collect();
            PlannedAct { writes: of_the_repository(desk, paths), runs: Vec::new() }
        }
        CallPlan::Unknown => PlannedAct::default(),
    }
}

/// Returns what a line is about to write and run that starts in `at`.
fn of_line(desk: &Desk, line: &str, at: &Path, understood: Option<&Understood>) -> PlannedAct {
    let Some(understood) = understood else { return PlannedAct::default() };
    let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let common_dir = canonical(desk.place.repo.common_dir());
    let dirs = Dirs { root: canonical(&desk.root), common_dir, start: canonical(at) };
    let spelled = spelled_out(line, &dirs).and_then(|line| command_weight::understand(&line, at));
    let from = PathContext { dirs: Some(dirs), ..PathContext::unknown() };
    let understood = spelled.as_ref().unwrap_or(understood);
    let mut paths = Vec::new();
    let mut runs = Vec::new();
    for (leaf, purpose) in understood.steps().filter(|(leaf, _)| !leaf.remote) {
        let dir = leaf.directory.as_ref().and_then(|directory| directory.path.as_deref());
        let written = written(leaf, purpose).into_iter().map(|(path, made)| (from.resolve(dir, &path), made));
        let is_there = |path: &str| std::fs::symlink_metadata(desk.root.join(path)).is_ok();
        paths.extend(written.filter(|(path, made)| *made || is_there(path)).map(|(path, _)| path));
        let words: Vec<&str> = leaf.texts().collect();
        if purpose.kinds.iter().any(|kind| RESTRICTED.contains(kind)) {
            runs.push(words.join(" "));
        }
    }
    runs.dedup();
    PlannedAct { writes: of_the_repository(desk, paths), runs }
}

/// Returns the paths that a command names as files it changes, each with `true` if it can make a new file there. The others
/// may be words that only look like a path.
fn written(leaf: &Leaf, purpose: &Purpose) -> Vec<(String, bool)> {
    let mut found: Vec<(String, bool)> = leaf.writes.iter().flatten().map(|path| (path.clone(), true)).collect();
    let Some(name) = leaf.name() else { return found };
    let named = |arg: &&Arg| !arg.text.is_empty() && !arg.text.starts_with('-');
    let arguments: Vec<&str> = leaf.argv[1..].iter().filter(named).map(|arg| arg.text.as_str()).collect();
    if script_changes::is_interpreter(name) {
        let texts = leaf.texts().skip(1).chain(leaf.text_on_stdin());
        found.extend(texts.flat_map(script_changes::changed).map(|path| (path, true)));
    }
    match name {
        "git" => {}
        "cp" | "rsync" | "ln" | "install" => found.extend(arguments.last().map(|path| ((*path).to_owned(), true))),
        name if MAKERS.contains(&name) => found.extend(arguments.iter().map(|path| ((*path).to_owned(), true))),
        "dd" => {
            let out = leaf.argv.iter().filter_map(|arg| arg.text.strip_prefix("of="));
            found.extend(out.map(|path| (path.to_owned(), true)));
        }
        "rm" | "rmdir" | "unlink" | "shred" | "patch" => {
            found.extend(arguments.iter().map(|path| ((*path).to_owned(), false)));
        }
        // A command that edits because its output goes to a file only reads its arguments.
        _ if purpose.edits && leaf.writes.iter().flatten().all(|path| path.starts_with("/dev/")) => {
            found.extend(arguments.iter().map(|path| ((*path).to_owned(), false)));
        }
        _ => {}
    }
    found
}

/// Returns the paths below the root that git does not ignore. A folder stands for what is in it.
fn of_the_repository(desk: &Desk, paths: Vec<String>) -> Vec<RepoPath> {
    let is_inner = |path: &String| {
        let is_git = path == ".git" || path.starts_with(".git/");
        !(path.is_empty()
            || path == "."
            || Path::new(path).is_absolute()
            || path.starts_with(['~', '$'])
            || path.starts_with("..")
            || is_git)
    };
    let inner = paths.into_iter().filter(is_inner);
    let mut found: Vec<RepoPath> = inner.map(|path| whole(&desk.root, &path)).collect();
    found.sort();
    found.dedup();
    desk.place.repo.not_ignored(found)
}

/// Returns a path of a file that stands for a path: for a folder, a file in it.
fn whole(root: &Path, path: &str) -> RepoPath {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    let place: PathBuf = root.join(path);
    if !place.is_dir() {
        return RepoPath::from(path);
    }
    let file = std::fs::read_dir(&place).ok().and_then(|mut entries| entries.next()?.ok());
    let name = file.map_or_else(|| "new".to_owned(), |entry| entry.file_name().to_string_lossy().into_owned());
    RepoPath::from(format!("{path}/{name}").as_str())
}
