//! The reasons why a text is not understood as shell.

/// The longest line that is parsed, in bytes. Longer ones are not judged.
pub const MAX_BYTES: usize = 64 * 1024;

/// The reason why a text is not understood as shell. Such a text implies nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unparsed {
    /// Longer than [`MAX_BYTES`].
    #[error("the line is longer than {MAX_BYTES} bytes")]
    TooLong,
    /// Nested deeper than a line that a person or an agent means.
    #[error("the line is nested too deeply")]
    TooDeep,
    /// A shell would refuse it too.
    #[error("not valid shell: {0}")]
    Syntax(String),
}
