//! The evidence that a model may cite: one line each, the newest of each kind, in a bounded size.

use super::seen_runs::{self, SeenRun};
use super::{CuratorSources, MAX_QUOTED, corrects};
use crate::event::agent_work::Speaker;
use crate::event::forwarded_text::{own_words, says_something};
use crate::fact::session_steps::{Deed, Step, Story};
use crate::foreign_text::{shortened, shortened_in_bytes};
use crate::learn::reflection::{Reflection, clean};
use crate::learn::task_record::TaskRecord;

/// The longest line, in bytes.
const MAX_LINE: usize = 300;
/// The largest size of the lines of one kind, in bytes.
const MAX_KIND: usize = 8 * 1024;

/// Returns the evidence: commits, corrections and other prompts of persons, gates and commands that failed, lessons, and
/// evaluations of prompts. The oldest of each kind comes first, also in `commits` (an id and a subject each) and in
/// `evaluations`.
pub fn citable(sources: &CuratorSources<'_>, commits: &[(String, String)], evaluations: &[String]) -> Vec<String> {
    let commits = commits.iter().map(|(id, subject)| format!("commit {id}: {}", clean(subject))).collect();
    let (corrections, prompts) = prompts(sources);
    let lessons = sources.reflections.0.iter().filter_map(lesson).collect();
    let gates = sources.tasks.iter().flat_map(failed_gates).collect();
    let commands = failed_commands(&seen_runs::all(sources));
    let kinds = [commits, corrections, prompts, gates, commands, lessons, evaluations.to_vec()];
    kinds.into_iter().flat_map(newest).collect()
}

/// Returns the last lines of a kind, as many as there is room for.
fn newest(lines: Vec<String>) -> Vec<String> {
    let mut room = MAX_KIND;
    let mut kept = Vec::new();
    for line in lines.into_iter().rev().map(|line| shortened_in_bytes(line, MAX_LINE)) {
        let Some(left) = room.checked_sub(line.len()) else { break };
        room = left;
        kept.push(line);
    }
    kept.reverse();
    kept
}

/// Returns the prompts that correct something, and the other ones.
fn prompts(sources: &CuratorSources<'_>) -> (Vec<String>, Vec<String>) {
    let (mut corrections, mut others) = (Vec::new(), Vec::new());
    for (story, step) in sources.stories.iter().flat_map(|story| story.steps.iter().map(move |step| (story, step))) {
        let Some(text) = words(step) else { continue };
        let list = if corrects(&text) { &mut corrections } else { &mut others };
        list.push(format!("session {}, prompt {}: \"{}\"", name(story), step.id, shortened(&text, MAX_QUOTED)));
    }
    (corrections, others)
}

fn name(story: &Story) -> &str {
    story.session.as_deref().unwrap_or("unknown")
}

/// Returns a person's own words.
fn words(step: &Step) -> Option<String> {
    let Deed::Prompted { from: Speaker::Person, text } = &step.deed else { return None };
    let text = clean(&own_words(text));
    (step.actor.is_none() && says_something(&text)).then_some(text)
}

/// Returns the gates that failed in a task, and the run or the change that cleared each.
fn failed_gates(task: &TaskRecord) -> impl Iterator<Item = String> {
    let place = format!("session {}, {}", task.session, task.ended.strftime("%Y-%m-%d"));
    task.failures.iter().map(move |failure| {
        let cleared = failure.cleared_by.as_ref().map(|by| format!(", and {} cleared it", clean(by)));
        format!("{place}: {} failed{}", failure.gate, cleared.unwrap_or_default())
    })
}

/// Returns the commands that failed, the last of several failures in a row, and the run that passed after each.
fn failed_commands(runs: &[SeenRun<'_>]) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, failed) in runs.iter().enumerate().filter(|(_, run)| run.ran.failed()) {
        let later = || runs[at + 1..].iter().take_while(|run| run.story == failed.story);
        let again = later().find(|run| run.command == failed.command);
        if again.is_some_and(|run| run.ran.failed()) {
            continue;
        }
        let passed = again.or_else(|| later().find(|run| run.passed() && is_like(run, failed)));
        let says = shortened(&clean(explanation(failed)), MAX_QUOTED);
        let says = if says.is_empty() { says } else { format!(": {says}") };
        let then = passed.map(|run| format!(", and `{}` passed after it (run {})", run.command.text, run.id));
        let (session, command, id) = (failed.session, &failed.command.text, failed.id);
        lines.push(format!("session {session}: `{command}` failed (run {id}{says}){}", then.unwrap_or_default()));
    }
    lines
}

