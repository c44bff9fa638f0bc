//! The scope governor: checks that a request is one task.

use serde::Serialize;
use std::collections::BTreeSet;

use super::clauses::{Clause, ClauseAct};
use super::continuation::words_in;
use super::lookup_results::Findings;
use super::prompt_patterns::PromptPattern;
use super::prompt_text::{NameInPrompt, PromptText};
use super::word_lists::PromptLanguage;

/// One of several tasks in a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TaskInPrompt {
    /// The task in the author's words.
    pub text: String,
    /// The files it would touch, as far as its words name them.
    pub touches: Vec<String>,
}

static ITEM: PromptPattern = PromptPattern::named("task_item");
static INLINE: PromptPattern = PromptPattern::named("inline_item");

/// The most items of a list that are read.
const MAX_ITEMS: usize = 500;

/// Returns the lines of a wish that are items of a list: first byte and byte after the last.
pub(super) fn list_items(wish: &str) -> Vec<(usize, usize)> {
    let items = ITEM.groups_iter(wish).filter_map(|found| found.get(1)).take(MAX_ITEMS);
    let items: Vec<_> = items.map(|text| (text.start, text.end)).collect();
    if items.len() < 2 { Vec::new() } else { items }
}

/// Returns `true` if a list describes what stands in code before it: "`search --invert`:".
pub(super) fn describes_name(reading: &PromptText<'_>, first_item: usize) -> bool {
    let line = reading.text[..first_item].trim_end_matches(|c: char| !c.is_alphanumeric() && c != ':' && c != '`');
    let start = line.rfind('\n').map_or(0, |at| at + 1);
    line.ends_with("`:") && !reading.wish[start..line.len()].contains(char::is_alphabetic)
}

/// Returns the items of the outermost list that ask for something: "keep the order" and "do not touch a.rs" are bounds.
fn top_items(wish: &str, language: PromptLanguage) -> Vec<(usize, usize)> {
    let items = list_items(wish);
    let indent = |start: usize| {
        let line = &wish[wish[..start].rfind('\n').map_or(0, |at| at + 1)..start];
        line.len() - line.trim_start().len()
    };
    let outer = items.iter().map(|item| indent(item.0)).min().unwrap_or_default();
    let is_bound = |text: &str| {
        ["says.protects", "says.negation", "says.ensures"].iter().any(|key| language.begins(key, text).is_some())
    };
    let top: Vec<_> =
        items.into_iter().filter(|&(start, end)| indent(start) <= outer + 1 && !is_bound(&wish[start..end])).collect();
    if top.len() < 2 { Vec::new() } else { top }
}

/// Returns the spans of the tasks, when there are several.
pub(super) fn tasks(
    reading: &PromptText<'_>,
    language: PromptLanguage,
    findings: &Findings,
    clauses: &[Clause],
) -> Vec<(usize, usize)> {
    let wish = reading.wish.as_str();
    let items = top_items(wish, language);
    if !items.is_empty() {
        let first = list_items(wish).first().map_or(items[0].0, |first| first.0);
        let before = wish[..first].lines().rev().find(|line| line.chars().any(char::is_alphabetic)).unwrap_or_default();
        let after = &wish[items.last().map_or(0, |item| item.1)..];
        let criteria = describes_name(reading, first)
            || language.has("says.criteria", before)
            || language.has("says.expected", after)
            || clauses.first().is_some_and(|clause| clause.is_question() && clause.start < items[0].0);
        let is_task = |&(start, end): &(usize, usize)| {
            let inner = clauses.iter().filter(|clause| clause.start < end && clause.end > start);
            let acts = inner.into_iter().any(|clause| clause.act.is_some_and(|act| act != ClauseAct::Question));
            acts || wish[start..end].contains("->") || wish[start..end].contains('→')
        };
        let requested =
            before.is_empty() || ["says.requests", "says.announces"].iter().any(|key| language.has(key, before));
        if requested && !criteria {
            return items;
        }
        let real: Vec<_> = items.iter().copied().filter(is_task).collect();
        return if !criteria && real.len() * 2 > items.len() && real.len() > 1 { items } else { Vec::new() };
    }
    let marks: Vec<_> = INLINE.find_iter(wish).map(|hit| (hit.start, hit.end)).collect();
    let asks = clauses.first().is_some_and(Clause::is_question);
    if marks.len() > 1 && !asks && !language.has("says.criteria", &wish[..marks[0].0]) {
        let ends = marks.iter().skip(1).map(|mark| mark.0).chain([wish.len()]);
        return marks.iter().zip(ends).map(|(mark, end)| (mark.1, end)).collect();
    }
    let found = [announced(wish, language, clauses), statements(reading, language, findings, clauses)];
    let found = found.into_iter().find(|tasks| !tasks.is_empty());
    found.unwrap_or_else(|| chain(wish, language, clauses))
}

