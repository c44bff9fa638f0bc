//! The seven smells: a phrase in the author's wish leaves something open, and that is in fact missing.

use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use super::clauses::{Clause, ClauseAct};
use super::concrete_values::{concrete, has_metric};
use super::continuation::words_in;
use super::prompt_text::{NameKind, PromptText, own_regex};
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
    "total_system", "bug_without_reproduction", "performance_without_metric", "vague_improvement", "implicit_context",
    "magic_words", "scope_creep",
];

/// The smells that a pasted result answers.
const SOLVED: [&str; 3] = ["performance_without_metric", "vague_improvement", "magic_words"];

/// The fewest words of a request that tells how it came about.
const MIN_LONG_WORDS: usize = 50;

/// The most phrases of one kind that are looked at.
const MAX_OF_KIND: usize = 50;

/// Returns the smells of a prompt, in the order of the text.
pub(super) fn smells(
    reading: &PromptText<'_>,
    language: PromptLanguage,
    clauses: &[Clause],
    previous: Option<&str>,
) -> Vec<Smell> {
    let mut found: Vec<Smell> = Vec::new();
    let wish = reading.wish.as_str();
    let is_long = words_in(wish) >= MIN_LONG_WORDS;
    for id in SMELLS {
        for (start, end) in word_lists::spans(&format!("smells.{id}"), wish).into_iter().take(MAX_OF_KIND) {
            let inside_name = reading.explicit().any(|name| name.start <= start && end <= name.end);
            let clause = clauses.iter().find(|clause| clause.start <= start && start < clause.end);
            let is_definite_wish = wants_elsewhere(start, clauses);
            let is_bound =
                clause.is_some_and(|clause| clause.is_constraint && is_beside_a_wish(clause, wish, language, clauses));
            let negated = is_bound || is_negated(wish, start);
            let asked = clause.is_some_and(|clause| {
                clause.is_question() && language.begins("says.favours", wish[clause.start..].trim_start()).is_none()
            });
            // "Look for places where the body gets lost" and "are there any problems with the lock?" seek a defect.
            let is_sought = id == "bug_without_reproduction"
                && clause.is_some_and(|clause| {
                    (clause.act == Some(ClauseAct::Review) && start > clause.start + MAX_TO_DEFECT)
                        || language.has("says.seeks", &wish[clause.start.min(start)..start])
                });
            // "Review src/a.rs and suggest improvements" asks for a list of them.
            let is_product = id == "vague_improvement"
                && wish[start..end].ends_with('s')
                && reading.explicit().next().is_some()
                && clauses.iter().any(|other| other.act == Some(ClauseAct::Review) && other.start <= start);
            // "I did a rework of the parser" and "the cleanup" name a thing.
            let is_thing = id == "vague_improvement" && language.ends("says.owners", &wish[..start]);
            // "A quick access to the last orders" and "the fast path" name a thing, too.
            let is_quick_thing = id == "performance_without_metric"
                && language.spans("says.quick_things", wish).iter().any(|&(from, to)| from <= start && end <= to);
            // "Implement Falla" is no Spanish complaint.
            let is_foreign = is_word_of_another_language(&format!("smells.{id}"), (start, end), wish, language);
            // `strip-and-polish` is a name.
            let is_part = wish[..start].strip_suffix('-').is_some_and(|text| text.ends_with(char::is_alphanumeric));
            // "Let's make it faster. Here is the new version: ..." brings the result along.
            let is_solved = reading.has_paste && SOLVED.contains(&id) && language.has("says.solutions", wish);
            // A long request tells first how it came about.
            let is_background = is_long
                && clause.is_some_and(|clause| clause.act.is_none())
                && (is_definite_wish || clauses.iter().any(Clause::is_question));
            if inside_name
                || is_thing
                || is_quick_thing
                || is_foreign
                || is_part
                || is_solved
                || is_background
                || is_product
                || negated
                || (asked && id != "bug_without_reproduction")
                || is_sought
                || !is_open(id, (start, end), reading, language, (clause, clauses), is_definite_wish, previous)
            {
                continue;
            }
            let text = reading.text[start..end].to_owned();
            found.push(Smell { id, start, end, text, question: String::new() });
        }
    }
    found.extend(complaint(reading, language, clauses, &found));
    found.extend(empty_predicate(reading, &found));
    found.sort_by_key(|smell| smell.start);
    without_repetition(reading.text, found, clauses)
}

