//! The runs of declared commands that a line made in one working tree.

use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use super::command_weight;
use super::output_tail::{READ, tail_of};
use super::session_state::{PendingCommand, StartingPoint};
use super::stashed_work::put_aside;
use crate::collect::{self, BaseOf};
use crate::command_line::{self, ObservedLine, Purpose, Understood, Witnessed};
use crate::engine::{Workplace, earlier_lines, results_in_part, test_results};
use crate::event::{CommandRef, Ended, EventKind, Run};
use crate::journal::JournalState;
use crate::linked_packages::{loads_elsewhere, package_elsewhere};
use crate::policy::{Command, Policy};
use crate::repo_path::RepoPath;
use crate::runner::{CommandKind, NamedTests, Project, Runner};
use crate::shell::expanded_program::Leaf;
use crate::shell_kind::Shell;
use crate::snapshot::KeptSnapshot;
use crate::source::project_files::DiskDirectory;
use crate::virtual_environment::{VirtualEnvironment, other_tree};

/// The maximum number of paths in an event.
const PATHS: usize = 256;

/// The end of a line, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub(in crate::hook) struct LineEnd<'a> {
    /// The shell that ran it, or `None` if it is unknown.
    pub(in crate::hook) shell: Option<Shell>,
    /// Its status.
    pub(in crate::hook) ended: Ended,
    /// Its output, or `None` if it is unknown.
    pub(in crate::hook) output: Option<&'a str>,
    /// A phrase that names what in the environment weakens the check.
    pub(in crate::hook) narrowed: Option<&'a str>,
}

/// A line that ended, in one of its working trees.
struct LineInTree<'a> {
    place: &'a Workplace,
    pending: &'a PendingCommand,
    ground: &'a StartingPoint,
    policy: Policy,
    files: DiskDirectory,
    told: ObservedLine<'a>,
    /// See [`LineEnd::narrowed`].
    narrowed: Option<&'a str>,
}

/// Returns the runs of declared commands that a line made, in the working tree of `place`. An error says why they are
/// lost.
pub(in crate::hook) fn runs_of(
    place: &Workplace,
    pending: &PendingCommand,
    ground: &StartingPoint,
    end: LineEnd<'_>,
) -> Result<Vec<EventKind>, String> {
    if ground.end.is_none() {
        return Ok(Vec::new());
    }
    let (policy, files) = (policy_here(place)?, DiskDirectory(ground.root.clone()));
    let aside = put_aside(&place.repo, pending, ground, policy.project(&files), end.output);
    let (pending, ground) = aside.as_ref().map_or((pending, ground), |(pending, ground)| (pending, ground));
    let Some(content) = &ground.end else { return Ok(Vec::new()) };
    let told = ObservedLine {
        line: &pending.line,
        dir: &ground.dir,
        root: ground.root.to_str(),
        ended: Some(end.ended),
        output: end.output,
        cut: pending.cut,
        background: false,
        shell: end.shell,
    };
    LineInTree { place, pending, ground, policy, files, told, narrowed: end.narrowed }.runs(content)
}

