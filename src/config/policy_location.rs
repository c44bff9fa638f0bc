//! Chooses the `gate.toml` that counts, and the notes if several differ.
//!
//! The branch that the work left from decides, so that a branch cannot soften the policy it is judged by. A branch
//! whose base has no policy brings its own, and an uncommitted one counts only if no commit has any. While the policy
//! of the base cannot be read, only the change that repairs it is judged, by the last policy that could be read.

use std::fmt;

use super::{CheckParams, ConfigError, FILE, PolicyFiles, defaults, read_files};
use crate::oid::Oid;
use crate::policy::{Policy, PolicySource};

/// Reads the files of the policy from some place; `None` if that has no `gate.toml`.
pub type ReadFile<'a, E> = &'a dyn Fn() -> Result<Option<PolicyFiles>, E>;

/// Reads the earlier versions of the policy, each with the commit that has it.
pub type ReadVersions<'a, E> = &'a dyn Fn() -> Result<Vec<(Oid, PolicyFiles)>, E>;

/// The possible places of `gate.toml`. A place that does not exist, or must not be read, is `None`.
pub struct PolicyLocations<'a, E> {
    /// The merge base with the target branch, and the function that reads its file.
    pub base: Option<(Oid, ReadFile<'a, E>)>,
    /// The judged commit, and the function that reads its file.
    pub judged: Option<(Oid, ReadFile<'a, E>)>,
    /// The function that reads the file of the working tree.
    pub working_tree: Option<ReadFile<'a, E>>,
    /// The function that reads the earlier versions of the base's file, the latest first: those on the first-parent
    /// history.
    pub earlier: Option<ReadVersions<'a, E>>,
}

/// The policy that counts.
#[derive(Clone, Debug)]
pub struct Located {
    /// The policy, which knows where it comes from.
    pub policy: Policy,
    /// The notes for the verdict about the choice.
    pub notes: Vec<PolicyNote>,
}

/// A policy could not be had.
#[derive(Debug, thiserror::Error)]
pub enum LocateError<E> {
    /// The file that counts is wrong.
    #[error("{0}")]
    Config(ConfigError),
    /// The judged change makes a policy unreadable that could be read before.
    #[error("{0}")]
    BrokenByChange(ConfigError),
    /// The policy of the base cannot be read, and the judged change does not repair it.
    #[error("{0}")]
    BaseBroken(ConfigError),
    /// A file could not be read.
    #[error("cannot read {FILE}: {0}")]
    Read(E),
}

/// Something about the choice of a policy that a reader of the verdict should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyNote {
    /// The judged range changes the policy.
    Changed {
        /// The commit whose policy applies.
        base: Oid,
    },
    /// The judged range deletes the policy.
    Removed {
        /// The commit whose policy applies.
        base: Oid,
    },
    /// The merge base has a policy that cannot be read, and the judged commit repairs it.
    Repaired {
        /// The commit whose policy applies: the last one that could be read, or the judged one where none ever could.
        applies: Oid,
        /// The error in the policy of the base.
        error: ConfigError,
    },
    /// Only the working tree has a policy.
    Uncommitted,
    /// The working tree has another policy than the commit that counts.
    EditedHere {
        /// The commit whose policy applies.
        applies: Oid,
    },
}

impl fmt::Display for PolicyNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { base } => {
                write!(f, "the policy changed in these commits; the version of {} still applies", base.short())
            }
            Self::Removed { base } => {
                write!(f, "{FILE} was removed in these commits; the version of {} still applies", base.short())
            }
            Self::Repaired { applies, error } => write!(f, "{error} (the policy of {} applies)", applies.short()),
            Self::Uncommitted => write!(f, "{FILE} is not committed yet: the one in the working tree applies"),
            Self::EditedHere { applies } => {
                write!(f, "{FILE} differs in the working tree: the one of {} applies", applies.short())
            }
        }
    }
}

