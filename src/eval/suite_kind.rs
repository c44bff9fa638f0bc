//! The suites by name.

use serde::{Deserialize, Serialize};

/// A suite of cases.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum, strum::IntoStaticStr,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Suite {
    /// The end of a session: is its task complete?
    Judge,
    /// The state of a session: is it stuck?
    Stuck,
    /// The next step after the context of a session was replaced by a summary
    Compaction,
    /// The score of an agent, from 0 to 5
    Score,
    /// The cases of this project, in .gate/cases
    Project,
}

as_str!(Suite);

impl Suite {
    /// The suites that are part of the program.
    pub const BUILT_IN: [Self; 4] = [Self::Judge, Self::Stuck, Self::Compaction, Self::Score];
}
