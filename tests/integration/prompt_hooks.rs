//! Prompt hooks of agent clients.

use serde_json::{Value, json};

use crate::client_dialects::DIALECTS;
use crate::client_session::Session;
use crate::project::{Project, Said};

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
