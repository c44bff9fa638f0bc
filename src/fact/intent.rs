//! The intended actions of an agent that touch the safeguards of its work, read from the parsed command line or the
//! edit before they happen.

mod called_scripts;
mod fed_scripts;
mod gate_call;
mod git_call;
mod operands;
pub(crate) mod path_context;
mod search;
mod unguarded_copy;

use serde::{Deserialize, Serialize};

use self::path_context::{PathContext, braces, is_or_matches};
use super::{client_hooks, script_changes};
use std::path::Path;

use crate::command_line::{Purpose, Understood};
use crate::event::agent_work::FileEdit;
use crate::repo_path::RepoPath;
use crate::runner::CommandKind;
use crate::shell::expanded_program::{Arg, Leaf};

/// One intended action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Intent {
    /// The safeguard that it touches.
    pub kind: IntentKind,
    /// The part of the command line, or the path, that touches it.
    pub what: String,
}

/// The safeguards of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum IntentKind {
    /// A command makes git skip its hooks once.
    SkipsHooks,
    /// A command pushes from another copy of the repository, in which the hooks are not installed.
    PushesCopy,
    /// A command makes git look for its hooks elsewhere, or switches a hook manager off.
    RedirectsHooks,
    /// The hooks in the git directory are changed.
    ChangesHooks,
    /// The hooks in an agent client are removed or switched off.
    ChangesClientHooks,
    /// The journal, or a file next to it, is changed.
    ChangesRecord,
    /// `gate.toml` is changed.
    ChangesPolicy,
    /// gate is removed, or a gate is waived without proof.
    RemovesGate,
    /// The user's own settings are changed: the models that judge and review, their prompts, their budgets.
    ChangesModels,
    /// A call of gate gets other variables than its caller has, by which gate knows the caller and the user's settings.
    HidesCaller,
}

as_str!(IntentKind);

/// Switches that hook managers document.
const SWITCHES: [(&str, &str); 4] =
    [("HUSKY", "0"), ("HUSKY_SKIP_HOOKS", "1"), ("LEFTHOOK", "0"), ("SKIP_SIMPLE_GIT_HOOKS", "1")];

/// What a command line is about to do, as far as its words show it.
pub fn of_line(line: &Understood) -> Vec<Intent> {
    of_line_from(line, &PathContext::unknown(), 0)
}

/// The same, seen from where it starts.
pub fn of_line_at(line: &Understood, from: &PathContext<'_>) -> Vec<Intent> {
    of_line_from(line, from, 0)
}

/// `depth`: so many aliases of git lead to the line.
fn of_line_from(line: &Understood, from: &PathContext<'_>, depth: usize) -> Vec<Intent> {
    let mut found = Vec::new();
    let leaves = || line.steps().filter(|(leaf, _)| !leaf.remote);
    for (leaf, purpose) in leaves() {
        of_leaf(leaf, purpose, from, depth, &mut found);
        if leaf.appended {
            // What another command names may be what it is handed.
            let others = leaves().filter(|(other, _)| !std::ptr::eq(*other, leaf));
            let named = others.flat_map(|(other, _)| other.argv.iter().skip(1)).cloned();
            let handed = leaf.text_on_stdin().unwrap_or_default().split_whitespace().map(Arg::new);
            let argv = leaf.argv.iter().cloned().chain(named).chain(handed).collect();
            let whole = Leaf { argv, appended: false, directory: None, wrappers: Vec::new(), ..leaf.clone() };
            of_leaf(&whole, purpose, from, depth, &mut found);
        }
    }
    fed_scripts::of_pipes(line, from, depth, &mut found);
    unguarded_copy::of_copies(line, from, &mut found);
    gate_call::of_unset(line, &mut found);
    found
}

/// What a call of a tool that nobody knows is about to do with the path that it names.
pub fn of_tool(name: &str, path: &str) -> Option<Intent> {
    const WRITES: [&str; 10] =
        ["write", "edit", "create", "delete", "remove", "move", "rename", "patch", "replace", "append"];
    let name = name.to_ascii_lowercase();
    let path = path.strip_prefix("file://").unwrap_or(path);
    let mut found = Vec::new();
    if WRITES.iter().any(|word| name.contains(word)) {
        push_changed(path, &mut found);
    }
    found.into_iter().next()
}

