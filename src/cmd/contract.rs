//! `gate contract`: begins a task under a contract, and checks whether it is met.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;

use crate::collect::contracts::{ContractContent, unfit};
use crate::contract::{self, ConditionOutcome, ConditionResult, Contract, ContractError};
use crate::contract_check::{COMMAND_TIMEOUT, ContractCheck};
use crate::contract_shelf::{BegunContract, ContractEnd, ContractShelf, contract_digest};
use crate::engine::Workplace;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::policy::Policy;
use crate::ref_names;
use crate::regular_file;
use crate::render::contracts::{
    ContractBegin, ContractList, ContractReport, ContractStart, ContractState, ListedContract,
};
use crate::render::ui::{BAD, DIM, GOOD, STRONG, Ui};
use crate::runner::Catalogue;
use crate::shell_quote::shell_word;

/// Arguments of `gate contract`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: ContractAction,
}

#[derive(Debug, clap::Subcommand)]
enum ContractAction {
    /// Print a template for a contract
    New {
        /// The task
        task: Option<String>,
    },
    /// Check the preconditions and record the start of the task
    Begin {
        /// The contract file, in any folder
        file: PathBuf,
        #[command(flatten)]
        common: Common,
    },
    /// Check the postconditions of an open contract
    Check {
        /// The name of the contract; without it, the open one
        name: Option<String>,
        #[command(flatten)]
        common: Common,
    },
    /// End a contract, met or not; only a person at a terminal can do this
    Drop {
        /// The name of the contract
        name: String,
    },
    /// List the contracts that were begun
    List {
        /// Print the contracts as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
struct Common {
    /// The time limit for a command, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = COMMAND_TIMEOUT.as_secs())]
    timeout: u64,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Begins, checks, or lists contracts.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    match &args.what {
        ContractAction::New { task } => {
            let task = task.as_deref().unwrap_or("Split src/channels.rs into submodules");
            ui.raw(crate::embedded::file(crate::embedded::TEMPLATES, "contract.yaml").unwrap_or_default().replacen(
                "TASK",
                &format!("{task:?}"),
                1,
            ));
            Ok(Exit::Pass)
        }
        ContractAction::Begin { file, common } => begin(file, common, ui),
        ContractAction::Check { name, common } => check(name.as_deref(), common, ui),
        ContractAction::Drop { name } => drop_contract(name, ui),
        ContractAction::List { json } => list(*json, ui),
    }
}

fn begin(file: &Path, common: &Common, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    let root = place.work_tree()?.to_owned();
    let shown = file.display();
    let policy = policy(&place);
    let read = match regular_file::read_at_most(file, contract::MAX_CONTRACT as u64 + 1) {
        Ok(bytes) => Ok(bytes),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Err(ContractError::not_a_file()),
        Err(error) => return Err(no_file(file, &error).into()),
    };
    let runners = policy.as_ref().map_or(Catalogue::embedded(), |policy| &policy.runners);
    let read = read.and_then(|bytes| {
        let read = contract::read(file, &bytes)?;
        unfit(&root, runners, &read).map_or(Ok((read, bytes)), Err)
    });
    let (contract, bytes) = match read {
        Ok(read) => read,
        Err(error) => {
            if common.json {
                ui.json(&ContractBegin::to_wrong_file(file, &error))?;
            }
            let what = format!("{shown}:{}: {error}", error.line);
            return Err(Failure::new(Exit::BadInput, what).remedy(error.remedy()).into());
        }
    };
    let name = name_of(file);
    let shelf = ContractShelf::of(&place.repo.gate_dir());
    let all = shelf.all()?;
    if all.iter().any(|known| known.name == name && known.is_open()) {
        let what = format!("the contract `{name}` is open already");
        return Err(Failure::new(Exit::Usage, what).remedy(format!("gate contract check {name}")).into());
    }
    let now = place.repo.keep_now()?;
    let place_of_file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let timeout = Duration::from_secs(common.timeout);
    let content = ContractContent::on_disk(&place.repo, &root, &now.tree, Some(&place_of_file));
    let look = ContractCheck { place: &place, policy: policy.as_ref(), root: &root, content, timeout };
    let results = look.results(&contract.preconditions);
    let accepted = results.iter().all(|result| result.outcome == ConditionOutcome::Holds);
    if accepted {
        // The commands may have written something: that is where the task begins.
        let tree = place.repo.keep_now()?.tree;
        let head = place.repo.head()?;
        end_met(&shelf, all, &root)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let digest = contract_digest(&bytes);
        shelf.put(&BegunContract {
            name: name.clone(),
            file: place_of_file,
            text,
            digest,
            tree,
            head: head.commit,
            branch: head.branch.and_then(|branch| ref_names::branch(&branch).map(str::to_owned)),
            root: Some(root.clone()),
            met: false,
            pushed: None,
            end: None,
            schema_version: 1,
        })?;
    }
    if common.json {
        let begin = if accepted { ContractStart::Accepted } else { ContractStart::Refused };
        let (name, task, conditions) = (Some(&*name), Some(&*contract.task), Some(&*results));
        let value = ContractBegin { schema_version: 1, begin, name, task, conditions, error: None };
        ui.json(&value)?;
    } else {
        let head = if accepted { format!("{GOOD}begun{GOOD:#}") } else { format!("{BAD}refused{BAD:#}") };
        ui.line(format_args!("{head}: {name} ({})", contract.task));
        show(&results, ui);
        if accepted {
            ui.line(format_args!("  next: gate contract check {name}"));
        }
    }
    Ok(if accepted { Exit::Pass } else { Exit::Blocked })
}

fn check(name: Option<&str>, common: &Common, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    let root = place.work_tree()?.to_owned();
    let shelf = ContractShelf::of(&place.repo.gate_dir());
    let all = shelf.all()?;
    let mut begun = chosen(&all, name)?.clone();
    let contract = original(&begun)?;
    let timeout = Duration::from_secs(common.timeout);
    let policy = policy(&place);
    let (start, file) = (begun.tree.clone(), begun.file.clone());
    let content = ContractContent::on_disk(&place.repo, &root, &start, Some(&file));
    let look = ContractCheck { place: &place, policy: policy.as_ref(), root: &root, content, timeout };
    let results = look.results(&contract.postconditions);
    let met = results.iter().all(|result| result.outcome == ConditionOutcome::Holds);
    let change = begun.change();
    begun.met = met;
    shelf.put(&begun)?;
    if common.json {
        let value = ContractReport {
            schema_version: 1,
            check: ContractState::of(met),
            name: &begun.name,
            task: &contract.task,
            conditions: &results,
            changed: change.is_some(),
            change,
        };
        ui.json(&value)?;
    } else {
        let head = if met { format!("{GOOD}met{GOOD:#}") } else { format!("{BAD}open{BAD:#}") };
        ui.line(format_args!("{head}: {} ({})", begun.name, contract.task));
        show(&results, ui);
        if let Some(change) = change {
            ui.line(format_args!("  {BAD}{change}{BAD:#}"));
        }
    }
    Ok(if met { Exit::Pass } else { Exit::Blocked })
}

/// Returns the policy in force, or `None` if it cannot be read: then no command is a declared one.
fn policy(place: &Workplace) -> Option<Policy> {
    let head = place.repo.head().ok()?.commit;
    let lineage = place.lineage(head.as_ref()).ok()?;
    Some(place.policy(lineage.as_ref()).ok()?.0)
}

/// Ends the contracts of this working tree that are met: the next task begins.
fn end_met(shelf: &ContractShelf, all: Vec<BegunContract>, root: &Path) -> Result<()> {
    let here = |begun: &BegunContract| begun.root.as_deref().is_none_or(|other| other == root);
    for mut begun in all.into_iter().filter(|begun| begun.met && begun.end.is_none() && here(begun)) {
        begun.end = Some(ContractEnd::Followed);
        shelf.put(&begun)?;
    }
    Ok(())
}

fn drop_contract(name: &str, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    ui.only_for_a_person(place.session.agent.is_some(), format_args!("gate contract drop {}", shell_word(name)))?;
    let shelf = ContractShelf::of(&place.repo.gate_dir());
    let all = shelf.all()?;
    let mut begun = chosen(&all, Some(name))?.clone();
    if !ui.confirm(&format!("End the contract {name}, met or not?")) {
        return Ok(Exit::Blocked);
    }
    begun.end = Some(ContractEnd::Dropped);
    shelf.put(&begun)?;
    ui.say(format_args!("gate: the contract {name} no longer applies"));
    Ok(Exit::Pass)
}

fn original(begun: &BegunContract) -> Result<Contract> {
    let read = contract::read(&begun.file, begun.text.as_bytes());
    Ok(read.map_err(|error| Failure::new(Exit::BadInput, format!("{}:{}: {error}", begun.name, error.line)))?)
}

fn chosen<'a>(all: &'a [BegunContract], name: Option<&str>) -> Result<&'a BegunContract> {
    let known = || all.iter().map(|begun| begun.name.as_str()).collect::<Vec<_>>().join(", ");
    if let Some(name) = name {
        return Ok(all.iter().find(|begun| begun.name == name).ok_or_else(|| {
            let remedy =
                if all.is_empty() { "gate contract begin FILE".to_owned() } else { format!("begun are {}", known()) };
            Failure::new(Exit::Usage, format!("no contract `{}` was begun", name.escape_debug())).remedy(remedy)
        })?);
    }
    let open: Vec<&BegunContract> = all.iter().filter(|begun| begun.is_open()).collect();
    match (open.as_slice(), all) {
        ([one], _) => Ok(one),
        ([], [one]) => Ok(one),
        ([], []) => {
            Err(Failure::new(Exit::CannotJudge, "no contract was begun").remedy("gate contract begin FILE").into())
        }
        _ => Err(Failure::new(Exit::Usage, "there are several contracts")
            .remedy(format!("name one: {}", known()))
            .into()),
    }
}

