//! The items of a list at the top of a JSON document.

use super::event_builder::{ReadLine, Transcript};
use super::lazy_json::{BrokenJson, JsonCursor};

/// Gives each item of a list at the top of a document to a reader. What cannot be read is counted with its line; behind
/// it, nothing of a list that is cut off can be told apart.
pub(super) fn each(text: &[u8], list: &[u8], log: &mut Transcript<'_>, read: ReadLine) {
    let mut walk = JsonCursor::new(text);
    let mut line = LineCount { text, at: 0, line: 1 };
    let done = walk.object(|walk, key| {
        if key != list {
            return Ok(());
        }
        walk.array(|walk| {
            let from = walk.position();
            let item = walk.raw()?;
            log.memory.lines = line.up_to(from);
            if read(item.bytes(), log).is_err() {
                log.broken();
            }
            Ok(())
        })
    });
    let done = done.and_then(|()| if walk.is_at_end() { Ok(()) } else { Err(BrokenJson) });
    if done.is_err() {
        log.memory.lines = line.up_to(walk.position());
        log.broken();
    }
}

/// Counts the lines of a text once.
struct LineCount<'a> {
    text: &'a [u8],
    at: usize,
    line: u64,
}

impl LineCount<'_> {
    /// The line in which a place lies that is not before the last one.
    fn up_to(&mut self, place: usize) -> u64 {
        let place = place.clamp(self.at, self.text.len());
        self.line += memchr::memchr_iter(b'\n', &self.text[self.at..place]).count() as u64;
        self.at = place;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_once() {
        let mut line = LineCount { text: b"a\nb\n\nc", at: 0, line: 1 };
        assert_eq!([0, 1, 2, 5, 3, 99].map(|place| line.up_to(place)), [1, 1, 2, 4, 4, 4]);
    }
}
