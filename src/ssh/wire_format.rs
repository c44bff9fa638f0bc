//! The encoding of RFC 4251, section 5: lengths of four bytes, then that many bytes.

/// The bytes that are left to read.
pub(super) struct WireReader<'a>(pub(super) &'a [u8]);

impl<'a> WireReader<'a> {
    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        self.bytes(4)?.try_into().ok().map(u32::from_be_bytes)
    }

    pub(super) fn string(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.bytes(length)
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.string()?).ok()
    }

    /// Reads a number without sign, without its leading zeros.
    pub(super) fn unsigned(&mut self) -> Option<&'a [u8]> {
        let bytes = self.string()?;
        if bytes.first().is_some_and(|first| first & 0x80 != 0) {
            return None;
        }
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        Some(&bytes[zeros..])
    }

    /// Checks that nothing follows.
    pub(super) fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

/// Appends a string.
pub(super) fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_that_reach_too_far_are_no_strings() {
        for bytes in [&[][..], &[0, 0, 0], &[0, 0, 0, 1], &[0, 0, 0, 2, 7], &[0xff, 0xff, 0xff, 0xff, 1]] {
            assert_eq!(WireReader(bytes).string(), None, "{bytes:?}");
        }
        let mut out = Vec::new();
        put(&mut out, b"ab");
        let mut reader = WireReader(&out);
        assert_eq!((reader.text(), reader.end()), (Some("ab"), Some(())));
    }

    #[test]
    fn numbers_have_no_sign() {
        for (bytes, expected) in
            [(&[0, 0x80][..], Some(&[0x80][..])), (&[0x80], None), (&[0, 0, 1], Some(&[1])), (&[], Some(&[]))]
        {
            let mut out = Vec::new();
            put(&mut out, bytes);
            assert_eq!(WireReader(&out).unsigned(), expected, "{bytes:?}");
        }
    }
}
