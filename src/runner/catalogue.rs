//! The runner catalogue: `gates/runners/*.toml`, parsed and looked up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use memchr::memmem;
use serde::Deserialize;

use crate::embedded::{self, RunnerSummary};
use crate::lazy_patterns::compiled;
use crate::runner::arguments::Arguments;
use crate::runner::command_kind::{CommandKind, ExitMeaning};
use crate::runner::example::Example;
use crate::runner::generated::GeneratedFile;
use crate::runner::name_source::NameSource;
use crate::runner::output_line::{LineRule, Means};
use crate::runner::project_files::ProjectFiles;
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

/// A runner: the content of one file of `gates/runners/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Runner {
    /// Its name as people write it: `cargo test`. The file has the same name with `-` for each blank.
    pub id: String,
    /// The kinds of work that it does; empty for a task runner, whose task decides.
    #[serde(default)]
    pub kinds: Vec<CommandKind>,
    /// `true` if it stands for many programs that are alike, each with its own name.
    #[serde(default)]
    pub family: bool,
    /// The ways to start it.
    #[serde(default)]
    pub invoke: Vec<Invoke>,
    /// The rules for its arguments.
    #[serde(default)]
    pub arguments: Arguments,
    /// The rules to find and name tasks, if it is a task runner.
    pub task: Option<TaskRules>,
    /// The files of builds that a generator wrote, and what their targets do.
    #[serde(default)]
    pub generated: Vec<GeneratedFile>,
    /// The meaning of exit status 0.
    #[serde(default)]
    pub exit: ExitMeaning,
    /// `true` if exit status 0 is possible although no test was executed.
    #[serde(default = "yes")]
    pub empty_exits_zero: bool,
    /// Exit statuses that mean that it did not understand its arguments, and executed nothing.
    #[serde(default)]
    pub usage_exit: Vec<i32>,
    /// The extensions of the files that it changes where it edits.
    #[serde(default)]
    pub formats: Vec<String>,
    /// The way in which it finds that what it built before is of the present sources, if other sources can pass for them.
    pub reuse: Option<BuildReuse>,
    /// Report files (`JUnit` XML) it writes, as globs relative to the directory it runs in.
    #[serde(default)]
    pub reports: Vec<String>,
    /// `true` if it changes files of the working tree by default.
    #[serde(default)]
    pub edits: bool,
    /// The rules to read its output.
    #[serde(default)]
    pub output: Output,
    /// The way in which its tests are known by name, if they are.
    pub names: Option<NameSource>,
    /// Command lines with the classification they must get. They are tests.
    #[serde(default)]
    pub example: Vec<Example>,
    /// The digest of its file, for a runner of the repository.
    #[serde(skip)]
    pub digest: String,
}

impl Runner {
    /// Returns `true` if its counts are those of tests. Others count packages or targets.
    pub fn counts_tests(&self) -> bool {
        let is_part = |rule: &LineRule| matches!(rule.means, Means::PartPassed | Means::PartFailed);
        !self.output.line.iter().any(is_part)
    }
}

/// The way in which a runner finds that what it built before is of the present sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BuildReuse {
    /// The sources are older than what was built.
    ByAge,
    /// The sources have the size, and the time in seconds, of those from which Python compiled.
    ByStamp,
    /// It takes what was built as it is.
    AsItIs,
    /// It runs programs that another tool builds, and builds nothing.
    Unbuilt,
}

const fn yes() -> bool {
    true
}

/// One way to start a runner.
// The keys of a file, each of them one yes or no of its own.
#[expect(clippy::struct_excessive_bools)]
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Invoke {
    /// Names of the program, without directory and extension.
    pub program: Vec<String>,
    /// The words that must follow, in their order, options before and between them allowed. `test|t` is either; `*x`
    /// ends in `x`, `x*` begins with it; a word that begins with `-` is an option that must be there.
    #[serde(default)]
    pub words: Vec<String>,
    /// Options before the last of `words` that take a value as the next argument.
    #[serde(default)]
    pub before: Vec<String>,
    /// Options whose value is the directory to work in, when started like this.
    #[serde(default)]
    pub directory: Vec<String>,
    /// `true` if the words may be anywhere among the positional arguments (`mvn clean test`).
    #[serde(default)]
    pub anywhere: bool,
    /// The number of arguments after the words that are neither a task nor a filter.
    #[serde(default)]
    pub skip: usize,
    /// `true` if the last of these is the folder in which it works, as if it were started there.
    #[serde(default)]
    pub in_folder: bool,
    /// The options that give the first arguments after the words, which are not options, other names
    /// (`discover tests`).
    #[serde(default)]
    pub positions: Vec<String>,
    /// The options that the words stand for: `pnpm recursive run` is `pnpm -r run`.
    #[serde(default)]
    pub adds: Vec<String>,
    /// The task that is called, for a task runner with a command of its own for it (`npm test`).
    pub task: Option<String>,
    /// The kinds of work that it does when started like this, if they differ from the runner's.
    pub kinds: Option<Vec<CommandKind>>,
    /// The part it is restricted to when started like this.
    #[serde(default)]
    pub filtered: bool,
    /// `true` if it executes nothing when started like this.
    #[serde(default)]
    pub nothing: bool,
    /// `true` if it changes files when started like this, or `None` if it is as the runner says.
    pub edits: Option<bool>,
    /// The meaning of exit status 0 when started like this, if it differs from the runner's.
    pub exit: Option<ExitMeaning>,
    /// `true` if it keeps running and watches for changes when started like this.
    #[serde(default)]
    pub watches: bool,
    /// `true` if it is the same check as without the words (`vitest run`, `vitest --run`).
    #[serde(default)]
    pub plain: bool,
}

