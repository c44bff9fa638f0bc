//! The remote that statements are pushed to.

use crate::attest::NOTES;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::git::{GitError, Repo};
use crate::ref_names;

/// Pushes the local attestations to `remote`, together with those that others have there. Returns `false` if there were
/// none.
pub fn push(repo: &Repo, remote: &str) -> Result<bool, Failure> {
    repo.push_notes(remote, NOTES).map_err(|why| {
        let what = format!("{NOTES} could not be pushed to {remote}: {why}");
        Failure::new(Exit::CannotJudge, what).remedy("gate attest --push tries again")
    })
}

/// Returns the remote that the checked-out branch is pushed to.
pub fn of_branch(repo: &Repo) -> Result<String, Failure> {
    let git = |error: GitError| Failure::new(Exit::CannotJudge, error);
    let remotes = repo.remotes().map_err(git)?;
    let branch = repo.head().map_err(git)?.branch;
    let branch = branch.as_deref().and_then(ref_names::branch);
    let of_branch = |key: &str| repo.config(&format!("branch.{}.{key}", branch?)).ok().flatten();
    let set = of_branch("pushremote");
    let set = set.or_else(|| repo.config("remote.pushdefault").ok().flatten()).or_else(|| of_branch("remote"));
    let known = |name: &str| remotes.iter().any(|remote| remote.name == name);
    if let Some(name) = set.filter(|name| known(name)) {
        return Ok(name);
    }
    match remotes.as_slice() {
        _ if known("origin") => Ok("origin".to_owned()),
        [one] => Ok(one.name.clone()),
        [] => Err(Failure::new(Exit::Usage, "there is no remote to push to").remedy("git remote add origin URL")),
        _ => {
            let names: Vec<_> = remotes.iter().map(|remote| remote.name.as_str()).collect();
            let remedy = format!("gate attest --push --remote {}", names.join("|"));
            Err(Failure::new(Exit::Usage, "there are several remotes, and none is called origin").remedy(remedy))
        }
    }
}
