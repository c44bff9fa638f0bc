//! A verdict in Markdown, for a summary and for a comment: the result, the proven parts with their proof, and the
//! missing parts.

use std::fmt::Write as _;

use crate::failure::Failure;
use crate::foreign_text::one_line;
use crate::gates::finding::{Answer, Effect};
use crate::policy::PolicySource;
use crate::verdict::{Outcome, Verdict};

/// The mark by which an existing comment is found and updated.
pub const MARKER: &str = "<!-- gate:verdict v1 -->";

/// The most that is written: a summary may have a mebibyte, a comment 65536 characters.
const MAX_SUMMARY_SIZE: usize = 60_000;

/// Returns the verdict as Markdown.
pub fn markdown(verdict: &Verdict) -> String {
    let mut text = format!("{MARKER}\n");
    let headline = match verdict.outcome {
        Outcome::Pass if verdict.complete => "proven",
        Outcome::Pass => "nothing blocks, with warnings",
        Outcome::Blocked => "not proven",
        Outcome::NeedsHuman => "a person must look",
        Outcome::CannotJudge => "cannot be judged yet",
    };
    let sign = match verdict.outcome {
        Outcome::Pass if verdict.complete => "✅",
        Outcome::Pass => "⚠️",
        Outcome::CannotJudge => "❔",
        Outcome::Blocked | Outcome::NeedsHuman => "❌",
    };
    let names: Vec<String> = verdict
        .subjects
        .iter()
        .take(3)
        .map(|subject| {
            let commit = subject.commit.as_ref().map(|commit| format!(" at `{}`", commit.short())).unwrap_or_default();
            format!("{}{commit}", plain(&subject.name))
        })
        .collect();
    let _ = writeln!(text, "### {sign} gate: {headline} — {}\n", names.join(", "));
    text.push_str("| | gate | what is known |\n| --- | --- | --- |\n");
    for gate in &verdict.gates {
        for finding in super::told(gate) {
            let stops = gate.effect() >= Effect::CannotJudge;
            let evidence = grades(verdict, &finding.evidence);
            let next = finding.remedy.as_ref().or(finding.fix.as_ref()).filter(|_| finding.answer >= Answer::Pending);
            let next = next.map(|next| format!("<br>next: {}", code(next))).unwrap_or_default();
            let _ = writeln!(
                text,
                "| {} | {} | {}{evidence}{next} |",
                sign_of(finding.answer, stops),
                code(&gate.gate),
                plain(&finding.message)
            );
            if text.len() > MAX_SUMMARY_SIZE {
                text.push_str("\n… and more: see verdict.json.\n");
                return text;
            }
        }
    }
    for note in &verdict.notes {
        let _ = writeln!(text, "\n> {}", plain(&note.text));
        if text.len() > MAX_SUMMARY_SIZE {
            text.push_str("\n… and more: see verdict.json.\n");
            break;
        }
    }
    let source = match &verdict.policy.source {
        PolicySource::Commit(commit) => format!("`gate.toml` of `{}`", commit.short()),
        PolicySource::WorkingTree => "an uncommitted `gate.toml`".to_owned(),
        PolicySource::Defaults => "the defaults: there is no `gate.toml`".to_owned(),
    };
    let _ = writeln!(text, "\n<sub>judged by {source} · verdict {}</sub>", plain(&verdict.id));
    text
}

/// Returns the text for a failure without a verdict.
pub fn failed(failure: &Failure) -> String {
    let what = failure.what.lines().next().unwrap_or_default();
    let next = failure.remedy.lines().next().map(|next| format!("\n\nnext: {}", plain(next))).unwrap_or_default();
    format!("{MARKER}\n### ❔ gate: could not judge\n\n{}{next}\n", plain(what))
}

fn sign_of(answer: Answer, stops: bool) -> &'static str {
    match answer {
        Answer::Pass => "✅",
        Answer::Skip => "➖",
        Answer::Unknown if stops => "❔",
        Answer::Fail if stops => "❌",
        Answer::Waived | Answer::Pending | Answer::Unknown | Answer::Fail => "⚠️",
    }
}

fn grades(verdict: &Verdict, ids: &[String]) -> String {
    let of = |id: &String| verdict.evidence.iter().find(|one| one.id == *id).map(|one| one.grade.as_str());
    let mut grades: Vec<_> = ids.iter().filter_map(of).collect();
    grades.dedup();
    if grades.is_empty() { String::new() } else { format!(" ({})", grades.join(", ")) }
}

/// Escapes a text, so that it is not Markdown or HTML, and mentions no account.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in one_line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // Somebody is called by a sign and a name: not with something between them.
            '@' => out.push_str("@\u{2060}"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '!' | '|' | '~' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// Returns a text as code. It is HTML, because no number of backticks holds every text in a table.
fn code(text: &str) -> String {
    let text = one_line(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    // Inside of it Markdown goes on.
    let mut out = String::from("<code>");
    for c in text.chars() {
        if "\\`*_{}[]()#!|~$".contains(c) {
            let _ = write!(out, "&#{};", u32::from(c));
        } else if c == '@' {
            out.push_str("@\u{2060}");
        } else {
            out.push(c);
        }
    }
    out + "</code>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        let text = "a | b\n# c <img src=x> [l](javascript:x) @me `c` **d** ~~e~~ \u{1b}[31m$x$ \\| \u{202e}cba <!-- gate:verdict v1 -->";
        let out = plain(text);
        assert!(
            !out.contains('\n') && !out.contains('\u{1b}') && !out.contains("<img") && !out.contains("@me"),
            "{out}"
        );
        let bare = |sign: char| {
            let chars: Vec<char> = out.chars().collect();
            chars.iter().enumerate().any(|(at, c)| *c == sign && (at == 0 || chars[at - 1] != '\\'))
        };
        for sign in ['|', '`', '*', '[', '~', '$', '#'] {
            assert!(!bare(sign), "{sign} in {out}");
        }
        let code = code(text);
        assert!(!code.contains('|') && !code.contains('`') && !code.contains("<img"), "{code}");
        for text in [out, code] {
            assert!(!text.contains('\u{202e}') && !text.contains(MARKER) && !text.contains("<!--"), "{text}");
        }
    }
}