/// Returns `true` for one capital word, inside a sentence, that is an entry of other languages only.
fn is_word_of_another_language(key: &str, (start, end): (usize, usize), wish: &str, language: PromptLanguage) -> bool {
    let is_inside = wish[..start].trim_end().ends_with(|c: char| c.is_alphanumeric());
    is_inside
        && wish[start..].starts_with(char::is_uppercase)
        && !wish[start..end].contains(char::is_whitespace)
        && language.spans(key, wish).iter().all(|&(from, to)| to <= start || end <= from)
}

/// Returns `true` for a clause that bounds the wish of another, and for one that forbids something.
fn is_beside_a_wish(clause: &Clause, wish: &str, language: PromptLanguage, clauses: &[Clause]) -> bool {
    clauses.iter().any(|other| !other.is_constraint) || language.has("says.negation", &wish[clause.start..clause.end])
}

/// The bytes between "review" and a defect that it should find.
const MAX_TO_DEFECT: usize = 16;

/// The fewest words after a dash that say what is seen.
const MIN_SEEN_WORDS: usize = 4;

/// The most words of a prompt that is nothing but a complaint.
const MAX_COMPLAINT_WORDS: usize = 12;

/// Returns the complaint of a prompt that requests nothing definite: "the list does not scroll".
fn complaint(reading: &PromptText<'_>, language: PromptLanguage, clauses: &[Clause], found: &[Smell]) -> Option<Smell> {
    let id = "bug_without_reproduction";
    let wish = reading.wish.as_str();
    if !found.is_empty() || clauses.iter().any(is_definite) || language.has("says.expected", wish) {
        return None;
    }
    // Later sentences explain, and a long request has a wish that the lists do not know.
    let first = clauses.first().filter(|_| wish.split_whitespace().count() <= MAX_COMPLAINT_WORDS)?;
    let (start, end) = language.spans("says.complaints", &wish[..first.end]).into_iter().find(|&(start, end)| {
        let inside_name = reading.explicit().any(|name| name.start < end && start < name.end);
        !inside_name
            && !first.is_constraint
            && !language.has("says.triggers", &wish[first.start.min(start)..start])
            && !goes_on_despite(wish, (start, end), language)
            && is_open(id, (start, end), reading, language, (Some(first), clauses), false, None)
    })?;
    Some(Smell { id, start, end, text: reading.text[start..end].to_owned(), question: String::new() })
}

/// Returns `true` for "the job keeps going even if a day fails", which says what is wanted.
fn goes_on_despite(wish: &str, (start, end): (usize, usize), language: PromptLanguage) -> bool {
    language.begins("says.goes_well", &wish[start..]).is_some()
        && language.begins("says.concessions", wish[end..].trim_start()).is_some()
}

/// Returns the end of a statement that says nothing definite about its subject: "`parse` should be robust".
fn empty_predicate(reading: &PromptText<'_>, found: &[Smell]) -> Option<Smell> {
    let wish = reading.wish.as_str();
    if !found.is_empty() {
        return None;
    }
    let sentence = |at: usize| reading.text[..at].rfind(['.', '!', '?', '\n', ';']).map_or(0, |before| before + 1);
    let is_concrete = |(start, end): (usize, usize)| concrete(&reading.text[sentence(start)..end]) > 0;
    let is_end =
        |end: usize| wish[end..].trim_start().is_empty() || wish[end..].starts_with(['.', ',', ';', '!', '\n']);
    let predicates = word_lists::spans("says.empty_predicates", wish);
    let (start, end) = predicates
        .into_iter()
        .find(|&(start, end)| is_end(end) && !is_negated(wish, start) && !is_concrete((start, end)))?;
    Some(Smell {
        id: "vague_improvement",
        start,
        end,
        text: reading.text[start..end].to_owned(),
        question: String::new(),
    })
}

