//! The runner catalogue: `gates/runners/*.toml`, parsed and looked up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use memchr::memmem;

use crate::embedded::{self, RunnerSummary};
use crate::runner::name_source::NameSource;
use crate::runner::output_line::LineRule;
use crate::runner::output_rules::Summaries;
use crate::runner::runner_definition::{Invoke, Runner};
use crate::runner::task::{TaskNames, TaskRules};

/// The length of the outputs of a process up to which texts are sought one by one: making the automaton costs more.
const MAX_OUTPUT_WITHOUT_AUTOMATON: usize = 1 << 15;

/// Everything known about runners. A runner that is part of the binary is read when it is looked up.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// The runners of the binary, as far as they were read, in the order of [`embedded::RUNNERS`].
    embedded: Vec<OnceLock<Runner>>,
    /// The other runners, by id.
    others: Vec<Runner>,
    names: OnceLock<TaskNames>,
    texts: OnceLock<Texts>,
    output_read: AtomicUsize,
}

/// The texts that rules need, to be found in one pass over a line, whatever the number of rules.
#[derive(Debug)]
pub(crate) struct Texts {
    all: Option<AhoCorasick>,
    ids: BTreeMap<String, usize>,
}

impl Texts {
    /// Returns the number of texts. Their ids are smaller.
    pub(crate) fn count(&self) -> usize {
        self.ids.len()
    }

    /// Returns the number of a text.
    pub(crate) fn id(&self, text: &str) -> Option<usize> {
        self.ids.get(text).copied()
    }

    /// Returns the ids of the texts in the line; a text that occurs twice is returned twice.
    pub(crate) fn within(&self, line: &str) -> impl Iterator<Item = usize> {
        self.all.iter().flat_map(move |all| all.find_overlapping_iter(line)).map(|found| found.pattern().as_usize())
    }
}

/// Returns the name of a program without directory, extension and version, unless they are part of a known name.
pub(crate) fn program_name(knows: impl Fn(&str) -> bool, word: &str) -> String {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    if knows(name) {
        return name.to_owned();
    }
    let stem = [".exe", ".cmd", ".bat", ".ps1", ".js", ".mjs", ".cjs", ".phar", ".py"]
        .iter()
        .find_map(|extension| name.strip_suffix(extension))
        .unwrap_or(name);
    if knows(stem) {
        return stem.to_owned();
    }
    stem.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-').to_owned()
}

/// Returns the entries of [`embedded::STARTS`] for a program.
fn starts_of(program: &str) -> &'static [(&'static str, usize, &'static [&'static str])] {
    let from = embedded::STARTS.partition_point(|(name, ..)| *name < program);
    let count = embedded::STARTS[from..].iter().take_while(|(name, ..)| *name == program).count();
    &embedded::STARTS[from..from + count]
}

