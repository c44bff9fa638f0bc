//! The words and marks of a test, and what keeps its assertions from being reached.

use std::collections::{BTreeMap, BTreeSet};

use super::same_test::lines_below;
use crate::fact::weakening::{DeclaredTest, is_asserting};

/// Words and marks that can keep an assertion from being reached, or let it pass with any value.
pub(super) const CONTROL: [&str; 38] = [
    "return", "if", "unless", "try", "except", "catch", "rescue", "finally", "break", "continue", "while", "yield",
    "raise", "throw", "throws", "pass", "lambda", "suppress", "patch", "mock", "monkeypatch", "exit", "or", "and",
    "else", "goto", "defer", "recover", "assume", "any", "all", "not", "||", "&&", "?", "??", "=>", "ANY",
];
/// Words that put code into another function, or expect that it fails.
const WRAPPING: [&str; 15] = [
    "def", "fn", "function", "func", "class", "raises", "assertRaises", "assert_raises", "assertThrows", "toThrow",
    "should_panic", "skip", "warns", "fails", "todo",
];
/// Words that begin a loop: over nothing, none of its assertions runs.
const LOOPS: [&str; 7] = ["for", "foreach", "each", "loop", "times", "map", "forEach"];
/// Marks and words that compare.
pub(super) const COMPARING: [&str; 11] = ["==", "!=", "===", "!==", "<=", ">=", "<", ">", "in", "is", "not"];
/// Marks of more than one character.
const MARKS: [&str; 12] = ["===", "!==", "==", "!=", "<=", ">=", "=>", "->", "::", "||", "&&", "??"];
/// The object of a test.
const OBJECTS: [&str; 2] = ["self", "this"];

/// The number of times that each word occurs.
pub(super) type Counts = BTreeMap<String, usize>;

/// Returns `true` if more of a test than before can keep its assertions from being reached, or let them pass with any
/// value: a `return` before them, a function around them, another meaning of a name that they use.
pub(super) fn hides_more(old: &DeclaredTest, new: &DeclaredTest) -> bool {
    let (was, is) = (Asked::of(old).without_head(), Asked::of(new).without_head());
    !has_no_more(&was.count(&CONTROL), &is.count(&CONTROL))
        || !has_no_more(&was.count(&WRAPPING), &is.count(&WRAPPING))
        || is.loops().len() > was.loops().len()
        || renames_anew(old, new)
}

/// Returns `true` if a test has a parameter or a value of its own with a name that the old one took from elsewhere.
fn renames_anew(old: &DeclaredTest, new: &DeclaredTest) -> bool {
    let (was, is) = (Asked::of(old).without_head(), Asked::of(new).without_head());
    // Members and the names of arguments are no names of the test.
    let is_taken = |(before, _, next): &(&str, &str, &str)| *before != "." && *next != "=";
    let taken: BTreeSet<&str> = was.places().filter(is_taken).map(|(_, word, _)| word).collect();
    let known = was.locals();
    let replaces = |word: &str| is_word(word) && taken.contains(word) && !known.contains(word);
    let parameters = |test: &DeclaredTest| -> Vec<String> { Asked::of(test).lines.swap_remove(0) };
    let before = parameters(old);
    is.locals().iter().any(|word| replaces(word))
        || parameters(new).iter().any(|word| !before.contains(word) && replaces(word))
}

/// Returns `true` if more of a test than before stands around its assertions: a condition, a handler, a function. Loops, and the
/// function of Go that is run for each row of a table, are no such thing.
pub(super) fn wraps_more(old: &DeclaredTest, new: &DeclaredTest) -> bool {
    let counts = |test: &DeclaredTest| {
        let mut asked = Asked::of(test).without_head();
        let is_of_go = |line: &[String]| line.windows(3).any(|words| *words == [".", "Run", "("]);
        asked.lines.retain(|line| !is_loop(line) && !is_of_go(line));
        (asked.count(&CONTROL), asked.count(&WRAPPING))
    };
    let ((was, was_wrapped), (is, is_wrapped)) = (counts(old), counts(new));
    !has_no_more(&was, &is) || !has_no_more(&was_wrapped, &is_wrapped) || renames_anew(old, new)
}

/// Returns `true` if a line begins a loop.
pub(super) fn is_loop(line: &[String]) -> bool {
    line.iter().any(|word| LOOPS.contains(&word.as_str()))
}

/// Returns `true` if no word occurs more often in `is` than in `was`.
pub(super) fn has_no_more(was: &Counts, is: &Counts) -> bool {
    is.iter().all(|(word, count)| was.get(word).is_some_and(|known| count <= known))
}

/// The words and marks of a test, by line. The first line holds its parameters.
pub(super) struct Asked {
    lines: Vec<Vec<String>>,
}

impl Asked {
    /// Reads a test.
    pub(super) fn of(test: &DeclaredTest) -> Self {
        let (head, lines) = lines_below(test);
        Self { lines: std::iter::once(head).chain(lines).map(|line| tokens(&line)).collect() }
    }