/// Returns `true` if another clause than the one at `start` says what should be done.
fn wants_elsewhere(start: usize, clauses: &[Clause]) -> bool {
    let is_other = |clause: &&Clause| !(clause.start <= start && start < clause.end);
    let mut others = clauses.iter().filter(is_other);
    others.any(|clause| matches!(clause.act, Some(ClauseAct::Precise | ClauseAct::Create)))
}

/// Returns `true` for a clause that requests something other than a repair.
fn is_definite(clause: &Clause) -> bool {
    !matches!(clause.act, None | Some(ClauseAct::Vague | ClauseAct::Review))
}

/// Joins the phrases of one kind in one clause. A slow thing that should be better should be faster.
fn without_repetition(text: &str, found: Vec<Smell>, clauses: &[Clause]) -> Vec<Smell> {
    let mut kept: Vec<Smell> = Vec::new();
    let all = found.clone();
    let speed: Vec<_> = found.iter().filter(|smell| smell.id == "performance_without_metric").cloned().collect();
    for smell in found {
        let is_speed = smell.id == "vague_improvement"
            && speed.iter().any(|other| other.start < smell.end && smell.start < other.end);
        let is_inside = !["total_system", "performance_without_metric"].contains(&smell.id)
            && all.iter().any(|other| {
                other.id != smell.id
                    && other.start <= smell.start
                    && smell.end <= other.end
                    && smell.end - smell.start < other.end - other.start
            });
        let of_clause = |at: usize| clauses.partition_point(|clause| clause.start <= at);
        let same =
            kept.iter_mut().find(|other| other.id == smell.id && of_clause(other.start) == of_clause(smell.start));
        match same {
            Some(other) => {
                other.end = other.end.max(smell.end);
                text[other.start..other.end].clone_into(&mut other.text);
            }
            None if !is_speed && !is_inside => kept.push(smell),
            None => {}
        }
    }
    kept
}

/// The bytes between "which makes" and what it makes.
const MAX_TO_CONSEQUENCE: usize = 40;

/// The words between "if" and what would go wrong.
const MAX_CASE_WORDS: usize = 3;

/// The bytes in which the examples before "etc" are looked for.
const MAX_TO_EXAMPLES: usize = 60;

/// The bytes between "as we did" and the name of the place.
const MAX_TO_REMEMBERED: usize = 20;

/// The bytes between "everything" and the place that bounds it: "everything in the folder src/".
const MAX_TO_PLACE: usize = 24;

/// Returns `true` for "rename a to b" at the end of a text.
fn is_renamed_to(text: &str, language: PromptLanguage) -> bool {
    let Some((_, end)) = language.spans("says.renames", text).last().copied() else { return false };
    let words: Vec<&str> = text[end..].split_whitespace().collect();
    let leads = |word: &str| word_lists::spans("says.leads_to", word).contains(&(0, word.len()));
    matches!(words.as_slice(), [_, word, _, ..] if leads(word))
}

/// The bytes before a phrase in which its negation or mention begins.
const MAX_TO_NEGATED: usize = 60;

/// Returns `true` if a negation or a mention is just before the phrase.
fn is_negated(wish: &str, start: usize) -> bool {
    static BEFORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        own_regex(
            r"(?i)(?:\b(?:don't|do not|dont|never|not|no need to|(?:forgot|forgotten|failed|tried|managed|had|used) to|without|rather than|instead of|stop|nothing|no|sin|nunca|en vez de|nicht|ohne|kein\w*|ne|sans|não|sem|nem|ni|called|named|llamad[oa])\s+(?:\S+\s+)?|\b(?:mark|tag|label|flag|annotate|marca|etiqueta|markiere?|marque|marca[rz]?)\w*\s+(?:\S+\s+){1,6}(?:as|como|als|comme)\s+(?:an? )?|(?:do|does|am|is|are|'m|'re) ?n[o'’]t (?:ask\w*|look\w*|interested|want\w*|need\w*|about|trying|mean\w*|meant)(?: \S+){0,3}\s|not (?:ask\w*|look\w*|want\w*|need\w*|about|trying|meant)(?: \S+){0,3}\s|no (?:quiero|pido|necesito|busco|se trata de|hace falta)(?: \S+){0,3}\s|不要|别|不是要|无需|不用)$",
        )
    });
    let before = &wish[wish[..start].floor_char_boundary(start.saturating_sub(MAX_TO_NEGATED))..start];
    let before = before.rsplit(['.', '!', '?', ';', '\n', '。']).next().unwrap_or_default();
    BEFORE.as_ref().is_some_and(|regex| regex.is_match(before))
}

