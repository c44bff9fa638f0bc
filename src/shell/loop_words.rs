//! The words of a loop that are a row of numbers: `{1..5}`, `$(seq 5)`.

use super::ast::{CommandShape, Item, Script, Word, WordPiece};

/// The maximum length of a row.
const MAX_NUMBERS: u32 = 1000;

/// Returns the numbers that a word of a loop becomes.
pub(super) fn numbers(word: &Word) -> Option<Vec<String>> {
    let (first, last) = match word.parts.as_slice() {
        [WordPiece::Text { text, quoted: false }, WordPiece::Opaque(scripts)] if scripts.is_empty() => {
            text.strip_prefix('{')?.strip_suffix('}')?.split_once("..")?
        }
        [WordPiece::Substitution { script, .. }] => return of_seq(script),
        _ => return None,
    };
    row(first, last)
}

/// Returns `true` if a word of a loop becomes at least one word, such as a list in braces.
pub(super) fn is_there(word: &Word) -> bool {
    let in_braces = match word.parts.as_slice() {
        [WordPiece::Text { text, quoted: false }, .., WordPiece::Opaque(scripts)] => {
            text.contains('{') && scripts.is_empty()
        }
        _ => false,
    };
    in_braces || numbers(word).is_some()
}

/// Returns the numbers that `seq N` and `seq 1 N` print.
fn of_seq(script: &Script) -> Option<Vec<String>> {
    let [Item { node, background: false }] = script.items.as_slice() else { return None };
    let CommandShape::Simple(simple) = &node.kind else { return None };
    let words: Vec<String> = simple.words.iter().map(Word::as_literal).collect::<Option<_>>()?;
    match words.as_slice() {
        [seq, last] if seq == "seq" => row("1", last),
        [seq, first, last] if seq == "seq" => row(first, last),
        _ => None,
    }
}

fn row(first: &str, last: &str) -> Option<Vec<String>> {
    let is_plain = |text: &str| text == "0" || !text.starts_with(['0', '+']);
    let number = |text: &str| text.parse::<u32>().ok().filter(|_| is_plain(text));
    let (first, last) = (number(first)?, number(last)?);
    (first <= last && last - first < MAX_NUMBERS).then(|| (first..=last).map(|number| number.to_string()).collect())
}
