//! The meaning of an exit status: all possible ways of a line are followed at once.
//!
//! At the end of [`Machine`]'s work the states with status 0 show what a 0 implies. If the states become too many,
//! nothing is implied.

use super::interpreter::Machine;
use super::program::{LeafId, Program};

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
    const ANY: Self = Self { not_run: true, succeeded: true, failed: true };

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

    fn add(&mut self, outcome: CommandOutcome) {
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

/// The outcomes of one command that the status of the line implies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// The outcomes if the line ends with 0.
    pub on_zero: Outcomes,
    /// The outcomes if it ends with another status.
    pub on_failure: Outcomes,
    /// `true` if every way was followed. If not, both are [`Outcomes`] in which anything is possible.
    pub complete: bool,
}

impl Fate {
    /// Returns `true` if a status of 0 implies that the command ran and succeeded.
    pub fn decides(&self) -> bool {
        self.complete && self.on_zero.only(CommandOutcome::Succeeded)
    }

    /// Returns the outcomes that are possible with this recorded status; `None`: not recorded.
    pub fn given(&self, status: Option<i32>) -> Outcomes {
        match status {
            Some(0) => self.on_zero,
            Some(_) => self.on_failure,
            None => self.on_zero.or(self.on_failure),
        }
    }
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

/// Returns the outcomes of one command that the status of the line implies.
pub fn fate(program: &Program, leaf: LeafId) -> Fate {
    fate_seen(program, leaf, &[])
}

/// Returns the outcomes as [`fate`] does, for a line of which more than its status was seen.
pub fn fate_seen(program: &Program, leaf: LeafId, seen: &[ObservedEnding]) -> Fate {
    let unknown = Fate { on_zero: Outcomes::ANY, on_failure: Outcomes::ANY, complete: false };
    if program.truncated {
        return unknown;
    }
    let (mut on_zero, mut on_failure) = (Outcomes::default(), Outcomes::default());
    // A status implies what it implies in every shell that may have run the line.
    for shell in &program.shells {
        let mut machine = Machine::new(program, *shell, Some(leaf), seen, false);
        let ends = machine.run_to_end();
        if machine.overflow() {
            return unknown;
        }
        for end in ends {
            let wanted = |(outcome, seen): (&CommandOutcome, &ObservedEnding)| seen.was.has(*outcome);
            if !end.watched.iter().zip(seen).all(wanted) {
                continue;
            }
            if end.zero {
                on_zero.add(end.target);
            } else {
                on_failure.add(end.target);
            }
        }
    }
    Fate { on_zero, on_failure, complete: !program.shells.is_empty() }
}

/// Returns the commands whose status can be that of the whole line: with a 0, and with a failure.
pub fn deciders(program: &Program) -> (Vec<LeafId>, Vec<LeafId>) {
    let (mut zero, mut failure) = (Vec::new(), Vec::new());
    for shell in &program.shells {
        let mut machine = Machine::new(program, *shell, None, &[], true);
        let ends = machine.run_to_end();
        if machine.overflow() {
            return (Vec::new(), Vec::new());
        }
        for end in ends {
            if let Some(origin) = end.origin {
                if end.zero { &mut zero } else { &mut failure }.push(origin);
            }
        }
    }
    for list in [&mut zero, &mut failure] {
        list.sort_unstable();
        list.dedup();
    }
    (zero, failure)
}
