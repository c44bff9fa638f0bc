//! One line of a hunk.

/// One line of a hunk, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkLine {
    /// The number in the new file, if the line is in it.
    pub number: Option<u32>,
    /// `+`, `-`, or a space.
    pub sign: char,
    /// The text.
    pub content: String,
}

impl HunkLine {
    /// Returns `true` if the change adds or removes the line.
    pub const fn is_changed(&self) -> bool {
        matches!(self.sign, '+' | '-')
    }
}
