//! What the client tells the agent: that a command in the background ended, and what a person typed meanwhile.

use std::borrow::Cow;

use super::super::event_builder::Transcript;
use super::super::kept_text::{self, WORDS};
use super::super::lazy_json::BrokenJson;
use super::{ClaudeFields, speaker};
use crate::event::{Ended, Phase};

/// What a notice about a command in the background begins with.
pub(super) const NOTIFICATION: &str = "<task-notification>";

/// A command in the background ended.
pub(super) fn notification(text: &str, log: &mut Transcript<'_>) {
    let Some(task) = kept_text::between(text, "<task-id>", "</task-id>") else { return };
    let status = kept_text::between(text, "<status>", "</status>").unwrap_or_default();
    if status == "running" {
        return;
    }
    let summary = kept_text::between(text, "<summary>", "</summary>").unwrap_or_default();
    let ended = kept_text::number_after(summary, "exit code").map(Ended::Exited);
    log.command_ended(task, ended, String::new());
}

/// What the client puts beside the conversation.
pub(super) fn attachment(fields: &ClaudeFields<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    let Some(attachment) = fields.attachment else { return Ok(()) };
    let (mut kind, mut hook, mut mode) = (Cow::default(), Cow::default(), Cow::default());
    let mut queued = None;
    attachment.walk().object(|walk, key| {
        match key {
            b"type" => kind = walk.raw()?.text_or_empty(),
            b"hookName" => hook = walk.raw()?.text_or_empty(),
            b"commandMode" => mode = walk.raw()?.text_or_empty(),
            b"prompt" => queued = Some(walk.raw()?),
            _ => {}
        }
        Ok(())
    })?;
    match (&*kind, queued) {
        // What a person typed, or what ended in the background, while the agent was at work.
        ("queued_command", Some(queued)) => {
            let text = kept_text::start_of(queued, WORDS);
            if text.starts_with(NOTIFICATION) {
                notification(&text, log);
            } else if matches!(&*mode, "" | "prompt") {
                log.prompt(speaker(&text, fields), text);
            }
        }
        _ if hook == "SessionStart:resume" && log.memory.counts.stops > 0 => log.session(Phase::Resumed),
        _ => {}
    }
    Ok(())
}
