//! The texts of a finding: the templates of a gate file, filled with the observed values.

use std::collections::BTreeMap;

use minijinja::{Environment, Value};

use crate::embedded;
use crate::foreign_text::{is_hidden, shortened};
use crate::gates::finding::{Answer, Finding};
use crate::policy::{Gate, Message};
use crate::repo_path::RepoPath;
use crate::shell_quote::shell_word;

/// The texts of a finding.
pub(super) struct FindingText {
    pub(super) message: String,
    pub(super) remedy: Option<String>,
    pub(super) fix: Option<String>,
}

impl FindingText {
    /// Creates a finding with these texts, without a command, paths and events.
    pub(super) fn finding(self, subject: &str, answer: Answer, reason: &str) -> Finding {
        Finding {
            subject: subject.to_owned(),
            answer,
            reason: reason.to_owned(),
            message: self.message,
            command: None,
            paths: Vec::new(),
            line: None,
            evidence: Vec::new(),
            remedy: self.remedy,
            fix: self.fix,
            persons: Vec::new(),
            severity: None,
        }
    }
}

/// Fills the message of `reason`: the gate's own, else that of the embedded gate of its kind, else only the code.
pub(super) fn say(gate: &Gate, reason: &str, context: &Value) -> FindingText {
    let message = gate.messages.get(reason).cloned().or_else(|| inherited(gate, reason));
    let Some(message) = message else {
        return FindingText { message: reason.to_owned(), remedy: None, fix: None };
    };
    let fill = |template: &str| {
        let filled = Environment::new().render_str(template, context);
        filled.unwrap_or_else(|error| format!("{reason} (the message of gate `{}` is malformed: {error})", gate.id))
    };
    let optional = |template: &str| Some(fill(template)).filter(|text| !text.trim().is_empty());
    FindingText { message: fill(&message.text), remedy: optional(&message.remedy), fix: optional(&message.fix) }
}

fn inherited(gate: &Gate, reason: &str) -> Option<Message> {
    let origin = super::kind(&gate.kind)?.words;
    let table: toml::Table = embedded::table(&format!("{origin}.toml"));
    table.get("messages")?.get(reason)?.clone().try_into().ok()
}

/// The number of paths in one folder from which the folder is named instead.
const MANY_IN_ONE_FOLDER: usize = 6;

/// Lists paths for a sentence: the first three, and the number of the others. Many paths in one folder are shown as the
/// folder.
pub(super) fn list(paths: &[RepoPath]) -> String {
    let texts = gathered(paths);
    let shown = &texts[..texts.len().min(3)];
    match texts.len() {
        0 => "nothing".to_owned(),
        1..=3 => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), more - 3),
    }
}

/// Returns the paths as texts, in order, with a top-level folder in place of its many paths.
fn gathered(paths: &[RepoPath]) -> Vec<String> {
    let top = |path: &RepoPath| {
        let bytes = path.as_bytes();
        bytes.iter().position(|&byte| byte == b'/').map(|at| bytes[..at].to_vec())
    };
    let mut count: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for folder in paths.iter().filter_map(top) {
        *count.entry(folder).or_default() += 1;
    }
    let mut texts = Vec::new();
    for path in paths {
        let many = top(path)
            .and_then(|folder| count.get_mut(&folder))
            .filter(|count| **count == 0 || **count >= MANY_IN_ONE_FOLDER);
        match many {
            None => texts.push(path.to_string()),
            Some(0) => {}
            Some(count) => {
                let folder = top(path).unwrap_or_default();
                texts.push(format!("{}/ ({count} files)", RepoPath::new(folder)));
                *count = 0;
            }
        }
    }
    texts
}

/// Lists texts for a sentence, each without control characters.
pub(super) fn list_of(texts: &[String]) -> String {
    names(texts.iter().map(String::as_str))
}

/// Returns paths as words of a shell, or `.` if there are too many or they cannot be typed.
pub(super) fn shell_words(paths: &[RepoPath]) -> String {
    let words: Option<Vec<_>> = paths
        .iter()
        .map(|path| {
            let text = std::str::from_utf8(path.as_bytes()).ok().filter(|text| !text.contains(is_hidden))?;
            Some(shell_word(text))
        })
        .collect();
    words.filter(|words| (1..=8).contains(&words.len())).map_or_else(|| ".".to_owned(), |words| words.join(" "))
}

/// Returns a foreign text for a sentence: without hidden characters, and shortened.
pub(super) fn plain(text: &str) -> String {
    shortened(text, 80)
}

/// Lists names for a sentence: the first five, and the number of the others.
pub(super) fn names<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 5;
    let count = names.len();
    let shown: Vec<_> = names.take(SHOWN).map(plain).collect();
    match count {
        0..=SHOWN => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), more - SHOWN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_paths_in_one_folder_are_shown_as_the_folder() {
        let many = (0..4631).map(|at| RepoPath::from(format!(".venv/lib/{at}.py").as_str()));
        let paths: Vec<_> = many.chain([RepoPath::from("src/a.py"), RepoPath::from("b.py")]).collect();
        assert_eq!(list(&paths), ".venv/ (4631 files), src/a.py, b.py");
        assert_eq!(list(&paths[4626..]), ".venv/lib/4626.py, .venv/lib/4627.py, .venv/lib/4628.py and 4 more");
    }
}
