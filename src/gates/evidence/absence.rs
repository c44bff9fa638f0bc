//! The reasons why no run of a command counts for a content.

use minijinja::{Value, context};

use super::{EvidenceCase, NOT_ADDED, is_any_untracked, outcome};
use crate::command_line::rewritten_files::{base_name, rewriter};
use crate::command_line::{self, CheckOutcome};
use crate::fact::{Deed, Facts, OpenRunState, RunFact, RunProof, SubjectKind};
use crate::gates::finding::{Answer, Finding};
use crate::gates::finding_text::{list, plain, shell_words};
use crate::gates::other_command::command_difference;
use crate::repo_path::RepoPath;

impl EvidenceCase<'_> {
    /// Returns a finding for content without a run: the run that comes closest, and the remedy.
    pub(super) fn explain_absence(&self, counted: &[&RunFact], facts: &Facts) -> Finding {
        if let Some(finding) = self.uncommitted(counted, facts) {
            return finding;
        }
        let inputs = &self.command.inputs;
        let opaque: Vec<_> = self.subject.opaque.iter().filter(|path| inputs.matches_below(path)).cloned().collect();
        if !opaque.is_empty() {
            let words = context! { paths => list(&opaque) };
            return self.finding(Answer::Fail, "opaque", opaque, Vec::new(), &words);
        }
        if let Some(finding) = self.beside(counted) {
            return finding;
        }
        if let Some(run) = counted.first()
            && let Some(paths) = run.unsettled(inputs).filter(|paths| !paths.is_empty())
        {
            let same = |earlier: &&RunFact| {
                earlier.unsettled(inputs).is_some_and(|changed| changed.iter().any(|path| paths.contains(path)))
            };
            let again = counted[1..].iter().any(same);
            // A file that no commit holds and that changes with a run is most likely its report.
            let writes = again || paths.iter().all(|path| run.untracked.contains(path));
            let rewriter = if let [path] = &paths[..] { rewriter(path).map(|known| (path, known)) } else { None };
            let words = match rewriter {
                Some((path, known)) => {
                    let base = String::from_utf8_lossy(base_name(path)).into_owned();
                    let (tool, keep, file) = (&known.tool, &known.keep, shell_words(&paths));
                    context! { paths => list(&paths), again, writes, tool, keep, file, base }
                }
                None => context! { paths => list(&paths), again, writes },
            };
            return self.finding(Answer::Fail, "unsettled", paths, vec![run.id.clone()], &words);
        }
        // Nothing better is known of this content.
        let masked = |run: &&RunFact| {
            run.grade >= self.gate.min_grade && run.shows() == RunProof::Masked && self.is_of_this_content(run)
        };
        if let Some(run) = self.runs().iter().find(masked) {
            let (why, cure) = reason_and_cure(run.masked.as_deref().unwrap_or_default());
            return self.finding(
                Answer::Fail,
                "masked",
                Vec::new(),
                vec![run.id.clone()],
                &context! { why, cure, verbatim => run.verbatim },
            );
        }
        let passed = counted.iter().filter(|run| run.is_stable(inputs) && run.shows() == RunProof::Pass);
        // Files that were never added explain more than an older run with fewer differences.
        let distance = |(run, paths): &(&RunFact, Vec<RepoPath>)| {
            (paths.iter().any(|path| !run.untracked.contains(path)), paths.len())
        };
        let nearest = passed.filter_map(|run| Some((*run, self.disagreement(run)?))).min_by_key(distance);
        if let Some((run, paths)) = nearest {
            let added = |path: &RepoPath| !run.untracked.contains(path);
            let reason = match self.subject.role {
                _ if !paths.is_empty() && paths.iter().all(|path| run.opaque.contains(path)) => "opaque",
                _ if !paths.is_empty() && paths.iter().all(|path| run.absent.contains(path)) => "absent",
                SubjectKind::Commit if !paths.is_empty() && !paths.iter().any(added) => NOT_ADDED,
                SubjectKind::Commit | SubjectKind::WorkingTree => "stale",
            };
            let (own, others) = self.own(&paths);
            let words = context! {
                paths => list(own.as_ref().unwrap_or(&paths)),
                others => own.as_ref().map(|_| list(&others)),
                untracked => is_any_untracked(run, &paths),
                ..self.other_line(facts)
            };
            return self.finding(Answer::Fail, reason, paths, vec![run.id.clone()], &words);
        }
        if let Some(low) = self.runs().iter().find(|run| self.is_of_this_content(run)) {
            let words = context! { grade => low.grade.as_str(), min_grade => self.gate.min_grade.as_str() };
            return self.finding(Answer::Fail, "low-grade", Vec::new(), vec![low.id.clone()], &words);
        }
        if let Some(former) = self.subject.former_lines.get(&self.command.name).filter(|_| counted.is_empty()) {
            return self.finding(Answer::Fail, "redeclared", Vec::new(), Vec::new(), &context! { former });
        }
        match self.open {
            Some(OpenRunState::Running) => {
                return self.finding(Answer::Fail, "running", Vec::new(), Vec::new(), &context! {});
            }
            Some(OpenRunState::OverTime) => {
                return self.finding(Answer::Fail, "killed", Vec::new(), Vec::new(), &context! { over_time => true });
            }
            None => {}
        }
        let failed = counted.first().filter(|run| run.shows() == RunProof::Fail).map(|run| outcome(run));
        self.finding(Answer::Fail, "missing", Vec::new(), Vec::new(), &context! { failed, ..self.other_line(facts) })
    }

    /// Splits the paths on which the nearest run differs into those that the subject itself changed and the others: that
    /// run may be one on another branch. Returns `None` in place of the former if that is all of them or none.
    fn own(&self, paths: &[RepoPath]) -> (Option<Vec<RepoPath>>, Vec<RepoPath>) {
        let is_own = |path: &RepoPath| self.subject.changed.as_ref().is_some_and(|changed| changed.contains(path));
        let (own, others): (Vec<_>, Vec<_>) = paths.iter().cloned().partition(is_own);
        (Some(own).filter(|own| !own.is_empty() && !others.is_empty()), others)
    }

    /// Returns the tests that the agent may take for this command, and how they differ from it.
    fn other_line(&self, facts: &Facts) -> Value {
        let other = self.taken_for_it(facts);
        let differs = other.as_ref().and_then(|line| command_difference(line, &self.command.run));
        let part = other.as_ref().and_then(|line| command_line::chosen_part(line));
        context! { other, differs, part }
    }

    /// Returns the tests that were run last and passed, if they are not a run of this command: the agent may take them
    /// for it.
    fn taken_for_it(&self, facts: &Facts) -> Option<String> {
        let in_turn = facts.story.turn().iter().rev().find_map(|step| match &step.deed {
            Deed::Ran(ran) if ran.kinds.iter().any(|kind| kind == "test") => Some(ran),
            _ => None,
        });
        let line = match in_turn {
            Some(ran) => {
                Some(&ran.line).filter(|_| ran.declared.is_none() && ran.result == Some(CheckOutcome::Pass))?
            }
            None => &facts.other_runs.iter().find(|run| Some(&run.tree) == self.subject.tree.as_ref())?.line,
        };
        let other = line.trim() != self.command.run.trim();
        (other && self.alone && self.params.counts).then(|| plain(line))
    }

    /// Returns a finding if the newest run began on this commit, with other files in the working tree: another run in
    /// the same place would prove as little about the commit.
    fn beside(&self, counted: &[&RunFact]) -> Option<Finding> {
        let here = self.subject.role == SubjectKind::Commit && self.subject.checked_out != Some(false);
        let its = |run: &&&RunFact| here && run.head.is_some() && run.head == self.subject.commit;
        let run = counted.first().filter(its).filter(|run| run.is_stable(&self.command.inputs))?;
        let mut paths = self.disagreement(run).filter(|paths| !paths.is_empty())?;
        paths.retain(|path| !run.opaque.contains(path) && !run.absent.contains(path));
        let not_added = paths.iter().all(|path| run.untracked.contains(path));
        if paths.is_empty() || run.shows() == RunProof::Pass && not_added {
            return None;
        }
        let failed = (run.shows() == RunProof::Fail).then(|| outcome(run));
        let untracked = is_any_untracked(run, &paths);
        // Another run would write a lock file again.
        let tool = if let [path] = &paths[..] { rewriter(path).filter(|known| !known.manifest) } else { None };
        let tool = tool.filter(|_| !untracked && failed.is_none()).map(|known| known.tool.as_str());
        let words = context! { paths => list(&paths), untracked, failed, tool, file => shell_words(&paths), base => paths.first().map(|path| String::from_utf8_lossy(base_name(path)).into_owned()) };
        Some(self.finding(Answer::Fail, "beside", paths, vec![run.id.clone()], &words))
    }

    /// Returns a finding if this is a commit, and the command passed on the uncommitted content of the working tree.
    pub(super) fn uncommitted(&self, counted: &[&RunFact], facts: &Facts) -> Option<Finding> {
        let beside = facts.subjects.iter().find(|other| other.role == SubjectKind::WorkingTree)?;
        if self.subject.role != SubjectKind::Commit {
            return None;
        }
        let case = EvidenceCase { subject: beside, ..*self };
        let counts = |run: &&RunFact| run.grade >= self.gate.min_grade && case.is_of_this_content(run);
        let there = case.runs().iter().find(counts).filter(|run| run.shows() == RunProof::Pass)?;
        // The same run, as it compares with the commit: what differs is what the commit lacks.
        let paths = self.disagreement(counted.iter().find(|run| run.id == there.id)?)?;
        if paths.is_empty() {
            return None;
        }
        // Only where the commit is known to fail without them is it sure that they belong to it.
        let newest = counted.iter().find(|run| self.is_of_this_content(run));
        let failed = newest.is_some_and(|run| run.shows() == RunProof::Fail);
        let untracked = is_any_untracked(there, &paths);
        let shell_paths = if failed && !untracked { shell_words(&paths) } else { String::new() };
        let words = context! { paths => list(&paths), untracked, failed, shell_paths };
        Some(self.finding(Answer::Fail, "uncommitted", paths, vec![there.id.clone()], &words))
    }
}

/// Returns the reason why a run proves nothing, and the commands that cure it, if these stand at its end.
fn reason_and_cure(why: &str) -> (&str, Option<&str>) {
    let is_line = |end: &str| end.contains(" && gate run ") && !end.contains(", then");
    match why.rsplit_once(": ") {
        Some((reason, cure)) if is_line(cure) => (reason, Some(cure)),
        _ => (why, None),
    }
}
