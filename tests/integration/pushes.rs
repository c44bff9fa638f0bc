//! Every spelling of a push, with the verdict it must get and what the other side holds afterwards.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;

use crate::project::{Project, finish, for_agents, reasons};

/// The text of a push that is let through, and of one that is refused because of its branch.
const PASS: &str = "gate: pass";
const PROTECTED: &str = "is protected";

/// A spelling.
struct Case {
    /// What is prepared, as a line of shell; `$REMOTE` is the path of `origin`.
    before: &'static str,
    /// The push.
    push: &'static str,
    /// The exit code of that line.
    code: i32,
    /// What is said.
    says: &'static str,
    /// What changes on the other side: `heads/feature=feature` (any revision), `heads/old=` for what goes.
    changes: &'static [&'static str],
}

const fn case(
    before: &'static str,
    push: &'static str,
    code: i32,
    says: &'static str,
    changes: &'static [&'static str],
) -> Case {
    Case { before, push, code, says, changes }
}

/// `feature` is checked out, one tested commit ahead of `main`; both sides have `main`.
fn tested() -> Project {
    let project = Project::new();
    project.repo.git_in(&project.remote, ["config", "receive.denyDeleteCurrent", "ignore"]);
    project.edit("one");
    project.gate(["run", "test"]).exits(0);
    project
}

/// Prepares, pushes and compares, each case from the same beginning.
fn hold(cases: &[Case]) {
    let project = tested();
    let remote = project.remote.display().to_string();
    let beginning = tempfile::tempdir().unwrap();
    let (place, kept) = (project.repo.outside(), beginning.path());
    let copy = |from: &Path, to: &Path| {
        let line = format!("rm -rf {1}/* && cp -a {0}/. {1}", from.display(), to.display());
        project.sh_in(Path::new("/"), &line).exits(0);
    };
    copy(&place, kept);
    for case in cases {
        copy(kept, &place);
        project.sh(&format!("REMOTE={remote}; set -e; {}", case.before)).exits(0);
        let mut expected = project.refs();
        let said = project.push(&format!("REMOTE={remote}; {}", case.push));
        let what = format!("{}; {}\n{}", case.before, case.push, said.text());
        assert_eq!(said.code, case.code, "{what}");
        assert!(said.text().contains(case.says), "no {:?}: {what}", case.says);
        for change in case.changes {
            let (name, revision) = change.split_once('=').unwrap();
            match revision {
                "" => expected.remove(&format!("refs/{name}")),
                revision => expected.insert(format!("refs/{name}"), project.repo.git(["rev-parse", revision])),
            };
        }
        assert_eq!(project.refs(), expected, "{what}");
    }
}

#[test]
fn a_branch_of_its_own_is_free() {
    hold(&[
        case("true", "git push origin feature", 0, PASS, &["heads/feature=feature"]),
        case("true", "git push -u origin feature", 0, PASS, &["heads/feature=feature"]),
        case("true", "git push origin HEAD", 0, PASS, &["heads/feature=feature"]),
        case("true", "git push origin @:refs/heads/feature", 0, PASS, &["heads/feature=feature"]),
        case("true", "git push origin HEAD:feature/main-nav", 0, PASS, &["heads/feature/main-nav=feature"]),
        case("true", "git push origin HEAD:refs/heads/mainline", 0, PASS, &["heads/mainline=feature"]),
        case("true", "git push origin HEAD:refs/heads/release", 0, PASS, &["heads/release=feature"]),
        case("true", "git push origin HEAD:refs/heads/release/1/x", 0, PASS, &["heads/release/1/x=feature"]),
        case("true", "git push origin HEAD:refs/for/main", 0, PASS, &["for/main=feature"]),
        case("true", "git push --porcelain --atomic origin feature", 0, PASS, &["heads/feature=feature"]),
        case("true", "git push $REMOTE feature", 0, PASS, &["heads/feature=feature"]),
        case("true", "git push file://$REMOTE feature", 0, PASS, &["heads/feature=feature"]),
        case("true", "cd src && git push origin feature", 0, PASS, &["heads/feature=feature"]),
        case("git switch -q --detach", "git push origin HEAD:refs/heads/feature", 0, PASS, &["heads/feature=feature"]),
        case("git switch -q main", "git push origin feature", 0, PASS, &["heads/feature=feature"]),
        case("true", "git push origin feature && git push origin :feature", 0, PASS, &[]),
        case("git push -q origin feature", "git push origin --delete feature", 0, PASS, &["heads/feature="]),
        case(
            "git push -q origin feature && git commit -q --amend -m again",
            "git push --force-with-lease origin feature",
            0,
            PASS,
            &["heads/feature=feature"],
        ),
    ]);
}

