//! A phrase that may leave something open, and whether the rest of the prompt settles it.

use super::clauses::{Clause, ClauseAct};
use super::concrete_values::{concrete, has_metric};
use super::continuation::words_in;
use super::prompt_patterns::PromptPattern;
use super::prompt_text::{NameInPrompt, NameKind, PromptText};
use super::task_scope::list_items;
use super::word_lists::{self, PromptLanguage};

/// The smells that a pasted result answers.
const SOLVED: [&str; 3] = ["performance_without_metric", "vague_improvement", "magic_words"];
/// The fewest words of a request that tells how it came about.
const MIN_LONG_WORDS: usize = 50;
/// The bytes between "review" and a defect that it should find.
const MAX_TO_DEFECT: usize = 16;
/// The fewest words after a dash that say what is seen.
const MIN_SEEN_WORDS: usize = 4;
/// The bytes between "which makes" and what it makes.
const MAX_TO_CONSEQUENCE: usize = 40;
/// The most words between "if" and a failure: "if the third upload fails".
const MAX_CASE_WORDS: usize = 3;
/// The bytes in which the examples before "etc" are looked for.
const MAX_TO_EXAMPLES: usize = 60;
/// The bytes between "as we did" and the name of the place.
const MAX_TO_REMEMBERED: usize = 20;
/// The bytes between "everything" and the place that bounds it: "everything in the folder src/".
const MAX_TO_PLACE: usize = 24;
/// The bytes between "so that" and an improvement that defines nothing: "so that it is cleaner".
const MAX_TO_IMPROVEMENT: usize = 12;
/// The bytes before a phrase in which its negation or mention begins.
const MAX_TO_NEGATED: usize = 60;

/// A request, and the turn before it.
pub(super) struct Wish<'a> {
    pub(super) reading: &'a PromptText<'a>,
    pub(super) language: PromptLanguage,
    pub(super) clauses: &'a [Clause],
    pub(super) previous: Option<&'a str>,
}

/// A phrase that may be a smell.
pub(super) struct SmellPhrase<'a> {
    pub(super) id: &'static str,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) wish: &'a Wish<'a>,
    /// The clause in which it begins.
    pub(super) clause: Option<&'a Clause>,
    /// `true` if another clause says what should be done.
    pub(super) is_definite_wish: bool,
}

impl<'a> Wish<'a> {
    pub(super) fn text(&self) -> &'a str {
        &self.reading.wish
    }

    pub(super) fn phrase(&'a self, id: &'static str, (start, end): (usize, usize)) -> SmellPhrase<'a> {
        let (own, others): (Vec<_>, Vec<_>) = self.clauses.iter().partition(|clause| has(clause, start));
        let is_definite_wish =
            others.iter().any(|clause| matches!(clause.act, Some(ClauseAct::Precise | ClauseAct::Create)));
        SmellPhrase { id, start, end, wish: self, clause: own.first().copied(), is_definite_wish }
    }
}

fn has(clause: &Clause, at: usize) -> bool {
    clause.start <= at && at < clause.end
}

