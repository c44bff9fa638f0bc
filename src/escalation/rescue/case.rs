//! The current failure: the verdict, its history, and the result of its failing command on a clean checkout.

use std::path::PathBuf;
use std::time::Duration;

use super::{clean_run, internal};
use crate::engine::{Basis, Preview, Workplace};
use crate::escalation::clean_checkout::Clean;
use crate::escalation::history::{FailedRun, History};
use crate::escalation::{Escalation, smallest_failure};
use crate::event::{EventKind, Origin, Trial};
use crate::failure::Failure;
use crate::journal::NewEvent;
use crate::oid::Oid;
use crate::redact::redact;
use crate::verdict::assemble::ESCALATES_AT;
use crate::verdict::{Outcome, Verdict};

/// The current failure of a session.
pub struct FailingCase<'a> {
    place: &'a Workplace,
    /// The verdict that a stop would get.
    pub verdict: Verdict,
    history: History,
    /// The working tree, or `None` if it could not be kept.
    pub tree: Option<Oid>,
    /// The commit that is checked out.
    pub head: Option<Oid>,
    /// The result of a trial that is not recorded.
    tried: Option<Clean>,
}

impl<'a> FailingCase<'a> {
    /// Judges the current content as work of `session`, without counting an attempt.
    pub fn now(place: &'a Workplace, session: &str) -> Result<Self, Failure> {
        let Preview { verdict, snapshot, head } = place.preview(session)?;
        let blocked = verdict.outcome != Outcome::Pass;
        let kept = blocked.then(|| place.repo.keep(&snapshot)).transpose().map_err(internal)?;
        let history = place.history(session);
        Ok(Self { place, verdict, history, tree: kept.map(|kept| kept.tree), head, tried: None })
    }

    /// Returns `true` if nothing blocks.
    pub fn passes(&self) -> bool {
        self.verdict.outcome == Outcome::Pass
    }

    /// Returns the command that shows the failure, if it was not yet tried on a clean checkout of this content.
    pub fn untried(&self) -> Option<&str> {
        let failure = smallest_failure(&self.verdict, &self.history)?;
        let tree = self.tree.as_ref()?;
        let is_known = self.tried.is_some() || self.history.alone(failure, tree).is_some();
        let untried = !is_known && self.history.on_clean_checkout(failure, tree) == Clean::NotTried;
        untried.then_some(failure.line.as_str())
    }

    /// Tries that command on a clean checkout, for at most `patience`, and records the result, so that it is not tried
    /// again. If the failed test can be run alone, that is tried first: where it fails, it says more.
    pub fn prove(&mut self, patience: Duration) -> Result<(), Failure> {
        if self.untried().is_none() {
            return Ok(());
        }
        let (Some(failure), Some(tree)) = (smallest_failure(&self.verdict, &self.history), self.tree.clone()) else {
            return Ok(());
        };
        let failure = failure.clone();
        if self.history.can_be_tried_alone(&failure, &tree)
            && let Some(alone) = failure.of_one_test()
        {
            // What cannot be tried alone is tried as a whole.
            let _ = self.try_on(&tree, &alone, patience)?;
            if self.history.alone(&failure, &tree).is_some() {
                return Ok(());
            }
        }
        self.tried = self.try_on(&tree, &failure, patience)?;
        Ok(())
    }

    /// Tries a command on a clean checkout and records the result. Returns the reason if there is none.
    fn try_on(&mut self, tree: &Oid, failure: &FailedRun, patience: Duration) -> Result<Option<Clean>, Failure> {
        match clean_run::end(&self.place.repo, tree, self.head.as_ref(), failure, patience) {
            Err(clean) => Ok(Some(clean)),
            Ok((ended, signature)) => {
                let signature = signature.iter().map(|said| redact(said).into_owned()).collect();
                let (key, line, tree) = (failure.key.clone(), failure.line.clone(), tree.clone());
                let trial = Trial { key, line, tree, ended, signature };
                let kind = EventKind::Trial(trial.clone());
                let event = NewEvent { session: None, origin: Origin::observed(), kind };
                self.place.journal.append(event).map_err(internal)?;
                self.history.trials.push(trial);
                Ok(None)
            }
        }
    }

    /// Returns the payload. `reference` is the ref under which the content can be fetched, if it exists already.
    pub fn payload(&self, reference: Option<&str>) -> Escalation {
        let Self { verdict, history, tree, tried, .. } = self;
        self.place.payload(&Basis { verdict, history, tree: tree.as_ref(), tried: *tried, reference })
    }

    /// Writes the payload next to the verdict if the attempts are used up. It replaces the one that could not wait for
    /// the trial.
    pub fn write(&self, payload: &Escalation) -> Result<Option<PathBuf>, Failure> {
        if self.passes() || self.verdict.attempt < ESCALATES_AT {
            return Ok(None);
        }
        self.place.write_payload(&self.verdict.session, payload).map(Some).map_err(internal)
    }
}
