//! A walk through JSON that decodes only the requested parts.
//!
//! A line of a session log may hold megabytes of output of which one number is needed. The rest is skipped: strings by
//! a search for their closing quote, other values by counting brackets. So a line that is broken inside such a part may
//! pass; one that ends too early never does. Nesting costs no stack.

use std::borrow::Cow;

use memchr::memchr;

/// The text is not JSON, or ends too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BrokenJson;

/// A position in a text.
pub(super) struct JsonCursor<'a> {
    text: &'a [u8],
    at: usize,
}

/// A value, not decoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw<'a>(&'a [u8]);

impl<'a> JsonCursor<'a> {
    pub(super) const fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// Calls `field` at each value of the object at this place; a value it does not take is skipped. Anything else than
    /// an object is skipped as a whole.
    pub(super) fn object(
        &mut self,
        mut field: impl FnMut(&mut Self, &'a [u8]) -> Result<(), BrokenJson>,
    ) -> Result<(), BrokenJson> {
        if self.peek()? != b'{' {
            return self.skip();
        }
        self.at += 1;
        let mut goes_on = !self.closes(b'}')?;
        while goes_on {
            if self.peek()? != b'"' {
                return Err(BrokenJson);
            }
            let from = self.at + 1;
            self.string()?;
            let key = &self.text[from..self.at - 1];
            if self.peek()? != b':' {
                return Err(BrokenJson);
            }
            self.at += 1;
            self.value(|cursor| field(cursor, key))?;
            goes_on = self.goes_on(b'}')?;
        }
        Ok(())
    }

    /// Does the same for the items of an array.
    pub(super) fn array(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<(), BrokenJson>,
    ) -> Result<(), BrokenJson> {
        if self.peek()? != b'[' {
            return self.skip();
        }
        self.at += 1;
        let mut goes_on = !self.closes(b']')?;
        while goes_on {
            self.value(&mut item)?;
            goes_on = self.goes_on(b']')?;
        }
        Ok(())
    }

    /// Goes over the bracket that closes an object or an array, if it is next.
    fn closes(&mut self, bracket: u8) -> Result<bool, BrokenJson> {
        let closes = self.peek()? == bracket;
        self.at += usize::from(closes);
        Ok(closes)
    }

    /// Goes over what follows a value, and returns `true` if that is a comma.
    fn goes_on(&mut self, bracket: u8) -> Result<bool, BrokenJson> {
        let comma = self.closes(b',')?;
        if comma || self.closes(bracket)? { Ok(comma) } else { Err(BrokenJson) }
    }

    /// Calls `read` at the value at this place, and skips the value if `read` does not take it.
    fn value(&mut self, read: impl FnOnce(&mut Self) -> Result<(), BrokenJson>) -> Result<(), BrokenJson> {
        self.peek()?;
        let before = self.at;
        read(self)?;
        if self.at == before { self.skip() } else { Ok(()) }
    }

    /// Returns the value at this place.
    pub(super) fn raw(&mut self) -> Result<Raw<'a>, BrokenJson> {
        self.peek()?;
        let from = self.at;
        self.skip()?;
        Ok(Raw(&self.text[from..self.at]))
    }

    /// Returns the text at this place; `None` for another value.
    pub(super) fn text(&mut self) -> Result<Option<Cow<'a, str>>, BrokenJson> {
        Ok(self.raw()?.text())
    }

    /// Returns `true` if a text begins here.
    pub(super) fn is_at_text(&mut self) -> Result<bool, BrokenJson> {
        Ok(self.peek()? == b'"')
    }

    /// Returns `true` if only white space follows.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.peek().is_err()
    }

    /// How many bytes were passed.
    pub(super) const fn position(&self) -> usize {
        self.at
    }

    /// Returns the next byte that is not white space, without moving past it.
    fn peek(&mut self) -> Result<u8, BrokenJson> {
        loop {
            match self.text.get(self.at) {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                Some(byte) => return Ok(*byte),
                None => return Err(BrokenJson),
            }
        }
    }

    /// Passes the string that begins here.
    fn string(&mut self) -> Result<(), BrokenJson> {
        let from = self.at + 1;
        let mut at = from;
        loop {
            at += memchr(b'"', self.text.get(at..).ok_or(BrokenJson)?).ok_or(BrokenJson)?;
            let escapes = self.text[from..at].iter().rev().take_while(|byte| **byte == b'\\').count();
            at += 1;
            if escapes % 2 == 0 {
                self.at = at;
                return Ok(());
            }
        }
    }

    fn skip(&mut self) -> Result<(), BrokenJson> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => self.string()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1).ok_or(BrokenJson)?;
                    self.at += 1;
                }
                b',' | b':' if depth == 0 => return Err(BrokenJson),
                b',' | b':' => {
                    self.at += 1;
                    continue;
                }
                _ => {
                    let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
                    let length = self.text[self.at..].iter().take_while(|byte| word(byte)).count();
                    if length == 0 {
                        return Err(BrokenJson);
                    }
                    self.at += length;
                }
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

