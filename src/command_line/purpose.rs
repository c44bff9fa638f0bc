//! The purpose of each simple command of a line.

use std::path::PathBuf;

use crate::runner::{
    Catalogue, CommandKind, ExitMeaning, InDirectory, Invocation, Project, ProjectFiles, RunScope, Runner, classify,
};
use crate::shell::expanded_program::{Arg, InputSource, Leaf, Program};

use super::command_table::{CommandEntry, Paths, Prints, table};
use super::setting_effect::{How, Narrowed};
use super::{Extent, environment, push_target, run_settings};

/// A command line and the purposes of its commands.
#[derive(Clone, Debug)]
pub struct Understood {
    /// The commands and their order.
    pub program: Program,
    /// The purpose of each command, in the same order.
    pub purposes: Vec<Purpose>,
}

/// A failure that status 0 does not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MaskedFailure {
    /// The reason, as a clause.
    pub(super) why: String,
    /// `true` if the task runner would have printed that it ignored a failure.
    pub(super) is_printed: bool,
}

impl Understood {
    /// Returns the commands with their purposes.
    pub fn steps(&self) -> impl Iterator<Item = (&Leaf, &Purpose)> {
        self.program.leaves.iter().zip(&self.purposes)
    }
}

/// The purpose of a simple command.
#[derive(Clone, Debug)]
pub struct Purpose {
    /// Its kinds, such as `test` and `build`.
    pub kinds: Vec<&'static str>,
    /// The entry of the runner catalogue, if it is a check, an installation or a formatter.
    pub invocation: Option<Invocation>,
    /// The part of the tests that it executes, if it is a test.
    pub extent: Option<Extent>,
    /// `true` if the program is unknown: it may be a script that the policy declares.
    pub is_unknown: bool,
    /// The argument that makes it less than a full run.
    pub narrowed_by: Option<String>,
    /// `true` if it changes files of the working tree.
    pub edits: bool,
    /// `true` if it changes only files outside of the working tree, or files that nobody writes by hand: it checks
    /// nothing.
    pub(super) elsewhere: bool,
    /// The branches that it pushes to.
    pub pushes: Vec<String>,
    /// The texts that it can print.
    pub(super) prints: Prints,
    /// The reason why its status may not be that of the tests: a setting, or a program that the line itself writes.
    pub(super) replaced: Option<String>,
    /// The failure that its status 0 does not show, if it is a task.
    pub(super) masked: Option<MaskedFailure>,
}

impl Purpose {
    /// Returns `true` if it is of this kind.
    pub fn is(&self, kind: CommandKind) -> bool {
        self.invocation.as_ref().is_some_and(|invocation| invocation.kinds.contains(&kind))
            || (kind == CommandKind::Lint && self.kinds.contains(&"lint"))
    }

    /// Returns `true` if its status 0 means that it found nothing.
    pub fn honest(&self) -> bool {
        let decides = |invocation: &Invocation| invocation.exit == ExitMeaning::Decides && !invocation.watches;
        self.masked.is_none() && self.invocation.as_ref().is_none_or(decides)
    }

    /// The paths that a command changes, as far as its words show them, seen from where it runs.
    pub fn changed_paths(&self, leaf: &Leaf) -> Vec<String> {
        let Some(name) = leaf.name().filter(|_| self.edits || self.elsewhere) else { return Vec::new() };
        if name == "git" {
            return sent_to(leaf);
        }
        let entry = table().command(name, &leaf.words()[1..]).filter(|entry| entry.paths.is_some());
        let named = entry.map(|entry| named_paths(entry, leaf).into_iter().map(|arg| arg.text.as_str()).collect());
        // Of other commands each argument may be such a path, and the value of an option.
        let any = || {
            let value = |arg: &'_ Arg| arg.text.rsplit('=').next().map(str::to_owned);
            leaf.argv[1..].iter().filter_map(value).filter(|text| text.contains('/')).collect::<Vec<_>>()
        };
        named.map_or_else(any, |named: Vec<&str>| named.into_iter().map(str::to_owned).collect())
    }

