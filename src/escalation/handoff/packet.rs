//! The packet: the task, a clean snapshot, the payload, the checklist, and one command that shows the failure.

use serde::{Deserialize, Serialize};

use super::{CONTEXT_AT, TERMINAL_AT};
use crate::escalation::{self, Escalation, line};
use crate::foreign_text::is_hidden;
use crate::oid::Oid;
use crate::templates::{self, RenderedText, TemplateError, whole};

/// The packet of a handoff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Packet {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// Its name, which a reply uses.
    pub id: String,
    /// The number of the rescue attempt, counted from 1.
    pub attempt: u32,
    /// The task in the words of its author.
    pub task: String,
    /// More about the task, one line each: its class and score, the person's answers, and the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
    /// The content of the work.
    pub snapshot: PacketSnapshot,
    /// The reason why the work stopped, and the command that shows it.
    pub escalation: Escalation,
    /// The checks that must hold before a hypothesis counts.
    pub checklist: Vec<String>,
    /// The hypotheses of earlier replies, which did not clear the failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spent: Vec<String>,
}

/// Content that can be fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PacketSnapshot {
    /// The ref that keeps it.
    pub reference: String,
    /// The commit it points to.
    pub commit: Oid,
    /// Its tree.
    pub tree: Oid,
}

/// Returns the packet as text, for an agent that reads prompts. Foreign text is quoted line by line, so that it cannot
/// end or forge a part.
pub fn text(packet: &Packet) -> Result<String, TemplateError> {
    told(packet).map(|told| told.text)
}

/// Returns the packet as text, with the error in the user's own template. A template without the payload makes no
/// packet.
pub fn told(packet: &Packet) -> Result<RenderedText, TemplateError> {
    #[derive(Serialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    struct PacketContext<'a> {
        packet: &'a Packet,
        payload: String,
        task: Vec<String>,
        context: Vec<String>,
        checklist: Vec<String>,
        spent: Vec<String>,
        inputs_in_doubt: bool,
        terminal: bool,
    }
    let lines = |lines: &[String]| -> Vec<String> { lines.iter().map(|text| line(text)).collect() };
    let payload = escalation::told(&packet.escalation)?;
    let context = PacketContext {
        packet,
        payload: payload.text.trim_end().to_owned(),
        task: packet.task.lines().map(quoted).collect(),
        context: packet.context.iter().map(|text| quoted(text)).collect(),
        checklist: lines(&packet.checklist),
        spent: lines(&packet.spent),
        inputs_in_doubt: packet.attempt == CONTEXT_AT,
        terminal: packet.attempt >= TERMINAL_AT,
    };
    let mut packet = templates::told("handoff.md", &context)?;
    if !packet.text.contains(&context.payload) {
        packet.text = templates::render_built_in("handoff.md", &context)?;
        let lacks = TemplateError::Lacks { place: "handoff.md".to_owned(), what: "the payload" };
        packet.wrong = packet.wrong.or(Some(lacks));
    }
    Ok(RenderedText { text: whole(packet.text), wrong: packet.wrong.or(payload.wrong) })
}

/// Quotes a line of foreign text, without characters that move a cursor. Tabs stay, since a task may contain code.
fn quoted(text: &str) -> String {
    text.replace(|c| is_hidden(c) && c != '\t', " ")
}
