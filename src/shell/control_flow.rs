//! Lists, branches and loops, as [`Machine`] follows them.

use std::collections::HashSet;

use super::ast::{ArmEnd, Op};
use super::expanded_program::{Expr, ProgramStep};
use super::path_walk::{MAX_STATES, Machine};
use super::shell_state::{Flow, ShellState, VariableValue};

impl<'a> Machine<'a> {
    pub(super) fn case(
        &mut self,
        value: &Expr,
        arms: &'a [(Vec<Option<String>>, ProgramStep, ArmEnd)],
        mut state: ShellState,
        checked: bool,
        next: &mut Vec<ShellState>,
    ) {
        let value = state.value(value, &self.names);
        // States that look for an arm, those that have come to the next arm for sure, and whether the former have
        // already run one.
        let mut looking = vec![(state, false)];
        let mut falling = Vec::new();
        for (patterns, body, end) in arms {
            let (mut yes, mut maybe) = (false, false);
            for pattern in patterns {
                match (pattern, &value) {
                    (Some(pattern), _) if pattern == "*" => yes = true,
                    (Some(pattern), VariableValue::Text(text)) if **text == **pattern => yes = true,
                    (Some(_), VariableValue::Text(_)) => {}
                    (Some(pattern), VariableValue::NonZero) if pattern == "0" || pattern.is_empty() => {}
                    _ => maybe = true,
                }
            }
            let mut entering = std::mem::take(&mut falling);
            if yes || maybe {
                entering.extend(looking.iter().map(|(state, _)| state.clone()));
            }
            if yes {
                looking.clear();
            }
            // An arm without a command succeeds.
            let empty = matches!(body, ProgramStep::Seq(steps) if steps.is_empty());
            for state in &mut entering {
                state.zero |= empty;
            }
            let ends = self.run(body, entering, checked);
            let (normal, left): (Vec<_>, Vec<_>) = ends.into_iter().partition(|state| state.flow == Flow::Normal);
            next.extend(left);
            match end {
                ArmEnd::Over => next.extend(normal),
                ArmEnd::Next => falling = normal,
                ArmEnd::Try => looking.extend(normal.into_iter().map(|state| (state, true))),
            }
        }
        next.extend(falling);
        // Without an arm that fits, the status is 0; after `;;&` it is that of the arm before.
        next.extend(looking.into_iter().map(|(state, ran)| ShellState { zero: !ran || state.zero, ..state }));
    }

    pub(super) fn compound(&mut self, step: &'a ProgramStep, here: Vec<ShellState>, checked: bool) -> Vec<ShellState> {
        match step {
            ProgramStep::Seq(steps) => {
                let mut states = here;
                for step in steps {
                    states = self.run(step, states, checked);
                }
                states
            }
            ProgramStep::AndOr(first, rest) => {
                let mut states = self.run(first, here, true);
                for (index, (op, step)) in rest.iter().enumerate() {
                    let last = index + 1 == rest.len();
                    let wanted = *op == Op::And;
                    let (go, skip): (Vec<_>, Vec<_>) =
                        states.into_iter().partition(|state| state.flow == Flow::Normal && state.zero == wanted);
                    states = skip;
                    let ends = self.run(step, go, checked || !last);
                    states.extend(ends);
                    states = self.unique(states);
                }
                states
            }
            ProgramStep::If(arms, otherwise) => {
                let mut done = Vec::new();
                let mut states = here;
                for (condition, then) in arms {
                    let ends = self.run(condition, states, true);
                    let (normal, left): (Vec<_>, Vec<_>) = ends.into_iter().partition(|s| s.flow == Flow::Normal);
                    done.extend(left);
                    let (yes, no): (Vec<_>, Vec<_>) = normal.into_iter().partition(|state| state.zero);
                    done.extend(self.run(then, yes, checked));
                    states = no;
                }
                match otherwise {
                    Some(step) => done.extend(self.run(step, states, checked)),
                    None => done.extend(states.into_iter().map(|state| ShellState { zero: true, ..state })),
                }
                done
            }
            ProgramStep::Rounds(rounds) => {
                let mut done = Vec::new();
                let mut states: Vec<_> = if rounds.is_empty() {
                    here.into_iter().map(|s| ShellState { zero: true, ..s }).collect()
                } else {
                    here
                };
                for round in rounds {
                    let ends = self.run(round, states, checked);
                    states = Vec::new();
                    for end in ends {
                        loop_control(end, &mut states, &mut done);
                    }
                }
                done.extend(states);
                done
            }
            ProgramStep::Repeat(body, once) => self.iterate(None, body, here, *once, checked),
            ProgramStep::While(condition, until, body) => {
                self.iterate(Some((condition, *until)), body, here, false, checked)
            }
            _ => here,
        }
    }

    /// Follows a loop, until no new state appears.
    fn iterate(
        &mut self,
        condition: Option<(&'a ProgramStep, bool)>,
        body: &'a ProgramStep,
        here: Vec<ShellState>,
        once: bool,
        checked: bool,
    ) -> Vec<ShellState> {
        let mut done = Vec::new();
        let mut seen: HashSet<(ShellState, bool)> = HashSet::new();
        // A loop whose body never ran has status 0, else that of the body's last command.
        let mut pending: Vec<(ShellState, bool)> = here.into_iter().map(|state| (state, true)).collect();
        let mut first = true;
        while !pending.is_empty() && !self.overflow {
            let mut entering = Vec::new();
            for (state, last) in pending.drain(..) {
                match condition {
                    None => {
                        if !(first && once) {
                            done.push(ShellState { zero: last, ..state.clone() });
                        }
                        entering.push(state);
                    }
                    Some((condition, until)) => {
                        for end in self.run(condition, vec![state], true) {
                            if end.flow == Flow::Normal && end.zero == until {
                                done.push(ShellState { zero: last, ..end });
                            } else if end.flow == Flow::Normal {
                                entering.push(end);
                            } else {
                                let mut again = Vec::new();
                                loop_control(end, &mut again, &mut done);
                                entering.extend(again);
                            }
                        }
                    }
                }
            }
            first = false;
            let entering = self.unique(entering);
            let ends = self.run(body, entering, checked);
            let mut again = Vec::new();
            for end in ends {
                loop_control(end, &mut again, &mut done);
            }
            for state in again {
                let last = state.zero;
                if seen.insert((state.clone(), last)) {
                    pending.push((state, last));
                }
            }
            if seen.len() > MAX_STATES {
                self.overflow = true;
            }
        }
        done
    }
}

/// Sorts the end of one round: on to the next one, or out of the loop.
fn loop_control(end: ShellState, again: &mut Vec<ShellState>, done: &mut Vec<ShellState>) {
    match end.flow {
        Flow::Normal => again.push(end),
        Flow::Continue(0 | 1) => again.push(ShellState { flow: Flow::Normal, ..end }),
        Flow::Break(0 | 1) => done.push(ShellState { flow: Flow::Normal, ..end }),
        Flow::Continue(levels) => done.push(ShellState { flow: Flow::Continue(levels - 1), ..end }),
        Flow::Break(levels) => done.push(ShellState { flow: Flow::Break(levels - 1), ..end }),
        Flow::Exit | Flow::Return => done.push(end),
    }
}
