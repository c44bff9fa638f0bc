//! Data flows one way: the edges between the modules of `src/`, held against the drawing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::support::files_below;

/// The stages, lowest first. A module uses modules of the stages above its own line here, and nothing beside or below.
const STAGES: &[(&str, &[&str])] = &[
    ("text, locks and embedded files", &["embedded", "file_lock", "foreign_text"]),
    (
        "words",
        &[
            "digest", "exit", "globs", "lazy_patterns", "linked_packages", "shell_kind", "moment", "oid",
            "parallel_map", "parent_processes", "plural", "ref_names", "regular_file", "repo_path", "shell_quote",
            "surroundings", "user_folders",
        ],
    ),
    ("what is not content", &["local_file", "tool_folder"]),
    (
        "values",
        &[
            "client_definition", "contract", "diagnostics", "failure", "prompt", "redact", "session", "shell",
            "snapshot", "ssh", "symbols", "templates",
        ],
    ),
    ("what happened", &["event"]),
    ("what runs tests", &["runner"]),
    ("what is wanted", &["policy"]),
    ("what a commit is", &["commit"]),
    ("what was decided", &["decision"]),
    (
        "places that are read and written",
        &["board", "config", "contract_shelf", "git", "journal", "prompt_history", "prompt_lookup", "stack"],
    ),
    ("what is run", &["run"]),
    ("where it runs", &["virtual_environment"]),
    ("models of the user", &["model"]),
    ("what a command line proves", &["command_line"]),
    ("sources", &["source"]),
    ("what is installed", &["install"]),
    ("what travels", &["attest"]),
    ("in order", &["timeline"]),
    ("facts", &["fact"]),
    ("gates", &["gates"]),
    ("verdicts", &["verdict"]),
    ("what is handed over", &["escalation"]),
    ("facts are read", &["collect"]),
    ("what was learned", &["learn"]),
    ("what judges read", &["judge"]),
    ("what reviewers read", &["review", "routing"]),
    ("the order of the stages", &["engine"]),
    ("what is done with it", &["attest::issuance", "ci", "escalation::rescue", "hook", "recorded_run", "replay"]),
    ("what is shown with it", &["red_green"]),
    ("whether it works", &["check_after_write", "contract_check", "doctor", "eval"]),
    ("what people and programs see", &["render"]),
    ("commands", &["cmd"]),
    ("the command line", &["cli"]),
];

/// Edges against the flow, and why they are there.
const EXCEPTIONS: &[(&str, &str, &str)] =
    &[("cmd", "cli", "man pages and completions are generated from the whole command line")];

/// What a stage must not touch although it lies below: who judges does not read, who shows does not decide.
const APART: &[(&str, &[&str])] = &[
    ("fact", &["collect", "config", "journal", "run", "source", "stack"]),
    ("gates", &["collect", "config", "git", "journal", "run", "runner", "source", "stack"]),
    ("collect", &["gates", "verdict", "escalation"]),
    ("learn", &["config", "run", "runner", "stack"]),
    ("verdict", &["config", "git", "journal", "run", "runner", "source", "stack"]),
    ("render", &["engine", "git", "hook", "recorded_run", "run", "source"]),
    ("event", &["redact", "session", "shell"]),
];

/// Who may print: `render` owns the terminal, `run` passes on what a command says.
const PRINTS: &[&str] = &["render", "run"];

/// A file of `src/`.
pub struct File {
    /// The module in which [`STAGES`] has it: its folder or file in `src/`, or a module in that which has a stage of its own.
    pub module: String,
    /// The path of the module that the file is, such as `["git", "status"]`.
    names: Vec<String>,
    pub path: PathBuf,
    /// Without comments and without unit tests.
    pub code: String,
}

pub fn files() -> Vec<File> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    files_below(&src).into_iter().filter_map(|path| file(&src, path)).collect()
}

