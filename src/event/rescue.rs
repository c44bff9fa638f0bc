//! The handoffs after the attempts of an agent were used up, and the replies to them.

use serde::{Deserialize, Serialize};

use super::Ended;
use crate::oid::Oid;

/// One step of a rescue. It belongs to the session of the agent that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Rescue {
    /// A packet was made for a helper.
    HandedOver(HandedOver),
    /// A reply to one was accepted.
    Replied(Replied),
    /// A packet reached nobody, since the command that it was meant for does not exist. It does not count as an
    /// attempt.
    Withdrawn(Withdrawn),
    /// The rescue is given up: there will be no further handoff.
    GivenUp(GivenUp),
}

/// A packet that was handed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HandedOver {
    /// Its name.
    pub id: String,
    /// The number of the rescue attempt, counted from 1.
    pub attempt: u32,
    /// The content it is about.
    pub tree: Option<Oid>,
}

/// A packet that reached nobody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Withdrawn {
    /// Its name.
    pub handoff: String,
}

/// An accepted reply, with the fields that later attempts are compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Replied {
    /// The packet it answers.
    pub handoff: String,
    /// The kind of the reply, one of the allowed outputs.
    pub output: String,
    /// The new hypothesis, or an empty text if the output has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hypothesis: String,
    /// The approaches that must not be tried again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_to_retry: Vec<String>,
}

/// A packet or a reply of gate in a text for an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried<'t> {
    /// The name of the packet, or of the one that the reply is to.
    pub name: &'t str,
    /// `true` if it is the reply, which is for the agent that failed.
    pub reply: bool,
}

/// Returns the packets and replies of gate in `text`: a heading holds the name of a packet, or a file of one is named.
/// A name in a sentence does not count. Words may precede the heading.
pub fn carried(text: &str) -> impl Iterator<Item = Carried<'_>> {
    // A packet holds a payload, a reply to one never does.
    let payload = text.lines().any(|line| line.trim() == "<ESCALATION>");
    text.lines().flat_map(move |line| {
        let heading = heading(line);
        words(line).filter_map(move |(name, rest)| {
            let file = [".reply.md", ".md", ".json"].into_iter().find(|ending| rest.starts_with(ending));
            let reply = file.map_or(!payload, |ending| ending == ".reply.md");
            let headed = heading.is_some_and(|at| line.len() - rest.len() > at);
            (is_name(name) && (headed || file.is_some())).then_some(Carried { name, reply })
        })
    })
}

/// Returns the position of the `#` in a line at which a Markdown heading begins.
pub(super) fn heading(line: &str) -> Option<usize> {
    line.match_indices('#').map(|(at, _)| at).find(|at| {
        let level = line[*at..].trim_start_matches('#');
        level.starts_with(' ') && !line[..*at].ends_with(|c: char| !c.is_whitespace() && c != '>')
    })
}

/// Returns `true` if a word has the form of the name of a packet: `h20261122T153612-404dee68`.
pub fn is_name(word: &str) -> bool {
    let digits = |text: &str, most: usize| text.len() == most && text.bytes().all(|byte| byte.is_ascii_digit());
    word.strip_prefix('h').and_then(|rest| rest.split_once('-')).is_some_and(|(at, print)| {
        at.split_once('T').is_some_and(|(day, time)| digits(day, 8) && digits(time, 6))
            && print.len() == 8
            && print.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Returns the words of letters, digits and hyphens, each with the rest of its line.
fn words(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.split(move |c: char| !(c.is_ascii_alphanumeric() || c == '-')).filter(|word| !word.is_empty()).map(
        move |word| {
            let end = word.as_ptr().addr() - line.as_ptr().addr() + word.len();
            (word, &line[end..])
        },
    )
}

/// The end of a rescue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GivenUp {
    /// The rescue attempt at which it was given up.
    pub attempt: u32,
}

/// A command that was tried on a clean checkout, without the files of a working tree. It is about content and belongs
/// to no session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Trial {
    /// The digest of command line and directory.
    pub key: String,
    /// The command line, secrets removed.
    pub line: String,
    /// The content that was checked out.
    pub tree: Oid,
    /// The end of its process.
    pub ended: Ended,
    /// The lines of its output that explain the failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signature: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_known_by_its_heading_or_its_file() {
        const NAME: &str = "h20261122T153612-404dee68";
        for (text, expected) in [
            (format!("# Reply to handoff {NAME}: environment_fix\n\n## action\n- a\n"), Some(true)),
            (format!("The reviewer says:\n\n> ## Reply to handoff {NAME}: x\n"), Some(true)),
            (format!("# Handoff {NAME}\n\n## Escalation\n<ESCALATION>\nstatus: blocked\n</ESCALATION>\n"), Some(false)),
            (format!("Read `.git/gate/handoffs/{NAME}.reply.md` and go on"), Some(true)),
            (format!("Read .git/gate/handoffs/{NAME}.md."), Some(false)),
            (format!("Here is what it says: # Reply to handoff {NAME}: environment_fix\n"), Some(true)),
            (format!("Forget #4 of {NAME}, and make the library say three"), None),
            (format!("Forget {NAME}, and make the library say three"), None),
            ("# Reply to handoff h2026: x".to_owned(), None),
            ("# Handoff\n\nMake the library say two".to_owned(), None),
            (String::new(), None),
        ] {
            let found = carried(&text).next();
            assert_eq!(found.map(|found| found.reply), expected, "{text}");
            assert!(found.is_none_or(|found| found.name == NAME));
        }
    }
}
