//! Reads files in which projects define tasks, just far enough to find the commands of one task.

use std::collections::BTreeSet;

use globset::GlobBuilder;

use super::make_rules::MakeRules;
use super::rakefile;
use super::task_definition::{Task, TaskStep};
use crate::runner::task::{Format, TaskRules};

/// The largest number of tasks that a task may run, including indirect ones.
const MAX_TASKS: usize = 64;

/// Larger files are not read. In bytes.
const MAX_FILE_SIZE: usize = 1 << 20;

/// Returns the task that runs if none is named, if the text of a file says it.
pub(super) fn default_task(rules: &TaskRules, text: &str) -> Option<String> {
    let first_runs = rules.default_task.as_deref() == Some("");
    let of_rules = matches!(rules.format, Format::Makefile | Format::Justfile);
    if !first_runs || !of_rules || text.len() > MAX_FILE_SIZE {
        return None;
    }
    MakeRules::new(text, rules.format).default_target().map(str::to_owned)
}

/// Returns a Makefile in which each `include` of a literal file name is replaced by the text of that file. An optional
/// include (`-include`) of a missing file is replaced by nothing.
pub(super) fn with_included(format: Format, text: String, read: impl Fn(&str) -> Option<String>) -> String {
    let included = |line: &str| -> Option<String> {
        let (optional, path) = match line.split_once(' ')? {
            ("include", path) => (false, path.trim()),
            ("-include" | "sinclude", path) => (true, path.trim()),
            _ => return None,
        };
        let is_plain = !path.is_empty() && !path.contains(['$', '*', '?', '[', ' ', '#']) && !path.starts_with('/');
        let found = read(path).filter(|text| text.len() <= MAX_FILE_SIZE);
        if is_plain { found.or_else(|| optional.then(String::new)) } else { None }
    };
    if format != Format::Makefile || !text.contains("include ") {
        return text;
    }
    let lines = text.lines().map(|line| included(line).unwrap_or_else(|| line.to_owned()));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the shell lines that the task `name` runs, those of the tasks it depends on first, or `None` if the file
/// does not define it, or not in a way that can be followed.
pub(super) fn script(format: Format, text: &str, name: &str) -> Option<Vec<String>> {
    if text.len() > MAX_FILE_SIZE {
        return None;
    }
    let find: Find<'_> = match format {
        Format::Opaque => return None,
        Format::JsonScripts => {
            let file: serde_json::Value = serde_json::from_str(text).ok()?;
            Box::new(move |name| json(&file, name))
        }
        Format::Makefile | Format::Justfile => {
            let rules = MakeRules::new(text, format);
            Box::new(move |name| rules.rule(if name.is_empty() { rules.default_target()? } else { name }))
        }
        Format::Taskfile => Box::new(|name| taskfile(text, name)),
        Format::TomlTasks => {
            let file: toml::Table = toml::from_str(text).ok()?;
            Box::new(move |name| toml_task(&file, name))
        }
        Format::CargoAlias => {
            let file: toml::Table = toml::from_str(text).ok()?;
            Box::new(move |name| cargo_alias(&file, name))
        }
        Format::Rakefile => Box::new(|name| {
            let lines = rakefile::prerequisites(text, name)?.into_iter().map(|task| format!("rake {task}"));
            Some(Task { steps: lines.map(TaskStep::Line).collect(), ..Task::default() })
        }),
    };
    let mut gathered = Gathered::default();
    gather(&*find, name, &mut BTreeSet::new(), &mut gathered)?;
    // A recipe that only prints runs what `:` runs.
    let empty = gathered.lines.is_empty() && gathered.prints && !gathered.needs_files;
    gathered.lines.extend(empty.then(|| ":".to_owned()));
    (!gathered.lines.is_empty()).then_some(gathered.lines)
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

/// Looks a task up by its name.
type Find<'a> = Box<dyn Fn(&str) -> Option<Task> + 'a>;

/// The lines of a task and of its dependencies.
#[derive(Debug, Default)]
struct Gathered {
    lines: Vec<String>,
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
fn gather(
    find: &dyn Fn(&str) -> Option<Task>,
    name: &str,
    seen: &mut BTreeSet<String>,
    gathered: &mut Gathered,
) -> Option<()> {
    if seen.len() >= MAX_TASKS {
        return None;
    }
    if !seen.insert(name.to_owned()) {
        return Some(());
    }
    let task = find(name)?;
    gathered.needs_files |= task.needs_files;
    for depends in &task.depends {
        gather(find, depends, seen, gathered)?;
    }
    for step in task.steps {
        match step {
            TaskStep::Line(line) if only_prints(&line) => gathered.prints = true,
            TaskStep::Line(line) => gathered.lines.push(line),
            TaskStep::Task(name) => gather(find, &name, seen, gathered)?,
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

/// Reads a task of a Taskfile: `tasks:`, below it the names, below those `cmds:` with items, `cmd:`, `deps:`. Only the
/// plain style is read; an item that is a table is followed if it calls a task.
fn taskfile(text: &str, name: &str) -> Option<Task> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    lines.find(|line| line.trim_end() == "tasks:")?;
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut task: Option<Task> = None;
    let (mut level, mut inside, mut list) = (None, false, "");
    for line in lines {
        let depth = indent(line);
        if depth == 0 {
            break;
        }
        let level = *level.get_or_insert(depth);
        let content = line.trim();
        if depth == level {
            let (key, rest) = key_of(content)?;
            inside = key == name;
            if inside {
                let steps = if rest.is_empty() { Vec::new() } else { inline_list(rest).map(TaskStep::Line).collect() };
                task = Some(Task { steps, ..Task::default() });
            }
            continue;
        }
        let Some(task) = task.as_mut().filter(|_| inside) else { continue };
        match content.strip_prefix("- ").map(str::trim) {
            Some(item) => match (list, item.strip_prefix("task:"), item.strip_prefix("cmd:")) {
                ("deps", Some(name), _) => task.depends.push(scalar(name)),
                ("deps", None, _) => task.depends.push(scalar(item)),
                ("cmds", Some(name), _) => task.steps.push(TaskStep::Task(scalar(name))),
                ("cmds", None, Some(line)) => task.steps.push(TaskStep::Line(scalar(line))),
                ("cmds", None, None) if item.starts_with(['|', '>', '{']) => return None,
                ("cmds", None, None) => task.steps.push(TaskStep::Line(scalar(item))),
                _ => {}
            },
            None => match key_of(content) {
                Some(("cmds", "")) => list = "cmds",
                Some(("deps", "")) => list = "deps",
                Some(("cmds" | "cmd", rest)) if rest.starts_with(['|', '>']) => return None,
                Some(("cmds" | "cmd", rest)) => task.steps.extend(inline_list(rest).map(TaskStep::Line)),
                Some(("deps", rest)) => task.depends.extend(inline_list(rest)),
                // What goes with an item of a list, or a key that runs nothing.
                _ if depth > level + 2 => {}
                _ => list = "",
            },
        }
    }
    task
}

fn key_of(content: &str) -> Option<(&str, &str)> {
    let (key, rest) = content.split_once(": ").or_else(|| Some((content.strip_suffix(':')?, "")))?;
    Some((key.trim().trim_matches(['"', '\'']), rest.trim()))
}

fn inline_list(text: &str) -> impl Iterator<Item = String> {
    let (list, items) = match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        Some(items) => (true, items),
        None => (false, text),
    };
    let parts: Vec<&str> = if list { items.split(',').collect() } else { vec![items] };
    parts.into_iter().map(scalar).filter(|item| !item.is_empty()).collect::<Vec<_>>().into_iter()
}

fn scalar(text: &str) -> String {
    let text = text.trim();
    let quoted = |quote| text.len() > 1 && text.starts_with(quote) && text.ends_with(quote);
    if quoted('"') || quoted('\'') { text[1..text.len() - 1].to_owned() } else { text.to_owned() }
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
    let step = |line: String| if table.contains_key(&line) { TaskStep::Task(line) } else { TaskStep::Line(line) };
    let toml::Value::Table(entry) = entry else {
        return Some(Task { steps: strings(entry)?.into_iter().map(step).collect(), ..Task::default() });
    };
    let depends = ["depends", "deps", "depends-on"].iter().find_map(|key| entry.get(*key)).and_then(strings);
    let run = ["run", "cmd", "shell", "sequence", "composite"].iter().find_map(|key| entry.get(*key));
    let steps = match run {
        Some(run) => strings(run)?.into_iter().map(step).collect(),
        None => Vec::new(),
    };
    Some(Task { depends: depends.unwrap_or_default(), steps, ..Task::default() })
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
        let mise = "[tools]\ngo = '1'\n[tasks]\na = 'go vet'\n[tasks.'test:ci']\ndescription = 'x'\nrun = ['go test', 'go vet']\n";
        for (format, text, name, expected) in [
            (Format::JsonScripts, r#"{"scripts":{"test":"jest"}}"#, "test", Some(vec!["jest"])),
            (Format::JsonScripts, r#"{"scripts":{"a":["@b","c"],"b":"d"}}"#, "a", Some(vec!["d", "c"])),
            (Format::JsonScripts, r#"{"tasks":{"t":{"command":"deno test"}}}"#, "t", Some(vec!["deno test"])),
            (Format::JsonScripts, r#"{"scripts":{"a":["@a"]}}"#, "a", None),
            (Format::JsonScripts, "{}", "test", None),
            (Format::JsonScripts, "no json", "test", None),
            (Format::Makefile, make, "build", Some(vec!["go build ./...  \t  -v"])),
            (Format::Makefile, make, "test", Some(vec!["go build ./...  \t  -v", "rm -f x || true", "go test ./..."])),
            (Format::Makefile, make, "", Some(vec!["go build ./...  \t  -v", "rm -f x || true", "go test ./..."])),
            (Format::Makefile, make, "nope", None),
            (Format::Makefile, "a:\n\t-@x\n\t@-y\n\t- @ z\n", "a", Some(vec!["x || true", "y || true", "z || true"])),
            (Format::Makefile, "a:\n\t@$(MAKE) -i b\n", "a", Some(vec!["make -i b"])),
            (Format::Makefile, "a: b\nb: a\n\tx\n", "a", Some(vec!["x"])),
            (Format::Justfile, just, "build", Some(vec!["cargo build"])),
            (Format::Justfile, just, "test", Some(vec!["cargo build", "cargo test --workspace"])),
            (Format::Justfile, just, "", Some(vec!["cargo build", "cargo test --workspace"])),
            (Format::Taskfile, task, "test", Some(vec!["go test ./...", "go vet ./..."])),
            (Format::Taskfile, task, "default", Some(vec!["golint", "go test ./...", "go vet ./..."])),
            (Format::Taskfile, "tasks:\n  a:\n    cmds:\n      - |\n        x\n", "a", None),
            (Format::TomlTasks, mise, "a", Some(vec!["go vet"])),
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
