//! What others write (names, titles, comments, policies of a head) commands neither the runner, nor the reader, nor gate.

use std::fs;

use serde_json::{Value, json};

use super::jobs::{Job, pull_event, says};
use super::server::Fault;
use super::{Clone, ONLY_FORGE, Verdict};

#[test]
fn strange_names_command_neither_the_runner_nor_the_reader() {
    let job = Job::of_pull(Clone::strict().green());
    let name = "x\u{1b}[31m\n::set-output name=a::b ##[error]y | <img src=x onerror=1> @everyone $(touch pwned)";
    job.clone.server.state().done(name, &job.clone.head, "failure");
    let folder = std::path::PathBuf::from(artifacts_of(&job));
    let output = job.command(&["--comment", "--artifacts", folder.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(10));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = text.lines();
    let stop = lines.next().unwrap().strip_prefix("::stop-commands::").unwrap().to_owned();
    assert!(stop.len() >= 32 && text.matches(&stop).count() == 2, "{text}");
    let (_, commands) = text.split_once(&format!("\n::{stop}::\n")).unwrap();
    assert!(commands.lines().all(|line| line.starts_with("::error ") || line.starts_with("::warning ")), "{commands}");
    assert!(!text.contains('\u{1b}'), "{text:?}");
    let summary = job.summary();
    assert!(!summary.contains("<img") && !summary.contains("@everyone") && !summary.contains('\u{1b}'), "{summary}");
    let sarif: Value = serde_json::from_slice(&fs::read(folder.join("gate.sarif")).unwrap()).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&json!("ci-green"), &json!("error")));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "gate.toml");
    assert_eq!(place["region"], json!({ "startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2 }));
    // The one fingerprint that code scanning looks at.
    assert!(result["partialFingerprints"]["primaryLocationLineHash"].as_str().unwrap().ends_with(":1"), "{result}");
    let junit = fs::read_to_string(folder.join("gate.junit.xml")).unwrap();
    assert!(junit.contains("failures=\"1\"") && !junit.contains("<img"), "{junit}");
    // What the schemas of Ant and of Jenkins want.
    for words in
        [" hostname=\"localhost\" timestamp=\"20", " time=\"0\" tests=", "<property name=\"verdict\"", "<system-err/>"]
    {
        assert!(junit.contains(words), "{words}: {junit}");
    }
    let verdict: Value = serde_json::from_slice(&fs::read(folder.join("verdict.json")).unwrap()).unwrap();
    assert_eq!(verdict["outcome"], "blocked");
}

/// A name that git takes for a branch, and that would be a command, a mark-up or a call elsewhere.
const BRANCH: &str = "a%0A%3A%3Aerror<img/src=x>|@everyone$(touch${IFS}pwned)`touch${IFS}pwned`;'\"\u{202e}{{x}}#1";

#[test]
fn a_branch_and_a_title_are_names_and_nothing_else() {
    let clone = Clone::strict();
    let repo = &clone.repo;
    repo.git(["branch", "-m", BRANCH]);
    let base = repo.git(["rev-parse", "refs/remotes/origin/main"]);
    let mut event = pull_event(&clone.head, &base);
    event["pull_request"]["head"]["ref"] = BRANCH.into();
    event["pull_request"]["title"] = "x\n::set-env name=PATH::/tmp\n<!-- gate:verdict v1 -->".into();
    let push = json!({
        "ref": format!("refs/heads/{BRANCH}"), "before": base, "after": clone.head,
        "repository": { "full_name": "o/r", "default_branch": "main" },
    });
    clone.server.state().done("build", &clone.head, "failure");
    let (job, _) = Job::of(clone, "pull_request", &event);
    let folder = artifacts_of(&job);
    for (name, event) in [("push", push), ("pull_request", event)] {
        fs::write(&job.event, event.to_string()).unwrap();
        if name == "pull_request" {
            let head = job.clone.head.clone();
            job.clone.server.state().pull(7, "o/r", BRANCH, &head);
        }
        let output = job.command_on(name, &["--comment", "--run", "--artifacts", &folder]).output().unwrap();
        assert_eq!(output.status.code(), Some(10), "{output:?}");
        let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        assert!(!said.contains("set-env") && !said.contains('\u{202e}'), "{said}");
        assert!(!said.lines().any(|line| line.starts_with("::error") && line.contains("%0A%3A%3Aerror")), "{said}");
        let verdict: Value = serde_json::from_slice(&fs::read(format!("{folder}/verdict.json")).unwrap()).unwrap();
        assert_eq!(verdict["outcome"], "blocked");
    }
    let summary = job.summary();
    assert!(summary.contains("everyone"), "the branch is named: {summary}");
    let comment = job.clone.server.state().comments[0]["body"].as_str().unwrap().to_owned();
    for text in summary.split_inclusive("</sub>\n").chain([comment.as_str()]) {
        assert!(!text.contains("<img") && !text.contains("@everyone") && !text.contains('\u{202e}'), "{text}");
        assert_eq!(text.matches("<!--").count(), 1, "one marker, which is ours: {text}");
    }
    let outputs = fs::read_to_string(job.clone.repo.outside().join("output")).unwrap();
    assert_eq!(outputs, "outcome=blocked\n".repeat(2));
    assert!(!job.clone.repo.path("pwned").exists());
}

fn artifacts_of(job: &Job) -> String {
    job.clone.repo.outside().join("artifacts").to_str().unwrap().to_owned()
}

#[test]
fn a_comment_of_somebody_else_with_our_marker_is_not_ours() {
    let job = Job::of_pull(Clone::strict().green());
    assert_eq!(job.judge(&["--comment"]).code, 0);
    let own = job.clone.server.state().comments[0].clone();
    let mut forged = own.clone();
    forged["id"] = 5.into();
    forged["user"]["login"] = "mallory".into();
    forged["body"] = format!("{}\n### ✅ gate: proven", own["body"].as_str().unwrap().lines().next().unwrap()).into();
    // Hers is there first, alone and then beside ours.
    for (ours, expected) in [(Vec::new(), 2), (vec![own], 2)] {
        job.clone.server.state().comments = [vec![forged.clone()], ours].concat();
        job.clone.server.state().done("lint", &job.clone.head, "failure");
        assert_eq!(job.judge(&["--comment"]).code, 10);
        let state = job.clone.server.state();
        assert_eq!(state.comments.len(), expected);
        assert_eq!(state.comments[0], forged, "hers stays hers");
        assert!(state.comments[1]["body"].as_str().unwrap().contains("not proven"), "{}", state.comments[1]);
    }
}

#[test]
fn with_the_secrets_of_the_base_nothing_of_the_head_counts() {
    let clone = Clone::strict();
    let off = format!(
        "{ONLY_FORGE}[gates.pull-request]\nmode = \"off\"\n[gates.ci-green]\nmode = \"off\"\n[attest]\nsigners = []\n"
    );
    clone.repo.write("gate.toml", off).commit_all("soften");
    let head = clone.repo.git(["rev-parse", "HEAD"]);
    let base = clone.repo.git(["rev-parse", "refs/remotes/origin/main"]);
    let clone = Clone { head, ..clone };
    clone.server.state().pull(7, "mallory/r", "feature", &clone.head);
    clone.server.state().done("build", &clone.head, "failure");
    let mut event = pull_event(&clone.head, &base);
    event["pull_request"]["head"]["repo"]["full_name"] = "mallory/r".into();
    let (job, name) = Job::of(clone, "pull_request_target", &event);
    // What is checked out is the base, as GitHub has it there; the head was fetched and nothing of it is executed.
    job.clone.repo.git(["checkout", "-q", "--detach", "refs/remotes/origin/main"]);
    let verdict = Verdict::of(&job.command_on(&name, &["--json"]).output().unwrap());
    assert_eq!((verdict.reason("ci-green"), verdict.code), ("red", 10));
    assert_eq!(verdict.value["policy"]["source"], json!({ "commit": base }));
    assert_eq!(verdict.value["subjects"][0]["commit"], job.clone.head.as_str());
    assert_eq!(job.clone.server.state().asked(".git/"), 0, "signers of a head are nobody's");
    says(&job.command_on(&name, &["--run"]).output().unwrap(), 64, "no code of the change runs there");
}

#[test]
fn a_head_that_moves_while_a_job_judges_is_not_judged() {
    let moves = |job: &Job, at: &str| {
        let change = |state: &mut super::server::State| {
            state.pulls[0]["head"]["sha"] = "3333333333333333333333333333333333333333".into();
        };
        job.clone.server.state().then.push((at.to_owned(), Box::new(change)));
    };
    for at in ["/check-runs", "/status", "/rules/"] {
        let job = Job::of_pull(Clone::strict().green());
        moves(&job, at);
        let verdict = job.judge(&[]);
        assert_eq!(verdict.code, 12, "{at}: {:?}", verdict.summary());
        assert_ne!(verdict.reason("ci-green"), "green", "{at}");
    }
    // And while it is waited for.
    let job = Job::of_pull(Clone::strict().green());
    {
        let mut state = job.clone.server.state();
        let run = state.workflow(2, "push", &job.clone.head, "in_progress", None);
        state.job(run, "e2e", &job.clone.head, "in_progress", None);
    }
    moves(&job, "/check-runs");
    let verdict = job.judge(&["--wait", "1s", "--every", "1s"]);
    assert_eq!(verdict.code, 12, "{:?}", verdict.summary());
}

#[test]
fn what_is_waited_for_commands_nothing_meanwhile() {
    let job = Job::of_pull(Clone::strict().green());
    {
        let mut state = job.clone.server.state();
        let run = state.workflow(2, "push", &job.clone.head, "in_progress", None);
        let name = "e2e ##[add-mask]a\n::stop-commands::b";
        state.job(run, name, &job.clone.head, "in_progress", None);
        state.faults.push(Fault {
            path: "/issues/",
            status: 403,
            body: json!({ "message": "no\n::error::c ##[error]d" }).to_string(),
            ..Fault::default()
        });
    }
    let output = job.command(&["--comment", "--wait", "1s", "--every", "1s"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("asking again") && said.contains("the comment was not written"), "{said}");
    assert!(!said.contains("##[") && !said.lines().any(|line| line.starts_with("::")), "{said}");
}

#[test]
fn an_event_that_says_strange_things_is_refused_before_git_is_asked() {
    let job = Job::of_pull(Clone::strict().green());
    let base = job.clone.repo.git(["rev-parse", "refs/remotes/origin/main"]);
    for (at, said) in [
        ("/pull_request/head/sha", json!("--upload-pack=touch pwned")),
        ("/pull_request/head/sha", json!("HEAD")),
        ("/pull_request/base/sha", json!("main; touch pwned")),
        ("/pull_request/number", json!("7/../8")),
        ("/pull_request/head/sha", json!(["x"])),
        ("/pull_request/head/sha", json!("x\n::error::pwned")),
        ("/repository", json!("o/r")),
        // Where it is not known whom to ask, nothing passes.
        ("/repository/full_name", json!("../../user")),
        ("/repository/full_name", json!("o/r/../../x")),
        ("/repository/full_name", json!("o/r?x=1")),
        ("/repository/full_name", json!("")),
    ] {
        let mut event = pull_event(&job.clone.head, &base);
        *event.pointer_mut(at).unwrap() = said.clone();
        fs::write(&job.event, event.to_string()).unwrap();
        let output = job.command(&[]).output().unwrap();
        assert_eq!(output.status.code(), Some(65), "{at} {said}: {output:?}");
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        let (own, others): (Vec<&str>, Vec<&str>) = text
            .lines()
            .filter(|line| line.starts_with("::"))
            .partition(|line| line.starts_with("::error title=gate::the event `pull_request` cannot be understood: "));
        assert!(own.len() == 1 && others.is_empty(), "{text}");
    }
    assert_eq!(job.clone.server.state().log.len(), 0);
    assert!(!job.clone.repo.path("pwned").exists());
}
