//! The outcome of one check of a line, by the recorded status and output.

use crate::foreign_text::beginning;
use crate::runner::output_line::Means;
use crate::runner::output_rules::Summaries;
use crate::runner::{Catalogue, CommandKind, OutputOutcome, OutputReading, Runner, read_output_as};
use crate::shell::command_outcome::{CommandOutcome, ObservedEnding, Outcomes};
use crate::shell::exit_status::{self, Fate};
use crate::shell::expanded_program::{InputSource, Leaf, LeafId};

use super::command_table::table;
use super::filter_programs::tears;
use super::forged_output::Readers;
use super::late_failures::ShownRun;
use super::output_filters::{OutputPath, VisibleSize, in_notation, ways};
use super::purpose::{Purpose, seen_by};
use super::reviewed_line::LineJudge;
use super::shown_output::may_show;
use super::understanding::CHECKS;
use super::{CheckOutcome, Extent, contradiction, forged_output, output_evidence};

/// One check of a line, with the record of the line.
pub(super) struct CheckView<'a> {
    pub(super) judge: &'a LineJudge<'a>,
    pub(super) leaf: LeafId,
    /// The outcomes that the status alone allows.
    pub(super) fate: Fate,
    /// All checks of the deciding kind.
    pub(super) ids: &'a [LeafId],
}

/// The outcome of a check, and the evidence for it.
pub(super) struct CheckEnding {
    pub(super) outcome: CheckOutcome,
    /// The evidence, as the end of a sentence.
    pub(super) because: String,
    /// `true` if the text of the output shows the outcome, not a status.
    pub(super) by_output: bool,
    /// `true` if the check must have run.
    pub(super) ran: bool,
    /// `true` if neither the status nor a line of its own shows how it ended.
    pub(super) is_open: bool,
    /// The reading of the output.
    pub(super) reading: OutputReading,
}

/// The evidence for a pass of a task runner whose last line is not the one of a failure.
pub(super) const NO_LAST_LINE: &str = "its last line would say that it failed, and does not";

/// The evidence for a pass of a silent task, whose part of the output is marked.
pub(super) const SILENT_TASK: &str = "it prints nothing unless it fails, and nothing follows the line that names it";

impl<'a> CheckView<'a> {
    /// Returns the outcome, and the evidence for it.
    pub(super) fn ending(&self) -> CheckEnding {
        let ending = self.own_ending();
        let Some(later) = Some(()).filter(|()| ending.is_open).and_then(|()| self.follower()) else { return ending };
        let text = beginning(self.judge.program().leaves[later].text.trim(), 60);
        let because = format!("`{text}` runs only after it succeeded, and passed");
        CheckEnding { outcome: CheckOutcome::Pass, because, by_output: false, ..ending }
    }

    /// Does the same, without the outcomes of the other checks.
    pub(super) fn own_ending(&self) -> CheckEnding {
        let whole = self.judge.record.output.filter(|output| table().visible_lines(output).is_some());
        let visible = whole.map(VisibleSize::of);
        let ways = ways(self.judge.program(), self.leaf, visible);
        let mut reading = self.reading(&ways);
        if reading.says == OutputOutcome::NothingRan && self.hides_passes(&ways) {
            // What is left says only that some part of it had no test.
            reading = OutputReading::default();
        }
        let (possible, by_status) = self.by_status(&ways, &reading);
        let is_by_status = by_status.is_some();
        let (outcome, because) = by_status.unwrap_or_else(|| self.by_output(possible, &ways, &reading));
        // Whatever else was printed, no failure is among it.
        let by_output = !is_by_status && ![NO_LAST_LINE, SILENT_TASK].contains(&because.as_str());
        let is_quiet = matches!(reading.says, OutputOutcome::Silent | OutputOutcome::Passed);
        let is_open = !is_by_status && matches!(outcome, CheckOutcome::Unknown | CheckOutcome::NoTests) && is_quiet;
        CheckEnding { outcome, because, by_output, ran: !possible.not_run, is_open, reading }
    }

