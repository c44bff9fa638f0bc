//! A line as it is understood: the commands that it executes and the purpose of each.

use crate::runner::{CommandKind, Project};
use crate::shell::parse_error::Unparsed;
use crate::shell::{build_program, dialect, exit_status};
use crate::shell_kind::Shell;

use super::purpose::{Purpose, Understood, purpose};
use super::{Extent, compose, current_branch_push, generated_programs, masked_failure, working_directory};

/// The kinds of checks, the one that decides first.
pub(super) const CHECKS: [CommandKind; 4] =
    [CommandKind::Test, CommandKind::Build, CommandKind::Typecheck, CommandKind::Lint];

/// Parses a command line of bash and finds the purpose of each command. `project` is seen from the directory that it
/// starts in.
pub fn understand(line: &str, project: Project<'_>) -> Result<Understood, Unparsed> {
    understand_in(line, Some(Shell::Bash), project)
}

/// Does the same as [`understand`], for a line of this shell (`None` if it is unknown).
pub fn understand_in(line: &str, shell: Option<Shell>, project: Project<'_>) -> Result<Understood, Unparsed> {
    understood(line, shell, project, 0)
}

/// Does the same as [`understand`], for a line of a task that is called by this number of others.
pub(super) fn understand_at(line: &str, project: Project<'_>, depth: u8) -> Result<Understood, Unparsed> {
    understood(line, Some(Shell::Bash), project, depth)
}

fn understood(line: &str, shell: Option<Shell>, project: Project<'_>, depth: u8) -> Result<Understood, Unparsed> {
    let mut program = build_program::program_in(&dialect::with_slashes(line), &Shell::candidates(shell))?;
    program.leaves.iter_mut().for_each(|leaf| compose::follow(leaf, project.files));
    program.leaves.iter_mut().for_each(|leaf| working_directory::follow(leaf, project.runners));
    let mut purposes: Vec<Purpose> = program.leaves.iter().map(|leaf| purpose(leaf, project)).collect();
    masked_failure::mark(&program, &mut purposes, project, depth);
    current_branch_push::name_branches(&program, &mut purposes);
    generated_programs::mark(&mut program, &mut purposes);
    Ok(Understood { program, purposes })
}

/// Returns the argument with which the tests of a line are only a part of all tests, as the line says it.
pub fn chosen_part(line: &str) -> Option<String> {
    let understood = understand(line, Project::without_runners(&())).ok()?;
    let filtered = understood.purposes.into_iter().find(|purpose| purpose.extent == Some(Extent::Filtered));
    // The name of a task says little.
    filtered?.narrowed_by.filter(|part| line.contains(part.as_str()))
}

/// Returns `true` if exit status 0 of this line would prove every check in it, and all of the tests if it runs tests.
pub(super) fn would_decide(line: &str, project: Project<'_>) -> bool {
    let Ok(understood) = understand(line, project) else { return false };
    let checks = |purpose: &Purpose| CHECKS.iter().any(|kind| purpose.is(*kind));
    let mut found = understood.purposes.iter().enumerate().filter(|(_, purpose)| checks(purpose)).peekable();
    found.peek().is_some()
        && dialect::of(line, &understood.program).is_none()
        && found.all(|(id, purpose)| {
            purpose.honest()
                && purpose.extent.is_none_or(|extent| extent == Extent::Full)
                && exit_status::fate(&understood.program, id).decides()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_tests_is_named() {
        for (line, part) in [
            ("pytest tests/test_a.py -q", Some("tests/test_a.py")),
            ("cargo test parser", Some("parser")),
            ("go test -run One ./...", Some("-run One")),
            ("make unit-test", None),
            ("pytest -q", None),
            ("make test", None),
            ("./check", None),
        ] {
            assert_eq!(chosen_part(line).as_deref(), part, "{line}");
        }
    }
}
