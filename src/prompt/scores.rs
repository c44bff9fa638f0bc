//! The five scores. Each rests on something in the prompt or in the repository, and names it.

use serde::Serialize;

use super::clauses::ClauseAct;
use super::concrete_values::{concrete, has_metric};
use super::places::PromptTargets;
use super::prompt_text::{NameInPrompt, NameKind};
use super::score_basis::ScoreBasis;

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
    /// Returns the names that were not looked up in time.
    pub fn not_looked_up(&self) -> impl Iterator<Item = &str> {
        self.cs.evidence.iter().filter(|evidence| evidence.why == NOT_LOOKED_UP).map(|evidence| evidence.text.as_str())
    }

    /// Returns the weighted sum, in tenths: 10 to 50.
    pub fn tenths(&self) -> u32 {
        let of = |score: &PromptScore| u32::from(score.score);
        of(&self.co) * 3 + of(&self.cs) * 2 + of(&self.rd) + of(&self.vr) * 2 + of(&self.aa) * 2
    }

    /// Raises the scores that rest on words that no list knows, until the request passes with a remark.
    fn rise_to_note(&mut self) {
        for step in 0..RISES {
            if self.tenths() >= NOTE_FROM {
                return;
            }
            let (score, least) = match step {
                0 => (&mut self.co, 3),
                1 => (&mut self.vr, 3),
                2 => (&mut self.cs, 3),
                3 => (&mut self.aa, 3),
                4 => (&mut self.co, 4),
                _ => (&mut self.vr, 4),
            };
            if score.score < least {
                score.score = least;
                score.evidence.push(ScoreBasis::whole("nothing in it says that something is missing"));
            }
        }
    }
}

/// The reason of a name that was not reached.
pub(super) const NOT_LOOKED_UP: &str = "not looked up: the limit was reached";
/// The score from which a request passes with a remark, in tenths.
const NOTE_FROM: u32 = 30;
/// The number of times that a score is raised at most.
const RISES: usize = 6;
/// The fewest words of a question that a search can answer.
pub(super) const MIN_QUESTION_WORDS: usize = 2;
/// The fewest words of something new whose trigger is named.
const MIN_TRIGGERED_WORDS: usize = 5;
/// The fewest words by which a wish with an unknown verb says what it wants.
const MIN_ASSUMED_WORDS: usize = 5;

