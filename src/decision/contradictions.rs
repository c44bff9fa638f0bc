//! Contradictions among the records that hold for the whole program: one ADR in force rules out the decision of
//! another.
//!
//! The rule is narrow, and compares only parts that a machine can compare: a `@REJECTED` that belongs to an ADR and a
//! `@RATIONALE` of another with the same pattern, the same path or the same name; or a `@REJECTED` that begins with the
//! id of another ADR. If one of the two revises the other, there is no contradiction.

use serde::{Deserialize, Serialize};

use super::{AdrStatus, Decision, RecordKind, revision, same_text};

/// Two ADRs that cannot both hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Contradiction {
    /// The ADR that rules something out.
    pub rejecting: Decision,
    /// Its record that does.
    pub rejected: Decision,
    /// The ADR that decides it.
    pub deciding: Decision,
    /// Its record that does; the ADR itself, if it is ruled out as a whole.
    pub decided: Decision,
    /// The pattern, path or name in both.
    pub key: String,
}

/// Returns the contradictions among `all` in which one of the records is among `new`: older ones do not belong to this
/// change.
pub fn contradictions(all: &[Decision], new: &[&Decision]) -> Vec<Contradiction> {
    let adrs: Vec<&Decision> = all.iter().filter(|one| one.kind == RecordKind::Adr && in_force(one)).collect();
    let mut found = Vec::new();
    for rejected in all.iter().filter(|one| one.kind == RecordKind::Rejected) {
        let Some(rejecting) = adrs.iter().copied().find(|adr| belongs(rejected, adr)) else { continue };
        for deciding in adrs.iter().copied().filter(|adr| !is_same(adr, rejecting)) {
            if revises(rejecting, deciding) || revises(deciding, rejecting) {
                continue;
            }
            let of_it = all.iter().filter(|one| one.kind == RecordKind::Rationale && belongs(one, deciding));
            let by_tag = of_it.filter_map(|tag| Some((tag, shared(rejected, tag)?)));
            let whole = is_named(rejected, deciding).then(|| (deciding, deciding.name()));
            for (decided, key) in by_tag.chain(whole) {
                if [rejecting, rejected, deciding, decided].into_iter().any(|one| new.contains(&one)) {
                    found.push(Contradiction {
                        rejecting: rejecting.clone(),
                        rejected: rejected.clone(),
                        deciding: deciding.clone(),
                        decided: decided.clone(),
                        key,
                    });
                }
            }
        }
    }
    found
}

/// Returns `true` if records of one of these may contradict others: it is an ADR, or part of one.
pub fn concerns(one: &Decision, all: &[Decision]) -> bool {
    one.kind == RecordKind::Adr || all.iter().any(|adr| adr.kind == RecordKind::Adr && belongs(one, adr))
}

fn in_force(adr: &Decision) -> bool {
    matches!(adr.status, None | Some(AdrStatus::Accepted))
}

/// Returns `true` if a tag is part of an ADR: between its anchors, or in its file.
pub(super) fn belongs(tag: &Decision, adr: &Decision) -> bool {
    tag.path == adr.path && (tag.within == adr.id || tag.within.is_empty())
}

fn is_same(one: &Decision, other: &Decision) -> bool {
    one.path == other.path && one.id == other.id
}

fn revises(one: &Decision, other: &Decision) -> bool {
    one.revises.iter().any(|id| id.eq_ignore_ascii_case(&other.id))
}

/// Returns the pattern, path or name that both have.
fn shared(rejected: &Decision, decided: &Decision) -> Option<String> {
    let same = |one: &[String], other: &[String]| one.iter().find(|key| other.contains(key)).cloned();
    same(&rejected.patterns, &decided.patterns).or_else(|| same(&rejected.paths, &decided.paths)).or_else(|| {
        let (one, other) = (same_text::words(&rejected.name()), same_text::words(&decided.name()));
        (!one.is_empty() && one == other).then(|| rejected.name())
    })
}

