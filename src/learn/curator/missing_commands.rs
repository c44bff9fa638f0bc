//! Commands that do not exist here: those that another one replaced, and rules that name one.

use std::collections::BTreeMap;

use super::seen_runs::{RunFolder, SeenRun};
use super::{CuratorSources, MIN_FAILED_RUNS, MemoryProposal, ProposalKind, TWICE, addition, proposal, rules};
use crate::learn::exists_below;
use crate::learn::memory_file::{self, MemoryChange};
use crate::{command_line, foreign_text};

/// The number of words in front of which the missing one may stand.
const MAX_NAME: usize = 4;
/// The longest line of an output that is quoted, in characters.
const MAX_LINE: usize = 120;

/// A run that failed because its program, its subcommand or its script does not exist.
struct MissingCommand<'r, 's> {
    run: &'r SeenRun<'s>,
    /// The line of its output that says so.
    says: &'r str,
    /// The number of words up to the missing one.
    name: usize,
}

impl MissingCommand<'_, '_> {
    fn evidence(&self) -> String {
        let says = foreign_text::shortened(self.says.trim(), MAX_LINE);
        let (run, place) = (self.run, self.run.place.shown());
        format!("session {}, run {}: `{}` failed{place}: {says}", run.session, run.id, run.command.text)
    }

    /// Returns `true` if the command is missing at every place: a program is, and a script or a target is not.
    fn is_everywhere(&self) -> bool {
        self.name == 1 && !self.run.command.words[0].contains('/')
    }
}

/// Returns the proposals about commands that do not exist.
pub(super) fn missing(sources: &CuratorSources<'_>, runs: &[SeenRun<'_>]) -> Vec<MemoryProposal> {
    let mut groups: BTreeMap<&[String], Vec<MissingCommand<'_, '_>>> = BTreeMap::new();
    for one in runs.iter().filter_map(missing_command) {
        groups.entry(&one.run.command.words[..one.name]).or_default().push(one);
    }
    let never_passed = |name: &[String]| !runs.iter().any(|run| run.passed() && run.command.begins_with(name));
    groups.retain(|name, found| found.len() >= TWICE && never_passed(name));
    groups.values().filter_map(|found| replaced(sources, runs, found).or_else(|| named(sources, found))).collect()
}

fn missing_command<'r, 's>(run: &'r SeenRun<'s>) -> Option<MissingCommand<'r, 's>> {
    let says = Some(run).filter(|run| !run.passed()).and_then(|run| command_line::missing_command(run.output))?;
    let is_named = |word: &str| {
        says.split(|c: char| c.is_whitespace() || "\"'`()[]".contains(c))
            .any(|token| token.trim_matches([':', ',', '.']) == word)
    };
    let name = 1 + run.command.words.iter().take(MAX_NAME).rposition(|word| is_named(word))?;
    Some(MissingCommand { run, says, name })
}

