//! Checks that found mistakes in the work of agents, and commands that repaired what a check had found.

use std::collections::BTreeMap;

use super::seen_runs::SeenRun;
use super::{CuratorSources, MemoryProposal, ProposalKind, TWICE, addition};
use crate::command_line::{self, Extent};
use crate::fact::session_steps::Deed;

/// The kinds of checks that a rule is proposed for. A build that failed for a while is everyday work.
const CHECKS: [&str; 3] = ["test", "typecheck", "lint"];
/// The kinds of commands that neither change the work nor prepare it.
const ONLY_READ: [&str; 5] = ["read", "vcs", "ci_query", "pr", "push"];
/// Words in outputs of checks that could not do their work. They found nothing.
const HINDERED: [&str; 7] = [
    "operation not permitted", "permission denied", "read-only file system", "no space left", "no such host",
    "could not resolve", "connection refused",
];
/// The number of occasions that are quoted.
const QUOTED: usize = 3;

/// Returns `true` if a run is a check of all of the work that changes nothing itself.
fn is_check(run: &SeenRun<'_>) -> bool {
    let is_whole = run.ran.scope.is_none_or(|scope| scope == Extent::Full) && run.command.is_whole();
    run.ran.is_check() && is_whole && !run.ran.edits
}

/// Returns `true` if a check found a mistake: its status is known, and it could do its work.
fn found_mistakes(run: &SeenRun<'_>) -> bool {
    let output = run.output.to_lowercase();
    let is_hindered = HINDERED.iter().any(|words| output.contains(words));
    run.ran.failed() && run.ran.ended.is_some() && !is_hindered && command_line::missing_command(run.output).is_none()
}

/// Returns the number of edits of a story before a step.
fn edits_before(sources: &CuratorSources<'_>, story: usize, step: usize) -> usize {
    let steps = &sources.stories[story].steps[..step];
    steps.iter().filter(|step| matches!(step.deed, Deed::Edited(_))).count()
}

/// Returns the proposals to run a check that failed after edits and passed after more of them.
pub(super) fn needed(sources: &CuratorSources<'_>, runs: &[SeenRun<'_>]) -> Vec<MemoryProposal> {
    let mut occasions: BTreeMap<&str, Vec<(&SeenRun<'_>, &SeenRun<'_>)>> = BTreeMap::new();
    let mut open: BTreeMap<(usize, &str), (&SeenRun<'_>, usize)> = BTreeMap::new();
    for run in runs.iter().filter(|run| is_check(run)) {
        let (key, edits) = ((run.story, run.command.text.as_str()), edits_before(sources, run.story, run.step));
        if found_mistakes(run) && edits > 0 {
            open.entry(key).or_insert((run, edits));
        } else if run.passed()
            && let Some((failed, then)) = open.remove(&key)
            && edits > then
        {
            occasions.entry(key.1).or_default().push((failed, run));
        }
    }
    let mut found: Vec<_> = occasions.into_iter().filter(|(_, all)| all.len() >= TWICE).collect();
    found.sort_by_key(|(_, all)| std::cmp::Reverse(all.len()));
    let mut known: Vec<&str> = sources.named_checks.iter().map(String::as_str).collect();
    let mut proposals = Vec::new();
    for (command, all) in found {
        let of = |kind: &&String| CHECKS.contains(&kind.as_str());
        let kinds: Vec<&str> = all[0].1.ran.kinds.iter().filter(of).map(String::as_str).collect();
        if kinds.iter().all(|kind| known.contains(kind)) {
            continue;
        }
        let text = format!("Run `{command}` before you call work done.");
        let evidence = all.iter().rev().take(QUOTED).map(|(failed, passed)| {
            let (session, failed, passed) = (failed.session, failed.id, passed.id);
            format!(
                "session {session}: `{command}` failed after edits (run {failed}), and passed after more (run {passed})"
            )
        });
        if let Some(proposal) = addition(sources, ProposalKind::Needed, &text, evidence.collect()) {
            known.extend(kinds);
            proposals.push(proposal);
        }
    }
    proposals
}

/// Returns the proposals to run a command if a check fails: it was all that happened before the check passed.
pub(super) fn repairs(sources: &CuratorSources<'_>, runs: &[SeenRun<'_>]) -> Vec<MemoryProposal> {
    let mut occasions: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for failed in runs.iter().filter(|run| is_check(run) && run.ran.failed()) {
        let Some((repair, passed)) = repair(sources, runs, failed) else { continue };
        let (check, command) = (failed.command.text.as_str(), repair.command.text.as_str());
        let evidence = format!(
            "session {}: `{check}` failed (run {}), `{command}` ran (run {}), and then it passed (run {})",
            failed.session, failed.id, repair.id, passed.id
        );
        occasions.entry((check, command)).or_default().push(evidence);
    }
    let of = |((check, repair), all): ((&str, &str), Vec<String>)| {
        let text = format!("If `{check}` fails, run `{repair}`.");
        let quoted = all.iter().rev().take(QUOTED).cloned().collect();
        (all.len() >= TWICE).then(|| addition(sources, ProposalKind::Repairs, &text, quoted)).flatten()
    };
    occasions.into_iter().filter_map(of).collect()
}