#[test]
fn a_bare_push_is_judged_by_where_it_goes() {
    hold(&[
        case(
            "git push -qu origin feature; git commit -q --allow-empty -m x",
            "git push",
            0,
            PASS,
            &["heads/feature=feature"],
        ),
        case("git config push.default current", "git push", 0, PASS, &["heads/feature=feature"]),
        case("git config push.autoSetupRemote true", "git push", 0, PASS, &["heads/feature=feature"]),
        case("git branch -q -u origin/main; git config push.default upstream", "git push", 1, PROTECTED, &[]),
        case("git branch -q -u origin/main; git config push.default tracking", "git push", 1, PROTECTED, &[]),
        case("git branch -q -f main feature; git config push.default matching", "git push", 1, PROTECTED, &[]),
        case("git config push.default matching", "git push", 0, "Everything up-to-date", &[]),
        case("git config remote.origin.push HEAD:refs/heads/main", "git push", 1, PROTECTED, &[]),
        case("git config remote.origin.push HEAD:refs/heads/main", "git push origin", 1, PROTECTED, &[]),
        case("git switch -q main; git merge -q feature; git branch -q -u origin/main", "git push", 1, PROTECTED, &[]),
        case("git switch -q main; git merge -q feature", "git push origin HEAD", 1, PROTECTED, &[]),
        case("git switch -q main; git merge -q feature", "git push origin @", 1, PROTECTED, &[]),
        // git itself will not guess.
        case("git branch -q -u origin/main", "git push", 128, "upstream branch", &[]),
        case("true", "git push", 128, "has no upstream branch", &[]),
        case("git config push.default nothing", "git push", 128, "push.default is", &[]),
    ]);
}

#[test]
fn main_is_protected_however_it_is_spelled() {
    hold(&[
        case("true", "git push origin HEAD:main", 1, PROTECTED, &[]),
        case("true", "git push origin HEAD:refs/heads/main", 1, PROTECTED, &[]),
        case("true", "git push origin +HEAD:refs/heads/main", 1, PROTECTED, &[]),
        case("true", "git push origin feature:main", 1, PROTECTED, &[]),
        case("true", "git push origin $(git rev-parse HEAD):refs/heads/main", 1, PROTECTED, &[]),
        case("true", "git push -f origin HEAD:main", 1, PROTECTED, &[]),
        case("true", "git push --force-with-lease origin HEAD:main", 1, PROTECTED, &[]),
        case("true", "git push -q origin HEAD:main 2>&1 | cat; git ls-remote -q", 0, PROTECTED, &[]),
        case("git branch -q -f main feature", "git push origin main", 1, PROTECTED, &[]),
        case("git branch -q -f main feature", "git push origin 'refs/heads/*:refs/heads/*'", 1, PROTECTED, &[]),
        case("git switch -q --detach", "git push origin HEAD:main", 1, PROTECTED, &[]),
        case("true", "git push --dry-run origin HEAD:main", 1, PROTECTED, &[]),
        case("true", "git push $REMOTE HEAD:main", 1, PROTECTED, &[]),
        case("true", "git push file://$REMOTE HEAD:main", 1, PROTECTED, &[]),
        case("git config url.$REMOTE.insteadOf short:", "git push short: HEAD:main", 1, PROTECTED, &[]),
        case("git config remote.origin.pushurl file://$REMOTE", "git push origin HEAD:main", 1, PROTECTED, &[]),
        case("git remote add again $REMOTE", "git push again HEAD:main", 1, PROTECTED, &[]),
        case("true", "git push origin HEAD:release/1", 1, "release/1 is protected: creating it", &[]),
    ]);
}

