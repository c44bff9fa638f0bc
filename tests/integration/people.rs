//! Modes, and what a person may do that an agent may not: observe, warn, off, and a waiver with a reason.
#![cfg(target_os = "linux")]

use serde_json::Value;

use crate::project::{POLICY, Project, reasons};
use crate::terminal;

/// Who waives, what, and why: a line of shell.
const WAIVE: &str = "gate waive tests --reason 'the runner is broken today'";

fn with_mode(mode: &str) -> Project {
    let project = Project::with(&POLICY.replace("version = 1", &format!("version = 1\nmode = \"{mode}\"")));
    project.edit("untested");
    project
}

#[test]
fn observing_blocks_nothing_and_counts_what_it_would_have_blocked() {
    let project = Project::bare_bones();
    project.share();
    project.gate(["init", "--yes", "--observe", "--test", "sh test.sh"]).exits(0);
    project.repo.commit_all("chore: gate");
    project.edit("untested");
    let verdict = project.verdict();
    assert_eq!((&verdict["outcome"], &verdict["complete"]), (&"pass".into(), &false.into()));
    assert_eq!(verdict["severity"], "NONE");
    let pushed = project.push("git push origin feature").exits(0).says("observing only: this push would be blocked");
    pushed.says("would block tests: gate has seen no run of `sh test.sh` on this content; next: gate run test");
    project.push("git push origin HEAD:main").exits(0).says("would block protected-branch: main is protected");
    let status = project.gate(["status"]).exits(0).says("tests would have blocked once so far");
    status.says("protected-branch would have blocked once so far").says("[observes]");
    // The same content again is not counted again; other content is.
    project.check().exits(0);
    project.gate(["status"]).says("tests would have blocked once so far");
    project.edit("more");
    project.check().exits(0);
    project.gate(["status"]).says("tests would have blocked 2 times so far");
    // Each case is listed once, with its reason.
    let listed = project.gate(["status", "--observed"]).exits(0);
    assert_eq!(
        listed.out.matches("would block tests: gate has seen no run of `sh test.sh`").count(),
        2,
        "{}",
        listed.out
    );
    listed.says("would block protected-branch: main is protected").says("push ").never_says("no longer recorded");
    let json = project.gate(["status", "--observed", "--json"]).exits(0);
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((json["cases"].as_array().unwrap().len(), &json["earlier"]), (3, &0.into()));
    assert!(json["cases"][0]["reasons"][0].as_str().unwrap().contains("no run of"));
    // Nothing of it is an attempt.
    assert_eq!(project.verdict()["attempt"], 0);
    assert!(project.verdict_files().iter().all(|file| !file.to_string_lossy().contains("escalation")));
}

#[test]
fn a_warning_says_and_lets_through() {
    let project = with_mode("warn");
    project
        .check()
        .exits(0)
        .says("pass, with warnings")
        .says("fail tests: gate has seen no run of `sh test.sh` on this content");
    let verdict = project.verdict();
    assert_eq!((&verdict["outcome"], &verdict["complete"]), (&"pass".into(), &false.into()));
    assert_eq!(verdict["severity"], "HIGH");
    project.push("git push origin HEAD:main").exits(0).says("main is protected").says("no run of `sh test.sh`");
}

#[test]
fn what_is_off_is_not_asked() {
    let project = with_mode("off");
    let verdict = project.verdict();
    assert_eq!((&verdict["outcome"], &verdict["gates"]), (&"pass".into(), &Value::Array(Vec::new())));
    project.push("git push origin HEAD:main").exits(0).says("gate: pass").never_says("protected");
}

#[test]
fn one_gate_can_have_a_mode_of_its_own() {
    let project = Project::with(&format!("{POLICY}\n[gates.protected-branch]\nmode = \"warn\"\n")).edited("untested");
    project.push("git push origin HEAD:main").exits(1).says("push blocked").says("main is protected");
    project.gate(["run", "test"]).exits(0);
    project.push("git push origin HEAD:main").exits(0).says("main is protected");
}

