//! The known part of a run's output.

use crate::shell_kind::Shell;

/// The known part of a run's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKnowledge {
    /// All of it, up to its end, of a line that `gate` gave to `sh`: a missing line was not printed. The start of a
    /// long output may be cut off.
    ToItsEnd,
    /// The recorded output of a line that this shell ran (`None` if it is unknown).
    AsTold(Option<Shell>),
}
