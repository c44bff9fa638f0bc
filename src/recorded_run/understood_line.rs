//! The command line of a run, and what its output and its files say.

use std::path::{Path, PathBuf};

use super::RunJob;
use crate::command_line::{self, ObservedLine, OutputKnowledge, PartlyRun, Purpose, RunResult, Witnessed, sum};
use crate::event::{Ended, Run, RunReport};
use crate::policy::Command;
use crate::regular_file;
use crate::repo_path::RepoPath;
use crate::run::{self, Finished};
use crate::runner::{Catalogue, NamedTests, Project, Runner, read_junit};
use crate::shell_kind::Shell;
use crate::source::project_files::DiskDirectory;

/// A command line that was parsed before it runs: a run may change the files that define its meaning.
pub(super) struct UnderstoodLine<'a> {
    line: &'a str,
    files: DiskDirectory,
    /// All runners that are known.
    catalogue: &'a Catalogue,
    /// The runners that the line starts.
    pub(super) runners: Vec<&'a Runner>,
    /// A phrase for the part of the environment that narrows it.
    narrowed: Option<String>,
    /// The environment.
    variables: Vec<(String, String)>,
}

impl<'a> UnderstoodLine<'a> {
    /// Parses a line that starts in `dir`.
    pub(super) fn of(line: &'a str, dir: &Path, catalogue: &'a Catalogue) -> Self {
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

    /// Returns the variables that the command does not get.
    pub(super) fn withheld(&self) -> Vec<String> {
        let names = self.variables.iter().map(|(name, _)| name.as_str());
        command_line::withheld(names).into_iter().map(str::to_owned).collect()
    }

    fn project_at<'b>(&'b self, files: &'b DiskDirectory) -> Project<'b> {
        Project { runners: self.catalogue, files }
    }

    /// Returns the globs of the report files that its runners write.
    pub(super) fn reports(&self) -> impl Iterator<Item = String> {
        self.runners.iter().flat_map(|runner| runner.reports.iter().cloned())
    }

    /// Returns the result of the run: from its report files, which are complete, else from its closing lines.
    pub(super) fn said(&self, finished: &Finished, files: &[PathBuf]) -> RunResult {
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
    pub(super) fn counted(&self, finished: &Finished) -> Option<u64> {
        self.read(finished, None).report.map(|report| report.passed + report.failed + report.skipped)
    }

    /// Returns `true` if any line of the output is one that these runners print about tests.
    pub(super) fn tells_of(&self, runners: &str, finished: &Finished) -> bool {
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
    pub(super) fn named(
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
    pub(super) fn logs(&self, root: &Path, dir: &RepoPath, finished: &Finished) -> Vec<RepoPath> {
        let text = run::plain_text(&finished.output.end());
        let files = DiskDirectory(root.to_owned());
        command_line::own_logs(&self.told(root, dir, finished, &text), self.project_at(&files))
    }

    /// Returns `true` if all that changed while it ran was changed by the line itself, before the checks of the commands that
    /// it proves.
    pub(super) fn edits_first(&self, root: &Path, run: &Run, proven: &[&Command], finished: &Finished) -> bool {
        let told = self.told(root, &run.command.dir, finished, "");
        let files = DiskDirectory(root.to_owned());
        let edited: Vec<RepoPath> = run.changed.iter().filter(|path| !run.built.contains(path)).cloned().collect();
        command_line::changed_before_checks(&edited, &told, self.project_at(&files), proven)
    }

    /// Returns the files that the line writes by itself if nothing else in it than these commands can build anything.
    pub(super) fn written_alone(
        &self,
        root: &Path,
        dir: &RepoPath,
        proven: &[&Command],
        finished: &Finished,
    ) -> Option<Vec<RepoPath>> {
        let (told, files) = (self.told(root, dir, finished, ""), DiskDirectory(root.to_owned()));
        proven.iter().find_map(|declared| command_line::runs_alone(declared, &told, self.project_at(&files)))
    }

    /// Returns `true` if git may change files in the line before the checks of the commands that it proves, and nothing does
    /// after.
    pub(super) fn moves_first(&self, root: &Path, dir: &RepoPath, proven: &[&Command], finished: &Finished) -> bool {
        let told = self.told(root, dir, finished, "");
        command_line::moves_before_checks(&told, self.project_at(&DiskDirectory(root.to_owned())), proven)
    }

    /// Returns the proofs of the run for declared commands whose words differ, as for an agent's own line. What shows nothing
    /// comes second.
    pub(super) fn served(
        &self,
        root: &Path,
        job: &RunJob<'_>,
        finished: &Finished,
    ) -> (Vec<Witnessed>, Vec<Witnessed>) {
        if job.command.name.is_some() || finished.ended == Ended::NotStarted {
            return Default::default();
        }
        let text = run::plain_text(&finished.output.end());
        let told = self.told(root, &job.command.dir, finished, &text);
        let found = command_line::witness(job.declared, &told, self.project_at(&DiskDirectory(root.to_owned())));
        // A run that shows nothing takes the place of none that did.
        let (mut served, unshown): (Vec<_>, Vec<_>) = found.into_iter().partition(|one| one.masked.is_none());
        for witnessed in &mut served {
            witnessed.masked = self.narrowed(finished).filter(|_| witnessed.ended.success());
        }
        (served, unshown)
    }

    /// Returns the declared commands of which the run may have been a part. There are none if it proves anything for one of
    /// them (`served`).
    pub(super) fn parts_of(
        &self,
        root: &Path,
        job: &RunJob<'_>,
        served: &[Witnessed],
        finished: &Finished,
    ) -> PartlyRun {
        if job.command.name.is_some() || !served.is_empty() || finished.ended == Ended::NotStarted {
            return PartlyRun::default();
        }
        let told = self.told(root, &job.command.dir, finished, "");
        command_line::partly_run(job.declared, &told, self.project_at(&DiskDirectory(root.to_owned())))
    }
}
