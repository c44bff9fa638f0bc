//! What of a log is not understood, counted by kind.

use super::{Transcript, kept_text};

/// How many kinds of what is not understood are told apart.
const MAX_KINDS: usize = 32;
/// The longest name of such a kind.
const MAX_KIND: usize = 80;

impl Transcript<'_> {
    /// The line that was read last cannot be understood as one.
    pub(in super::super) fn broken(&mut self) {
        let (counts, line) = (&mut self.memory.counts, self.memory.lines);
        counts.broken += 1;
        counts.first_broken = counts.first_broken.or(Some(line).filter(|line| *line > 0));
    }

    /// Something of this kind is not understood.
    pub(in super::super) fn unknown(&mut self, kind: &str) {
        const OTHER: &str = "others";
        if self.memory.copied {
            return;
        }
        let unknown = &mut self.memory.counts.unknown;
        let kind = kept_text::start(kind, MAX_KIND);
        let kind = if unknown.len() < MAX_KINDS || unknown.contains_key(&kind) { kind } else { OTHER.to_owned() };
        *unknown.entry(kind).or_default() += 1;
    }

    /// A record that no reader takes: the client is known to write it for itself, or it is counted.
    pub(in super::super) fn passed_over(&mut self, kind: &str) {
        if kind.is_empty() {
            self.unknown("record without a type");
        } else if !self.client.writes(kind) {
            self.unknown(&format!("record {kind}"));
        }
    }
}
