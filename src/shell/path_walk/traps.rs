//! `trap` and `set -e`: what a shell does by itself when a command fails, and when it ends.

use super::Machine;
use crate::shell::expanded_program::ProgramStep;
use crate::shell::shell_state::{Flow, ShellState};
use crate::shell_kind::Shell;

impl<'a> Machine<'a> {
    /// Runs `trap … EXIT` for shells that have ended. The status stays, unless the trap itself exits.
    pub(super) fn exit_traps(&mut self, ends: Vec<ShellState>) -> Vec<ShellState> {
        let mut after = Vec::with_capacity(ends.len());
        for mut end in ends {
            let Some(body) = end.on_exit.take().and_then(|index| self.traps.get(index).copied()) else {
                after.push(end);
                continue;
            };
            let (zero, origin) = (end.zero, end.origin);
            end.flow = Flow::Normal;
            for mut state in self.run(body, vec![end], false) {
                if state.errexit && state.shell == Shell::Zsh && state.flow == Flow::Exit {
                    // There `set -e` need not end a trap.
                    after.push(ShellState { zero, origin, ..state.clone() });
                }
                if state.flow != Flow::Exit {
                    (state.zero, state.origin) = (zero, origin);
                }
                after.push(state);
            }
        }
        self.unique(after)
    }

    pub(super) fn trap(&mut self, body: &'a ProgramStep) -> usize {
        match self.traps.iter().position(|known| std::ptr::eq(*known, body)) {
            Some(index) => index,
            None => {
                self.traps.push(body);
                self.traps.len() - 1
            }
        }
    }

    /// Applies the effects of a failing command: `trap … ERR`, then `set -e`.
    pub(super) fn settle(&mut self, step: &'a ProgramStep, states: Vec<ShellState>, checked: bool) -> Vec<ShellState> {
        let pipeline = matches!(step, ProgramStep::Pipe(_));
        let silent = matches!(
            step,
            ProgramStep::Bind(_)
                | ProgramStep::Unbound
                | ProgramStep::Substitution(_)
                | ProgramStep::Case(..)
                | ProgramStep::Background(_)
        );
        let mut settled = Vec::with_capacity(states.len());
        for mut state in states {
            if self.names.pipestatus && !pipeline && !silent && state.flow == Flow::Normal {
                state.pipes = vec![state.zero];
            }
            if checked && !state.zero && !silent && state.on_err.is_some() && state.flow == Flow::Normal {
                // bash runs the trap in some of the places where `set -e` does not apply: it may or may not.
                settled.push(state.clone());
            } else if state.zero || checked || silent || state.flow != Flow::Normal {
                settled.push(state);
                continue;
            }
            let errexit = state.errexit && !checked;
            let Some(body) = state.on_err.and_then(|index| self.traps.get(index).copied()) else {
                settled.push(if errexit { ShellState { flow: Flow::Exit, ..state } } else { state });
                continue;
            };
            let (origin, pipes) = (state.origin, state.pipes.clone());
            // The trap does not call itself.
            let index = state.on_err.take();
            for end in self.run(body, vec![state], false) {
                let end = if end.flow == Flow::Normal {
                    let flow = if errexit { Flow::Exit } else { Flow::Normal };
                    ShellState { zero: false, origin, pipes: pipes.clone(), on_err: index, flow, ..end }
                } else {
                    end
                };
                settled.push(end);
            }
        }
        settled
    }
}
