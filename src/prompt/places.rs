//! The places in the repository that the names of a prompt lead to.

use std::collections::BTreeSet;

use super::clauses::{Clause, ClauseAct};
use super::lookup_results::Resolution;
use super::prompt_text::{NameInPrompt, NameKind};
use super::score_basis::ScoreBasis;
use super::smells::Smell;

/// The places that a prompt leads to.
#[derive(Default)]
pub(super) struct PromptTargets<'a> {
    pub(super) one: Vec<&'a NameInPrompt>,
    pub(super) several: Vec<(&'a NameInPrompt, Vec<String>)>,
    pub(super) part: Vec<(&'a NameInPrompt, Vec<String>)>,
    pub(super) missing: Vec<&'a NameInPrompt>,
    /// The names of a definite form that were not looked up in time.
    pub(super) unknown: Vec<&'a NameInPrompt>,
    /// The number of files that the prompt asks to make.
    pub(super) new_files: usize,
}

/// The words of "a new component in".
const MAX_NEW_THING_WORDS: usize = 5;
/// The most words of a wish such as "make it better" in which no word names anything.
const MAX_OPEN_WISH_WORDS: usize = 3;

impl<'a> ScoreBasis<'a> {
    pub(super) fn places(&self) -> PromptTargets<'a> {
        let mut places = PromptTargets::default();
        let names = &self.reading.names;
        let feature = self.open_feature();
        for name in names {
            let is_word = name.kind.is_plain();
            if is_word && (self.is_whole(name) || self.is_empty_word(&name.text) && !self.is_named_here(name)) {
                continue;
            }
            let is_feature = is_word && feature.is_some_and(|(start, end)| start <= name.start && name.end <= end);
            if is_feature || self.names_new_part(name) {
                continue;
            }
            match self.findings.resolve(name, names) {
                Resolution::One => places.one.push(name),
                // The pages and tests that mention an option or a route do not make it several.
                Resolution::Several(_) if matches!(name.kind, NameKind::Flag | NameKind::Route) => {
                    places.one.push(name);
                }
                // What a trace names may belong to another program.
                Resolution::Several(_) | Resolution::Part(_) | Resolution::Missing if name.is_pasted => {}
                Resolution::Several(found) => places.several.push((name, found)),
                Resolution::Part(_) if is_word && self.is_in_open_wish(name) => {}
                Resolution::Part(found) => places.part.push((name, found)),
                Resolution::Missing if !is_word && !self.is_new(name) && !self.is_value(name) => {
                    places.missing.push(name);
                }
                Resolution::Missing if is_word && self.names_container(name) => places.missing.push(name),
                Resolution::Missing => {
                    places.new_files += usize::from(name.kind == NameKind::Path && self.is_new(name));
                }
                Resolution::Unknown if is_word => {}
                Resolution::Unknown => places.unknown.push(name),
            }
        }
        places
    }

    /// Returns `true` for the "better" of "make it better", which may be a part of any name.
    fn is_in_open_wish(&self, name: &NameInPrompt) -> bool {
        let holds = |smell: &&Smell| smell.start <= name.start && name.end <= smell.end;
        let is_short = |smell: &Smell| smell.text.split_whitespace().count() <= MAX_OPEN_WISH_WORDS;
        self.smells.iter().find(holds).is_some_and(|smell| smell.id == "vague_improvement" && is_short(smell))
    }

    /// Returns `true` for the name of something new: "add a `late_fee` column to bookings". It may be used elsewhere.
    fn names_new_part(&self, name: &NameInPrompt) -> bool {
        let (clause, before) = self.before(name);
        let last = before.rsplit(' ').next().unwrap_or_default();
        let after = self.reading.wish[name.end..].trim_start();
        name.kind == NameKind::Identifier
            && self.act_of(clause) == Some(ClauseAct::Create)
            && self.language.begins("says.new", last) == Some(last.len())
            && self.language.begins("says.parts", after).is_some()
    }

    /// Returns `true` for "app" and "code", which lead to no place.
    fn is_whole(&self, name: &NameInPrompt) -> bool {
        let said = &self.reading.text[name.start..name.end];
        let is = |key: &str| self.language.begins(key, said) == Some(said.len());
        is("says.wholes") || is("says.areas") && !self.is_before_container(name)
    }

    /// Returns `true` for "Reports" in "the Reports page".
    fn is_before_container(&self, name: &NameInPrompt) -> bool {
        let after = self.reading.wish[name.end..].strip_prefix(' ');
        after.is_some_and(|after| self.language.begins("says.containers", after).is_some())
    }

    /// Returns `true` for a word that is the name of one page, table or module, and stands inside a sentence.
    fn names_container(&self, name: &NameInPrompt) -> bool {
        let before = self.reading.wish[..name.start].trim_end();
        name.kind == NameKind::Word
            && self.reading.text[name.start..].starts_with(char::is_uppercase)
            && before.ends_with(char::is_alphabetic)
            && (self.is_before_container(name) || self.is_after_container(before))
    }

    fn is_after_container(&self, before: &str) -> bool {
        let last = before.rsplit(' ').next().unwrap_or_default();
        self.language.begins("says.containers", last) == Some(last.len())
    }

    /// Returns `true` if the name stands inside quotation marks: it is a value. Code between backticks is not.
    fn is_value(&self, name: &NameInPrompt) -> bool {
        let is_quoted = self.reading.wish[name.start..name.end].trim().is_empty();
        let line = self.reading.text[..name.start].rsplit('\n').next().unwrap_or_default();
        is_quoted
            && line.rfind(['"', '“', '„', '«', '»', '「', '『', '`']).is_some_and(|at| !line[at..].starts_with('`'))
    }

    /// Returns `true` if the prompt requests that this name be made, so it cannot be here yet.
    fn is_new(&self, name: &NameInPrompt) -> bool {
        if matches!(name.kind, NameKind::Flag | NameKind::Route | NameKind::Command) {
            return true;
        }
        let (clause, before) = self.before(name);
        let points = self.is_pointed_at(name);
        let is_asked = clause.is_some_and(Clause::is_question) && name.kind == NameKind::Identifier;
        let is_alone = self.reading.explicit().count() == 1;
        if self.should_exist(clause, name) || (is_asked && is_alone) {
            return false;
        }
        let renames = ["renam", "renom", "renomb", "benenn", "move", "muev", "extract", "split"]
            .iter()
            .any(|stem| before.contains(stem));
        let makes = matches!(self.act_of(clause), Some(ClauseAct::Create | ClauseAct::Precise));
        match name.kind {
            NameKind::Path => {
                renames && !before.ends_with("in") || (makes && (!points || self.is_of_new_thing(&before)))
            }
            NameKind::Table => makes && !points,
            // A name that is the subject of a complaint should be here; one in a new line of code need not.
            _ => makes || renames || clause.is_none_or(|clause| clause.start > 0) || !before.is_empty(),
        }
    }

    /// Returns `true` for the text before the place of something new: "with a new component in".
    fn is_of_new_thing(&self, before: &str) -> bool {
        // "Add a retry to src/http.rs" is about a file that is here.
        if before.ends_with(" to") && self.language.begins("acts.adds", before.trim_start()).is_some() {
            return false;
        }
        let words: Vec<&str> = before.split_whitespace().rev().take(MAX_NEW_THING_WORDS).collect();
        words.iter().skip(1).any(|word| self.language.begins("says.new", word) == Some(word.len()))
    }

    /// Returns `true` for the first name after "rename" or "remove", which is about something that is here.
    fn should_exist(&self, clause: Option<&Clause>, name: &NameInPrompt) -> bool {
        let Some(clause) = clause else { return false };
        let begins = self.language.has("acts.existing", &self.reading.wish[clause.start..name.start.max(clause.start)]);
        let is_found = |other: &NameInPrompt| self.findings.names.get(&other.text).is_some_and(|found| found.exact);
        let before = |other: &&NameInPrompt| clause.start <= other.start && other.start < name.start;
        let mut earlier = self.reading.names.iter().filter(before);
        begins
            && clause.act.is_some()
            && name.kind == NameKind::Identifier
            && !earlier.any(|other| !other.kind.is_plain() || is_found(other))
    }

    /// Returns the act of a clause, or the one before that it goes on with: "write a.sql and b.sql".
    fn act_of(&self, clause: Option<&Clause>) -> Option<ClauseAct> {
        let clause = clause?;
        clause.act.or_else(|| {
            let mut before = self.clauses.iter().rev().filter(|other| other.start < clause.start);
            before.find_map(|other| other.act)
        })
    }

    /// Returns the clause of a name, and its text before the name.
    fn before(&self, name: &NameInPrompt) -> (Option<&'a Clause>, String) {
        let clause = self.clauses.iter().find(|clause| clause.start <= name.start && name.start < clause.end);
        let start = clause.map_or(0, |clause| clause.start.min(name.start));
        (clause, self.reading.text[start..name.start].trim_end().to_lowercase())
    }

    /// Returns `true` if a second file, a test, a migration or the callers go with a change.
    pub(super) fn has_companion(&self, places: &PromptTargets<'_>) -> bool {
        let wish = &self.reading.wish;
        let stays = |clause: &Clause| {
            let text = &wish[clause.start..clause.end];
            clause.is_run()
                || clause.is_constraint
                || ["says.protects", "says.checks"].iter().any(|key| self.language.has(key, text))
        };
        let is_touched = |name: &&&NameInPrompt| {
            let clause = self.clauses.iter().find(|clause| clause.start <= name.start && name.start < clause.end);
            name.kind == NameKind::Path && !clause.is_some_and(stays)
        };
        let files: BTreeSet<&str> = places.one.iter().filter(is_touched).map(|name| name.text.as_str()).collect();
        let belongs = self.language.spans("says.companions", wish);
        let changes = matches!(self.acts().next(), Some(ClauseAct::Precise | ClauseAct::Create | ClauseAct::Vague));
        changes && (files.len() > 1 || belongs.iter().any(|&(start, _)| !wish[..start].trim().is_empty()))
    }

    /// Returns `true` if a word before the name says that the work is there: "in", "to", "table".
    pub(super) fn is_pointed_at(&self, name: &NameInPrompt) -> bool {
        const POINTING: [&str; 16] = [
            "in", "to", "en", "a", "at", "from", "of", "de", "dans", "em", "tabla", "table", "file", "im", "für",
            "para",
        ];
        let (_, before) = self.before(name);
        let last = before.rsplit(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
        // "Add a Dockerfile" and "añade un botón a index.html"
        last.is_some_and(|last| POINTING.contains(&last) && !(last == "a" && self.language.name() == "en"))
    }
}
