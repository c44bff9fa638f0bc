//! What a session is told that is refused again and again, until control goes to a person.

use std::fs;

use serde_json::Value;

use crate::project::{Project, for_agents, read_json, valid};

/// One untested commit.
fn untested() -> Project {
    Project::new().edited("one")
}

fn of(session: &str, project: &Project) -> Value {
    project.verdict_with(&[("GATE_SESSION", session)], &[])
}

#[test]
fn the_ladder_from_feedback_to_a_person() {
    let project = Project::with(
        "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh test.sh\"\n\n\
         [commands.build]\ngate = \"build\"\nrun = \"true\"\n",
    );
    project.edit("one");
    let escalation = project.gate_dir().join("verdicts/escalation_s.json");

    let first = of("s", &project);
    assert_eq!((&first["attempt"], &first["repeated"]), (&1.into(), &false.into()));
    let text = first["feedback"].as_str().unwrap();
    assert!(text.starts_with("[ATTEMPT: 1] gate: Not proven yet (attempt 1)."), "{text}");
    assert!(text.contains("- tests:") && text.contains("- build:"), "{text}");
    assert!(text.contains("Next: gate run "), "{text}");

    // The same again is not told in the same words, and more narrowly.
    let second = of("s", &project);
    assert_eq!((&second["attempt"], &second["repeated"]), (&2.into(), &true.into()));
    let narrower = second["feedback"].as_str().unwrap();
    assert!(
        narrower.starts_with("[ATTEMPT: 2] gate: Still not proven (attempt 2). Nothing has changed since"),
        "{narrower}"
    );
    assert_eq!(narrower.lines().filter(|line| line.starts_with("- ")).count(), 1, "{narrower}");

    // Nor is what nobody committed yet: it may be another content each time.
    project.repo.append("src/lib.sh", "dirty\n");
    let dirty = of("t", &project);
    project.repo.append("src/lib.sh", "dirtier\n");
    let dirtier = of("t", &project);
    assert_eq!((&dirty["repeated"], &dirtier["repeated"]), (&false.into(), &false.into()));
    assert!(!dirtier["feedback"].as_str().unwrap().contains("Nothing has changed"), "{dirtier:#}");
    project.repo.git(["checkout", "-q", "--", "src"]);

    // Other content is not "unchanged".
    project.edit("two");
    let third = of("s", &project);
    assert_eq!((&third["attempt"], &third["repeated"]), (&3.into(), &false.into()));
    let warning = third["feedback"].as_str().unwrap();
    assert!(warning.contains("this is the last warning (attempt 3)"), "{warning}");
    assert_eq!(warning.lines().filter(|line| line.starts_with("[ ] ")).count(), 4, "{warning}");
    assert_eq!(third["requires_human_action"], false);
    assert!(!escalation.exists());

    let fourth = of("s", &project);
    assert_eq!(fourth["outcome"], "needs-human");
    assert_eq!(fourth["requires_human_action"], true);
    assert_eq!(fourth["human_actions"].as_array().unwrap().len(), 1);
    let over = fourth["feedback"].as_str().unwrap();
    assert!(over.contains("this goes to a person now") && over.ends_with("do not call the work done."), "{over}");
    let payload = read_json(&escalation);
    valid("escalation", &payload);
    let text = fs::read_to_string(escalation.with_extension("txt")).unwrap();
    for_agents(&text);
    let keys: Vec<_> = text.lines().filter(|line| !line.starts_with('-')).collect();
    for (line, key) in keys.iter().zip([
        "<ESCALATION>", "status: blocked", "attempt: [ATTEMPT: 4]", "task_scope: ", "suspected_failure_layer:",
        "what_was_tried:", "what_did_not_work:", "forced_context_checked:", "current_invariants:",
        "handoff_artifacts:", "request:", "</ESCALATION>",
    ]) {
        assert!(line.starts_with(key), "{line:?} is not {key:?} in\n{text}");
    }

    // Exactly one payload: later attempts point to it and leave it alone.
    let fifth = of("s", &project);
    assert_eq!((&fifth["attempt"], &fifth["outcome"]), (&5.into(), &"needs-human".into()));
    assert_eq!(read_json(&escalation), payload);
    let summary = read_json(&project.gate_dir().join("verdicts/verdict_s.json"));
    assert_eq!(summary["escalation"], escalation.to_str().unwrap());
    assert_eq!(summary["outcome"], "needs-human");
    let blocking: Vec<_> = summary["blocking"].as_array().unwrap().iter().map(|one| &one["gate"]).collect();
    assert_eq!(blocking, ["build", "tests"]);
    let payloads = project.verdict_files().iter().filter(|file| file.to_string_lossy().contains("escalation_")).count();
    assert_eq!(payloads, 2, "one as JSON and one as text");
}

