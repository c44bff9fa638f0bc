//! Writes the payload as text, for an agent that reads prompts, and parses it.
//!
//! Both directions are exact: a payload is the same after writing and parsing, and a text of another shape is refused
//! with the number of the wrong line.

use minijinja::context;
use strum::VariantArray as _;

use super::clean_checkout::Clean;
use super::failing_command::{self, FailingCommand};
use super::{Escalation, ITEM, ITEMS, LAYERS, cut, line};
use crate::templates::sentences::say;
use crate::templates::{self, RenderedText, TemplateError, whole};

const OPEN: &str = "<ESCALATION>";
const CLOSE: &str = "</ESCALATION>";
/// The lists, in their order.
const LISTS: [&str; 7] = [
    "suspected_failure_layer", "what_was_tried", "what_did_not_work", "forced_context_checked", "current_invariants",
    "handoff_artifacts", "request",
];

/// The optional part before this list: the command that shows the failure.
const FAILING: (&str, &str) = ("failing_command:", "forced_context_checked");

/// An error in a text that should be a payload.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {number}: {what}")]
pub struct ShapeError {
    /// The line, counted from 1.
    pub number: usize,
    /// The error in that line.
    pub what: String,
}

/// Returns the text form. A template of the user's that changes the shape is not used.
pub fn text(escalation: &Escalation) -> Result<String, TemplateError> {
    told(escalation).map(|told| told.text)
}

/// Returns the text form, with the error in the user's own template, if there is one.
pub fn told(escalation: &Escalation) -> Result<RenderedText, TemplateError> {
    let RenderedText { text, wrong } = templates::told("escalation.txt", escalation)?;
    if parse(&text).is_ok_and(|parsed| parsed == *escalation) {
        return Ok(RenderedText { text: whole(text), wrong });
    }
    let text = templates::render_built_in("escalation.txt", escalation).map(whole)?;
    let lacks = TemplateError::Lacks { place: "escalation.txt".to_owned(), what: "the shape of a payload" };
    Ok(RenderedText { text, wrong: wrong.or(Some(lacks)) })
}

/// Parses the text form: exactly one payload, with only blank lines around it.
pub fn parse(text: &str) -> Result<Escalation, ShapeError> {
    let lines: Vec<(usize, &str)> = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim_end())).collect();
    let mut lines = lines.into_iter().filter(|(_, line)| !line.is_empty()).peekable();
    let mut taken = 0;
    let mut take = |what: &str| match lines.next() {
        Some((number, line)) => {
            taken = number;
            Ok((number, line))
        }
        None => Err(wrong(taken + 1, say("payload", "missing", &context! { what }))),
    };
    expect(take(OPEN)?, OPEN)?;
    expect(take("`status: blocked`")?, "status: blocked")?;
    let attempt = attempt(take("`attempt: [ATTEMPT: N]`")?)?;
    let (number, scope) = take("`task_scope`")?;
    let task_scope = scope
        .strip_prefix("task_scope:")
        .map(str::trim)
        .filter(|scope| !scope.is_empty())
        .ok_or_else(|| here(number, "task_scope: …"))?;
    let task_scope = item(number, task_scope)?;
    let mut lists: Vec<Vec<String>> = Vec::new();
    let (mut number, mut next) = take("`suspected_failure_layer:`")?;
    let mut failing_command = None;
    for key in LISTS {
        if key == FAILING.1 && next == FAILING.0 {
            let begin = number;
            let mut items = Vec::new();
            (number, next) = take(CLOSE)?;
            while let Some(text) = next.strip_prefix("- ") {
                items.push((number, text));
                (number, next) = take(CLOSE)?;
            }
            failing_command = Some(failing(begin, &items)?);
        }
        if next.strip_suffix(':') != Some(key) {
            return Err(wrong(number, say("payload", "key", &context! { key })));
        }
        let mut items = Vec::new();
        (number, next) = take(CLOSE)?;
        while let Some(text) = next.strip_prefix("- ") {
            let text = item(number, text)?;
            if key == LISTS[0] && !LAYERS.contains(&text.split(':').next().unwrap_or_default().trim()) {
                return Err(wrong(number, say("payload", "layer", &context! { layers => LAYERS.join(", ") })));
            }
            items.push(text);
            if items.len() > ITEMS {
                return Err(wrong(number, say("payload", "too_many", &context! { key, most => ITEMS })));
            }
            (number, next) = take(CLOSE)?;
        }
        if items.is_empty() {
            return Err(wrong(number, say("payload", "no_item", &context! { key })));
        }
        lists.push(items);
    }
    expect((number, next), CLOSE)?;
    if let Some((number, _)) = lines.next() {
        return Err(wrong(number, say("payload", "over", &context! {})));
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
        failing_command,
        forced_context_checked: list(),
        current_invariants: list(),
        handoff_artifacts: list(),
        request: list(),
    })
}

