//! `gate run`: runs a declared command, or any, and records its content and its end.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use crate::cmd::given_line;
use crate::cmd::housekeeping::tidy;
use crate::collect::attested::AttestedRuns;
use crate::collect::contracts::{self, ContractInForce};
use crate::collect::run_comparison::absent_inputs;
use crate::collect::{self, Sources, unread_scratch_files};
use crate::engine::Workplace;
use crate::event::{CommandRef, Ended, Run};
use crate::exit::Exit;
use crate::fact::subject::SubjectKind;
use crate::failure::Failure;
use crate::gates;
use crate::gates::finding::{Answer, Finding};
use crate::git::Repo;
use crate::moment::Moment;
use crate::policy::{Command, Policy, PolicySource, command_key};
use crate::recorded_run::{self, CompletedRun, RunJob};
use crate::render::ui::{BAD, GOOD, Ui, WARN};
use crate::repo_path::RepoPath;
use crate::run::CommandLine;
use crate::runner::{Catalogue, why_nothing_ran};
use crate::shell_quote::shell_word;
use crate::snapshot::KeptSnapshot;

/// The maximum number of paths that are named.
const MAX_LISTED: usize = 3;

/// Arguments of `gate run`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The declared commands to run; the name of a gate stands for all of its commands. By default, gate runs those
    /// whose evidence is missing or stale
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Any command, run in the current directory
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// Runs the commands. Returns the status of the first that failed, or of the only one.
pub fn main(args: &Args, ui: &mut Ui) -> Result<ExitCode> {
    let place = super::place_of_agent()?;
    let root = place.work_tree()?.to_owned();
    let head = place.repo.head()?.commit;
    let lineage = place.lineage(head.as_ref())?;
    let (policy, _) = place.policy(lineage.as_ref())?;
    tidy(&place, &policy, ui);
    if !args.command.is_empty() {
        let bash = given_line::in_bash(&args.command, &policy);
        if bash.is_some() {
            ui.say("gate: the line uses the syntax of bash, so bash runs it");
        }
        let job = given(bash.as_ref().map_or(&args.command, |words| &words[..]), &root, &policy)?;
        return Ok(run(&place, &root, &job, &policy, ui));
    }
    let commands = if args.names.is_empty() {
        let contracts = place.contracts_in_force()?;
        unproven(&place, &policy, lineage.as_ref(), &AttestedRuns::default(), &contracts, SubjectKind::WorkingTree)?
    } else {
        named(&args.names, &policy)?
    };
    if policy.commands.is_empty() {
        ui.say("gate: nothing to run: no command is declared; `gate init --test '<command>'` declares one");
    } else if commands.is_empty() {
        ui.say(nothing_to_run(&place, &policy, lineage.as_ref())?);
    }
    for command in commands {
        let code = run_declared(&place, &root, command, &policy, ui);
        if code != ExitCode::SUCCESS {
            return Ok(code);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the message if the working tree is proven. It says so if the working tree differs from the commit.
fn nothing_to_run(place: &Workplace, policy: &Policy, head: Option<&collect::Lineage>) -> Result<String> {
    let state = place.state()?;
    let ever_ran = policy.commands.iter().any(|command| !state.runs(&command.reference().key).is_empty());
    let proven = if ever_ran {
        "gate: nothing to run: every command that is needed has passed on this content"
    } else {
        "gate: nothing to run: no declared command reads what changed here"
    };
    let dirty = place.repo.look()?.snapshot.dirty;
    let Some(head) = head.filter(|_| !dirty.is_empty()) else { return Ok(proven.to_owned()) };
    let contracts = place.contracts_in_force()?;
    let open = unproven(place, policy, Some(head), &AttestedRuns::default(), &contracts, SubjectKind::Commit)?;
    if open.is_empty() {
        return Ok(proven.to_owned());
    }
    let is_read = |path: &RepoPath| open.iter().any(|command| command.inputs.matches(path));
    let paths: Vec<_> = dirty.iter().map(|one| &one.path).filter(|path| is_read(path)).take(3).collect();
    let paths = paths.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    Ok(format!(
        "gate: nothing to run: every command that is needed has passed on the working tree, but not on commit \
         {}\n      {paths} differs: commit what belongs to the commit and list the rest in .gitignore, then: gate run",
        head.commit.short()
    ))
}

/// Runs a declared command, and prints how it ended.
pub(super) fn run_declared(
    place: &Workplace,
    root: &Path,
    command: &Command,
    policy: &Policy,
    ui: &mut Ui,
) -> ExitCode {
    ui.say(format_args!("gate: {}: {}", command.name, command.run));
    let job = RunJob {
        command: command.reference(),
        line: CommandLine::Shell(&command.run),
        reports: &command.reports,
        policy: policy.digest.clone(),
        runners: &policy.runners,
        declared: &[],
        inputs: Some(&command.inputs),
    };
    let code = run(place, root, &job, policy, ui);
    if code == ExitCode::SUCCESS
        && let Err(failure) = place.reset_attempts_if_proven()
    {
        ui.say(format_args!("{BAD}gate:{BAD:#} {failure}"));
    }
    code
}

fn run(place: &Workplace, root: &Path, job: &RunJob<'_>, policy: &Policy, ui: &mut Ui) -> ExitCode {
    let name = job.command.name.clone().unwrap_or_else(|| job.command.line.clone());
    let recorded = recorded_run::record(place, root, job);
    say(&name, &recorded, ui);
    let passed = recorded.finished.ended.success() || recorded.served.iter().any(|run| run.ended.success());
    if recorded.loss.is_none() && passed {
        say_what_it_proves(place, &recorded, policy, ui);
    }
    recorded.finished.exit_code().into()
}

/// Prints whether a run that passed proves this commit or only the working tree, or why it proves nothing.
fn say_what_it_proves(place: &Workplace, recorded: &CompletedRun, policy: &Policy, ui: &mut Ui) {
    let named = recorded.run.iter().filter(|run| run.command.name.is_some());
    let mut runs = named.chain(&recorded.served).peekable();
    for one in &recorded.open {
        let name = one.command.name.as_deref().unwrap_or(&one.command.line);
        let why = one.masked.as_deref().unwrap_or_default();
        ui.say(format_args!("gate: {WARN}this run proves nothing{WARN:#} about {name}: {why}"));
        ui.say(format_args!("      run it alone, so that its own status shows: gate run {}", shell_word(name)));
    }
    if runs.peek().is_none() && recorded.open.is_empty() {
        let declared: Vec<_> = policy.commands.iter().map(|command| format!("`{}`", command.run)).collect();
        let why = match declared.as_slice() {
            [] => "no command is declared".to_owned(),
            commands => {
                format!("the command contains none that gate.toml declares ({})", commands.join(", "))
            }
        };
        ui.say(format_args!("gate: {WARN}this run proves nothing{WARN:#}: {why}"));
        return;
    }
    for run in runs {
        let name = run.command.name.as_deref().unwrap_or(&run.command.line);
        if let Some(how) = failure(run.ended) {
            ui.say(format_args!("gate: {BAD}this does not prove {name}{BAD:#}: `{}` {how}", run.command.line));
            continue;
        }
        let inputs = policy.commands.iter().find(|command| Some(&command.name) == run.command.name.as_ref());
        let counts = |path: &&RepoPath| inputs.is_none_or(|command| command.inputs.matches(path));
        let products = run.products();
        let scratch = unread_scratch_files(&place.repo, policy, &run.end).unwrap_or_default();
        let own = |path: &RepoPath| run.logs.contains(path) || products.contains(&path) || scratch.contains(path);
        let differing = differing_from_head(&place.repo, &run.end);
        let open: Option<Vec<_>> =
            differing.map(|paths| paths.into_iter().filter(|path| counts(&path) && !own(path)).collect());
        let committed = run.end.opaque.is_empty() && open.as_ref().is_some_and(Vec::is_empty);
        let changed = run.changed.iter().filter(|path| counts(path) && !own(path));
        let changed: Vec<_> = changed.take(3).map(ToString::to_string).collect();
        let absent = inputs.map(|command| absent_inputs(&place.repo, &run.start, &command.inputs)).unwrap_or_default();
        let absent: Vec<_> = absent.iter().take(3).map(ToString::to_string).collect();
        let opaque = run.start.opaque.iter().chain(&run.end.opaque).find(counts);
        match (why_it_proves_nothing(run, opaque, &changed, &absent), &run.end.head) {
            (Some(why), _) => ui.say(format_args!("gate: {WARN}this run proves nothing{WARN:#} about {name}: {why}")),
            (None, Some(head)) if committed => {
                ui.say(format_args!("gate: {GOOD}this proves {name}{GOOD:#} for this commit ({})", head.short()));
            }
            (None, _) => {
                let files = match products.as_slice() {
                    [] => "the files as they are now".to_owned(),
                    made => format!("the files as they are now, without {}", listed(made)),
                };
                ui.say(format_args!(
                    "gate: {GOOD}this proves {name}{GOOD:#} for {files}: commit exactly these, and the commit is proven"
                ));
                if let Some(open) = open.filter(|open| !open.is_empty()) {
                    let paths: Vec<&RepoPath> = open.iter().collect();
                    ui.say(format_args!("      not as in the commit: {}{}", listed(&paths), more(paths.len())));
                }
            }
        }
    }
}

/// Returns the paths on which a kept working tree differs from its commit; `None` if that cannot be told.
fn differing_from_head(repo: &Repo, kept: &KeptSnapshot) -> Option<Vec<RepoPath>> {
    let committed = kept.head.as_ref().map_or_else(|| Ok(repo.empty_tree()), |head| repo.tree_of(head)).ok()?;
    repo.paths_between(&committed, &kept.tree).ok()
}

/// Returns the reason why a run with status 0 proves nothing. `opaque` is an input that no commit can hold as it is;
/// `changed` are inputs that changed.
fn why_it_proves_nothing(
    run: &Run,
    opaque: Option<&RepoPath>,
    changed: &[String],
    absent: &[String],
) -> Option<String> {
    if let Some(why) = &run.masked {
        Some(why.clone())
    } else if run.report.as_ref().is_some_and(|report| report.failed > 0) {
        Some("its output counts failures".to_owned())
    } else if run.report.as_ref().is_some_and(|report| report.passed == 0) {
        let why = why_nothing_ran(Catalogue::embedded(), &run.tail).map(|why| format!(": {why}"));
        Some(format!("it executed no test{}", why.unwrap_or_default()))
    } else if !changed.is_empty() {
        Some(format!("{} changed while it ran", changed.join(", ")))
    } else if !absent.is_empty() {
        Some(format!("{} is tracked but not on disk, so it ran without it", absent.join(", ")))
    } else {
        opaque.map(|path| format!("{path} cannot be committed as it is (`git add` says why)"))
    }
}

/// Prints the files that changed while a command ran, and those that it made.
fn say_what_changed(run: &Run, ui: &mut Ui) {
    let products = run.products();
    let changed: Vec<&RepoPath> = run.changed.iter().filter(|path| !products.contains(path)).collect();
    if !changed.is_empty() {
        ui.say(format_args!("gate: {WARN}{} changed while it ran{WARN:#}", listed(&changed)));
    }
    if !products.is_empty() {
        ui.say(format_args!("gate: {WARN}it made {}, which is not committed{WARN:#}", listed(&products)));
        ui.say("      list it in .gitignore, or commit it and run the command again");
    }
}

/// Returns the end of a list, such as ` and 3 more`, for the paths that [`listed`] leaves out.
fn more(count: usize) -> String {
    if count > MAX_LISTED { format!(" and {} more", count - MAX_LISTED) } else { String::new() }
}

/// Names the first of some paths.
fn listed(paths: &[&RepoPath]) -> String {
    paths.iter().take(MAX_LISTED).map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns how a run ended that did not pass, as the end of a sentence about it.
fn failure(ended: Ended) -> Option<String> {
    match ended {
        Ended::Exited(0) => None,
        Ended::Exited(code @ (126 | 127)) => {
            Some(format!("could not start (exit status {code}: a program was not found or may not be executed)"))
        }
        Ended::Exited(code) => Some(format!("ended with status {code}")),
        Ended::Signalled(signal) => Some(format!("was killed by signal {signal}")),
        Ended::NotStarted => Some("could not start".to_owned()),
    }
}

fn say(name: &str, recorded: &CompletedRun, ui: &mut Ui) {
    if let Some(error) = &recorded.finished.start_error {
        ui.say(format_args!("{BAD}gate:{BAD:#} {}", error.what));
        for line in error.remedy.lines() {
            ui.say(format_args!("      {line}"));
        }
    }
    if !recorded.withheld.is_empty() {
        let names = recorded.withheld.join(", ");
        ui.say(format_args!(
            "gate: {names} was not passed on: with it, the command would run other code than elsewhere"
        ));
    }
    let report = recorded.run.as_ref().and_then(|run| run.report.as_ref());
    let failures = report.is_some_and(|report| report.failed > 0);
    let empty = report.is_some_and(|report| report.passed == 0);
    let counts = report
        .map(|report| format!(" ({} passed, {} failed, {} skipped)", report.passed, report.failed, report.skipped));
    let counts = counts.unwrap_or_default();
    match (recorded.finished.ended, failure(recorded.finished.ended)) {
        (Ended::NotStarted, _) => {}
        (_, None) if failures => ui.say(format_args!("gate: {BAD}{name} ended with status 0{BAD:#}{counts}")),
        (_, None) if empty => ui.say(format_args!("gate: {WARN}{name} ended with status 0{WARN:#}{counts}")),
        (_, None) => ui.say(format_args!("gate: {GOOD}{name} passed{GOOD:#}{counts}")),
        (_, Some(how)) => ui.say(format_args!("gate: {BAD}{name} {how}{BAD:#}{counts}")),
    }
    match &recorded.environment {
        Ok(Some(own)) if !recorded.finished.ended.success() => {
            ui.say(format_args!("gate: it ran in the virtual environment {}", own.folder.display()));
        }
        Ok(_) => {}
        Err(distrusted) => {
            ui.say(format_args!("gate: it did not run in the project's virtual environment: {distrusted}"));
        }
    }
    if let Some(run) = &recorded.run {
        say_what_changed(run, ui);
    }
    if let Some(loss) = &recorded.loss {
        ui.say(format_args!("{BAD}gate:{BAD:#} this run is not recorded and proves nothing: {loss}"));
    }
}

/// Runs every declared command that is not proven for the commit that is checked out, even after a failure. `attested`
/// are the runs that were proven elsewhere, `contracts` those that apply.
pub(super) fn missing(
    place: &Workplace,
    policy: &Policy,
    head: &collect::Lineage,
    attested: &AttestedRuns,
    contracts: &[ContractInForce],
    ui: &mut Ui,
) -> Result<()> {
    let root = place.work_tree()?.to_owned();
    for command in unproven(place, policy, Some(head), attested, contracts, SubjectKind::WorkingTree)? {
        run_declared(place, &root, command, policy, ui);
    }
    Ok(())
}

/// Returns the declared commands of these names, or of the gates of these names.
fn named<'a>(names: &[String], policy: &'a Policy) -> Result<Vec<&'a Command>, Failure> {
    let mut commands: Vec<&Command> = Vec::new();
    for name in names {
        let exact = policy.commands.iter().filter(|command| command.name == *name).collect::<Vec<_>>();
        let found = if exact.is_empty() {
            policy.commands.iter().filter(|command| command.gate == *name).collect()
        } else {
            exact
        };
        if found.is_empty() {
            return Err(undeclared(name, policy));
        }
        for command in found {
            if commands.iter().all(|known| known.name != command.name) {
                commands.push(command);
            }
        }
    }
    Ok(commands)
}

fn undeclared(name: &str, policy: &Policy) -> Failure {
    let known: Vec<_> = policy.commands.iter().map(|command| command.name.as_str()).collect();
    let remedy = match crate::config::nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => {
            "declare one: gate init --test '<command>'; or run any command: gate run -- <command>".to_owned()
        }
        None => format!("declared are {}; or run any command: gate run -- <command>", known.join(", ")),
    };
    // What was added since does not count yet.
    let file = match &policy.source {
        PolicySource::Commit(commit) => format!("the gate.toml of {}, which applies here", commit.short()),
        PolicySource::WorkingTree | PolicySource::Defaults => "gate.toml".to_owned(),
    };
    Failure::new(Exit::Usage, format!("no command `{name}` is declared in {file}")).remedy(remedy)
}

/// Returns the commands whose evidence is missing, stale or bad. `of` says whether to look at the checked-out commit or
/// at the working tree.
fn unproven<'a>(
    place: &Workplace,
    policy: &'a Policy,
    head: Option<&collect::Lineage>,
    attested: &AttestedRuns,
    contracts: &[ContractInForce],
    of: SubjectKind,
) -> Result<Vec<&'a Command>> {
    let state = place.state()?;
    let sources = Sources { repo: &place.repo, journal: &place.journal, state: &state, policy };
    let look = place.repo.look()?;
    let mut facts = collect::at_stop(sources, Moment::Stop, head, &look)?;
    if !look.snapshot.is_clean() {
        // A run is evidence for the working tree; what only the commit lacks, no run can give it.
        facts.subjects.retain(|subject| subject.role == of);
    }
    attested.add_to(&place.repo, policy, &mut facts)?;
    contracts::collect(&place.repo, policy, contracts, &mut facts)?;
    let results = gates::judge(policy, &facts);
    // A missing folder is fixed in gate.toml: no run does it.
    let asks = |finding: &&Finding| finding.answer >= Answer::Unknown && finding.reason != "astray";
    let findings = results.iter().flat_map(|result| &result.findings).filter(asks);
    let names: Vec<_> = findings.filter_map(|finding| finding.command.as_deref()).collect();
    Ok(policy.commands.iter().filter(|command| names.contains(&command.name.as_str())).collect())
}

