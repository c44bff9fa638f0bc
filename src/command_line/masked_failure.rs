//! Failures that a line of unknown programs can hide.

use super::{Purpose, understand};
use crate::runner::Project;
use crate::shell::exit_status;

/// Returns the reason why status 0 of a line without any known check does not prove that its last program succeeded:
/// `./t.sh || true`, `./t.sh | tail`. Returns `None` if it does, or if the line cannot be followed.
pub fn unseen_failure(line: &str, project: Project<'_>) -> Option<String> {
    let understood = understand(line, project).ok()?;
    let may_check = |purpose: &Purpose| purpose.kinds.contains(&"other") && !purpose.elsewhere;
    let last = understood.purposes.iter().rposition(may_check)?;
    let fate = exit_status::fate(&understood.program, last);
    let name = understood.program.leaves.get(last)?.name()?;
    (fate.complete && fate.on_zero.failed).then(|| format!("`{name}` may have failed although the line ends with 0"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