fn list(as_json: bool, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    let all = ContractShelf::of(&place.repo.gate_dir()).all()?;
    if as_json {
        let contracts = all.iter().map(ListedContract::of).collect();
        ui.json(&ContractList { schema_version: 1, contracts })?;
        return Ok(Exit::Pass);
    }
    if all.is_empty() {
        ui.line("no contract was begun: gate contract begin FILE");
    }
    for begun in &all {
        let state = match (begun.end, begun.met) {
            (Some(ContractEnd::Dropped), _) => "dropped",
            (_, true) => "met",
            (_, false) => "open",
        };
        ui.line(format_args!("{STRONG}{}{STRONG:#} {state} {DIM}{}{DIM:#}", begun.name, begun.file.display()));
    }
    Ok(Exit::Pass)
}

fn show(results: &[ConditionResult], ui: &mut Ui) {
    for result in results {
        let word = match result.outcome {
            ConditionOutcome::Holds => format!("{GOOD}holds{GOOD:#}     "),
            ConditionOutcome::Fails => format!("{BAD}fails{BAD:#}     "),
            ConditionOutcome::NotRun => "not run   ".to_owned(),
            ConditionOutcome::Unreadable => format!("{BAD}unreadable{BAD:#}"),
        };
        let detail = if result.detail.is_empty() { String::new() } else { format!(" {DIM}({}){DIM:#}", result.detail) };
        ui.line(format_args!("  {word} {}{detail}", result.text));
    }
}

/// Returns the name of a contract: that of its file, in letters that are safe in a path.
fn name_of(file: &Path) -> String {
    let stem = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let safe: String = stem.chars().map(|c| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' }).collect();
    let safe = safe.trim_start_matches('.').to_owned();
    if safe.is_empty() { "contract".to_owned() } else { safe }
}

fn no_file(file: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Exit::BadInput, format!("{}: {error}", file.display())).remedy("gate contract new >contract.yaml")
}
