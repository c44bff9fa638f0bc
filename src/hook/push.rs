//! `pre-push` and `pre-receive`: every ref of a push, judged from commits and recorded snapshots alone.
//!
//! The working tree is not looked at, so the cost does not grow with the repository. No suite is run: the connection
//! is open by then.

use std::ffi::OsString;

use crate::engine::{Judgement, Workplace};
use crate::exit::Exit;
use crate::fact::collect::{self, BaseOf, Lineage, Sources};
use crate::fact::subject::RefUpdate;
use crate::failure::Failure;
use crate::git::DefaultBranch;
use crate::hook::GitHook;

/// Judges the push that git describes to `pre-push` or `pre-receive`. `None`: nothing is pushed.
pub fn judge(hook: &GitHook<'_>) -> anyhow::Result<Option<Judgement>> {
    let receiving = hook.name == "pre-receive";
    let word =
        |index: usize| hook.args.get(index).map(OsString::as_os_str).unwrap_or_default().to_string_lossy().into_owned();
    let (remote, url) = if receiving { (String::new(), String::new()) } else { (word(0), word(1)) };
    let mut updates = collect::parse_updates(hook.stdin, &remote).map_err(|what| malformed(hook.name, &what))?;
    if updates.is_empty() {
        return Ok(None);
    }
    let place = Workplace::of_hook()?;
    let repo = &place.repo;
    let head = repo.head()?;
    let default_branch =
        if receiving { own_default_branch(&place)? } else { repo.remote_default_branch(&remote, &url) };
    for update in &mut updates {
        update.default_branch = default_branch.clone();
    }
    let base = if receiving { BaseOf::OwnDefault } else { BaseOf::Remote(&remote) };
    let updates: Vec<(RefUpdate, Option<Lineage>)> = updates
        .into_iter()
        .map(|update| Ok((update.clone(), collect::pushed(repo, &update, base)?)))
        .collect::<anyhow::Result<_>>()?;
    // One policy for one push: that of the first commit's base, which is the same branch for all.
    let (policy, notes) = place.policy(updates.iter().find_map(|(_, lineage)| lineage.as_ref()))?;
    let state = place.state()?;
    let sources = Sources { repo, journal: &place.journal, state: &state, policy: &policy };
    let mut facts = collect::at_push(sources, &updates, &head, receiving)?;
    facts.notes.extend(notes);
    Ok(Some(place.judge(&policy, facts)))
}

fn malformed(name: &str, what: &str) -> Failure {
    Failure::new(Exit::BadInput, what)
        .remedy(format!("git calls `gate hook git {name}`; by hand, `gate check` judges what is here"))
}

/// The default branch of the repository that receives the push: the one its own `HEAD` names.
fn own_default_branch(place: &Workplace) -> anyhow::Result<DefaultBranch> {
    Ok(match place.repo.symbolic_ref("HEAD")? {
        Some(name) if place.repo.reference(&name)?.is_none() => DefaultBranch::EmptyRemote,
        Some(name) => DefaultBranch::Known(name),
        None => DefaultBranch::Unknown("HEAD of this repository is detached".to_owned()),
    })
}