#[test]
fn main_is_protected_from_wherever_the_push_is_started() {
    hold(&[
        case("true", "cd .. && git -C repo push origin HEAD:main", 1, PROTECTED, &[]),
        case("true", "cd / && git -C \"$OLDPWD\" push origin HEAD:main", 1, PROTECTED, &[]),
        case("true", "cd .. && git --git-dir=repo/.git --work-tree=repo push origin HEAD:main", 1, PROTECTED, &[]),
        case("true", "cd .. && GIT_DIR=repo/.git git push origin HEAD:main", 1, PROTECTED, &[]),
        case("true", "cd .. && GIT_DIR=repo/.git git push origin feature", 0, PASS, &["heads/feature=feature"]),
        case("true", "cd .git && git push origin HEAD:main", 1, PROTECTED, &[]),
        case("true", "cd src && git push origin HEAD:main", 1, PROTECTED, &[]),
        case("git config alias.p 'push origin HEAD:main'", "git p", 1, PROTECTED, &[]),
        case("git config alias.p '!git push origin HEAD:main'", "git p", 1, PROTECTED, &[]),
        case(
            "git config alias.p '!f() { git push origin \"$1\"; }; f'",
            "cd src && git p HEAD:main",
            1,
            PROTECTED,
            &[],
        ),
        case("git config alias.p '!git push origin'", "cd src && git p feature", 0, PASS, &["heads/feature=feature"]),
        case("true", "env -u PATH git push origin HEAD:main || git push origin HEAD:main", 1, PROTECTED, &[]),
        case("git worktree add -q ../linked -b second", "cd ../linked && git push origin HEAD:main", 1, PROTECTED, &[]),
        case(
            "git worktree add -q ../linked -b second",
            "cd ../linked && git push origin second",
            0,
            PASS,
            &["heads/second=feature"],
        ),
    ]);
}

#[test]
fn one_refused_ref_refuses_the_push() {
    hold(&[
        case("true", "git push origin feature HEAD:main", 1, "main is protected", &[]),
        case("true", "git push origin HEAD:main feature", 1, "main is protected", &[]),
        case("git branch -q -f main feature", "git push --all origin", 1, PROTECTED, &[]),
        case("git branch -q -f main feature", "git push --branches origin", 1, PROTECTED, &[]),
        case("git branch -q -f main feature", "git push --mirror origin", 1, PROTECTED, &[]),
        // git does not tell its hook what a mirror deletes.
        case("git branch -q -D main", "git push --mirror origin", 1, "main is protected and must not be deleted", &[]),
        case("git branch -q -D main", "git push --prune origin 'refs/heads/*'", 1, "must not be deleted", &[]),
        case("true", "git push --all origin", 0, PASS, &["heads/feature=feature"]),
        case(
            "git branch -q two; git branch -q three",
            "git push origin feature two three",
            0,
            PASS,
            &["heads/feature=feature", "heads/two=feature", "heads/three=feature"],
        ),
        // One of them was never tested.
        case(
            "git switch -q -c untested; echo x >> src/lib.sh; git commit -qam x; git switch -q feature",
            "git push origin feature untested",
            1,
            "untested: src/lib.sh changed since `sh test.sh` passed",
            &[],
        ),
    ]);
}

#[test]
fn main_is_not_deleted() {
    hold(&[
        case("true", "git push origin :main", 1, "main is protected and must not be deleted", &[]),
        case("true", "git push origin :refs/heads/main", 1, "must not be deleted", &[]),
        case("true", "git push --delete origin main", 1, "must not be deleted", &[]),
        case("true", "git push -d origin refs/heads/main", 1, "must not be deleted", &[]),
        case("git push -q origin feature", "git push origin :feature :main", 1, "must not be deleted", &[]),
    ]);
}

