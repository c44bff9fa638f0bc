//! `gate ci`: the event says what is judged, the base says by what.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::server::{ACTIONS, Fault};
use super::{Clone, NAMED, ONLY_FORGE, Verdict};

/// A job that a pull request has started.
pub struct Job {
    pub clone: Clone,
    pub event: PathBuf,
}

impl Job {
    pub fn of(clone: Clone, name: &str, event: &Value) -> (Self, String) {
        let path = clone.repo.outside().join("event.json");
        fs::write(&path, event.to_string()).unwrap();
        (Self { clone, event: path }, name.to_owned())
    }

    pub fn of_pull(clone: Clone) -> Self {
        let base = clone.repo.git(["rev-parse", "refs/remotes/origin/main"]);
        let event = pull_event(&clone.head, &base);
        Self::of(clone, "pull_request", &event).0
    }

    pub fn command(&self, args: &[&str]) -> Command {
        self.command_on("pull_request", args)
    }

    pub fn command_on(&self, event: &str, args: &[&str]) -> Command {
        let mut command = self.clone.gate(&[&["ci"], args].concat());
        let outside = self.clone.repo.outside();
        command
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_EVENT_NAME", event)
            .env("GITHUB_EVENT_PATH", &self.event)
            .env("GITHUB_REPOSITORY", "o/r")
            .env("GITHUB_RUN_ID", "77")
            .env("GITHUB_JOB", "gate")
            .env("GITHUB_STEP_SUMMARY", outside.join("summary.md"))
            .env("GITHUB_OUTPUT", outside.join("output"));
        command
    }

    pub fn judge(&self, args: &[&str]) -> Verdict {
        Verdict::of(&self.command(&[&["--json"], args].concat()).output().unwrap())
    }

    pub fn summary(&self) -> String {
        fs::read_to_string(self.clone.repo.outside().join("summary.md")).unwrap()
    }
}

pub fn pull_event(head: &str, base: &str) -> Value {
    json!({
        "action": "synchronize",
        "number": 7,
        "pull_request": {
            "number": 7,
            "title": "::error::x",
            "head": { "ref": "feature", "sha": head, "repo": { "full_name": "o/r" } },
            "base": { "ref": "main", "sha": base, "repo": { "full_name": "o/r" } },
            "user": { "login": "someone" },
        },
        "repository": { "full_name": "o/r", "default_branch": "main" },
    })
}

pub fn says(output: &Output, code: i32, words: &str) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(text.contains(words), "{text}");
}

#[test]
fn a_pull_request_is_judged_at_its_head() {
    let job = Job::of_pull(Clone::strict().green());
    let verdict = job.judge(&[]);
    assert_eq!(verdict.summary(), ("open", "green", 0));
    assert_eq!(verdict.value["subjects"][0]["commit"], job.clone.head);
    assert!(job.summary().contains("proven"), "{}", job.summary());
    assert_eq!(fs::read_to_string(job.clone.repo.outside().join("output")).unwrap(), "outcome=pass\n");
}

#[test]
fn a_fork_that_was_deleted_is_said_and_stops_no_merge() {
    let clone = Clone::strict().green();
    clone.server.state().orphan(7);
    let base = clone.repo.git(["rev-parse", "refs/remotes/origin/main"]);
    let mut event = pull_event(&clone.head, &base);
    let since = event.clone();
    event["pull_request"]["head"]["repo"] = Value::Null;
    let (job, name) = Job::of(clone, "pull_request", &event);
    for event in [event, since] {
        fs::write(&job.event, event.to_string()).unwrap();
        let verdict = Verdict::of(&job.command_on(&name, &["--json"]).output().unwrap());
        assert_eq!(verdict.summary(), ("open", "green", 0));
        assert!(verdict.message("pull-request").contains("was deleted"), "{}", verdict.message("pull-request"));
    }
    // A push to the new fork is of no pull request.
    let pushed = json!({
        "ref": "refs/heads/feature", "before": job.clone.head, "after": job.clone.head,
        "repository": { "full_name": "o/r", "default_branch": "main" },
    });
    fs::write(&job.event, pushed.to_string()).unwrap();
    job.clone.server.state().pulls[0]["head"]["label"] = "o:feature".into();
    job.clone.server.state().pulls[0]["head"]["user"]["login"] = "o".into();
    let verdict = Verdict::of(&job.command_on("push", &["--json"]).output().unwrap());
    assert_eq!(verdict.summary(), ("deleted-fork", "green", 10));
    let fix = verdict.finding("pull-request")["fix"].as_str().unwrap_or("").to_owned();
    assert!(fix.contains("open a pull request from there") && fix.contains("close #7"), "{fix}");
}

