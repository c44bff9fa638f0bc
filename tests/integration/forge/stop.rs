//! `gate check` where the remote is on a forge.

use serde_json::{Value, json};

use super::server::{ACTIONS, Fault};
use super::{Clone, ONLY_FORGE, Verdict};
use crate::support::TestRepo;

#[test]
fn an_open_pull_request_with_green_checks_passes() {
    let clone = Clone::strict().green();
    let verdict = clone.check();
    assert_eq!(verdict.summary(), ("open", "green", 0));
    assert_eq!(verdict.value["complete"], true);
    let state = clone.server.state();
    assert!(
        state.log.iter().all(|(_, _, token)| token.as_deref() == Some("Bearer enterprise-token")),
        "{:?}",
        state.log
    );
    assert_eq!(state.asked("head=o%3Afeature") + state.asked("head=o:feature"), 1, "{:?}", state.log);
}

#[test]
#[allow(clippy::too_many_lines, reason = "one table")]
fn every_state_of_pull_requests_and_checks() {
    type Change = fn(&Clone);
    let cases: &[(&str, Change, &str, &str, i32)] = &[
        ("nothing", |_| {}, "none", "none", 0),
        ("closed", |clone| clone.server.state().pulls[0]["state"] = "closed".into(), "closed", "green", 10),
        (
            "merged",
            |clone| {
                let mut state = clone.server.state();
                state.pulls[0]["state"] = "closed".into();
                state.pulls[0]["merged_at"] = "2026-01-02T03:04:05Z".into();
            },
            "merged",
            "green",
            0,
        ),
        ("a draft", |clone| clone.server.state().pulls[0]["draft"] = true.into(), "open", "green", 0),
        (
            "two",
            |clone| {
                let head = clone.head.clone();
                clone.server.state().pull(8, "o/r", "feature", &head);
            },
            "several",
            "green",
            10,
        ),
        (
            "of a fork with a branch of that name",
            |clone| {
                let mut state = clone.server.state();
                state.pulls.clear();
                state.pull(9, "evil/r", "feature", &clone.head);
            },
            "none",
            "green",
            0,
        ),
        ("of a fork that was deleted", |clone| clone.server.state().orphan(7), "deleted-fork", "green", 0),
        (
            "of a fork of somebody else that was deleted",
            |clone| {
                let mut state = clone.server.state();
                state.orphan(7);
                // A server that ignores whom it is asked about.
                state.pulls[0]["head"]["user"]["login"] = "evil".into();
            },
            "none",
            "green",
            0,
        ),
        (
            "merged from a fork that was deleted then",
            |clone| {
                let mut state = clone.server.state();
                state.orphan(7);
                state.pulls[0]["state"] = "closed".into();
                state.pulls[0]["merged_at"] = "2026-01-02T03:04:05Z".into();
            },
            "merged",
            "green",
            0,
        ),
        (
            "to a branch that nothing speaks for",
            |clone| clone.server.state().pulls[0]["base"]["ref"] = "scratch".into(),
            "unknown-base",
            "green",
            0,
        ),
        (
            "to a branch that the policy protects by a pattern",
            |clone| clone.server.state().pulls[0]["base"]["ref"] = "release/1.2".into(),
            "open",
            "green",
            0,
        ),
        (
            "to a branch that is protected there",
            |clone| {
                let mut state = clone.server.state();
                state.pulls[0]["base"]["ref"] = "next".into();
                state.protection = Some(json!({ "enforcement_level": "off", "contexts": [], "checks": [] }));
            },
            "open",
            "green",
            0,
        ),
        (
            "upon another that is open",
            |clone| {
                let mut state = clone.server.state();
                state.pulls[0]["base"]["ref"] = "step-1".into();
                state.pull(6, "o/r", "step-1", "3333333333333333333333333333333333333333");
            },
            "open",
            "green",
            0,
        ),
        (
            "red, and green for another branch at the same commit",
            |clone| {
                let mut state = clone.server.state();
                let head = clone.head.clone();
                state.done("build", &head, "failure");
                state.ran_for("o/r", "feature");
                state.done("build", &head, "success");
                state.ran_for("o/r", "other");
            },
            "open",
            "red",
            10,
        ),
        (
            "green, and red for a fork with that branch",
            |clone| {
                let mut state = clone.server.state();
                let head = clone.head.clone();
                state.done("build", &head, "success");
                state.ran_for("O/R", "feature");
                state.done("build", &head, "failure");
                state.ran_for("mallory/r", "feature");
            },
            "open",
            "green",
            0,
        ),
        (
            "red for another branch alone",
            |clone| {
                let mut state = clone.server.state();
                let head = clone.head.clone();
                state.done("build", &head, "failure");
                state.ran_for("o/r", "other");
            },
            "open",
            "red",
            10,
        ),
        ("red", |clone| _ = clone.server.state().done("lint", &clone.head, "failure"), "open", "red", 10),
        (
            "pending",
            |clone| {
                let run = clone.server.state().workflow(2, "push", &clone.head, "in_progress", None);
                clone.server.state().job(run, "e2e", &clone.head, "in_progress", None);
            },
            "open",
            "pending",
            0,
        ),
        (
            "a run without jobs that could not start",
            |clone| _ = clone.server.state().workflow(3, "push", &clone.head, "completed", Some("startup_failure")),
            "open",
            "red",
            10,
        ),
        (
            "a run of a fork that waits for leave",
            |clone| {
                _ = clone.server.state().workflow(3, "pull_request", &clone.head, "completed", Some("action_required"));
            },
            "open",
            "approval",
            0,
        ),
        ("a pending status", |clone| clone.server.state().status("legacy", "pending"), "open", "pending", 0),
        ("a red status", |clone| clone.server.state().status("legacy", "error"), "open", "red", 10),
        (
            "checks of another commit",
            |clone| {
                for run in &mut clone.server.state().check_runs {
                    run["head_sha"] = "3333333333333333333333333333333333333333".into();
                }
                clone.server.state().runs.clear();
            },
            "open",
            "none",
            0,
        ),
        (
            "required by a ruleset and not there",
            |clone| {
                clone.server.state().rules.push(json!({
                    "type": "required_status_checks",
                    "ruleset_id": 1,
                    "ruleset_source_type": "Repository",
                    "ruleset_source": "o/r",
                    "parameters": {
                        "required_status_checks": [{ "context": "e2e" }],
                        "strict_required_status_checks_policy": false,
                    },
                }));
            },
            "open",
            "absent",
            0,
        ),
        (
            "required of an app by branch protection, and reported by another",
            |clone| {
                clone.server.state().protection = Some(json!({
                    "enforcement_level": "non_admins",
                    "contexts": ["build"],
                    "checks": [{ "context": "build", "app_id": ACTIONS + 1 }],
                }));
            },
            "open",
            "absent",
            0,
        ),
        (
            "required of an app that writes statuses",
            |clone| {
                let mut state = clone.server.state();
                state.status("preview", "success");
                state.statuses[0]["avatar_url"] = "https://avatars.githubusercontent.com/in/13473?v=4".into();
                state.protection = Some(json!({
                    "enforcement_level": "everyone",
                    "contexts": ["preview"],
                    "checks": [{ "context": "preview", "app_id": 13473 }],
                }));
            },
            "open",
            "green",
            0,
        ),
        (
            "required of an app, and a status of its name by a user",
            |clone| {
                let mut state = clone.server.state();
                state.status("preview", "success");
                state.statuses[0]["avatar_url"] = "https://avatars.githubusercontent.com/u/13473?v=4".into();
                state.protection = Some(json!({
                    "enforcement_level": "everyone",
                    "contexts": ["preview"],
                    "checks": [{ "context": "preview", "app_id": 13473 }],
                }));
            },
            "open",
            "absent",
            0,
        ),
        (
            "required of any app",
            |clone| {
                clone.server.state().protection = Some(json!({
                    "enforcement_level": "everyone",
                    "contexts": ["build"],
                    "checks": [{ "context": "build", "app_id": null }],
                }));
            },
            "open",
            "green",
            0,
        ),
    ];
    for (what, change, pull, checks, code) in cases {
        let clone = if *what == "nothing" { Clone::strict() } else { Clone::strict().green() };
        if *what == "nothing" {
            let output = clone.gate(&["check"]).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(
                text.contains("pull-request: no pull request is open for feature; next: gh pr create --fill\n"),
                "{text}"
            );
        }
        change(&clone);
        assert_eq!(clone.check().summary(), (*pull, *checks, *code), "{what}");
    }
}

