//! A function of a file.

use std::ops::Range;

/// The number of words from which a body that works on parameters or on its instance does more than make a value.
const MIN_WORK: usize = 10;
/// The same for a body that is given nothing: it may have made a default value in many words.
const MIN_WORK_ON_NOTHING: usize = 24;

/// The number of words up to which a constant is one of those that stand in for work.
const MAX_SHELL: usize = 6;

/// A function with a name and a body.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts, each with its own source")]
pub struct Function {
    /// The path of its file.
    pub path: String,
    /// Its first line, from 1.
    pub line: usize,
    /// The types, modules and functions that it is in, outermost first.
    pub container: Vec<String>,
    /// Its name without them.
    pub name: String,
    /// The accessor that it is: `get`, `set`.
    pub suffix: Option<String>,
    /// The part that distinguishes it from others of its name in its language: ` const`, `<T>`.
    pub mark: String,
    /// The condition under which it counts; empty where it always does.
    pub condition: String,
    /// Its parameters as written.
    pub parameters: String,
    /// `true` if nothing outside uses it, as far as the language says.
    pub private: bool,
    /// It has a body only for show: an overload, an abstract method, a stub.
    pub declaration: bool,
    /// It does nothing of its own: empty, a constant, a lone failure.
    pub hollow: bool,
    /// Its body alone does nothing; what comes before it may.
    pub(super) idle: bool,
    /// Its value is the same whatever it is given, or it only says something.
    pub(super) constant: bool,
    /// This value is made without any arguments: `Conf()`.
    pub(super) default_value: bool,
    /// It ends by giving up.
    pub(super) gives_up: bool,
    /// It only says something.
    pub(super) only_says: bool,
    /// It works on its parameters or its instance.
    pub(super) uses_inputs: bool,
    /// It is the only method of a class without a name: it may go with its place.
    pub callback: bool,
    /// A program wrote its file.
    pub generated: bool,
    /// The languages between which it may move.
    pub(super) family: String,
    /// The text before its body.
    pub(super) head: String,
    /// Its range in the file, in bytes.
    pub(super) range: Range<usize>,
    /// The words of its body, as hashes.
    pub(super) body: Vec<u32>,
    /// The same as if its first parameter were the instance.
    pub(super) body_of_first: Vec<u32>,
    /// The words of its parameters.
    pub(super) parameter_tokens: Vec<u32>,
}

impl Function {
    /// Containers and name, joined by dots.
    pub fn full(&self) -> String {
        let mut full = self.container.join(".");
        if !full.is_empty() {
            full.push('.');
        }
        full + &self.name
    }

    /// Returns the full name, with its mark if it is `ambiguous`.
    pub fn shown(&self, ambiguous: bool) -> String {
        let condition = (ambiguous && !self.condition.is_empty()).then_some(&self.condition);
        let mut shown = self.full();
        if ambiguous && condition.is_none() && !self.parameters.is_empty() {
            let inner = self.parameters.trim_start_matches('(').trim_end_matches(')');
            shown = format!("{shown}({inner})");
        }
        shown.push_str(&self.mark);
        if let Some(suffix) = self.suffix.as_ref().or(condition) {
            shown = format!("{shown}[{suffix}]");
        }
        shown
    }

    /// Returns `true` if it worked on what it was given, and `other`, which took its place, makes a constant of it. The same
    /// if it was given nothing, did a lot, and is a default value now, or only says something.
    pub(super) fn became_constant(&self, other: &Self) -> bool {
        let has_work = if self.uses_inputs {
            self.body.len() >= MIN_WORK
        } else {
            (other.default_value && self.body.len() >= MIN_WORK_ON_NOTHING)
                || (other.only_says && self.body.len() >= MIN_WORK)
        };
        other.constant && !self.constant && !self.hollow && has_work
    }

    /// Returns `true` if both give up in the end: that is what they are for.
    pub(super) fn gives_up_like(&self, other: &Self) -> bool {
        self.gives_up && other.gives_up
    }

    /// Returns `true` if it does nothing, or is a constant of a few words, such as `return Mode.OPEN`.
    pub(super) fn is_shell(&self) -> bool {
        self.hollow || (self.constant && self.body.len() <= MAX_SHELL)
    }

    /// Returns `true` if it is the parameters of its type, as a constructor.
    pub(super) fn is_header(&self) -> bool {
        self.declaration && !self.hollow && self.body.is_empty()
    }

    /// Returns `true` if nothing but the body of another differs from it.
    pub(super) fn same_head(&self, other: &Self) -> bool {
        self.head.split_whitespace().eq(other.head.split_whitespace())
    }

    /// Returns the sign before the name of its type by which it is a constructor (none) or a destructor (`~`).
    pub(super) fn constructs(&self) -> Option<&str> {
        self.name.strip_suffix(self.container.last()?.as_str()).filter(|sign| ["", "~"].contains(sign))
    }

    /// Returns the type or module that it is in; empty if it is in none.
    pub(super) fn home(&self) -> String {
        self.container.join(".")
    }
}
