//! A command between two snapshots: its content, its end, and the event that records both.
//!
//! The caller of the command must notice no difference: streams, signals and status are the command's own. If the
//! record fails, a message says so, and the command is not affected.

mod scratch_run;
mod test_report;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

pub use self::scratch_run::{ScratchRun, scratch_run};
use self::test_report::{ReportFiles, TestReport, work_trees};
use crate::command_line::{self, ObservedLine, OutputKnowledge, Purpose, RunResult, Witnessed, sum};
use crate::engine::Workplace;
use crate::event::{CommandRef, Ended, EventKind, Origin, Run, RunReport, RunStarted};
use crate::foreign_text::one_line;
use crate::git::GitError;
use crate::globs::Globs;
use crate::journal::{JournalError, NewEvent};
use crate::policy::{Command, PathRules, Policy, command_key};
use crate::redact::redact;
use crate::regular_file;
use crate::repo_path::RepoPath;
use crate::run::{self, CommandLine, Finished, Returned, Spec};
use crate::runner::{Catalogue, NamedTests, Project, Runner, read_junit};
use crate::shell_kind::Shell;
use crate::snapshot::KeptSnapshot;
use crate::source::head_reflog;
use crate::source::project_files::DiskDirectory;
use crate::virtual_environment::{DistrustedEnvironment, VirtualEnvironment};

/// The length of the end of an output that is kept, in bytes.
const TAIL: usize = 8 * 1024;
/// The same where the declared command passed: its report has the result, and judgements read nothing else.
const SHORT_TAIL: usize = 1024;
/// The maximum number of paths in an event.
const PATHS: usize = 256;
/// The maximum number of failed tests in a reason.
const SHOWN: usize = 3;
/// The maximum size of a report file that is read, in bytes.
const REPORT: u64 = 32 * 1024 * 1024;

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
    let before = report_files(&dir, &globs);
    let start = begin(place, &job.command);
    let report = TestReport::prepare(&job.command.line, &reading.runners, job.runners, &work_trees(&place.repo));
    let withheld = reading.withheld();
    let own = own_environment(place, root, job);
    let mut env = report.environment().to_vec();
    env.extend(own.iter().flatten().flat_map(VirtualEnvironment::variables));
    let head_log = head_reflog::size(place.repo.git_dir());
    let finished =
        run(&Spec { line: job.line, dir: &dir, env: &env, without: &withheld, whole: report.needs_output() });
    let (written, others) = changed_reports(&before, &dir, &globs);
    let mut said = reading.said(&finished, &written);
    let counted = if others { reading.counted(&finished) } else { None };
    let tests = report.read(&finished, &ReportFiles { written: &written, others, counted });
    let named = |home: &RepoPath| reading.named(root, &job.command.dir, home, tests.clone(), &finished);
    let own_tests = named(&job.command.dir);
    let tests_in = |home: &RepoPath| {
        if *home == job.command.dir { Cow::Borrowed(&own_tests) } else { Cow::Owned(named(home)) }
    };
    let mut served = reading.served(root, job, &finished);
    let elsewhere = || report.loaded_elsewhere().map(|file| loaded_elsewhere(&file));
    let failed = || report.failed().map(|failed| failed_tests(&failed));
    let stale = || {
        let start = start.as_ref().ok()?;
        let output = run::plain_text(&finished.output.end());
        place.stale_build(&job.command, &reading.runners, &|path| job.reads(path), start, &output)
    };
    let untrusted = || {
        let found = VirtualEnvironment::distrusted(&place.repo, root, &dir, &job.command.line, job.runners)?;
        Some(format!("{found}; make the virtual environment again with its installer"))
    };
    let shows_none = tests.is_empty() && said.report.is_none();
    let unshown = || {
        let start = start.as_ref().ok().filter(|_| shows_none)?;
        if report.has_begun() {
            return Some("a runner began and ran no test".to_owned());
        }
        let named = Some(place.tests_named_before(&job.command.key)).filter(|_| report.names_each_time());
        named.and_then(tests_not_shown).or_else(|| {
            let before = place.counted_before(&job.command, start)?;
            (!reading.tells_of(&before.runner, &finished)).then(|| tests_not_counted(before.passed))
        })
    };
    let doubt = || {
        let on_files = replaced_files(place, head_log).or_else(elsewhere);
        on_files.or_else(untrusted).or_else(failed).or_else(|| report.broken_off()).or_else(unshown).or_else(stale)
    };
    if let Some(why) = Some(()).filter(|()| finished.ended.success()).and_then(|()| doubt()) {
        said.masked.get_or_insert_with(|| why.clone());
        for one in &mut served {
            one.masked.get_or_insert_with(|| why.clone());
        }
    }
    let logs = reading.logs(root, &job.command.dir, &finished);
    let ending = RunEnding { finished: &finished, said, tests: &own_tests, logs };
    let ended = start.and_then(|start| end(place, start, job.command.clone(), job.policy.clone(), ending));
    let ended = ended.and_then(|run| {
        let settled = !served.is_empty() && reading.edits_first(root, &run, &finished);
        let served: Vec<Run> = served.into_iter().map(|witnessed| run_of(&run, witnessed, settled)).collect();
        served.iter().try_for_each(|run| place.append_run(run.clone(), &tests_in(&run.command.dir)))?;
        // The record is whole without it: what cannot be written is said, and the run counts.
        let all = std::iter::once(&run).chain(&served);
        let noted =
            all.map(|run| place.note_tests(run, &tests_in(&run.command.dir))).find(Result::is_err).unwrap_or(Ok(()));
        Ok((run, served, noted.err()))
    });
    match ended {
        Ok((run, served, unnoted)) => {
            let missing_names = unnoted.map(|error| format!("the names of its tests were not kept: {error}"));
            CompletedRun { finished, run: Some(run), served, loss: missing_names, withheld, environment: own }
        }
        Err(error) => {
            let unrecorded = Some(error.to_string());
            CompletedRun { finished, run: None, served: Vec::new(), loss: unrecorded, withheld, environment: own }
        }
    }
}