#[test]
fn what_goes_to_another_branch_since_is_judged_by_another_job() {
    let clone = Clone::strict().green();
    clone.server.state().pulls[0]["base"]["ref"] = "release/1.2".into();
    let verdict = Job::of_pull(clone).judge(&[]);
    assert_eq!(verdict.summary(), ("other-goal", "green", 12));
}

/// Judges what is checked out in a clone, where one check is green and another one is not.
fn judged_with_red_lint(clone: Clone) -> Verdict {
    let head = clone.repo.git(["rev-parse", "HEAD"]);
    let job = Job::of_pull(Clone { head, ..clone }.green());
    job.clone.server.state().done("lint", &job.clone.head, "failure");
    job.judge(&[])
}

#[test]
fn the_policy_is_that_of_the_base() {
    let clone = Clone::strict();
    let off = format!("{ONLY_FORGE}[gates.pull-request]\nmode = \"off\"\n[gates.ci-green]\nmode = \"off\"\n");
    clone.repo.write("gate.toml", off).commit_all("soften");
    let verdict = judged_with_red_lint(clone);
    assert_eq!(verdict.summary(), ("open", "red", 10));
    let notes = verdict.value["notes"].to_string();
    assert!(notes.contains("policy changed in these commits"), "{notes}");
}

#[test]
fn who_wrote_it_decides_how_strict_the_job_is() {
    let judge = |ci: &str, message: &str| {
        let clone = Clone::with(&format!("{ONLY_FORGE}{NAMED}{ci}"));
        clone.repo.git(["commit", "-q", "--amend", "-m", message]);
        let verdict = judged_with_red_lint(clone);
        assert_eq!(verdict.reason("ci-green"), "red");
        (verdict.code, verdict.value["notes"].to_string())
    };
    let lenient = "[ci]\npeople = \"warn\"\n";
    let (code, notes) = judge(lenient, "two");
    assert!(code == 0 && notes.contains("no commit of it has the mark of an agent"), "{code} {notes}");
    let (code, notes) = judge(lenient, "two\n\nCo-Authored-By: Claude <noreply@anthropic.com>");
    assert!(code == 10 && notes.contains("agents had a hand in it (claude; 1 commit with"), "{code} {notes}");
    let (code, notes) = judge("", "two");
    assert!(code == 10 && !notes.contains("authorship"), "{code} {notes}");
}

#[test]
fn a_base_without_a_policy_is_said() {
    let clone = Clone::strict().green();
    let (base, own) = (clone.repo.git(["rev-list", "--max-parents=0", "HEAD"]), clone.head.clone());
    clone.repo.git(["update-ref", "refs/remotes/origin/main", &base]);
    let job = Job::of_pull(clone);
    let verdict = job.judge(&[]);
    assert_eq!(verdict.value["policy"]["source"], json!({ "commit": own }));
    let notes = verdict.value["notes"].to_string();
    assert!(
        notes.contains("main has no readable policy and never had one, so the change is judged by its own"),
        "{notes}"
    );
}

/// What GitHub shows beside a line of a file.
fn shown(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("::") && line.contains(" file=")).collect();
    lines.join("\n") + "\n"
}

