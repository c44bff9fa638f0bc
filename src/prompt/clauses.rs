//! The clauses of a wish, and the act that each begins with.

use super::concrete_values::concrete;
use super::lookup_results::Findings;
use super::prompt_patterns::PromptPattern;
use super::prompt_text::{NameInPrompt, NameKind, PromptText};
use super::word_lists::PromptLanguage;

/// The kind of act that a clause requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClauseAct {
    Question,
    Run,
    Review,
    Precise,
    Create,
    Vague,
}

/// A part of the wish between punctuation marks and conjunctions.
#[derive(Clone, Debug)]
pub(super) struct Clause {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) act: Option<ClauseAct>,
    /// Follows from the clause before: its test, its callers, the command that proves it.
    pub(super) is_tied: bool,
    /// `true` if it says that something must not happen.
    pub(super) is_constraint: bool,
}

impl Clause {
    pub(super) fn is_question(&self) -> bool {
        self.act == Some(ClauseAct::Question)
    }

    pub(super) fn is_run(&self) -> bool {
        self.act == Some(ClauseAct::Run)
    }
}

static BREAK: PromptPattern = PromptPattern::named("break");
static POLITE: PromptPattern = PromptPattern::named("polite");

/// Returns the number of bytes of the polite words with which a text begins.
fn polite_length(text: &str) -> usize {
    POLITE.find_iter(text).next().map_or(0, |hit| hit.end)
}

/// Returns the clauses of a wish, in order.
pub(super) fn clauses(wish: &str, language: PromptLanguage) -> Vec<Clause> {
    let mut bounds = Vec::new();
    let mut start = 0;
    for hit in BREAK.find_iter(wish) {
        bounds.push((start, hit.end));
        start = hit.end;
    }
    bounds.push((start, wish.len()));
    let mut clauses: Vec<Clause> = Vec::new();
    let mut first = true;
    for (start, end) in bounds {
        let text = &wish[start..end];
        if !text.chars().any(char::is_alphanumeric) && !has_arrow(text) {
            continue;
        }
        let body = start + (text.len() - text.trim_start().len());
        let polite = polite_length(&wish[body..end]);
        let body = body + polite;
        let body = body + helps(&wish[body..end]);
        let mut found = clause(wish, (start, body, end), first, language);
        if only_wishes(text) {
            found.act = None;
        }
        first &= found.act.is_none() && !language.has("says.expected", text);
        clauses.push(found);
    }
    mark_nouns(wish, &mut clauses);
    mark_questions(wish, &mut clauses);
    mark_reading(wish, language, &mut clauses);
    clauses
}

/// Returns `true` for the "we need also" of "we need also to add a field": the act follows.
fn only_wishes(text: &str) -> bool {
    let text = text.trim();
    let rest = PromptLanguage::ANY.begins("says.wishes", text).map(|length| text[length..].trim());
    rest.is_some_and(|rest| rest.eq_ignore_ascii_case("also") || ["también", "además"].contains(&rest))
}

/// Takes the act from one word inside a list of things: the "export" of "it needs alerts and export and a search".
fn mark_nouns(wish: &str, clauses: &mut [Clause]) {
    let words = |clause: &Clause| {
        let text = wish[clause.start..clause.end].split_whitespace();
        text.filter(|word| word.chars().any(char::is_alphabetic)).count()
    };
    for at in 1..clauses.len().saturating_sub(1) {
        let is_between = clauses[at - 1].act.is_none() && !clauses[at - 1].is_constraint && words(&clauses[at - 1]) > 1;
        // The word and the conjunction after it.
        if is_between && words(&clauses[at]) <= 2 && !clauses[at].is_tied && ends_in_and(wish, &clauses[at]) {
            clauses[at].act = None;
        }
    }
}

/// Returns `true` for a word with a conjunction or a comma after it.
fn ends_in_and(wish: &str, clause: &Clause) -> bool {
    let text = wish[clause.start..clause.end].trim();
    text.ends_with(',') || text.split_whitespace().count() == 2
}

/// Returns the length of "help me" before an act. Alone, it is a vague act of its own.
fn helps(text: &str) -> usize {
    let any = PromptLanguage::ANY;
    let Some(length) = any.begins("says.helps", text) else { return 0 };
    let rest = text[length..].trim_start();
    let acts = ["acts.precise", "acts.create", "acts.run", "acts.review", "acts.question"];
    if acts.iter().any(|key| any.begins(key, rest).is_some()) { text.len() - rest.len() } else { 0 }
}

