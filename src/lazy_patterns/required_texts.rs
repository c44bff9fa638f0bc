//! Literal texts that every match of a regular expression contains, found without compiling it.
//!
//! Compiling costs far more than a search for a word, and most expressions match nothing in most texts.

/// In an entry of an embedded table, the end of the expression.
pub(super) const BEFORE_SETS: char = '\u{1d}';
pub(super) const BEFORE_SET: char = '\u{1e}';
pub(super) const BEFORE_TEXT: char = '\u{1f}';

/// Returns sets of literal texts: every match contains at least one text of each set. If letters match in any case, the
/// texts are in small letters.
pub(super) fn required(pattern: &str, any_case: bool) -> Vec<Vec<String>> {
    let pattern = if any_case { pattern.strip_prefix("(?i)").unwrap_or(pattern) } else { pattern };
    // Blanks of this form mean nothing.
    let spaced = pattern.strip_prefix("(?x)").map(without_blanks);
    let pattern = spaced.as_deref().unwrap_or(pattern);
    // With these flags letters are not themselves, from wherever they stand on.
    let flags =
        |rest: &str| rest.split(|c: char| !"imsUuxR-".contains(c)).next().is_some_and(|s| s.contains(['i', 'x']));
    if pattern.split("(?").skip(1).any(flags) {
        return Vec::new();
    }
    let mut found = sets(pattern.as_bytes(), any_case);
    if any_case {
        for text in found.iter_mut().flatten() {
            text.make_ascii_lowercase();
        }
    }
    found
}

/// Returns the sets of a whole expression or of a group that must match.
fn sets(pattern: &[u8], any_case: bool) -> Vec<Vec<String>> {
    match alternatives(pattern).as_slice() {
        [only] => sets_of_row(only, any_case),
        _ => Some(of_alternatives(pattern, any_case)).filter(|texts| !texts.is_empty()).into_iter().collect(),
    }
}

/// Removes the blanks of an expression that ignores them; one that has comments stays unknown.
fn without_blanks(pattern: &str) -> String {
    if pattern.contains('#') {
        return "(?x)".to_owned();
    }
    let mut plain = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => plain.extend(['\\', chars.next().unwrap_or('\\')]),
            c if c.is_whitespace() => {}
            c => plain.push(c),
        }
    }
    plain
}

fn of_alternatives(pattern: &[u8], any_case: bool) -> Vec<String> {
    let mut found = Vec::new();
    for part in alternatives(pattern) {
        let texts = of_row(part, any_case);
        if texts.is_empty() {
            return Vec::new();
        }
        found.extend(texts);
    }
    found
}

/// Returns the parts between `|` that are not in brackets.
fn alternatives(pattern: &[u8]) -> Vec<&[u8]> {
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    while at < pattern.len() {
        if pattern[at] == b'|' {
            parts.push(&pattern[start..at]);
            start = at + 1;
        }
        at = after(pattern, at);
    }
    parts.push(&pattern[start..]);
    parts
}

/// Returns the end of the piece that begins at `at`: a character, an escaped one, a class, or a group.
fn after(pattern: &[u8], at: usize) -> usize {
    match pattern[at] {
        b'\\' => match pattern.get(at + 1) {
            Some(b'x' | b'u' | b'U' | b'p' | b'P' | b'b' | b'B') if pattern.get(at + 2) == Some(&b'{') => {
                pattern[at..].iter().position(|c| *c == b'}').map_or(pattern.len(), |end| at + end + 1)
            }
            Some(b'x') => at + 4,
            Some(b'u') => at + 6,
            Some(b'p' | b'P') => at + 3,
            _ => at + 2,
        },
        b'[' => {
            let mut at = at + 1;
            at += usize::from(pattern.get(at) == Some(&b'^'));
            at += usize::from(pattern.get(at) == Some(&b']'));
            while at < pattern.len() && pattern[at] != b']' {
                at = if pattern[at] == b'[' || pattern[at] == b'\\' { after(pattern, at) } else { at + 1 };
            }
            at + 1
        }
        b'(' => {
            let mut at = at + 1;
            while at < pattern.len() && pattern[at] != b')' {
                at = after(pattern, at);
            }
            at + 1
        }
        _ => at + 1,
    }
    .min(pattern.len())
}

/// The length of the shortest text of a set.
fn shortest(texts: &[String]) -> usize {
    texts.iter().map(String::len).min().unwrap_or(0)
}

/// Returns the best set of a sequence: the one whose shortest text is longest.
fn of_row(pattern: &[u8], any_case: bool) -> Vec<String> {
    sets_of_row(pattern, any_case).into_iter().max_by_key(|texts| shortest(texts)).unwrap_or_default()
}

