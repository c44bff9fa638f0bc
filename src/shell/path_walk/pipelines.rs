//! Pipelines: each command runs in a shell of its own, and their statuses make one.

use super::{MAX_STATES, Machine};
use crate::shell::expanded_program::ProgramStep;
use crate::shell::shell_state::{Flow, ShellState};
use crate::shell_kind::Shell;

impl<'a> Machine<'a> {
    pub(super) fn pipe(
        &mut self,
        stages: &'a [ProgramStep],
        state: &ShellState,
        checked: bool,
        next: &mut Vec<ShellState>,
    ) {
        // Each way: the target so far, the statuses so far, and the command that failed last.
        let mut ways = vec![((state.target, state.watched.clone()), Vec::new(), None)];
        // zsh runs the last command of a pipeline itself, and so what that sets stays set.
        let (stages, here) = match stages.split_last() {
            Some((last, before)) if self.shell == Shell::Zsh => (before, Some(last)),
            _ => (stages, None),
        };
        for stage in stages {
            let mut longer = Vec::new();
            let mut targets: Vec<_> = ways.iter().map(|(target, ..)| target.clone()).collect();
            targets.sort_unstable();
            targets.dedup();
            for target in targets {
                let start = ShellState { target: target.0, watched: target.1.clone(), ..state.clone() };
                let ends = self.inner(stage, &start, start.clone(), checked);
                for (_, statuses, failed) in ways.iter().filter(|way| way.0 == target) {
                    for end in &ends {
                        let mut statuses: Vec<bool> = statuses.clone();
                        if !self.names.pipestatus {
                            // Only whether any failed, and the last one, are asked for.
                            let any = statuses.iter().all(|zero| *zero);
                            statuses = vec![any];
                        }
                        statuses.push(end.zero);
                        let origin = if end.zero && state.pipefail { *failed } else { end.origin };
                        longer.push(((end.target, end.watched.clone()), statuses, origin));
                    }
                }
            }
            longer.sort();
            longer.dedup();
            if longer.len() > MAX_STATES {
                self.overflow = true;
                return;
            }
            ways = longer;
        }
        if let Some(last) = here {
            for ((target, watched), before, failed) in ways {
                for end in self.run(last, vec![ShellState { target, watched, ..state.clone() }], checked) {
                    let mut statuses = before.clone();
                    statuses.push(end.zero);
                    let passed = end.zero && (!end.pipefail || before.iter().all(|zero| *zero));
                    let zero = if end.flow == Flow::Normal { passed } else { end.zero };
                    let origin = if end.zero && !zero { failed } else { end.origin };
                    let pipes = if self.names.pipestatus { statuses } else { Vec::new() };
                    next.push(ShellState { zero, origin, pipes, ..end });
                }
            }
            return;
        }
        for ((target, watched), statuses, origin) in ways {
            let last = statuses.last().copied().unwrap_or(true);
            let zero = if state.pipefail { statuses.iter().all(|zero| *zero) } else { last };
            let pipes = if self.names.pipestatus { statuses } else { Vec::new() };
            next.push(ShellState { zero, target, watched, origin, pipes, ..state.clone() });
        }
    }
}
