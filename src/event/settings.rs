//! The settings under which a session works: its role, and the strategies that are in force.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The settings of a session at its start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SessionSettings {
    /// The role of the agent, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The values of the declared strategies. A switch is 0 or 1.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub strategies: BTreeMap<String, f64>,
}
