//! The format of an output: its name on the first line and then fields, or one JSON object.

use minijinja::context;
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::Refusal;
use crate::foreign_text::beginning;
use crate::templates::sentences::say;

/// An output that was parsed but not yet checked.
#[derive(Debug, PartialEq)]
pub(super) struct Document {
    /// The name of the output.
    pub(super) output: String,
    /// The line of the name.
    pub(super) line: usize,
    /// The fields in their order.
    pub(super) fields: Vec<ReplyField>,
}

#[derive(Debug, PartialEq)]
pub(super) struct ReplyField {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) items: Vec<String>,
}

/// Parses `name`, then `field: text` or `field:` with lines that begin with `- ` or are indented. Anything else is
/// prose, and refused.
pub(super) fn text(text: &str, outputs: &[&str]) -> Result<Document, Vec<Refusal>> {
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim_end()));
    let Some((line, first)) = lines.find(|(_, line)| !line.is_empty()) else {
        return Err(vec![Refusal::of(say("reply", "empty", &context! {}))]);
    };
    let head = first.trim_start_matches('#').trim();
    let head = head.strip_prefix("output:").unwrap_or(head).trim().trim_matches('`').trim_end_matches(':');
    if !outputs.contains(&head) {
        let what = say("reply", "first_line", &context! { outputs => outputs.join(", ") });
        return Err(vec![Refusal::at(line, what)]);
    }
    let mut document = Document { output: head.to_owned(), line, fields: Vec::new() };
    let (mut refusals, mut fenced) = (Vec::new(), false);
    for (number, line) in lines {
        let inner = line.trim();
        let indented = line.starts_with([' ', '\t']);
        if inner.starts_with("```") && !document.fields.is_empty() {
            fenced = !fenced;
            continue;
        }
        match document.fields.last_mut() {
            Some(field) if fenced => field.items.push(inner.to_owned()),
            _ if inner.is_empty() => {}
            Some(field) if inner.starts_with("- ") || inner.starts_with("* ") => {
                let item = inner[2..].trim();
                let item = item.strip_prefix("[ ] ").unwrap_or(item);
                field.items.extend(Some(item.to_owned()).filter(|item| !item.is_empty()));
            }
            Some(field) if indented => match field.items.last_mut() {
                Some(last) => {
                    last.push(' ');
                    last.push_str(inner);
                }
                None => field.items.push(inner.to_owned()),
            },
            _ => match key(inner) {
                Some((name, rest)) if outputs.contains(&name) => {
                    refusals.push(Refusal::at(number, say("reply", "second_output", &context! { name, rest })));
                }
                Some((name, rest)) => {
                    let items = Some(rest.to_owned()).filter(|rest| !rest.is_empty()).into_iter().collect();
                    document.fields.push(ReplyField { name: name.to_owned(), line: number, items });
                }
                None if outputs.contains(&inner) => {
                    refusals.push(Refusal::at(number, say("reply", "second_output", &context! { name => inner })));
                }
                None => {
                    let shown = beginning(inner, 60);
                    refusals.push(Refusal::at(number, say("reply", "prose", &context! { shown })));
                }
            },
        }
    }
    if refusals.is_empty() { Ok(document) } else { Err(refusals) }
}

/// Parses `name: rest`, where the name is a word of the contract, possibly as code or bold.
fn key(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(':')?;
    let name = name.trim().trim_matches(['`', '*', '#']).trim();
    let word = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    word.then(|| (name, rest.trim().trim_start_matches("**").trim()))
}

/// Parses `{"output": name, field: text or list of texts, …}`.
pub(super) fn json(text: &str) -> Result<Document, Vec<Refusal>> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let line = error.line();
        vec![Refusal::at(line, say("reply", "not_json", &context! { error => error.to_string() }))]
    })?;
    let Value::Object(object) = value else {
        return Err(vec![Refusal::of(say("reply", "no_object", &context! {}))]);
    };
    let Some(Value::String(output)) = object.get("output") else {
        return Err(vec![Refusal::of(say("reply", "unnamed", &context! {}))]);
    };
    let mut refusals: Vec<Refusal> =
        repeated(text).iter().map(|name| Refusal::of(say("reply", "twice", &context! { name }))).collect();
    let mut fields = Vec::new();
    for (name, value) in object.iter().filter(|(name, _)| *name != "output") {
        let text = |value: &Value| value.as_str().map(|text| text.trim().to_owned());
        let items = match value {
            Value::Array(values) => values.iter().map(text).collect::<Option<Vec<_>>>(),
            value => text(value).map(|text| vec![text]),
        };
        match items {
            Some(items) => {
                let items = items.into_iter().filter(|item| !item.is_empty()).collect();
                fields.push(ReplyField { name: name.clone(), line: 1, items });
            }
            None => refusals.push(Refusal::of(say("reply", "no_text", &context! { name }))),
        }
    }
    if refusals.is_empty() { Ok(Document { output: output.clone(), line: 1, fields }) } else { Err(refusals) }
}

/// Returns the names that a JSON object has more than once, of which a reader would see only the last.
fn repeated(text: &str) -> Vec<String> {
    struct FieldNames;
    impl<'de> Visitor<'de> for FieldNames {
        type Value = Vec<String>;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<String>, A::Error> {
            let (mut seen, mut repeated) = (Vec::new(), Vec::new());
            while let Some((name, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
                if seen.contains(&name) {
                    repeated.push(name.clone());
                }
                seen.push(name);
            }
            Ok(repeated)
        }
    }
    serde_json::Deserializer::from_str(text).deserialize_map(FieldNames).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_json_reply_has_twice_is_refused() {
        for (text, expected) in [
            (r#"{"output": "environment_fix", "action": ["a"]}"#, vec![]),
            (r#"{"output": "a", "output": "b", "action": ["a"]}"#, vec!["`output` occurs twice"]),
            (
                r#"{"output": "a", "action": ["a"], "action": "b", "new_hypothesis": "c", "new_hypothesis": "d"}"#,
                vec!["`action` occurs twice", "`new_hypothesis` occurs twice"],
            ),
        ] {
            let refused: Vec<String> = json(text).err().unwrap_or_default().iter().map(ToString::to_string).collect();
            assert_eq!(refused, expected, "{text}");
        }
    }
}
