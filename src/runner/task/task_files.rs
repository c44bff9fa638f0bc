//! Reads files in which projects define tasks, just far enough to find the commands of one task.

use std::collections::BTreeSet;

use globset::GlobBuilder;

use super::justfile::Justfile;
use super::makefile::Makefile;
use super::task_definition::{Task, TaskScript, TaskStep};
use super::{rakefile, taskfile};
use crate::runner::ProjectFiles;
use crate::runner::plain_yaml;
use crate::runner::task::{Format, TaskRules};

/// The largest number of tasks that a task may run, including indirect ones.
const MAX_TASKS: usize = 256;

/// The largest number of lines of a task that is followed.
const MAX_SCRIPT_LINES: usize = 64;

/// The largest number of targets of a Makefile that stand for each other.
const MAX_ALIASES: usize = 4;
/// The largest number of other scripts that a task of a Makefile is looked at for, and of the lines that are read for them.
const MAX_VARIANTS: usize = 6;
const MAX_VARIANT_LINES: usize = 2_000;

/// Larger files are not read. In bytes.
const MAX_FILE_SIZE: usize = 1 << 20;

/// A file that defines tasks.
pub(super) enum TaskDefinitions {
    /// A Makefile.
    Make(Makefile),
    /// A justfile.
    Just(Justfile),
    /// A `package.json`, or a file like it.
    Json(serde_json::Value),
    /// A Taskfile.
    Yaml(serde_json::Value),
    /// A TOML file with a table of tasks.
    Toml(toml::Table),
    /// The configuration of cargo.
    Cargo(toml::Table),
    /// A Rakefile.
    Rake(String),
}

impl TaskDefinitions {
    /// Reads a file, or returns `None` if it cannot be followed. `given`: the variables of the command line.
    pub(super) fn read(source: &TaskSource<'_>, flipped: Option<usize>) -> Option<Self> {
        let TaskSource { format, text, files, given } = source;
        if text.len() > MAX_FILE_SIZE {
            return None;
        }
        Some(match format {
            Format::Opaque => return None,
            Format::JsonScripts => Self::Json(serde_json::from_str(text).ok()?),
            Format::Makefile => Self::Make(Makefile::read(text, *files, given, flipped)),
            Format::Justfile => Self::Just(Justfile::read(text, *files)),
            Format::Taskfile => Self::Yaml(plain_yaml::read(text)?),
            Format::TomlTasks => Self::Toml(toml::from_str(text).ok()?),
            Format::CargoAlias => Self::Cargo(toml::from_str(text).ok()?),
            Format::Rakefile => Self::Rake((*text).to_owned()),
        })
    }

    /// Returns the task that runs if none is named, if the file says it.
    pub(super) fn default_task(&self, rules: &TaskRules) -> Option<String> {
        let first_runs = rules.default_task.as_deref() == Some("");
        match self {
            Self::Make(make) if first_runs => make.default_target(),
            Self::Just(just) if first_runs => just.default_target(),
            _ => None,
        }
    }

    /// Returns `true` if the file has no task of this name, in any form.
    pub(super) fn lacks(&self, name: &str) -> bool {
        self.task(name).is_none()
    }

    fn task(&self, name: &str) -> Option<Task> {
        match self {
            Self::Make(make) if name.is_empty() => make.task(&make.default_target()?),
            Self::Make(make) => make.task(name),
            Self::Just(just) if name.is_empty() => just.task(&just.default_target()?),
            Self::Just(just) => just.task(name),
            Self::Json(file) => json(file, name),
            Self::Yaml(file) => taskfile::task(file, name),
            Self::Toml(file) => toml_task(file, name),
            Self::Cargo(file) => cargo_alias(file, name),
            Self::Rake(text) => {
                let lines = rakefile::prerequisites(text, name)?.into_iter().map(|task| format!("rake {task}"));
                Some(Task { steps: lines.map(TaskStep::Line).collect(), ..Task::default() })
            }
        }
    }

    /// Returns the task that one stands for: it has no step of its own and depends on nothing else.
    pub(super) fn stands_for(&self, name: &str) -> Option<String> {
        let Self::Make(make) = self else { return None };
        let default = make.default_target().filter(|_| name.is_empty());
        let name = default.as_deref().unwrap_or(name);
        let mut found: Vec<String> = Vec::new();
        while let Some(next) = make.only_prerequisite(found.last().map_or(name, String::as_str))
            && found.len() < MAX_ALIASES
            && next != name
            && !found.contains(&next)
        {
            found.push(next);
        }
        found.pop()
    }

