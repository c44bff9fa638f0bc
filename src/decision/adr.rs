//! Architecture decision records: the forms of Nygard (2011) and of MADR, as files.

use super::{AdrStatus, Decision, RecordKind, revision};
use crate::repo_path::RepoPath;

/// Returns the record in a file; `None` if it has no title, or neither a status nor a decision: an index, a template.
pub(super) fn read(path: &RepoPath, text: &str) -> Option<Decision> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (front, body) = front_matter(text);
    let mut title: Option<(u32, &str)> = None;
    let mut section = String::new();
    let mut status = front.and_then(|front| {
        front.lines().find_map(|line| status(line.strip_prefix("status:")?.trim().trim_matches(['"', '\''])))
    });
    let mut decision: Vec<&str> = Vec::new();
    let mut said: Vec<&str> = front.into_iter().collect();
    let skipped = text.lines().count() - body.lines().count();
    let lines: Vec<&str> = body.lines().collect();
    for (number, line) in (1u32..).zip(&lines) {
        let trimmed = line.trim();
        let under = lines.get(number as usize).map_or("", |line| line.trim());
        if is_underline(trimmed) {
            continue;
        }
        let underlined = |mark: char| is_underline(under) && under.starts_with(mark) && !trimmed.is_empty();
        if let Some(heading) = trimmed.strip_prefix("## ").or_else(|| underlined('-').then_some(trimmed)) {
            section = heading.trim().to_lowercase();
            continue;
        }
        let heading = trimmed.strip_prefix("# ").or_else(|| underlined('=').then_some(trimmed));
        if let Some(heading) = heading.filter(|_| title.is_none()) {
            title = Some((number, heading.trim()));
            continue;
        }
        said.push(trimmed);
        let plain = trimmed.trim_start_matches(['*', '-', ' ']).replace("**", "");
        let named = plain.split_once(':').filter(|(key, _)| key.trim().eq_ignore_ascii_case("status"));
        if let Some((_, value)) = named {
            status = status.or_else(|| self::status(value.trim()));
        } else if section == "status" && !trimmed.is_empty() {
            status = status.or_else(|| self::status(&plain));
        } else if (section == "decision" || section == "decision outcome") && !trimmed.is_empty() {
            decision.push(trimmed);
        }
    }
    let (line, title) = title?;
    if status.is_none() && decision.is_empty() {
        return None;
    }
    Some(Decision {
        kind: RecordKind::Adr,
        id: id(path, title),
        text: if decision.is_empty() { title.to_owned() } else { format!("{title}: {}", decision.join(" ")) },
        within: String::new(),
        status,
        revises: revision::named_in(&said.join(" ")),
        patterns: Vec::new(),
        paths: Vec::new(),
        path: path.clone(),
        line: line + u32::try_from(skipped).unwrap_or_default(),
    })
}

/// Returns `true` if a line makes the one above it a heading.
fn is_underline(line: &str) -> bool {
    line.len() > 2 && ["=", "-"].iter().any(|mark| line.replace(mark, "").is_empty())
}

fn front_matter(text: &str) -> (Option<&str>, &str) {
    let inner = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    inner.map_or((None, text), |(front, body)| (Some(front), body))
}

/// Returns the status that a text begins with.
pub(super) fn status(text: &str) -> Option<AdrStatus> {
    let word = text.split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty())?;
    Some(match word.to_lowercase().as_str() {
        "proposed" | "draft" | "pending" => AdrStatus::Proposed,
        "accepted" | "approved" | "decided" | "adopted" | "active" => AdrStatus::Accepted,
        "rejected" | "declined" => AdrStatus::Rejected,
        "deprecated" | "obsolete" | "retired" | "withdrawn" => AdrStatus::Deprecated,
        "superseded" | "superceded" | "replaced" => AdrStatus::Superseded,
        _ => return None,
    })
}

/// Returns `adr-4`, by the number in the name of the file or in the title; else the name of the file.
fn id(path: &RepoPath, title: &str) -> String {
    let whole = String::from_utf8_lossy(path.as_bytes()).into_owned();
    let stem = whole.rsplit('/').next().unwrap_or(&whole);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    revision::number(stem).or_else(|| revision::number(title)).unwrap_or_else(|| stem.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_several_forms_are_read() {
        let nygard = "# 4. One pool per core\n\nDate: 2026-01-02\n\n## Status\n\nAccepted\n\nSupersedes [2. A global \
                      pool](0002-a-global-pool.md)\n\n## Context\n\nx\n\n## Decision\n\nWe use one pool\nfor each core.\n\n## \
                      Consequences\n\ny\n";
        let madr = "---\nstatus: \"accepted\"\ndate: 2026-01-02\n---\n\n# Use one pool\n\n## Considered Options\n\n* a\n* \
                    b\n\n## Decision Outcome\n\nChosen option: \"a\"\n";
        let old = "# Use one pool\n\n* Status: superseded by [ADR-0007](0007-x.md)\n* Deciders: a\n";
        let bom = format!("\u{feff}{nygard}");
        let setext = "6. One pool\n===========\n\nStatus\n------\n\nAccepted\n\nDecision\n--------\n\nOne for all.\n";
        for (path, text, expected) in [
            ("docs/adr/0004-one-pool.md", nygard, Some(("adr-4", Some(AdrStatus::Accepted), 1))),
            ("docs/decisions/0012-pool.md", madr, Some(("adr-12", Some(AdrStatus::Accepted), 6))),
            ("docs/adr/0004-one-pool.md", bom.as_str(), Some(("adr-4", Some(AdrStatus::Accepted), 1))),
            ("docs/adr/0006-s.md", setext, Some(("adr-6", Some(AdrStatus::Accepted), 1))),
            ("adr/pool.md", old, Some(("pool", Some(AdrStatus::Superseded), 1))),
            ("docs/adr/README.md", "# Decisions\n\n* [4](0004-one-pool.md)\n", None),
            ("docs/adr/0001-x.md", "no title", None),
        ] {
            let read = read(&RepoPath::from(path), text);
            let shown = read.as_ref().map(|adr| (adr.id.as_str(), adr.status, adr.line));
            assert_eq!(shown, expected, "{path}");
        }
        let read = read(&RepoPath::from("docs/adr/0004-one-pool.md"), nygard).unwrap();
        assert_eq!(read.text, "4. One pool per core: We use one pool for each core.");
        assert_eq!(read.revises, ["adr-2"]);
    }
}