#[test]
fn tags_notes_and_other_refs_are_judged_by_their_content() {
    const UNTESTED: &str = "echo x >> src/lib.sh; git commit -qam x";
    const STALE: &str = "src/lib.sh changed since `sh test.sh` passed";
    hold(&[
        case("git tag v1", "git push --tags", 0, PASS, &["tags/v1=v1"]),
        case("git tag -a -m v1 v1", "git push origin v1", 0, PASS, &["tags/v1=v1"]),
        case("git tag main", "git push origin refs/tags/main", 0, PASS, &["tags/main=refs/tags/main"]),
        case(
            "git tag -a -m v1 v1",
            "git push --follow-tags origin feature",
            0,
            PASS,
            &["heads/feature=feature", "tags/v1=v1"],
        ),
        case("echo x >> src/lib.sh; git commit -qam x; git tag v1", "git push --tags origin", 1, STALE, &[]),
        case("echo x >> src/lib.sh; git commit -qam x; git tag -a -m v1 v1", "git push origin v1", 1, STALE, &[]),
        case("git tag blob $(git hash-object -w README.md)", "git push origin blob", 0, PASS, &["tags/blob=blob"]),
        case("git tag tree HEAD^{tree}", "git push origin tree", 0, PASS, &["tags/tree=tree"]),
        case(
            "git notes add -m note",
            "git push origin refs/notes/commits",
            0,
            PASS,
            &["notes/commits=refs/notes/commits"],
        ),
        case(UNTESTED, "git push origin HEAD:refs/for/main", 1, STALE, &[]),
        case(UNTESTED, "git push origin HEAD:refs/pull/1/head", 1, STALE, &[]),
    ]);
}

#[test]
fn the_remedy_is_for_the_branch_that_is_pushed() {
    let project = tested();
    project.sh("git switch -q -c other; echo x >> src/lib.sh; git commit -qam x; git switch -q main").exits(0);
    project.push("git push origin other").exits(1).says("next: git switch other && gate run test");
    project.sh("git switch other && gate run test").exits(0);
    project.push("git push origin other").exits(0);
}

#[test]
fn the_remedy_for_a_protected_branch_goes_through() {
    let project = tested();
    project.repo.git(["branch", "-q", "-f", "main", "feature"]);
    let said = project.push("git push origin main").exits(1);
    let remedy = said.err.lines().find_map(|line| line.trim().strip_prefix("next: ")).unwrap().to_owned();
    project.push(&remedy).exits(0);
    assert!(project.refs().keys().any(|name| name.starts_with("refs/heads/change/")), "{remedy}");
}

#[test]
fn each_remote_has_its_own_default_branch() {
    let project = tested();
    let second = project.repo.outside().join("second.git");
    let path = second.display();
    project.sh(&format!("git init -q --bare -b trunk {path} && git remote add second {path}")).exits(0);
    // The first push into an empty repository has no pull request to come by.
    project.push("git push second feature:trunk").exits(0).says(PASS);
    project.repo.git(["commit", "-q", "--allow-empty", "-m", "next"]);
    project.push("git push second feature:trunk").exits(1).says("trunk is protected");
    project.push("git push second feature:main").exits(0).says(PASS);
    project.push("git push origin feature:trunk").exits(0).says(PASS);
    project.push("git push origin feature:main").exits(1).says("main is protected");
    let refs = project.refs_of(&second);
    assert_eq!(refs.keys().collect::<Vec<_>>(), ["refs/heads/main", "refs/heads/trunk"]);
    assert_eq!(refs["refs/heads/trunk"], project.repo.git(["rev-parse", "feature~1"]));
}

#[test]
fn a_remote_whose_head_names_nothing_protects_what_a_clone_would_take_or_says_that_it_cannot_tell() {
    let project = tested();
    let second = project.repo.outside().join("second.git");
    let path = second.display();
    project.sh(&format!("git init -q --bare -b ghost {path} && git remote add second {path}")).exits(0);
    project.push("git push second feature:dev").exits(0);
    project.repo.git(["commit", "-q", "--allow-empty", "-m", "next"]);
    // A branch that was made from here is nobody's default.
    for target in ["dev", "other"] {
        project.push(&format!("git push second feature:{target}")).exits(0).says(PASS);
    }
    project.repo.git_in(&second, ["branch", "trunk", "dev"]);
    project.repo.git(["commit", "-q", "--allow-empty", "-m", "more"]);
    let before = project.refs_of(&second);
    for (target, why) in [
        ("trunk", "the HEAD of the remote is a branch that does not exist"),
        ("main", "the remote has no default branch yet"),
    ] {
        project
            .push(&format!("git push second feature:{target}"))
            .exits(1)
            .says("push cannot be judged")
            .says(&format!("cannot tell whether {target} is the default branch of second: {why}"));
    }
    assert_eq!(project.refs_of(&second), before);
    // One with a customary name is what everybody takes for the default there.
    project.repo.git_in(&second, ["branch", "main", "dev"]);
    project.push("git push second feature:main").exits(1).says("main is protected");
    project.push("git push second feature:dev").exits(0).says(PASS);
}

