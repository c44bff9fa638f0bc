//! The reasons why a contract cannot be read.

use super::wordings::yaml_remedy;

/// The reason why a contract cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.what)]
pub struct ContractError {
    /// A stable word: `syntax`, `empty`, `duplicate_key`, `unknown_key`, `unknown_condition`, `tag`, `alias`,
    /// `outside`, `pattern`, `glob`, `form`, `too_large`, `binary`.
    pub kind: &'static str,
    /// The line, from 1.
    pub line: usize,
    /// The problem.
    pub what: String,
}

/// The beginning of an error about text that is not TOML.
pub(super) const NOT_TOML: &str = "not TOML";

impl ContractError {
    pub(super) fn new(kind: &'static str, line: usize, what: impl Into<String>) -> Self {
        Self { kind, line, what: what.into() }
    }

    /// Returns the error for a link, a folder or a submodule in the place of a contract.
    pub fn not_a_file() -> Self {
        Self::new("form", 1, "this is not a regular file")
    }

    /// Returns the remedy.
    pub fn remedy(&self) -> &'static str {
        match self.kind {
            "syntax" if self.what.starts_with(NOT_TOML) => {
                "put texts in quotes (task = \"split a.rs\") and lists in brackets"
            }
            "syntax" => {
                yaml_remedy(&self.what).unwrap_or("put texts with a `:`, `*`, `&`, `!` or `#` in them in quotes")
            }
            "empty" => "write a condition, such as `- cargo test: all pass`; gate contract new prints a template",
            "duplicate_key" => "put all conditions below one key",
            "unknown_key" => "the keys are task, preconditions and postconditions",
            "unknown_condition" => {
                "conditions are: COMMAND: success · FILE: exists, N lines · FILE: deleted · FOLDER/: exists, N files · \
                 max file GLOB: ≤N lines · all original functions: preserved · new dependencies: none · \
                 changed paths: only GLOBS · pattern TEXT in GLOB: absent · FILE: equals FILE · import map: verifies FILE"
            }
            "tag" | "alias" => "write the value out, or put it in quotes",
            "pattern" => "write a backslash before each . ( ) [ ] { } * + ? or | that stands for itself",
            "glob" => {
                "name one file or folder; globs belong into: max file GLOB: ≤N lines · pattern TEXT in GLOB: absent · \
                 changed paths: only GLOBS; [[] stands for a bracket"
            }
            "outside" => "name a path below the root of the repository",
            "too_large" | "binary" => "give the contract file: a short text file",
            _ => "gate contract new prints the form",
        }
    }
}
