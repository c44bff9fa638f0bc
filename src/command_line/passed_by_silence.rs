//! Checks of which no closing line is in the record: what a failure would have printed, and is not there.

use crate::runner::output_line::Means;
use crate::runner::{CommandKind, OutputReading, Runner, resolve};
use crate::shell::command_outcome::Outcomes;

use super::check_outcome::{CheckView, NO_LAST_LINE, SILENT_TASK};
use super::command_table::table;
use super::output_filters::OutputPath;
use super::purpose::{Purpose, seen_by};
use super::shown_output::may_show;
use super::understanding::CHECKS;
use super::{CheckOutcome, contradiction, output_evidence};

impl CheckView<'_> {
    /// Decides if no closing line is visible.
    pub(super) fn silent(
        &self,
        possible: Outcomes,
        ways: &[OutputPath],
        reading: &OutputReading,
        output: &str,
    ) -> (CheckOutcome, String) {
        let purpose = self.judge.purpose(self.leaf);
        let failures = self.failures(reading);
        let is_task = self.runners().iter().any(|runner| runner.task.is_some());
        let visible = table().visible_lines(output);
        // A task names what it runs, so that its output may be cut although nothing else of it is visible.
        let is_whole = |view: &OutputPath| view.merged && view.drops_only() && !(is_task && view.cuts_end(visible));
        let hidden = ways.iter().find(|view| is_whole(view) && view.shows(&failures));
        if hidden.is_some() && possible.succeeded && !possible.not_run && self.silence_is_its_own(output) {
            return (CheckOutcome::Pass, "every line that a failure prints would be shown, and none is".to_owned());
        }
        let shows_all = |view: &OutputPath| view.merged && view.only_cuts() && (!is_task || !view.cuts_end(visible));
        let prints_failures_only = self.prints_failures_only() && ways.iter().any(shows_all) && !self.may_be_ended();
        let is_named = !is_task || output.lines().any(|line| self.is_own_banner(line.trim()));
        if prints_failures_only
            && is_named
            && possible.succeeded
            && !possible.not_run
            && self.silence_is_its_own(output)
        {
            let is_marked = is_task && self.is_named_once(output);
            let because =
                if is_marked { SILENT_TASK } else { "it prints nothing unless it fails, and nothing of it is there" };
            return (CheckOutcome::Pass, because.to_owned());
        }
        if possible.succeeded && !possible.not_run && self.would_end_in_failure(ways, output) {
            return (CheckOutcome::Pass, NO_LAST_LINE.to_owned());
        }
        if possible.failed && output_evidence::not_started(self.judge.program(), self.leaf, output) {
            return (CheckOutcome::Fail, "the shell could not start it".to_owned());
        }
        let would_tell = ways.iter().any(|view| view.only_cuts() || view.shows(&failures));
        if purpose.extent.is_some() && possible.not_run && would_tell && self.finding_before(output) {
            return self.not_reached("a check before it found something");
        }
        if purpose.extent.is_some() && possible.not_run && self.prints_always(ways) && !output.trim().is_empty() {
            return self.not_reached("nothing of it is in the output");
        }
        (CheckOutcome::Unknown, "its output does not show how it ended".to_owned())
    }

    /// Returns `true` if a time limit may end it, or the line may end before it.
    pub(super) fn may_be_ended(&self) -> bool {
        let leaf = &self.judge.program().leaves[self.leaf];
        leaf.background || leaf.late || leaf.wrappers.iter().any(|name| name.ends_with("timeout"))
    }

    /// Returns `true` if nothing that it runs prints anything unless it fails.
    fn prints_failures_only(&self) -> bool {
        let is_silent = |runner: &&Runner| table().record.silent.contains(&runner.id);
        let runners = self.runners();
        if !runners.iter().any(|runner| runner.task.is_some()) {
            return runners.iter().any(is_silent);
        }
        // What runs before or after it may fail without a word, and its own words may go elsewhere.
        let leaf = &self.judge.program().leaves[self.leaf];
        let within = seen_by(leaf, self.judge.project.files);
        let tasks = resolve(self.catalogue(), &leaf.words(), &within);
        let [task] = tasks.as_slice() else { return false };
        let is_plain = |line: &String| !line.contains(['&', '|', ';', '<', '>', '(', ')', '{', '}', '$', '`', '\n']);
        let is_alone = task.script.as_ref().is_some_and(|lines| lines.len() == 1 && lines.iter().all(is_plain));
        let workers: Vec<_> = runners.iter().filter(|runner| runner.task.is_none()).collect();
        is_alone && !task.framed && !task.exit_zero && !workers.is_empty() && workers.into_iter().all(is_silent)
    }

    /// Returns `true` if one line of the output names this task, and no other command of the line is this task.
    fn is_named_once(&self, output: &str) -> bool {
        let runner = self.judge.purpose(self.leaf).runner();
        let mut same = self.judge.understood.purposes.iter().filter(|purpose| purpose.runner() == runner);
        let mut named = output.lines().filter(|line| self.is_own_banner(line.trim()));
        same.nth(1).is_none() && named.next().is_some() && named.next().is_none()
    }

    /// Returns `true` for a line with which a task runner names what it starts.
    fn is_banner(&self, line: &str) -> bool {
        self.runners().iter().any(|runner| runner.task.is_some())
            && table().record.banners.iter().any(|start| line.starts_with(start.as_str()))
    }

    /// Returns `true` for such a line about this task: `> shop@1.0.0 build`.
    fn is_own_banner(&self, line: &str) -> bool {
        let task = self.judge.purpose(self.leaf).runner().and_then(|label| label.rsplit(' ').next());
        self.is_banner(line) && line.contains('@') && task.is_some() && line.rsplit(' ').next() == task
    }

    /// Returns `true` if the end of its output is visible, and would be another one if it had failed: task runners that
    /// start programs which no rule knows say so themselves.
    fn would_end_in_failure(&self, ways: &[OutputPath], output: &str) -> bool {
        // The closing lines of a runner of tests are missing, if one runs.
        let is_expected =
            |runner: &&Runner| runner.output.failure_is_last || !runner.kinds.contains(&CommandKind::Test);
        self.runners().iter().all(is_expected)
            // The lines of a known runner say themselves whether it came to its end.
            && !contradiction::tells_of_tests(self.catalogue(), self.judge.purpose(self.leaf), output)
            && self.last_line_would_tell(ways, output)
    }

    /// Returns `true` if the last line would be another one if any task of its runner had failed.
    pub(super) fn last_line_would_tell(&self, ways: &[OutputPath], output: &str) -> bool {
        let leaf = &self.judge.program().leaves[self.leaf];
        let purpose = self.judge.purpose(self.leaf);
        let within = seen_by(leaf, self.judge.project.files);
        let is_set = |name: &String| leaf.environment.iter().chain(&leaf.given).any(|(set, _)| set == name);
        let says_so =
            |runner: &&Runner| runner.output.failure_is_last && !runner.output.goes_past_with.iter().any(is_set);
        let tasks = resolve(self.catalogue(), &leaf.words(), &within);
        let runners = self.runners();
        let visible = table().visible_lines(output);
        let shows_end = |view: &OutputPath| view.merged && view.only_cuts() && !view.cuts_end(visible);
        let is_fine = |line: &str| {
            !(line.contains("Killed")
                || line.contains("Terminated")
                || line.contains("*** ")
                || line.contains("(ignored)"))
        };
        runners.iter().any(says_so)
            && !tasks.iter().any(|task| task.goes_past)
            && purpose.honest()
            && purpose.replaced.is_none()
            && !(leaf.shadowed || leaf.repeated || leaf.remote)
            && ways.iter().any(shows_end)
            && !output.trim().is_empty()
            && output.lines().all(is_fine)
            && !output_evidence::not_started(self.judge.program(), self.leaf, output)
    }

    /// Returns `true` if nothing in the output could be a failure of this command.
    fn silence_is_its_own(&self, output: &str) -> bool {
        let (program, purposes) = (self.judge.program(), &self.judge.understood.purposes);
        let mut left = output_evidence::unexplained(self.catalogue(), program, purposes, self.leaf, output);
        // What stands above the line that names it, or below one that names another task, is of another command.
        if let Some(at) = left.iter().rposition(|line| self.is_own_banner(line)) {
            left.drain(..at);
            let is_other = |line: &&str| self.is_banner(line) && line.contains('@') && !self.is_own_banner(line);
            left.truncate(left.iter().position(is_other).unwrap_or(left.len()));
        }
        // A test may be called anything.
        let mut own = self.catalogue().rules_of(self.runners());
        own.retain(|rule| rule.means == Means::Progress);
        left.retain(|line| !self.is_banner(line) && !own.iter().any(|rule| rule.read(line).is_some()));
        let talks = |purpose: &Purpose| purpose.kinds.iter().any(|kind| !matches!(*kind, "edit"));
        let quiet =
            |id: usize| matches!(program.leaves[id].name(), Some("echo" | "printf" | "cd" | "head" | "tail" | "cat"));
        let others =
            (self.leaf + 1..purposes.len()).any(|id| may_show(program, id) && !quiet(id) && talks(&purposes[id]));
        // What another command printed cannot be told from it, as long as it does not look like a failure.
        if others { left.iter().all(|line| !looks_bad(line)) } else { left.is_empty() }
    }

    /// Returns `true` if a finding of an earlier check (`file.go:12:3: …`) is in the output.
    fn finding_before(&self, output: &str) -> bool {
        let purposes = &self.judge.understood.purposes;
        let checks = |purpose: &Purpose| CHECKS.iter().any(|kind| purpose.is(*kind));
        let finding = |line: &&str| {
            let mut parts = line.splitn(4, ':').skip(1);
            parts.any(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
        };
        purposes[..self.leaf].iter().any(checks)
            && output_evidence::unexplained(self.catalogue(), self.judge.program(), purposes, self.leaf, output)
                .iter()
                .any(finding)
    }

    /// Returns `true` if some line of it would be visible after any run.
    fn prints_always(&self, ways: &[OutputPath]) -> bool {
        ways.iter().any(|view| view.merged && (view.only_cuts()))
            && self.runners().iter().any(|runner| !runner.output.line.is_empty())
            && self.judge.understood.purposes[..self.leaf].iter().any(|purpose| !purpose.kinds.is_empty())
    }
}

fn looks_bad(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    ["fail", "error", "panic", "not found", "no such"].iter().any(|word| lower.contains(word))
}
