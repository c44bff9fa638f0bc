//! The seven smells: a phrase in the author's wish leaves something open, and that is in fact missing.

use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use super::clauses::Clause;
use super::prompt_text::{NameKind, PromptText};
use super::word_lists::{self, PromptLanguage};

/// A smell in a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Smell {
    /// The kind of smell.
    pub id: &'static str,
    /// The first byte of the phrase in the prompt.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// The phrase.
    pub text: String,
    /// The question that turns it into something definite.
    pub question: String,
}

/// The ids, in the order of the questions they raise.
pub(super) const SMELLS: [&str; 7] = [
    "total_system",
    "bug_without_reproduction",
    "performance_without_metric",
    "vague_improvement",
    "implicit_context",
    "magic_words",
    "scope_creep",
];

pub(super) static METRIC: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:<|>|≤|≥|under|below|less than|within|at most|from|bajo|menos de|por debajo de|unter|moins de|menos que|de)?\s*\d[\d.,]*\s*(?:ms|s|sec\w*|seg\w*|min\w*|sekunden|%|x|kb|mb|gb|rps|req/s|qps|fps|times|veces|rows?|hours?|h)\b").ok()
});
static CONCRETE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)\b[1-5]\d\d\b|\b\w+(?:Error|Exception)\b|"[^"\n]*"|`[^`\n]+`|'[^'\n]*'|«[^»]*»|\b(?:null|none|nil|undefined|true|false|nan)\b|\[\]|->|→|\bexit (?:code|status) \d|\(\S*\)|\b\d+(?:\.\d+)?\b"#).ok()
});

/// Returns `true` if the text has a number with a unit.
pub(super) fn has_metric(text: &str) -> bool {
    METRIC.as_ref().is_some_and(|metric| metric.is_match(text))
}

/// Returns the number of concrete values in a text.
pub(super) fn concrete(text: &str) -> usize {
    CONCRETE.as_ref().map_or(0, |concrete| concrete.find_iter(text).count())
}

/// Returns the smells of a prompt, in the order of the text.
pub(super) fn smells(
    reading: &PromptText<'_>,
    language: PromptLanguage,
    clauses: &[Clause],
    previous: Option<&str>,
) -> Vec<Smell> {
    let mut found: Vec<Smell> = Vec::new();
    let wish = reading.wish.as_str();
    for id in SMELLS {
        for (start, end) in word_lists::spans(&format!("smells.{id}"), wish) {
            let inside_name = reading.explicit().any(|name| name.start <= start && end <= name.end);
            let clause = clauses.iter().find(|clause| clause.start <= start && start < clause.end);
            let negated = clause.is_some_and(|clause| clause.is_constraint) || is_negated(wish, start);
            let asked = clause.is_some_and(Clause::is_question);
            if inside_name
                || negated
                || (asked && id != "bug_without_reproduction")
                || !is_open(id, start, end, reading, language, clause, previous)
            {
                continue;
            }
            let text = reading.text[start..end].to_owned();
            found.push(Smell { id, start, end, text, question: String::new() });
        }
    }
    // "Fix the slow query bug" is one complaint.
    found.sort_by_key(|smell| smell.start);
    found
}

/// Returns `true` if a negation or a mention is just before the phrase.
fn is_negated(wish: &str, start: usize) -> bool {
    static BEFORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)(?:\b(?:don't|do not|dont|never|not|no need to|without|rather than|instead of|stop|nothing|no|sin|nunca|en vez de|nicht|ohne|kein\w*|ne|sans|não|sem|nem|ni|called|named|llamad[oa])\s+(?:\S+\s+)?|(?:do|does|am|is|are|'m|'re) ?n[o'’]t (?:ask\w*|look\w*|interested|want\w*|need\w*|about|trying|mean\w*|meant)(?: \S+){0,3}\s|not (?:ask\w*|look\w*|want\w*|need\w*|about|trying|meant)(?: \S+){0,3}\s|no (?:quiero|pido|necesito|busco|se trata de|hace falta)(?: \S+){0,3}\s|不要|别|不是要|无需|不用)$").ok()
    });
    let before = &wish[wish[..start].floor_char_boundary(start.saturating_sub(40))..start];
    BEFORE.as_ref().is_some_and(|regex| regex.is_match(before))
}

fn is_open(
    id: &str,
    start: usize,
    end: usize,
    reading: &PromptText<'_>,
    language: PromptLanguage,
    clause: Option<&Clause>,
    previous: Option<&str>,
) -> bool {
    let wish = reading.wish.as_str();
    let text = reading.text;
    let expected = language.has("says.expected", wish);
    let conditional = language.has("says.conditions", &wish[clause.map_or(0, |clause| clause.start)..]);
    match id {
        "performance_without_metric" => !has_metric(text),
        "vague_improvement" => {
            let rest = &text[end.min(text.len())..];
            let sentence = &wish[start..wish[start..].find(['.', '\n']).map_or(wish.len(), |length| start + length)];
            let defined = rest.contains(':')
                || rest.contains("->")
                || rest.contains('→')
                || language.has("says.definitions", sentence);
            !has_metric(text) && !defined && concrete(rest) <= 1
        }
        "bug_without_reproduction" => {
            let steps = !super::task_scope::list_items(wish).is_empty();
            let quoted = concrete(text) > 0
                && (expected || language.has("says.values", wish) || text.contains('`') || text.contains('"'));
            !reading.has_trace && !steps && !text.contains("```") && !quoted && concrete(text) < 2
        }
        "magic_words" => {
            let triggered = language.has("says.conditions", &wish[..start]);
            let mechanism = wish[start..end].to_lowercase().starts_with("auto") && triggered;
            !conditional || (concrete(text) == 0 && !mechanism)
        }
        "implicit_context" => {
            let named = reading.explicit().any(|name| {
                matches!(name.kind, NameKind::Path | NameKind::Identifier) && name.start >= end && name.start < end + 20
            });
            previous.is_none() && !named
        }
        "total_system" => {
            let act = clause.is_none_or(|clause| !clause.is_run());
            let rest = wish[end..].trim_start();
            act && !["else", "in ", "under ", "except", "from ", "that ", "below ", "above ", "after ", "before "]
                .iter()
                .any(|word| rest.starts_with(word))
                && !wish[start..end].to_lowercase().contains("tests")
        }
        _ => true,
    }
}
