//! Compares the records in two states of the files that changed.

use serde::{Deserialize, Serialize};

use super::revision::Revision;
use super::{Decision, RecordKind, contradictions, pattern_occurrence, references, same_text};

/// Records that share so many of their words, in percent, are two states of one.
const ALIKE: usize = 50;

/// A record that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RecordChange {
    /// As it was.
    pub before: Decision,
    /// Its present form, or `None` if it was removed.
    pub now: Option<Decision>,
    /// The revision that names it and says what changed.
    pub revision: Option<Revision>,
    /// A record that names it and has no right to revise it.
    pub overruled: Option<Revision>,
}

/// Returns the records of `before` that `after` no longer holds as a whole.
///
/// A record that is in another place, is wrapped in another way or says more counts as kept. `revisions`: everything in
/// the same range that may revise a record.
pub fn changes(before: &[Decision], after: &[Decision], revisions: &[Revision]) -> Vec<RecordChange> {
    let mut free: Vec<&Decision> = after.iter().collect();
    let mut left: Vec<&Decision> = Vec::new();
    for decision in before {
        // The same place first, so that of two that say the same the one that stayed is found.
        let near = |other: &Decision| (other.path == decision.path, other.within == decision.within);
        let kept = (0..free.len()).filter(|&at| keeps(decision, free[at])).max_by_key(|&at| near(free[at]));
        if let Some(at) = kept {
            free.remove(at);
        } else {
            left.push(decision);
        }
    }
    let mut found = Vec::new();
    for decision in left {
        let alike = |other: &Decision| {
            if decision.kind == RecordKind::Adr {
                return if other.id == decision.id || other.path == decision.path { 100 } else { 0 };
            }
            if same_text::words(&other.name()) == same_text::words(&decision.name()) {
                return 100;
            }
            let near = other.path == decision.path || (!other.within.is_empty() && other.within == decision.within);
            if near { same_text::likeness(&decision.text, &other.text) } else { 0 }
        };
        let best = (0..free.len())
            .filter(|&at| free[at].kind == decision.kind)
            .map(|at| (alike(free[at]), at))
            .filter(|(likeness, _)| *likeness >= ALIKE)
            .max();
        let now = best.map(|(_, at)| free.remove(at).clone());
        // What does not bind any more, or not yet, may go.
        if !decision.binds() {
            continue;
        }
        let revision = revisions.iter().find(|revision| revision.revises(decision)).cloned();
        let overruled = match revision {
            Some(_) => None,
            None => revisions.iter().find(|revision| !revision.global && revision.names(decision)).cloned(),
        };
        let overruled = overruled.filter(|_| decision.kind == RecordKind::Adr);
        found.push(RecordChange { before: decision.clone(), now, revision, overruled });
    }
    found
}

/// Returns `true` if `now` is `before`, or says more.
fn keeps(before: &Decision, now: &Decision) -> bool {
    let holds = |before: &[String], now: &[String]| before.iter().all(|one| now.contains(one));
    before.kind == now.kind
        && before.id == now.id
        && (now.binds() || !before.binds())
        && (before.status == now.status || before.kind != RecordKind::Adr || !before.binds())
        && same_text::says_all(&before.text, &now.text)
        && holds(&before.patterns, &now.patterns)
        && holds(&before.paths, &now.paths)
}

/// A record of one place that claims to overrule one that holds for the whole program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Overruling {
    /// The record of one place.
    pub local: Decision,
    /// The one for all.
    pub global: Decision,
    /// `true` if it only says that the other record does not concern it, which may be so.
    #[serde(default)]
    pub in_doubt: bool,
}

/// Returns the records among `local` that say they replace an ADR of `global` that is in force, or that it does not
/// bind them. Text in an ADR never counts as local.
pub fn overrulings(local: &[&Decision], global: &[Decision]) -> Vec<Overruling> {
    let mut found = Vec::new();
    let is_local = |tag: &&&Decision| {
        tag.kind != RecordKind::Adr
            && !global.iter().any(|adr| adr.kind == RecordKind::Adr && contradictions::belongs(tag, adr))
    };
    for tag in local.iter().filter(is_local) {
        let against = references::against(tag);
        let overruled = against.overruled.iter().map(|id| (id, false));
        for (id, in_doubt) in overruled.chain(against.out_of_scope.iter().map(|id| (id, true))) {
            let adr =
                global.iter().find(|adr| adr.kind == RecordKind::Adr && adr.id.eq_ignore_ascii_case(id) && adr.binds());
            found.extend(adr.map(|adr| Overruling { local: (*tag).clone(), global: adr.clone(), in_doubt }));
        }
    }
    found
}

/// Returns the records of `after` that `before` did not hold.
pub fn new<'d>(before: &[Decision], after: &'d [Decision]) -> Vec<&'d Decision> {
    after
        .iter()
        .filter(|now| {
            !before.iter().any(|then| then.kind == now.kind && then.text == now.text && then.status == now.status)
        })
        .collect()
}

