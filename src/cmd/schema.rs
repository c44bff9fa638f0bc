//! `gate schema`: prints the JSON Schemas of the data that `gate` reads and writes.
//!
//! They are the files of `templates/schema/`. Those of written data are generated from the types (`published.rs`).

#[cfg(test)]
mod published;

use crate::embedded::{TEMPLATES, file};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::ui::Ui;

/// Arguments of `gate schema`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The schema to print, by name or `$id`; without it, all schemas are listed
    name: Option<String>,
}

/// Prints one schema, or the list of all.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    let Some(name) = &args.name else {
        for (name, text) in schemas() {
            ui.line(format_args!("{name:<23} {}", title(text)));
        }
        return Ok(Exit::Pass);
    };
    let short = name.strip_prefix(ID_PREFIX).and_then(|rest| rest.strip_suffix(":1")).unwrap_or(name);
    let Some(text) = file(TEMPLATES, &format!("schema/{short}.json")) else {
        let known: Vec<&str> = schemas().map(|(name, _)| name).collect();
        let failure = Failure::new(Exit::Usage, format_args!("there is no schema `{}`", name.escape_debug()));
        return Err(failure.remedy(format_args!("the schemas are: {}", known.join(", "))).into());
    };
    ui.raw(text);
    Ok(Exit::Pass)
}

/// The prefix of the id of each schema. The version is its end: `urn:gate:schema:verdict:1`.
const ID_PREFIX: &str = "urn:gate:schema:";

/// Returns the embedded schemas: name and text.
fn schemas() -> impl Iterator<Item = (&'static str, &'static str)> {
    TEMPLATES.iter().filter_map(|(path, text)| Some((path.strip_prefix("schema/")?.strip_suffix(".json")?, *text)))
}

/// Returns the title in a schema.
fn title(text: &str) -> String {
    let schema: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    schema["title"].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
fn id(name: &str) -> String {
    format!("{ID_PREFIX}{name}:1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_version(schema: &serde_json::Value, version: &str) -> bool {
        let forms = schema["anyOf"].as_array().cloned().unwrap_or_else(|| vec![schema.clone()]);
        let has = |form: &serde_json::Value| {
            let named = form["$ref"].as_str().and_then(|place| place.strip_prefix("#/$defs/"));
            let form = named.map_or(form, |named| &schema["$defs"][named]);
            form["properties"].get(version).is_some()
        };
        forms.iter().all(has)
    }

    #[test]
    fn every_schema_is_one_and_has_a_title() {
        assert!(schemas().any(|(name, _)| name == "policy"));
        for (name, text) in schemas() {
            let schema: serde_json::Value = serde_json::from_str(text).unwrap();
            assert!(jsonschema::meta::is_valid(&schema), "{name}");
            assert!(!title(text).is_empty(), "{name}");
            assert_eq!(schema["$id"], id(name), "{name}");
            let version = if name == "policy" { "version" } else { "schema_version" };
            // What an agent fills in has none.
            assert!(name == "assessment" || has_version(&schema, version), "{name}");
            assert!(text.ends_with("}\n"), "{name} ends with one newline");
        }
    }
}
