//! Literal expansion: of the definitions in the line itself, and of nothing else.
//!
//! A variable that the line does not set, a substitution, a file name pattern and a brace list stay opaque: only the
//! shell that runs the line knows their values. The number of processors is some number.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::ast::{Arithmetic, Condition, SyntaxNode, Word, WordPiece};
use super::expanded_program::{Arg, Calc, ChangedDirectory, Expr, Sink, TestExpr};
use super::inner_command::is_needed;
use super::nproc::{installed_folder, is_processor_count, is_this_directory};
use super::parse_error::MAX_BYTES;
use crate::shell_kind::Shell;

/// The definitions of the line at one point of it.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties of a shell")]
pub(super) struct Definitions {
    /// Variables; `None` when set to something that is not known.
    pub(super) variables: HashMap<String, Option<String>>,
    /// Variables that the line passes on to the programs it starts; `None` if the value is unknown.
    pub(super) exported: BTreeMap<String, Option<String>>,
    /// Variables that the line removed at some point, so that no program finds them unless they are exported again.
    pub(super) withheld: BTreeSet<String>,
    /// Variables that are surely set.
    pub(super) set: HashSet<String>,
    /// `true` if `set -u` may be on.
    pub(super) nounset: bool,
    /// `true` if `set -a` may be on: every assignment is exported.
    pub(super) allexport: bool,
    /// `true` if `cd` follows links before it goes up (`set -P`).
    pub(super) physical: bool,
    /// `true` if the line may have given any name another program.
    pub(super) programs_replaced: bool,
    /// `true` if the line may have chosen the folder of the files that a shell reads first.
    pub(super) start_files_moved: bool,
    /// Variables that `declare -i` makes numbers: what is assigned to them is calculated.
    pub(super) integers: HashSet<String>,
    /// Functions, with `true` if they are surely defined here.
    pub(super) functions: HashMap<String, Vec<(Rc<SyntaxNode>, bool)>>,
    /// Aliases; `None` when the text is not known.
    pub(super) aliases: HashMap<String, Option<String>>,
    /// `$1`, `$2`, …; `None` if they are the line's own, which are unknown.
    pub(super) positional: Option<Vec<Arg>>,
    /// The number of the function call, so that parameters of calls do not mix.
    pub(super) call: usize,
    /// Variables that surely hold the top of the working tree.
    pub(super) tops: HashSet<String>,
    /// The directory that `cd` changed to.
    pub(super) directory: Option<ChangedDirectory>,
    /// The directories that `pushd` put on the stack.
    pub(super) stack: Vec<Option<ChangedDirectory>>,
    /// The scripts that the line surely wrote so far, by their paths as written.
    pub(super) written: BTreeMap<String, WrittenScript>,
    /// `exec > log`: where output goes from here on.
    pub(super) streams: Option<(Sink, Sink)>,
}

/// A script that the line wrote.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WrittenScript {
    pub(super) text: Rc<str>,
    /// The number of simple commands up to the one that wrote it.
    pub(super) leaves: usize,
    /// The number of files that redirections had opened by then.
    pub(super) files: usize,
}

/// Returns `true` if a variable says where a shell finds the files that it reads first.
pub(super) fn moves_start_files(name: &str) -> bool {
    matches!(name, "HOME" | "ENV" | "ZDOTDIR")
}

/// Returns `true` if a variable is a list of folders that lines often extend.
fn is_search_path(name: &str) -> bool {
    matches!(name, "PATH" | "PYTHONPATH")
}

