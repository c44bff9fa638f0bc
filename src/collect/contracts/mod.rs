//! The contracts that apply to the judged content, with their conditions checked on it.

mod conditions;
mod content;
mod manifests;
mod unfit;
#[cfg(feature = "symbols")]
mod unread_functions;

use std::path::{Path, PathBuf};

pub use self::conditions::{ConditionAnswer, fails, holds, unreadable};
pub use self::content::ContractContent;
pub use self::unfit::{idle_reason, unfit};
use crate::command_line;
use crate::contract::{self, Ask, ConditionOutcome, Contract, ContractCondition, ContractError};
use crate::contract_shelf::BegunContract;
use crate::fact::{ConditionFact, ContractFact, ContractProblem, Facts, Note, Subject, SubjectKind};
use crate::git::{GitError, Repo, TreeFile};
use crate::oid::Oid;
use crate::policy::{Command, PathRules, Policy, command_key};
use crate::ref_names;
use crate::repo_path::RepoPath;
use crate::runner::Project;
use crate::source::project_files::DiskDirectory;

/// The folder of the contracts that apply to every change in CI.
pub const FOLDER: &str = "gate/contracts/";

/// The id of the gate, and of the commands that contracts bring.
pub const GATE: &str = "contract";

/// A contract that may apply to what is judged.
#[derive(Clone, Debug)]
pub struct ContractInForce {
    pub name: String,
    /// The contract, or the reason why it cannot be read.
    pub read: Result<Contract, ContractError>,
    /// The tree or commit that the task began from.
    pub start: Oid,
    /// The file it was read from: in the repository, or anywhere.
    pub file: PathBuf,
    /// The place and state of its beginning, or `None` for a contract of the repository.
    pub begun: Option<BegunHere>,
}

/// The place and state of the beginning of a task.
#[derive(Clone, Debug)]
pub struct BegunHere {
    /// `true` if this is the working tree in which it began.
    pub same_root: bool,
    /// The commit that was checked out.
    pub head: Option<Oid>,
    /// The branch that was checked out.
    pub branch: Option<String>,
    /// `true` if it was met at the last check.
    pub met: bool,
    /// The change of its file since then.
    pub change: Option<&'static str>,
}

impl ContractInForce {
    /// Returns a begun contract, seen from the working tree at `root`.
    pub fn begun(begun: &BegunContract, root: Option<&Path>) -> Self {
        let same_root = begun.root.is_none() || begun.root.as_deref() == root;
        Self {
            name: begun.name.clone(),
            read: contract::read(&begun.file, begun.text.as_bytes()),
            start: begun.tree.clone(),
            file: begun.file.clone(),
            begun: Some(BegunHere {
                same_root,
                head: begun.head.clone(),
                branch: begun.branch.clone(),
                met: begun.met,
                change: begun.change(),
            }),
        }
    }

    fn postconditions(&self) -> &[ContractCondition] {
        self.read.as_ref().map_or(&[], |contract| &contract.postconditions)
    }

    /// Returns `true` if it is a promise about this subject.
    fn applies(&self, repo: &Repo, subject: &Subject) -> Result<bool, GitError> {
        let Some(begun) = &self.begun else { return Ok(true) };
        if subject.update.is_some() && subject.tree.as_ref() == Some(&self.start) {
            return Ok(false);
        }
        if subject.role == SubjectKind::WorkingTree {
            return Ok(begun.same_root);
        }
        let checked_out = match subject.checked_out {
            Some(true) if subject.branch.is_none() => repo.head()?.branch,
            _ => None,
        };
        let checked_out = checked_out.as_deref().and_then(ref_names::branch);
        let branch = subject.branch.as_deref().or(checked_out);
        let on_branch = branch.is_some() && branch == begun.branch.as_deref();
        if on_branch || !begun.same_root {
            return Ok(on_branch);
        }
        match (&begun.head, &subject.commit) {
            (Some(head), Some(commit)) => repo.is_ancestor(head, commit),
            (None, _) => Ok(true),
            (_, None) => Ok(false),
        }
    }
}

/// Returns the contracts in the folder of `base`, and those that the change up to `head` adds or alters there. The
/// latter come on top; a contract that the base has stays as it is. The task of all of them is the change since `start`.
///
/// # Errors
///
/// git cannot read them.
pub fn of_change(repo: &Repo, base: &Oid, start: &Oid, head: &Oid) -> Result<Vec<ContractInForce>, GitError> {
    let mut found: Vec<ContractInForce> = Vec::new();
    let mut known: Vec<(RepoPath, Oid)> = Vec::new();
    for (tree, added) in [(base, false), (head, true)] {
        for (path, entry) in repo.tree_entries(tree)? {
            let is_known = known.iter().any(|(other, oid)| *other == path && *oid == entry.oid);
            let text = path.to_string();
            let Some(name) = text.strip_prefix(FOLDER).and_then(contract_name).filter(|_| !is_known) else { continue };
            let read = match repo.regular_file_at(tree, &path)? {
                TreeFile::Regular(bytes) => contract::read(Path::new(&text), &bytes),
                TreeFile::Nothing => continue,
                TreeFile::Other => Err(ContractError::not_a_file()),
            };
            if added && read.is_ok() {
                // The change repairs what the base cannot read.
                found.retain(|other| other.file != Path::new(&text) || other.read.is_ok());
            }
            let twice = found.iter().any(|other| other.name == name);
            let name = if twice { format!("{name} (changed)") } else { name.to_owned() };
            found.push(ContractInForce { name, read, start: start.clone(), file: PathBuf::from(&text), begun: None });
            known.push((path, entry.oid));
        }
    }
    Ok(found)
}

