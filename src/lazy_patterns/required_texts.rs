//! Literal texts that every match of a regular expression contains, found without compiling it.
//!
//! Compiling costs far more than a search for a word, and most expressions match nothing in most texts.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

/// In an entry of an embedded table, the end of the expression.
pub(super) const BEFORE_SETS: char = '\u{1d}';
pub(super) const BEFORE_SET: char = '\u{1e}';
pub(super) const BEFORE_TEXT: char = '\u{1f}';
/// In a text of lists, what is before each list after the first, and before each entry.
pub(super) const BEFORE_LIST: char = '\u{1b}';
pub(super) const BEFORE_ENTRY: char = '\u{1c}';
/// In a stored entry, a match needs texts in small letters.
pub(super) const ANY_CASE: char = 'i';

/// Small letters that equal others for regular expressions, whatever the case: the long `ſ`, the `ς` at the end of a Greek
/// word, and old forms.
const OTHER_FORMS: &[(&str, char)] = &[
    ("ſ", 's'),
    ("ς", 'σ'),
    ("ϵ", 'ε'),
    ("ϐ", 'β'),
    ("ϑ", 'θ'),
    ("ϕ", 'φ'),
    ("ϖ", 'π'),
    ("ϰ", 'κ'),
    ("ϱ", 'ρ'),
    ("µ", 'μ'),
    ("\u{345}\u{1fbe}", 'ι'),
    ("\u{1c80}", 'в'),
    ("\u{1c81}", 'д'),
    ("\u{1c82}", 'о'),
    ("\u{1c83}", 'с'),
    ("\u{1c84}\u{1c85}", 'т'),
    ("\u{1c86}", 'ъ'),
];

/// Returns a text in small letters, each in one form; the number of characters stays.
pub(super) fn folded(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.chars().map(one_form).collect() }
}

fn one_form(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let mut small = c.to_lowercase();
    let (Some(form), None) = (small.next(), small.next()) else { return c };
    OTHER_FORMS.iter().find(|(others, _)| others.contains(form)).map_or(form, |(_, other)| *other)
}

/// Returns `true` for a word in small letters, or some with spaces between them.
pub(super) fn is_plain(expression: &str) -> bool {
    expression.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b' ')
        && !expression.is_empty()
        && expression.trim() == expression
}

/// Returns sets of literal texts: every match contains at least one text of each set. If letters match in any case, the
/// texts are in small letters.
pub(super) fn required(pattern: &str, any_case: bool) -> Vec<Vec<String>> {
    let pattern = if any_case { pattern.strip_prefix("(?i)").unwrap_or(pattern) } else { pattern };
    regex_syntax::parse(pattern).map_or_else(|_| Vec::new(), |parsed| sets(&parsed, any_case))
}

/// Returns the sets of a part that must match. Letters of which other forms match as well are not literal text here.
fn sets(part: &Hir, any_case: bool) -> Vec<Vec<String>> {
    match part.kind() {
        HirKind::Literal(text) => {
            std::str::from_utf8(&text.0).map_or_else(|_| Vec::new(), |text| texts(text, any_case))
        }
        HirKind::Class(class) => few_characters(class, any_case).into_iter().collect(),
        HirKind::Capture(group) => sets(&group.sub, any_case),
        HirKind::Repetition(repeated) if repeated.min > 0 => sets(&repeated.sub, any_case),
        HirKind::Concat(parts) => parts.iter().flat_map(|part| sets(part, any_case)).collect(),
        HirKind::Alternation(parts) => {
            let best = |part: &Hir| sets(part, any_case).into_iter().max_by_key(|texts| shortest(texts));
            parts.iter().map(best).collect::<Option<Vec<_>>>().map(|sets| sets.concat()).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The maximum number of characters of a class that are a set.
const MAX_CLASS: usize = 26;

/// Returns the characters of a class if they are few: the digits, some brackets.
fn few_characters(class: &Class, any_case: bool) -> Option<Vec<String>> {
    let Class::Unicode(class) = class else { return None };
    let chars = || class.iter().flat_map(|range| range.start()..=range.end());
    // Blanks are in nearly every text.
    if chars().take(MAX_CLASS + 1).count() > MAX_CLASS || chars().any(char::is_whitespace) {
        return None;
    }
    let set = chars().map(String::from).map(|c| if any_case { folded(&c) } else { c });
    chars().all(|c| !any_case || has_one_form(c)).then(|| set.collect())
}

/// Returns a set for each part of a text that is the same in any case, once it is folded.
fn texts(text: &str, any_case: bool) -> Vec<Vec<String>> {
    let parts = text.split(|c: char| any_case && !has_one_form(c)).filter(|part| !part.is_empty());
    parts.map(|part| vec![if any_case { folded(part) } else { part.to_owned() }]).collect()
}

/// Returns `true` if all characters that equal this one in any case have the same folded form.
fn has_one_form(c: char) -> bool {
    let mut alike = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
    let form = folded(c.encode_utf8(&mut [0; 4]));
    c.is_ascii()
        || alike.try_case_fold_simple().is_ok()
            && alike.iter().flat_map(|range| range.start()..=range.end()).all(|c| folded(&c.to_string()) == form)
}

/// The length of the shortest text of a set.
fn shortest(texts: &[String]) -> usize {
    texts.iter().map(String::len).min().unwrap_or(0)
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
            (r"(?i)skip", vec!["P", "p"]),
            (r"[0-3]+\s", vec!["0", "1", "2", "3"]),
            (r"[「『].", vec!["「", "『"]),
            (r"(?s-x)skip", vec!["skip"]),
            (r"only(?i:skip)", vec!["only"]),
            (r"(?<index>a)b(?i)skip", vec!["P", "p"]),
            (r"\w+\.Skip(?:f|Now)?\(", vec![".Skip"]),
            (r"[a-zñ]+|foo", vec![]),
            (r"bar|fo+o", vec!["bar", "o"]),
            (r"ab?c", vec!["c"]),
            (r"ab{0,2}c", vec!["c"]),
            (r"(?:ab|c)*def", vec!["def"]),
            (r#"skip:\s*(?:true|["\x27])"#, vec!["skip:"]),
            (r"x[]a|]yz", vec!["yz"]),
            (r"(?<name>`[^`]*`|\w+)", vec![]),
            ("", vec![]),
            (r"\x{37e}ab", vec!["\u{37e}ab"]),
            (r"\pLab|\p{Greek}c", vec!["ab", "c"]),
            (r"\u00e4ab", vec!["äab"]),
            ("(?x)\n  a b\\ c (?: d | e ) ", vec!["ab c"]),
            ("(?x) ab # no text\n cd", vec!["abcd"]),
        ] {
            assert_eq!(best(pattern, false), want, "{pattern}");
        }
        for (pattern, want) in [
            ("Done|All PASSED", vec!["done", "all passed"]),
            ("geprüft", vec!["geprüft"]),
            ("(?:Тесты пройдены|τεστ)", vec!["тесты пройдены", "τεστ"]),
            ("τεστ", vec!["τεστ"]),
            ("通过", vec!["通过"]),
            ("(?i)Seed", vec!["seed"]),
            ("(?:通过|ok)了?", vec!["通过", "ok"]),
            ("ä+", vec!["ä"]),
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
        assert_eq!(sets(r"\b(?:(?:is|are) (?:ugly|a mess))\b"), [vec!["is", "are"], vec![" "], vec!["ugly", "a mess"]]);
        assert_eq!(sets("(?:is|are)? ugly"), [vec![" ugly"]]);
        assert!(sets(r"ugly|\w+").is_empty());
    }
}
