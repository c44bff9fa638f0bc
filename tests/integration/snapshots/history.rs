//! What happened and why: status, log, explanations, and judging again.

use super::Transcript;
use crate::project::Project;

#[test]
fn status() {
    let mut shown = Transcript::new();
    let project = Project::new();
    shown.scene("nothing changed").sh(&project, "gate status");
    project.edit("one");
    shown.scene("not proven").sh(&project, "gate status");
    project.gate(["run", "test"]).exits(0);
    shown.scene("proven").sh(&project, "gate status");
    project.repo.append("src/lib.sh", "two\n");
    shown.scene("the working tree is ahead").sh(&project, "gate status");
    let observed = Project::bare_bones();
    observed.share();
    observed.gate(["init", "--yes", "--observe", "--test", "sh test.sh"]).exits(0);
    observed.repo.commit_all("chore: policy");
    observed.edit("one");
    shown.scene("observing").sh(&observed, "git push -q origin feature");
    shown.sh(&observed, "gate status").sh(&observed, "gate status --observed");
    shown.is("status");
}

#[test]
fn log() {
    let mut shown = Transcript::new();
    let project = Project::new();
    shown.scene("an empty record").sh(&Project::bare_bones(), "gate log");
    project.edit("one");
    project.gate(["check"]).exits(10);
    project.gate(["run", "test"]).exits(0);
    project.push("git push -q origin feature").exits(0);
    project.edit("broken");
    project.gate(["run", "test"]).exits(101);
    project.push("git push -q origin HEAD:main").exits(1);
    project.sh("env -u GIT_COMMITTER_DATE git push -q --no-verify origin feature").exits(0);
    shown.scene("a day of work").sh(&project, "gate log");
    shown.scene("what it says later of the push without hooks").sh(&project, "gate check");
    shown.is("log");
}

#[test]
fn explanations() {
    let mut shown = Transcript::new();
    let project = Project::new();
    shown.sh(&project, "gate explain");
    project.edit("one");
    project.gate(["check"]).exits(10);
    for what in ["tests", "atomic", "protected-branch", "nothing-of-this-name", ""] {
        shown.sh(&project, format!("gate explain {what}").trim_end());
    }
    shown.is("explanations");
}

#[test]
fn judging_again() {
    let mut shown = Transcript::new();
    let project = Project::new().edited("one");
    project.push("git push -q origin feature").exits(1);
    let record = project.records().pop().expect("a record");
    let record = record.strip_prefix(project.repo.root()).expect("a path").display().to_string();
    shown.scene("at once").sh(&project, &format!("gate replay {record}"));
    project.gate(["run", "test"]).exits(0);
    shown.scene("after the missing run").sh(&project, &format!("gate replay {record}"));
    shown.scene("an appeal").sh(&project, "gate appeal --expect pass -o ../case.json; gate replay ../case.json");
    shown.scene("no such verdict").sh(&project, "gate replay nothing-of-this-name");
    shown.is("judging_again");
}

#[test]
fn sessions_and_decisions() {
    let mut shown = Transcript::new();
    let project = Project::new();
    shown.sh(&project, "gate sessions").sh(&project, "gate decisions").sh(&project, "gate assess </dev/null");
    shown.is("sessions_and_decisions");
}
