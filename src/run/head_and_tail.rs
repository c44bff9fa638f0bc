//! The beginning and the end of a stream of any length, in bounded memory.

use std::borrow::Cow;
use std::io::{self, Read};

/// The number of bytes of the beginning that are kept.
pub const HEAD: usize = 4 * 1024;
/// The number of bytes of the end that are kept.
pub const TAIL: usize = 64 * 1024;
/// The number of bytes that are kept where the whole output is asked for.
pub(super) const MAX_WHOLE: usize = 16 * 1024 * 1024;

/// The output of a command, both streams in the order of arrival: raw bytes, **not redacted**.
///
/// It lives in memory only; [`super::clean_tail`] prepares the part that is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptOutput {
    /// The first bytes, at most [`HEAD`].
    pub head: Vec<u8>,
    /// The last bytes after the head, at most [`TAIL`].
    pub tail: Vec<u8>,
    /// The number of bytes in all.
    pub total: u64,
    /// `true` if something between head and tail is missing.
    pub cut: bool,
    /// All of it, if that was asked for and it is not longer than 16 MiB.
    pub whole: Option<Vec<u8>>,
}

impl KeptOutput {
    /// Reads a stream to its end.
    pub(super) fn of(mut stream: impl Read) -> io::Result<Self> {
        let mut bounded = Bounded::default();
        let mut chunk = vec![0; TAIL];
        loop {
            match stream.read(&mut chunk)? {
                0 => return Ok(bounded.output()),
                size => bounded.push(&chunk[..size]),
            }
        }
    }

    /// Returns the bytes before the end, without a gap. If something is missing, they begin after the first line end,
    /// as the line before it is not whole.
    pub fn end(&self) -> Cow<'_, [u8]> {
        if !self.cut {
            return Cow::Owned([self.head.as_slice(), self.tail.as_slice()].concat());
        }
        let line_end = self.tail.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        Cow::Borrowed(line_end.map_or(&[], |at| &self.tail[at + 1..]))
    }
}

impl KeptOutput {
    /// Returns all bytes, if nothing is missing.
    pub fn all(&self) -> Option<Cow<'_, [u8]>> {
        if self.cut { self.whole.as_deref().map(Cow::Borrowed) } else { Some(self.end()) }
    }
}

/// Takes a stream chunk by chunk. Costs at most one copy of [`TAIL`] bytes for each chunk of that size.
#[derive(Debug, Default)]
pub(super) struct Bounded {
    head: Vec<u8>,
    tail: Vec<u8>,
    total: u64,
    whole: Option<Vec<u8>>,
}

impl Bounded {
    /// A stream of which everything is kept as well, if `whole`.
    pub(super) fn new(whole: bool) -> Self {
        Self { whole: whole.then(Vec::new), ..Self::default() }
    }

    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.total += chunk.len() as u64;
        match &mut self.whole {
            Some(whole) if whole.len() + chunk.len() <= MAX_WHOLE => whole.extend_from_slice(chunk),
            whole => *whole = None,
        }
        let (first, rest) = chunk.split_at(chunk.len().min(HEAD - self.head.len()));
        self.head.extend_from_slice(first);
        if rest.len() >= TAIL {
            self.tail.clear();
            self.tail.extend_from_slice(&rest[rest.len() - TAIL..]);
            return;
        }
        // The tail may grow to twice its size before its front is dropped, so that short chunks are not moved often.
        if self.tail.len() + rest.len() > 2 * TAIL {
            self.tail.drain(..self.tail.len() + rest.len() - TAIL);
        }
        self.tail.extend_from_slice(rest);
    }

    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// Returns the part that is kept so far.
    pub(super) fn output(&self) -> KeptOutput {
        let tail = self.tail[self.tail.len().saturating_sub(TAIL)..].to_vec();
        let cut = self.total > (self.head.len() + tail.len()) as u64;
        KeptOutput { head: self.head.clone(), tail, total: self.total, cut, whole: self.whole.clone().filter(|_| cut) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn naive(whole: &[u8]) -> KeptOutput {
        let (head, rest) = whole.split_at(whole.len().min(HEAD));
        let tail = &rest[rest.len().saturating_sub(TAIL)..];
        KeptOutput {
            head: head.to_vec(),
            tail: tail.to_vec(),
            total: whole.len() as u64,
            cut: rest.len() > TAIL,
            whole: None,
        }
    }

    fn numbered(length: usize) -> Vec<u8> {
        (0..length).map(|at| u8::try_from(at % 251).unwrap()).collect()
    }

    #[test]
    fn the_edges_are_exact() {
        for length in [0, 1, HEAD - 1, HEAD, HEAD + 1, HEAD + TAIL - 1, HEAD + TAIL, HEAD + TAIL + 1, 3 * TAIL] {
            let whole = numbered(length);
            for size in [1000, HEAD, HEAD + 1, TAIL - 1, TAIL, TAIL + 1, 2 * TAIL] {
                let mut bounded = Bounded::default();
                whole.chunks(size).for_each(|chunk| bounded.push(chunk));
                assert_eq!(bounded.output(), naive(&whole), "{length} bytes in chunks of {size}");
            }
        }
    }

    #[test]
    fn the_whole_is_kept_where_it_is_asked_for() {
        for (length, asked, known) in
            [(9, false, true), (9 * TAIL, false, false), (9 * TAIL, true, true), (MAX_WHOLE + 1, true, false)]
        {
            let whole = numbered(length);
            let mut bounded = Bounded::new(asked);
            whole.chunks(TAIL).for_each(|chunk| bounded.push(chunk));
            assert_eq!(bounded.output().all().is_some_and(|all| *all == *whole), known, "{length}");
        }
    }

    #[test]
    fn the_end_has_no_gap_and_whole_lines() {
        let output = |head: &[u8], tail: &[u8], cut| KeptOutput {
            head: head.to_vec(),
            tail: tail.to_vec(),
            total: 9,
            cut,
            whole: None,
        };
        assert_eq!(*output(b"a\nb", b"c\n", false).end(), *b"a\nbc\n");
        assert_eq!(*output(b"a\nb", b"half\nc\n", true).end(), *b"c\n");
        assert_eq!(*output(b"a\nb", b"half\rc\n", true).end(), *b"c\n");
        assert_eq!(*output(b"a\nb", b"one line", true).end(), *b"");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_chunking_keeps_the_same(sizes in proptest::collection::vec(
            prop_oneof![0_usize..100, 1000_usize..9000, 60_000_usize..140_000], 0..12)) {
            let whole = numbered(sizes.iter().sum());
            let mut bounded = Bounded::default();
            let mut at = 0;
            for size in sizes {
                bounded.push(&whole[at..at + size]);
                at += size;
                prop_assert!(bounded.tail.len() <= 2 * TAIL);
            }
            prop_assert_eq!(bounded.output(), naive(&whole));
        }
    }
}
