//! Reflections: what the record says of a task, what its agent says of it, and what the next session gets.

use serde_json::{Value, json};

use crate::client_session::Session;
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
    let claimed = || reflect(&project, &["--list", "--role", "dev"])["reflections"][0]["claimed"].clone();
    answer(&project, "I feel good about it.").says("cannot be read").says("its outcome could not be read");
    assert_eq!(claimed(), "unknown");
    answer(&project, "Outcome: success").says("contradiction: the agent says success, and the record says blocked");
    // What cannot be read takes nothing back, and to look at it changes no role.
    answer(&project, "I feel good about it.").says("cannot be read");
    project.gate(["reflect"]).exits(0).says("role dev");
    assert_eq!(claimed(), "success");
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
fn the_first_prompt_brings_the_lessons_where_a_client_takes_nothing_up_at_the_start() {
    let project = Project::new();
    let session = Session::with_role(&project, "claude", "first-session", "dev");
    refused_once(&session, &project, "one").pushes("Post-Action Reflection");
    session.stop(ANSWER).quiet();
    let clients = [
        ("copilot", "sessionStart", "userPromptSubmitted", "prompt"),
        ("opencode", "session.created", "chat.message", "text"),
    ];
    for (client, start, prompt, field) in clients {
        let session = Session::with_role(&project, client, "new-session", "dev");
        session.hook(start, json!({"source": "new"})).quiet();
        let said = session.hook(prompt, json!({ field: "rename one to two in src/lib.sh" }));
        let answer: Value =
            serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{client}: {error}: {said:?}"));
        let words = answer["additionalContext"].as_str().unwrap();
        assert!(words.contains("read src/lib.sh before you change it"), "{client}: {words}");
        session.hook(prompt, json!({ field: "rename two to three in src/lib.sh" })).quiet();
    }
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

/// A session with these strategies that is refused `refusals` times before it passes.
fn judged_session(project: &Project, id: &'static str, strategies: &str, refusals: usize) {
    let mut start = project.command("gate", project.repo.root());
    start.args(["hook", "claude", "SessionStart"]).env("GATE_STRATEGIES", strategies);
    let payload = json!({"session_id": id, "cwd": project.repo.root(), "source": "startup"}).to_string();
    finish(start, payload.as_bytes()).exits(0);
    let check = || project.gate_with(&[("GATE_SESSION", id)], &["check", "--done"]);
    project.edit(id);
    for _ in 0..refusals {
        check().exits(10);
    }
    project.gate_with(&[("GATE_SESSION", id)], &["run", "test"]).exits(0);
    check().exits(0);
}

#[test]
fn work_that_is_in_no_commit_is_not_merged() {
    for is_committed in [true, false] {
        let project = Project::new();
        let session = Session::claude(&project);
        session.prompt("change the library");
        project.edit("two");
        // The commits of a test are older than the session.
        project.sh("GIT_COMMITTER_DATE=\"@$(($(date +%s) + 60)) +0000\" git commit -q --amend --no-edit").exits(0);
        assert_eq!(session.run("sh test.sh"), 0);
        if !is_committed {
            project.repo.append("src/lib.sh", "three\n");
            assert_eq!(session.run("sh test.sh"), 0);
        }
        session.stop("Done.").quiet();
        project.repo.git(["push", "-q", "--no-verify", "origin", "HEAD:main"]);
        project.repo.git(["fetch", "-q", "origin"]);
        let said = project.gate(["reflect", "--session", "c0ffee-1"]).exits(0);
        assert_eq!(said.out.contains("merged"), is_committed, "{said:?}");
    }
}

#[test]
fn a_reward_is_shown_term_by_term_and_what_is_missing_is_missing() {
    let project = Project::new();
    refused_once(&Session::claude(&project), &project, "one").quiet();
    let said = project.gate(["reward", "c0ffee"]).exits(0);
    for term in ["TokenEff", "ErrorEff", "QualityDelta", "TestDelta", "ToolEff", "TimeEff", "ReworkPen"] {
        assert_eq!(said.out.matches(term).count(), 1, "{}", said.out);
    }
    said.says("missing: no log of the client counts tokens").says("missing: between 0.");
    let reward: Value = serde_json::from_str(&project.gate(["reward", "c0ffee-1", "--json"]).exits(0).out).unwrap();
    assert_eq!((&reward["reward"], &reward["numbers"]["proven_tasks"]), (&Value::Null, &json!(1)));
    assert_eq!(reward["numbers"]["refused_claims"], 1);
    project.gate(["reward", "nobody"]).exits(65).says("gate sessions");
}

#[test]
fn metrics_count_tasks_with_their_intervals() {
    let project = Project::new();
    project.gate(["metrics"]).exits(0).says("missing");
    refused_once(&Session::with_role(&project, "claude", "c0ffee-1", "dev"), &project, "one").pushes("Reflection");
    let said = project.gate(["metrics"]).exits(0).says("closed at the first attempt").says("client claude");
    said.says("recurring mistakes").says("not enough data");
    let metrics: Value = serde_json::from_str(&project.gate(["metrics", "--json"]).exits(0).out).unwrap();
    let measure = &metrics["groups"][0]["measures"][0];
    assert_eq!((&measure["count"], &measure["value"]), (&json!(1), &json!(0.0)));
    assert!(measure["interval"]["high"].as_f64().unwrap() > 0.7, "{measure}");
    project.gate(["metrics", "--csv"]).exits(0).says("by,name,measure,count,value,low,high\nrepository,");
    project.gate(["metrics", "--since", "2999-01-01", "--json"]).exits(0).says("\"count\": 0");
    project.gate(["metrics", "--since", "yesterday"]).exits(64).says("is not a time");
}

#[test]
fn strategies_are_recorded_compared_and_never_switched() {
    let project = Project::new();
    project.gate(["learn"]).exits(13).says("declares no strategy");
    let text = "version = 1\n[strategies.check-first]\ntitle = \"Check before you stop\"\nvalue = false\n";
    project.repo.write("gate/strategies.toml", text);
    project.gate(["learn"]).exits(0).says("not enough data: 10 new sessions with strategies are needed; so far: 0");
    project.gate(["run", "test"]).exits(0);
    project.gate(["check", "--done"]).exits(0);
    for (number, id) in ["a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "b0", "b1", "b2", "b3", "b4", "b5"]
        .iter()
        .enumerate()
    {
        let is_on = number % 2 == 0;
        judged_session(
            &project,
            id,
            if is_on { "check-first=on" } else { "check-first=off" },
            if is_on { 0 } else { 3 },
        );
    }
    project.gate(["learn"]).exits(0).says("`[strategies.check-first]`: `value = true`").says("| 0.550 | 8 | 8 |");
    assert_eq!(String::from_utf8(project.repo.read("gate/strategies.toml")).unwrap(), text, "nothing is switched");
    let folder = project.gate_dir().join("strategies");
    for name in ["report.md", "weights.svg", "rewards.svg", "history.jsonl"] {
        assert!(folder.join(name).exists(), "{name}");
    }
    project.gate(["learn"]).exits(0).says("so far: 0");
    project.gate(["learn", "--rollback", "--json"]).exits(0).says("\"weights\": {}");
    project.gate(["learn", "--rollback"]).exits(13).says("there is no update to undo");
    project.gate(["learn", "--schedule", "cron"]).exits(0).says("17 4 * * * cd ");
    project.gate(["learn", "--schedule", "github"]).exits(0).says("runs-on: self-hosted");
    project.repo.write("gate/strategies.toml", "version = 1\n[strategies.x]\nvalue = []\n");
    project.gate(["learn"]).exits(65).says("gate/strategies.toml: the value of x is neither");
}

#[test]
fn a_command_that_nobody_declared_proves_no_task() {
    let project = Project::new();
    let proven = |id: &'static str, line: &[&str]| {
        let session = Session::claude_called(&project, id).prompted("say hello in the README");
        project.repo.write("README.md", format!("# hello {id}\n"));
        project.gate_with(&[("GATE_SESSION", id)], line).exits(0);
        session.stop("Done.").quiet();
        let reward: Value = serde_json::from_str(&project.gate(["reward", id, "--json"]).exits(0).out).unwrap();
        reward["numbers"]["proven_tasks"].clone()
    };
    assert_eq!(proven("one", &["run", "--", "true"]), 0);
    assert_eq!(proven("two", &["run", "--", "sh", "-c", "exit 0"]), 0);
    assert_eq!(proven("three", &["run", "test"]), 1);
}

#[test]
fn a_run_belongs_to_the_session_whose_hook_saw_its_line() {
    for client in ["gemini", "opencode"] {
        let project = Project::new();
        let session = Session::of(&project, client, "c0ffee-7");
        let (says, prompt, ends, text) = match client {
            "gemini" => ("prompt", "BeforeAgent", "AfterAgent", "prompt_response"),
            _ => ("text", "chat.message", "session.idle", "text"),
        };
        session.hook(prompt, json!({says: "change the library"}));
        project.edit("one");
        let stop = |message: &str| {
            session
                .hook(ends, json!({text: "Done.", "messageID": message, "agent": "build", "stop_hook_active": false}))
                .out
        };
        assert!(stop("m1").contains("Not proven yet"), "{client}");
        let line = "gate run test";
        let (before, after, call) = match client {
            "gemini" => {
                ("BeforeTool", "AfterTool", json!({"tool_name": "run_shell_command", "tool_input": {"command": line}}))
            }
            _ => (
                "tool.execute.before",
                "tool.execute.after",
                json!({"tool": "bash", "callID": "c1", "args": {"command": line}}),
            ),
        };
        session.hook(before, call.clone());
        let variable = if client == "gemini" { "GEMINI_CLI" } else { "OPENCODE" };
        let done = project.sh(&format!("export {variable}=1; {line}"));
        assert_eq!(done.code, 0, "{done:?}");
        let mut ended = call;
        let fields = ended.as_object_mut().unwrap();
        fields.insert("tool_response".to_owned(), json!({"llmContent": "Output: ok", "returnDisplay": "ok"}));
        fields.insert("output".to_owned(), json!("ok"));
        fields.insert("metadata".to_owned(), json!({"exit": 0}));
        session.hook(after, ended);
        assert_eq!(stop("m2"), "", "{client}");
        let runs: Vec<Value> = project.journal().into_iter().filter(|event| event["kind"] == "run").collect();
        assert!(runs.iter().all(|run| run["session"] == "c0ffee-7"), "{client} {runs:#?}");
        project.gate(["reflect", "--session", "c0ffee-7"]).exits(0).says("tests failed, cleared by `sh test.sh`");
        // A line that no hook saw is nobody's.
        project.sh(&format!("export {variable}=1; gate run test"));
        let last = project.journal().into_iter().rfind(|event| event["kind"] == "run").unwrap();
        assert!(last["session"].as_str().unwrap().starts_with("local-"), "{client} {last}");
    }
}

#[test]
fn a_test_that_failed_and_passed_counts_although_it_was_committed_before_the_first_run() {
    let policy = "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"python3 -m unittest -v\"\n";
    let project = Project::with(policy);
    let test = "import unittest\nfrom calc import add\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n";
    project.repo.write(".gitignore", "__pycache__/\n").write("test_calc.py", test);
    project.repo.write("calc.py", "def add(a, b):\n    return a - b\n").commit_all("feat: add");
    project.sh("gate run test").exits(1);
    project.repo.write("calc.py", "def add(a, b):\n    total = a + b\n    return total\n").commit_all("fix: add");
    project.sh("gate run test").exits(0);
    project.sh("git push -q origin HEAD").exits(0);
    let log = project.gate(["log", "--json"]).exits(0).out;
    let mut events = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let session = events.find_map(|event| event["session"].as_str().map(str::to_owned)).unwrap();
    let reward: Value = serde_json::from_str(&project.gate(["reward", &session, "--json"]).exits(0).out).unwrap();
    assert_eq!(reward["numbers"]["tests_proven"], 1, "{reward}");
}
