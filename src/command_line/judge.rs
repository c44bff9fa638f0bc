//! The judgement: which checks decide, what became of them under the recorded status, and what the output shows.

use crate::runner::{Catalogue, CommandKind, OutputReading, ProjectFiles, Runner, Says, read_output_of};
use crate::shell::dialect::{self, Dialect};
use crate::shell::parse::Unparsed;
use crate::shell::program::{LeafId, Program, Sink};
use crate::shell::status::{self, Fate, Outcomes, Seen};
use crate::shell::walk;

use super::purpose::{Purpose, Understood, purpose};
use super::table::{Says as Harness, table};
use super::view::{View, may_show, views};
use super::{ExitDecides, Extent, Judgement, Outcome, Proves, Record, evidence, forgery, remedy};

/// The kinds of checks, the one that decides first.
const CHECKS: [CommandKind; 4] = [CommandKind::Test, CommandKind::Build, CommandKind::Typecheck, CommandKind::Lint];

/// More checks of the deciding kind than this are not looked at one by one.
const MAX_CHECKS: usize = 24;

/// Reads a command line: what it would execute, and what for. `files` are those of the directory it starts in.
pub fn understand(line: &str, files: &dyn ProjectFiles) -> Result<Understood, Unparsed> {
    let program = walk::program(line)?;
    let purposes = program.leaves.iter().map(|leaf| purpose(leaf, files)).collect();
    Ok(Understood { program, purposes })
}

/// Judges a recorded command line.
pub fn judge(line: &str, record: &Record<'_>, files: &dyn ProjectFiles) -> Judgement {
    let understood = match understand(line, files) {
        Ok(understood) => understood,
        Err(error) => return unparsed(line, &error),
    };
    let foreign = dialect::of(line, &understood.program);
    let harness = record.output.and_then(|output| table().harness_says(output));
    let output = record.output.map(|output| table().bare(output));
    let record = &Record { output, ..*record };
    let seen = match (harness, output) {
        (None, Some(output)) => evidence::seen(&understood.program, &understood.purposes, output),
        _ => Vec::new(),
    };
    Judge { understood: &understood, record, files, foreign, harness, seen }.judgement()
}

fn unparsed(line: &str, error: &Unparsed) -> Judgement {
    let reason = match dialect::of_text(line) {
        Some(dialect) => format!("this is a {dialect} line, whose statuses are not followed"),
        None => format!("the line cannot be read as shell: {error}"),
    };
    Judgement {
        kind: vec!["other".to_owned()],
        runner: None,
        scope: None,
        exit_decides: None,
        result: None,
        edits_files: false,
        pushes_to: None,
        decisive_kind: None,
        proves: Proves::Nothing,
        reason,
        would_prove: None,
    }
}

/// What is known of one check.
struct Check {
    leaf: LeafId,
    fate: Fate,
    result: Outcome,
    /// How the result is known, as the end of a sentence.
    because: String,
}

struct Judge<'a> {
    understood: &'a Understood,
    record: &'a Record<'a>,
    files: &'a dyn ProjectFiles,
    foreign: Option<Dialect>,
    harness: Option<Harness>,
    seen: Vec<Seen>,
}

