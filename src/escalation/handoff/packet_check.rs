//! Checks that a packet is clean, by structure and by size (`gates/handoff.toml`).

use std::sync::LazyLock;

use minijinja::context;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::embedded;
use crate::foreign_text::beginning;
use crate::templates::sentences::say;

/// The reason why a packet is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Pollution {
    /// The line that shows it, counted from 1.
    pub line: usize,
    /// The description of the pollution.
    pub what: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PacketRulesFile {
    sections: Vec<String>,
    given: Vec<String>,
    #[expect(dead_code, reason = "read by its own function")]
    checklist: Vec<String>,
    #[expect(dead_code, reason = "read by its own function")]
    checklist_in_doubt: Vec<String>,
    #[expect(dead_code, reason = "read where it is asked for")]
    ruled_out: toml::Table,
    max_bytes: usize,
    max_task_bytes: usize,
    max_block_lines: usize,
    max_part_lines: usize,
    given_most: usize,
    trace: Vec<Trace>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trace {
    name: String,
    pattern: String,
    at_least: usize,
    given_at_least: usize,
    given_pattern: Option<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "what the rules are tested with"))]
    examples: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "what the rules are tested with"))]
    others: Vec<String>,
}

struct PacketRules {
    file: PacketRulesFile,
    /// The patterns of traces, each with the pattern for a part that the author of the task wrote.
    traces: Vec<(Regex, Regex, usize)>,
}

static RULES: LazyLock<PacketRules> = LazyLock::new(|| {
    let file: PacketRulesFile = embedded::table("handoff.toml");
    let compiled = |(at, trace): (usize, &Trace)| {
        let given = trace.given_pattern.as_ref().unwrap_or(&trace.pattern);
        Some((pattern(&trace.pattern)?, pattern(given)?, at))
    };
    let traces = file.trace.iter().enumerate().filter_map(compiled).collect();
    PacketRules { file, traces }
});

fn pattern(text: &str) -> Option<Regex> {
    RegexBuilder::new(text).case_insensitive(true).build().ok()
}

/// Returns everything in `text` that a clean handoff may not contain, in the order of the lines.
pub fn find(text: &str) -> Vec<Pollution> {
    let rules = &*RULES;
    let mut found = Vec::new();
    if text.len() > rules.file.max_bytes {
        let what = say("packet", "large", &context! { bytes => text.len(), most => rules.file.max_bytes });
        found.push(Pollution { line: line_at(text, rules.file.max_bytes), what });
    }
    found.extend(sections(text, &rules.file));
    found.extend(blocks(text, &rules.file));
    let places = places(text, &rules.file);
    for (pattern, in_given, at) in &rules.traces {
        let trace = &rules.file.trace[*at];
        let lines = || text.lines().zip(&places).enumerate();
        let nth = |most: usize, here: &dyn Fn(&LinePosition) -> bool, pattern: &Regex| {
            let shows =
                |(_, (line, place)): &(usize, (&str, &LinePosition))| here(place) && pattern.is_match(plain(line));
            lines().filter(shows).nth(most.checked_sub(1)?).map(|(number, (line, _))| (number, line))
        };
        let told = nth(trace.at_least, &|place| !place.given, pattern);
        let given = nth(trace.given_at_least, &|place| place.given && !place.fenced, in_given);
        let most = if trace.given_at_least == 0 { 0 } else { rules.file.given_most };
        let much = nth(most, &|place| place.given, in_given);
        if let Some((number, line)) = [told, given, much].into_iter().flatten().min() {
            let shown = beginning(plain(line), 80);
            found.push(Pollution {
                line: number + 1,
                what: say("packet", "trace", &context! { name => &trace.name, shown }),
            });
        }
    }
    found.sort_by_key(|pollution| pollution.line);
    found
}

/// Does the same for a task that is to be handed over. The lines are those of the task.
pub fn find_in_task(task: &str) -> Vec<Pollution> {
    let quoted: Vec<String> = task.lines().map(|line| format!("> {line}")).collect();
    let mut found = find(&format!("## Task\n{}", quoted.join("\n")));
    for pollution in &mut found {
        pollution.line = pollution.line.saturating_sub(1).max(1);
    }
    found
}

