//! Follows all possible ways of a line at once.
//!
//! For one command of the line, the program carries the set of possible states along: the outcome of the command, `$?`,
//! `set -e` and `pipefail`, and the variables that a later `exit` or test reads.

mod pipelines;
mod single_step;
mod traps;

use std::collections::HashSet;

use super::expanded_program::{Expr, LeafId, Program, ProgramStep};
use super::live_variables::LiveVariables;
use super::shell_state::{Flow, ShellState, VariableValue};
use crate::shell::command_outcome::{CommandOutcome, ObservedEnding};
use crate::shell_kind::Shell;

/// More possible states than this are not followed.
pub(super) const MAX_STATES: usize = 400;
/// The work one question may cost, in states (of eight variables each) times steps.
const MAX_WORK: usize = 40_000;
/// More variables that can decide a status than this are not followed.
const MAX_NAMES: usize = 64;

pub(super) struct Machine<'a> {
    program: &'a Program,
    pub(super) names: LiveVariables,
    seen: &'a [ObservedEnding],
    shell: Shell,
    traps: Vec<&'a ProgramStep>,
    target: Option<LeafId>,
    origins: bool,
    pub(super) overflow: bool,
    work: usize,
}

impl<'a> Machine<'a> {
    pub(super) fn new(
        program: &'a Program,
        shell: Shell,
        target: Option<LeafId>,
        seen: &'a [ObservedEnding],
        origins: bool,
    ) -> Self {
        let names = LiveVariables::of(program, seen.iter().map(|seen| seen.leaf));
        let overflow = names.index.len() > MAX_NAMES;
        Self { program, names, seen, shell, traps: Vec::new(), target, origins, overflow, work: 0 }
    }

    pub(super) fn overflow(&self) -> bool {
        self.overflow
    }

    pub(super) fn run_to_end(&mut self) -> Vec<ShellState> {
        if self.overflow {
            return Vec::new();
        }
        let start = ShellState {
            zero: true,
            target: CommandOutcome::NotRun,
            watched: vec![CommandOutcome::NotRun; self.seen.len()],
            origin: None,
            values: vec![VariableValue::Unset; self.names.index.len()],
            pipes: Vec::new(),
            job: None,
            errexit: false,
            pipefail: false,
            inherit: self.shell != Shell::Bash,
            shell: self.shell,
            on_exit: None,
            on_err: None,
            flow: Flow::Normal,
        };
        let ends = self.run(&self.program.root, vec![start], false);
        self.exit_traps(ends)
    }

    pub(super) fn unique(&mut self, states: Vec<ShellState>) -> Vec<ShellState> {
        self.work += states.len() * (1 + self.names.index.len() / 8);
        if self.work > MAX_WORK {
            self.overflow = true;
            return Vec::new();
        }
        if states.len() < 2 {
            return states;
        }
        let mut seen = HashSet::with_capacity(states.len());
        let states: Vec<ShellState> = states.into_iter().filter(|state| seen.insert(state.clone())).collect();
        if states.len() > MAX_STATES {
            self.overflow = true;
            return Vec::new();
        }
        states
    }

    /// Runs a step from each state in which control reaches it. `checked`: `if`, `&&` or `!` reads its status, so that
    /// `set -e` does not apply.
    pub(super) fn run(&mut self, step: &'a ProgramStep, states: Vec<ShellState>, checked: bool) -> Vec<ShellState> {
        if self.overflow {
            return Vec::new();
        }
        let (here, mut done): (Vec<_>, Vec<_>) = states.into_iter().partition(|state| state.flow == Flow::Normal);
        if here.is_empty() {
            return done;
        }
        let mut next = Vec::with_capacity(here.len() * 2);
        match step {
            ProgramStep::Seq(_)
            | ProgramStep::AndOr(..)
            | ProgramStep::Rounds(_)
            | ProgramStep::If(..)
            | ProgramStep::While(..)
            | ProgramStep::Repeat(..) => {
                let ends = self.compound(step, here, checked);
                done.extend(ends);
                return self.unique(done);
            }
            ProgramStep::Not(inner) => {
                for mut state in self.run(inner, here, true) {
                    if state.flow == Flow::Normal {
                        state.zero = !state.zero;
                    }
                    next.push(state);
                }
                done.extend(next);
                return self.unique(done);
            }
            ProgramStep::Either(ways) => {
                for way in ways {
                    let ends = self.run(way, here.clone(), checked);
                    next.extend(ends);
                }
                done.extend(next);
                return self.unique(done);
            }
            ProgramStep::After(before, step) => {
                let mut states = here;
                if self.shell == Shell::Zsh && matches!(**step, ProgramStep::Case(..)) && ends_with_unbound(before) {
                    // There a `case` of an unset variable ends the shell with status 0 under `set -e`.
                    let ended =
                        |state: &ShellState| ShellState { flow: Flow::Exit, zero: true, origin: None, ..state.clone() };
                    done.extend(states.iter().filter(|state| state.errexit).map(ended));
                }
                for step in before {
                    states = self.run(step, states, checked);
                }
                done.extend(self.run(step, states, checked));
                return self.unique(done);
            }
            _ => {}
        }
        for state in here {
            self.single(step, state, checked, &mut next);
        }
        done.extend(self.settle(step, next, checked));
        self.unique(done)
    }