    /// Returns the outcomes that the status leaves open, and the one that it shows, if it does.
    fn by_status(&self, ways: &[OutputPath], reading: &OutputReading) -> (Outcomes, Option<(CheckOutcome, String)>) {
        let record = self.judge.record;
        let purpose = self.judge.purpose(self.leaf);
        let tests = purpose.extent.is_some();
        let seen: Vec<ObservedEnding> = self.judge.seen.iter().filter(|seen| seen.leaf != self.leaf).copied().collect();
        // What looks like the failure of a later command may be what the tests printed.
        let is_told = !tests || ways.is_empty() || self.tells_itself(reading);
        let prints = |id: LeafId| matches!(self.judge.program().leaves[id].name(), Some("echo" | "printf"));
        let is_failure = |seen: &ObservedEnding| {
            seen.leaf > self.leaf && seen.was.only(CommandOutcome::Failed) && !prints(seen.leaf)
        };
        let seen: Vec<ObservedEnding> = seen.into_iter().filter(|seen| is_told || !is_failure(seen)).collect();
        let narrowed = exit_status::fate_seen(self.judge.program(), self.leaf, &seen);
        let fits = narrowed.complete && !seen.is_empty() && narrowed.given(record.status).possible();
        let fate = if fits { narrowed } else { self.fate };
        let possible = fate.given(record.status);
        let status = match (record.status, fits && narrowed.given(record.status) != self.fate.given(record.status)) {
            (_, true) => "what the line prints about its other commands".to_owned(),
            (Some(status), false) => format!("exit status {status}"),
            (None, false) => String::new(),
        };
        let recorded = (record.status.is_some() || fits) && self.fate.complete && purpose.honest();
        let shown = if !possible.possible() && record.status.is_some() && self.fate.complete {
            (CheckOutcome::Unknown, format!("{status} is not possible for this line"))
        } else if recorded && possible.only(CommandOutcome::NotRun) {
            (CheckOutcome::NoTests, format!("with {status} it was not reached"))
        } else if recorded && possible.only(CommandOutcome::Failed) {
            match reading.says {
                OutputOutcome::NothingRan if tests => (CheckOutcome::NoTests, said("no test was executed", reading)),
                _ => (CheckOutcome::Fail, format!("{status} shows that it failed")),
            }
        } else if purpose.extent == Some(Extent::NoneExecuted) {
            match reading.says {
                OutputOutcome::Failed if possible.failed => (CheckOutcome::Fail, said("it failed", reading)),
                _ => (CheckOutcome::NoTests, "it executes no test".to_owned()),
            }
        } else if recorded && possible.only(CommandOutcome::Succeeded) {
            match reading.says {
                OutputOutcome::NothingRan if tests => (CheckOutcome::NoTests, said("no test was executed", reading)),
                OutputOutcome::Silent if tests && self.shows_no_test(ways) => {
                    (CheckOutcome::Unknown, format!("{status}, but its output shows no test"))
                }
                OutputOutcome::Silent if tests && self.nothing_counted(ways, reading) => {
                    (CheckOutcome::NoTests, "its output is complete and counts no test".to_owned())
                }
                OutputOutcome::Failed
                    if tests && reading.complete && self.is_plain(ways) && self.ends_in_failure(reading) =>
                {
                    (CheckOutcome::Unknown, said("status 0 contradicts the output", reading))
                }
                _ => (CheckOutcome::Pass, format!("{status} shows that it passed")),
            }
        } else {
            return (possible, None);
        };
        (possible, Some(shown))
    }

    /// Returns `true` if the tests themselves printed how they ended, or at least that they ran, and no failure.
    fn tells_itself(&self, reading: &OutputReading) -> bool {
        let output = self.judge.record.output.unwrap_or_default();
        // A task runner names the task that failed, which may be another one. What an unknown task prints is not known.
        let workers = self.workers();
        let own = read_output_as(self.catalogue(), &workers, CommandKind::Test, output);
        let is_known = reading.says == OutputOutcome::Failed && !workers.is_empty();
        let says = if is_known { own.says } else { reading.says };
        let tells = || contradiction::tells_of_tests(self.catalogue(), self.judge.purpose(self.leaf), output);
        let purposes = &self.judge.understood.purposes;
        let names_later = || {
            let mut later = purposes.iter().skip(self.leaf + 1);
            later.any(|one| output_evidence::task_failed(self.catalogue(), one, purposes, output))
        };
        says == OutputOutcome::Passed
            || (workers.is_empty() || says != OutputOutcome::Failed) && tells()
            || workers.is_empty() && names_later()
    }