impl Definitions {
    /// Keeps the definitions that hold whichever of two ways was taken.
    pub(super) fn join(&mut self, other: &Self) {
        for (name, value) in &other.variables {
            match self.variables.get_mut(name) {
                Some(mine) if mine == value => {}
                Some(mine) => *mine = None,
                None => {
                    self.variables.insert(name.clone(), None);
                }
            }
        }
        for (name, value) in &mut self.variables {
            if !other.variables.contains_key(name) {
                *value = None;
            }
        }
        for (name, value) in &mut self.exported {
            if other.exported.get(name) != Some(value) {
                *value = None;
            }
        }
        for name in other.exported.keys() {
            self.exported.entry(name.clone()).or_insert(None);
        }
        self.withheld.retain(|name| other.withheld.contains(name));
        self.set.retain(|name| other.set.contains(name));
        self.written.retain(|path, text| other.written.get(path) == Some(text));
        self.tops.retain(|name| other.tops.contains(name));
        self.nounset |= other.nounset;
        self.physical |= other.physical;
        self.allexport |= other.allexport;
        self.programs_replaced |= other.programs_replaced;
        self.start_files_moved |= other.start_files_moved;
        self.integers.extend(other.integers.iter().cloned());
        for (name, bodies) in &mut self.functions {
            if other.functions.get(name) != Some(bodies) {
                for body in bodies {
                    body.1 = false;
                }
            }
        }
        for (name, bodies) in &other.functions {
            let mine = self.functions.entry(name.clone()).or_default();
            for (body, _) in bodies {
                if !mine.iter().any(|(known, _)| Rc::ptr_eq(known, body)) {
                    mine.push((Rc::clone(body), false));
                }
            }
        }
        for (name, text) in &other.aliases {
            self.aliases.entry(name.clone()).or_insert_with(|| text.clone());
        }
        if self.directory != other.directory {
            let either = other.directory.as_ref().or(self.directory.as_ref()).cloned();
            self.directory = Some(ChangedDirectory { certain: false, ..either.unwrap_or(ChangedDirectory::UNKNOWN) });
        }
    }

    /// Returns the names of the functions, aliases and variables.
    pub(super) fn names(&self) -> Vec<String> {
        self.functions.keys().chain(self.aliases.keys()).chain(self.variables.keys()).cloned().collect()
    }

