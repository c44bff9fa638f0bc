//! Forges: the hosts of repositories, and their answers about pull requests and checks.
//!
//! Reading never judges: an answer is passed on in the forge's words, and a missing answer is a [`Trouble`] of a known
//! kind and never an empty list. Nothing here runs if no remote is on a forge.

#[cfg(feature = "github")]
mod github;
pub mod github_actions;
pub(crate) mod repository_url;
pub(crate) mod ssh_alias;
pub(crate) mod token;

use std::time::Duration;

use crate::event::hosting::{Checks, Pull, RequiredStatus, Trouble};
use crate::oid::Oid;
use repository_url::ForgeRepository;

/// A repository on a forge. Every call uses the network, in order, and returns when it has the answer.
pub trait Forge {
    /// Returns the repository itself.
    fn repository(&self) -> Result<Repository, Trouble>;

    /// Returns the pull requests from `branch` of `repository` (`owner/name`): the open ones; if none is open, the
    /// earlier ones, newest first.
    fn pulls(&self, repository: &str, branch: &str) -> Result<Vec<Pull>, Trouble>;

    /// Returns the present state of one pull request.
    fn pull(&self, number: u64) -> Result<Pull, Trouble>;

    /// Returns the pull requests that brought or propose `commit`.
    fn pulls_with(&self, commit: &Oid) -> Result<Vec<Pull>, Trouble>;

    /// Returns everything that reports on `commit`. The parts that could not be read are in [`Checks::missing`].
    fn checks(&self, commit: &Oid, own: &OwnJob) -> Result<Checks, Trouble>;

    /// Returns the rules for a merge into `branch`.
    fn rules(&self, branch: &str) -> Result<MergeRules, Trouble>;

    /// Writes a comment to a pull request, or brings the one up to date that was written before: the one by the same
    /// writer that begins with `marker`.
    fn comment(&self, number: u64, marker: &str, text: &str) -> Result<(), Trouble>;
}

/// A repository, as its forge describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// `owner/name`, as the forge spells it now.
    pub name: String,
    /// Its default branch.
    pub default_branch: String,
    /// The repository it is a fork of, `owner/name`.
    pub parent: Option<String>,
}

/// The rules of a forge for a merge into a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeRules {
    /// The statuses that must pass.
    pub required: Vec<RequiredStatus>,
    /// `true` if not everybody can push changes to it without a review or a check.
    pub protected: bool,
}

/// The calling job, if there is one: it cannot wait for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnJob {
    /// The run of the workflow.
    pub run: Option<u64>,
    /// Its check run.
    pub check_run: Option<u64>,
    /// The name of the job in the workflow file.
    pub job: Option<String>,
}

/// The time limits for a forge.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For a connection.
    pub connect: Duration,
    /// For a whole answer.
    pub answer: Duration,
    /// The number of retries for a request.
    pub again: u32,
    /// The longest pause that a forge may request.
    pub pause: Duration,
}

impl Patience {
    /// Somebody waits at a terminal.
    pub const SHORT: Self = Self {
        connect: Duration::from_secs(3),
        answer: Duration::from_secs(8),
        again: 1,
        pause: Duration::from_secs(2),
    };
    /// A job waits.
    pub const LONG: Self = Self {
        connect: Duration::from_secs(10),
        answer: Duration::from_secs(30),
        again: 3,
        pause: Duration::from_mins(1),
    };
}

/// Connects to the forge at `place`; `None` if this program was built without forges.
///
/// # Errors
///
/// No request can be sent: a proxy that cannot be used, no certificates to trust.
#[cfg(feature = "github")]
pub fn connect(
    place: &ForgeRepository,
    token: Option<&token::Token>,
    patience: Patience,
) -> Result<Option<Box<dyn Forge>>, Trouble> {
    Ok(Some(Box::new(github::GitHub::connect(place, token, patience)?)))
}

/// Connects to the forge at `place`; `None` if this program was built without forges.
///
/// # Errors
///
/// None: it sends nothing.
#[cfg(not(feature = "github"))]
pub fn connect(_: &ForgeRepository, _: Option<&token::Token>, _: Patience) -> Result<Option<Box<dyn Forge>>, Trouble> {
    Ok(None)
}