impl Judge<'_> {
    fn program(&self) -> &Program {
        &self.understood.program
    }

    fn purpose(&self, leaf: LeafId) -> &Purpose {
        &self.understood.purposes[leaf]
    }

    fn judgement(&self) -> Judgement {
        let mut judgement = Judgement {
            kind: self.kinds(),
            runner: None,
            scope: None,
            exit_decides: None,
            result: None,
            edits_files: self.understood.purposes.iter().any(|purpose| purpose.edits),
            pushes_to: self.pushes(),
            decisive_kind: None,
            proves: Proves::Nothing,
            reason: "nothing in this line checks the code".to_owned(),
            would_prove: None,
        };
        let of_kind = |kind| (0..self.program().leaves.len()).filter(|id| self.purpose(*id).is(kind)).collect::<Vec<_>>();
        let Some((kind, mut checks)) = CHECKS.into_iter().map(|kind| (kind, of_kind(kind))).find(|(_, found)| !found.is_empty())
        else {
            if self.program().truncated {
                "the line is too large to be followed".clone_into(&mut judgement.reason);
            }
            return judgement;
        };
        let too_many = checks.len() > MAX_CHECKS;
        checks.truncate(MAX_CHECKS);
        judgement.decisive_kind = Some(kind);
        judgement.scope = checks.iter().filter_map(|id| self.purpose(*id).extent).min_by_key(|extent| match extent {
            Extent::Full => 0,
            Extent::Filtered => 1,
            Extent::NoneExecuted => 2,
        });
        let checks: Vec<Check> = self.results(&checks);
        judgement.runner = self.runner(&checks);
        let masked = checks.iter().find(|check| !check.fate.decides() || !self.purpose(check.leaf).honest());
        let running = self.record.background || self.harness.is_some();
        judgement.exit_decides = Some(match masked {
            _ if too_many || self.foreign.is_some() => ExitDecides::Unknown,
            Some(check) if !check.fate.complete => ExitDecides::Unknown,
            Some(check) if self.program().leaves[check.leaf].background && !running => ExitDecides::Unknown,
            Some(_) => ExitDecides::NoMasked,
            None if running => ExitDecides::Unknown,
            None => ExitDecides::Yes,
        });
        let result = combine(&checks);
        judgement.result = Some(result);
        let full_passed = checks
            .iter()
            .find(|check| check.result == Outcome::Pass && self.purpose(check.leaf).extent == Some(Extent::Full));
        judgement.proves = match result {
            Outcome::Fail => Proves::Fail,
            _ if full_passed.is_some() => Proves::FullPass,
            Outcome::Pass => Proves::PartialPass,
            Outcome::NoTests | Outcome::Unknown => Proves::Nothing,
        };
        judgement.reason = self.reason(&judgement, &checks, full_passed, masked);
        if judgement.proves != Proves::FullPass {
            let best = checks.iter().min_by_key(|check| match self.purpose(check.leaf).extent {
                Some(Extent::Full) | None => 0,
                Some(Extent::Filtered) => 1,
                Some(Extent::NoneExecuted) => 2,
            });
            let shown = kind != CommandKind::Test && judgement.proves == Proves::PartialPass;
            judgement.would_prove = best.filter(|_| !shown).and_then(|check| {
                remedy::would_prove(&self.program().leaves[check.leaf], self.purpose(check.leaf), self.files)
            });
        }
        judgement
    }

    /// The kinds of all commands, checks first. What only reads is left out beside anything that matters more.
    fn kinds(&self) -> Vec<String> {
        let mut kinds: Vec<&str> = Vec::new();
        for name in ["test", "build", "typecheck", "lint", "install", "push", "vcs", "pr", "ci_query", "edit", "read", "other"] {
            if self.understood.purposes.iter().any(|purpose| purpose.kinds.contains(&name)) {
                kinds.push(name);
            }
        }
        if kinds.len() > 1 {
            kinds.retain(|kind| *kind != "read");
        }
        if kinds.is_empty() {
            kinds.push("other");
        }
        kinds.into_iter().map(str::to_owned).collect()
    }

    fn pushes(&self) -> Option<String> {
        let mut places: Vec<&str> = Vec::new();
        for place in self.understood.purposes.iter().flat_map(|purpose| &purpose.pushes) {
            if !places.contains(&place.as_str()) {
                places.push(place);
            }
        }
        (!places.is_empty()).then(|| places.join(","))
    }

    fn runner(&self, checks: &[Check]) -> Option<String> {
        let named = |check: &Check| self.purpose(check.leaf).runner().map(str::to_owned);
        checks.iter().find_map(named).or_else(|| {
            let leaf = &self.program().leaves[checks.first()?.leaf];
            leaf.name().map(str::to_owned)
        })
    }

    fn results(&self, ids: &[LeafId]) -> Vec<Check> {
        let mut checks = Vec::with_capacity(ids.len());
        for &leaf in ids {
            let fate = status::fate(self.program(), leaf);
            let (result, because) = match self.harness {
                Some(Harness::Rejected) => (Outcome::NoTests, "the call was refused and nothing ran".to_owned()),
                Some(Harness::Background) => (Outcome::Unknown, "the line goes on in the background".to_owned()),
                None if self.foreign.is_some() => (Outcome::Unknown, "it is not a shell line".to_owned()),
                None => Look { judge: self, leaf, fate, ids }.result(),
            };
            checks.push(Check { leaf, fate, result, because });
        }
        checks
    }

    /// One sentence on why this is what is proven.
    fn reason(
        &self,
        judgement: &Judgement,
        checks: &[Check],
        full: Option<&Check>,
        masked: Option<&Check>,
    ) -> String {
        let Some(check) = full.or_else(|| checks.iter().find(|check| Some(check.result) == judgement.result)).or(checks.first())
        else {
            return String::new();
        };
        let purpose = self.purpose(check.leaf);
        let leaf = &self.program().leaves[check.leaf];
        let name = purpose.runner().map_or_else(|| leaf.text.clone(), str::to_owned);
        let mut sentence = format!("`{name}`: {}", check.because);
        match (judgement.proves, &purpose.narrowed_by) {
            (Proves::PartialPass, Some(by)) => sentence += &format!("; only a part of the tests was asked for ({by})"),
            (Proves::PartialPass, None) => sentence += "; it is no test run",
            (Proves::Nothing, Some(by)) if purpose.extent == Some(Extent::NoneExecuted) => {
                sentence += &format!("; with {by} no test is executed");
            }
            _ => {}
        }
        if judgement.exit_decides == Some(ExitDecides::NoMasked)
            && judgement.proves != Proves::Fail
            && let Some(masked) = masked
        {
            sentence += &format!("; {}", self.masked_by(masked));
        }
        sentence
    }

    /// What gives the status instead of a check.
    fn masked_by(&self, check: &Check) -> String {
        if !self.purpose(check.leaf).honest() {
            return "it succeeds whatever it finds".to_owned();
        }
        let (zero, failure) = status::deciders(self.program());
        let others: Vec<LeafId> = zero.into_iter().filter(|id| *id != check.leaf).collect();
        let ours = failure.contains(&check.leaf);
        match others.last().map(|id| self.program().leaves[*id].text.trim().to_owned()) {
            Some(text) if !text.is_empty() => {
                let text: String = text.lines().next().unwrap_or_default().chars().take(60).collect();
                let verb = if ours { "a status of 0 can be that of" } else { "the status is that of" };
                format!("{verb} `{text}`")
            }
            _ => "the status of the line is not its own".to_owned(),
        }
    }
}

