//! Data flows one way: the edges between the modules of `src/`, held against the drawing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The stages, lowest first. A module uses modules of the stages above its own line here, and nothing beside or below.
const STAGES: &[(&str, &[&str])] = &[
    ("text and locks", &["file_lock", "foreign_text"]),
    (
        "words",
        &[
            "digest",
            "embedded",
            "exit",
            "globs",
            "lazy_patterns",
            "shell_kind",
            "moment",
            "oid",
            "parallel_map",
            "parent_processes",
            "plural",
            "repo_path",
            "shell_quote",
        ],
    ),
    ("what is no content", &["local_file", "tool_folder"]),
    (
        "values",
        &[
            "client_definition",
            "contract",
            "diagnostics",
            "failure",
            "prompt",
            "redact",
            "session",
            "shell",
            "snapshot",
            "ssh",
            "symbols",
            "templates",
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
    ("models of the user", &["model"]),
    ("what a command line proves", &["command_line"]),
    ("sources", &["source"]),
    ("what is installed", &["install"]),
    ("what travels", &["attest"]),
    ("in order", &["timeline"]),
    ("facts", &["fact"]),
    ("gates", &["gates"]),
    ("verdicts", &["verdict"]),
    ("what is handed over", &["handoff"]),
    ("facts are read", &["collect"]),
    ("what was learned", &["learn"]),
    ("what judges read", &["judge"]),
    ("what reviewers read", &["review", "routing"]),
    ("the order of the stages", &["engine"]),
    ("what is done with it", &["ci", "hook", "recorded_run", "replay", "rescue", "vouch"]),
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
    ("collect", &["gates", "verdict", "handoff"]),
    ("learn", &["config", "run", "runner", "stack"]),
    ("verdict", &["config", "git", "journal", "run", "runner", "source", "stack"]),
    ("render", &["engine", "git", "hook", "recorded_run", "run", "source"]),
    ("event", &["redact", "session", "shell"]),
];

/// Who may print: `render` owns the terminal, `run` passes on what a command says.
const PRINTS: &[&str] = &["render", "run"];

pub struct File {
    pub module: String,
    pub path: PathBuf,
    /// Without comments and without unit tests.
    pub code: String,
}

pub fn files() -> Vec<File> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    let mut folders = vec![src.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let inner = path.strip_prefix(&src).unwrap().to_owned();
            let first = inner.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
            let module = first.strip_suffix(".rs").unwrap_or(&first).to_owned();
            if path.is_dir() {
                if !path.ends_with("tests") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && !path.ends_with("tests.rs")
                && !["main", "lib"].contains(&module.as_str())
            {
                files.push(File { module, code: code(&fs::read_to_string(&path).unwrap()), path });
            }
        }
    }
    files
}

fn code(text: &str) -> String {
    let tests = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..tests].lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The modules that the code names.
fn uses(code: &str) -> BTreeSet<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect::<String>();
    let mut found = BTreeSet::new();
    for (at, start) in code.match_indices("crate::") {
        let rest = &code[at + start.len()..];
        match rest.strip_prefix('{') {
            Some(list) => {
                let list = list.split(';').next().unwrap_or_default();
                found.extend(list.split(',').map(|name| word(name.trim())).filter(|name| stage(name).is_some()));
            }
            None => {
                found.insert(word(rest));
            }
        }
    }
    found.remove("");
    found
}

fn stage(module: &str) -> Option<usize> {
    STAGES.iter().position(|(_, modules)| modules.contains(&module))
}

#[test]
fn every_module_has_its_stage() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = fs::read_to_string(src.join("lib.rs")).unwrap();
    let declared: BTreeSet<_> =
        lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    let drawn: BTreeSet<_> = STAGES.iter().flat_map(|(_, modules)| modules.iter().copied()).collect();
    assert_eq!(declared, drawn);
}

#[test]
fn nothing_imports_upward() {
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    for file in files() {
        for other in uses(&file.code).into_iter().filter(|other| *other != file.module) {
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

#[test]
fn edges_are_found_as_they_are_written() {
    let text = "//! see crate::cli\nuse crate::oid::Oid;\n    let x = crate::git::y();\nuse crate::{cmd, event::Event};\n\
                #[cfg(test)]\nmod tests {\n    use crate::cli;\n}\n";
    let found: Vec<_> = uses(&code(text)).into_iter().collect();
    assert_eq!(found, ["cmd", "event", "git", "oid"]);
}