    /// Returns the ids of the runners whose output it prints.
    pub fn runs(&self) -> impl Iterator<Item = &str> {
        self.invocation.iter().flat_map(|invocation| invocation.runs.iter().map(String::as_str))
    }

    /// Returns the runners that work in it.
    pub fn runners<'a>(&'a self, catalogue: &'a Catalogue) -> impl Iterator<Item = &'a Runner> {
        self.runs().filter_map(|id| catalogue.runner(id))
    }

    /// Returns the id of its runner.
    pub fn runner(&self) -> Option<&str> {
        self.invocation.as_ref()?.runner.as_deref()
    }
}

/// Returns the name of a kind in answers, in which formatters and generators are edits.
fn name_of(kind: CommandKind) -> &'static str {
    match kind {
        CommandKind::Test => "test",
        CommandKind::Build => "build",
        CommandKind::Typecheck => "typecheck",
        CommandKind::Lint => "lint",
        CommandKind::Format | CommandKind::Codegen | CommandKind::Edit => "edit",
        CommandKind::Install => "install",
        CommandKind::Vcs => "vcs",
        CommandKind::Push => "push",
        CommandKind::Pr => "pr",
        CommandKind::CiQuery => "ci_query",
        CommandKind::Read => "read",
        CommandKind::Other => "other",
    }
}

const NAMES: [&str; 12] =
    ["test", "build", "typecheck", "lint", "install", "push", "vcs", "pr", "ci_query", "edit", "read", "other"];

fn static_name(kind: &str) -> &'static str {
    NAMES.into_iter().find(|name| *name == kind).unwrap_or("other")
}

/// Returns the files of a project as a command sees them.
pub(super) fn seen_by<'a>(leaf: &'a Leaf, files: &'a dyn ProjectFiles) -> InDirectory<'a> {
    InDirectory { files, directory: leaf.directory.as_ref().and_then(|directory| directory.path.as_deref()) }
}

/// Returns `true` if the files that a command sees are not the project's: those of another machine, or of a directory that
/// is not known.
pub(super) fn sees_other_files(leaf: &Leaf) -> bool {
    leaf.remote || leaf.directory.as_ref().is_some_and(|directory| directory.path.is_none())
}

/// Returns the purpose of a command.
pub(super) fn purpose(leaf: &Leaf, project: Project<'_>) -> Purpose {
    let mut found = Purpose {
        kinds: Vec::new(),
        invocation: None,
        extent: None,
        is_unknown: false,
        narrowed_by: None,
        edits: leaf.writes.iter().any(|path| path.as_deref().is_some_and(|path| in_tree(path, leaf))),
        elsewhere: false,
        pushes: Vec::new(),
        prints: Prints::Own,
        replaced: None,
        masked: None,
    };
    let words = leaf.words();
    let Some(name) = leaf.name() else {
        found.kinds.push("other");
        found.is_unknown = true;
        found.prints = Prints::Anything;
        return found;
    };
    let within = seen_by(leaf, project.files);
    let project = project.with_files(if sees_other_files(leaf) { &() } else { &within });
    let invocation = classify(project.runners, &words, project.files);
    if invocation.kinds.is_empty() {
        other(name, leaf, &words, &mut found);
    } else {
        check(leaf, invocation, project, &mut found);
    }
    found.is_unknown = found.kinds.contains(&"other");
    if found.edits && found.kinds.iter().all(|kind| matches!(*kind, "read" | "other")) && !leaf.writes.is_empty() {
        found.kinds = vec!["edit"];
    }
    found
}

/// Returns `true` for what judges code. A project may well have a builder of its own.
fn is_judged(invocation: &Invocation) -> bool {
    [CommandKind::Test, CommandKind::Typecheck, CommandKind::Lint].iter().any(|kind| invocation.kinds.contains(kind))
}

