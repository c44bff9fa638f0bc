//! The variables of the environment that the tasks of a project use: `pytest $(ARGS)` in a Makefile.

use crate::runner::{Project, TaskRun, resolve};
use crate::shell::expanded_program::Leaf;

use super::command_table::table;

/// Returns `true` if a task that a command starts uses this variable, and its value is not known to change nothing.
pub(super) fn uses(leaf: &Leaf, project: Project<'_>, name: &str, value: &str) -> bool {
    let environment = &table().environment;
    let is_usual = |name: &str| {
        let known = environment.usual.iter().chain(&environment.alike).any(|usual| usual == name);
        known || name.starts_with("XDG_") || name.starts_with("LC_")
    };
    if name == "MAKEFLAGS" {
        let given = value.split_once("-- ").map(|(_, given)| given.split_whitespace()).into_iter().flatten();
        return given.filter_map(|word| word.split_once('=')).any(|(name, value)| uses(leaf, project, name, value));
    }
    if value.is_empty() || is_usual(name) || environment.is_indifferent(name, value) {
        return false;
    }
    let words = leaf.words();
    let tasks = resolve(project.runners, &words, project.files);
    let lines = |tasks: &[TaskRun]| tasks.iter().flat_map(|task| task.script.clone().unwrap_or_default()).collect();
    let plain: Vec<String> = lines(&tasks);
    if plain.iter().any(|line| refers_to(line, name)) {
        return true;
    }
    // What a Makefile sets itself is stronger than the environment, unless it says `?=`.
    let is_make = leaf.name().is_some_and(|program| program.ends_with("make"));
    is_make && !is_fixed(project, name) && {
        let given: Vec<Option<String>> = words.into_iter().chain([Some(format!("{name}={value}"))]).collect();
        lines(&resolve(project.runners, &given, project.files)) != plain
    }
}

/// Returns `true` if a line of a script has `$NAME`, `${NAME…}` or `$(NAME)`.
fn refers_to(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], line[at + name.len()..].chars().next());
        let is_whole = !after.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        is_whole && (before.ends_with('$') || before.ends_with("${") || before.ends_with("$("))
    })
}

/// Returns `true` if the Makefile assigns a value that the environment does not replace.
fn is_fixed(project: Project<'_>, name: &str) -> bool {
    let text = ["GNUmakefile", "makefile", "Makefile"].iter().find_map(|file| project.files.read(file));
    text.unwrap_or_default().lines().any(|line| {
        let line = line.trim_start().trim_start_matches("export ").trim_start_matches("override ");
        let rest = line.strip_prefix(name).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with('=') || rest.starts_with(":=") || rest.starts_with("::="))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::command_line::coverage::tests::TaskFiles;
    use crate::command_line::inherited;
    use crate::runner::Project;

    #[test]
    fn a_variable_that_a_task_uses_changes_it() {
        let make = "ARGS ?=\nFIXED = -v\nPYTHON ?= python3\nVERSION ?= 1\ntest:\n\t$(PYTHON) -m pytest $(ARGS) $(FIXED) $(MORE)\n\
                    image:\n\tdocker build -t $(VERSION) .\n";
        let package = r#"{"scripts":{"test":"mocha $MOCHA_ARGS --reporter=${REPORTER:-dot}"}}"#;
        let files = TaskFiles(BTreeMap::from([("Makefile", make), ("package.json", package)]));
        for (line, name, value, expected) in [
            ("make test", "ARGS", "-k add", Some("ARGS")),
            ("make test", "MORE", "-k add", Some("MORE")),
            ("make test", "PYTHON", "echo 5 passed #", Some("PYTHON")),
            ("make test", "MAKEFLAGS", "-j2 -- ARGS=-kadd", Some("MAKEFLAGS")),
            ("make test", "MAKEFLAGS", "-j2 -- V=1", None),
            ("make test", "FIXED", "-k add", None),
            ("make test", "VERSION", "2", None),
            ("make test", "HOME", "/home/me", None),
            ("make test", "ARGS", "", None),
            ("make test ARGS=-v", "ARGS", "-k add", None),
            ("npm test", "MOCHA_ARGS", "--grep add", Some("MOCHA_ARGS")),
            ("npm test", "REPORTER", "min", Some("REPORTER")),
            ("npm test", "MOCHA", "--grep add", None),
        ] {
            let found = inherited(line, Project::without_runners(&files), &[(name.to_owned(), value.to_owned())]);
            let expected =
                expected.map(|name| format!("the environment of the run selects only a part of the tests ({name})"));
            assert_eq!(found, expected, "{name}={value} {line}");
        }
    }
}
