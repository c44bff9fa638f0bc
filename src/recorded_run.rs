//! A command between two snapshots: its content, its end, and the event that records both.
//!
//! The caller of the command must notice no difference: streams, signals and status are the command's own. If the
//! record fails, a message says so, and the command is not affected.

mod doubts;
mod report_files;
mod scratch_run;
mod test_report;
mod understood_line;

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use self::doubts::{DoubtsOfRun, ShownTests};
use self::report_files::ReportListing;
pub use self::scratch_run::{ScratchRun, scratch_run};
use self::test_report::{ReportFiles, TestReport, work_trees};
use self::understood_line::UnderstoodLine;
use crate::command_line::{PartlyRun, RunResult, Witnessed};
use crate::engine::Workplace;
use crate::event::{CommandRef, Ended, EventKind, Origin, Run, RunStarted};
use crate::git::GitError;
use crate::journal::{JournalError, NewEvent};
use crate::policy::{Command, PathRules, Policy, command_key};
use crate::redact::redact;
use crate::repo_path::RepoPath;
use crate::run::{self, CommandLine, Finished, Returned, Spec};
use crate::runner::{Catalogue, NamedTests};
use crate::snapshot::KeptSnapshot;
use crate::source::head_reflog;
use crate::virtual_environment::{DistrustedEnvironment, VirtualEnvironment};

/// The length of the end of an output that is kept, in bytes.
const TAIL: usize = 8 * 1024;
/// The same where the declared command passed: its report has the result, and judgements read nothing else.
const SHORT_TAIL: usize = 1024;
/// The maximum number of paths in an event.
const PATHS: usize = 256;

/// A command to run, and its names.
pub struct RunJob<'a> {
    /// The reference for the journal.
    pub command: CommandRef,
    /// The command line.
    pub line: CommandLine<'a>,
    /// The report files that it writes, as globs relative to its directory.
    pub reports: &'a [String],
    /// The digest of the policy in force.
    pub policy: String,
    /// The runners that are known.
    pub runners: &'a Catalogue,
    /// The declared commands that the line may be or include, if its words are those of none.
    pub declared: &'a [Command],
    /// The inputs of the declared command that it is.
    pub inputs: Option<&'a PathRules>,
}

impl RunJob<'_> {
    /// Returns `true` if a command that the line is, or may include, reads a file.
    fn reads(&self, path: &RepoPath) -> bool {
        match self.inputs {
            Some(inputs) => inputs.matches(path),
            None => self.declared.is_empty() || self.declared.iter().any(|command| command.inputs.matches(path)),
        }
    }
}

/// The result of a run.
pub struct CompletedRun {
    /// The end of the process, and its output.
    pub finished: Finished,
    /// The event as it was recorded, or `None` if the record was lost.
    pub run: Option<Run>,
    /// The runs of declared commands that this run included, as they were recorded.
    pub served: Vec<Run>,
    /// The declared commands that it included without showing how they ended.
    pub open: Vec<Witnessed>,
    /// The reason why the record was lost, or an error in it.
    pub loss: Option<String>,
    /// The inherited variables that the command did not get.
    pub withheld: Vec<String>,
    /// The virtual environment of the project that it ran in, or the reason why it did not run there.
    pub environment: Result<Option<VirtualEnvironment>, DistrustedEnvironment>,
}