impl<'a> SmellPhrase<'a> {
    fn before(&self) -> &'a str {
        &self.wish.text()[..self.start]
    }

    fn said(&self) -> &'a str {
        &self.wish.text()[self.start..self.end]
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.wish.text()[self.start..]
    }

    pub(super) fn after(&self) -> &'a str {
        &self.wish.text()[self.end..]
    }

    /// Returns the place where its sentence begins.
    fn sentence(&self) -> usize {
        self.before().rfind(['.', '!', '?', '\n', ';']).map_or(0, |at| at + 1)
    }

    /// Returns the text from it to the first of the marks.
    fn up_to(&self, marks: &[char]) -> &'a str {
        self.rest().split(marks).next().unwrap_or_default()
    }

    fn names(&self) -> impl Iterator<Item = &'a NameInPrompt> {
        self.wish.reading.explicit()
    }

    fn is_about(&self, act: ClauseAct) -> bool {
        self.clause.is_some_and(|clause| clause.act == Some(act))
    }

    /// Returns `true` if it means something else here than what makes it a smell.
    pub(super) fn is_harmless(&self) -> bool {
        let (id, start, end, language) = (self.id, self.start, self.end, self.wish.language);
        let wish = self.wish.text();
        // "I did a rework of the parser" and "the cleanup" name a thing.
        let is_thing = id == "vague_improvement" && language.ends("says.owners", self.before());
        // "A quick access to the last orders" and "the fast path" name a thing, too.
        let is_quick_thing = id == "performance_without_metric"
            && language.spans("says.quick_things", wish).iter().any(|&(from, to)| from <= start && end <= to);
        // `strip-and-polish` is a name.
        let is_part = self.before().strip_suffix('-').is_some_and(|text| text.ends_with(char::is_alphanumeric));
        // "Let's make it faster. Here is the new version: ..." brings the result along.
        let is_solved = self.wish.reading.has_paste && SOLVED.contains(&id) && language.has("says.solutions", wish);
        // "In every package.json" is about files of one name.
        let is_cut = |name: &NameInPrompt| id == "total_system" && name.start < end && end < name.end;
        self.names().any(|name| name.start <= start && end <= name.end || is_cut(name))
            || is_thing
            || is_quick_thing
            || self.is_word_of_another_language()
            || is_part
            || is_solved
            || self.is_background()
            || self.is_product()
            || self.clause.is_some_and(|clause| clause.is_constraint && self.is_beside_a_wish(clause))
            || self.is_negated()
            || if id == "bug_without_reproduction" { self.is_sought() } else { self.is_asked() }
    }

    /// Returns `true` in the part of a long request that tells how it came about.
    fn is_background(&self) -> bool {
        self.clause.is_some_and(|clause| clause.act.is_none())
            && words_in(self.wish.text()) >= MIN_LONG_WORDS
            && (self.is_definite_wish || self.wish.clauses.iter().any(Clause::is_question))
    }

    /// Returns `true` for "review src/a.rs and suggest improvements", which asks for a list of them.
    fn is_product(&self) -> bool {
        let mut clauses = self.wish.clauses.iter();
        self.id == "vague_improvement"
            && self.said().ends_with('s')
            && self.names().next().is_some()
            && clauses.any(|other| other.act == Some(ClauseAct::Review) && other.start <= self.start)
    }

    /// Returns `true` for a question that does not favour an answer.
    fn is_asked(&self) -> bool {
        let Some(clause) = self.clause.filter(|clause| clause.is_question()) else { return false };
        let (language, text) = (self.wish.language, self.wish.text()[clause.start..].trim_start());
        // "Cuando hay muchas facturas se arrastra" is no question without a mark.
        let sentence = text.split(['.', '!', '\n']).next().unwrap_or_default();
        let is_case = language.begins("says.triggers", text) >= language.begins("acts.question", text)
            && language.begins("says.triggers", text).is_some()
            && !sentence.contains(['?', '？']);
        language.begins("says.favours", text).is_none() && !is_case
    }

    /// Returns `true` for a defect to find: "look for places where the body gets lost", "are there any problems with the
    /// lock?"
    fn is_sought(&self) -> bool {
        let Some(clause) = self.clause else { return false };
        self.is_about(ClauseAct::Review) && self.start > clause.start + MAX_TO_DEFECT
            || self.wish.language.has("says.seeks", &self.wish.text()[clause.start.min(self.start)..self.start])
    }

    /// Returns `true` for one capital word, inside a sentence, that is an entry of other languages only: "implement
    /// Falla" is no Spanish complaint.
    fn is_word_of_another_language(&self) -> bool {
        let (key, language) = (format!("smells.{}", self.id), self.wish.language);
        self.before().trim_end().ends_with(|c: char| c.is_alphanumeric())
            && self.rest().starts_with(char::is_uppercase)
            && !self.said().contains(char::is_whitespace)
            && language.spans(&key, self.wish.text()).iter().all(|&(from, to)| to <= self.start || self.end <= from)
    }

    /// Returns `true` for a clause that bounds the wish of another, and for one that forbids something.
    fn is_beside_a_wish(&self, clause: &Clause) -> bool {
        self.wish.clauses.iter().any(|other| !other.is_constraint)
            || self.wish.language.has("says.negation", &self.wish.text()[clause.start..clause.end])
    }

    /// Returns `true` if a negation or a mention is just before it.
    pub(super) fn is_negated(&self) -> bool {
        static BEFORE: PromptPattern = PromptPattern::named("negation_before");
        let before = self.before();
        let before = &before[before.floor_char_boundary(self.start.saturating_sub(MAX_TO_NEGATED))..];
        let before = before.rsplit(['.', '!', '?', ';', '\n', '。']).next().unwrap_or_default();
        BEFORE.is_match(before)
    }

    /// Returns `true` if nothing in the prompt settles what it leaves open.
    pub(super) fn is_open(&self) -> bool {
        let (wish, text, language) = (self.wish.text(), self.wish.reading.text, self.wish.language);
        match self.id {
            "performance_without_metric" => !has_metric(text),
            "vague_improvement" => self.is_undefined(),
            "bug_without_reproduction" => self.is_unexplained_bug(),
            "magic_words" => {
                let from = self.clause.map_or(0, |clause| clause.start);
                let is_conditional = language.has("says.conditions", &wish[from..]);
                self.is_magic() && (!is_conditional || concrete(text) == 0)
            }
            "implicit_context" => self.is_unknown_memory(),
            "total_system" => self.is_unbounded(),
            // "If you have a minute, could you add a test?" is polite.
            _ => {
                let mut clauses = self.wish.clauses.iter();
                language.begins("says.triggers", self.rest()).is_none()
                    || clauses.any(|other| other.start < self.start && other.act.is_some())
            }
        }
    }

    /// Returns `true` if nothing says what an improvement would be.
    fn is_undefined(&self) -> bool {
        let (wish, text, language) = (self.wish.text(), self.wish.reading.text, self.wish.language);
        let rest = &text[self.end.min(text.len())..];
        // The value in "raise MAX to 4, and while you're at it clean up the routes" says nothing about the routes.
        let hung_on = language.spans("smells.scope_creep", self.before()).last().map_or(0, |(start, _)| *start);
        let defined = [":", "->", "→"].iter().any(|sign| rest.contains(sign)) || self.is_defined();
        // "`x()` is called twice, which makes the output confusing" says what is wrong.
        let said = language.spans("says.consequences", self.before()).last().map(|(_, said)| *said);
        let is_consequence = concrete(&text[..self.start]) > 0
            && said.is_some_and(|said| {
                self.start - said <= MAX_TO_CONSEQUENCE && !wish[said..self.start].contains(['.', '\n'])
            });
        // "It runs nicely. Add a port." says how it is today.
        let is_praise = self.is_definite_wish
            && language.spans("says.praises", wish).iter().any(|&(_, praised)| praised == self.end);
        // "A pretty page. It should have a button and a list."
        let is_detailed = language.has("says.contents", self.after());
        // "I don't like the name, rename it" says what to do about it.
        let is_reason = self.is_definite_wish && language.has("says.dislikes", self.said());
        !has_metric(&text[hung_on..])
            && !defined
            && !is_reason
            && !is_detailed
            && !is_consequence
            && !is_praise
            && concrete(rest) <= 1
    }

    /// Returns `true` if "so that it returns a list" follows, and not "to be more readable".
    fn is_defined(&self) -> bool {
        let (sentence, language) = (self.up_to(&['.', '\n']), self.wish.language);
        let empty = language.spans("smells.vague_improvement", sentence);
        let defines = |&(start, end): &(usize, usize)| {
            !empty.iter().any(|&(from, _)| start <= from && from > 0 && from <= end + MAX_TO_IMPROVEMENT)
        };
        language.spans("says.definitions", sentence).iter().any(defines)
    }

    /// Returns `true` for a failure of which nothing says how it comes about or what would be right.
    fn is_unexplained_bug(&self) -> bool {
        let (reading, language) = (self.wish.reading, self.wish.language);
        let (wish, text, start, end) = (self.wish.text(), reading.text, self.start, self.end);
        let sentence = self.sentence();
        let triggers = language.spans("says.triggers", self.before());
        // "When saving fails, show the message" is about a case, not about a defect.
        let is_case = self.is_definite_wish && language.has("says.triggers", &wish[sentence..start])
            || self.is_condition()
            || self.is_stated()
            || self.is_duty()
            || self.is_relative();
        // "What happens if `load` fails?" asks about a case, too.
        let is_asked_case = self.clause.is_some_and(Clause::is_question)
            && triggers.last().is_some_and(|&(_, said)| {
                let between = &wish[said..start];
                between.split_whitespace().count() <= MAX_CASE_WORDS && !between.contains(',')
            });
        let says_right = language.has("says.expected", wish) || language.has("says.values", wish);
        let quoted = concrete(text) > 0 && (says_right || text.contains(['`', '"']));
        let until = [". ", "\n"].iter().filter_map(|mark| wish[start..].find(mark)).min();
        let until = until.map_or(wish.len(), |length| start + length);
        let is_in_sentence = |name: &NameInPrompt| sentence <= name.start && name.start < until;
        // "`LIMIT` is duplicated and should be removed" says what should become of it.
        let is_settled = language.has("says.settles", &wish[start..until]) && self.names().any(is_in_sentence);
        // "Fix the two lint errors": a tool names them.
        let is_of_tool = language.has("says.tools", &wish[sentence..end])
            || reading.names.iter().any(|name| name.kind == NameKind::Command && is_in_sentence(name));
        // "The bar appears twice — once at the top and again below the title" says what is seen.
        let said = [" — ", " – "].iter().filter_map(|dash| wish[start..until].split_once(dash));
        let is_seen = said.map(|(_, said)| words_in(said)).max() >= Some(MIN_SEEN_WORDS);
        // "A button that turns it on and off"
        let switches = language.spans("says.switches", &wish[..end]);
        let is_switch = switches.iter().any(|&(_, switched)| switched == end);
        // "To fix the error, first call the API" says how.
        let before = wish[sentence..start].trim();
        let is_aim = language.spans("says.purposes", before).last().is_some_and(|said| said.1 == before.len());
        let is_purpose = self.is_definite_wish
            && (language.begins("says.purposes", before).is_some() || is_aim && self.after().starts_with(','));
        !(is_case || is_asked_case || is_purpose || is_switch || is_seen || is_settled || is_of_tool || quoted)
            && !reading.has_trace
            && list_items(wish).is_empty()
            && !text.contains("```")
            && !self.is_reproduced()
            && concrete(text) < 2
    }

    /// Returns `true` for a failure that is the condition of an instruction: "retry if it fails", "if it fails don't
    /// load".
    fn is_condition(&self) -> bool {
        let (wish, any) = (self.wish.text(), PromptLanguage::ANY);
        // "The key has no default: raise an error when it is missing"
        let own = self.clause.filter(|_| self.is_about(ClauseAct::Precise) || self.is_about(ClauseAct::Create));
        let sentence = own.map_or(0, |clause| clause.start.min(self.start)).max(self.sentence());
        let Some(trigger) = any.spans("says.triggers", &wish[sentence..self.start]).pop() else { return false };
        let between = &wish[sentence + trigger.1..self.start];
        if words_in(between) > MAX_CASE_WORDS || between.contains(',') {
            return false;
        }
        let before = wish[sentence..sentence + trigger.0].trim();
        let tells = any.begins("says.subjects", before).is_some()
            || any.has("says.predicates", before)
            || self.names().any(|name| wish.get(sentence..name.start).is_some_and(|text| text.trim().is_empty()));
        let repairs = self.is_about(ClauseAct::Vague) || self.is_about(ClauseAct::Review);
        let rest = self.after().split(['.', '!', '?', '\n']).next().unwrap_or_default();
        let forbids = any.has("says.negation", rest) || any.has("says.protects", rest);
        words_in(before) > 1 && !tells && !repairs || before.is_empty() && forbids
    }

    /// Returns `true` for a failure that a test or a message states, and for an error that is a value: "a test that
    /// checks that it fails", "wrap the error of `open`".
    fn is_stated(&self) -> bool {
        let (wish, sentence) = (self.wish.text(), self.sentence());
        let stated = PromptLanguage::ANY.spans("says.states_failure", &wish[sentence..self.end]);
        stated.into_iter().map(|(from, to)| (sentence + from, sentence + to)).any(|(from, to)| {
            from <= self.start && (to > self.start || wish[to..self.start].chars().any(char::is_alphanumeric))
        })
    }

    /// Returns `true` for the "fix errors" of "the importer should fix errors", which a program does.
    fn is_duty(&self) -> bool {
        let (wish, sentence, any) = (self.wish.text(), self.sentence(), PromptLanguage::ANY);
        let Some((from, to)) = any.spans("says.obliges", &wish[sentence..self.start]).pop() else { return false };
        let subject = wish[sentence..sentence + from].trim();
        wish[sentence + to..self.start].trim().is_empty()
            && !subject.is_empty()
            && any.begins("says.persons", subject).is_none()
            && any.has("acts.vague", self.said())
    }

    /// Returns `true` for "Repro: log in and open the page", which says how it comes about.
    fn is_reproduced(&self) -> bool {
        let language = self.wish.language;
        let after = language.spans("says.reproduces", self.after()).into_iter().map(|(_, end)| &self.after()[end..]);
        let mut steps = after.filter_map(|rest| rest.strip_prefix(':'));
        steps.any(|steps| words_in(steps) >= MIN_SEEN_WORDS)
    }

    /// Returns `true` for "document every key that is missing", which says what to act on.
    fn is_relative(&self) -> bool {
        self.wish.language.ends("says.relatives", self.before())
            && (self.is_about(ClauseAct::Precise) || self.is_about(ClauseAct::Create))
    }

    /// Returns `true` if it refers to what nobody said here.
    fn is_unknown_memory(&self) -> bool {
        let (wish, language, end) = (self.wish.text(), self.wish.language, self.end);
        // The code shows what was done in a file, and not what was done with it.
        let named = self.names().any(|name| {
            matches!(name.kind, NameKind::Path | NameKind::Identifier)
                && (end..end + MAX_TO_REMEMBERED).contains(&name.start)
                && !language.ends("says.objects", &wish[..name.start])
        });
        // Git knows "the last commit", and "as always, never push secrets" says the rule itself.
        let is_known = language.has("says.shared", self.said());
        let rest = self.after().trim_start_matches([' ', ',', ':']);
        let is_rule = ["says.negation", "says.protects"].iter().any(|key| language.begins(key, rest).is_some());
        let is_older = language.has("says.long_ago", self.said());
        (self.wish.previous.is_none() || is_older) && !named && !is_known && !is_rule
    }

    /// Returns `true` if nothing bounds "everything".
    fn is_unbounded(&self) -> bool {
        let (wish, text, language) = (self.wish.text(), self.wish.reading.text, self.wish.language);
        let (start, end) = (self.start, self.end);
        let rest = self.after().trim_start();
        let goes_on = |words: &[&str]| words.iter().any(|word| rest.starts_with(word));
        let names_place = self.names().any(|name| (end..=end + MAX_TO_PLACE).contains(&name.start));
        let is_bounded = goes_on(&["else", "except", "that ", "below ", "above ", "after ", "before "])
            || goes_on(&["in ", "under ", "from ", "en ", "dans ", "em "]) && names_place
            || self.names().any(|name| wish.get(end..name.start).is_some_and(leads_to_place))
            || self.said().to_lowercase().contains("tests");
        let respells = language.has("says.renames", wish)
            && (language.has("says.replaces", wish) || is_renamed_to(self.before(), language));
        let is_settled = self.clause.is_some_and(|clause| {
            let is_run = clause.is_run();
            // "Rename a to b everywhere" has a definite object.
            let named = self.names().any(|name| clause.start <= name.start && name.end <= start);
            let has_object =
                clause.act == Some(ClauseAct::Precise) && (named || concrete(&text[clause.start..start]) > 0);
            // "All tax numbers should be shown as 20-30599474-0 in the whole app" says what it should be.
            let from = self.sentence().min(clause.start);
            let says_what = !has_metric(text)
                && language.has("says.expected", &wish[from..clause.end])
                && concrete(&text[from..clause.end]) > 0;
            // "It is compiled for every line. Put it in a constant." only explains.
            let explains = self.is_definite_wish && clause.act.is_none();
            is_run || has_object || says_what || explains
        });
        // "Put it into one transaction so that everything rolls back" says what follows.
        let before = self.before().trim_end();
        let is_result = self.is_definite_or_settled()
            && language.spans("says.results", before).last().is_some_and(|&(_, end)| end == before.len());
        !is_bounded && !respells && !is_settled && !is_result
    }

    /// Returns `true` if its clause, or another, says what should be done.
    fn is_definite_or_settled(&self) -> bool {
        self.is_definite_wish || self.is_about(ClauseAct::Precise) || self.is_about(ClauseAct::Create)
    }

    /// Returns `true` if words such as "automatically" leave the rule open.
    fn is_magic(&self) -> bool {
        let (wish, text, language) = (self.wish.text(), self.wish.reading.text, self.wish.language);
        let (start, end) = (self.start, self.end);
        let triggered = language.has("says.conditions", self.before())
            || language.has("says.triggers", self.up_to(&['.', ';', '\n']));
        let begins = |key: &str| language.begins(key, self.said()).is_some();
        let mechanism = begins("says.automatic") && triggered;
        // "txt, pdf, etc" continues examples, and "Adaptive Re-ranking" is a name.
        let from = self.before().floor_char_boundary(start.saturating_sub(MAX_TO_EXAMPLES));
        let clause_start = wish[from..start].rfind(['.', '\n', ';', ':']).map_or(from, |at| from + at);
        let is_example_list =
            begins("says.goes_on") && wish[clause_start..start].matches([',', '，', '、']).count() > 1;
        let is_name = self.rest().starts_with(char::is_uppercase)
            && self.after().starts_with([' ', '-'])
            && self.after().trim_start().starts_with(char::is_uppercase)
            && start > 0;
        // "An appropriately-structured list" describes what a list is.
        let is_part = self.after().strip_prefix('-').is_some_and(|rest| rest.starts_with(char::is_alphabetic));
        // "All I need is the header"
        let defined = [":", "is ", "es ", "ist "].iter().any(|word| self.after().trim_start().starts_with(word));
        // "Update go in all the right places to 1.26" says what should be there.
        let is_exact =
            self.is_about(ClauseAct::Precise) && self.clause.is_some_and(|clause| concrete(&text[clause.start..]) > 0);
        // "Format them properly. Separate thousands, for example."
        let is_shown = language.has("says.examples", &wish[end..wish.floor_char_boundary(end + MAX_TO_EXAMPLES)]);
        !(defined || is_shown || mechanism || is_example_list || is_name || is_part || is_exact)
    }
}

/// Returns `true` for what is between "all tests" and the place in "all tests in `tests/test_hooks.py`".
fn leads_to_place(between: &str) -> bool {
    between.len() <= MAX_TO_PLACE
        && [" in ", " of ", " under ", " en ", " dans ", " em "].iter().any(|word| between.contains(word))
        && !between.contains(['.', '\n'])
}

/// Returns `true` for "rename a to b" at the end of a text.
fn is_renamed_to(text: &str, language: PromptLanguage) -> bool {
    let Some((_, end)) = language.spans("says.renames", text).last().copied() else { return false };
    let words: Vec<&str> = text[end..].split_whitespace().collect();
    let leads = |word: &str| word_lists::spans("says.leads_to", word).contains(&(0, word.len()));
    matches!(words.as_slice(), [_, word, _, ..] if leads(word))
}
