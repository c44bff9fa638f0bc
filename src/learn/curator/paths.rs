//! Paths in the memory file that are gone, or that lie somewhere else now.

use std::collections::BTreeMap;

use super::mentions::{LineMention, is_path, mentions, without};
use super::{CuratorSources, MemoryProposal, ProposalKind, proposal};
use crate::git::PathFate;
use crate::learn::memory_file::{self, MemoryChange};

/// The largest number of paths that git is asked about: words of plain text may look like paths.
const MAX_ASKED: usize = 60;
/// The programs that run the file which they are given.
const INTERPRETERS: [&str; 10] = ["bash", "bun", "deno", "node", "perl", "php", "python", "python3", "ruby", "sh"];
/// Words of sentences that speak of the past. What they say of a path that is gone is right.
const PAST: [&str; 18] = [
    "anymore", "deleted", "deprecated", "former", "formerly", "gone", "historic", "history", "longer", "moved",
    "obsolete", "previously", "removed", "renamed", "replaced", "retired", "was", "were",
];
/// Words of sentences that forbid something. A path that is gone does not contradict them.
const FORBIDS: [&str; 12] =
    ["avoid", "cannot", "don't", "don’t", "instead", "never", "no", "nor", "not", "recreate", "restore", "without"];

/// A path of the memory file that is not there any more.
struct LostPath {
    name: String,
    fate: PathFate,
    /// The lines that may be corrected if it moved.
    lines: Vec<usize>,
}

/// Returns the proposals about paths that do not exist any more.
pub(super) fn outdated(sources: &CuratorSources<'_>) -> Vec<MemoryProposal> {
    let mut lost: Vec<LostPath> = Vec::new();
    let mut asked: BTreeMap<String, Option<usize>> = BTreeMap::new();
    let mut gone = Vec::new();
    let mut in_block = false;
    let lines: Vec<&str> = sources.memory.lines().collect();
    let managed = memory_file::managed(&lines);
    // The target of a link begins in the folder of the file.
    let has_links = sources.name.parent().is_none_or(|folder| folder.as_os_str().is_empty());
    for (at, line) in lines.iter().enumerate().filter(|(at, _)| !managed[*at]) {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
            continue;
        }
        let named = if in_block { listed(line).into_iter().collect() } else { mentions(line, has_links) };
        for (index, path) in named.iter().enumerate().flat_map(|(index, one)| one.paths.iter().map(move |p| (index, p)))
        {
            if asked.len() >= MAX_ASKED && !asked.contains_key(*path) {
                continue;
            }
            let known = asked.entry((*path).to_owned()).or_insert_with(|| {
                let fate = (sources.fate)(path.trim_start_matches("./"))?;
                lost.push(LostPath { name: (*path).to_owned(), fate, lines: Vec::new() });
                Some(lost.len() - 1)
            });
            let Some(one) = known.map(|known| &mut lost[known]) else { continue };
            if one.fate.first_commit().is_some_and(|commit| (sources.is_younger)(at, commit)) {
                continue;
            }
            let about = without(line, &named);
            if one.fate.moved_to().is_none() {
                gone.extend(
                    removal(sources, at, line, &named, index, in_block)
                        .map(|change| (at, change, evidence(&one.fate, path))),
                );
            } else if !has_word(&about, &PAST) && !one.lines.contains(&at) {
                one.lines.push(at);
            }
        }
    }
    let mut found: Vec<(usize, MemoryProposal)> = lost.iter().filter_map(|one| moved(sources, one)).collect();
    found.extend(gone.into_iter().map(|(at, change, evidence)| {
        let rule = memory_file::rule(lines[at]);
        (at, proposal(sources, ProposalKind::PathGone, rule, change, evidence))
    }));
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, proposal)| proposal).collect()
}

/// Returns the path at the beginning of a line of a listing, or that of the file which a command there runs.
fn listed(line: &str) -> Option<LineMention<'_>> {
    let text = line.trim_start().trim_start_matches("$ ");
    let mut words = text.split_whitespace();
    let first = words.next()?;
    let path = if INTERPRETERS.contains(&first) { words.next()? } else { first };
    is_path(path).then(|| LineMention { place: 0..line.len(), paths: vec![path] })
}

