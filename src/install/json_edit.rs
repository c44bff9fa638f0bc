//! Edits JSON as text: comments, layout and everything else that a person wrote stay as they are.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

/// Byte order mark, with which some editors begin a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads JSON with comments and trailing commas, as settings files have them.
fn read(text: &str) -> Option<CstRootNode> {
    let options = ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let root = CstRootNode::parse(text.trim_start_matches(BYTE_ORDER_MARK), &options).ok()?;
    root.value().is_some().then_some(root)
}

/// Returns the text of a file after an edit. A byte order mark stays.
fn written(root: &CstRootNode, original: &str) -> String {
    let mark = if original.starts_with(BYTE_ORDER_MARK) { "\u{feff}" } else { "" };
    format!("{mark}{root}")
}

/// Returns the command lines in `hooks`, each with its event.
pub(super) fn commands(text: &str) -> Vec<(String, String)> {
    let Some(value) = value(text) else { return Vec::new() };
    let mut found = Vec::new();
    for (event, entries) in value.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        for entry in entries.as_array().into_iter().flatten() {
            let nested = entry.get("hooks").and_then(Value::as_array);
            let handlers = nested.map_or(std::slice::from_ref(entry), Vec::as_slice);
            let line = |handler: &Value| Some(handler.get("command").or(handler.get("bash"))?.as_str()?.to_owned());
            found.extend(handlers.iter().filter_map(line).map(|line| (event.clone(), line)));
        }
    }
    found
}

/// Parses a whole text as a value; `None` if it is not JSON.
pub(super) fn value(text: &str) -> Option<Value> {
    read(text)?.to_serde_value()
}

/// An entry for the list `hooks.<event>`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HookEntry {
    pub(super) event: String,
    /// The entry.
    pub(super) value: Value,
}

/// Returns the text with these entries in the lists `hooks.<event>`, and without other ones that are `ours`, or `None`
/// if the text is not JSON, or has another value in the place of a list.
pub(super) fn with_hooks(text: &str, entries: &[HookEntry], ours: &dyn Fn(&Value) -> bool) -> Option<String> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let root = read(text)?;
    let is_there = |entry: &HookEntry| items(list(&root, &entry.event).as_ref()).contains(&entry.value);
    let is_old = |value: &Value| ours(value) && !entries.iter().any(|entry| entry.value == *value);
    if entries.iter().all(is_there) && !lists(&root).iter().any(|list| items(Some(list)).iter().any(is_old)) {
        return Some(text.to_owned());
    }
    remove(&root, ours);
    for entry in entries {
        let hooks = root.object_value()?.object_value_or_create("hooks")?;
        hooks.array_value_or_create(&entry.event)?.append(input(&entry.value));
    }
    Some(written(&root, text))
}

/// Returns the text without the entries that are `ours`, and without lists that become empty, or `None` if it is not
/// JSON.
pub(super) fn without_hooks(text: &str, ours: &dyn Fn(&Value) -> bool) -> Option<String> {
    let root = read(text)?;
    remove(&root, ours);
    Some(written(&root, text))
}

/// Removes the entries that are `ours`, and the lists that become empty.
fn remove(root: &CstRootNode, ours: &dyn Fn(&Value) -> bool) {
    let is_ours = |node: &CstNode| node.to_serde_value().is_some_and(|value| ours(&value));
    let Some(hooks) = hooks(root) else { return };
    let mut removed = false;
    for event in hooks.properties() {
        let Some(list) = event.array_value() else { continue };
        let found: Vec<CstNode> = list.elements().into_iter().filter(is_ours).collect();
        if found.is_empty() {
            continue;
        }
        removed = true;
        if found.len() == list.elements().len() {
            event.remove();
        } else {
            found.into_iter().for_each(CstNode::remove);
        }
    }
    let emptied = removed && hooks.properties().is_empty();
    if let Some(hooks) = root.object_value().and_then(|root| root.get("hooks")).filter(|_| emptied) {
        hooks.remove();
    }
}

/// Returns a value in the form in which it is inserted.
fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(is) => CstInputValue::Bool(*is),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

fn hooks(root: &CstRootNode) -> Option<CstObject> {
    root.object_value()?.object_value("hooks")
}

fn list(root: &CstRootNode, event: &str) -> Option<CstArray> {
    hooks(root)?.array_value(event)
}

fn lists(root: &CstRootNode) -> Vec<CstArray> {
    let events = hooks(root).map(|hooks| hooks.properties()).unwrap_or_default();
    events.iter().filter_map(CstObjectProp::array_value).collect()
}