/// An error while a record is made.
#[derive(Debug, thiserror::Error)]
enum RecordError {
    #[error("the working tree could not be read: {0}")]
    Snapshot(#[from] GitError),
    #[error("the journal could not be written: {0}")]
    Journal(#[from] JournalError),
}

/// Runs the job and records it.
pub fn record(place: &Workplace, root: &Path, job: &RunJob<'_>) -> CompletedRun {
    record_with(place, root, job, run::run)
}

/// Runs a line in a directory of the working tree and records it, without input, and without showing its output, for at most `patience`.
/// `policy` is the one in force, if it can be read.
pub fn record_unseen(
    place: &Workplace,
    root: &Path,
    dir: &RepoPath,
    line: &str,
    policy: Option<&Policy>,
    patience: Duration,
) -> io::Result<(CompletedRun, Returned)> {
    let dir = dir.clone();
    let key = command_key(line, &dir);
    let declared = policy.and_then(|policy| policy.commands.iter().find(|command| command.reference().key == key));
    let name = declared.map(|command| command.name.clone());
    let command = CommandRef { name, line: redact(line).into_owned(), dir, key };
    let reports = declared.map_or(&[][..], |command| &command.reports);
    let runners: &Catalogue = policy.map_or(Catalogue::embedded(), |policy| &policy.runners);
    let policy = policy.map(|policy| policy.digest.clone()).unwrap_or_default();
    let inputs = declared.map(|command| &command.inputs);
    let job = RunJob { command, line: CommandLine::Shell(line), reports, policy, runners, declared: &[], inputs };
    let mut returned = Err(io::Error::from(io::ErrorKind::NotFound));
    let completed = record_with(place, root, &job, |spec| match run::run_unseen(line, spec, patience) {
        Ok((finished, how)) => {
            returned = Ok(how);
            finished
        }
        Err(error) => {
            returned = Err(error);
            Finished::never()
        }
    });
    returned.map(|returned| (completed, returned))
}

fn record_with(
    place: &Workplace,
    root: &Path,
    job: &RunJob<'_>,
    run: impl FnOnce(&Spec<'_>) -> Finished,
) -> CompletedRun {
    let dir = root.join(job.command.dir.to_os());
    let reading = UnderstoodLine::of(&job.command.line, &dir, job.runners);
    let globs: Vec<String> = job.reports.iter().cloned().chain(reading.reports()).collect();
    let before = ReportListing::of(&dir, &globs);
    let began = SystemTime::now();
    let start = begin(place, &job.command);
    let report = TestReport::prepare(&job.command.line, &reading.runners, job.runners, &work_trees(&place.repo));
    let withheld = reading.withheld();
    let own = own_environment(place, root, job);
    let mut env = report.environment().to_vec();
    env.extend(own.iter().flatten().flat_map(VirtualEnvironment::variables));
    let head_log = head_reflog::size(place.repo.git_dir());
    let finished =
        run(&Spec { line: job.line, dir: &dir, env: &env, without: &withheld, whole: report.needs_output() });
    // What looks at the run may read files as well.
    let read = start.as_ref().map(|start| place.repo.read_since(start)).unwrap_or_default();
    let (written, others) = before.written_since();
    let mut said = reading.said(&finished, &written);
    let counted = if others { reading.counted(&finished) } else { None };
    let tests = report.read(&finished, &ReportFiles { written: &written, others, counted });
    let named = |home: &RepoPath| reading.named(root, &job.command.dir, home, tests.clone(), &finished);
    let own_tests = named(&job.command.dir);
    let tests_in = |home: &RepoPath| {
        if *home == job.command.dir { Cow::Borrowed(&own_tests) } else { Cow::Owned(named(home)) }
    };
    let (mut served, open) = reading.served(root, job, &finished);
    let proven = proven_by(&served, job.declared);
    if finished.ended.success() {
        let (reading, report, finished, proven) = (&reading, &report, &finished, &proven[..]);
        let of_run = DoubtsOfRun { place, root, job, dir: &dir, reading, report, finished, proven, began };
        let shown = match &said.report {
            _ if !tests.is_empty() => ShownTests::Named,
            Some(_) => ShownTests::Counted,
            None => ShownTests::None,
        };
        if let Some(why) = of_run.first(start.as_ref().ok(), head_log, shown) {
            let results = std::iter::once(&mut said.masked).chain(served.iter_mut().map(|one| &mut one.masked));
            results.filter(|masked| masked.is_none()).for_each(|masked| *masked = Some(why.clone()));
        }
    }
    let parts =
        if own_tests.is_empty() { PartlyRun::default() } else { reading.parts_of(root, job, &served, &finished) };
    let logs = reading.logs(root, &job.command.dir, &finished);
    let written = match &job.command.name {
        Some(_) => Some(Vec::new()),
        None => reading.written_alone(root, &job.command.dir, &proven, &finished),
    };
    let ending = RunEnding { finished: &finished, said, tests: &own_tests, logs, read, began, written };
    let ended = start.and_then(|start| end(place, start, job.command.clone(), job.policy.clone(), ending));
    let ended = ended.and_then(|run| {
        let settled = !served.is_empty() && reading.edits_first(root, &run, &proven, &finished);
        let served: Vec<Run> = served.into_iter().map(|witnessed| run_of(&run, witnessed, settled)).collect();
        served.iter().try_for_each(|run| place.append_run(run.clone(), &tests_in(&run.command.dir)))?;
        let PartlyRun { commands, alone } = parts;
        let parts: Vec<_> =
            commands.into_iter().map(|command| (command.clone(), tests_in(&command.dir).into_owned())).collect();
        place.append_part(&parts, &run.end, alone)?;
        // The record is whole without it: what cannot be written is said, and the run counts.
        let all = std::iter::once(&run).chain(&served);
        let noted =
            all.map(|run| place.note_tests(run, &tests_in(&run.command.dir))).find(Result::is_err).unwrap_or(Ok(()));
        Ok((run, served, noted.err()))
    });
    match ended {
        Ok((run, served, unnoted)) => {
            let missing_names = unnoted.map(|error| format!("the names of its tests were not kept: {error}"));
            CompletedRun { finished, run: Some(run), served, open, loss: missing_names, withheld, environment: own }
        }
        Err(error) => {
            let unrecorded = Some(error.to_string());
            let served = Vec::new();
            CompletedRun { finished, run: None, served, open, loss: unrecorded, withheld, environment: own }
        }
    }
}

/// Returns the virtual environment of the project, in which a line runs unless another one is active.
fn own_environment(
    place: &Workplace,
    root: &Path,
    job: &RunJob<'_>,
) -> Result<Option<VirtualEnvironment>, DistrustedEnvironment> {
    VirtualEnvironment::of_project(&place.repo, root, &job.command.dir, &job.command.line, job.runners)
}

/// Returns the declared commands that a run included.
fn proven_by<'c>(served: &[Witnessed], declared: &'c [Command]) -> Vec<&'c Command> {
    let is_served = |command: &&Command| served.iter().any(|one| one.command.name.as_ref() == Some(&command.name));
    declared.iter().filter(is_served).collect()
}

/// Returns the same run as one of a declared command. `settled`: its checks ran on the content at its end.
fn run_of(run: &Run, witnessed: Witnessed, settled: bool) -> Run {
    let Witnessed { command, ended, report, masked } = witnessed;
    let run = Run { command, ended, report, masked, ..run.clone() };
    if settled { Run { start: run.end.clone(), changed: Vec::new(), ..run } } else { run }
}

/// Records the beginning of a run, and returns the content before it.
fn begin(place: &Workplace, command: &CommandRef) -> Result<KeptSnapshot, RecordError> {
    let start = place.repo.keep_start()?;
    let kind = EventKind::RunStarted(RunStarted { command: command.clone() });
    place.journal.append(NewEvent { session: Some(place.session.id.clone()), origin: Origin::observed(), kind })?;
    Ok(start)
}

/// The end of a run, and its files.
struct RunEnding<'a> {
    finished: &'a Finished,
    said: RunResult,
    tests: &'a NamedTests,
    logs: Vec<RepoPath>,
    /// The untracked files that were read.
    read: Vec<RepoPath>,
    /// The time at which it began.
    began: SystemTime,
    /// The files that its line wrote by itself, if nothing but declared commands can have built anything.
    written: Option<Vec<RepoPath>>,
}

