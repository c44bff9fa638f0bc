//! Tests of the choice among several policy files.

use std::cell::Cell;

use super::check;
use crate::config::{FILE, LocateError, Located, PolicyFiles, PolicyLocations, PolicyNote, ReadFile, locate};
use crate::oid::Oid;
use crate::policy::PolicySource;

fn oid(digit: char) -> Oid {
    digit.to_string().repeat(40).parse().unwrap()
}

fn files(text: &str) -> PolicyFiles {
    PolicyFiles { policy: text.as_bytes().to_vec(), ..PolicyFiles::default() }
}

type Answer = Result<Option<&'static str>, &'static str>;

/// Locates among the merge base `a`, the judged commit `b` and the working tree; the outer `None`: not read.
fn among(
    base: Option<Answer>,
    judged: Option<Answer>,
    here: Option<Answer>,
) -> Result<Located, LocateError<&'static str>> {
    let bytes = |answer: Answer| answer.map(|text| text.map(files));
    let (from_base, from_judged) = (|| bytes(base.unwrap()), || bytes(judged.unwrap()));
    let from_here = || bytes(here.unwrap());
    let places = PolicyLocations {
        base: base.map(|_| (oid('a'), &from_base as ReadFile<'_, _>)),
        judged: judged.map(|_| (oid('b'), &from_judged as ReadFile<'_, _>)),
        working_tree: here.map(|_| &from_here as ReadFile<'_, _>),
        earlier: None,
    };
    locate(&places, &check)
}

// Each brings a gate of its own, so that it differs from the others whatever gates the binary has.
const OBSERVE: &str = r#"
mode = "observe"
gates.own = { title = "T", kind = "evidence", moments = ["push"], severity = "low", explain = "E" }
"#;
const WARN: &str = r#"
mode = "warn"
gates.own = { title = "T", kind = "evidence", moments = ["push"], severity = "low", explain = "E" }
"#;
const SAME_AS_WARN: &str = r#"
mode = 'warn' # the same in other words
[gates.own]
kind = "evidence"
explain = "E"
title = "T"
severity = "LOW"
moments = ["push", "push"]
"#;
const BROKEN: &str = "mdoe = \"warn\"\n";
const NEWER: &str = "version = 2\n";

#[test]
fn the_first_that_has_a_file_counts() {
    let (a, b) = (PolicySource::Commit(oid('a')), PolicySource::Commit(oid('b')));
    let changed = "the policy changed in these commits; the version of aaaaaaa still applies";
    let removed = "gate.toml was removed in these commits; the version of aaaaaaa still applies";
    let uncommitted = "gate.toml is not committed yet: the one in the working tree applies";
    let base_broken = "aaaaaaa:gate.toml:1:1: unknown key `mdoe` at the top level; did you mean `mode`? (the policy of bbbbbbb applies)";
    let edited = |oid: &str| format!("gate.toml differs in the working tree: the one of {oid} applies");
    let (edited_a, edited_b) = (edited("aaaaaaa"), edited("bbbbbbb"));
    for (base, judged, here, source, notes) in [
        (Some(Some(WARN)), Some(Some(WARN)), Some(Some(WARN)), &a, vec![]),
        (Some(Some(WARN)), Some(Some(SAME_AS_WARN)), Some(Some(SAME_AS_WARN)), &a, vec![]),
        (Some(Some(WARN)), Some(Some(OBSERVE)), Some(Some(OBSERVE)), &a, vec![changed]),
        (Some(Some(WARN)), Some(None), None, &a, vec![removed]),
        (Some(Some(WARN)), Some(Some(WARN)), Some(Some(OBSERVE)), &a, vec![edited_a.as_str()]),
        (Some(Some(WARN)), Some(Some(WARN)), Some(None), &a, vec![]),
        (Some(Some(BROKEN)), Some(Some(WARN)), None, &b, vec![base_broken]),
        (Some(None), Some(Some(WARN)), Some(Some(WARN)), &b, vec![]),
        (Some(None), Some(Some(WARN)), Some(Some(OBSERVE)), &b, vec![edited_b.as_str()]),
        (None, Some(Some(WARN)), None, &b, vec![]),
        (Some(None), Some(None), Some(Some(OBSERVE)), &PolicySource::WorkingTree, vec![uncommitted]),
        (None, None, Some(Some(OBSERVE)), &PolicySource::WorkingTree, vec![uncommitted]),
        (Some(None), Some(None), Some(None), &PolicySource::Defaults, vec![]),
        (Some(None), Some(None), None, &PolicySource::Defaults, vec![]),
        (None, None, None, &PolicySource::Defaults, vec![]),
    ] {
        let located = among(base.map(Ok), judged.map(Ok), here.map(Ok)).unwrap();
        let said: Vec<String> = located.notes.iter().map(PolicyNote::to_string).collect();
        assert_eq!((&located.policy.source, said), (source, notes.iter().map(ToString::to_string).collect()));
    }
}

#[test]
fn a_policy_that_counts_must_be_readable() {
    for (base, judged, here, message) in [
        (Some(Ok(Some(BROKEN))), Some(Ok(Some(BROKEN))), None, "aaaaaaa:gate.toml:1:1: unknown key"),
        (Some(Ok(Some(BROKEN))), Some(Ok(None)), None, "aaaaaaa:gate.toml:1:1: unknown key"),
        (Some(Ok(Some(WARN))), Some(Ok(Some(BROKEN))), None, "gate.toml:1:1: unknown key"),
        (Some(Ok(None)), Some(Ok(Some(BROKEN))), None, "bbbbbbb:gate.toml:1:1: unknown key"),
        (None, None, Some(Ok(Some(BROKEN))), "gate.toml:1:1: unknown key"),
        (Some(Ok(Some(NEWER))), Some(Ok(Some(WARN))), None, "aaaaaaa:gate.toml:1:11: written for version 2"),
        (Some(Err("object missing")), Some(Ok(Some(WARN))), None, "cannot read gate.toml: object missing"),
        (Some(Ok(None)), Some(Err("object missing")), None, "cannot read gate.toml: object missing"),
    ] {
        let error = among(base, judged, here).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn a_repair_is_judged_by_the_last_policy_that_could_be_read() {
    let file = |text: &'static str| move || Ok::<_, String>(Some(files(text)));
    let (base, repaired) = (file(BROKEN), file(OBSERVE));
    let version = |digit, text: &str| (oid(digit), files(text));
    let versions = || Ok(vec![version('a', BROKEN), version('c', NEWER), version('d', WARN), version('e', OBSERVE)]);
    let places = PolicyLocations {
        base: Some((oid('a'), &base as ReadFile<'_, String>)),
        judged: Some((oid('b'), &repaired)),
        working_tree: None,
        earlier: Some(&versions),
    };
    let located = locate(&places, &check).unwrap();
    assert_eq!(located.policy.source, PolicySource::Commit(oid('d')));
    assert!(located.notes[0].to_string().ends_with("(the policy of ddddddd applies)"), "{}", located.notes[0]);
    let unrepaired = PolicyLocations { judged: Some((oid('b'), &base)), ..places };
    assert!(matches!(locate(&unrepaired, &check), Err(LocateError::BaseBroken(_))));
}

#[test]
fn one_commit_is_read_once() {
    let count = Cell::new(0);
    let read = || {
        count.set(count.get() + 1);
        Ok::<_, String>(Some(files(WARN)))
    };
    let places = PolicyLocations {
        base: Some((oid('a'), &read)),
        judged: Some((oid('a'), &read)),
        working_tree: None::<ReadFile<'_, String>>,
        earlier: None,
    };
    let located = locate(&places, &check).unwrap();
    assert_eq!((located.policy.source, count.get(), located.notes), (PolicySource::Commit(oid('a')), 1, vec![]));
    assert_eq!(FILE, "gate.toml");
}
