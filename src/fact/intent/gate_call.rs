//! Calls of gate itself: commands that only a person runs, and variables that hide who runs them.

use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;

use super::{Intent, IntentKind};
use crate::command_line::Understood;
use crate::embedded;
use crate::shell::expanded_program::{Arg, Leaf};
use crate::user_folders;

/// Variables that say whose work this is, and where the user's settings and budgets are.
const OWN_VARIABLES: [&str; 7] =
    ["GATE_SESSION", "GATE_ROLE", "GATE_STRATEGIES", "GATE_MODEL_DIR", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];

/// The variables by which `gates/agents.toml` knows a client.
#[derive(Deserialize)]
struct AgentVariables {
    variables: Vec<String>,
    session: Option<String>,
}

static CLIENT_VARIABLES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let clients: Vec<AgentVariables> = embedded::part("agents.toml", "client");
    clients.into_iter().flat_map(|client| client.variables.into_iter().chain(client.session)).collect()
});

/// Finds what a call of gate is about to do.
pub(super) fn of_gate(leaf: &Leaf, found: &mut Vec<Intent>) {
    let word = |at: usize| leaf.argv.get(at).and_then(Arg::literal);
    let only_shows = leaf.argv.iter().any(|arg| matches!(&*arg.text, "--help" | "-h" | "--dry-run"));
    let option = |name: &str| leaf.argv.iter().any(|arg| arg.text == name || arg.text.starts_with(&format!("{name}=")));
    let of_person = match word(1) {
        Some(word @ ("uninstall" | "waive")) => Some(word.to_owned()),
        Some("contract") if word(2) == Some("drop") => Some("contract drop".to_owned()),
        Some("curate") if option("--decisions") => Some("curate --decisions".to_owned()),
        Some("review") if option("--confirm") => Some("review --confirm".to_owned()),
        Some("learn") if option("--rollback") => Some("learn --rollback".to_owned()),
        _ => None,
    };
    if let Some(command) = of_person.filter(|_| !only_shows) {
        found.push(Intent { kind: IntentKind::RemovesGate, what: format!("gate {command}") });
    }
    if let (Some("hook"), Some(caller)) = (word(1), word(2))
        && caller != "git"
    {
        // Its input becomes a record.
        found.push(Intent { kind: IntentKind::ChangesRecord, what: format!("gate hook {caller}") });
    }
    if word(1) == Some("doctor") && option("--repair") {
        found.push(Intent { kind: IntentKind::ChangesRecord, what: "gate doctor --repair".to_owned() });
    }
    let set = leaf.environment.iter().chain(&leaf.given).map(|(name, _)| name).chain(&leaf.withheld);
    let hidden = set.cloned().chain(removed_by_env(leaf)).find(|name| names_the_caller(name));
    found.extend(hidden.map(hides_caller));
}

/// Finds a variable that the line takes away before it calls gate.
pub(super) fn of_unset(line: &Understood, found: &mut Vec<Intent>) {
    let leaves = &line.program.leaves;
    let calls = leaves.iter().rposition(|leaf| leaf.name() == Some("gate") && !leaf.remote).unwrap_or(0);
    for leaf in &leaves[..calls] {
        let takes_away = match leaf.name() {
            Some("unset") => true,
            Some("export") => leaf.argv.iter().any(|arg| arg.text == "-n"),
            Some("declare" | "typeset") => leaf.argv.iter().any(|arg| arg.text == "+x"),
            _ => false,
        };
        let names = leaf.argv.iter().skip(1).map(|arg| arg.text.clone()).filter(|_| takes_away);
        found.extend(names.filter(|name| names_the_caller(name)).map(hides_caller).take(1));
    }
}

fn hides_caller(variable: String) -> Intent {
    Intent { kind: IntentKind::HidesCaller, what: variable }
}

/// Returns `true` if gate reads from this variable who calls it or where the user's settings are. `-i` means all variables.
fn names_the_caller(variable: &str) -> bool {
    variable == "-i" || OWN_VARIABLES.contains(&variable) || CLIENT_VARIABLES.iter().any(|known| known == variable)
}

