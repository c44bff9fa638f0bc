//! Prompts that only accept, select from or refuse the offers of the turn before.

use std::sync::LazyLock;

use regex::Regex;

use super::prompt_text::own_regex;
use super::word_lists;

/// The most words of a continuation.
pub(super) const MAX_CONTINUATION_WORDS: usize = 6;
/// The most words of a prompt that a menu in the turn before lifts.
pub(super) const MAX_LIVE_WORDS: usize = 15;
/// The bytes at the end of the turn before in which a menu counts.
pub(super) const MENU_BYTES: usize = 1024;

static ITEM: LazyLock<Option<Regex>> =
    LazyLock::new(|| own_regex(r"^\s{0,6}(?:[-*+•]\s+|\(?(\d{1,2}|[a-zA-Z])[.):]\s+|\*\*(\d{1,2})[.)]\s*)(\S.*)$"));
pub(super) static RANGE: LazyLock<Option<Regex>> =
    LazyLock::new(|| own_regex(r"\b(\d{1,2})\s*(?:-|–|to|a|al|bis|à|até|through|thru|hasta|\.\.|到)\s*(\d{1,2})\b"));

/// Returns the items of the menu that a turn ends with; empty for fewer than two.
pub(super) fn menu(previous: &str) -> Vec<String> {
    let start = previous.ceil_char_boundary(previous.len().saturating_sub(MENU_BYTES));
    let mut in_code = previous[..start].matches("```").count() % 2 == 1;
    let mut items = Vec::new();
    for line in previous[start..].lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            let row = line.trim().strip_prefix('|').filter(|row| row.contains('|') && !row.contains("---"));
            if let Some(row) = row {
                items.push(row.trim_end_matches('|').trim().to_owned());
            } else if let Some(found) = ITEM.as_ref().and_then(|item| item.captures(line)) {
                items.extend(found.get(3).map(|text| text.as_str().trim().to_owned()));
            }
        }
    }
    if items.len() < 2 { Vec::new() } else { items }
}

/// Returns the words of a prompt, as people count them; a Chinese character counts half a word.
pub(super) fn words_in(text: &str) -> usize {
    let wide = text.chars().filter(|c| ('\u{4e00}'..='\u{9fff}').contains(c)).count();
    let plain = text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count();
    if wide > 0 { plain.max(wide.div_ceil(2)) } else { plain }
}

/// Returns `true` if the prompt is a continuation: at most six words, and nothing new in them.
pub(super) fn is_continuation(text: &str, previous: Option<&str>) -> bool {
    let count = words_in(text);
    let trimmed = text.trim();
    if count == 0 {
        return ["👍", "✅", "👌", "👎"].iter().any(|sign| trimmed.starts_with(sign));
    }
    if count > MAX_CONTINUATION_WORDS || trimmed.contains('`') || trimmed.contains('/') || trimmed.ends_with('?') {
        return false;
    }
    let lower = trimmed.to_lowercase().replace('’', "'");
    if lower.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)) {
        return covered(&lower);
    }
    let tokens: Vec<&str> = lower
        .split(|c: char| c.is_whitespace() || ",;.!…&+–()".contains(c))
        .flat_map(|word| {
            if word.chars().all(|c| c.is_ascii_digit() || c == '-') { word.split('-').collect() } else { vec![word] }
        })
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .collect();
    let menu = previous.map(menu).unwrap_or_default();
    let menu_words: Vec<String> = menu
        .iter()
        .flat_map(|item| {
            item.to_lowercase().split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect::<Vec<_>>()
        })
        .filter(|word| word.len() > 2)
        .collect();
    let offered = offered(previous.unwrap_or_default());
    let mut signals = 0;
    for (at, token) in tokens.iter().enumerate() {
        let number = token.trim_start_matches('#').trim_end_matches([':', ')']);
        let is_number = !number.is_empty() && number.len() <= 2 && number.bytes().all(|byte| byte.is_ascii_digit());
        let is_letter = number.len() == 1 && number.bytes().all(|byte| byte.is_ascii_lowercase());
        let is = |key: &str| whole(key, token);
        if is_number
            || is("continuations.greet")
            || is("continuations.accept")
            || is("continuations.select")
            || is("continuations.refuse")
        {
            signals += 1;
        } else if is_letter {
            let alone = tokens.len() == 1 || at > 0 || tokens.len() > 1;
            signals += usize::from(alone && (!is("continuations.filler") || tokens.len() <= 3));
        } else if menu_words.iter().any(|word| word == token) {
            signals += usize::from(tokens.len() <= MAX_CONTINUATION_WORDS);
        } else if offered.contains(&stem(token)) {
            // "Shall I delete it?" - "Yes, delete it."
        } else if signals > 0 && !offered.is_empty() && is_act(token) {
            // "Soll ich es löschen?" - "Yes, delete it."
        } else if !is("continuations.filler") {
            return false;
        }
    }
    // A memory of something before is a wish of its own.
    signals > 0
        && word_lists::spans("smells.implicit_context", &lower).is_empty()
        && word_lists::spans("smells.total_system", &lower).iter().all(|_| previous.is_some())
        && word_lists::spans("smells.bug_without_reproduction", &lower).is_empty()
        && word_lists::spans("smells.performance_without_metric", &lower).is_empty()
        && word_lists::spans("smells.vague_improvement", &lower).is_empty()
}

