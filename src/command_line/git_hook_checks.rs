//! Checks that `git commit` and `git push` run through hooks. The line does not show them, but their output does.

use crate::runner::output_line::output_lines;
use crate::runner::task_order::TaskOrder;
use crate::runner::word_splitting::simple_commands;
use crate::runner::{
    Catalogue, CommandKind, ExitMeaning, Invocation, OutputOutcome, RunScope, classify, read_output_of,
};

use super::Extent;
use super::purpose::Understood;
use super::shown_output::may_show;

/// Adds the checks of hooks if the line itself runs no tests and the output of a commit or push has the closing lines
/// of a test run.
///
/// The extent of the tests is often not shown. Then it counts as a part of them, and proves less than a full pass.
pub(super) fn add(understood: &mut Understood, catalogue: &Catalogue, output: &str) {
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
    // After `git commit && git push` it is the commit's hook that more often runs them.
    let Some(call) = calls.first() else { return };
    let reading = read_output_of(catalogue, &[], output);
    let Some(report) = reading.reports.first().filter(|report| report.passed + report.failed > 0) else { return };
    if reading.says == OutputOutcome::Silent || !reading.complete {
        return;
    }
    // A diff or a log shows such lines too, with something in front of them; a hook echoes what it runs.
    let echoes = output_lines(output).any(|line| {
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
    // A hook that echoes what it runs shows how much of the tests that is.
    let shown = output_lines(output).filter_map(|line| echoed(catalogue, &line)).find(Invocation::is_test);
    let whole = shown.as_ref().is_some_and(|invocation| invocation.scope == RunScope::Full);
    let purpose = &mut understood.purposes[*call];
    purpose.kinds.insert(0, "test");
    purpose.extent = Some(if whole { Extent::Full } else { Extent::Filtered });
    purpose.narrowed_by = (!whole).then(|| format!("what the {hook} hook chose"));
    purpose.invocation = Some(Invocation {
        kinds: vec![CommandKind::Test],
        runner: Some(format!("{} ({hook} hook)", report.runner)),
        runs: vec![report.runner.clone()],
        scope: if whole { RunScope::Full } else { RunScope::Filtered { by: format!("the {hook} hook") } },
        exit: ExitMeaning::Decides,
        empty_exits_zero: true,
        edits: false,
        watches: false,
        speaks: false,
        shadowed_by: None,
        order: TaskOrder::default(),
    });
}

/// Returns the command that an output line like `$ bun test src/` or `> jest --ci` announces.
fn echoed(catalogue: &Catalogue, line: &str) -> Option<Invocation> {
    let command = line.strip_prefix("$ ").or_else(|| line.strip_prefix("> "))?;
    let argv: Vec<Option<String>> = simple_commands(command)?.into_iter().next()?.into_iter().map(Some).collect();
    Some(classify(catalogue, &argv, &()))
}

#[cfg(test)]
mod tests {
    use crate::command_line::{LineRecord, Proves, judge};
    use crate::runner::Project;
    use crate::shell_kind::Shell;

    fn proves(line: &str, output: &str) -> Proves {
        judge(
            line,
            &LineRecord { status: Some(0), output: Some(output), background: false, shell: Some(Shell::Bash) },
            Project::without_runners(&()),
        )
        .proves
    }

    #[test]
    fn what_a_hook_ran_counts_as_far_as_it_is_shown() {
        let passed =
            " 12 pass\n 0 fail\n 30 expect() calls\nRan 12 tests across 3 files. [70.00ms]\n[main 1a2b3c4] fix\n";
        let whole = format!("$ bun test\n{passed}");
        let part = format!("$ bun test src/a.test.ts\n{passed}");
        let unknown = format!("$ biome check\n{passed}");
        assert_eq!(proves("git commit -m fix", &whole), Proves::FullPass);
        assert_eq!(proves("git commit -m fix && git push", &whole), Proves::FullPass);
        assert_eq!(proves("git commit -m fix", &part), Proves::PartialPass);
        assert_eq!(proves("git commit -m fix", &unknown), Proves::PartialPass);
        assert_eq!(proves("git commit -m fix", passed), Proves::Nothing);
        assert_eq!(proves("git commit --no-verify -m fix", &whole), Proves::Nothing);
        assert_eq!(proves("git log -1", &whole), Proves::Nothing);
    }
}
