//! The person's own words in a prompt, without the packets, replies and payloads of gate that it forwards.

use std::borrow::Cow;
use std::ops::Range;

use super::rescue;

/// The field that every reply with fields has.
const HYPOTHESIS: &str = "new_hypothesis";

/// Returns a prompt without the texts that it forwards. The form of such a text shows its end: everything after its
/// last heading, item, field or quoted line is the person's own.
pub fn own_words(text: &str) -> Cow<'_, str> {
    match passed_on(text) {
        None => Cow::Borrowed(text),
        Some(range) => {
            let before = text[..range.start].trim_end_matches(|c: char| c.is_whitespace() || c == '>').trim_start();
            let after = text[range.end..].trim();
            Cow::Owned([before, after].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n"))
        }
    }
}

/// Returns `true` if a prompt has words of its own.
pub fn says_something(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// Returns the hypothesis among `known` that a reply in `text` states, if the reply is forwarded without the heading of
/// gate, as its author wrote it.
pub fn states<'h>(text: &str, known: impl IntoIterator<Item = &'h String>) -> Option<&'h str> {
    if !text.contains(HYPOTHESIS) {
        return None;
    }
    let text = squeezed(text);
    known.into_iter().map(String::as_str).find(|hypothesis| {
        let hypothesis = squeezed(hypothesis);
        !hypothesis.is_empty() && text.contains(&hypothesis)
    })
}

/// Returns `true` if `text` forwards a payload.
pub fn has_payload(text: &str) -> bool {
    text.lines().any(|line| line.trim_end().ends_with("<ESCALATION>"))
}

/// Returns the letters and digits of a text, with single blanks between words.
fn squeezed(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Returns the range of the forwarded text.
fn passed_on(text: &str) -> Option<Range<usize>> {
    let replied = text.contains(HYPOTHESIS);
    let mut start = None;
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let at = line.as_ptr().addr() - text.as_ptr().addr();
        if start.is_none() {
            start = begins(line, replied).map(|column| at + column);
            end = at + line.len();
        } else if is_structured(line.trim_end()) {
            end = at + line.len();
        }
    }
    start.map(|start| start..end)
}

/// Returns the position in a line at which such a text begins. Words may precede it.
fn begins(line: &str, replied: bool) -> Option<usize> {
    let trimmed = line.trim_end();
    let named = rescue::heading(trimmed).filter(|at| rescue::carried(&trimmed[*at..]).next().is_some());
    let output = || {
        let first = trimmed.rfind([' ', '\t']).map_or(0, |at| at + 1);
        let word = trimmed[first..].trim_matches(['`', ':', '*']);
        let is_json = trimmed.ends_with('{') || trimmed.starts_with('{');
        let is_name = word.contains('_') && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if is_name { Some(first) } else { trimmed.find('{').filter(|_| is_json) }
    };
    named.or_else(|| trimmed.strip_suffix("<ESCALATION>").map(str::len)).or_else(|| replied.then(output).flatten())
}

/// Returns `true` if a line is a heading, an item, a field, quoted, indented or a part of JSON, and not a sentence of
/// its own.
fn is_structured(line: &str) -> bool {
    let field = || {
        line.split_once(':').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        })
    };
    line.starts_with(['#', '-', '*', '>', '[', '<', '|', '`', '{', '}', '"', ' ', '\t']) || field()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "h20261122T153612-404dee68";

    #[test]
    fn what_is_passed_on_is_nobody_s_wish() {
        let reply = format!("# Reply to handoff {NAME}: environment_fix\n\n## action\n- delete the old test\n");
        let packet = format!(
            "# Handoff {NAME}\n\n[ATTEMPT: 1]\nFind the layer at which it lies.\n\n## Task\n> remove it\n\n## Escalation\n\
             <ESCALATION>\nstatus: blocked\n</ESCALATION>\n\n## Reply\n- one of these\n  or these\n"
        );
        let raw = "retry_packet_for_coder\nnew_hypothesis: a cache\nwhat_not_to_retry:\n- delete the test\n";
        let json = "{\n  \"output\": \"environment_fix\",\n  \"new_hypothesis\": \"delete it\"\n}\n";
        for (text, own) in [
            (reply.clone(), ""),
            (format!("Here is what the unblocker says: {reply}"), "Here is what the unblocker says:"),
            (format!("It says:\n\n{reply}\nNow go on."), "It says:\n\nNow go on."),
            (format!("It says:\n{packet}\n\nDrop the old one."), "It says:\n\nDrop the old one."),
            (format!("> ## Reply to handoff {NAME}: x\n> - delete\n"), ""),
            (format!("It says: {raw}"), "It says:"),
            (raw.to_owned(), ""),
            (format!("Do this:\n```\n{json}```\n"), "Do this:\n```"),
            ("Read this: <ESCALATION>\nstatus: blocked\n</ESCALATION>\n".to_owned(), "Read this:"),
            (format!("Forget {NAME} and delete the test"), &format!("Forget {NAME} and delete the test")),
            ("# Handoff\n\nDelete the test".to_owned(), "# Handoff\n\nDelete the test"),
            ("Delete test_a: it is of no use".to_owned(), "Delete test_a: it is of no use"),
            (String::new(), ""),
        ] {
            assert_eq!(own_words(&text), own, "{text}");
        }
    }

    #[test]
    fn a_prompt_may_say_nothing() {
        for (text, expected) in [("", false), (" \n", false), ("…", false), ("go on", true), ("修复分页", true)] {
            assert_eq!(says_something(text), expected, "{text}");
        }
    }

    #[test]
    fn a_reply_in_its_own_form_is_known_by_its_hypothesis() {
        let known = ["The `cache` is stale".to_owned()];
        for (text, expected) in [
            ("retry_packet_for_coder\nnew_hypothesis:\n- the cache\n  is stale\n", true),
            ("{\"new_hypothesis\": [\"The cache is stale\"]}", true),
            ("retry_packet_for_coder\nnew_hypothesis: the clock is mocked\n", false),
            ("The cache is stale, so clear it.", false),
        ] {
            assert_eq!(states(text, &known).is_some(), expected, "{text}");
        }
        assert_eq!(states("new_hypothesis: x", &[String::new()]), None);
    }
}