#[test]
fn whoever_is_not_a_person_at_a_terminal_waives_nothing() {
    let project = Project::new().edited("untested");
    let agents = ["CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI", "OPENCODE", "COPILOT_CLI", "CURSOR_AGENT", "AI_AGENT"];
    let said = project.sh(WAIVE).exits(11).says("only a person at a terminal can do this");
    said.says(&format!("a person types: {WAIVE}"));
    project.sh(&format!("yes | {WAIVE}")).exits(11);
    for agent in agents {
        let (code, text) =
            terminal::run(project.command("sh", project.repo.root()), &format!("{agent}=1 {WAIVE}"), "y\n");
        assert_eq!(code, 11, "{agent}: {text}");
    }
    project.check().exits(10);
    assert!(project.journal().iter().all(|event| !event.to_string().contains("runner is broken")));
}

#[test]
fn a_person_waives_one_gate_for_one_content() {
    let project = Project::new();
    project.repo.git(["config", "user.name", "Test"]);
    project.edit("untested");
    let ask = |line: &str, typed: &str| terminal::run(project.command("sh", project.repo.root()), line, typed);
    let (code, text) = ask(WAIVE, "n\n");
    assert!(code != 0 && text.contains("[y/N]"), "{code} {text}");
    project.check().exits(10);
    let (code, text) = ask("gate waive tests --reason ' '", "y\n");
    assert!(code == 64 && text.contains("a reason is needed"), "{code} {text}");
    let (code, text) = ask("gate waive test --reason x", "y\n");
    assert!(code == 64 && text.contains("there is no gate `test`"), "{code} {text}");
    let (code, text) = ask(WAIVE, "y\n");
    assert!(code == 0 && text.contains("tests is waived for this content, and for nothing else"), "{code} {text}");

    let verdict = project.verdict();
    assert_eq!(verdict["outcome"], "pass");
    let gate = &verdict["gates"].as_array().unwrap().iter().find(|gate| gate["gate"] == "tests").unwrap();
    assert_eq!(gate["answer"], "waived");
    let message = gate["findings"][0]["message"].as_str().unwrap();
    assert!(message.ends_with("(waived by Test: the runner is broken today)"), "{message}");
    project.push("git push origin feature").exits(0).says("waived tests:");
    // One gate.
    project.push("git push origin HEAD:main").exits(1).says("main is protected");
    project.gate(["log"]).exits(0).says("waived tests by Test: the runner is broken today");
    // The same content has it whatever its history; other content does not.
    project.repo.git(["commit", "-q", "--amend", "-m", "other words"]);
    assert_eq!(project.verdict()["outcome"], "pass");
    project.edit("more");
    assert_eq!(reasons(&project.verdict(), "tests"), ["missing"]);
    project.push("git push origin feature").exits(1);
    // The latest word of a person is shown.
    ask("gate waive tests --reason first", "y\n");
    ask("gate waive tests --reason second", "y\n");
    project.sh("gate check").exits(0).says("second").never_says("first)");
}

#[test]
fn nothing_that_is_shown_to_agents_names_a_way_around() {
    // Everything that can be said, from the files it is said from.
    for file in [
        include_str!("../../gates/tests.toml"),
        include_str!("../../gates/build.toml"),
        include_str!("../../gates/_evidence.toml"),
        include_str!("../../gates/protected-branch.toml"),
        include_str!("../../templates/escalation.txt"),
        include_str!("../../templates/gate.toml.j2"),
        include_str!("../../hooks/git/shim.sh"),
    ] {
        crate::project::for_agents(file);
        assert!(!file.contains("waive"), "{file}");
    }
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("gates");
    let mut messages = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Some("toml") = path.extension().and_then(|extension| extension.to_str()) else { continue };
        let table: toml::Table = std::fs::read_to_string(&path).unwrap().parse().unwrap();
        for key in ["messages", "explain", "title"] {
            let Some(text) = table.get(key).map(ToString::to_string) else { continue };
            crate::project::for_agents(&text);
            assert!(!text.contains("waive"), "{}: {text}", path.display());
            messages += 1;
        }
    }
    assert!(messages >= 9, "{messages}");
    for item in gate::verdict::feedback::checklist() {
        crate::project::for_agents(&item);
    }
    let project = Project::new().edited("untested");
    for args in [&["check"][..], &["status"], &["run", "nothing"], &["explain", "tests"], &["check", "--json"]] {
        let said = project.gate(args);
        crate::project::for_agents(&said.text());
        assert!(!said.text().to_lowercase().contains("waive"), "{args:?}: {}", said.text());
    }
    project.gate(["--help"]).exits(0).never_says("waive");
}
