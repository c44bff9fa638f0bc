//! The five scores. Each rests on something in the prompt or in the repository, and names it.

use serde::Serialize;

use super::clauses::{Clause, ClauseAct};
use super::lookup_results::{Findings, Resolution};
use super::prompt_text::{NameInPrompt, NameKind, PromptText};
use super::smells::{Smell, concrete, has_metric};
use super::word_lists::PromptLanguage;

/// A place in the prompt and why it counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScoreEvidence {
    /// The first byte in the prompt.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// The text there.
    pub text: String,
    /// The reason it counts.
    pub why: String,
}

/// One score from 1 to 5.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PromptScore {
    /// From 1 (nothing is said) to 5 (nothing is open).
    pub score: u8,
    /// The ground it rests on.
    pub evidence: Vec<ScoreEvidence>,
}

/// The five scores of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PromptScores {
    /// Clarity of the objective.
    pub co: PromptScore,
    /// Sufficiency of the context.
    pub cs: PromptScore,
    /// Restrictions that are declared.
    pub rd: PromptScore,
    /// Verifiability.
    pub vr: PromptScore,
    /// A bounded scope.
    pub aa: PromptScore,
}

impl PromptScores {
    /// Returns the weighted sum, in tenths: 10 to 50.
    pub fn tenths(&self) -> u32 {
        let of = |score: &PromptScore| u32::from(score.score);
        of(&self.co) * 3 + of(&self.cs) * 2 + of(&self.rd) + of(&self.vr) * 2 + of(&self.aa) * 2
    }
}

/// The things that the scores are read from.
pub(super) struct ScoreBasis<'a> {
    pub(super) reading: &'a PromptText<'a>,
    pub(super) language: PromptLanguage,
    pub(super) clauses: &'a [Clause],
    pub(super) smells: &'a [Smell],
    pub(super) findings: &'a Findings,
    pub(super) tasks: usize,
    pub(super) has_antecedent: bool,
    pub(super) has_menu: bool,
}