/// The fewest statements that are several tasks, and the fewest after an announcement such as "Feedback:".
const MIN_STATEMENTS: usize = 3;
const MIN_ANNOUNCED_STATEMENTS: usize = 2;
/// The most words of the thing that a statement is about.
const MAX_SUBJECT_WORDS: usize = 5;

/// Wishes about things in different files side by side: "the sidebar should …, Users needs …, and the limit can …".
fn statements(
    reading: &PromptText<'_>,
    language: PromptLanguage,
    findings: &Findings,
    clauses: &[Clause],
) -> Vec<(usize, usize)> {
    let wish = reading.wish.as_str();
    let text = |clause: &Clause| &wish[clause.start..clause.end];
    let head = clauses.first().filter(|clause| clause.act.is_none() && text(clause).trim_end().ends_with([':', '：']));
    let parts: Vec<&Clause> = clauses[usize::from(head.is_some()).min(clauses.len())..]
        .iter()
        .filter(|clause| words_in(text(clause)) > 1)
        .collect();
    let within = |name: &&NameInPrompt| parts.iter().any(|part| part.start <= name.start && name.end <= part.end);
    let found = reading.names.iter().filter(within).filter_map(|name| findings.names.get(&name.text));
    let files: BTreeSet<&String> = found.filter(|found| found.exact).filter_map(|found| found.places.first()).collect();
    let mut subjects: Vec<String> = parts.iter().filter_map(|part| subject(reading, language, part)).collect();
    subjects.sort_unstable();
    subjects.dedup();
    let begins = head.is_some() || parts.first().is_some_and(|first| subject(reading, language, first).is_some());
    let fewest = if head.is_some() { MIN_ANNOUNCED_STATEMENTS } else { MIN_STATEMENTS };
    if !begins
        || files.len() < fewest
        || subjects.len() < fewest
        || parts.len() < MIN_STATEMENTS
        || subjects.len() * 2 < parts.len()
    {
        return Vec::new();
    }
    parts.iter().map(|part| (part.start, part.end)).collect()
}

/// Returns the thing of which a clause says what it should do.
fn subject(reading: &PromptText<'_>, language: PromptLanguage, clause: &Clause) -> Option<String> {
    if clause.is_constraint || clause.is_question() {
        return None;
    }
    let (at, _) = language.spans("says.obliges", &reading.wish[clause.start..clause.end]).first().copied()?;
    let said = reading.text[clause.start..clause.start + at].trim().to_lowercase();
    let is_pointer = ["says.pointers", "says.triggers"].iter().any(|key| language.begins(key, &said).is_some());
    (!is_pointer && (1..=MAX_SUBJECT_WORDS).contains(&words_in(&said))).then_some(said)
}

/// The parts after "three things:", and the sentences after "Three things for this week."
fn announced(wish: &str, language: PromptLanguage, clauses: &[Clause]) -> Vec<(usize, usize)> {
    let Some(&(_, end)) = language.spans("says.announces", wish).first() else { return Vec::new() };
    if !wish[end..].trim_start().starts_with([':', '：']) {
        let numbered = numbered_sentences(wish, language, end);
        return if numbered.is_empty() { plain_sentences(wish, language, clauses, end) } else { numbered };
    }
    let parts = clauses.iter().filter(|clause| clause.start > end && !clause.is_constraint);
    let parts: Vec<_> = parts.map(|clause| (clause.start, clause.end)).collect();
    if parts.len() < 2 { Vec::new() } else { parts }
}

/// The sentences, and the parts after commas, that begin with "first", "second" and so on after an announcement.
fn numbered_sentences(wish: &str, language: PromptLanguage, from: usize) -> Vec<(usize, usize)> {
    let mut starts: Vec<usize> =
        wish[from..].match_indices(['.', '!', '\n', ';', ',', ' ']).map(|(at, _)| from + at + 1).collect();
    starts.retain(|start| begins_part(&wish[..*start]) || goes_on_with_and(wish, *start));
    starts.retain(|start| language.begins("says.ordinals", wish[*start..].trim_start()).is_some());
    let ends = starts.iter().copied().skip(1).chain([wish.len()]);
    let sentences: Vec<_> = starts.iter().copied().zip(ends).collect();
    if sentences.len() < 2 { Vec::new() } else { sentences }
}

