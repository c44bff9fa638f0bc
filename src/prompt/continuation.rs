//! Prompts that only accept, select from or refuse the offers of the turn before.

use super::item_numbers::ItemNumbers;
use super::prompt_patterns::PromptPattern;
use super::word_lists;

/// The most words of a continuation.
pub(super) const MAX_CONTINUATION_WORDS: usize = 6;
/// The most words of a prompt that a menu in the turn before lifts.
pub(super) const MAX_LIVE_WORDS: usize = 15;
/// The bytes at the end of the turn before in which a menu counts.
pub(super) const MENU_BYTES: usize = 1024;

static ITEM: PromptPattern = PromptPattern::named("menu_item");

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
            } else if let Some(found) = ITEM.groups_iter(line).next() {
                items.extend(found.get(3).map(|text| line[text].trim().to_owned()));
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
    let menu = previous.map(menu).unwrap_or_default();
    let (lower, phrases) = without_phrases(lower, !menu.is_empty());
    let tokens: Vec<&str> = lower
        .split(|c: char| c.is_whitespace() || ",;.!…&+–()".contains(c))
        .flat_map(|word| {
            if word.chars().all(|c| c.is_ascii_digit() || c == '-') { word.split('-').collect() } else { vec![word] }
        })
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .collect();
    let menu_words: Vec<String> = menu
        .iter()
        .flat_map(|item| {
            item.to_lowercase().split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect::<Vec<_>>()
        })
        .filter(|word| word.len() > 2)
        .collect();
    let offered = offered(previous.unwrap_or_default());
    let mut signals = phrases;
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

/// Blanks the phrases that say thanks, that something is understood, or, after a menu, in which order. Returns their number.
fn without_phrases(mut text: String, has_menu: bool) -> (String, usize) {
    let keys = ["continuations.phrases", "order.listed", "order.together"];
    let found: Vec<(usize, usize)> =
        keys[..if has_menu { keys.len() } else { 1 }].iter().flat_map(|key| word_lists::spans(key, &text)).collect();
    for &(start, end) in &found {
        text.replace_range(start..end, &" ".repeat(end - start));
    }
    (text, found.len())
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
    for key in ["greet", "accept", "select", "refuse", "filler", "phrases", "does"] {
        for (start, end) in word_lists::spans(&format!("continuations.{key}"), text) {
            left[start..end].fill(true);
        }
    }
    text.char_indices().all(|(at, c)| left[at] || !c.is_alphabetic() || c.is_ascii_digit())
        && word_lists::spans("smells.vague_improvement", text).is_empty()
}

/// Returns how many items "the first three" of a menu are.
fn first_items(lower: &str) -> Option<usize> {
    let is_said = |count: &usize| !word_lists::spans(&format!("continuations.first_{count}"), lower).is_empty();
    (2..=4).find(is_said)
}

/// Returns the items of the menu that a continuation selects by a range or as a whole; `None` for other prompts. What it
/// refuses is not selected, and if nobody can say what that is, nothing is.
pub(super) fn selected(text: &str, previous: Option<&str>) -> Option<Vec<String>> {
    let menu = previous.map(menu).filter(|menu| !menu.is_empty())?;
    let lower = text.to_lowercase();
    let numbers = ItemNumbers::of(&lower);
    let within = |number: &&usize| (1..=menu.len()).contains(*number);
    let items = |numbers: &[usize]| numbers.iter().filter(within).map(|number| menu[number - 1].clone()).collect();
    if let Some(first) = first_items(&lower).filter(|_| numbers.refusal.is_none()) {
        return Some(items(&(1..=first).collect::<Vec<_>>()));
    }
    if !numbers.wanted.is_empty() {
        return Some(items(&numbers.wanted));
    }
    let all = format!("continuations.all_{}", menu.len());
    let keys = ["continuations.all", "order.listed", "order.together", &all];
    let is_all = keys.iter().any(|key| word_lists::spans(key, &lower).into_iter().any(|(start, end)| end > start));
    let Some(refusal) = numbers.refusal.filter(|_| is_all) else {
        let refused = !word_lists::spans("continuations.refuse", &lower).is_empty();
        return (is_all && !refused).then_some(menu);
    };
    let mut refused = numbers.refused.clone();
    if refused.is_empty() {
        refused = described(&lower[refusal..], &menu);
    }
    let kept: Vec<usize> = (1..=menu.len()).filter(|number| !refused.contains(number)).collect();
    (!refused.is_empty()).then(|| items(&kept))
}

/// The shortest word that tells one item of a menu from the others.
const MIN_ITEM_WORD: usize = 4;

/// Returns the numbers of the items that a text names by their place or by a word of theirs: "the second", "the cache".
fn described(text: &str, menu: &[String]) -> Vec<usize> {
    let is_named = |item: &String| {
        let item = item.to_lowercase();
        let words = item.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= MIN_ITEM_WORD);
        words.into_iter().any(|word| text.split(|c: char| !c.is_alphanumeric()).any(|said| said == word))
    };
    let is_placed = |number: usize| {
        let last = number == menu.len() && !word_lists::spans("continuations.item_last", text).is_empty();
        last || !word_lists::spans(&format!("continuations.item_{number}"), text).is_empty()
    };
    (1..=menu.len()).filter(|&number| is_placed(number) || is_named(&menu[number - 1])).collect()
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
            "1", "1 and 2", "a and c", "do it", "haz el plan", "do the plan", "the second one", "no, thanks", "好的",
            "hola", "Hi!",
        ] {
            assert!(is_continuation(text, Some(MENU)), "{text}");
        }
        for text in [
            "2 but without the index file", "make it faster", "improve it", "fix the login bug", "like before",
            "hi, add a list",
        ] {
            assert!(!is_continuation(text, Some(MENU)), "{text}");
        }
    }

    #[test]
    fn a_range_selects_the_items_between() {
        assert_eq!(selected("1 to 3", Some(MENU)).map(|items| items.len()), Some(3));
        assert_eq!(selected("todo junto", Some(MENU)).map(|items| items.len()), Some(3));
        assert_eq!(selected("2", Some(MENU)).map(|items| items.len()), Some(1));
    }

    #[test]
    fn what_is_refused_is_not_selected() {
        for text in [
            "all but 2", "1-3 without 2", "all except the second", "all but the index", "todas menos la 2",
            "todas menos la segunda", "alle außer 2", "tout sauf 2", "tudo menos a 2", "除了2都做",
        ] {
            let items = selected(text, Some(MENU)).unwrap_or_default();
            assert_eq!(items, ["cache it", "raise the limit"], "{text}");
        }
        assert_eq!(selected("all but the purple one", Some(MENU)), None);
        assert_eq!(selected("de la 1 a la 3", Some(MENU)).map(|items| items.len()), Some(3));
        assert_eq!(selected("todas, en ese orden", Some(MENU)).map(|items| items.len()), Some(3));
    }
}
