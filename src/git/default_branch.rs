//! The default branch of a remote: what it said itself, what a clone recorded, and when it has to be asked.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::remote::run_within;
use super::{GitError, Repo};
use crate::digest::hex_digest;
use crate::oid::Oid;
use crate::ref_names;

/// How long a remote may take to say what its default branch is.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// The names that a default branch has almost everywhere.
const CUSTOMARY: [&str; 2] = ["refs/heads/main", "refs/heads/master"];

/// The reason that is given for a remote whose `HEAD` names a branch that it does not have.
const UNBORN: &str = "the HEAD of the remote is a branch that does not exist";

/// The default branch of a remote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DefaultBranch {
    /// Its full name, such as `refs/heads/main`.
    Known(String),
    /// The remote has no branches yet.
    EmptyRemote,
    /// The remote has branches, and its `HEAD` names one that it does not have: none of them is the default one.
    Unborn,
    /// It cannot be told, and why.
    Unknown(String),
}

/// The default branch as `refs/remotes/<name>/HEAD` has it.
struct RecordedDefault {
    /// Its full name on the remote.
    branch: String,
    /// No push from here made that branch, or it has a customary name: anybody can set what is recorded, and would set it
    /// to a branch of their own.
    is_likely: bool,
}

impl Repo {
    /// The default branch of the remote that is pushed to: `remote` is its name, or its URL where it has none, and
    /// `url` where the push goes (git hands both to a pre-push hook).
    ///
    /// What the remote said before comes first, then what a clone or `git remote set-head` recorded, then the
    /// remote itself is asked, for five seconds at most.
    pub fn remote_default_branch(&self, remote: &str, url: &str) -> DefaultBranch {
        let known = self.known_default_branch(remote, url);
        known.map_or_else(|| self.refresh_remote_default_branch(url), DefaultBranch::Known)
    }

    /// The same, as far as it is known without asking the remote.
    pub fn known_default_branch(&self, remote: &str, url: &str) -> Option<String> {
        let said = self.read_cache().remove(&cache_key(url));
        said.or_else(|| self.recorded_default(remote, url).map(|recorded| recorded.branch))
    }

    fn recorded_default(&self, remote: &str, url: &str) -> Option<RecordedDefault> {
        let name = self.recorded_for(remote, url)?;
        let target = self.symbolic_ref(&format!("refs/remotes/{name}/HEAD")).ok()??;
        // A branch that is gone from there is the default one no more.
        self.reference(&target).ok()??;
        let branch = format!("refs/heads/{}", target.strip_prefix(&format!("refs/remotes/{name}/"))?);
        let is_likely = CUSTOMARY.contains(&branch.as_str()) || !self.was_made_by_push(&target);
        Some(RecordedDefault { branch, is_likely })
    }

    /// The default branch that the remote of this name said it has, when it was last asked.
    pub fn said_default_branch(&self, remote: &str) -> Option<String> {
        let remotes = self.remotes().ok()?;
        let named = remotes.into_iter().find(|one| one.name == remote)?;
        let mut said = self.read_cache();
        said.remove(&cache_key(&named.push_url)).or_else(|| said.remove(&cache_key(&named.url)))
    }

    /// The remote-tracking refs that may stand for the default branch of a remote, the likeliest first: the one that the
    /// remote said, the one that is recorded, those with a customary name. One that is recorded and that a push from here
    /// made comes last: whoever pushes must not choose what a push is compared with.
    pub fn default_tracking_refs(&self, remote: &str) -> Result<Vec<String>, GitError> {
        let tracking = |branch: &str| Some(format!("refs/remotes/{remote}/{}", ref_names::branch(branch)?));
        let said = self.said_default_branch(remote).and_then(|said| tracking(&said));
        let recorded = self.symbolic_ref(&format!("refs/remotes/{remote}/HEAD"))?;
        let customary: Vec<String> = CUSTOMARY.iter().filter_map(|branch| tracking(branch)).collect();
        let is_own = |name: &String| !customary.contains(name) && self.was_made_by_push(name);
        let (own, recorded): (Vec<_>, Vec<_>) = recorded.into_iter().partition(is_own);
        Ok(said.into_iter().chain(recorded).chain(customary).chain(own).collect())
    }

