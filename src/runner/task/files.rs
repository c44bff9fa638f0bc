//! The files in which projects define tasks, read just far enough to find what one task runs.

use crate::runner::task::Format;

/// The shell lines that the task `name` runs, those of the tasks it depends on first. `None`: the file does not
/// define it, or not in a way that can be followed.
pub(super) fn script(format: Format, text: &str, name: &str) -> Option<Vec<String>> {
    match format {
        Format::JsonScripts => json(text, name),
        _ => None,
    }
}

fn json(text: &str, name: &str) -> Option<Vec<String>> {
    let file: serde_json::Value = serde_json::from_str(text).ok()?;
    let script = file.get("scripts").or_else(|| file.get("tasks"))?.get(name)?.as_str()?;
    Some(vec![script.to_owned()])
}
