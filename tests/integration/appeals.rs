//! What was refused, judged once more: from the record, and as a case that knows nothing of this machine.

use serde_json::Value;

use crate::client_session::Session;
use crate::project::{Project, Said, finish};

impl Said {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// The words of an answer, by question, where the question arises.
fn words(answer: &Value) -> Vec<(String, String)> {
    let gates = answer["gates"].as_object().unwrap_or_else(|| panic!("{answer}")).iter();
    let words = gates.map(|(question, said)| (question.clone(), said["verdict"].as_str().unwrap().to_owned()));
    words.filter(|(_, word)| word != "na").collect()
}

/// The last verdict, judged again and appealed: the case is judged as the verdict was. Returns the case.
#[track_caller]
fn appealed(project: &Project) -> Value {
    let said = project.gate(["appeal"]).exits(0);
    assert_eq!(said.err, "", "{said:?}");
    let case = said.json();
    let text = said.out.as_str();
    let home = project.repo.outside();
    assert!(!text.contains(home.to_str().unwrap()), "{text}");
    assert!(case.get("expect").is_none());
    let id = case["id"].as_str().unwrap();
    let again = project.gate(["replay", id, "--json"]).exits(0).json();
    assert_eq!(again["verdict"], *id);
    assert_eq!(again["differs"], serde_json::json!([]), "{again:#}");
    let judged = replayed(project, &case);
    let blocks = |answer: &Value| -> Vec<String> {
        words(answer).into_iter().filter(|(_, word)| word == "block").map(|(question, _)| question).collect()
    };
    assert_eq!(blocks(&judged), blocks(&again), "{judged:#}\n{again:#}\n{case:#}");
    assert!(!blocks(&judged).is_empty(), "{judged:#}");
    case
}

/// What is said of a case where nothing else is.
#[track_caller]
fn replayed(project: &Project, case: &Value) -> Value {
    let mut command = project.command("gate", &project.repo.home());
    command.args(["replay", "-", "--json"]);
    finish(command, case.to_string().as_bytes()).exits(0).json()
}

#[test]
fn tests_that_were_not_run() {
    let project = Project::new().edited("a change");
    project.check().exits(10);
    let case = appealed(&project);
    assert_eq!(case["policy"]["gate_toml"], crate::project::POLICY);
    assert_eq!(case["start"]["files"]["test.sh"], crate::project::TEST);
}

#[test]
fn appeals_are_counted() {
    let project = Project::new().edited("a change");
    project.check().exits(10);
    let appeals = || {
        let metrics = project.gate(["metrics", "--json"]).exits(0).json();
        let measures = metrics["groups"][0]["measures"].as_array().unwrap();
        let appeals = measures.iter().find(|measure| measure["name"] == "refusals that were appealed");
        appeals.unwrap_or_else(|| panic!("{metrics:#}")).clone()
    };
    assert_eq!((&appeals()["count"], &appeals()["value"]), (&1.into(), &0.0.into()));
    project.gate(["appeal"]).exits(0);
    project.gate(["appeal", "--expect", "pass"]).exits(0);
    assert_eq!((&appeals()["count"], &appeals()["value"]), (&1.into(), &1.0.into()));
    project.gate(["log"]).exits(0).says("appealed against verdict");
}

#[test]
fn a_run_that_is_of_another_content() {
    let project = Project::new().edited("a change").tested();
    project.check().exits(0);
    project.edit("another change");
    project.check().exits(10).says("src/lib.sh");
    let case = appealed(&project);
    let events = case["events"].as_array().unwrap();
    let runs: Vec<_> = events.iter().filter(|event| event["t"] == "cmd").collect();
    assert_eq!(runs.len(), 1, "{case:#}");
    assert_eq!((&runs[0]["command"], &runs[0]["exit"]), (&"sh test.sh".into(), &0.into()));
    assert_eq!(runs[0]["grade"], "observed");
    assert_eq!(events.iter().filter(|event| event["t"] == "commit").count(), 2);
}

#[test]
fn a_run_that_failed() {
    let project = Project::new().edited("broken");
    project.gate(["run", "test"]).exits(101);
    project.check().exits(10);
    appealed(&project);
}

#[test]
fn work_that_was_not_committed_and_is_gone_by_now() {
    let project = Project::new().edited("a change").tested();
    project.repo.append("src/lib.sh", "not committed\n");
    project.check().exits(10);
    project.repo.git(["checkout", "-q", "."]);
    let case = appealed(&project);
    assert!(case.to_string().contains("not committed"), "{case:#}");
}

#[test]
fn a_file_that_was_forgotten() {
    let project = Project::new();
    project.repo.write("src/new.sh", "three\n").append("src/lib.sh", "source new.sh\n");
    project.gate(["run", "test"]).exits(0);
    project.repo.git(["commit", "-q", "-a", "-m", "feat: use it"]);
    project.check().exits(10);
    appealed(&project);
}

#[test]
fn a_file_that_changed_while_the_tests_ran() {
    let project = Project::with(&crate::project::POLICY.replace("sh test.sh", "sh test.sh && echo late >> src/lib.sh"));
    project.edit("a change");
    project.gate(["run", "test"]).exits(0);
    project.repo.git(["commit", "-q", "-a", "-m", "feat: late"]);
    project.check().exits(10);
    appealed(&project);
}

#[test]
fn pushes_to_protected_branches() {
    let project = Project::new().edited("a change").tested();
    for line in ["git push origin HEAD:main", "git push origin :main", "git push origin feature:release/1"] {
        assert_ne!(project.push(line).code, 0, "{line}");
        let case = appealed(&project);
        let last = case["events"].as_array().unwrap().last().unwrap();
        assert_eq!((&last["t"], &last["remote"]), (&"push".into(), &"origin".into()), "{line}");
    }
}

#[test]
fn a_push_of_what_is_not_proven() {
    let project = Project::new().edited("a change");
    assert_ne!(project.push("git push origin feature").code, 0);
    appealed(&project);
}

#[test]
fn a_commit_that_is_two_things() {
    let scopes = "\n[scopes]\nparser = [\"src/parser/**\"]\nweb = [\"web/**\"]\n";
    let project = Project::with(&format!("{}{scopes}", crate::project::POLICY));
    project.repo.write("src/parser/m.sh", "alpha=1\n").write("web/m.css", "body { margin: 1px }\n");
    let mixed = ["-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "feat(parser): mixed"];
    project.repo.git(["add", "-A"]);
    project.repo.git(mixed);
    project.gate(["run", "test"]).exits(0);
    project.check().exits(10).says("atomic");
    let case = appealed(&project);
    assert!(case["policy"]["gate_toml"].as_str().unwrap().contains("[scopes]"));
}

#[test]
fn a_decision_that_was_taken_away() {
    let project = Project::bare_bones();
    project.repo.write("gate.toml", crate::project::POLICY);
    project.repo.write("src/lib.sh", "one\n# @REJECTED global mutex: deadlocks under load\n");
    project.repo.commit_all("chore: policy");
    project.share();
    project.repo.write("src/lib.sh", "one\ntwo\n").commit_all("feat: two");
    project.gate(["run", "test"]).exits(0);
    project.check().exits(10).says("is gone");
    let case = appealed(&project);
    let judged = replayed(&project, &case);
    assert_eq!(judged["gates"]["decisions"]["verdict"], "block", "{judged:#}");
}

#[test]
fn a_claim_that_the_record_contradicts() {
    let project = Project::new();
    let session = Session::claude(&project).prompted("change the library");
    project.edit("broken");
    assert_eq!(session.run("sh test.sh"), 101);
    let said = session.stop("Done. All tests pass.");
    assert!(said.out.contains("block"), "{said:?}");
    let case = appealed(&project);
    let last = case["events"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["t"], &last["text"]), (&"stop".into(), &"Done. All tests pass.".into()));
    // The session itself is judged as its last stop was.
    let judged = project.gate(["replay", "c0ffee-1", "--json"]).exits(0).json();
    assert_eq!(judged["gates"]["tests"]["verdict"], "block", "{judged:#}");
}

#[test]
fn secrets_and_places_stay_here() {
    let project = Project::new();
    let session = Session::claude(&project);
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let root = project.repo.root().display().to_string();
    session.prompt(&format!("change the library in {root}, with GITHUB_TOKEN={token}"));
    project.repo.write("src/keys.sh", format!("export GITHUB_TOKEN={token}\n"));
    project.edit("a change");
    session.run(&format!("cd {root} && sh test.sh; echo {token} in {root}/src"));
    session.run(&format!("sh {root}/test.sh"));
    project.edit("another change");
    session.stop("Done.");
    let case = appealed(&project).to_string();
    assert!(!case.contains(&token), "{case}");
    assert!(case.contains("cd . && sh test.sh"), "{case}");
}

#[test]
fn what_would_have_been_right_is_said_only_on_demand() {
    let project = Project::new().edited("a change");
    project.check().exits(10);
    let file = project.repo.outside().join("case.json");
    project.gate(["appeal", "--expect", "pass", "-o", file.to_str().unwrap()]).exits(0).says("read the file before");
    let case: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(case["expect"]["tests"]["verdict"], "pass");
    project.gate(["replay", file.to_str().unwrap()]).exits(0).says("expected pass");
    project.gate(["appeal", "v0"]).exits(64).says("is not a verdict of this repository");
    // A pass that should have been none is a case, too.
    project.gate(["appeal", "--expect", "block"]).exits(64).says("no verdict here passed");
    project.gate(["run", "test"]).exits(0);
    project.check().exits(0);
    let passed = project.verdict()["id"].as_str().unwrap().to_owned();
    project.gate(["appeal", &passed, "--expect", "pass"]).exits(64).says("refused nothing");
    let file = file.to_str().unwrap();
    project
        .gate(["appeal", "--expect", "block", "--question", "tests", "-o", file])
        .exits(0)
        .says("read the file before");
    project.gate(["replay", file]).exits(0).says("expected block");
    project.gate(["appeal", "--expect", "block", "--question", "weather"]).exits(64);
}

#[test]
fn a_verdict_says_what_counts_since() {
    let project = Project::new().edited("a change");
    let id = |project: &Project| project.verdict()["id"].as_str().unwrap().to_owned();
    let refused = id(&project);
    project.gate(["run", "test"]).exits(0);
    let passed = id(&project);
    let again = project.gate(["replay", &refused, "--json"]).exits(0).json();
    let differs = &again["differs"][0];
    assert_eq!((&differs["question"], &differs["then"]["verdict"]), (&"tests".into(), &"block".into()), "{again:#}");
    assert_eq!(again["gates"]["tests"]["verdict"], "pass");
    assert!(differs["because"].to_string().contains("test was run again later"), "{again:#}");
    let text = project.gate(["replay", &refused]).exits(0);
    assert!(text.out.contains("was block") && text.out.contains("because test was run again later"), "{text:?}");
    // What passed is still passed, and a run that fails on the same content takes it back.
    assert_eq!(project.gate(["replay", &passed, "--json"]).exits(0).json()["differs"], serde_json::json!([]));
    let shadow = project.repo.outside().join("grep");
    std::fs::write(&shadow, "#!/bin/sh\nexit 0\n").unwrap();
    let line =
        format!("chmod +x {0}; PATH={1}:$PATH gate run test", shadow.display(), project.repo.outside().display());
    project.sh(&line).exits(101);
    let again = project.gate(["replay", &passed, "--json"]).exits(0).json();
    assert_eq!(again["gates"]["tests"]["verdict"], "block", "{again:#}");
    assert_eq!(again["differs"][0]["then"]["verdict"], "pass");
    // By the path of its record, and of the small one that points to the newest.
    for file in project.verdict_files() {
        if file.file_name().unwrap().to_str().unwrap().starts_with("verdict_") {
            project.gate(["replay", file.to_str().unwrap()]).exits(0).says("judged again");
        }
    }
}

#[test]
fn a_verdict_says_when_the_policy_is_another() {
    let project = Project::bare_bones();
    project.share();
    project.edit("a change");
    project.repo.write("gate.toml", crate::project::POLICY);
    let refused = project.verdict()["id"].as_str().unwrap().to_owned();
    let again = || project.gate(["replay", &refused, "--json"]).exits(0).json();
    assert_eq!(again()["differs"], serde_json::json!([]));
    project.repo.append("gate.toml", "\n[gates.tests]\nmode = \"warn\"\n");
    let again = again();
    let differs = again["differs"].as_array().unwrap();
    assert_eq!(differs[0]["then"]["verdict"], "block", "{again:#}");
    assert!(differs[0]["because"].to_string().contains("the policy changed"), "{again:#}");
    // What is left of the commit that was judged is not made up.
    project.repo.remove("gate.toml");
    project.gate(["replay", "v0"]).exits(64).says("is not a file, a verdict or a session of this repository");
}

#[test]
fn a_session_is_judged_from_its_log_alone() {
    let project = Project::new();
    for (log, question, word) in [("codex.jsonl", "tests", "block"), ("claude.jsonl", "push", "na")] {
        let file = crate::session_logs::data(log);
        let mut command = project.command("gate", &project.repo.home());
        command.args(["replay", file.to_str().unwrap(), "--json"]);
        let judged = finish(command, b"").exits(0).json();
        assert_eq!(judged["gates"][question]["verdict"], word, "{log}: {judged:#}");
    }
    project.gate(["replay", "README.md"]).exits(65).says("not a case");
}

#[test]
fn any_history_is_judged_alike_as_a_case() {
    // A generator of its own: the same histories everywhere.
    let mut state = 0x2545_f491_u32;
    let mut next = move |of: u32| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state % of
    };
    let mut refused = 0;
    for _ in 0..4 {
        let project = Project::new();
        for step in 0..7 {
            match next(7) {
                0 | 1 => drop(project.edit(&format!("step {step}"))),
                2 => drop(project.repo.append("src/other.sh", format!("step {step}\n"))),
                3 => drop(project.edit("broken")),
                4 => drop(project.gate(["run", "test"])),
                5 => drop(project.repo.commit_all("fix: what is there")),
                _ => {
                    project.repo.git(["checkout", "-q", "main", "--", "src"]);
                }
            }
        }
        if project.check().code == 10 {
            refused += 1;
            appealed(&project);
        }
        if project.push("git push origin feature").code != 0 {
            refused += 1;
            appealed(&project);
        }
    }
    assert!(refused > 3, "{refused}");
}

