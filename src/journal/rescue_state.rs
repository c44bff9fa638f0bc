//! The rescue of a session that used up its attempts: the packets that were handed over, and the replies.

use serde::{Deserialize, Serialize};

use crate::event::rescue::Rescue;
use crate::oid::Oid;

/// The progress of the rescue of a session; it begins anew with the attempts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RescueState {
    /// The number of packets that were handed over.
    pub attempts: u32,
    /// The latest packet, if it was not answered yet.
    pub open: Option<String>,
    /// The content that it is about.
    pub tree: Option<Oid>,
    /// The names of the packets, oldest first (the latest 16).
    #[serde(default)]
    pub packets: Vec<String>,
    /// The hypotheses of accepted replies, oldest first (the latest 16).
    pub hypotheses: Vec<String>,
    /// The hypotheses that the latest packet for the agent rules out, with the event that brought it.
    pub ruled_out: Option<(String, Vec<String>)>,
    /// It was given up.
    pub given_up: bool,
}

/// The largest number of hypotheses, and of packets, that are remembered.
const MAX_REMEMBERED: usize = 16;

impl RescueState {
    /// Takes up one more event, called `id`.
    pub(super) fn follow(&mut self, id: &str, rescue: &Rescue) {
        match rescue {
            Rescue::HandedOver(handed) => {
                self.attempts = self.attempts.max(handed.attempt);
                self.open = Some(handed.id.clone());
                self.tree.clone_from(&handed.tree);
                remember(&mut self.packets, &handed.id);
            }
            Rescue::Replied(reply) => {
                if self.open.as_ref() == Some(&reply.handoff) {
                    self.open = None;
                }
                if !reply.hypothesis.is_empty() {
                    remember(&mut self.hypotheses, &reply.hypothesis);
                }
                if !reply.not_to_retry.is_empty() {
                    self.ruled_out = Some((id.to_owned(), reply.not_to_retry.clone()));
                }
            }
            Rescue::Withdrawn(withdrawn) => {
                if self.open.as_ref() == Some(&withdrawn.handoff) {
                    self.open = None;
                    self.attempts = self.attempts.saturating_sub(1);
                }
            }
            Rescue::GivenUp(_) => {
                self.open = None;
                self.given_up = true;
            }
        }
    }

    /// Continues the rescue of another session, whose packet came here. Packets that wait there for a reply still do
    /// so.
    pub(super) fn take_up(&mut self, other: &Self) {
        self.attempts = self.attempts.max(other.attempts);
        for packet in &other.packets {
            remember(&mut self.packets, packet);
        }
        for hypothesis in &other.hypotheses {
            remember(&mut self.hypotheses, hypothesis);
        }
        self.ruled_out.clone_from(&other.ruled_out);
        self.given_up |= other.given_up;
    }
}

fn remember(list: &mut Vec<String>, new: &str) {
    if !list.iter().any(|known| known == new) {
        list.push(new.to_owned());
    }
    let surplus = list.len().saturating_sub(MAX_REMEMBERED);
    list.drain(..surplus);
}
