//! The variables of the environment that the tasks of a project use: `pytest $(ARGS)` in a Makefile.

use crate::runner::{Project, resolve};
use crate::shell::expanded_program::Leaf;

use super::command_table::table;
use super::coverage::only_prepares;
use super::understanding::{CHECKS, understand};

/// The largest depth of tasks that call tasks.
const MAX_DEPTH: usize = 4;

/// Returns `true` if a task that a command starts uses this variable in a check, and its value is not known to change nothing.
pub(super) fn uses(leaf: &Leaf, project: Project<'_>, name: &str, value: &str) -> bool {
    let is_used = |name: &str, value: &str, is_argument: bool| {
        let environment = &table().environment;
        let is_usual = environment.usual.iter().chain(&environment.alike).any(|usual| usual == name)
            || ["XDG_", "LC_", "npm_"].iter().any(|start| name.starts_with(start));
        // The files of another folder are not known here.
        leaf.directory.is_none()
            && !value.is_empty()
            && !is_usual
            && !environment.is_indifferent(name, value)
            && TaskVariable { name, value, is_argument }.is_used(&leaf.words(), project, 0)
    };
    if ["MAKEFLAGS", "GNUMAKEFLAGS"].contains(&name) {
        let given = value.split_whitespace().filter(|word| !word.starts_with('-'));
        return given.filter_map(|word| word.split_once('=')).any(|(name, value)| is_used(name, value, true));
    }
    is_used(name, value, false)
}

/// A variable of the environment.
#[derive(Clone, Copy)]
struct TaskVariable<'a> {
    name: &'a str,
    value: &'a str,
    /// `true` if make takes it for one of its own arguments, which are stronger than a Makefile.
    is_argument: bool,
}

impl TaskVariable<'_> {
    /// Returns `true` if a check of the tasks that `words` start has another line with this variable.
    fn is_used(self, words: &[Option<String>], project: Project<'_>, depth: usize) -> bool {
        let plain = lines(words, project);
        let in_line = |line: &String| {
            refers_to(line, self.name) && may_check(&self.as_in_shell(line), project)
                || depth < MAX_DEPTH && self.is_used_in_line(line, project, depth)
        };
        if plain.iter().any(in_line) {
            return true;
        }
        // What a Makefile sets itself is stronger than the environment, unless it says `?=`.
        let program = words.first().and_then(Option::as_deref).unwrap_or_default();
        program.ends_with("make") && (self.is_argument || !self.is_fixed(project)) && {
            let given = format!("{}={}", self.name, self.value);
            let given: Vec<Option<String>> = words.iter().cloned().chain([Some(given)]).collect();
            let checks = |all: Vec<String>| -> Vec<String> {
                all.into_iter().filter(|line| may_check(&self.as_in_shell(line), project)).collect()
            };
            checks(plain) != checks(lines(&given, project))
        }
    }

    /// Returns a line of make with the variable as a shell writes it, which would take `$(NAME)` for a command.
    fn as_in_shell(self, line: &str) -> String {
        line.replace(&format!("$({})", self.name), &format!("${{{}}}", self.name))
    }

    /// Returns `true` if a task that a line calls uses it.
    fn is_used_in_line(self, line: &str, project: Project<'_>, depth: usize) -> bool {
        let Ok(understood) = understand(line, project) else { return false };
        understood.steps().any(|(leaf, _)| self.is_used(&leaf.words(), project, depth + 1))
    }

    /// Returns `true` if the Makefile assigns a value that the environment does not replace.
    fn is_fixed(self, project: Project<'_>) -> bool {
        let names = ["GNUmakefile", "makefile", "Makefile"];
        let text = names.iter().find_map(|file| project.files.read(file)).unwrap_or_default();
        text.lines().any(|line| {
            let line = line.trim_start().trim_start_matches("export ").trim_start_matches("override ");
            let rest = line.strip_prefix(self.name).map(str::trim_start);
            rest.is_some_and(|rest| rest.starts_with('=') || rest.starts_with(":=") || rest.starts_with("::="))
        })
    }
}

/// Returns the lines of the tasks that a command starts.
fn lines(words: &[Option<String>], project: Project<'_>) -> Vec<String> {
    let tasks = resolve(project.runners, words, project.files);
    tasks.into_iter().flat_map(|task| task.script.unwrap_or_default()).collect()
}

/// Returns `true` unless each program of a line is known and checks nothing.
fn may_check(line: &str, project: Project<'_>) -> bool {
    let Ok(understood) = understand(line, project) else { return true };
    understood.steps().any(|(leaf, purpose)| {
        let is_open = leaf.name().is_none() || purpose.is_unknown;
        is_open && !only_prepares(leaf, purpose) || CHECKS.iter().any(|kind| purpose.is(*kind))
    })
}

/// Returns `true` if a line of a script has `$NAME`, `${NAME…}` or `$(NAME)`.
fn refers_to(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], line[at + name.len()..].chars().next());
        let is_whole = !after.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        is_whole && (before.ends_with('$') || before.ends_with("${") || before.ends_with("$("))
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
                    image:\n\tdocker build -t $(VERSION) .\ndeps:\n\techo $(WHO)\n\tpytest\nouter:\n\t$(MAKE) test\n";
        let package = r#"{"scripts":{"test":"mocha $MOCHA_ARGS --reporter=${REPORTER:-dot}"}}"#;
        let files = TaskFiles(BTreeMap::from([("Makefile", make), ("package.json", package)]));
        for (line, name, value, expected) in [
            ("make test", "ARGS", "-k add", Some("ARGS")),
            ("make test", "MORE", "-k add", Some("MORE")),
            ("make test", "PYTHON", "echo 5 passed #", Some("PYTHON")),
            ("make test", "MAKEFLAGS", "-j2 -- ARGS=-kadd", Some("MAKEFLAGS")),
            ("make test", "MAKEFLAGS", "-j2 -- V=1", None),
            ("make test", "MAKEFLAGS", "ARGS=-kadd", Some("MAKEFLAGS")),
            ("make test", "GNUMAKEFLAGS", "-s ARGS=-kadd", Some("GNUMAKEFLAGS")),
            ("make test", "FIXED", "-k add", None),
            ("make test", "VERSION", "2", None),
            ("make deps", "WHO", "me", None),
            ("make outer", "ARGS", "-k add", Some("ARGS")),
            ("make -C sub test", "ARGS", "-k add", None),
            ("npm test", "npm_package_version", "1", None),
            ("npm test", "INIT_CWD", "/x", None),
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