/// Returns the proposal to run another command, which the same session ran afterwards.
fn replaced(
    sources: &CuratorSources<'_>,
    runs: &[SeenRun<'_>],
    found: &[MissingCommand<'_, '_>],
) -> Option<MemoryProposal> {
    let in_place_of = |one: &MissingCommand<'_, '_>| Some((one.run.command.text.clone(), replacement(one, runs)?));
    // Where a script or a target is missing in a folder only, a rule for all of the work would be wrong.
    let found: Vec<&MissingCommand<'_, '_>> =
        found.iter().filter(|one| one.is_everywhere() || one.run.place == RunFolder::Root).collect();
    let (wrong, right) = found.iter().copied().find_map(in_place_of).filter(|_| found.len() >= TWICE)?;
    let right_text = &right.command.text;
    let text = format!("Run `{right_text}`, not `{wrong}`.");
    let mut evidence: Vec<String> = found.iter().rev().take(MIN_FAILED_RUNS).map(|one| one.evidence()).collect();
    evidence.push(format!("session {}, run {}: `{right_text}` passed", right.session, right.id));
    let lines: Vec<&str> = sources.memory.lines().collect();
    let managed = memory_file::managed(&lines);
    let is_warning = |line: &str| line.contains(&format!("not `{wrong}`"));
    match (0..lines.len()).find(|at| !managed[*at] && lines[*at].contains(&wrong) && !is_warning(lines[*at])) {
        Some(at) => {
            let change = MemoryChange::Replace { lines: vec![at], from: wrong, to: right_text.clone() };
            Some(proposal(sources, ProposalKind::Missing, &text, change, evidence))
        }
        None => addition(sources, ProposalKind::Missing, &text, evidence),
    }
}

/// Returns the command that the same session ran with success in the place of one that is missing: the one with the same
/// arguments, or else the first.
fn replacement<'r, 's>(missing: &MissingCommand<'_, '_>, runs: &'r [SeenRun<'s>]) -> Option<&'r SeenRun<'s>> {
    let (missing, name) = (missing.run, missing.name);
    let is_later = |run: &&SeenRun<'_>| run.story == missing.story && run.step > missing.step && run.passed();
    let asks = |run: &SeenRun<'_>| run.ran.kinds.iter().all(|kind| kind == "read" || kind == "install");
    let is_program = name == 1 && !missing.command.words[0].contains('/');
    let stands = |run: &SeenRun<'_>| stands_for(&run.command.words, &missing.command.words, name);
    let fits = |run: &&SeenRun<'_>| !asks(run) && (is_program || run.place == missing.place) && stands(run);
    let all: Vec<&SeenRun<'_>> = runs.iter().filter(is_later).filter(fits).collect();
    let text = &missing.command.text;
    let is_same = |run: &&SeenRun<'_>| text.ends_with(&run.command.text) || run.command.text.ends_with(text.as_str());
    all.iter().copied().find(is_same).or_else(|| all.first().copied())
}

/// Returns `true` if a command does what another one was to do, whose word number `name` is missing: it is the other one
/// without the words in front of it, or with words in front of it.
fn stands_for(words: &[String], other: &[String], name: usize) -> bool {
    let same = |one: &[String], other: &[String]| {
        let length = other.len().min(2);
        one.len() >= length && one[..length] == other[..length]
    };
    let shorter = (1..name).any(|from| same(words, &other[from..]));
    let longer =
        other.len() > 1 && (1..words.len()).any(|from| words[from..].starts_with(&other[..other.len().min(name + 1)]));
    shorter || longer
}

/// Returns the folders that a rule speaks of, outside of its code or in it.
fn folders_of<'r>(sources: &CuratorSources<'_>, rule: &'r str) -> Vec<&'r str> {
    let words = rule.split(|c: char| c.is_whitespace() || "`,;:()[]\"'".contains(c));
    let words = words.map(|word| word.trim_start_matches("./").trim_end_matches(['/', '.']));
    words
        .filter(|word| !word.is_empty() && sources.root.join(word).is_dir() && exists_below(sources.root, word))
        .collect()
}

/// Returns the proposal to remove a rule that names a command that does not exist.
fn named(sources: &CuratorSources<'_>, found: &[MissingCommand<'_, '_>]) -> Option<MemoryProposal> {
    let name = found.first().map(|one| one.run.command.words[..one.name].join(" "))?;
    let is_name = |code: &str| code == name || code.strip_prefix(&name).is_some_and(|rest| rest.starts_with(' '));
    let (at, rule) = rules(sources).find(|(_, rule)| memory_file::code(rule).any(is_name))?;
    let folders = folders_of(sources, rule);
    let is_meant = |one: &&MissingCommand<'_, '_>| {
        one.is_everywhere()
            || match &one.run.place {
                RunFolder::Root => folders.is_empty(),
                RunFolder::Folder(folder) => folders.contains(&folder.as_str()),
                RunFolder::Elsewhere => false,
            }
    };
    let found: Vec<&MissingCommand<'_, '_>> = found.iter().filter(is_meant).collect();
    let evidence = found.iter().rev().take(MIN_FAILED_RUNS).map(|one| one.evidence()).collect();
    (found.len() >= MIN_FAILED_RUNS)
        .then(|| proposal(sources, ProposalKind::AlwaysFails, rule, MemoryChange::Remove(at), evidence))
}

