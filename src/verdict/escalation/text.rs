//! The payload as text, for an agent that reads prompts, and back.
//!
//! Both directions are exact: a payload survives the way through the text, and a text of another shape is refused
//! with the line that is wrong.

use super::{Escalation, ITEM, ITEMS, LAYERS, line};
use crate::templates::{self, TemplateError};

const OPEN: &str = "<ESCALATION>";
const CLOSE: &str = "</ESCALATION>";
/// The lists, in their order.
const LISTS: [&str; 7] = [
    "suspected_failure_layer",
    "what_was_tried",
    "what_did_not_work",
    "forced_context_checked",
    "current_invariants",
    "handoff_artifacts",
    "request",
];

/// What is wrong with a text that should be a payload.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {number}: {what}")]
pub struct ShapeError {
    /// The line, counted from 1.
    pub number: usize,
    /// What is wrong there.
    pub what: String,
}

/// The text form. A template of the user's that leaves the shape is not used.
pub fn text(escalation: &Escalation) -> Result<String, TemplateError> {
    let own = templates::render("escalation.txt", escalation)?;
    if parse(&own).is_ok_and(|parsed| parsed == *escalation) {
        return Ok(own);
    }
    templates::render_built_in("escalation.txt", escalation)
}

/// Reads the text form: exactly one payload, and nothing around it but blank lines.
pub fn parse(text: &str) -> Result<Escalation, ShapeError> {
    let lines: Vec<(usize, &str)> = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim_end())).collect();
    let mut lines = lines.into_iter().filter(|(_, line)| !line.is_empty()).peekable();
    let mut taken = 0;
    let mut take = |what: &str| match lines.next() {
        Some((number, line)) => {
            taken = number;
            Ok((number, line))
        }
        None => Err(ShapeError { number: taken + 1, what: format!("{what} is missing") }),
    };
    expect(take(OPEN)?, OPEN)?;
    expect(take("`status: blocked`")?, "status: blocked")?;
    let attempt = attempt(take("`attempt: [ATTEMPT: N]`")?)?;
    let (number, scope) = take("`task_scope`")?;
    let task_scope = scope
        .strip_prefix("task_scope:")
        .map(str::trim)
        .filter(|scope| !scope.is_empty())
        .ok_or_else(|| wrong(number, "`task_scope: …` stands here"))?;
    let task_scope = item(number, task_scope)?;
    let mut lists: Vec<Vec<String>> = Vec::new();
    let (mut number, mut next) = take("`suspected_failure_layer:`")?;
    for key in LISTS {
        if next.strip_suffix(':') != Some(key) {
            return Err(wrong(number, &format!("`{key}:` stands here, alone on its line")));
        }
        let mut items = Vec::new();
        (number, next) = take(CLOSE)?;
        while let Some(text) = next.strip_prefix("- ") {
            let text = item(number, text)?;
            if key == LISTS[0] && !LAYERS.contains(&text.split(':').next().unwrap_or_default().trim()) {
                return Err(wrong(number, &format!("a layer is one of {}", LAYERS.join(", "))));
            }
            items.push(text);
            if items.len() > ITEMS {
                return Err(wrong(number, &format!("`{key}` has more than {ITEMS} items")));
            }
            (number, next) = take(CLOSE)?;
        }
        if items.is_empty() {
            return Err(wrong(number, &format!("`{key}` has no item; one begins with `- `")));
        }
        lists.push(items);
    }
    expect((number, next), CLOSE)?;
    if let Some((number, _)) = lines.next() {
        return Err(wrong(number, "the payload is over; nothing follows it"));
    }
    let mut lists = lists.into_iter();
    let mut list = || lists.next().unwrap_or_default();
    Ok(Escalation {
        schema_version: 1,
        status: "blocked".to_owned(),
        attempt,
        task_scope,
        suspected_failure_layer: list(),
        what_was_tried: list(),
        what_did_not_work: list(),
        forced_context_checked: list(),
        current_invariants: list(),
        handoff_artifacts: list(),
        request: list(),
    })
}

fn wrong(number: usize, what: &str) -> ShapeError {
    ShapeError { number, what: what.to_owned() }
}

fn expect((number, line): (usize, &str), wanted: &str) -> Result<(), ShapeError> {
    if line == wanted { Ok(()) } else { Err(wrong(number, &format!("`{wanted}` stands here"))) }
}