/// Returns `true` for the text before a sentence, or before a part after a comma.
fn begins_part(before: &str) -> bool {
    before.ends_with(['.', '!', '\n', ';', ','])
}

/// Returns `true` for "and finally" inside a part.
fn goes_on_with_and(wish: &str, at: usize) -> bool {
    let begins = ["and ", "y ", "und ", "et ", "e "].iter().any(|word| wish[at..].starts_with(word));
    begins && !begins_part(wish[..at].trim_end())
}

/// The sentences after an announcement, if each asks for something.
fn plain_sentences(wish: &str, language: PromptLanguage, clauses: &[Clause], from: usize) -> Vec<(usize, usize)> {
    let Some(rest) = wish[from..].strip_prefix('.') else { return Vec::new() };
    let mut start = wish.len() - rest.len();
    let mut sentences = Vec::new();
    for sentence in rest.split_inclusive(". ") {
        sentences.push((start, start + sentence.len()));
        start += sentence.len();
    }
    let asks = |&(start, end): &(usize, usize)| {
        let mut inner = clauses.iter().filter(|clause| start <= clause.start && clause.start < end);
        inner.any(|clause| clause.act.is_some()) || language.has("says.obliges", &wish[start..end])
    };
    if sentences.len() < 2 || !sentences.iter().all(asks) { Vec::new() } else { sentences }
}

/// An act and its first object, when others follow.
const MAX_FIRST_WORDS: usize = 6;
const JOINING: [&str; 9] = [" and", " y", " e", " und", " et", "plus", "和", " oder", " or"];

/// Acts that are joined by commas and conjunctions, and the objects of one act that are.
fn chain(wish: &str, language: PromptLanguage, clauses: &[Clause]) -> Vec<(usize, usize)> {
    let acts: Vec<&Clause> = clauses
        .iter()
        .filter(|clause| {
            // "If they are missing, add them" is a case of what is asked for.
            matches!(clause.act, Some(ClauseAct::Create | ClauseAct::Precise | ClauseAct::Vague))
                && !clause.is_tied
                && !is_case(wish, language, clause)
        })
        .collect();
    if acts.len() >= 3 {
        return acts.iter().map(|clause| (clause.start, clause.end)).collect();
    }
    if let [first, last] = acts.as_slice() {
        let objects = clauses.iter().filter(|clause| {
            let between = first.end <= clause.start && clause.end <= last.start;
            between && is_second_object(wish, language, clause)
        });
        let objects: Vec<_> = objects.map(|clause| (clause.start, clause.end)).collect();
        let is_list = first.act == Some(ClauseAct::Create) && objects.len() == 1;
        let all = || [(first.start, first.end)].into_iter().chain(objects.clone()).chain([(last.start, last.end)]);
        return if is_list { all().collect() } else { Vec::new() };
    }
    let needs = clauses.first().filter(|first| acts.is_empty() && states_need(wish, language, first));
    let Some(only) = acts.first().copied().or(needs) else { return Vec::new() };
    let text = &wish[only.start..only.end];
    let is_other = only.act != Some(ClauseAct::Create) && needs.is_none();
    if is_other || acts.len() > 1 || ["says.conditions", "says.details"].iter().any(|key| language.has(key, text)) {
        return Vec::new();
    }
    // "Make a page. It should have a list and a button." describes one thing.
    let describes = |clause: &Clause| begins_sentence(wish, language, clause, &["says.behaviour", "says.explains"]);
    // "Write a.md: compare x, y and z" lists what is compared.
    let is_of_another = |clause: &&Clause| matches!(clause.act, Some(ClauseAct::Review | ClauseAct::Question));
    let later = clauses.iter().filter(|clause| clause.start >= only.end);
    let after =
        later.take_while(|clause| !is_of_another(clause)).filter(|clause| !describes(clause)).collect::<Vec<_>>();
    // "I want login, roles, permissions and an admin panel" lists parts of a program in single words.
    let fewest = if lists_wishes(wish, language, only, &after) { 1 } else { 2 };
    let objects = |clause: &&&Clause| {
        clause.act.is_none()
            && !clause.is_constraint
            && !language.has("acts.test", &wish[clause.start..clause.end])
            && wish[clause.start..clause.end].split_whitespace().count() >= fewest
    };
    let conjoined = |clause: &&&Clause| ends_with_joiner(&wish[..clause.start]);
    let mut found: Vec<_> =
        after.iter().filter(objects).filter(conjoined).map(|clause| (clause.start, clause.end)).collect();
    if found.len() < 2 {
        let listed: Vec<_> = after.iter().take_while(objects).map(|clause| (clause.start, clause.end)).collect();
        found = if is_list(wish, language, only, &listed) { listed } else { Vec::new() };
    }
    if found.len() < 2 { Vec::new() } else { [(only.start, only.end)].into_iter().chain(found).collect() }
}