/// Returns `true` if a command line pushes without the hooks of git. Such a push may leave no trace in git: a push to a
/// path or a URL has no remote-tracking ref.
pub fn pushes_past_hooks(line: &Understood) -> bool {
    let pushes = line.purposes.iter().any(|purpose| !purpose.pushes.is_empty() || purpose.is(CommandKind::Push));
    of_line(line).iter().any(|intent| match intent.kind {
        IntentKind::SkipsHooks => {
            ["git push", "git send-pack", "git http-push"].iter().any(|push| intent.what.starts_with(push))
        }
        IntentKind::RedirectsHooks => pushes,
        _ => false,
    })
}

/// Returns the intended actions of edits of these paths. Relative paths are below the root of the working tree.
pub fn of_paths<'a>(paths: impl IntoIterator<Item = &'a RepoPath>) -> Vec<Intent> {
    let mut found = Vec::new();
    for path in paths {
        let text = String::from_utf8_lossy(path.as_bytes()).into_owned();
        if let Some(kind) = guards(&text) {
            found.push(Intent { kind, what: text });
        }
    }
    found
}

/// Returns the intended actions of edits. Relative paths are below the root of the working tree.
pub fn of_edits<'a>(edits: impl IntoIterator<Item = &'a FileEdit>) -> Vec<Intent> {
    let mut found = Vec::new();
    for edit in edits {
        let text = edit.path.to_string();
        if client_hooks::switches(&text, edit) {
            let what = format!("{text} with this text");
            found.push(Intent { kind: IntentKind::ChangesClientHooks, what });
        } else if client_hooks::takes_out(&text, edit) {
            found.push(Intent { kind: IntentKind::ChangesClientHooks, what: text });
        } else if git_call::is_settings_file(&text) && git_call::sets_hooks(&edit.added) {
            found.push(Intent { kind: IntentKind::RedirectsHooks, what: text });
        } else {
            push_path(&text, &mut found);
        }
    }
    found
}

/// The folders in which clients keep the logs of their sessions, and gate its fallback files.
const LOGS: [[&str; 2]; 6] = [
    [".gate", "spool"],
    [".claude", "projects"],
    [".codex", "sessions"],
    [".gemini", "tmp"],
    [".copilot", "history-session-state"],
    ["opencode", "storage"],
];

/// Returns `true` if a path is a note that Claude Code keeps for itself: it is among the session logs but is not one.
fn is_memory(parts: &[&str]) -> bool {
    parts.windows(4).any(|four| four[0] == ".claude" && four[1] == "projects" && four[3] == "memory")
}

/// Returns `true` if a path begins with the letter of a drive. Only on Windows can a repository be there.
fn is_on_a_drive(parts: &[&str]) -> bool {
    let drive =
        |part: &&str| part.len() == 2 && part.ends_with(':') && part.starts_with(|c: char| c.is_ascii_alphabetic());
    cfg!(not(windows)) && parts.first().is_some_and(drive)
}

/// Returns the safeguard that a path belongs to, as far as its text shows it.
fn guards(path: &str) -> Option<IntentKind> {
    let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").collect();
    let below =
        |folder: &str| parts.windows(2).any(|pair| is_or_matches(pair[0], ".git") && is_or_matches(pair[1], folder));
    // git puts them there, and runs none of them.
    let is_sample = parts.last().is_some_and(|last| last.ends_with(".sample"));
    if is_memory(&parts) || is_on_a_drive(&parts) || below("hooks") && is_sample {
        None
    } else if below("hooks") {
        Some(IntentKind::ChangesHooks)
    } else if below("gate")
        || parts.first() == Some(&".gate")
        || parts.windows(2).any(|pair| LOGS.contains(&[pair[0], pair[1]]))
    {
        Some(IntentKind::ChangesRecord)
    } else if gate_call::is_of_user(&parts) {
        Some(IntentKind::ChangesModels)
    } else if is_policy(&parts, path.starts_with('/')) {
        Some(IntentKind::ChangesPolicy)
    } else {
        None
    }
}

/// Returns `true` for `gate.toml` and the runners of the repository.
fn is_policy(parts: &[&str], is_absolute: bool) -> bool {
    match parts {
        ["gate.toml"] | ["gate", "runners"] => true,
        ["gate", "runners", name] => {
            name.contains('*') || Path::new(name).extension().is_some_and(|ending| ending == "toml")
        }
        [_, inner @ ..] if is_absolute => is_policy(inner, true),
        _ => false,
    }
}