/// The places that a prompt leads to.
#[derive(Default)]
pub(super) struct PromptTargets<'a> {
    pub(super) one: Vec<&'a NameInPrompt>,
    pub(super) several: Vec<(&'a NameInPrompt, Vec<String>)>,
    part: Vec<(&'a NameInPrompt, Vec<String>)>,
    pub(super) missing: Vec<&'a NameInPrompt>,
    unknown: usize,
}

impl<'a> ScoreBasis<'a> {
    fn smells(&self, id: &str) -> bool {
        self.smells.iter().any(|smell| smell.id == id)
    }

    fn acts(&self) -> impl Iterator<Item = ClauseAct> {
        self.clauses.iter().filter_map(|clause| clause.act)
    }

    fn has(&self, key: &str) -> bool {
        self.language.has(key, &self.reading.wish)
    }

    pub(super) fn places(&self) -> PromptTargets<'a> {
        let mut places = PromptTargets::default();
        let names = &self.reading.names;
        for name in names {
            let is_word = name.kind == NameKind::Word;
            if is_word && self.is_empty_word(&name.text) && !self.is_named_here(name) {
                continue;
            }
            match self.findings.resolve(name, names) {
                Resolution::One => places.one.push(name),
                Resolution::Several(found) => places.several.push((name, found)),
                Resolution::Part(found) => places.part.push((name, found)),
                Resolution::Missing if !is_word && !self.is_new(name) && !self.is_value(name) => {
                    places.missing.push(name);
                }
                Resolution::Missing => {}
                Resolution::Unknown => places.unknown += usize::from(!is_word),
            }
        }
        places
    }

    /// Returns `true` if the name stands inside quotation marks: it is a value.
    fn is_value(&self, name: &NameInPrompt) -> bool {
        let before = &self.reading.text[..name.start];
        before.rsplit('\n').next().is_some_and(|line| line.matches('"').count() % 2 == 1)
    }

    /// Returns `true` if the prompt requests that this name be made, so it cannot be here yet.
    fn is_new(&self, name: &NameInPrompt) -> bool {
        if matches!(name.kind, NameKind::Flag | NameKind::Route | NameKind::Command) {
            return true;
        }
        let (clause, before) = self.before(name);
        let points = self.is_pointed_at(name);
        let renames = ["renam", "renom", "renomb", "benenn", "move", "muev", "extract", "split"]
            .iter()
            .any(|stem| before.contains(stem));
        let makes = clause.is_some_and(|clause| matches!(clause.act, Some(ClauseAct::Create | ClauseAct::Precise)));
        match name.kind {
            NameKind::Path => renames && !before.ends_with("in") || (makes && !points),
            NameKind::Table => makes && !points,
            // A name that is the subject of a complaint should be here; one in a new line of code need not.
            _ => makes || renames || clause.is_none_or(|clause| clause.start > 0) || !before.is_empty(),
        }
    }

    /// Returns the clause of a name, and its text before the name.
    fn before(&self, name: &NameInPrompt) -> (Option<&'a Clause>, String) {
        let clause = self.clauses.iter().find(|clause| clause.start <= name.start && name.start < clause.end);
        let start = clause.map_or(0, |clause| clause.start.min(name.start));
        (clause, self.reading.text[start..name.start].trim_end().to_lowercase())
    }

    /// Returns `true` if a word before the name says that the work is there: "in", "to", "table".
    fn is_pointed_at(&self, name: &NameInPrompt) -> bool {
        const POINTING: [&str; 16] = [
            "in", "to", "en", "a", "at", "from", "of", "de", "dans", "em", "tabla", "table", "file", "im", "für",
            "para",
        ];
        let (_, before) = self.before(name);
        let last = before.rsplit(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
        last.is_some_and(|last| POINTING.contains(&last))
    }

    /// Returns the five scores.
    pub(super) fn scores(&self) -> PromptScores {
        let places = self.places();
        let (cs, why) = self.context(&places);
        let cs = PromptScore { score: cs, evidence: self.names_of(&places, why) };
        let co = self.objective(cs.score, &places);
        let rd = self.restrictions(cs.score);
        let vr = self.verifiability(co.score, cs.score);
        let aa = self.scope(co.score, cs.score, &places);
        PromptScores { co, cs, rd, vr, aa }
    }

    fn names_of(&self, places: &PromptTargets<'_>, why: &str) -> Vec<ScoreEvidence> {
        let at = |name: &NameInPrompt, why: String| ScoreEvidence {
            start: name.start,
            end: name.end,
            text: self.reading.text[name.start..name.end].to_owned(),
            why,
        };
        let mut evidence: Vec<_> = places.one.iter().map(|name| at(name, "found in one place".to_owned())).collect();
        evidence
            .extend(places.several.iter().map(|(name, found)| at(name, format!("found in {} places", found.len()))));
        evidence.extend(places.missing.iter().map(|name| at(name, "not found in this repository".to_owned())));
        if evidence.is_empty() {
            evidence.push(Self::whole(why));
        }
        evidence
    }

    fn whole(why: &str) -> ScoreEvidence {
        ScoreEvidence { start: 0, end: 0, text: String::new(), why: why.to_owned() }
    }

    fn scored(score: u8, why: &str) -> PromptScore {
        PromptScore { score, evidence: vec![Self::whole(why)] }
    }

    fn context(&self, places: &PromptTargets<'_>) -> (u8, &'static str) {
        let explicit = |name: &&&NameInPrompt| name.kind != NameKind::Word;
        let one = places.one.iter().filter(explicit).count();
        let several = places.several.iter().filter(|(name, _)| name.kind != NameKind::Word).count();
        let total = self.smells("total_system");
        if self.accepts() && one == 0 {
            return (if self.has_antecedent { 3 } else { 2 }, "the turn before says what is meant");
        }
        if one > 0 {
            let main_missing = places
                .missing
                .first()
                .is_some_and(|name| places.one.iter().filter(explicit).all(|one| name.start < one.start));
            return match (several + places.missing.len(), main_missing) {
                (0, _) => (5, "every name is found"),
                (_, false) => (4, "one name is open"),
                _ => (3, "the main name is open"),
            };
        }
        if several > 0 {
            return (3, "the name is found in several places");
        }
        let is_name = |name: &&&NameInPrompt| self.findings.names.get(&name.text).is_some_and(|found| found.exact);
        let word = places.one.iter().find(is_name);
        if let Some(first) = places.missing.first() {
            let is_secondary = word.is_some_and(|word| word.start < first.start) && !self.is_pointed_at(first);
            return if is_secondary { (4, "another name is open") } else { (2, "the name is not found") };
        }
        let is_flag = self.reading.names.iter().any(|name| name.kind == NameKind::Flag);
        if is_flag && self.acts().any(|act| act == ClauseAct::Create) {
            return (4, "a new option has its place");
        }
        if self.has("says.shared") || (places.unknown > 0 && !total) {
            return (if self.acts().any(|act| act == ClauseAct::Create) { 3 } else { 5 }, "the place is known");
        }
        if total {
            return (1, "everything is meant");
        }
        if self.acts().next() == Some(ClauseAct::Question)
            && self.language.begins("acts.lookup", self.reading.wish.trim_start()).is_some()
            && concrete(self.reading.text) > 0
        {
            return (5, "a search needs no place");
        }
        match (places.one.iter().filter(is_name).count(), places.several.first(), places.part.first()) {
            (1.., ..) if self.smells("bug_without_reproduction") && !self.starts_with_name(places) => {
                (3, "a word leads to a file")
            }
            (1.., ..) => (5, "a word names one place"),
            (0, Some(_), _) => (3, "a word names several places"),
            (0, None, Some((_, found))) => (if found.len() <= 3 { 3 } else { 2 }, "a word is part of a name"),
            _ if self.has_antecedent => (3, "the turn before says what is meant"),
            _ if self.content_words() > 0 => (2, "an area only"),
            _ => (1, "nothing says where"),
        }
    }

    fn starts_with_name(&self, places: &PromptTargets<'_>) -> bool {
        let first = self.reading.names.first();
        first.is_some_and(|first| places.one.iter().any(|name| name.start == first.start))
    }

    /// Returns the number of plain words that are neither an act nor a filler.
    fn content_words(&self) -> usize {
        let empty = |name: &NameInPrompt| {
            let smelly = self.smells.iter().any(|smell| {
                smell.id != "total_system"
                    && smell.id != "vague_improvement"
                    && smell.start <= name.start
                    && name.end <= smell.end
            });
            smelly || self.is_empty_word(&name.text)
        };
        self.reading.names.iter().filter(|name| name.kind == NameKind::Word && !empty(name)).count()
    }

    /// Returns `true` if a word such as "checkout" names something here, in a position where no act begins.
    fn is_named_here(&self, name: &NameInPrompt) -> bool {
        let exact = self.findings.names.get(&name.text).is_some_and(|found| found.exact);
        let before = self.reading.wish[..name.start].trim_end();
        exact
            && (self.smells("bug_without_reproduction")
                || !(before.is_empty() || before.ends_with([',', '.', ';', ':', '-'])))
            && self.language.begins("continuations.filler", &name.text).is_none()
    }

    fn is_empty_word(&self, word: &str) -> bool {
        const EMPTY: [&str; 12] = [
            "acts.question",
            "acts.precise",
            "acts.create",
            "acts.vague",
            "acts.review",
            "acts.run",
            "acts.test",
            "continuations.filler",
            "continuations.accept",
            "says.pointers",
            "says.conditions",
            "says.expected",
        ];
        EMPTY.iter().any(|key| self.language.begins(key, word) == Some(word.len()))
    }

    /// Returns `true` if several tasks of the prompt belong to different domains.
    pub(super) fn is_mixed(&self) -> bool {
        self.tasks > 1 && super::class::domains(self) > 1
    }

    /// Returns the number of parts that belong to the first act.
    fn tied(&self) -> usize {
        self.clauses
            .iter()
            .filter(|clause| clause.is_tied && !clause.is_constraint && !clause.is_run() && clause.act.is_some())
            .filter(|clause| !self.language.has("acts.report", &self.reading.wish[clause.start..clause.end]))
            .count()
    }

    /// Returns `true` if it accepts an offer of the turn before, under a condition.
    fn accepts(&self) -> bool {
        (self.has_antecedent || self.has_menu)
            && self.language.begins("continuations.accept", self.reading.wish.trim_start()).is_some()
    }

    /// Returns `true` if an act without an object of its own follows up on the turn before: "revert that".
    fn follows(&self) -> bool {
        let acts = matches!(self.acts().next(), Some(ClauseAct::Vague | ClauseAct::Precise | ClauseAct::Create));
        self.has_antecedent
            && acts
            && self.smells.is_empty()
            && self.content_words() == 0
            && self.reading.explicit().next().is_none()
    }

    fn is_concrete(&self) -> bool {
        concrete(self.reading.text) > 0 || self.reading.text.contains(" a ") && self.reading.explicit().count() > 1
    }

    fn behaves(&self) -> bool {
        (self.has("says.expected") && (self.has("says.conditions") || self.has("says.values") || self.is_concrete()))
            || (self.has("says.values") && self.is_concrete())
            || (self.has("says.conditions")
                && self.acts().next() == Some(ClauseAct::Precise)
                && self.reading.explicit().count() > 0
                && self.language.name() == "de")
    }

    fn objective(&self, cs: u8, places: &PromptTargets<'_>) -> PromptScore {
        let acts: Vec<ClauseAct> = self.acts().collect();
        let explicit = self.reading.explicit().count();
        let vague = ["bug_without_reproduction", "performance_without_metric", "vague_improvement", "magic_words"]
            .iter()
            .any(|id| self.smells(id));
        let first = acts.first().copied();
        if self.accepts() && self.smells.is_empty() {
            return Self::scored(if self.has_antecedent { 4 } else { 3 }, "what the turn before put up");
        }
        if self.follows() {
            return Self::scored(if first == Some(ClauseAct::Vague) { 3 } else { 4 }, "an act on what came before");
        }
        if self.smells("total_system") {
            let what = acts.iter().any(|act| matches!(act, ClauseAct::Review | ClauseAct::Create | ClauseAct::Precise))
                || self.smells("vague_improvement")
                || self.smells("performance_without_metric");
            return Self::scored(if what || self.content_words() > 1 { 2 } else { 1 }, "an act over everything");
        }
        if vague && first == Some(ClauseAct::Precise) && cs >= 4 && acts.len() > 1 && explicit > 1 {
            return Self::scored(4, "a definite act, and one that is open");
        }
        if vague {
            return Self::scored(
                if cs == 1 && self.smells("vague_improvement") && !self.smells("performance_without_metric") {
                    1
                } else {
                    2
                },
                "the wish can be read in several ways",
            );
        }
        if self.smells("implicit_context") {
            return Self::scored(if first.is_some() { 2 } else { 1 }, "it rests on a memory");
        }
        if self.behaves() && cs >= 3 {
            return Self::scored(
                if self.is_concrete() || self.has("says.conditions") { 5 } else { 4 },
                "the behaviour is stated",
            );
        }
        match first {
            Some(ClauseAct::Question) if explicit > 0 || cs >= 4 => Self::scored(5, "a question about a named thing"),
            Some(ClauseAct::Question) => Self::scored(if self.content_words() > 0 { 4 } else { 2 }, "a question"),
            Some(ClauseAct::Run) => Self::scored(5, "a command to run"),
            Some(ClauseAct::Review) => Self::scored(if cs >= 4 { 4 } else { 2 }, "a review"),
            Some(ClauseAct::Precise) if cs >= 4 => Self::scored(5, "a definite act on a named thing"),
            Some(ClauseAct::Precise) => Self::scored(
                if places.missing.is_empty() && self.content_words() > 2 { 4 } else { 3 },
                "a definite act",
            ),
            Some(ClauseAct::Create) if cs >= 4 => {
                let score = if self.tied() > 1 {
                    4
                } else if self.is_concrete() || explicit > 1 {
                    5
                } else if self.content_words() >= 3 {
                    4
                } else {
                    3
                };
                Self::scored(score, "something new in a named place")
            }
            Some(ClauseAct::Create) => Self::scored(3, "something new"),
            Some(ClauseAct::Vague) if self.is_concrete() && cs >= 4 => Self::scored(4, "a result is named"),
            Some(ClauseAct::Vague) => {
                Self::scored(if cs == 1 { 1 } else { 2 }, "an act that can be read in several ways")
            }
            None if self.has("says.expected") && cs >= 3 => Self::scored(4, "the behaviour is stated in words"),
            None if self.reading.has_trace => Self::scored(2, "an error without a wish"),
            None if cs >= 4 && self.is_concrete() => Self::scored(4, "a statement about a named thing"),
            None => Self::scored(if self.content_words() > 2 || cs >= 4 { 2 } else { 1 }, "no act is named"),
        }
    }

    fn restrictions(&self, cs: u8) -> PromptScore {
        for (key, score, why) in [("says.protects", 5, "says what must stay"), ("says.bounds", 4, "sets a bound")] {
            if let Some(&(start, end)) = self.language.spans(key, &self.reading.wish).first() {
                let text = self.reading.text[start..end].to_owned();
                return PromptScore { score, evidence: vec![ScoreEvidence { start, end, text, why: why.to_owned() }] };
            }
        }
        let first = self.acts().next();
        let open = ["total_system", "vague_improvement", "magic_words", "performance_without_metric"]
            .iter()
            .any(|id| self.smells(id));
        if matches!(first, Some(ClauseAct::Question | ClauseAct::Run | ClauseAct::Review)) {
            return Self::scored(3, "the act changes nothing else");
        }
        let closed = first == Some(ClauseAct::Precise) || self.has("acts.test");
        match (open && cs <= 3, closed && !self.behaves() && !open && cs >= 4) {
            (true, _) => Self::scored(1, "an open act over an open area"),
            (false, true) => Self::scored(3, "the act is closed"),
            (false, false) => Self::scored(2, "nothing says what must stay"),
        }
    }

    fn verifiability(&self, co: u8, cs: u8) -> PromptScore {
        let text = self.reading.text;
        let acts: Vec<ClauseAct> = self.acts().collect();
        let speed = self.smells("performance_without_metric");
        if !self.smells.is_empty() && co <= 2 {
            return Self::scored(if speed { 2 } else { 1 }, "nothing says when it is done");
        }
        if self.accepts() {
            return Self::scored(if self.has_antecedent { 3 } else { 2 }, "the turn before says it");
        }
        let runs = acts.contains(&ClauseAct::Run)
            && (self.reading.names.iter().any(|name| name.kind == NameKind::Command) || self.has("acts.test"));
        let commands = self.reading.names.iter().any(|name| {
            name.kind == NameKind::Command
                && name.text.contains(' ')
                && self.language.has("acts.run", &self.reading.wish)
        });
        if runs || commands {
            return Self::scored(5, "a command proves it");
        }
        if self.tied() > 1 {
            return Self::scored(3, "a test could be written");
        }
        if self.follows() {
            return Self::scored(
                if acts.first() == Some(&ClauseAct::Vague) { 3 } else { 4 },
                "the turn before says it",
            );
        }
        if has_metric(text)
            && !matches!(acts.first(), Some(ClauseAct::Question))
            && (self.has("says.expected") || text.matches(|c: char| c.is_ascii_digit()).count() > 2 || speed)
            && co >= 4
        {
            return Self::scored(5, "a number with a unit");
        }
        let first = acts.first().copied();
        if co >= 4
            && concrete(text) > 0
            && (self.behaves() || self.has("acts.test"))
            && first != Some(ClauseAct::Question)
        {
            return Self::scored(5, "a value that can be compared");
        }
        if co >= 4 && self.behaves() {
            return Self::scored(4, "the result can be observed");
        }
        match first {
            Some(ClauseAct::Question) => Self::scored(if co == 5 && cs >= 4 { 4 } else { 3 }, "the code answers"),
            Some(ClauseAct::Review) => Self::scored(if co >= 4 { 3 } else { 1 }, "criteria in words"),
            Some(ClauseAct::Precise | ClauseAct::Create) if co == 5 => Self::scored(4, "the result is exact"),
            Some(ClauseAct::Create) if co == 4 || (self.has("acts.test") && cs >= 4) => {
                Self::scored(3, "a test could be written")
            }
            _ if self.reading.has_trace => Self::scored(3, "the error must go"),
            _ => Self::scored(
                if co >= 4 {
                    3
                } else if co == 3 {
                    2
                } else {
                    1
                },
                "a direction at most",
            ),
        }
    }

    fn scope(&self, co: u8, cs: u8, places: &PromptTargets<'_>) -> PromptScore {
        let first = self.acts().next();
        if self.smells("total_system") {
            return Self::scored(1, "the whole system");
        }
        match self.tasks {
            4.. => return Self::scored(2, "four tasks or more"),
            2..=3 => return Self::scored(3, "several tasks"),
            _ => {}
        }
        let tied = self.tied();
        if self.accepts() {
            return Self::scored(4, "what the turn before put up");
        }
        match (co, cs) {
            (..=2, ..=2) if self.smells("vague_improvement") || self.smells("performance_without_metric") => {
                Self::scored(2, "the size is open")
            }
            (..=2, ..=2) => Self::scored(3, "the size is unknown"),
            (..=2, _) if self.smells("magic_words") && cs < 5 => Self::scored(3, "the size is unknown"),
            (..=2, _) => Self::scored(4, "one place"),
            (3, ..=2) if !places.missing.is_empty() => Self::scored(5, "one act in one place"),
            (3, ..=3) if first == Some(ClauseAct::Create) => {
                Self::scored(if self.has("says.shared") { 4 } else { 3 }, "a feature without a place")
            }
            (3 | 4, _)
                if first != Some(ClauseAct::Question) && first != Some(ClauseAct::Run) && !self.has("acts.test") =>
            {
                Self::scored(4, "one thing in few places")
            }
            _ if tied > 1 => Self::scored(3, "one feature in several places"),
            _ if tied > 0 || places.one.iter().filter(|name| name.kind == NameKind::Path).count() > 2 => {
                Self::scored(4, "an act and what belongs to it")
            }
            _ => Self::scored(5, "one act in one place"),
        }
    }
}