    /// Returns `true` if lines of the parts that passed may be missing from the record.
    fn hides_passes(&self, ways: &[OutputPath]) -> bool {
        let parts = |runner: &&Runner| {
            let rules = self.catalogue().output_rules(runner).1;
            rules.iter().any(|rule| rule.means == Means::PartPassed)
        };
        !ways.iter().any(OutputPath::only_cuts) && self.runners().iter().any(parts)
    }

    /// Returns `true` if every line of it is in the record, and none of them mentions a test although its runner always
    /// prints such a line.
    fn shows_no_test(&self, ways: &[OutputPath]) -> bool {
        let purpose = self.judge.purpose(self.leaf);
        let speaks = purpose.invocation.as_ref().is_some_and(|invocation| invocation.speaks);
        let output = self.judge.record.output.unwrap_or_default();
        speaks
            && contradiction::prints_to_record(&self.judge.program().leaves[self.leaf])
            && self.is_plain(ways)
            && contradiction::is_all_there(output)
            && !contradiction::tells_of_tests(self.catalogue(), purpose, output)
    }

    fn is_plain(&self, ways: &[OutputPath]) -> bool {
        self.ids.len() == 1 && ways.iter().any(OutputPath::is_plain)
    }

    /// Returns all runners that are known.
    pub(super) fn catalogue(&self) -> &'a Catalogue {
        self.judge.project.runners
    }

    /// Returns the runners whose closing lines this check prints.
    pub(super) fn runners(&self) -> Vec<&'a Runner> {
        let runs = self.judge.purpose(self.leaf).invocation.as_ref().map(|invocation| &invocation.runs);
        runs.into_iter().flatten().filter_map(|id| self.catalogue().runner(id)).collect()
    }

    /// Returns those of them that do the work, and not the task runners.
    fn workers(&self) -> Vec<&'a Runner> {
        self.runners().into_iter().filter(|runner| runner.task.is_none()).collect()
    }

    /// Returns the most important kind of check that it is.
    pub(super) fn kind(&self) -> CommandKind {
        let purpose = self.judge.purpose(self.leaf);
        CHECKS.into_iter().find(|kind| purpose.is(*kind)).unwrap_or(CommandKind::Test)
    }

    fn reading(&self, ways: &[OutputPath]) -> OutputReading {
        match self.judge.record.output {
            Some(output) if !ways.is_empty() => {
                let runners = self.runners();
                if runners.is_empty() && self.judge.purpose(self.leaf).extent.is_none() {
                    return OutputReading::default();
                }
                let kind = self.kind();
                let read = |text: &str| {
                    let whole = read_output_as(self.catalogue(), &runners, kind, text);
                    self.read_last(text, &whole).unwrap_or(whole)
                };
                let whole = read(output);
                if whole.says == OutputOutcome::Failed || !ways.iter().any(OutputPath::torn) {
                    return whole;
                }
                // A part of a line says what the line does not: `0 passed`, of `1 failed, 10 passed`.
                self.behind_the_tear(output).map(read).unwrap_or_default()
            }
            _ => OutputReading::default(),
        }
    }

    /// Returns the output without a first line that may be the end of a longer one, or `None` if that line cannot be
    /// found.
    fn behind_the_tear<'o>(&self, output: &'o str) -> Option<&'o str> {
        let program = self.judge.program();
        let tear = program.leaves.iter().position(tears)?;
        let files = forged_output::files_of(program, self.leaf);
        let ours = |leaf: &Leaf| {
            matches!(&leaf.stdin, InputSource::Pipe(_))
                || matches!(&leaf.stdin, InputSource::File(Some(file)) if files.contains(&file.as_str()))
                || leaf.argv.iter().skip(1).any(|arg| files.contains(&arg.text.as_str()))
        };
        let fixed = |leaf: &Leaf| {
            leaf.name().is_some_and(|name| output_evidence::MUTE.contains(&name) || matches!(name, "echo" | "printf"))
        };
        let before = program.leaves.iter().enumerate().take(tear);
        let other =
            |(id, leaf): (LeafId, &Leaf)| id != self.leaf && !fixed(leaf) && !ours(leaf) && may_show(program, id);
        if before.into_iter().any(other) {
            return None;
        }
        let purposes = &self.judge.understood.purposes;
        let first = *output_evidence::unexplained(self.catalogue(), program, purposes, self.leaf, output).first()?;
        let mut rest = output;
        while let Some((line, behind)) = rest.split_once('\n') {
            rest = behind;
            if line.trim() == first {
                return Some(rest);
            }
        }
        None
    }

    /// Returns the runners whose lines describe this check. For a task, the summary in the output names them.
    fn readers(&self, reading: &OutputReading) -> Vec<&'a Runner> {
        let runners = self.runners();
        if runners.iter().any(|runner| runner.task.is_none()) {
            return runners;
        }
        // Without a summary the task runner itself must say so.
        let reported = reading.reports.iter().filter_map(|report| self.catalogue().runner(&report.runner));
        reported.chain(runners).collect()
    }

    /// Returns `true` if the runner itself reports that it failed, in a line that only its failure prints.
    fn failed_itself(&self, reading: &OutputReading) -> bool {
        let output = self.judge.record.output.unwrap_or_default();
        output_evidence::failed_itself(self.catalogue(), &self.readers(reading), output)
    }

    /// Returns `true` if the runner reports the failure at the end of its output. Its tests may have printed the same
    /// words before that.
    fn ends_in_failure(&self, reading: &OutputReading) -> bool {
        let readers = self.readers(reading);
        if readers.iter().any(|runner| !runner.output.failure_ends) {
            return self.failed_itself(reading);
        }
        let rules: Vec<_> = readers.iter().flat_map(|runner| self.catalogue().output_rules(runner).1).collect();
        let fails = |means| matches!(means, Means::Failed | Means::PartFailed);
        contradiction::ends_in_failure(&rules, self.judge.record.output.unwrap_or_default(), fails).is_some()
    }

    /// Returns the lines that a failing run always prints.
    pub(super) fn failures(&self, reading: &OutputReading) -> Vec<String> {
        let catalogue = self.catalogue();
        let workers = self.workers();
        let last = self.last_runners().filter(|_| self.passed_last(reading));
        let readers = if let Some(last) = last {
            last
        } else if workers.is_empty() {
            reading.reports.iter().filter_map(|report| catalogue.runner(&report.runner)).collect()
        } else {
            workers
        };
        let lines: Vec<String> =
            readers.into_iter().flat_map(|runner| catalogue.failure_lines(runner)).cloned().collect();
        in_notation(lines, reading.line.as_deref())
    }

    /// Decides by the output, if the status leaves the outcome open.
    fn by_output(&self, possible: Outcomes, ways: &[OutputPath], reading: &OutputReading) -> (CheckOutcome, String) {
        let unknown = |why: &str| (CheckOutcome::Unknown, why.to_owned());
        let Some(output) = self.judge.record.output else {
            return unknown("neither its exit status nor its output is known");
        };
        if ways.is_empty() {
            return unknown("its output is not in the record");
        }
        if !self.fate.complete {
            return unknown("the line is too complex to follow");
        }
        let purpose = self.judge.purpose(self.leaf);
        let tests = purpose.extent.is_some();
        // What succeeds whatever it finds may have found something.
        let possible = Outcomes { failed: possible.failed || possible.succeeded && !purpose.honest(), ..possible };
        match reading.says {
            OutputOutcome::Failed if !possible.failed => unknown("something else failed"),
            OutputOutcome::Failed if self.failed_itself(reading) || self.alone() => {
                (CheckOutcome::Fail, said("it failed", reading))
            }
            // What failed after its passing summary is a later check; its own failure would have said so.
            OutputOutcome::Failed if possible.succeeded && self.passed_before(reading) => {
                self.passed(possible, ways, &OutputReading { says: OutputOutcome::Passed, ..reading.clone() }, output)
            }
            OutputOutcome::Failed if possible.not_run => self.not_reached("something before it failed"),
            OutputOutcome::Failed => unknown("something in the line failed, but the record does not show what"),
            OutputOutcome::Passed => self.passed(possible, ways, reading, output),
            OutputOutcome::NothingRan
                if tests && ways.iter().all(|view| view.cuts_end(table().visible_lines(output))) =>
            {
                unknown("the end of its output is cut off")
            }
            OutputOutcome::NothingRan if tests => (CheckOutcome::NoTests, said("no test was executed", reading)),
            OutputOutcome::NothingRan | OutputOutcome::Silent => self.silent(possible, ways, reading, output),
        }
    }

    /// Returns `true` if every line of it is in the record, and its counts are zero.
    fn nothing_counted(&self, ways: &[OutputPath], reading: &OutputReading) -> bool {
        let output = self.judge.record.output.unwrap_or_default();
        self.is_plain(ways)
            && table().visible_lines(output).is_some()
            && !reading.reports.is_empty()
            && reading.reports.iter().all(|report| report.passed + report.failed == 0)
    }

    /// Returns `true` if its summary says that it passed, and another check comes after it.
    fn passed_before(&self, reading: &OutputReading) -> bool {
        let checks = |purpose: &Purpose| purpose.invocation.as_ref().is_some_and(|found| !found.kinds.is_empty());
        reading.complete
            && !self.failures(reading).is_empty()
            && reading.reports.iter().any(|report| report.passed > 0)
            && reading.reports.iter().all(|report| report.failed == 0)
            && self.judge.understood.purposes[self.leaf + 1..].iter().any(checks)
    }

    /// Returns `true` if no other check could have printed what looks like its failure.
    fn alone(&self) -> bool {
        let checks = |purpose: &Purpose| purpose.invocation.as_ref().is_some_and(|found| !found.kinds.is_empty());
        let others = self.judge.understood.purposes.iter().enumerate();
        !others
            .filter(|(id, _)| !self.ids.contains(id))
            .any(|(id, purpose)| checks(purpose) && may_show(self.judge.program(), id))
    }

    pub(super) fn not_reached(&self, why: &str) -> (CheckOutcome, String) {
        if self.judge.purpose(self.leaf).extent.is_some() {
            (CheckOutcome::NoTests, format!("{why}, and it was not reached"))
        } else {
            (CheckOutcome::Unknown, why.to_owned())
        }
    }

    fn passed(
        &self,
        possible: Outcomes,
        ways: &[OutputPath],
        reading: &OutputReading,
        output: &str,
    ) -> (CheckOutcome, String) {
        if !possible.succeeded {
            return (CheckOutcome::Unknown, "the output shows a pass that the status excludes".to_owned());
        }
        let failures = self.failures(reading);
        let on_stderr =
            self.runners().iter().any(|runner| runner.task.is_some() || table().record.on_stderr.contains(&runner.id));
        let mut to_record = ways.iter().filter(|view| !view.errors_only || on_stderr);
        let open = to_record.find(|view| view.only_cuts() || view.shows(&failures));
        let Some(view) = open else {
            return (CheckOutcome::Unknown, "what is shown of its output would not show a failure".to_owned());
        };
        if self.judge.program().leaves[self.leaf].repeated && view.cuts_start() {
            return (CheckOutcome::Unknown, "what is shown may be the end of the last of several runs".to_owned());
        }
        if let Some(runner) = self.goes_on()
            && !tells_of_parts(self.catalogue(), view, runner)
        {
            return (CheckOutcome::Unknown, "what is shown may be the summary of one part of it".to_owned());
        }
        if self.may_be_ended() && !view.only_cuts() && self.prints_parts() {
            return (CheckOutcome::Unknown, "a time limit may have ended it behind one of its parts".to_owned());
        }
        let visible = table().visible_lines(output);
        // A run of one package ends with its line, and a part of the tests is not a full proof anyway.
        let ends_here = visible.is_none()
            && self.judge.purpose(self.leaf).extent != Some(Extent::Full)
            && reading.line.as_deref() == output.lines().map(str::trim).rfind(|line| !line.is_empty());
        if (reading.needs_end || !view.only_cuts()) && view.cuts_end(visible) && !ends_here {
            return (CheckOutcome::Unknown, "the end of its output is cut off".to_owned());
        }
        if self.leaves_open(view, reading, output) && !self.last_line_would_tell(ways, output) {
            return (CheckOutcome::Unknown, "another part of the task may have failed".to_owned());
        }
        if let Some(why) = self.late_failure(view, reading, output) {
            return (CheckOutcome::Unknown, why.to_owned());
        }
        if self.judge.program().leaves[self.leaf].shadowed {
            return (CheckOutcome::Unknown, "something that the line itself makes may stand for it".to_owned());
        }
        if self.judge.purpose(self.leaf).replaced.is_some() {
            return (CheckOutcome::Unknown, "what runs in its place may print its words".to_owned());
        }
        let readers = Readers { catalogue: self.catalogue(), runners: &self.runners() };
        let purposes = &self.judge.understood.purposes;
        if let Some(text) = forged_output::suspect(self.judge.program(), purposes, self.ids, readers) {
            let text = beginning(text.lines().next().unwrap_or_default(), 60);
            return (CheckOutcome::Unknown, format!("the closing lines may come from `{text}`"));
        }
        (CheckOutcome::Pass, said("its output shows that it passed", reading))
    }

    /// Returns the reason why it may have failed although its tests passed, or `None` if there is none.
    fn late_failure(&self, view: &OutputPath, reading: &OutputReading, output: &str) -> Option<&'static str> {
        let leaf = &self.judge.program().leaves[self.leaf];
        let within = seen_by(leaf, self.judge.project.files);
        let (runners, closing) = (self.runners(), reading.line.as_deref());
        let catalogue = self.catalogue();
        ShownRun { runners: &runners, files: &within, catalogue, leaf, view, output, closing }.may_have_failed()
    }

    /// Returns `true` if it prints a summary for each of its parts.
    fn prints_parts(&self) -> bool {
        let each = |runner: &&Runner| self.catalogue().output_rules(runner).0 == Summaries::Each;
        self.runners().iter().any(each)
    }

    /// Returns the runner whose options make it continue after a part of it failed.
    fn goes_on(&self) -> Option<&'a Runner> {
        let words = self.judge.program().leaves[self.leaf].words();
        self.runners().into_iter().find(|runner| {
            let words: Vec<Option<&str>> = words.iter().map(Option::as_deref).collect();
            let given = runner.arguments.given(&words);
            let told = |option: &String| {
                option == "*" || given.contains(option) || words.iter().flatten().any(|word| word == option)
            };
            let times = |option: &String| {
                let is = |word: &&str| {
                    *word == option || word.strip_prefix(option.as_str()).is_some_and(|rest| rest.starts_with('='))
                };
                words.iter().flatten().filter(|word| is(word)).count()
            };
            runner.output.goes_on.iter().any(told)
                || runner.output.goes_on_with_several.iter().map(times).sum::<usize>() > 1
        })
    }
}

/// Returns `true` if a part that failed would be visible, although others end after it.
fn tells_of_parts(catalogue: &Catalogue, view: &OutputPath, runner: &Runner) -> bool {
    if view.cuts_start() {
        let end = &runner.output.goes_on_shows;
        return !end.is_empty() && view.merged && view.shows(end);
    }
    view.only_cuts() || view.shows(catalogue.failure_lines(runner))
}

fn said(what: &str, reading: &OutputReading) -> String {
    match &reading.line {
        Some(line) => format!("{what} (\"{}\")", beginning(line, 80)),
        None => what.to_owned(),
    }
}
