//! The importance of a command line that is about to run: it decides what is noted about it.

use std::path::Path;
use std::sync::LazyLock;

use crate::command_line::{self, Purpose, Understood};
use crate::embedded;
use crate::fact::intent::{self, IntentKind};
use crate::runner::{CommandKind, Project};
use crate::shell::expanded_program::Leaf;
use crate::source::project_files::DiskDirectory;

/// The importance of a command line that is about to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::hook) enum Weight {
    /// The line only reads: nothing is recorded before it runs.
    Light,
    /// The line changes something.
    Some,
    /// The line checks the code, or may check it: the content that it runs on must be known.
    Checks,
}

/// Parses a line. Of the repository, only the task files that define its meaning are read: a runner that only the
/// repository knows is an unknown program here, which may check.
pub(in crate::hook) fn understand(line: &str, dir: &Path) -> Option<Understood> {
    command_line::understand(line, Project::without_runners(&DiskDirectory(dir.to_owned()))).ok()
}

/// Returns the importance of a line (`None` if it cannot be parsed).
pub(in crate::hook) fn weigh(line: Option<&Understood>) -> Weight {
    const CHECKS: [CommandKind; 4] = [CommandKind::Test, CommandKind::Build, CommandKind::Typecheck, CommandKind::Lint];
    let Some(line) = line else { return Weight::Checks };
    if line.program.truncated || line.purposes.iter().any(|one| CHECKS.iter().any(|kind| one.is(*kind))) {
        Weight::Checks
    } else if line.steps().all(|(leaf, one)| is_light(leaf, one)) {
        if changes_models(line) { Weight::Some } else { Weight::Light }
    } else if line.purposes.iter().any(|one| one.is_unknown) {
        // A script nobody knows may be the command that the policy declares.
        Weight::Checks
    } else {
        Weight::Some
    }
}

/// Returns the importance of the output of a line. What `gate` itself runs and says is recorded by it.
pub(super) fn weigh_output(line: Option<&Understood>) -> Weight {
    let is_own = |(leaf, one): (&Leaf, &Purpose)| (leaf.name() == Some("gate") && !leaf.remote) || is_light(leaf, one);
    match weigh(line) {
        Weight::Checks if line.is_some_and(|line| !line.program.truncated && line.steps().all(is_own)) => Weight::Some,
        weight => weight,
    }
}

/// Returns `true` if a line changes the user's settings of gate. They are outside of the working tree.
fn changes_models(line: &Understood) -> bool {
    let names_gate = line.program.leaves.iter().any(|leaf| leaf.text.contains("gate"));
    names_gate && intent::of_line(line).iter().any(|intent| intent.kind == IntentKind::ChangesModels)
}

/// Returns `true` if a command only reads.
pub(super) fn is_light(leaf: &Leaf, one: &Purpose) -> bool {
    let reads = one.kinds.iter().all(|kind| *kind == "read");
    let deletes = leaf.name() == Some("find") && leaf.argv.iter().any(|arg| arg.text == "-delete");
    !one.edits && !deletes && leaf.writes.is_empty() && (reads || leaf.name().is_some_and(harmless))
}

/// Returns `true` if a program neither changes nor checks anything, with any arguments.
fn harmless(name: &str) -> bool {
    #[derive(Default, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Harmless {
        names: Vec<String>,
    }
    static HARMLESS: LazyLock<Harmless> = LazyLock::new(|| embedded::table("harmless-commands.toml"));
    HARMLESS.names.iter().any(|known| known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_reads_is_light_and_what_may_check_is_not() {
        let dir = tempfile::tempdir().unwrap();
        for (line, weight) in [
            ("ls -la", Weight::Light),
            ("cat a | grep b | head -3", Weight::Light),
            ("cd src && rg -n foo", Weight::Light),
            ("find . -name '*.rs'", Weight::Light),
            ("find . -name hooks.json -delete", Weight::Some),
            ("find .git -name pre-push -exec rm {} +", Weight::Some),
            ("find . -name '*.rs' -exec grep -n x {} +", Weight::Light),
            ("tee ~/.config/gate/config.toml", Weight::Some),
            ("sed -i s/a/b/ ~/.config/gate/config.toml", Weight::Checks),
            ("cat ~/.config/gate/config.toml", Weight::Light),
            ("cargo test", Weight::Checks),
            ("cd web && npm test 2>&1 | tail -5", Weight::Checks),
            ("sh test.sh", Weight::Checks),
            ("./check", Weight::Checks),
            ("sh test.sh > out.log 2>&1", Weight::Checks),
            ("git commit -m x", Weight::Some),
            ("echo hello > file.txt", Weight::Some),
            ("if then fi (", Weight::Checks),
        ] {
            assert_eq!(weigh(understand(line, dir.path()).as_ref()), weight, "{line}");
        }
    }

    #[test]
    fn only_the_output_of_what_gate_itself_runs_is_recorded_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        for (line, weight) in [
            ("gate run test", Weight::Some),
            ("cd web && gate run -- npm test 2>&1 | tail -5", Weight::Some),
            ("gate run test; cargo test", Weight::Checks),
            ("gate run test | sh", Weight::Checks),
            ("gate run test; ./check", Weight::Checks),
            ("./check", Weight::Checks),
            ("ls -la", Weight::Light),
            ("if then fi (", Weight::Checks),
        ] {
            assert_eq!(weigh_output(understand(line, dir.path()).as_ref()), weight, "{line}");
        }
    }
}
