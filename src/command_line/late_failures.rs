//! Failures of a run whose tests all passed, by the table `gates/late-failures.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};
use serde::Deserialize;

use super::command_table;
use super::output_filters::{OutputPath, in_notation};
use crate::embedded;
use crate::runner::{Catalogue, ProjectFiles, Runner, output_lines, resolve, shown_line, without_prefix};
use crate::shell::expanded_program::Leaf;

/// The largest number of lines of tasks that are read.
const MAX_LINES: usize = 64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LateFailureTable {
    crash: Vec<String>,
    minimum: Vec<CoverageMinimum>,
    uncounted: Vec<UncountedTests>,
    parts: Vec<RunParts>,
}

/// A minimum of coverage.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CoverageMinimum {
    runners: Vec<String>,
    files: Vec<String>,
    says: Vec<String>,
    /// Texts without one of which no coverage is measured; none: it always is.
    #[serde(default)]
    measures: Vec<String>,
    /// The same for a program that starts the runner: they say nothing of a line that starts the runner by itself.
    #[serde(default)]
    measured_around: Vec<String>,
    shows: String,
    #[serde(default)]
    above: usize,
    #[serde(default)]
    errors: bool,
}

/// Tests that are in no count of a summary but that of all tests.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UncountedTests {
    runners: Vec<String>,
    shows: Vec<String>,
    total: String,
    passed: String,
}

/// The parts of a run that prints a summary for each of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunParts {
    runners: Vec<String>,
    /// The start of a summary.
    summary: String,
    /// A file, and the pattern of what in it makes the number of parts unknown.
    settings: (String, String),
    /// Options that choose parts.
    unless: Vec<String>,
    /// Files, each with the number of parts that it makes.
    files: BTreeMap<String, usize>,
    /// A folder, and the ending of the files in it that are parts.
    folder: (String, String),
}

fn table() -> &'static LateFailureTable {
    static TABLE: LazyLock<LateFailureTable> = LazyLock::new(|| embedded::table("late-failures.toml"));
    &TABLE
}

/// A run, and the part of its output that is in the record.
pub(super) struct ShownRun<'a> {
    /// The runners that worked in it.
    pub(super) runners: &'a [&'a Runner],
    /// The files as it saw them.
    pub(super) files: &'a dyn ProjectFiles,
    /// The runners that are known.
    pub(super) catalogue: &'a Catalogue,
    /// The command.
    pub(super) leaf: &'a Leaf,
    /// The path from the command to the record.
    pub(super) view: &'a OutputPath,
    /// The record.
    pub(super) output: &'a str,
    /// The closing line of its tests.
    pub(super) closing: Option<&'a str>,
}

impl ShownRun<'_> {
    /// Returns the reason why the run may have failed although its tests passed, or `None` if there is none.
    pub(super) fn may_have_failed(&self) -> Option<&'static str> {
        if self.has_crashed() {
            return Some("it crashed after its tests");
        }
        let hides = |minimum: &CoverageMinimum| minimum.applies(self) && !self.would_show(minimum);
        if table().minimum.iter().any(hides) {
            return Some("a minimum of coverage is set, and what is shown would not say that it is not met");
        }
        if table().parts.iter().any(|parts| parts.are_missing(self)) {
            return Some("it shows fewer summaries than the project has parts with tests");
        }
        let is_hidden = table().uncounted.iter().any(|tests| tests.are_hidden(self));
        is_hidden.then_some("what is shown would not say that a test was cancelled")
    }

    /// Returns `true` if a line after the closing one says that its process crashed.
    fn has_crashed(&self) -> bool {
        static CRASHES: LazyLock<Option<RegexSet>> = LazyLock::new(|| RegexSet::new(&table().crash).ok());
        let mut after = output_lines(self.output).skip(self.closing_at().map_or(0, |at| at + 1));
        self.closing.is_some()
            && CRASHES.as_ref().is_none_or(|crashes| after.any(|line| crashes.is_match(line.trim_start())))
    }

    /// Returns the number of lines before the closing one.
    fn closing_at(&self) -> Option<usize> {
        let closing = self.closing?;
        let is_closing = |line: &str| shown_line(line).trim() == closing.trim();
        let lines: Vec<_> = output_lines(self.output).collect();
        lines.iter().rposition(|line| is_closing(line) || without_prefix(line).is_some_and(is_closing))
    }

    /// Returns the lines of the tasks that it calls, as far as their files can be followed.
    fn scripts(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut waiting = vec![self.leaf.words()];
        while let Some(words) = waiting.pop().filter(|_| found.len() < MAX_LINES) {
            for line in resolve(self.catalogue, &words, self.files).into_iter().filter_map(|task| task.script).flatten()
            {
                let commands =
                    line.split(['&', '|', ';']).map(|part| part.split_whitespace().map(|word| Some(word.to_owned())));
                waiting.extend(commands.map(Iterator::collect));
                found.push(line);
            }
        }
        found
    }

    /// Returns `true` if the failure would be in the record.
    fn would_show(&self, minimum: &CoverageMinimum) -> bool {
        let before = || self.closing_at().unwrap_or(0);
        let is_cut = self.view.cuts_start() && minimum.above > 0 && before() < minimum.above;
        let is_hidden = minimum.errors && !self.view.merged && !self.view.errors_only;
        let passes = self.view.only_cuts() || self.view.shows(std::slice::from_ref(&minimum.shows));
        passes && !is_cut && !is_hidden
    }
}

