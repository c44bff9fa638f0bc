//! The runs that a refused push lacks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::engine::Workplace;
use crate::exit::Exit;
use crate::fact::subject::Subject;
use crate::failure::Failure;
use crate::gates::finding::{GateResult, stopping};
use crate::git::Repo;
use crate::oid::Oid;
use crate::policy::{Command, Policy};
use crate::shell_quote::shell_word;
use crate::snapshot::Presence;
use crate::verdict::assemble::clearing_commands;

/// The maximum number of paths in a message.
const MAX_PATHS: usize = 3;

/// Returns the declared commands that would clear the refusal of the push, or none if no command clears it. Fails if a
/// run would prove something other than the pushed content.
pub fn missing_runs<'p>(
    place: &Workplace,
    policy: &'p Policy,
    subjects: &[Subject],
    results: &[GateResult],
) -> anyhow::Result<Vec<&'p Command>> {
    let refusing = stopping(results);
    let findings: Vec<_> = refusing.flat_map(GateResult::decisive).collect();
    let commands = clearing_commands(policy, results);
    if commands.is_empty() {
        return Ok(commands);
    }
    let unproven: BTreeSet<&str> = findings.iter().map(|finding| finding.subject.as_str()).collect();
    let head = place.repo.head()?.commit;
    for Subject { name, commit, .. } in subjects.iter().filter(|subject| unproven.contains(subject.name.as_str())) {
        if commit.as_ref() != head.as_ref() {
            let what = format!("{name} is not proven and is not checked out, so a run here would not prove it");
            return Err(Failure::new(Exit::Blocked, what).remedy(checking_out(place, commit.as_ref())).into());
        }
    }
    refuse_uncommitted(place, policy, &commands)?;
    Ok(commands)
}

/// Returns what to type so that `commit` is checked out: where another working tree has it, the way there.
fn checking_out(place: &Workplace, commit: Option<&Oid>) -> String {
    let has_it = |root: &PathBuf| {
        let head = Repo::discover(root).and_then(|other| other.head());
        head.is_ok_and(|head| head.commit.is_some() && head.commit.as_ref() == commit)
    };
    let there = place.repo.work_trees().into_iter().find(has_it);
    match there.as_deref().and_then(Path::to_str) {
        Some(root) => format!("cd {} && gate push", shell_word(root)),
        None => "git switch to it, then: gate push".to_owned(),
    }
}

/// Refuses uncommitted changes: a run counts for the content that it saw, so they would make it prove something else.
fn refuse_uncommitted(place: &Workplace, policy: &Policy, commands: &[&Command]) -> anyhow::Result<()> {
    let dirty = place.uncommitted_inputs(policy, commands)?;
    let Some(first) = dirty.first() else { return Ok(()) };
    let shown: Vec<String> = dirty.iter().take(MAX_PATHS).map(|dirty| dirty.path.to_string()).collect();
    let more = if dirty.len() > MAX_PATHS { format!(" and {} more", dirty.len() - MAX_PATHS) } else { String::new() };
    let verb = if dirty.len() == 1 { "is" } else { "are" };
    let shown = shown.join(", ");
    let what = format!("{shown}{more} {verb} not committed, so a run would not prove what is pushed");
    let untracked = dirty.iter().all(|dirty| dirty.presence == Presence::Untracked);
    let remedy = if untracked {
        format!("commit what belongs to the push, or list the rest in .gitignore (for example {})", first.path)
    } else {
        "commit what belongs to the push and stash the rest (git stash), then: gate push".to_owned()
    };
    Err(Failure::new(Exit::Blocked, what).remedy(remedy).into())
}
