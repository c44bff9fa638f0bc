//! What was handed over when the attempts of an agent were used up, and what came back.

use serde::{Deserialize, Serialize};

use super::Ended;
use crate::oid::Oid;

/// One step of a rescue. It belongs to the session of the agent that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rescue {
    /// A packet was made for whoever is to find the way out.
    HandedOver(HandedOver),
    /// A reply to one was accepted.
    Replied(Replied),
    /// The rescue is given up: nothing is handed over any more.
    GivenUp(GivenUp),
}

/// A packet that was handed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandedOver {
    /// Its name.
    pub id: String,
    /// Which rescue attempt it is, counted from 1.
    pub attempt: u32,
    /// The content it is about.
    pub tree: Option<Oid>,
}

/// An accepted reply, as far as later attempts are held against it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replied {
    /// The packet it answers.
    pub handoff: String,
    /// Which of the allowed outputs it is.
    pub output: String,
    /// The new hypothesis; empty where the output has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hypothesis: String,
    /// What must not be tried again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_to_retry: Vec<String>,
}

/// The end of a rescue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenUp {
    /// The rescue attempt at which it was.
    pub attempt: u32,
}

/// A command that was tried on a clean checkout, where nothing of a working tree plays a part. It is about content and
/// belongs to no session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// The digest of command line and directory.
    pub key: String,
    /// The command line, secrets removed.
    pub line: String,
    /// The content that was checked out.
    pub tree: Oid,
    /// How it ended there.
    pub ended: Ended,
    /// How its output says that it failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signature: Vec<String>,
}
