//! Compares the fields that the readers of payloads need with recordings of the clients, so that a changed field is
//! found by name.
//!
//! The tables are in `tests/data/client-payloads/`. Recordings that this project wrote, `tests/data/client-hooks/`, are
//! always there. Those of the real clients are in a folder next to the project, or in the folder that
//! `GATE_HOOK_RECORDINGS` names, one for each client.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use super::hook_event::{HookEvent, HookEventKind};
use super::{Client, read};
use crate::client_definition::{ClientFile, Tools};

/// The clients, and the names of the folders of their recordings.
const CLIENTS: [(Client, &str, &str); 5] = [
    (Client::Claude, "claude", "claude-code"),
    (Client::Codex, "codex", "codex"),
    (Client::Gemini, "gemini", "gemini-cli"),
    (Client::Copilot, "copilot", "copilot-cli"),
    (Client::Opencode, "opencode", "opencode"),
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContractTable {
    payload: Vec<PayloadRule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PayloadRule {
    event: String,
    tools: Option<String>,
    gives: Option<String>,
    #[serde(default)]
    fields: BTreeMap<String, String>,
    #[serde(default)]
    optional: Vec<String>,
}

/// A payload that a client wrote.
struct Recording {
    client: Client,
    event: String,
    place: String,
    payload: Value,
}

fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn table(client: Client) -> ContractTable {
    let path = project().join(format!("tests/data/client-payloads/{}.toml", client.as_str()));
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Adds the recordings below a folder: files `NNN-EVENT.json`.
fn below(client: Client, folder: &Path, found: &mut Vec<Recording>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            below(client, &path, found);
            continue;
        }
        let Some((_, event)) = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.split_once('-'))
        else {
            continue;
        };
        let Ok(payload @ Value::Object(_)) = serde_json::from_slice(&std::fs::read(&path).unwrap()) else { continue };
        found.push(Recording { client, event: event.to_owned(), place: path.display().to_string(), payload });
    }
}

fn own() -> Vec<Recording> {
    let mut found = Vec::new();
    for (client, name, _) in CLIENTS {
        below(client, &project().join("tests/data/client-hooks").join(name), &mut found);
    }
    assert!(!found.is_empty());
    found
}

fn all() -> Vec<Recording> {
    let mut found = own();
    let elsewhere = std::env::var_os("GATE_HOOK_RECORDINGS").map(PathBuf::from);
    for folder in elsewhere.into_iter().chain([project().join("../shared/clients/hooks")]) {
        for (client, name, long) in CLIENTS {
            below(client, &folder.join(name), &mut found);
            if long != name {
                below(client, &folder.join(long), &mut found);
            }
        }
    }
    found
}

fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

fn without(value: &Value, path: &str) -> Value {
    let mut value = value.clone();
    let (parent, key) = path.rsplit_once('.').map_or((None, path), |(parent, key)| (Some(parent), key));
    let pointer = parent.map(|parent| format!("/{}", parent.replace('.', "/"))).unwrap_or_default();
    if let Some(Value::Object(fields)) = value.pointer_mut(&pointer) {
        fields.remove(key);
    }
    value
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "text" => value.is_string(),
        "number" => value.is_number(),
        "flag" => value.is_boolean(),
        "list" => value.is_array(),
        "object" => value.is_object(),
        "any" => true,
        other => panic!("{other} is not a type"),
    }
}

/// Returns the action of a tool, in the words of the client files.
fn class(tools: &Tools, name: &str) -> &'static str {
    match () {
        () if tools.reads.has(name) => "reads",
        () if tools.shell.has(name) => "shell",
        () if tools.edits.has(name) => "edits",
        () if tools.plans.has(name) => "plans",
        () if tools.asks.has(name) => "asks",
        () if tools.delegates.has(name) => "delegates",
        () if tools.follows.has(name) => "follows",
        () => "other",
    }
}

impl Recording {
    fn rules(&self) -> Vec<PayloadRule> {
        let file = ClientFile::of(self.client.as_str());
        let tool = ["tool_name", "toolName", "input.tool"].iter().find_map(|path| at(&self.payload, path)?.as_str());
        let does = tool.map(|name| class(&file.tools, name));
        let event = |rule: &PayloadRule| rule.event == "*" || rule.event == self.event;
        let mut rules = table(self.client).payload;
        rules.retain(|rule| event(rule) && (rule.tools.is_none() || rule.tools.as_deref() == does));
        // An event that is not asked for is not read.
        if rules.iter().all(|rule| rule.event == "*") {
            rules.clear();
        }
        rules
    }

    /// Returns the event that the reader makes of it.
    fn told(&self) -> HookEvent {
        let file = ClientFile::of(self.client.as_str());
        match self.client {
            Client::Opencode => {
                let (event, payload) = self.through_the_plugin();
                read(self.client, &file, &event, &payload)
            }
            client => read(client, &file, &self.event, &self.payload),
        }
    }

    /// Returns the payload that `hooks/opencode/gate.js` hands over.
    fn through_the_plugin(&self) -> (String, Value) {
        let get = |path: &str| at(&self.payload, path).cloned().unwrap_or_default();
        let texts = |parts: Value| -> String {
            let text = |part: &Value| part.get("text")?.as_str().map(str::to_owned);
            parts.as_array().into_iter().flatten().filter_map(text).collect::<Vec<_>>().join("\n")
        };
        let payload = match self.event.as_str() {
            "chat.message" => json!({"sessionID": get("input.sessionID"), "agent": get("output.message.agent"),
                "text": texts(get("output.parts"))}),
            "tool.execute.before" => json!({"sessionID": get("input.sessionID"), "tool": get("input.tool"),
                "callID": get("input.callID"), "args": get("output.args")}),
            "tool.execute.after" => json!({"sessionID": get("input.sessionID"), "tool": get("input.tool"),
                "callID": get("input.callID"), "args": get("input.args"), "output": get("output.output"),
                "metadata": {"exit": get("output.metadata.exit")}}),
            _ => {
                let id =
                    at(&self.payload, "properties.sessionID").cloned().unwrap_or_else(|| get("properties.info.id"));
                json!({"sessionID": id, "parentID": get("properties.info.parentID")})
            }
        };
        (self.event.strip_prefix("event.").unwrap_or(&self.event).to_owned(), payload)
    }