#[test]
fn looking_is_no_attempt() {
    let project = untested();
    for _ in 0..5 {
        let look = project.check().exits(10).says("gate: check blocked  HEAD").says("next: gate run test");
        look.never_says("attempt").never_says("last warning");
        let dry = project.push("git push --dry-run origin feature").exits(1);
        dry.says("gate: push blocked  feature").says("next: gate push origin feature");
        project.push("git push -qn origin feature").exits(1).never_says("attempt");
        project.gate(["push", "--dry-run", "origin", "feature"]).exits(0);
    }
    let looked = project.gate(["check", "--json"]).exits(10).out;
    let looked: Value = serde_json::from_str(&looked).unwrap();
    assert_eq!((&looked["attempt"], &looked["outcome"]), (&0.into(), &"blocked".into()));
    assert!(looked["feedback"].as_str().unwrap().starts_with("Not proven yet.\n- tests: "), "{looked:#}");
    project.push("git push origin feature").exits(1).says("push blocked (attempt 1)");
}

#[test]
fn work_on_other_branches_uses_up_no_attempts() {
    let project = Project::new();
    for branch in ["one", "two", "three", "four", "five"] {
        project.repo.git(["switch", "-qc", branch, "main"]);
        project.edit(branch);
        project.push(&format!("git push origin {branch}")).exits(1).says("push blocked (attempt 1)");
    }
    project.push("git push origin five").exits(1).says("push blocked (attempt 2");
}

#[test]
fn attempts_of_an_abandoned_branch_go_with_its_work() {
    let project = Project::new();
    let push = |branch: &str| project.push(&format!("git push origin {branch}")).exits(1);
    project.repo.git(["switch", "-qc", "idea", "main"]);
    project.repo.write("src/lib.rs", "pub fn idea() -> u8 { 1 }\n").commit_all("core: an idea");
    push("idea").says("push blocked (attempt 1)");
    push("idea").says("push blocked (attempt 2");
    // Another change of the same file is other work.
    project.repo.git(["switch", "-qc", "other", "main"]);
    project.repo.git(["branch", "-qD", "idea"]);
    project.repo.write("src/lib.rs", "pub fn other() -> u8 { 2 }\n").commit_all("core: another idea");
    push("other").says("push blocked (attempt 1)");
    // The same work under another name is not.
    project.repo.git(["switch", "-qc", "again", "main"]);
    project.repo.git(["branch", "-qD", "other"]);
    project
        .repo
        .write("src/lib.rs", "pub fn other() -> u8 { 2 }\npub fn third() -> u8 { 3 }\n")
        .commit_all("core: another idea, and a third");
    push("again").says("push blocked (attempt 2");
}

#[test]
fn what_passes_on_another_branch_ends_nothing() {
    let project = untested();
    let with = |args: &[&str]| project.gate_with(&[("GATE_SESSION", "s")], args);
    let attempt = || of("s", &project)["attempt"].clone();
    assert_eq!((attempt(), attempt()), (1.into(), 2.into()));
    let branch = project.repo.git(["branch", "--show-current"]).trim().to_owned();
    project.repo.git(["switch", "-qc", "other", "main"]);
    project.edit("other");
    with(&["run", "test"]).exits(0);
    assert_eq!(attempt(), 0, "it passes");
    project.push("git push origin other").exits(0);
    project.repo.git(["switch", "-q", &branch]);
    assert_eq!(attempt(), 3, "and what failed still does");
    // The same work goes on under another name.
    project.repo.git(["switch", "-qc", "renamed"]);
    with(&["run", "test"]).exits(0);
    assert_eq!(attempt(), 0);
    project.edit("two");
    assert_eq!(attempt(), 1);
    // What is gone cannot be shown to pass.
    project.repo.git(["switch", "-q", "other"]);
    project.repo.git(["branch", "-qD", "renamed"]);
    assert_eq!(attempt(), 0);
    project.edit("three");
    assert_eq!(attempt(), 1);
}