    fn outcome(&self, id: LeafId, zero: bool, mut state: ShellState) -> ShellState {
        state.zero = zero;
        if self.origins {
            state.origin = Some(id);
        }
        let after = |before: CommandOutcome| match (before, zero) {
            (CommandOutcome::Failed, _) | (_, false) => CommandOutcome::Failed,
            _ => CommandOutcome::Succeeded,
        };
        if self.target == Some(id) {
            state.target = after(state.target);
        }
        for (index, seen) in self.seen.iter().enumerate() {
            if seen.leaf == id && self.program.leaves[id].prints.is_empty() {
                state.watched[index] = after(state.watched[index]);
            }
        }
        state
    }

    /// Follows an `echo` that prints a status: the value that it prints replaces its own end.
    fn print(&self, id: LeafId, value: usize, index: usize, states: Vec<ShellState>) -> Vec<ShellState> {
        let Some(expr) = self.program.leaves[id].prints.iter().filter(|p| !matches!(p, Expr::Text(_))).nth(value)
        else {
            return states;
        };
        let mut next = Vec::with_capacity(states.len());
        for mut state in states {
            // An `sh` that knows `PIPESTATUS` is bash; any other one prints nothing.
            let of_bash = matches!(expr, Expr::PipeStatus(..)) && state.shell == Shell::Sh;
            let told = if of_bash { &mut ShellState { shell: Shell::Bash, ..state.clone() } } else { &mut state };
            let printed = match told.value(expr, &self.names) {
                VariableValue::Text(text) => Some(&*text == "0"),
                VariableValue::NonZero => Some(false),
                // It prints no number, and a number was seen: the line took another way.
                VariableValue::Unset => continue,
                VariableValue::Job(_) | VariableValue::Unknown => None,
            };
            for (zero, outcome) in [(true, CommandOutcome::Succeeded), (false, CommandOutcome::Failed)] {
                if printed.is_none_or(|printed| printed == zero) {
                    let mut state = state.clone();
                    state.watched[index] = outcome;
                    next.push(state);
                }
            }
        }
        next
    }

    /// Runs a part in a copy of the shell: its changes are lost, its status and its processes are not.
    fn inner(
        &mut self,
        body: &'a ProgramStep,
        outer: &ShellState,
        start: ShellState,
        checked: bool,
    ) -> Vec<ShellState> {
        let mut start = ShellState { on_exit: None, on_err: None, job: None, ..start };
        for value in &mut start.values {
            // A job of the outer shell cannot be waited for.
            if matches!(value, VariableValue::Job(_)) {
                *value = VariableValue::Unknown;
            }
        }
        let ends = self.run(body, vec![start], checked);
        let ends = self.exit_traps(ends);
        let ends = ends
            .into_iter()
            .map(|end| ShellState {
                zero: end.zero,
                target: end.target,
                origin: end.origin,
                watched: end.watched,
                ..outer.clone()
            })
            .collect();
        self.unique(ends)
    }
}

fn ends_with_unbound(steps: &[ProgramStep]) -> bool {
    matches!(steps.last(), Some(ProgramStep::Unbound))
}
