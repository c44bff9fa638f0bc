//! Tests of Python that had parameters and go through the same values themselves now, in a loop.

use std::collections::BTreeMap;

use super::changed_tests::ChangedTests;
use super::renamed_code::NewNames;
use super::same_place::asks_as_much;
use super::same_test::{has_same_body, is_assertion, lines_below};
use super::test_words::{is_word, tokens};
use crate::fact::weakening::{DeclaredTest, test_texts, without_next_head};
use crate::repo_path::RepoPath;

/// Values that a test gets: the names under which it knows them, and where they are from.
#[derive(Debug, PartialEq, Eq)]
struct Values {
    names: Vec<String>,
    list: Vec<String>,
}

impl ChangedTests {
    /// Returns `true` if the function of a test with parameters asserts the same in a loop over the same list of values.
    pub(super) fn is_looped(&self, path: &RepoPath, declared: &DeclaredTest) -> bool {
        let [now] = &*self.of_same_name(path, declared) else { return false };
        let Some((old, new)) = self.file(path).and_then(|file| file.old.as_deref().zip(file.new.as_deref())) else {
            return false;
        };
        let lines_in = |text| {
            let own = test_texts(path, text).into_iter().find(|(name, _)| *name == declared.name);
            own.map(|(_, text)| logical_lines(without_next_head(text))).unwrap_or_default()
        };
        let (was, own) = (lines_in(old), lines_in(new));
        let parameters = parameters_of(old, &declared.name);
        let before = own.iter().skip(1).take_while(|line| loop_in(line).is_none());
        let loops: Vec<Values> = own.iter().filter_map(|line| loop_in(line)).take(parameters.len()).collect();
        let Some(renamed) = matched(&parameters, &loops, new) else { return false };
        let is_kept = |name: &String| is_within(&definition(old, name), &definition(new, name));
        let is_list = |line: &String| {
            let words = tokens(line);
            was.contains(line)
                || is_docstring(line)
                || is_assigned(&words) && parameters.iter().any(|one| one.list == plain(&words[2..]))
        };
        !now.skipped
            && before.into_iter().all(is_list)
            && parameters.iter().flat_map(|values| &values.list).all(is_kept)
            && with_loops_of(now, declared, &renamed, loops.len())
                .is_some_and(|looped| has_same_body(&looped, now) && asks_as_much(&looped, now, &NewNames::default()))
    }
}

/// Returns the new names of the values, if there is a loop over each list of parameters.
fn matched(parameters: &[Values], loops: &[Values], text: &str) -> Option<BTreeMap<String, String>> {
    let mut renamed = BTreeMap::new();
    for values in parameters {
        let is_same = |one: &&Values| {
            let named = <&[String; 1]>::try_from(one.list.as_slice()).ok();
            let is_named = named.and_then(|[name]| assigned(text, name)).is_some_and(|list| list == values.list);
            one.names.len() == values.names.len() && (one.list == values.list || is_named)
        };
        let own = loops.iter().find(is_same)?;
        renamed.extend(values.names.iter().cloned().zip(own.names.iter().cloned()));
    }
    (!parameters.is_empty() && loops.len() == parameters.len()).then_some(renamed)
}

/// Returns the old test with the first lines of the new one, down to its loops, if everything that it asserts is in them.
fn with_loops_of(
    now: &DeclaredTest,
    old: &DeclaredTest,
    renamed: &BTreeMap<String, String>,
    loops: usize,
) -> Option<DeclaredTest> {
    let ((head, lines), (_, old_lines)) = (lines_below(now), lines_below(old));
    let depth = |line: &str| line.len() - line.trim_start().len();
    let starts: Vec<usize> =
        (0..lines.len()).filter(|at| lines[*at].trim_start().starts_with("for ")).take(loops).collect();
    let last = *starts.last()?;
    let end = last + lines[last..].iter().position(|line| line.trim_end().ends_with(':'))?;
    let asserted = lines.iter().rposition(|line| is_assertion(line))?;
    let is_inside = starts.windows(2).all(|pair| depth(&lines[pair[0]]) < depth(&lines[pair[1]]))
        && lines.get(end + 1..=asserted)?.iter().all(|line| depth(line) > depth(&lines[last]));
    let put = |line: &String| {
        let words = tokens(line).into_iter().map(|word| renamed.get(&word).cloned().unwrap_or(word));
        format!("        {}", words.collect::<Vec<_>>().join(" "))
    };
    let body: Vec<String> = lines[..=end].iter().cloned().chain(old_lines.iter().map(put)).collect();
    let head = head.replacen('(', &format!("{}(", now.name), 1);
    is_inside.then(|| DeclaredTest { body: format!("{head}\n{}\n", body.join("\n")), ..now.clone() })
}

