//! Edits JSON as text: comments, layout and everything else that a person wrote stay as they are.

use std::ops::Range;

use serde_json::Value;

/// A value with its place.
#[derive(Debug)]
struct JsonNode {
    span: Range<usize>,
    inner: JsonInner,
}

#[derive(Debug)]
enum JsonInner {
    /// The key, the place where it begins, and the value of each member.
    Object(Vec<(String, usize, JsonNode)>),
    Array(Vec<JsonNode>),
    Other,
}

/// Reads JSON with comments and trailing commas, as settings files have them.
struct JsonReader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

/// The largest nesting depth of a file.
const MAX_DEPTH: usize = 64;

impl JsonReader<'_> {
    fn rest(&self) -> &[u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn skip(&mut self) {
        loop {
            match self.rest() {
                [b' ' | b'\t' | b'\r' | b'\n', ..] => self.at += 1,
                [b'/', b'/', ..] => self.at += self.rest().iter().take_while(|byte| **byte != b'\n').count(),
                [b'/', b'*', ..] => {
                    let end = self.text[self.at + 2..].find("*/");
                    self.at = end.map_or(self.text.len(), |end| self.at + 2 + end + 2);
                }
                [0xef, 0xbb, 0xbf, ..] if self.at == 0 => self.at = 3,
                _ => return,
            }
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        self.skip();
        let found = self.rest().first() == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn node(&mut self) -> Option<JsonNode> {
        self.skip();
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let start = self.at;
        let inner = match self.rest().first()? {
            b'{' => {
                self.at += 1;
                let mut members = Vec::new();
                while !self.take(b'}') {
                    self.skip();
                    let key_at = self.at;
                    let key = self.string()?;
                    if !self.take(b':') {
                        return None;
                    }
                    members.push((key, key_at, self.node()?));
                    if !self.take(b',') && self.rest().first() != Some(&b'}') {
                        return None;
                    }
                }
                JsonInner::Object(members)
            }
            b'[' => {
                self.at += 1;
                let mut items = Vec::new();
                while !self.take(b']') {
                    items.push(self.node()?);
                    if !self.take(b',') && self.rest().first() != Some(&b']') {
                        return None;
                    }
                }
                JsonInner::Array(items)
            }
            b'"' => {
                self.string()?;
                JsonInner::Other
            }
            _ => {
                let word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                let length = self.rest().iter().take_while(|byte| word(byte)).count();
                serde_json::from_str::<Value>(&self.text[start..start + length]).ok()?;
                self.at += length;
                JsonInner::Other
            }
        };
        self.depth -= 1;
        Some(JsonNode { span: start..self.at, inner })
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        if self.rest().first() != Some(&b'"') {
            return None;
        }
        let mut escaped = false;
        let length = self.rest()[1..].iter().position(|byte| {
            let ends = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            ends
        })?;
        self.at += length + 2;
        serde_json::from_str(&self.text[start..self.at]).ok()
    }
}

fn read(text: &str) -> Option<JsonNode> {
    let mut reader = JsonReader { text, at: 0, depth: 0 };
    let node = reader.node()?;
    reader.skip();
    (reader.at == text.len()).then_some(node)
}

impl JsonNode {
    fn member(&self, name: &str) -> Option<&JsonNode> {
        match &self.inner {
            JsonInner::Object(members) => members.iter().find(|(key, ..)| key == name).map(|(.., node)| node),
            _ => None,
        }
    }

    fn value(&self, text: &str) -> Value {
        match &self.inner {
            JsonInner::Object(members) => {
                members.iter().map(|(key, _, node)| (key.clone(), node.value(text))).collect()
            }
            JsonInner::Array(items) => items.iter().map(|item| item.value(text)).collect(),
            JsonInner::Other => serde_json::from_str(&text[self.span.clone()]).unwrap_or_default(),
        }
    }

    /// Returns the places where its members or items begin.
    fn children(&self) -> Vec<Range<usize>> {
        match &self.inner {
            JsonInner::Object(members) => members.iter().map(|(_, at, node)| *at..node.span.end).collect(),
            JsonInner::Array(items) => items.iter().map(|item| item.span.clone()).collect(),
            JsonInner::Other => Vec::new(),
        }
    }
}

/// Returns the command lines in `hooks`, each with its event.
pub(super) fn commands(text: &str) -> Vec<(String, String)> {
    let Some(root) = read(text) else { return Vec::new() };
    let value = root.value(text);
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
    read(text).map(|root| root.value(text))
}

/// An entry for the list `hooks.<event>`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HookEntry {
    /// The event.
    pub(super) event: String,
    /// The entry.
    pub(super) value: Value,
}

/// Returns the text with these entries in the lists `hooks.<event>`, and without other ones that are `ours`. `None`:
/// the text is not JSON, or has another value in the place of a list.
pub(super) fn with_hooks(text: &str, entries: &[HookEntry], ours: &dyn Fn(&Value) -> bool) -> Option<String> {
    if text.trim().is_empty() {
        return with_hooks("{}\n", entries, ours);
    }
    let root = read(text)?;
    let there =
        |entry: &HookEntry| list(&root, &entry.event).is_some_and(|list| items(list, text).contains(&entry.value));
    let strange = |value: &Value| ours(value) && !entries.iter().any(|entry| entry.value == *value);
    if entries.iter().all(there) && !lists(&root).iter().any(|list| items(list, text).iter().any(strange)) {
        return Some(text.to_owned());
    }
    let mut out = without_hooks(text, ours)?;
    for entry in entries {
        out = with_entry(&out, entry)?;
    }
    Some(out)
}

/// Returns the text without the entries that are `ours`, and without lists that become empty. `None`: it is not JSON.
pub(super) fn without_hooks(text: &str, ours: &dyn Fn(&Value) -> bool) -> Option<String> {
    let mut out = text.to_owned();
    loop {
        let root = read(&out)?;
        let Some(cut) = next_cut(&root, &out, ours) else { return Some(out) };
        out.replace_range(cut, "");
    }
}

/// Returns the next piece of text to remove.
fn next_cut(root: &JsonNode, text: &str, ours: &dyn Fn(&Value) -> bool) -> Option<Range<usize>> {
    let hooks = root.member("hooks")?;
    let JsonInner::Object(events) = &hooks.inner else { return None };
    for (at, (.., list)) in events.iter().enumerate() {
        let JsonInner::Array(entries) = &list.inner else { continue };
        let Some(found) = entries.iter().position(|entry| ours(&entry.value(text))) else { continue };
        if entries.len() > 1 {
            return Some(piece(list, found, text));
        }
        if events.len() > 1 {
            return Some(piece(hooks, at, text));
        }
        let JsonInner::Object(members) = &root.inner else { return None };
        let at = members.iter().position(|(key, ..)| key == "hooks")?;
        return Some(piece(root, at, text));
    }
    None
}

/// Returns the range of a child with one of its commas and the adjacent space.
fn piece(parent: &JsonNode, child: usize, text: &str) -> Range<usize> {
    let children = parent.children();
    let open = parent.span.start + 1;
    if child > 0 {
        // From behind the one before it: comma and space go along.
        return children[child - 1].end..children[child].end;
    }
    match children.get(1) {
        Some(next) => children[0].start..next.start,
        // The only one: what is between the brackets, unless something else is written there.
        None => {
            let close = parent.span.end - 1;
            let blank = |range: Range<usize>| text[range].chars().all(|c| c.is_whitespace() || c == ',');
            let after = &text[children[0].end..close];
            let comma = after.find(',').filter(|at| after[..*at].trim().is_empty()).map_or(0, |at| at + 1);
            if blank(open..children[0].start) && blank(children[0].end..close) {
                open..close
            } else {
                children[0].start..children[0].end + comma
            }
        }
    }
}

fn with_entry(text: &str, entry: &HookEntry) -> Option<String> {
    let root = read(text)?;
    let mut out = text.to_owned();
    if let Some(list) = list(&root, &entry.event) {
        if !matches!(list.inner, JsonInner::Array(_)) {
            return None;
        }
        insert(&mut out, list, 3, None, &entry.value);
    } else {
        let list = Value::Array(vec![entry.value.clone()]);
        let is_object = |node: &JsonNode| matches!(node.inner, JsonInner::Object(_));
        match root.member("hooks") {
            Some(hooks) if is_object(hooks) => insert(&mut out, hooks, 2, Some(&entry.event), &list),
            None if is_object(&root) => {
                let mut hooks = serde_json::Map::new();
                hooks.insert(entry.event.clone(), list);
                insert(&mut out, &root, 1, Some("hooks"), &Value::Object(hooks));
            }
            _ => return None,
        }
    }
    // What is written is what is read.
    read(&out).is_some().then_some(out)
}

/// Inserts a value after the last child of `parent`; `depth` is that of its children.
fn insert(text: &mut String, parent: &JsonNode, depth: usize, key: Option<&str>, value: &Value) {
    let children = parent.children();
    let inside = &text[parent.span.clone()];
    // What stands on one line stays on one line.
    let flat = !children.is_empty() && !inside.contains('\n');
    let unit = unit(text);
    let line = |depth: usize| format!("\n{}", unit.repeat(depth));
    let rendered = if flat { value.to_string() } else { pretty(value, &unit, depth) };
    let key = key.map(|key| format!("{}: ", Value::from(key))).unwrap_or_default();
    match children.last() {
        Some(last) => {
            let before = if flat { " ".to_owned() } else { line(depth) };
            text.insert_str(last.end, &format!(",{before}{key}{rendered}"));
        }
        None => {
            let inner = parent.span.start + 1..parent.span.end - 1;
            let kept = text[inner.clone()].trim_end().to_owned();
            text.replace_range(inner, &format!("{kept}{}{key}{rendered}{}", line(depth), line(depth - 1)));
        }
    }
}

/// Returns the indentation of the first line that has one.
fn unit(text: &str) -> String {
    let indented = text.lines().find(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty());
    indented.map_or_else(|| "  ".to_owned(), |line| line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect())
}

fn pretty(value: &Value, unit: &str, depth: usize) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    let mut lines = text.lines();
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let own = line.chars().take_while(|c| *c == ' ').count() / 2;
        out.push('\n');
        out.push_str(&unit.repeat(depth + own));
        out.push_str(line.trim_start());
    }
    out
}

fn list<'n>(root: &'n JsonNode, event: &str) -> Option<&'n JsonNode> {
    root.member("hooks")?.member(event)
}

fn lists(root: &JsonNode) -> Vec<&JsonNode> {
    match root.member("hooks").map(|hooks| &hooks.inner) {
        Some(JsonInner::Object(members)) => members.iter().map(|(.., node)| node).collect(),
        _ => Vec::new(),
    }
}

fn items(list: &JsonNode, text: &str) -> Vec<Value> {
    match &list.inner {
        JsonInner::Array(items) => items.iter().map(|item| item.value(text)).collect(),
        _ => Vec::new(),
    }
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
                assert!(items(list(&root, &entry.event).unwrap(), &with).contains(&entry.value), "{with}");
            }
            assert_eq!(with_hooks(&with, &entries(), &ours).as_ref(), Some(&with), "twice is once");
            let without = without_hooks(&with, &ours).unwrap();
            assert!(!without.contains("gate hook"), "{without}");
            let (before, after) = (read(file).unwrap().value(file), read(&without).unwrap().value(&without));
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
