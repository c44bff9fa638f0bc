//! A text in which phrases are looked for.

use memchr::memmem;
use regex_syntax::is_word_character;

use super::required_texts::folded;

/// A text in which phrases are looked for.
#[derive(Debug)]
pub struct SearchedText {
    text: String,
    /// The same number of characters, in small letters.
    folded: String,
    /// Each character begins at the same byte in both.
    is_aligned: bool,
    pairs: LetterPairs,
    /// The place of each different word of `folded`, sorted by the words.
    words: Vec<(usize, usize)>,
}

impl SearchedText {
    /// Returns the text, ready to be searched.
    pub fn of(text: &str) -> Self {
        let folded = folded(text);
        let starts = |text: &str| text.char_indices().map(|(at, _)| at).collect::<Vec<_>>();
        let is_aligned = text.is_ascii() || starts(text) == starts(&folded);
        let words = words(&folded);
        Self { text: text.to_owned(), is_aligned, pairs: LetterPairs::of(&folded), words, folded }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the words, sorted, each once.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|&(start, end)| &self.folded[start..end])
    }

    pub(super) fn may_have(&self, text: &str) -> bool {
        self.pairs.may_have(text)
    }

    pub(super) fn has(&self, text: &str) -> bool {
        memmem::find(self.folded.as_bytes(), text.as_bytes()).is_some()
    }

    /// Returns the places of a plain text in small letters.
    pub(super) fn places(&self, plain: &str, whole_words: bool) -> impl Iterator<Item = (usize, usize)> {
        let mut from = 0;
        let mut next = move || {
            let start = from + memmem::find(self.folded.get(from..)?.as_bytes(), plain.as_bytes())?;
            let end = start + plain.len();
            let is_inside =
                self.folded[..start].ends_with(is_word_character) || self.folded[end..].starts_with(is_word_character);
            let is_found = !(whole_words && is_inside);
            from = if is_found { end } else { start + 1 };
            Some(is_found.then(|| (self.place(start), self.place(end))))
        };
        let may_have = self.pairs.may_have(plain);
        std::iter::from_fn(move || if may_have { next() } else { None }).flatten()
    }

    /// Returns the place in the text of a place in its small letters.
    fn place(&self, at: usize) -> usize {
        if self.is_aligned {
            return at;
        }
        let count = self.folded[..at].chars().count();
        self.text.char_indices().nth(count).map_or(self.text.len(), |(at, _)| at)
    }
}

/// Returns the places of the words, sorted by the words, each once.
fn words(text: &str) -> Vec<(usize, usize)> {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii() && is_word_character(c);
    let start = |word: &str| word.as_ptr().addr() - text.as_ptr().addr();
    let words = text.split(|c| !is_of_word(c)).filter(|word| !word.is_empty());
    let mut places: Vec<(usize, usize)> = words.map(|word| (start(word), start(word) + word.len())).collect();
    places.sort_by_key(|&(start, end)| &text[start..end]);
    places.dedup_by_key(|&mut (start, end)| &text[start..end]);
    places
}

/// The pairs of neighbouring bytes in a text, as a set that may hold too many.
#[derive(Debug)]
struct LetterPairs([u64; Self::WORDS]);

impl LetterPairs {
    const WORDS: usize = 64;

    fn of(text: &str) -> Self {
        let mut pairs = Self([0; Self::WORDS]);
        for pair in text.as_bytes().windows(2) {
            let (word, bit) = Self::place(pair);
            pairs.0[word] |= bit;
        }
        pairs
    }

    fn place(pair: &[u8]) -> (usize, u64) {
        let at = usize::from(pair[0]).wrapping_mul(37).wrapping_add(usize::from(pair[1])) % (Self::WORDS * 64);
        (at / 64, 1 << (at % 64))
    }

    /// Returns `false` if the text cannot contain another one.
    fn may_have(&self, text: &str) -> bool {
        text.as_bytes().windows(2).all(|pair| {
            let (word, bit) = Self::place(pair);
            self.0[word] & bit != 0
        })
    }
}
