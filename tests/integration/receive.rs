//! A bare repository on a server: the gate that cannot be skipped from the other side.

use std::path::PathBuf;

use crate::project::{POLICY, Project, reasons};

/// A server whose `main` has the policy and whose hook is installed; a clone without any hook stands on `feature`,
/// one commit ahead.
fn server(policy: &str) -> Project {
    let project = Project::bare_bones();
    project.repo.write("gate.toml", policy).commit_all("chore: policy");
    project.share();
    project.gate_in(&project.remote, ["init", "--yes"]).exits(0);
    assert!(project.remote.join("hooks/pre-receive").exists());
    assert!(!project.repo.path(".git/hooks/pre-push").exists());
    project.edit("one");
    project
}

fn records(project: &Project) -> Vec<PathBuf> {
    let folder = project.remote.join("gate/verdicts");
    let mut files: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().map(|one| one.unwrap().path()).collect();
    files.retain(|path| !path.file_name().unwrap().to_string_lossy().starts_with("verdict_"));
    files.sort();
    files
}

#[test]
fn the_default_branch_is_closed_and_others_are_open() {
    let project = server(POLICY);
    let before = project.refs();
    for push in [
        "git push origin HEAD:main",
        "git push --no-verify origin HEAD:main",
        "git push --no-verify -f origin HEAD:main",
        "git push --no-verify origin :main",
        "git push --no-verify origin HEAD:refs/heads/release/1",
        "git push --no-verify origin HEAD:refs/heads/fine HEAD:main",
        "git send-pack $REMOTE HEAD:refs/heads/main || exit 1",
    ] {
        let line = format!("REMOTE={}; {push}", project.remote.display());
        let said = project.sh(&line);
        assert_eq!(said.code, 1, "{push}: {}", said.text());
        assert!(said.err.contains("is protected"), "{push}: {}", said.text());
        assert_eq!(project.refs(), before, "{push}");
    }
    // What only the other side knows is not held against the push, and said.
    project
        .push("git push origin feature")
        .exits(0)
        .says("pass, with warnings")
        .says("the repository that receives the push has no record of");
    assert_eq!(project.refs()["refs/heads/feature"], project.repo.git(["rev-parse", "HEAD"]));
    let verdict = crate::project::read_json(records(&project).last().unwrap());
    crate::project::valid("verdict", &verdict);
    assert_eq!(reasons(&verdict, "tests"), ["elsewhere"]);
    assert_eq!(verdict["complete"], false);
    project.push("git push origin :feature").exits(0);
    assert_eq!(project.refs(), before);
}

#[test]
fn several_refs_arrive_together_or_not_at_all() {
    let project = server(POLICY);
    project.repo.git(["branch", "two"]);
    project.repo.git(["tag", "v1"]);
    project.sh("git push origin feature two v1").exits(0);
    assert_eq!(project.refs().len(), 4);
    project.edit("two");
    project.sh("git push origin feature two HEAD:main").exits(1).says("main is protected");
    assert_eq!(project.refs()["refs/heads/feature"], project.repo.git(["rev-parse", "two"]));
}

#[test]
fn the_policy_is_that_of_the_default_branch() {
    let strict = format!("{POLICY}\n[gates.tests]\non_unknown = \"block\"\n");
    let project = server(&strict);
    project
        .sh("git push origin feature")
        .exits(1)
        .says("cannot be judged")
        .says("the repository that receives the push has no record of");
    // A branch cannot soften the policy that it is judged by.
    project.repo.write("gate.toml", POLICY.replace("version = 1", "version = 1\nmode = \"off\""));
    project.repo.commit_all("chore: soften");
    project
        .sh("git push origin feature")
        .exits(1)
        .says("the repository that receives the push has no record of")
        .says("policy changed in these commits");
    project.sh("git push origin HEAD:main").exits(1).says("main is protected");
    // A change that breaks it is refused.
    project.repo.write("gate.toml", "version = \"\n").commit_all("chore: break");
    project.sh("git push origin feature").exits(1).says("this change makes gate.toml unreadable");
}

