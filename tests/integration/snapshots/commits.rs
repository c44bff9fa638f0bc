//! Commits that hold more than one change.

use super::Transcript;
use crate::project::{POLICY, Project};

/// A project with three scopes, which are declared on `main`.
fn project() -> Project {
    let scopes = "\n[scopes]\nparser = [\"src/parser/**\"]\nweb = [\"web/**\"]\napi = [\"api/**\"]\n";
    Project::with(&format!("{}{scopes}", POLICY.replace("src/**", "lib/**")))
}

/// Two changes that nothing connects.
fn mixed(project: &Project) {
    project.repo.write("src/parser/m.rs", "let alpha = 1;\n").write("web/m.css", "body { margin: 1px }\n");
}

#[test]
fn commits() {
    let mut shown = Transcript::new();
    let project = project();
    mixed(&project);
    shown.scene("refused by the hook").sh(&project, "git add -A && git commit -q -m 'feat(parser): read alpha'");
    project.sh("git commit -q --no-verify -m 'feat(parser): read alpha'").exits(0);
    project.repo.write("api/a.rs", "fn beta() {}\n");
    project.sh("git add -A && git commit -q --no-verify -m 'feat(web): beta'").exits(0);
    project.repo.write("api/b.rs", "fn gamma() {}\n");
    project.sh("git add -A && git commit -q --no-verify -m 'feat(apis): gamma'").exits(0);
    shown.scene("each commit").sh(&project, "gate commits");
    shown.scene("check").sh(&project, "gate check");
    shown.scene("push").sh(&project, "git push -q origin feature");
    shown.scene("where a file belongs").sh(&project, "gate explain-path web/m.css README.md");
    shown.scene("a history").sh(&project, "gate commits --history 3");
    shown.scene("no such range").sh(&project, "gate commits nothing..HEAD");
    shown.is("commits");
}

#[test]
fn splits() {
    let mut shown = Transcript::new();
    let project = project();
    mixed(&project);
    project.sh("git add -A && git commit -q --no-verify -m 'feat(parser): read alpha'").exits(0);
    shown.scene("the plan").sh(&project, "gate commit --split");
    shown.scene("carried out").sh(&project, "gate commit --split --yes && git log --oneline -2");
    shown.scene("nothing to split").sh(&project, "gate commit --split");
    shown.is("splits");
}
