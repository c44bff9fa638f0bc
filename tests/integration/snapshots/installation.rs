//! Setting gate up, checking that it works, and taking it out.

use super::Transcript;
use crate::project::Project;

#[test]
fn installation() {
    let mut shown = Transcript::new();
    let project = Project::bare_bones();
    project.share();
    shown.scene("nothing installed").sh(&project, "gate doctor").sh(&project, "gate uninstall");
    shown.scene("the plan").sh(&project, "gate init --test 'sh test.sh' --no-clients");
    let clients = "gate init --test 'sh test.sh' --clients claude,codex";
    shown.scene("the plan with clients, without its diff").sh(&project, &format!("{clients} 2>&1 | grep -v '^[-+@ ]'"));
    let carried_out = "gate init --test 'sh test.sh' --clients claude --yes 2>&1 | grep -v '^[-+@ ]'";
    shown.scene("carried out").sh(&project, carried_out);
    shown.scene("once more").sh(&project, "gate init --yes");
    shown.scene("doctor").sh(&project, "gate doctor");
    shown.scene("the hook is damaged").sh(&project, "echo exit 0 >.git/hooks/pre-push; gate doctor");
    shown
        .scene("the plan of the way back")
        .sh(&project, "gate init --yes >/dev/null 2>&1; gate uninstall 2>&1 | grep -v '^[-+@ ]'");
    shown.scene("gone").sh(&project, "gate uninstall --yes 2>&1 | grep -v '^[-+@ ]'");
    shown.is("installation");
}

#[test]
fn installation_with_other_stacks() {
    let mut shown = Transcript::new();
    let project = Project::bare_bones();
    project.repo.write("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\n");
    project.repo.write("src/lib.rs", "#[test]\nfn one() {}\n").commit_all("feat: a crate");
    shown.scene("cargo").sh(&project, "gate init --no-clients");
    shown.scene("observing").sh(&project, "gate init --observe --no-clients");
    shown.is("installation_with_other_stacks");
}