    /// Returns the fields that are missing or of another type: client, event and field.
    fn broken(&self) -> Vec<String> {
        let mut broken = Vec::new();
        for (field, kind) in self.rules().iter().flat_map(|rule| &rule.fields) {
            let found = at(&self.payload, field);
            if !found.is_some_and(|value| is(value, kind)) {
                let found = found.map_or_else(|| "is missing".to_owned(), |value| format!("is no {kind}: {value}"));
                broken.push(format!("{} {}: `{field}` {found} ({})", self.client.as_str(), self.event, self.place));
            }
        }
        let told = self.told();
        if told.session.is_empty() && !self.rules().is_empty() {
            let name = self.client.as_str();
            broken.push(format!("{name} {}: it names no session ({})", self.event, self.place));
        }
        let kind = kind(&told.what);
        for gives in self.rules().iter().filter_map(|rule| rule.gives.as_deref()) {
            if !gives.split(" or ").any(|gives| gives == kind) {
                let name = self.client.as_str();
                broken.push(format!("{name} {}: it is read as {kind} and not as {gives} ({})", self.event, self.place));
            }
        }
        broken
    }
}

fn kind(what: &HookEventKind) -> &'static str {
    match what {
        HookEventKind::Nothing => "nothing",
        HookEventKind::Session(_) => "session",
        HookEventKind::Prompt { .. } => "prompt",
        HookEventKind::BackgroundEnded { .. } => "end of background",
        HookEventKind::Before(_) => "before",
        HookEventKind::After(..) => "after",
        HookEventKind::Failed(..) => "failed",
        HookEventKind::PlanMode(_) => "changes the plan mode",
        HookEventKind::SubagentStarted(_) | HookEventKind::SubagentEnded(_) => "subagent",
        HookEventKind::Stop(_) => "stop",
    }
}

#[test]
fn what_clients_write_has_the_fields_that_are_read() {
    let recordings = all();
    let broken: Vec<String> = recordings.iter().flat_map(Recording::broken).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    // Every event that is installed is among the recordings of own writing, for every client.
    for (client, ..) in CLIENTS {
        let recorded: BTreeSet<String> = own()
            .into_iter()
            .filter(|one| one.client == client)
            .map(|one| one.event.strip_prefix("event.").unwrap_or(&one.event).to_owned())
            .collect();
        let ruled = table(client).payload;
        for event in ruled.iter().map(|rule| rule.event.strip_prefix("event.").unwrap_or(&rule.event)) {
            assert!(event == "*" || recorded.contains(event), "{}: no recording of {event}", client.as_str());
        }
    }
}

#[test]
fn a_field_that_goes_is_named() {
    for recording in own() {
        for field in recording.rules().iter().flat_map(|rule| rule.fields.keys()) {
            let changed = Recording {
                client: recording.client,
                event: recording.event.clone(),
                place: recording.place.clone(),
                payload: without(&recording.payload, field),
            };
            let named = format!("{} {}: `{field}` is missing", recording.client.as_str(), recording.event);
            assert!(changed.broken().iter().any(|line| line.starts_with(&named)), "{named}: {:?}", changed.broken());
        }
    }
}

#[test]
fn the_tables_list_what_is_read_and_nothing_else() {
    let mut read: BTreeSet<(String, String, String)> = BTreeSet::new();
    let mut listed = BTreeSet::new();
    for recording in all() {
        let (rules, told) = (recording.rules(), recording.told());
        let known: BTreeSet<&str> = rules
            .iter()
            .flat_map(|rule| rule.fields.keys().map(String::as_str).chain(rule.optional.iter().map(String::as_str)))
            .collect();
        if rules.is_empty() {
            continue;
        }
        for path in paths(&recording.payload, "") {
            let changed = Recording {
                client: recording.client,
                event: recording.event.clone(),
                place: String::new(),
                payload: without(&recording.payload, &path),
            };
            let matters = format!("{:?}", changed.told()) != format!("{told:?}");
            // The parts of what is listed, and what is listed in parts.
            let covered = known.iter().any(|field| {
                *field == path || path.starts_with(&format!("{field}.")) || field.starts_with(&format!("{path}."))
            });
            assert!(
                covered || !matters,
                "{} {}: `{path}` is read and stands in no table ({})",
                recording.client.as_str(),
                recording.event,
                recording.place
            );
            if matters {
                read.insert((recording.client.as_str().to_owned(), recording.event.clone(), path));
            }
        }
        for rule in &rules {
            for field in rule.fields.keys() {
                let event = if rule.event == "*" { "*" } else { &recording.event };
                listed.insert((recording.client.as_str().to_owned(), event.to_owned(), field.clone()));
            }
        }
    }
    let idle: Vec<_> = listed
        .iter()
        .filter(|(client, event, field)| {
            !read.iter().any(|(c, e, path)| c == client && (event == "*" || e == event) && path == field)
        })
        .collect();
    assert!(idle.is_empty(), "listed and not read: {idle:?}");
}

/// Returns the paths of all fields, down to the third level.
fn paths(value: &Value, above: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        let path = format!("{above}{key}");
        if path.matches('.').count() < 2 {
            found.extend(paths(value, &format!("{path}.")));
        }
        found.push(path);
    }
    found
}