impl LineInTree<'_> {
    fn project(&self) -> Project<'_> {
        self.policy.project(&self.files)
    }

    fn state(&self) -> Result<JournalState, String> {
        self.place.state().map_err(said)
    }

    fn runs(&self, end: &KeptSnapshot) -> Result<Vec<EventKind>, String> {
        let served = self.served()?;
        let together = if self.narrowed.is_none() { self.together()? } else { Vec::new() };
        if served.is_empty() && together.is_empty() {
            return self.parts(end);
        }
        let logs = command_line::own_logs(&self.told, self.project());
        let mut changed = self.changed(end, &logs)?;
        let mut start = &self.ground.start;
        let proven: Vec<&Command> =
            served.iter().chain(&together).filter_map(|served| self.declared(&served.command)).collect();
        let built = self.built(&proven, end);
        let edited: Vec<RepoPath> = changed.iter().filter(|path| !built.contains(path)).cloned().collect();
        if command_line::changed_before_checks(&edited, &self.told, self.project(), &proven) {
            // The checks ran on what the line had written before them.
            (start, changed) = (end, Vec::new());
        }
        changed.truncate(PATHS);
        let output = self.told.output.unwrap_or_default();
        let tail = tail_of(output);
        let runners = self.runners(served.iter().filter_map(|served| Some(served.report.as_ref()?.runner.as_str())));
        let whole = !self.pending.cut && output.len() < READ;
        let tests = NamedTests::of_runners(&self.policy.runners, output, whole, &runners);
        // One of several runs in the line failed, and it began with the content that the line began with.
        let is_uncounted = |one: &Witnessed| one.report.is_none() && shows_pass(one);
        let has_failed = tests.failed().next().is_some() && served.iter().any(is_uncounted);
        let mut events = if has_failed { self.parts(&self.ground.start)? } else { Vec::new() };
        let is_of_part = !events.is_empty();
        // What failed before matters only where this run names tests.
        let state = if tests.is_empty() { None } else { Some(self.state()?) };
        // Lines that prove a command together name its tests in parts.
        let unnamed = NamedTests::default();
        let project = self.project();
        let named = |served: Witnessed| {
            let dir = &served.command.dir;
            let tests = command_line::names_seen_from(dir, tests.clone(), &self.told, project);
            // The names are those of a first try or of an earlier run, or a test printed them.
            let counts_none = served.report.as_ref().is_some_and(|report| report.failed == 0 && report.passed > 0);
            let is_others = shows_pass(&served) && (counts_none || is_of_part);
            let tests = if is_others { tests.without_failed() } else { tests };
            (served, tests)
        };
        let served = served.into_iter().map(named);
        for (served, tests) in served.chain(together.into_iter().map(|served| (served, unnamed.clone()))) {
            let verbatim = self.is_verbatim(&served.command);
            let mut end = end.clone();
            // What a line itself names is not read by its checks.
            end.read.retain(|path| verbatim || !self.told.line.contains(&path.to_string()));
            let run = Run {
                verbatim,
                built: built.clone(),
                command: served.command,
                call: Some(self.pending.call.clone()),
                start: start.clone(),
                end,
                changed: changed.clone(),
                logs: logs.clone(),
                ended: served.ended,
                over_time: Ended::is_over_time(Some(served.ended), &tail),
                millis: self.pending.millis,
                report: served.report,
                named: tests.named_part(),
                masked: served.masked,
                tail: tail.clone(),
                policy: self.policy.digest.clone(),
            };
            let named = state.as_ref().and_then(|state| test_results(&run, &tests, state));
            events.push(EventKind::Run(Box::new(run)));
            events.extend(named.map(Box::new).map(EventKind::Tests));
        }
        Ok(events)
    }

    /// Returns the untracked programs that the declared commands wrote, if nothing else in the line can have built them.
    fn built(&self, proven: &[&Command], end: &KeptSnapshot) -> Vec<RepoPath> {
        let written = |declared: &&Command| command_line::runs_alone(declared, &self.told, self.project());
        let Some(written) = proven.iter().find_map(written).filter(|_| self.pending.began > 0) else {
            return Vec::new();
        };
        let mut built = self.place.built_programs(end, UNIX_EPOCH + Duration::from_millis(self.pending.began));
        // What the line itself prints into a file, or edits, is no product.
        built.retain(|path| !written.contains(path));
        built
    }

    /// Returns what the line says by name of tests of declared commands that it ran in part.
    fn parts(&self, end: &KeptSnapshot) -> Result<Vec<EventKind>, String> {
        let project = self.project();
        let parts = command_line::partly_run(&self.policy.commands, &self.told, project);
        if parts.commands.is_empty() {
            return Ok(Vec::new());
        }
        let Some(runners) = self.runners_of_line() else { return Ok(Vec::new()) };
        let output = self.told.output.unwrap_or_default();
        let tests = NamedTests::of_runners(&self.policy.runners, output, false, &runners);
        if tests.is_empty() {
            return Ok(Vec::new());
        }
        let state = self.state()?;
        let named = parts.commands.iter().filter_map(|command| {
            let tests = command_line::names_seen_from(&command.dir, tests.clone(), &self.told, project);
            results_in_part(command, end, (&tests, parts.alone), &state)
        });
        Ok(named.map(Box::new).map(EventKind::Tests).collect())
    }

    /// Returns the proofs for the declared commands.
    fn served(&self) -> Result<Vec<Witnessed>, String> {
        let mut served = command_line::witness(&self.policy.commands, &self.told, self.project());
        for witnessed in served.iter_mut().filter(|witnessed| shows_pass(witnessed)) {
            witnessed.masked = self.narrowed.map(str::to_owned);
        }
        self.mark_stale(&mut served);
        self.mark_untrusted(&mut served);
        self.mark_edited(&mut served);
        if served.iter().any(|witnessed| witnessed.masked.is_some()) {
            // A line whose status is another's shows nothing: it is kept to be told where nothing else is known of this
            // content, and takes the place of no run that showed something.
            let (state, tree) = (self.state()?, &self.ground.start.tree);
            let known = |key: &str| state.runs(key).iter().any(|run| run.run.start.tree == *tree);
            served.retain(|witnessed| witnessed.masked.is_none() || !known(&witnessed.command.key));
        }
        Ok(served)
    }

    /// Returns the paths that changed while it ran, without its own logs.
    fn changed(&self, end: &KeptSnapshot, logs: &[RepoPath]) -> Result<Vec<RepoPath>, String> {
        let (start, began) = (&self.ground.start, self.pending.began);
        let mut changed = self
            .place
            .repo
            .changed_between(start, end)
            .map_err(|error| format!("gate: two snapshots could not be compared: {error}"))?;
        changed.retain(|path| !(logs.contains(path) && end.untracked.contains(path)));
        if !changed.is_empty() || began == 0 || !command_line::may_change_after_checks(&self.told, self.project()) {
            return Ok(changed);
        }
        let is_input = |path: &RepoPath| self.policy.commands.iter().any(|command| command.inputs.matches(path));
        self.place
            .rewritten_files(start, began, &is_input)
            .map_err(|error| format!("gate: the files of a snapshot could not be listed: {error}"))
    }

    /// Marks the proofs of runs that may have used what was built from other content.
    fn mark_stale(&self, served: &mut [Witnessed]) {
        let mut served = served.iter_mut().filter(|witnessed| shows_pass(witnessed)).peekable();
        if served.peek().is_none() {
            return;
        }
        let Some(runners) = self.runners_of_line() else { return };
        let (start, output) = (&self.ground.start, self.told.output.unwrap_or_default());
        for witnessed in served {
            let declared = self.declared(&witnessed.command);
            let is_input = |path: &RepoPath| declared.is_none_or(|command| command.inputs.matches(path));
            witnessed.masked = self.place.stale_build(&witnessed.command, &runners, &is_input, start, output);
        }
    }

    /// Marks the proofs of runs that used a virtual environment whose programs no installer wrote.
    fn mark_untrusted(&self, served: &mut [Witnessed]) {
        let mut served = served.iter_mut().filter(|witnessed| shows_pass(witnessed)).peekable();
        if served.peek().is_none() {
            return;
        }
        let (repo, root) = (&self.place.repo, &self.ground.root);
        let dir = self.folder_of_tests();
        let found = VirtualEnvironment::distrusted(repo, root, &dir, &self.pending.line, &self.policy.runners);
        let doubt = found.map(|found| found.doubt()).or_else(|| self.loaded_elsewhere(&dir));
        if let Some(doubt) = doubt {
            served.for_each(|witnessed| witnessed.masked = Some(doubt.clone()));
        }
    }

    /// Returns the folder in which the line runs its first tests: `cd ../other && pytest`.
    fn folder_of_tests(&self) -> PathBuf {
        let start = self.ground.root.join(self.ground.dir.to_os());
        let files = DiskDirectory(start.clone());
        let line = command_line::understand(&self.pending.line, self.policy.project(&files)).ok();
        let folder = line.as_ref().and_then(|line| {
            let (tests, _) = line.steps().find(|(_, purpose)| purpose.is(CommandKind::Test))?;
            start.join(tests.directory.as_ref()?.path.as_deref()?).canonicalize().ok()
        });
        folder.unwrap_or(start)
    }

    /// Returns the reason if the tests of a line loaded the code of another working tree.
    fn loaded_elsewhere(&self, dir: &Path) -> Option<String> {
        const PYTHON: [&str; 3] = ["pytest", "unittest", "django test"];
        let (root, trees) = (&self.ground.root, self.place.repo.work_trees());
        let is_python = self.runners_of_line()?.iter().any(|runner| PYTHON.contains(&&*runner.id));
        if let Some((other, from)) = package_elsewhere(root, &trees, dir) {
            return Some(loads_elsewhere(&from, &other));
        }
        // `. .venv/bin/activate && cd ../other && pytest`
        let start = root.join(self.ground.dir.to_os());
        let other_tree = |dir: &Path| other_tree(root, &trees, dir, &self.pending.line);
        let other = if is_python { other_tree(dir).or_else(|| other_tree(&start)) } else { None }?;
        Some(format!(
            "its environment loads the code of {}, which is another working tree; install the project of this one in an \
             environment of its own",
            other.display()
        ))
    }

    /// Marks the proofs of runs during which an agent edited a file that they read.
    fn mark_edited(&self, served: &mut [Witnessed]) {
        let began = UNIX_EPOCH + Duration::from_millis(self.pending.began);
        for witnessed in served.iter_mut().filter(|witnessed| self.pending.began > 0 && shows_pass(witnessed)) {
            let declared = self.declared(&witnessed.command);
            let reads = |path: &RepoPath| declared.is_none_or(|command| command.inputs.matches(path));
            witnessed.masked = self.place.edited_meanwhile(&self.ground.root, began, reads);
        }
    }

    /// Returns the proofs that it gives together with the lines that ran before it on the same content.
    fn together(&self) -> Result<Vec<Witnessed>, String> {
        let (ground, project) = (self.ground, self.project());
        let in_part = command_line::proven_in_part(&self.policy.commands, &self.told, project);
        let failed = !self.told.ended.is_some_and(Ended::success);
        if failed || in_part.is_empty() || !ground.end.as_ref().is_some_and(|end| end.is_same(&ground.start)) {
            return Ok(Vec::new());
        }
        let earlier = earlier_lines(&self.place.journal, &self.state()?, &ground.start, Some(&self.pending.call))
            .map_err(|error| format!("gate: the journal could not be read: {error}"))?;
        let earlier: Vec<_> = earlier.iter().map(|line| line.observed(ground.root.to_str())).collect();
        Ok(command_line::witness_together(&in_part, &earlier, &self.told, project))
    }

    /// Returns the runners that the line starts, or `None` if it cannot be read.
    fn runners_of_line(&self) -> Option<Vec<&Runner>> {
        let files = DiskDirectory(self.ground.root.join(self.ground.dir.to_os()));
        let line = command_line::understand(&self.pending.line, self.policy.project(&files)).ok()?;
        Some(self.runners(line.purposes.iter().flat_map(Purpose::runs)))
    }

    fn runners<'i>(&self, ids: impl Iterator<Item = &'i str>) -> Vec<&Runner> {
        ids.filter_map(|id| self.policy.runners.runner(id)).collect()
    }

    fn declared(&self, proven: &CommandRef) -> Option<&Command> {
        self.policy.commands.iter().find(|command| Some(&command.name) == proven.name.as_ref())
    }

    /// Returns `true` if the line is the declared command itself.
    fn is_verbatim(&self, proven: &CommandRef) -> bool {
        self.declared(proven)
            .is_some_and(|command| command.run.trim() == self.pending.line.trim() && command.dir == self.ground.dir)
    }
}

