//! What a call of git is about to do to hooks: it passes over them, sends git elsewhere for them, or deletes them.

use super::path_context::{PathContext, braces};
use super::{Intent, IntentKind, fed_scripts, of_line_from};
use crate::command_line;
use crate::fact::client_hooks;
use crate::runner::Project;
use crate::shell::expanded_program::{Arg, Leaf};

/// How many aliases may stand for each other.
const MAX_ALIASES: usize = 3;

/// The subcommands of git that run hooks which can refuse.
const HOOKED: [&str; 7] = ["commit", "push", "merge", "am", "rebase", "cherry-pick", "pull"];

/// Subcommands that push and run no hooks.
const PUSHERS: [&str; 2] = ["send-pack", "http-push"];

/// Subcommands that are not aliases: git lets nobody give their names to others.
const OWN: [&str; 56] = [
    "add", "am", "apply", "archive", "bisect", "blame", "branch", "bundle", "cat-file", "check-ignore", "checkout",
    "cherry", "cherry-pick", "clean", "clone", "commit", "config", "describe", "diff", "fetch", "for-each-ref",
    "format-patch", "fsck", "gc", "grep", "hash-object", "help", "init", "log", "ls-files", "ls-remote", "ls-tree",
    "merge", "merge-base", "mv", "notes", "pull", "push", "rebase", "reflog", "remote", "reset", "restore", "rev-list",
    "rev-parse", "revert", "rm", "shortlog", "show", "stash", "status", "submodule", "switch", "symbolic-ref", "tag",
    "worktree",
];

/// What a call of git is about to do.
pub(super) fn of_git(leaf: &Leaf, from: &PathContext<'_>, depth: usize, found: &mut Vec<Intent>) {
    let mut words = leaf.argv[1..].iter();
    let mut aliases: Vec<(&str, &str)> = Vec::new();
    let subcommand = loop {
        let Some(word) = words.next() else { return };
        match word.text.as_str() {
            "-c" => {
                let Some(setting) = words.next() else { return };
                of_setting(leaf, &setting.text, from, found);
                let alias = setting.text.strip_prefix("alias.").and_then(|alias| alias.split_once('='));
                aliases.extend(alias);
            }
            "--config-env" => words.next().iter().for_each(|setting| of_setting(leaf, &setting.text, from, found)),
            "-C" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" => {
                words.next();
            }
            option if option.starts_with('-') => {
                let setting = option.strip_prefix("--config-env=");
                if let Some(setting) = setting {
                    of_setting(leaf, setting, from, found);
                }
            }
            name => break name,
        }
    };
    let spelled: Vec<Arg> = words.flat_map(without_braces).collect();
    let rest: Vec<&Arg> = spelled.iter().collect();
    if !OWN.contains(&subcommand) && depth < MAX_ALIASES {
        let given = aliases.iter().rev().find(|(name, _)| *name == subcommand).map(|(_, value)| (*value).to_owned());
        if let Some(value) = given.or_else(|| (from.alias)(subcommand)) {
            let rest: Vec<&str> = rest.iter().map(|arg| arg.text.as_str()).collect();
            return of_alias(&value, &rest.join(" "), from, depth, found);
        }
    }
    of_subcommand(leaf, subcommand, &rest, from, found);
}

/// Returns the subcommand that a program such as `git-push` runs.
pub(super) fn own_program(name: &str) -> Option<&str> {
    name.strip_prefix("git-").filter(|subcommand| OWN.contains(subcommand) || PUSHERS.contains(subcommand))
}

/// Adds the intended actions of a call such as `git-push`, the program behind `git push`.
pub(super) fn of_own_program(leaf: &Leaf, from: &PathContext<'_>, found: &mut Vec<Intent>) {
    if let Some(subcommand) = leaf.name().and_then(own_program) {
        let spelled: Vec<Arg> = leaf.argv[1..].iter().flat_map(without_braces).collect();
        let rest: Vec<&Arg> = spelled.iter().collect();
        of_subcommand(leaf, subcommand, &rest, from, found);
    }
}

