//! The outcome of one command of a line, and what was seen of it.

use crate::shell::expanded_program::LeafId;

/// The outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CommandOutcome {
    /// It was not started.
    NotRun,
    /// It ran, and every run of it succeeded.
    Succeeded,
    /// It ran, and at least one run of it failed.
    Failed,
}

/// The end of a command, as its own output or a later `echo $?` showed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ObservedEnding {
    /// The command; or the `echo` that printed a status.
    pub leaf: LeafId,
    /// The index of the value among those that the `echo` printed; 0 for the command's own end.
    pub value: usize,
    /// The possible outcomes of the command; for an `echo` that printed a status, those of the command with this
    /// status.
    pub was: Outcomes,
}

impl ObservedEnding {
    /// Returns the end of a command: success or failure.
    pub fn end(leaf: LeafId, succeeded: bool) -> Self {
        let was = if succeeded { CommandOutcome::Succeeded } else { CommandOutcome::Failed };
        Self { leaf, value: 0, was: Outcomes::one(was) }
    }

    /// Returns a command that was not started.
    pub fn not_run(leaf: LeafId) -> Self {
        Self { leaf, value: 0, was: Outcomes::one(CommandOutcome::NotRun) }
    }

    /// Returns the ending of a command that would have printed something on failure. A command that did not start
    /// prints nothing, too.
    pub fn no_failure(leaf: LeafId) -> Self {
        Self { leaf, value: 0, was: Outcomes { failed: false, ..Outcomes::ANY } }
    }
}

/// The outcomes of a command that are possible under some status of the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Outcomes {
    /// It may not have run.
    pub not_run: bool,
    /// It may have succeeded.
    pub succeeded: bool,
    /// It may have failed.
    pub failed: bool,
}

impl Outcomes {
    pub(super) const ANY: Self = Self { not_run: true, succeeded: true, failed: true };

    /// Returns this outcome and no other.
    fn one(outcome: CommandOutcome) -> Self {
        let mut one = Self::default();
        one.add(outcome);
        one
    }

    /// Returns `true` if this is the only possible outcome.
    pub fn only(self, outcome: CommandOutcome) -> bool {
        self == Self::one(outcome)
    }

    /// Returns `true` if this is one of the possible outcomes.
    pub fn has(self, outcome: CommandOutcome) -> bool {
        self.or(Self::one(outcome)) == self
    }

    /// Returns `true` if the status itself is possible.
    pub fn possible(self) -> bool {
        self.not_run || self.succeeded || self.failed
    }

    pub(super) fn add(&mut self, outcome: CommandOutcome) {
        match outcome {
            CommandOutcome::NotRun => self.not_run = true,
            CommandOutcome::Succeeded => self.succeeded = true,
            CommandOutcome::Failed => self.failed = true,
        }
    }

    /// Returns the outcomes possible under either.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            not_run: self.not_run || other.not_run,
            succeeded: self.succeeded || other.succeeded,
            failed: self.failed || other.failed,
        }
    }
}
