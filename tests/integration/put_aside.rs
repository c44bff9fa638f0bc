//! Work that a session put aside before it stopped, and a policy that it made softer, whatever the words of its commands.

use serde_json::{Value, json};

use crate::client_session::Session;
use crate::project::Project;

const CLAIM: &str = "Done, all tests pass.";

/// A session that changed the library and has not proven it.
fn begun(project: &Project) -> Session<'_> {
    let session = Session::claude(project);
    session.hook("SessionStart", json!({"source": "startup"})).quiet();
    session.prompt("change the library");
    assert_eq!(session.run("echo more >> src/lib.sh"), 0);
    session
}

fn told(session: &Session<'_>, words: &str) -> String {
    let said = session.stop(words);
    let answer: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    assert!(answer.get("decision").is_none(), "{answer}");
    answer["systemMessage"].as_str().unwrap().to_owned()
}

#[test]
fn a_commit_of_others_that_is_only_checked_out_holds_no_stop() {
    let project = Project::new();
    // A colleague's branch, and one that only this machine has.
    project.repo.git(["switch", "-q", "-c", "other"]);
    project.edit("a change of a colleague");
    project.repo.git(["push", "-q", "--no-verify", "origin", "other"]);
    project.repo.git(["switch", "-q", "-c", "local"]);
    project.edit("a change that no remote has");
    project.repo.git(["switch", "-q", "feature"]);
    let session = Session::claude(&project).prompted("change the library");
    assert_eq!(session.run("echo three >> src/lib.sh && git commit -qam 'feat: three'"), 0);
    assert_eq!(session.run("sh test.sh"), 0);
    assert_eq!(session.run("git checkout -q --detach origin/other"), 0);
    session.stop("Done, all tests passed.").never_says("\"block\"");
    assert_eq!(session.run("git checkout -q other"), 0);
    session.stop("Done, the tests passed.").never_says("\"block\"");

    assert_eq!(session.run("git checkout -q local"), 0);
    session.stop("Done: the tests passed.").pushes("gate run test");
    assert_eq!(session.run("git checkout -q other && echo four >> src/lib.sh"), 0);
    session.stop("Done: all tests passed.").pushes("gate run test");
    assert_eq!(session.run("git commit -qam 'feat: four'"), 0);
    project.repo.git(["push", "-q", "--no-verify", "origin", "HEAD"]);
    session.stop("Done, and all tests passed.").pushes("gate run test");
}

#[test]
fn unproven_work_that_is_put_aside_is_not_called_finished() {
    for (line, name, proof) in [
        ("git commit -qam 'feat: x'; git switch -q main", "feature", "git switch feature && gate run test"),
        (
            "git commit -qam 'feat: x'; git branch keep; git reset -q --hard HEAD~1",
            "keep",
            "git switch keep && gate run test",
        ),
        ("git commit -qam 'feat: x'; git tag keep; git reset -q --hard HEAD~1", "keep", "gate run test"),
        ("git switch -q --detach; git commit -qam 'feat: x'; git switch -q main", "", "gate run test"),
        ("git stash -q", "stash@{0}", "gate run test"),
        (
            "git commit -qam 'feat: x'; git switch -q main; git merge -q feature; git switch -qc new origin/main",
            "feature",
            "gate run test",
        ),
    ] {
        let project = Project::new();
        let session = begun(&project);
        assert_eq!(session.run(line), 0, "{line}");
        let reason = session.stop(CLAIM).pushes("work that is not checked out");
        assert!(reason.contains(name) && reason.contains(proof), "{line}: {reason}");
        assert!(reason.contains("(attempt 1)"), "{reason}");
        let reason = session.stop(CLAIM).pushes("not checked out");
        assert!(reason.contains("Nothing has changed"), "{line}: {reason}");
        // Who calls it unfinished is not held.
        let remark = told(&session, "The fix is parked there and not tested yet.");
        assert!(remark.contains(name) && remark.contains("not proven"), "{line}: {remark}");
    }
}

#[test]
fn what_is_put_aside_is_proven_as_it_is_named() {
    let project = Project::new();
    let session = begun(&project);
    assert_eq!(session.run("git commit -qam 'feat: x'; git switch -q main"), 0);
    session.stop(CLAIM).pushes("git switch feature && gate run test");
    assert_eq!(session.run("git switch -q feature && gate run test; git switch -q main"), 0);
    session.stop(CLAIM).quiet();

    let project = Project::new();
    let session = begun(&project);
    assert_eq!(session.run("git stash -q"), 0);
    session.stop(CLAIM).pushes("stash@{0}");
    assert_eq!(session.run("git stash pop -q && git commit -qam 'feat: x' && gate run test && git switch -q main"), 0);
    session.stop(CLAIM).quiet();
}