/// Parts of a run of which the tests themselves print the last line, so that a process that ended early is seen.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SealedPart {
    /// A regular expression of the line that says that a part passed.
    pub passed: String,
    /// A regular expression of the last line of the tests, before it. If it has the group `part`, both name the part.
    pub seal: String,
    /// The options with which that line is shown, and beginnings of other lines that are shown only then; if empty, it always
    /// is.
    #[serde(default)]
    pub shown_by: Vec<String>,
}

/// Files with commands of a runner that are not followed: they may start another runner, which always prints something.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ExpectedTests {
    files: Vec<String>,
    /// A regular expression of the commands that start such a runner.
    has: String,
    /// Texts of settings with which nothing of its output is shown.
    #[serde(default)]
    lacks: Vec<String>,
}

impl Output {
    /// Returns `true` if a successful run with these files of the project always prints something about tests.
    pub(crate) fn speaks(&self, files: &dyn ProjectFiles) -> bool {
        self.always || self.expects.as_ref().is_some_and(|expected| expected.are_started_by(files))
    }
}

impl ExpectedTests {
    /// Returns `true` if one of the files starts such a runner and shows its output.
    pub(crate) fn are_started_by(&self, files: &dyn ProjectFiles) -> bool {
        let starts = |text: &String| {
            compiled(&self.has).is_some_and(|has| has.is_match(text))
                && !self.lacks.iter().any(|lacked| text.contains(lacked.as_str()))
        };
        self.files.iter().filter_map(|file| files.read(file)).any(|text| starts(&text))
    }
}

/// The rules to read a runner's output.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[expect(clippy::struct_excessive_bools, reason = "independent keys of a file")]
pub struct Output {
    /// The runner whose rules are used as well, because it does the work.
    pub like: Option<String>,
    /// The number of summaries that one run prints.
    pub summaries: Summaries,
    /// `true` if a failing run always reports the failure at its end, so that an end without it shows a pass of the
    /// whole. If this is `false`, the start of the run must be visible as well.
    pub failure_ends: bool,
    /// `true` if a summary with a total counts only what passed: the other tests failed.
    pub rest_fails: bool,
    /// Options with which the parts after a failed one run as well (`--no-fail-fast`); `*`: they always do. The summary
    /// at the end is then that of one part.
    pub goes_on: Vec<String>,
    /// Lines that such a run prints at its very end when a part of it failed. If empty, its end does not show it.
    pub goes_on_shows: Vec<String>,
    /// `true` if a successful run always prints something, unless a word of the command contains one of `hushed`.
    pub always: bool,
    /// See `always`.
    pub hushed: Vec<String>,
    /// The parts that end with a line of the tests themselves.
    pub sealed: Vec<SealedPart>,
    /// The files that show whether it starts tests which always print something.
    pub expects: Option<ExpectedTests>,
    /// Lines that a failing run always prints: a complete output without them shows that nothing failed.
    pub failure_shows: Vec<String>,
    /// `true` if one of these lines is the last one of every failing run, so that another end shows a pass.
    pub failure_is_last: bool,
    /// Options with which other lines may follow it.
    pub goes_past: Vec<String>,
    /// The variables that give it such options.
    pub goes_past_with: Vec<String>,
    /// The ends of the lines with which it says that it ignores a failure.
    pub ignored: Vec<String>,
    /// The lines that say something.
    pub line: Vec<LineRule>,
}

impl Default for Output {
    fn default() -> Self {
        let summaries = Summaries::default();
        let (goes_on, goes_on_shows, failure_shows, line) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self {
            like: None,
            summaries,
            failure_ends: true,
            rest_fails: false,
            always: false,
            hushed: Vec::new(),
            sealed: Vec::new(),
            expects: None,
            goes_on,
            goes_on_shows,
            failure_shows,
            failure_is_last: false,
            goes_past: Vec::new(),
            goes_past_with: Vec::new(),
            ignored: Vec::new(),
            line,
        }
    }
}

/// The number of summaries that one run prints, which decides the meaning of several summaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Summaries {
    /// One at the end. Several are several runs, and are added up.
    #[default]
    One,
    /// One for each binary, package or module. They are added up; a cut output may hide the first ones.
    Each,
    /// One that is printed again as it grows. The last counts.
    Growing,
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

/// Returns the name of the file of a runner, below the folder of the tables.
pub fn file_of(id: &str) -> String {
    format!("runners/{}.toml", id.replace(' ', "-"))
}

impl Invoke {
    /// Returns its weight among ways that all match. A task runner takes every word; what is named in full comes first.
    pub(super) fn weight(&self, runner: &Runner) -> usize {
        self.words.len() * 2 + usize::from(runner.task.is_none() || self.task.is_some())
    }
}

impl Runner {
    /// Returns the ways to start it through a program of this name.
    fn starts(&self, program: &str) -> impl Iterator<Item = &Invoke> {
        self.invoke.iter().filter(move |invoke| invoke.program.iter().any(|name| name == program))
    }
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