/// Returns the words that an option with braces stands for: `--no-{verify,progress}`.
fn without_braces(arg: &Arg) -> Vec<Arg> {
    if !arg.text.starts_with(['-', '{']) || !arg.text.contains('{') {
        return vec![arg.clone()];
    }
    braces(&arg.text).into_iter().map(|text| Arg { text, ..arg.clone() }).collect()
}

/// What an alias stands for, with the words behind it.
fn of_alias(value: &str, rest: &str, from: &PathContext<'_>, depth: usize, found: &mut Vec<Intent>) {
    let line = match value.strip_prefix('!') {
        Some(line) => format!("{line} {rest}"),
        None => format!("git {value} {rest}"),
    };
    if let Ok(understood) = command_line::understand(&line, Project::without_runners(&())) {
        found.extend(of_line_from(&understood, from, depth + 1));
    }
}

/// A setting on the command line, or the file that it makes a part of git's settings.
fn of_setting(leaf: &Leaf, setting: &str, from: &PathContext<'_>, found: &mut Vec<Intent>) {
    let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
    if names_hooks(setting) || includes(key) && is_read_as_switch(leaf, value, from) {
        found.push(Intent { kind: IntentKind::RedirectsHooks, what: format!("git -c {setting}") });
    }
}

fn includes(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    key == "include.path" || key.starts_with("includeif.")
}

/// Returns `true` if the file of settings sends git elsewhere for its hooks.
fn is_read_as_switch(leaf: &Leaf, file: &str, from: &PathContext<'_>) -> bool {
    let dir = leaf.directory.as_ref().and_then(|directory| directory.path.as_deref());
    (from.read)(&from.resolve(dir, file)).is_some_and(|text| sets_hooks(&text))
}

/// Returns `true` if a variable makes git read settings that send it elsewhere for its hooks.
pub(super) fn variable_redirects(leaf: &Leaf, name: &str, value: &str, from: &PathContext<'_>) -> bool {
    let is_file = matches!(name, "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM" | "GIT_CONFIG");
    name.starts_with("GIT_CONFIG") && names_hooks(value) || is_file && is_read_as_switch(leaf, value, from)
}

/// Returns `true` if a file holds the settings of a repository.
pub(super) fn is_repository_config(path: &str) -> bool {
    let path = path.replace('\\', "/");
    let name = path.rsplit('/').next().unwrap_or_default();
    path.split('/').any(|part| part == ".git") && matches!(name, "config" | "config.worktree")
}

/// Returns `true` if git reads its settings from a file of this name.
pub(super) fn is_settings_file(path: &str) -> bool {
    let path = path.replace('\\', "/");
    let name = path.rsplit('/').next().unwrap_or_default();
    is_repository_config(&path) || matches!(name, ".gitconfig" | "gitconfig") || path.ends_with("/git/config")
}

/// Returns `true` if a text of git's settings sends git elsewhere for its hooks, or has an alias that passes over them.
pub(super) fn sets_hooks(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.lines().any(|line| line.contains("hookspath") || line.contains('=') && line.contains("--no-verif"))
}