/// Parses the fields of the command that shows the failure, in their order. `begin` is the line of their heading.
fn failing(begin: usize, items: &[(usize, &str)]) -> Result<FailingCommand, ShapeError> {
    let mut items = items.iter().copied().peekable();
    let mut last = begin;
    let mut field = |name: &str| {
        let (number, text) = items
            .peek()
            .copied()
            .filter(|(_, text)| text.strip_prefix(name).is_some_and(|rest| rest.starts_with(": ")))
            .ok_or_else(|| here(last + 1, &format!("- {name}: …")))?;
        items.next();
        last = number;
        Ok((number, text[name.len() + 2..].trim()))
    };
    let (number, command) = field("command")?;
    if cut(command, failing_command::COMMAND) != command || command.is_empty() {
        return Err(wrong(number, say("payload", "command", &context! {})));
    }
    let (number, directory) = field("directory")?;
    let directory = item(number, directory)?;
    let (verified_at, verified) = field("verified")?;
    let (number, clean) = field("on_clean_checkout")?;
    let known: Vec<&str> = Clean::VARIANTS.iter().map(|known| known.as_str()).collect();
    let on_clean_checkout = *Clean::VARIANTS
        .iter()
        .find(|known| known.as_str() == clean)
        .ok_or_else(|| wrong(number, say("payload", "clean", &context! { known => known.join(", ") })))?;
    let same = on_clean_checkout == Clean::SameFailure;
    if verified != if same { "true" } else { "false" } {
        return Err(wrong(verified_at, say("payload", "verified", &context! {})));
    }
    let (number, tree) = field("tree")?;
    if tree != "none" && !tree.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(wrong(number, say("payload", "tree", &context! {})));
    }
    let tree = if tree == "none" { String::new() } else { tree.to_owned() };
    let (number, meaning) = field("meaning")?;
    let meaning = item(number, meaning)?;
    let mut signature = Vec::new();
    for (number, text) in items {
        let said = text.strip_prefix("says: ").ok_or_else(|| here(number, "- says: …"))?;
        signature.push(item(number, said)?);
        if signature.len() > failing_command::SIGNATURE {
            return Err(wrong(number, say("payload", "signature", &context! { most => failing_command::SIGNATURE })));
        }
    }
    let command = command.to_owned();
    Ok(FailingCommand { command, directory, verified: same, on_clean_checkout, tree, meaning, signature })
}

fn wrong(number: usize, what: String) -> ShapeError {
    ShapeError { number, what }
}

/// Creates the error for a line that should be `wanted`.
fn here(number: usize, wanted: &str) -> ShapeError {
    wrong(number, say("payload", "here", &context! { wanted }))
}

fn expect((number, line): (usize, &str), wanted: &str) -> Result<(), ShapeError> {
    if line == wanted { Ok(()) } else { Err(here(number, wanted)) }
}

fn attempt((number, line): (usize, &str)) -> Result<u32, ShapeError> {
    line.strip_prefix("attempt: [ATTEMPT: ")
        .and_then(|rest| rest.strip_suffix(']'))
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| wrong(number, say("payload", "attempt", &context! {})))
}

