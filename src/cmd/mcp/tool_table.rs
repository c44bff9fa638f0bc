//! The tools, from `gates/mcp-tools.toml`.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::embedded;

/// The way in which an argument reaches the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ArgumentForm {
    /// Standard input.
    Input,
    /// A file, whose path follows the flag.
    File,
    /// The value of the flag.
    Flag,
    /// A whole number, the value of the flag.
    Number,
    /// A word that cannot be an option.
    Name,
    /// Two such words with a `/` between them.
    Place,
}

/// An argument of a tool.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolArgument {
    pub(super) name: String,
    description: String,
    pub(super) form: ArgumentForm,
    #[serde(default)]
    pub(super) flag: String,
    #[serde(default)]
    required: bool,
}

/// A tool, and the command that it runs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolEntry {
    pub(super) name: String,
    description: String,
    pub(super) command: Vec<String>,
    #[serde(default)]
    pub(super) reads_only: bool,
    /// `true` if each line that the command prints is progress.
    #[serde(default)]
    pub(super) progress: bool,
    /// `true` if open questions go to the person through the client.
    #[serde(default)]
    pub(super) asks: bool,
    #[serde(default)]
    pub(super) arguments: Vec<ToolArgument>,
}

/// The file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolTable {
    without_dots: Vec<String>,
    pub(super) tools: Vec<ToolEntry>,
}

impl ToolTable {
    /// Reads the embedded file.
    pub(super) fn read() -> anyhow::Result<Self> {
        Ok(toml::from_str(embedded::file(embedded::GATES, "mcp-tools.toml").unwrap_or_default())?)
    }

    /// Returns the tool of a name, written with dots or with underscores.
    pub(super) fn find(&self, name: &str) -> Option<&ToolEntry> {
        self.tools.iter().find(|tool| tool.name == name || tool.name.replace('.', "_") == name)
    }

    /// Returns `true` if the models of a client take no dots in names.
    pub(super) fn rejects_dots(&self, client: &str) -> bool {
        let client = client.to_lowercase();
        self.without_dots.iter().any(|known| client.contains(known.as_str()))
    }
}

impl ToolEntry {
    /// Returns the tool in the form of the protocol.
    pub(super) fn described(&self, has_dots: bool) -> Tool {
        let properties: JsonObject =
            self.arguments.iter().map(|argument| (argument.name.clone(), argument.schema())).collect();
        let required: Vec<&str> =
            self.arguments.iter().filter(|argument| argument.required).map(|argument| argument.name.as_str()).collect();
        let schema =
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        let Value::Object(schema) = schema else { unreachable!("written as an object") };
        let name = if has_dots { self.name.clone() } else { self.name.replace('.', "_") };
        let annotations = ToolAnnotations::new().read_only(self.reads_only).open_world(false);
        Tool::new(name, self.description.clone(), Arc::new(schema)).with_annotations(annotations)
    }
}

impl ToolArgument {
    fn schema(&self) -> Value {
        let kind = if self.form == ArgumentForm::Number { "integer" } else { "string" };
        json!({"type": kind, "description": self.description})
    }

    /// Returns the value of the argument, or the reason why it cannot be taken.
    pub(super) fn value(&self, given: &JsonObject) -> Result<Option<String>, String> {
        let name = &self.name;
        let value = match given.get(name) {
            None | Some(Value::Null) if self.required => return Err(format!("`{name}` is missing")),
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) if self.form != ArgumentForm::Number => text.clone(),
            Some(Value::Number(number)) if self.form == ArgumentForm::Number && number.is_u64() => number.to_string(),
            Some(_) if self.form == ArgumentForm::Number => return Err(format!("`{name}` is a whole number")),
            Some(_) => return Err(format!("`{name}` is a text")),
        };
        if self.form == ArgumentForm::Name && !is_name(&value) {
            return Err(format!("`{name}` is one name of letters, digits, `.`, `_` and `-`, not a command line"));
        }
        if self.form == ArgumentForm::Place && !value.split_once('/').is_some_and(|(a, b)| is_name(a) && is_name(b)) {
            return Err(format!("`{name}` is a place on the board, such as signals/api"));
        }
        Ok(Some(value))
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_can_be_described() {
        let table = ToolTable::read().unwrap();
        assert_eq!(table.tools.len(), 11);
        for tool in &table.tools {
            assert!(tool.described(true).description.is_some_and(|text| text.ends_with('.')), "{}", tool.name);
            assert!(tool.arguments.iter().filter(|argument| argument.form == ArgumentForm::Input).count() <= 1);
        }
        assert_eq!(table.find("reflexivo_evaluate").unwrap().name, "reflexivo.evaluate");
        assert!(table.rejects_dots("claude-code") && !table.rejects_dots("mcp-inspector"));
    }

    #[test]
    fn a_place_is_two_names() {
        let table = ToolTable::read().unwrap();
        let place = &table.find("board_put").unwrap().arguments[0];
        let given = |value: Value| JsonObject::from_iter([("place".to_owned(), value)]);
        assert_eq!(place.value(&given(json!("signals/api-1.v2"))), Ok(Some("signals/api-1.v2".to_owned())));
        for wrong in [json!("signals"), json!("--json/x"), json!("a/../b"), json!("a/b/c"), json!("/x"), json!(1)] {
            assert!(place.value(&given(wrong.clone())).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_command_line_is_no_name() {
        let table = ToolTable::read().unwrap();
        let name = &table.find("run").unwrap().arguments[0];
        let given = |value: Value| JsonObject::from_iter([("name".to_owned(), value)]);
        assert_eq!(name.value(&given(json!("test"))), Ok(Some("test".to_owned())));
        for wrong in [json!("--"), json!("rm -rf x"), json!("-h"), json!(""), json!(1), json!("a;b"), Value::Null] {
            assert!(name.value(&given(wrong.clone())).is_err(), "{wrong}");
        }
    }
}
