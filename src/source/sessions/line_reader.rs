//! The lines of a file that may be large and may still grow, in bounded memory.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use memchr::memchr;

/// The number of bytes that are read at once.
const WINDOW: usize = 256 * 1024;
/// The longest line that is read. Clients write whole files into a line; a longer one does not hold an act of interest.
pub(super) const MAX_LINE: usize = 16 * 1024 * 1024;

/// Opens a log. A pipe, a socket or a device is refused: opening or reading it might wait for ever.
pub fn open(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    File::open(path)
}

/// A line, or the reason why it is missing.
pub(super) enum LogLine<'a> {
    /// A whole line without its end.
    Whole(&'a [u8]),
    /// A line longer than [`MAX_LINE`], which is skipped.
    TooLong,
    /// The file ends inside a line.
    Unfinished(&'a [u8]),
}

/// Reads lines.
pub(super) struct LogLines<R> {
    from: R,
    buffer: Vec<u8>,
    /// The number of bytes in the buffer.
    filled: usize,
    /// The number of bytes that were returned.
    given: usize,
    /// Bytes of the file before the next line.
    offset: u64,
    /// The line that is being read is too long; its bytes are dropped.
    dropping: bool,
    ended: bool,
}

impl<R: Read> LogLines<R> {
    /// Reads `from`, which is at `offset` of its file.
    pub(super) fn new(from: R, offset: u64) -> Self {
        Self { from, buffer: vec![0; WINDOW], filled: 0, given: 0, offset, dropping: false, ended: false }
    }

    /// Returns the place where the next line begins.
    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the next line; `None` at the end of the file.
    pub(super) fn next_line(&mut self) -> io::Result<Option<LogLine<'_>>> {
        let mut searched = self.given;
        loop {
            if let Some(length) = memchr(b'\n', &self.buffer[searched..self.filled]) {
                let (from, to) = (self.given, searched + length);
                self.given = to + 1;
                self.offset += (to + 1 - from) as u64;
                if std::mem::take(&mut self.dropping) {
                    return Ok(Some(LogLine::TooLong));
                }
                return Ok(Some(LogLine::Whole(&self.buffer[from..to])));
            }
            searched = self.filled;
            if self.ended {
                return Ok(self.rest());
            }
            if self.filled - self.given >= MAX_LINE {
                self.dropping = true;
            }
            if self.dropping {
                self.offset += (self.filled - self.given) as u64;
                (self.given, self.filled, searched) = (0, 0, 0);
                self.buffer.truncate(WINDOW);
                self.buffer.shrink_to_fit();
            } else if self.given > 0 {
                self.buffer.copy_within(self.given..self.filled, 0);
                self.filled -= self.given;
                searched -= self.given;
                self.given = 0;
            }
            if self.filled == self.buffer.len() {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
            match self.from.read(&mut self.buffer[self.filled..]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the text after the last line end. The offset stays before it: it may be finished later.
    fn rest(&mut self) -> Option<LogLine<'_>> {
        let (from, to) = (self.given, self.filled);
        self.given = self.filled;
        (from < to && !self.dropping).then(|| LogLine::Unfinished(&self.buffer[from..to]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives out its bytes in pieces of a size.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(into.len()).min(self.0.len());
            into[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    fn read(text: &[u8], piece: usize) -> (Vec<String>, u64) {
        let mut lines = LogLines::new(Pieces(text, piece), 100);
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            found.push(match line {
                LogLine::Whole(line) => format!("{}|", String::from_utf8_lossy(line)),
                LogLine::TooLong => "too long".to_owned(),
                LogLine::Unfinished(line) => String::from_utf8_lossy(line).into_owned(),
            });
        }
        (found, lines.offset())
    }

    #[test]
    fn lines_do_not_depend_on_the_pieces_they_come_in() {
        for (text, expected, offset) in [
            ("", vec![], 100),
            ("a\nbb\n", vec!["a|", "bb|"], 105),
            ("a\n\nbb", vec!["a|", "|", "bb"], 103),
            ("\n", vec!["|"], 101),
        ] {
            for piece in [1, 2, 3, 100] {
                assert_eq!(
                    read(text.as_bytes(), piece),
                    (expected.iter().map(|line| (*line).to_owned()).collect(), offset)
                );
            }
        }
        let long = format!("{}\n{}\nx", "a".repeat(WINDOW - 1), "b".repeat(3 * WINDOW));
        let (found, offset) = read(long.as_bytes(), 10_000);
        assert_eq!((found[0].len(), found[1].len(), found[2].as_str()), (WINDOW, 3 * WINDOW + 1, "x"));
        assert_eq!(offset, 100 + long.len() as u64 - 1);
    }

    #[test]
    fn a_line_without_measure_is_passed_over_in_bounded_memory() {
        let mut text = vec![b'x'; MAX_LINE + 3 * WINDOW];
        text.extend_from_slice(b"\nnext\n");
        let (found, offset) = read(&text, 1 << 20);
        assert_eq!(found, ["too long", "next|"]);
        assert_eq!(offset, 100 + text.len() as u64);
    }
}
