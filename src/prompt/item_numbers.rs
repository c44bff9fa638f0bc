//! The numbers of items in an answer: those that are wanted, and those that are refused.

use super::prompt_patterns::PromptPattern;
use super::word_lists::spans;

static NUMBERS: PromptPattern = PromptPattern::named("numbers");

/// The numbers in an answer, in order and each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ItemNumbers {
    /// "1 and 3" of "1 to 3 without 2".
    pub(super) wanted: Vec<usize>,
    /// "2" of "1 to 3 without 2" and of "all but 2".
    pub(super) refused: Vec<usize>,
    /// The byte at which something is refused: "all" comes before it.
    pub(super) refusal: Option<usize>,
}

/// The largest number of an item; a range ends there.
const MAX_NUMBER: usize = 100;

impl ItemNumbers {
    /// Reads the numbers in a text in small letters. What follows "but" or "except" is refused, until a word such as
    /// "do" says that it goes on: "skip 2, do 3".
    pub(super) fn of(text: &str) -> Self {
        let mut found = Self::default();
        let is_answer = |end: usize| text[end..].trim_start().starts_with([',', '，', '.', ';', '!']);
        let marks: Vec<(usize, usize)> =
            spans("continuations.except", text).into_iter().filter(|&(_, end)| !is_answer(end)).collect();
        let goes_on: Vec<(usize, usize)> = spans("continuations.does", text);
        for hit in NUMBERS.groups_iter(text) {
            let Some(start) = hit.get(0).map(|whole| whole.start) else { continue };
            let number = |group: usize| hit.get(group).and_then(|number| text[number].parse::<usize>().ok());
            let Some(from) = number(1) else { continue };
            let to = number(2).filter(|to| *to > from).map_or(from, |to| to.min(MAX_NUMBER));
            let mark = marks.iter().rev().find(|(_, end)| *end <= start);
            let is_refused = mark.is_some_and(|mark| !goes_on.iter().any(|goes| mark.1 <= goes.0 && goes.1 <= start));
            if is_refused {
                found.refusal = found.refusal.or(mark.map(|mark| mark.0));
            }
            let list = if is_refused { &mut found.refused } else { &mut found.wanted };
            let smaller = number(2).filter(|to| *to < from);
            list.extend((from..=to).chain(smaller).filter(|number| !list.contains(number)).collect::<Vec<_>>());
        }
        found.refusal = found.refusal.or_else(|| marks.first().map(|mark| mark.0));
        found.wanted.retain(|number| !found.refused.contains(number));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_refusal_is_refused() {
        for (text, wanted, refused) in [
            ("1 and 3", &[1, 3][..], &[][..]),
            ("1 to 4", &[1, 2, 3, 4], &[]),
            ("1-4 without 3", &[1, 2, 4], &[3]),
            ("all but 2", &[], &[2]),
            ("all except 2 and 4", &[], &[2, 4]),
            ("2, but not 3", &[2], &[3]),
            ("skip 2, do 3", &[3], &[2]),
            ("no, 1 and 3", &[1, 3], &[]),
            ("de la 1 a la 3", &[1, 2, 3], &[]),
            ("desde la 1 hasta la 3", &[1, 2, 3], &[]),
            ("von 1 bis zur 3", &[1, 2, 3], &[]),
            ("du 1 au 3", &[1, 2, 3], &[]),
            ("第1到3", &[1, 2, 3], &[]),
            ("todas menos la 2", &[], &[2]),
            ("alle außer 2", &[], &[2]),
            ("tout sauf 2", &[], &[2]),
            ("tudo menos a 2", &[], &[2]),
            ("除了2都做", &[], &[2]),
        ] {
            let found = ItemNumbers::of(text);
            assert_eq!((found.wanted.as_slice(), found.refused.as_slice()), (wanted, refused), "{text}");
        }
    }
}
