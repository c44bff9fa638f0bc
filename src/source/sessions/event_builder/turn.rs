//! Where a turn ends: where the client says so, or where what follows shows it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{CommandEnding, Transcript, TranscriptState};
use crate::event::agent_work::{Act, StopKind, TurnEnd};

/// The words a turn may have ended with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Closing {
    /// The client's id of the message.
    pub(in super::super) message: String,
    pub(in super::super) text: String,
    pub(in super::super) at: Timestamp,
    /// The client did not say that the turn ends here: nothing else follows.
    #[serde(default)]
    pub(in super::super) is_guess: bool,
}

impl TranscriptState {
    /// Returns `true` if the turn ended with the last message, provided that nothing follows.
    pub(in super::super) fn ends(&self) -> bool {
        self.closing.as_ref().is_some_and(|closing| !closing.is_guess || self.pending.is_empty())
    }
}

impl Transcript<'_> {
    /// The turn ends with these words, unless more of it follows.
    pub(in super::super) fn closes(&mut self, message: &str, text: &str) {
        let at = self.at;
        let closing = self.memory.closing.get_or_insert_default();
        if closing.message != message {
            *closing = Closing { message: message.to_owned(), ..Closing::default() };
        }
        closing.at = at;
        closing.is_guess = false;
        if !text.is_empty() {
            text.clone_into(&mut closing.text);
        }
    }

    /// The same where the client does not say that a turn ends.
    pub(in super::super) fn may_close(&mut self, message: &str, text: &str) {
        self.closes(message, text);
        if let Some(closing) = &mut self.memory.closing {
            closing.is_guess = true;
        }
    }

    /// The agent speaks in a message: words of an earlier one were the last of a turn only where the client said so.
    pub(in super::super) fn speaks(&mut self, message: &str) {
        match &self.memory.closing {
            Some(closing) if closing.message != message && closing.is_guess => self.goes_on(),
            Some(closing) if closing.message != message => self.closed(),
            _ => {}
        }
    }

    /// What comes next shows that the turn did not end there.
    pub(in super::super) fn goes_on(&mut self) {
        self.memory.closing = None;
    }

    /// What comes next shows that the turn ended.
    pub(in super::super) fn closed(&mut self) {
        let ends = self.memory.ends();
        if let Some(closing) = self.memory.closing.take().filter(|_| ends) {
            let now = std::mem::replace(&mut self.at, closing.at);
            let number = std::mem::take(&mut self.number);
            let key = std::mem::replace(&mut self.key, format!("{} closes", closing.message));
            self.stopped(StopKind::Completed, closing.text);
            (self.at, self.number, self.key) = (now, number, key);
        }
    }

    pub(in super::super) fn stopped(&mut self, how: StopKind, text: String) {
        self.memory.closing = None;
        if how == StopKind::Aborted {
            self.give_up();
        }
        let running = u32::try_from(self.memory.background.len()).unwrap_or(u32::MAX);
        self.act(None, Act::Stopped(TurnEnd { how, text, running, left_alone: None }));
    }

    /// The log ends here: what waits for more is told as it is.
    pub(in super::super) fn finish(&mut self) {
        self.closed();
        self.give_up();
    }

    /// Commands whose result will not come any more are told without one.
    pub(in super::super) fn give_up(&mut self) {
        let mut pending: Vec<_> = std::mem::take(&mut self.memory.pending).into_iter().collect();
        pending.sort_by_key(|(_, call)| call.number);
        let (key, number) = (std::mem::take(&mut self.key), self.number);
        for (id, call) in pending {
            if call.is_command() {
                self.line(&format!("{id} given up"), None);
                self.command(&id, call, CommandEnding { ended: None, tail: String::new(), background: false });
            }
        }
        (self.key, self.number) = (key, number);
    }
}
