//! Calls of a project's own scripts: `./test.sh`, `sh test.sh` and `/work/repo/test.sh` are one.

use super::search_path::is_of_project;
use super::start_directory::{DirectoryView, StartDirectory};
use crate::runner::{Catalogue, ProjectFiles};

/// The calls by which a script finds the folder in which it lies.
const FINDS_FOLDER: [&str; 6] = [
    "$(dirname \"$0\")",
    "$(dirname $0)",
    "$(dirname -- \"$0\")",
    "$(dirname \"${BASH_SOURCE[0]}\")",
    "$(dirname -- \"${BASH_SOURCE[0]}\")",
    "${0%/*}",
];

/// The arguments of a script, as its lines pass them on. Without arguments they are nothing.
const ARGUMENTS: [&str; 4] = [" \"$@\"", " \"${@}\"", " \"${@:-}\"", " $@"];

/// Returns the words of a call, with a script of the project as its interpreter and its path from the root. What another
/// interpreter than that of its first line makes of a script is not known, but bash runs what is written for `sh`.
pub(super) fn script_call(words: Vec<String>, directory: &str, place: StartDirectory<'_>) -> Vec<String> {
    let Some((program, rest)) = words.split_first() else { return words };
    let here = StartDirectory { start: directory, ..place };
    // Another program of this name may lie in the project.
    let is_installed = match program.rsplit_once('/') {
        Some((folder, _)) => here.inside(program).is_none() || is_of_project(folder, place.root, directory),
        None => true,
    };
    let typed = interpreter(program).filter(|_| is_installed);
    let shown = |word: &&String| typed.as_deref().is_some_and(is_shell) && matches!(word.as_str(), "-x" | "-v");
    let flags = rest.iter().take_while(shown).count();
    let script = if typed.is_some() { rest.get(flags).filter(|word| !word.starts_with('-')) } else { Some(program) };
    let script = script.filter(|script| typed.is_some() || script.contains('/'));
    let Some(path) = script.and_then(|script| here.inside(script)) else { return words };
    let text = DirectoryView(StartDirectory { start: "", ..place }).read(&path);
    let own = text.as_deref().map(first_line);
    let start = match (typed, own) {
        (Some(typed), Some(own)) if typed == "bash" && own == ["sh"] => own,
        (Some(typed), _) => vec![typed],
        (None, own) => own.unwrap_or_default(),
    };
    let arguments = if script == Some(program) { rest } else { &rest[flags + 1..] };
    start.into_iter().chain([format!("./{path}")]).chain(arguments.iter().cloned()).collect()
}

/// Returns the lines of a script of the project that a shell runs, by a call as [`script_call`] gives it, or `None` if there are
/// arguments or other flags than `-e`, which becomes a line. The folder of the script is put in the place of the call that
/// finds it.
pub(super) fn script_lines(call: &[String], directory: &str, place: StartDirectory<'_>) -> Option<String> {
    let [shell, flags @ .., path] = call else { return None };
    let path = path.strip_prefix("./").filter(|_| matches!(shell.as_str(), "sh" | "bash"))?;
    let set = match flags {
        [] => "",
        [flag] if matches!(flag.as_str(), "-e" | "-eu" | "-ex" | "-eux") => "set -e\n",
        _ => return None,
    };
    let text = DirectoryView(StartDirectory { start: "", ..place }).read(path)?;
    let text = if text.starts_with("#!") { text.split_once('\n')?.1.to_owned() } else { text };
    let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
    if uses_arguments(&text) && sets_arguments(&text) {
        return None;
    }
    let found = |text: String, call: &&str| text.replace(call, folder);
    let text = ARGUMENTS.iter().fold(with_defaults(text), |text, arguments| text.replace(arguments, ""));
    let text = if directory.is_empty() { FINDS_FOLDER.iter().fold(text, found) } else { text };
    Some(format!("{set}{text}"))
}

fn uses_arguments(text: &str) -> bool {
    ["$@", "$*", "${@", "${*", "$1", "${1"].iter().any(|word| text.contains(word))
}

/// Returns `true` if something in a script may get other arguments than the script itself: a function, `set -- a`, `shift`, a
/// shell in it.
fn sets_arguments(text: &str) -> bool {
    const SETS: [&str; 5] = ["set", "shift", "eval", "source", "."];
    let is_option = |word: &str| word.starts_with(['-', '+']) && word.len() > 1 && word != "--";
    let is_setting = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        // `set -euo pipefail` sets no arguments.
        let is_usual = matches!(words[..], ["set", flags] if is_option(flags))
            || matches!(words[..], ["set", flags, "pipefail"] if is_option(flags) && flags.ends_with('o'));
        !is_usual && line.split(|c: char| c.is_whitespace() || ";&|(){}".contains(c)).any(|word| SETS.contains(&word))
    };
    let is_inner =
        |line: &str| line.contains("()") || line.contains("function ") || line.contains(" -c") || line.contains(" -s");
    text.lines().any(|line| is_setting(line) || is_inner(line))
}

/// Returns the lines of a script with the words that stand for missing arguments: `test` for `"${@:-test}"`.
fn with_defaults(text: String) -> String {
    const START: &str = "\"${@:-";
    let Some((before, rest)) = text.split_once(START) else { return text };
    match rest.split_once("}\"") {
        Some((word, after)) if word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c)) => {
            format!("{before}{word}{}", with_defaults(after.to_owned()))
        }
        _ => text,
    }
}

fn is_shell(name: &str) -> bool {
    name.ends_with("sh")
}

/// Returns the name of an interpreter without its folder and version, or `None` for another program.
pub(super) fn interpreter(program: &str) -> Option<String> {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Catalogue::embedded().names().interpreters.iter().find(|known| *known == name).cloned()
}

/// Returns the interpreter in the first line of a script, and its arguments. Without one it is that of the shell.
pub(super) fn first_line(text: &str) -> Vec<String> {
    let line = text.lines().next().unwrap_or_default();
    let Some(line) = line.strip_prefix("#!") else { return vec!["sh".to_owned()] };
    let words = line.split_whitespace().skip_while(|word| word.ends_with("/env") || *word == "-S");
    let mut words: Vec<String> = words.map(str::to_owned).collect();
    if let Some(program) = words.first_mut() {
        let name = program.rsplit('/').next().unwrap_or(program).to_owned();
        *program = interpreter(&name).unwrap_or(name);
    }
    words
}