/// Returns the lines of a code without comments; what is in brackets is one line.
fn logical_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut open = 0_usize;
    for line in text.lines().map(|line| without_comment(line).trim()).filter(|line| !line.is_empty()) {
        match lines.last_mut().filter(|_| open > 0) {
            Some(last) => *last = format!("{last} {line}"),
            None => lines.push(line.to_owned()),
        }
        open = (open + line.matches(['(', '[', '{']).count()).saturating_sub(line.matches([')', ']', '}']).count());
    }
    lines
}

fn without_comment(line: &str) -> &str {
    let is_in_text = |at: usize| line[..at].matches(['"', '\'']).count() % 2 == 1;
    let mut marks = line.match_indices('#').map(|(at, _)| at);
    marks.find(|at| !is_in_text(*at)).map_or(line, |at| &line[..at])
}

/// Reads `for a, b in LIST:`.
fn loop_in(line: &str) -> Option<Values> {
    let (names, list) = line.strip_prefix("for ")?.split_once(" in ")?;
    let list = tokens(list.trim_end().strip_suffix(':')?);
    Some(Values { names: words(&tokens(names)), list: plain(&list) })
}

/// Returns the parameters of a test: `@pytest.mark.parametrize("a, b", LIST)` above it.
fn parameters_of(text: &str, function: &str) -> Vec<Values> {
    let lines = logical_lines(text);
    let is_it = |line: &String| tokens(line).windows(2).any(|pair| pair[0] == "def" && pair[1] == function);
    let Some(at) = lines.iter().position(is_it) else { return Vec::new() };
    let above = lines[..at].iter().rev().take_while(|line| line.starts_with('@'));
    above.filter_map(|line| parameters_in(line)).collect()
}