fn of_leaf(leaf: &Leaf, purpose: &Purpose, from: &PathContext<'_>, depth: usize, found: &mut Vec<Intent>) {
    let is_git = leaf.name() == Some("git");
    let given = leaf.given.iter().filter(|_| is_git);
    for (name, value) in leaf.environment.iter().chain(given) {
        let value = value.as_deref().unwrap_or_default();
        let off = SWITCHES.iter().any(|(switch, off)| name == switch && value == *off);
        if off || git_call::variable_redirects(leaf, name, value, from) {
            let what = format!("{name}={value}");
            found.push(Intent { kind: IntentKind::RedirectsHooks, what });
        }
    }
    let place = Place { leaf, from };
    for path in leaf.writes.iter().flatten() {
        push_changed(&place.of(path), found);
        of_settings_file(leaf, &place.of(path), found);
    }
    of_switches(leaf, purpose, found);
    if leaf.wrappers.iter().any(|wrapper| wrapper == "find -exec") {
        search::of_exec(place, found);
    }
    match leaf.name() {
        Some("git") => git_call::of_git(leaf, from, depth, found),
        Some(name) if git_call::own_program(name).is_some() => git_call::of_own_program(leaf, from, found),
        Some("gate") => gate_call::of_gate(leaf, found),
        Some("rm" | "mv" | "rmdir" | "unlink" | "shred") => removed_arguments(place, &leaf.argv[1..], found),
        Some("chmod") if operands::adds_rights(leaf) => {}
        Some(
            "chmod" | "chown" | "ln" | "truncate" | "tee" | "patch" | "ed" | "ex" | "vi" | "vim" | "nvim" | "sponge",
        ) => {
            changed_arguments(place, &leaf.argv[1..], found);
        }
        Some("find") if search::changes(leaf) => search::of_find(place, found),
        Some("dd") => {
            let out = leaf.argv.iter().filter_map(|arg| arg.text.strip_prefix("of="));
            out.for_each(|path| push_changed(&place.of(path), found));
        }
        Some(name) if script_changes::is_interpreter(name) => of_script(place, found),
        Some("cp" | "install" | "rsync") => {
            changed_arguments(place, &leaf.argv[leaf.argv.len().saturating_sub(1)..], found);
        }
        _ if purpose.edits => changed_arguments(place, leaf.argv.get(1..).unwrap_or_default(), found),
        _ => {}
    }
    gate_call::of_target(leaf, found);
    called_scripts::of_called(leaf, from, depth, found);
    let folder = operands::folder_filled(leaf).map(|folder| place.of(folder));
    if let Some(folder) = folder {
        push_changed(&folder, found);
    }
}

/// A command and where its line starts.
#[derive(Clone, Copy)]
struct Place<'a> {
    leaf: &'a Leaf,
    from: &'a PathContext<'a>,
}

impl Place<'_> {
    /// A path of the command, as seen from the root of the working tree where that is known.
    fn of(self, path: &str) -> String {
        let dir = self.leaf.directory.as_ref().and_then(|directory| directory.path.as_deref());
        self.from.resolve(dir, path)
    }
}

/// What a script of an interpreter changes, and the files that it is told to change in place.
fn of_script(place: Place<'_>, found: &mut Vec<Intent>) {
    let leaf = place.leaf;
    let texts = || leaf.argv.iter().skip(1).map(|arg| arg.text.as_str()).chain(leaf.text_on_stdin());
    let name = leaf.name().unwrap_or_default();
    texts().for_each(|text| fed_scripts::of_interpreter(name, text, found));
    let named = texts().flat_map(|text| script_changes::changed(text).into_iter().chain(guarded_in(text)));
    let named: Vec<String> = named.collect();
    for path in named {
        push_changed(&place.of(&path), found);
    }
    let in_place = |arg: &Arg| {
        let letters = arg.text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        letters.is_some_and(|letters| {
            letters.contains('i') && letters.chars().all(|c| c.is_ascii_alphabetic() || c == '.')
        })
    };
    if matches!(leaf.name(), Some("perl" | "ruby")) && leaf.argv.iter().skip(1).any(in_place) {
        changed_arguments(place, &leaf.argv[1..], found);
    }
}

/// The guarded paths that a script names in a text of its own, where it writes and does not only read them.
fn guarded_in(script: &str) -> Vec<String> {
    if !script_changes::writes(script) {
        return Vec::new();
    }
    let text = script_changes::without_reads(script);
    let ends = |c: char| c.is_whitespace() || "\"'`()[]{}<>,;|&=".contains(c);
    let is_guarded = |word: &&str| word.contains('/') && (guards(word).is_some() || client_hooks::is_hook_file(word));
    text.split(ends).filter(is_guarded).map(str::to_owned).collect()
}

