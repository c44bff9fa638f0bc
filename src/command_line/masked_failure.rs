//! Failures that a line of unknown programs can hide.

use super::{Purpose, understand};
use crate::runner::{Project, TaskRun, resolve};
use crate::shell::exit_status;

/// Returns the reason why status 0 of a line without any known check does not prove that its last program succeeded:
/// `./t.sh || true`, `./t.sh | tail`. Returns `None` if it does, or if the line cannot be followed.
pub fn unseen_failure(line: &str, project: Project<'_>) -> Option<String> {
    let understood = understand(line, project).ok()?;
    let last = understood.purposes.iter().rposition(may_check)?;
    let fate = exit_status::fate(&understood.program, last);
    let name = understood.program.leaves.get(last)?.name()?;
    (fate.complete && fate.on_zero.failed).then(|| format!("`{name}` may have failed although the line ends with 0"))
}

/// Returns the same for a line that calls tasks, about the lines of a task that starts no known check either:
/// `for t in tests/*.sh; do sh $t; done` in a Makefile.
pub fn unseen_failure_in_task(line: &str, project: Project<'_>) -> Option<String> {
    let understood = understand(line, project).ok()?;
    let tasks =
        understood.program.leaves.iter().flat_map(|leaf| resolve(project.runners, &leaf.words(), project.files));
    tasks.into_iter().find_map(|task| hidden_in(&task, project))
}

fn hidden_in(task: &TaskRun, project: Project<'_>) -> Option<String> {
    let lines = task.script.as_ref()?;
    let understood: Vec<_> = lines.iter().map(|line| understand(line, project).ok()).collect::<Option<_>>()?;
    let purposes = || understood.iter().flat_map(|line| &line.purposes);
    if purposes().any(|purpose| purpose.invocation.is_some()) {
        return None;
    }
    let last = understood.iter().rposition(|line| line.purposes.iter().any(may_check))?;
    unseen_failure(lines.get(last)?, project)
}

/// Returns `true` for a program that nobody knows, which may be the check.
fn may_check(purpose: &Purpose) -> bool {
    purpose.kinds.contains(&"other") && !purpose.elsewhere
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_failure_that_a_task_hides() {
        for (line, path, text, hidden) in [
            ("make test", "Makefile", "test:\n\t@for t in tests/*.sh; do sh $$t; done\n", true),
            ("make test", "Makefile", "test:\n\tsh tests/a.sh | tee out.log\n", true),
            ("make test", "Makefile", "test:\n\tsh tests/a.sh || true\n", true),
            ("npm test", "package.json", r#"{"scripts":{"test":"for f in t/*.sh; do sh $f; done"}}"#, true),
            ("make test", "Makefile", "test:\n\t@for t in tests/*.sh; do sh $$t || exit 1; done\n", false),
            ("make test", "Makefile", "test:\n\tdocker-compose down || true\n\t./run-tests.sh\n", false),
            ("make test", "Makefile", "test:\n\tcargo test\n\t./report.sh || true\n", false),
            ("npm test", "package.json", r#"{"scripts":{"test":"./a.sh && ./b.sh"}}"#, false),
        ] {
            let files = BTreeMap::from([(path.to_owned(), text.to_owned())]);
            let found = unseen_failure_in_task(line, Project::without_runners(&files));
            assert_eq!(found.is_some(), hidden, "{line}: {text}: {found:?}");
        }
    }

    #[test]
    fn a_failure_that_the_status_does_not_show() {
        let hidden = [
            "./t.sh || true",
            "./t.sh | tail -5",
            "sh t.sh; echo done",
            "./t.sh; exit 0",
            "./t.sh &",
            "./t.sh; mkdir -p /tmp/out",
        ];
        for line in hidden {
            assert!(unseen_failure(line, Project::without_runners(&())).is_some(), "{line}");
        }
        let shown = [
            "./t.sh",
            "./a.sh && ./b.sh",
            "./setup; ./t.sh",
            "./fast.sh || ./slow.sh",
            "./t.sh && echo ok",
            "set -o pipefail; ./t.sh | tail -5",
            "cd web && ./t.sh",
            "true",
            "echo done",
            "echo report > report.txt; mkdir -p target; echo x > target/x",
        ];
        for line in shown {
            assert_eq!(unseen_failure(line, Project::without_runners(&())), None, "{line}");
        }
    }
}
