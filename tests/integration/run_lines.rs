//! `gate run -- LINE`: which shell runs the line.

use crate::project::Project;

#[test]
fn one_argument_with_shell_syntax_is_a_line_for_sh() {
    let project = Project::new();
    assert_eq!(project.gate(["run", "--", "echo one; echo two"]).exits(0).out, "one\ntwo\n");
    project.gate(["run", "--", "exit 3"]).exits(3);
    project.gate(["run", "--", "sh test.sh"]).exits(0).says("this proves");
    project.gate(["run", "--", "sh test.sh; true"]).exits(0);
    assert_eq!(project.gate(["run", "--", "echo", "one; echo two"]).exits(0).out, "one; echo two\n");
    project.repo.write("a tool", "#!/bin/sh\necho tool\n");
    project.sh("chmod +x 'a tool'");
    assert_eq!(project.gate(["run", "--", "./a tool"]).exits(0).out, "tool\n");
}

#[test]
fn a_line_that_needs_bash_runs_in_bash() {
    let project = Project::new().edited("one");
    for (line, status) in [
        ("set -o pipefail; sh test.sh 2>&1 | tail -3", 0),
        ("sh test.sh 2>&1 | tail -3; exit ${PIPESTATUS[0]}", 0),
        ("[[ -f test.sh ]] && sh test.sh &> ../log", 0),
        ("time (sh test.sh && true)", 0),
        ("pushd . && sh test.sh", 0),
        ("set -o pipefail; false | tail -3", 1),
    ] {
        let said = project.gate(["run", "--", line]).exits(status).says("so bash runs it");
        if status == 0 {
            said.says("this proves test for this commit");
        }
        project.edit(line);
    }
    // A line that any shell understands stays with `sh`, and so does a declared one.
    project.gate(["run", "--", "sh test.sh; exit $?"]).exits(0).never_says("so bash runs it");
    let line = "set -o pipefail; true";
    let policy = format!("version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"{line}\"\n");
    Project::with(&policy).gate(["run", "--", line]).never_says("so bash runs it");
}
