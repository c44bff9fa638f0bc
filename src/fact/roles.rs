//! The roles in which a change is made, and what is about to be done in them.

use serde::{Deserialize, Serialize};

use crate::commit::trailers;
use crate::policy::Roles;
use crate::repo_path::RepoPath;

/// The trailer of a commit that names a role.
const TRAILER: &str = "Role";

/// The variable that names the role of a process.
const VARIABLE: &str = "GATE_ROLE";

/// A role that is named for a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RoleClaim {
    /// The name of the role.
    pub role: String,
    /// The place where it is named.
    pub from: RoleSource,
}

/// The place where a role is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RoleSource {
    /// The type of the client's sub-agent.
    SubAgent,
    /// The variable `GATE_ROLE`.
    Variable,
    /// The first part of the branch's name.
    Branch,
    /// A trailer of the commit.
    Trailer,
}

impl RoleSource {
    /// Returns the words for a sentence.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SubAgent => "the sub-agent",
            Self::Variable => VARIABLE,
            Self::Branch => "the branch",
            Self::Trailer => "a trailer",
        }
    }
}

/// What a tool call is about to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlannedAct {
    /// The files of the repository that it writes.
    pub writes: Vec<RepoPath>,
    /// The commands that it runs.
    pub runs: Vec<String>,
}

impl PlannedAct {
    /// Returns `true` if no role matters for it.
    pub const fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.runs.is_empty()
    }
}

/// Returns the role that `GATE_ROLE` names. It counts even if the policy does not know it.
pub fn of_process() -> Option<RoleClaim> {
    let role = std::env::var(VARIABLE).ok().filter(|role| !role.trim().is_empty())?;
    Some(RoleClaim { role: role.trim().to_owned(), from: RoleSource::Variable })
}

/// Returns the role that the first part of a branch names, if the policy knows it: `tester/coverage`.
pub fn of_branch(roles: &Roles, branch: &str) -> Option<RoleClaim> {
    let (first, _) = branch.split_once('/')?;
    known(roles, first, RoleSource::Branch)
}

/// Returns the role of a type of sub-agents, if the policy knows it.
pub fn of_subagent(roles: &Roles, kind: &str) -> Option<RoleClaim> {
    known(roles, kind, RoleSource::SubAgent)
}

fn known(roles: &Roles, name: &str, from: RoleSource) -> Option<RoleClaim> {
    roles.named(name).map(|role| RoleClaim { role: role.name.clone(), from })
}

/// Returns the roles that trailers of a message name.
pub fn of_message(message: &str) -> Vec<RoleClaim> {
    let (_, trailers) = trailers::split(message.split_once('\n').map_or("", |(_, rest)| rest));
    let named = trailers.into_iter().filter(|trailer| trailer.is(TRAILER));
    named.map(|trailer| RoleClaim { role: trailer.value.trim().to_owned(), from: RoleSource::Trailer }).collect()
}
