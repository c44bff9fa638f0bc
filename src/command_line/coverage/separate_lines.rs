//! Declared commands of several checks that an agent runs one by one, in lines of their own on the same content.

use crate::command_line::purpose::Understood;
use crate::command_line::understand;
use crate::event::Ended;
use crate::policy::Command;
use crate::runner::{CommandKind, Project};

use super::proofs::{CheckProof, proofs};
use super::required_checks::{RequestedCheck, asked_of_line};
use super::settled::unsettle;
use super::start_directory::{DirectoryView, StartDirectory};
use super::{DeclaredProof, ObservedLine, Witnessed};

/// Returns the declared commands that a line proves in part, and not as a whole.
pub fn proven_in_part(commands: &[Command], told: &ObservedLine<'_>, project: Project<'_>) -> Vec<Command> {
    let Some(place) = place_of(told, project) else { return Vec::new() };
    let proofs = proofs(told, place);
    let in_part = |command: &&Command| {
        asked_of(command, place).is_some_and(|asked| {
            asked.iter().any(|check| check.is_in(&proofs)) && DeclaredProof::of(&asked, &proofs).is_none()
        })
    };
    commands.iter().filter(in_part).cloned().collect()
}

/// Returns the proofs for the commands that `told` proves together with `earlier` lines on the same content, oldest
/// first. Only a pass counts: a check that failed was recorded as a failure of the whole command when it ran.
///
/// Lines that may have changed what is not content, such as built programs, end the row.
pub fn witness_together(
    commands: &[Command],
    earlier: &[ObservedLine<'_>],
    told: &ObservedLine<'_>,
    project: Project<'_>,
) -> Vec<Witnessed> {
    let Some(place) = place_of(told, project) else { return Vec::new() };
    let of_told = proofs(told, place);
    let together = |command: &Command| {
        let mut asked = asked_of(command, place)?;
        let mut lines: Vec<Vec<CheckProof>> = Vec::new();
        let mut seen = vec![(told, place)];
        for line in earlier.iter().rev() {
            let Some(place) = place_of(line, project) else { break };
            let found = proofs(line, place);
            let is_part = asked.iter().any(|check| check.is_in(&found));
            if !is_part && !keeps_products(line, place) {
                break;
            }
            lines.push(found);
            seen.extend(is_part.then_some((line, place)));
        }
        let all: Vec<CheckProof> = lines.into_iter().rev().flatten().chain(of_told.iter().cloned()).collect();
        unsettle(&mut asked, seen);
        let found = DeclaredProof::of(&asked, &all)?;
        let ran = found.report.as_ref().is_none_or(|report| report.passed > 0 && report.failed == 0);
        let passed = !found.failed && found.broken_off.is_none() && found.masked.is_none() && ran;
        let command = command.reference();
        passed.then_some(Witnessed { command, ended: Ended::Exited(0), report: found.report, masked: None })
    };
    commands.iter().filter_map(together).collect()
}

fn place_of<'a>(told: &'a ObservedLine<'_>, project: Project<'a>) -> Option<StartDirectory<'a>> {
    let start = std::str::from_utf8(told.dir.as_bytes()).ok()?;
    Some(StartDirectory { root: told.root, start, project })
}

fn asked_of(command: &Command, place: StartDirectory<'_>) -> Option<Vec<RequestedCheck>> {
    asked_of_line(&command.run, StartDirectory { start: std::str::from_utf8(command.dir.as_bytes()).ok()?, ..place })
}

