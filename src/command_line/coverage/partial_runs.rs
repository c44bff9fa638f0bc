//! Lines that run tests of a declared command, and may leave others out.

use super::ObservedLine;
use super::required_checks::{CheckSubject, RequestedCheck, asked_of_leaf, asked_of_line, only_prepares};
use super::start_directory::{DirectoryView, StartDirectory};
use crate::command_line::understand;
use crate::event::CommandRef;
use crate::policy::Command;
use crate::runner::{Catalogue, CommandKind, Project};
use crate::shell::expanded_program::Leaf;

/// Programs that print nothing about tests themselves.
const QUIET: [&str; 6] = ["cd", "export", "source", ".", "set", "tee"];
/// Programs that print a part of what they read: of a file, that may be the names of other tests.
const FILTERS: [&str; 2] = ["tail", "head"];

/// The declared commands of which a line ran a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartlyRun {
    /// The commands.
    pub commands: Vec<CommandRef>,
    /// `true` if nothing else in the line can have printed the names of tests.
    pub alone: bool,
}

/// Returns the declared commands whose test runner a line starts in the same folder, whatever it selects. `project` is seen
/// from the root of the working tree.
pub fn partly_run(commands: &[Command], told: &ObservedLine<'_>, project: Project<'_>) -> PartlyRun {
    let none = PartlyRun::default();
    let Ok(start) = std::str::from_utf8(told.dir.as_bytes()) else { return none };
    let place = StartDirectory { root: told.root, start, project };
    let view = DirectoryView(place);
    let Ok(understood) = understand(told.line, project.with_files(&view)) else { return none };
    let steps = understood
        .steps()
        .filter(|(leaf, purpose)| purpose.is(CommandKind::Test) && !leaf.remote && !only_prepares(leaf, purpose));
    let mine: Vec<RequestedCheck> = steps.filter_map(|(leaf, _)| asked_of_leaf(leaf, place)).collect();
    let shares = |command: &&Command| {
        let start = std::str::from_utf8(command.dir.as_bytes()).ok();
        let asked = start.and_then(|start| asked_of_line(&command.run, StartDirectory { start, ..place }));
        let asked = asked.unwrap_or_default();
        let asked = each(&asked);
        each(&mine).into_iter().any(|one| asked.iter().any(|other| is_of_one_runner(one, other, project.runners)))
    };
    let others = understood.program.leaves.iter().filter(|leaf| !is_quiet(leaf)).count();
    let alone = mine.len() == 1 && others == 1;
    if mine.is_empty() {
        return none;
    }
    PartlyRun { commands: commands.iter().filter(shares).map(Command::reference).collect(), alone }
}

/// Returns `true` if a command prints nothing but what it gets from the command before it in a pipe.
fn is_quiet(leaf: &Leaf) -> bool {
    let is_option = |word: &str| word.starts_with('-') || word.bytes().all(|byte| byte.is_ascii_digit());
    let takes_no_file = || leaf.argv.iter().skip(1).all(|arg| is_option(&arg.text)) && !leaf.text.contains('<');
    leaf.name().is_some_and(|name| QUIET.contains(&name) || FILTERS.contains(&name) && takes_no_file())
}

/// Returns checks and all their parts.
fn each(checks: &[RequestedCheck]) -> Vec<&RequestedCheck> {
    let mut found: Vec<&RequestedCheck> = checks.iter().collect();
    let mut at = 0;
    while at < found.len() {
        found.extend(found[at].parts.iter().flatten());
        at += 1;
    }
    found
}

/// Returns `true` if two checks start the same runner, or the same task, in the same folder.
fn is_of_one_runner(one: &RequestedCheck, other: &RequestedCheck, runners: &Catalogue) -> bool {
    let (CheckSubject::Known(mine), CheckSubject::Known(theirs)) = (&one.key.what, &other.key.what) else {
        return false;
    };
    one.key.directory == other.key.directory
        && one.key.inside == other.key.inside
        && mine.has_runner_of(theirs, runners)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::command_line::coverage::tests::{TaskFiles, declared, ran};
    use crate::event::Ended;
    use crate::repo_path::RepoPath;

    fn is_part(run: &str, line: &'static str) -> bool {
        let files = TaskFiles(BTreeMap::from([
            ("package.json", r#"{"scripts":{"test":"jest --ci","lint":"eslint ."}}"#),
            ("Makefile", "check: lint\n\tpytest\nlint:\n\truff check .\n"),
            ("web/package.json", r#"{"scripts":{"test":"vitest run"}}"#),
        ]));
        let dir = RepoPath::from("");
        let told = ran(line, &dir, Some(Ended::Exited(1)), Some(""));
        !partly_run(&[declared(run, "")], &told, Project::without_runners(&files)).commands.is_empty()
    }

    #[test]
    fn only_a_runner_alone_shows_which_tests_passed() {
        let dir = RepoPath::from("");
        for (line, alone) in [
            ("pytest -v tests/test_a.py", true),
            ("cd . && timeout 60 pytest -k a 2>&1 | tail -20", true),
            ("echo 'tests/test_a.py::test_b PASSED'; pytest tests/test_c.py", false),
            ("pytest tests/test_c.py; cat log", false),
            ("pytest tests/test_c.py; tail -5 log", false),
            ("pytest tests/test_c.py; head < log", false),
            ("pytest a.py && pytest b.py", false),
        ] {
            let told = ran(line, &dir, Some(Ended::Exited(0)), Some(""));
            let found = partly_run(&[declared("pytest", "")], &told, Project::without_runners(&()));
            assert_eq!((found.commands.len(), found.alone), (1, alone), "{line}");
        }
    }

    #[test]
    fn selections_of_the_same_tests() {
        for (run, line) in [
            ("pytest", "pytest tests/test_a.py::test_b -x 2>&1 | tail -20"),
            ("pytest", "cd . && python -m pytest -k login"),
            ("make check", "pytest tests/test_a.py"),
            ("npm test", "npm test -- -t adds"),
            ("npm test", "npx jest test/a.test.js"),
            ("cargo test --workspace", "cargo test adds"),
            ("cargo fmt --check && cargo test", "cargo test --lib"),
            ("go test ./...", "go test -run TestAdd ./calc"),
            ("cd web && npm test", "cd web && npx vitest run a.test.ts"),
        ] {
            assert!(is_part(run, line), "{line} of {run}");
        }
        for (run, line) in [
            ("pytest", "npx jest test/a.test.js"),
            ("npm test", "npm run lint"),
            ("npm test", "cd web && npm test"),
            ("cargo fmt --check", "cargo test adds"),
            ("ruff check .", "pytest tests/test_a.py"),
        ] {
            assert!(!is_part(run, line), "{line} of {run}");
        }
    }
}