#[test]
fn what_a_person_reads_escalates_with_it() {
    let project = untested();
    let claim = || project.gate(["check", "--done"]);
    claim().exits(10).says("check blocked (attempt 1)");
    claim().exits(10).says("check blocked (attempt 2, nothing changed since)");
    claim().exits(10).says("last warning:").says("[ ] you edited nothing after it ended");
    let last = claim().exits(11).says("(attempt 4, handed over)").says("a person has to act");
    // A person goes on from here, and is shown how.
    last.says("next: gate run test");
    // Refused pushes are attempts, too, and of the same series.
    project.push("git push origin feature").exits(1).says("attempt 5, handed over");
    assert!(!project.refs().contains_key("refs/heads/feature"));
}

#[test]
fn a_green_full_run_begins_anew_and_the_next_series_has_its_own_payload() {
    let project = untested();
    for _ in 0..4 {
        of("s", &project);
    }
    let escalation = project.gate_dir().join("verdicts/escalation_s.json");
    let first = read_json(&escalation);
    project.gate_with(&[("GATE_SESSION", "s")], &["run", "test"]).exits(0);
    let pass = of("s", &project);
    assert_eq!((&pass["outcome"], &pass["attempt"]), (&"pass".into(), &0.into()));
    project.edit("two");
    for attempt in 1..=4 {
        assert_eq!(of("s", &project)["attempt"], attempt);
    }
    assert_ne!(read_json(&escalation), first);
}

#[test]
fn only_what_shows_that_it_is_mended_begins_anew() {
    let project = untested();
    for attempt in 1..=3 {
        assert_eq!(of("s", &project)["attempt"], attempt);
    }
    // Content that asks for nothing passes, and shows nothing.
    project.repo.git(["switch", "-q", "main"]);
    assert_eq!(of("s", &project)["outcome"], "pass");
    project.repo.git(["switch", "-q", "-c", "docs"]);
    project.repo.append("README.md", "more\n").commit_all("docs: more");
    assert_eq!(of("s", &project)["outcome"], "pass");
    project.repo.git(["switch", "-q", "feature"]);
    // Nor does a run of something else.
    project.gate_with(&[("GATE_SESSION", "s")], &["run", "--", "true"]).exits(0);
    assert_eq!(of("s", &project)["attempt"], 4);
    project.gate_with(&[("GATE_SESSION", "s")], &["run", "test"]).exits(0);
    assert_eq!(of("s", &project)["outcome"], "pass");
    project.edit("two");
    assert_eq!(of("s", &project)["attempt"], 1);
}

#[test]
fn what_was_tried_is_in_the_payload() {
    let project = untested().edited("broken");
    for _ in 0..4 {
        project.gate_with(&[("GATE_SESSION", "s")], &["run", "test"]).exits(101);
        of("s", &project);
    }
    let payload = read_json(&project.gate_dir().join("verdicts/escalation_s.json"));
    let tried = payload["what_was_tried"].to_string();
    assert!(tried.contains("sh test.sh"), "{tried}");
    let failed = payload["what_did_not_work"].to_string();
    assert!(failed.contains("tests [failed]") && failed.contains("exit status 101"), "{failed}");
}

