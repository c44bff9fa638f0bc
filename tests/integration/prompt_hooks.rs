//! Prompt hooks of agent clients.

use serde_json::{Value, json};

use crate::client_dialects::DIALECTS;
use crate::client_session::Session;
use crate::project::{POLICY, Project, Said, finish};
use crate::rescue::{CODER, hand_over, use_up};
use crate::word_judges::configure;

/// The words that are added to a prompt in the form of a client; nothing else may be in the answer.
fn added(client: &str, event: &str, said: &Said) -> String {
    if said.out.is_empty() {
        return String::new();
    }
    let answer: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    let (words, whole) = match client {
        "copilot" | "opencode" => {
            (&answer["additionalContext"], json!({"additionalContext": answer["additionalContext"]}))
        }
        _ => {
            let inner = &answer["hookSpecificOutput"];
            let form = json!({"hookEventName": event, "additionalContext": inner["additionalContext"]});
            (&inner["additionalContext"], json!({"hookSpecificOutput": form}))
        }
    };
    assert_eq!(answer, whole, "a field that the client does not know");
    words.as_str().unwrap().to_owned()
}

#[test]
fn an_unclear_prompt_goes_on_with_a_note_in_the_form_of_each_client() {
    let claude = [("claude", "UserPromptSubmit", "prompt")];
    let others = DIALECTS.iter().map(|dialect| (dialect.client, dialect.prompt.0, dialect.prompt.1));
    for (client, event, field) in claude.into_iter().chain(others) {
        let project = Project::with("version = 1\n");
        project.repo.write("api/search.rs", "fn search() {}\n").write("db/search.rs", "fn search() {}\n");
        let session = Session::of(&project, client, "s-1");
        let say = |text: &str| added(client, event, &session.hook(event, json!({ field: text })));
        let note = say("make search faster, and also clean up the whole app");
        assert!(note.contains("1. ") && note.contains("api/search.rs | db/search.rs"), "{client}: {note}");
        assert!(
            !say("make search faster, and also clean up the whole app").contains("api/search.rs"),
            "{client}: again"
        );
        assert_eq!(say("rename search to find in api/search.rs, nothing else"), "", "{client}: a clear one");
        let tasks = say(
            "1. rename search to find in api/search.rs\n2. delete db/search.rs\n3. add a line \"x\" to api/search.rs",
        );
        assert!(tasks.contains("2. delete db/search.rs"), "{client}: {tasks}");
        project.repo.write("gate.toml", "version = 1\nprompts = \"off\"\n");
        assert_eq!(say("fix everything"), "", "{client}: one line turns it off");
    }
}

#[test]
fn a_pick_from_the_menu_of_the_turn_before_needs_no_answer() {
    let project = Project::with("version = 1\n");
    let session = Session::claude(&project);
    let say =
        |text: &str| added("claude", "UserPromptSubmit", &session.hook("UserPromptSubmit", json!({"prompt": text})));
    assert_ne!(say("improve it"), "");
    session.stop("I see two ways:\n\n1. cache the rows\n2. add an index\n\nWhich one?");
    for pick in ["1", "1 and 2", "the second one", "haz la 2"] {
        assert_eq!(say(pick), "", "{pick}");
    }
    assert_eq!(say("/compact"), "", "a command of the client");
    // Nothing of what was written is in the person's state.
    let state = std::fs::read_to_string(project.repo.home().join(".local/state/gate/prompts.json")).unwrap();
    assert!(!state.contains("improve") || state.contains("vague_improvement"), "{state}");
    assert!(!state.contains("cache") && !state.contains("second one"), "{state}");
}

#[test]
fn a_damaged_history_is_set_aside_and_the_note_still_comes() {
    let project = Project::with("version = 1\n");
    let folder = project.repo.home().join(".local/state/gate");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("prompts.json"), "{").unwrap();
    let session = Session::claude(&project);
    let said = session.hook("UserPromptSubmit", json!({"prompt": "improve it"}));
    assert!(said.out.contains("additionalContext") && said.err.contains("prompts.json.damaged"), "{said:?}");
}

/// Three tasks in one request.
const TASKS: &str =
    "1. rename search to find in api/search.rs\n2. delete db/search.rs\n3. add a line \"x\" to README.md";

fn project_with_three_places() -> Project {
    let project = Project::with("version = 1\n");
    project.repo.write("api/search.rs", "fn search() {}\n").write("db/search.rs", "fn search() {}\n");
    project.repo.write("README.md", "a\n").commit_all("core: begin");
    project
}

fn status(project: &Project) -> Value {
    serde_json::from_str(&project.gate(["status", "--json"]).exits(0).out).unwrap()
}

