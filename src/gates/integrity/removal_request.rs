//! Requests of a person for something to go, which may include the tests that failed.
//!
//! The words are data: `gates/integrity.toml`.

use serde::Deserialize;

use crate::fact::message_sentences::{clauses, sentences};

/// The words of such requests.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestWords {
    /// Words that ask for tests or code to go.
    removal: Vec<String>,
    /// Words that ask for this only about tests.
    leaving_out: Vec<String>,
    /// Words for tests.
    tests: Vec<String>,
    /// Words for code that has tests.
    code: Vec<String>,
    /// Words that stand for what was named before.
    pronouns: Vec<String>,
    /// Words after which something else than the object follows.
    beyond: Vec<String>,
    /// Words that turn a request into its opposite.
    negations: Vec<String>,
    /// Words that end what a negation is about.
    contrasts: Vec<String>,
}

impl RequestWords {
    /// Adds words that ask for tests or code to go.
    pub(super) fn add_removal(&mut self, words: Vec<String>) {
        self.removal.extend(words);
    }

    /// Returns `true` if the text asks for tests, or for code, to go. A negated request does not.
    pub(super) fn are_in(&self, text: &str) -> bool {
        let (mut earlier, mut banned) = (false, false);
        for sentence in sentences(text) {
            let mut here = false;
            for part in self.parts(&plain(&sentence)) {
                let mut negated = banned;
                for clause in clauses(&part).iter().map(|clause| plain(clause)) {
                    if self.asks(&clause, negated, earlier || here) {
                        return true;
                    }
                    here |= first(&clause, &self.tests).is_some();
                    negated |= self.forbids(&clause);
                }
                // A list of what is forbidden follows.
                banned |= negated && sentence.ends_with(':');
            }
            earlier = here;
        }
        false
    }

    /// Returns the parts of a sentence between words such as "but".
    fn parts(&self, sentence: &str) -> Vec<String> {
        let mut parts = vec![sentence.to_owned()];
        for word in &self.contrasts {
            let split = |part: &String| part.split(&format!(" {word} ")).map(|part| format!(" {part} ")).collect();
            parts = parts.iter().flat_map(|part| -> Vec<String> { split(part) }).collect();
        }
        parts
    }

    /// `negated`: a clause before it forbids what is in this one. `named`: tests were named before.
    fn asks(&self, clause: &str, negated: bool, named: bool) -> bool {
        let request = |words: &[String], objects: &[&[String]]| {
            !negated && words.iter().any(|word| self.is_request(clause, word, objects, named))
        };
        request(&self.removal, &[&self.tests, &self.code]) || request(&self.leaving_out, &[&self.tests])
    }

    fn is_request(&self, clause: &str, word: &str, objects: &[&[String]], named: bool) -> bool {
        let Some((from, to)) = place(clause, word) else { return false };
        let earliest = |text: &str| objects.iter().filter_map(|words| first(text, words)).min();
        if is_unspaced(word) {
            return first(clause, &self.negations).is_none() && earliest(clause).is_some();
        }
        let (before, after) = (through(clause, from), &clause[to..]);
        let near = first(after, &self.beyond).map_or(after, |at| through(after, at));
        let is_pronoun = |pronoun: &String| near.starts_with(&format!(" {pronoun} "));
        let object = earliest(near);
        let is_last = after.trim().is_empty();
        let stands_before = is_last && earliest(before).is_some();
        if object.is_none() && !stands_before && !(named && self.pronouns.iter().any(is_pronoun)) {
            return false;
        }
        let denied = |text: &str| first(text, &self.negations).is_some();
        let last = clause.trim_end().rsplit(' ').next().unwrap_or_default();
        !denied(before) && !object.is_some_and(|at| denied(through(near, at))) && !denied(&format!(" {last} "))
    }

    /// Returns `true` if a clause forbids, and the next one may go on with what: "do not", "do not skip".
    fn forbids(&self, clause: &str) -> bool {
        let Some(at) = first(clause, &self.negations) else { return false };
        let rest = clause[at..].trim_start();
        let rest = &rest[rest.find(' ').unwrap_or(rest.len())..];
        rest.trim().is_empty() || first(rest, &self.removal).or_else(|| first(rest, &self.leaving_out)).is_some()
    }
}

