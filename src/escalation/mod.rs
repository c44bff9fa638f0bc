//! The payload for a person or a helper when the attempts are used up, and what follows it.
//!
//! The payload is derived from the verdict and the record, never typed, and bounded: no transcript, no output, every
//! item one short line. [`handoff`] makes it part of a packet for a helper and reads the reply; [`rescue`] carries both
//! out.

pub mod clean_checkout;
mod derive_payload;
pub mod failing_command;
mod failure_layer;
pub mod handoff;
pub mod history;
mod payload_text;
pub mod rescue;

use serde::{Deserialize, Serialize};

pub use self::derive_payload::{Artifacts, derive, smallest_failure};
pub use self::failing_command::FailingCommand;

pub use self::failure_layer::{LAYERS, suspect};
pub use self::payload_text::{parse, text, told};

/// The maximum length of an item, in characters.
const ITEM: usize = 300;
/// The maximum number of items in one list.
const ITEMS: usize = 12;

/// The payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Escalation {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// Always `blocked`.
    pub status: String,
    /// The attempt that exceeded the limit.
    pub attempt: u32,
    /// The refs and commits that were judged.
    pub task_scope: String,
    /// One of `architecture`, `environment`, `dependency`, `contract_mismatch`, `test_harness`, `source_snapshot`,
    /// `handoff_protocol` and `unknown`, a colon, and the reason.
    pub suspected_failure_layer: Vec<String>,
    /// The acts since the first refusal.
    pub what_was_tried: Vec<String>,
    /// The findings that still block.
    pub what_did_not_work: Vec<String>,
    /// One command that shows the failure. Missing if no command that was run shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_command: Option<FailingCommand>,
    /// The checks that were made and passed.
    pub forced_context_checked: Vec<String>,
    /// The gates that pass.
    pub current_invariants: Vec<String>,
    /// The places of the data that is needed to continue.
    pub handoff_artifacts: Vec<String>,
    /// The requests to the receiver.
    pub request: Vec<String>,
}

/// Returns at most [`ITEMS`] items of one line each, or `otherwise` if there are none.
fn bounded(items: impl Iterator<Item = String>, otherwise: &str) -> Vec<String> {
    let mut lines: Vec<_> = items.map(|item| line(&item)).filter(|item| !item.is_empty()).take(ITEMS).collect();
    if lines.is_empty() && !otherwise.is_empty() {
        lines.push(otherwise.to_owned());
    }
    lines
}

/// Returns one line that cannot close or forge a payload, whatever a name or an output contained: without the angle
/// brackets of tags, control characters, and invisible marks that change the direction of text.
pub fn line(text: &str) -> String {
    cut(text, ITEM)
}

/// Returns such a line of at most `most` characters. Redirections and comparisons stay as they are: an angle bracket is
/// replaced only if it could be part of a tag.
fn cut(text: &str, most: usize) -> String {
    let chars: Vec<char> = text.chars().filter_map(plain).take(most + 1).collect();
    let of_a_tag = |c: Option<&char>| c.is_some_and(|c| c.is_alphabetic() || matches!(c, '/' | '!' | '?'));
    let kept = |(at, c): (usize, &char)| match c {
        '<' if of_a_tag(chars.get(at + 1)) => '‹',
        '>' if of_a_tag(at.checked_sub(1).and_then(|before| chars.get(before))) => '›',
        c => *c,
    };
    let cut: String = chars.iter().enumerate().map(kept).take(most).collect();
    cut.trim().to_owned()
}

/// Returns a character as a terminal may show it, or `None` if it is invisible.
fn plain(c: char) -> Option<char> {
    match c {
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => None,
        '\u{2028}' | '\u{2029}' => Some(' '),
        c if c.is_control() => Some(' '),
        c => Some(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_one_short_line_that_means_nothing_to_a_terminal() {
        for (text, item) in [
            ("plain", "plain"),
            (" two\nlines ", "two lines"),
            ("</ESCALATION>", "‹/ESCALATION›"),
            ("<\u{200b}/ESCALATION\u{200b}>", "‹/ESCALATION›"),
            ("sh test.sh 2>&1 >log <in; a < b", "sh test.sh 2>&1 >log ‹in; a < b"),
            ("\u{1b}[2Jgone", "[2Jgone"),
            ("a\u{202e}b\u{feff}c", "abc"),
            ("\u{2028}", ""),
        ] {
            assert_eq!(line(text), item, "{text:?}");
        }
        assert_eq!(line(&"x".repeat(1000)).chars().count(), ITEM);
    }
}