/// Returns `true` if a text begins with the id of an ADR: `ADR-4`, `[D4:ADR]`.
fn is_named(rejected: &Decision, adr: &Decision) -> bool {
    let text = rejected.text.trim_start_matches(['[', '(', '"', '`']);
    let first = text.split([' ', ',', ';', ']', ')']).next().unwrap_or_default().trim_end_matches([':', '.']);
    let anchored = first.strip_suffix(":ADR").or_else(|| first.strip_suffix(":adr"));
    let numbered = || {
        let adr = first.get(..3).is_some_and(|prefix| prefix.eq_ignore_ascii_case("adr"));
        let second = text.split_whitespace().nth(1).unwrap_or_default();
        adr.then(|| revision::number(first).or_else(|| revision::number(&format!("{first} {second}")))).flatten()
    };
    anchored.map(str::to_owned).or_else(numbered).is_some_and(|id| id.eq_ignore_ascii_case(&adr.id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::globs::Globs;
    use crate::repo_path::RepoPath;

    fn adr(number: u32, status: &str, body: &str) -> (String, String) {
        let text = format!("# {number}. Title {number}\n\n## Status\n\n{status}\n\n## Decision\n\n{body}\n");
        (format!("docs/adr/{number:04}-x.md"), text)
    }

    fn records(files: &[(String, String)]) -> Vec<Decision> {
        let globs = Globs::new(&["docs/adr/*.md"]).unwrap();
        let read = |(path, text): &(String, String)| {
            super::super::read(&RepoPath::from(path.as_str()), text.as_bytes(), &globs)
        };
        files.iter().flat_map(read).collect()
    }

    #[test]
    fn one_rules_out_what_another_decides() {
        let rejects = |key: &str| adr(4, "Accepted", &format!("One pool.\n\n@REJECTED {key}"));
        let decides = |key: &str| adr(7, "Accepted", &format!("Two.\n\n@RATIONALE {key}"));
        for (one, other, key) in [
            (rejects("global mutex: deadlocks"), decides("global mutex: simple"), Some("global mutex")),
            (rejects("a lock pattern: Mutex<Pool>"), decides("speed pattern: Mutex<Pool>"), Some("Mutex<Pool>")),
            (rejects("a lock path: src/lock/**"), decides("speed path: src/lock/**"), Some("src/lock/**")),
            (rejects("ADR-7: it was measured wrongly"), decides("speed"), Some("adr-7")),
            (rejects("ADR 7 is wrong"), decides("speed"), Some("adr-7")),
            (rejects("ADR-8: another"), decides("speed"), None),
            (rejects("global mutex: deadlocks"), decides("global lock: simple"), None),
            (rejects("global mutex"), adr(7, "Proposed", "Two.\n\n@RATIONALE global mutex"), None),
            (rejects("global mutex"), adr(7, "Accepted. Supersedes ADR-4", "Two.\n\n@RATIONALE global mutex"), None),
            (rejects("global mutex"), adr(7, "Accepted", "Two."), None),
        ] {
            let all = records(&[one, other]);
            let new: Vec<&Decision> = all.iter().collect();
            let found = contradictions(&all, &new);
            assert_eq!(found.first().map(|found| found.key.as_str()), key, "{all:#?}");
            assert!(found.len() <= 1);
            // What stood there before is not of this change.
            assert!(contradictions(&all, &[]).is_empty());
        }
    }

    #[test]
    fn anchors_are_records_as_files_are() {
        let anchored = |id: &str, tag: &str| {
            format!("# [DEF:{id}:ADR]\n# @PURPOSE: x\n# @STATUS: accepted\n# {tag}\n# [/DEF:{id}:ADR]\n")
        };
        let files = [
            ("src/a.py".to_owned(), anchored("D1", "@REJECTED [D2:ADR] too slow")),
            ("src/b.py".to_owned(), anchored("D2", "@RATIONALE polling")),
        ];
        let all = records(&files);
        let found = contradictions(&all, &all.iter().collect::<Vec<_>>());
        assert_eq!(found.len(), 1, "{all:#?}");
        assert_eq!((found[0].rejecting.id.as_str(), found[0].deciding.id.as_str()), ("D1", "D2"));
    }
}
