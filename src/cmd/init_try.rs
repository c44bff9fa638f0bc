//! `gate init --try`: runs each command once before it is declared.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::cmd::install_failure;
use crate::engine::Workplace;
use crate::event::{CommandRef, Ended};
use crate::install::{InstallTarget, Wishes, proposed};
use crate::policy::{Policy, command_key};
use crate::recorded_run::{self, CompletedRun, RunJob};
use crate::render::ui::{BAD, GOOD, Ui};
use crate::repo_path::RepoPath;
use crate::run::CommandLine;

/// A command that is tried.
struct TriedCommand {
    name: String,
    gate: String,
    run: String,
    dir: RepoPath,
    reports: Vec<String>,
}

/// A problem of a command, and the remedy.
struct TrialProblem {
    what: String,
    remedy: String,
}

/// The result of all trials.
pub(super) struct CommandTrial {
    /// The problem, by the name of the command.
    pub doubts: BTreeMap<String, String>,
    /// `true` if the commands are in `gate.toml`, so that only a person may change them.
    pub declared: bool,
}

/// Runs the commands that `gate.toml` declares or, without the file, those that would be declared. Prints how each
/// ended.
pub(super) fn try_all(repository: &InstallTarget, wishes: &Wishes, ui: &mut Ui) -> anyhow::Result<CommandTrial> {
    let place = Workplace::here()?;
    let root = place.work_tree()?.to_owned();
    let (policy, _) = place.policy(None)?;
    let declared = root.join("gate.toml").exists();
    let candidates = if declared { of_policy(&policy) } else { derived(repository, wishes)? };
    if candidates.is_empty() {
        ui.say(
            "gate: nothing to try: no command is declared, and gate found none; name one: gate init --test 'COMMAND'",
        );
    }
    let count = candidates.len();
    let mut results = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        let at = if candidate.dir.as_bytes().is_empty() { String::new() } else { format!(" in {}", candidate.dir) };
        ui.say(format_args!("gate: trying {} of {count}: {}: {}{at}", index + 1, candidate.name, candidate.run));
        let begun = Instant::now();
        let job = RunJob {
            command: CommandRef {
                name: Some(candidate.name.clone()),
                line: candidate.run.clone(),
                dir: candidate.dir.clone(),
                key: command_key(&candidate.run, &candidate.dir),
            },
            line: CommandLine::Shell(&candidate.run),
            reports: &candidate.reports,
            policy: policy.digest.clone(),
            runners: &policy.runners,
            declared: &[],
            inputs: None,
        };
        let recorded = recorded_run::record(&place, &root, &job);
        results.push((candidate, problem(candidate, &recorded), counts(&recorded), begun.elapsed()));
    }
    for (candidate, problem, counts, took) in &results {
        say(candidate, problem.as_ref(), counts, *took, ui);
    }
    let doubts =
        results.into_iter().filter_map(|(candidate, problem, ..)| Some((candidate.name.clone(), problem?.what)));
    Ok(CommandTrial { doubts: doubts.collect(), declared })
}

fn of_policy(policy: &Policy) -> Vec<TriedCommand> {
    let candidate = |command: &crate::policy::Command| TriedCommand {
        name: command.name.clone(),
        gate: command.gate.clone(),
        run: command.run.clone(),
        dir: command.dir.clone(),
        reports: command.reports.clone(),
    };
    policy.commands.iter().map(candidate).collect()
}

fn derived(repository: &InstallTarget, wishes: &Wishes) -> anyhow::Result<Vec<TriedCommand>> {
    let commands = proposed(repository, wishes, &mut Vec::new()).map_err(install_failure)?;
    let candidate = |command: crate::stack::DeclaredStack| TriedCommand {
        name: command.name,
        gate: command.gate.to_owned(),
        run: command.run,
        dir: RepoPath::from(command.dir.as_str()),
        reports: Vec::new(),
    };
    Ok(commands.into_iter().map(candidate).collect())
}

/// Returns the reason why a run of this command would prove nothing.
fn problem(candidate: &TriedCommand, recorded: &CompletedRun) -> Option<TrialProblem> {
    let TriedCommand { name, gate, .. } = candidate;
    let problem = |what: String, remedy: String| Some(TrialProblem { what, remedy });
    let other = format!(
        "or give the command that you use: gate init --{} 'COMMAND'",
        if gate == "tests" { "test" } else { "build" }
    );
    if let Some(error) = &recorded.finished.start_error {
        return problem(format!("it could not start: {}", error.what), error.remedy.clone());
    }
    match recorded.finished.ended {
        Ended::Exited(0) => {}
        Ended::Exited(code @ (126 | 127)) => {
            let what = format!("it could not start (status {code}): a program was not found or may not be executed");
            return problem(what, format!("install what it needs, or enter the environment that has it; {other}"));
        }
        Ended::Exited(code) => {
            return problem(
                format!("it ended with status {code}"),
                format!("fix what its output above reports; {other}"),
            );
        }
        Ended::Signalled(signal) => {
            return problem(
                format!("it was killed by signal {signal}"),
                format!("run it again and do not stop it; {other}"),
            );
        }
        Ended::NotStarted => return problem("it was not started".to_owned(), other),
    }
    if let Some(loss) = &recorded.loss {
        return problem(
            format!("it passed, and the run could not be recorded: {loss}"),
            "gate doctor shows the cause".to_owned(),
        );
    }
    let run = recorded.run.as_ref()?;
    if let Some(why) = &run.masked {
        return problem(format!("it passed, but proves nothing: {why}"), other);
    }
    let report = run.report.as_ref().filter(|_| gate == "tests");
    if report.is_some_and(|report| report.failed > 0) {
        return problem("it ended with status 0, but its output counts failures".to_owned(), other);
    }
    if report.is_some_and(|report| report.passed == 0) {
        return problem("it executed no test".to_owned(), format!("write the first test; {other}"));
    }
    if run.changed.is_empty() {
        return None;
    }
    let paths: Vec<_> = run.changed.iter().take(3).map(ToString::to_string).collect();
    let remedy = format!("list what it makes in .gitignore, or commit it, then: gate run {name}");
    problem(format!("{} changed while it ran, so it proves nothing", paths.join(", ")), remedy)
}

fn counts(recorded: &CompletedRun) -> String {
    let report = recorded.run.as_ref().and_then(|run| run.report.as_ref());
    report.map_or_else(String::new, |report| format!(" ({} passed, {} failed)", report.passed, report.failed))
}

fn say(candidate: &TriedCommand, problem: Option<&TrialProblem>, counts: &str, took: Duration, ui: &mut Ui) {
    let TriedCommand { name, run, .. } = candidate;
    let seconds = took.as_secs_f32();
    match problem {
        None => ui.say(format_args!("gate: {GOOD}passed{GOOD:#} {name}: `{run}`{counts}, {seconds:.1} s")),
        Some(problem) => {
            ui.say(format_args!("gate: {BAD}cannot count{BAD:#} {name}: `{run}`: {}", problem.what));
            ui.say(format_args!("      {}", problem.remedy));
        }
    }
}