fn combine(checks: &[Check]) -> Outcome {
    let any = |outcome| checks.iter().any(|check| check.result == outcome);
    if any(Outcome::Fail) {
        Outcome::Fail
    } else if any(Outcome::Unknown) {
        Outcome::Unknown
    } else if any(Outcome::Pass) {
        Outcome::Pass
    } else {
        Outcome::NoTests
    }
}

/// One check, looked at in the light of status and output.
struct Look<'a> {
    judge: &'a Judge<'a>,
    leaf: LeafId,
    fate: Fate,
    ids: &'a [LeafId],
}

impl Look<'_> {
    fn result(&self) -> (Outcome, String) {
        let record = self.judge.record;
        let purpose = self.judge.purpose(self.leaf);
        let tests = purpose.extent.is_some();
        let seen: Vec<Seen> = self.judge.seen.iter().filter(|seen| seen.leaf != self.leaf).copied().collect();
        let narrowed = status::fate_seen(self.judge.program(), self.leaf, &seen);
        let fits = narrowed.complete && !seen.is_empty() && narrowed.given(record.status).possible();
        let fate = if fits { narrowed } else { self.fate };
        let possible = fate.given(record.status);
        let status = match (record.status, fits && narrowed.given(record.status) != self.fate.given(record.status)) {
            (_, true) => "what the line prints about its other commands".to_owned(),
            (Some(status), false) => format!("exit status {status}"),
            (None, false) => String::new(),
        };
        let recorded = (record.status.is_some() || fits) && self.fate.complete && purpose.honest();
        let ways = views(self.judge.program(), self.leaf);
        let reading = self.reading(&ways);
        if !possible.possible() && record.status.is_some() && self.fate.complete {
            return (Outcome::Unknown, format!("{status} is not possible for this line"));
        }
        if recorded && possible.only(status::Outcome::NotRun) {
            return (Outcome::NoTests, format!("with {status} it was not reached"));
        }
        if recorded && possible.only(status::Outcome::Failed) {
            return match reading.says {
                Says::NothingRan if tests => (Outcome::NoTests, said("no test was executed", &reading)),
                _ => (Outcome::Fail, format!("{status} shows that it failed")),
            };
        }
        if purpose.extent == Some(Extent::NoneExecuted) {
            return match reading.says {
                Says::Failed if possible.failed => (Outcome::Fail, said("it failed", &reading)),
                _ => (Outcome::NoTests, "it executes no test".to_owned()),
            };
        }
        if recorded && possible.only(status::Outcome::Succeeded) {
            return match reading.says {
                Says::NothingRan if tests => (Outcome::NoTests, said("no test was executed", &reading)),
                Says::Failed if tests && self.failed_itself(&reading) && reading.complete && self.is_plain(&ways) => {
                    (Outcome::Unknown, said("status 0 contradicts the output", &reading))
                }
                _ => (Outcome::Pass, format!("{status} shows that it passed")),
            };
        }
        self.by_output(possible, &ways, &reading)
    }

    fn is_plain(&self, ways: &[View]) -> bool {
        self.ids.len() == 1 && ways.iter().any(View::is_plain)
    }

    /// The runners whose closing lines this check prints.
    fn runners(&self) -> Vec<&'static Runner> {
        let runs = self.judge.purpose(self.leaf).invocation.as_ref().map(|invocation| &invocation.runs);
        runs.into_iter().flatten().filter_map(|id| Catalogue::embedded().runner(id)).collect()
    }

    fn reading(&self, ways: &[View]) -> OutputReading {
        match self.judge.record.output {
            Some(output) if !ways.is_empty() => {
                let runners = self.runners();
                if runners.is_empty() && self.judge.purpose(self.leaf).extent.is_none() {
                    return OutputReading::default();
                }
                read_output_of(Catalogue::embedded(), &runners, output)
            }
            _ => OutputReading::default(),
        }
    }

    /// Whether the runner itself says that it failed, in a line that nothing but its failure prints.
    fn failed_itself(&self, reading: &OutputReading) -> bool {
        let catalogue = Catalogue::embedded();
        let output = self.judge.record.output.unwrap_or_default();
        let runners = self.runners();
        if runners.iter().any(|runner| runner.task.is_none()) {
            return evidence::failed_itself(&runners, output);
        }
        // What is behind a task is told by the summary; without one, the task runner itself must say so.
        let reported = reading.reports.iter().filter_map(|report| catalogue.runner(&report.runner));
        let readers: Vec<&Runner> = reported.chain(runners).collect();
        evidence::failed_itself(&readers, output)
    }

    /// Lines that a failing run always prints.
    fn failures(&self, reading: &OutputReading) -> Vec<String> {
        let catalogue = Catalogue::embedded();
        let runners = self.runners();
        let workers: Vec<&Runner> = runners.iter().copied().filter(|runner| runner.task.is_none()).collect();
        let readers = if workers.is_empty() {
            reading.reports.iter().filter_map(|report| catalogue.runner(&report.runner)).collect()
        } else {
            workers
        };
        readers.into_iter().flat_map(|runner| &runner.output.failure_shows).cloned().collect()
    }

    /// The status does not tell: the output may.
    fn by_output(&self, possible: Outcomes, ways: &[View], reading: &OutputReading) -> (Outcome, String) {
        let unknown = |why: &str| (Outcome::Unknown, why.to_owned());
        let Some(output) = self.judge.record.output else {
            return unknown("its status is not shown and no output is recorded");
        };
        if ways.is_empty() {
            return unknown("its output is not in the record");
        }
        if !self.fate.complete {
            return unknown("the line is too involved to be followed");
        }
        let purpose = self.judge.purpose(self.leaf);
        let tests = purpose.extent.is_some();
        match reading.says {
            Says::Failed if !possible.failed => unknown("something else failed"),
            Says::Failed if self.failed_itself(reading) || self.alone() => {
                (Outcome::Fail, said("it failed", reading))
            }
            Says::Failed if possible.not_run => self.not_reached("something before it failed"),
            Says::Failed => unknown("something in the line failed, and it is not shown what"),
            Says::Passed => self.passed(possible, ways, reading, output),
            Says::NothingRan if tests && ways.iter().all(|view| view.cuts_end(table().visible_lines(output))) => {
                unknown("the end of its output is cut off")
            }
            Says::NothingRan if tests => (Outcome::NoTests, said("no test was executed", reading)),
            Says::NothingRan | Says::Silent => self.silent(possible, ways, reading, output),
        }
    }

    /// Whether no other check could have printed what looks like its failure.
    fn alone(&self) -> bool {
        let checks = |purpose: &Purpose| purpose.invocation.as_ref().is_some_and(|found| !found.kinds.is_empty());
        let others = self.judge.understood.purposes.iter().enumerate();
        !others.filter(|(id, _)| !self.ids.contains(id)).any(|(id, purpose)| checks(purpose) && may_show(self.judge.program(), id))
    }

    fn not_reached(&self, why: &str) -> (Outcome, String) {
        if self.judge.purpose(self.leaf).extent.is_some() {
            (Outcome::NoTests, format!("{why}, and it was not reached"))
        } else {
            (Outcome::Unknown, why.to_owned())
        }
    }

    fn passed(&self, possible: Outcomes, ways: &[View], reading: &OutputReading, output: &str) -> (Outcome, String) {
        if !possible.succeeded {
            return (Outcome::Unknown, "the output shows a pass that the status excludes".to_owned());
        }
        let failures = self.failures(reading);
        let open = ways.iter().find(|view| view.is_plain() || view.shows(&failures) || only_cut(view));
        let Some(view) = open else {
            return (Outcome::Unknown, "what is shown of its output would not show a failure".to_owned());
        };
        let visible = table().visible_lines(output);
        // A run of one package ends with its line, and a part of the tests is no full proof anyway.
        let ends_here = visible.is_none()
            && self.judge.purpose(self.leaf).extent != Some(Extent::Full)
            && reading.line.as_deref() == output.lines().map(str::trim).rfind(|line| !line.is_empty());
        if reading.needs_end && view.cuts_end(visible) && !ends_here {
            return (Outcome::Unknown, "the end of its output is cut off".to_owned());
        }
        if let Some(text) =
            forgery::suspect(self.judge.program(), &self.judge.understood.purposes, self.ids, &self.runners())
        {
            let text: String = text.lines().next().unwrap_or_default().chars().take(60).collect();
            return (Outcome::Unknown, format!("the closing lines may come from `{text}`"));
        }
        (Outcome::Pass, said("its output shows that it passed", reading))
    }

    /// No closing line is visible.
    fn silent(
        &self,
        possible: Outcomes,
        ways: &[View],
        reading: &OutputReading,
        output: &str,
    ) -> (Outcome, String) {
        let purpose = self.judge.purpose(self.leaf);
        let failures = self.failures(reading);
        let hidden = ways.iter().find(|view| view.drops_only() && view.merged && view.shows(&failures));
        if hidden.is_some() && possible.succeeded && self.silence_is_its_own(output) {
            return (Outcome::Pass, "every line that a failure prints would be shown, and none is".to_owned());
        }
        let prints_failures_only =
            self.runners().iter().any(|runner| table().record.silent.contains(&runner.id)) && ways.iter().any(|v| v.merged && (v.is_plain() || only_cut(v)));
        if prints_failures_only && possible.succeeded && self.silence_is_its_own(output) {
            return (Outcome::Pass, "it prints nothing unless it fails, and nothing of it is there".to_owned());
        }
        if purpose.extent.is_some() && possible.not_run && self.prints_always(ways) && !output.trim().is_empty() {
            return self.not_reached("nothing of it is in the output");
        }
        (Outcome::Unknown, "its output does not show how it ended".to_owned())
    }

    /// Whether nothing is in the output that could be a failure of this command.
    fn silence_is_its_own(&self, output: &str) -> bool {
        let (program, purposes) = (self.judge.program(), &self.judge.understood.purposes);
        let left = evidence::unexplained(program, purposes, self.leaf, output);
        let talks = |purpose: &Purpose| purpose.kinds.iter().any(|kind| !matches!(*kind, "edit"));
        let quiet = |id: usize| matches!(program.leaves[id].name(), Some("echo" | "printf" | "cd" | "head" | "tail" | "cat"));
        let others = (self.leaf + 1..purposes.len())
            .any(|id| program.leaves[id].stdout == Sink::Terminal && !quiet(id) && talks(&purposes[id]));
        // What another command printed cannot be told from it, as long as it does not look like a failure.
        if others { left.iter().all(|line| !looks_bad(line)) } else { left.is_empty() }
    }

    /// Whether some line of it would be visible if it had run.
    fn prints_always(&self, ways: &[View]) -> bool {
        ways.iter().any(|view| view.merged && (view.is_plain() || only_cut(view)))
            && self.runners().iter().any(|runner| !runner.output.line.is_empty())
            && self.judge.understood.purposes[..self.leaf].iter().any(|purpose| !purpose.kinds.is_empty())
    }
}

fn only_cut(view: &View) -> bool {
    use super::view::Filter;
    view.filters.iter().all(|filter| matches!(filter, Filter::Tail | Filter::Head(_)))
}

fn looks_bad(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    ["fail", "error", "panic", "not found", "no such"].iter().any(|word| lower.contains(word))
}

fn said(what: &str, reading: &OutputReading) -> String {
    match &reading.line {
        Some(line) => format!("{what} (\"{}\")", line.chars().take(80).collect::<String>()),
        None => what.to_owned(),
    }
}