#[test]
fn who_did_not_name_the_gates_is_not_stopped_by_a_forge() {
    let outage = || Fault { status: 500, ..Fault::default() };
    let clone = Clone::with(ONLY_FORGE).green();
    clone.server.state().faults.push(outage());
    assert_eq!(clone.check().summary(), ("offline", "offline", 0));
    // What it says counts all the same.
    let clone = Clone::with(ONLY_FORGE).green();
    clone.server.state().done("lint", &clone.head, "failure");
    assert_eq!(clone.check().summary(), ("open", "red", 10));
}

#[test]
fn nothing_is_asked_without_need() {
    let asked = |clone: &Clone, change: &dyn Fn(&mut std::process::Command)| {
        let mut command = clone.gate(&["check", "--json"]);
        change(&mut command);
        let verdict = Verdict::of(&command.output().unwrap());
        assert_eq!(verdict.code, 0, "{}", verdict.value);
        clone.server.state().log.len()
    };
    let unpushed = Clone::with(ONLY_FORGE);
    unpushed.repo.git(["update-ref", "-d", "refs/remotes/origin/feature"]);
    assert_eq!(asked(&unpushed, &|_| {}), 0, "never pushed");
    let clone = Clone::with(ONLY_FORGE).green();
    assert_eq!(asked(&clone, &|command| _ = command.env_remove("GH_ENTERPRISE_TOKEN")), 0, "no token");
    assert_eq!(asked(&clone, &|command| _ = command.env("GITHUB_SERVER_URL", "https://ghe.example")), 0, "no forge");
    let off =
        Clone::with(&format!("{ONLY_FORGE}[gates.pull-request]\nmode = \"off\"\n[gates.ci-green]\nmode = \"off\"\n"));
    assert_eq!(asked(&off, &|_| {}), 0, "switched off");
    let plain = TestRepo::with_commit();
    let verdict = Verdict::of(&plain.gate(["check", "--json"]).envs(clone.server.variables()).output().unwrap());
    assert_eq!(verdict.finding("ci-green"), &Value::Null);
}