fn items(list: Option<&CstArray>) -> Vec<Value> {
    let elements = list.map(CstArray::elements).unwrap_or_default();
    elements.iter().filter_map(CstNode::to_serde_value).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn ours(value: &Value) -> bool {
        value.to_string().contains("gate hook")
    }

    fn entries() -> Vec<HookEntry> {
        let entry = |event: &str| HookEntry {
            event: event.to_owned(),
            value: json!({"hooks": [{"type": "command", "command": format!("gate hook claude {event}")}]}),
        };
        vec![entry("PreToolUse"), entry("Stop")]
    }

    const FILES: &[&str] = &[
        "{}\n",
        "{\n}\n",
        "{\"model\": \"x\"}",
        "{\n    \"model\": \"x\",\n    \"list\": [1, 2, 3]\n}\n",
        "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [ { \"type\": \"command\", \"command\": \"mine\" } ] }\n\t\t]\n\t}\n}\n",
        "{\"hooks\":{\"Stop\":[{\"hooks\":[]}]}}",
        "// mine\n{\n  /* hooks */\n  \"hooks\": {\n    \"Stop\": [], // none\n  },\n}\n",
        "{\n  \"hooks\": {}\n}",
    ];

    #[test]
    fn what_is_put_in_is_read_again_and_comes_out_again() {
        for file in FILES {
            let with = with_hooks(file, &entries(), &ours).unwrap_or_else(|| panic!("{file}"));
            let root = read(&with).unwrap();
            for entry in entries() {
                assert!(items(list(&root, &entry.event).as_ref()).contains(&entry.value), "{with}");
            }
            assert_eq!(with_hooks(&with, &entries(), &ours).as_ref(), Some(&with), "twice is once");
            let without = without_hooks(&with, &ours).unwrap();
            assert!(!without.contains("gate hook"), "{without}");
            let (before, after) = (value(file).unwrap(), value(&without).unwrap());
            let bare = |mut value: Value| {
                if let Some(hooks) = value.get_mut("hooks").and_then(Value::as_object_mut) {
                    hooks.retain(|_, list| list.as_array().is_none_or(|list| !list.is_empty()));
                }
                if value.get("hooks").and_then(Value::as_object).is_some_and(serde_json::Map::is_empty) {
                    value.as_object_mut().unwrap().shift_remove("hooks");
                }
                value
            };
            assert_eq!(bare(before), bare(after), "{file}");
        }
    }

    #[test]
    fn layout_and_comments_stay() {
        let with = with_hooks(FILES[3], &entries(), &ours).unwrap();
        assert!(
            with.starts_with(
                "{\n    \"model\": \"x\",\n    \"list\": [1, 2, 3],\n    \"hooks\": {\n        \"PreToolUse\": [\n"
            ),
            "{with}"
        );
        assert_eq!(without_hooks(&with, &ours).unwrap(), FILES[3]);
        let with = with_hooks(FILES[6], &entries(), &ours).unwrap();
        assert!(with.contains("// mine") && with.contains("/* hooks */") && with.contains("// none"), "{with}");
        let with = with_hooks(FILES[4], &entries(), &ours).unwrap();
        assert!(
            with.contains("{ \"hooks\": [ { \"type\": \"command\", \"command\": \"mine\" } ] },\n\t\t\t{\n"),
            "{with}"
        );
        assert_eq!(without_hooks(&with, &ours).unwrap(), FILES[4]);
    }

    #[test]
    fn older_entries_of_ours_are_replaced() {
        let old =
            "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"gate hook claude Stop --old\"}]}, {\"mine\": 1}]}}";
        let with = with_hooks(old, &entries(), &ours).unwrap();
        assert!(!with.contains("--old") && with.contains("{\"mine\": 1}"), "{with}");
    }

    #[test]
    fn what_is_no_json_or_has_another_form_is_left_alone() {
        for text in
            ["{", "[]", "{\"hooks\": []}", "{\"hooks\": {\"Stop\": {}}}", "hooks", "{} x", "{\"a\" 1}", "{\"a\": tru}"]
        {
            assert_eq!(with_hooks(text, &entries(), &ours), None, "{text}");
        }
        assert!(read(&"[".repeat(10_000)).is_none());
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "[\\[\\]{}:,\"a\\\\ /*\n]{0,40}") {
            let _ = with_hooks(&text, &entries(), &ours);
            let _ = without_hooks(&text, &ours);
        }
    }
}
