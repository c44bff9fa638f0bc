use proptest::prelude::*;

use super::*;
use crate::event::FORMAT;
use crate::journal::line_format::{decode, encode, relink};
use crate::journal::new_event::event;

proptest! {
    #[test]
    fn a_line_gives_back_its_event(new in new_events(), lost in prop::option::of(any::<u64>())) {
        let event = event(new);
        let line = encode(&event, "before", lost).unwrap();
        prop_assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
        let text = &line[..line.len() - 1];
        let decoded = decode(text).unwrap();
        prop_assert_eq!(&decoded.event, &event);
        prop_assert_eq!(&decoded.prev, "before");
        prop_assert_eq!(decoded.lost, lost);
        prop_assert_eq!(relink(text, "before").unwrap(), line);
    }
}

const COMMON: &str = r#""id":"1","at":"2026-01-02T03:04:05Z","by":"x","prev":"p""#;

fn wire(rest: &str) -> String {
    format!("{{{COMMON},{rest}}}")
}

#[test]
fn what_a_later_version_wrote_is_kept() {
    let newer = FORMAT + 1;
    for (rest, kind) in [
        (r#""v":1,"grade":"observed","kind":"brand-new","data":{"a":[1]}"#.to_owned(), "brand-new"),
        (format!(r#""v":{newer},"grade":"observed","kind":"run","data":"now a text""#), "run"),
        (format!(r#""v":{newer},"grade":"observed","kind":"damage","data":{{"what":"x"}},"more":1"#), "damage"),
    ] {
        let line = wire(&rest);
        let decoded = decode(line.as_bytes()).unwrap();
        assert!(matches!(&decoded.event.kind, EventKind::Unknown { kind: found, .. } if found == kind), "{line}");
    }
    let relinked = relink(wire(r#""v":9,"grade":"g","kind":"run","data":{"b":1,"a":2}"#).as_bytes(), "q").unwrap();
    let relinked = String::from_utf8(relinked).unwrap();
    assert!(relinked.contains(r#""v":9"#) && relinked.contains(r#"{"b":1,"a":2}"#), "{relinked}");
    assert_eq!(decode(relinked.trim_end().as_bytes()).unwrap().prev, "q");
}

#[test]
fn what_an_older_version_wrote_is_read() {
    let line = wire(r#""v":0,"grade":"hooked","kind":"damage","data":{"what":"x"}"#);
    let decoded = decode(line.as_bytes()).unwrap();
    assert_eq!(decoded.event.kind, EventKind::Damage(Damage { what: "x".to_owned() }));
    assert_eq!(decoded.event.origin.grade, Grade::Hooked);
    assert_eq!((decoded.event.session, decoded.lost), (None, None));
}

#[test]
fn a_grade_that_is_not_known_is_worth_nothing() {
    let line = wire(r#""v":1,"grade":"divine","kind":"damage","data":{"what":"x"}"#);
    assert_eq!(decode(line.as_bytes()).unwrap().event.origin.grade, Grade::Claimed);
}

#[test]
fn what_is_no_event_is_damage() {
    let not_utf8 = b"{\"id\":\"\xff\"}".to_vec();
    let half = wire(r#""v":1,"grade":"hooked","kind":"damage","data":{"what":"x"}"#)[..80].to_owned();
    for line in [
        Vec::new(),
        b"garbage".to_vec(),
        b"{}".to_vec(),
        not_utf8,
        half.into_bytes(),
        wire(r#""v":1,"grade":"hooked","kind":"damage","data":{}"#).into_bytes(),
        wire(r#""v":1,"grade":"hooked","kind":"damage","data":{"what":"x"}} {"#).into_bytes(),
    ] {
        assert!(decode(&line).is_err(), "{}", String::from_utf8_lossy(&line));
    }
}

#[test]
fn ids_are_unique_and_sort_as_they_were_made() {
    let ids: Vec<String> = (0..2000).map(|_| event(damage("x")).id).collect();
    let mut sorted = ids.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted, ids);
}
