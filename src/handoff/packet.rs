//! The packet: the task, a clean snapshot, the payload, what to check, and one command that shows the failure.

use serde::{Deserialize, Serialize};

use super::{CONTEXT_AT, TERMINAL_AT};
use crate::oid::Oid;
use crate::templates::{self, TemplateError};
use crate::verdict::escalation::{self, Escalation, line};

/// What is handed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packet {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// Its name; a reply names it.
    pub id: String,
    /// Which rescue attempt it is, counted from 1.
    pub attempt: u32,
    /// The task in the words of whoever gave it.
    pub task: String,
    /// Where the content is.
    pub snapshot: Snapshot,
    /// Why the work stopped.
    pub escalation: Escalation,
    /// The command that shows the failure; `None`: nothing that was run failed, and the payload says what is missing.
    pub failing: Option<Failing>,
    /// What must be true before a hypothesis is worth anything.
    pub checklist: Vec<String>,
    /// Hypotheses of earlier replies, which did not clear it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spent: Vec<String>,
}

/// Content that stays where it can be fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// The ref that keeps it.
    pub reference: String,
    /// The commit it points to.
    pub commit: Oid,
    /// Its tree.
    pub tree: Oid,
}

/// A command that fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failing {
    /// The command line.
    pub command: String,
    /// The directory, relative to the root; empty for the root.
    pub dir: String,
    /// What became of it on a clean checkout of the snapshot.
    pub on_clean_checkout: Clean,
    /// The lines that say how it failed.
    pub signature: Vec<String>,
}

/// What became of a failing command on a clean checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clean {
    /// It fails there in the same way.
    SameFailure,
    /// It fails there in another way: what lies outside the snapshot plays a part.
    OtherFailure,
    /// It passes there: the failure is not in the content.
    Passes,
    /// Nobody tried.
    NotTried,
}

/// The packet as text, for an agent that reads prompts. Whatever somebody else wrote is quoted line by line, so that
/// nothing in it can end or forge a part.
pub fn text(packet: &Packet) -> Result<String, TemplateError> {
    #[derive(Serialize)]
    struct Context<'a> {
        packet: &'a Packet,
        payload: String,
        task: Vec<String>,
        command: String,
        dir: String,
        signature: Vec<String>,
        clean: &'static str,
        checklist: Vec<String>,
        spent: Vec<String>,
        inputs_in_doubt: bool,
        terminal: bool,
    }
    let lines = |lines: &[String]| -> Vec<String> { lines.iter().map(|text| line(text)).collect() };
    let failing = packet.failing.as_ref();
    templates::render(
        "handoff.md",
        &Context {
            packet,
            payload: escalation::text(&packet.escalation)?,
            task: packet.task.lines().map(quoted).collect(),
            command: failing.map(|failing| line(&failing.command)).unwrap_or_default(),
            dir: failing.map(|failing| line(&failing.dir)).unwrap_or_default(),
            signature: failing.map(|failing| lines(&failing.signature)).unwrap_or_default(),
            clean: failing.map_or("", |failing| told(failing.on_clean_checkout)),
            checklist: lines(&packet.checklist),
            spent: lines(&packet.spent),
            inputs_in_doubt: packet.attempt == CONTEXT_AT,
            terminal: packet.attempt >= TERMINAL_AT,
        },
    )
}

const fn told(clean: Clean) -> &'static str {
    match clean {
        Clean::SameFailure => "fails in the same way on a clean checkout of the snapshot",
        Clean::OtherFailure => {
            "fails in another way on a clean checkout of the snapshot: what lies outside of it plays a part"
        }
        Clean::Passes => "passes on a clean checkout of the snapshot: the failure is not in the content",
        Clean::NotTried => "was not tried on a clean checkout",
    }
}

/// A line of somebody else's text, without what moves a cursor. Tabs stay, since a task may hold code.
fn quoted(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\t' { ' ' } else { c }).collect()
}
