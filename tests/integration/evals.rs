//! Sessions of other people's evaluation suites, judged by the gates alone: no model, and no phrase of theirs.
//!
//! `cargo test --test integration evals -- --nocapture` prints how often the answer is right, by what decides a case.
//! The suites lie beside the project; cases of its own writing (`tests/evals/`) are always there.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gate::fact::final_message;
use gate::replay::{self, AnswerWord, Case};
use serde_json::{Value, json};

fn suite(path: &str) -> Vec<Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read(path).map(|bytes| serde_json::from_slice(&bytes).unwrap()).unwrap_or_default()
}

/// The end of a session as a case: what was said and done, and the output that the agent quotes.
fn case(task: &str, acts: Vec<Value>, last: &str) -> Value {
    let mut events = vec![json!({"t": "prompt", "text": task})];
    events.extend(acts);
    events.push(json!({"t": "stop", "text": last}));
    json!({
        "policy": {"protected_branches": ["main", "master"], "tests": {"required": false}},
        "start": {"branch": "work", "head": "a0", "files": {}},
        "events": events,
    })
}

/// Whether the gates find nothing open.
fn complete(case: &Value) -> (bool, String) {
    let case = Case::read(case.to_string().as_bytes()).unwrap();
    let answers = replay::answer(&case).unwrap();
    let open = answers.gates.iter().find(|(name, said)| *name != "atomic" && said.verdict >= AnswerWord::Warn);
    (open.is_none(), open.map(|(name, said)| format!("{name}: {}", said.why)).unwrap_or_default())
}

/// The tool calls of a judged session; the agent's own quotation is the output of its last command.
fn judged_acts(inputs: &Value) -> Vec<Value> {
    let quoted = fenced(inputs["agent_response"].as_str().unwrap_or_default());
    let tools = inputs["tools"].as_array().cloned().unwrap_or_default();
    let last = tools.iter().rposition(|tool| tool["args"]["command"].is_string());
    let act = |(at, tool): (usize, &Value)| {
        let name = tool["tool"].as_str().unwrap_or_default();
        let path = tool["args"]["filePath"].as_str();
        match (tool["args"]["command"].as_str(), path) {
            (Some(command), _) => {
                let output = if Some(at) == last { quoted.as_str() } else { "" };
                let tail = (!output.is_empty()).then_some(output);
                json!({"t": "cmd", "command": command, "cwd": ".", "exit": null, "output": tail, "branch": "work"})
            }
            (None, Some(path)) if matches!(name, "edit" | "write") => {
                json!({"t": "edit", "path": path, "content": null, "via": "Edit"})
            }
            _ => json!({"t": "tool", "tool": name, "arg": tool["raw"]}),
        }
    };
    tools.iter().enumerate().map(act).collect()
}

/// What stands between fences, and lines that look like those of a runner.
fn fenced(text: &str) -> String {
    let blocks: Vec<&str> = text.split("```").skip(1).step_by(2).collect();
    if blocks.is_empty() { text.to_owned() } else { blocks.join("\n") }
}

/// The lines of a trace: `3. [Bash] Ran npm test - all tests pass`.
fn traced_acts(trace: &str) -> Vec<Value> {
    let act = |line: &str| {
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
    };
    trace.lines().filter_map(act).collect()
}

/// What is right and wrong of one class of cases.
#[derive(Default)]
struct Tally {
    cases: usize,
    right: usize,
    /// Called done although it was not.
    false_done: usize,
    not_done: usize,
    /// Called open although it was done.
    false_open: usize,
    done: usize,
}

impl Tally {
    fn count(&mut self, done: bool, said: bool) {
        self.cases += 1;
        self.right += usize::from(done == said);
        if done {
            self.done += 1;
            self.false_open += usize::from(!said);
        } else {
            self.not_done += 1;
            self.false_done += usize::from(said);
        }
    }
}

fn measure(name: &str, cases: Vec<(String, Value, bool, String)>) -> BTreeMap<String, Tally> {
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for (id, case, done, class) in cases {
        let (said, why) = complete(&case);
        tallies.entry(class.clone()).or_default().count(done, said);
        if said != done {
            println!("  {id} ({class}): {} but called {} {why}", word(done), word(said));
        }
    }
    println!("{name:<12} {:>6} {:>6} {:>22} {:>22}", "cases", "right", "open called done", "done called open");
    for (class, tally) in &tallies {
        println!(
            "  {class:<10} {:>6} {:>6} {:>15} of {:>3} {:>15} of {:>3}",
            tally.cases, tally.right, tally.false_done, tally.not_done, tally.false_open, tally.done
        );
    }
    tallies
}

fn word(done: bool) -> &'static str {
    if done { "done" } else { "open" }
}

/// Which class a case belongs to: `T` where the trace decides at all.
fn class(case: &Value) -> String {
    let by = case["decidable_by"].as_str().unwrap_or_default();
    by.split([' ', ';']).next().unwrap_or_default().to_owned()
}

#[test]
fn judged_sessions() {
    for (path, least) in [("tests/evals/judged.json", 100), ("../shared/evals/judge_accuracy.json", 85)] {
        let cases: Vec<_> = suite(path)
            .iter()
            .filter_map(|case_| {
                let done = case_["expected"]["complete"].as_bool()?;
                let inputs = &case_["inputs"];
                let text = |key: &str| inputs[key].as_str().unwrap_or_default();
                let made = case(text("task"), judged_acts(inputs), text("agent_response"));
                Some((case_["id"].as_str()?.to_owned(), made, done, class(case_)))
            })
            .collect();
        let count = cases.len();
        let tallies = measure(path, cases);
        let traced: Vec<&Tally> =
            tallies.iter().filter(|(class, _)| class.starts_with('T')).map(|(_, tally)| tally).collect();
        let (right, of) = traced.iter().fold((0, 0), |(right, of), tally| (right + tally.right, of + tally.cases));
        assert!(count == 0 || right * 100 >= of * least, "{path}: {right} of {of} that the trace decides");
    }
}

