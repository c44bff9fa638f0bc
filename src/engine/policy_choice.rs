//! Selects the policy for a judgement, and reports the choice.

use std::collections::BTreeSet;

use super::{Workplace, policy_files};
use crate::collect::merge_base::{Lineage, Target};
use crate::collect::{self, BaseOf, contracts};
use crate::config::{self, LocateError, PolicyFiles, PolicyLocations, ReadFile};
use crate::exit::Exit;
use crate::fact::subject::Base;
use crate::fact::{Note, policy_relaxation};
use crate::failure::Failure;
use crate::gates;
use crate::git::GitError;
use crate::oid::Oid;
use crate::policy::{Policy, PolicySource};
use crate::repo_path::RepoPath;

/// The maximum number of earlier versions of the policy that are searched for one that can be read.
const MAX_VERSIONS: usize = 100;

impl Workplace {
    /// Returns the policy for a commit (`None` if nothing is committed), and notes about the choice.
    pub fn policy(&self, judged: Option<&Lineage>) -> Result<(Policy, Vec<Note>), Failure> {
        let target = judged.and_then(|lineage| lineage.target.as_ref());
        self.policy_of_push(judged.as_slice(), target)
    }

    /// Returns the policy for the commit that is checked out.
    pub fn policy_of_head(&self) -> Result<Policy, Failure> {
        let head = self.repo.head().map_err(Failure::with(Exit::CannotJudge))?;
        let lineage = self.lineage(head.commit.as_ref()).map_err(Failure::with(Exit::CannotJudge))?;
        Ok(self.policy(lineage.as_ref())?.0)
    }

    /// Returns the lineage of a commit, if there is one.
    pub fn lineage(&self, commit: Option<&Oid>) -> Result<Option<Lineage>, GitError> {
        commit.map(|commit| collect::lineage(&self.repo, commit, BaseOf::AnyRemote)).transpose()
    }