#[test]
fn what_is_wrong_with_a_policy_is_shown_in_its_line() {
    let broken = format!("{ONLY_FORGE}{NAMED}[gates.ci-green.params]\nrequird = [] # ##[error]x\n");
    let line = broken.lines().count();
    let clone = Clone::strict();
    clone.repo.write("gate.toml", &broken).commit_all("broken");
    let head = clone.repo.git(["rev-parse", "HEAD"]);
    let job = Job::of_pull(Clone { head: head.clone(), ..clone }.green());
    let output = job.command(&[]).output().unwrap();
    says(&output, 65, "this change makes gate.toml unreadable");
    let place = format!(" file=gate.toml,line={line},");
    assert!(shown(&output).contains(&place) && shown(&output).contains("requird"), "{output:?}");

    // Where the policy of the base is broken, there is no verdict, and that is shown all the same.
    job.clone.repo.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    job.clone.repo.write("src/lib.rs", "pub fn three() {}\n").commit_all("three");
    let head = job.clone.repo.git(["rev-parse", "HEAD"]);
    let job = Job::of_pull(Clone { head, ..job.clone });
    fs::remove_file(job.clone.repo.outside().join("summary.md")).unwrap();
    let output = job.command(&[]).output().unwrap();
    says(&output, 12, "requird");
    let said = shown(&output);
    assert!(said.starts_with(&format!("::error{place}title=gate::")) && said.contains("unknown key"), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("##["), "{output:?}");
    assert!(job.summary().contains("could not judge") && job.summary().contains("requird"), "{}", job.summary());
    let outputs = fs::read_to_string(job.clone.repo.outside().join("output")).unwrap();
    assert!(outputs.ends_with("outcome=cannot-judge\n"), "{outputs}");
}

#[test]
fn what_was_weakened_is_shown_in_its_line() {
    let clone = Clone::strict();
    let test =
        "it('adds', () => {\n  expect(1 + 1).toBe(2);\n});\n\nit('takes', () => {\n  expect(2 - 1).toBe(1);\n});\n";
    let base = clone.repo.write("src/a.test.js", test).commit_all("tests");
    clone.repo.write("src/a.test.js", test.replace("it('takes'", "it.skip('takes'")).commit_all("later");
    let mut command = clone.gate(&["ci", "--base", &base]);
    let output = command.env("GITHUB_EVENT_NAME", "push").output().unwrap();
    assert!(shown(&output).contains(" file=src/a.test.js,line=5,title=gate%3A integrity::"), "{output:?}");
}

#[test]
fn a_change_cannot_make_its_own_job_milder() {
    let clone = Clone::strict();
    let milder = format!("{ONLY_FORGE}{NAMED}[ci]\npeople = \"observe\"\n");
    clone.repo.write("gate.toml", milder).commit_all("milder");
    let verdict = judged_with_red_lint(clone);
    assert_eq!(verdict.summary(), ("open", "red", 10));
    let notes = verdict.value["notes"].to_string();
    assert!(notes.contains("[ci] people: block became observe"), "{notes}");
}

