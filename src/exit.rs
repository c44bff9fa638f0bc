//! The exit codes of `gate`, a public contract.

use std::process::ExitCode;

/// What a finished `gate` tells its caller.
///
/// 1, 2, 126, 127 and 101 are left alone: shells, agent clients and panics use them. Hook adapters translate
/// these codes into what each client expects; `gate run` returns its child's own status instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: judged, and nothing blocks.
    Pass,
    /// 10: blocked, and the caller can clear it.
    Blocked,
    /// 11: blocked, and only a person can go on.
    NeedsHuman,
    /// 12: could not be judged.
    CannotJudge,
    /// 13: nothing fails, and what was asked for is about a failure.
    NothingFails,
    /// 64: the command line makes no sense, or there is no repository.
    Usage,
    /// 65: an input (policy, payload, log) is malformed.
    BadInput,
    /// 70: our own fault.
    Internal,
}

impl Exit {
    /// The number the process ends with.
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
