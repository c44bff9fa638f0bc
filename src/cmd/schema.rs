//! `gate schema`: the JSON Schemas of what `gate` reads and writes.
//!
//! They are the files of `templates/schema/`; another one is another file.

use crate::embedded::{TEMPLATES, file};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::ui::Ui;

/// Arguments of `gate schema`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The schema to print; without it, all are listed
    name: Option<String>,
}

/// Prints one schema, or what there is.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    let Some(name) = &args.name else {
        for (name, text) in schemas() {
            ui.line(format_args!("{name:<12} {}", title(text)));
        }
        return Ok(Exit::Pass);
    };
    let Some(text) = file(TEMPLATES, &format!("schema/{name}.json")) else {
        let known: Vec<&str> = schemas().map(|(name, _)| name).collect();
        let failure = Failure::new(Exit::Usage, format_args!("there is no schema `{}`", name.escape_debug()));
        return Err(failure.remedy(format_args!("the schemas are: {}", known.join(", "))).into());
    };
    ui.raw(text);
    Ok(Exit::Pass)
}

/// The embedded schemas: name and text.
fn schemas() -> impl Iterator<Item = (&'static str, &'static str)> {
    TEMPLATES.iter().filter_map(|(path, text)| Some((path.strip_prefix("schema/")?.strip_suffix(".json")?, *text)))
}

/// The title that a schema gives itself.
fn title(text: &str) -> String {
    let schema: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    schema["title"].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_is_one_and_has_a_title() {
        assert!(schemas().any(|(name, _)| name == "policy"));
        for (name, text) in schemas() {
            let schema: serde_json::Value = serde_json::from_str(text).unwrap();
            assert!(jsonschema::meta::is_valid(&schema), "{name}");
            assert!(!title(text).is_empty(), "{name}");
            assert!(text.ends_with("}\n"), "{name} ends with one newline");
        }
    }
}
