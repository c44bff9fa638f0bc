//! The things that the scores of a prompt are read from, and what its parts say.

use super::clauses::{Clause, ClauseAct};
use super::concrete_values::{concrete, has_metric};
use super::lookup_results::Findings;
use super::prompt_text::{NameInPrompt, NameKind, PromptText};
use super::smells::Smell;
use super::word_lists::PromptLanguage;

/// A longer phrase also names the thing that it is about.
const MAX_SMELL_WORDS: usize = 3;
/// The largest number of an item of a menu.
const MAX_ITEM: usize = 20;

/// The things that the scores are read from.
pub(super) struct ScoreBasis<'a> {
    pub(super) reading: &'a PromptText<'a>,
    pub(super) language: PromptLanguage,
    pub(super) clauses: &'a [Clause],
    pub(super) smells: &'a [Smell],
    pub(super) findings: &'a Findings,
    pub(super) tasks: usize,
    pub(super) task_spans: &'a [(usize, usize)],
    /// `true` if no list knows the verb.
    pub(super) is_assumed: bool,
    pub(super) has_antecedent: bool,
    pub(super) has_menu: bool,
}

impl ScoreBasis<'_> {
    pub(super) fn smells(&self, id: &str) -> bool {
        self.smells.iter().any(|smell| smell.id == id)
    }

    /// Returns `true` if the request itself is about everything, and not only one of its later tasks.
    pub(super) fn is_total(&self) -> bool {
        let later = self.task_spans.first().map_or(usize::MAX, |(_, end)| *end);
        self.smells.iter().any(|smell| smell.id == "total_system" && smell.start < later)
    }

    pub(super) fn acts(&self) -> impl Iterator<Item = ClauseAct> {
        self.clauses.iter().filter_map(|clause| clause.act)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.language.has(key, &self.reading.wish)
    }

    /// Returns the number of plain words that are neither an act nor a filler.
    pub(super) fn content_words(&self) -> usize {
        let empty = |name: &NameInPrompt| {
            let smelly = self.smells.iter().any(|smell| {
                smell.id != "total_system"
                    && smell.text.split_whitespace().count() <= MAX_SMELL_WORDS
                    && !["vague_improvement", "bug_without_reproduction"].contains(&smell.id)
                    && !self.is_found(name)
                    && smell.start <= name.start
                    && name.end <= smell.end
            });
            smelly || self.is_empty_word(&name.text)
        };
        self.reading.names.iter().filter(|name| name.kind == NameKind::Word && !empty(name)).count()
    }

    /// Returns `true` for "is this any good?" without anything that "this" could be.
    pub(super) fn asks_only_for_opinion(&self) -> bool {
        let opinions = self.language.spans("says.opinions", &self.reading.wish);
        let is_within =
            |name: &NameInPrompt| opinions.iter().any(|&(start, end)| start <= name.start && name.end <= end);
        !opinions.is_empty()
            && !self.has_antecedent
            && !self.has_menu
            && !self.reading.has_paste
            && self
                .reading
                .names
                .iter()
                .all(|name| is_within(name) || self.is_empty_word(&name.text) || self.is_quality(name))
    }

    /// Returns `true` for the words of "the code quality here", which are about nothing in particular.
    fn is_quality(&self, name: &NameInPrompt) -> bool {
        let said = &self.reading.wish[name.start..name.end];
        said.split_whitespace().all(|word| {
            self.is_empty_word(word)
                || ["says.wholes", "says.areas", "says.qualities"]
                    .iter()
                    .any(|key| self.language.begins(key, word) == Some(word.len()))
        })
    }

    fn is_found(&self, name: &NameInPrompt) -> bool {
        self.findings.names.get(&name.text).is_some_and(|found| !found.places.is_empty())
    }

    /// Returns `true` if a word such as "checkout" names something here, in a position where no act begins.
    pub(super) fn is_named_here(&self, name: &NameInPrompt) -> bool {
        let exact = self.findings.names.get(&name.text).is_some_and(|found| found.exact);
        let before = self.reading.wish[..name.start].trim_end();
        let after = self.reading.wish[name.end..].trim_start();
        exact
            && (self.smells("bug_without_reproduction")
                || after.starts_with(':')
                || ["says.predicates", "says.expected"].iter().any(|key| self.language.begins(key, after).is_some())
                || !(before.is_empty() || before.ends_with([',', '.', ';', ':', '-'])))
            && self.language.begins("continuations.filler", &name.text).is_none()
    }

    pub(super) fn is_empty_word(&self, word: &str) -> bool {
        const EMPTY: [&str; 12] = [
            "acts.question", "acts.precise", "acts.create", "acts.vague", "acts.review", "acts.run", "acts.test",
            "continuations.filler", "continuations.accept", "says.pointers", "says.conditions", "says.expected",
        ];
        EMPTY.iter().any(|key| self.language.begins(key, word) == Some(word.len()))
    }

    /// Returns `true` if a list says when it is done.
    pub(super) fn lists_criteria(&self) -> bool {
        let wish = &self.reading.wish;
        let items = super::task_scope::list_items(wish);
        items.first().is_some_and(|first| {
            self.language.has("says.criteria", &wish[..first.0])
                || super::task_scope::describes_name(self.reading, first.0)
        })
    }

    /// Returns the place of a feature such as "dark mode" or "user roles" when nothing says how it should behave.
    pub(super) fn open_feature(&self) -> Option<(usize, usize)> {
        let wish = &self.reading.wish;
        let ends = |&(_, end): &(usize, usize)| {
            let after = wish[end..].trim_start_matches(' ');
            after.is_empty()
                || after.starts_with(|c: char| c.is_ascii_punctuation() || c == '\n')
                || ["says.places", "says.objects"].iter().any(|key| self.language.begins(key, after).is_some())
        };
        let is_settled = self.reading.explicit().count() > 1
            || concrete(self.reading.text) > 0
            || self.reading.has_paste
            || self.has("says.triggers")
            || self.has("says.means");
        let creates = matches!(self.acts().next(), None | Some(ClauseAct::Create | ClauseAct::Precise));
        let begins = |&(start, _): &(usize, usize)| !self.language.ends("says.places", &wish[..start]);
        let mut features = self.language.spans("says.features", wish).into_iter().filter(begins);
        features.find(ends).filter(|_| creates && !is_settled)
    }

    /// Returns `true` if the smells begin after the first act and what belongs to it.
    pub(super) fn is_open_later(&self) -> bool {
        let end = self.clauses.iter().find(|clause| clause.act.is_some()).map_or(0, |clause| clause.end);
        let hung_on = self.smells.iter().find(|smell| smell.id == "scope_creep").map(|smell| smell.start);
        let from = hung_on.unwrap_or(end).min(end);
        self.smells.iter().all(|smell| smell.start >= from && smell.start > 0)
    }

    /// Returns `true` if a part of the request after the first names neither a result nor a value.
    pub(super) fn has_open_part(&self) -> bool {
        let Some(first) = self.clauses.iter().position(|clause| clause.act.is_some()) else { return false };
        if self.tasks < 2 && !super::task_scope::list_items(&self.reading.wish).is_empty() {
            return false;
        }
        let is_open = |clause: &Clause| {
            clause.act == Some(ClauseAct::Vague)
                && !clause.is_tied
                && concrete(&self.reading.text[clause.start..clause.end]) == 0
                && !self.reading.wish[..clause.start].trim_end().ends_with(':')
                && !self.reading.wish[..clause.end].trim_end().ends_with(':')
                && !self.reading.explicit().any(|name| clause.start <= name.start && name.start < clause.end)
        };
        matches!(self.clauses[first].act, Some(ClauseAct::Precise | ClauseAct::Create))
            && (self.clauses[first + 1..].iter().any(is_open) || self.has_open_tail())
    }

    /// Returns `true` if what is hung on in passing names neither a value nor a thing of a definite form.
    fn has_open_tail(&self) -> bool {
        let Some(smell) = self.smells.iter().find(|smell| smell.id == "scope_creep") else { return false };
        let tail = &self.reading.text[smell.end..];
        smell.start > 0 && concrete(tail) == 0 && !self.reading.explicit().any(|name| name.start >= smell.end)
    }

    /// Returns how many of the tasks say exactly what should change, and how many at least name something.
    pub(super) fn definite_tasks(&self) -> (usize, usize) {
        let (mut definite, mut named) = (0, 0);
        for &(start, end) in self.task_spans {
            let text = &self.reading.text[start..end];
            let count = self.reading.explicit().filter(|name| start <= name.start && name.start < end).count();
            let at = self.clauses.partition_point(|clause| clause.start <= start);
            let clause = at.checked_sub(1).map(|at| &self.clauses[at]);
            let is_closed = clause.is_some_and(|clause| matches!(clause.act, None | Some(ClauseAct::Precise)));
            let says_result = concrete(text) > 0 || text.contains('=') || has_metric(text);
            definite += usize::from((says_result && (count > 0 || is_closed)) || (is_closed && count > 0));
            named += usize::from(count > 0 || says_result || self.words_here(start, end) > 0);
        }
        (definite, named)
    }

    /// Returns `true` if so many are three of four tasks, or more.
    pub(super) fn are_most(&self, tasks: usize) -> bool {
        tasks * 4 >= self.tasks * 3
    }

    /// Returns the number of plain words in a part that name something here.
    pub(super) fn words_here(&self, start: usize, end: usize) -> usize {
        let inside = self.reading.names.iter().filter(|name| start <= name.start && name.start < end);
        inside.filter(|name| self.findings.names.get(&name.text).is_some_and(|found| found.exact)).count()
    }

    /// Returns `true` if something is hung on that does not belong to the first act: "and also", "además".
    pub(super) fn hangs_on(&self) -> bool {
        let spans = self.language.spans("says.unrelated", &self.reading.wish);
        spans.first().is_some_and(|(_, end)| {
            let after = self.clauses.iter().find(|clause| clause.start < self.reading.wish.len() && *end < clause.end);
            after.is_some_and(|clause| clause.start > 0 && !clause.is_tied && !clause.is_constraint)
        })
    }

    /// Returns `true` if several tasks of the prompt belong to different domains.
    pub(super) fn is_mixed(&self) -> bool {
        self.tasks > 1 && super::class::domains(self) > 1
    }

    /// Returns the number of parts that belong to the first act.
    pub(super) fn tied(&self) -> usize {
        self.clauses
            .iter()
            .filter(|clause| clause.is_tied && !clause.is_constraint && !clause.is_run() && clause.act.is_some())
            .filter(|clause| !self.language.has("acts.report", &self.reading.wish[clause.start..clause.end]))
            .filter(|clause| !self.reading.wish[..clause.start].trim_end().ends_with(':'))
            .count()
    }

    /// Returns `true` if the pick of an item comes with a value of its own: "2, but answer 422".
    pub(super) fn picks_with_value(&self) -> bool {
        let picked = super::item_numbers::ItemNumbers::of(&self.reading.text.to_lowercase());
        concrete(self.reading.text) > picked.wanted.iter().filter(|number| **number <= MAX_ITEM).count()
    }

    /// Returns `true` for "explain 2" after a menu.
    pub(super) fn names_item(&self) -> bool {
        let numbers = super::item_numbers::ItemNumbers::of(&self.reading.text.to_lowercase());
        self.has_menu && !numbers.wanted.is_empty() && numbers.wanted.iter().all(|number| *number <= MAX_ITEM)
    }

    /// Returns `true` if it accepts an offer of the turn before, under a condition.
    pub(super) fn accepts(&self) -> bool {
        let start = self.reading.wish.trim_start();
        let picked = self.has_menu && {
            let filler = self.language.begins("continuations.filler", start).unwrap_or(0);
            let picked = start[filler..].trim_start();
            picked.starts_with(|c: char| c.is_ascii_digit())
                || self.language.begins("continuations.select", picked).is_some()
        };
        let accepted = self.smells.is_empty() && self.language.begins("continuations.accept", start).is_some();
        (self.has_antecedent || self.has_menu) && (picked || accepted)
    }

    /// Returns `true` if an act without an object of its own follows up on the turn before: "revert that".
    pub(super) fn follows(&self) -> bool {
        let acts = matches!(self.acts().next(), Some(ClauseAct::Vague | ClauseAct::Precise | ClauseAct::Create));
        self.has_antecedent
            && acts
            && self.smells.is_empty()
            && self.content_words() == 0
            && self.reading.explicit().next().is_none()
    }

    pub(super) fn is_concrete(&self) -> bool {
        concrete(self.reading.text) > 0
            || self.reading.has_paste && !self.reading.has_trace
            || self.reading.text.contains(" a ") && self.reading.explicit().count() > 1
    }

    /// Returns `true` for a trace, and for a command that fails.
    pub(super) fn reports_failure(&self) -> bool {
        let wish = &self.reading.wish;
        self.reading.has_trace || self.reading.names.iter().any(|name| super::clauses::fails(wish, name))
    }

    /// Returns `true` if there is a value that is not a name: "change the title in a.html to 'Bills'".
    pub(super) fn says_value(&self) -> bool {
        let mut text = self.reading.text.to_owned();
        for name in self.reading.explicit() {
            text.replace_range(name.start..name.end, &" ".repeat(name.end - name.start));
        }
        concrete(&text) > 0
    }

    /// Returns `true` if there is a value before the first smell: "set the subject to 'Bill' and improve the rest".
    pub(super) fn says_value_first(&self) -> bool {
        let end = self.smells.first().map_or(self.reading.text.len(), |smell| smell.start);
        concrete(&self.reading.text[..end]) > 0
    }

    /// Returns `true` if all that is wanted is an exact value: "raise MAX from 4 to 16", "the limit must be 8".
    pub(super) fn sets_value(&self) -> bool {
        let sets = self.language.has("acts.sets", &self.reading.wish) || self.replaces();
        let is_rule = ["says.triggers", "says.conditions"].iter().any(|key| self.has(key));
        sets && !is_rule && self.says_value()
    }

    /// Returns `true` for "a.md has duplicate items, fix this": what is wrong is named before the act.
    pub(super) fn names_defect(&self) -> bool {
        let first = self.clauses.iter().find(|clause| clause.act.is_some());
        let before = first.map_or("", |first| &self.reading.wish[..first.start]);
        self.smells.is_empty() && self.language.has("says.defects", before)
    }

    /// Returns `true` for "14px instead of 12px".
    pub(super) fn replaces(&self) -> bool {
        self.has("says.replaces")
            && (concrete(self.reading.text) > 0 || has_metric(self.reading.text) || self.has("says.renames"))
    }

    /// Returns `true` for "`parse_header` should trim dots".
    pub(super) fn states_behaviour(&self) -> bool {
        let wish = &self.reading.wish;
        let expected = self.language.spans("says.expected", wish);
        expected.first().is_some_and(|&(start, end)| {
            self.reading.explicit().any(|name| name.end <= start)
                && wish[end..].split_whitespace().filter(|word| word.len() > 2).count() >= 2
        })
    }

    /// Returns `true` for "add --count; it prints the number of hits", which says how a new thing behaves.
    fn describes_new(&self) -> bool {
        let says = |clause: &Clause| self.says_of_it(self.reading.wish[clause.start..clause.end].trim_start());
        self.acts().next() == Some(ClauseAct::Create)
            && self.reading.explicit().next().is_some()
            && self.clauses.iter().any(says)
    }

    /// Returns `true` for "it prints the number".
    fn says_of_it(&self, text: &str) -> bool {
        let Some(pointer) = self.language.begins("says.pointers", text) else { return false };
        let rest = text[pointer..].trim_start();
        let said = self.language.begins("says.values", rest);
        said.is_some_and(|said| rest[said..].split_whitespace().count() >= 2)
    }

    /// Returns `true` for "I want mails when a bill is due", which says what should be there and not how it behaves.
    fn only_wishes(&self) -> bool {
        let wish = &self.reading.wish;
        let wishes = self.language.spans("says.wishes", wish);
        let is_wish = |&(start, end): &(usize, usize)| wishes.iter().any(|wish| wish.0 <= start && end <= wish.1);
        self.reading.explicit().next().is_none()
            && !self.is_concrete()
            && !self.has("says.intends")
            && self.language.spans("says.expected", wish).iter().all(is_wish)
    }

    pub(super) fn behaves(&self) -> bool {
        self.lists_criteria()
            || (self.has("says.expected")
                && !self.only_wishes()
                && (self.has("says.conditions") || self.has("says.values") || self.is_concrete()))
            || (self.has("says.values") && self.is_concrete())
            || self.states_behaviour()
            || self.describes_new()
            || (self.has("says.triggers")
                && self.acts().next() == Some(ClauseAct::Precise)
                && self.reading.explicit().count() > 0)
    }
}
