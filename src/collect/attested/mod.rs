//! Statements that were attested elsewhere about the judged content, checked against the signers of the base.

mod compare;
mod notes_remote;
mod run_chronology;

use jiff::Timestamp;

use self::run_chronology::RunOrder;
use crate::attest::verify::{self, Attested, AttestedProof, SignedVerdict};
use crate::attest::{MAX_LINE_LENGTH, NOTES, summary};
use crate::collect::tested_changes;
use crate::event::Grade;
use crate::fact::{Facts, Note};
use crate::git::{GitError, NoteHistory, Repo};
use crate::oid::Oid;
use crate::policy::{Policy, Signers};
use crate::ssh::Signer;

/// The maximum number of contents of a range that are looked at, newest first.
const MAX_TREES: usize = 256;
/// The maximum size of a note that is read, in bytes.
pub const MAX_NOTE: usize = 8 * MAX_LINE_LENGTH;
/// The number of statements that do not count and are still named one by one.
const NAMED: usize = 5;

/// The attested runs that count, and the notes about the others.
#[derive(Clone, Debug, Default)]
pub struct AttestedRuns {
    /// The runs that count.
    pub runs: Vec<Attested>,
    /// The red–green proofs that count.
    pub proofs: Vec<AttestedProof>,
    /// The order of the runs that count, for each ref of notes that was read.
    histories: Vec<NoteHistory>,
    /// The newest event of the local journal when the notes were read, or `None` if there was none.
    known_here: Option<String>,
    /// The verdicts that were signed elsewhere. They are shown, but they are not evidence.
    pub verdicts: Vec<SignedVerdict>,
    /// The notes about statements that could not be read or do not count.
    pub notes: Vec<Note>,
}

impl AttestedRuns {
    /// Reads the statements, for a CI job, about `head` and the commits of it that `base` does not have. The signers
    /// are those of `base`, which must be the commit of the policy: a change does not name its own signers. Notes are
    /// fetched from the origin of the clone, and from `fork` (`owner/name` on the same forge) if the change comes from
    /// there. `known_here` is the id of the newest event of the journal: a run of the job itself comes after it.
    pub fn fetched(
        repo: &Repo,
        policy: &Policy,
        base: Option<&Oid>,
        head: &Oid,
        fork: Option<&str>,
        known_here: Option<String>,
    ) -> Result<Self, GitError> {
        let mut found = Self { known_here, ..Self::default() };
        if policy.signers == Signers::Nobody {
            return Ok(found);
        }
        let Some(base) = base.filter(|base| policy.is_of(base)) else {
            found.say("the policy does not come from a base, so no signature counts");
            return Ok(found);
        };
        let Some(signers) = found.signers(repo, policy, base) else { return Ok(found) };
        let mut refs = vec![NOTES.to_owned()];
        for remote in notes_remote::of(repo, fork)? {
            found.notes.extend(remote.fetch(repo).map(note));
            refs.push(Repo::notes_of(&remote.from));
        }
        found.read(repo, policy, (base, &signers), &[head], &refs)?;
        Ok(found)
    }

    /// Reads the statements about `heads` at the receiving end of a push: from the notes that are there, and from those
    /// of the same push, `notes`. `policy` is that of `tip`, the current tip of the default branch: a push must not
    /// start from a commit where somebody was still a signer.
    pub fn received(
        repo: &Repo,
        policy: &Policy,
        tip: &Oid,
        heads: &[&Oid],
        notes: Option<&Oid>,
    ) -> Result<Self, GitError> {
        let mut found = Self::default();
        if policy.signers == Signers::Nobody || !policy.is_of(tip) {
            return Ok(found);
        }
        let Some(signers) = found.signers(repo, policy, tip) else { return Ok(found) };
        let refs: Vec<String> = [NOTES.to_owned()].into_iter().chain(notes.map(Oid::to_string)).collect();
        found.read(repo, policy, (tip, &signers), heads, &refs)?;
        Ok(found)
    }

    /// Returns the signers of `base`, or `None`, with a note, if they cannot be read.
    fn signers(&mut self, repo: &Repo, policy: &Policy, base: &Oid) -> Option<Vec<Signer>> {
        match signers(repo, policy, base) {
            Ok((signers, wrong)) => {
                self.notes.extend(wrong.into_iter().map(note));
                Some(signers)
            }
            Err(why) => {
                self.say(format!("{why}, so no signature counts"));
                None
            }
        }
    }

    /// Reads the statements about `heads` in `refs` and checks them against the signers of the base.
    fn read(
        &mut self,
        repo: &Repo,
        policy: &Policy,
        (base, signers): (&Oid, &[Signer]),
        heads: &[&Oid],
        refs: &[String],
    ) -> Result<(), GitError> {
        for head in heads {
            self.notes.extend(moved(repo, policy, base, head)?);
        }
        let (lines, left_out) = lines(repo, base, heads, refs)?;
        self.notes.extend(left_out.into_iter().take(NAMED).map(|what| note(format!("{what}, so it does not count"))));
        let verify::VerifiedLines { runs, proofs, verdicts, refused } = verify::read(&lines, signers, Timestamp::now());
        (self.runs, self.proofs, self.verdicts) = (runs, proofs, verdicts);
        if self.runs.len() > 1 {
            let mut trees: Vec<Oid> = self.runs.iter().map(|run| run.place.0.clone()).collect();
            trees.sort();
            trees.dedup();
            self.histories = refs.iter().map(|one| repo.note_history(one, &trees)).collect::<Result<_, _>>()?;
        }
        self.notes.extend(refused.iter().take(NAMED).map(|one| note(one.to_string())));
        if refused.len() > NAMED {
            self.say(format!("further statements that do not count: {}", refused.len() - NAMED));
        }
        Ok(())
    }

