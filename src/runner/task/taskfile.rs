//! The tasks of a Taskfile.

use serde_json::Value;

use super::task_definition::{Task, TaskStep};

/// Returns a task of a file, or `None` if the file does not define it, or not in a way that can be followed.
pub(super) fn task(file: &Value, name: &str) -> Option<Task> {
    let task = file.get("tasks")?.get(name)?;
    let mut found = Task::default();
    let ignores = is_true(&task["ignore_error"]);
    let commands = match task {
        Value::String(_) | Value::Array(_) => task,
        _ => [&task["cmds"], &task["cmd"]].into_iter().find(|list| !list.is_null()).unwrap_or(&Value::Null),
    };
    for item in list(&task["deps"]) {
        found.depends.push(item.as_str().or_else(|| item["task"].as_str())?.to_owned());
    }
    for item in list(commands) {
        found.steps.extend(step(item, ignores)?);
    }
    if found.steps.is_empty() && found.depends.is_empty() && list(commands).is_empty() && task.is_object() {
        found.steps.push(TaskStep::Line(":".to_owned()));
    }
    Some(found)
}

/// Returns the steps of an item of a list of commands.
fn step(item: &Value, ignores: bool) -> Option<Vec<TaskStep>> {
    let plain = |line: &str, ignored: bool| {
        // A line of several commands stops at the first one that fails.
        let line = line.trim_end();
        let text = if line.contains('\n') { format!("set -e\n{line}") } else { line.to_owned() };
        // The runner does not tell of a failure that it ignores.
        let text = if ignored { format!("{{ {text}\n}} || true") } else { text };
        vec![TaskStep::Line(text)]
    };
    if let Some(line) = item.as_str() {
        return Some(plain(line, ignores));
    }
    let ignores = ignores || is_true(&item["ignore_error"]);
    if !item["defer"].is_null() {
        return Some(Vec::new());
    }
    match (item["task"].as_str(), item["cmd"].as_str()) {
        (Some(task), _) => Some(vec![TaskStep::Task(task.to_owned())]),
        (None, Some(line)) => Some(plain(line, ignores)),
        _ => None,
    }
}

fn list(value: &Value) -> &[Value] {
    match value {
        Value::Null => &[],
        Value::Array(items) => items,
        one => std::slice::from_ref(one),
    }
}

fn is_true(value: &Value) -> bool {
    value.as_str() == Some("true")
}