    /// Returns the commit of the default branch of a remote, as it was last seen.
    pub fn default_commit(&self) -> Result<Option<Oid>, GitError> {
        for remote in self.remotes()? {
            for name in self.default_tracking_refs(&remote.name)? {
                if let Some(commit) = self.reference(&name)? {
                    return Ok(Some(commit));
                }
            }
        }
        Ok(None)
    }

    /// [`Repo::remote_default_branch`] for a push to these refs of the remote, each with whether it exists there.
    ///
    /// What is recorded here can be set by anybody, by a command that looks harmless, and the remote may have changed
    /// since. The remote itself is asked, and believed if it answers, where what is known disagrees or is unlikely, and
    /// where it would free the branch that is almost everywhere the default one, or a branch that the remote has and that
    /// no push from here made.
    pub fn default_branch_for_push(&self, remote: &str, url: &str, refs: &[(&str, bool)]) -> DefaultBranch {
        let said = self.read_cache().remove(&cache_key(url));
        let recorded = self.recorded_default(remote, url);
        let is_settled = match (&said, &recorded) {
            (Some(said), Some(recorded)) => *said == recorded.branch,
            (Some(_), None) => true,
            (None, recorded) => recorded.as_ref().is_some_and(|recorded| recorded.is_likely),
        };
        let known = said.or_else(|| recorded.map(|recorded| recorded.branch));
        let of_remote = self.recorded_for(remote, url);
        let made_here = |branch: &str| {
            let tracking = of_remote.as_ref().zip(ref_names::branch(branch));
            tracking.is_some_and(|(name, branch)| self.was_made_by_push(&format!("refs/remotes/{name}/{branch}")))
        };
        let is_doubtful = |(branch, exists): &(&str, bool)| {
            branch.starts_with("refs/heads/")
                && Some(*branch) != known.as_deref()
                && (CUSTOMARY.contains(branch) || *exists && !made_here(branch))
        };
        if is_settled && !refs.iter().any(is_doubtful) {
            return known.map_or(DefaultBranch::EmptyRemote, DefaultBranch::Known);
        }
        match (self.refresh_remote_default_branch(url), known) {
            (DefaultBranch::Known(said), _) => DefaultBranch::Known(said),
            (_, Some(known)) => DefaultBranch::Known(known),
            // Anybody who can write there can make its `HEAD` name nothing, to free a branch.
            (DefaultBranch::Unborn, None) if refs.iter().any(|(branch, exists)| *exists && !made_here(branch)) => {
                DefaultBranch::Unknown(UNBORN.to_owned())
            }
            (other, None) => other,
        }
    }

    /// Asks the remote at `url` itself, and remembers a definite answer.
    pub fn refresh_remote_default_branch(&self, url: &str) -> DefaultBranch {
        let mut command = self.command();
        command.args(["ls-remote", "--symref", "--", url, "HEAD", "refs/heads/*"]);
        match run_within(&mut command, ANSWER_TIMEOUT).map(|printed| parse_default(&printed)) {
            Ok(ReportedDefault { answer: DefaultBranch::Known(branch), by_head: true }) => {
                self.remember(url, &branch);
                DefaultBranch::Known(branch)
            }
            Ok(said) => said.answer,
            Err(reason) => DefaultBranch::Unknown(reason),
        }
    }

    /// The default branch of this repository itself: the one that its `HEAD` names. Where that branch does not exist and
    /// others do, `main` or `master` stands for it, as it does for a remote.
    pub fn own_default_branch(&self) -> Result<DefaultBranch, GitError> {
        let Some(name) = self.symbolic_ref("HEAD")? else {
            return Ok(DefaultBranch::Unknown("its HEAD is detached".to_owned()));
        };
        if self.reference(&name)?.is_some() {
            return Ok(DefaultBranch::Known(name));
        }
        let branches = self.branches()?;
        Ok(customary(branches.iter().map(String::as_str))
            .unwrap_or_else(|| DefaultBranch::Unknown(format!("its HEAD names {name}, which does not exist"))))
    }

    /// The full names of the local branches.
    pub fn branches(&self) -> Result<Vec<String>, GitError> {
        let printed = self.git(["for-each-ref", "--format=%(refname)", "refs/heads/"])?;
        Ok(String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect())
    }

    fn cache_file(&self) -> PathBuf {
        self.gate_dir().join("default-branches.json")
    }

