//! Workflow commands: what is shown beside the changed lines, and how the rest of the output is kept from being any.
//! <https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands>

use crate::gates::finding::{Answer, Effect, GateResult};
use crate::verdict::Verdict;

/// GitHub shows ten of each level for a step.
const MOST: usize = 10;

/// One command for each finding that stops or warns.
pub fn lines(verdict: &Verdict) -> Vec<String> {
    let mut lines = Vec::new();
    for (level, wanted) in [("error", true), ("warning", false)] {
        let gates = verdict.gates.iter().filter(|gate| stops(gate) == wanted && gate.effect() != Effect::Silent);
        let findings = gates.flat_map(|gate| super::told(gate).map(move |finding| (gate, finding)));
        let findings = findings.filter(|(_, finding)| finding.answer != Answer::Skip && finding.answer != Answer::Pass);
        lines.extend(findings.take(MOST).map(|(gate, finding)| {
            let line = finding.line.map(|line| format!("line={line},")).unwrap_or_default();
            let file = finding.paths.first().map(|path| format!("file={},{line}", property(&path.to_string())));
            let next = finding.remedy.as_ref().or(finding.fix.as_ref());
            let next = next.map(|next| format!(" (next: {next})")).unwrap_or_default();
            format!(
                "::{level} {}title={}::{}",
                file.unwrap_or_default(),
                property(&format!("gate: {}", gate.gate)),
                data(&format!("{}{next}", finding.message))
            )
        }));
    }
    lines
}

fn stops(gate: &GateResult) -> bool {
    gate.effect() >= Effect::CannotJudge
}

/// `text` so that nothing in it is a command to the runner; `word` must not occur in it.
pub fn inert(text: &str, word: &str) -> String {
    let text = text.replace(super::turns, " ");
    format!("::stop-commands::{word}\n{text}\n::{word}::\n")
}

/// A line of progress so that nothing in it is a command: the older form of those begins anywhere in a line
/// (`ActionCommand.TryParse` of actions/runner).
pub fn harmless(line: &str) -> String {
    super::one_line(line).replace("##[", "## [")
}

/// The message of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a command.
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
