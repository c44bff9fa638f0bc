//! The variables and functions of make, as far as a file alone says what they expand to.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// The maximum depth of references in values.
const MAX_DEPTH: usize = 10;

/// A longer text is not expanded any further. In bytes.
const MAX_LENGTH: usize = 1 << 13;

/// The work that all expansions of one file may cost, in references.
const MAX_REFERENCES: usize = 4_000;

/// A variable of a Makefile.
#[derive(Clone, Debug, Default)]
pub(super) struct Variable {
    text: String,
    /// `true` if the environment may have another value for it.
    open: bool,
}

/// The variables of a Makefile.
#[derive(Debug, Default)]
pub(super) struct Variables {
    all: BTreeMap<String, Variable>,
    /// The variables of the command line, which no file changes.
    given: BTreeMap<String, String>,
    /// `true` if a file that is not read may set any of them.
    pub(super) incomplete: bool,
    references: Cell<usize>,
    /// The texts of `$(eval …)`, which the file is read on with.
    evaluated: RefCell<Vec<String>>,
}

/// The values that hold in one place: the automatic variables of a recipe, the arguments of a call.
pub(super) type Locals = Vec<(String, String)>;

impl Variables {
    /// Returns those that make itself and its command line set.
    pub(super) fn new(given: &[(String, String)]) -> Self {
        let mut new = Self { given: given.iter().cloned().collect(), ..Self::default() };
        for (name, text) in [("MAKE", "make"), ("CURDIR", "."), ("PWD", "."), ("SHELL", "/bin/sh")] {
            new.all.insert(name.to_owned(), Variable { text: text.to_owned(), open: false });
        }
        new
    }

    /// Returns the texts that the last expansion evaluated.
    pub(super) fn evaluated(&self) -> Vec<String> {
        self.evaluated.take()
    }

