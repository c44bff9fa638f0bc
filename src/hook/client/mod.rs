//! The hooks of agent clients: each client has a module that reads its payloads and writes its answers; this module
//! holds what they share.
//!
//! A client waits for the answer, and an error here must not stop the agent. Then the answer is empty, which every
//! client takes as "go on", and standard error has the reason.

mod background_checks;
mod changes;
mod checks;
mod claude;
mod claude_shape;
mod codex;
pub(super) mod command_evidence;
pub(super) mod command_weight;
mod copilot;
mod failing_test;
mod gemini;
mod guarded;
pub(super) mod hook_context;
mod hook_event;
mod lessons;
pub(super) mod line_runs;
mod log_tail;
mod opencode;
mod output_tail;
mod own_commits;
mod patch;
mod payload;
#[cfg(test)]
mod payload_contract;
mod pre_tool_use;
mod prompt_note;
mod roles;
pub(super) mod session_state;
mod stashed_work;
mod stop;
mod written_paths;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use self::command_weight::Weight;
use self::hook_context::{Desk, clean};
use self::hook_event::{HookEvent, HookEventKind, ReportedEnding, StartedTool, ToolAction};
use self::roles::CallPlan;
use crate::client_definition::ClientFile;
use crate::event::{Act, Damage, Denial, EventKind, FileEdit, Phase, Prompt, ShellCommand, Speaker, ToolUse};
use crate::fact::intent;
use crate::hook::in_time;
use crate::repo_path::RepoPath;
pub use crate::source::sessions::Client;

fn read(client: Client, file: &ClientFile, event: &str, payload: &Value) -> HookEvent {
    match client {
        Client::Claude => claude::read(file, event, payload),
        Client::Codex => codex::read(file, event, payload),
        Client::Opencode => opencode::read(file, event, payload),
        Client::Gemini => gemini::read(file, event, payload),
        Client::Copilot => copilot::read(file, event, payload),
    }
}

/// Returns the decision in the form that the client accepts, or `None` if nothing is printed and the client goes on.
///
/// A field that a client does not know makes it discard the whole answer, so there are no others.
fn form(client: Client, event: &str, decision: &HookDecision) -> Option<Value> {
    Some(match (client, decision) {
        // There is no way to speak to the person in Copilot.
        (_, HookDecision::Allow) | (Client::Copilot, HookDecision::Release(_) | HookDecision::Tell(_)) => return None,
        // OpenCode's plugin adds it to the message as a part that the person does not see.
        (Client::Copilot | Client::Opencode, HookDecision::Add(words)) => json!({"additionalContext": words}),
        (Client::Claude | Client::Codex | Client::Gemini, HookDecision::Add(words)) => json!({"hookSpecificOutput": {
            "hookEventName": event,
            "additionalContext": words,
        }}),
        (Client::Gemini, HookDecision::Push(reason) | HookDecision::Deny(reason)) => {
            json!({"decision": "deny", "reason": reason})
        }
        (_, HookDecision::Push(reason)) => json!({"decision": "block", "reason": reason}),
        (Client::Opencode, HookDecision::Deny(reason)) => json!({"decision": "deny", "reason": reason}),
        (Client::Copilot, HookDecision::Deny(reason)) => {
            json!({"permissionDecision": "deny", "permissionDecisionReason": reason})
        }
        (Client::Claude | Client::Codex, HookDecision::Deny(reason)) => json!({"hookSpecificOutput": {
            "hookEventName": event,
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }}),
        (_, HookDecision::Release(words) | HookDecision::Tell(words)) => json!({"systemMessage": words}),
    })
}

/// The decision about a hook call.
#[derive(Clone, Debug, PartialEq, Eq)]
enum HookDecision {
    /// The agent goes on, or ends.
    Allow,
    /// The agent gets this message and goes on.
    Push(String),
    /// The agent ends, and its person gets this message.
    Release(String),
    /// The agent ends with this message for its person, and nothing is refused.
    Tell(String),
    /// A session or a prompt goes on, and the agent gets this message with it.
    Add(String),
    /// The tool does not run, for this reason.
    Deny(String),
}