impl Catalogue {
    /// Returns the catalogue that is part of the binary.
    pub fn embedded() -> &'static Arc<Self> {
        static CATALOGUE: LazyLock<Arc<Catalogue>> = LazyLock::new(|| Arc::new(Catalogue::unread()));
        &CATALOGUE
    }

    /// Returns the catalogue of the binary with the runners of a repository.
    pub fn with_own(mut own: Vec<Runner>) -> Self {
        let mut catalogue = Self::unread();
        own.sort_by(|one, other| one.id.cmp(&other.id));
        for runner in &mut own {
            runner.arguments.add_nothing(&catalogue.names().nothing_arguments);
        }
        catalogue.others = own;
        catalogue
    }

    /// Returns the runners of the repository.
    pub fn own(&self) -> &[Runner] {
        &self.others
    }

    /// Returns the catalogue that is part of the binary, of which nothing was read yet.
    fn unread() -> Self {
        Self { embedded: embedded::RUNNERS.iter().map(|_| OnceLock::new()).collect(), ..Self::default() }
    }

    /// Returns `true` if the catalogue may know the program that a word starts. No table is read for it.
    pub fn may_start(&self, word: &str) -> bool {
        let knows = |name: &str| {
            embedded::PROGRAMS.binary_search(&name).is_ok()
                || self.others.iter().any(|runner| runner.starts(name).next().is_some())
        };
        knows(&program_name(knows, word))
    }

    /// Returns the runner of the binary at this place in [`embedded::RUNNERS`].
    fn at(&self, place: usize) -> Option<&Runner> {
        let read = || {
            let mut runner: Runner = embedded::table(embedded::RUNNERS[place].file);
            runner.arguments.add_nothing(&self.names().nothing_arguments);
            runner
        };
        Some(self.embedded.get(place)?.get_or_init(read))
    }

    /// Returns the meanings of task names.
    pub fn names(&self) -> &TaskNames {
        self.names.get_or_init(|| embedded::table("runners/_tasks.toml"))
    }

    /// Returns `true` if a program of this name does its own work, or is a task runner that packages install.
    pub(crate) fn runs_as_program(&self, program: &str) -> bool {
        let mut starts = self.starts(program).peekable();
        let own = |rules: &TaskRules| rules.packaged.iter().any(|name| name == program);
        starts.peek().is_some() && starts.all(|(runner, _)| runner.task.as_ref().is_none_or(own))
    }

    /// Returns the runner with this id.
    pub fn runner(&self, id: &str) -> Option<&Runner> {
        let place = embedded::RUNNERS.binary_search_by_key(&id, |summary| summary.id).ok();
        place.and_then(|place| self.at(place)).or_else(|| self.others.iter().find(|runner| runner.id == id))
    }

    /// Returns the texts that rules need.
    pub(crate) fn texts(&self) -> &Texts {
        self.texts.get_or_init(|| {
            let summaries = embedded::RUNNERS.iter();
            let rules = self.others.iter().flat_map(|runner| &runner.output.line);
            let mut texts: BTreeSet<&str> = rules.flat_map(|rule| &rule.has).map(String::as_str).collect();
            texts.extend(summaries.flat_map(|summary| summary.texts));
            // Not the automaton that is fastest to run: it takes longer to make than most outputs take to read.
            let all = AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(&texts).ok();
            Texts { all, ids: texts.into_iter().map(str::to_owned).zip(0..).collect() }
        })
    }

    /// Returns `true` if this output, with all that were read before, is too short for the automaton of all texts.
    pub(crate) fn is_short(&self, output: &str) -> bool {
        let before = self.output_read.fetch_add(output.len(), Ordering::Relaxed);
        before.saturating_add(output.len()) < MAX_OUTPUT_WITHOUT_AUTOMATON
    }

    /// Returns all runners, those of the binary first, by id.
    pub fn runners(&self) -> impl Iterator<Item = &Runner> {
        (0..self.embedded.len()).filter_map(|place| self.at(place)).chain(&self.others)
    }

    /// Returns the runners of which a line may be in `output`, or all if it is not given.
    pub(crate) fn runners_within(&self, output: Option<&str>, tasks_only: bool) -> impl Iterator<Item = &Runner> {
        let printed =
            move |text: &&str| output.is_none_or(|output| memmem::find(output.as_bytes(), text.as_bytes()).is_some());
        let summaries = embedded::RUNNERS.iter().enumerate();
        let possible = move |(_, summary): &(usize, &RunnerSummary)| {
            (summary.is_task || !tasks_only) && (output.is_none() || summary.texts.iter().any(&printed))
        };
        let others = self.others.iter().filter(move |runner| runner.task.is_some() || !tasks_only);
        summaries.filter(possible).filter_map(|(place, _)| self.at(place)).chain(others)
    }

    /// Returns the ways to start something through a program of this name.
    pub(crate) fn starts(&self, program: &str) -> impl Iterator<Item = (&Runner, &Invoke)> {
        self.starts_if(program, |_| true)
    }

    /// Returns the ways to start something through a program of this name of which every word may be among `given`.
    pub(crate) fn starts_given(
        &self,
        program: &str,
        given: &[Option<&str>],
    ) -> impl Iterator<Item = (&Runner, &Invoke)> {
        let may_be = |word: &&str| word.split('|').any(|word| word.contains('*') || given.contains(&Some(word)));
        self.starts_if(program, move |words| words.iter().all(&may_be))
    }

    fn starts_if(&self, program: &str, fits: impl Fn(&[&str]) -> bool) -> impl Iterator<Item = (&Runner, &Invoke)> {
        let mut places: Vec<usize> =
            starts_of(program).iter().filter(|(.., words)| fits(words)).map(|(_, place, _)| *place).collect();
        places.dedup();
        let runners = places.into_iter().filter_map(|place| self.at(place)).chain(&self.others);
        runners.flat_map(move |runner| runner.starts(program).map(move |invoke| (runner, invoke)))
    }

    /// Returns `true` if a program of this name is in the catalogue.
    pub fn knows_program(&self, program: &str) -> bool {
        !starts_of(program).is_empty() || self.others.iter().any(|runner| runner.starts(program).next().is_some())
    }

    /// Returns the rules that read the output of these runners.
    pub(crate) fn rules_of<'a>(&'a self, runners: impl IntoIterator<Item = &'a Runner>) -> Vec<&'a LineRule> {
        runners.into_iter().flat_map(|runner| self.output_rules(runner).1).collect()
    }

    /// Returns the table with the lines that name tests in the output of a runner: its own, or that of the runner whose
    /// output it has.
    pub(crate) fn printed_names_of<'a>(&'a self, runner: &'a Runner) -> Option<&'a NameSource> {
        let like = || runner.output.like.as_deref().and_then(|id| self.runner(id)?.names.as_ref());
        let own = runner.names.as_ref().filter(|names| names.has_lines());
        own.or_else(|| like().filter(|names| names.has_lines()))
    }

    /// Returns lines that a runner prints when it fails: its own, or those of the runner whose output it has.
    pub(crate) fn failure_lines<'a>(&'a self, runner: &'a Runner) -> &'a [String] {
        let own = &runner.output.failure_shows;
        let like = || Some(&self.runner(runner.output.like.as_deref()?)?.output.failure_shows);
        if own.is_empty() { like().unwrap_or(own) } else { own }
    }

    /// Returns the rules that read the output of a runner, and the number of summaries it prints.
    pub(crate) fn output_rules<'a>(&'a self, runner: &'a Runner) -> (Summaries, Vec<&'a LineRule>) {
        let mut rules: Vec<&LineRule> = runner.output.line.iter().collect();
        let mut summaries = runner.output.summaries;
        // One step only: a chain would make it hard to see what applies.
        if let Some(like) = runner.output.like.as_deref().and_then(|id| self.runner(id)) {
            rules.extend(&like.output.line);
            if runner.output.summaries == Summaries::default() {
                summaries = like.output.summaries;
            }
        }
        (summaries, rules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_start_something_is_known_without_the_catalogue() {
        for word in ["cargo", "./gradlew", "/usr/bin/python3.12", "pytest.exe", "jest.js", "node"] {
            assert!(Catalogue::embedded().may_start(word), "{word}");
        }
        for word in ["ls", "cat", "./check", "", "/"] {
            assert!(!Catalogue::embedded().may_start(word), "{word}");
        }
    }

    #[test]
    fn summaries_agree_with_the_files() {
        let all: Vec<&Runner> = Catalogue::embedded().runners().collect();
        for program in embedded::PROGRAMS {
            let of_all: Vec<String> =
                all.iter().flat_map(|runner| runner.starts(program).map(|invoke| called(runner, invoke))).collect();
            let found = Catalogue::embedded().starts(program).map(|(runner, invoke)| called(runner, invoke));
            assert_eq!(found.collect::<Vec<_>>(), of_all, "{program}");
        }
        for (runner, summary) in all.iter().zip(embedded::RUNNERS) {
            assert_eq!((runner.id.as_str(), runner.task.is_some()), (summary.id, summary.is_task));
            let texts: BTreeSet<&str> =
                runner.output.line.iter().flat_map(|rule| &rule.has).map(String::as_str).collect();
            assert_eq!(Vec::from_iter(texts), summary.texts, "{}", runner.id);
            for program in runner.invoke.iter().flat_map(|invoke| &invoke.program) {
                assert!(embedded::PROGRAMS.contains(&program.as_str()), "{program}");
            }
        }
    }

    fn called(runner: &Runner, invoke: &Invoke) -> String {
        format!("{} {invoke:?}", runner.id)
    }

    #[test]
    fn every_pattern_compiles_and_every_reference_leads_to_a_runner() {
        let catalogue = Catalogue::embedded();
        assert!(catalogue.runners().count() >= 5, "the embedded catalogue is empty");
        for runner in catalogue.runners() {
            for rule in &runner.output.line {
                rule.check().unwrap_or_else(|error| panic!("{}: {error}", runner.id));
            }
            if let Some(names) = &runner.names {
                names.check().unwrap_or_else(|error| panic!("{}: {error}", runner.id));
            }
            let like = runner.output.like.as_deref();
            assert!(like.is_none_or(|like| catalogue.runner(like).is_some()), "{}: {like:?}", runner.id);
        }
    }
}