fn of_subcommand(leaf: &Leaf, subcommand: &str, rest: &[&Arg], from: &PathContext<'_>, found: &mut Vec<Intent>) {
    if PUSHERS.contains(&subcommand) {
        found.push(Intent { kind: IntentKind::SkipsHooks, what: format!("git {subcommand}") });
    }
    let dir = leaf.directory.as_ref().and_then(|directory| directory.path.as_deref());
    let mut taken = |path: &str| {
        let held = client_hooks::hook_files_at(&from.resolve(dir, path)).into_iter();
        found.extend(held.map(|what| Intent { kind: IntentKind::ChangesClientHooks, what }));
    };
    match subcommand {
        "rm" | "mv" => rest.iter().filter(|arg| !arg.text.starts_with('-')).for_each(|arg| taken(&arg.text)),
        // It deletes what git ignores, and the hooks of clients are ignored.
        "clean" => cleaned(rest).into_iter().for_each(taken),
        "stash" => stashed(rest).into_iter().for_each(taken),
        _ => {}
    }
    let (options, operands) = options_and_operands(subcommand, rest);
    let is_dry = subcommand == "push" && options.iter().any(|option| matches!(*option, "--dry-run" | "-n"));
    let skips = |option: &&&str| HOOKED.contains(&subcommand) && !is_dry && skips_hooks(subcommand, option);
    if let Some(option) = options.iter().find(skips) {
        found.push(Intent { kind: IntentKind::SkipsHooks, what: format!("git {subcommand} {option}") });
    }
    if HOOKED.contains(&subcommand) && !is_dry && fed_scripts::hides_the_option(leaf, &operands) {
        found.push(Intent { kind: IntentKind::SkipsHooks, what: format!("git {subcommand} … --no-verify") });
    }
    if subcommand == "config" && changes_journal_mark(rest) {
        found.push(Intent { kind: IntentKind::ChangesRecord, what: "git config gate.journal".to_owned() });
    }
    if subcommand == "config" && of_config(leaf, rest, from) {
        let key = rest.iter().find(|arg| is_of_hooks(&arg.text)).map_or("", |arg| arg.text.as_str());
        found.push(Intent { kind: IntentKind::RedirectsHooks, what: format!("git config {key}") });
    }
}

/// Returns `true` if `git config` changes the setting that says that there is a journal.
fn changes_journal_mark(rest: &[&Arg]) -> bool {
    let words: Vec<String> = rest.iter().map(|arg| arg.text.to_ascii_lowercase()).collect();
    let is = |words_of: &[&str]| words.iter().any(|word| words_of.contains(&word.as_str()));
    let removes = is(&["--remove-section", "--rename-section", "remove-section", "rename-section"]) && is(&["gate"]);
    let at = words.iter().position(|word| word == "gate.journal");
    let sets = at.is_some_and(|at| at + 1 < words.len() || is(&["--unset", "--unset-all", "unset"]));
    removes || sets && !is(&["--get", "--get-all", "get"])
}

/// Returns `true` if a key of git's settings can decide which hooks run.
fn is_of_hooks(key: &str) -> bool {
    names_hooks(key) || includes(key) || key.starts_with("alias.")
}

/// Returns `true` if `git config` sends git elsewhere for its hooks.
fn of_config(leaf: &Leaf, rest: &[&Arg], from: &PathContext<'_>) -> bool {
    let is = |words: &[&str]| rest.iter().any(|arg| words.contains(&&*arg.text));
    if is(&["get", "--get", "--get-all", "--get-regexp", "list", "--list", "-l"]) {
        return false;
    }
    let Some(at) = rest.iter().position(|arg| is_of_hooks(&arg.text)) else { return false };
    let key = rest[at].text.as_str();
    if is(&["unset", "--unset", "--unset-all"]) {
        // Where nothing of gate's lies there, git goes back to the hooks that gate installed.
        return names_hooks(key) && (from.own_hooks_path)();
    }
    let Some(value) = rest.get(at + 1).map(|arg| arg.text.as_str()) else { return false };
    if includes(key) {
        return is_read_as_switch(leaf, value, from);
    }
    if key.starts_with("alias.") {
        let mut stands_for = Vec::new();
        of_alias(value, "", from, MAX_ALIASES, &mut stands_for);
        let passes = |intent: &Intent| matches!(intent.kind, IntentKind::SkipsHooks | IntentKind::RedirectsHooks);
        return stands_for.iter().any(passes);
    }
    true
}