/// The reply to a hook call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookReply {
    /// For standard output: one JSON object, or nothing.
    pub answer: Option<Value>,
    /// The messages for standard error.
    pub said: Vec<String>,
}

/// Replies to one hook call.
pub fn answer(client: Client, event: &str, stdin: &[u8]) -> HookReply {
    let payload: Value = match payload::parse(stdin) {
        Ok(payload @ Value::Object(_)) => payload,
        Ok(_) => return malformed(client, event, "it is not a JSON object"),
        Err(error) => return malformed(client, event, &error.to_string()),
    };
    let file = ClientFile::of(client.as_str());
    let told = read(client, &file, event, &payload);
    if concerns_nobody(&told) {
        return HookReply::default();
    }
    if told.session.is_empty() {
        return malformed(client, event, "it names no session");
    }
    let budget = file.install.events.get(event).map_or(10, |event| event.budget);
    let name = event.to_owned();
    within(Duration::from_secs(budget.into()), client, event, move || {
        let Some(mut desk) = Desk::of(client, &told) else { return HookReply::default() };
        let decision = handle(&mut desk, &told);
        let mut answer = form(client, &name, &decision);
        if let (HookDecision::Push(_), Some(answer)) = (&decision, &mut answer) {
            name_model(answer, desk.next_model.as_deref());
        }
        HookReply { answer, said: desk.said }
    })
}

/// Adds the model that goes on, as OpenCode's plugin hands it over.
fn name_model(answer: &mut Value, model: Option<&str>) {
    if let Some((provider, model)) = model.and_then(|model| model.split_once('/')) {
        answer["model"] = json!({"providerID": provider, "modelID": model});
    }
}

/// Returns `true` if there is nothing to judge, remember or record. Then nothing of the repository is opened.
fn concerns_nobody(told: &HookEvent) -> bool {
    match &told.what {
        HookEventKind::Before(StartedTool { does: ToolAction::Shell { line, dir, .. }, .. }) => {
            let base = told.dir.as_deref().unwrap_or_else(|| Path::new("."));
            let dir = &dir.as_deref().map_or_else(|| base.to_owned(), |dir| base.join(dir));
            command_weight::weigh(command_weight::understand(line, dir).as_ref()) == Weight::Light
        }
        HookEventKind::Before(StartedTool { does: ToolAction::Edits(edits), .. }) => {
            !guarded::may_concern(told.dir.as_deref(), edits) && !roles::may_concern(told.dir.as_deref())
        }
        HookEventKind::Before(StartedTool { does: ToolAction::Other(target), name, .. }) => {
            intent::of_tool(name, target).is_none()
        }
        HookEventKind::Nothing | HookEventKind::Before(_) => true,
        HookEventKind::After(call, _) => call.does == ToolAction::Reads,
        _ => false,
    }
}

/// Does the work within a time limit: a client that stops waiting kills its hook without a message.
fn within(
    budget: Duration,
    client: Client,
    event: &str,
    work: impl FnOnce() -> HookReply + Send + 'static,
) -> HookReply {
    match in_time(budget, work) {
        Some(reply) => reply,
        None => HookReply {
            answer: None,
            said: vec![format!(
                "gate: {} {event} could not be finished within {} s: nothing was judged",
                client.as_str(),
                budget.as_secs()
            )],
        },
    }
}

/// Replies to a payload that cannot be read. The agent goes on; standard error says why, and so does the journal, if
/// there is one.
fn malformed(client: Client, event: &str, why: &str) -> HookReply {
    let event: String = event.chars().filter(|c| !c.is_control()).take(64).collect();
    let what = format!("the input of the hook {} {event} cannot be read: {why}", client.as_str());
    let told = HookEvent {
        actor_type: None,
        session: format!("{}-unknown", client.as_str()),
        dir: None,
        log: None,
        actor: None,
        planning: None,
        what: HookEventKind::Nothing,
    };
    let mut said = vec![format!("gate: {what}")];
    if let Some(mut desk) = Desk::of(client, &told) {
        desk.append(vec![EventKind::Damage(Damage { what })]);
        said.append(&mut desk.said);
    }
    HookReply { answer: None, said }
}