#[test]
fn nothing_pending_is_passed_and_waiting_ends_it() {
    let job = Job::of_pull(Clone::strict().green());
    let check = {
        let mut state = job.clone.server.state();
        let run = state.workflow(2, "push", &job.clone.head, "in_progress", None);
        state.job(run, "e2e", &job.clone.head, "in_progress", None)
    };
    assert_eq!(job.judge(&[]).summary(), ("open", "pending", 12));
    // It ends while it is waited for: at the third question.
    let done = move |state: &mut super::server::State| {
        let run = state.check_runs.iter_mut().find(|run| run["id"] == check).unwrap();
        run["status"] = "completed".into();
        run["conclusion"] = "success".into();
        run["completed_at"] = "2026-01-02T03:04:05Z".into();
    };
    let first = move |state: &mut super::server::State| {
        state.then.push(("/check-runs".to_owned(), Box::new(done)));
    };
    job.clone.server.state().then.push(("/check-runs".to_owned(), Box::new(first)));
    let output = job.command(&["--json", "--wait", "1m", "--every", "0s"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains(" pending on "), "{output:?}");
    assert_eq!(Verdict::of(&output).summary(), ("open", "green", 0));
}

#[test]
fn the_own_job_is_not_waited_for() {
    let clone = Clone::strict();
    clone.server.state().pull(7, "o/r", "feature", &clone.head);
    {
        let mut state = clone.server.state();
        let run = state.workflow(9, "pull_request", &clone.head, "in_progress", None);
        state.runs.last_mut().unwrap()["id"] = 77.into();
        state.runs.last_mut().unwrap()["check_suite_id"] = (run * 10).into();
        state.job(run, "gate", &clone.head, "in_progress", None);
        state.job(run, "build", &clone.head, "completed", Some("success"));
    }
    let job = Job::of_pull(clone);
    assert_eq!(job.judge(&[]).summary(), ("open", "green", 0));
}

#[test]
fn a_head_that_moved_since_the_event_cannot_be_judged() {
    let job = Job::of_pull(Clone::strict().green());
    job.clone.server.state().pulls[0]["head"]["sha"] = "3333333333333333333333333333333333333333".into();
    let verdict = job.judge(&[]);
    assert_eq!((verdict.reason("pull-request"), verdict.code), ("moved", 12));
}

#[test]
fn evidence_is_a_run_in_the_job_or_a_named_check() {
    let policy = format!(
        "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"test -f src/lib.rs\"\ninputs = [\"src/**\"]\n{}{NAMED}",
        "[gates.build]\nmode = \"off\"\n[gates.atomic]\nmode = \"off\"\n"
    );
    let job = Job::of_pull(Clone::with(&policy).green());
    assert_eq!((job.judge(&[]).reason("tests"), job.judge(&[]).code), ("missing", 10));
    let verdict = job.judge(&["--run"]);
    assert_eq!((verdict.reason("tests"), verdict.code), ("passed", 0));
    let named = format!("{policy}[gates.tests.params]\nchecks = [\"build\"]\n");
    let job = Job::of_pull(Clone::with(&named).green());
    let verdict = job.judge(&[]);
    assert_eq!((verdict.reason("tests"), verdict.code), ("ci", 0));
    // Where the forge wants it of one app, a status of its name is nobody's word.
    let job = Job::of_pull(Clone::with(&named));
    {
        let mut state = job.clone.server.state();
        state.pull(7, "o/r", "feature", &job.clone.head);
        state.status("build", "success");
    }
    assert_eq!((job.judge(&[]).reason("tests"), job.judge(&[]).code), ("ci", 0));
    job.clone.server.state().protection = Some(json!({
        "enforcement_level": "everyone",
        "contexts": ["build"],
        "checks": [{ "context": "build", "app_id": ACTIONS }],
    }));
    assert_eq!((job.judge(&[]).reason("tests"), job.judge(&[]).code), ("missing", 10));
    // What is named is asked for, also where no other gate asks.
    let alone = named.replace(NAMED, "[gates.pull-request]\nmode = \"off\"\n[gates.ci-green]\nmode = \"off\"\n");
    let verdict = Job::of_pull(Clone::with(&alone).green()).judge(&[]);
    assert_eq!((verdict.reason("tests"), verdict.code), ("ci", 0));
}

#[test]
fn what_is_run_must_be_what_is_judged() {
    let job = Job::of_pull(Clone::strict().green());
    job.clone.repo.git(["checkout", "-q", "--detach", "refs/remotes/origin/main"]);
    says(&job.command(&["--run"]).output().unwrap(), 12, "is not");
    job.clone.repo.git(["checkout", "-q", "feature"]);
    says(&job.command_on("pull_request_target", &["--run"]).output().unwrap(), 64, "secrets of the base");
}

#[test]
fn events_that_say_nothing_useful_are_refused_with_what_helps() {
    let job = Job::of_pull(Clone::strict().green());
    let base = job.clone.repo.git(["rev-parse", "refs/remotes/origin/main"]);
    let nowhere = "4444444444444444444444444444444444444444";
    for (name, event, code, words) in [
        ("pull_request", pull_event(nowhere, &base).to_string(), 12, "fetch-depth: 0"),
        ("pull_request", pull_event(&job.clone.head, nowhere).to_string(), 12, "fetch-depth: 0"),
        ("pull_request", "{".to_owned(), 65, "cannot be understood"),
        ("pull_request", json!({ "repository": { "full_name": "o/r" } }).to_string(), 65, "pull_request"),
        ("issues", "{}".to_owned(), 64, "names no commit"),
    ] {
        fs::write(&job.event, event).unwrap();
        says(&job.command_on(name, &[]).output().unwrap(), code, words);
    }
    fs::remove_file(&job.event).unwrap();
    says(&job.command(&[]).output().unwrap(), 65, "cannot be read");
    says(&job.clone.gate(&["ci"]).output().unwrap(), 64, "there is no event");
}

#[test]
fn a_merge_group_and_a_push_have_no_pull_request_of_their_own() {
    let clone = Clone::strict();
    clone.server.state().done("build", &clone.head, "success");
    let base = clone.repo.git(["rev-parse", "refs/remotes/origin/main"]);
    let group = json!({
        "merge_group": { "head_sha": clone.head, "base_sha": base, "base_ref": "refs/heads/main",
            "head_ref": "refs/heads/gh-readonly-queue/main/pr-7-x" },
        "repository": { "full_name": "o/r", "default_branch": "main" },
    });
    let head = clone.head.clone();
    let (job, _) = Job::of(clone, "merge_group", &group);
    let judge = |event: &str, args: &[&str]| {
        Verdict::of(&job.command_on(event, &[&["--json"], args].concat()).output().unwrap())
    };
    assert_eq!(judge("merge_group", &[]).summary(), ("merge-queue", "green", 0));
    let push = json!({
        "ref": "refs/heads/main", "before": base, "after": head,
        "repository": { "full_name": "o/r", "default_branch": "main" },
    });
    fs::write(&job.event, push.to_string()).unwrap();
    assert_eq!(judge("push", &[]).summary(), ("landed", "green", 0));
    // After the fact: who brought it?
    assert_eq!(judge("push", &["--audit"]).summary(), ("direct", "green", 10));
    {
        let mut state = job.clone.server.state();
        let pull = state.pull(7, "o/r", "feature", &head);
        pull["state"] = "closed".into();
        pull["merged_at"] = "2026-01-02T03:04:05Z".into();
    }
    assert_eq!(judge("push", &["--audit"]).summary(), ("brought", "green", 0));
    // More than are looked at: nobody is told that all of them were brought.
    let tree = job.clone.repo.git(["rev-parse", "HEAD^{tree}"]);
    let script =
        format!("tip={head}; for n in $(seq 101); do tip=$(git commit-tree -p $tip -m $n {tree}); done; echo $tip");
    let many = job.clone.repo.command_in("sh", job.clone.repo.root()).args(["-c", &script]).output().unwrap();
    let many = String::from_utf8(many.stdout).unwrap();
    let flood = json!({
        "ref": "refs/heads/main", "before": head, "after": many.trim(),
        "repository": { "full_name": "o/r", "default_branch": "main" },
    });
    fs::write(&job.event, flood.to_string()).unwrap();
    says(&job.command_on("push", &["--audit"]).output().unwrap(), 12, "more than 100 commits landed at once");
    let gone = json!({
        "ref": "refs/heads/x", "before": base, "after": "0000000000000000000000000000000000000000",
        "repository": { "full_name": "o/r", "default_branch": "main" },
    });
    fs::write(&job.event, gone.to_string()).unwrap();
    says(&job.command_on("push", &[]).output().unwrap(), 0, "nothing to judge");
}

#[test]
fn one_comment_is_kept_up_to_date_and_none_is_needed() {
    let job = Job::of_pull(Clone::strict().green());
    for _ in 0..2 {
        assert_eq!(job.judge(&["--comment"]).code, 0);
    }
    job.clone.server.state().done("lint", &job.clone.head, "failure");
    assert_eq!(job.judge(&["--comment"]).code, 10);
    {
        let state = job.clone.server.state();
        assert_eq!(state.comments.len(), 1);
        assert!(state.comments[0]["body"].as_str().unwrap().contains("not proven"), "{}", state.comments[0]);
    }
    // Who writes with the token of an app is told elsewhere, and a comment that quotes one is another.
    for app in ["github-actions[bot]", "judge[bot]"] {
        let job = Job::of_pull(Clone::strict().green());
        assert_eq!(job.judge(&["--comment"]).code, 0);
        {
            let mut state = job.clone.server.state();
            state.comments[0]["user"]["login"] = app.into();
            let mut quoted = state.comments[0].clone();
            quoted["id"] = 5.into();
            quoted["body"] = format!("> {}", quoted["body"].as_str().unwrap()).into();
            state.comments.insert(0, quoted);
            state.faults.push(Fault {
                path: "/user",
                status: 403,
                body: "{\"message\":\"no\"}".to_owned(),
                ..Fault::default()
            });
            if app == "judge[bot]" {
                state.graphql = Some(|_, _| json!({ "data": { "viewer": { "login": "judge[bot]" } } }));
            }
            state.done("lint", &job.clone.head, "failure");
        }
        assert_eq!(job.judge(&["--comment"]).code, 10);
        let state = job.clone.server.state();
        assert_eq!(state.comments.len(), 2, "{app}");
        assert!(state.comments[0]["body"].as_str().unwrap().starts_with("> "), "{app}");
        assert!(state.comments[1]["body"].as_str().unwrap().contains("not proven"), "{app}");
    }
    // From a fork, the token may not.
    let job = Job::of_pull(Clone::strict().green());
    job.clone.server.state().faults.push(Fault {
        path: "/issues/",
        status: 403,
        body: json!({ "message": "Resource not accessible by integration" }).to_string(),
        ..Fault::default()
    });
    let output = job.command(&["--comment"]).output().unwrap();
    says(&output, 0, "the comment was not written, which changes nothing");
}

#[test]
fn without_a_forge_a_range_is_judged() {
    let clone = Clone::strict();
    let output = clone.gate(&["ci", "--base", "origin/main", "--json"]).output().unwrap();
    let verdict = Verdict::of(&output);
    assert_eq!((verdict.code, verdict.value["subjects"][0]["commit"].as_str()), (0, Some(clone.head.as_str())));
    assert!(clone.server.state().log.is_empty());
    says(&clone.gate(&["ci", "--base", "nowhere"]).output().unwrap(), 12, "not a commit of this clone");
}

#[test]
fn statements_are_asked_for_with_the_token_of_the_job_and_of_a_fork_too() {
    let signers = "[attest]\nsigners = []\n";
    let clone = Clone::with(&format!("{ONLY_FORGE}{NAMED}{signers}")).green();
    let base = clone.repo.git(["rev-parse", "refs/remotes/origin/main"]);
    let mut event = pull_event(&clone.head, &base);
    event["pull_request"]["head"]["repo"]["full_name"] = "someone/r".into();
    let (job, _) = Job::of(clone, "pull_request", &event);
    let verdict = job.judge(&[]);
    let state = job.clone.server.state();
    for repository in ["/o/r.git/", "/someone/r.git/"] {
        let asked = state.log.iter().find(|(_, path, _)| path.starts_with(repository));
        let (_, _, authorization) = asked.unwrap_or_else(|| panic!("{repository} was not asked: {:?}", state.log));
        // What `x-access-token:enterprise-token` is in base 64.
        let expected = "Basic eC1hY2Nlc3MtdG9rZW46ZW50ZXJwcmlzZS10b2tlbg==";
        assert_eq!(authorization.as_deref(), Some(expected), "{repository}");
    }
    let notes = verdict.value["notes"].to_string();
    assert!(notes.contains("refs/notes/gate of someone/r could not be fetched"), "{notes}");
    assert!(!notes.contains("enterprise-token") && !notes.contains("eC1hY2Nlc3M"), "{notes}");
}

#[test]
fn without_signers_no_remote_is_asked_for_statements() {
    let job = Job::of_pull(Clone::strict().green());
    job.judge(&[]);
    assert_eq!(job.clone.server.state().asked("/o/r.git/"), 0);
}
