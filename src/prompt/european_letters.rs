//! Regular expressions about the letters of European languages.
//!
//! `\\w`, `\\d` and `\\p{L}` stand for the letters of all scripts. An expression with a few of them takes a hundred times
//! longer to compile than to search with, and a prompt is read once in a process. The build rewrites the lists of words.

const LETTERS: &str = "A-Za-zÀ-ɏ";
/// Letters of Greek, Cyrillic, Hebrew, Arabic, Japanese and Chinese, with those of European languages.
const ALL_LETTERS: &str = "A-Za-zÀ-ɏͰ-ԯ\u{5d0}-\u{5ea}\u{620}-\u{64a}\u{3040}-\u{30ff}\u{4e00}-\u{9fff}";

/// Returns an expression in which `\\w`, `\\d` and `\\p{L}` stand for short ranges.
pub(super) fn european(pattern: &str) -> String {
    with_ranges(pattern, |rest| match rest.chars().next() {
        Some('w') => Some(([LETTERS, "0-9_"].concat(), 1)),
        Some('p') if rest.starts_with("p{L}") => Some((ALL_LETTERS.to_owned(), 4)),
        _ => digits(rest),
    })
}

/// Returns the range of the digits for the text after `\\`, and the number of characters that it takes the place of.
pub(super) fn digits(rest: &str) -> Option<(String, usize)> {
    rest.starts_with('d').then(|| ("0-9".to_owned(), 1))
}

/// Returns an expression with ranges in the place of the classes that `range` knows by the text after `\\`.
pub(super) fn with_ranges(pattern: &str, range: impl Fn(&str) -> Option<(String, usize)>) -> String {
    let mut written = String::with_capacity(pattern.len() * 2);
    let mut chars = pattern.char_indices();
    let mut in_class = false;
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                let rest = &pattern[at + 1..];
                let Some((class, length)) = range(rest) else {
                    written.push(c);
                    written.extend(rest.chars().next());
                    chars.next();
                    continue;
                };
                let class = if in_class { class } else { format!("[{class}]") };
                written.push_str(&class);
                chars.nth(length - 1);
            }
            _ => {
                in_class = if in_class { c != ']' } else { c == '[' };
                written.push(c);
            }
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_all_scripts_become_short_ranges() {
        assert_eq!(european(r"\b\w+[\w.-]\[\d\S"), r"\b[A-Za-zÀ-ɏ0-9_]+[A-Za-zÀ-ɏ0-9_.-]\[[0-9]\S");
        let words = regex::Regex::new(&european(r"\p{L}[\p{L}\d-]{2,}")).unwrap();
        for word in ["naïve", "Größe", "niño", "слово", "数据加载", "x86"] {
            assert_eq!(words.find(word).map(|hit| hit.as_str()), Some(word));
        }
    }
}