fn handle(desk: &mut Desk, told: &HookEvent) -> HookDecision {
    if !matches!(told.what, HookEventKind::Nothing | HookEventKind::Session(Phase::Ended)) {
        own_commits::begin(desk);
    }
    match &told.what {
        HookEventKind::Nothing => {}
        HookEventKind::Session(phase) => {
            if matches!(phase, Phase::Ended) {
                command_evidence::settle(desk, told.log.as_deref());
                desk.store.forget();
            }
            desk.record(None, Act::Session(*phase));
            checks::begin(desk, *phase);
            if *phase == Phase::Started && desk.subagent().is_none() {
                return lessons::at_start(desk);
            }
        }
        HookEventKind::Prompt { from, text } => {
            desk.memory.planning = told.planning.unwrap_or(false);
            return prompt(desk, *from, text);
        }
        // A sub-agent's own stop is not an end of the work.
        HookEventKind::Stop(_) if desk.subagent().is_some() => {
            let agent = desk.subagent().unwrap_or_default().to_owned();
            desk.record(None, Act::SubagentEnded(agent));
        }
        HookEventKind::Before(call) => return before(desk, told, call),
        HookEventKind::After(call, ending) => {
            after(desk, told, call, ending);
            return checks::after(desk, told, &call.does);
        }
        HookEventKind::Failed(call, reason) => failed(desk, told, call, reason),
        HookEventKind::BackgroundEnded { call, ended, output } => {
            command_evidence::end_of_background(desk, call, *ended, output);
        }
        HookEventKind::PlanMode(on) => {
            desk.memory.plan_mode = Some(*on);
            desk.remember();
        }
        HookEventKind::SubagentStarted(id) => {
            desk.adopt(id);
            desk.record(None, Act::SubagentStarted(id.clone()));
        }
        HookEventKind::SubagentEnded(id) => desk.record(None, Act::SubagentEnded(id.clone())),
        HookEventKind::Stop(stopping) => {
            let decision = stop::judge(desk, told, stopping);
            return checks::at_stop(desk, decision);
        }
    }
    HookDecision::Allow
}

/// Records the end of a tool call.
fn after(desk: &mut Desk, told: &HookEvent, call: &StartedTool, ending: &ReportedEnding) {
    match &call.does {
        ToolAction::Reads => {}
        ToolAction::Shell { line, dir, .. } => {
            let at = dir.as_deref().or(told.dir.as_deref()).unwrap_or(&desk.root);
            if desk.client == Client::Gemini
                && command_weight::weigh(command_weight::understand(line, at).as_ref()) != Weight::Light
            {
                leave_plan_mode(desk);
            }
            command_evidence::end(desk, told, &call.id, line, dir.as_deref(), ending);
        }
        ToolAction::Edits(edits) => {
            for edit in edits {
                let path = edit.path.to_os();
                desk.changed_at(&told.dir.as_deref().unwrap_or(&desk.root.clone()).join(path));
            }
            let edits = desk.edits(edits, told);
            if edits.iter().any(|edit| edit.path.to_os().is_relative()) {
                leave_plan_mode(desk);
            }
            desk.record(Some(&call.id), Act::Edited(edits));
        }
        ToolAction::Plans(items) => desk.record(Some(&call.id), Act::Planned(items.clone())),
        ToolAction::Asks(question) => desk.record(Some(&call.id), Act::Asked(clean(question))),
        ToolAction::Other(target) => {
            let tool = ToolUse { tool: call.name.clone(), reads: false, target: clean(target), failed: false };
            desk.record(Some(&call.id), Act::Used(tool));
        }
    }
}

/// Records that an agent of Gemini CLI does more than plan: nothing else shows that a person ended its plan mode.
fn leave_plan_mode(desk: &mut Desk) {
    if desk.client == Client::Gemini {
        desk.memory.plan_mode = Some(false);
        desk.remember();
    }
}

