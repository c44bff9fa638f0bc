//! The story that `gate` tells its users, line by line, with the exit codes and the words that decide.

use crate::project::{POLICY, Project, paths, reasons};
use crate::support::TestRepo;

#[test]
fn the_story_from_init_to_a_protected_branch() {
    let project = Project::bare_bones();
    project.share();
    let repo = &project.repo;
    project.gate(["init", "--yes", "--test", "sh test.sh"]).exits(0);
    repo.commit_all("chore: gate");

    project.edit("a change");
    project
        .check()
        .exits(10)
        .says("check blocked")
        .says("tests: gate has seen no run of `sh test.sh` on this content")
        .says("next: gate run test");
    let refused = project.push("git push origin feature").exits(1);
    let refused = refused.says("push blocked").says("tests: gate has seen no run of `sh test.sh` on this content");
    refused.says("next: gate push origin feature");
    assert!(!project.refs().contains_key("refs/heads/feature"));

    project.gate(["run", "test"]).exits(0).says("test result: ok. 3 passed").says("gate: test passed");
    project.check().exits(0).says("pass  HEAD").says("3 passed");
    project.push("git push origin feature").exits(0).says("gate: pass  feature");
    assert_eq!(project.refs()["refs/heads/feature"], repo.git(["rev-parse", "HEAD"]));

    project
        .push("echo >> src/lib.sh; git commit -qam x; git push origin feature")
        .exits(1)
        .says("src/lib.sh changed since `sh test.sh` passed");
    project.check().exits(10).says("src/lib.sh changed since");

    repo.git(["revert", "--no-edit", "HEAD"]);
    project.check().exits(0);
    repo.git(["commit", "-q", "--amend", "-m", "other words"]);
    project.check().exits(0);
    project.push("git push origin feature").exits(0).says("gate: pass");
    assert_eq!(project.refs()["refs/heads/feature"], repo.git(["rev-parse", "HEAD"]));

    let main = project.refs()["refs/heads/main"].clone();
    project
        .push("git push origin HEAD:main")
        .exits(1)
        .says("main is protected: changing it needs a pull request")
        .says("push to another branch and open a pull request from it")
        .says("next: git push origin feature\n");
    assert_eq!(project.refs()["refs/heads/main"], main);
}

#[test]
fn rebase_squash_cherry_pick_stash_and_pop_keep_what_they_do_not_change() {
    let project = Project::new();
    let repo = &project.repo;
    project.edit("one");
    project.edit("two");
    project.gate(["run", "test"]).exits(0);
    let tested = repo.git(["rev-parse", "HEAD"]);
    project.check().exits(0);

    // main moves on, outside what the command reads.
    repo.git(["switch", "-q", "--detach", "origin/main"]);
    repo.append("README.md", "more\n").commit_all("docs: more");
    repo.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    repo.git(["switch", "-q", "feature"]);
    repo.git(["rebase", "-q", "origin/main"]);
    assert_ne!(repo.git(["rev-parse", "HEAD"]), tested);
    project.check().exits(0).says("3 passed");

    repo.git(["reset", "-q", "--soft", "HEAD~2"]);
    repo.git(["commit", "-q", "-m", "squashed"]);
    project.check().exits(0);

    repo.git(["switch", "-q", "-c", "other", "origin/main"]);
    repo.git(["cherry-pick", "feature"]);
    project.check().exits(0);
    project.push("git push origin other").exits(0);

    repo.append("src/lib.sh", "in the stash\n");
    project.check().exits(10).says("src/lib.sh changed since");
    repo.git(["stash", "-q"]);
    project.check().exits(0);
    repo.git(["stash", "pop", "-q"]);
    project.check().exits(10).says("src/lib.sh changed since");
    project.gate(["run", "test"]).exits(0);
    // What lies in the working tree is proven; the commit below it is what was tested before.
    project.check().exits(0);
    repo.git(["stash", "-q"]);
    repo.git(["stash", "pop", "-q"]);
    project.check().exits(0);
    repo.commit_all("feat: from the stash");
    project.check().exits(0);
}

#[test]
fn a_rebase_onto_other_source_asks_again_and_names_it() {
    let project = Project::new();
    let repo = &project.repo;
    project.edit("one");
    project.gate(["run", "test"]).exits(0);
    repo.git(["switch", "-q", "--detach", "origin/main"]);
    repo.append("src/other.sh", "more\n").commit_all("feat: elsewhere");
    repo.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    repo.git(["switch", "-q", "feature"]);
    repo.git(["rebase", "-q", "origin/main"]);
    let verdict = project.verdict();
    assert_eq!(reasons(&verdict, "tests"), ["stale"]);
    assert_eq!(paths(&verdict, "tests"), ["src/other.sh"]);
}

#[test]
fn a_linked_working_tree_shares_the_record_and_a_clone_does_not() {
    let project = Project::new();
    let repo = &project.repo;
    project.edit("one");
    project.gate(["run", "test"]).exits(0);

    let linked = repo.outside().join("linked");
    repo.git(["worktree", "add", "-q", "--detach", linked.to_str().unwrap()]);
    project.check_in(&linked).exits(0).says("3 passed");
    // And what the linked one runs counts here.
    repo.git_in(&linked, ["switch", "-q", "-c", "second"]);
    std::fs::write(linked.join("src/lib.sh"), "rewritten\n").unwrap();
    repo.git_in(&linked, ["commit", "-q", "-a", "-m", "feat: rewritten"]);
    project.check_in(&linked).exits(10);
    project.gate_in(&linked, ["run", "test"]).exits(0);
    project.check_in(&linked).exits(0);
    project.push("git push origin second").exits(0);
    repo.git(["switch", "-q", "--detach", "second"]);
    project.check().exits(0);

    let clone = repo.outside().join("clone");
    repo.git(["clone", "-q", "--branch", "second", project.remote.to_str().unwrap(), clone.to_str().unwrap()]);
    project.check_in(&clone).exits(10).says("no run of `sh test.sh` on this content");
}