/// A remote that takes pushes and does not answer questions: `question` is what it does instead.
fn unanswering(project: &Project, question: &str) {
    let repo = &project.repo;
    let script = repo.outside().join("transport");
    let remote = project.remote.display();
    let text = format!("#!/bin/sh\n[ \"$1\" = git-receive-pack ] && exec git-receive-pack {remote}\n{question}\n");
    std::fs::write(&script, text).unwrap();
    repo.git(["config", "protocol.ext.allow", "always"]);
    repo.git(["remote", "add", "mute", &format!("ext::sh {} %S", script.display())]);
}

#[test]
fn a_remote_that_cannot_be_asked_is_not_guessed_at() {
    let project = tested();
    unanswering(&project, "exit 1");
    let before = project.refs();
    for target in ["main", "feature", "trunk"] {
        project
            .push(&format!("git push mute HEAD:{target}"))
            .exits(1)
            .says(&format!("cannot tell whether {target} is the default branch of mute"));
    }
    assert_eq!(project.refs(), before);
    // A tag is not a branch, whatever the default branch is.
    project.push("git tag v1 && git push mute v1").exits(0);
    // What a person recorded is an answer.
    project.sh("git fetch -q origin '+refs/heads/*:refs/remotes/mute/*' && git remote set-head mute main").exits(0);
    project.push("git push mute HEAD:main").exits(1).says("main is protected");
    project.push("git push mute HEAD:feature").exits(0).says(PASS);
}

#[test]
fn a_remote_that_never_answers_does_not_hold_the_push() {
    let project = tested();
    unanswering(&project, "exec sleep 1000");
    project
        .push("git push mute HEAD:feature")
        .exits(1)
        .says("cannot tell whether feature is the default branch of mute");
}

#[test]
fn a_push_from_a_submodule_is_its_own() {
    let project = tested();
    let repo = &project.repo;
    let outer = repo.outside().join("outer");
    let (outside, remote) = (outer.display(), project.remote.display());
    project
        .sh(&format!(
            "git init -q -b main {outside} && cd {outside} && \
             git -c protocol.file.allow=always submodule --quiet add {remote} inner && git commit -qm outer"
        ))
        .exits(0);
    let inner = outer.join("inner");
    project.gate_in(&inner, ["init", "--yes"]).exits(0);
    project.sh_in(&inner, "git switch -q -c work && echo x >> src/lib.sh && git commit -qam x").exits(0);
    project.push_in(&inner, "git push origin work").exits(1).says("no run of `sh test.sh` on this content");
    project.gate_in(&inner, ["run", "test"]).exits(0);
    project.push_in(&inner, "git push origin work").exits(0).says(PASS);
    project.push_in(&inner, "git push origin work:main").exits(1).says("main is protected");
    project.push_in(&outer, "git -C inner push origin work:main").exits(1).says("main is protected");
    // The repository around it has no part in this.
    assert!(!outer.join(".git/gate").exists());
}

#[test]
fn what_goes_around_the_hook_is_seen_in_the_log() {
    let project = Project::new().edited("untested");
    project.push("git push origin feature").exits(1);
    // Not through `push`, whose words are for agents.
    project.sh("unset GIT_COMMITTER_DATE; git push --no-verify origin feature").exits(0);
    assert!(project.refs().contains_key("refs/heads/feature"));
    let log = project.gate(["log"]).exits(0);
    let line = log.out.lines().find(|line| line.contains("push") && line.contains("origin/feature"));
    assert!(line.is_some_and(|line| line.contains("without a verdict")), "{}", log.out);
    // One that was judged does not say so.
    project.gate(["run", "test"]).exits(0);
    project.push("unset GIT_COMMITTER_DATE; git push origin @:refs/heads/judged").exits(0);
    let log = project.gate(["log"]).exits(0);
    let line = log.out.lines().find(|line| line.contains("push") && line.contains("origin/judged"));
    assert!(line.is_some_and(|line| !line.contains("without a verdict")), "{}", log.out);
}

