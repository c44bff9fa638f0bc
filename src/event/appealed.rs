//! Verdicts that a reader contradicted.

use serde::{Deserialize, Serialize};

/// A verdict was written down as a case, because somebody thinks that it is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Appealed {
    /// The id of the verdict.
    pub verdict: String,
    /// `true` if the verdict refused the work.
    pub blocked: bool,
}
