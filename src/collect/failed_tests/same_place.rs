//! A test in the place of another one: it asks as much of the same code, and may expect something else.

use std::collections::{BTreeMap, BTreeSet};

use similar::TextDiff;

use super::renamed_code::NewNames;
use super::same_test::{SAME_BODY, lines_below};
use crate::fact::weakening::{DeclaredTest, adds_hiding_word};

/// Words and marks that can keep an assertion from being reached, or let it pass with any value.
const CONTROL: [&str; 38] = [
    "return", "if", "unless", "try", "except", "catch", "rescue", "finally", "break", "continue", "while", "yield",
    "raise", "throw", "throws", "pass", "lambda", "suppress", "patch", "mock", "monkeypatch", "exit", "or", "and",
    "else", "goto", "defer", "recover", "assume", "any", "all", "not", "||", "&&", "?", "??", "=>", "ANY",
];
/// Words that begin a loop: over nothing, none of its assertions runs.
const LOOPS: [&str; 7] = ["for", "foreach", "each", "loop", "times", "map", "forEach"];
/// Marks and words that compare.
const COMPARING: [&str; 11] = ["==", "!=", "===", "!==", "<=", ">=", "<", ">", "in", "is", "not"];
/// The beginnings of words that assert something.
const ASSERTING: [&str; 9] = ["assert", "expect", "should", "must", "refute", "require", "verify", "check", "raises"];
/// Marks of more than one character.
const MARKS: [&str; 12] = ["===", "!==", "==", "!=", "<=", ">=", "=>", "->", "::", "||", "&&", "??"];
/// The object of a test.
const OBJECTS: [&str; 2] = ["self", "this"];

/// The number of times that each word occurs.
type Counts = BTreeMap<String, usize>;

/// Returns `true` if `new` compares as many values of the same code in the same ways as `old`, apart from the new names
/// of code. The values that both expect may differ.
pub(super) fn asks_as_much(old: &DeclaredTest, new: &DeclaredTest, names: &NewNames) -> bool {
    let put = names.put_into(old, new);
    let old = put.as_ref().unwrap_or(old);
    let (was, is) = (Asked::of(old), Asked::of(new));
    let locals = was.locals();
    let ((was_kept, was_in_line), (is_kept, is_in_line)) = (was.kept(&locals), is.kept(&locals));
    let of = |counts: &Counts, word: &str| counts.get(word).copied().unwrap_or(0);
    let has_all = |was: &Counts, is: &Counts| was.iter().all(|(word, count)| of(is, word) >= *count);
    let has_no_more = |was: &Counts, is: &Counts| is.iter().all(|(word, count)| *count <= of(was, word));
    let of_old = |counts: Counts| counts.into_iter().filter(|(word, _)| was_kept.contains_key(word)).collect();
    was.asserts()
        && has_all(&was_kept, &is_kept)
        && has_all(&was.count(&COMPARING), &is.count(&COMPARING))
        // A value that is compared with itself is the same whatever it is.
        && has_no_more(&was_in_line, &of_old(is_in_line))
        && has_no_more(&was.count(&CONTROL), &is.count(&CONTROL))
        && has_no_more(&was.assigned(&locals), &is.assigned(&locals))
        && was.loops() == is.loops()
        && !adds_hiding_word(&old.body, &new.body)
        && TextDiff::from_slices(&was.all(), &is.all()).ratio() >= SAME_BODY
}