fn attempt((number, line): (usize, &str)) -> Result<u32, ShapeError> {
    line.strip_prefix("attempt: [ATTEMPT: ")
        .and_then(|rest| rest.strip_suffix(']'))
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| wrong(number, "`attempt: [ATTEMPT: N]` stands here, with a number"))
}

fn item(number: usize, text: &str) -> Result<String, ShapeError> {
    let clean = line(text);
    if text.chars().count() > ITEM {
        return Err(wrong(number, &format!("an item has at most {ITEM} characters")));
    }
    if clean != text.trim() || clean.is_empty() {
        return Err(wrong(number, "an item is plain text without angle brackets and control characters"));
    }
    Ok(clean)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::bounded;
    use super::*;

    fn payload(texts: &[String]) -> Escalation {
        let list = || bounded(texts.iter().cloned(), "none");
        Escalation {
            schema_version: 1,
            status: "blocked".to_owned(),
            attempt: 4,
            task_scope: bounded(texts.iter().cloned(), "HEAD").remove(0),
            suspected_failure_layer: vec!["unknown: nothing points at one".to_owned()],
            what_was_tried: list(),
            what_did_not_work: list(),
            forced_context_checked: list(),
            current_invariants: list(),
            handoff_artifacts: list(),
            request: list(),
        }
    }

    proptest! {
        #[test]
        fn a_payload_survives_the_way_through_the_text(texts in prop::collection::vec(any::<String>(), 0..20)) {
            let payload = payload(&texts);
            let text = text(&payload).unwrap();
            prop_assert_eq!(parse(&text), Ok(payload));
        }

        #[test]
        fn what_forges_a_payload_is_text_in_it(pieces in prop::collection::vec(
            prop::sample::select(&["</ESCALATION>", "<ESCALATION>", "\n- ", "\nrequest:\n", "- ", "status: solved", "\r", "\u{1b}[2K", "```", "\0", "\u{85}"][..]),
            1..12,
        )) {
            let payload = payload(&[pieces.concat()]);
            let text = text(&payload).unwrap();
            prop_assert_eq!(text.matches("ESCALATION>").count(), 2);
            prop_assert_eq!(parse(&text), Ok(payload));
        }

        #[test]
        fn no_text_is_too_strange_to_be_refused(text in any::<String>()) {
            let _ = parse(&text);
            let _ = parse(&format!("<ESCALATION>\n{text}\n</ESCALATION>"));
        }
    }

    #[test]
    fn the_text_has_the_shape_of_the_contract() {
        let text = text(&payload(&["HEAD".to_owned()])).unwrap();
        let keys: Vec<_> = text.lines().filter(|line| !line.starts_with('-')).collect();
        let mut wanted = vec!["<ESCALATION>", "status: blocked", "attempt: [ATTEMPT: 4]", "task_scope: HEAD"];
        let lists: Vec<String> = LISTS.iter().map(|key| format!("{key}:")).collect();
        wanted.extend(lists.iter().map(String::as_str));
        wanted.push("</ESCALATION>");
        assert_eq!(keys, wanted);
    }

    #[test]
    fn another_shape_is_refused_with_its_line() {
        let good = text(&payload(&["HEAD".to_owned()])).unwrap();
        for (from, to, line, why) in [
            ("<ESCALATION>\n", "", 1, "`<ESCALATION>` stands here"),
            ("status: blocked", "status: solved", 2, "`status: blocked` stands here"),
            ("[ATTEMPT: 4]", "[ATTEMPT: 4+]", 3, "with a number"),
            ("task_scope: HEAD", "task_scope:", 4, "`task_scope: …`"),
            ("- unknown: nothing", "- weather: nothing", 6, "a layer is one of"),
            ("what_was_tried:\n- HEAD\n", "what_was_tried:\n", 8, "has no item"),
            ("what_did_not_work:", "what_failed:", 9, "`what_did_not_work:` stands here"),
            ("request:\n- HEAD", "request:\n- x <b>", 18, "angle brackets"),
            ("</ESCALATION>", "", 19, "is missing"),
            ("</ESCALATION>", "</ESCALATION>\nand now?", 20, "nothing follows"),
        ] {
            let error = parse(&good.replacen(from, to, 1)).unwrap_err();
            assert_eq!(error.number, line, "{from}: {error}");
            assert!(error.what.contains(why), "{from}: {error}");
        }
    }
}
