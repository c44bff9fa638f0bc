//! The fields of git's output, each up to the byte that ends it.

use std::io::{self, BufRead};

/// The longest field that is read, in bytes; longer ones are cut.
const MAX_FIELD_LENGTH: usize = 1 << 20;

/// Reads the bytes before the next `end`, which is skipped, or before the end of input, into `field`. Returns `false`
/// at the end of input: an empty field there does not count.
pub(super) fn read(from: &mut impl BufRead, end: u8, field: &mut Vec<u8>) -> io::Result<bool> {
    field.clear();
    let mut any = false;
    loop {
        let buffer = match from.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer.is_empty() {
            return Ok(any);
        }
        any = true;
        let at = memchr::memchr(end, buffer);
        let part = &buffer[..at.unwrap_or(buffer.len())];
        field.extend_from_slice(&part[..part.len().min(MAX_FIELD_LENGTH - field.len())]);
        let used = part.len() + usize::from(at.is_some());
        from.consume(used);
        if at.is_some() {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn all(text: &[u8], capacity: usize) -> Vec<Vec<u8>> {
        let mut from = BufReader::with_capacity(capacity, text);
        let (mut fields, mut field) = (Vec::new(), Vec::new());
        while read(&mut from, 0, &mut field).unwrap() {
            fields.push(field.clone());
        }
        fields
    }

    #[test]
    fn fields_end_where_they_end() {
        for capacity in [1, 3, 64] {
            assert_eq!(all(b"one\0\0two\n\0rest", capacity), [&b"one"[..], b"", b"two\n", b"rest"]);
            assert_eq!(all(b"one\0", capacity), [b"one"]);
            assert!(all(b"", capacity).is_empty());
        }
    }

    #[test]
    fn what_is_longer_is_cut() {
        let text = [vec![b'x'; MAX_FIELD_LENGTH + 7], b"\0after".to_vec()].concat();
        let fields = all(&text, 1 << 16);
        assert_eq!((fields[0].len(), &*fields[1], fields.len()), (MAX_FIELD_LENGTH, &b"after"[..], 2));
    }
}