    /// Adds the runs and proofs that count, and the notes, to the facts.
    pub fn add_to(&self, repo: &Repo, policy: &Policy, facts: &mut Facts) -> Result<(), GitError> {
        for one in compare::add(repo, policy, facts, &self.runs, &self.order())? {
            let result = if one.run.passed { "passed" } else { "failed" };
            let tree = one.run.tree.short();
            facts
                .notes
                .push(note(format!("{} attests that `{}` {result} on {tree} ({})", one.by, one.run.line, one.key)));
        }
        self.add_proofs(repo, policy, facts)?;
        let mut told = 0;
        for verdict in &self.verdicts {
            let mut judged = facts.subjects.iter().filter_map(|subject| subject.tree.as_ref());
            let judged = judged.find(|tree| verdict.summary.trees.contains(tree));
            let Some(tree) = judged.filter(|_| told < NAMED) else { continue };
            facts.notes.push(note(told_verdict(verdict, tree, policy)));
            told += 1;
        }
        facts.notes.extend(self.notes.iter().cloned());
        Ok(())
    }

    fn add_proofs(&self, repo: &Repo, policy: &Policy, facts: &mut Facts) -> Result<(), GitError> {
        let proofs: Vec<_> =
            self.proofs.iter().map(|one| (one.statement.id.clone(), one.statement.proof.clone())).collect();
        let added = tested_changes::add_proofs(repo, policy, facts, &proofs, Grade::Attested)?;
        for one in self.proofs.iter().filter(|one| added.contains(&one.statement.id)) {
            let proof = &one.statement.proof;
            let tree = proof.tree.short();
            facts.notes.push(note(format!(
                "{} attests a red–green proof with `{}` on {tree} ({})",
                one.by, proof.command.line, one.key
            )));
        }
        Ok(())
    }

    fn order(&self) -> RunOrder<'_> {
        RunOrder { statements: &self.runs, histories: &self.histories, known_here: self.known_here.as_deref() }
    }

    fn say(&mut self, text: impl Into<String>) {
        self.notes.push(note(text.into()));
    }
}

/// Returns a sentence for people about a signed verdict on `tree`.
fn told_verdict(verdict: &SignedVerdict, tree: &Oid, policy: &Policy) -> String {
    let summary = &verdict.summary;
    let by = match &summary.policy {
        summary::PolicyInForce::Commit(commit) if policy.is_of(commit) => "the policy that is in force here".to_owned(),
        summary::PolicyInForce::Commit(commit) => {
            format!("the policy of {}, which is not in force here", commit.short())
        }
        summary::PolicyInForce::Digest(_) => "a policy that was not committed".to_owned(),
    };
    let result = match &summary.gates[..] {
        [] if summary.passed => "passed".to_owned(),
        gates if summary.passed => format!("passed ({})", gates.join(", ")),
        _ => "did not pass".to_owned(),
    };
    format!(
        "{} signed that gate ci judged {} at {} by {by}: it {result}. That is not evidence here ({})",
        verdict.by,
        tree.short(),
        summary.at,
        verdict.key
    )
}

fn note(text: String) -> Note {
    Note::new("attested", text)
}

/// Returns a note if the change edits the list of signers itself: the edit counts only after it is merged.
fn moved(repo: &Repo, policy: &Policy, base: &Oid, head: &Oid) -> Result<Option<Note>, GitError> {
    let Signers::File(path) = &policy.signers else { return Ok(None) };
    let left = repo.merge_base(head, base)?.unwrap_or_else(|| base.clone());
    if repo.blob_at(&left, path)? == repo.blob_at(head, path)? {
        return Ok(None);
    }
    let text = format!("{path} lists the allowed signers and is changed: the version of {} applies", base.short());
    Ok(Some(Note::new("policy-relaxed", text).at(path.clone(), None)))
}

/// Returns the signers of a policy, read from its file in the tree of `commit`, and the lines of the file that name
/// nobody.
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

/// The lines of notes, each with its tree, and sentences about the notes that were not read.
type NoteLines = (Vec<(Oid, String)>, Vec<String>);

/// The lines of the notes on the trees of `heads` and of the commits of them that `base` does not have, each with its
/// tree, and what of them was not read. `refs` are those of notes, or their commits.
fn lines(repo: &Repo, base: &Oid, heads: &[&Oid], refs: &[String]) -> Result<NoteLines, GitError> {
    let mut trees: Vec<Oid> = heads.iter().map(|head| repo.tree_of(head)).collect::<Result<_, _>>()?;
    if trees.is_empty() {
        return Ok(Default::default());
    }
    let mut args = vec!["log".to_owned(), "--format=%T".to_owned(), "--no-show-signature".to_owned()];
    args.push(format!("--max-count={MAX_TREES}"));
    args.extend(heads.iter().map(ToString::to_string));
    args.extend([format!("^{base}"), "--".to_owned()]);
    let printed = repo.git(args)?;
    trees.extend(String::from_utf8_lossy(&printed).lines().filter_map(|line| line.parse().ok()));
    trees.sort();
    trees.dedup();
    let (mut lines, mut left_out) = (Vec::new(), Vec::new());
    for reference in refs {
        let read = repo.notes(reference, &trees, MAX_NOTE)?;
        left_out.extend(read.left_out);
        for (tree, text) in read.contents {
            let text = String::from_utf8_lossy(&text);
            let text = text.lines().filter(|line| !line.trim().is_empty());
            lines.extend(text.map(|line| (tree.clone(), line.to_owned())));
        }
    }
    lines.sort();
    lines.dedup();
    Ok((lines, left_out))
}