/// The paths from which `git clean` deletes ignored files, where it keeps none of them.
fn cleaned<'a>(args: &[&'a Arg]) -> Vec<&'a str> {
    let letters = |arg: &&&Arg| arg.text.starts_with('-') && !arg.text.starts_with("--");
    let has = |letter: char| args.iter().filter(letters).any(|arg| arg.text.contains(letter));
    let spares = has('n')
        || has('e')
        || args.iter().any(|arg| matches!(&*arg.text, "--dry-run") || arg.text.starts_with("--exclude"));
    let forced = has('f') || args.iter().any(|arg| arg.text == "--force");
    if !(has('x') || has('X')) || !forced || spares {
        return Vec::new();
    }
    let named: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).filter(|text| !text.starts_with('-')).collect();
    if named.is_empty() { vec!["."] } else { named }
}

/// The paths from which `git stash` takes ignored files.
fn stashed<'a>(args: &[&'a Arg]) -> Vec<&'a str> {
    let takes = args.first().is_none_or(|arg| matches!(&*arg.text, "push" | "save") || arg.text.starts_with('-'));
    let all = |text: &str| text == "--all" || text.starts_with('-') && !text.starts_with("--") && text.contains('a');
    let options = args.iter().take_while(|arg| arg.text != "--");
    if !takes || !options.into_iter().any(|arg| all(&arg.text)) {
        return Vec::new();
    }
    let named: Vec<&str> =
        args.iter().skip_while(|arg| arg.text != "--").skip(1).map(|arg| arg.text.as_str()).collect();
    if named.is_empty() { vec!["."] } else { named }
}

/// Whether a setting decides which hooks git runs.
fn names_hooks(setting: &str) -> bool {
    let key = setting.split('=').next().unwrap_or_default().trim_matches('\'').to_ascii_lowercase();
    key == "core.hookspath" || (key.starts_with("hook.") && key.ends_with(".enabled"))
}

/// Returns the options of a subcommand, and its other words, both without the values of options.
fn options_and_operands<'a>(subcommand: &str, args: &[&'a Arg]) -> (Vec<&'a str>, Vec<&'a Arg>) {
    let mut words = args.iter().take_while(|arg| arg.text != "--");
    let (mut options, mut operands) = (Vec::new(), Vec::new());
    while let Some(arg) = words.next() {
        if arg.text.starts_with('-') {
            options.push(arg.text.as_str());
        } else {
            operands.push(*arg);
        }
        if takes_next_word(subcommand, &arg.text) {
            words.next();
        }
    }
    (options, operands)
}

/// Options of the subcommands that run hooks, with a value in the next word.
const WITH_VALUE: [&str; 20] = [
    "--message", "--file", "--author", "--date", "--template", "--reuse-message", "--reedit-message", "--fixup",
    "--squash", "--trailer", "--cleanup", "--pathspec-from-file", "--push-option", "--repo", "--receive-pack",
    "--exec", "--strategy", "--strategy-option", "--onto", "--into-name",
];

/// Returns `true` if the next word is the value of this option.
fn takes_next_word(subcommand: &str, option: &str) -> bool {
    if option.starts_with("--") {
        // They stand alone in `git merge` and `git rebase`.
        let of_commit = matches!(option, "--squash" | "--fixup");
        return WITH_VALUE.contains(&option) && (!of_commit || subcommand == "commit");
    }
    let letters = match subcommand {
        "commit" => "mFCct",
        "push" => "o",
        "merge" => "mFsX",
        "rebase" => "sXxC",
        "cherry-pick" => "mX",
        "pull" => "sXo",
        _ => "",
    };
    let Some(cluster) = option.strip_prefix('-') else { return false };
    // The letters after one that takes a value are that value.
    cluster.find(|letter| letters.contains(letter)).is_some_and(|at| at + 1 == cluster.len())
}

/// Whether an option lets a subcommand pass over its hooks. `-n` means that to `git commit` alone.
fn skips_hooks(subcommand: &str, option: &str) -> bool {
    // git takes any beginning that is not ambiguous.
    if option.len() > "--no-v".len() && "--no-verify".starts_with(option) {
        return true;
    }
    let Some(letters) = option.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else { return false };
    // The letters after one that takes a value are that value.
    subcommand == "commit"
        && letters.chars().take_while(|letter| !"mFCctuS".contains(*letter)).any(|letter| letter == 'n')
}