/// Returns `true` if a test that kept its name was changed little: it still asserts, half as much at least, and nothing more
/// keeps that from being reached.
pub(super) fn is_little_changed(old: &DeclaredTest, new: &DeclaredTest) -> bool {
    let (was, is) = (Asked::of(old), Asked::of(new));
    let locals = was.locals();
    let asserted = |asked: &Asked| asked.all().into_iter().filter(|word| is_asserting(word)).count();
    let has_no_more =
        |was: &Counts, is: &Counts| is.iter().all(|(word, count)| was.get(word).is_some_and(|known| count <= known));
    asserted(&is) > 0
        && asserted(&is) * 2 >= asserted(&was)
        && has_no_more(&was.count(&CONTROL), &is.count(&CONTROL))
        && has_no_more(&was.assigned(&locals), &is.assigned(&locals))
        && was.loops() == is.loops()
        && !new.is_newly_skipped(old)
        && !adds_hiding_word(&old.body, &new.body)
        && TextDiff::from_slices(&was.all(), &is.all()).ratio() >= SAME_BODY
}

/// The words and marks of a test, by line. The first line holds its parameters.
struct Asked {
    lines: Vec<Vec<String>>,
}

impl Asked {
    fn of(test: &DeclaredTest) -> Self {
        let (head, lines) = lines_below(test);
        Self { lines: std::iter::once(head).chain(lines).map(|line| tokens(&line)).collect() }
    }

    fn all(&self) -> Vec<&str> {
        self.lines.iter().flatten().map(String::as_str).collect()
    }

    /// Each word or mark with the one before and the one after it in its line.
    fn places(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.lines.iter().flat_map(|line| in_line(line))
    }

    fn asserts(&self) -> bool {
        self.all().iter().any(|word| is_asserting(word) || COMPARING.contains(word))
    }

    fn count(&self, words: &[&str]) -> Counts {
        counted(self.all().into_iter().filter(|word| words.contains(word)))
    }