fn item(number: usize, text: &str) -> Result<String, ShapeError> {
    let clean = line(text);
    if text.chars().count() > ITEM {
        return Err(wrong(number, say("payload", "long", &context! { most => ITEM })));
    }
    if clean != text.trim() || clean.is_empty() {
        return Err(wrong(number, say("payload", "plain", &context! {})));
    }
    Ok(clean)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::bounded;
    use super::super::failing_command::FailureProof;
    use super::super::history::FailedRun;
    use super::*;
    use crate::event::Ended;
    use crate::oid::Oid;
    use crate::repo_path::RepoPath;

    /// Creates the command that shows a failure from any texts.
    fn shown(texts: &[String], clean: Clean) -> FailingCommand {
        let text = texts.concat();
        let tree = Oid::empty_tree(false);
        let failure = FailedRun {
            key: String::new(),
            name: None,
            tests: None,
            tree: tree.clone(),
            line: text.clone(),
            dir: RepoPath::from(text.as_str()),
            ended: Ended::Exited(1),
            signature: texts.to_vec(),
            runner: None,
            failed_test: None,
            alone: None,
        };
        let tree = Some(&tree).filter(|_| clean != Clean::Impossible);
        failing_command::command(&FailureProof { failure: &failure, tree, clean }, "gate escalate")
    }

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
            failing_command: None,
            forced_context_checked: list(),
            current_invariants: list(),
            handoff_artifacts: list(),
            request: list(),
        }
    }

    proptest! {
        #[test]
        fn a_payload_survives_the_way_through_the_text(
            texts in prop::collection::vec(any::<String>(), 0..20),
            clean in prop::option::of(prop::sample::select(Clean::VARIANTS)),
        ) {
            let failing_command = clean.map(|clean| shown(&texts, clean));
            let payload = Escalation { failing_command, ..payload(&texts) };
            let text = text(&payload).unwrap();
            prop_assert_eq!(parse(&text), Ok(payload));
        }

        #[test]
        fn what_forges_a_payload_is_text_in_it(pieces in prop::collection::vec(
            prop::sample::select(&["</ESCALATION>", "<ESCALATION>", "\n- ", "\nrequest:\n", "- ", "\n- says: ", "status: solved", "<", "/ESCALATION>", "\u{200b}", "2>&1", "\r", "\u{1b}[2K", "```", "\0", "\u{85}"][..]),
            1..12,
        )) {
            let texts = [pieces.concat()];
            let payload = Escalation { failing_command: Some(shown(&texts, Clean::NotTried)), ..payload(&texts) };
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
    fn a_command_keeps_its_redirections_and_its_fields_their_order() {
        let shown = shown(&["cargo test 2>&1 | tee </dev/null >log <b>".to_owned()], Clean::SameFailure);
        assert_eq!(shown.command, "cargo test 2>&1 | tee ‹/dev/null >log ‹b›");
        let good = text(&Escalation { failing_command: Some(shown), ..payload(&["HEAD".to_owned()]) }).unwrap();
        for (from, to, line, why) in [
            ("- command: cargo", "- line: cargo", 12, "expected here: `- command: …`"),
            ("- command: cargo", "- command: <b>cargo", 12, "contains no tag"),
            ("verified: true", "verified: false", 14, "`verified` is `true` if"),
            ("same-failure", "fails", 15, "`on_clean_checkout` is one of same-failure,"),
            ("- tree: ", "- tree: x", 16, "an object id"),
            ("- meaning: ", "- means: ", 17, "expected here: `- meaning: …`"),
            ("- says: ", "- cries: ", 18, "expected here: `- says: …`"),
        ] {
            let error = parse(&good.replacen(from, to, 1)).unwrap_err();
            assert_eq!(error.number, line, "{from}: {error}");
            assert!(error.what.contains(why), "{from}: {error}");
        }
    }

    #[test]
    fn another_shape_is_refused_with_its_line() {
        let good = text(&payload(&["HEAD".to_owned()])).unwrap();
        for (from, to, line, why) in [
            ("<ESCALATION>\n", "", 1, "expected here: `<ESCALATION>`"),
            ("status: blocked", "status: solved", 2, "expected here: `status: blocked`"),
            ("[ATTEMPT: 4]", "[ATTEMPT: 4+]", 3, "with a number"),
            ("task_scope: HEAD", "task_scope:", 4, "`task_scope: …`"),
            ("- unknown: nothing", "- weather: nothing", 6, "a layer is one of"),
            ("what_was_tried:\n- HEAD\n", "what_was_tried:\n", 8, "has no item"),
            ("what_did_not_work:", "what_failed:", 9, "expected here: `what_did_not_work:`"),
            ("request:\n- HEAD", "request:\n- x <b>", 18, "angle brackets"),
            ("</ESCALATION>", "", 19, "is missing"),
            ("</ESCALATION>", "</ESCALATION>\nand now?", 20, "nothing may follow"),
        ] {
            let error = parse(&good.replacen(from, to, 1)).unwrap_err();
            assert_eq!(error.number, line, "{from}: {error}");
            assert!(error.what.contains(why), "{from}: {error}");
        }
    }
}
