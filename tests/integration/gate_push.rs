//! `gate push`: what is missing runs, and then git pushes.

use crate::project::Project;

#[test]
fn what_is_missing_runs_and_then_git_pushes() {
    let project = Project::new().edited("one");
    let pushed = project.gate(["push", "-q", "origin", "feature"]).exits(0);
    pushed.says("gate: test: sh test.sh").says("pass");
    assert_eq!(project.refs().get("refs/heads/feature"), Some(&project.repo.git(["rev-parse", "feature"])));
    // Nothing is missing: nothing runs.
    project.repo.git(["branch", "other"]);
    project.gate(["push", "-q", "origin", "other"]).exits(0).never_says("sh test.sh");
    // Nothing to push: git says so.
    project.gate(["push", "origin", "feature"]).exits(0).says("Everything up-to-date");
}

#[test]
fn a_failure_pushes_nothing_and_has_the_status_of_the_command() {
    let project = Project::new().edited("broken");
    let before = project.refs();
    project.gate(["push", "origin", "feature"]).exits(101).says("nothing was pushed, because test did not pass");
    assert_eq!(project.refs(), before);
}

#[test]
fn what_no_run_clears_is_refused_before_anything_runs() {
    let project = Project::new().edited("one");
    let before = project.refs();
    project.gate(["push", "origin", "HEAD:main"]).exits(10).says("protected").never_says("gate: test: sh test.sh");
    project.gate(["push", "--no-verify", "origin", "feature"]).exits(64).says("would skip the hook");
    project.gate(["push", "origin", "feature", "--no-verif"]).exits(64).says("would skip the hook");
    project.repo.append("src/lib.sh", "dirty\n");
    project.gate(["push", "origin", "feature"]).exits(10).says("src/lib.sh is not committed").says("git stash");
    project.sh("git stash -q && gate push -q origin feature && git stash pop -q").exits(0);
    assert_eq!(project.refs().len(), before.len() + 1);
    // What is pushed is not what is checked out.
    project.repo.git(["checkout", "-q", "--", "."]);
    project.edit("two");
    project.repo.git(["branch", "elsewhere"]);
    project.repo.git(["reset", "-q", "--hard", "HEAD~1"]);
    project.gate(["push", "origin", "elsewhere"]).exits(10).says("is not checked out");
    project.sh("git switch -q elsewhere && gate push -q origin elsewhere").exits(0);
}

#[test]
fn a_dry_run_says_what_would_run() {
    let project = Project::new().edited("one");
    let before = project.refs();
    let said = project.gate(["push", "--dry-run", "origin", "feature"]).exits(0);
    said.says("gate: would run test: sh test.sh").never_says("3 passed");
    project.gate(["push", "--dry", "origin", "feature"]).exits(0).says("would run").never_says("3 passed");
    project.gate(["push", "-qn", "origin", "feature"]).exits(0).says("would run").never_says("3 passed");
    assert_eq!(project.refs(), before);
}

#[test]
fn what_git_refuses_is_gits_to_explain() {
    let project = Project::new().edited("one");
    project.gate(["push", "nowhere", "feature"]).exits(128).says("nowhere");
    project.gate(["push", "origin", "no-such-branch"]).exits(1).says("no-such-branch");
}

#[test]
fn without_a_hook_the_push_is_judged_all_the_same() {
    let project = Project::new().edited("one");
    project.repo.git(["config", "core.hooksPath", "/dev/null"]);
    let before = project.refs();
    project.gate(["push", "origin", "HEAD:main"]).exits(10);
    assert_eq!(project.refs(), before);
    project.gate(["push", "-q", "origin", "feature"]).exits(0).says("gate: test: sh test.sh");
}

#[test]
fn from_another_working_tree_the_command_goes_there_first() {
    let project = Project::new();
    project.sh("git worktree add -q ../linked -b second").exits(0);
    project.sh("cd ../linked && echo more >> src/lib.sh && git commit -qam 'feat: more'").exits(0);
    let refused = project.push("cd ../linked && git push -u origin second").exits(1);
    let line = next(&refused.text());
    assert!(line.starts_with("cd /") && line.ends_with("/linked && gate push --set-upstream origin second"), "{line}");
    // The branch is not checked out here.
    let elsewhere = project.gate(["push", "origin", "second"]).exits(10).text();
    let there = elsewhere.lines().find_map(|line| line.trim().strip_suffix(" && gate push"));
    assert_eq!(there, line.split(" && ").next(), "{elsewhere}");
    project.sh(&line).exits(0);
}

/// Returns the command that a refusal prints.
fn next(refused: &str) -> String {
    let line = refused.lines().find_map(|line| line.trim().strip_prefix("next: ")).map(str::to_owned);
    line.unwrap_or_else(|| panic!("no next command in: {refused}"))
}