#[test]
fn sessions_do_not_share_their_attempts() {
    let project = untested();
    for attempt in 1..=3 {
        assert_eq!(of("a", &project)["attempt"], attempt);
    }
    assert_eq!(of("b", &project)["attempt"], 1);
    assert_eq!(of("a", &project)["attempt"], 4);
    assert_eq!(project.verdict()["attempt"], 1, "nor does whoever has no session");
    // An agent's client names the session.
    let claude = |id| project.verdict_with(&[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", id)], &[]);
    assert_eq!(claude("one")["attempt"], 1);
    assert_eq!(claude("two")["attempt"], 1);
    assert_eq!(claude("one")["attempt"], 2);
}

#[test]
fn sixteen_at_once_are_sixteen_attempts_and_one_payload() {
    let project = untested();
    let mut attempts: Vec<u64> = std::thread::scope(|scope| {
        let checks: Vec<_> = (0..16).map(|_| scope.spawn(|| of("s", &project))).collect();
        checks.into_iter().map(|check| check.join().unwrap()["attempt"].as_u64().unwrap()).collect()
    });
    attempts.sort_unstable();
    assert_eq!(attempts, (1..=16).collect::<Vec<_>>());
    let payload = read_json(&project.gate_dir().join("verdicts/escalation_s.json"));
    assert_eq!(payload["attempt"], 4);
    assert_eq!(project.records().len(), 16);
    for record in project.records() {
        valid("verdict", &read_json(&record));
    }
}

#[test]
fn names_of_sessions_stay_inside_their_folder_and_apart() {
    let project = untested();
    let long = "x".repeat(5000);
    let sessions =
        ["a/b", "a b", "a-b", "../../../../outside", "..", ".", "/etc/passwd", "a\nb", "ü", &long, "-rf", "verdict_s"];
    for session in sessions {
        let verdict = of(session, &project);
        assert_eq!((&verdict["attempt"], &verdict["session"]), (&1.into(), &session.into()), "{session:?}");
    }
    let files = project.verdict_files();
    let small = files.iter().filter(|file| read_json(file).get("record").is_some());
    assert_eq!(small.count(), sessions.len(), "{files:#?}");
    assert_eq!(files.len(), 2 * sessions.len(), "{files:#?}");
    let outside = fs::read_dir(project.repo.outside()).unwrap().map(|one| one.unwrap().file_name());
    let mut outside: Vec<_> = outside.map(|name| name.into_string().unwrap()).collect();
    outside.sort();
    assert_eq!(outside, ["home", "origin.git", "repo"]);
}

#[test]
fn the_exit_codes_are_the_documented_ones() {
    let project = untested();
    let code = |args: &[&str]| project.gate(args).code;
    assert_eq!(code(&["check"]), 10);
    assert_eq!(code(&["check", "--rev", "main"]), 0);
    assert_eq!(code(&["check", "--rev", "nothing"]), 64);
    assert_eq!(code(&["check", "--moment", "never"]), 64);
    assert_eq!(code(&["nonsense"]), 64);
    assert_eq!(code(&["--help"]), 0);
    // What must be known and cannot be told.
    project.repo.write("gate.toml", "version = 1\n[gates.tests]\non_unknown = \"block\"\n");
    project.repo.commit_all("chore: nothing declared");
    project.repo.git(["update-ref", "-d", "refs/remotes/origin/main"]);
    project.repo.git(["symbolic-ref", "-d", "refs/remotes/origin/HEAD"]);
    let verdict = of("unknown", &project);
    assert_eq!(verdict["outcome"], "cannot-judge");
    assert!(
        verdict["feedback"].as_str().unwrap().starts_with("[ATTEMPT: 1] gate: This cannot be judged yet (attempt 1).")
    );
    // A person has to look in the end, at what was never refused.
    for _ in 2..=3 {
        assert_eq!(of("unknown", &project)["outcome"], "cannot-judge");
    }
    let last = project.gate_with(&[("GATE_SESSION", "unknown")], &["check", "--done"]).exits(11);
    last.says("check cannot be judged").says("handed over").never_says("blocked");
}

#[test]
fn commits_that_were_each_mended_at_once_do_not_add_up() {
    let project = Project::with("version = 1\n[scopes]\nx = [\"x/**\"]\ny = [\"y/**\"]\n");
    let repo = &project.repo;
    repo.write("x/x.py", "a = 1\n").commit_all("x: start");
    repo.write("y/y.py", "b = 1\n").commit_all("y: start");
    for number in 1..=4 {
        repo.append("x/x.py", format!("first_thing_{number} = {number}\n"));
        repo.append("y/y.py", format!("second_matter_{number} = {number}\n"));
        repo.git(["add", "-A"]);
        let refused = project.sh(&format!("git commit -qm 'x: thing {number}'")).exits(1);
        refused.says("(attempt 1)").never_says("nothing changed").never_says("[ ]");
        project.sh(&format!("git commit -qm 'x: thing {number}' x && git commit -qm 'y: matter {number}' y")).exits(0);
    }
    // What is refused again and again without a commit still adds up.
    repo.append("x/x.py", "last = 1\n").append("y/y.py", "last_too = 1\n").git(["add", "-A"]);
    for attempt in 1..=3 {
        project.sh("git commit -qm 'x: last'").exits(1).says(&format!("(attempt {attempt})")).never_says("[ ]");
    }
    project.sh("git commit -qm 'x: last'").exits(1).says("a person has to act");
}
