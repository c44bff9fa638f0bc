//! The clauses of a wish, and the act that each begins with.

use std::sync::LazyLock;

use regex::Regex;

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

static BREAK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)[;,!¿¡\n，。；、！]+|[.:?？：](?:\s|$)|\s(?:and then|and also|and|then|also|plus|y también|y además|y|e|luego|después|und|dann|et|puis|depois)\s|然后|并且|和").ok()
});
static POLITE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:[-*•]\s+|(?:in|en|dans|em|im|inside)\s+(?:\S*(?-i:[A-Z_./])\S*|\s),?\s+|\(?\d{1,2}[.)]\s+|(?:please|pls|can you|could you|would you|can we|could we|shall we|should we|is it possible to|i want you to|i want to|i'd like to|i need to|i need you to|we need to|let's|lets|now|just|only|also|then|and|so|first|next|finally|ok|okay|hey|hi|por favor|puedes|podr[ií]as|podemos|podr[ií]amos|se puede|quiero que|quiero|necesito que|ahora|solo|s[oó]lo|tambi[eé]n|y|luego|bitte|kannst du|jetzt|s'il te plaît|peux-tu|pode|você pode|请|帮我)\b[,:]?\s*)+").ok()
});

/// Returns the clauses of a wish, in order.
pub(super) fn clauses(wish: &str, language: PromptLanguage) -> Vec<Clause> {
    let mut bounds = Vec::new();
    let mut start = 0;
    for hit in BREAK.iter().flat_map(|regex| regex.find_iter(wish)) {
        bounds.push((start, hit.end()));
        start = hit.end();
    }
    bounds.push((start, wish.len()));
    let mut clauses: Vec<Clause> = Vec::new();
    for (start, end) in bounds {
        let text = &wish[start..end];
        if !text.chars().any(char::is_alphanumeric) {
            continue;
        }
        let body = start + (text.len() - text.trim_start().len());
        let polite = POLITE.as_ref().and_then(|regex| regex.find(&wish[body..end])).map_or(0, |hit| hit.end());
        let body = body + polite;
        let first = clauses.iter().all(|clause| clause.act.is_none());
        clauses.push(clause(wish, (start, body, end), first, language));
    }
    clauses
}

fn clause(wish: &str, (start, body, end): (usize, usize, usize), first: bool, language: PromptLanguage) -> Clause {
    let text = &wish[body..end];
    let is_constraint = language.begins("says.protects", text).is_some();
    let order = [
        ("acts.run", ClauseAct::Run),
        ("acts.review", ClauseAct::Review),
        ("acts.create", ClauseAct::Create),
        ("acts.precise", ClauseAct::Precise),
        ("acts.vague", ClauseAct::Vague),
    ];
    let begun = order.into_iter().filter_map(|(key, act)| Some((language.begins(key, text)?, act)));
    let begun = begun.max_by_key(|(length, act)| (*length, *act != ClauseAct::Vague)).map(|(_, act)| act);
    // "Can you rename this?" is a request.
    let marked = wish[start..end].contains(['?', '？']) && begun.is_none();
    let is_question = marked || language.begins("acts.question", text).is_some();
    let act = if is_question { Some(ClauseAct::Question) } else { begun.or_else(|| anywhere(text, language)) };
    let pointer =
        text.split_whitespace().nth(1).is_some_and(|word| language.begins("says.pointers", word) == Some(word.len()));
    let is_tied = !first && (is_constraint || pointer || language.begins("acts.tied", text).is_some());
    Clause { start, end, act: act.filter(|_| !is_constraint), is_tied, is_constraint }
}

/// Languages that put the verb elsewhere.
fn anywhere(text: &str, language: PromptLanguage) -> Option<ClauseAct> {
    if !["de", "zh", "fr"].contains(&language.name()) {
        return None;
    }
    let keys =
        [("acts.precise", ClauseAct::Precise), ("acts.create", ClauseAct::Create), ("acts.vague", ClauseAct::Vague)];
    keys.into_iter().find(|(key, _)| language.has(key, text)).map(|(_, act)| act)
}