/// Returns `true` for the "and an admin panel" of "add a limit and an admin panel and export the stations".
fn is_second_object(wish: &str, language: PromptLanguage, clause: &Clause) -> bool {
    let text = &wish[clause.start..clause.end];
    clause.act.is_none()
        && !clause.is_tied
        && !clause.is_constraint
        && ends_with_joiner(&wish[..clause.start])
        && language.begins("says.new", text.trim_start()).is_some()
        && !language.has("acts.test", text)
        && !language.has("says.companions", &format!("and {}", text.trim_start()))
}

/// The fewest things after the first that are parts of a program, and not fields of one thing.
const MIN_WISHES: usize = 2;

/// Returns `true` for a wish for many things that names no place: "in the response" would make them its fields.
fn lists_wishes(wish: &str, language: PromptLanguage, only: &Clause, after: &[&Clause]) -> bool {
    let text = &wish[only.start..after.last().map_or(only.end, |last| last.end)];
    let is_wish = language.begins("says.wishes", text.trim_start()).is_some() || states_need(wish, language, only);
    (is_wish || names_features(wish, language, only, after))
        && after.len() >= MIN_WISHES
        && text.split_whitespace().all(|word| language.spans("says.places", word).is_empty())
}

/// Returns `true` for "dark mode, roles and alerts", which names nothing but features.
fn names_features(wish: &str, language: PromptLanguage, only: &Clause, after: &[&Clause]) -> bool {
    let is_feature = |clause: &Clause| language.begins("says.features", wish[clause.start..].trim_start()).is_some();
    is_feature(only) && after.iter().any(|clause| is_feature(clause))
}

/// Returns `true` for "the dashboard needs notifications".
fn states_need(wish: &str, language: PromptLanguage, clause: &Clause) -> bool {
    clause.act.is_none() && !clause.is_constraint && language.has("says.needs", &wish[clause.start..clause.end])
}

/// Returns `true` for a clause that is a condition, what follows from one, or says how something behaves: "it should
/// accept a list", "this will be used in the invoice".
fn is_case(wish: &str, language: PromptLanguage, clause: &Clause) -> bool {
    const KEYS: [&str; 3] = ["says.triggers", "says.behaviour", "says.explains"];
    let starts = &wish[clause.start..];
    begins_sentence(wish, language, clause, &["says.triggers", "says.explains"])
        || KEYS.iter().any(|key| language.begins(key, without_marks(starts)).is_some())
}

/// Returns `true` if the sentence that a clause belongs to begins with an entry of one of the lists.
fn begins_sentence(wish: &str, language: PromptLanguage, clause: &Clause, keys: &[&str]) -> bool {
    let sentence = wish[..clause.start].rfind(['.', '!', '?', '\n', ';', '。', '；']).map_or(0, |at| at + 1);
    keys.iter().any(|key| language.begins(key, without_marks(&wish[sentence..])).is_some())
}

fn without_marks(text: &str) -> &str {
    text.trim_start_matches([' ', ',', '，', '。', '；', '.', ';'])
}

fn ends_with_joiner(text: &str) -> bool {
    JOINING.iter().any(|word| text.trim_end().ends_with(word))
}

/// Returns `true` for "add coupons, a wishlist, reviews and a dashboard"; "the fields a, b and c" is one thing.
fn is_list(wish: &str, language: PromptLanguage, only: &Clause, objects: &[(usize, usize)]) -> bool {
    let first = &wish[only.start..only.end];
    let [between @ .., _] = objects else { return false };
    first.trim_end().ends_with(',')
        && first.split_whitespace().count() <= MAX_FIRST_WORDS
        && !language.has("says.criteria", first)
        && between.last().is_some_and(|&(_, end)| ends_with_joiner(&wish[..end]))
        && between.iter().rev().skip(1).all(|&(_, end)| wish[..end].trim_end().ends_with(','))
}