/// Finds the policy that counts: the merge base's if it has one, else the judged commit's, else the working tree's,
/// else the defaults. A change that makes a readable policy unreadable is an error, and so is a base whose policy cannot be
/// read, unless the change repairs it.
pub fn locate<E>(places: &PolicyLocations<'_, E>, check: CheckParams<'_>) -> Result<Located, LocateError<E>> {
    let parse = |files: &PolicyFiles, at: &Oid| {
        read_files(&format!("{}:", at.short()), files, PolicySource::Commit(at.clone()), check)
    };
    let file = |read: ReadFile<'_, E>| read().map_err(LocateError::Read);

    let base = match &places.base {
        Some((oid, read)) => file(*read)?.map(|files| (oid, files)),
        None => None,
    };
    let same = places.base.as_ref().map(|(oid, _)| oid) == places.judged.as_ref().map(|(oid, _)| oid);
    let judged = match &places.judged {
        Some((oid, read)) if !same => Some((oid, file(*read)?)),
        _ => None,
    };
    let (applies, files, mut located) = match (base, judged) {
        (Some((oid, files)), judged) => match parse(&files, oid) {
            Ok(policy) => {
                let note = judged.map(|(_, other)| compare(&policy, oid, &files, other, check)).transpose();
                let notes = note.map_err(LocateError::BrokenByChange)?.flatten().into_iter().collect();
                (oid.clone(), files, Located { policy, notes })
            }
            Err(error) => match judged {
                Some((judged, Some(other))) if !error.newer && other != files => {
                    let repaired = parse(&other, judged).map_err(LocateError::BrokenByChange)?;
                    let earlier = places.earlier.map(|read| read().map_err(LocateError::Read)).transpose()?;
                    let mut earlier = earlier.into_iter().flatten();
                    let readable = earlier.find_map(|(at, files)| Some((parse(&files, &at).ok()?, at, files)));
                    let (policy, applies, files) = readable.unwrap_or_else(|| (repaired, judged.clone(), other));
                    let notes = vec![PolicyNote::Repaired { applies: applies.clone(), error }];
                    (applies, files, Located { policy, notes })
                }
                _ if error.newer => return Err(LocateError::Config(error)),
                _ => return Err(LocateError::BaseBroken(error)),
            },
        },
        (None, Some((oid, Some(files)))) => {
            let policy = parse(&files, oid).map_err(LocateError::Config)?;
            (oid.clone(), files, Located { policy, notes: Vec::new() })
        }
        (None, _) => {
            let Some(files) = places.working_tree.map(file).transpose()?.flatten() else {
                return Ok(Located { policy: defaults(check), notes: Vec::new() });
            };
            let policy = read_files("", &files, PolicySource::WorkingTree, check).map_err(LocateError::Config)?;
            return Ok(Located { policy, notes: vec![PolicyNote::Uncommitted] });
        }
    };
    // What is here counts for nothing then: that it cannot be read is no more than that it differs.
    let differs = |here: PolicyFiles| {
        here != files
            && read_files("", &here, PolicySource::WorkingTree, check)
                .map_or(true, |here| here.digest != located.policy.digest)
    };
    if located.notes.is_empty()
        && places.working_tree.is_some_and(|here| here().map_or(true, |here| here.is_some_and(differs)))
    {
        located.notes.push(PolicyNote::EditedHere { applies });
    }
    Ok(located)
}

/// Compares the judged commit's file with the policy of the merge base.
fn compare(
    policy: &Policy,
    base: &Oid,
    old: &PolicyFiles,
    new: Option<PolicyFiles>,
    check: CheckParams<'_>,
) -> Result<Option<PolicyNote>, ConfigError> {
    let base = base.clone();
    let Some(new) = new else { return Ok(Some(PolicyNote::Removed { base })) };
    if new == *old {
        return Ok(None);
    }
    let new = read_files("", &new, PolicySource::WorkingTree, check)?;
    Ok((new.digest != policy.digest).then_some(PolicyNote::Changed { base }))
}