/// Returns the only command that changed something between a failure of a check and its next run, which passed.
fn repair<'r, 's>(
    sources: &CuratorSources<'_>,
    runs: &'r [SeenRun<'s>],
    failed: &SeenRun<'s>,
) -> Option<(&'r SeenRun<'s>, &'r SeenRun<'s>)> {
    let later = runs.iter().filter(|run| run.story == failed.story && run.step > failed.step);
    let next = later.clone().find(|run| run.command == failed.command).filter(|run| run.passed())?;
    let between = &sources.stories[failed.story].steps[failed.step + 1..next.step];
    let mut changing = Vec::new();
    for (step, one) in (failed.step + 1..).zip(between) {
        match &one.deed {
            Deed::Edited(_) | Deed::Git { .. } | Deed::Subagent { .. } | Deed::Session(_) => return None,
            Deed::Ran(ran) if ran.edits || !ran.kinds.iter().all(|kind| is_harmless(kind)) => changing.push(step),
            _ => {}
        }
    }
    let [step] = changing[..] else { return None };
    let is_repair = |run: &&SeenRun<'_>| run.step == step && run.command.is_whole() && run.command.words[0] != "git";
    later.clone().find(is_repair).map(|repair| (repair, next))
}

/// Returns `true` if a command of this kind leaves the work as it is.
fn is_harmless(kind: &str) -> bool {
    ONLY_READ.contains(&kind) || kind == "build" || CHECKS.contains(&kind)
}

#[cfg(test)]
mod tests {
    use crate::fact::session_steps::test_builder::Tale;
    use crate::learn::curator::tests::curated;

    fn texts(memory: &str, tale: Tale) -> Vec<String> {
        curated(memory, &[tale]).into_iter().map(|one| one.text).collect()
    }

    fn caught(tale: Tale) -> Tale {
        tale.edit("a.py", "x", "y")
            .ran("ruff check", 1, "Found 1 error.")
            .edit("a.py", "y", "z")
            .ran("ruff check", 0, "All checks passed!")
    }

    #[test]
    fn a_check_that_found_mistakes_twice_is_proposed() {
        let expected = ["Run `ruff check` before you call work done."];
        let tale = || caught(caught(Tale::default()));
        assert_eq!(texts("", tale()), expected);
        assert!(texts("", caught(Tale::default())).is_empty(), "once");
        assert!(texts("Run `ruff check`.", tale()).is_empty(), "it is there");
        assert_eq!(
            curated("", &[tale()])[0].evidence[0],
            "session s: `ruff check` failed after edits (run e5), and passed after more (run e7)"
        );
    }

    #[test]
    fn a_check_that_was_red_before_or_looked_at_a_part_is_not() {
        let flaky = |tale: Tale| {
            tale.edit("a.py", "x", "y")
                .ran("ruff check", 1, "Found 1 error.")
                .ran("ruff check", 0, "All checks passed!")
        };
        assert!(texts("", flaky(flaky(Tale::default()))).is_empty(), "nothing was edited");
        let before = |tale: Tale| {
            tale.ran("ruff check", 1, "Found 1 error.")
                .edit("a.py", "y", "z")
                .ran("ruff check", 0, "All checks passed!")
        };
        assert!(texts("", before(Tale::default())).is_empty(), "nothing was edited before");
        let part = |tale: Tale| {
            let red = tale.edit("a.py", "x", "y").ran("ruff check a.py", 1, "Found 1 error.");
            red.edit("a.py", "y", "z").ran("ruff check a.py", 0, "All checks passed!")
        };
        assert!(texts("", part(part(Tale::default()))).is_empty());
        let hindered = |tale: Tale| {
            let red = tale.edit("a.py", "x", "y").ran("ruff check", 1, "error: cache: Operation not permitted");
            red.edit("a.py", "y", "z").ran("ruff check", 0, "All checks passed!")
        };
        assert!(texts("", hindered(hindered(Tale::default()))).is_empty(), "it found nothing");
    }

    #[test]
    fn what_repaired_a_check_twice_is_proposed() {
        let once = |tale: Tale, between: &[&str]| {
            let red = tale.ran("ruff check", 1, "Found 1 error.");
            let repaired = between.iter().fold(red, |tale, line| tale.ran(line, 0, ""));
            repaired.ran("ruff check", 0, "All checks passed!")
        };
        let twice = |between: &[&str]| once(once(Tale::default(), between), between);
        let expected = ["If `ruff check` fails, run `ruff check --fix`."];
        assert_eq!(texts("", twice(&["ruff check --fix"])), expected);
        assert_eq!(texts("", twice(&["git diff", "ruff check --fix", "cat a.py"])), expected);
        assert!(texts("", once(Tale::default(), &["ruff check --fix"])).is_empty(), "once");
        assert!(texts("", twice(&["ruff check --fix", "sed -i s/a/b/ a.py"])).is_empty(), "two changes");
        assert!(texts("", twice(&["git stash"])).is_empty());
        let edited = |tale: Tale| {
            let red = tale.ran("ruff check", 1, "Found 1 error.").ran("ruff check --fix", 0, "");
            red.edit("a.py", "x", "y").ran("ruff check", 0, "All checks passed!")
        };
        assert!(!texts("", edited(edited(Tale::default()))).contains(&expected[0].to_owned()), "an edit may be why");
    }
}