impl CoverageMinimum {
    /// Returns `true` if it is set for a run.
    fn applies(&self, run: &ShownRun<'_>) -> bool {
        run.runners.iter().any(|runner| self.runners.contains(&runner.id))
            && self.is_said(run, &self.says)
            && (self.measures.is_empty() || self.is_said(run, &self.measures) || self.is_measured_around(run))
    }

    fn is_measured_around(&self, run: &ShownRun<'_>) -> bool {
        let starts_itself = self.runners.iter().any(|runner| run.leaf.argv.iter().any(|arg| arg.text == *runner));
        let around = &self.measured_around;
        let says = |text: &str| around.iter().any(|said| text.contains(said.as_str()));
        if starts_itself {
            says(&run.leaf.text) || run.scripts().iter().any(|line| says(line))
        } else {
            self.is_said(run, around)
        }
    }

    /// Returns `true` if the line, its tasks or its settings hold one of these texts.
    fn is_said(&self, run: &ShownRun<'_>, texts: &[String]) -> bool {
        let says = |text: &str| texts.iter().any(|said| text.contains(said.as_str()));
        let is_set_in = |path: &str| run.files.read(path).is_some_and(|text| says(&without_scripts(path, text)));
        let is_set_by = |line: &str| says(line) || named_settings(line).into_iter().any(is_set_in);
        is_set_by(&run.leaf.text)
            || self.files.iter().any(|path| is_set_in(path))
            || run.scripts().iter().any(|line| is_set_by(line))
    }
}

/// Returns the files that a command names as its settings: `--config=a.js`, `-c a.ini`, `--rcfile a`.
fn named_settings(line: &str) -> Vec<&str> {
    let mut words = line.split_whitespace().peekable();
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        let (name, attached) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        if name == "-c" || name.starts_with("--") && (name.contains("config") || name.contains("rc")) {
            found.extend(attached.or_else(|| words.peek().copied()).map(|path| path.trim_matches(['"', '\''])));
        }
    }
    found
}

/// Returns the text of a file; of a `package.json`, that without its scripts, of which only some are called.
fn without_scripts(path: &str, text: String) -> String {
    if path != "package.json" {
        return text;
    }
    let Ok(mut package) = serde_json::from_str::<serde_json::Value>(&text) else { return text };
    if let Some(package) = package.as_object_mut() {
        package.remove("scripts");
    }
    package.to_string()
}

impl RunParts {
    /// Returns `true` if the record shows fewer summaries than a run of all tests prints, and the failure of a part may be
    /// hidden by a filter.
    fn are_missing(&self, run: &ShownRun<'_>) -> bool {
        let is_one = |runner: &&Runner| self.runners.contains(&runner.id);
        let chooses = |word: &str| self.unless.iter().any(|option| word.split('=').next() == Some(option));
        if !run.runners.iter().any(is_one) || run.view.only_cuts() || run.leaf.texts().any(chooses) {
            return false;
        }
        let shown = run.output.lines().filter(|line| shown_line(line).trim_start().starts_with(&self.summary)).count();
        self.fewest(run.files).is_some_and(|fewest| (1..fewest).contains(&shown))
    }

    /// Returns the number of parts that the project has at the least, or `None` if its settings may say otherwise.
    fn fewest(&self, files: &dyn ProjectFiles) -> Option<usize> {
        let settings = files.read(&self.settings.0)?;
        if Regex::new(&self.settings.1).ok()?.is_match(&settings) {
            return None;
        }
        let of_files: usize = self.files.iter().filter(|(path, _)| files.has(path)).map(|(_, parts)| parts).sum();
        let (folder, end) = &self.folder;
        let in_folder = files.names(folder).unwrap_or_default();
        Some(of_files + in_folder.iter().filter(|name| name.ends_with(end.as_str())).count())
    }
}

impl UncountedTests {
    /// Returns `true` if there may be some, although the visible lines name none.
    fn are_hidden(&self, run: &ShownRun<'_>) -> bool {
        let last = |pattern: &str| {
            let pattern = Regex::new(pattern).ok()?;
            run.output
                .lines()
                .rev()
                .find_map(|line| pattern.captures(line.trim())?.get(1)?.as_str().parse::<u64>().ok())
        };
        let all_passed = || last(&self.total).is_some_and(|total| last(&self.passed) == Some(total));
        let is_one = |runner: &&Runner| self.runners.contains(&runner.id);
        let shows = in_notation(self.shows.clone(), run.closing);
        let is_shown = run.view.only_cuts() || run.view.shows(&shows);
        let is_cut = run.view.cuts_end(command_table::table().visible_lines(run.output));
        run.runners.iter().any(is_one) && (!is_shown || is_cut) && !all_passed()
    }
}
