//! The order of runs, some of which were attested elsewhere. It does not depend on a clock.

use crate::attest::verify::Attested;
use crate::fact::evidence::RunFact;
use crate::git::NoteHistory;

/// The order of runs: the commits of their notes order statements, and the journal orders local runs.
pub(super) struct RunOrder<'a> {
    /// The statements that count.
    pub(super) statements: &'a [Attested],
    /// The histories of the notes that hold the statements.
    pub(super) histories: &'a [NoteHistory],
    /// The newest event of the local journal when the notes were read.
    pub(super) known_here: Option<&'a str>,
}

impl RunOrder<'_> {
    /// Sorts runs, the newest first. Of two without an order, the failed one counts as the newer one: a failure stands
    /// until a later run follows it.
    pub(super) fn newest_first(&self, runs: Vec<RunFact>) -> Vec<RunFact> {
        // Where nothing was attested, they are in the order of the journal already.
        if runs.iter().all(|run| self.statement(run).is_none()) {
            return runs;
        }
        newest_first(runs, |a, b| self.is_later(a, b))
    }

    fn statement(&self, run: &RunFact) -> Option<&Attested> {
        self.statements.iter().find(|one| one.run.seen.id == run.id)
    }

    fn is_later(&self, run: &RunFact, other: &RunFact) -> bool {
        // A run that the job itself made came after all that it had read.
        match (self.statement(run), self.statement(other)) {
            (None, None) => run.id > other.id,
            (None, Some(_)) => self.known_here.is_none_or(|known| run.id.as_str() > known),
            (Some(_), None) => false,
            (Some(run), Some(other)) => {
                let is_before = |earlier: &Attested, later: &Attested| {
                    self.histories.iter().any(|history| history.is_before(&earlier.place, &later.place))
                };
                is_before(other, run) && !is_before(run, other)
            }
        }
    }
}

/// Takes, again and again, a run that no remaining run is later than; of several such runs, a failed one first.
fn newest_first(runs: Vec<RunFact>, is_later: impl Fn(&RunFact, &RunFact) -> bool) -> Vec<RunFact> {
    let mut left = runs;
    let mut ordered = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let candidates = (0..left.len()).filter(|at| left.iter().all(|other| !is_later(other, &left[*at])));
        let rank = |at: &usize| (!left[*at].ended.success(), left[*at].id.clone());
        let at = candidates.max_by_key(rank).or_else(|| (0..left.len()).max_by_key(rank));
        let Some(at) = at else { break };
        ordered.push(left.remove(at));
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Ended, Grade};
    use crate::oid::Oid;

    fn run(id: &str, status: i32) -> RunFact {
        RunFact {
            verbatim: true,
            ..RunFact::new(id.to_owned(), Grade::Attested, Ended::Exited(status), Oid::empty_tree(false))
        }
    }

    /// Sorts runs by their ids (those that begin with `f` failed) and by pairs of them of which the second is later.
    fn order(ids: &[&str], pairs: &[(&str, &str)]) -> Vec<String> {
        let runs = ids.iter().map(|id| run(id, i32::from(id.starts_with('f')))).collect();
        let is_later = |a: &RunFact, b: &RunFact| pairs.contains(&(b.id.as_str(), a.id.as_str()));
        newest_first(runs, is_later).into_iter().map(|run| run.id).collect()
    }

    #[test]
    fn a_failure_stands_until_a_later_run_follows_it() {
        assert_eq!(order(&["p9", "f1"], &[]), ["f1", "p9"], "no order");
        assert_eq!(order(&["p9", "f1"], &[("p9", "f1")]), ["f1", "p9"], "the pass came before");
        assert_eq!(order(&["p1", "f9"], &[("f9", "p1")]), ["p1", "f9"], "the pass came after, whatever the ids say");
        assert_eq!(order(&["p1", "f2", "p3"], &[("p1", "f2"), ("f2", "p3"), ("p1", "p3")]), ["p3", "f2", "p1"]);
        assert_eq!(order(&["p1", "f2", "p3"], &[("p1", "p3")]), ["f2", "p3", "p1"], "nothing follows the failure");
        assert_eq!(order(&["p1", "p2"], &[("p1", "p2"), ("p2", "p1")]).len(), 2, "a contradiction loses nothing");
    }
}
