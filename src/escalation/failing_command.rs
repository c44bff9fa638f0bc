//! The one command that shows the failure, and its result on a clean checkout.

use minijinja::context;
use serde::{Deserialize, Serialize};

use super::clean_checkout::Clean;
use super::history::{FailedRun, History};
use super::{cut, line};
use crate::oid::Oid;
use crate::templates::sentences::say;

/// The maximum length of a command line, in characters.
pub(super) const COMMAND: usize = 1000;
/// The maximum number of lines of its output in the payload.
pub(super) const SIGNATURE: usize = 6;

/// A command that fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FailingCommand {
    /// The command line, secrets removed.
    pub command: String,
    /// The directory, relative to the root; `.` for the root.
    pub directory: String,
    /// `true` if it is known to fail in the same way on a clean checkout of the content.
    pub verified: bool,
    /// The result there.
    pub on_clean_checkout: Clean,
    /// The content that was, or would be, checked out. Empty if it could not be kept.
    pub tree: String,
    /// The result in words. If it is not verified, the reason, and the command that verifies it.
    pub meaning: String,
    /// The lines that describe the failure.
    pub signature: Vec<String>,
}

/// A failure, and its result on a clean checkout of `tree`.
#[derive(Clone, Debug)]
pub struct FailureProof<'a> {
    pub failure: &'a FailedRun,
    /// The content, or `None` if it could not be kept.
    pub tree: Option<&'a Oid>,
    /// The result there.
    pub clean: Clean,
}

impl<'a> FailureProof<'a> {
    /// Returns the recorded result of `failure`.
    pub fn recorded(history: &History, failure: &'a FailedRun, tree: Option<&'a Oid>) -> Self {
        let clean = tree.map_or(Clean::Impossible, |tree| history.on_clean_checkout(failure, tree));
        Self { failure, tree, clean }
    }
}

/// Returns the command for a payload. `verify` is the command that tries it on a clean checkout.
pub(super) fn command(proof: &FailureProof<'_>, verify: &str) -> FailingCommand {
    let FailureProof { failure, tree, clean } = proof;
    let meaning = match clean {
        Clean::SameFailure => say("failing", "same_failure", &context! {}),
        Clean::OtherFailure => say("failing", "other_failure", &context! {}),
        Clean::Passes => say("failing", "passes", &context! {}),
        Clean::Unfinished => say("failing", "unfinished", &context! { verify }),
        Clean::Impossible => say("failing", "impossible", &context! {}),
        Clean::NotTried => say("failing", "not_tried", &context! { verify }),
    };
    let directory = line(&failure.dir.to_string());
    let said = failure.signature.iter().map(|said| line(said)).filter(|said| !said.is_empty());
    FailingCommand {
        command: Some(cut(&failure.line, COMMAND)).filter(|line| !line.is_empty()).unwrap_or_else(|| "?".to_owned()),
        directory: if directory.is_empty() { ".".to_owned() } else { directory },
        verified: *clean == Clean::SameFailure,
        on_clean_checkout: *clean,
        tree: tree.map(ToString::to_string).unwrap_or_default(),
        meaning: line(&meaning),
        signature: said.take(SIGNATURE).collect(),
    }
}
