//! Writes the end of a labelled session down as a case that the gates judge.

use serde_json::{Value, json};

use crate::eval::labelled_case::{CaseInputs, RecordedCall};
use crate::eval::suite_kind::Suite;

/// Returns the end of the session as a case: what was said and done, and the output that the agent quotes.
pub fn case(suite: Suite, inputs: &CaseInputs) -> Value {
    let mut events = vec![json!({"t": "prompt", "text": inputs.task()})];
    events.extend(acts(suite, inputs));
    if suite == Suite::Compaction {
        events.push(json!({"t": "compaction"}));
    }
    events.push(json!({"t": "stop", "text": inputs.last_words()}));
    json!({
        "policy": {"protected_branches": ["main", "master"], "tests": {"required": false}},
        "start": {"branch": "work", "head": "a0", "files": {}},
        "events": events,
    })
}

/// Returns what was done, in order.
pub fn acts(suite: Suite, inputs: &CaseInputs) -> Vec<Value> {
    match suite {
        Suite::Judge | Suite::Project => called(inputs),
        Suite::Stuck => named(&inputs.tool_calls, "\n"),
        Suite::Compaction => named(&inputs.tools_used, ","),
        Suite::Score => inputs.trace.lines().filter_map(traced).collect(),
    }
}

/// Returns the calls of tools. The agent's own quotation is the output of its last command.
fn called(inputs: &CaseInputs) -> Vec<Value> {
    let quoted = fenced(&inputs.agent_response);
    let last = inputs.tools.iter().rposition(|call| call.args["command"].is_string());
    let calls = inputs.tools.iter().enumerate();
    calls.map(|(at, call)| called_one(call, if Some(at) == last { &quoted } else { "" })).collect()
}

fn called_one(call: &RecordedCall, output: &str) -> Value {
    match (call.args["command"].as_str(), call.args["filePath"].as_str()) {
        (Some(command), _) => {
            let output = Some(output).filter(|output| !output.is_empty());
            json!({"t": "cmd", "command": command, "cwd": ".", "exit": null, "output": output, "branch": "work"})
        }
        (None, Some(path)) if matches!(call.tool.as_str(), "edit" | "write") => {
            json!({"t": "edit", "path": path, "content": null, "via": "Edit"})
        }
        _ => json!({"t": "tool", "tool": call.tool, "arg": call.raw}),
    }
}

/// Returns the text between fences, or the whole text if there are none.
fn fenced(text: &str) -> String {
    let blocks: Vec<&str> = text.split("```").skip(1).step_by(2).collect();
    if blocks.is_empty() { text.to_owned() } else { blocks.join("\n") }
}

/// Reads a line of a trace: `3. [Bash] Ran npm test - all tests pass`.
fn traced(line: &str) -> Option<Value> {
    let (_, rest) = line.split_once('[')?;
    let (tool, what) = rest.split_once(']')?;
    let what = what.trim();
    Some(match tool {
        "Edit" | "Write" => {
            let path = what.split_whitespace().find(|word| word.contains('.')).unwrap_or("file");
            json!({"t": "edit", "path": path.trim_matches(['(', ')', ',', ':']), "content": null, "via": "Edit"})
        }
        "Bash" => {
            let (command, outcome) = what.trim_start_matches("Ran ").split_once(" - ").unwrap_or((what, ""));
            let bad = ["fail", "error", "not found"].iter().any(|word| outcome.to_lowercase().contains(word));
            json!({"t": "cmd", "command": command, "cwd": ".", "exit": i32::from(bad), "output": null})
        }
        "Response" => return None,
        tool => json!({"t": "tool", "tool": tool, "arg": what}),
    })
}

/// Reads tools that are only named, each with its state.
fn named(tools: &str, separator: &str) -> Vec<Value> {
    let names = tools.split(separator).map(str::trim);
    names.filter(|name| !name.is_empty() && *name != "(none)").map(named_one).collect()
}

/// Returns the act that a named tool stands for: a command of git or of a forge, an edit, or a use that changes nothing.
fn named_one(name: &str) -> Value {
    let (name, said) = name.split_once(':').map_or((name, ""), |(name, said)| (name.trim(), said.trim()));
    let failed = ["error", "exit code 1"].iter().any(|word| said.contains(word));
    let exit = if matches!(said, "" | "running" | "pending") { None } else { Some(i32::from(failed)) };
    let command = |command: &str| json!({"t": "cmd", "command": command, "cwd": ".", "exit": exit, "output": null, "branch": "work"});
    match name.split([' ', '(']).next().unwrap_or_default() {
        "git" | "gh" => command(name),
        "bash" => command("make"),
        "edit" | "write" => json!({"t": "edit", "path": "file", "content": null, "via": "Edit"}),
        _ => json!({"t": "tool", "tool": name, "arg": ""}),
    }
}