#[test]
fn a_refused_push_names_it_and_that_line_pushes() {
    let project = Project::new().edited("one");
    let refused = project.push("git push origin feature").exits(1);
    assert_eq!(next(&refused.text()), "gate push origin feature");
    project.sh("gate push origin feature").exits(0);
    // Another name on the other side, and a forced push.
    project.edit("two");
    let refused = project.push("git push origin HEAD:topic").exits(1);
    assert_eq!(next(&refused.text()), "gate push origin feature:refs/heads/topic");
    let refused = project.push("git push -u origin feature:topic").exits(1);
    assert_eq!(next(&refused.text()), "gate push --set-upstream origin feature:refs/heads/topic");
    project.sh("gate push origin feature:refs/heads/topic").exits(0);
    project.repo.append("src/lib.sh", "three\n");
    project.repo.git(["commit", "-q", "--all", "--amend", "--message", "feat: amended"]);
    let refused = project.push("git push --force-with-lease origin HEAD:topic").exits(1);
    assert_eq!(next(&refused.text()), "gate push --force-with-lease origin feature:refs/heads/topic");
    let refused = project.push("git push --force origin HEAD:topic").exits(1);
    assert_eq!(next(&refused.text()), "gate push origin +feature:refs/heads/topic");
    project.sh("gate push origin +feature:refs/heads/topic").exits(0);
    // What is not committed is put aside and back, for a run would not prove what is pushed.
    project.edit("four");
    project.repo.append("src/lib.sh", "later\n").write("src/new.sh", "untracked\n");
    let refused = project.push("git push origin feature").exits(1);
    let line = next(&refused.text());
    let stash = "git stash push --include-untracked -- src/lib.sh src/new.sh";
    assert_eq!(line, format!("{stash} && (gate push origin feature; git stash pop)"));
    project.sh(&line).exits(0);
    assert!(String::from_utf8_lossy(&project.repo.read("src/lib.sh")).ends_with("later\n"));
    project.sh("rm src/new.sh && git checkout -q src/lib.sh").exits(0);
    // The same after a run with a file on disk that the commit does not have.
    project.edit("four and a half");
    project.repo.write("src/todo.sh", "later\n");
    project.gate(["run", "test"]).exits(0).says("not as in the last commit: src/todo.sh");
    let refused = project.push("git push origin feature").exits(1).says("passed with src/todo.sh on disk");
    let line = next(&refused.text());
    assert_eq!(line, "git stash push --include-untracked -- src/todo.sh && (gate push origin feature; git stash pop)");
    project.sh(&line).exits(0);
    project.sh("rm src/todo.sh").exits(0);
    // What is not checked out cannot be proven here.
    project.edit("five");
    project.sh("git branch later && git reset -q --hard HEAD~1").exits(0);
    let refused = project.push("git push origin later").exits(1);
    assert!(!refused.text().contains("gate push"), "{}", refused.text());
}

#[test]
fn a_file_that_the_commit_uses_and_lacks_is_added_to_it() {
    let project =
        Project::with("version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh test.sh\"\ninputs = [\"**\"]\n");
    project.repo.write("tests/test_extra.py", "import extra63\n").write("test.sh", "[ -e extra63.py ]\n");
    project.edit("one");
    project.repo.write("extra63.py", "x = 1\n");
    project.gate(["run", "test"]).exits(0);
    let line = next(&project.push("git push origin feature").exits(1).text());
    assert_eq!(line, "git add -- extra63.py && git commit --amend --no-edit && gate push origin feature");
    project.sh(&line).exits(0).says("gate: pass");
}

#[test]
fn the_line_for_a_file_that_was_not_added_runs_all_commands() {
    let project = Project::with(
        "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh test.sh\"\n\
         [commands.build]\ngate = \"build\"\nrun = \"echo building\"\n",
    );
    project.edit("one");
    project.repo.write("src/todo.sh", "later\n");
    project.gate(["run"]).exits(0);
    let line = next(&project.push("git push origin feature").exits(1).text());
    assert_eq!(line, "git stash push --include-untracked -- src/todo.sh && (gate push origin feature; git stash pop)");
    project.sh(&line).exits(0);
}

#[test]
fn the_hook_runs_what_is_missing_where_the_policy_has_it_so() {
    let project = Project::new();
    project.repo.append("gate.toml", "\n[push]\nrun = \"missing\"\n");
    project.repo.commit_all("chore: run what is missing at a push");
    project.repo.git(["push", "-q", "--no-verify", "origin", "HEAD:main"]);
    project.repo.git(["fetch", "-q"]);
    project.edit("one");
    let pushed = project.push("git push --porcelain origin feature 2>said").exits(0);
    assert!(!pushed.text().contains("sh test.sh"), "{}", pushed.text());
    let said = String::from_utf8_lossy(&project.repo.read("said")).into_owned();
    assert!(said.contains("gate: the push waits for: gate run test") && said.contains("3 passed"), "{said}");
    project.push("rm said; git push origin feature").exits(0).never_says("waits for");
    // A failure refuses the push, and so does what no run clears, which runs nothing.
    project.edit("broken");
    project.push("git push origin feature").exits(1).says("waits for: gate run test").says("push blocked");
    project.push("git push origin HEAD:main").exits(1).says("protected").never_says("waits for");
    project.repo.append("src/lib.sh", "dirty\n");
    project.push("git push origin feature").exits(1).never_says("waits for");
}

#[test]
fn a_check_says_that_a_push_of_this_branch_would_be_refused() {
    let project = Project::new();
    let refused = "a plain `git push` would be refused here, because main is protected: changing it needs a pull request; instead: ";
    project.check().exits(0).never_says("would be refused");
    project.repo.git(["switch", "-q", "main"]);
    project.check().exits(0).never_says("would be refused");
    project.edit("one");
    project.gate(["run", "test"]).exits(0);
    let said = project.check().exits(0).says(refused);
    // What is said to be typed instead is not refused.
    let instead = said.out.split("instead: ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
    project.push(instead).exits(0);
    project.push("git push origin main").exits(1).says("main is protected");
    project.repo.git(["switch", "-qc", "topic"]);
    project.check().exits(0).never_says("would be refused");
}
