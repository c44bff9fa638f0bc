//! Steps that start from one state at a time.

use super::{Machine, ends_with_unbound};
use crate::shell::expanded_program::{Expr, Passes, ProgramStep, ShellOption};
use crate::shell::shell_state::{Flow, ShellState, VariableValue};
use crate::shell_kind::Shell;

impl<'a> Machine<'a> {
    /// Follows a step that starts from one state at a time.
    #[expect(clippy::too_many_lines, reason = "one arm for each step")]
    pub(super) fn single(
        &mut self,
        step: &'a ProgramStep,
        mut state: ShellState,
        checked: bool,
        next: &mut Vec<ShellState>,
    ) {
        match step {
            ProgramStep::Nothing => {
                state.zero = true;
                next.push(state);
            }
            ProgramStep::Leaf(id) => {
                for zero in [true, false] {
                    next.push(self.outcome(*id, zero, state.clone()));
                }
            }
            ProgramStep::Known(id, zero) => {
                let mut states = vec![state];
                for (index, seen) in self.seen.iter().enumerate().filter(|(_, seen)| seen.leaf == *id) {
                    states = self.print(*id, seen.value, index, states);
                }
                next.extend(states.into_iter().map(|state| self.outcome(*id, *zero, state)));
            }
            ProgramStep::Open => {
                state.origin = None;
                next.extend([ShellState { zero: true, ..state.clone() }, ShellState { zero: false, ..state }]);
            }
            ProgramStep::Pipe(stages) => self.pipe(stages, &state, checked, next),
            ProgramStep::Subshell(inner) => {
                let ends = self.inner(inner, &state, state.clone(), checked);
                next.extend(ends);
            }
            ProgramStep::Substitution(inner) => {
                let start = ShellState { errexit: state.errexit && state.inherit, ..state.clone() };
                if checked && self.shell == Shell::Sh {
                    // dash applies `set -e` in it even where it does not apply to the command around it.
                    let ends = self.inner(inner, &state, start.clone(), false);
                    next.extend(ends);
                }
                let ends = self.inner(inner, &state, start, checked);
                next.extend(ends);
            }
            ProgramStep::Shell(shell, inner) => {
                let values = vec![VariableValue::Unknown; state.values.len()];
                let outer = self.shell;
                self.shell = shell.unwrap_or(Shell::Sh);
                let (shell, inherit) = (self.shell, self.shell != Shell::Bash);
                let start = ShellState {
                    errexit: false,
                    pipefail: false,
                    inherit,
                    shell,
                    values,
                    on_err: None,
                    ..state.clone()
                };
                let ends = self.inner(inner, &state, start, false);
                self.shell = outer;
                next.extend(ends.into_iter().map(|end| ShellState { shell: outer, ..end }));
            }
            ProgramStep::OnlyIn(shell, inner) if *shell == self.shell => {
                next.extend(self.run(inner, vec![state], checked));
            }
            // `sh` is bash in some systems.
            ProgramStep::OnlyIn(..) => next.push(ShellState { zero: false, origin: None, ..state }),
            ProgramStep::BothStreams(inner) => {
                if self.shell == Shell::Sh {
                    let ends = self.inner(inner, &state, state.clone(), false);
                    next.extend(ends.into_iter().map(|end| ShellState { zero: true, origin: None, ..end }));
                }
                next.extend(self.run(inner, vec![state], checked));
            }
            ProgramStep::ReadOnlyInZsh if self.shell == Shell::Zsh => {
                next.push(ShellState { zero: false, origin: None, flow: Flow::Exit, ..state });
            }
            step if self.shell == Shell::Zsh && is_unpredictable_in_zsh(step) => self.overflow = true,
            ProgramStep::Background(inner) => {
                for end in self.inner(inner, &state, state.clone(), false) {
                    // zsh does not keep the status of a list.
                    let kept = self.shell != Shell::Zsh || matches!(**inner, ProgramStep::Leaf(_));
                    next.push(ShellState { zero: true, job: kept.then_some(end.zero), origin: None, ..end });
                }
            }
            ProgramStep::Wrapped(passes, inner) => {
                let ends = self.inner(inner, &state, state.clone(), checked);
                match passes {
                    Passes::Own => next.extend(ends),
                    Passes::Maybe => {
                        next.extend(ends);
                        next.push(ShellState { zero: true, ..state });
                    }
                    Passes::Masked | Passes::Detached => {
                        for end in ends.into_iter().chain([state]) {
                            next.extend([ShellState { zero: true, ..end.clone() }, ShellState { zero: false, ..end }]);
                        }
                    }
                }
            }
            ProgramStep::Call(body, locals) => {
                let saved: Vec<_> = locals
                    .iter()
                    .filter_map(|name| self.names.index.get(name).map(|index| (*index, state.values[*index].clone())))
                    .collect();
                // Functions do not inherit the trap.
                let on_err = state.on_err.take();
                for mut end in self.run(body, vec![state], checked) {
                    end.on_err = end.on_err.or(on_err);
                    if end.flow == Flow::Return {
                        end.flow = Flow::Normal;
                    }
                    for (index, value) in &saved {
                        end.values[*index] = value.clone();
                    }
                    next.push(end);
                }
            }
            ProgramStep::Eval(inner) => next.extend(self.run(inner, vec![state], checked)),
            ProgramStep::Assign(values, inner) => self.assign(values, inner, state, checked, next),
            ProgramStep::Bind(values) => {
                for (name, value) in values {
                    let value = state.value(value, &self.names);
                    state.assign(name, value, &self.names);
                }
                next.push(state);
            }
            ProgramStep::Unbound => {
                if checked && state.errexit && self.shell == Shell::Zsh {
                    // In a condition, it may end the shell with status 0.
                    next.push(ShellState { flow: Flow::Exit, zero: true, origin: None, ..state.clone() });
                }
                next.extend([ShellState { flow: Flow::Exit, zero: false, origin: None, ..state.clone() }, state]);
            }
            ProgramStep::Set(settings) => {
                if self.shell == Shell::Sh && settings.iter().any(|(setting, _)| *setting == ShellOption::Pipefail) {
                    // An option that it may not have ends the shell.
                    next.push(ShellState { flow: Flow::Exit, zero: false, origin: None, ..state.clone() });
                }
                for (setting, on) in settings {
                    match setting {
                        ShellOption::Errexit => state.errexit = *on,
                        ShellOption::Pipefail => state.pipefail = *on,
                        ShellOption::InheritErrexit => state.inherit = *on,
                    }
                }
                state.zero = true;
                next.push(state);
            }
            ProgramStep::Exit(value) => self.leave(Flow::Exit, value, state, next),
            ProgramStep::Return(value) => self.leave(Flow::Return, value, state, next),
            ProgramStep::Break(levels) => {
                next.push(ShellState { flow: Flow::Break(*levels), zero: true, pipes: Vec::new(), ..state });
            }
            ProgramStep::Continue(levels) => {
                next.push(ShellState { flow: Flow::Continue(*levels), zero: true, pipes: Vec::new(), ..state });
            }
            ProgramStep::Condition(_) | ProgramStep::Calculate(_) if self.shell == Shell::Sh => {
                split(None, state, next);
            }
            ProgramStep::Test(check) | ProgramStep::Condition(check) => {
                let holds = state.check(check, &self.names);
                split(holds, state, next);
            }
            ProgramStep::DoubleEquals(_) if self.shell == Shell::Zsh => {
                next.push(ShellState { flow: Flow::Exit, zero: false, origin: None, ..state });
            }
            ProgramStep::DoubleEquals(check) => {
                let holds = state.check(check, &self.names).filter(|_| self.shell != Shell::Sh);
                split(holds, state, next);
            }
            ProgramStep::Calculate(calc) => {
                let holds = state.calculate(calc, &self.names);
                split(holds, state, next);
            }
            ProgramStep::Wait(None) => next.push(ShellState { zero: true, origin: None, ..state }),
            ProgramStep::Wait(Some(job)) => {
                let holds = match state.value(job, &self.names) {
                    VariableValue::Job(zero) => Some(zero),
                    _ => None,
                };
                split(holds, state, next);
            }
            ProgramStep::TrapExit(body) => {
                state.on_exit = body.as_deref().map(|body| self.trap(body));
                state.zero = true;
                next.push(state);
            }
            // zsh runs it in other places than bash: such lines are not followed.
            ProgramStep::TrapErr(Some(_)) if self.shell == Shell::Zsh => self.overflow = true,
            // Not every `sh` has the signal.
            ProgramStep::TrapErr(Some(body)) if self.shell == Shell::Sh => {
                let with = self.trap(body);
                next.extend([
                    ShellState { zero: true, on_err: Some(with), ..state.clone() },
                    ShellState { zero: true, ..state.clone() },
                ]);
                next.push(ShellState { zero: false, origin: None, ..state });
            }
            ProgramStep::TrapErr(body) => {
                state.on_err = body.as_deref().map(|body| self.trap(body));
                state.zero = true;
                next.push(state);
            }
            ProgramStep::Case(value, arms) => self.case(value, arms, state, checked, next),
            _ => next.push(state),
        }
    }