    /// Returns the one policy for everything that is pushed together: that of the merge base, or that of `target`, the
    /// tip of the default branch, if there are several merge bases or if the merge base has none. A branch that is
    /// pushed with others, or begins before there was a policy, cannot bring its own.
    pub fn policy_of_push(&self, judged: &[&Lineage], target: Option<&Target>) -> Result<(Policy, Vec<Note>), Failure> {
        let of = |commit: &Oid| {
            policy_files::at(&self.repo, commit)
                .map_err(|error| Failure::new(Exit::CannotJudge, format!("{} cannot be read: {error}", config::FILE)))
        };
        let here = || self.repo.root().map_or(Ok(None), policy_files::here);
        let bases: BTreeSet<&Oid> = judged
            .iter()
            .filter_map(|lineage| match &lineage.base {
                Base::MergeBase { commit, .. } => Some(commit),
                Base::Nothing | Base::Unknown(_) => None,
            })
            .collect();
        let all_have = judged.iter().all(|lineage| matches!(lineage.base, Base::MergeBase { .. }));
        let shared = bases.first().copied().filter(|_| all_have && bases.len() == 1);
        let has_policy = |commit: &&Oid| !matches!(of(commit), Ok(None));
        let base = shared.into_iter().chain(target.map(|target| &target.tip)).find(has_policy).or(shared);
        // Where the policy is not of the merge base, a commit without one has not taken it away.
        let own = |lineage: &&Lineage| base == shared || !matches!(of(&lineage.commit), Ok(None));
        let judged = judged.first().copied().filter(own);
        let of_base = || base.map_or(Ok(None), of);
        let of_judged = || judged.map_or(Ok(None), |lineage| of(&lineage.commit));
        let earlier = || base.map_or(Ok(Vec::new()), |base| self.earlier_policies(base));
        let places = PolicyLocations {
            base: base.map(|base| (base.clone(), &of_base as ReadFile<'_, Failure>)),
            judged: judged.map(|lineage| (lineage.commit.clone(), &of_judged as ReadFile<'_, Failure>)),
            working_tree: Some(&here),
            earlier: Some(&earlier),
        };
        let located = config::locate(&places, &gates::check_params).map_err(|error| match error {
            LocateError::Config(error) => {
                Failure::new(Exit::BadInput, error.render()).at(RepoPath::from(error.path()), error.line())
            }
            LocateError::BrokenByChange(error) => Failure::new(
                Exit::BadInput,
                format!("this change makes {} unreadable: {}", error.path(), error.render()),
            )
            .at(RepoPath::from(error.path()), error.line())
            .remedy(format!("fix {} and commit it, or restore the version of the target branch", error.path())),
            LocateError::BaseBroken(error) => {
                let what = format!("nothing can be judged: the policy of the base cannot be read: {}", error.render());
                Failure::new(Exit::CannotJudge, what).at(RepoPath::from(error.path()), error.line()).remedy(format!(
                    "commit a readable {}: that change is judged by the last readable policy",
                    error.path()
                ))
            }
            LocateError::Read(failure) => failure,
        })?;
        let mut notes = Vec::new();
        for note in &located.notes {
            // The other policy, where there is one that asks for something else.
            let other = match note {
                config::PolicyNote::Changed { .. } => of_judged(),
                config::PolicyNote::EditedHere { .. } => here(),
                _ => Ok(None),
            };
            notes.push(self.policy_note(note, &located.policy, other.ok().flatten().as_ref()));
        }
        let moved = target.filter(|target| target.moved).map(|target| {
            let (branch, tip) = (&target.branch, target.tip.short());
            let remote = branch.split('/').next().unwrap_or_default();
            let text = format!(
                "refs/remotes/{branch} was moved by hand or by a fetch from elsewhere; what the remote last said, {tip}, \
                 counts; to ask it again: git fetch {remote}"
            );
            Note::new("base-moved", text)
        });
        notes.extend(moved);
        log::debug!("policy: {:?}", located.policy.source);
        let mut policy = located.policy;
        contracts::add_commands(&mut policy, &self.contracts_in_force()?);
        Ok((policy, notes))
    }

    /// Returns the policy files on the first-parent history of `base`, the latest first.
    fn earlier_policies(&self, base: &Oid) -> Result<Vec<(Oid, PolicyFiles)>, Failure> {
        let failed = |error: GitError| Failure::new(Exit::CannotJudge, error);
        let (file, runners) = (RepoPath::from(config::FILE), RepoPath::from(config::OWN_RUNNERS));
        let mut versions = Vec::new();
        for commit in self.repo.versions(base, [&file, &runners], MAX_VERSIONS).map_err(failed)? {
            if let Some(files) = policy_files::at(&self.repo, &commit).map_err(failed)? {
                versions.push((commit, files));
            }
        }
        Ok(versions)
    }

    /// Returns the note about the choice of a policy, which says whether the policy that does not apply, `other`,
    /// requires less.
    fn policy_note(&self, note: &config::PolicyNote, applies: &Policy, other: Option<&PolicyFiles>) -> Note {
        let mut text = note.to_string();
        let kind = match note {
            config::PolicyNote::Removed { .. } => "policy-removed",
            config::PolicyNote::Changed { .. } | config::PolicyNote::EditedHere { .. } => {
                let read = |files| config::read_files("", files, PolicySource::WorkingTree, &gates::check_params);
                match other.map(read) {
                    Some(Ok(other)) => {
                        let less = policy_relaxation::relaxed(applies, &other, &self.files());
                        if !less.is_empty() {
                            text = format!("{text}. The new version requires less: {}", less.join("; "));
                        }
                        if less.is_empty() { "policy-changed" } else { "policy-relaxed" }
                    }
                    Some(Err(error)) => {
                        text = format!("{error} ({text})");
                        "policy-broken"
                    }
                    None => "policy-changed",
                }
            }
            config::PolicyNote::Repaired { .. } | config::PolicyNote::Uncommitted => "policy",
        };
        let line = if let config::PolicyNote::Repaired { error, .. } = note { error.line() } else { None };
        Note::new(kind, text).at(RepoPath::from(config::FILE), line)
    }
}