impl ScoreBasis<'_> {
    /// Returns the five scores.
    pub(super) fn scores(&self) -> PromptScores {
        let scores = self.scores_in_context();
        if !self.accepts() || self.reading.explicit().next().is_none() {
            return scores;
        }
        // What is clear by itself needs no turn before: "ok, and now run cargo test".
        let alone = ScoreBasis { has_antecedent: false, has_menu: false, ..*self }.scores_in_context();
        if alone.tenths() > scores.tenths() { alone } else { scores }
    }

    fn scores_in_context(&self) -> PromptScores {
        let places = self.places();
        let (cs, why) = self.context(&places);
        let cs = PromptScore { score: cs, evidence: self.names_of(&places, why) };
        let co = self.objective(cs.score, &places);
        let rd = self.restrictions(co.score, cs.score);
        let vr = self.verifiability(co.score, cs.score);
        let aa = self.scope(co.score, cs.score, &places);
        let mut scores = PromptScores { co, cs, rd, vr, aa };
        if scores.tenths() < NOTE_FROM && self.says_enough(&places) {
            scores.rise_to_note();
        }
        scores
    }

    pub(super) fn whole(why: &str) -> ScoreEvidence {
        ScoreEvidence { start: 0, end: 0, text: String::new(), why: why.to_owned() }
    }

    fn scored(score: u8, why: &str) -> PromptScore {
        PromptScore { score, evidence: vec![Self::whole(why)] }
    }

    fn objective(&self, cs: u8, places: &PromptTargets<'_>) -> PromptScore {
        let acts: Vec<ClauseAct> = self.acts().collect();
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
        if self.is_total() {
            let what = acts.iter().any(|act| matches!(act, ClauseAct::Review | ClauseAct::Create | ClauseAct::Precise))
                || self.smells("vague_improvement")
                || self.smells("performance_without_metric");
            return Self::scored(if what || self.content_words() > 1 { 2 } else { 1 }, "an act over everything");
        }
        let is_definite = cs >= 4 || self.says_value_first();
        if vague && matches!(first, Some(ClauseAct::Precise | ClauseAct::Create)) && is_definite && self.is_open_later()
        {
            return Self::scored(3, "a definite act, and one that is open");
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
        if self.tasks > 1 {
            let (definite, named) = self.definite_tasks();
            let named_well = if self.are_most(named) && cs >= 4 { 4 } else { 2 + u8::from(named > 0 && cs >= 3) };
            return Self::scored(if definite == self.tasks { 5 } else { named_well }, "several tasks");
        }
        if self.has_open_part() {
            return Self::scored(3, "a definite act, and one that is open");
        }
        if self.hangs_on() {
            return Self::scored(if cs >= 4 { 4 } else { 3 }, "two things");
        }
        if self.lists_criteria() && (first.is_none() || matches!(first, Some(ClauseAct::Create | ClauseAct::Precise))) {
            return Self::scored(if cs >= 3 { 5 } else { 4 }, "a list says when it is done");
        }
        if self.behaves() && cs >= 3 {
            let stated = if self.is_concrete() || self.has("says.conditions") { 5 } else { 4 };
            let of_act = self.objective_of_act(first, cs, places);
            let stated = Self::scored(stated, "the behaviour is stated");
            return if of_act.score > stated.score { of_act } else { stated };
        }
        self.objective_of_act(first, cs, places)
    }

    /// Scores the first act of a request about which nothing else is known.
    fn objective_of_act(&self, first: Option<ClauseAct>, cs: u8, places: &PromptTargets<'_>) -> PromptScore {
        let explicit = self.reading.explicit().count();
        if self.open_feature().is_some() {
            return Self::scored(3, "nothing says how it should behave");
        }
        match first {
            Some(ClauseAct::Question) if explicit > 0 || cs >= 4 => Self::scored(5, "a question about a named thing"),
            Some(ClauseAct::Question) if self.names_item() => Self::scored(4, "a question about an item"),
            Some(ClauseAct::Question) => {
                let words = self.content_words();
                if self.asks_only_for_opinion() {
                    return Self::scored(2, "an opinion about nothing in particular");
                }
                let is_specific = words >= MIN_QUESTION_WORDS && !self.has("says.opinions");
                Self::scored(
                    if is_specific {
                        5
                    } else if words > 0 {
                        4
                    } else {
                        2
                    },
                    "a question",
                )
            }
            Some(ClauseAct::Run) => Self::scored(5, "a command to run"),
            Some(ClauseAct::Review) => Self::scored(if cs >= 4 { 4 } else { 2 }, "a review"),
            Some(ClauseAct::Precise) if cs >= 4 => Self::scored(5, "a definite act on a named thing"),
            Some(ClauseAct::Precise)
                if !places.missing.is_empty() && (explicit > 1 || self.has("acts.complete") || self.says_value()) =>
            {
                Self::scored(5, "a definite act with its result")
            }
            Some(ClauseAct::Precise) if places.missing.is_empty() && (self.is_concrete() || self.replaces()) => {
                Self::scored(5, "a definite act with its result")
            }
            Some(ClauseAct::Precise) => {
                let says_what = self.content_words() > 1 || places.several.iter().any(|(name, _)| is_explicit(name));
                let is_short = self.is_assumed && self.content_words() < MIN_ASSUMED_WORDS;
                Self::scored(if places.missing.is_empty() && says_what && !is_short { 4 } else { 3 }, "a definite act")
            }
            Some(ClauseAct::Create) if cs >= 4 || cs == 3 && (explicit > 1 || self.is_concrete()) => {
                let score = if self.tied() > 1 {
                    4
                } else if self.is_concrete() || explicit > 1 {
                    5
                } else if self.content_words() >= 2 {
                    4
                } else {
                    3
                };
                Self::scored(score, "something new in a named place")
            }
            Some(ClauseAct::Create) => {
                let explicit = places.several.iter().any(|(name, _)| is_explicit(name));
                let words = self.content_words();
                let is_triggered = words >= MIN_TRIGGERED_WORDS && self.has("says.triggers");
                let says_what = words >= 3 && !places.several.is_empty() || words >= 2 && explicit || is_triggered;
                Self::scored(if says_what && places.missing.is_empty() { 4 } else { 3 }, "something new")
            }
            Some(ClauseAct::Vague) if self.smells.is_empty() && self.has("says.failing") => {
                Self::scored(4, "a check says when it is done")
            }
            Some(ClauseAct::Vague)
                if cs >= 4 && (self.is_concrete() || self.names_defect())
                    || cs >= 3 && self.has("says.definitions") =>
            {
                Self::scored(4, "a result is named")
            }
            Some(ClauseAct::Vague) => {
                Self::scored(if cs == 1 { 1 } else { 2 }, "an act that can be read in several ways")
            }
            None if self.has("says.expected") && cs >= 3 => Self::scored(4, "the behaviour is stated in words"),
            None if self.smells.is_empty() && cs >= 3 && self.has("says.states") && self.has("says.triggers") => {
                Self::scored(4, "the behaviour is stated in words")
            }
            None if cs >= 4 && self.has("says.lacks") => Self::scored(4, "what is missing is named"),
            None if self.reports_failure() => Self::scored(2, "an error without a wish"),
            None if cs >= 4 && self.is_concrete() => Self::scored(4, "a statement about a named thing"),
            None => Self::scored(if self.content_words() > 2 || cs >= 4 { 2 } else { 1 }, "no act is named"),
        }
    }

    fn restrictions(&self, co: u8, cs: u8) -> PromptScore {
        for (key, score, why) in [("says.protects", 5, "says what must stay"), ("says.bounds", 4, "sets a bound")] {
            let said = self.language.spans(key, &self.reading.wish).into_iter().find(|(start, end)| {
                self.is_bound(*start, *end)
                    && !self.smells.iter().any(|smell| smell.start <= *start && *start < smell.end)
            });
            if let Some((start, end)) = said {
                let text = self.reading.text[start..end].to_owned();
                return PromptScore { score, evidence: vec![ScoreEvidence { start, end, text, why: why.to_owned() }] };
            }
        }
        let negated = self.clauses.iter().enumerate().find(|(at, clause)| {
            clause.is_constraint && clause.act.is_none() && (*at > 0 || (self.clauses.len() > 1 && !self.is_assumed))
        });
        if let Some((_, clause)) = negated {
            let (start, end) = (clause.start, clause.end);
            let text = self.reading.text[start..end].to_owned();
            let why = "says what must not happen".to_owned();
            return PromptScore { score: 5, evidence: vec![ScoreEvidence { start, end, text, why }] };
        }
        let first = self.acts().next();
        let open = ["total_system", "vague_improvement", "magic_words", "performance_without_metric"]
            .iter()
            .any(|id| self.smells(id));
        if matches!(first, Some(ClauseAct::Question | ClauseAct::Run | ClauseAct::Review)) {
            return Self::scored(3, "the act changes nothing else");
        }
        let closed = (first == Some(ClauseAct::Precise) || self.has("acts.test"))
            && (self.tasks > 1 || !self.smells("scope_creep"));
        let named = cs >= 4 || co == 5;
        let is_unbounded = open && (cs <= 2 || (cs == 3 && self.smells("magic_words")));
        match (is_unbounded, closed && !self.behaves() && !open && named) {
            (true, _) => Self::scored(1, "an open act over an open area"),
            (false, true) => Self::scored(3, "the act is closed"),
            (false, false) if co == 5 && !open && self.sets_value() => Self::scored(3, "the act is closed"),
            (false, false) => Self::scored(2, "nothing says what must stay"),
        }
    }

    /// Returns `false` for "must only show", which is a behaviour.
    fn is_bound(&self, start: usize, end: usize) -> bool {
        let before = self.reading.wish[..start].trim_end();
        let last = before.rsplit(char::is_whitespace).next().unwrap_or_default();
        let after = self.reading.wish[end..].trim_start();
        let behaves = ["says.behaves", "says.expected"].iter().any(|key| self.language.begins(key, after).is_some());
        let is_behaviour =
            ["says.expected", "says.values"].iter().any(|key| self.language.begins(key, last) == Some(last.len()));
        // "It is the only user" bounds nothing.
        let is_sole = last.eq_ignore_ascii_case("the");
        (!is_behaviour || last.is_empty()) && !behaves && !is_sole
    }

    fn verifiability(&self, co: u8, cs: u8) -> PromptScore {
        let text = self.reading.text;
        let acts: Vec<ClauseAct> = self.acts().collect();
        let speed = self.smells("performance_without_metric");
        if co == 3 && !self.smells.is_empty() && self.is_open_later() {
            return Self::scored(2, "one part has no end");
        }
        if !self.smells.is_empty() && co <= 2 {
            return Self::scored(if speed { 2 } else { 1 }, "nothing says when it is done");
        }
        if self.accepts() && self.picks_with_value() {
            return Self::scored(4, "the result is exact");
        }
        if self.accepts() {
            return Self::scored(if self.has_antecedent { 3 } else { 2 }, "the turn before says it");
        }
        let is_runnable = |name: &NameInPrompt| matches!(name.kind, NameKind::Command | NameKind::Path);
        let runs =
            acts.contains(&ClauseAct::Run) && (self.reading.names.iter().any(is_runnable) || self.has("acts.test"));
        let commands = self.reading.names.iter().any(|name| {
            name.kind == NameKind::Command
                && name.text.contains(' ')
                && self.language.has("acts.run", &self.reading.wish)
        });
        if runs || commands || (co >= 4 && self.has("says.checks")) {
            return Self::scored(5, "a command proves it");
        }
        if self.tasks > 1 {
            let (definite, named) = self.definite_tasks();
            let score = 2 + u8::from(self.are_most(named)) + u8::from(definite == self.tasks);
            return Self::scored(score.min(4), "as far as each task says it");
        }
        if self.lists_criteria() && co >= 4 {
            return Self::scored(if self.is_concrete() { 5 } else { 4 }, "a list says when it is done");
        }
        if self.tied() > 1 || self.has_open_part() || self.hangs_on() {
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
        if co == 5 && self.sets_value() {
            return Self::scored(4, "the result is exact");
        }
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
            Some(ClauseAct::Question) if co <= 2 => Self::scored(1, "nothing says what to answer"),
            Some(ClauseAct::Question) => Self::scored(if co == 5 && cs >= 4 { 4 } else { 3 }, "the code answers"),
            Some(ClauseAct::Review) => Self::scored(if co >= 4 { 3 } else { 1 }, "criteria in words"),
            Some(ClauseAct::Precise | ClauseAct::Create) if co == 5 => Self::scored(4, "the result is exact"),
            Some(ClauseAct::Create) if co == 4 || (self.has("acts.test") && cs >= 4) => {
                Self::scored(3, "a test could be written")
            }
            Some(ClauseAct::Vague) if self.reading.has_trace && co >= 4 => Self::scored(5, "the error must go"),
            _ if self.reports_failure() => Self::scored(3, "the error must go"),
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
        if self.is_total() {
            return Self::scored(1, "the whole system");
        }
        match self.tasks {
            4.. => return Self::scored(2, "four tasks or more"),
            2..=3 => return Self::scored(3, "several tasks"),
            _ => {}
        }
        let tied = self.tied();
        if self.accepts() {
            return Self::scored(4 + u8::from(self.picks_with_value()), "what the turn before put up");
        }
        match (co, cs) {
            (..=2, ..=2) if self.smells("vague_improvement") || self.smells("performance_without_metric") => {
                Self::scored(2, "the size is open")
            }
            (..=2, ..=2) => Self::scored(3, "the size is unknown"),
            (..=2, _) if self.smells("magic_words") && cs < 5 => Self::scored(3, "the size is unknown"),
            (..=2, _) => Self::scored(4, "one place"),
            (3, _) if self.open_feature().is_some() => Self::scored(3, "a feature of unknown size"),
            (3, ..=2) if !places.missing.is_empty() => Self::scored(5, "one act in one place"),
            (3, ..=3) if first == Some(ClauseAct::Create) => {
                Self::scored(if self.has("says.shared") { 4 } else { 3 }, "a feature without a place")
            }
            (3.., _) if self.smells("scope_creep") => Self::scored(3, "two things"),
            (3 | 4, _)
                if first != Some(ClauseAct::Question) && first != Some(ClauseAct::Run) && !self.has("acts.test") =>
            {
                Self::scored(4, "one thing in few places")
            }
            _ if self.hangs_on() => Self::scored(3, "two things"),
            _ if tied > 1 => Self::scored(3, "one feature in several places"),
            _ if tied > 0 || self.has_companion(places) => Self::scored(4, "an act and what belongs to it"),
            _ => Self::scored(5, "one act in one place"),
        }
    }
}

pub(super) fn is_explicit(name: &NameInPrompt) -> bool {
    !name.kind.is_plain()
}