    fn leave(&mut self, flow: Flow, value: &Expr, mut state: ShellState, next: &mut Vec<ShellState>) {
        if *value != Expr::Status {
            state.origin = None;
        }
        match state.as_status(value, &self.names) {
            Some(zero) => next.push(ShellState { zero, flow, ..state }),
            None => next
                .extend([ShellState { zero: true, flow, ..state.clone() }, ShellState { zero: false, flow, ..state }]),
        }
    }

    fn assign(
        &mut self,
        values: &'a [(String, Expr)],
        inner: &'a [ProgramStep],
        mut state: ShellState,
        checked: bool,
        next: &mut Vec<ShellState>,
    ) {
        for (name, value) in values {
            let value = state.value(value, &self.names);
            state.assign(name, value, &self.names);
        }
        if inner.is_empty() {
            next.push(ShellState { zero: true, origin: None, ..state });
            return;
        }
        // Inside the substitutions `$?` is still what it was before.
        let mut states = vec![state];
        for step in inner {
            states = self.run(step, states, checked);
        }
        if ends_with_unbound(inner) {
            for state in states.iter_mut().filter(|state| state.flow == Flow::Normal) {
                state.zero = true;
            }
        }
        next.extend(states);
    }
}

/// Returns `true` for a step after which zsh may do anything: functions that it calls by itself, and an `exit` or `set` in
/// the background that may be that of the whole shell.
fn is_unpredictable_in_zsh(step: &ProgramStep) -> bool {
    match step {
        ProgramStep::HookInZsh => true,
        ProgramStep::Background(inner) => changes_shell(inner),
        _ => false,
    }
}

/// Returns `true` if one of the commands of a list ends or changes the shell that runs it.
fn changes_shell(list: &ProgramStep) -> bool {
    match list {
        ProgramStep::AndOr(first, rest) => changes_shell(first) || rest.iter().any(|(_, step)| changes_shell(step)),
        ProgramStep::Exit(_)
        | ProgramStep::Set(_)
        | ProgramStep::Assign(..)
        | ProgramStep::TrapExit(_)
        | ProgramStep::TrapErr(_) => true,
        _ => false,
    }
}

fn split(holds: Option<bool>, mut state: ShellState, next: &mut Vec<ShellState>) {
    state.origin = None;
    match holds {
        Some(zero) => next.push(ShellState { zero, ..state }),
        None => next.extend([ShellState { zero: true, ..state.clone() }, ShellState { zero: false, ..state }]),
    }
}