/// Returns the text in small letters, with one space around each word. Marks between clauses remain.
fn plain(text: &str) -> String {
    let mut plain = String::from(" ");
    for c in text.chars().flat_map(char::to_lowercase) {
        let c = if c.is_alphanumeric() || "';:,，、；：—،".contains(c) { c } else { ' ' };
        if !(c == ' ' && plain.ends_with(' ')) {
            plain.push(c);
        }
    }
    if !plain.ends_with(' ') {
        plain.push(' ');
    }
    plain
}

/// Returns the text up to the character at this place, which is included.
fn through(text: &str, at: usize) -> &str {
    let end = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
    &text[..end]
}

/// Not every script has spaces between its words.
fn is_unspaced(word: &str) -> bool {
    !word.chars().any(char::is_lowercase)
}

/// Returns the place of the first of these words in a plain text.
fn first(text: &str, words: &[String]) -> Option<usize> {
    words.iter().filter_map(|word| place(text, word)).map(|(at, _)| at).min()
}

/// Returns the beginning and the end of a word in a plain text: the space before it, and that after it.
fn place(text: &str, word: &str) -> Option<(usize, usize)> {
    if is_unspaced(word) {
        return text.find(word).map(|at| (at, at + word.len()));
    }
    let at = text.find(&format!(" {word} "))?;
    Some((at, at + 1 + word.len()))
}

#[cfg(test)]
mod tests {
    use crate::gates::integrity::Params;

    fn asks(prompt: &str) -> bool {
        let policy = crate::config::defaults(&crate::gates::check_params);
        let gate = policy.gates.iter().find(|gate| gate.id == "integrity").unwrap();
        Params::read(&gate.params).unwrap().removal_request.are_in(prompt)
    }

    #[test]
    fn words_of_a_policy_are_added() {
        let policy = crate::config::defaults(&crate::gates::check_params);
        let gate = policy.gates.iter().find(|gate| gate.id == "integrity").unwrap();
        let mut params = gate.params.clone();
        params.insert("removal_words".to_owned(), vec!["scrap"].into());
        let asks = |params| Params::read(params).unwrap().removal_request.are_in("Scrap the tests of add.");
        assert!(asks(&params) && !asks(&gate.params));
    }

    #[test]
    fn requests_for_tests_or_code_to_go() {
        let mut wrong = Vec::new();
        for prompt in [
            "Remove the tests test_add and test_add2 from tests/test_calc.py",
            "Remove `test_add`, it is wrong.",
            "Delete the tests.",
            "Please skip the flaky test for now",
            "These tests do not make sense anymore, delete them.",
            "The tests of add are wrong. Delete them.",
            "Do not fix the test but remove the test",
            "Remove the tests that do not pass",
            "Get rid of tests/test_calc.py",
            "Remove the unused function old",
            "Elimina la funci\u{f3}n old y sus pruebas",
            "Borra las pruebas de add",
            "Delete \u{6d4b}\u{8bd5}",
            "Bitte die Tests l\u{f6}schen",
            "\u{8bf7}\u{5220}\u{9664}\u{6d4b}\u{8bd5}",
        ] {
            if !asks(prompt) {
                wrong.push(prompt);
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn negated_requests_and_words_about_other_things() {
        let mut wrong = Vec::new();
        for prompt in [
            "Do not remove any test",
            "Don\u{2019}t delete tests.",
            "never skip tests",
            "Never, under any circumstances, delete tests",
            "Do not skip, ignore or delete tests",
            "Please don't:\n- delete tests\n- skip tests",
            "Remove no tests",
            "Make add faster without touching the tests, and remove nothing",
            "skip empty lines in the parser",
            "Skip empty lines to make the tests pass",
            "ignore whitespace",
            "Drop support for Python 2",
            "Replace the loop in add by a formula",
            "Replace the body of the function",
            "Remove the debug print from calc.py",
            "Remove the debug print and run the tests",
            "Delete the temp files, then make add faster",
            "The tests fail. Replace the loop.",
            "no elimines pruebas; arregla add",
            "No quiero eliminar pruebas",
            "Nunca borrar pruebas",
            "Quita los espacios del final",
            "L\u{f6}sche keine Tests",
            "\u{4e0d}\u{8981}\u{5220}\u{9664}\u{6d4b}\u{8bd5}",
        ] {
            if asks(prompt) {
                wrong.push(prompt);
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
