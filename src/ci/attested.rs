//! The signed statements that a job may take as evidence: fetched, and held against the signers of the base.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;

use crate::attest::verify::{self, Attested};
use crate::attest::{LONGEST, NOTES};
use crate::fact::{Facts, Note, attested};
use crate::git::{Credential, Fetched, GitError, Repo};
use crate::oid::Oid;
use crate::policy::{Policy, Signers};
use crate::redact::redact;
use crate::source::forge::place::Known;
use crate::source::forge::token;
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
/// must be the commit that the policy is of: a change does not name its own. Notes are asked for where the clone came
/// from, and in `fork`, `owner/name` on the same forge, where the change comes from there.
pub fn find(
    repo: &Repo,
    policy: &Policy,
    base: Option<&Oid>,
    head: &Oid,
    fork: Option<&str>,
) -> Result<Found, GitError> {
    let mut found = Found::default();
    if policy.signers == Signers::Nobody {
        return Ok(found);
    }
    let Some(base) = base.filter(|base| policy.is_of(base)) else {
        found.say("the policy is not that of a base, so nobody's signature counts");
        return Ok(found);
    };
    let (signers, wrong) = match signers(repo, policy, base) {
        Ok(read) => read,
        Err(why) => {
            found.say(format!("{why}, so nobody's signature counts"));
            return Ok(found);
        }
    };
    for line in wrong {
        found.say(line);
    }
    found.notes.extend(moved(repo, policy, base, head)?);
    let remotes = remotes(repo, fork)?;
    for remote in &remotes {
        let Place { name, credential, .. } = remote;
        match repo.fetch_notes(&remote.from, NOTES, credential.as_ref()) {
            Ok(Fetched::Notes) => {}
            Ok(Fetched::Nothing) => found.say(format!("{name} has no {NOTES}: nothing is attested there")),
            Ok(Fetched::Rewritten) => {
                found.say(format!("{NOTES} of {name} was rewritten: what is not there any more does not count"));
            }
            Err(why) => found.say(format!("{NOTES} of {name} could not be fetched: {}", redact(&why))),
        }
    }
    let lines = lines(repo, base, head, &remotes)?;
    let (runs, refused) = verify::runs(&lines, &signers, Timestamp::now());
    found.runs = runs;
    for one in refused.iter().take(NAMED) {
        found.say(one.to_string());
    }
    if refused.len() > NAMED {
        found.say(format!("{} further statements do not count", refused.len() - NAMED));
    }
    Ok(found)
}

/// A change of the list itself: it counts for nothing here, and for everything once it is merged.
fn moved(repo: &Repo, policy: &Policy, base: &Oid, head: &Oid) -> Result<Option<Note>, GitError> {
    let Signers::File(path) = &policy.signers else { return Ok(None) };
    if repo.blob_at(base, path)? == repo.blob_at(head, path)? {
        return Ok(None);
    }
    let text = format!("{path} says who may sign what counts, and is changed: the one of {} applies", base.short());
    Ok(Some(Note { kind: "policy-relaxed".to_owned(), text }))
}

/// Where notes are fetched from.
struct Place {
    /// What people call it.
    name: String,
    /// The name of a remote, or a URL.
    from: String,
    credential: Option<Credential>,
}

fn remotes(repo: &Repo, fork: Option<&str>) -> Result<Vec<Place>, GitError> {
    // Where git puts what was cloned, unless it is told otherwise.
    let Some(origin) = repo.remotes()?.into_iter().min_by_key(|remote| remote.name != "origin") else {
        return Ok(Vec::new());
    };
    let known = Known::of_process();
    let mut places = Vec::new();
    let web = origin.url.split_once("://").filter(|(scheme, _)| ["http", "https"].contains(scheme));
    if let (Some(fork), Some((scheme, _)), Some(here)) = (fork, web, known.place(&origin.url)) {
        // The place of the fork itself is a name that was checked, on the host that the clone came from.
        if let Some(there) = here.other(fork).filter(|there| *there != here) {
            let from = format!("{scheme}://{}/{}.git", there.host, there.full_name());
            let credential = credential(repo, &from, &known)?;
            places.push(Place { name: there.full_name(), from, credential });
        }
    }
    let credential = credential(repo, &origin.url, &known)?;
    places.insert(0, Place { name: origin.name.clone(), from: origin.name, credential });
    Ok(places)
}

/// What the notes at `url` are asked for with, where git knows nothing itself: the token that its forge is asked with.
fn credential(repo: &Repo, url: &str, known: &Known) -> Result<Option<Credential>, GitError> {
    let Some((scheme @ ("http" | "https"), rest)) = url.split_once("://") else { return Ok(None) };
    let authority = rest.split('/').next().unwrap_or_default();
    let has_own = authority.contains('@') || repo.config_entries()?.iter().any(|set| set.key.ends_with(".extraheader"));
    let Some(place) = known.place(url).filter(|_| !has_own) else { return Ok(None) };
    Ok(token::find(&place, known).map(|token| Credential {
        to: format!("{scheme}://{authority}/"),
        authorization: format!("Basic {}", STANDARD.encode(format!("x-access-token:{}", token.secret()))),
    }))
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

/// The lines of the notes on the trees of a range, each with its tree; those that were fetched and those of this clone.
fn lines(repo: &Repo, base: &Oid, head: &Oid, remotes: &[Place]) -> Result<Vec<(Oid, String)>, GitError> {
    let most = format!("--max-count={MOST_TREES}");
    let not_base = format!("^{base}");
    let printed = repo.git(["log", "--format=%T", "--no-show-signature", &most, head.as_str(), &not_base, "--"])?;
    let mut trees: Vec<Oid> = vec![repo.tree_of(head)?];
    for tree in String::from_utf8_lossy(&printed).lines().filter_map(|line| line.parse().ok()) {
        if !trees.contains(&tree) {
            trees.push(tree);
        }
    }
    let mut notes = repo.notes(NOTES, &trees, LARGEST)?;
    for remote in remotes {
        notes.extend(repo.notes(&Repo::notes_of(&remote.from), &trees, LARGEST)?);
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
