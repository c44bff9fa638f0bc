//! The rules of a policy for decisions: the `params` of a gate of kind `decisions`.

use serde::Deserialize;

use crate::globs::Globs;
use crate::policy::{ParamError, read_params};

/// The kind of the gates that guard decisions.
pub const KIND: &str = "decisions";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    #[serde(default)]
    adr: Vec<String>,
}

/// The rules of one gate.
#[derive(Clone, Debug)]
pub struct DecisionRules {
    /// The files that are architecture decision records.
    pub adr: Globs,
    /// The same, as written.
    pub globs: Vec<String>,
}

impl DecisionRules {
    /// Reads the `params` of a gate.
    pub fn read(params: &toml::Table) -> Result<Self, ParamError> {
        let params: Params = read_params(params)?;
        let adr = Globs::new(&params.adr)
            .map_err(|error| ParamError { key: Some("adr".to_owned()), what: error.to_string() })?;
        Ok(Self { adr, globs: params.adr })
    }
}