/// Takes the act from a clause that only says what to read, when another says what to do with it: "read the guide and
/// write the summary", "look at a.rs, then add a test".
fn mark_reading(wish: &str, language: PromptLanguage, clauses: &mut [Clause]) {
    for at in 0..clauses.len() {
        let goes_on = clauses[at + 1..].iter().any(|later| later.act.is_some_and(|act| act != ClauseAct::Vague));
        let text = wish[clauses[at].start..clauses[at].end].trim_start();
        let polite = polite_length(text);
        if goes_on && language.begins("acts.reads", &text[polite..]).is_some() {
            clauses[at].act = None;
        }
    }
}

/// Returns `true` if a text says what becomes of what: "a -> b".
fn has_arrow(text: &str) -> bool {
    ["->", "→", "=>"].iter().any(|arrow| text.contains(arrow))
}

/// Marks the parts of a question in which nothing is requested: "is it slow because of a, or is it b?"
fn mark_questions(wish: &str, clauses: &mut [Clause]) {
    let mut start = 0;
    for (end, mark) in wish.match_indices(['.', '!', '?', '\n', '。', '？', ';']) {
        let is_inside_word = mark == "." && !wish[end + 1..].starts_with(char::is_whitespace);
        if is_inside_word {
            continue;
        }
        if matches!(mark, "?" | "？") {
            let from = clauses.partition_point(|clause| clause.start < start);
            let to = clauses.partition_point(|clause| clause.start < end);
            mark_question(&mut clauses[from.min(to)..to]);
        }
        start = end + mark.len();
    }
}

fn mark_question(sentence: &mut [Clause]) {
    if sentence.iter().any(|clause| clause.act.is_some() && !clause.is_question()) {
        return;
    }
    for clause in sentence.iter_mut().filter(|clause| !clause.is_constraint) {
        clause.act = Some(ClauseAct::Question);
    }
}

/// Takes a clause that begins with a command for a request to run it.
pub(super) fn mark_commands(wish: &str, names: &[NameInPrompt], clauses: &mut [Clause]) {
    for name in names.iter().filter(|name| name.kind == NameKind::Command) {
        let at = clauses.partition_point(|clause| clause.start <= name.start);
        let Some(clause) = at.checked_sub(1).and_then(|at| clauses.get_mut(at)) else { continue };
        let begins = wish.get(clause.start..name.start).is_some_and(|before| before.trim().is_empty());
        if begins && fails(wish, name) {
            clause.act = None;
        } else if begins && !clause.is_question() && !clause.is_constraint {
            clause.act = Some(ClauseAct::Run);
        }
    }
}

/// Returns `true` for "make test fails", which reports something and runs nothing.
pub(super) fn fails(wish: &str, command: &NameInPrompt) -> bool {
    let rest = wish.get(command.end..).unwrap_or_default().trim_start();
    command.kind == NameKind::Command && PromptLanguage::ANY.begins("says.fails", rest).is_some()
}

/// The fewest words of a wish whose verb no list knows. A shorter one may be no wish at all.
const MIN_WISH_WORDS: usize = 4;
/// The words at the beginning of a statement that hold its verb: "the old page is".
const MAX_SUBJECT_WORDS: usize = 4;

