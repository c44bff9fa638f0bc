//! The moments of an agent's work at which gates are evaluated.

use serde::{Deserialize, Serialize};

/// The moment of a verdict. The engine is the same at each; a gate says at which it applies.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    clap::ValueEnum,
    strum::Display,
    strum::IntoStaticStr,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Moment {
    /// A prompt was submitted.
    #[default]
    Prompt,
    /// An agent is about to edit a file, or has edited it.
    Write,
    /// A commit is being made.
    Commit,
    /// Refs are being pushed: `pre-push`, or `pre-receive` on a server.
    Push,
    /// Somebody is about to claim that the work is done: `gate check`, or a client's stop hook.
    Stop,
    /// A job of the forge judges a pull request.
    Ci,
    /// The session is over.
    After,
}

as_str!(Moment);