/// Returns the commits that took a path away.
fn evidence(fate: &PathFate, name: &str) -> Vec<String> {
    let moves = fate.moves.iter().map(|one| format!("commit {} moved {} to {}", one.commit, one.from, one.to));
    let last = fate.moves.last().map_or(name, |one| one.to.as_str());
    let deleted = fate.deleted_by.iter().map(|commit| format!("commit {commit} deleted {last}"));
    moves.chain(deleted).collect()
}

/// Returns the correction of a path that moved, and its first line.
fn moved(sources: &CuratorSources<'_>, lost: &LostPath) -> Option<(usize, MemoryProposal)> {
    let (name, to) = (&lost.name, lost.fate.moved_to()?);
    let to = if name.ends_with('/') && !to.ends_with('/') { format!("{to}/") } else { to.to_owned() };
    let text = format!("`{name}` is `{to}` now.");
    let change = MemoryChange::Replace { lines: lost.lines.clone(), from: name.clone(), to };
    let first = *lost.lines.first()?;
    (memory_file::changed(sources.memory, &change) != sources.memory)
        .then(|| (first, proposal(sources, ProposalKind::PathMoved, &text, change, evidence(&lost.fate, name))))
}

/// Returns the edit that takes a deleted path out of a line and leaves the rest of it true, or `None` if there is no such
/// edit, or if the line is right.
fn removal(
    sources: &CuratorSources<'_>,
    at: usize,
    line: &str,
    named: &[LineMention<'_>],
    index: usize,
    is_listed: bool,
) -> Option<MemoryChange> {
    let about = without(line, named);
    if has_word(&about, &PAST) || has_word(&about, &FORBIDS) {
        return None;
    }
    if is_listed {
        let in_comment =
            line.split_once('#').is_some_and(|(_, words)| has_word(words, &PAST) || has_word(words, &FORBIDS));
        return (!in_comment).then_some(MemoryChange::Remove(at));
    }
    let cut = |place: std::ops::Range<usize>| {
        let change = MemoryChange::Replace { lines: vec![at], from: line[place].to_owned(), to: String::new() };
        (memory_file::changed(sources.memory, &change) != sources.memory).then_some(change)
    };
    if let Some(aside) = aside(line, named, index) {
        return cut(aside);
    }
    let own = named[index].place.start;
    let is_beside =
        |other: usize| other != index && bracket(line, &named[other]).is_none_or(|place| place.contains(&own));
    if !(0..named.len()).any(is_beside) {
        return (memory_file::rule(line) != line.trim()).then_some(MemoryChange::Remove(at));
    }
    cut(enumerated(line, named, index)?)
}

/// Returns the brackets around a mention, with the space in front of them.
fn bracket(line: &str, mention: &LineMention<'_>) -> Option<std::ops::Range<usize>> {
    let (before, after) = (&line[..mention.place.start], &line[mention.place.end..]);
    ["()", "[]"].iter().find_map(|pair| {
        let (open, close) = (&pair[..1], &pair[1..]);
        let start = before.rfind(open).filter(|start| !before[*start..].contains(close))?;
        let end = after.find(close).filter(|end| !after[..*end].contains(open))?;
        let start = if before[..start].ends_with(' ') { start - 1 } else { start };
        Some(start..mention.place.end + end + 1)
    })
}

/// Returns the brackets around a path if they hold nothing else that is named.
fn aside(line: &str, named: &[LineMention<'_>], index: usize) -> Option<std::ops::Range<usize>> {
    let place = bracket(line, &named[index])?;
    (named.iter().filter(|other| place.contains(&other.place.start)).count() == 1).then_some(place)
}

/// Returns the part of an enumeration that names a path, with the words that join it to its neighbour.
fn enumerated(line: &str, named: &[LineMention<'_>], index: usize) -> Option<std::ops::Range<usize>> {
    let joins = |between: &str| {
        if named.len() == 2 { [" and ", " and then ", ", then ", ", "].contains(&between) } else { between == ", " }
    };
    let own = &named[index].place;
    let next = named.get(index + 1).filter(|next| joins(&line[own.end..next.place.start]));
    let last = index.checked_sub(1).map(|last| &named[last]).filter(|last| joins(&line[last.place.end..own.start]));
    next.map(|next| own.start..next.place.start).or_else(|| last.map(|last| last.place.end..own.end))
}

fn has_word(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’').any(|word| words.contains(&word))
}