#[test]
fn a_first_push_brings_the_default_branch_into_being() {
    let project = Project::bare_bones();
    project.gate_in(&project.remote, ["init", "--yes"]).exits(0);
    project.sh("git push origin main").exits(0);
    project.sh("git commit -q --allow-empty -m next && git push origin main").exits(1).says("main is protected");
    project.sh("git push origin HEAD:refs/heads/feature").exits(0);
}

#[test]
fn a_broken_policy_on_the_default_branch_lets_nothing_in_and_says_where() {
    let project = server("version = 1\n[comands.test]\nrun = \"true\"\n");
    project.sh("git push origin feature").exits(1).says("gate.toml:2:2").says("did you mean `commands`?");
    // A branch that repairs it is judged by what it brings, where no policy could ever be read.
    project.repo.write("gate.toml", POLICY).commit_all("chore: repair");
    project.sh("git push origin feature").exits(0).says("the repository that receives the push has no record of");
}

#[test]
fn a_symbolic_ref_does_not_hide_the_branch_that_it_moves() {
    let project = server(POLICY);
    project.repo.git_in(&project.remote, ["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    project.repo.git_in(&project.remote, ["symbolic-ref", "refs/heads/twice", "refs/heads/alias"]);
    for name in ["alias", "twice"] {
        project.sh(&format!("git push origin HEAD:refs/heads/{name}")).exits(1).says("main is protected");
        project
            .sh(&format!("git push --no-verify origin HEAD:refs/heads/{name}"))
            .exits(1)
            .says("main is protected")
            .says(&format!("refs/heads/{name} is a symbolic ref there"));
    }
}

#[test]
fn a_commit_made_there_counts_as_one_made_elsewhere() {
    // A run that the receiving repository knows of is as good there as here.
    let project = server(POLICY);
    project.repo.git(["push", "-q", "origin", "feature"]);
    let tree = project.repo.outside().join("tree");
    project.repo.git_in(&project.remote, ["worktree", "add", "-q", "--detach", tree.to_str().unwrap(), "feature"]);
    project.gate_in(&tree, ["run", "test"]).exits(0);
    project.sh("git push origin HEAD:refs/heads/again").exits(0).says("gate: pass").never_says("with warnings");
}

#[test]
fn a_head_that_names_no_branch_lets_nobody_bring_a_policy_of_their_own() {
    let strict = format!("{POLICY}\n[gates.tests]\non_unknown = \"block\"\n");
    let project = server(&strict);
    project.repo.git_in(&project.remote, ["symbolic-ref", "HEAD", "refs/heads/master"]);
    project.repo.write("gate.toml", "version = 1\n").commit_all("chore: soften");
    let before = project.refs();
    project.sh("git push origin feature").exits(1).says("the repository that receives the push has no record of");
    project.sh("git push origin HEAD:main").exits(1).says("main is protected").never_says("first push");
    assert_eq!(project.refs(), before);
    // Without a branch that everybody takes for the default one, its owner has to say which it is.
    project.repo.git_in(&project.remote, ["branch", "-m", "main", "dev"]);
    let refused = project.sh("git push origin feature").exits(1).says("names refs/heads/master, which does not exist");
    remedied(&project, &refused.text(), "git symbolic-ref HEAD refs/heads/dev");
    project.sh("git push origin HEAD:dev").exits(1).says("dev is protected");
}

#[test]
fn a_detached_head_is_said_to_the_owner_of_the_server() {
    let project = server(POLICY);
    let tip = project.repo.git(["rev-parse", "main"]);
    project.repo.git_in(&project.remote, ["update-ref", "--no-deref", "HEAD", &tip]);
    let refused = project.sh("git push origin feature").exits(1).says("its HEAD is detached");
    remedied(&project, &refused.text(), "git symbolic-ref HEAD refs/heads/main");
    project.sh("git push origin HEAD:main").exits(1).says("main is protected");
    project.sh("git push origin feature").exits(0);
}

/// Types the remedy where the owner of the server would.
fn remedied(project: &Project, said: &str, remedy: &str) {
    assert!(said.contains(remedy), "{said}");
    project.sh_in(&project.remote, remedy).exits(0);
}

#[test]
fn no_push_counts_as_an_attempt_where_it_arrives() {
    let project = server(POLICY);
    for _ in 0..5 {
        project.sh("git push origin HEAD:main").exits(1).says("main is protected").never_says("attempt");
    }
}