fn in_place_of_runner(path: &str) -> String {
    format!("Python runs `{path}` in the place of the module that is meant; rename it")
}

fn check(leaf: &Leaf, mut invocation: Invocation, project: Project<'_>, found: &mut Purpose) {
    if matches!(invocation.scope, RunScope::NoneExecuted { .. }) && !invocation.is_test() {
        // `rustc --version` builds nothing.
        found.kinds.push("read");
        return;
    }
    let narrowed = environment::set_for(leaf, &invocation, project.runners);
    invocation.exit = Narrowed::exit(narrowed.as_ref(), invocation.exit);
    let shadow = invocation.shadowed_by.as_deref().filter(|_| is_judged(&invocation)).map(in_place_of_runner);
    let setting = run_settings::of_project(leaf, &invocation, project);
    match setting {
        Some(Narrowed { by, how: How::Printed }) if shadow.is_none() => {
            found.masked = Some(MaskedFailure { why: by, is_printed: false });
        }
        setting => found.replaced = shadow.or_else(|| setting.map(|setting| setting.by)),
    }
    if found.replaced.is_some() {
        invocation.exit = ExitMeaning::ZeroOnFindings;
    }
    for kind in &invocation.kinds {
        let name = name_of(*kind);
        if !found.kinds.contains(&name) {
            found.kinds.push(name);
        }
    }
    found.edits |= invocation.edits;
    if invocation.is_test() {
        let (extent, by) = match &invocation.scope {
            RunScope::NoneExecuted { why } => (Extent::NoneExecuted, Some(why.clone())),
            _ if narrowed.as_ref().is_some_and(|narrowed| narrowed.how == How::Nothing) => {
                (Extent::NoneExecuted, narrowed.map(|narrowed| narrowed.by))
            }
            RunScope::Filtered { by } => (Extent::Filtered, Some(by.clone())),
            _ if leaf.appended => (Extent::Filtered, Some("arguments that are not shown".to_owned())),
            _ if leaf.narrowed_by.is_some() => (Extent::Filtered, leaf.narrowed_by.clone()),
            _ if narrowed.as_ref().is_some_and(|narrowed| narrowed.how == How::Part) => {
                (Extent::Filtered, narrowed.map(|narrowed| narrowed.by))
            }
            // A word that is not known may be a filter, and so it is taken for one.
            _ if leaf.argv.iter().any(|arg| !arg.whole) => {
                (Extent::Filtered, Some("an argument that is not literal".to_owned()))
            }
            _ => (Extent::Full, None),
        };
        (found.extent, found.narrowed_by) = (Some(extent), by);
    }
    found.invocation = Some(invocation);
}

fn other(name: &str, leaf: &Leaf, words: &[Option<String>], found: &mut Purpose) {
    let entry = table().command(name, &words[1..]);
    if entry.is_none()
        && let Some(interpreter) = table().interpreter(name)
        && let Some(script) = inline_script(leaf, &interpreter.inline)
    {
        // Behind a pipe it formats what another command says.
        found.kinds.push(if matches!(leaf.stdin, InputSource::Pipe(_)) { "read" } else { "other" });
        found.prints = Prints::Words;
        if interpreter.writes(&script) {
            found.edits = true;
            found.kinds = vec!["edit"];
        }
        return;
    }
    let Some(entry) = entry else {
        found.kinds.push("other");
        return;
    };
    found.prints = entry.prints;
    found.edits |= entry.edits || changes_named(entry, leaf);
    if entry.paths.is_some() && !found.edits {
        found.kinds.push(static_name(entry.elsewhere.as_deref().unwrap_or("other")));
        found.elsewhere = true;
        return;
    }
    found.kinds.extend(entry.kinds.iter().map(|kind| static_name(kind)));
    if found.kinds.contains(&"push") {
        found.pushes = push_target::destinations(&leaf.argv);
    }
}

