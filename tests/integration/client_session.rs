//! A session of an agent client, as its hooks describe it.

use std::cell::Cell;

use serde_json::{Value, json};

use crate::project::{Project, Said, finish, for_agents};

/// A session of one client in a project.
pub struct Session<'p> {
    project: &'p Project,
    client: &'static str,
    id: &'static str,
    calls: Cell<u32>,
    role: Option<&'static str>,
}

impl<'p> Session<'p> {
    /// A session of Claude Code.
    pub fn claude(project: &'p Project) -> Self {
        Self::claude_called(project, "c0ffee-1")
    }

    /// One more session of Claude Code.
    pub fn claude_called(project: &'p Project, id: &'static str) -> Self {
        Self::of(project, "claude", id)
    }

    /// A session of any client.
    pub fn of(project: &'p Project, client: &'static str, id: &'static str) -> Self {
        Self { project, client, id, calls: Cell::new(0), role: None }
    }

    /// A session of an agent with a role.
    pub fn with_role(project: &'p Project, client: &'static str, id: &'static str, role: &'static str) -> Self {
        Self { role: Some(role), ..Self::of(project, client, id) }
    }

    /// Calls the hook; `fields` are added to what every payload of the client has.
    pub fn hook(&self, event: &str, fields: Value) -> Said {
        let root = self.project.repo.root();
        let mut payload = match self.client {
            "copilot" => json!({"sessionId": self.id, "timestamp": 1, "cwd": root}),
            "opencode" => json!({"sessionID": self.id, "directory": root}),
            _ => json!({"session_id": self.id, "cwd": root, "hook_event_name": event, "transcript_path": "/none"}),
        };
        let Value::Object(fields) = fields else { panic!("{fields}") };
        payload.as_object_mut().unwrap().extend(fields);
        self.raw(event, payload.to_string().as_bytes())
    }

    /// Calls the hook with any input.
    pub fn raw(&self, event: &str, stdin: &[u8]) -> Said {
        let mut command = self.project.command("gate", self.project.repo.root());
        command.args(["hook", self.client, event]).envs(self.role.map(|role| ("GATE_ROLE", role)));
        // Whatever happens, the client must be able to go on.
        let said = finish(command, stdin).exits(0);
        for_agents(&said.out);
        said
    }

    /// A person writes.
    pub fn prompt(&self, text: &str) {
        let said = self.hook("UserPromptSubmit", json!({"prompt": text}));
        // Only a note about the prompt itself may come with it.
        assert!(said.err.is_empty() && (said.out.is_empty() || said.out.contains("additionalContext")), "{said:?}");
    }

    /// The session with the first prompt of a person.
    pub fn prompted(self, text: &str) -> Self {
        self.prompt(text);
        self
    }

    /// Runs a command as the agent does: the hook before, the command, the hook after.
    pub fn run(&self, line: &str) -> i32 {
        self.run_in("sh", line)
    }

    /// Runs a command in a shell of the client.
    pub fn run_in(&self, shell: &str, line: &str) -> i32 {
        self.calls.set(self.calls.get() + 1);
        let id = format!("toolu_{}", self.calls.get());
        let call = json!({"tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": id});
        self.hook("PreToolUse", call.clone()).quiet();
        let done = self.project.runs(shell, line);
        let mut after = call;
        let fields = after.as_object_mut().unwrap();
        if done.code == 0 {
            fields
                .insert("tool_response".to_owned(), json!({"stdout": done.text(), "stderr": "", "interrupted": false}));
            self.hook("PostToolUse", after).quiet();
        } else {
            fields.insert("error".to_owned(), json!(format!("Exit code {}\n{}", done.code, done.text())));
            self.hook("PostToolUseFailure", after).quiet();
        }
        done.code
    }

    /// The agent ends its turn with these words.
    pub fn stop(&self, words: &str) -> Said {
        self.hook("Stop", json!({"last_assistant_message": words, "stop_hook_active": false, "background_tasks": []}))
    }
}

impl Said {
    /// Nothing is answered: the client goes on.
    #[track_caller]
    pub fn quiet(self) -> Self {
        assert_eq!((self.out.as_str(), self.err.as_str()), ("", ""), "{self:?}");
        self
    }

    /// The agent is pushed, with these words among others.
    #[track_caller]
    pub fn pushes(self, words: &str) -> String {
        let answer: Value = serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        assert_eq!(answer["decision"], "block", "{answer}");
        let reason = answer["reason"].as_str().unwrap().to_owned();
        assert!(reason.contains(words), "no {words:?} in\n{reason}");
        assert_eq!(answer.as_object().unwrap().len(), 2, "{answer}");
        reason
    }
}
