//! What the acts of a case leave as records: runs of checks, command lines, and updates of remotes.

use std::sync::Arc;

use crate::event::Grade;
use crate::replay::case;
use crate::replay::packages::{self, Package};
use crate::replay::proofs_by_package::PackageProof;
use crate::replay::simulated_repository::World;
use crate::replay::tree_content::Content;

/// A run of a check.
#[derive(Clone, Debug)]
pub struct SimulatedRun {
    /// The number of the act.
    pub seq: u64,
    pub proof: PackageProof,
    /// The packages that it is about.
    pub packages: Vec<Package>,
    /// The grade of its record.
    pub grade: Grade,
    /// The content before.
    pub start: Content,
    /// The content after.
    pub end: Content,
}

impl SimulatedRun {
    /// Returns `true` if another run of the same check ended in the same way on the same content.
    fn says_the_same(&self, other: &Self) -> bool {
        let (own, proof) = (&self.proof, &other.proof);
        (own.kind, own.ended, own.conclusive, own.on_a_copy)
            == (proof.kind, proof.ended, proof.conclusive, proof.on_a_copy)
            && (&own.masked, self.grade, &self.packages) == (&proof.masked, other.grade, &other.packages)
            && own.report == proof.report
            && [(&self.start, &other.start), (&self.end, &other.end)].iter().all(|(own, other)| own.id() == other.id())
    }
}

/// The largest number of runs that are kept, the latest ones.
const MAX_RUNS: usize = 128;

/// A command line that ended.
#[derive(Clone, Debug)]
pub struct EndedLine {
    /// The number of the act.
    pub seq: u64,
    /// The line, with its end.
    pub command: case::RecordedCommand,
    /// The directory in which it ran, relative to the root, or `None` for another place.
    pub dir: Option<String>,
    /// The content before.
    pub start: Content,
    /// The content after.
    pub end: Content,
}

/// An update of a ref of a remote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// The number of the act.
    pub seq: u64,
    /// The ref here.
    pub local_ref: String,
    /// The commit that is sent, or `None` if the ref is deleted.
    pub new: Option<String>,
    /// The ref there.
    pub remote_ref: String,
    /// The commit that it held.
    pub old: Option<String>,
    pub remote: String,
    /// Its address.
    pub url: String,
    /// It was tried and refused.
    pub refused: bool,
    /// Nothing was sent, on purpose.
    pub dry: bool,
}

impl World {
    pub(super) fn packages_of(&mut self, content: &Content) -> Arc<[Package]> {
        if self.packages.1.is_empty() || self.packages.0 != content.known() {
            self.packages = (content.known(), packages::find(content).into());
        }
        Arc::clone(&self.packages.1)
    }

    /// Adds a run. It stands for an earlier one that said the same of the same content.
    pub(super) fn ran(
        &mut self,
        seq: u64,
        proof: PackageProof,
        all: &[Package],
        grade: Grade,
        contents: [&Content; 2],
    ) {
        let packages = proof.packages.iter().filter_map(|index| all.get(*index)).cloned().collect();
        let [start, end] = contents.map(Clone::clone);
        let run = SimulatedRun { seq, proof, packages, grade, start, end };
        self.runs.retain(|earlier| !earlier.says_the_same(&run));
        if self.runs.len() == MAX_RUNS {
            self.runs.remove(0);
        }
        self.runs.push(run);
    }

    /// Adds an update of a remote, unless it was made before: every answer about it would be the same.
    pub(super) fn updated(&mut self, update: Update) {
        if !self.updates.iter().any(|earlier| Update { seq: update.seq, ..earlier.clone() } == update) {
            self.updates.push(update);
        }
    }
}