/// The context of a line.
#[derive(Clone, Copy, Debug, Default)]
struct LinePosition {
    /// `true` if the line is in a part in the words of the task's author.
    given: bool,
    /// `true` if the line is in a fence, including a quoted one.
    fenced: bool,
}

fn places(text: &str, file: &PacketRulesFile) -> Vec<LinePosition> {
    let mut now = LinePosition::default();
    let mut fence: Option<(&str, bool)> = None;
    let place = |line| {
        let quoted = plain(line) != line;
        let mark = fence_mark(plain(line));
        match (fence, mark) {
            // A quoted fence ends with the quote.
            (Some((_, true)), _) if !quoted => fence = None,
            (Some((open, _)), Some(mark)) if open == mark => fence = None,
            (None, Some(mark)) => fence = Some((mark, quoted)),
            _ => {}
        }
        now.fenced = fence.is_some() || mark.is_some();
        if let Some(title) = heading(line).filter(|_| !now.fenced) {
            // What is called otherwise inside a given part is its own business.
            if is_one_of(&title, &file.sections) {
                now.given = is_one_of(&title, &file.given);
            }
        }
        now
    };
    text.lines().map(place).collect()
}

fn fence_mark(line: &str) -> Option<&'static str> {
    ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark))
}

/// Returns the title of a part, in lower case.
fn heading(line: &str) -> Option<String> {
    let title = line.strip_prefix("## ").or_else(|| line.strip_prefix("# "))?;
    Some(title.trim().to_lowercase())
}

fn is_one_of(title: &str, names: &[String]) -> bool {
    names.iter().any(|name| {
        title.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ':']))
    })
}

/// Returns a line without its quote marks.
fn plain(line: &str) -> &str {
    line.strip_prefix("> ").unwrap_or(line)
}

fn line_at(text: &str, byte: usize) -> usize {
    text.as_bytes().iter().take(byte).filter(|&&byte| byte == b'\n').count() + 1
}

/// Returns headings that no part of a packet has, and parts that are too long.
fn sections(text: &str, file: &PacketRulesFile) -> Vec<Pollution> {
    let mut found = Vec::new();
    let (mut in_task, mut task, mut lines) = (None, 0, 0);
    for (at, (line, place)) in text.lines().zip(places(text, file)).enumerate() {
        if let Some(title) = heading(line).filter(|_| !place.fenced) {
            let known = is_one_of(&title, &file.sections);
            if known {
                in_task = title.starts_with("task").then_some(at + 1);
                (task, lines) = (0, 0);
                continue;
            }
            if !place.given {
                let heading = line.trim_start_matches('#').trim();
                found.push(Pollution { line: at + 1, what: say("packet", "heading", &context! { heading }) });
            }
        }
        if let Some(begin) = in_task {
            task += plain(line).len() + 1;
            if task > file.max_task_bytes {
                let what = say("packet", "long_task", &context! { begin, most => file.max_task_bytes });
                found.push(Pollution { line: at + 1, what });
                in_task = None;
            }
        }
        lines += usize::from(!place.given && !line.trim().is_empty());
        if lines == file.max_part_lines + 1 {
            let what = say("packet", "part", &context! { most => file.max_part_lines });
            found.push(Pollution { line: at + 1, what });
            lines += 1;
        }
    }
    found
}

