//! Equal runs in one line, such as those in the rounds of a loop.

use crate::command_line::purpose::{Purpose, Understood};
use crate::command_line::shown_output::may_show;
use crate::runner::output_rules::Summaries;
use crate::runner::{Catalogue, OutputOutcome, Runner, output_lines, read_output_of};
use crate::shell::expanded_program::{Leaf, LeafId};

/// Returns `true` if all checks of a line that print anything are equal to the check `id`, and the output has a closing
/// line of a pass for each of them. `closing` is the last one.
pub(super) fn all_passed(
    catalogue: &Catalogue,
    understood: &Understood,
    id: LeafId,
    closing: Option<&str>,
    output: &str,
) -> bool {
    let program = &understood.program;
    let checks = |purpose: &Purpose| purpose.invocation.as_ref().is_some_and(|found| !found.kinds.is_empty());
    let shown = |other: &LeafId| checks(&understood.purposes[*other]) && may_show(program, *other);
    let runs: Vec<LeafId> = (0..program.leaves.len()).filter(shown).collect();
    let runners: Vec<&Runner> = understood.purposes[id].runs().filter_map(|id| catalogue.runner(id)).collect();
    runs.iter().all(|other| is_same(&program.leaves[id], &program.leaves[*other]))
        && closing.and_then(|closing| passes(catalogue, &runners, closing, output)) == Some(runs.len())
}

fn is_same(one: &Leaf, other: &Leaf) -> bool {
    one.argv == other.argv
        && one.environment == other.environment
        && one.given == other.given
        && one.withheld == other.withheld
        && one.directory == other.directory
        && one.inside == other.inside
        && !other.repeated
        && !other.background
}

/// Returns the number of closing lines of the form of `closing`, or `None` if one of them is no pass, or if a run may
/// print several.
fn passes(catalogue: &Catalogue, runners: &[&Runner], closing: &str, output: &str) -> Option<usize> {
    let workers: Vec<&Runner> = runners.iter().copied().filter(|runner| runner.task.is_none()).collect();
    let [worker] = workers[..] else { return None };
    let (summaries, rules) = catalogue.output_rules(worker);
    let rule = rules.iter().find(|rule| rule.read(closing).is_some()).filter(|_| summaries == Summaries::One)?;
    let lines = output_lines(output);
    let lines: Vec<_> = lines.filter(|line| rule.read(line).is_some()).collect();
    let passed = |line| read_output_of(catalogue, &workers, line).says == OutputOutcome::Passed;
    lines.iter().all(|line| passed(line)).then_some(lines.len())
}