    /// Returns `true` if the expansion of these words may end the shell because a variable is not set.
    pub(super) fn may_be_unbound<'a>(&self, words: impl IntoIterator<Item = &'a Word>) -> bool {
        const ALWAYS: [&str; 12] = ["?", "!", "$", "#", "@", "*", "-", "0", "_", "HOME", "PATH", "PWD"];
        self.nounset
            && words.into_iter().flat_map(|word| &word.parts).any(|part| match part {
                WordPiece::Variable { name, .. } => {
                    let parameter =
                        name.parse::<usize>().ok().and_then(|n| self.positional.as_ref().map(|p| n <= p.len()));
                    !ALWAYS.contains(&name.as_str()) && parameter != Some(true) && !self.set.contains(name)
                }
                WordPiece::Element { name, .. } => !matches!(name.as_str(), "PIPESTATUS" | "pipestatus"),
                WordPiece::Arithmetic(arithmetic) => self.unbound_in(arithmetic),
                _ => false,
            })
    }

    /// Does the same for arithmetic.
    pub(super) fn unbound_in(&self, arithmetic: &Arithmetic) -> bool {
        self.nounset
            && match arithmetic {
                Arithmetic::Variable(name) | Arithmetic::Step(name, ..) => !self.set.contains(name),
                Arithmetic::Word(word) => self.may_be_unbound([word]),
                Arithmetic::Unary(_, inner) | Arithmetic::Assign(_, inner) => self.unbound_in(inner),
                Arithmetic::Binary(_, left, right) => self.unbound_in(left) || self.unbound_in(right),
                Arithmetic::Number(_) => false,
                Arithmetic::Unknown => true,
            }
    }

    /// Gives a variable a value; `None` is one that is unknown.
    pub(super) fn assign(&mut self, name: String, value: Option<String>) {
        self.tops.remove(&name);
        // The table of commands and that of aliases; an element of them is the program of a name.
        self.programs_replaced |= ["BASH_CMDS", "BASH_ALIASES"].iter().any(|table| name.starts_with(table));
        self.start_files_moved |= moves_start_files(&name);
        let value = value.filter(|value| value.len() <= MAX_BYTES);
        if self.allexport || self.exported.contains_key(&name) {
            self.exported.insert(name.clone(), value.clone());
        }
        self.variables.insert(name, value);
    }

    /// Removes a variable from the environment of what follows. `known` is `false` if the name may be another one.
    pub(super) fn withhold(&mut self, name: &str, known: bool) {
        if known && !is_needed(name) {
            self.exported.remove(name);
            self.withheld.insert(name.to_owned());
        } else {
            self.exported.insert(name.to_owned(), None);
        }
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.variables.get(name)?.as_deref()
    }

    /// Returns the name under which a status of this variable is kept: parameters differ from call to call.
    pub(super) fn status_name(&self, name: &str) -> String {
        if name.bytes().all(|b| b.is_ascii_digit()) { format!("{name}#{}", self.call) } else { name.to_owned() }
    }

    /// Expands a word into fields, as far as the line defines its parts.
    pub(super) fn fields(&self, word: &Word, mentions: &mut Vec<String>) -> Vec<Arg> {
        let mut fields = Vec::new();
        let mut current: Option<Arg> = None;
        let add = |current: &mut Option<Arg>, text: &str, pattern: bool| {
            let arg = current.get_or_insert_with(|| Arg::new(""));
            if arg.whole {
                arg.text.push_str(text);
                arg.pattern |= pattern;
            }
        };
        for part in &word.parts {
            match part {
                WordPiece::Text { text, quoted } => add(&mut current, text, !quoted && is_pattern(text)),
                WordPiece::Variable { name, .. } if matches!(name.as_str(), "@" | "*") => match &self.positional {
                    Some(args) => {
                        for (index, arg) in args.iter().enumerate() {
                            if index > 0 {
                                fields.extend(current.take());
                            }
                            add(&mut current, &arg.text, arg.pattern);
                            opaque_unless(&mut current, arg.whole && !arg.counted);
                        }
                    }
                    None => opaque_unless(&mut current, false),
                },
                WordPiece::Variable { name, quoted } => {
                    mentions.push(name.clone());
                    match self.parameter(name) {
                        Some(arg) if *quoted => {
                            add(&mut current, &arg.text, false);
                            opaque_unless(&mut current, arg.whole && !arg.counted);
                        }
                        Some(arg) if arg.whole && !arg.counted => {
                            let mut words = arg.text.split_whitespace().peekable();
                            if arg.text.starts_with(char::is_whitespace) {
                                fields.extend(current.take());
                            }
                            while let Some(field) = words.next() {
                                add(&mut current, field, is_pattern(field));
                                if words.peek().is_some() || arg.text.ends_with(char::is_whitespace) {
                                    fields.extend(current.take());
                                }
                            }
                        }
                        None if name == "PWD" && !self.variables.contains_key(name) => add(&mut current, ".", false),
                        _ => opaque_unless(&mut current, false),
                    }
                }
                WordPiece::Substitution { script, .. } if is_this_directory(script, self) => {
                    add(&mut current, ".", false);
                }
                WordPiece::Substitution { script, .. } if is_processor_count(script, self) => {
                    add(&mut current, "8", false);
                    if let Some(arg) = &mut current {
                        arg.counted = true;
                    }
                }
                _ => opaque_unless(&mut current, false),
            }
        }
        fields.extend(current);
        fields
    }

    fn parameter(&self, name: &str) -> Option<Arg> {
        if let Ok(index) = name.parse::<usize>() {
            let args = self.positional.as_ref()?;
            return match index {
                0 => None,
                _ => Some(args.get(index - 1).cloned().unwrap_or_else(|| Arg::new(""))),
            };
        }
        self.value(name).map(Arg::new)
    }

    /// Returns the whole text of a word, if the line shows it: for here-documents and assignments, which are not split.
    pub(super) fn text(&self, word: &Word) -> Option<String> {
        let mut whole = String::new();
        for part in &word.parts {
            match part {
                WordPiece::Text { text, .. } => whole.push_str(text),
                WordPiece::Variable { name, .. } => {
                    let arg = self.parameter(name)?;
                    if !arg.whole {
                        return None;
                    }
                    whole.push_str(&arg.text);
                }
                _ => return None,
            }
        }
        Some(whole)
    }

    /// Returns the value that a program finds in the variable `name`, if the line shows it. In that of a search path, which
    /// is often only extended, `$NAME` stands for an unknown variable.
    pub(super) fn handed(&self, name: &str, word: &Word) -> Option<String> {
        if !is_search_path(name) {
            return self.text(word);
        }
        let pieces = word.parts.iter().map(|part| match part {
            WordPiece::Text { text, .. } => Some(text.clone()),
            WordPiece::Variable { name: other, .. } if other == name && self.exported.contains_key(name) => {
                self.exported.get(name).cloned().flatten()
            }
            WordPiece::Variable { name, .. } => match self.parameter(name) {
                Some(arg) if arg.whole => Some(arg.text),
                _ => Some(format!("${name}")),
            },
            WordPiece::Substitution { script, .. } if is_this_directory(script, self) => Some("$PWD".to_owned()),
            WordPiece::Substitution { script, .. } if name == "PATH" => installed_folder(script, self),
            _ => None,
        });
        pieces.collect()
    }

    /// Returns an argument that gives a search path to the program that a wrapper starts: `env PATH=$PWD/bin:$PATH`.
    pub(super) fn handed_on(&self, word: &Word) -> Option<Arg> {
        let (WordPiece::Text { text, .. }, rest) = word.parts.split_first()? else { return None };
        let (name, start) = text.split_once('=').filter(|(name, _)| is_search_path(name) && !rest.is_empty())?;
        let start = WordPiece::Text { text: start.to_owned(), quoted: true };
        let value = self.handed(name, &Word { parts: [&[start], rest].concat() })?;
        Some(Arg::new(format!("{name}={value}")))
    }

    /// Returns the text and the value that a variable really gets: one that holds a number gets the result of its value
    /// as an expression.
    pub(super) fn calculated(&self, name: &str, text: Option<String>, value: Expr) -> (Option<String>, Expr) {
        let number = |text: &String| text.bytes().all(|byte| byte.is_ascii_digit());
        if self.integers.contains(name) && !text.as_ref().is_some_and(number) {
            (None, Expr::Unknown)
        } else {
            (text, value)
        }
    }

    /// Returns a word as a value that decides a status.
    pub(super) fn expr(&self, word: &Word) -> Expr {
        // `$pipestatus[1]`: zsh needs no braces.
        if let [WordPiece::Variable { name, .. }, WordPiece::Text { text, .. }] = word.parts.as_slice()
            && name == "pipestatus"
            && let Some(Ok(index)) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).map(str::parse::<usize>)
            && index > 0
        {
            return Expr::PipeStatus(Shell::Zsh, index - 1);
        }
        let mut pieces: Vec<Expr> = word
            .parts
            .iter()
            .map(|part| match part {
                WordPiece::Text { text, .. } => Expr::Text(text.clone()),
                WordPiece::Variable { name, .. } => match name.as_str() {
                    "?" => Expr::Status,
                    "!" => Expr::Job,
                    // An array without an index: its first element in bash, all of them in zsh.
                    "PIPESTATUS" => Expr::PipeStatus(Shell::Bash, 0),
                    "pipestatus" => Expr::Unknown,
                    name => Expr::Variable(self.status_name(name)),
                },
                WordPiece::Element { name, index } => match (name.as_str(), index.parse::<usize>()) {
                    ("PIPESTATUS", Ok(index)) => Expr::PipeStatus(Shell::Bash, index),
                    // zsh counts from 1.
                    ("pipestatus", Ok(index)) if index > 0 => Expr::PipeStatus(Shell::Zsh, index - 1),
                    _ => Expr::Unknown,
                },
                WordPiece::Arithmetic(arithmetic) => Expr::Arithmetic(Box::new(self.calc(arithmetic))),
                _ => Expr::Unknown,
            })
            .collect();
        match pieces.len() {
            0 => Expr::Text(String::new()),
            1 => pieces.remove(0),
            _ if pieces.contains(&Expr::Unknown) => Expr::Unknown,
            _ => Expr::Concat(pieces),
        }
    }

    /// Reads arithmetic on values that decide a status.
    pub(super) fn calc(&self, arithmetic: &Arithmetic) -> Calc {
        match arithmetic {
            Arithmetic::Number(number) => Calc::Number(*number),
            Arithmetic::Variable(name) => Calc::Value(Expr::Variable(self.status_name(name))),
            Arithmetic::Word(word) => Calc::Value(self.expr(word)),
            Arithmetic::Unary(op, inner) => Calc::Unary(*op, Box::new(self.calc(inner))),
            Arithmetic::Binary(op, left, right) => {
                Calc::Binary(op, Box::new(self.calc(left)), Box::new(self.calc(right)))
            }
            Arithmetic::Assign(name, value) => Calc::Assign(name.clone(), Box::new(self.calc(value))),
            Arithmetic::Step(name, step, old) => Calc::Step(name.clone(), *step, *old),
            Arithmetic::Unknown => Calc::Unknown,
        }
    }

    /// Reads `[[ … ]]` on values that decide a status.
    pub(super) fn check(&self, condition: &Condition) -> TestExpr {
        match condition {
            Condition::Not(inner) => TestExpr::Not(Box::new(self.check(inner))),
            Condition::And(left, right) => TestExpr::And(Box::new(self.check(left)), Box::new(self.check(right))),
            Condition::Or(left, right) => TestExpr::Or(Box::new(self.check(left)), Box::new(self.check(right))),
            Condition::Compare(left, op, right) => {
                let pattern = !op.starts_with('-')
                    && right
                        .parts
                        .iter()
                        .any(|part| matches!(part, WordPiece::Text { text, quoted: false } if is_pattern(text)));
                if pattern {
                    return TestExpr::Unknown;
                }
                TestExpr::Compare(self.expr(left), op.clone(), self.expr(right))
            }
            Condition::Unary(op, word) if op == "-z" => TestExpr::Empty(self.expr(word)),
            Condition::Unary(op, word) if op == "-n" => TestExpr::NotEmpty(self.expr(word)),
            Condition::Unary(..) | Condition::Unknown(_) => TestExpr::Unknown,
        }
    }

    /// Reads `[ … ]` and `test …`: the words between the brackets.
    pub(super) fn bracket(&self, words: &[Word]) -> TestExpr {
        let literal = |index: usize| words.get(index).and_then(Word::as_literal);
        let position = |names: &[&str]| {
            (1..words.len().saturating_sub(1)).find(|i| literal(*i).is_some_and(|w| names.contains(&w.as_str())))
        };
        match words.len() {
            0 => TestExpr::Not(Box::new(TestExpr::NotEmpty(Expr::Text("x".to_owned())))),
            1 => TestExpr::NotEmpty(self.expr(&words[0])),
            2 => match literal(0).as_deref() {
                Some("!") => TestExpr::Not(Box::new(self.bracket(&words[1..]))),
                Some("-n") => TestExpr::NotEmpty(self.expr(&words[1])),
                Some("-z") => TestExpr::Empty(self.expr(&words[1])),
                _ => TestExpr::Unknown,
            },
            3 if literal(1).is_some_and(|op| is_comparison(&op)) => {
                TestExpr::Compare(self.expr(&words[0]), literal(1).unwrap_or_default(), self.expr(&words[2]))
            }
            _ => {
                if let Some(at) = position(&["-o"]) {
                    return TestExpr::Or(
                        Box::new(self.bracket(&words[..at])),
                        Box::new(self.bracket(&words[at + 1..])),
                    );
                }
                if let Some(at) = position(&["-a"]) {
                    return TestExpr::And(
                        Box::new(self.bracket(&words[..at])),
                        Box::new(self.bracket(&words[at + 1..])),
                    );
                }
                match literal(0).as_deref() {
                    Some("!") => TestExpr::Not(Box::new(self.bracket(&words[1..]))),
                    _ => TestExpr::Unknown,
                }
            }
        }
    }
}

