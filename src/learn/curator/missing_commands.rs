//! Commands that do not exist here: those that another one replaced, and rules that name one.

use std::collections::BTreeMap;

use super::seen_runs::SeenRun;
use super::{CuratorSources, MIN_FAILED_RUNS, MemoryProposal, ProposalKind, TWICE, addition, proposal, rules};
use crate::command_line;
use crate::foreign_text;
use crate::learn::memory_file::{self, MemoryChange};

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
        format!("session {}, run {}: `{}` failed: {says}", self.run.session, self.run.id, self.run.command.text)
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
    let of = |found: &Vec<MissingCommand<'_, '_>>| replaced(sources, runs, found).or_else(|| named(sources, found));
    groups.values().filter_map(of).collect()
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
    let later = |one: &MissingCommand<'_, '_>| {
        let is_later = |run: &&SeenRun<'_>| run.story == one.run.story && run.step > one.run.step && run.passed();
        let fits = |run: &&SeenRun<'_>| stands_for(&run.command.words, &one.run.command.words, one.name);
        let all: Vec<&SeenRun<'_>> = runs.iter().filter(is_later).filter(fits).collect();
        let is_the_rest = |run: &&&SeenRun<'_>| {
            one.run.command.text.ends_with(&run.command.text) || run.command.text.ends_with(&one.run.command.text)
        };
        all.iter().find(is_the_rest).or_else(|| all.first()).map(|run| (one.run.command.text.clone(), *run))
    };
    let (wrong, right) = found.iter().find_map(later)?;
    let right_text = &right.command.text;
    let text = format!("Run `{right_text}`, not `{wrong}`.");
    let mut evidence: Vec<String> = found.iter().rev().take(MIN_FAILED_RUNS).map(MissingCommand::evidence).collect();
    evidence.push(format!("session {}, run {}: `{right_text}` passed", right.session, right.id));
    let line =
        sources.memory.lines().position(|line| line.contains(wrong.as_str()) && !line.contains(right_text.as_str()));
    match line {
        Some(at) => {
            let change = MemoryChange::Replace { at, from: wrong, to: right_text.clone() };
            Some(proposal(sources, ProposalKind::Missing, &text, change, evidence))
        }
        None => addition(sources, ProposalKind::Missing, &text, evidence),
    }
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

/// Returns the proposal to remove a rule that names a command that does not exist.
fn named(sources: &CuratorSources<'_>, found: &[MissingCommand<'_, '_>]) -> Option<MemoryProposal> {
    let name = found.first().map(|one| one.run.command.words[..one.name].join(" "))?;
    let is_name = |code: &str| code == name || code.strip_prefix(&name).is_some_and(|rest| rest.starts_with(' '));
    let (at, rule) = rules(sources).find(|(_, rule)| memory_file::code(rule).any(is_name))?;
    let evidence = found.iter().rev().take(MIN_FAILED_RUNS).map(MissingCommand::evidence).collect();
    (found.len() >= MIN_FAILED_RUNS)
        .then(|| proposal(sources, ProposalKind::AlwaysFails, rule, MemoryChange::Remove(at), evidence))
}