#[test]
fn a_new_file_that_was_not_added_is_named_and_a_scratch_file_is_not() {
    let project = Project::new();
    let repo = &project.repo;
    repo.append("src/lib.sh", "uses new\n").write("src/new.sh", "new\n").write("scratch.txt", "notes\n");
    project.gate(["run", "test"]).exits(0);
    project.check().exits(0).says("working tree");
    repo.git(["commit", "-q", "-a", "-m", "feat: forgot to add"]);
    let verdict = project.verdict();
    assert_eq!(reasons(&verdict, "tests"), ["uncommitted"]);
    assert_eq!(paths(&verdict, "tests"), ["src/new.sh"]);
    let next = verdict["next_actions"][0].as_str().unwrap();
    assert!(next.starts_with("commit the files that belong") && !next.contains("git add"), "{next}");
    project.push("git push origin feature").exits(1).says("src/new.sh");
    project.sh("git add -- src/new.sh && git commit -qm 'feat: added'").exits(0);
    project.check().exits(0);
    project.push("git push origin feature").exits(0);
    assert!(repo.path("scratch.txt").exists());
}

#[test]
fn a_commit_of_a_part_is_proven_alone_and_the_rest_stays() {
    let project = Project::new();
    let repo = &project.repo;
    repo.append("src/lib.sh", "a fix\n").append("test.sh", "# in progress\n").write("scratch.txt", "mine\n");
    repo.git(["commit", "-q", "-m", "feat: a part", "src/lib.sh"]);
    project.gate(["run", "test"]).exits(0);
    let alone = "git stash && (gate run test; git stash pop)";
    project.push("git push origin feature").exits(1).says("while test.sh differed from this commit").says(alone);
    project.check().says(alone);
    project.sh(alone).exits(0);
    assert!(repo.read("test.sh").ends_with(b"# in progress\n") && repo.path("scratch.txt").exists());
    project.push("git push origin feature").exits(0);
}

#[test]
fn a_folder_that_is_nowhere_is_said() {
    let policy =
        |dir: &str| format!("version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"true\"\ndir = \"{dir}\"\n");
    let project = Project::with(&policy("source")).edited("one");
    project.check().exits(0).says("gate.toml says `dir = \"source\"` for `test`");
    let project = Project::with(&policy("src"));
    project.repo.append("README.md", "more\n").commit_all("docs: more");
    project.check().exits(0).never_says("nowhere");
}

#[test]
fn a_fix_in_the_working_tree_proves_nothing_about_the_broken_commit() {
    let project = Project::new();
    let repo = &project.repo;
    project.edit("broken");
    project.gate(["run", "test"]).exits(101).says("gate: test ended with status 101 (2 passed, 1 failed");
    let verdict = project.verdict();
    assert_eq!(reasons(&verdict, "tests"), ["failed"]);
    repo.write("src/lib.sh", "mended\n");
    project.gate(["run", "test"]).exits(0);
    let verdict = project.verdict();
    assert_eq!(verdict["outcome"], "blocked");
    assert_eq!(paths(&verdict, "tests"), ["src/lib.sh"]);
    project.push("git push origin feature").exits(1);
    assert!(!project.refs().contains_key("refs/heads/feature"));
    project.sh("git commit -qam 'fix: mended'").exits(0);
    project.check().exits(0);
    project.push("git push origin feature").exits(0);
}

#[test]
fn init_again_adds_nothing_and_uninstall_ends_the_story() {
    let project = Project::new();
    let before = project.repo.read("gate.toml");
    project.gate(["init", "--yes"]).exits(0);
    assert_eq!(project.repo.read("gate.toml"), before);
    project.edit("one");
    project.push("git push origin feature").exits(1);
    project.gate(["uninstall", "--yes"]).exits(0);
    project.push("git push origin feature").exits(0).never_says("gate:");
}

#[test]
fn without_a_policy_there_are_defaults_and_a_hint() {
    let project = Project::bare_bones();
    project.share();
    project.edit("one");
    project
        .check()
        .exits(0)
        .says("pass, with warnings")
        .says("code changed (src/lib.sh), but gate.toml declares no command that tests it")
        .says("gate init --test");
    project.gate(["status"]).exits(0).says("no gate.toml: the defaults (gate init writes one)");
    project.gate(["run"]).exits(0);
    project.gate(["run", "test"]).exits(64).says("no command `test` is declared").says("gate init --test");
}

#[test]
fn a_run_on_an_unborn_branch_is_worth_something_after_the_first_commit() {
    let repo = TestRepo::new();
    repo.write("gate.toml", POLICY).write("src/lib.sh", "x\n").write("test.sh", crate::project::TEST);
    let remote = repo.outside().join("none.git");
    let project = Project { repo, remote };
    project.check().exits(10).says("no run of `sh test.sh`");
    project.gate(["run", "test"]).exits(0);
    project.check().exits(0);
    project.repo.commit_all("feat: first");
    project.check().exits(0);
}