/// Returns the variables that `env` takes away from the command; `-i` if it takes all.
fn removed_by_env(leaf: &Leaf) -> Vec<String> {
    let mut words = leaf.text.split_whitespace().map(|word| word.trim_matches(['\'', '"']));
    let mut removed = Vec::new();
    let is_env = |word: &str| matches!(word.rsplit('/').next(), Some("env" | "genv"));
    if !leaf.wrappers.iter().any(|wrapper| is_env(wrapper)) || !words.any(is_env) {
        return removed;
    }
    while let Some(word) = words.next() {
        match word {
            "-" | "--ignore-environment" => removed.push("-i".to_owned()),
            "--unset" => removed.extend(words.next().map(str::to_owned)),
            _ if word.starts_with("--unset=") => removed.push(word["--unset=".len()..].to_owned()),
            _ if word.starts_with("--") || word.contains('=') => {}
            _ => match word.strip_prefix('-') {
                None => break,
                Some(letters) => of_letters(letters, &mut words, &mut removed),
            },
        }
    }
    removed
}

/// Reads options of `env` in one word: `-iu NAME`, `-uNAME`.
fn of_letters<'w>(letters: &'w str, words: &mut impl Iterator<Item = &'w str>, removed: &mut Vec<String>) {
    for (at, letter) in letters.char_indices() {
        let rest = &letters[at + letter.len_utf8()..];
        match letter {
            'i' => removed.push("-i".to_owned()),
            'u' | 'C' | 'P' => {
                let value = if rest.is_empty() { words.next() } else { Some(rest) };
                removed.extend(value.filter(|_| letter == 'u').map(str::to_owned));
                return;
            }
            _ => {}
        }
    }
}

/// Finds a target in the user's own folder of gate, where only the text shows it: `> $HOME/.config/gate/config.toml`.
pub(super) fn of_target(leaf: &Leaf, found: &mut Vec<Intent>) {
    if found.iter().any(|intent| intent.kind == IntentKind::ChangesModels) {
        return;
    }
    let has_unknown = leaf.argv.iter().any(|arg| arg.text.is_empty());
    let in_place = |arg: &Arg| {
        arg.text.starts_with("--in-place")
            || arg.text.starts_with('-') && !arg.text.starts_with("--") && arg.text.contains('i')
    };
    let (changes, fills) = match leaf.name() {
        Some("tee" | "rm" | "mv" | "unlink" | "shred" | "truncate" | "ln") => (has_unknown, false),
        Some("sed" | "perl" | "ruby") => (leaf.argv.iter().skip(1).any(in_place), false),
        Some("cp" | "install" | "rsync") => (false, has_unknown),
        _ => (false, false),
    };
    let is_own = |word: &&str| is_of_user(&word.split('/').collect::<Vec<_>>());
    let mut words =
        leaf.text.split(|c: char| c.is_whitespace() || "\"'<>|&;".contains(c)).filter(|word| !word.is_empty());
    let target = match (changes || leaf.writes.contains(&None), fills) {
        (true, _) => words.find(is_own),
        (false, true) => words.next_back().filter(is_own),
        (false, false) => None,
    };
    found.extend(target.map(|word| Intent { kind: IntentKind::ChangesModels, what: word.to_owned() }));
}

/// Returns `true` for a path in the user's own folder of gate: its models, its templates, and the budgets of the day.
pub(super) fn is_of_user(parts: &[&str]) -> bool {
    let is_home = |part: &str, name: &str| part.trim_matches(['$', '{', '}']) == name;
    parts.windows(2).any(|pair| {
        pair[1] == "gate"
            && (pair[0] == ".config" || is_home(pair[0], "XDG_CONFIG_HOME") || is_home(pair[0], "XDG_STATE_HOME"))
    }) || parts.windows(3).any(|three| three == [".local", "state", "gate"])
        || own_folders()
            .iter()
            .any(|own| parts.len() >= own.len() && parts.iter().zip(own).all(|(part, own)| part == own))
}

/// Returns the folders in which this process finds the user's settings and budgets, as the parts of their paths.
fn own_folders() -> &'static [Vec<String>] {
    static OWN: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
        let folders = [user_folders::settings(), user_folders::state()];
        let real = |folder: &PathBuf| folder.canonicalize().ok();
        let folders = folders.into_iter().flatten().flat_map(|folder| [real(&folder), Some(folder)]).flatten();
        folders.map(|folder| parts_of(&folder)).collect()
    });
    &OWN
}

fn parts_of(folder: &Path) -> Vec<String> {
    let names = folder.components().filter(|part| matches!(part, Component::Normal(_)));
    names.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
}