/// Returns the virtual environment that a line of the policy or of a contract runs in. What a person or an agent passes to
/// `gate run --` runs in theirs.
fn own_environment(
    place: &Workplace,
    root: &Path,
    job: &RunJob<'_>,
) -> Result<Option<VirtualEnvironment>, DistrustedEnvironment> {
    let CommandLine::Shell(line) = job.line else { return Ok(None) };
    VirtualEnvironment::of_project(&place.repo, root, &job.command.dir, line, job.runners)
}

/// Returns the same run as one of a declared command. `settled`: its checks ran on the content at its end.
fn run_of(run: &Run, witnessed: Witnessed, settled: bool) -> Run {
    let Witnessed { command, ended, report, masked } = witnessed;
    let run = Run { command, ended, report, masked, ..run.clone() };
    if settled { Run { start: run.end.clone(), changed: Vec::new(), ..run } } else { run }
}

/// Returns the reason why a run that shows no test proves nothing if an earlier one of the same command named tests.
fn tests_not_shown(before: usize) -> Option<String> {
    let tests = crate::plural::counted(before, "test");
    (before > 0).then(|| format!("its output shows no test, and earlier runs of this command named {tests}"))
}

/// Returns the reason why a run that counts no test proves nothing if the one before it counted tests.
fn tests_not_counted(before: u64) -> String {
    let tests = crate::plural::counted(usize::try_from(before).unwrap_or(usize::MAX), "test");
    format!("its output shows no test, and the run of this command before it counted {tests}")
}

/// Returns the reason why tests that loaded this file show nothing about their own working tree.
fn loaded_elsewhere(file: &str) -> String {
    format!("it loaded {file}, which is not of this working tree; use an environment that loads the files of this one")
}

/// Returns the reason why a run with status 0 proves nothing: these of its tests failed.
fn failed_tests(failed: &[String]) -> String {
    let shown = failed.iter().take(SHOWN).map(|test| one_line(test)).collect::<Vec<_>>().join(", ");
    let more = failed.len().saturating_sub(SHOWN);
    let others = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{shown}{others} failed in it, although it ended as if all tests had passed")
}

/// Returns the reason why a run may have read other files than those before and after it: `HEAD` went to another commit
/// since its log was `from` bytes long.
fn replaced_files(place: &Workplace, from: u64) -> Option<String> {
    let (moves, _) = head_reflog::moves_since(place.repo.git_dir(), from);
    let went = moves.iter().find(|one| one.replaces_files())?;
    Some(format!("git replaced files while it ran ({}); run it again", one_line(went.message())))
}

fn begin(place: &Workplace, command: &CommandRef) -> Result<KeptSnapshot, RecordError> {
    let start = place.repo.keep_now()?;
    append(place, EventKind::RunStarted(RunStarted { command: command.clone() }))?;
    Ok(start)
}

/// The end of a run, and its files.
struct RunEnding<'a> {
    finished: &'a Finished,
    said: RunResult,
    tests: &'a NamedTests,
    logs: Vec<RepoPath>,
}