    fn read_cache(&self) -> BTreeMap<String, String> {
        let bytes = fs::read(self.cache_file()).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Losing this costs one question to the remote, so failures are not reported.
    fn remember(&self, url: &str, branch: &str) {
        let mut cache = self.read_cache();
        if cache.insert(cache_key(url), branch.to_owned()).as_deref() == Some(branch) {
            return;
        }
        let folder = self.gate_dir();
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(&folder)?;
            let mut file = tempfile::NamedTempFile::new_in(&folder)?;
            file.write_all(&serde_json::to_vec(&cache)?)?;
            file.persist(self.cache_file())?;
            Ok(())
        };
        let _ = write();
    }
}

/// URLs may carry credentials, so the cache holds their digests.
fn cache_key(url: &str) -> String {
    hex_digest(&[b"remote", url.as_bytes()])
}

fn parse_default(printed: &[u8]) -> ReportedDefault {
    let text = String::from_utf8_lossy(printed);
    let (mut branches, mut head) = (Vec::new(), false);
    for line in text.lines() {
        let Some((value, name)) = line.split_once('\t') else { continue };
        match value.strip_prefix("ref: ") {
            Some(target) if name == "HEAD" => {
                return ReportedDefault { answer: DefaultBranch::Known(target.trim().to_owned()), by_head: true };
            }
            _ if name == "HEAD" => head = true,
            _ if name.starts_with("refs/heads/") => branches.push(name),
            _ => {}
        }
    }
    let unknown = |why: &str| DefaultBranch::Unknown(why.to_owned());
    let answer = if head {
        unknown("the remote does not say which branch its HEAD is")
    } else {
        let of_branches = customary(branches.iter().copied());
        let is_customary = branches.iter().any(|branch| CUSTOMARY.contains(branch));
        let unborn = || {
            if is_customary { unknown(UNBORN) } else { DefaultBranch::Unborn }
        };
        of_branches.unwrap_or_else(unborn)
    };
    ReportedDefault { answer, by_head: false }
}

/// The default branch of a repository whose `HEAD` names a branch that nobody has pushed: one that was made before its
/// first branch had a name. One branch with a customary name is what everybody takes for the default there. `None`: it
/// cannot be told.
fn customary<'b>(branches: impl Iterator<Item = &'b str>) -> Option<DefaultBranch> {
    let branches: Vec<&str> = branches.collect();
    let customary: Vec<_> = branches.iter().filter(|name| CUSTOMARY.contains(name)).collect();
    match customary[..] {
        _ if branches.is_empty() => Some(DefaultBranch::EmptyRemote),
        [name] => Some(DefaultBranch::Known((*name).to_owned())),
        _ => None,
    }
}

/// What a remote says of its branches.
struct ReportedDefault {
    answer: DefaultBranch,
    /// Its `HEAD` says so: worth remembering.
    by_head: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_branch_is_read_and_not_guessed() {
        let parse = |printed: &[u8]| parse_default(printed).answer;
        let unknown = |printed: &[u8]| matches!(parse(printed), DefaultBranch::Unknown(_));
        let said = parse_default(b"ref: refs/heads/trunk\tHEAD\n1\tHEAD\n1\trefs/heads/main\n");
        assert_eq!((said.answer, said.by_head), (DefaultBranch::Known("refs/heads/trunk".to_owned()), true));
        assert_eq!(parse(b""), DefaultBranch::EmptyRemote);
        assert!(unknown(b"1\tHEAD\n1\trefs/heads/main\n"));
        assert!(unknown(b"1\trefs/heads/main\n1\trefs/heads/master\n"));
        assert_eq!(parse(b"1\trefs/heads/a\n1\trefs/heads/b\n"), DefaultBranch::Unborn);
        assert_eq!(parse(b"1\trefs/heads/a\n"), DefaultBranch::Unborn);
    }

    #[test]
    fn a_head_that_names_no_branch_leaves_the_customary_one_and_is_not_remembered() {
        let printed: [&[u8]; 3] = [
            b"1\trefs/heads/main\n",
            b"1\trefs/heads/a\n1\trefs/heads/main\n",
            b"ref: refs/heads/x\trefs/remotes/o/HEAD\n1\trefs/heads/main\n",
        ];
        for printed in printed {
            let said = parse_default(printed);
            assert_eq!((said.answer, said.by_head), (DefaultBranch::Known("refs/heads/main".to_owned()), false));
        }
    }
}