    /// Returns the text of a variable, not expanded.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.given.get(name).or_else(|| self.all.get(name).map(|variable| &variable.text)).map(String::as_str)
    }

    /// Returns `true` if the environment may decide the value of a variable.
    pub(super) fn is_open(&self, name: &str) -> bool {
        !self.given.contains_key(name) && self.all.get(name).is_none_or(|variable| variable.open)
    }

    /// Assigns a value with `=`, `:=`, `?=`, `+=` or `!=`.
    pub(super) fn assign(&mut self, name: &str, operator: &str, value: &str) {
        let old = self.all.get(name);
        let variable = match (operator, old) {
            ("?=", Some(_)) => return,
            ("?=", None) => Variable { text: value.to_owned(), open: true },
            ("+=", Some(old)) => Variable { text: format!("{} {value}", old.text).trim().to_owned(), open: old.open },
            (":=" | "::=" | ":::=", _) => Variable { text: escaped(&self.expand(value, &[])), open: false },
            ("!=", _) => Variable { text: format!("$(shell {value})"), open: false },
            _ => Variable { text: value.to_owned(), open: false },
        };
        self.all.insert(name.to_owned(), variable);
    }

    /// Returns a text with the values of its references. What is not known stays as it is: `$(NAME)`.
    pub(super) fn expand(&self, text: &str, locals: &[(String, String)]) -> String {
        self.expanded(text, locals, 0)
    }

    fn expanded(&self, text: &str, locals: &[(String, String)], depth: usize) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            self.references.set(self.references.get() + 1);
            let too_much = depth > MAX_DEPTH || out.len() > MAX_LENGTH || self.references.get() > MAX_REFERENCES;
            match rest.chars().next() {
                Some('$') => {
                    out.push('$');
                    rest = &rest[1..];
                }
                Some(open @ ('(' | '{')) => {
                    let Some((inner, after)) = closed(&rest[1..], open) else {
                        out.push('$');
                        continue;
                    };
                    // A shell would take `$(if …)` for its own `if`.
                    let unknown =
                        || if inner.starts_with("if ") { "$(make-if)".to_owned() } else { format!("$({inner})") };
                    let value = if too_much { None } else { self.reference(inner, locals, depth + 1) };
                    out.push_str(&value.unwrap_or_else(unknown));
                    rest = after;
                }
                Some(name) => {
                    let known = self.value(&name.to_string(), locals, depth + 1);
                    out.push_str(&known.unwrap_or_default());
                    rest = &rest[name.len_utf8()..];
                }
                None => out.push('$'),
            }
        }
        out.push_str(rest);
        out
    }

    fn value(&self, name: &str, locals: &[(String, String)], depth: usize) -> Option<String> {
        if let Some((_, text)) = locals.iter().rev().find(|(local, _)| local == name) {
            return Some(text.clone());
        }
        if let Some(text) = self.text(name) {
            return Some(self.expanded(text, locals, depth));
        }
        // Nobody sets names in small letters in an environment.
        let is_small = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte.is_ascii_digit());
        (is_small && !self.incomplete).then(String::new)
    }

    /// Returns the value of what stands between the brackets of a reference.
    fn reference(&self, inner: &str, locals: &[(String, String)], depth: usize) -> Option<String> {
        let expand = |text: &str| self.expanded(text, locals, depth);
        if let Some((function, arguments)) = inner.split_once([' ', '\t']) {
            return self.function(function, arguments.trim_start(), locals, depth);
        }
        if let Some((name, change)) = inner.split_once(':').filter(|(_, change)| change.contains('=')) {
            let value = self.value(&expand(name), locals, depth)?;
            let (from, to) = change.split_once('=')?;
            let (from, to) = (expand(from), expand(to));
            if from.contains('%') {
                return known(&value).then(|| each(&value, |word| substituted(word, &from, &to)));
            }
            let changed = |word: &str| word.strip_suffix(&from).map_or(word.to_owned(), |stem| format!("{stem}{to}"));
            return known(&value).then(|| each(&value, changed));
        }
        let name = expand(inner);
        self.value(&name, locals, depth)
    }

    fn function(&self, name: &str, text: &str, locals: &[(String, String)], depth: usize) -> Option<String> {
        let expand = |text: &str| self.expanded(text, locals, depth);
        let raw = arguments(text);
        let argument = |at: usize| raw.get(at).map(|text| expand(text)).unwrap_or_default();
        let words = |at: usize| Some(argument(at)).filter(|text| known(text));
        match name {
            "shell" => Some(match expand(text).trim() {
                "uname" | "uname -s" => kernel().to_owned(),
                "pwd" | "git rev-parse --show-toplevel" => ".".to_owned(),
                line => format!("$({line})"),
            }),
            "info" | "warning" => Some(String::new()),
            "eval" => {
                let text = expand(text);
                self.evaluated.borrow_mut().push(text);
                Some(String::new())
            }
            "strip" => Some(each(&expand(text), str::to_owned)),
            "subst" => Some(argument(2).replace(&argument(0), &argument(1))).filter(|_| !argument(0).is_empty()),
            "patsubst" => words(2).map(|list| each(&list, |word| substituted(word, &argument(0), &argument(1)))),
            "addprefix" => words(1).map(|list| each(&list, |word| format!("{}{word}", argument(0)))),
            "addsuffix" => words(1).map(|list| each(&list, |word| format!("{word}{}", argument(0)))),
            "notdir" => words(0).map(|list| each(&list, |word| word.rsplit('/').next().unwrap_or_default().to_owned())),
            "dir" => words(0).map(|list| each(&list, |word| folder_of(word).to_owned())),
            "basename" => words(0).map(|list| each(&list, |word| stem_of(word).to_owned())),
            "abspath" | "realpath" => words(0),
            "firstword" => words(0).map(|list| list.split_whitespace().next().unwrap_or_default().to_owned()),
            "lastword" => words(0).map(|list| list.split_whitespace().next_back().unwrap_or_default().to_owned()),
            "sort" => words(0).map(|list| {
                let mut words: Vec<&str> = list.split_whitespace().collect();
                words.sort_unstable();
                words.dedup();
                words.join(" ")
            }),
            "filter" | "filter-out" => {
                let (patterns, list) = (words(0)?, words(1)?);
                let fits = |word: &&str| patterns.split_whitespace().any(|one| stem(word, one).is_some());
                let kept = list.split_whitespace().filter(|word| fits(word) == (name == "filter"));
                Some(kept.collect::<Vec<_>>().join(" "))
            }
            "if" => {
                let holds = !words(0)?.trim().is_empty();
                Some(if holds { argument(1) } else { argument(2) })
            }
            "or" => (0..raw.len()).map(words).collect::<Option<Vec<_>>>().map(|all| {
                let found = all.into_iter().find(|text| !text.trim().is_empty());
                found.unwrap_or_default()
            }),
            "and" => {
                let all: Vec<String> = (0..raw.len()).map(words).collect::<Option<_>>()?;
                let holds = all.iter().all(|text| !text.trim().is_empty());
                Some(all.into_iter().next_back().filter(|_| holds).unwrap_or_default())
            }
            "foreach" => {
                let (name, list) = (argument(0), argument(1));
                let body = raw.get(2..).unwrap_or_default().join(",");
                // Of a list that is not known there may be several words.
                let list = if known(&list) { list } else { "$(word) $(word)".to_owned() };
                let round = |word: &str| {
                    let mut inner = locals.to_vec();
                    inner.push((name.trim().to_owned(), word.to_owned()));
                    self.expanded(&body, &inner, depth)
                };
                Some(list.split_whitespace().map(round).collect::<Vec<_>>().join(" "))
            }
            "call" => {
                let called = argument(0);
                let body = self.text(called.trim())?;
                let mut inner = locals.to_vec();
                inner.extend((0..raw.len().max(10)).map(|at| (at.to_string(), argument(at))));
                Some(self.expanded(body, &inner, depth))
            }
            "value" => self.text(argument(0).trim()).map(str::to_owned),
            _ => None,
        }
    }
}