/// Returns the script of `python -c '…'` or `python - <<EOF`.
pub(super) fn inline_script(leaf: &Leaf, options: &[String]) -> Option<String> {
    let at = leaf.argv.iter().position(|arg| options.contains(&arg.text));
    if let Some(at) = at {
        return leaf.argv.get(at + 1).map(|arg| arg.text.clone());
    }
    let reads_stdin = leaf.argv[1..].iter().all(|arg| arg.text.starts_with('-'))
        || leaf.argv.get(1).is_some_and(|arg| arg.text == "-");
    match &leaf.stdin {
        InputSource::Text(text) if reads_stdin => Some(text.clone().unwrap_or_default()),
        _ => None,
    }
}

fn changes_named(entry: &CommandEntry, leaf: &Leaf) -> bool {
    named_paths(entry, leaf).into_iter().any(|arg| in_tree(&arg.text, leaf))
}

/// The arguments that are paths which a command changes.
fn named_paths<'l>(entry: &CommandEntry, leaf: &'l Leaf) -> Vec<&'l Arg> {
    let is_named = |arg: &&Arg| !arg.text.starts_with('-') && !arg.text.is_empty();
    let mut named: Vec<&Arg> = leaf.argv[1..].iter().filter(is_named).collect();
    match entry.paths {
        None => named.clear(),
        // Where there is a script alone, the files come from elsewhere.
        Some(Paths::Rest) if named.len() > 1 && !leaf.appended && !holds_script(leaf) => {
            named.remove(0);
        }
        Some(Paths::All | Paths::Rest) => {}
        Some(Paths::Last) => {
            named.drain(..named.len().saturating_sub(1));
        }
    }
    named
}

/// The directories to which options of git send it.
fn sent_to(leaf: &Leaf) -> Vec<String> {
    let mut found: Option<PathBuf> = None;
    let mut words = leaf.argv.iter().skip(1);
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-C" | "--work-tree" => {
                let Some(value) = words.next().and_then(Arg::literal) else { return Vec::new() };
                found = Some(found.unwrap_or_default().join(value));
            }
            "-c" | "--git-dir" | "--namespace" | "--config-env" | "--exec-path" => drop(words.next()),
            option if option.starts_with('-') => {
                found = option.strip_prefix("--work-tree=").map(PathBuf::from).or(found);
            }
            _ => break,
        }
    }
    found.into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

/// Returns `true` if an option has a script attached, so that none of the arguments is a script: `-es/a/b/`.
fn holds_script(leaf: &Leaf) -> bool {
    let holds = |text: &str| text.starts_with("--expression=") || text.starts_with("--file=") || is_attached(text);
    leaf.argv[1..].iter().any(|arg| holds(&arg.text))
}

fn is_attached(option: &str) -> bool {
    (option.starts_with("-e") || option.starts_with("-f")) && option.len() > 2
}

/// Returns `true` if a path that a command names is in the working tree, as far as the text shows it.
fn in_tree(path: &str, leaf: &Leaf) -> bool {
    let outside = |path: &str| {
        [
            "/tmp/", "/var/", "/private/", "/dev/", "/usr/", "/etc/", "/opt/", "/proc/", "/run/", "~", "$",
            "/mnt/c/Users", "/c/Users",
        ]
        .iter()
        .any(|start| path.starts_with(start))
            || path == "/tmp"
            || path.contains("/AppData/Local/Temp/")
    };
    let made = || path.split('/').any(|part| table().environment.artefacts.iter().any(|name| name == part));
    if path.is_empty() || outside(path) || made() {
        return false;
    }
    let absolute = path.starts_with('/') || path.as_bytes().get(1) == Some(&b':');
    let here = leaf.directory.as_ref().and_then(|directory| directory.path.as_deref());
    absolute || !here.is_some_and(outside)
}
