//! The rules to read the output of a runner, as its file describes them.

use serde::Deserialize;

use crate::lazy_patterns::compiled;
use crate::runner::output_line::LineRule;
use crate::runner::project_files::ProjectFiles;

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
    /// Options with which it goes on if they are there more than once: each names a part.
    pub goes_on_with_several: Vec<String>,
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
            goes_on_with_several: Vec::new(),
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