/// A rejected path that came back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Return {
    /// The record.
    pub decision: Decision,
    /// The pattern or the glob that shows it.
    pub by: String,
    /// The place: `src/pool.rs:12`.
    pub place: String,
}

/// One file in two states, or `None` if it is not there.
#[derive(Clone, Debug)]
pub struct FileStates {
    pub path: crate::repo_path::RepoPath,
    /// Its text before.
    pub before: Option<Vec<u8>>,
    /// Its text now.
    pub now: Option<Vec<u8>>,
}

/// Returns the rejected paths that the files bring back: a pattern that occurs on more lines than before, or a file
/// that must not exist. Moving existing text does not count.
pub fn returns(rejected: &[Decision], files: &[FileStates]) -> Vec<Return> {
    let mut found = Vec::new();
    for decision in rejected.iter().filter(|decision| decision.kind == RecordKind::Rejected) {
        for pattern in &decision.patterns {
            let lines = |file: &FileStates, text: &Option<Vec<u8>>| {
                text.as_deref().map(|text| pattern_occurrence::lines(&file.path, text, pattern)).unwrap_or_default()
            };
            let held: Vec<_> =
                files.iter().map(|file| (file, lines(file, &file.before), lines(file, &file.now))).collect();
            let before: usize = held.iter().map(|(_, before, _)| before.len()).sum();
            let now: usize = held.iter().map(|(_, _, now)| now.len()).sum();
            let more = held.iter().find(|(_, before, now)| now.len() > before.len());
            let Some((file, old, new)) = more.filter(|_| now > before) else { continue };
            let is_new = |(_, line): &&(u32, String)| !old.iter().any(|(_, known)| known == line);
            let line = new.iter().find(is_new).or(new.last()).map_or(1, |(number, _)| *number);
            let place = format!("{}:{line}", file.path);
            found.push(Return { decision: decision.clone(), by: pattern.clone(), place });
        }
        for glob in &decision.paths {
            let Ok(set) = crate::globs::Globs::new(std::slice::from_ref(glob)) else { continue };
            let matching = |file: &&FileStates| set.is_match(file.path.to_os());
            let before = files.iter().filter(matching).filter(|file| file.before.is_some()).count();
            let now = files.iter().filter(matching).filter(|file| file.now.is_some()).count();
            let added = files.iter().filter(matching).find(|file| file.before.is_none() && file.now.is_some());
            let Some(file) = added.filter(|_| now > before) else { continue };
            found.push(Return { decision: decision.clone(), by: glob.clone(), place: file.path.to_string() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo_path::RepoPath;

    fn records(files: &[(&str, &str)]) -> Vec<Decision> {
        let adr = crate::globs::Globs::new(&["docs/adr/*.md".to_owned()]).unwrap();
        files
            .iter()
            .flat_map(|(path, text)| super::super::read(&RepoPath::from(*path), text.as_bytes(), &adr))
            .collect()
    }

    /// Returns the changes of the records, one word each.
    fn became(before: &[(&str, &str)], after: &[(&str, &str)], trailer: &str) -> Vec<String> {
        let after = records(after);
        let trailers = Some(trailer).filter(|text| !text.is_empty()).map(|text| Revision::of_trailer("abc", text));
        let revisions: Vec<Revision> = after.iter().filter_map(Revision::of_adr).chain(trailers).collect();
        let word = |change: RecordChange| {
            let what = if change.now.is_some() { "weakened" } else { "removed" };
            let by = match (&change.revision, &change.overruled) {
                (Some(revision), _) => format!(" by {}", revision.place),
                (None, Some(local)) => format!(" against {}", local.place),
                (None, None) => String::new(),
            };
            format!("{what} {}{by}", change.before.name())
        };
        changes(&records(before), &after, &revisions).into_iter().map(word).collect()
    }

    const ADR: &str = "# 4. One pool\n\n## Status\n\nAccepted\n\n## Decision\n\nOne pool for each core.\n";

    #[test]
    fn moves_and_other_line_breaks_are_no_removal() {
        let before = &[("a.rs", "// @REJECTED global mutex: deadlocks under load\n")][..];
        for after in [
            ("a.rs", "\n\n    // @REJECTED: global mutex:\n    //   deadlocks under load\nfn f() {}\n"),
            ("b/c.py", "# @REJECTED global mutex - deadlocks under load, measured\n"),
            ("a.rs", "/* @REJECTED Global mutex (deadlocks under load) */\n"),
        ] {
            assert!(became(before, &[after], "").is_empty(), "{after:?}");
        }
        let twice = &[("a.rs", "// @REJECTED global mutex\n"), ("b.rs", "// @REJECTED global mutex\n")];
        assert_eq!(became(twice, &twice[1..], ""), ["removed global mutex"]);
        assert!(became(&[("docs/adr/0004-x.md", ADR)], &[("docs/adr/0004-y.md", ADR)], "").is_empty());
    }

    #[test]
    fn what_is_gone_or_weaker_is_found_and_a_revision_names_it() {
        let mutex = &[("a.rs", "// @REJECTED global mutex: deadlocks under load pattern: Mutex<Pool>\n")][..];
        let superseding =
            "# 9. Two pools\n\n## Status\n\nAccepted. Supersedes ADR-4.\n\n## Decision\n\nTwo pools now.\n";
        for (before, after, trailer, expected) in [
            (mutex, &[][..], "", "removed global mutex"),
            (mutex, &[("a.rs", "// a global mutex\n")], "", "removed global mutex"),
            (
                mutex,
                &[("a.rs", "let s = \"// @REJECTED global mutex: deadlocks under load\";")],
                "",
                "removed global mutex",
            ),
            (mutex, &[("a.rs", "// @REJECTED global mutex: deadlocks under load\n")], "", "weakened global mutex"),
            (mutex, &[("a.rs", "// @REJECTED global mutex: deadlocks\n")], "", "weakened global mutex"),
            (mutex, &[], "global mutex: the pool is lock-free since March", "removed global mutex by abc"),
            (mutex, &[], "global mutex", "removed global mutex"),
            (mutex, &[], "the pool is lock-free since March", "removed global mutex"),
            (&[("docs/adr/0004-x.md", ADR)], &[], "", "removed adr-4"),
            (
                &[("docs/adr/0004-x.md", ADR)],
                &[("docs/adr/0009-z.md", superseding)],
                "",
                "removed adr-4 by docs/adr/0009-z.md:1",
            ),
            (
                &[("docs/adr/0004-x.md", ADR)],
                &[("docs/adr/0009-z.md", "# 9. Sagas\n\n## Decision\n\nA saga replaces 4-phase commit everywhere.\n")],
                "",
                "removed adr-4",
            ),
            (&[("docs/adr/0004-x.md", ADR)], &[], "adr-4: we think otherwise by now", "removed adr-4 against abc"),
        ] {
            assert_eq!(became(before, after, trailer), [expected], "{after:?} {trailer}");
        }
        let weaker = ADR.replace("Accepted", "Deprecated");
        assert_eq!(became(&[("docs/adr/0004-x.md", ADR)], &[("docs/adr/0004-x.md", &weaker)], ""), ["weakened adr-4"]);
        let draft = ADR.replace("Accepted", "Proposed");
        assert!(became(&[("docs/adr/0004-x.md", &draft)], &[], "").is_empty(), "what is not decided may go");
        assert!(became(&[("docs/adr/0004-x.md", &draft)], &[("docs/adr/0004-x.md", ADR)], "").is_empty());
    }

    #[test]
    fn rejected_paths_come_back_by_lines_and_files() {
        let rejected = records(&[("a.rs", "// @REJECTED global mutex pattern: Mutex<Pool> path: src/lock/**\n")]);
        let file = |path: &str, before: Option<&str>, now: Option<&str>| FileStates {
            path: RepoPath::from(path),
            before: before.map(|text| text.as_bytes().to_vec()),
            now: now.map(|text| text.as_bytes().to_vec()),
        };
        for (files, expected) in [
            (vec![file("b.rs", Some("a\n"), Some("a\nstatic P: Mutex<Pool>;\n"))], Some("b.rs:2")),
            (vec![file("b.rs", Some("x: Mutex<Pool>\n"), Some("a\nx: Mutex<Pool>\n"))], None),
            (vec![file("b.rs", Some("x: Mutex<Pool>\n"), None), file("c.rs", None, Some("x: Mutex<Pool>\n"))], None),
            (vec![file("b.rs", None, Some("// @REJECTED global mutex pattern: Mutex<Pool>\n"))], None),
            (vec![file("b.rs", None, Some("x: Mutex<Pool>; // the singleton pattern: one\n"))], Some("b.rs:1")),
            (vec![file("b.rs", None, Some("x: Mutex<Pool>; // @RATIONALE it is faster\n"))], Some("b.rs:1")),
            (vec![file("b.rs", None, Some("// @REJECTED a mutex\n// Mutex<Pool> burns the CPU\n"))], None),
            (vec![file("README.md", None, Some("Why no Mutex<Pool>? See a.rs.\n"))], None),
            (vec![file("src/lock/a.rs", None, Some("x\n"))], Some("src/lock/a.rs")),
            (vec![file("src/lock/a.rs", Some("x\n"), None), file("src/lock/b.rs", None, Some("x\n"))], None),
            (vec![file("src/lock/a.rs", Some("x\n"), Some("y\n"))], None),
        ] {
            let found = returns(&rejected, &files);
            assert_eq!(found.first().map(|found| found.place.as_str()), expected, "{files:?}");
        }
    }
}
