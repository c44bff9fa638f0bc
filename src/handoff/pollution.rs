//! Whether a packet is clean: what may be in it, by structure and by size (`gates/handoff.toml`).

use std::sync::LazyLock;

use minijinja::context;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::embedded;
use crate::templates::words::say;

/// Why a packet is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Pollution {
    /// The line that shows it, counted from 1.
    pub line: usize,
    /// What it is.
    pub what: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    sections: Vec<String>,
    #[expect(dead_code, reason = "read by its own function")]
    checklist: Vec<String>,
    #[expect(dead_code, reason = "read by its own function")]
    checklist_in_doubt: Vec<String>,
    max_bytes: usize,
    max_task_bytes: usize,
    max_block_lines: usize,
    trace: Vec<Trace>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trace {
    name: String,
    pattern: String,
    at_least: usize,
    #[cfg_attr(not(test), expect(dead_code, reason = "what the rules are tested with"))]
    examples: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "what the rules are tested with"))]
    others: Vec<String>,
}

struct Rules {
    file: File,
    traces: Vec<(Regex, usize)>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let text = embedded::file(embedded::GATES, "handoff.toml").unwrap_or_default();
    // A test holds the file readable and its patterns compilable.
    let file: File = toml::from_str(text).unwrap_or_default();
    let traces = file.trace.iter().enumerate().filter_map(|(at, trace)| Some((pattern(trace)?, at))).collect();
    Rules { file, traces }
});

fn pattern(trace: &Trace) -> Option<Regex> {
    RegexBuilder::new(&trace.pattern).case_insensitive(true).build().ok()
}

/// Everything in `text` that is not for a clean handoff, in the order of the lines.
pub fn find(text: &str) -> Vec<Pollution> {
    let rules = &*RULES;
    let mut found = Vec::new();
    if text.len() > rules.file.max_bytes {
        let what = say("packet", "large", &context! { bytes => text.len(), most => rules.file.max_bytes });
        found.push(Pollution { line: line_at(text, rules.file.max_bytes), what });
    }
    found.extend(sections(text, &rules.file));
    found.extend(blocks(text, rules.file.max_block_lines));
    for (pattern, at) in &rules.traces {
        let trace = &rules.file.trace[*at];
        let mut lines = text.lines().enumerate().filter(|(_, line)| pattern.is_match(plain(line)));
        if let Some((number, line)) = lines.nth(trace.at_least.saturating_sub(1)) {
            let shown: String = line.trim().chars().take(80).collect();
            found.push(Pollution {
                line: number + 1,
                what: say("packet", "trace", &context! { name => &trace.name, shown }),
            });
        }
    }
    found.sort_by_key(|pollution| pollution.line);
    found
}

/// A quoted line counts as what it quotes.
fn plain(line: &str) -> &str {
    line.strip_prefix("> ").unwrap_or(line)
}

fn line_at(text: &str, byte: usize) -> usize {
    text.as_bytes().iter().take(byte).filter(|&&byte| byte == b'\n').count() + 1
}

/// Headings that no part of a packet has, and a task that is longer than a task.
fn sections(text: &str, file: &File) -> Vec<Pollution> {
    let mut found = Vec::new();
    let (mut in_task, mut task, mut fenced) = (None, 0, false);
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let heading = line.strip_prefix("## ").or_else(|| line.strip_prefix("# ")).filter(|_| !fenced);
        if let Some(heading) = heading {
            let title = heading.trim().to_lowercase();
            let known = file.sections.iter().any(|name| {
                title.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ':']))
            });
            // What is called a task inside a task is its own business.
            if !known && in_task.is_none() {
                found.push(Pollution {
                    line: at + 1,
                    what: say("packet", "heading", &context! { heading => heading.trim() }),
                });
            }
            if known {
                in_task = title.starts_with("task").then_some(at + 1);
                task = 0;
            }
        } else if let Some(begin) = in_task {
            task += line.len() + 1;
            if task > file.max_task_bytes {
                let what = say("packet", "long_task", &context! { begin, most => file.max_task_bytes });
                found.push(Pollution { line: at + 1, what });
                in_task = None;
            }
        }
    }
    found
}

/// Quotes and fences that are too long for a signature. The task may be quoted as a whole.
fn blocks(text: &str, most: usize) -> Vec<Pollution> {
    let mut found = Vec::new();
    let (mut length, mut fenced, mut in_task) = (0, false, false);
    for (at, line) in text.lines().enumerate() {
        let fence = line.trim_start().starts_with("```");
        if let Some(heading) = line.strip_prefix("## ").or_else(|| line.strip_prefix("# ")).filter(|_| !fenced) {
            in_task = heading.trim().to_lowercase().starts_with("task");
        }
        if fence {
            fenced = !fenced;
            length = 0;
        } else if fenced || (line.starts_with('>') && !in_task) {
            length += 1;
            if length == most + 1 {
                let what = say("packet", "block", &context! { most });
                found.push(Pollution { line: at + 1, what });
            }
        } else {
            length = 0;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_are_readable_and_meet_their_examples() {
        let file: File = toml::from_str(embedded::file(embedded::GATES, "handoff.toml").unwrap()).unwrap();
        assert_eq!(RULES.traces.len(), file.trace.len());
        for trace in &file.trace {
            let pattern = pattern(trace).unwrap();
            for example in &trace.examples {
                assert!(pattern.is_match(example), "{}: {example}", trace.name);
            }
            for other in &trace.others {
                assert!(!pattern.is_match(other), "{}: {other}", trace.name);
            }
        }
    }

    #[test]
    fn a_clean_packet_is_clean_and_a_history_is_not() {
        let clean = "# Handoff h1\n\n## Task\n> Make add saturate.\n> - [ ] all of it\n\n## Failing command\n- command: `cargo test`\n> test a ... FAILED\n";
        assert_eq!(find(clean), []);
        let many = "> error: again\n".repeat(41);
        for (more, line, what) in [
            ("## What I did\n- much\n", 10, "is no part of a handoff"),
            ("User: fix\nAssistant: trying\n", 11, "a turn of a conversation"),
            ("<thinking>\n", 10, "recorded reasoning"),
            ("{\"role\":\"user\"}\n", 10, "a line of a session log"),
            ("Let me see\nI tried this\nWait, no\n", 12, "first person"),
            ("$ a\n$ b\n$ c\n$ d\n", 13, "a shell session"),
            (many.as_str(), 49, "no signature"),
        ] {
            let found = find(&format!("{clean}{more}"));
            assert_eq!(found.len(), 1, "{more}: {found:?}");
            assert_eq!(found[0].line, line, "{found:?}");
            assert!(found[0].what.contains(what), "{found:?}");
        }
        let long = format!("{clean}{}", "x".repeat(70_000));
        assert!(find(&long)[0].what.contains("a history and no packet"));
        let task = format!("## Task\n{}", "> word\n".repeat(3000));
        assert!(find(&task)[0].what.contains("longer than 16384 bytes"), "{:?}", find(&task));
    }
}
