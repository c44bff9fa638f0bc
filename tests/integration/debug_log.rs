//! The debug log: `gate -v` and `GATE_LOG`.

use crate::project::Project;

#[test]
fn verbose_shows_what_git_is_asked_and_what_each_gate_answers() {
    let project = Project::new();
    let verbose = project.gate(["-v", "check"]);
    verbose.says("git::command: git ").says("engine::policy_choice: policy: ").says("gates: tests: ");
    project.gate(["check"]).never_says("git::command");
}

#[test]
fn the_variable_sets_the_level_and_a_wrong_one_is_named() {
    let project = Project::new();
    let run = |level: &str| project.sh(&format!("GATE_LOG={level} gate check"));
    run("debug").says("git::command: git ");
    run("info").never_says("git::command");
    run("loud").says("GATE_LOG is `loud`; use off, error, warn, info, debug or trace");
}
