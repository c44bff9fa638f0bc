//! Which `gate.toml` counts, and what is to be said when several differ.
//!
//! The branch that the work left from decides, so that a branch cannot soften the policy it is judged by. A branch
//! whose base has no policy brings its own, and an uncommitted one counts only where no commit has any.

use std::fmt;

use super::{CheckParams, ConfigError, FILE, defaults, read};
use crate::oid::Oid;
use crate::policy::{Policy, PolicySource};

/// Reads `gate.toml` somewhere; `None` where there is none.
pub type ReadFile<'a, E> = &'a dyn Fn() -> Result<Option<Vec<u8>>, E>;

/// Where a `gate.toml` may lie. What does not exist, or must not be looked at, is `None`.
pub struct Places<'a, E> {
    /// The merge base with the target branch, and how to read its file.
    pub base: Option<(Oid, ReadFile<'a, E>)>,
    /// The judged commit, and how to read its file.
    pub judged: Option<(Oid, ReadFile<'a, E>)>,
    /// How to read the file of the working tree.
    pub working_tree: Option<ReadFile<'a, E>>,
}

/// The policy that counts.
#[derive(Clone, Debug)]
pub struct Located {
    /// The policy, which knows where it comes from.
    pub policy: Policy,
    /// What a verdict should say about its choice.
    pub notes: Vec<Note>,
}

/// A policy could not be had.
#[derive(Debug, thiserror::Error)]
pub enum LocateError<E> {
    /// The file that counts is wrong.
    #[error("{0}")]
    Config(ConfigError),
    /// A file could not be read.
    #[error("cannot read {FILE}: {0}")]
    Read(E),
}

/// Something about the choice of a policy that a reader of the verdict should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
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
    /// The judged commit has a policy that cannot be read; once merged it would end every judgement.
    Broken {
        /// The commit whose policy applies.
        base: Oid,
        /// What is wrong.
        error: ConfigError,
    },
    /// The merge base has a policy that cannot be read, so that of the judged commit applies: otherwise no branch
    /// could ever mend it.
    BaseBroken {
        /// The commit whose policy applies.
        judged: Oid,
        /// What is wrong.
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

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { base } => {
                write!(f, "policy changed in the judged range: the one of {} applies", base.short())
            }
            Self::Removed { base } => {
                write!(f, "{FILE} removed in the judged range: the one of {} applies", base.short())
            }
            Self::Broken { base, error } => write!(f, "{error} (the policy of {} applies)", base.short()),
            Self::BaseBroken { judged, error } => write!(f, "{error} (the policy of {} applies)", judged.short()),
            Self::Uncommitted => write!(f, "{FILE} is not committed: it counts until a commit has one"),
            Self::EditedHere { applies } => {
                write!(f, "{FILE} differs in the working tree: the one of {} applies", applies.short())
            }
        }
    }
}

/// Finds the policy that counts: the merge base's if it has one, else the judged commit's, else the working tree's,
/// else the defaults.
pub fn locate<E>(places: &Places<'_, E>, check: CheckParams<'_>) -> Result<Located, LocateError<E>> {
    let parse = |bytes: &[u8], at: &Oid| {
        read(&format!("{}:{FILE}", at.short()), bytes, PolicySource::Commit(at.clone()), check)
    };
    let file = |read: ReadFile<'_, E>| read().map_err(LocateError::Read);

    let base = match &places.base {
        Some((oid, read)) => file(*read)?.map(|bytes| (oid, bytes)),
        None => None,
    };
    let same = places.base.as_ref().map(|(oid, _)| oid) == places.judged.as_ref().map(|(oid, _)| oid);
    let judged = match &places.judged {
        Some((oid, read)) if !same => Some((oid, file(*read)?)),
        _ => None,
    };
    let (applies, bytes, mut located) = match (base, judged) {
        (Some((oid, bytes)), judged) => match parse(&bytes, oid) {
            Ok(policy) => {
                let notes =
                    judged.and_then(|(_, other)| compare(&policy, oid, &bytes, other, check)).into_iter().collect();
                (oid, bytes, Located { policy, notes })
            }
            Err(error) => match judged {
                Some((judged, Some(other))) if !error.newer && other != bytes => {
                    let policy = parse(&other, judged).map_err(LocateError::Config)?;
                    let notes = vec![Note::BaseBroken { judged: judged.clone(), error }];
                    (judged, other, Located { policy, notes })
                }
                _ => return Err(LocateError::Config(error)),
            },
        },
        (None, Some((oid, Some(bytes)))) => {
            let policy = parse(&bytes, oid).map_err(LocateError::Config)?;
            (oid, bytes, Located { policy, notes: Vec::new() })
        }
        (None, _) => {
            let Some(bytes) = places.working_tree.map(file).transpose()?.flatten() else {
                return Ok(Located { policy: defaults(check), notes: Vec::new() });
            };
            let policy = read(FILE, &bytes, PolicySource::WorkingTree, check).map_err(LocateError::Config)?;
            return Ok(Located { policy, notes: vec![Note::Uncommitted] });
        }
    };
    // What is here counts for nothing then: that it cannot be read is no more than that it differs.
    let differs = |here: Vec<u8>| {
        here != bytes
            && read(FILE, &here, PolicySource::WorkingTree, check)
                .map_or(true, |here| here.digest != located.policy.digest)
    };
    if located.notes.is_empty()
        && places.working_tree.is_some_and(|here| here().map_or(true, |here| here.is_some_and(differs)))
    {
        located.notes.push(Note::EditedHere { applies: applies.clone() });
    }
    Ok(located)
}

/// What the judged commit's file does to the policy of the merge base.
fn compare(policy: &Policy, base: &Oid, old: &[u8], new: Option<Vec<u8>>, check: CheckParams<'_>) -> Option<Note> {
    let base = base.clone();
    let Some(new) = new else { return Some(Note::Removed { base }) };
    if new == old {
        return None;
    }
    match read(FILE, &new, PolicySource::WorkingTree, check) {
        Ok(new) => (new.digest != policy.digest).then_some(Note::Changed { base }),
        Err(error) => Some(Note::Broken { base, error }),
    }
}
