//! Commands that a line hands to a shell, an interpreter or git as text: `echo 'git push --no-verify' | sh`.

use std::sync::LazyLock;

use regex::Regex;

use super::path_context::PathContext;
use super::{Intent, IntentKind, of_line_from};
use crate::command_line::{self, Understood};
use crate::runner::Project;
use crate::shell::expanded_program::{Arg, InputSource, Leaf};

/// Calls with which a script starts other programs.
static STARTS: LazyLock<Regex> = LazyLock::new(|| {
    let calls = r"subprocess\.\w+|os\.\w+|popen|exec\w*|spawn\w*|system|check_call|check_output|run";
    Regex::new(&format!(r#"\b(?:{calls})\s*[("'\[]"#)).expect("the pattern is valid")
});

/// Adds the intended actions of texts that a line pipes into a shell.
pub(super) fn of_pipes(line: &Understood, from: &PathContext<'_>, depth: usize, found: &mut Vec<Intent>) {
    if depth > 0 || !line.program.leaves.iter().any(reads_a_script) {
        return;
    }
    for script in line.program.leaves.iter().filter_map(printed_text) {
        if let Ok(understood) = command_line::understand(&script, Project::without_runners(&())) {
            found.extend(of_line_from(&understood, from, depth + 1));
        }
    }
}

/// Returns the text that a command prints, as far as its words show it.
fn printed_text(leaf: &Leaf) -> Option<String> {
    match leaf.name() {
        Some("echo" | "printf") => {
            let words = leaf.argv[1..].iter().filter(|arg| !arg.text.starts_with('-'));
            let texts: Vec<&str> = words.map(|arg| arg.text.as_str()).collect();
            Some(texts.join(" ").replace("\\n", "\n"))
        }
        Some("cat" | "tee") => leaf.text_on_stdin().map(str::to_owned),
        _ => None,
    }
}

/// Returns `true` for a shell that runs what a pipe brings.
fn reads_a_script(leaf: &Leaf) -> bool {
    let is_shell = matches!(leaf.name(), Some("sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "fish"));
    let names_none = leaf.argv.iter().skip(1).all(|arg| arg.text.starts_with('-') && !arg.text.contains('c'));
    is_shell && names_none && matches!(leaf.stdin, InputSource::Pipe(_))
}

/// Adds the intended actions of a script of the interpreter `name`, if it starts git.
pub(super) fn of_interpreter(name: &str, script: &str, found: &mut Vec<Intent>) {
    // Elsewhere the sign is that of Markdown, or of a template.
    let has_backticks = matches!(name, "perl" | "ruby" | "php") && script.contains('`');
    if !script.contains("git") || !has_backticks && !STARTS.is_match(script) {
        return;
    }
    let lower = script.to_ascii_lowercase();
    if lower.contains("--no-verif") {
        found.push(Intent { kind: IntentKind::SkipsHooks, what: "a script with git … --no-verify".to_owned() });
    } else if lower.contains("core.hookspath=") {
        found.push(Intent { kind: IntentKind::RedirectsHooks, what: "a script with core.hooksPath".to_owned() });
    }
}

/// Returns `true` if a word of git that is only known when the line runs holds the option that skips hooks: the words of
/// `git push $(echo --no-verify)`. The values of options, such as messages, may hold it. `words` are without these.
pub(super) fn hides_the_option(leaf: &Leaf, words: &[&Arg]) -> bool {
    words.iter().any(|word| !word.whole) && leaf.text.contains("-no-verif")
}
