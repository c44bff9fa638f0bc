//! Workflow commands: they show findings at the changed lines, and keep the rest of the output from acting as commands.
//! <https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands>

use crate::failure::Failure;
use crate::foreign_text::{is_hidden, one_line};
use crate::gates::finding::{Answer, Effect, GateResult};
use crate::repo_path::RepoPath;
use crate::verdict::Verdict;

/// GitHub shows ten of each level for a step.
const MAX_SHOWN: usize = 10;

/// Returns one command for each finding that stops or warns.
pub fn lines(verdict: &Verdict) -> Vec<String> {
    let mut lines = Vec::new();
    for (level, wanted) in [("error", true), ("warning", false)] {
        let gates = verdict.gates.iter().filter(|gate| stops(gate) == wanted && gate.effect() != Effect::Silent);
        let findings = gates.flat_map(|gate| super::told(gate).map(move |finding| (gate, finding)));
        let findings = findings.filter(|(_, finding)| finding.answer != Answer::Skip && finding.answer != Answer::Pass);
        lines.extend(findings.take(MAX_SHOWN).map(|(gate, finding)| {
            let at = finding.paths.first().map(|path| (path, finding.line));
            let next = finding.remedy.as_ref().or(finding.fix.as_ref());
            let next = next.map(|next| format!(" (next: {next})")).unwrap_or_default();
            command(level, at, &format!("gate: {}", gate.gate), &format!("{}{next}", finding.message))
        }));
    }
    // What no gate decides is said beside its line where no gate says it there.
    let findings = || verdict.gates.iter().filter(|gate| gate.effect() != Effect::Silent).flat_map(super::told);
    let news = verdict.notes.iter().filter_map(|note| Some((note, note.path.as_ref()?)));
    let news = news.filter(|(_, path)| !findings().any(|finding| finding.paths.first() == Some(*path)));
    lines.extend(
        news.take(MAX_SHOWN).map(|(note, path)| command("notice", Some((path, note.line)), "gate", &note.text)),
    );
    lines
}

/// Returns the command for a failure before there is a verdict.
pub fn failed(failure: &Failure) -> String {
    let what = failure.what.lines().next().unwrap_or_default();
    let next = failure.remedy.lines().next().map(|next| format!(" (next: {next})")).unwrap_or_default();
    command("error", failure.at.as_ref().map(|(path, line)| (path, *line)), "gate", &format!("{what}{next}"))
}

/// Returns a command that shows `text` at a line, if it has one.
fn command(level: &str, at: Option<(&RepoPath, Option<u32>)>, title: &str, text: &str) -> String {
    let place = at.map(|(path, line)| {
        let line = line.map(|line| format!("line={line},")).unwrap_or_default();
        format!("file={},{line}", property(&path.to_string()))
    });
    format!("::{level} {}title={}::{}", place.unwrap_or_default(), property(title), data(text))
}

fn stops(gate: &GateResult) -> bool {
    gate.effect() >= Effect::CannotJudge
}

/// Returns `text` in a form in which nothing is a command to the runner; `word` must not occur in it.
pub fn inert(text: &str, word: &str) -> String {
    let text = text.replace(|c: char| is_hidden(c) && !c.is_control(), " ");
    format!("::stop-commands::{word}\n{text}\n::{word}::\n")
}

/// Returns a line of progress in a form in which nothing is a command: the older form of those begins anywhere in a
/// line (`ActionCommand.TryParse` of actions/runner).
pub fn harmless(line: &str) -> String {
    inside(&one_line(line))
}

/// Escapes a text that follows other words in its lines.
pub fn inside(text: &str) -> String {
    text.replace("##[", "## [")
}

/// Returns the message of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Returns a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_ends_its_command() {
        let text = "a%0A::b, c: d\r\n::error::x";
        assert_eq!(data(text), "a%250A::b, c: d%0D%0A::error::x");
        assert_eq!(property(text), "a%250A%3A%3Ab%2C c%3A d%0D%0A%3A%3Aerror%3A%3Ax");
        assert_eq!(inert("::error::x", "w"), "::stop-commands::w\n::error::x\n::w::\n");
        assert_eq!(inert("a\u{202e}b", "w"), "::stop-commands::w\na b\n::w::\n");
        assert_eq!(harmless("gate: a ##[add-mask]x\r\n::error::y"), "gate: a ## [add-mask]x ::error::y");
    }
}