fn file(src: &Path, path: PathBuf) -> Option<File> {
    let inner = path.strip_prefix(src).unwrap().to_str().unwrap().strip_suffix(".rs")?;
    let names: Vec<String> = inner.strip_suffix("/mod").unwrap_or(inner).split('/').map(str::to_owned).collect();
    let is_test = names.iter().any(|name| name == "tests") || inner.ends_with("_tests");
    if is_test || names == ["main"] || names == ["lib"] {
        return None;
    }
    let code = code(&fs::read_to_string(&path).unwrap());
    Some(File { module: staged(&names), names, code, path })
}

fn code(text: &str) -> String {
    let tests = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..tests].lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The module of [`STAGES`] that this one is or lies in.
fn staged(names: &[String]) -> String {
    let inner = names.iter().take(2).cloned().collect::<Vec<_>>().join("::");
    if stage(&inner).is_some() { inner } else { names[0].clone() }
}

/// The paths that the code of a module names, from the root of the crate: `crate::`, `super::` and `self::`, and each entry
/// of a list in braces.
fn paths(names: &[String], code: &str) -> BTreeSet<Vec<String>> {
    let path = Regex::new(r"\b(crate|super|self)((?:::[a-z_][a-z0-9_]*)*)(::\{)?").unwrap();
    let mut found = BTreeSet::new();
    for used in path.captures_iter(code) {
        let mut from = match &used[1] {
            "crate" => Vec::new(),
            "super" => names[..names.len() - 1].to_vec(),
            _ => names.to_vec(),
        };
        for name in used[2].split("::").filter(|name| !name.is_empty()) {
            if name == "super" {
                from.pop();
            } else {
                from.push(name.to_owned());
            }
        }
        if used.get(3).is_none() {
            found.insert(from);
            continue;
        }
        let list = &code[used.get(0).unwrap().end()..];
        found.extend(entries(list).into_iter().map(|entry| [from.clone(), vec![entry]].concat()));
    }
    found
}

/// The first name of each entry of a list whose opening brace was read.
fn entries(list: &str) -> Vec<String> {
    let mut depth = 1;
    let (mut entries, mut entry) = (Vec::new(), String::new());
    for c in list.chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 || (depth == 1 && c == ',') {
            let name = entry.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            entries.push(name);
            entry.clear();
        } else {
            entry.push(c);
        }
        if depth == 0 {
            break;
        }
    }
    entries
}

/// The modules of [`STAGES`] that a file names.
fn uses(file: &File) -> BTreeSet<String> {
    let paths = paths(&file.names, &file.code).into_iter().filter(|path| !path.is_empty());
    paths.map(|path| staged(&path)).filter(|module| stage(module).is_some()).collect()
}

fn stage(module: &str) -> Option<usize> {
    STAGES.iter().position(|(_, modules)| modules.contains(&module))
}

#[test]
fn every_module_has_its_stage() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = fs::read_to_string(src.join("lib.rs")).unwrap();
    let declared: BTreeSet<_> = lib
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'))
        .collect();
    let drawn = STAGES.iter().flat_map(|(_, modules)| modules.iter().copied());
    let drawn: BTreeSet<_> = drawn.filter(|module| !module.contains("::")).collect();
    assert_eq!(declared, drawn);
}