#[test]
fn a_fork_proposes_to_where_it_was_forked_from() {
    let clone = Clone::strict();
    clone.repo.git(["remote", "set-url", "origin", &format!("{}/me/r.git", clone.server.url())]);
    {
        let mut state = clone.server.state();
        state.parent = Some("o/r".to_owned());
        state.pull(7, "me/r", "feature", &clone.head);
        state.done("build", &clone.head, "success");
    }
    assert_eq!(clone.check().summary(), ("open", "green", 0));
    // The same, where the remote `upstream` says so.
    clone.repo.git(["remote", "add", "upstream", &format!("{}/o/r.git", clone.server.url())]);
    clone.server.state().log.clear();
    assert_eq!(clone.check().summary(), ("open", "green", 0));
    assert_eq!(clone.server.state().asked("/repos/me/r"), 0);
}

#[test]
fn a_host_by_the_name_that_ssh_has_for_it_is_found() {
    let clone = Clone::strict().green();
    clone.repo.git(["remote", "set-url", "origin", "git@work:o/r.git"]);
    let check = |host: &str| {
        clone.repo.script("../bin/ssh", &format!("#!/bin/sh\ntest \"$*\" = '-G -- work' && echo 'hostname {host}'\n"));
        let bin = clone.repo.outside().join("bin");
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        Verdict::of(&clone.gate(&["check", "--json"]).env("PATH", path).output().unwrap())
    };
    assert_eq!(check(clone.server.url().strip_prefix("http://").unwrap()).summary(), ("open", "green", 0));
    // Somewhere else, nobody is asked, and that is said.
    let verdict = check("git.example.com");
    let notes = verdict.value["notes"].to_string();
    assert!(notes.contains("asked nobody: what this branch is pushed to is on no forge"), "{notes}");
    assert_eq!(verdict.code, 0);
}