#[test]
fn the_order_that_a_person_chooses_is_the_plan_and_a_stop_names_what_is_left() {
    for (answer, order, together) in [
        ("3, then 1", &[3, 1][..], false),
        ("todo junto", &[1, 2, 3], true),
        ("primero la 2 y luego el resto", &[2, 1, 3], false),
    ] {
        let project = project_with_three_places();
        let session = Session::claude(&project);
        let say = |text: &str| {
            added("claude", "UserPromptSubmit", &session.hook("UserPromptSubmit", json!({ "prompt": text })))
        };
        assert!(say(TASKS).contains("3 tasks"), "{answer}");
        session.stop("In which order shall I do them, or all together?");
        let note = say(answer);
        assert!(note.contains("Plan-Item: "), "{answer}: {note}");
        let shown = status(&project);
        let numbers: Vec<u64> =
            shown["plan"]["steps"].as_array().unwrap().iter().map(|s| s["task"]["number"].as_u64().unwrap()).collect();
        assert_eq!(numbers, order, "{answer}: {shown}");
        assert_eq!(shown["plan"]["together"], together, "{answer}");
        let lines = project.gate(["status"]).exits(0).out;
        assert!(lines.contains("rename search to find in api/search.rs"), "{answer}: {lines}");
        assert!(project.gate(["log"]).exits(0).out.contains("plan accepted"), "{answer}");

        project.repo.write("README.md", "a\nx\n").commit_all("docs: add a line\n\nPlan-Item: 3");
        let stop = || session.stop("I added the line and I am done.").out;
        let said = stop();
        assert!(said.contains("no commit names") && said.contains("1 (“rename search"), "{answer}: {said}");
        assert!(!said.contains("3 (“"), "{answer}: {said}");
        project.repo.write("api/search.rs", "fn find() {}\n").commit_all("api: rename\n\nPlan-Item: all");
        let said = stop();
        assert!(!said.contains("no commit names"), "{answer}: {said}");
    }
}

#[test]
fn another_request_is_no_order_and_together_in_a_request_is_recorded() {
    let project = project_with_three_places();
    let session = Session::claude(&project);
    let say =
        |text: &str| added("claude", "UserPromptSubmit", &session.hook("UserPromptSubmit", json!({ "prompt": text })));
    let plan = || status(&project)["plan"].clone();
    say(TASKS);
    session.stop("In which order?");
    say("add a line \"2, 1, 3\" to README.md");
    say("2, 1, 3");
    assert_eq!(plan(), Value::Null, "the question was about another request");
    let note = say(&format!("{TASKS}\n\nDo them all together."));
    assert!(note.contains("all together") && !note.contains("In which order"), "{note}");
    assert_eq!(plan()["together"], true);
}

#[test]
fn gate_scope_records_the_order_that_a_person_told_the_agent() {
    let project = project_with_three_places();
    let scope = |order: &str| project.gate(["scope", "--order", order, TASKS]);
    let said = scope("primero la 3").exits(0);
    assert!(said.out.starts_with("  3  add a line"), "{said:?}");
    assert!(project.gate(["status"]).exits(0).out.contains("3. add a line"));
    for wrong in ["4", "the usual", ""] {
        assert!(scope(wrong).exits(64).err.contains("order"), "{wrong}");
    }
    let one = project.gate(["scope", "--order", "1", "rename search to find in api/search.rs"]);
    assert!(one.exits(64).err.contains("one task"));
}

#[test]
fn what_a_request_and_its_answers_say_goes_to_the_log_the_judge_and_the_packet() {
    let project = Project::with(&POLICY.replace("prompts = \"off\"\n", ""));
    let session = Session::claude_called(&project, "coder");
    let say =
        |text: &str| added("claude", "UserPromptSubmit", &session.hook("UserPromptSubmit", json!({ "prompt": text })));
    let question = "How fast";
    let note = say("make it faster, and also clean up the whole app");
    assert!(note.contains(question), "{note}");
    let first = project.gate(["log"]).exits(0).out;
    assert!(first.contains("type: coding") && first.contains("asked, without an answer: "), "{first}");
    say("src/lib.sh, below 50 ms; my key is ghp_0123456789abcdefghijABCDEFGHIJ012345");
    assert_eq!(say("go on"), "", "it changes nothing");
    let told = |text: &str| {
        assert!(text.contains("type: coding, class backend, score of the request "), "{text}");
        assert!(text.contains("asked: ") && text.contains(question), "{text}");
        assert!(text.contains("answered: src/lib.sh, below 50 ms; my key is "), "{text}");
        assert!(!text.contains("without an answer") && !text.contains("ghp_0123"), "{text}");
    };
    let task = project.journal().into_iter().rfind(|line| line["kind"] == "task").unwrap();
    assert_eq!(task["data"]["answers"].as_array().unwrap().len(), 1, "{task}");
    use_up(&project);
    told(&hand_over(&project).1);

    let asks = "judges = [\"scripted\"]\n[models.scripted]\ncommand = \"cat >\\\"$HOME/asked\\\"\"\n";
    configure(&project, &[], asks);
    let mut command = project.command("gate", project.repo.root());
    command.args(["assess"]).envs(CODER.iter().copied());
    finish(command, b"Done, as far as I can see.");
    told(&std::fs::read_to_string(project.repo.home().join("asked")).unwrap());
}
