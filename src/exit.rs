//! The exit codes of `gate`, a public contract.

use std::process::ExitCode;

/// The exit status of `gate` for its caller.
///
/// 1, 2, 126, 127 and 101 are not used: shells, agent clients and panics use them. Hook adapters translate these codes
/// for each client; `gate run` returns its child's own status instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: judged, and nothing blocks.
    Pass = 0,
    /// 10: blocked, and the caller can clear it.
    Blocked = 10,
    /// 11: blocked, and only a person can continue.
    NeedsHuman = 11,
    /// 12: could not be judged.
    CannotJudge = 12,
    /// 13: nothing fails, and the request is about a failure.
    NothingFails = 13,
    /// 64: the command line is invalid, or there is no repository.
    Usage = 64,
    /// 65: an input (policy, payload, log) is malformed.
    BadInput = 65,
    /// 70: an error in `gate` itself.
    Internal = 70,
}

impl Exit {
    /// Returns the exit code of the process.
    pub const fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