#[test]
fn commits_that_were_not_pushed_are_in_no_pull_request() {
    let clone = Clone::strict().green();
    clone.repo.write("src/lib.rs", "pub fn three() {}\n").commit_all("three");
    let verdict = clone.check();
    assert_eq!(verdict.summary(), ("other-head", "unpushed", 10));
    clone.repo.git(["update-ref", "-d", "refs/remotes/origin/feature"]);
    assert_eq!(clone.check().summary(), ("other-head", "unpushed", 10));
}

#[test]
fn the_first_push_of_a_branch_says_what_comes_next() {
    let clone = Clone::strict();
    let url = clone.repo.git(["remote", "get-url", "origin"]);
    let zero = "0".repeat(40);
    let pushed = |old: &str, url: &str| {
        let mut command = clone.gate(&["hook", "git", "pre-push", "origin", url]);
        let updates = clone.repo.outside().join("updates");
        std::fs::write(&updates, format!("refs/heads/feature {} refs/heads/feature {old}\n", clone.head)).unwrap();
        let output = command.stdin(std::fs::File::open(&updates).unwrap()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let advice = "feature: new there, so without a pull request; next: gh pr create --fill";
    let said = pushed(&zero, &url);
    assert!(said.contains(advice), "{said}");
    let before = clone.repo.git(["rev-parse", "HEAD~1"]);
    // As a push leaves it: the branch is one of our own.
    let tracking = ["--create-reflog", "-m", "update by push", "refs/remotes/origin/feature", &before];
    clone.repo.git(["update-ref", "-d", "refs/remotes/origin/feature"]);
    clone.repo.git(["update-ref"].iter().chain(&tracking));
    let again = pushed(&before, &url);
    clone.repo.git(["remote", "set-url", "origin", "/srv/git/o/r.git"]);
    for said in [again, pushed(&zero, "/srv/git/o/r.git")] {
        assert!(!said.contains("pull request"), "{said}");
    }
    assert!(clone.server.state().log.is_empty(), "{:?}", clone.server.state().log);
}

#[test]
fn strange_names_reach_no_terminal() {
    let clone = Clone::strict().green();
    let name = "x\u{1b}[31m\r\n::error::pwned `$(touch pwned)` <b>";
    clone.server.state().done(name, &clone.head, "failure");
    let output = clone.gate(&["check"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("pwned") && !text.contains('\u{1b}') && !text.contains('\r'), "{text:?}");
    assert!(!text.lines().any(|line| line.starts_with("::")), "{text}");
}

#[test]
fn what_the_forge_said_is_judged_again_without_asking_it() {
    let clone = Clone::strict().green();
    clone.server.state().done("lint", &clone.head, "failure");
    let verdict = clone.check();
    assert_eq!(verdict.summary(), ("open", "red", 10));
    assert_eq!(verdict.value["hosting"]["checks"]["known"]["list"].as_array().unwrap().len(), 2);
    assert!(!verdict.value.to_string().contains("enterprise-token"), "{:#}", verdict.value);
    // What it would say by now is another thing.
    clone.server.state().done("lint", &clone.head, "success");
    clone.server.state().log.clear();
    let of = |args: &[&str]| Verdict::of(&clone.gate(args).output().unwrap()).value;
    let again = of(&["replay", verdict.value["id"].as_str().unwrap(), "--json"]);
    assert_eq!((&again["gates"]["pr_ci"]["verdict"], &again["differs"]), (&json!("block"), &json!([])), "{again:#}");
    let case = of(&["appeal"]);
    let file = clone.repo.outside().join("case.json");
    std::fs::write(&file, case.to_string()).unwrap();
    let judged = of(&["replay", file.to_str().unwrap(), "--json"]);
    assert_eq!(judged["gates"]["pr_ci"]["verdict"], "block", "{judged:#}\n{case:#}");
    assert!(clone.server.state().log.is_empty(), "{:?}", clone.server.state().log);
}