fn end(
    place: &Workplace,
    start: KeptSnapshot,
    command: CommandRef,
    policy: String,
    RunEnding { finished, said, tests, logs }: RunEnding<'_>,
) -> Result<Run, RecordError> {
    let end = place.repo.keep_now()?;
    let mut changed = place.repo.changed_between(&start, &end)?;
    changed.retain(|path| !(logs.contains(path) && end.untracked.contains(path)));
    changed.truncate(PATHS);
    let verbatim = command.name.is_some();
    let mut run = Run {
        command,
        call: None,
        start,
        end,
        changed,
        logs,
        verbatim,
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

fn append(place: &Workplace, kind: EventKind) -> Result<(), RecordError> {
    place.journal.append(NewEvent { session: Some(place.session.id.clone()), origin: Origin::observed(), kind })?;
    Ok(())
}

/// A command line that was parsed before it runs: a run may change the files that define its meaning.
struct UnderstoodLine<'a> {
    line: &'a str,
    files: DiskDirectory,
    /// All runners that are known.
    catalogue: &'a Catalogue,
    /// The runners that the line starts.
    runners: Vec<&'a Runner>,
    /// A phrase for the part of the environment that narrows it.
    narrowed: Option<String>,
    /// The environment.
    variables: Vec<(String, String)>,
}

impl<'a> UnderstoodLine<'a> {
    fn of(line: &'a str, dir: &Path, catalogue: &'a Catalogue) -> Self {
        let files = DiskDirectory(dir.to_owned());
        let project = Project { runners: catalogue, files: &files };
        let understood = command_line::understand(line, project).ok();
        let ids = understood.iter().flat_map(|line| &line.purposes).flat_map(Purpose::runs);
        let runners = ids.filter_map(|id| catalogue.runner(id)).collect();
        let variables = command_line::environment();
        let handed_on: Vec<_> =
            variables.iter().filter(|(name, _)| command_line::withheld([name.as_str()]).is_empty()).cloned().collect();
        let narrowed = command_line::inherited(line, project, &handed_on);
        Self { line, files, catalogue, runners, narrowed, variables }
    }

    /// The variables that the command does not get.
    fn withheld(&self) -> Vec<String> {
        let names = self.variables.iter().map(|(name, _)| name.as_str());
        command_line::withheld(names).into_iter().map(str::to_owned).collect()
    }

    fn project_at<'b>(&'b self, files: &'b DiskDirectory) -> Project<'b> {
        Project { runners: self.catalogue, files }
    }

    fn reports(&self) -> impl Iterator<Item = String> {
        self.runners.iter().flat_map(|runner| runner.reports.iter().cloned())
    }

    /// Returns the result of the run: from its report files, which are complete, else from its closing lines.
    fn said(&self, finished: &Finished, files: &[PathBuf]) -> RunResult {
        let counted = sum(files.iter().filter_map(|path| read_junit(&regular_file::read(path).ok()?).ok()));
        let said = self.read(finished, counted);
        let narrowed = self.narrowed(finished);
        RunResult { masked: said.masked.or(narrowed), ..said }
    }

    fn read(&self, finished: &Finished, counted: Option<RunReport>) -> RunResult {
        let text = run::plain_text(&finished.output.end());
        let knowledge = OutputKnowledge::ToItsEnd;
        let project = self.project_at(&self.files);
        command_line::said(self.line, &self.runners, finished.ended, &text, knowledge, counted, project)
    }

    /// Returns the number of tests in the closing lines.
    fn counted(&self, finished: &Finished) -> Option<u64> {
        self.read(finished, None).report.map(|report| report.passed + report.failed + report.skipped)
    }

    /// Returns `true` if any line of the output is one that these runners print about tests.
    fn tells_of(&self, runners: &str, finished: &Finished) -> bool {
        let runners: Vec<_> = runners.split('+').filter_map(|id| self.catalogue.runner(id)).collect();
        command_line::tells(self.catalogue, &runners, &run::plain_text(&finished.output.end()))
    }

    fn narrowed(&self, finished: &Finished) -> Option<String> {
        self.narrowed.clone().filter(|_| finished.ended.success())
    }

    fn told<'t>(&'t self, root: &'t Path, dir: &'t RepoPath, finished: &Finished, text: &'t str) -> ObservedLine<'t> {
        ObservedLine {
            line: self.line,
            dir,
            root: root.to_str(),
            ended: Some(finished.ended),
            // Nothing was printed, which is more than not to know what was.
            output: Some(if text.is_empty() { "\n" } else { text }),
            cut: finished.output.cut,
            background: false,
            shell: Some(Shell::Sh),
        }
    }

    /// Returns the tests of the run, with the paths in their names as they are seen from the folder `home`.
    fn named(
        &self,
        root: &Path,
        dir: &RepoPath,
        home: &RepoPath,
        tests: NamedTests,
        finished: &Finished,
    ) -> NamedTests {
        let files = DiskDirectory(root.to_owned());
        command_line::names_seen_from(home, tests, &self.told(root, dir, finished, ""), self.project_at(&files))
    }

    /// Returns the files into which the line wrote the output of its checks.
    fn logs(&self, root: &Path, dir: &RepoPath, finished: &Finished) -> Vec<RepoPath> {
        let text = run::plain_text(&finished.output.end());
        let files = DiskDirectory(root.to_owned());
        command_line::own_logs(&self.told(root, dir, finished, &text), self.project_at(&files))
    }

    /// Returns `true` if all that changed while it ran was changed by the line itself, before its checks.
    fn edits_first(&self, root: &Path, run: &Run, finished: &Finished) -> bool {
        let told = self.told(root, &run.command.dir, finished, "");
        command_line::changed_before_checks(&run.changed, &told, self.project_at(&DiskDirectory(root.to_owned())))
    }

    /// Returns the proofs of the run for declared commands whose words differ, as for an agent's own line.
    fn served(&self, root: &Path, job: &RunJob<'_>, finished: &Finished) -> Vec<Witnessed> {
        if job.command.name.is_some() || finished.ended == Ended::NotStarted {
            return Vec::new();
        }
        let text = run::plain_text(&finished.output.end());
        let told = self.told(root, &job.command.dir, finished, &text);
        let mut served = command_line::witness(job.declared, &told, self.project_at(&DiskDirectory(root.to_owned())));
        // A run that shows nothing takes the place of none that did.
        served.retain(|witnessed| witnessed.masked.is_none());
        for witnessed in &mut served {
            witnessed.masked = self.narrowed(finished).filter(|_| witnessed.ended.success());
        }
        served
    }
}

/// Returns the existing report files, with size and time to detect new ones.
fn report_files(dir: &Path, globs: &[String]) -> BTreeMap<PathBuf, (u64, Option<SystemTime>)> {
    let mut found = BTreeMap::new();
    let Ok(wanted) = Globs::new(globs) else { return found };
    // A glob is looked for below its literal beginning, so that a report folder costs what it holds and no more.
    for start in globs.iter().map(|glob| literal_beginning(glob)) {
        let mut folders = vec![dir.join(start)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let Ok(meta) = entry.metadata() else { continue };
                if meta.is_dir() {
                    folders.push(path);
                } else if meta.len() <= REPORT && path.strip_prefix(dir).is_ok_and(|inner| wanted.is_match(inner)) {
                    found.insert(path, (meta.len(), meta.modified().ok()));
                }
            }
        }
    }
    found
}

