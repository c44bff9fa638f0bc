//! The gates of the binary: the files of `gates/` that describe gates.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::LazyLock;
use std::thread;

use toml::de::DeTable;

use super::error::{ConfigError, Report};
use super::gate_table::GateTable;
use super::merge;
use crate::policy::{Gate, ModeFrom};

/// Returns the gates of the binary, sorted by id.
///
/// # Panics
///
/// If an embedded gate file is invalid, which a unit test excludes.
pub fn built_in() -> Vec<Gate> {
    BUILT_IN.clone()
}

/// Reads the gates of the binary in a thread of its own, while something else is waited for.
pub fn read_ahead() {
    thread::spawn(|| LazyLock::force(&BUILT_IN));
}

static BUILT_IN: LazyLock<Vec<Gate>> = LazyLock::new(|| {
    files().map(|(name, text)| read(name, text).unwrap_or_else(|error| panic!("gates/{error}"))).collect()
});

/// Returns `true` if a gate of the binary leaves the paths of `glob` out.
pub(super) fn is_default_ignore(glob: &str) -> bool {
    let lists = BUILT_IN.iter().filter_map(|gate| gate.params.get(super::IGNORE)?.as_array());
    lists.flatten().any(|known| known.as_str() == Some(glob))
}

/// Returns the embedded gate files: `<id>.toml`, and the text.
fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
    crate::embedded::GATES.iter().copied().filter(|(name, text)| is_gate_file(name, text))
}

/// Returns `true` for a gate file: it lies directly in `gates/` and has `kind = …` before its first table. Other data
/// lies there too.
fn is_gate_file(name: &str, text: &str) -> bool {
    !name.contains('/')
        && Path::new(name).extension() == Some(OsStr::new("toml"))
        && text
            .lines()
            .take_while(|line| !line.starts_with('['))
            .any(|line| line.strip_prefix("kind").is_some_and(|rest| rest.trim_start().starts_with('=')))
}

/// Reads one gate file; its name without `.toml` is the id.
pub(super) fn read(name: &str, text: &str) -> Result<Gate, ConfigError> {
    let mut report = Report::new(name, text);
    let table = match DeTable::parse(text) {
        Ok(table) => table,
        Err(error) => return Err(super::syntax(report, &error)),
    };
    let id = name.strip_suffix(".toml").unwrap_or(name);
    let said = GateTable::read(&mut report, id, "in a gate file", 0..0, table.get_ref());
    match merge::complete(&mut report, &said) {
        Some(mut gate) => {
            gate.mode_from = if said.mode.is_some() { ModeFrom::GateFile } else { ModeFrom::Default };
            report.finish(gate)
        }
        None => Err(report.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_gate_file_is_whole() {
        for (name, text) in files() {
            let gate = read(name, text).unwrap_or_else(|error| panic!("gates/{}", error.render()));
            assert!(!gate.explain.is_empty() && !gate.messages.is_empty(), "gates/{name} lacks words");
            for message in gate.messages.values() {
                for template in [&message.text, &message.remedy, &message.fix] {
                    let compiled = minijinja::Environment::empty().template_from_str(template).map(drop);
                    assert!(compiled.is_ok(), "gates/{name}: {template}");
                }
            }
            assert!(!gate.title.ends_with('.') && !gate.title.contains('\n'), "gates/{name}: title is one phrase");
        }
    }

    #[test]
    fn a_gate_file_is_known_without_being_parsed() {
        for (name, text) in crate::embedded::GATES {
            let Ok(table) = text.parse::<toml::Table>() else { continue };
            let is_gate = !name.contains('/') && table.contains_key("kind");
            assert_eq!(is_gate_file(name, text), is_gate, "gates/{name}: `kind` stands before any `[` line");
        }
        assert!(is_gate_file("tests.toml", "title = \"x\"\nkind=\"evidence\"\n"));
        assert!(!is_gate_file("runners/cargo.toml", "kind = \"evidence\"\n"));
        assert!(!is_gate_file("commands.toml", "[[command]]\nkind = \"push\"\n"));
        assert!(!is_gate_file("commands.toml", "kinds = []\n"));
    }

    #[test]
    fn what_a_gate_file_lacks_is_named() {
        let error = read("x.toml", "title = \"X\"\nkind = \"refs\"\nmoments = [\"push\"]\n").unwrap_err();
        let what: Vec<&str> = error.problems.iter().map(|problem| problem.what.as_str()).collect();
        assert_eq!(what, ["missing key `severity` in a gate file", "missing key `explain` in a gate file"]);
    }
}