/// Returns the name of a contract file in the folder, or `None` if it is another file.
fn contract_name(file: &str) -> Option<&str> {
    let ends = [".yaml", ".yml", ".toml"];
    ends.iter().find_map(|end| file.strip_suffix(end)).filter(|name| !name.is_empty())
}

/// Adds the commands of contracts to a policy, so that their runs are evidence. A line that the policy declares already
/// is that command.
pub fn add_commands(policy: &mut Policy, contracts: &[ContractInForce]) {
    if policy.gates.iter().all(|gate| gate.id != GATE || gate.mode == crate::policy::Mode::Off) {
        return;
    }
    for contract in contracts {
        for (at, line) in command_lines(contract) {
            let known = declared(policy, line).is_some();
            let Some(inputs) = PathRules::new(&["**".to_owned()], &[]).ok().filter(|_| !known) else { continue };
            policy.commands.push(Command {
                name: format!("{}.{}", contract.name.replace(' ', "-"), at + 1),
                gate: GATE.to_owned(),
                run: line.to_owned(),
                dir: RepoPath::default(),
                inputs,
                reports: Vec::new(),
                after_write: false,
            });
        }
    }
}

fn command_lines(contract: &ContractInForce) -> impl Iterator<Item = (usize, &str)> {
    let lines = contract.postconditions().iter().enumerate();
    lines.flat_map(|(at, condition)| condition.asks.iter().filter_map(move |ask| Some((at, command_of(ask)?))))
}

const fn command_of(ask: &Ask) -> Option<&str> {
    if let Ask::Command { line, .. } = ask { Some(line.as_str()) } else { None }
}

/// Returns the command of a policy that is this line at the root.
pub fn declared<'p>(policy: &'p Policy, line: &str) -> Option<&'p Command> {
    let key = command_key(line, &RepoPath::default());
    policy.commands.iter().find(|command| command.reference().key == key)
}

/// Checks the contracts on the subjects of `facts`. Where the working tree is judged, the commit below it is not.
///
/// # Errors
///
/// git cannot read the content.
pub fn collect(repo: &Repo, policy: &Policy, contracts: &[ContractInForce], facts: &mut Facts) -> Result<(), GitError> {
    let is_asked = policy
        .gates
        .iter()
        .any(|gate| gate.id == GATE && gate.mode != crate::policy::Mode::Off && gate.moments.contains(&facts.moment));
    if !is_asked {
        return Ok(());
    }
    let uncommitted = facts.subjects.iter().any(|subject| subject.role == SubjectKind::WorkingTree);
    let mut found = Vec::new();
    let mut notes = Vec::new();
    for contract in contracts {
        for subject in &facts.subjects {
            let is_below = uncommitted && subject.role == SubjectKind::Commit;
            let is_deleted = subject.tree.is_none() && subject.role == SubjectKind::Commit;
            if is_below || is_deleted || !contract.applies(repo, subject)? {
                continue;
            }
            found.push(checked(repo, policy, contract, subject)?);
            let change = contract.begun.as_ref().and_then(|begun| begun.change);
            notes.extend(change.map(|change| Note::new("contract-changed", format!("{}: {change}", contract.name))));
        }
    }
    facts.contracts = found;
    facts.notes.extend(notes);
    Ok(())
}

fn checked(
    repo: &Repo,
    policy: &Policy,
    contract: &ContractInForce,
    subject: &Subject,
) -> Result<ContractFact, GitError> {
    let start = repo.tree_of(&contract.start)?;
    let own = Some(contract.file.as_path());
    let content = match (&subject.tree, repo.root()) {
        (None, Some(root)) => ContractContent::on_disk(repo, root, &start, own),
        (Some(_), Some(root)) if subject.role == SubjectKind::WorkingTree => {
            ContractContent::on_disk(repo, root, &start, own)
        }
        (Some(tree), _) => ContractContent::in_tree(repo, tree, &start, own)?,
        (None, None) => return Err(GitError::Missing("the working tree".to_owned())),
    };
    let problem = contract.read.as_ref().err().map(|error| ContractProblem {
        file: RepoPath::from_os(contract.file.as_os_str()),
        line: error.line,
        what: error.what.clone(),
        remedy: error.remedy().to_owned(),
    });
    let files = DiskDirectory(repo.root().unwrap_or(repo.git_dir()).to_owned());
    let project = Project { runners: &policy.runners, files: &files };
    let of_condition = |condition| of_condition(policy, project, condition, &content);
    let conditions = contract.postconditions().iter().map(of_condition);
    Ok(ContractFact {
        name: contract.name.clone(),
        subject: subject.name.clone(),
        begun: contract.begun.is_some(),
        problem,
        conditions: conditions.collect(),
    })
}

fn of_condition(
    policy: &Policy,
    project: Project<'_>,
    condition: &ContractCondition,
    content: &ContractContent<'_>,
) -> ConditionFact {
    let asked = condition.asks.iter().find_map(|ask| match ask {
        Ask::Command { line, tests } => Some((line.as_str(), *tests)),
        _ => None,
    });
    let idle = asked.and_then(|(line, tests)| idle_reason(project, line, tests));
    let known = asked.filter(|_| idle.is_none()).and_then(|(line, _)| declared(policy, line));
    let untested = asked.is_some_and(|(line, tests)| !tests && command_line::only_builds(line, project));
    let (outcome, detail) = content.answer(&condition.asks, |_| match &idle {
        Some(why) => fails(why),
        None => (ConditionOutcome::NotRun, String::new()),
    });
    ConditionFact {
        text: condition.text.clone(),
        outcome,
        detail,
        command: known.map(|command| command.name.clone()),
        untested,
    }
}
