//! The exit codes of `gate`, a public contract.

use std::process::ExitCode;

/// The exit status of `gate` for its caller.
///
/// 1, 2, 126, 127 and 101 are not used: shells, agent clients and panics use them. Hook adapters translate these codes
/// for each client; `gate run` returns its child's own status instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: judged, and nothing blocks.
    Pass,
    /// 10: blocked, and the caller can clear it.
    Blocked,
    /// 11: blocked, and only a person can continue.
    NeedsHuman,
    /// 12: could not be judged.
    CannotJudge,
    /// 13: nothing fails, and the request is about a failure.
    NothingFails,
    /// 64: the command line is invalid, or there is no repository.
    Usage,
    /// 65: an input (policy, payload, log) is malformed.
    BadInput,
    /// 70: an error in `gate` itself.
    Internal,
}

impl Exit {
    /// Returns the exit code of the process.
    pub const fn code(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Blocked => 10,
            Self::NeedsHuman => 11,
            Self::CannotJudge => 12,
            Self::NothingFails => 13,
            Self::Usage => 64,
            Self::BadInput => 65,
            Self::Internal => 70,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
