//! The result of a failing command on a clean checkout.

use serde::{Deserialize, Serialize};

/// The result of a failing command on a clean checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr, strum::VariantArray)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Clean {
    /// The command fails there in the same way.
    SameFailure,
    /// The command fails there in another way: something outside of the content matters.
    OtherFailure,
    /// The command passes there: the failure is not in the content.
    Passes,
    /// The command did not end there in time.
    Unfinished,
    /// The command cannot be tried: its line holds a secret, which is not recorded, or the content cannot be checked
    /// out.
    Impossible,
    /// The command was not tried.
    NotTried,
}

as_str!(Clean);