#[test]
fn a_hook_called_by_hand_says_what_it_expects() {
    let project = tested();
    let hook = |input: &[u8], args: &[&str]| {
        let mut command = project.command("gate", project.repo.root());
        command.args(["hook", "git"]).args(args);
        finish(command, input)
    };
    let push = ["pre-push", "origin", project.remote.to_str().unwrap()];
    let head = project.repo.git(["rev-parse", "HEAD"]);
    let zero = "0".repeat(40);
    for garbage in [
        "garbage".to_owned(),
        "a b c d e".to_owned(),
        format!("refs/heads/x {head} refs/heads/x"),
        format!("refs/heads/x {head} refs/heads/x nonsense"),
        format!("refs/heads/x {} refs/heads/x {zero}", &head[..39]),
        format!("refs/heads/x {head} refs/heads/x {zero}\n\u{fffd}\u{1}"),
    ] {
        let said = hook(garbage.as_bytes(), &push).exits(65).says("standard input is not what git writes there");
        said.says("by hand, `gate check` judges what is here");
    }
    hook(&[0xff, 0xfe, 0, 0xff], &push).exits(65);
    // An object that is nowhere is not passed.
    let missing = format!("refs/heads/x {} refs/heads/x {zero}\n", "1".repeat(40));
    let said = hook(missing.as_bytes(), &push);
    assert_ne!(said.code, 0, "{said:?}");
    // The forms git writes.
    let feature = format!("refs/heads/feature {head} refs/heads/feature {zero}\n");
    hook(feature.as_bytes(), &push).exits(0).says(PASS);
    hook(b"", &push).exits(0);
    hook(b"\n\n", &push).exits(0);
    // Without its arguments it cannot be told where the push goes.
    let said = hook(feature.as_bytes(), &["pre-push"]);
    assert_ne!(said.code, 0, "{said:?}");
    hook(b"anything", &["post-commit"]).exits(0);
    hook(b"", &[]).exits(64);
    // With its input closed, and with none at all.
    let mut command = project.command("sh", project.repo.root());
    command.args(["-c", "gate hook git pre-push origin x <&-"]);
    finish(command, b"").exits(0);
    let mut command = project.command("gate", project.repo.root());
    command.args(["hook", "git"]).args(push).stdin(Stdio::null());
    assert_eq!(command.output().unwrap().status.code(), Some(0));
}

#[test]
fn a_hook_called_on_a_terminal_does_not_wait_for_it() {
    let project = tested();
    let done = on_a_terminal(&project, "gate hook git pre-push origin x");
    assert_eq!(done.get("code").map(String::as_str), Some("0"), "{done:?}");
}

/// Runs a line on a pseudo terminal, where nobody types: its status and what was printed.
fn on_a_terminal(project: &Project, line: &str) -> BTreeMap<&'static str, String> {
    let (code, text) = crate::terminal::run(project.command("sh", project.repo.root()), line, "");
    [("code", code.to_string()), ("text", text)].into()
}

#[test]
fn a_verdict_of_a_push_names_what_was_pushed() {
    let project = tested();
    let remote: &Path = &project.remote;
    project.push(&format!("git push {} feature HEAD:main", remote.display())).exits(1);
    let verdict = crate::project::read_json(project.records().last().unwrap());
    assert_eq!(verdict["moment"], "push");
    let subjects = verdict["subjects"].as_array().unwrap().iter();
    let mut names: Vec<_> = subjects.map(|one| one["remote_ref"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["refs/heads/feature", "refs/heads/main"]);
    assert_eq!(reasons(&verdict, "protected-branch"), ["protected"]);
    for_agents(verdict["feedback"].as_str().unwrap());
}