/// Returns the sets of a sequence, those of groups last.
fn sets_of_row(pattern: &[u8], any_case: bool) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut run = Vec::new();
    let mut at = 0;
    let mut close = |run: &mut Vec<u8>| found.push(String::from_utf8(std::mem::take(run)).into_iter().collect());
    let mut groups = Vec::new();
    while at < pattern.len() {
        let next = after(pattern, at);
        let piece = &pattern[at..next];
        let behind = pattern.get(next);
        let optional = matches!(behind, Some(b'?' | b'*' | b'{'));
        let literal = match piece {
            [b'\\', c] if !c.is_ascii_alphanumeric() => Some(*c),
            [b'.' | b'^' | b'$' | b'?' | b'*' | b'+' | b'{' | b'}'] => None,
            // Letters outside of ASCII may have several small forms.
            [c] if any_case && may_have_case(pattern, at, *c) => None,
            [c] => Some(*c),
            _ => None,
        };
        match literal {
            Some(c) if !optional => run.push(c),
            _ => close(&mut run),
        }
        if piece.first() == Some(&b'(') && !optional {
            groups.extend(sets(inside(piece), any_case));
        }
        at = next;
        match behind {
            Some(b'{') => {
                at += pattern[at..].iter().position(|c| *c == b'}').map_or(pattern.len() - at, |end| end + 1);
                close(&mut run);
            }
            Some(b'?' | b'*' | b'+') => {
                at += 1;
                at += usize::from(pattern.get(at) == Some(&b'?'));
                close(&mut run);
            }
            _ => {}
        }
    }
    close(&mut run);
    found.extend(groups);
    found.retain(|texts| shortest(texts) > 0);
    found
}

/// Returns `true` if the byte at `at` belongs to a character outside of ASCII that is not in the blocks of Chinese,
/// Japanese and Korean, which have no capital letters.
fn may_have_case(pattern: &[u8], at: usize, byte: u8) -> bool {
    let first = pattern[..=at].iter().rev().find(|byte| (**byte & 0xc0) != 0x80);
    !byte.is_ascii() && !first.is_some_and(|first| (0xe3..=0xe9).contains(first))
}

/// Returns the content of a group, which is empty for one that only sets flags.
fn inside(group: &[u8]) -> &[u8] {
    let inner = group.strip_prefix(b"(").and_then(|inner| inner.strip_suffix(b")")).unwrap_or_default();
    let Some(rest) = inner.strip_prefix(b"?") else { return inner };
    let end = rest.iter().position(|c| matches!(c, b':' | b'>'));
    end.map_or(&[], |end| &rest[end + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_match() {
        for (pattern, want) in [
            (r"#\[ignore\b", vec!["#[ignore"]),
            (r"\bassert!\(\s*true\b", vec!["assert!("]),
            (r"\b(?:debug_|prop_)?assert(?:_\w+)?!", vec!["assert"]),
            (r"\bpytest\.(?:skip|xfail)\(", vec!["pytest."]),
            (r"@(?:Disabled|Ignore)\b", vec!["Disabled", "Ignore"]),
            (r"(?m)^\s*skip\b", vec!["skip"]),
            (r"(?i)skip", vec![]),
            (r"(?s-x)skip", vec![]),
            (r"only(?i:skip)", vec![]),
            (r"(?<index>a)b(?i)skip", vec![]),
            (r"\w+\.Skip(?:f|Now)?\(", vec![".Skip"]),
            (r"[a-z]+|foo", vec![]),
            (r"bar|fo+o", vec!["bar", "fo"]),
            (r"ab?c", vec!["c"]),
            (r"ab{0,2}c", vec!["c"]),
            (r"(?:ab|c)*def", vec!["def"]),
            (r#"skip:\s*(?:true|["\x27])"#, vec!["skip:"]),
            (r"x[]a|]yz", vec!["yz"]),
            (r"(?<name>`[^`]*`|\w+)", vec![]),
            ("", vec![]),
            (r"\x{37e}ab", vec!["ab"]),
            (r"\pLab|\p{Greek}c", vec!["ab", "c"]),
            (r"\u00e4ab", vec!["ab"]),
            ("(?x)\n  a b\\ c (?: d | e ) ", vec!["ab c"]),
            ("(?x) ab # no text\n cd", vec![]),
        ] {
            assert_eq!(best(pattern, false), want, "{pattern}");
        }
        for (pattern, want) in [
            ("Done|All PASSED", vec!["done", "all passed"]),
            ("geprüft", vec!["gepr"]),
            ("通过", vec!["通过"]),
            ("(?i)Seed", vec!["seed"]),
            ("(?:通过|ok)了?", vec!["通过", "ok"]),
            ("ä+", vec![]),
        ] {
            assert_eq!(best(pattern, true), want, "{pattern}");
        }
    }

    fn best(pattern: &str, any_case: bool) -> Vec<String> {
        required(pattern, any_case).into_iter().max_by_key(|texts| shortest(texts)).unwrap_or_default()
    }

    #[test]
    fn every_set_is_needed() {
        let sets = |pattern: &str| required(pattern, true);
        assert_eq!(sets(r"\b(?:(?:is|are) (?:ugly|a mess))\b"), [vec![" "], vec!["is", "are"], vec!["ugly", "a mess"]]);
        assert_eq!(sets("(?:is|are)? ugly"), [vec![" ugly"]]);
        assert!(sets(r"ugly|\w+").is_empty());
    }
}
