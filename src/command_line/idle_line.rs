//! Lines that run nothing whose status says anything: `true`, `echo ok`, `exit 0`.

use super::command_table::{Interpreter, table};
use super::purpose::inline_script;
use super::understanding::{CHECKS, understand};
use super::{Purpose, Understood};
use crate::runner::{CommandKind, Project};
use crate::shell::exit_status;
use crate::shell::expanded_program::Leaf;

/// Returns `true` if status 0 of a line proves nothing, as no program runs in it that could fail, and no test of the shell
/// decides. With `tests`, programs that only read or look at files prove nothing either.
pub fn is_idle(line: &Understood, tests: bool) -> bool {
    let works = line.steps().enumerate().any(|(id, (leaf, purpose))| {
        let is_idle = is_idle_program(leaf) || tests && (only_reads(purpose) || only_describes(leaf));
        let on_zero = exit_status::fate(&line.program, id).on_zero;
        !is_idle && (on_zero.succeeded || on_zero.failed)
    });
    !works && !line.program.truncated && (tests || !exit_status::fails_by_itself(&line.program))
}

/// Returns `true` if a line builds or checks without running tests, as far as its words show: its status is enough.
pub fn only_builds(line: &str, project: Project<'_>) -> bool {
    let Ok(understood) = understand(line, project) else { return false };
    let is = |purpose: &Purpose, kind| purpose.is(kind);
    let checks = |purpose: &Purpose| CHECKS[1..].iter().any(|kind| is(purpose, *kind));
    understood.purposes.iter().any(checks)
        && !understood.purposes.iter().any(|purpose| is(purpose, CommandKind::Test) || purpose.is_unknown)
}

fn is_idle_program(leaf: &Leaf) -> bool {
    leaf.name().is_some_and(|name| {
        table().is_idle(name) || table().interpreter(name).is_some_and(|program| runs_idle_script(leaf, program))
    })
}

/// Returns `true` for `python3 -c pass`: a script in the line that looks at nothing and cannot fail.
fn runs_idle_script(leaf: &Leaf, program: &Interpreter) -> bool {
    let is_known = leaf.argv.iter().all(|arg| arg.literal().is_some());
    is_known && inline_script(leaf, &program.inline).is_some_and(|script| program.idles(&script))
}

fn only_reads(purpose: &Purpose) -> bool {
    purpose.invocation.is_none() && purpose.kinds == ["read"]
}

/// Returns `true` if a command prints its version or its help.
fn only_describes(leaf: &Leaf) -> bool {
    leaf.argv.len() == 2 && ["--version", "--help", "-V", "-h"].contains(&leaf.argv[1].text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idle(line: &str, tests: bool) -> bool {
        is_idle(&understand(line, Project::without_runners(&())).unwrap(), tests)
    }

    #[test]
    fn a_line_without_a_program_that_could_fail() {
        for line in [
            "true",
            ":",
            "exit 0",
            "exit",
            "echo 5 passed",
            "printf 'test result: ok. 5 passed; 0 failed\\n'",
            "false || true",
            "true || ./t.sh",
            "exec true; ./t.sh",
            "exit 0; ./t.sh",
            "x=1",
            "cd . && pwd",
            "bash -c 'echo ok'",
            "env X=1 true",
            "! false",
            "[ 1 = 1 ]",
            "[[ a == a ]]",
            "[ -f x ]; true",
            "if true; then echo ok; fi",
            "python3 -c pass",
            "python3 -c 'print(\"5 passed\")'",
            "python -c 'import sys; sys.exit(0)'",
            "node -e 'process.exit(0)'",
            "ruby -e 'puts 1'",
            "bash -c 'python3 -c pass'",
        ] {
            assert!(idle(line, false), "{line}");
        }
        for line in [
            "./t.sh",
            "make",
            "cargo --version",
            "test -f README.md",
            "[ -d src ]",
            "[[ -e a.txt ]]",
            "! grep -q TODO src",
            "grep -q x y",
            "diff a b",
            "if grep -q x y; then exit 1; fi",
            "cd src && ls lib.rs",
            "for f in *.sh; do sh -n \"$f\"; done",
            "true && ./t.sh",
            "echo start; ./t.sh",
            "$CHECK",
            "python3 -c 'import a'",
            "python3 -c 'pass; import a'",
            "python3 -c \"$CODE\"",
            "python3 -c 'print(open(1))'",
            "python3 pass",
            "[ \"$(wc -l < a)\" -eq 3 ]",
        ] {
            assert!(!idle(line, false), "{line}");
        }
    }

    #[test]
    fn builds_are_told_from_tests() {
        for (line, builds) in [
            ("make", true),
            ("make all", true),
            ("cargo build", true),
            ("cargo clippy", true),
            ("make test", false),
            ("make check", false),
            ("make && make test", false),
            ("cargo test", false),
            ("./t.sh", false),
            ("make && ./t.sh", false),
            ("true", false),
        ] {
            assert_eq!(only_builds(line, Project::without_runners(&())), builds, "{line}");
        }
    }

    #[test]
    fn reading_runs_no_tests() {
        for line in ["true", "cat report.txt", "test -f README.md", "[ -f README.md ]", "cargo --version", "ls"] {
            assert!(idle(line, true), "{line}");
        }
        for line in ["sh test.sh", "cargo test", "make check", "./t.sh", "test -f a && ./t.sh", "node -e t", ". ./t.sh"]
        {
            assert!(!idle(line, true), "{line}");
        }
    }
}