    /// The names that the test gives to values, its parameters included.
    fn locals(&self) -> BTreeSet<String> {
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
    fn kept(&self, locals: &BTreeSet<String>) -> (Counts, Counts) {
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

    fn assigned(&self, locals: &BTreeSet<String>) -> Counts {
        let of_locals = self.places().filter(|(_, word, next)| is_assignment(next) && locals.contains(*word));
        counted(of_locals.map(|(_, word, _)| word))
    }

    fn loops(&self) -> Vec<&Vec<String>> {
        self.lines.iter().filter(|line| line.iter().any(|word| LOOPS.contains(&word.as_str()))).collect()
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

fn is_asserting(word: &str) -> bool {
    ASSERTING.iter().any(|start| word.starts_with(start))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The old test with these lines, and the new one.
    fn asks(old: &[&str], new: &[&str]) -> bool {
        let test = |name: &str, lines: &[&str]| DeclaredTest {
            name: name.to_owned(),
            body: format!("{name}():\n    {}\n\n\ndef ", lines.join("\n    ")),
            skipped: false,
            indent: 0,
        };
        asks_as_much(&test("test_old", old), &test("test_new", new), &NewNames::default())
    }

    #[test]
    fn the_expected_values_may_differ() {
        for (old, new) in [
            (&["assert add(1, 2) == 3"][..], &["assert add(1, 2) == -1"][..]),
            (&["assert keys.typed(1) == (\"   \", 1)"], &["assert keys.typed(1) == (int, 1)"]),
            (
                &["p = parse(s)[0]", "assert len(p.tokens) == 1", "assert p.tokens[0].ttype is T.Keyword"],
                &["p = parse(s)[0]", "assert len(p.tokens) == 1", "assert p.tokens[0].ttype is T.Keyword.Order"],
            ),
            (&["self.assertEqual(self.f(1), Old.A)"], &["self.assertEqual(self.f(1), New.B)"]),
            (&["with pytest.raises(KeyError):", "    f(1)"], &["with pytest.raises(ValueError):", "    f(1)"]),
            (&["let sum = add(1, 2);", "assert_eq!(sum, 3);"], &["let sum = add(1, 2);", "assert_eq!(sum, 4);"]),
            (&["expect(add(1, 2)).toBe(3);"], &["expect(add(1, 2)).toBe(4);"]),
            (&["if Add(1, 2) != 3 {", "    t.Fatal()"], &["if Add(1, 2) != 4 {", "    t.Fatal()"]),
            (&["assert f(1) == 3"], &["assert f(1) == 4", "assert f(2) == 5"]),
        ] {
            assert!(asks(old, new), "{new:?}");
        }
    }

    #[test]
    fn a_test_that_kept_its_name_may_change_a_little() {
        let test = |lines: &[&str]| DeclaredTest {
            name: "test_a".to_owned(),
            body: format!("test_a():\n    {}\n", lines.join("\n    ")),
            skipped: false,
            indent: 0,
        };
        let (set, one, two) = ("x = add(1, 2)", "assert x == 3", "assert x.y == 3");
        for (new, is) in [
            (&[set, one, two][..], true),
            (&[set, one], true),
            (&[set, one, "assert x.y == 4"], true),
            (&[set], false),
            (&[set, "x = 3", one, two], false),
            (&[set, "return", one, two], false),
            (&[set, "pytest.skip()", one, two], false),
            (&["assert other(4)"], false),
        ] {
            assert_eq!(is_little_changed(&test(&[set, one, two]), &test(new)), is, "{new:?}");
        }
    }

    #[test]
    fn a_test_that_asks_less_is_another_one() {
        let sum = &["x = add(1, 2)", "assert x == 3"][..];
        for (old, new) in [
            (&["assert add(1, 2) == 3"][..], &["pass"][..]),
            (&["assert add(1, 2) == 3"], &["add(1, 2)"]),
            (&["assert add(1, 2) == 3"], &["assert other(1, 2) == 3"]),
            (&["assert add(1, 2) == 3"], &["assert add(1, 2) is not None"]),
            (&["assert add(1, 2) == 3"], &["assert add(1, 2) >= -1"]),
            (&["assert add(1, 2) == 3"], &["assert add(1, 2) == 3 or 1"]),
            (&["assert add(1, 2) == 3"], &["assert add(1, 2) == add(1, 2)"]),
            (&["assert add(1, 2) == 3"], &["assert add(1, 2) == ANY"]),
            (&["assert add(1, 2) == 3"], &["assert not add(1, 2) == 3"]),
            (&["assert add(1, 2) == 3"], &["assert 3 == 3"]),
            (&["assert add(1, 2) == 3"], &["return", "assert add(1, 2) == 3"]),
            (&["assert add(1, 2) == 3"], &["if False:", "    assert add(1, 2) == 3"]),
            (&["assert add(1, 2) == 3"], &["pytest.skip()", "assert add(1, 2) == 3"]),
            (&["assert add(1, 2) == 3"], &["with suppress(AssertionError):", "    assert add(1, 2) == 3"]),
            (&["assert f(1) == 3", "assert f(2) == 4"], &["assert f(1) == 3"]),
            (sum, &["x = 3", "assert x == 3"]),
            (sum, &["x = add(1, 2)", "x = 3", "assert x == 3"]),
            (sum, &["x = add(1, 2)", "assert 3 == 3"]),
            (sum, &["x = add(1, 2)", "assert x == x"]),
            (&["for x in range(3):", "    assert f(x) == 1"], &["for x in range(0):", "    assert f(x) == 1"]),
            (&["assert_eq!(sum, 3);"], &["assert!(sum > 0);"]),
            (&["expect(add(1, 2)).toBe(3);"], &["expect(add(1, 2)).toBeDefined();"]),
            (&["expect(add(1, 2)).toBe(3);"], &["expect(add(1, 2)).not.toBe(3);"]),
            (&["expect(add(1, 2)).toBe(3);"], &["expect(() => add(1, 2)).toBe(3);"]),
            (&["with pytest.raises(KeyError):", "    f(1)"], &["with open(KeyError):", "    f(1)"]),
            // It asked nothing.
            (&["add(1, 2)"], &["add(1, 3)"]),
        ] {
            assert!(!asks(old, new), "{new:?}");
        }
    }
}