fn opaque_unless(current: &mut Option<Arg>, whole: bool) {
    let arg = current.get_or_insert_with(|| Arg::new(""));
    arg.whole &= whole;
}

fn is_comparison(op: &str) -> bool {
    matches!(op, "=" | "==" | "!=" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
}

/// Returns `true` if unquoted text is a file name pattern. `[` alone is a command.
fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?']) || text.find('[').is_some_and(|at| text[at + 1..].contains(']'))
}

/// Forgets the text of variables that arithmetic assigns.
pub(super) fn forget_assigned(calc: &Calc, scope: &mut Definitions) {
    let mut names = Vec::new();
    assigned_in(calc, &mut names);
    scope.variables.extend(names.into_iter().map(|name| (name, None)));
}

/// Adds the variables that arithmetic assigns.
pub(super) fn assigned_in(calc: &Calc, names: &mut Vec<String>) {
    match calc {
        Calc::Assign(name, value) => {
            names.push(name.clone());
            assigned_in(value, names);
        }
        Calc::Step(name, ..) => names.push(name.clone()),
        Calc::Binary(_, left, right) => {
            assigned_in(left, names);
            assigned_in(right, names);
        }
        Calc::Unary(_, inner) => assigned_in(inner, names),
        Calc::Number(_) | Calc::Value(_) | Calc::Unknown => {}
    }
}
