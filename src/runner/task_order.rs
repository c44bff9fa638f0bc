//! The order in which the commands of a task run: the pass of the last one may show that all passed.

use crate::runner::catalogue::Catalogue;
use crate::runner::command_kind::{CommandKind, ExitMeaning, RunScope};
use crate::runner::invocation::Invocation;
use crate::runner::runner_definition::Runner;

/// The commands of a task whose results show, or do not show, how the others ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskOrder {
    /// The runners of the last command, if it starts only after all others succeeded, and none of them prints its lines:
    /// where it passed, so did all.
    pub last: Vec<String>,
    /// The runners whose failure the last command of the most important kind does not show: those after it, and those
    /// beside it.
    pub others: Vec<String>,
    /// `true` if one of these commands is unknown, so that nothing shows its failure.
    pub goes_on: bool,
    /// `true` if a task among them cannot be followed: it may print the lines of any runner.
    pub opaque: bool,
}

/// A command of a task.
pub(super) struct OrderedStep {
    pub(super) invocation: Invocation,
    /// `true` if nothing shows more than its status: it only prints, or reads what another one prints.
    pub(super) idle: bool,
    /// `true` if the task succeeds only if it ran and succeeded.
    pub(super) decides: bool,
    /// `true` if the next command of the task starts only after it succeeded.
    pub(super) chained: bool,
}

impl TaskOrder {
    /// Returns the order of one command, which is a runner.
    pub(super) fn alone(runner: &str) -> Self {
        Self { last: vec![runner.to_owned()], ..Self::default() }
    }

    /// Returns the order of the commands of a task. `in_order`: each starts after the one before it ended well.
    pub(super) fn of(catalogue: &Catalogue, steps: &[OrderedStep], in_order: bool) -> Self {
        let kinds = [CommandKind::Test, CommandKind::Build, CommandKind::Typecheck, CommandKind::Lint];
        let is = |step: &OrderedStep, kind: &CommandKind| step.invocation.kinds.contains(kind);
        let Some(at) = kinds.iter().find_map(|kind| steps.iter().rposition(|step| is(step, kind))) else {
            return Self::default();
        };
        let opaque = steps.iter().any(|step| step.invocation.order.opaque);
        let mut order = Self { opaque, last: Vec::new(), ..steps[at].invocation.order.clone() };
        let (earlier, rest) = steps.split_at(at);
        let follows = in_order && earlier.iter().all(|step| step.chained);
        let others = rest[1..].iter().chain(earlier.iter().filter(|_| !follows));
        for step in others.filter(|step| step.decides && !step.idle) {
            let workers = workers(catalogue, &step.invocation);
            order.goes_on |= workers.is_empty() || step.invocation.order.opaque || step.invocation.order.goes_on;
            order.others.extend(workers.iter().map(|runner| runner.id.clone()));
        }
        let last = &steps[at].invocation.order.last;
        let prints_others = |step: &OrderedStep| {
            step.invocation.order.opaque
                || workers(catalogue, &step.invocation).iter().any(|runner| prints_lines_of(catalogue, runner, last))
        };
        if rest.len() == 1 && follows && steps[at].decides && !earlier.iter().any(prints_others) {
            order.last.clone_from(last);
        }
        order
    }
}

/// Returns the work of the commands of a task, or `None` if all of them are unknown.
pub(super) fn combined(catalogue: &Catalogue, steps: Vec<OrderedStep>, in_order: bool) -> Option<Invocation> {
    let order = TaskOrder::of(catalogue, &steps, in_order);
    let known = steps.into_iter().map(|step| step.invocation).filter(|invocation| !invocation.kinds.is_empty());
    known.reduce(both).map(|whole| Invocation { order, ..whole })
}

/// Returns the runners that work in a command.
fn workers<'a>(catalogue: &'a Catalogue, invocation: &Invocation) -> Vec<&'a Runner> {
    let runners = invocation.runs.iter().filter_map(|id| catalogue.runner(id));
    runners.filter(|runner| runner.task.is_none()).collect()
}

/// Returns `true` if a runner prints the same lines as one of `others`.
fn prints_lines_of(catalogue: &Catalogue, runner: &Runner, others: &[String]) -> bool {
    let family = |runner: &Runner| runner.output.like.clone().unwrap_or_else(|| runner.id.clone());
    let mine = family(runner);
    others.iter().any(|other| *other == runner.id || catalogue.runner(other).is_some_and(|other| family(other) == mine))
}

/// Returns the rank of the most important check among these; lower is more important.
fn decisive(kinds: &[CommandKind]) -> usize {
    let checks = [CommandKind::Test, CommandKind::Build, CommandKind::Typecheck, CommandKind::Lint];
    checks.iter().position(|kind| kinds.contains(kind)).unwrap_or(checks.len())
}

/// Combines two commands that both run.
fn both(first: Invocation, second: Invocation) -> Invocation {
    let mut kinds = first.kinds.clone();
    kinds.extend(second.kinds.iter().filter(|kind| !first.kinds.contains(kind)));
    let tests = (first.is_test(), second.is_test());
    let scope = match tests {
        (true, false) => first.scope.clone(),
        (false, true) => second.scope.clone(),
        _ => match (&first.scope, &second.scope) {
            (RunScope::NotApplicable, scope) | (scope, RunScope::NotApplicable) => scope.clone(),
            (RunScope::Full, RunScope::Full) => RunScope::Full,
            (RunScope::NoneExecuted { why }, RunScope::NoneExecuted { .. }) => {
                RunScope::NoneExecuted { why: why.clone() }
            }
            // A full run beside a filtered one is still a full run.
            (RunScope::Full, _) | (_, RunScope::Full) if tests == (true, true) => RunScope::Full,
            (RunScope::Filtered { by }, _) | (_, RunScope::Filtered { by }) => RunScope::Filtered { by: by.clone() },
            (scope, _) => scope.clone(),
        },
    };
    let runner =
        if tests.1 && !tests.0 { second.runner.clone() } else { first.runner.clone().or(second.runner.clone()) };
    // What the status says is asked of the check that matters most.
    let exit = match (decisive(&first.kinds), decisive(&second.kinds)) {
        (mine, theirs) if mine < theirs => first.exit,
        (mine, theirs) if mine > theirs => second.exit,
        _ if first.exit == ExitMeaning::Decides => second.exit,
        _ => first.exit,
    };
    Invocation {
        kinds,
        runner,
        runs: first.runs.into_iter().chain(second.runs).collect(),
        scope,
        exit,
        empty_exits_zero: first.empty_exits_zero && second.empty_exits_zero,
        edits: first.edits || second.edits,
        watches: first.watches || second.watches,
        speaks: first.speaks || second.speaks,
        shadowed_by: first.shadowed_by.or(second.shadowed_by),
        order: TaskOrder::default(),
    }
}
