//! The score of the context: where the work is.

use super::clauses::ClauseAct;
use super::concrete_values::concrete;
use super::places::PromptTargets;
use super::prompt_text::{NameInPrompt, NameKind};
use super::score_basis::ScoreBasis;
use super::scores::{MIN_QUESTION_WORDS, NOT_LOOKED_UP, ScoreEvidence, is_explicit};

impl ScoreBasis<'_> {
    pub(super) fn context(&self, places: &PromptTargets<'_>) -> (u8, &'static str) {
        let explicit = |name: &&&NameInPrompt| is_explicit(name);
        let one = places.one.iter().filter(explicit).count();
        let several = places.several.iter().filter(|(name, _)| is_explicit(name)).count();
        let total = self.is_total();
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
        if several + places.missing.len() == 0 && self.has("says.placeless") {
            return (5, "it needs no place");
        }
        if several > 0 {
            let is_search = self.acts().next() == Some(ClauseAct::Question)
                && self.language.begins("says.searches", self.reading.wish.trim_start_matches(['¿', ' '])).is_some();
            if is_search || self.has("says.both") {
                return (5, "all places of the name are meant");
            }
            return (3, "the name is found in several places");
        }
        let is_name = |name: &&&NameInPrompt| self.findings.names.get(&name.text).is_some_and(|found| found.exact);
        let word = places.one.iter().find(is_name);
        if let Some(first) = places.missing.first() {
            let is_secondary = word.is_some_and(|word| word.start < first.start) && !self.is_pointed_at(first);
            return if is_secondary { (4, "another name is open") } else { (2, "the name is not found") };
        }
        let is_flag = self.reading.names.iter().any(|name| name.kind == NameKind::Flag);
        if is_flag {
            return (if places.one.iter().any(|name| name.kind.is_plain()) { 5 } else { 4 }, "an option has its place");
        }
        if self.reading.has_paste && !self.reading.has_trace && self.acts().next().is_some() {
            return (5, "the text is in the prompt");
        }
        let creates = self.acts().any(|act| act == ClauseAct::Create);
        // A favicon or a Dockerfile has its usual place.
        if creates && places.missing.is_empty() && self.has("says.conventional") {
            return (4, "a new thing with a usual place");
        }
        if self.has("says.shared") || (!places.unknown.is_empty() && !total) {
            // "Add a test for the last commit" names its place, "add a page to the repository" does not.
            let is_placed = !creates || self.has("acts.test") && self.has("says.changes");
            let names_file =
                !places.unknown.is_empty() && self.reading.explicit().any(|name| name.kind == NameKind::Path);
            let score = if is_placed { 5 } else { 3 + u8::from(names_file) };
            return (score, "the place is known");
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
        let is_specific = self.smells.is_empty()
            && !self.has("says.opinions")
            && self.content_words() + usize::from(concrete(self.reading.text) > 0) >= MIN_QUESTION_WORDS;
        if self.acts().next() == Some(ClauseAct::Question)
            && is_specific
            && places.several.is_empty()
            && !places.one.iter().any(|name| is_name(&name))
        {
            return (4, "a search needs no place");
        }
        let folder = places.part.iter().any(|(_, found)| is_one_folder(found));
        let few = places.part.iter().any(|(_, found)| found.len() <= 3);
        match (places.one.iter().filter(is_name).count(), places.several.first(), places.part.first()) {
            (1.., ..) if self.smells("bug_without_reproduction") && !self.starts_with_name(places) => {
                (3, "a word leads to a file")
            }
            (1.., ..) if self.is_open() => (4, "a word leads to one place"),
            (1.., ..) => (5, "a word names one place"),
            (0, Some(_), _) if folder && self.acts().next() == Some(ClauseAct::Create) => {
                (4, "a word leads to one module")
            }
            (0, Some(_), _) => (3, "a word names several places"),
            (0, None, Some(_)) if folder => (4, "a word leads to one module"),
            (0, None, Some(_)) => (if few { 3 } else { 2 }, "a word is part of a name"),
            // "Create .editorconfig" says where: a new file has its own name.
            _ if creates && places.new_files > 0 => (4, "the name of a new file is its place"),
            _ if self.has_antecedent => (3, "the turn before says what is meant"),
            _ if self.content_words() > 0 => (2, "an area only"),
            _ => (1, "nothing says where"),
        }
    }

    /// Returns `true` if a smell leaves open what should be done there.
    fn is_open(&self) -> bool {
        !self.smells.is_empty() && !self.acts().any(|act| matches!(act, ClauseAct::Precise | ClauseAct::Question))
    }

    fn starts_with_name(&self, places: &PromptTargets<'_>) -> bool {
        let first = self.reading.names.first();
        first.is_some_and(|first| places.one.iter().any(|name| name.start == first.start))
    }

    pub(super) fn names_of(&self, places: &PromptTargets<'_>, why: &str) -> Vec<ScoreEvidence> {
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
        evidence.extend(places.unknown.iter().map(|name| at(name, NOT_LOOKED_UP.to_owned())));
        if evidence.is_empty() {
            evidence.push(Self::whole(why));
        }
        evidence
    }
}

/// Returns `true` if all paths are in the same folder.
fn is_one_folder(paths: &[String]) -> bool {
    let folder = |path: &String| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    paths.first().and_then(folder).is_some_and(|first| paths.iter().all(|path| folder(path).as_ref() == Some(&first)))
}