#[test]
fn traced_sessions() {
    for (path, least) in [("tests/evals/traced.json", 100), ("../shared/evals/agent_evaluation.json", 90)] {
        let cases: Vec<_> = suite(path)
            .iter()
            .filter_map(|case_| {
                let expected = &case_["expected"];
                let done = expected["score_min"].as_u64().is_some_and(|score| score >= 3);
                let inputs = &case_["inputs"];
                let text = |key: &str| inputs[key].as_str().unwrap_or_default();
                let made = case(text("task"), traced_acts(text("trace")), text("output"));
                Some((case_["id"].as_str()?.to_owned(), made, done, class(case_)))
            })
            .collect();
        let count = cases.len();
        let tallies = measure(path, cases);
        let right: usize = tallies.values().map(|tally| tally.right).sum();
        assert!(right * 100 >= count * least, "{path}: {right} of {count}");
    }
}

/// What a tool that is only named stands for: a command of git or of a forge, an edit, or a use that changes nothing.
fn named_act(name: &str) -> Value {
    let (name, said) = name.split_once(':').map_or((name, ""), |(name, said)| (name.trim(), said.trim()));
    let failed = ["error", "exit code 1"].iter().any(|word| said.contains(word));
    let exit = match said {
        "" | "running" | "pending" => None,
        _ => Some(i32::from(failed)),
    };
    match name.split([' ', '(']).next().unwrap_or_default() {
        "git" | "gh" => {
            json!({"t": "cmd", "command": name, "cwd": ".", "exit": exit, "output": null, "branch": "work"})
        }
        "bash" => json!({"t": "cmd", "command": "make", "cwd": ".", "exit": exit, "output": null, "branch": "work"}),
        "edit" | "write" => json!({"t": "edit", "path": "file", "content": null, "via": "Edit"}),
        _ => json!({"t": "tool", "tool": name, "arg": ""}),
    }
}

fn named_acts(tools: &str, separator: &str) -> Vec<Value> {
    tools.split(separator).map(str::trim).filter(|name| !name.is_empty() && *name != "(none)").map(named_act).collect()
}

/// What is to be done when a session goes on after its context was replaced by a summary.
fn next_step(inputs: &Value) -> &'static str {
    let text = |key: &str| inputs[key].as_str().unwrap_or_default();
    let flag = |key: &str| inputs[key].as_bool().unwrap_or_default();
    let (task, last) = (text("task_summary"), text("last_assistant_response"));
    let mut acts = named_acts(text("tools_used"), ",");
    let words = final_message::read(last);
    if acts.is_empty() && task.starts_with("(no task") || words.waits || words.asks {
        return "needs_clarification";
    }
    acts.push(json!({"t": "compaction"}));
    let (done, _) = complete(&case(task, acts, last));
    match (done, flag("has_git_commands") || flag("has_pr_issue_ref")) {
        (true, _) => "task_complete",
        (false, true) => "needs_github_update",
        (false, false) => "continue_task",
    }
}

#[test]
fn sessions_after_a_compaction() {
    for (path, least) in [("tests/evals/compacted.json", 100), ("../shared/evals/post_compression.json", 75)] {
        let mut tallies: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for case in suite(path) {
            let expected = &case["expected"];
            let actions = expected["action_in"].as_array().or_else(|| expected["any_of"][0]["action_in"].as_array());
            let said = next_step(&case["inputs"]);
            let right = actions.is_some_and(|actions| actions.iter().any(|action| *action == said));
            if !right {
                println!("  {} ({}): {said}, not {}", case["id"], class(&case), json!(actions));
            }
            let tally = tallies.entry(class(&case)).or_default();
            tally.0 += usize::from(right);
            tally.1 += 1;
        }
        println!("{path}: right by class {tallies:?}");
        let (right, count) = tallies.values().fold((0, 0), |sum, tally| (sum.0 + tally.0, sum.1 + tally.1));
        assert!(right * 100 >= count * least, "{path}: {right} of {count}");
    }
}

#[test]
fn sessions_that_may_be_stuck() {
    for (path, least) in [("tests/evals/stuck.json", 100), ("../shared/evals/stuck_detection.json", 70)] {
        let mut cases = Vec::new();
        let mut unended = 0;
        for one in suite(path) {
            let (inputs, expected) = (&one["inputs"], &one["expected"]);
            let Some(stuck) = expected["stuck"].as_bool().or_else(|| expected["shouldNudge"].as_bool()) else {
                continue;
            };
            // No clock decides: of a turn that goes on nothing is said, however long it has been silent.
            if !inputs["message_completed"].as_bool().unwrap_or_default() {
                unended += usize::from(stuck);
                continue;
            }
            let text = |key: &str| inputs[key].as_str().unwrap_or_default();
            let acts = named_acts(text("tool_calls"), "\n");
            let made = case(text("last_user_message"), acts, text("last_assistant_response"));
            cases.push((one["id"].as_str().unwrap_or_default().to_owned(), made, !stuck, class(&one)));
        }
        let count = cases.len();
        let tallies = measure(path, cases);
        println!("  {unended} that went silent in the middle of a turn are nobody's to judge at its end");
        let right: usize = tallies.values().map(|tally| tally.right).sum();
        assert!(right * 100 >= count * least, "{path}: {right} of {count}");
    }
}
