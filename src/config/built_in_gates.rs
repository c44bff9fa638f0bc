//! The gates of the binary: the files of `gates/` that describe gates.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::thread;

use serde::Deserialize;

use super::gate_table;
use crate::embedded;
use crate::event::Grade;
use crate::moment::Moment;
use crate::policy::{Gate, Message, Mode, ModeFrom, OnUnknown, Severity};

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

static BUILT_IN: LazyLock<Vec<Gate>> =
    LazyLock::new(|| embedded::GATE_TABLES.iter().map(|name| embedded::table::<GateFile>(name).gate(name)).collect());

/// An embedded gate file. Nothing in it is misspelt, which a test excludes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GateFile {
    title: String,
    kind: String,
    moments: Vec<Moment>,
    severity: String,
    mode: Option<Mode>,
    on_unknown: Option<OnUnknown>,
    min_grade: Option<Grade>,
    #[serde(default)]
    params: toml::Table,
    messages: BTreeMap<String, Message>,
    explain: String,
}

impl GateFile {
    fn gate(mut self, name: &str) -> Gate {
        self.moments.sort_unstable();
        Gate {
            id: id(name).to_owned(),
            title: self.title,
            kind: self.kind,
            moments: self.moments,
            severity: gate_table::severity_of(&self.severity.to_ascii_lowercase()).unwrap_or(Severity::Blocker),
            mode: self.mode.unwrap_or(Mode::Block),
            mode_from: if self.mode.is_some() { ModeFrom::GateFile } else { ModeFrom::Default },
            on_unknown: self.on_unknown.unwrap_or(OnUnknown::Warn),
            min_grade: self.min_grade.unwrap_or(Grade::Hooked),
            params: self.params,
            messages: self.messages,
            explain: self.explain.trim().to_owned(),
        }
    }
}

/// Returns the id of the gate in a file of this name.
fn id(name: &str) -> &str {
    name.strip_suffix(".toml").unwrap_or(name)
}

/// Returns `true` if a gate of the binary leaves the paths of `glob` out.
pub(super) fn is_default_ignore(glob: &str) -> bool {
    let lists = BUILT_IN.iter().filter_map(|gate| gate.params.get(super::IGNORE)?.as_array());
    lists.flatten().any(|known| known.as_str() == Some(glob))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::read;

    #[test]
    fn every_embedded_gate_file_is_whole() {
        for name in embedded::GATE_TABLES {
            let text = toml::to_string(&embedded::table::<toml::Table>(name)).unwrap();
            let gate = read(name, &text).unwrap_or_else(|error| panic!("gates/{}", error.render()));
            let built_in = built_in().into_iter().find(|known| known.id == gate.id);
            assert_eq!(format!("{built_in:?}"), format!("{:?}", Some(&gate)), "gates/{name}: read in another way");
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
    fn what_a_gate_file_lacks_is_named() {
        let error = read("x.toml", "title = \"X\"\nkind = \"refs\"\nmoments = [\"push\"]\n").unwrap_err();
        let what: Vec<&str> = error.problems.iter().map(|problem| problem.what.as_str()).collect();
        assert_eq!(what, ["missing key `severity` in a gate file", "missing key `explain` in a gate file"]);
    }
}