/// Returns `true` if nothing says what an improvement would be.
fn is_undefined(
    (start, end): (usize, usize),
    reading: &PromptText<'_>,
    language: PromptLanguage,
    is_definite_wish: bool,
) -> bool {
    let (wish, text) = (reading.wish.as_str(), reading.text);
    let rest = &text[end.min(text.len())..];
    let sentence = &wish[start..wish[start..].find(['.', '\n']).map_or(wish.len(), |length| start + length)];
    let defined =
        rest.contains(':') || rest.contains("->") || rest.contains('→') || language.has("says.definitions", sentence);
    // "`x()` is called twice, which makes the output confusing" says what is wrong.
    let is_consequence = concrete(&text[..start]) > 0
        && language
            .spans("says.consequences", &wish[..start])
            .last()
            .is_some_and(|(_, said)| start - said <= MAX_TO_CONSEQUENCE && !wish[*said..start].contains(['.', '\n']));
    // "It runs nicely. Add a port." says how it is today.
    let is_praise = is_definite_wish && language.spans("says.praises", wish).iter().any(|&(_, praised)| praised == end);
    // "A pretty page. It should have a button and a list."
    let is_detailed = language.has("says.contents", &wish[end..]);
    !has_metric(text) && !defined && !is_detailed && !is_consequence && !is_praise && concrete(rest) <= 1
}

/// The most words between "if" and a failure: "if the third upload fails".
const MAX_CONDITION_WORDS: usize = 3;

/// Returns `true` for a failure that is the condition of an instruction: "retry if it fails", "if it fails don't load".
fn is_condition(
    (sentence, start, end): (usize, usize, usize),
    reading: &PromptText<'_>,
    clause: Option<&Clause>,
) -> bool {
    let (wish, any) = (reading.wish.as_str(), PromptLanguage::ANY);
    let Some(trigger) = any.spans("says.triggers", &wish[sentence..start]).pop() else { return false };
    let between = &wish[sentence + trigger.1..start];
    if words_in(between) > MAX_CONDITION_WORDS || between.contains(',') {
        return false;
    }
    let before = wish[sentence..sentence + trigger.0].trim();
    let begins_with_name = reading.explicit().any(|name| wish[sentence..name.start].trim().is_empty());
    let tells = any.begins("says.subjects", before).is_some() || any.has("says.predicates", before) || begins_with_name;
    let repairs = clause.is_some_and(|clause| matches!(clause.act, Some(ClauseAct::Vague | ClauseAct::Review)));
    let rest = wish[end..].split(['.', '!', '?', '\n']).next().unwrap_or_default();
    let forbids = ["says.negation", "says.protects"].iter().any(|key| any.has(key, rest));
    words_in(before) > 1 && !tells && !repairs || before.is_empty() && forbids
}

/// Returns `true` for a failure that a test or a message states, and for an error that is a value: "a test that checks
/// that it fails", "wrap the error of `open`".
fn is_stated((sentence, start, end): (usize, usize, usize), wish: &str) -> bool {
    let stated = PromptLanguage::ANY.spans("says.states_failure", &wish[sentence..end]);
    stated
        .into_iter()
        .map(|(from, to)| (sentence + from, sentence + to))
        .any(|(from, to)| from <= start && (to > start || wish[to..start].chars().any(char::is_alphanumeric)))
}

