//! Lines that may never end before their check has run: `sleep 100000; pytest`, `tail -f log; pytest`.

use super::command_table::table;
use super::{Purpose, Understood};
use crate::shell::expanded_program::Leaf;

/// The longest `sleep` before a check, in seconds.
const MAX_SLEEP: u32 = 120;

/// Returns `true` if a line that contains a declared check may never come to it or to its end: it repeats something, or
/// its first command that is neither a preparation nor a check is not declared itself.
pub fn may_be_endless(line: &Understood, is_declared: impl Fn(&str) -> bool) -> bool {
    let last = line.purposes.iter().rposition(|purpose| purpose.invocation.is_some());
    let mut commands = line.steps().take(last.unwrap_or(usize::MAX));
    let first = commands.find(|(leaf, purpose)| !ends_soon(leaf, purpose));
    line.program.leaves.iter().any(|leaf| leaf.repeated) || first.is_some_and(|(leaf, _)| !is_declared(&leaf.text))
}

/// Returns `true` for a command that prepares a check and ends soon, and for a check, a build or an installation.
fn ends_soon(leaf: &Leaf, purpose: &Purpose) -> bool {
    match leaf.name() {
        // Without a name, the line sets variables.
        None => leaf.argv.is_empty(),
        Some("sleep") => {
            let seconds = leaf.argv.get(1).and_then(|arg| arg.text.trim_end_matches('s').parse::<u32>().ok());
            seconds.is_some_and(|seconds| seconds <= MAX_SLEEP)
        }
        Some(name) => table().is_brief(name) || purpose.invocation.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line;
    use crate::runner::Project;

    #[test]
    fn what_is_before_the_check_decides() {
        for (line, endless) in [
            ("pytest -q", false),
            ("cd app && . .venv/bin/activate && pytest -q", false),
            ("npm ci && npm run build && npm test", false),
            ("PYTHONPATH=src pytest -q 2>&1 | tee log", false),
            ("sleep 5; pytest -q", false),
            ("sh check.sh", false),
            ("sleep 100000; pytest -q", true),
            ("sleep infinity; pytest -q", true),
            ("tail -f /dev/null; pytest -q", true),
            ("read x; pytest -q", true),
            ("cat; pytest -q", true),
            ("./server && pytest -q", true),
            ("while true; do pytest -q; sleep 60; done", true),
        ] {
            let understood = command_line::understand(line, Project::without_runners(&())).unwrap();
            assert_eq!(may_be_endless(&understood, |line| line == "sh check.sh"), endless, "{line}");
        }
    }
}