fn end(
    place: &Workplace,
    start: KeptSnapshot,
    command: CommandRef,
    policy: String,
    RunEnding { finished, said, tests, logs, mut read, began, written }: RunEnding<'_>,
) -> Result<Run, RecordError> {
    let mut end = place.repo.keep_now()?;
    // What a line itself names is not read by its checks.
    read.retain(|path| command.name.is_some() || !command.line.contains(&path.to_string()));
    end.read = read;
    let mut changed = place.repo.changed_between(&start, &end)?;
    changed.retain(|path| !(logs.contains(path) && end.untracked.contains(path)));
    changed.truncate(PATHS);
    let verbatim = command.name.is_some();
    let mut built = written.as_ref().map_or_else(Vec::new, |_| place.built_programs(&end, began));
    built.retain(|path| !written.iter().flatten().any(|own| own == path));
    let mut run = Run {
        command,
        call: None,
        start,
        end,
        changed,
        logs,
        verbatim,
        built,
        ended: finished.ended,
        over_time: Ended::is_over_time(Some(finished.ended), ""),
        millis: finished.millis,
        report: said.report,
        named: tests.named_part(),
        masked: said.masked,
        tail: String::new(),
        policy,
    };
    let kept = if run.verbatim && run.shows_pass() { SHORT_TAIL } else { TAIL };
    run.tail = run::clean_tail(&finished.output, kept);
    place.append_run(run.clone(), tests)?;
    Ok(run)
}