/// Returns `true` if a text has no reference that is left.
pub(super) fn known(text: &str) -> bool {
    !text.contains("$(") && !text.contains('`')
}

/// The name of the kernel, as `uname` prints it.
fn kernel() -> &'static str {
    match std::env::consts::OS {
        "macos" => "Darwin",
        "freebsd" => "FreeBSD",
        _ => "Linux",
    }
}

/// Escapes a text that is expanded already.
fn escaped(text: &str) -> String {
    // What is not known is looked up again when it is used.
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        out.push(c);
        if c == '$' && !text[at + 1..].starts_with('(') {
            out.push('$');
        }
    }
    out
}

fn each(list: &str, change: impl Fn(&str) -> String) -> String {
    list.split_whitespace().map(change).collect::<Vec<_>>().join(" ")
}

fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or("./", |at| &path[..=at])
}

fn stem_of(path: &str) -> &str {
    let name = path.rfind('/').map_or(0, |at| at + 1);
    path[name..].rfind('.').map_or(path, |at| &path[..name + at])
}

/// Returns what `%` stands for where a word fits a pattern; a pattern without it fits itself.
pub(super) fn stem<'w>(word: &'w str, pattern: &str) -> Option<&'w str> {
    match pattern.split_once('%') {
        Some((start, end)) => {
            let rest = word.strip_prefix(start)?;
            rest.strip_suffix(end)
        }
        None => (word == pattern).then_some(""),
    }
}

fn substituted(word: &str, from: &str, to: &str) -> String {
    stem(word, from).map_or_else(|| word.to_owned(), |stem| to.replacen('%', stem, 1))
}

/// Splits a text behind the bracket that closes what `open` began.
fn closed(text: &str, open: char) -> Option<(&str, &str)> {
    let close = if open == '(' { ')' } else { '}' };
    let mut depth = 1_usize;
    for (at, c) in text.char_indices() {
        depth = if c == open {
            depth + 1
        } else if c == close {
            depth - 1
        } else {
            continue;
        };
        if depth == 0 {
            return Some((&text[..at], &text[at + 1..]));
        }
    }
    None
}

/// Splits the arguments of a function at commas outside of brackets.
fn arguments(text: &str) -> Vec<&str> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0_i32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth -= 1,
            ',' if depth <= 0 => {
                found.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[start..]);
    found
}