#[test]
fn nothing_imports_upward() {
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    for file in files() {
        for other in uses(&file).into_iter().filter(|other| *other != file.module) {
            let exception = EXCEPTIONS.iter().find(|(from, to, _)| *from == file.module && *to == other);
            if let Some(exception) = exception {
                used.insert(exception);
            } else if stage(&other) >= stage(&file.module) {
                wrong.push(format!("{}: {} does not come before {}", file.path.display(), other, file.module));
            }
            let apart = APART.iter().any(|(from, to)| *from == file.module && to.contains(&other.as_str()));
            if apart {
                wrong.push(format!("{}: {} stays away from {}", file.path.display(), file.module, other));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(used.len(), EXCEPTIONS.len(), "an exception that nobody needs: {EXCEPTIONS:?}");
}

#[test]
fn only_who_owns_the_terminal_prints() {
    let prints = ["println!", "print!(", "io::stdout()", "io::stderr()", "dbg!"];
    for file in files().iter().filter(|file| !PRINTS.contains(&file.module.as_str())) {
        for print in prints {
            assert!(!file.code.contains(print), "{} in {}", print, file.path.display());
        }
    }
}

/// The members of a folder that use each other in a circle, and why. A file and the modules below it are one member.
const CIRCLES: &[(&str, &[&str], &str)] = &[
    (
        "command_line",
        &["contradiction", "masked_failure", "understanding"],
        "a line calls tasks, a task runs lines, and what an output contradicts is asked of both",
    ),
    (
        "hook/client",
        &["changes", "command_evidence", "own_commits", "stop"],
        "one call of a tool is noted by all of them, and each looks at what the others noted",
    ),
    (
        "prompt",
        &["class", "score_basis"],
        "the classes are read from what the scores rest on, and count in one of them",
    ),
    (
        "replay",
        &["forge_state", "remote_effects", "simulated_repository", "simulated_run"],
        "each of them extends the simulated repository that owns their state",
    ),
    (
        "runner",
        &[
            "ambiguous_calls", "catalogue", "example", "generated", "invocation", "name_source", "printed_names",
            "runner_definition", "task", "task_order", "test_names",
        ],
        "a catalogue is refused if its own examples are read otherwise, and a task may start any runner",
    ),
    ("shell", &["expand", "nproc"], "the line's own functions say whether `nproc` is the program"),
    ("shell", &["lower", "lower_words"], "words hold scripts, and scripts hold words"),
];

/// For each folder, the members that use others of the same folder, and which.
fn edges_in_folders(files: &[File]) -> BTreeMap<String, BTreeMap<String, BTreeSet<String>>> {
    let modules: BTreeSet<&[String]> = files.iter().map(|file| file.names.as_slice()).collect();
    let mut edges: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for file in files {
        for mut path in paths(&file.names, &file.code) {
            while !path.is_empty() && !modules.contains(path.as_slice()) {
                path.pop();
            }
            let shared = file.names.iter().zip(&path).take_while(|(a, b)| a == b).count();
            if shared > 0 && shared < file.names.len() && shared < path.len() {
                let folder = edges.entry(file.names[..shared].join("/")).or_default();
                folder.entry(file.names[shared].clone()).or_default().insert(path[shared].clone());
            }
        }
    }
    edges
}

/// What can be reached from one member.
fn reached(edges: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(member) = open.pop() {
        for next in edges.get(&member).into_iter().flatten() {
            if found.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    found
}

#[test]
fn files_of_a_folder_form_no_circle_that_is_not_listed() {
    let mut found = BTreeSet::new();
    for (folder, edges) in edges_in_folders(&files()) {
        for member in edges.keys() {
            let circle: Vec<String> =
                reached(&edges, member).into_iter().filter(|other| reached(&edges, other).contains(member)).collect();
            if !circle.is_empty() {
                found.insert((folder.clone(), circle));
            }
        }
    }
    let listed: BTreeSet<(String, Vec<String>)> = CIRCLES
        .iter()
        .map(|(folder, members, _)| (folder.to_string(), members.iter().map(ToString::to_string).collect()))
        .collect();
    let new: Vec<_> = found.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(new.is_empty() && gone.is_empty(), "not listed: {new:#?}\nno longer there: {gone:#?}");
}

#[test]
fn edges_are_found_as_they_are_written() {
    let text = "//! see crate::cli\nuse crate::oid::Oid;\n    let x = crate::git::y();\nuse crate::{cmd, event::Event};\n\
                use super::{attested::{Sources, BaseOf}, Lineage};\nuse super::super::fact::Note;\n\
                #[cfg(test)]\nmod tests {\n    use crate::cli;\n}\n";
    let names = ["collect", "merge_base"].map(str::to_owned);
    let found: Vec<String> = paths(&names, &code(text)).into_iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["cmd", "collect::Lineage", "collect::attested", "event", "fact", "git::y", "oid"]);
}
