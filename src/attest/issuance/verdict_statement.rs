//! The judgement of `gate ci`, as a statement that may be signed.

use std::fs;
use std::path::Path;

use crate::attest::statement::Statement;
use crate::attest::summary::{PolicyInForce, VerificationSummary, resource};
use crate::engine::Workplace;
use crate::event::EventKind;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::gates::finding::Answer;
use crate::journal::JournalLine;
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::PolicySource;
use crate::verdict::{Outcome, Verdict};

/// The largest record that is read, in bytes.
const MAX_FILE_SIZE: u64 = 16 * 1024 * 1024;

/// Returns the trees of a verdict, and the statement about its result. The verdict must be of `gate ci`, and the same
/// in the journal and in the file: a file alone proves nothing.
pub fn of_file(place: &Workplace, path: &Path) -> anyhow::Result<(Vec<Oid>, Statement)> {
    let verdict = read(path)?;
    if verdict.moment != Moment::Ci {
        let what = format!("{} was judged at {}, not by gate ci", path.display(), verdict.moment.as_str());
        return Err(Failure::new(Exit::Usage, what).remedy("gate ci --artifacts DIR writes DIR/verdict.json").into());
    }
    let passed = match verdict.outcome {
        Outcome::Pass => true,
        Outcome::Blocked | Outcome::NeedsHuman => false,
        Outcome::CannotJudge => {
            let what = format!("{} says that it could not be judged: there is nothing to sign", path.display());
            return Err(Failure::new(Exit::CannotJudge, what).into());
        }
    };
    let trees: Vec<Oid> = verdict.subjects.iter().filter_map(|subject| subject.tree.clone()).collect();
    if trees.is_empty() || !is_recorded(place, &verdict, &trees, passed)? {
        let what = format!("{} is not a verdict that was given in this repository", path.display());
        return Err(Failure::new(Exit::BadInput, what).remedy("sign it in the job and the clone that judged").into());
    }
    let gates = verdict.gates.iter().filter(|gate| gate.answer == Answer::Pass).map(|gate| gate.gate.clone());
    let remotes = place.repo.remotes()?;
    let remote = remotes.iter().find(|remote| remote.name == "origin").or(remotes.first());
    let summary = VerificationSummary {
        trees: trees.clone(),
        at: verdict.at,
        resource: resource(remote.map_or(verdict.repository.as_str(), |remote| &remote.url)),
        policy: match &verdict.policy.source {
            PolicySource::Commit(commit) => PolicyInForce::Commit(commit.clone()),
            PolicySource::WorkingTree | PolicySource::Defaults => PolicyInForce::Digest(verdict.policy.digest.clone()),
        },
        passed,
        gates: gates.collect(),
    };
    Ok((trees, summary.statement()?))
}

fn read(path: &Path) -> Result<Verdict, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::new(Exit::BadInput, format!("the verdict {} cannot be read: {error}", path.display()))
    };
    if fs::metadata(path).map_err(unreadable)?.len() > MAX_FILE_SIZE {
        return Err(Failure::new(Exit::BadInput, format!("{} is too large for a verdict", path.display())));
    }
    serde_json::from_slice(&fs::read(path).map_err(unreadable)?).map_err(|error| {
        let place = format!("{}:{}:{}", path.display(), error.line(), error.column());
        Failure::new(Exit::BadInput, format!("{place}: not a verdict: {error}"))
    })
}

/// Returns `true` if the journal has this verdict: on these contents, and with this result.
fn is_recorded(place: &Workplace, verdict: &Verdict, trees: &[Oid], passed: bool) -> anyhow::Result<bool> {
    let mut events = place.journal.events()?.filter_map(|line| match line {
        JournalLine::Event(event) => Some(event.kind),
        JournalLine::Damaged { .. } => None,
    });
    Ok(events.any(|kind| match kind {
        EventKind::Judged(judged) => {
            judged.verdict == verdict.id
                && judged.moment == verdict.moment
                && judged.trees == trees
                && judged.blocked != passed
        }
        _ => false,
    }))
}
