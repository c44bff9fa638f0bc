//! A person's answer to the question in which order several tasks should be done.

use super::continuation::words_in;
use super::item_numbers::ItemNumbers;
use super::word_lists::spans;

/// The order that a person chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenOrder {
    /// The numbers of the chosen tasks, counted from 1, in this order.
    pub numbers: Vec<usize>,
    /// `true` for "all together".
    pub together: bool,
}

/// The most words of an answer. A longer one is a request of its own.
const MAX_WORDS: usize = 15;
/// The most tasks that an order holds.
const MAX_TASKS: usize = 100;

/// Lists of words that an answer may consist of, besides numbers.
const OTHER_WORDS: [&str; 5] =
    ["continuations.greet", "continuations.accept", "continuations.select", "continuations.filler", "order.filler"];
const KEYS: [&str; 4] = ["order.together", "order.listed", "order.first", "order.rest"];

/// Reads an answer to the question for the order of `count` tasks. Returns `None` if it is something else.
///
/// A bare "yes" says an order only where `is_asked`: the turn before ends with a question.
pub fn chosen_order(answer: &str, count: usize, is_asked: bool) -> Option<ChosenOrder> {
    let lower = answer.trim().to_lowercase();
    let ItemNumbers { wanted: mut numbers, refused, .. } = ItemNumbers::of(&lower);
    let last = count.min(MAX_TASKS);
    if words_in(&lower) > MAX_WORDS
        || lower.ends_with('?')
        || !is_only_an_order(&lower, !refused.is_empty())
        || numbers.iter().chain(&refused).any(|number| !(1..=last).contains(number))
    {
        return None;
    }
    let says = |key: &str| !spans(key, &lower).is_empty();
    let together = says("order.together");
    let all = || (1..=last).filter(|number| !refused.contains(number)).collect::<Vec<_>>();
    if numbers.is_empty() && !refused.is_empty() {
        return says("continuations.all").then(|| ChosenOrder { numbers: all(), together });
    }
    if numbers.is_empty() {
        let accepts = is_asked && says("continuations.accept");
        return (together || says("order.listed") || accepts).then(|| ChosenOrder { numbers: all(), together });
    }
    if says("order.rest") || says("order.first") && numbers.len() == 1 {
        numbers.extend(all().into_iter().filter(|number| !numbers.contains(number)).collect::<Vec<_>>());
    }
    Some(ChosenOrder { numbers, together })
}

/// Returns `true` for a text that says nothing but that several tasks are wanted together: "all together, please".
pub(super) fn says_together(text: &str) -> bool {
    chosen_order(text, usize::MAX, false).is_some_and(|order| order.together)
}

/// Returns `true` if each word of a text is a number or one of the words with which people say an order.
///
/// With `may_refuse`, words such as "without" may be among them.
fn is_only_an_order(text: &str, may_refuse: bool) -> bool {
    let mut left = vec![false; text.len()];
    let refusing = ["continuations.except"].into_iter().filter(|_| may_refuse);
    for key in KEYS.into_iter().chain(OTHER_WORDS).chain(refusing) {
        for (start, end) in spans(key, text) {
            left[start..end].fill(true);
        }
    }
    let refuses = !spans("order.refuse", text).is_empty();
    (!refuses || may_refuse) && text.char_indices().all(|(at, c)| left[at] || !c.is_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_names_the_order_of_the_tasks() {
        for (answer, numbers, together) in [
            ("2, 1, 3", &[2, 1, 3][..], false),
            ("2 then 3 and then 1", &[2, 3, 1], false),
            ("first 3", &[3, 1, 2], false),
            ("3 first, then the rest", &[3, 1, 2], false),
            ("1-2", &[1, 2], false),
            ("1 to 3 please", &[1, 2, 3], false),
            ("only 2", &[2], false),
            ("in that order", &[1, 2, 3], false),
            ("In the order listed.", &[1, 2, 3], false),
            ("one by one", &[1, 2, 3], false),
            ("all together", &[1, 2, 3], true),
            ("do them all together, please", &[1, 2, 3], true),
            ("1 and 2 together", &[1, 2], true),
            ("todo junto", &[1, 2, 3], true),
            ("hazlo todo junto", &[1, 2, 3], true),
            ("todas a la vez", &[1, 2, 3], true),
            ("en ese orden", &[1, 2, 3], false),
            ("de la 1 a la 3", &[1, 2, 3], false),
            ("all but 2", &[1, 3], false),
            ("1-3 without 2", &[1, 3], false),
            ("todas menos la 2", &[1, 3], false),
            ("primero la 2, luego la 1 y después la 3", &[2, 1, 3], false),
            ("empieza por la 3 y luego el resto", &[3, 1, 2], false),
        ] {
            let expected = ChosenOrder { numbers: numbers.to_vec(), together };
            assert_eq!(chosen_order(answer, 3, false), Some(expected), "{answer}");
        }
    }

    #[test]
    fn another_request_is_no_order() {
        for answer in [
            "fix the 3 errors in search.rs",
            "4",
            "0, 1",
            "put them all together in one file",
            "why 2 first?",
            "not all together",
            "not 2",
            "all but 4",
            "no",
            "wait",
            "what about 1 and 2 together with the cache",
            "yes",
            "",
        ] {
            assert_eq!(chosen_order(answer, 3, false), None, "{answer}");
        }
        for answer in ["yes", "ok", "sí, adelante", "go ahead"] {
            let all = ChosenOrder { numbers: vec![1, 2, 3], together: false };
            assert_eq!(chosen_order(answer, 3, true), Some(all), "{answer}");
        }
    }
}