#[cfg(test)]
mod tests {
    use crate::fact::session_steps::test_builder::Tale;
    use crate::learn::curator::tests::curated;
    use crate::learn::curator::{MemoryProposal, ProposalKind};

    const SAYS: &str = "error: unrecognized subcommand 'pytest'\n\nUsage: wrap <COMMAND>";

    fn texts(proposals: &[MemoryProposal]) -> Vec<&str> {
        proposals.iter().filter(|one| one.kind == ProposalKind::Missing).map(|one| one.text.as_str()).collect()
    }

    fn twice(wrong: &str, says: &str, right: &str) -> Tale {
        let once = Tale::default().ran(wrong, 2, says).ran(right, 0, "3 passed in 0.10s");
        once.stop("done").ran(wrong, 2, says).ran(right, 0, "3 passed in 0.10s")
    }

    #[test]
    fn a_command_in_the_place_of_a_missing_one_is_proposed() {
        for (wrong, says, right) in [
            ("wrap pytest -q", SAYS, "pytest -q"),
            ("wrap pytest -q 2>&1 | tail -3", SAYS, "pytest -q"),
            ("vp fmt a", "zsh:1: command not found: vp", "pnpm exec vp fmt a"),
        ] {
            let proposals = curated("", &[twice(wrong, says, right)]);
            let wrong = wrong.split(" 2>").next().unwrap();
            assert_eq!(texts(&proposals), [format!("Run `{right}`, not `{wrong}`.")]);
            let first = says.lines().next().unwrap();
            assert_eq!(proposals[0].evidence[0], format!("session s, run e3: `{wrong}` failed: {first}"));
            assert_eq!(proposals[0].evidence[2], format!("session s, run e1: `{right}` passed"));
        }
    }

    #[test]
    fn a_rule_that_names_the_missing_command_is_corrected() {
        let tale = || twice("wrap pytest -q", SAYS, "pytest -q");
        let patch = &curated("- Run `wrap pytest -q`.\n", &[tale()])[0].patch;
        assert!(patch.contains("\n-- Run `wrap pytest -q`.\n+- Run `pytest -q`.\n"), "{patch}");
        let known = "- Run `pytest -q`, not `wrap pytest -q`.\n";
        assert!(texts(&curated(known, &[tale()])).is_empty());
    }

    #[test]
    fn nothing_is_proposed_without_a_pattern() {
        for tale in [
            Tale::default().ran("wrap pytest -q", 2, SAYS).ran("pytest -q", 0, "3 passed in 0.10s"),
            twice("wrap pytest -q", SAYS, "pytest -q").ran("wrap pytest -q", 0, "3 passed in 0.10s"),
            twice("wrap pytest -q", SAYS, "ls"),
            twice("wrap pytest -q", "E   helper: command not found", "pytest -q"),
            twice("wrap pytest -q", "1 failed", "pytest -q"),
            twice("vp fmt", "command not found: vp", "which vp"),
        ] {
            let entries = format!("{:?}", tale.entries);
            assert!(texts(&curated("", &[tale])).is_empty(), "{entries}");
        }
    }

    #[test]
    fn a_rule_with_a_command_that_nothing_replaced_goes_after_three_runs() {
        let ran = |tale: Tale| tale.ran("npm run fmt", 1, "npm error Missing script: \"fmt\"");
        let memory = "- Run `npm run fmt`.\n- Be kind.\n";
        let kinds = |tale: Tale| curated(memory, &[tale]).iter().map(|one| one.kind).collect::<Vec<_>>();
        assert!(kinds(ran(ran(Tale::default()))).is_empty());
        assert_eq!(kinds(ran(ran(ran(Tale::default())))), [ProposalKind::AlwaysFails]);
        let beside = |tale: Tale| tale.ran("cd web && npm run fmt", 1, "npm error Missing script: \"fmt\"");
        assert!(kinds(beside(beside(beside(Tale::default())))).is_empty(), "it may exist at the root");
        assert!(kinds(beside(ran(ran(Tale::default())))).is_empty());
        let red = |tale: Tale| tale.ran("npm run fmt", 1, "a.js is not formatted");
        assert!(kinds(red(red(red(Tale::default())))).is_empty(), "it exists");
    }
}
