//! Reflections: what the record says of a task, what its agent says of it, and what the next session gets.

use serde_json::{Value, json};

use crate::client_hooks::Session;
use crate::project::{Project, Said, finish};

const ANSWER: &str = "1. **Outcome:** Success\n2. **What worked:** one small change\n3. **What to improve:** run \
                      test.sh earlier\n4. **Lesson learned:** read src/lib.sh before you change it";

/// Drives a task that is refused once and then passes, and returns what the last stop says.
fn refused_once(session: &Session<'_>, project: &Project, text: &str) -> Said {
    session.prompt(&format!("change the library: {text}"));
    project.edit(text);
    session.stop("Done.").pushes("Not proven yet (attempt 1)");
    assert_eq!(session.run("sh test.sh"), 0);
    session.stop("Done.")
}

fn reflect(project: &Project, args: &[&str]) -> Value {
    let said = project.gate([&["reflect", "--json"], args].concat()).exits(0);
    serde_json::from_str(&said.out).unwrap()
}

fn answer(project: &Project, text: &str) -> Said {
    let mut command = project.command("gate", project.repo.root());
    command.args(["reflect", "--role", "dev", "--answer", "-"]);
    finish(command, text.as_bytes()).exits(0)
}

/// The text that a new session of a role gets; empty if there is none.
fn injected(project: &Project, client: &'static str, role: &'static str) -> String {
    let said =
        Session::with_role(project, client, "new-session", role).hook("SessionStart", json!({"source": "startup"}));
    if said.out.is_empty() {
        return String::new();
    }
    let answer: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "SessionStart", "{answer}");
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

#[test]
fn the_outcome_comes_from_the_record_and_not_from_the_agent() {
    let project = Project::new();
    project.gate(["reflect"]).exits(13).says("no task is recorded here");
    let session = Session::claude(&project);
    refused_once(&session, &project, "one").quiet();
    let record = reflect(&project, &[]);
    assert_eq!(
        (&record["outcome"], &record["attempts"], &record["role"]),
        (&json!("success"), &json!(1), &json!("agent"))
    );
    assert_eq!(record["failures"][0]["gate"], "tests");
    assert_eq!(record["failures"][0]["cleared_by"], "`sh test.sh`");
    assert_eq!(record["task"], "change the library: one");

    session.prompt("and now another change");
    project.edit("broken");
    session.stop("Done.").pushes("attempt 1");
    project.gate(["reflect"]).exits(0).says("is not over yet").says("blocked after 1 refusal");
    answer(&project, "Outcome: success").says("contradiction: the agent says success, and the record says blocked");
    answer(&project, "I feel good about it.").says("cannot be read").says("its outcome could not be read");
    assert_eq!(reflect(&project, &["--list"])["reflections"][0]["claimed"], "unknown");
}

#[test]
fn an_answer_is_held_to_its_limits_and_cleaned() {
    let project = Project::new();
    refused_once(&Session::claude(&project), &project, "one").quiet();
    let long = format!("Outcome: success\nWorked: {}\nLesson: ask jo@example.org for the key", "x".repeat(101));
    answer(&project, &long)
        .says("rejected: whatWorked has 101 characters, and 100 are allowed")
        .says("ask [address] for the key")
        .never_says("xxxxxxxxxx");
    project
        .gate(["reflect", "--prompt"])
        .exits(0)
        .says("You just completed: change the library: one")
        .says("(optional, 1 sentence");
    let rotation: Value = serde_json::from_str(&project.gate(["reflect", "--rotation"]).exits(0).out).unwrap();
    assert_eq!((&rotation["cycle_count"], &rotation["last_role"]), (&json!(1), &json!("dev")));
    let entry = &rotation["history"][0];
    assert_eq!(
        (&entry["cycle"], &entry["role"], &entry["reflection"]["outcome"]),
        (&json!(1), &json!("dev"), &json!("success"))
    );
    assert_eq!(entry["reflection"]["lessonLearned"], "ask [address] for the key");
    project.gate(["reflect", "--list"]).exits(0).says("dev, the last 3:");
    project.gate(["reflect", "--role", "<dev>"]).exits(64).says("is not the name of a role");
    project.gate(["reflect", "--session", "none"]).exits(65).says("gate log");
}

#[test]
fn an_agent_with_a_role_is_asked_once_and_never_held() {
    for words in [ANSWER, "no answer at all", ""] {
        let project = Project::new();
        let session = Session::with_role(&project, "claude", "asked", "dev");
        session.hook("SessionStart", json!({"source": "startup"})).quiet();
        refused_once(&session, &project, "one").pushes("Post-Action Reflection");
        session.stop(words).quiet();
        session.stop("Done.").quiet();
        let list: Value = serde_json::from_str(&project.gate(["reflect", "--list", "--json"]).exits(0).out).unwrap();
        let kept = &list["reflections"][0];
        assert_eq!((&kept["outcome"], &kept["role"]), (&json!("success"), &json!("dev")), "{words}");
        let claimed = if words == ANSWER { "success" } else { "unknown" };
        assert_eq!(kept["claimed"], claimed, "{words}");
        let settings = project.journal().into_iter().find(|line| line["kind"] == "settings").unwrap();
        assert_eq!(settings["data"]["role"], "dev");
    }
}

#[test]
fn the_next_session_of_the_role_gets_the_reflections_and_another_role_does_not() {
    let project = Project::new();
    let session = Session::with_role(&project, "claude", "first-session", "dev");
    session.hook("SessionStart", json!({"source": "startup"})).quiet();
    refused_once(&session, &project, "one").pushes("Post-Action Reflection");
    session.stop(ANSWER).quiet();
    for client in ["claude", "codex", "gemini"] {
        let text = injected(&project, client, "dev");
        assert!(text.chars().count() <= 1800, "{text}");
        for part in [
            "not instructions",
            "success after 1 refusal [cycle 1, ",
            "session first-sessio]",
            "record: tests failed, cleared by `sh test.sh`",
            "lesson: “read src/lib.sh before you change it”",
        ] {
            assert!(text.contains(part), "no {part:?} in\n{text}");
        }
        assert_eq!(injected(&project, client, "ops"), "");
    }
    session.hook("SessionStart", json!({"source": "resume"})).quiet();
}

#[test]
fn a_lesson_whose_cause_is_gone_is_not_shown() {
    let project = Project::new();
    let session = Session::with_role(&project, "claude", "first-session", "dev");
    refused_once(&session, &project, "one").pushes("Post-Action Reflection");
    session.stop(ANSWER).quiet();
    assert!(injected(&project, "claude", "dev").contains("src/lib.sh"));
    std::fs::rename(project.repo.path("src/lib.sh"), project.repo.path("src/gone.sh")).unwrap();
    assert_eq!(injected(&project, "claude", "dev"), "", "the file is gone");
    std::fs::rename(project.repo.path("src/gone.sh"), project.repo.path("src/lib.sh")).unwrap();
    assert!(injected(&project, "claude", "dev").contains("src/lib.sh"));
    project.repo.git(["switch", "-q", "main"]);
    let policy = String::from_utf8(project.repo.read("gate.toml")).unwrap();
    project.repo.write("gate.toml", policy.replace("sh test.sh", "sh ./test.sh"));
    project.repo.commit_all("chore: another command");
    project.repo.git(["push", "-q", "--no-verify", "origin", "main"]);
    assert_eq!(injected(&project, "claude", "dev"), "", "the rule changed");
}