fn is_open(
    id: &str,
    (start, end): (usize, usize),
    reading: &PromptText<'_>,
    language: PromptLanguage,
    (clause, clauses): (Option<&Clause>, &[Clause]),
    is_definite_wish: bool,
    previous: Option<&str>,
) -> bool {
    let wish = reading.wish.as_str();
    let text = reading.text;
    let expected = language.has("says.expected", wish);
    let conditional = language.has("says.conditions", &wish[clause.map_or(0, |clause| clause.start)..]);
    match id {
        "performance_without_metric" => !has_metric(text),
        "vague_improvement" => is_undefined((start, end), reading, language, is_definite_wish),
        "bug_without_reproduction" => {
            let steps = !super::task_scope::list_items(wish).is_empty();
            let sentence = wish[..start].rfind(['.', '!', '?', '\n', ';']).map_or(0, |at| at + 1);
            // "When saving fails, show the message" is about a case, not about a defect.
            let is_case = is_definite_wish && language.has("says.triggers", &wish[sentence..start])
                || is_condition((sentence, start, end), reading, clause)
                || is_stated((sentence, start, end), wish);
            // "What happens if `load` fails?" asks about a case, too.
            let is_asked_case = clause.is_some_and(Clause::is_question)
                && language.spans("says.triggers", &wish[..start]).last().is_some_and(|&(_, said)| {
                    wish[said..start].split_whitespace().count() <= MAX_CASE_WORDS && !wish[said..start].contains(',')
                });
            let quoted = concrete(text) > 0
                && (expected || language.has("says.values", wish) || text.contains('`') || text.contains('"'));
            let until = [". ", "\n"].iter().filter_map(|mark| wish[start..].find(mark)).min();
            let until = until.map_or(wish.len(), |length| start + length);
            // "`LIMIT` is duplicated and should be removed" says what should become of it.
            let is_settled = language.has("says.settles", &wish[start..until])
                && reading.explicit().any(|name| sentence <= name.start && name.start < until);
            // "Fix the two lint errors": a tool names them.
            let is_of_tool = language.has("says.tools", &wish[sentence..end])
                || reading
                    .names
                    .iter()
                    .any(|name| name.kind == NameKind::Command && sentence <= name.start && name.start < until);
            // "The bar appears twice — once at the top and again below the title" says what is seen.
            let is_seen = [" — ", " – "].iter().any(|dash| {
                let said = wish[start..until].split_once(dash);
                said.is_some_and(|(_, said)| words_in(said) >= MIN_SEEN_WORDS)
            });
            // "A button that turns it on and off"
            let is_switch = language.spans("says.switches", &wish[..end]).iter().any(|&(_, switched)| switched == end);
            // "To fix the error, first call the API" says how.
            let before = wish[sentence..start].trim();
            let is_aim = language.spans("says.purposes", before).last().is_some_and(|said| said.1 == before.len());
            let is_purpose = is_definite_wish
                && (language.begins("says.purposes", before).is_some() || is_aim && wish[end..].starts_with(','));
            !is_case
                && !is_asked_case
                && !is_purpose
                && !is_switch
                && !is_seen
                && !is_settled
                && !is_of_tool
                && !reading.has_trace
                && !steps
                && !text.contains("```")
                && !quoted
                && concrete(text) < 2
        }
        "magic_words" => is_magic((start, end), reading, language, clause) && (!conditional || concrete(text) == 0),
        "implicit_context" => {
            let named = reading.explicit().any(|name| {
                let is_near = name.start >= end && name.start < end + MAX_TO_REMEMBERED;
                // The code shows what was done in a file, and not what was done with it.
                matches!(name.kind, NameKind::Path | NameKind::Identifier)
                    && is_near
                    && !language.ends("says.objects", &wish[..name.start])
            });
            // Git knows "the last commit", and "as always, never push secrets" says the rule itself.
            let is_known = language.has("says.shared", &wish[start..end]);
            let rest = wish[end..].trim_start_matches([' ', ',', ':']);
            let is_rule = ["says.negation", "says.protects"].iter().any(|key| language.begins(key, rest).is_some());
            let is_older = language.has("says.long_ago", &wish[start..end]);
            (previous.is_none() || is_older) && !named && !is_known && !is_rule
        }
        "total_system" => {
            let act = clause.is_none_or(|clause| !clause.is_run());
            let rest = wish[end..].trim_start();
            let goes_on = |words: &[&str]| words.iter().any(|word| rest.starts_with(word));
            let names_place = reading.explicit().any(|name| name.start >= end && name.start <= end + MAX_TO_PLACE);
            // "Update all tests in `tests/test_hooks.py`"
            let is_of_place = reading.explicit().any(|name| {
                let between = wish.get(end..name.start).filter(|between| between.len() <= MAX_TO_PLACE);
                between.is_some_and(|between| {
                    [" in ", " of ", " under "].iter().any(|word| between.contains(word))
                        && !between.contains(['.', '\n'])
                })
            });
            let is_bounded = goes_on(&["else", "except", "that ", "below ", "above ", "after ", "before "])
                || goes_on(&["in ", "under ", "from "]) && names_place
                || is_of_place
                || wish[start..end].to_lowercase().contains("tests");
            // "Rename a to b everywhere" has a definite object.
            let has_object = clause.is_some_and(|clause| {
                let named = reading.explicit().any(|name| clause.start <= name.start && name.end <= start);
                clause.act == Some(ClauseAct::Precise) && (named || concrete(&text[clause.start..start]) > 0)
            });
            let respells = language.has("says.renames", wish)
                && (language.has("says.replaces", wish) || is_renamed_to(&wish[..start], language));
            // "All tax numbers should be shown as 20-30599474-0 in the whole app" says what it should be.
            let says_what = !has_metric(text)
                && clause.is_some_and(|clause| {
                    let said = &wish[clause.start..clause.end];
                    language.has("says.expected", said) && concrete(&text[clause.start..clause.end]) > 0
                });
            // "It is compiled for every line. Put it in a constant." only explains.
            let explains = is_definite_wish && clause.is_some_and(|clause| clause.act.is_none());
            act && !is_bounded && !has_object && !respells && !says_what && !explains
        }
        // "If you have a minute, could you add a test?" is polite.
        _ => {
            language.begins("says.triggers", &wish[start..]).is_none()
                || clauses.iter().any(|other| other.start < start && other.act.is_some())
        }
    }
}

