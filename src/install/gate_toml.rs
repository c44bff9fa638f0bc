//! The text of `gate.toml`: written anew from the findings, or extended.

use std::collections::BTreeMap;

use minijinja::value::{Value, ValueKind};
use minijinja::{Environment, context};
use toml_edit::{DocumentMut, Item, Table, value};

use crate::stack::DeclaredStack;
use crate::{embedded, foreign_text};

/// A new `gate.toml`; with a commented example where there is no command. A command in `doubts` is a comment that says
/// what was wrong with it.
pub(super) fn fresh(
    commands: &[DeclaredStack],
    doubts: &BTreeMap<String, String>,
    observe: bool,
) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.add_filter("toml", |value: Value| toml_value(&value));
    environment.add_filter("key", |name: String| toml_edit::Key::new(name).display_repr().into_owned());
    environment.add_filter("comment", |text: String| foreign_text::plain(&text));
    let shown = |c: &DeclaredStack| {
        context! {
            name => c.name.as_str(),
            gate => c.gate,
            run => c.run.as_str(),
            dir => c.dir.as_str(),
            inputs => c.inputs.clone(),
            ignore => c.ignore.clone(),
            reason => c.reason.as_str(),
            doubt => doubts.get(&c.name),
        }
    };
    let commands: Vec<Value> = commands.iter().map(shown).collect();
    let template = embedded::file(embedded::TEMPLATES, "gate.toml.j2").unwrap_or_default();
    let mut text = environment.render_str(template, context! { commands, observe })?;
    text.truncate(text.trim_end().len());
    text.push('\n');
    Ok(text)
}

/// Returns a text or a list of texts as TOML.
fn toml_value(value: &Value) -> String {
    if value.kind() == ValueKind::Seq {
        let items = value.try_iter().into_iter().flatten().map(|item| item.to_string());
        return items.collect::<toml_edit::Array>().to_string();
    }
    toml_edit::Value::from(value.to_string()).to_string()
}

/// The result of adding a command to a `gate.toml`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// It was added.
    New,
    /// It was declared in the same way.
    Same,
    /// Its name is taken by another command line, which stays.
    Taken(String),
}

/// Adds a command to the text of a `gate.toml`, keeping every existing byte.
pub(super) fn with_command(text: &str, name: &str, gate: &str, run: &str) -> Result<(String, Added), String> {
    let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let declared = document.get("commands").map(|commands| commands.get(name));
    if let Some(Some(there)) = declared {
        let line = there.get("run").and_then(Item::as_str).unwrap_or_default();
        let outcome = if line == run { Added::Same } else { Added::Taken(line.to_owned()) };
        return Ok((text.to_owned(), outcome));
    }
    let inline = document.get("commands").is_some_and(|commands| !commands.is_table());
    let mut command = Table::new();
    command.insert("gate", value(gate));
    command.insert("run", value(run));
    if inline {
        let mut document = document;
        let table = document["commands"].as_table_like_mut().ok_or("`commands` is not a table")?;
        table.insert(name, value(command.into_inline_table()));
        return Ok((document.to_string(), Added::New));
    }
    // Appending a table of its own changes no byte of what is there, whatever its order and comments.
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut out = text.to_owned();
    if !out.is_empty() && !out.ends_with('\n') {
        out.push_str(ending);
    }
    if !out.is_empty() {
        out.push_str(ending);
    }
    let key = toml_edit::Key::new(name);
    let body = command.to_string().replace('\n', ending);
    Ok((format!("{out}[commands.{}]{ending}{body}", key.display_repr()), Added::New))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(name: &str, run: &str) -> DeclaredStack {
        DeclaredStack {
            name: name.to_owned(),
            gate: "tests",
            run: run.to_owned(),
            dir: "we\"b".to_owned(),
            inputs: vec!["we\"b/**".to_owned(), "!x/**".to_owned()],
            ignore: vec!["!README.md".to_owned()],
            reason: "a\nb".to_owned(),
        }
    }

    #[test]
    fn a_new_file_reads_back() {
        let text = fresh(&[declared("a.b-test", "sh -c 'a \"b\"'")], &BTreeMap::new(), true).unwrap();
        let table: toml::Table = text.parse().unwrap();
        let command = &table["commands"]["a.b-test"];
        assert_eq!(table["mode"].as_str(), Some("observe"));
        assert_eq!(command["run"].as_str(), Some("sh -c 'a \"b\"'"));
        assert_eq!(command["dir"].as_str(), Some("we\"b"));
        assert_eq!(command["inputs"].as_array().unwrap().len(), 2);
        assert_eq!(command["ignore"][0].as_str(), Some("!README.md"));
        assert!(text.contains("# a b\n"));
        let empty = fresh(&[], &BTreeMap::new(), false).unwrap();
        assert_eq!(empty.parse::<toml::Table>().unwrap().len(), 1, "only the version");
        assert!(empty.contains("# [commands.test]"));
    }

    #[test]
    fn a_command_in_doubt_is_a_comment_that_becomes_the_command_again() {
        let doubts = BTreeMap::from([("a".to_owned(), "ended with\nstatus 1".to_owned())]);
        let text = fresh(&[declared("a", "make test"), declared("b", "true")], &doubts, false).unwrap();
        let table: toml::Table = text.parse().unwrap();
        assert_eq!(table["commands"].as_table().unwrap().keys().collect::<Vec<_>>(), ["b"]);
        assert!(text.contains("# Not declared: ended with status 1."), "{text}");
        let uncommented: String =
            text.lines().map(|line| line.strip_prefix("#: ").unwrap_or(line).to_owned() + "\n").collect();
        let table: toml::Table = uncommented.parse().unwrap();
        assert_eq!(table["commands"]["a"]["run"].as_str(), Some("make test"));
        assert_eq!(table["commands"]["a"]["inputs"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn adding_keeps_what_is_there() {
        let run = |text: &str| with_command(text, "test", "tests", "make test").unwrap();
        for text in [
            "",
            "# c\nmode = 'warn' # d",
            "[commands.build]\nrun = \"x\"\n\n[gates.tests]\nmode = \"warn\"\n",
            "a = 1\r\n",
        ] {
            let (out, added) = run(text);
            assert_eq!(added, Added::New);
            assert!(out.starts_with(text), "{out}");
            assert_eq!(out.parse::<toml::Table>().unwrap()["commands"]["test"]["run"].as_str(), Some("make test"));
            assert_eq!(run(&out), (out.clone(), Added::Same));
        }
        let (out, _) = run("commands = { build = { run = 'x' } }\n");
        assert_eq!(out.parse::<toml::Table>().unwrap()["commands"]["test"]["run"].as_str(), Some("make test"));
        let other = "[commands]\ntest = { run = 'x' }\n";
        assert_eq!(run(other), (other.to_owned(), Added::Taken("x".to_owned())));
        assert!(with_command("[", "test", "tests", "x").is_err());
    }
}
