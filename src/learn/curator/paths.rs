//! Paths in the memory file that are gone, or that lie somewhere else now.

use super::{CuratorSources, MemoryProposal, ProposalKind, proposal};
use crate::git::PathFate;
use crate::learn::memory_file::{self, MemoryChange};

/// A path in a line of the memory file.
struct NamedPath<'m> {
    /// The path, as it stands there.
    text: &'m str,
    /// `true` if it stands in a block of code, and not in a sentence.
    is_listed: bool,
}

/// Returns the proposals about paths that do not exist any more.
pub(super) fn outdated(sources: &CuratorSources<'_>) -> Vec<MemoryProposal> {
    let mut found = Vec::new();
    let mut in_block = false;
    let lines: Vec<&str> = sources.memory.lines().collect();
    let managed = memory_file::managed(&lines);
    for (at, line) in lines.into_iter().enumerate().filter(|(at, _)| !managed[*at]) {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
            continue;
        }
        let paths = if in_block { listed(line).into_iter().collect() } else { spoken(line) };
        let fates =
            paths.into_iter().filter_map(|path| Some(((sources.fate)(path.text.trim_start_matches("./"))?, path)));
        found.extend(fates.filter_map(|(fate, path)| edit(sources, at, line, &path, fate)));
    }
    found
}

/// Returns the path at the beginning of a line of a listing.
fn listed(line: &str) -> Option<NamedPath<'_>> {
    let word = line.split_whitespace().next()?;
    is_path(word).then_some(NamedPath { text: word, is_listed: true })
}

/// Returns the paths that a sentence marks as code.
fn spoken(line: &str) -> Vec<NamedPath<'_>> {
    let spans = memory_file::code(line).filter(|code| is_path(code));
    spans.map(|text| NamedPath { text, is_listed: false }).collect()
}

/// Returns `true` if a word is a relative path, and no pattern, address or option.
fn is_path(word: &str) -> bool {
    let is_odd = |c: char| c.is_whitespace() || "*<>{}$~:#?=|&;()".contains(c);
    word.contains(['/', '.']) && !word.starts_with(['/', '-', '@']) && !word.contains("..") && !word.contains(is_odd)
}

/// Returns the edit that leaves the rest of the line true, or `None` if there is no such edit.
fn edit(
    sources: &CuratorSources<'_>,
    at: usize,
    line: &str,
    path: &NamedPath<'_>,
    fate: PathFate,
) -> Option<MemoryProposal> {
    let (name, commit) = (path.text, fate.commit);
    if let Some(to) = fate.moved_to {
        let to = if name.ends_with('/') && !to.ends_with('/') { to + "/" } else { to };
        let text = format!("`{name}` is `{to}` now.");
        let change = MemoryChange::Replace { at, from: name.to_owned(), to: to.clone() };
        let evidence = vec![format!("commit {commit} moved {name} to {to}")];
        return Some(proposal(sources, ProposalKind::PathMoved, &text, change, evidence));
    }
    let evidence = vec![format!("commit {commit} deleted {name}")];
    let aside =
        [format!(" (`{name}`)"), format!(" [`{name}`]")].into_iter().find(|aside| line.contains(aside.as_str()));
    let change = match aside {
        Some(from) => MemoryChange::Replace { at, from, to: String::new() },
        None if path.is_listed || is_about(line, name) => MemoryChange::Remove(at),
        None => return None,
    };
    Some(proposal(sources, ProposalKind::PathGone, memory_file::rule(line), change, evidence))
}

/// Returns `true` if a line is a rule about this path alone.
fn is_about(line: &str, name: &str) -> bool {
    memory_file::rule(line) != line.trim() && memory_file::code(line).all(|code| code == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_other_code() {
        for (word, expected) in [
            ("src/a.rs", true),
            ("README.md", true),
            ("docs/", true),
            ("src/**/*.rs", false),
            ("https://x.org/a", false),
            ("/etc/hosts", false),
            ("../other/a", false),
            ("a|b/c", false),
            ("make", false),
            ("@scope/name", false),
        ] {
            assert_eq!(is_path(word), expected, "{word}");
        }
    }
}