/// A file of git's settings into which the line itself writes a path of hooks, or from which it takes the mark of the
/// journal.
fn of_settings_file(leaf: &Leaf, path: &str, found: &mut Vec<Intent>) {
    let names_mark = |text: &str| text != path && (text.contains("gate") || text.contains("journal"));
    let mut texts = leaf.argv.iter().skip(1).map(|arg| &*arg.text).chain(leaf.text_on_stdin());
    let is_emptied = leaf.writes.iter().flatten().next().is_some() && !leaf.text.contains(">>");
    let replaces = is_emptied || matches!(leaf.name(), Some("cp" | "install" | "rsync" | "truncate"));
    if git_call::is_repository_config(path) && (replaces || texts.any(names_mark)) {
        found.push(Intent { kind: IntentKind::ChangesRecord, what: path.to_owned() });
    }
    let says = [leaf.text.as_str(), leaf.text_on_stdin().unwrap_or_default()];
    if git_call::is_settings_file(path) && says.into_iter().any(|text| text.to_ascii_lowercase().contains("hookspath"))
    {
        found.push(Intent { kind: IntentKind::RedirectsHooks, what: path.to_owned() });
    }
}

/// Finds settings that switch the hooks of a client off: in a command of the client, or in a text that goes into its
/// files.
fn of_switches(leaf: &Leaf, purpose: &Purpose, found: &mut Vec<Intent>) {
    // Their words are messages.
    let speaks = matches!(leaf.name(), Some("git" | "gh" | "glab" | "gate"));
    let reads = !purpose.edits && leaf.writes.is_empty() && purpose.kinds.iter().all(|kind| *kind == "read");
    let handed = leaf.text_on_stdin().unwrap_or_default();
    let says = [leaf.text.as_str(), handed].into_iter().chain(leaf.texts());
    // `printf` makes lines of them.
    let says = says.map(|text| text.replace("\\n", "\n"));
    let of_client = matches!(leaf.name(), Some("claude" | "codex" | "gemini"));
    let concerned = of_client || client_hooks::names_settings(&leaf.text);
    if !reads && !speaks && concerned && says.into_iter().any(|text| client_hooks::switches_off(&text)) {
        found.push(Intent { kind: IntentKind::ChangesClientHooks, what: format!("`{}`", leaf.text) });
    }
}

/// Returns the paths that arguments name. Options name none, and an argument that is not known has no text.
fn named_paths<'a>(place: Place<'a>, args: &'a [Arg]) -> impl Iterator<Item = String> + 'a {
    let words = args.iter().map(|arg| arg.text.as_str()).filter(|word| !word.is_empty() && !word.starts_with('-'));
    words.flat_map(braces).map(move |path| place.of(&path))
}

fn changed_arguments(place: Place<'_>, args: &[Arg], found: &mut Vec<Intent>) {
    for path in named_paths(place, args) {
        push_changed(&path, found);
        of_settings_file(place.leaf, &path, found);
    }
}

/// Finds deleted and moved arguments. Everything below them counts.
fn removed_arguments(place: Place<'_>, args: &[Arg], found: &mut Vec<Intent>) {
    named_paths(place, args).for_each(|path| removed(&path, found));
}

fn removed(path: &str, found: &mut Vec<Intent>) {
    for what in client_hooks::hook_files_at(path) {
        if !found.iter().any(|intent| intent.what == what) {
            found.push(Intent { kind: IntentKind::ChangesClientHooks, what });
        }
    }
    if is_or_matches(path.trim_start_matches("./").trim_end_matches('/'), ".git") {
        found.push(Intent { kind: IntentKind::ChangesHooks, what: path.to_owned() });
    }
    if git_call::is_repository_config(path) {
        found.push(Intent { kind: IntentKind::ChangesRecord, what: path.to_owned() });
    }
    push_path(path, found);
}

/// Adds a path that a command line changes. Only the path is known, not the new content.
fn push_changed(path: &str, found: &mut Vec<Intent>) {
    let known = found.iter().any(|intent| intent.what == path);
    let is_of_user = guards(path) == Some(IntentKind::ChangesModels);
    if client_hooks::is_hook_file(path) && !known && !is_of_user {
        found.push(Intent { kind: IntentKind::ChangesClientHooks, what: path.to_owned() });
    } else {
        push_path(path, found);
    }
}

fn push_path(path: &str, found: &mut Vec<Intent>) {
    let known = found.iter().any(|intent| intent.what == path);
    if let Some(kind) = guards(path).filter(|_| !known) {
        found.push(Intent { kind, what: path.to_owned() });
    }
}

#[cfg(test)]
mod tests;
