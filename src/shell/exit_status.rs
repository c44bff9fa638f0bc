//! The meaning of an exit status: all possible ways of a line are followed at once.
//!
//! At the end of [`Machine`]'s work the states with status 0 show what a 0 implies. If the states become too many,
//! nothing is implied.

use super::command_outcome::{CommandOutcome, ObservedEnding, Outcomes};
use super::expanded_program::{LeafId, Program};
use super::path_walk::Machine;
use crate::shell_kind::Shell;

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

    /// Returns `true` if the command ran and succeeded, whatever the status.
    pub fn always_succeeded(&self) -> bool {
        self.complete && self.given(None).only(CommandOutcome::Succeeded)
    }

    /// Returns the outcomes that are possible with this recorded status, or `None` if it was not recorded.
    pub fn given(&self, status: Option<i32>) -> Outcomes {
        match status {
            Some(0) => self.on_zero,
            Some(_) => self.on_failure,
            None => self.on_zero.or(self.on_failure),
        }
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

/// Returns `true` if the shell itself can make the line fail, by a test or a calculation: `[ -f x ]`. A line that is too
/// complicated may.
pub fn fails_by_itself(program: &Program) -> bool {
    let by_shell = |shell: Shell| {
        let mut machine = Machine::new(program, shell, None, &[], true);
        let ends = machine.run_to_end();
        machine.overflow() || ends.iter().any(|end| !end.zero && end.origin.is_none())
    };
    program.truncated || program.shells.iter().any(|shell| by_shell(*shell))
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