#[test]
fn a_commit_of_a_working_tree_that_is_gone_is_judged() {
    let project = Project::new();
    let session = Session::claude(&project).prompted("change the library in a working tree of its own");
    assert_eq!(session.run("git worktree add -q ../wt -b gone"), 0);
    assert_eq!(session.run("cd ../wt && echo more >> src/lib.sh && git commit -qam 'feat: x'"), 0);
    assert_eq!(session.run("git worktree remove --force ../wt"), 0);
    session.stop(CLAIM).pushes("git switch gone && gate run test");
}

#[test]
fn what_the_session_did_not_make_or_what_is_proven_holds_nobody() {
    let fresh = || {
        let project = Project::new();
        // A branch of somebody else, here and on the remote, which nothing proves.
        project
            .sh("git switch -qc theirs; echo t >> src/lib.sh; git commit -qam 'feat: t'; git switch -q feature")
            .exits(0);
        project
            .sh("git switch -qc colleague; echo c >> src/lib.sh; git commit -qam 'feat: c'; \
                 git push -q --no-verify origin colleague; git switch -q feature; git branch -qD colleague; \
                 git update-ref -d refs/remotes/origin/colleague")
            .exits(0);
        project
    };
    for line in [
        "git switch -q theirs; git switch -q feature",
        "git switch -q --detach theirs; git switch -q feature",
        "git merge -q theirs; git reset -q --hard HEAD~1; git branch -q other theirs",
        "git fetch -q origin; git switch -q colleague; git switch -q feature",
        "git pull -q --no-rebase ../origin.git colleague; git switch -qc other main",
        "echo more >> README.md; git commit -qam 'docs: more'; git switch -q main",
        "echo more >> src/lib.sh; git commit -qam 'feat: x'; gate run test; git switch -q main",
        "echo more >> src/lib.sh; gate run test; git commit -qam 'feat: x'; git commit -q --amend -m 'feat: y'; git switch -q main",
        "echo more >> src/lib.sh; git commit -qam 'feat: x'; git reset -q --hard HEAD~1",
        "echo more >> src/lib.sh; git stash -q; git stash drop -q",
        "echo more >> src/lib.sh; git stash -q; git stash pop -q; gate run test",
        "echo more >> src/lib.sh; gate run test; git commit -qam 'feat: x'; git switch -q main; \
         echo d >> README.md; git commit -qam 'docs: d'; git switch -q feature; git rebase -q main; git switch -q main",
    ] {
        let project = fresh();
        let session = Session::claude(&project);
        session.hook("SessionStart", json!({"source": "startup"})).quiet();
        session.prompt("change the library");
        session.run(line);
        let said = session.stop(CLAIM);
        assert!(!said.out.contains("not checked out"), "{line}: {said:?}");
    }
}

#[test]
fn what_a_person_puts_aside_or_was_told_of_holds_nobody() {
    // A person stashes, or asks for it, what the agent never touched.
    let project = Project::new();
    let session = Session::claude(&project);
    project.repo.append("src/lib.sh", "mine\n");
    session.prompt("put my work aside, and change the README");
    assert_eq!(session.run("git stash -q"), 0);
    assert_eq!(session.run("echo more >> README.md"), 0);
    session.stop(CLAIM).quiet();

    // A person commits between two turns.
    let project = Project::new();
    let session = Session::claude(&project).prompted("what does it do?");
    session.stop("It prints a line.").quiet();
    project.sh("echo mine >> src/lib.sh; git commit -qam 'feat: mine'; git switch -q main").exits(0);
    session.prompt("change the README");
    assert_eq!(session.run("echo more >> README.md"), 0);
    session.stop(CLAIM).quiet();

    // What was told as parked is not held against the next task.
    let project = Project::new();
    let session = begun(&project);
    assert_eq!(session.run("git commit -qam 'feat: x'; git switch -q main"), 0);
    assert!(told(&session, "I parked it on feature; it is not tested.").contains("feature holds work"));
    // It hears of it with the prompt, and no more of it from then on.
    let said = session.hook("UserPromptSubmit", json!({"prompt": "fine; now change the README"}));
    assert!(said.out.contains("feature holds work"), "{said:?}");
    assert_eq!(session.run("echo more >> README.md"), 0);
    session.stop(CLAIM).quiet();
}