    /// Returns what the task `name` runs, or `None` if the file does not define it, or not in a way that can be followed.
    pub(super) fn script(&self, name: &str) -> Option<TaskScript> {
        let mut gathered = Gathered::default();
        gather(self, name, &mut BTreeSet::new(), &mut gathered)?;
        // A recipe that only prints, or that is empty, runs what `:` runs.
        let is_rule = gathered.prints || matches!(self, Self::Make(_));
        if gathered.script.lines.is_empty() && is_rule && !gathered.needs_files {
            gathered.script.push(":", false);
        }
        let is_followed = (1..=MAX_SCRIPT_LINES).contains(&gathered.script.lines.len());
        (is_followed || gathered.script.doubt.is_some()).then_some(gathered.script)
    }

    /// Returns the other scripts that a task may have, because something outside of the file decides.
    pub(super) fn variants(&self, name: &str, source: &TaskSource<'_>) -> Vec<TaskScript> {
        let Self::Make(make) = self else { return Vec::new() };
        let known = self.script(name);
        let number = make.open_questions.min(MAX_VARIANT_LINES / make.lines.max(1)).min(MAX_VARIANTS);
        let scripts = (0..number).filter_map(|flipped| {
            // Without a rule, make fails.
            Self::read(source, Some(flipped))?.script(name).filter(|other| Some(other) != known.as_ref())
        });
        scripts.collect()
    }
}

/// The text of a file that defines tasks, and what it is read with.
pub(super) struct TaskSource<'a> {
    pub(super) format: Format,
    pub(super) text: &'a str,
    /// The files as the task sees them.
    pub(super) files: &'a dyn ProjectFiles,
    /// The variables of the command line.
    pub(super) given: &'a [(String, String)],
}

/// Returns `true` if the lines of a task run one after the other, and none after one that failed.
pub(super) fn keeps_order(format: Format, text: &str) -> bool {
    let other: &[&str] = match format {
        Format::JsonScripts => &[],
        Format::Makefile => &[".ONESHELL", ".IGNORE"],
        // A dependency behind `&&` runs after the recipe, and a script of its own decides itself when it stops.
        Format::Justfile => &["[parallel]", "&&", "#!"],
        _ => return false,
    };
    !other.iter().any(|word| text.contains(word))
}

/// Returns the names of the tasks that a name stands for, in the order of the file: with npm-run-all `*` stands for a part
/// of a name between colons, and `**` for several. Before the name may stand the runner of the task (`npm:lint`).
pub(super) fn matching(format: Format, text: &str, name: &str) -> Vec<String> {
    let name = name.strip_prefix("npm:").filter(|_| format == Format::JsonScripts).unwrap_or(name);
    if format != Format::JsonScripts || !name.contains('*') {
        return vec![name.to_owned()];
    }
    let file: Option<serde_json::Value> = serde_json::from_str(text).ok();
    let scripts = file.as_ref().and_then(|file| file.get("scripts")).and_then(serde_json::Value::as_object);
    let glob =
        GlobBuilder::new(&name.replace(':', "/")).literal_separator(true).build().map(|glob| glob.compile_matcher());
    let fits = |script: &&String| glob.as_ref().is_ok_and(|glob| glob.is_match(script.replace(':', "/")));
    scripts.into_iter().flat_map(|scripts| scripts.keys()).filter(fits).cloned().collect()
}

/// The lines of a task and of its dependencies.
#[derive(Debug, Default)]
struct Gathered {
    script: TaskScript,
    prints: bool,
    needs_files: bool,
}

/// Returns `true` if a line only prints a text that it holds.
fn only_prints(line: &str) -> bool {
    let mut quote = None;
    let is_plain = |c: char| match (quote, c) {
        (None, '\'' | '"') => {
            quote = Some(c);
            true
        }
        (Some(open), _) if open == c => {
            quote = None;
            true
        }
        (Some('\''), _) => true,
        (_, '$' | '`' | '\\') | (None, '|' | ';' | '&' | '>' | '<' | '\n') => false,
        _ => true,
    };
    matches!(line.split_whitespace().next(), Some("echo" | "printf")) && line.chars().all(is_plain)
}

/// Appends the lines of a task, its dependencies first, each task once.
fn gather(file: &TaskDefinitions, name: &str, seen: &mut BTreeSet<String>, gathered: &mut Gathered) -> Option<()> {
    if seen.len() >= MAX_TASKS {
        return None;
    }
    if !seen.insert(name.to_owned()) {
        return Some(());
    }
    let task = file.task(name)?;
    gathered.needs_files |= task.needs_files;
    for depends in &task.depends {
        gather(file, depends, seen, gathered)?;
    }
    let doubt = &mut gathered.script.doubt;
    *doubt = doubt.take().or(task.doubt);
    for step in task.steps {
        match step {
            TaskStep::Line(line) | TaskStep::Ignored(line) if only_prints(&line) => gathered.prints = true,
            TaskStep::Line(line) => gathered.script.push(&line, false),
            TaskStep::Ignored(line) => gathered.script.push(&line, true),
            TaskStep::Task(name) => gather(file, &name, seen, gathered)?,
        }
    }
    Some(())
}