/// Returns quotes and fences that are too long for a signature.
fn blocks(text: &str, file: &PacketRulesFile) -> Vec<Pollution> {
    let most = file.max_block_lines;
    let mut found = Vec::new();
    let mut length = 0;
    for (at, (line, place)) in text.lines().zip(places(text, file)).enumerate() {
        if !place.given && fence_mark(line).is_none() && (place.fenced || line.starts_with('>')) {
            length += 1;
            if length == most + 1 {
                found.push(Pollution { line: at + 1, what: say("packet", "block", &context! { most }) });
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
        let file: PacketRulesFile = embedded::table("handoff.toml");
        assert_eq!(RULES.traces.len(), file.trace.len());
        for trace in &file.trace {
            let given = pattern(trace.given_pattern.as_ref().unwrap_or(&trace.pattern)).unwrap();
            let pattern = pattern(&trace.pattern).unwrap();
            for example in &trace.examples {
                assert!(pattern.is_match(example), "{}: {example}", trace.name);
            }
            for other in &trace.others {
                assert!(!pattern.is_match(other) && !given.is_match(other), "{}: {other}", trace.name);
            }
        }
    }

    #[test]
    fn a_clean_packet_is_clean_and_a_history_is_not() {
        let clean = "# Handoff h1\n\n## Task\n> Make add saturate.\n> - [ ] all of it\n\n## Failing command\n- command: `cargo test`\n> test a ... FAILED\n";
        assert_eq!(find(clean), []);
        let many = "> error: again\n".repeat(41);
        for (more, line, what) in [
            ("## What I did\n- much\n", 10, "is not a part of a handoff"),
            ("User: fix\nAssistant: trying\n", 11, "a turn of a conversation"),
            ("<thinking>\n", 10, "recorded reasoning"),
            ("{\"role\":\"user\"}\n", 10, "a line of a session log"),
            ("Let me see\nI tried this\nWait, no\n", 12, "first person"),
            ("$ a\n$ b\n$ c\n$ d\n", 13, "a shell session"),
            (many.as_str(), 49, "a block has more than 40 lines"),
        ] {
            let found = find(&format!("{clean}{more}"));
            assert_eq!(found.len(), 1, "{more}: {found:?}");
            assert_eq!(found[0].line, line, "{found:?}");
            assert!(found[0].what.contains(what), "{found:?}");
        }
        for more in [
            format!("## Forced context\n{}", "- Attempt: the mock was changed, and it failed again.\n".repeat(300)),
            format!("## Error signature\n{}", "    ERROR worker: assertion failed\n".repeat(500)),
            format!("## Error signature\n~~~\n{}~~~\n", "test a ... FAILED\n".repeat(60)),
            "## Forced context\nYou said:\ntry again\nChatGPT said:\nChanged the mock.\n".to_owned(),
        ] {
            assert_eq!(find(&format!("{clean}{more}")).len(), 1, "{more}");
        }
        let long = format!("{clean}{}", "x".repeat(70_000));
        assert!(find(&long)[0].what.contains("and 65536 are allowed"));
        let task = format!("## Task\n{}", "> word\n".repeat(4000));
        assert!(find(&task)[0].what.contains("longer than 16384 bytes"), "{:?}", find(&task));
    }

    #[test]
    fn a_task_may_speak_of_what_a_transcript_has_and_is_none() {
        let sql = format!("# Schema\n```sql\n{}```\n", "c INT,\n".repeat(60));
        for task in [
            "# Add retry\n\n## Acceptance criteria\n- three retries\n\n## Out of scope\n- caching\n",
            "# Push fails\nSteps:\n\n    $ git init x\n    $ cd x\n    $ git add .\n    $ app push\n\nIt must exit 0.\n",
            sql.as_str(),
            "Implement POST /chat. Example body:\n\n```json\n{\"role\": \"user\", \"content\": \"hi\"}\n```\n",
            "Our parser must accept `\"tool_calls\"` in the answer of the API.\n",
            "Render <thinking> blocks:\n```\n<thinking>a</thinking>\n```\n",
            "I think the login is slow.\n- I tried it on two machines.\n- I will be away on Friday.\n- Let me know.\n",
            "A chat shows\nUser: hi\nAssistant: hello\n",
        ] {
            assert_eq!(find_in_task(task), [], "{task}");
        }
        let log = "{\"type\":\"user\",\"sessionId\":\"a\"}\n";
        for (task, line, what) in [
            ("Fix it.\n<thinking>it was the mock\n".to_owned(), 2, "recorded reasoning"),
            (format!("Fix it.\n{}", log.repeat(3)), 4, "a line of a session log"),
            (format!("Fix it.\n```\n{}```\n", log.repeat(30)), 14, "a line of a session log"),
            ("User: a\nAssistant: b\nUser: c\nAssistant: d\n".to_owned(), 4, "a turn of a conversation"),
            ("⏺ Bash(cargo test)\n<tool_result>\nx\n".to_owned(), 2, "a tool call or its result"),
            ("word\n".repeat(4000), 3277, "longer than 16384 bytes"),
        ] {
            let found = find_in_task(&task);
            assert_eq!(found.len(), 1, "{task}: {found:?}");
            assert!(found[0].line == line && found[0].what.contains(what), "{found:?}");
        }
    }
}