impl<'a> Raw<'a> {
    /// Returns a text that is known to be one value.
    pub(super) const fn of(text: &'a [u8]) -> Self {
        Self(text)
    }

    /// Returns the text of a key.
    pub(super) fn of_key(key: &'a [u8]) -> Cow<'a, str> {
        decode(key)
    }

    /// Returns a walk through it.
    pub(super) const fn walk(self) -> JsonCursor<'a> {
        JsonCursor::new(self.0)
    }

    /// Returns its bytes, as they are in the file.
    pub(super) const fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// Returns `true` if it is a string.
    pub(super) fn is_text(self) -> bool {
        self.0.first() == Some(&b'"')
    }

    /// Returns `true` if it is there and not `null`, `false` or an empty string.
    pub(super) fn is_set(self) -> bool {
        !matches!(self.0, b"null" | b"false" | b"\"\"")
    }

    /// Returns `true` if it is `true`.
    pub(super) fn is_true(self) -> bool {
        self.0 == b"true"
    }

    /// Returns a whole number, also if it is written as a text.
    pub(super) fn number(self) -> Option<i64> {
        let digits = self.inner().unwrap_or(self.0);
        std::str::from_utf8(digits).ok()?.parse().ok()
    }

    /// Returns the text, if it is one.
    pub(super) fn text(self) -> Option<Cow<'a, str>> {
        self.inner().map(decode)
    }

    /// Returns the text, or an empty one.
    pub(super) fn text_or_empty(self) -> Cow<'a, str> {
        self.text().unwrap_or_default()
    }

    /// Returns about the last `max` bytes of the text, and `true` if something before them is missing. Takes no longer
    /// for a longer text.
    pub(super) fn end_of_text(self, max: usize) -> (Cow<'a, str>, bool) {
        let Some(inner) = self.inner() else { return (Cow::Borrowed(""), false) };
        if inner.len() <= max {
            return (decode(inner), false);
        }
        let mut from = inner.len() - max;
        // Not inside an escape or a character: behind a line end, which needs an even number of backslashes before
        // it, or at a plain ASCII character that cannot belong to an escape.
        let window = &inner[from..];
        let line_end = window.windows(2).enumerate().find(|(at, pair)| {
            *pair == b"\\n" && inner[..from + at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
        });
        from += match line_end {
            Some((at, _)) => at + 2,
            None => window.iter().position(|byte| *byte == b' ').unwrap_or(window.len()),
        };
        (decode(&inner[from..]), true)
    }

    /// Returns about the first `max` bytes of the text, and `true` if something is missing.
    pub(super) fn start_of_text(self, max: usize) -> (Cow<'a, str>, bool) {
        let Some(inner) = self.inner() else { return (Cow::Borrowed(""), false) };
        if inner.len() <= max {
            return (decode(inner), false);
        }
        // Not inside a character, and not inside an escape, the longest of which (a surrogate pair) has 12 bytes.
        let mut to = max;
        while to > 0 && inner[to] & 0xc0 == 0x80 {
            to -= 1;
        }
        let window = to.saturating_sub(12);
        if let Some(at) = memchr(b'\\', &inner[window..to]) {
            to = window + at;
            while to > 0 && inner[to - 1] == b'\\' {
                to -= 1;
            }
        }
        (decode(&inner[..to]), true)
    }

    fn inner(self) -> Option<&'a [u8]> {
        self.0.strip_prefix(b"\"")?.strip_suffix(b"\"")
    }
}

