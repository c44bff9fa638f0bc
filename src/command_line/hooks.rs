//! Checks that `git commit` and `git push` run through hooks. The line does not show them; their output does.

use crate::runner::lines::lines;
use crate::runner::{Catalogue, CommandKind, ExitMeaning, Invocation, Says, Scope, read_output_of};

use super::Extent;
use super::purpose::Understood;
use super::view::may_show;

/// Adds what hooks ran, where the line itself runs no tests and the output of a commit or push has the closing lines of
/// a test run.
///
/// How much of the tests that was cannot be seen, so it counts as a part of them, and proves less than a full pass.
pub(super) fn add(understood: &mut Understood, output: &str) {
    if understood.purposes.iter().any(|purpose| purpose.is(CommandKind::Test)) {
        return;
    }
    let calls: Vec<usize> = understood
        .program
        .leaves
        .iter()
        .enumerate()
        .filter(|(id, leaf)| {
            let is = |word: &str| leaf.argv.iter().any(|arg| arg.literal() == Some(word));
            let skipped = is("--no-verify")
                || is("commit") && is("-n")
                || leaf.argv.iter().any(|arg| arg.text.starts_with("core.hooksPath="));
            leaf.name() == Some("git") && (is("commit") || is("push")) && !skipped && may_show(&understood.program, *id)
        })
        .map(|(id, _)| id)
        .collect();
    let [call] = calls.as_slice() else { return };
    let catalogue = Catalogue::embedded();
    let reading = read_output_of(catalogue, &[], output);
    let Some(report) = reading.reports.first().filter(|report| report.passed + report.failed > 0) else { return };
    if reading.says == Says::Silent || !reading.complete {
        return;
    }
    // A diff or a log shows such lines too, with something in front of them; a hook echoes what it runs.
    let echoes = lines(output).any(|line| {
        line.starts_with("$ ") || line.starts_with("> ") || line.contains("pre-commit") || line.contains("husky")
    });
    if !echoes {
        return;
    }
    let hook = if understood.program.leaves[*call].argv.iter().any(|arg| arg.text == "push") {
        "pre-push"
    } else {
        "pre-commit"
    };
    let purpose = &mut understood.purposes[*call];
    purpose.kinds.insert(0, "test");
    purpose.extent = Some(Extent::Filtered);
    purpose.narrowed_by = Some(format!("what the {hook} hook chose"));
    purpose.invocation = Some(Invocation {
        kinds: vec![CommandKind::Test],
        runner: Some(format!("{} ({hook} hook)", report.runner)),
        runs: vec![report.runner.clone()],
        scope: Scope::Filtered { by: format!("the {hook} hook") },
        exit: ExitMeaning::Decides,
        empty_exits_zero: true,
        edits: false,
        watches: false,
    });
}
