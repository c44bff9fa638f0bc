//! Several components in one repository: what a change asks for follows from the paths it touches.

use crate::project::{Project, reasons};

/// A cargo package at the root and a front end in `web/`, their commands as small scripts.
const POLICY: &str = r#"version = 1

[commands.test]
gate = "tests"
run = "sh cargo-test.sh"
inputs = ["**", "!web/**"]

[commands.web-test]
gate = "tests"
run = "sh npm-test.sh"
dir = "web"

[commands.web-build]
gate = "build"
run = "sh npm-build.sh"
dir = "web"
"#;

fn project() -> Project {
    with(POLICY)
}

fn with(policy: &str) -> Project {
    let project = Project::bare_bones();
    let repo = &project.repo;
    repo.write("gate.toml", policy).write("cargo-test.sh", "true\n");
    repo.write("web/npm-test.sh", "true\n").write("web/npm-build.sh", "true\n").write("web/app.js", "one\n");
    repo.write("docs/guide.md", "guide\n").write("web/README.md", "web\n").commit_all("feat: components");
    project.share();
    project.gate(["init", "--yes"]).exits(0);
    project
}

/// The commands that a change of `path` asks for, as `gate check` and as a push say it.
fn asked(project: &Project, path: &str) -> Vec<String> {
    project.repo.git(["switch", "-q", "-C", "feature", "origin/main"]);
    project.repo.write(path, format!("changed {path}\n")).commit_all(path);
    let asked = |verdict: &serde_json::Value| {
        let findings =
            verdict["gates"].as_array().unwrap().iter().flat_map(|gate| gate["findings"].as_array().unwrap());
        let open = findings.filter(|finding| finding["reason"] != "not-required" && !finding["command"].is_null());
        let mut names: Vec<_> = open.map(|finding| finding["command"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    let checked = asked(&project.verdict());
    let pushed = project.push(&format!("git push -f origin HEAD:refs/heads/{}", path.replace(['/', '.'], "-")));
    assert_eq!(pushed.code, i32::from(!checked.is_empty()), "{path}: {}", pushed.text());
    assert_eq!(asked(&crate::project::read_json(project.records().last().unwrap())), checked, "{path}");
    checked
}

#[test]
fn a_change_asks_for_the_commands_of_its_component_and_no_others() {
    let project = project();
    for (path, expected) in [
        ("web/app.js", &["web-build", "web-test"][..]),
        ("web/deep/new.js", &["web-build", "web-test"]),
        ("src/lib.sh", &["test"]),
        ("Cargo.toml", &["test"]),
        ("website/index.html", &["test"]),
        ("docs/guide.md", &[]),
        ("README.md", &[]),
        ("web/README.md", &[]),
        ("LICENSE-MIT", &[]),
        (".gitignore", &[]),
        (".github/workflows/ci.yml", &[]),
        (".pre-commit-config.yaml", &["test"]),
    ] {
        assert_eq!(asked(&project, path), expected, "{path}");
    }
}

#[test]
fn evidence_is_kept_per_component() {
    let project = project();
    let repo = &project.repo;
    repo.write("web/app.js", "two\n").write("src/lib.sh", "two\n").commit_all("feat: both");
    project.gate(["run"]).exits(0).says("gate: test: sh cargo-test.sh").says("gate: web-test: sh npm-test.sh");
    project.check().exits(0);
    // One of them changes: the other's evidence holds.
    repo.append("web/app.js", "three\n").commit_all("feat: web");
    let verdict = project.verdict();
    assert_eq!(verdict["next_actions"][0], "gate run web-build web-test");
    project.gate(["run"]).exits(0).never_says("cargo-test.sh").says("npm-build.sh").says("npm-test.sh");
    project.check().exits(0);
    project.push("git push origin feature").exits(0);
    // A gate's name runs its commands, where they belong.
    project.gate(["run", "build"]).exits(0).says("web-build").never_says("web-test");
    project.gate(["run", "tests"]).exits(0).says("gate: test:").says("web-test");
}

#[test]
fn documentation_asks_for_nothing_unless_a_command_takes_it_back() {
    let project = with(&POLICY.replace("inputs = [\"**\", \"!web/**\"]", "ignore = [\"!README.md\"]"));
    assert_eq!(asked(&project, "docs/guide.md"), [""; 0]);
    assert_eq!(asked(&project, "README.md"), ["test"]);
    assert_eq!(asked(&project, "web/README.md"), [""; 0]);
    project.gate(["explain", "tests"]).exits(0).says("**/*.md");
}

#[test]
fn a_command_that_was_changed_voids_what_the_old_one_proved() {
    // No policy at the base: the branch's own applies, at once.
    let project = Project::bare_bones();
    project.repo.write("web/page", "one\n").commit_all("feat: a page");
    project.share();
    project.repo.write("gate.toml", POLICY).write("cargo-test.sh", "true\n").write("strict.sh", "true\n");
    project.repo.commit_all("feat: policy and scripts");
    project.gate(["init", "--yes"]).exits(0);
    project.gate(["run"]).exits(0);
    project.check().exits(0);
    project.repo.write("gate.toml", POLICY.replace("sh cargo-test.sh", "sh strict.sh"));
    project.repo.commit_all("chore: stricter");
    let verdict = project.verdict();
    assert_eq!(reasons(&verdict, "tests"), ["redeclared"]);
    let text = verdict["feedback"].as_str().unwrap();
    assert!(
        text.contains("`test` is now declared as `sh strict.sh`; the recorded run was `sh cargo-test.sh`"),
        "{text}"
    );
    project.push("git push origin feature").exits(1).says("`test` is now declared as `sh strict.sh`");
    project.gate(["run", "test"]).exits(0);
    project.check().exits(0);
    // Declared as before, what was proven before is proven again.
    project.repo.write("gate.toml", POLICY).commit_all("chore: as before");
    project.check().exits(0);
}

#[test]
fn a_branch_is_judged_by_the_commands_it_left_from() {
    let project = project();
    project.repo.write("src/lib.sh", "two\n").write("gate.toml", POLICY.replace("sh cargo-test.sh", "true"));
    project.repo.commit_all("feat: an easier test");
    project.check().exits(10).says("no run of `sh cargo-test.sh`").says("policy changed in these commits");
    // What the branch would like to run proves nothing.
    project.gate(["run", "--", "true"]).exits(0);
    project.check().exits(10);
    project.push("git push origin feature").exits(1).says("policy changed in these commits");
    project.gate(["run", "test"]).exits(0).says("sh cargo-test.sh");
    project.check().exits(0);
    // An edit that is not committed changes nothing either.
    project.repo.write("gate.toml", "version = 1\nmode = \"off\"\n").write("src/lib.sh", "three\n");
    project
        .check()
        .exits(10)
        .says("src/lib.sh changed since `sh cargo-test.sh` passed")
        .says("policy changed in these commits");
}