fn before(desk: &mut Desk, told: &HookEvent, call: &StartedTool) -> HookDecision {
    match &call.does {
        ToolAction::Shell { line, dir, .. } => {
            // A push asks for the evidence of what ran before it.
            command_evidence::settle(desk, told.log.as_deref());
            let base = told.dir.as_deref().unwrap_or(&desk.root);
            let at = dir.as_deref().map_or_else(|| base.to_owned(), |dir| base.join(dir));
            let understood = command_weight::understand(line, &at);
            let intents = guarded::of_line(desk, line, &at, understood.as_ref());
            changes::look_before(desk, understood.as_ref());
            let plan = CallPlan::Line(line, &at, understood.as_ref());
            let decision = pre_tool_use::judge(desk, told, call, line, intents, plan);
            if decision == HookDecision::Allow && command_weight::weigh(understood.as_ref()) == Weight::Checks {
                command_evidence::begin(desk, told, &call.id, line, dir.as_deref(), understood.as_ref());
            }
            decision
        }
        ToolAction::Edits(edits) => {
            let placed = |edit: &FileEdit| FileEdit { path: desk.path(&edit.path, told), ..edit.clone() };
            let edits: Vec<FileEdit> = edits.iter().map(placed).collect();
            let what = edits.first().map(|edit| edit.path.to_string()).unwrap_or_default();
            let intents = guarded::of_edits(desk, &edits);
            pre_tool_use::judge(desk, told, call, &what, intents, CallPlan::Edits(&edits))
        }
        ToolAction::Other(target) => {
            let path = desk.path(&RepoPath::from(target.trim_start_matches("file://")), told).to_string();
            let intents = intent::of_tool(&call.name, &path).into_iter().collect();
            pre_tool_use::judge(desk, told, call, &path, intents, CallPlan::Unknown)
        }
        _ => HookDecision::Allow,
    }
}

fn prompt(desk: &mut Desk, from: Speaker, text: &str) -> HookDecision {
    let from = match from {
        Speaker::Person if desk.subagent().is_some() => Speaker::Agent,
        Speaker::Person if desk.memory.was_told(text) => Speaker::Hook,
        from => from,
    };
    if from == Speaker::Person {
        desk.memory.begin_task(stop::content(&desk.place));
        own_commits::begin_task(desk);
        changes::look_at_policy(desk);
        let elsewhere: Vec<PathBuf> = desk.memory.elsewhere.keys().cloned().collect();
        // One that is gone, or whose content nobody can read, is forgotten.
        let content = |root: PathBuf| Some((stop::content(&desk.place_at(&root)?)?, root));
        desk.memory.elsewhere = elsewhere.into_iter().filter_map(content).map(|(is, root)| (root, Some(is))).collect();
        desk.remember();
    }
    desk.remember();
    // What was told was written down when it was.
    if from != Speaker::Hook {
        desk.record(None, Act::Prompt(Prompt { from, text: clean(text) }));
    }
    if from != Speaker::Person {
        return HookDecision::Allow;
    }
    let remarks = std::mem::take(&mut desk.memory.remarks);
    if !remarks.is_empty() {
        desk.remember();
    }
    let lessons = std::mem::take(&mut desk.memory.lessons);
    if !lessons.is_empty() {
        desk.remember();
    }
    let note = prompt_note::about(desk, text).unwrap_or_default();
    let said: Vec<String> = [lessons, remarks, note].into_iter().filter(|text| !text.is_empty()).collect();
    if said.is_empty() { HookDecision::Allow } else { HookDecision::Add(said.join("\n\n")) }
}

fn failed(desk: &mut Desk, told: &HookEvent, call: &StartedTool, reason: &str) {
    desk.store.take(&call.id);
    let act = match &call.does {
        ToolAction::Shell { line, dir, background } => Act::Command(Box::new(ShellCommand {
            line: clean(line),
            dir: dir.as_deref().or(told.dir.as_deref()).and_then(|dir| desk.inside(dir)),
            ended: None,
            tail: clean(reason),
            background: *background,
            start: None,
            end: None,
            shell: desk.shell(),
        })),
        ToolAction::Edits(edits) => {
            let what = edits.first().map(|edit| desk.path(&edit.path, told).to_string()).unwrap_or_default();
            Act::Denied(Denial { tool: call.name.clone(), what, reason: clean(reason) })
        }
        _ => Act::Used(ToolUse { tool: call.name.clone(), reads: false, target: String::new(), failed: true }),
    };
    desk.record(Some(&call.id), act);
}
