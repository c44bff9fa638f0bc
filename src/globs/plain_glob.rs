//! Globs that are matched as they are written: letters, `*` inside a part, `**` as a whole part, and lists in braces.

/// The maximum number of globs for which the braces of one stand.
const MAX_ALTERNATIVES: usize = 64;

/// A glob without classes, escapes and `?`.
#[derive(Clone, Debug)]
pub(super) struct PlainGlob {
    /// The globs without braces for which it stands.
    alternatives: Vec<String>,
}

impl PlainGlob {
    /// Returns `None` for a glob that the library must read.
    pub(super) fn of(glob: &str) -> Option<Self> {
        let alternatives = without_braces(glob)?;
        alternatives.iter().all(|one| is_plain(one)).then_some(Self { alternatives })
    }

    /// Returns `true` if it matches a path, or `None` for a path with empty parts, which the library must read.
    pub(super) fn is_match(&self, path: &[u8]) -> Option<bool> {
        let is_usual = path.split(|byte| *byte == b'/').all(|part| !part.is_empty());
        is_usual.then(|| self.alternatives.iter().any(|glob| matches(glob.as_bytes(), path)))
    }
}

/// Returns `true` if a glob is surely well written: it has no classes and no escapes, and no braces in braces.
pub(super) fn is_well_written(glob: &str) -> bool {
    let mut is_open = false;
    glob.bytes().all(|byte| match byte {
        b'[' | b']' | b'\\' => false,
        b'{' => !std::mem::replace(&mut is_open, true),
        b'}' => std::mem::replace(&mut is_open, false),
        _ => true,
    }) && !is_open
}

/// Returns the globs for which one with braces stands. Braces in braces, empty alternatives and `**` in them have rules of
/// their own.
fn without_braces(glob: &str) -> Option<Vec<String>> {
    let mut found = vec![String::new()];
    let mut rest = glob;
    while let Some((before, after)) = rest.split_once('{') {
        let (list, after) = after.split_once('}')?;
        let parts: Vec<&str> = list.split(',').collect();
        let is_special = |part: &&str| part.is_empty() || part.contains("**") || part.contains('{');
        if before.contains('}') || parts.iter().any(is_special) || found.len() * parts.len() > MAX_ALTERNATIVES {
            return None;
        }
        let with = |start: &String| parts.iter().map(|part| format!("{start}{before}{part}")).collect::<Vec<_>>();
        found = found.iter().flat_map(with).collect();
        rest = after;
    }
    for start in &mut found {
        start.push_str(rest);
    }
    // A `*` of a list and one beside it are no `**`.
    let doubled = |glob: &str| glob.matches("**").count();
    let is_same = found.iter().all(|one| doubled(one) == doubled(glob));
    (is_same && !rest.contains('}')).then_some(found)
}

fn is_plain(glob: &str) -> bool {
    let parts = || glob.split('/');
    let is_whole = |part: &str| !part.is_empty() && (part == "**" || !part.contains("**"));
    let is_doubled = parts().zip(parts().skip(1)).any(|(one, next)| one == "**" && next == "**");
    !glob.contains(['[', ']', '?', '\\']) && parts().all(is_whole) && !is_doubled
}

fn matches(glob: &[u8], path: &[u8]) -> bool {
    let (part, rest) = first_part(glob);
    if part == b"**" {
        let Some(rest) = rest else { return true };
        let mut left = Some(path);
        while let Some(path) = left {
            if matches(rest, path) {
                return true;
            }
            left = first_part(path).1;
        }
        return false;
    }
    let (name, below) = first_part(path);
    is_part(part, name)
        && match (rest, below) {
            (Some(rest), Some(below)) => matches(rest, below),
            (rest, below) => rest.is_none() && below.is_none(),
        }
}

/// Returns the text before the first `/`, and the text after it.
fn first_part(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    match memchr::memchr(b'/', text) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

/// Returns `true` if a part of a glob, in which `*` stands for any text, matches a name.
fn is_part(part: &[u8], name: &[u8]) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut star = None;
    while seen < name.len() {
        match part.get(at) {
            Some(b'*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(letter) if *letter == name[seen] => {
                at += 1;
                seen += 1;
            }
            _ => {
                // The last `*` takes one letter more.
                let Some((place, from)) = star else { return false };
                star = Some((place, from + 1));
                (at, seen) = (place + 1, from + 1);
            }
        }
    }
    part[at..].iter().all(|letter| *letter == b'*')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::globs::check;

    #[test]
    fn unusual_globs_are_left_to_the_library() {
        for (glob, is) in [
            ("**", true),
            ("src/**", true),
            ("**/*.{md,txt}", true),
            ("{a,b}/{c,d*}/e", true),
            ("**/**", false),
            ("a**", false),
            ("{a,b/**}/c", false),
            ("{a,{b,c}}", false),
            ("{a,b/*}*", false),
            ("*{*a,b}", false),
            ("**/{*a,b}*", true),
            ("{,a}", false),
            ("{a", false),
            ("a}", false),
            ("[ab]", false),
            ("a?", false),
            ("a\\*", false),
            ("/a", false),
            ("a//b", false),
            ("", false),
        ] {
            assert_eq!(PlainGlob::of(glob).is_some(), is, "{glob}");
        }
        let plain = PlainGlob::of("**").unwrap();
        for (path, expected) in [("a/b", Some(true)), ("/a", None), ("a//b", None), ("a/", None), ("", None)] {
            assert_eq!(plain.is_match(path.as_bytes()), expected, "{path}");
        }
    }

    proptest! {
        #[test]
        fn the_library_matches_the_same_paths(
            glob in "(a|b|\\.|\\*|/|\\*\\*/|/\\*\\*|\\{a,b/\\*\\}|\\{\\*a,\\.b\\}){1,7}",
            path in "[ab.]{1,3}(/[ab.]{1,3}){0,3}",
        ) {
            let Some(plain) = PlainGlob::of(&glob) else { return Ok(()) };
            let expected = check(&glob).unwrap().compile_matcher().is_match(&path);
            prop_assert_eq!(plain.is_match(path.as_bytes()), Some(expected), "{} {}", glob, path);
        }

        #[test]
        fn the_library_reads_what_is_well_written(glob in "[ab*?{},/.!\\\\\\[\\]-]{0,9}") {
            prop_assert!(!is_well_written(&glob) || check(&glob).is_ok(), "{}", glob);
        }
    }
}