/// The policy of these tests, asking for nothing.
const SOFT: &str = "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"true\"\n";

#[test]
fn a_policy_that_the_session_made_softer_is_its_own_doing_in_any_spelling() {
    for line in [
        "rm gate.toml; git commit -qam 'chore: gone'",
        "cp ../soft.toml $PWD/gate.toml",
        "perl -pi -e 's/sh test.sh/true/' gate.t*",
        "git checkout -q soft -- gate.toml",
        "git merge -q soft",
        "git cherry-pick soft",
        "git stash pop -q",
        "git apply ../soft.diff",
        "find . -name 'gate.t*' -exec sed -i 's/sh test.sh/true/' {} +",
        "sh ../soften",
    ] {
        let project = Project::with("version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh test.sh\"\n");
        std::fs::write(project.repo.outside().join("soft.toml"), SOFT).unwrap();
        std::fs::write(project.repo.outside().join("soften"), "cp ../soft.toml gate.toml\n").unwrap();
        project
            .sh("git switch -qc soft; cp ../soft.toml gate.toml; git diff > ../soft.diff; git commit -qam 'chore: soft'; \
                 git switch -q feature; cp ../soft.toml gate.toml; git stash -q")
            .exits(0);
        let session = begun(&project);
        assert_eq!(session.run("git commit -qam 'feat: x'"), 0);
        assert_eq!(session.run(line), 0, "{line}");
        session.run("gate run test");
        let said = session.stop(CLAIM);
        assert!(said.out.contains("this session changed the policy"), "{line}: {said:?}");
    }
}

#[test]
fn a_policy_that_others_changed_is_not_the_doing_of_the_session() {
    let strict = "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh test.sh\"\n";
    let prepared = || {
        let project = Project::with(strict);
        std::fs::write(project.repo.outside().join("soft.toml"), SOFT).unwrap();
        project
            .sh("git switch -qc soft; cp ../soft.toml gate.toml; git commit -qam 'chore: soft'; \
                 git push -q --no-verify origin soft; git switch -q feature")
            .exits(0);
        project
    };
    // It went to a branch that has it, or took over what the remote has.
    for line in ["git switch -q soft", "git pull -q origin soft"] {
        let project = prepared();
        let session = Session::claude(&project).prompted("look at that branch");
        assert_eq!(session.run(line), 0, "{line}");
        let said = session.stop(CLAIM);
        assert!(!said.out.contains("this session changed the policy"), "{line}: {said:?}");
    }
    // A person changed it, between two turns or during one.
    let project = prepared();
    let session = Session::claude(&project).prompted("what does it do?");
    session.stop("It prints a line.").quiet();
    std::fs::write(project.repo.path("gate.toml"), SOFT).unwrap();
    session.prompt("change the README");
    assert_eq!(session.run("echo more >> README.md"), 0);
    let said = session.stop(CLAIM);
    assert!(!said.out.contains("this session changed the policy"), "{said:?}");
    std::fs::write(project.repo.path("gate.toml"), strict).unwrap();
    session.prompt("change it again");
    assert_eq!(session.run("echo more >> README.md"), 0);
    std::fs::write(project.repo.path("gate.toml"), SOFT).unwrap();
    assert_eq!(session.run("echo more >> README.md"), 0);
    let said = session.stop(CLAIM);
    assert!(!said.out.contains("this session changed the policy"), "{said:?}");
}

#[test]
fn checks_between_stash_and_pop_are_of_the_commit() {
    const POLICY: &str = "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh test.sh\"\n";
    for (what, line, proven) in [
        ("stash and pop", "git stash -q && sh test.sh && git stash pop", true),
        ("its status is lost", "git stash -q; sh test.sh; git stash pop", false),
        ("only a part is put aside", "git stash -q -- src && sh test.sh && git stash pop", false),
        ("nothing is shown", "git stash -q && sh test.sh && git stash pop -q", false),
    ] {
        let project = Project::with(POLICY);
        let session = Session::claude(&project).prompted("change the library");
        project.edit("one");
        project.repo.append("src/lib.sh", "two\n");
        session.run(line);
        let said = project.push("git push origin feature");
        assert_eq!(said.text().contains("push blocked"), !proven, "{what}: {said:?}");
    }
}