/// Takes a wish without a known verb for a request, when it has no smell: the lists cannot hold every verb.
///
/// With a value, two names, or a bound it is a definite one. Otherwise, a statement says nothing about what is wanted,
/// and an instruction leaves its result open. Returns `true` if it is taken for a request.
pub(super) fn assume_act(
    reading: &PromptText<'_>,
    language: PromptLanguage,
    findings: &Findings,
    has_previous: bool,
    clauses: &mut [Clause],
) -> bool {
    let wish = reading.wish.as_str();
    if clauses.iter().any(|clause| clause.act.is_some()) || reading.names.iter().any(|name| fails(wish, name)) {
        return false;
    }
    let names = reading.explicit().count();
    let only_constraints = clauses.iter().all(|clause| clause.is_constraint);
    let words = wish.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count();
    // "replicas: 3 in deployment.yaml"
    let is_setting = names > 0 && !reading.has_trace && concrete(reading.text) > 0 && wish.contains([':', '=', '：']);
    if words < MIN_WISH_WORDS && !is_setting || (only_constraints && names == 0) {
        return false;
    }
    let has = |key: &str| language.has(key, wish);
    let is_bounded = ["says.expected", "says.protects", "says.bounds"].into_iter().any(has);
    let is_definite = has_previous
        || names > 1
        || concrete(reading.text) > 0
        || (names > 0 && (is_bounded || only_constraints))
        || (has("says.expected") && has("says.triggers"))
        || reading.explicit().any(|name| is_heading(wish, name));
    let act = if is_definite {
        ClauseAct::Precise
    } else if !has("says.expected")
        && !has("says.lacks")
        && clauses.first().is_some_and(|first| is_statement(reading, language, findings, first))
    {
        return false;
    } else {
        ClauseAct::Create
    };
    // "Feedback from the demo:" only announces.
    let announces = |clause: &Clause| wish[clause.start..clause.end].trim_end().ends_with([':', '：']);
    let is_wish = |clause: &Clause| only_constraints || !clause.is_constraint;
    let at = clauses.iter().position(|clause| is_wish(clause) && !announces(clause));
    let assumed = at.or_else(|| clauses.iter().position(is_wish)).and_then(|at| clauses.get_mut(at));
    assumed.is_some_and(|clause| clause.act.replace(act).is_none())
}

/// Returns `true` for a name before a colon: "parser.rs: trim the message".
fn is_heading(wish: &str, name: &NameInPrompt) -> bool {
    wish[name.end..].starts_with(": ")
        && wish[..name.start].rsplit(['.', '\n']).next().is_some_and(|text| text.trim().is_empty())
}

/// Returns `true` for a clause that begins with what it is about: "error.rs deserves attention".
fn is_statement(reading: &PromptText<'_>, language: PromptLanguage, findings: &Findings, clause: &Clause) -> bool {
    let text = &reading.wish[clause.start..clause.end];
    let start = clause.start + (text.len() - text.trim_start().len());
    let head_end = text.trim_start().match_indices(' ').nth(MAX_SUBJECT_WORDS).map_or(text.len(), |(at, _)| at);
    let head = &text.trim_start()[..head_end.min(text.trim_start().len())];
    let begins_with_name = reading.explicit().any(|name| name.start <= start && start < name.end)
        || reading.text[start..].starts_with(['`', '"', '\'']);
    // "Webhook events go missing" begins with a thing of this repository, "style the form" with a verb.
    let is_here = |name: &NameInPrompt| findings.names.get(&name.text).is_some_and(|found| !found.places.is_empty());
    let first = reading.names.iter().find(|name| name.start == start && name.kind == NameKind::Word && is_here(name));
    // "The total in detail.html with two decimals" names the place of what is wanted.
    let begins_with_thing = reading.explicit().next().is_none()
        && first.is_some_and(|first| {
            language.begins("says.subjects", reading.wish[first.end..clause.end].trim_start()).is_none()
        });
    begins_with_name
        || begins_with_thing
        || language.begins("says.subjects", text.trim_start()).is_some()
        || language.spans("says.predicates", head).iter().any(|&(at, _)| at > 0)
}

fn clause(wish: &str, (start, body, end): (usize, usize, usize), first: bool, language: PromptLanguage) -> Clause {
    let text = &wish[body..end];
    let is_constraint = ["says.protects", "says.negation"].iter().any(|key| language.begins(key, text).is_some());
    // People mix languages, and a short prompt does not show its own.
    let act = act_of(&wish[start..end], text, first, language)
        .or_else(|| act_of(&wish[start..end], text, first, PromptLanguage::ANY))
        .or_else(|| anywhere(text, language))
        .or_else(|| after_condition(text, language));
    let object = text.split_whitespace().skip(1).find(|word| !["all", "of"].contains(word));
    let pointer = object.is_some_and(|word| {
        let word = word.trim_end_matches(['.', ',', '!']);
        language.begins("says.pointers", word) == Some(word.len())
    });
    let is_tied = !first && (is_constraint || pointer || language.begins("acts.tied", text).is_some());
    Clause { start, end, act: act.filter(|_| !is_constraint), is_tied, is_constraint }
}

