//! What a call is about to write and run, and the role in which it does.

use std::path::Path;

use super::command_weight;
use super::hook_context::Desk;
use super::hook_event::HookEvent;
use super::written_paths::{self, Search};
use crate::command_line::{self, Purpose, Understood, WrittenFile};
use crate::config;
use crate::event::agent_work::FileEdit;
use crate::fact::intent::path_context::{Dirs, PathContext, braces, spelled_out};
use crate::fact::roles::{self, PlannedAct, RoleClaim};
use crate::fact::script_changes;
use crate::policy::Roles;
use crate::ref_names;
use crate::repo_path::RepoPath;
use crate::shell::expanded_program::{Arg, InputSource, Leaf, Sink};

/// The kinds of commands that a role may be kept from. All others read, or change what `write` is about.
const RESTRICTED: [&str; 8] = ["test", "build", "typecheck", "lint", "install", "push", "pr", "other"];

/// Commands that print the words or the names of files that they are given.
const FEEDERS: [&str; 9] = ["echo", "printf", "ls", "find", "fd", "git", "grep", "rg", "ag"];

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
            let real = |edit: &FileEdit| written_paths::real(&desk.root, &edit.path.to_string(), true);
            let paths = edits.iter().filter_map(real).collect();
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
        for file in written(leaf, purpose, &understood.program.leaves) {
            let words = braces(&file.path).into_iter().map(|path| from.resolve(dir, &path));
            let named: Vec<String> =
                words.flat_map(|path| written_paths::named(&desk.root, &path, file.made)).collect();
            if !file.made && named.iter().any(|path| path == ".") {
                paths.extend(desk.place.repo.work_files().unwrap_or_default().iter().map(ToString::to_string));
            }
            let named = named.into_iter();
            paths.extend(named.filter_map(|path| written_paths::real(&desk.root, &path, file.made)));
        }
        if let Some(found) = Search::of(leaf) {
            let files = desk.place.repo.work_files().unwrap_or_default();
            let files = files.iter().map(ToString::to_string);
            paths.extend(files.filter(|file| found.finds(file, |start| from.resolve(dir, start))));
        }
        if purpose.kinds.iter().any(|kind| RESTRICTED.contains(kind)) {
            let words: Vec<&str> = leaf.texts().collect();
            let is_known = leaf.argv.iter().all(|arg| arg.whole);
            runs.push(if is_known { words.join(" ") } else { leaf.text.trim().to_owned() });
        }
    }
    runs.dedup();
    PlannedAct { writes: of_the_repository(desk, paths), runs }
}

/// Returns the files that a command names and changes.
fn written(leaf: &Leaf, purpose: &Purpose, all: &[Leaf]) -> Vec<WrittenFile> {
    let file = |path: &str, made: bool| WrittenFile { path: path.to_owned(), made };
    let mut found: Vec<WrittenFile> = leaf.writes.iter().flatten().map(|path| file(path, true)).collect();
    let Some(name) = leaf.name() else { return found };
    if script_changes::is_interpreter(name) {
        let texts = leaf.texts().skip(1).chain(leaf.text_on_stdin());
        found.extend(texts.flat_map(script_changes::changed).map(|path| file(&path, true)));
    }
    let is_fed = leaf.appended && leaf.wrappers.iter().any(|wrapper| wrapper.ends_with("xargs"));
    let fed = || is_fed.then(|| fed_words(leaf, all)).into_iter().flatten();
    if let Some(files) = command_line::written_files(leaf) {
        found.extend(files.named);
        found.extend(fed().filter(|_| files.takes_more).map(|word| file(&word, false)));
    } else if name == "dd" {
        let out = leaf.argv.iter().filter_map(|arg| arg.text.strip_prefix("of="));
        found.extend(out.map(|path| file(path, true)));
    } else if !matches!(name, "git" | "find")
        && purpose.edits
        && leaf.writes.iter().flatten().all(|path| path.starts_with("/dev/"))
    {
        // A command that edits because its output goes to a file only reads its arguments.
        let named = |arg: &&Arg| !arg.text.is_empty() && !arg.text.starts_with('-');
        found.extend(leaf.argv[1..].iter().filter(named).map(|arg| file(&arg.text, false)));
        found.extend(fed().map(|word| file(&word, false)));
    }
    found
}

/// Returns the words that the commands before a pipe name: `ls src/*.py | xargs rm`.
fn fed_words(leaf: &Leaf, all: &[Leaf]) -> Vec<String> {
    let InputSource::Pipe(pipe) = leaf.stdin else { return Vec::new() };
    let feeds =
        |other: &&Leaf| other.stdout == Sink::Pipe(pipe) && other.name().is_some_and(|name| FEEDERS.contains(&name));
    let words = all.iter().filter(feeds).flat_map(|other| &other.argv[1..]);
    words.flat_map(|arg| arg.text.split_whitespace()).filter(|word| !word.starts_with('-')).map(str::to_owned).collect()
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
    let mut found: Vec<RepoPath> = inner.map(|path| written_paths::whole(&desk.root, &path)).collect();
    found.sort();
    found.dedup();
    desk.place.repo.not_ignored(found)
}
