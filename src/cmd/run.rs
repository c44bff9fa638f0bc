//! `gate run`: runs a declared command, or any, and records its content and its end.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use crate::cmd::given_line;
use crate::cmd::housekeeping::tidy;
use crate::cmd::run_report;
use crate::collect::attested::AttestedRuns;
use crate::collect::contracts::{self, ContractInForce};
use crate::collect::{self, Sources};
use crate::engine::Workplace;
use crate::event::CommandRef;
use crate::exit::Exit;
use crate::fact::subject::SubjectKind;
use crate::failure::Failure;
use crate::gates;
use crate::gates::finding::{Answer, Finding};
use crate::moment::Moment;
use crate::policy::{Command, Policy, PolicySource, command_key};
use crate::recorded_run::{self, RunJob};
use crate::render::ui::{BAD, Ui};
use crate::repo_path::RepoPath;
use crate::run::CommandLine;
use crate::shell_quote::shell_word;

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
    run_report::say(place, &name, &recorded, ui);
    let passed = recorded.finished.ended.success() || recorded.served.iter().any(|run| run.ended.success());
    if recorded.loss.is_none() && passed {
        run_report::say_what_it_proves(place, &recorded, policy, ui);
    }
    recorded.finished.exit_code().into()
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