/// Returns `true` if a line only reads, checks or commits, so that what was built before it is still there.
fn keeps_products(told: &ObservedLine<'_>, place: StartDirectory<'_>) -> bool {
    const CHECKS: [CommandKind; 3] = [CommandKind::Test, CommandKind::Typecheck, CommandKind::Lint];
    const KINDS: [&str; 5] = ["read", "test", "typecheck", "lint", "vcs"];
    let view = DirectoryView(place);
    let Ok(Understood { program, purposes }) = understand(told.line, place.project.with_files(&view)) else {
        return false;
    };
    !program.truncated
        && purposes.iter().all(|one| {
            let known = one.kinds.iter().all(|kind| KINDS.contains(kind));
            let checks = one.invocation.as_ref().is_none_or(|_| CHECKS.iter().any(|kind| one.is(*kind)));
            known && checks && !one.edits && !one.is_unknown
        })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::command_line::coverage::tests::{TaskFiles, declared, ran};
    use crate::repo_path::RepoPath;

    /// Returns `true` if the last of these lines, each with its status, proves the command together with the others.
    fn together(run: &str, lines: &[(&'static str, i32)]) -> bool {
        let files = TaskFiles(BTreeMap::from([
            ("a/Cargo.toml", "[package]\nname = 'a'\n"),
            ("b/package.json", r#"{"scripts":{"test":"jest"}}"#),
            ("package.json", r#"{"scripts":{"all":"npm run build && npm test","test":"jest"}}"#),
        ]));
        let dir = RepoPath::from("");
        let told = |(line, status): &(&'static str, i32)| ObservedLine {
            cut: true,
            ..ran(line, &dir, Some(Ended::Exited(*status)), Some(""))
        };
        let lines: Vec<ObservedLine<'_>> = lines.iter().map(told).collect();
        let (last, earlier) = lines.split_last().expect("a line");
        let project = Project::without_runners(&files);
        let in_part = proven_in_part(&[declared(run, "")], last, project);
        !witness_together(&in_part, earlier, last, project).is_empty()
    }

    const BOTH: &str = "(cd a && cargo test) && (cd b && npm test)";

    #[test]
    fn checks_in_lines_of_their_own() {
        for (run, lines) in [
            (BOTH, &[("cd a && cargo test", 0), ("cd b && npm test", 0)][..]),
            (BOTH, &[("(cd b && npm test)", 0), ("(cd a && cargo test -q)", 0)]),
            (BOTH, &[("cd a && cargo test", 0), ("git commit -qm x", 0), ("ls", 0), ("cd b && npx jest", 0)]),
            (BOTH, &[("cd a && cargo test", 101), ("cd a && cargo test", 0), ("cd b && npm test", 0)]),
            (BOTH, &[("cd a && cargo test", 0), ("cargo clippy", 1), ("cd b && npm test", 0)]),
            ("cargo fmt --check && cargo test", &[("cargo fmt --check", 0), ("cargo test", 0)]),
            ("npm run all", &[("npm run build", 0), ("npm test", 0)]),
            (
                "cargo fmt --check && cargo clippy && cargo test",
                &[("cargo test", 0), ("cargo clippy && cargo fmt --check", 0)],
            ),
        ] {
            assert!(together(run, lines), "{lines:?} for {run}");
        }
    }

    #[test]
    fn what_is_missing_or_failed_or_may_be_undone() {
        for (run, lines) in [
            (BOTH, &[("cd a && cargo test", 0)][..]),
            (BOTH, &[("cd a && cargo test", 101), ("cd b && npm test", 0)]),
            (BOTH, &[("cd a && cargo test", 0), ("cd b && npm test", 1)]),
            (BOTH, &[("cd a && cargo test", 0), ("cd a && cargo test", 101), ("cd b && npm test", 0)]),
            (BOTH, &[("cd a && cargo test -p x", 0), ("cd b && npm test", 0)]),
            (BOTH, &[("cargo test", 0), ("cd b && npm test", 0)]),
            (BOTH, &[("cd a && cargo test || true", 0), ("cd b && npm test", 0)]),
            (BOTH, &[("cd a && cargo test", 0), ("cd b && npm test -- -t one", 0)]),
            (BOTH, &[("cd a && cargo test", 0), ("./setup.sh", 0), ("cd b && npm test", 0)]),
            (BOTH, &[("cd a && cargo test", 0), ("rm -rf build", 0), ("cd b && npm test", 0)]),
            ("npm run all", &[("npm run build", 0), ("npm run build -- --mode dev", 0), ("npm test", 0)]),
            ("npm run all", &[("npm run build", 0), ("npm install", 0), ("npm test", 0)]),
            ("npm run all", &[("npm test", 0), ("ls", 0)]),
            ("cargo fmt --check || cargo test", &[("cargo fmt --check", 0), ("cargo test", 0)]),
        ] {
            assert!(!together(run, lines), "{lines:?} for {run}");
        }
    }
}