/// Returns the line of an output that explains a failure, or else its last line.
fn explanation<'r>(run: &SeenRun<'r>) -> &'r str {
    let last = || run.output.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    if run.ran.says.is_empty() { last() } else { &run.ran.says }
}

/// Returns `true` if another command is of the same program or of the same kind.
fn is_like(run: &SeenRun<'_>, other: &SeenRun<'_>) -> bool {
    let is_same_kind = !run.ran.kinds.is_empty() && run.ran.kinds == other.ran.kinds;
    is_same_kind || run.command.words.first() == other.command.words.first()
}

fn lesson(one: &Reflection) -> Option<String> {
    let (text, cycle, session, role) = (one.lesson_learned.as_deref()?, one.cycle, &one.session, &one.role);
    Some(format!("cycle {cycle}, session {session}: a lesson of role {role}: \"{}\"", clean(text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::session_steps::test_builder::Tale;
    use crate::learn::curator::tests::{cleared, with_sources};
    use crate::learn::reflection_store::Reflections;
    use crate::learn::reflection_store::tests::reflection;

    fn listed(tale: Tale, commits: &[(String, String)]) -> Vec<String> {
        let lessons = Reflections(vec![reflection("a", "dev", "read the log first")]);
        let evaluations = ["session s, evaluation e9: type: feature".to_owned()];
        with_sources(("", &[]), &[tale], &cleared(&["t"]), &lessons, |sources| citable(sources, commits, &evaluations))
    }

    #[test]
    fn each_kind_of_evidence_is_a_line() {
        let tale = Tale::default()
            .prompt("Add a parser")
            .ran("ruff check", 1, "Found 1 error.")
            .ran("ruff check", 1, "Found 1 error.")
            .ran("ruff check", 0, "All checks passed!")
            .ran("make gen", 2, "make: *** No rule to make target 'gen'.  Stop.")
            .ran("make generate", 0, "")
            .stop("done")
            .prompt("Use pnpm instead of npm,\nand mail me@example.org");
        let commits = [("abc1234".to_owned(), "fix: use token=ghp_0123456789abcdefghijABCDEFGHIJ456789".to_owned())];
        let lines = listed(tale, &commits);
        let expected = [
            "commit abc1234: fix: use token=[redacted]",
            "session s, prompt e7: \"Use pnpm instead of npm, and mail [address]\"",
            "session s, prompt e0: \"Add a parser\"",
            "session t, 1970-01-01: tests failed, and `make gen` cleared it",
            "session s: `ruff check` failed (run e2: Found 1 error.), and `ruff check` passed after it (run e3)",
            "session s: `make gen` failed (run e4: make: *** No rule to make target 'gen'. Stop.), \
             and `make generate` passed after it (run e5)",
            "cycle 0, session session-a: a lesson of role dev: \"read the log first\"",
            "session s, evaluation e9: type: feature",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn the_newest_of_each_kind_have_a_limited_size() {
        let tale = (0..500).fold(Tale::default(), |tale, number| tale.prompt(&format!("{number} {}", "x".repeat(999))));
        let commits: Vec<_> = (0..60).map(|number| (number.to_string(), "y".repeat(999))).collect();
        let lines = listed(tale, &commits);
        let size = lines.iter().map(String::len).sum::<usize>();
        assert!(size < 3 * MAX_KIND && lines.iter().all(|line| line.len() <= MAX_LINE + '…'.len_utf8()), "{size}");
        assert!(lines.iter().any(|line| line.starts_with("commit 59: ")) && !lines[0].starts_with("commit 0: "));
        assert!(lines.iter().any(|line| line.contains("\"499 ")), "{lines:?}");
    }
}
