//! Compares texts regardless of line breaks, capitals and punctuation.

/// Returns the words of a text, in small letters.
pub(super) fn words(text: &str) -> Vec<String> {
    text.split(|c: char| {
        c.is_whitespace() || matches!(c, ',' | '.' | ';' | ':' | '(' | ')' | '"' | '\'' | '`' | '*' | '—')
    })
    .map(str::to_lowercase)
    .filter(|word| word.chars().any(char::is_alphanumeric))
    .collect()
}

/// The most words of a name.
const MAX_LENGTH: usize = 6;

/// Returns a name for a record: its first words, up to the beginning of the reason.
pub(super) fn name(text: &str) -> String {
    let quoted = text.strip_prefix('"').and_then(|rest| rest.split_once('"')).map(|(inner, _)| inner);
    let quoted =
        quoted.or_else(|| text.strip_prefix('`').and_then(|rest| rest.split_once('`')).map(|(inner, _)| inner));
    if let Some(quoted) = quoted.filter(|quoted| !quoted.trim().is_empty()) {
        return quoted.trim().to_owned();
    }
    let ends = [": ", " - ", " — ", " – ", " (", ". ", "; ", ", ", " because ", " since "];
    let end = ends.iter().filter_map(|end| text.find(end)).filter(|&at| at > 0).min().unwrap_or(text.len());
    let head = text[..end].trim().trim_end_matches(['.', ':', ',']);
    let words: Vec<&str> = head.split_whitespace().take(MAX_LENGTH).collect();
    words.join(" ")
}

/// Returns `true` if `now` says everything that `before` said, in the same order, and perhaps more. A corrected typing
/// error does not change a word.
pub(super) fn says_all(before: &str, now: &str) -> bool {
    let now = words(now);
    let mut rest = now.iter();
    words(before).iter().all(|word| rest.any(|other| same(word, other)))
}

/// Returns `true` if two words are the same, except for a typing error. The first letter can turn a word into its
/// opposite (`synchronous`, `asynchronous`), and a number or a name that differs in one place is another one.
fn same(a: &str, b: &str) -> bool {
    let is_plain = |word: &str| word.chars().all(|c| c.is_alphabetic() || c == '-');
    let mistyped =
        || is_plain(a) && is_plain(b) && a.chars().next() == b.chars().next() && strsim::osa_distance(a, b) == 1;
    a == b || (a.chars().count() > 5 && mistyped())
}

/// Returns the share of the words of `before` that are in `now`, in percent.
pub(super) fn likeness(before: &str, now: &str) -> usize {
    let (before, now) = (words(before), words(now));
    let kept = before.iter().filter(|word| now.iter().any(|other| same(word, other))).count();
    kept * 100 / before.len().max(1)
}

/// Returns `true` if `text` contains the words of `name` in a row.
pub(super) fn names(text: &str, name: &str) -> bool {
    let (text, name) = (words(text), words(name));
    !name.is_empty() && text.windows(name.len()).any(|window| window.iter().zip(&name).all(|(a, b)| a == b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_stands_before_the_reason() {
        for (text, expected) in [
            ("global mutex", "global mutex"),
            ("global mutex: deadlocks under load", "global mutex"),
            ("\"global mutex\" deadlocks", "global mutex"),
            ("`Mutex<Pool>` everywhere", "Mutex<Pool>"),
            ("a lock for each row (too slow). Measured.", "a lock for each row"),
            ("polling because it is slow", "polling"),
            ("one two three four five six seven", "one two three four five six"),
            ("", ""),
        ] {
            assert_eq!(name(text), expected, "{text}");
        }
    }

    #[test]
    fn wrapping_and_additions_keep_a_text_and_a_lost_word_does_not() {
        for (before, now, all) in [
            ("global mutex: deadlocks under load", "Global mutex —\n deadlocks under load.", true),
            ("global mutex", "global mutex, measured in May", true),
            ("never poll the server", "poll the server", false),
            ("must not retry", "must retry", false),
            ("deadloks under load", "deadlocks under load", true),
            ("synchronous writes", "asynchronous writes", false),
            ("never more than 30000ms", "never more than 90000ms", false),
            ("one Mutex<Pool> only", "one Mutex<Poll> only", false),
            ("a b c", "c b a", false),
        ] {
            assert_eq!(says_all(before, now), all, "{before} → {now}");
        }
        assert_eq!(likeness("global mutex deadlocks", "global mutex is fine"), 66);
        assert!(names("we drop the Global Mutex now", "global mutex") && !names("global or mutex", "global mutex"));
        assert!(!names("anything", ""));
    }
}
