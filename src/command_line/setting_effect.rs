//! The ways in which a setting or a variable changes the meaning of a check.

use crate::runner::ExitMeaning;

/// The effect of a variable on a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Narrowed {
    /// The variable, and the part of its value that has the effect.
    pub(super) by: String,
    /// The effect.
    pub(super) how: How,
}

/// The effects of a variable on the meaning of status 0 of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// Only a part of the tests is executed.
    Part,
    /// Nothing is executed.
    Nothing,
    /// The check succeeds with any finding.
    Masked,
    /// The check succeeds with any finding, but prints what it found.
    Printed,
}

impl Narrowed {
    /// Narrows the meaning of status 0.
    pub(super) fn exit(narrowed: Option<&Self>, exit: ExitMeaning) -> ExitMeaning {
        match narrowed {
            Some(Self { how: How::Masked | How::Printed | How::Nothing, .. }) => ExitMeaning::ZeroOnFindings,
            _ => exit,
        }
    }
}