fn shows_pass(witnessed: &Witnessed) -> bool {
    witnessed.ended.success() && witnessed.masked.is_none()
}

fn said(failure: impl std::fmt::Display) -> String {
    format!("gate: {failure}")
}

/// Returns the policy for the content that is checked out.
pub(in crate::hook) fn policy_here(place: &Workplace) -> Result<Policy, String> {
    let of_head = |commit| collect::lineage(&place.repo, &commit, BaseOf::AnyRemote);
    let lineage = place
        .repo
        .head()
        .and_then(|head| head.commit.map(of_head).transpose())
        .map_err(|error| format!("gate: git could not be run: {error}"))?;
    Ok(place.policy(lineage.as_ref()).map_err(said)?.0)
}

/// Returns the commands of a line that do more than read.
pub(in crate::hook) fn heavy(line: &Understood) -> impl Iterator<Item = (&Leaf, &Purpose)> {
    line.program
        .leaves
        .iter()
        .zip(&line.purposes)
        .filter(|(leaf, one)| !leaf.remote && !command_weight::is_light(leaf, one))
}

/// Returns the directory in which a command runs, as far as the line shows it.
pub(in crate::hook) fn place_of(leaf: &Leaf, at: &Path) -> Option<PathBuf> {
    let Some(directory) = &leaf.directory else { return Some(at.to_owned()) };
    let path = directory.path.as_deref()?;
    (!path.starts_with('~')).then(|| at.join(path))
}

/// Returns a path relative to a root.
pub(in crate::hook) fn relative(path: &Path, root: &Path) -> Option<RepoPath> {
    let (path, root) = (path.canonicalize().ok()?, root.canonicalize().ok()?);
    path.strip_prefix(root).ok().map(|inner| RepoPath::from_os(inner.as_os_str()))
}
