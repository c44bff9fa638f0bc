//! Everything that people read, as one transcript for each subject, so that a reviewer sees every change of wording as a diff.
//!
//! After a change: read the diff of `text/*.snap.new`, then accept it with `cargo insta accept` or
//! `INSTA_UPDATE=always cargo test --test integration snapshots`.

mod attempts;
mod ci;
mod commits;
mod contracts;
mod escalation;
mod history;
mod installation;
mod prompts;
mod runs;
mod verdicts;

use std::path::Path;

use crate::project::{Project, Said};

/// What differs from one run or machine to another, and the word that stands for it.
const FILTERS: &[(&str, &str)] = &[
    (r"\blocal-[0-9a-f]{12}_", "[session]_"),
    (r"\b([hv])\d{8}T?-?\d{6}[0-9A-Za-z.-]*\b", "[$1]"),
    (r"_\d{8}T?-?\d{6}[0-9A-Za-z.-]*\.json", "_[time].json"),
    (r"fingerprint [0-9a-f]{8}", "fingerprint [digest]"),
    (r"\b[0-9a-f]{7,12}-\d{4}-[0-9a-f]{10}\b", "[run]"),
    (r"\b[0-9a-f]{40}\b", "[oid]"),
    (r"\b[0-9a-f]{16,64}\b", "[digest]"),
    (r"\b(?:[0-9a-f]{12}|[0-9a-f]{7})\b", "[oid]"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?", "[time]"),
    (r"\b\d+(?:\.\d+)? ?(?:ms|s)\b", "[duration]"),
    (r"\bgit(?: version)? \d+\.\d+[\w.]*", "git [version]"),
    (r"gate \d+\.\d+\.\d+", "gate [version]"),
];

/// Commands and what they printed, in the order of a terminal.
pub struct Transcript {
    text: String,
}

impl Transcript {
    /// An empty one.
    pub fn new() -> Self {
        Self { text: String::new() }
    }

    /// Begins a scene.
    pub fn scene(&mut self, title: &str) -> &mut Self {
        let separator = if self.text.is_empty() { "" } else { "\n" };
        self.text.extend([separator, "### ", title, "\n"]);
        self
    }

    /// Runs a line of shell in the root of a project and keeps both of its streams.
    pub fn sh(&mut self, project: &Project, line: &str) -> &mut Self {
        let said = project.sh(&format!("{{ {line}\n}} 2>&1"));
        self.said(project, &format!("$ {line}"), &said)
    }

    /// Keeps what was said elsewhere, below the words `prompt`.
    pub fn said(&mut self, project: &Project, prompt: &str, said: &Said) -> &mut Self {
        let code = if said.code == 0 { String::new() } else { format!("[exit {}]\n", said.code) };
        self.shown(project, &format!("{prompt}\n{}{code}", said.text()))
    }

    /// Keeps any text.
    pub fn shown(&mut self, project: &Project, text: &str) -> &mut Self {
        let programs = Path::new(env!("CARGO_BIN_EXE_gate")).parent().expect("a folder").to_string_lossy();
        let text = text.replace(&*project.repo.outside().to_string_lossy(), "[folder]");
        self.text += &text.replace(&*programs, "[programs]");
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self
    }

    /// Compares it with the one that was accepted.
    #[track_caller]
    pub fn is(&self, name: &str) {
        let mut settings = insta::Settings::new();
        settings.set_snapshot_path("text");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        for (pattern, word) in FILTERS {
            settings.add_filter(pattern, *word);
        }
        settings.bind(|| insta::assert_snapshot!(name, self.text));
    }
}
