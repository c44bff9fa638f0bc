//! Where a status of success is contradicted by what the runner said, or by what it did not say.

use crate::runner::lines::{LineRule, Means, lines};
use crate::runner::{Catalogue, CommandKind, ProjectFiles, Runner};
use crate::shell::program::{Leaf, LeafId, Sink};

use super::evidence::MUTE;
use super::judge::understand;
use super::purpose::{Purpose, Understood};
use super::said::Known;
use super::view::may_show;

/// Why the output of a line whose status 0 is its runner's own does not go with that status; `None`: it does, as far
/// as it shows.
pub(super) fn of_success(
    line: &str,
    runners: &[&Runner],
    output: &str,
    output_known: Known,
    files: &dyn ProjectFiles,
) -> Option<String> {
    let understood = understand(line, files).ok()?;
    let whole = output_known == Known::ToItsEnd;
    if let Some(runner) = silent(&understood, output).filter(|_| whole) {
        return Some(format!("{runner} printed nothing, and always tells what it ran"));
    }
    let known = |(id, leaf): (LeafId, &Leaf)| {
        let purpose = &understood.purposes[id];
        let quiet = leaf.name().is_some_and(|name| MUTE.contains(&name) || matches!(name, "echo" | "printf"));
        let checks = purpose.invocation.as_ref().is_some_and(|found| !found.kinds.is_empty());
        quiet || checks || !may_show(&understood.program, id)
    };
    if !understood.program.leaves.iter().enumerate().all(known) {
        return None;
    }
    let catalogue = Catalogue::embedded();
    let tests = |runner: &&&Runner| runner.task.is_none() && runner.kinds.contains(&CommandKind::Test);
    let rules: Vec<_> = runners.iter().filter(tests).flat_map(|runner| catalogue.output_rules(runner).1).collect();
    if let Some(begun) = broken_off(&rules, output).filter(|_| whole) {
        return Some(format!("it began (\"{begun}\") and never said how it ended"));
    }
    let last = ends_in_failure(&rules, output, |_| false)?;
    Some(format!("status 0 contradicts the last words of the runner (\"{last}\")"))
}

/// The runner that printed nothing although it always does, where nothing could keep its words from the output.
fn silent(understood: &Understood, output: &str) -> Option<&'static str> {
    if !output.trim().is_empty() {
        return None;
    }
    let catalogue = Catalogue::embedded();
    let speaks = |(leaf, purpose): (&Leaf, &Purpose)| {
        if leaf.stdout != Sink::Terminal || leaf.stderr != Sink::Terminal {
            return None;
        }
        let runner = catalogue.runner(purpose.invocation.as_ref()?.runner.as_deref()?)?;
        let hushed =
            leaf.argv.iter().any(|arg| runner.output.hushed.iter().any(|word| arg.text.contains(word.as_str())));
        (runner.output.always && !hushed).then_some(runner.id.as_str())
    };
    understood.program.leaves.iter().zip(&understood.purposes).find_map(speaks)
}

/// The line with which a run began that always ends with another one, where that is missing: the process ended in the middle.
fn broken_off(rules: &[&LineRule], output: &str) -> Option<String> {
    let mut begun: Option<String> = None;
    for line in lines(output) {
        for rule in rules.iter().filter(|rule| rule.read(&line).is_some()) {
            match rule.means {
                Means::PartStart => begun = Some(shown(&line)),
                Means::Start | Means::Listed | Means::Trouble => {}
                _ => begun = None,
            }
        }
    }
    begun
}

fn shown(line: &str) -> String {
    line.trim().chars().take(80).collect()
}

/// The last closing line of an output, if it counts failures, or is a failure in `other` words. What a runner's tests run
/// may print such lines as well, but before the runner's own.
pub(super) fn ends_in_failure(rules: &[&LineRule], output: &str, other: impl Fn(Means) -> bool) -> Option<String> {
    /// More lines than this do not stand between two that belong together.
    const APART: usize = 2;
    let all: Vec<_> = lines(output).collect();
    let mut apart: Option<usize> = None;
    for line in all.iter().rev() {
        let found = rules.iter().find_map(|rule| Some((rule, rule.read(line)?)));
        let Some((rule, said)) = found else {
            apart = apart.map(|lines| lines + usize::from(!line.trim().is_empty()));
            if apart.is_some_and(|lines| lines > APART) {
                return None;
            }
            continue;
        };
        match rule.means {
            Means::Counts if said.bad || said.failed.unwrap_or(0) > 0 => {
                return Some(shown(line));
            }
            means if other(means) && said.task.is_none() => return Some(shown(line)),
            // What joins may be the rest of a summary that counts failures in another line.
            Means::Counts if rule.joins => apart = Some(0),
            Means::Start | Means::PartStart | Means::Listed | Means::Trouble => {}
            _ => return None,
        }
    }
    None
}
