//! Programs that a line writes itself: a new program with the name of a test runner is not one.

use crate::runner::ExitMeaning;
use crate::shell::expanded_program::{Leaf, Program};

use super::purpose::Purpose;

/// The extensions that show the language of a program.
const ENDINGS: [&str; 8] = [".py", ".js", ".cjs", ".mjs", ".rb", ".sh", ".cmd", ".exe"];

/// Marks the checks whose program the line writes before it runs them.
pub(super) fn mark(program: &mut Program, purposes: &mut [Purpose]) {
    for id in 1..purposes.len().min(program.leaves.len()) {
        let (Some(leaf), Some(purpose)) = (program.leaves.get(id), purposes.get_mut(id)) else { continue };
        let Some(invocation) = purpose.invocation.as_mut() else { continue };
        let called = |name: &str| leaf.name() == Some(name) || invocation.runs.iter().any(|run| run == name);
        let made = program.leaves.iter().take(id).flat_map(written).find(|path| {
            let base = base(path);
            called(base) || ENDINGS.iter().any(|end| base.strip_suffix(end).is_some_and(called))
        });
        let why = made.map(|path| format!("the line itself writes `{path}`, which may be what runs"));
        if why.is_some() {
            invocation.exit = ExitMeaning::ZeroOnFindings;
            purpose.replaced = why;
            program.leaves[id].shadowed = true;
        }
    }
}

/// Returns the files that a command writes by name.
fn written(leaf: &Leaf) -> Vec<&str> {
    let mut paths: Vec<&str> = leaf.writes.iter().flatten().map(String::as_str).collect();
    let words = || leaf.argv.iter().skip(1).filter_map(|arg| arg.literal()).filter(|word| !word.starts_with('-'));
    match leaf.name() {
        Some("cp" | "mv" | "ln" | "install") => paths.extend(words().next_back()),
        Some("tee") => paths.extend(words()),
        _ => {}
    }
    paths
}

fn base(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use crate::command_line::{LineRecord, Proves, judge};
    use crate::runner::Project;
    use crate::shell_kind::Shell;

    #[test]
    fn a_runner_that_the_line_writes_proves_nothing() {
        let record = LineRecord {
            status: Some(0),
            output: Some("== 2 passed in 0.01s ==\n"),
            background: false,
            shell: Some(Shell::Bash),
        };
        for line in [
            "mkdir -p b; echo 'echo 2 passed in 0.01s' > b/pytest; chmod +x b/pytest; PATH=$PWD/b:$PATH pytest",
            "mkdir -p b && cp fake.sh b/pytest && export PATH=$PWD/b:$PATH && pytest",
            "ln -s /bin/true b/pytest; PATH=b:$PATH pytest",
            "echo 'print(1)' > pytest.py; python3 -m pytest",
            "echo x | tee b/pytest; b/pytest",
        ] {
            let judged = judge(line, &record, Project::without_runners(&()));
            assert_eq!(judged.proves, Proves::Nothing, "{line}: {}", judged.reason);
        }
        for line in [
            "chmod +x gradlew; pytest",
            "echo '[pytest]' > pytest.ini; pytest",
            "pytest > pytest.log; cat pytest.log",
            "pytest",
        ] {
            let judged = judge(line, &record, Project::without_runners(&()));
            assert_eq!(judged.proves, Proves::FullPass, "{line}: {}", judged.reason);
        }
    }
}
