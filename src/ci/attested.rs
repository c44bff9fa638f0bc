//! The signed statements that a job may take as evidence: fetched, and held against the signers of the base.

use jiff::Timestamp;

use crate::attest::verify::{self, Attested};
use crate::attest::{LONGEST, NOTES};
use crate::fact::{Facts, Note, attested};
use crate::git::{Fetched, GitError, Repo};
use crate::oid::Oid;
use crate::policy::{Policy, Signers};
use crate::ssh::Signer;

/// How many contents of a range are looked at, newest first.
const MOST_TREES: usize = 256;
/// The largest note that is read, in bytes.
pub const LARGEST: usize = 8 * LONGEST;
/// How many statements that do not count are named one by one.
const NAMED: usize = 5;

/// What was attested, and what is to be said about it.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// What counts.
    pub runs: Vec<Attested>,
    /// What is to be said: what could not be read, and what does not count.
    pub notes: Vec<Note>,
}

/// What is attested about `head` and the commits of it that `base` does not have. The signers are those of `base`, which
/// must be the commit that the policy is of: a change does not name its own. `remote` is asked for notes.
pub fn find(repo: &Repo, policy: &Policy, base: Option<&Oid>, head: &Oid, remote: Option<&str>) -> Found {
    let mut found = Found::default();
    if policy.signers == Signers::Nobody {
        return found;
    }
    let Some(base) = base.filter(|base| policy.is_of(base)) else {
        found.say("the policy is not that of a base, so nobody's signature counts");
        return found;
    };
    let (signers, wrong) = match signers(repo, policy, base) {
        Ok(read) => read,
        Err(why) => {
            found.say(format!("{why}, so nobody's signature counts"));
            return found;
        }
    };
    for line in wrong {
        found.say(line);
    }
    match remote.map(|remote| (remote, repo.fetch_notes(remote, NOTES))) {
        None | Some((_, Ok(Fetched::Notes))) => {}
        Some((remote, Ok(Fetched::Nothing))) => {
            found.say(format!("{remote} has no {NOTES}: nothing is attested there"));
        }
        Some((remote, Ok(Fetched::Rewritten))) => {
            found.say(format!("{NOTES} of {remote} was rewritten: what is not there any more does not count"));
        }
        Some((remote, Err(why))) => found.say(format!("{NOTES} of {remote} could not be fetched: {why}")),
    }
    match lines(repo, base, head, remote) {
        Ok(lines) => {
            let (runs, refused) = verify::runs(&lines, &signers, Timestamp::now());
            found.runs = runs;
            for one in refused.iter().take(NAMED) {
                found.say(one.to_string());
            }
            if refused.len() > NAMED {
                found.say(format!("{} further statements do not count", refused.len() - NAMED));
            }
        }
        Err(error) => found.say(format!("{NOTES} could not be read: {error}")),
    }
    found
}

impl Found {
    fn say(&mut self, text: impl Into<String>) {
        self.notes.push(Note { kind: "attested".to_owned(), text: text.into() });
    }

    /// Adds what counts to the facts, and what is to be said.
    pub fn add_to(&self, repo: &Repo, policy: &Policy, facts: &mut Facts) -> Result<(), GitError> {
        let added = attested::add(repo, policy, facts, &self.runs)?;
        for one in added {
            let result = if one.run.passed { "passed" } else { "failed" };
            let tree = one.run.tree.short();
            let text = format!("{} attests that `{}` {result} on {tree} ({})", one.by, one.run.line, one.key);
            facts.notes.push(Note { kind: "attested".to_owned(), text });
        }
        facts.notes.extend(self.notes.iter().cloned());
        Ok(())
    }
}

/// The signers of a policy, its file read in the tree of `commit`, and the lines of it that name nobody.
pub fn signers(repo: &Repo, policy: &Policy, commit: &Oid) -> Result<(Vec<Signer>, Vec<String>), String> {
    let text = match &policy.signers {
        Signers::Nobody => String::new(),
        Signers::Listed(lines) => lines.join("\n"),
        Signers::File(path) => match repo.blob_at(commit, path) {
            Ok(Some(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
            Ok(None) => return Err(format!("{path} is not in {}", commit.short())),
            Err(error) => return Err(format!("{path} of {} cannot be read: {error}", commit.short())),
        },
    };
    let (mut signers, mut wrong) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        match (Signer::parse(line), &policy.signers) {
            (Ok(signer), _) => signers.extend(signer),
            (Err(error), Signers::File(path)) => wrong.push(format!("{path}:{}: {error}", number + 1)),
            (Err(error), _) => wrong.push(error.to_string()),
        }
    }
    Ok((signers, wrong))
}

/// The lines of the notes on the trees of a range, each with its tree; those of the remote and those of this clone.
fn lines(repo: &Repo, base: &Oid, head: &Oid, remote: Option<&str>) -> Result<Vec<(Oid, String)>, GitError> {
    let most = format!("--max-count={MOST_TREES}");
    let not_base = format!("^{base}");
    let printed = repo.git(["log", "--format=%T", &most, head.as_str(), &not_base, "--"])?;
    let mut trees: Vec<Oid> = vec![repo.tree_of(head)?];
    for tree in String::from_utf8_lossy(&printed).lines().filter_map(|line| line.parse().ok()) {
        if !trees.contains(&tree) {
            trees.push(tree);
        }
    }
    let mut notes = repo.notes(NOTES, &trees, LARGEST)?;
    if let Some(remote) = remote {
        notes.extend(repo.notes(&Repo::notes_of(remote), &trees, LARGEST)?);
    }
    let mut lines = Vec::new();
    for (tree, text) in notes {
        let text = String::from_utf8_lossy(&text);
        let text = text.lines().filter(|line| !line.trim().is_empty());
        lines.extend(text.map(|line| (tree.clone(), line.to_owned())));
    }
    lines.sort();
    lines.dedup();
    Ok(lines)
}