/// Returns `true` if words such as "automatically" leave the rule open.
fn is_magic(
    (start, end): (usize, usize),
    reading: &PromptText<'_>,
    language: PromptLanguage,
    clause: Option<&Clause>,
) -> bool {
    let (wish, text) = (reading.wish.as_str(), reading.text);
    let sentence = &wish[start..wish[start..].find(['.', ';', '\n']).map_or(wish.len(), |length| start + length)];
    let triggered = language.has("says.conditions", &wish[..start]) || language.has("says.triggers", sentence);
    let begins = |key: &str| language.begins(key, &wish[start..end]).is_some();
    let mechanism = begins("says.automatic") && triggered;
    // "txt, pdf, etc" continues examples, and "Adaptive Re-ranking" is a name.
    let from = wish[..start].floor_char_boundary(start.saturating_sub(MAX_TO_EXAMPLES));
    let clause_start = wish[from..start].rfind(['.', '\n', ';', ':']).map_or(from, |at| from + at);
    let is_example_list = begins("says.goes_on") && wish[clause_start..start].matches([',', '，', '、']).count() > 1;
    let is_name = wish[start..].starts_with(char::is_uppercase)
        && wish[end..].starts_with([' ', '-'])
        && wish[end..].trim_start().starts_with(char::is_uppercase)
        && start > 0;
    // "An appropriately-structured list" describes what a list is.
    let is_part = wish[end..].strip_prefix('-').is_some_and(|rest| rest.starts_with(char::is_alphabetic));
    let defined = wish[end..].trim_start().starts_with(':');
    // "Update go in all the right places to 1.26" says what should be there.
    let is_exact =
        clause.is_some_and(|clause| clause.act == Some(ClauseAct::Precise) && concrete(&text[clause.start..]) > 0);
    // "Format them properly. Separate thousands, for example."
    let is_shown = language.has("says.examples", &wish[end..wish.floor_char_boundary(end + MAX_TO_EXAMPLES)]);
    !defined && !is_shown && !mechanism && !is_example_list && !is_name && !is_part && !is_exact
}