/// The letters by which two forms of a verb are the same: "borro", "bórralo".
const STEM_LETTERS: usize = 4;
/// The shortest verb of an offer: "fix".
const MIN_OFFER_LETTERS: usize = 3;

fn stem(word: &str) -> String {
    let plain = |c: char| match c {
        'á' => 'a',
        'é' => 'e',
        'í' => 'i',
        'ó' => 'o',
        'ú' => 'u',
        other => other,
    };
    word.chars().map(plain).take(STEM_LETTERS).collect()
}

/// Returns the stems of the words in the question that a turn ends with.
fn offered(previous: &str) -> Vec<String> {
    let last = previous.trim_end().strip_suffix('?').and_then(|text| text.rsplit(['\n', '¿', ':']).next());
    let last = last.and_then(|text| text.rsplit(". ").next());
    let words = last.unwrap_or_default().split(|c: char| !c.is_alphanumeric());
    words.filter(|word| word.len() >= MIN_OFFER_LETTERS).map(|word| stem(&word.to_lowercase())).collect()
}

/// Returns `true` for a verb of a request, in any language; a pronoun may hang on it.
fn is_act(token: &str) -> bool {
    let verb = token.split('-').next().unwrap_or(token);
    ["acts.precise", "acts.create", "acts.vague", "acts.run"].iter().any(|key| whole(key, verb) || whole(key, token))
}

/// Returns `true` for one whole entry of the list.
fn whole(key: &str, token: &str) -> bool {
    word_lists::spans(key, token).contains(&(0, token.len()))
}

/// Returns `true` if all of a text without spaces is entries of the lists.
fn covered(text: &str) -> bool {
    let mut left = vec![false; text.len()];
    for key in ["greet", "accept", "select", "refuse", "filler"] {
        for (start, end) in word_lists::spans(&format!("continuations.{key}"), text) {
            left[start..end].fill(true);
        }
    }
    text.char_indices().all(|(at, c)| left[at] || !c.is_alphabetic() || c.is_ascii_digit())
        && word_lists::spans("smells.vague_improvement", text).is_empty()
}

/// Returns the items of the menu that a continuation selects by a range or as a whole; `None` for other prompts.
pub(super) fn selected(text: &str, previous: Option<&str>) -> Option<Vec<String>> {
    let menu = previous.map(menu).filter(|menu| !menu.is_empty())?;
    let lower = text.to_lowercase();
    if let Some(range) = RANGE.as_ref().and_then(|range| range.captures(&lower)) {
        let bound = |group: usize| range.get(group).and_then(|g| g.as_str().parse::<usize>().ok());
        let (from, to) = (bound(1)?, bound(2)?.min(menu.len()));
        return (from >= 1 && from < to).then(|| menu[from - 1..to].to_vec());
    }
    let numbers: Vec<usize> = lower
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|n| n.parse().ok())
        .filter(|n| (1..=menu.len()).contains(n))
        .collect();
    if numbers.len() > 1 {
        return Some(numbers.into_iter().map(|n| menu[n - 1].clone()).collect());
    }
    let refused = !word_lists::spans("continuations.refuse", &lower).is_empty();
    let count = format!("continuations.all_{}", menu.len());
    if numbers.is_empty() && !refused && !word_lists::spans(&count, &lower).is_empty() {
        return Some(menu);
    }
    let all = word_lists::spans("continuations.all", &lower).into_iter().any(|(start, end)| end > start);
    (all && !refused).then_some(menu)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MENU: &str = "Plan:\n\n1. cache it\n2. index title\n3. raise the limit\n\nWhich?";

    #[test]
    fn a_menu_is_a_list_at_the_end_outside_of_code() {
        assert_eq!(menu(MENU).len(), 3);
        assert!(menu("```diff\n- a\n- b\n```").is_empty());
        assert!(menu("- only one\n").is_empty());
        assert!(menu(&format!("- a\n- b\n{}", "prose ".repeat(300))).is_empty());
    }

    #[test]
    fn a_selection_with_something_new_is_a_new_instruction() {
        for text in [
            "1",
            "1 and 2",
            "a and c",
            "do it",
            "haz el plan",
            "do the plan",
            "the second one",
            "no, thanks",
            "好的",
            "hola",
            "Hi!",
        ] {
            assert!(is_continuation(text, Some(MENU)), "{text}");
        }
        for text in [
            "2 but without the index file",
            "make it faster",
            "improve it",
            "fix the login bug",
            "like before",
            "hi, add a list",
        ] {
            assert!(!is_continuation(text, Some(MENU)), "{text}");
        }
    }

    #[test]
    fn a_range_selects_the_items_between() {
        assert_eq!(selected("1 to 3", Some(MENU)).map(|items| items.len()), Some(3));
        assert_eq!(selected("todo junto", Some(MENU)).map(|items| items.len()), Some(3));
        assert_eq!(selected("2", Some(MENU)), None);
    }
}