fn literal_beginning(glob: &str) -> &str {
    let literal = glob.find(['*', '?', '[', '{']).map_or(glob, |at| &glob[..at]);
    literal.rfind('/').map_or("", |at| &literal[..at])
}

/// Returns the report files that this run wrote: those that are new or changed. `true`: there are others.
fn changed_reports(
    before: &BTreeMap<PathBuf, (u64, Option<SystemTime>)>,
    dir: &Path,
    globs: &[String],
) -> (Vec<PathBuf>, bool) {
    let after = report_files(dir, globs);
    let all = after.len();
    let changed = after.into_iter().filter(|(path, stamp)| before.get(path) != Some(stamp));
    let written: Vec<PathBuf> = changed.map(|(path, _)| path).collect();
    let others = written.len() < all;
    (written, others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_names_the_first_failed_tests() {
        let tests = ["a", "b", "c", "d"].map(str::to_owned);
        assert!(failed_tests(&tests[..1]).starts_with("a failed in it"));
        assert!(failed_tests(&tests).starts_with("a, b, c and 1 more failed in it"));
    }

    #[test]
    fn only_reports_that_the_run_wrote_count() {
        let dir = tempfile::tempdir().unwrap();
        let globs = ["out/**/TEST-*.xml".to_owned()];
        std::fs::create_dir_all(dir.path().join("out/a")).unwrap();
        std::fs::write(dir.path().join("out/a/TEST-old.xml"), "<old/>").unwrap();
        let before = report_files(dir.path(), &globs);
        std::fs::write(dir.path().join("out/a/TEST-new.xml"), "<new/>").unwrap();
        std::fs::write(dir.path().join("out/a/other.xml"), "<other/>").unwrap();
        let written = changed_reports(&before, dir.path(), &globs);
        assert_eq!(written, (vec![dir.path().join("out/a/TEST-new.xml")], true));
    }
}