/// Returns the act that a clause begins with.
fn act_of(clause: &str, text: &str, first: bool, language: PromptLanguage) -> Option<ClauseAct> {
    let order = [
        ("acts.run", ClauseAct::Run),
        ("acts.review", ClauseAct::Review),
        ("acts.create", ClauseAct::Create),
        ("acts.precise", ClauseAct::Precise),
        ("acts.vague", ClauseAct::Vague),
    ];
    // "Search is broken" names a thing.
    let is_noun = |length: usize| language.begins("says.predicates", text[length..].trim_start()).is_some();
    let begun = order.into_iter().filter_map(|(key, act)| Some((language.begins(key, text)?, act)));
    let begun = begun.filter(|(length, _)| !is_noun(*length));
    let begun = begun.max_by_key(|(length, act)| (*length, *act != ClauseAct::Vague)).map(|(_, act)| act);
    let infinitive = || language.begins("acts.infinitive", text).map(|_| ClauseAct::Precise);
    let begun = if language.is_any() { begun } else { begun.or_else(infinitive) };
    let begun = begun.or_else(|| (first && has_arrow(text)).then_some(ClauseAct::Precise));
    // "Can you rename this?" is a request.
    let marked = clause.contains(['?', '？']) && begun.is_none();
    let asks = language.begins("acts.question", text);
    let is_lookup = language.begins("acts.lookup", text).is_some();
    // "Show a badge in the header" and "print how long it took" are about what the program shows.
    let asks = asks.filter(|_| language.begins("acts.displays", text).is_none());
    let is_question = marked || asks.is_some_and(|length| !is_lookup || !is_noun(length));
    let begun = begun.or_else(|| language.begins("acts.displays", text).map(|_| ClauseAct::Create));
    if is_question { Some(ClauseAct::Question) } else { begun }
}

/// Returns the act after a condition: "if the header is empty generate one".
fn after_condition(text: &str, language: PromptLanguage) -> Option<ClauseAct> {
    language.begins("says.triggers", text)?;
    let keys = [("acts.precise", ClauseAct::Precise), ("acts.create", ClauseAct::Create)];
    keys.into_iter().find(|(key, _)| language.has(key, text)).map(|(_, act)| act)
}

/// Languages that put the verb elsewhere.
fn anywhere(text: &str, language: PromptLanguage) -> Option<ClauseAct> {
    if !["de", "zh", "fr"].contains(&language.name()) {
        return None;
    }
    let keys = [
        ("acts.asks", ClauseAct::Question),
        ("acts.precise", ClauseAct::Precise),
        ("acts.create", ClauseAct::Create),
        ("acts.vague", ClauseAct::Vague),
    ];
    keys.into_iter().find(|(key, _)| language.has(key, text)).map(|(_, act)| act)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_with_an_unknown_verb_is_a_request_as_far_as_it_says_something() {
        let act = |wish: &str| {
            let (reading, language) = (PromptText::of(wish), PromptLanguage::of(wish));
            let mut found = clauses(&reading.wish, language);
            assume_act(&reading, language, &Findings::default(), false, &mut found);
            found.iter().find_map(|clause| clause.act)
        };
        for (wish, expected) in [
            ("gzip the output of convert", Some(ClauseAct::Create)),
            ("gzip the output of convert at level 9", Some(ClauseAct::Precise)),
            ("CartButton should vanish while empty", Some(ClauseAct::Precise)),
            ("parser.rs: tolerant of blank lines", Some(ClauseAct::Precise)),
            ("the parser should tolerate blank lines", Some(ClauseAct::Create)),
            ("never break parse_header there", Some(ClauseAct::Precise)),
            ("never break anything here", None),
            ("the parser", None),
            ("parser.rs deserves a bit of time", None),
            ("our parser deserves a bit of time", None),
            ("recent builds are a bit of a surprise", None),
        ] {
            assert_eq!(act(wish), expected, "{wish}");
        }
    }

    #[test]
    fn a_condition_a_negation_and_another_language_do_not_hide_the_act() {
        let act = |wish: &str| clauses(wish, PromptLanguage::of(wish)).iter().find_map(|clause| clause.act);
        assert_eq!(act("if the header is not there add one"), Some(ClauseAct::Create));
        assert_eq!(act("don't touch the header, rename the column"), Some(ClauseAct::Precise));
        assert_eq!(act("borra the old header"), Some(ClauseAct::Precise));
        assert_eq!(act("is it slow because of the index, or is it the query?"), Some(ClauseAct::Question));
    }
}
