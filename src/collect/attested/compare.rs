//! Runs that were attested elsewhere, as evidence for the judged content.

use super::run_chronology::RunOrder;
use crate::attest::verify::Attested;
use crate::collect::named_texts::NamedTexts;
use crate::collect::tree_differences;
use crate::event::Grade;
use crate::fact::{Facts, RunFact};
use crate::git::{GitError, Repo, TreeDiff};
use crate::policy::Policy;

/// Adds `attested` to the runs of each judged commit. A run counts for a declared command with the same line in the
/// same directory. Returns the statements that were added to any commit. Calls git at most once.
pub(super) fn add<'a>(
    repo: &Repo,
    policy: &Policy,
    facts: &mut Facts,
    attested: &'a [Attested],
    order: &RunOrder<'_>,
) -> Result<Vec<&'a Attested>, GitError> {
    let mut added = Vec::new();
    let texts = NamedTexts::in_content(repo, policy, facts.subjects.iter().filter_map(|one| one.tree.clone()), false);
    for subject in &mut facts.subjects {
        let Some(tree) = &subject.tree else { continue };
        let pairs: Vec<_> = attested.iter().map(|one| (one.run.tree.clone(), tree.clone())).collect();
        let diffs = repo.diff_trees(&pairs)?;
        for command in &policy.commands {
            let key = command.reference().key;
            for (one, diff) in attested.iter().zip(&diffs).filter(|(one, _)| one.run.key() == key) {
                let runs = subject.runs.entry(command.name.clone()).or_default();
                // What is known from both sides is what the signer vouches for, in the place that it has here.
                let statement = run_fact(one, diff);
                texts.ask_of_run(command, &statement)?;
                match runs.iter_mut().find(|run| run.id == one.run.seen.id) {
                    Some(known) => *known = statement,
                    None => runs.push(statement),
                }
                if !added.contains(&one) {
                    added.push(one);
                }
            }
        }
        for runs in subject.runs.values_mut() {
            *runs = order.newest_first(std::mem::take(runs));
        }
    }
    facts.named_texts.extend(texts.found());
    Ok(added)
}

fn run_fact(attested: &Attested, diff: &TreeDiff) -> RunFact {
    let seen = &attested.run.seen;
    // Where it differs from its own subject, and where that differs from what is judged: no path can be missing.
    let differs = match diff {
        TreeDiff::Changes(changes) => {
            let mut paths = [seen.differs.clone(), tree_differences::listed(changes)].concat();
            paths.sort();
            paths.dedup();
            Some(paths)
        }
        TreeDiff::Unreadable => None,
    };
    RunFact {
        report: seen.report.clone(),
        verbatim: true,
        changed: Some(seen.changed.clone()),
        opaque: seen.opaque.clone(),
        untracked: seen.untracked.clone(),
        differs,
        ..RunFact::new(seen.id.clone(), Grade::Attested, seen.ended, attested.run.tree.clone())
    }
}