fn parameters_in(line: &str) -> Option<Values> {
    let (_, arguments) = line.split_once("parametrize(")?;
    let mut parts: Vec<Vec<String>> = vec![Vec::new()];
    let (mut depth, mut quote) = (0_usize, None);
    for word in tokens(arguments) {
        match (word.as_str(), &quote) {
            ("\"" | "'", None) => quote = Some(word.clone()),
            (mark, Some(open)) if mark == open => quote = None,
            ("(" | "[" | "{", None) => depth += 1,
            (")" | "]" | "}", None) if depth == 0 => break,
            (")" | "]" | "}", None) => depth -= 1,
            (",", None) if depth == 0 => {
                parts.push(Vec::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut()?.push(word);
    }
    let mut parts = parts.into_iter();
    Some(Values { names: words(&parts.next()?), list: plain(&parts.next()?) })
}

fn words(tokens: &[String]) -> Vec<String> {
    tokens.iter().filter(|token| is_word(token)).cloned().collect()
}

/// Returns the tokens of a list without the commas that change nothing.
fn plain(tokens: &[String]) -> Vec<String> {
    let is_end = |at: usize| tokens.get(at).is_none_or(|next| [")", "]", "}"].contains(&next.as_str()));
    (0..tokens.len()).filter(|at| tokens[*at] != "," || !is_end(at + 1)).map(|at| tokens[at].clone()).collect()
}

/// Returns the list that a text gives a name.
fn assigned(text: &str, name: &str) -> Option<Vec<String>> {
    let mut found = logical_lines(text).into_iter().filter_map(|line| {
        let words = tokens(&line);
        (is_assigned(&words) && words[0] == name).then(|| plain(&words[2..]))
    });
    // It may get another one later.
    found.next().filter(|_| found.next().is_none())
}

fn is_assigned(words: &[String]) -> bool {
    words.get(1).is_some_and(|mark| mark == "=")
}

fn is_docstring(line: &str) -> bool {
    let quotes = "\"\"\"";
    line.starts_with(quotes) && line.ends_with(quotes) && line.matches(quotes).count() == 2
}

/// Returns the words and numbers of the definition of a name.
fn definition(text: &str, name: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let depth = |line: &str| line.len() - line.trim_start().len();
    let begins = |line: &&str| {
        let words = tokens(line);
        let is = |at: usize, word: &str| words.get(at).is_some_and(|one| one == word);
        is(0, name) && is(1, "=") || is(0, "def") && is(1, name)
    };
    let Some(at) = lines.iter().position(begins) else { return found };
    let is_inside = |line: &&&str| depth(line) > depth(lines[at]) || line.trim_start().starts_with([')', ']', '}']);
    let own = std::iter::once(&lines[at]).chain(lines[at + 1..].iter().take_while(is_inside));
    for line in own {
        for word in tokens(without_comment(line))
            .into_iter()
            .filter(|word| word.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        {
            *found.entry(word).or_default() += 1;
        }
    }
    found
}

fn is_within(old: &BTreeMap<String, usize>, new: &BTreeMap<String, usize>) -> bool {
    old.iter().all(|(word, count)| new.get(word).is_some_and(|now| now >= count))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "import pytest\n\nCASES = [(0, 1), (1, 2)]\n\n\n";

    fn is_looped(old: &str, new: &str) -> bool {
        let path = RepoPath::from("tests/test_a.py");
        let changed = ChangedTests::of_file(&path, old, new);
        let (_, declared) = changed.declared("tests/test_a.py::test_inc[0-1]").expect("a test");
        changed.is_looped(&path, &declared)
    }

    #[test]
    fn a_loop_may_take_the_place_of_parameters() {
        let with = |list: &str| {
            let marks = format!("@pytest.mark.parametrize(\"x, y\", {list})\n");
            format!("{HEAD}{marks}def test_inc(x, y):\n    assert inc(x) == y\n")
        };
        let looped = |lines: &str| format!("{HEAD}def test_inc():\n    {}\n", lines.replace('\n', "\n    "));
        let (named, listed) = (with("CASES"), with("[\n    (0, 1),  # zero\n    (1, 2),\n], ids=str"));
        for (old, new, is) in [
            (&named, looped("for x, y in CASES:\n    assert inc(x) == y"), true),
            (&named, looped("for (a, b) in CASES:\n    assert inc(a) == b"), true),
            (&named, looped("\"\"\"Adds one.\"\"\"\nfor x, y in CASES:\n    assert inc(x) == y"), true),
            (&listed, looped("for x, y in [(0, 1), (1, 2)]:\n    assert inc(x) == y"), true),
            (&listed, looped("data = [(0, 1), (1, 2)]\nfor x, y in data:\n    assert inc(x) == y"), true),
            (&listed, looped("for x, y in CASES:\n    assert inc(x) == y"), true),
            (&listed, looped("for x, y in CASES:\n    assert inc(x) == y").replace(", (1, 2)]", "]"), false),
            (&named, looped("for x, y in CASES:\n    assert inc(x) == y").replace(", (1, 2)]", "]"), false),
            (
                &named,
                looped("for x, y in CASES:\n    assert inc(x) == y").replace("(1, 2)]", "\n    #(1, 2)\n]"),
                false,
            ),
            (&named, looped("for x, y in CASES[:1]:\n    assert inc(x) == y"), false),
            (&named, looped("for x, y in []:\n    assert inc(x) == y"), false),
            (&named, looped("CASES = []\nfor x, y in CASES:\n    assert inc(x) == y"), false),
            (&listed, looped("for x, y in [(0, 1)]:\n    assert inc(x) == y"), false),
            (&listed, looped("data = [(0, 1), (1, 2)]\ndata = []\nfor x, y in data:\n    assert inc(x) == y"), false),
            (&named, looped("for x, y in CASES:\n    if x:\n        assert inc(x) == y"), false),
            (&named, looped("for x, y in CASES:\n    y = inc(x)\n    assert inc(x) == y"), false),
            (&named, looped("for x, y in CASES:\n    pass\nassert inc(x) == y"), false),
            (&named, looped("for x, y in CASES:\n    assert inc(x) != 9"), false),
            (&named, looped("for y, x in CASES:\n    assert inc(x) == y"), false),
            (&named, looped("return\nfor x, y in CASES:\n    assert inc(x) == y"), false),
            (&named, looped("assert inc(0) == 1"), false),
        ] {
            assert_eq!(is_looped(old, &new), is, "{new}");
        }
        let both = "@pytest.mark.parametrize('x', [1, 2])\n@pytest.mark.parametrize('y', [3])\ndef test_inc(x, y):\n    assert f(x, y)\n";
        let nested = "def test_inc():\n    for x in [1, 2]:\n        for y in [3]:\n            assert f(x, y)\n";
        assert!(is_looped(both, nested));
        assert!(!is_looped(both, &nested.replace("    for y", "for y").replace("        assert", "    assert")));
    }
}