/// Returns the text between the quotes. Invalid characters become the replacement character: halves of surrogate pairs
/// are common when a client cut a text.
fn decode(inner: &[u8]) -> Cow<'_, str> {
    if memchr(b'\\', inner).is_none() {
        return String::from_utf8_lossy(inner);
    }
    let text = String::from_utf8_lossy(inner);
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let (char, used) = escape(after.as_bytes());
        out.push(char);
        rest = &after[after.ceil_char_boundary(used.min(after.len()))..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns the character of an escape, and the number of bytes it takes after the backslash.
fn escape(after: &[u8]) -> (char, usize) {
    let simple = match after.first() {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(byte @ (b'"' | b'\\' | b'/')) => char::from(*byte),
        Some(b'u') => return unicode(after),
        _ => return (char::REPLACEMENT_CHARACTER, 1),
    };
    (simple, 1)
}

fn unicode(after: &[u8]) -> (char, usize) {
    let hex = |from: usize| -> Option<u32> {
        let digits = std::str::from_utf8(after.get(from..from + 4)?).ok()?;
        u32::from_str_radix(digits, 16).ok()
    };
    let Some(first) = hex(1) else { return (char::REPLACEMENT_CHARACTER, 1) };
    if (0xd800..0xdc00).contains(&first)
        && after.get(5..7) == Some(b"\\u")
        && let Some(second) = hex(7).filter(|second| (0xdc00..0xe000).contains(second))
    {
        let char = char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00));
        return (char.unwrap_or(char::REPLACEMENT_CHARACTER), 11);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 5)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the fields of the outermost object, as written.
    fn fields(text: &str) -> Result<Vec<(String, String)>, BrokenJson> {
        let mut found = Vec::new();
        let mut walk = JsonCursor::new(text.as_bytes());
        walk.object(|walk, key| {
            let key = String::from_utf8_lossy(key).into_owned();
            found.push((key, String::from_utf8_lossy(walk.raw()?.bytes()).into_owned()));
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn what_is_not_asked_for_is_passed_over() {
        let text = r#" { "a" : "x\"}]" , "b":[1,{"c":"]"}], "d":{}, "e":-1.5e+3,"f":null, "g":[] } "#;
        let found = fields(text).unwrap();
        let keys: Vec<&str> = found.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["a", "b", "d", "e", "f", "g"]);
        assert_eq!(found[0].1, r#""x\"}]""#);
        assert_eq!(found[1].1, r#"[1,{"c":"]"}]"#);
        let mut seen = 0;
        JsonCursor::new(text.as_bytes())
            .object(|_, _| {
                seen += 1;
                Ok(())
            })
            .unwrap();
        assert_eq!(seen, 6, "a field that is not taken is skipped");
        assert_eq!(fields("[1]"), Ok(Vec::new()), "another value has no fields");
    }

    #[test]
    fn what_ends_too_early_is_broken() {
        for text in
            ["", "{", "{\"a", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\" 1}", "{a:1}", "{\"a\":\"\\\"}", "{\"a\":}"]
        {
            assert_eq!(fields(text), Err(BrokenJson), "{text}");
        }
        assert!(JsonCursor::new(b"[[[").raw().is_err());
        let deep = "[".repeat(1 << 20);
        assert!(JsonCursor::new(deep.as_bytes()).raw().is_err());
    }

    #[test]
    fn texts_are_decoded_and_cut_where_they_can_be() {
        let raw = |text: &'static str| JsonCursor::new(text.as_bytes()).raw().unwrap();
        for (text, expected) in [
            (r#""plain""#, "plain"),
            (r#""a\n\t\"\\\/b""#, "a\n\t\"\\/b"),
            (r#""\u00e9\ud83d\ude00""#, "é😀"),
            (r#""\ud83d cut""#, "\u{fffd} cut"),
            (r#""\ud83d\u0041""#, "\u{fffd}A"),
            (r#""\uzz""#, "\u{fffd}zz"),
            (r#""""#, ""),
        ] {
            assert_eq!(raw(text).text().unwrap(), expected, "{text}");
        }
        assert_eq!(raw("12").text(), None);
        assert_eq!((raw("12").number(), raw("\"-3\"").number(), raw("1.5").number()), (Some(12), Some(-3), None));
        let long = raw(r#""first line\nsecond \\n line\nlast""#);
        assert_eq!(long.end_of_text(100), (Cow::Borrowed("first line\nsecond \\n line\nlast"), false));
        assert_eq!(long.end_of_text(20), (Cow::Borrowed("last"), true));
        assert_eq!(long.end_of_text(19), (Cow::Borrowed("last"), true));
        assert_eq!(long.start_of_text(11), (Cow::Borrowed("first line"), true));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn strings_come_back(text in ".{0,60}", max in 0_usize..80) {
            let json = serde_json::to_string(&text).unwrap();
            let raw = JsonCursor::new(json.as_bytes()).raw().unwrap();
            prop_assert_eq!(raw.bytes().len(), json.len());
            prop_assert_eq!(raw.text().unwrap(), text.as_str());
            let (end, cut) = raw.end_of_text(max);
            prop_assert!(text.ends_with(&*end), "{:?} does not end with {:?}", text, end);
            prop_assert!(cut || end == text);
            let (start, cut) = raw.start_of_text(max);
            prop_assert!(text.starts_with(&*start), "{:?} does not start with {:?}", text, start);
            prop_assert!(cut || start == text);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(prop_oneof![
            proptest::sample::select(b"{}[]\":,\\u0n ".to_vec()), any::<u8>()], 0..60)) {
            let mut walk = JsonCursor::new(&bytes);
            let _ = walk.object(|walk, _| {
                let raw = walk.raw()?;
                let _ = (raw.text(), raw.number(), raw.end_of_text(4), raw.start_of_text(4));
                Ok(())
            });
        }
    }
}