/// Reads a task from `scripts` of package.json and composer.json, or `tasks` of deno.json. In composer's lists, `@name`
/// is a script.
fn json(file: &serde_json::Value, name: &str) -> Option<Task> {
    let entry = file.get("scripts").or_else(|| file.get("tasks"))?.get(name)?;
    let entry = entry.get("command").unwrap_or(entry);
    let steps = match entry {
        serde_json::Value::String(line) => vec![json_step(line)],
        serde_json::Value::Array(lines) => {
            lines.iter().map(|line| line.as_str().map(json_step)).collect::<Option<_>>()?
        }
        _ => return None,
    };
    Some(Task { steps, ..Task::default() })
}

fn json_step(line: &str) -> TaskStep {
    match line.strip_prefix('@') {
        Some(name) if !name.contains(' ') => TaskStep::Task(name.to_owned()),
        _ => TaskStep::Line(line.to_owned()),
    }
}

/// The tables of tasks in TOML files: mise; poe, taskipy, pdm, hatch in pyproject.toml; pixi.
const TOML_TABLES: &[&[&str]] = &[
    &["tasks"],
    &["tool", "poe", "tasks"],
    &["tool", "taskipy", "tasks"],
    &["tool", "pdm", "scripts"],
    &["tool", "hatch", "envs", "default", "scripts"],
    &["tool", "pixi", "tasks"],
];

fn toml_task(file: &toml::Table, name: &str) -> Option<Task> {
    let tables = TOML_TABLES.iter().filter_map(|path| {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(file.get(*first)?, |value, key| value.get(*key))?.as_table()
    });
    let mut found = tables.filter_map(|table| Some((table, table.get(name)?)));
    let (table, entry) = found.next()?;
    let strings = |value: &toml::Value| -> Option<Vec<String>> {
        match value {
            toml::Value::String(line) => Some(vec![line.clone()]),
            toml::Value::Array(lines) => lines.iter().map(|line| Some(line.as_str()?.to_owned())).collect(),
            _ => None,
        }
    };
    // In a list of poe's, a word that is a task is that task.
    let step = |line: String| {
        if table.contains_key(&line) { TaskStep::Task(line) } else { TaskStep::Line(without_arguments(&line)) }
    };
    let toml::Value::Table(entry) = entry else {
        return Some(Task { steps: strings(entry)?.into_iter().map(step).collect(), ..Task::default() });
    };
    let depends = ["depends", "deps", "depends-on"].iter().find_map(|key| entry.get(*key)).and_then(strings);
    let run = ["run", "cmd", "shell", "sequence", "composite"].iter().find_map(|key| entry.get(*key));
    let steps = match run {
        Some(run) => strings(run)?.into_iter().map(step).collect(),
        None => Vec::new(),
    };
    let is_ignored = |key: &&str| {
        entry.get(*key).is_some_and(|value| value.as_bool() == Some(true) || value.as_str() == Some("return_zero"))
    };
    let ignored = ["ignore_fail", "ignore_errors"].iter().find(|key| is_ignored(key));
    let doubt = ignored.map(|key| format!("with `{key}` the task `{name}` succeeds although a part of it failed"));
    Some(Task { depends: depends.unwrap_or_default(), steps, doubt, ..Task::default() })
}

/// Returns a line of hatch as it is without arguments: `pytest {args:tests}` is `pytest tests`.
fn without_arguments(line: &str) -> String {
    let Some((before, rest)) = line.split_once("{args") else { return line.to_owned() };
    let Some((inner, after)) = rest.split_once('}') else { return line.to_owned() };
    format!("{before}{}{}", inner.trim_start_matches(':'), without_arguments(after))
}