/// Returns the job for any command, run in the current directory. It is evidence for a declared one if line and
/// directory are the same.
fn given<'a>(words: &'a [OsString], root: &Path, policy: &'a Policy) -> Result<RunJob<'a>, Failure> {
    let here = std::env::current_dir()
        .map_err(|error| Failure::new(Exit::Usage, format!("the current directory cannot be read: {error}")))?;
    let here = here.canonicalize().unwrap_or(here);
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let dir = here.strip_prefix(&root).map(|inner| RepoPath::from_os(inner.as_os_str())).unwrap_or_default();
    let in_shell = given_line::shell_line(words, &here);
    let quoted = || words.iter().map(|word| shell_word(&word.to_string_lossy())).collect::<Vec<_>>().join(" ");
    let line = in_shell.map_or_else(quoted, str::to_owned);
    let key = command_key(&line, &dir);
    let declared = policy.commands.iter().find(|command| command.reference().key == key);
    let name = declared.map(|command| command.name.clone());
    let reports = declared.map_or(&[][..], |command| &command.reports);
    let command = CommandRef { name, line: crate::redact::redact(&line).into_owned(), dir, key };
    Ok(RunJob {
        command,
        line: in_shell.map_or(CommandLine::Argv(words), CommandLine::Shell),
        reports,
        policy: policy.digest.clone(),
        runners: &policy.runners,
        declared: &policy.commands,
        inputs: declared.map(|command| &command.inputs),
    })
}