#[test]
fn a_commit_that_was_refused_and_never_made() {
    let scopes = "\n[scopes]\nparser = [\"src/parser/**\"]\nweb = [\"web/**\"]\n";
    let project = Project::with(&format!("{}{scopes}", crate::project::POLICY));
    project.gate(["init", "--yes"]).exits(0);
    project.repo.write("src/parser/m.sh", "alpha=1\n").write("web/m.css", "body { margin: 1px }\n");
    project.repo.git(["add", "-A"]);
    let index = || project.repo.git(["ls-files", "--stage"]);
    let before = index();
    let mut commit = project.command("git", project.repo.root());
    commit.args(["commit", "-q", "-m", "feat(parser): mixed"]);
    let refused = commit.output().unwrap();
    assert!(!refused.status.success(), "{refused:?}");
    assert_eq!(index(), before);
    // Whatever becomes of it, it can be looked at again.
    project.repo.git(["reset", "-q", "--hard"]);
    let case = appealed(&project);
    let events = case["events"].as_array().unwrap();
    let made: Vec<_> = events.iter().filter(|event| event["t"] == "commit").map(|event| &event["message"]).collect();
    assert_eq!(made, ["feat(parser): mixed"], "{case:#}");
    let all = project.repo.git(["log", "--all", "--format=%s"]);
    assert!(!all.contains("mixed"), "nothing of the repository knows of it: {all}");
}

#[test]
fn a_session_is_judged_again_as_its_last_stop_was() {
    let project = Project::new();
    let session = Session::claude(&project);
    let replayed = || project.gate(["replay", "c0ffee-1", "--json"]).exits(0).json()["gates"]["tests"].clone();
    session.prompt("change the library");
    project.repo.write("src/lib.sh", "edited by a tool that nobody saw\n");
    // A note beside the repository is not content of it.
    let note = project.repo.outside().join("note.md");
    let call = serde_json::json!({"tool_name": "Write", "tool_input": {"file_path": note}, "tool_response": {}});
    session.hook("PostToolUse", call);
    session.stop("Done.");
    assert_eq!(replayed()["verdict"], "block", "{}", replayed());
    // Somebody else's run proves the same content.
    project.gate(["run", "test"]).exits(0);
    session.stop("Done.");
    assert_eq!(replayed()["verdict"], "pass", "{}", replayed());
    // What happened since is of no stop.
    project.repo.write("src/lib.sh", "edited again\n");
    assert_eq!(replayed()["verdict"], "pass", "{}", replayed());
}