fn cargo_alias(file: &toml::Table, name: &str) -> Option<Task> {
    let words = match file.get("alias")?.get(name)? {
        toml::Value::String(line) => line.clone(),
        toml::Value::Array(words) => words.iter().map(toml::Value::as_str).collect::<Option<Vec<_>>>()?.join(" "),
        _ => return None,
    };
    Some(Task { steps: vec![TaskStep::Line(format!("cargo {words}"))], ..Task::default() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn script(format: Format, text: &str, name: &str) -> Option<Vec<String>> {
        let source = TaskSource { format, text, files: &(), given: &[] };
        TaskDefinitions::read(&source, None)?.script(name).map(|script| script.lines)
    }

    #[test]
    fn a_line_that_only_prints_is_left_out() {
        for (line, expected) in [
            ("echo hi", true),
            ("echo \"==> Running tests\"", true),
            ("echo '$(x) > y; z'", true),
            ("printf '%s\n' a", true),
            ("echo \"$(pytest)\"", false),
            ("echo a > b", false),
            ("echo \"a\" | sh", false),
            ("echo a; pytest", false),
            ("pytest", false),
        ] {
            assert_eq!(only_prints(line), expected, "{line}");
        }
        let text = "version: '3'\ntasks:\n  test:\n    cmds:\n      - echo '=> hi'\n      - go test ./...\n";
        assert_eq!(script(Format::Taskfile, text, "test"), Some(vec!["go test ./...".to_owned()]));
    }

    #[test]
    fn what_a_task_runs() {
        let make = "V = 1\nGO ?= go\n.PHONY: all test\nall: build test ## help\nbuild:\n\t@$(GO) build ./... \\\n\t  -v\n\
                    test: build fixtures.txt\n\t-rm -f x\n\t@echo testing\n\t${GO} test ./...\n%.o: %.c\n\tcc $<\n";
        let just = "set shell := ['bash']\nflags := '--workspace'\n\ndefault: test\n\ntest *args: (build)\n  cargo test {{flags}}\n\
                    build:\n    cargo build\n";
        let task = "version: '3'\nvars:\n  A: b\ntasks:\n  default:\n    deps: [lint]\n    cmds:\n      - task: test\n  lint: golint\n  \
                    test:\n    desc: x\n    cmds:\n      - 'go test ./...'\n      - cmd: go vet ./...\n        silent: true\n";
        let hatch = "[tool.hatch.envs.default.scripts]\ntest = 'pytest {args:tests} -q{args}'\n";
        let mise = "[tools]\ngo = '1'\n[tasks]\na = 'go vet'\n[tasks.'test:ci']\ndescription = 'x'\nrun = ['go test', 'go vet']\n";
        for (format, text, name, expected) in [
            (Format::JsonScripts, r#"{"scripts":{"test":"jest"}}"#, "test", Some(vec!["jest"])),
            (Format::JsonScripts, r#"{"scripts":{"a":["@b","c"],"b":"d"}}"#, "a", Some(vec!["d", "c"])),
            (Format::JsonScripts, r#"{"tasks":{"t":{"command":"deno test"}}}"#, "t", Some(vec!["deno test"])),
            (Format::JsonScripts, r#"{"scripts":{"a":["@a"]}}"#, "a", None),
            (Format::JsonScripts, "{}", "test", None),
            (Format::JsonScripts, "no json", "test", None),
            (Format::Makefile, make, "build", Some(vec!["go build ./...    -v"])),
            (Format::Makefile, make, "test", Some(vec!["go build ./...    -v", "rm -f x || true", "go test ./..."])),
            (Format::Makefile, make, "", Some(vec!["go build ./...    -v", "rm -f x || true", "go test ./..."])),
            (Format::Makefile, make, "nope", None),
            (Format::Makefile, "a:\n\t-@x\n\t@-y\n\t- @ z\n", "a", Some(vec!["x || true", "y || true", "z || true"])),
            (Format::Makefile, "a:\n\t@$(MAKE) -i b\n", "a", Some(vec!["make -i b"])),
            (Format::Makefile, "a: b\nb: a\n\tx\n", "a", Some(vec!["x"])),
            (Format::Justfile, just, "build", Some(vec!["cargo build"])),
            (Format::Justfile, just, "test", Some(vec!["cargo build", "cargo test --workspace"])),
            (Format::Justfile, just, "", Some(vec!["cargo build", "cargo test --workspace"])),
            (Format::Taskfile, task, "test", Some(vec!["go test ./...", "go vet ./..."])),
            (Format::Taskfile, task, "default", Some(vec!["golint", "go test ./...", "go vet ./..."])),
            (Format::Taskfile, "tasks:\n  a:\n    cmds:\n      - |\n        x\n", "a", Some(vec!["x"])),
            (Format::TomlTasks, mise, "a", Some(vec!["go vet"])),
            (Format::TomlTasks, hatch, "test", Some(vec!["pytest tests -q"])),
            (Format::TomlTasks, mise, "test:ci", Some(vec!["go test", "go vet"])),
            (Format::CargoAlias, "[alias]\nt2 = ['test', '-q']\n", "t2", Some(vec!["cargo test -q"])),
            (Format::Opaque, "x", "x", None),
        ] {
            let expected = expected.map(|lines| lines.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(script(format, text, name), expected, "{name} in {text}");
        }
    }

    proptest! {
        #[test]
        fn no_file_makes_it_panic(text in "([a-c]|:|=|\n|\t|  |- |\\$\\(a\\)|tasks:|cmds:|deps:|\\[|\\]|'|\"|é){0,60}", name in "[a-c]?") {
            for format in [Format::JsonScripts, Format::Makefile, Format::Justfile, Format::Taskfile, Format::TomlTasks, Format::CargoAlias] {
                let _ = script(format, &text, &name);
            }
        }
    }
}
