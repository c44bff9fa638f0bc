//! Scripts and tasks of the project that a line calls: `npm run ship`, `make ship`, `sh ship.sh`.

use super::path_context::PathContext;
use super::{Intent, IntentKind, fed_scripts, of_line_from};
use crate::command_line;
use crate::fact::script_changes;
use crate::runner::{Catalogue, InDirectory, Project, resolve};
use crate::shell::expanded_program::Leaf;

/// The maximum depth of scripts that call scripts.
const MAX_DEPTH: usize = 3;

/// Words without which a script does nothing to the hooks of git.
const SIGNS: [&str; 8] =
    ["--no-v", "hookspath", "send-pack", "http-push", "git/hooks", "husky", "lefthook", "skip_simple_git_hooks"];

/// Words of a script that may work in another repository, as those of tests do.
const ELSEWHERE: [&str; 9] =
    ["mktemp", "tempfile", "mkdtemp", "git init", "\"init\"", "clone", "cd ", "pushd", "chdir"];

/// Adds what the scripts and tasks that a command calls are about to do to the hooks of git.
pub(super) fn of_called(leaf: &Leaf, from: &PathContext<'_>, depth: usize, found: &mut Vec<Intent>) {
    if depth >= MAX_DEPTH {
        return;
    }
    let Some(name) = leaf.name() else { return };
    let dir = leaf.directory.as_ref().and_then(|directory| directory.path.as_deref());
    let is_shell = matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh");
    let program = leaf.argv.first().map(|arg| arg.text.as_str()).filter(|program| program.contains('/'));
    let operand = || leaf.argv[1..].iter().map(|arg| arg.text.as_str()).find(|word| !word.starts_with('-'));
    let file = if is_shell || script_changes::is_interpreter(name) { operand() } else { program };
    if let Some(text) = file.and_then(|file| (from.read)(&from.resolve(dir, file))).filter(|text| has_sign(text)) {
        if script_changes::is_interpreter(name) {
            fed_scripts::of_interpreter(name, &text, found);
        } else if is_shell || runs_in_shell(&text) {
            of_text(&text, from, depth, found);
        }
    }
    if let Some(files) = from.files {
        let words: Vec<Option<String>> = leaf.argv.iter().map(|arg| arg.whole.then(|| arg.text.clone())).collect();
        let tasks = resolve(Catalogue::embedded(), &words, &InDirectory { files, directory: dir });
        let scripts = tasks.into_iter().flat_map(|task| task.script.unwrap_or_default());
        scripts.filter(|script| has_sign(script)).for_each(|script| of_text(&script, from, depth, found));
    }
}

/// Returns `true` if a script may do something to the hooks of this repository, or call another one that does.
fn has_sign(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    if ELSEWHERE.iter().any(|word| lower.contains(word)) {
        return false;
    }
    // `HUSKY=0 npm ci` in a script keeps no hook of git from running.
    let acts = lower.contains("git commit -") || SIGNS.iter().any(|sign| lower.contains(sign));
    lower.contains("git") && acts || lower.contains(".sh")
}

/// Returns `true` if the first line of a script names a shell, or nothing.
fn runs_in_shell(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    !first.starts_with("#!") || first.trim_end().ends_with("sh")
}

/// Adds what a script is about to do to the hooks of git. What else it changes is seen when it has run.
fn of_text(script: &str, from: &PathContext<'_>, depth: usize, found: &mut Vec<Intent>) {
    let Ok(understood) = command_line::understand(script, Project::without_runners(&())) else { return };
    let is_of_hooks = |intent: &Intent| {
        matches!(intent.kind, IntentKind::SkipsHooks | IntentKind::RedirectsHooks | IntentKind::ChangesHooks)
    };
    found.extend(of_line_from(&understood, from, depth + 1).into_iter().filter(is_of_hooks));
}