    /// Returns the lines below the one that holds the parameters, behind an empty one.
    fn without_head(mut self) -> Self {
        self.lines.first_mut().into_iter().for_each(Vec::clear);
        self
    }

    /// Returns all words and marks, in their order.
    pub(super) fn all(&self) -> Vec<&str> {
        self.lines.iter().flatten().map(String::as_str).collect()
    }

    /// Returns the outermost calls of each line with some, apart from those that assert, with their arguments.
    pub(super) fn calls(&self) -> Vec<Vec<String>> {
        let of_line = |line: &Vec<String>| {
            let mut calls = Vec::new();
            let mut at = 0;
            while at < line.len() {
                let is_call = is_word(&line[at]) && line.get(at + 1).is_some_and(|next| next == "(");
                if !is_call || is_asserting(&line[at]) {
                    at += 1;
                    continue;
                }
                let mut depth = 0_usize;
                let end = line.iter().enumerate().skip(at + 1).find_map(|(place, word)| {
                    depth = if word == "(" { depth + 1 } else { depth.saturating_sub(usize::from(word == ")")) };
                    (depth == 0).then_some(place)
                });
                let end = end.unwrap_or(line.len() - 1);
                calls.push(line[at..=end].concat());
                at = end + 1;
            }
            calls
        };
        self.lines.iter().skip(1).map(of_line).filter(|calls| !calls.is_empty()).collect()
    }

    /// Each word or mark with the one before and the one after it in its line.
    fn places(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.lines.iter().flat_map(|line| in_line(line))
    }

    /// Returns `true` if it compares or asserts something.
    pub(super) fn asserts(&self) -> bool {
        self.all().iter().any(|word| is_asserting(word) || COMPARING.contains(word))
    }

    /// Counts these words and marks.
    pub(super) fn count(&self, words: &[&str]) -> Counts {
        counted(self.all().into_iter().filter(|word| words.contains(word)))
    }

    /// Returns the names that the test gives to values, its parameters included.
    pub(super) fn locals(&self) -> BTreeSet<String> {
        let parameters = self.lines.first().into_iter().flatten().map(String::as_str).filter(|word| is_word(word));
        let assigned = self.places().filter(|(_, word, next)| is_word(word) && is_assignment(next));
        let named = self.places().filter(|(before, word, _)| is_word(word) && ["as", "for", "let"].contains(before));
        let in_loops = self.lines.iter().filter(|line| line.first().is_some_and(|word| word == "for"));
        let of_loops = in_loops.flat_map(|line| line.iter().skip(1).take_while(|word| *word != "in"));
        let of_loops = of_loops.map(String::as_str).filter(|word| is_word(word));
        let all = parameters.chain(assigned.chain(named).map(|(_, word, _)| word)).chain(of_loops);
        all.filter(|word| !OBJECTS.contains(word)).map(str::to_owned).collect()
    }

    /// Counts what is called, asked for, or asserted, and the values of the test: in all, and in the line with most of it.
    pub(super) fn kept(&self, locals: &BTreeSet<String>) -> (Counts, Counts) {
        let (mut all, mut most) = (Counts::new(), Counts::new());
        for line in &self.lines {
            let kept = in_line(line).filter(|(before, word, next)| {
                let is_field = *before == "." && word.starts_with(|c: char| c.is_lowercase() || c == '_');
                let is_called = *next == "(" || *next == "!";
                is_word(word) && (is_field || is_called || is_asserting(word) || locals.contains(*word))
            });
            for (word, count) in counted(kept.map(|(_, word, _)| word)) {
                *all.entry(word.clone()).or_default() += count;
                let known = most.entry(word).or_default();
                *known = count.max(*known);
            }
        }
        (all, most)
    }

    /// Counts the assignments to each of these names.
    pub(super) fn assigned(&self, locals: &BTreeSet<String>) -> Counts {
        let of_locals = self.places().filter(|(_, word, next)| is_assignment(next) && locals.contains(*word));
        counted(of_locals.map(|(_, word, _)| word))
    }

    /// Returns the lines that begin a loop.
    pub(super) fn loops(&self) -> Vec<&Vec<String>> {
        self.lines.iter().filter(|line| is_loop(line)).collect()
    }
}

fn counted<'a>(words: impl Iterator<Item = &'a str>) -> Counts {
    let mut counts = Counts::new();
    for word in words {
        *counts.entry(word.to_owned()).or_default() += 1;
    }
    counts
}

fn in_line(line: &[String]) -> impl Iterator<Item = (&str, &str, &str)> {
    let at = |at: Option<usize>| at.and_then(|at| line.get(at)).map_or("", String::as_str);
    (0..line.len()).map(move |place| (at(place.checked_sub(1)), at(Some(place)), at(Some(place + 1))))
}

pub(super) fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn is_assignment(mark: &str) -> bool {
    ["=", ":="].contains(&mark)
}

/// Splits a line of code into words and marks.
pub(super) fn tokens(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_of_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let length = match MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            _ if is_of_word(first) => rest.find(|c| !is_of_word(c)).unwrap_or(rest.len()),
            Some(mark) => mark.len(),
            None => first.len_utf8(),
        };
        found.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    found
}
