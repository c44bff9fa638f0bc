//! One possible state of a line: what has run so far, and the values that decide what runs next.

use std::rc::Rc;

use super::expanded_program::{Calc, Expr, LeafId, TestExpr};
use super::live_variables::LiveVariables;
use super::parse_error::MAX_BYTES;
use crate::shell::command_outcome::CommandOutcome;
use crate::shell_kind::Shell;

/// Counters beyond this are only known not to be zero.
const MAX_COUNT: i64 = 12;

/// The value of a variable that decides a status, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum VariableValue {
    /// The line does not set it.
    Unset,
    /// This text; statuses of success are the text `0`.
    Text(Rc<str>),
    /// A status of failure: a number that is not 0.
    NonZero,
    /// The process id of a job, with `true` if that job succeeds.
    Job(bool),
    /// Nothing.
    Unknown,
}

/// The next place of control after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Flow {
    Normal,
    Exit,
    Return,
    Break(usize),
    Continue(usize),
}

/// One possible state of the shell.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "the options of a shell are independent")]
pub(super) struct ShellState {
    /// `true` if `$?` is 0.
    pub(super) zero: bool,
    /// The outcome of the command of interest.
    pub(super) target: CommandOutcome,
    /// The outcomes of the commands whose end or printed status was seen.
    pub(super) watched: Vec<CommandOutcome>,
    /// The command whose status `$?` is, if it is of interest.
    pub(super) origin: Option<LeafId>,
    /// The variables that matter.
    pub(super) values: Vec<VariableValue>,
    /// `PIPESTATUS` after a pipeline; empty: that of the last command alone.
    pub(super) pipes: Vec<bool>,
    /// The end of the last job.
    pub(super) job: Option<bool>,
    pub(super) errexit: bool,
    pub(super) pipefail: bool,
    pub(super) inherit: bool,
    /// The shell that runs this.
    pub(super) shell: Shell,
    pub(super) on_exit: Option<usize>,
    pub(super) on_err: Option<usize>,
    pub(super) flow: Flow,
}

/// A number as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Exact(i64),
    NonZero,
    Any,
}

impl Number {
    fn truth(self) -> Option<bool> {
        match self {
            Self::Exact(number) => Some(number != 0),
            Self::NonZero => Some(true),
            Self::Any => None,
        }
    }

    fn from_truth(truth: Option<bool>) -> Self {
        truth.map_or(Self::Any, |truth| Self::Exact(i64::from(truth)))
    }
}

impl ShellState {
    /// Returns the value of an expression.
    pub(super) fn value(&mut self, expr: &Expr, names: &LiveVariables) -> VariableValue {
        let status = |zero: bool| if zero { VariableValue::Text("0".into()) } else { VariableValue::NonZero };
        match expr {
            Expr::Text(text) => VariableValue::Text(text.as_str().into()),
            Expr::Variable(name) => names
                .index
                .get(name)
                .and_then(|index| self.values.get(*index))
                .cloned()
                .unwrap_or(VariableValue::Unknown),
            Expr::Status => status(self.zero),
            Expr::PipeStatus(..) if self.shell == Shell::Sh => VariableValue::Unknown,
            // Lines of fish are read as those of bash.
            Expr::PipeStatus(Shell::Bash, _) if self.shell == Shell::Zsh => VariableValue::Unset,
            Expr::PipeStatus(Shell::Zsh, _) if self.shell != Shell::Zsh => VariableValue::Unset,
            Expr::PipeStatus(_, 0) if self.pipes.is_empty() => status(self.zero),
            Expr::PipeStatus(_, index) => self.pipes.get(*index).map_or(VariableValue::Unknown, |zero| status(*zero)),
            Expr::Job => self.job.map_or(VariableValue::Unknown, VariableValue::Job),
            Expr::Concat(parts) => {
                let mut whole = String::new();
                for part in parts {
                    match self.value(part, names) {
                        VariableValue::Text(text) if whole.len() + text.len() <= MAX_BYTES => whole.push_str(&text),
                        VariableValue::Unset => {}
                        _ => return VariableValue::Unknown,
                    }
                }
                VariableValue::Text(whole.into())
            }
            Expr::Arithmetic(calc) => match self.number(calc, names) {
                Number::Exact(number) => VariableValue::Text(number.to_string().into()),
                Number::NonZero => VariableValue::NonZero,
                Number::Any => VariableValue::Unknown,
            },
            Expr::Unknown => VariableValue::Unknown,
        }
    }

    /// Sets a variable, if it is one that matters.
    pub(super) fn assign(&mut self, name: &str, value: VariableValue, names: &LiveVariables) {
        if let Some(slot) = names.index.get(name).and_then(|index| self.values.get_mut(*index)) {
            *slot = value;
        }
    }

    /// Returns `true` if a status taken from this value is 0; `None` if it may be either.
    pub(super) fn as_status(&mut self, expr: &Expr, names: &LiveVariables) -> Option<bool> {
        match self.value(expr, names) {
            // `exit $unset` is `exit`.
            VariableValue::Unset => Some(self.zero),
            VariableValue::Text(text) if text.is_empty() => Some(self.zero),
            // A word that is not a number is a usage error, and ends with 2.
            VariableValue::Text(text) => {
                Some(text.trim().parse::<i64>().is_ok_and(|number| number.rem_euclid(256) == 0))
            }
            VariableValue::NonZero => Some(false),
            VariableValue::Job(_) | VariableValue::Unknown => None,
        }
    }

    /// Returns `true` if `(( calc ))` is true.
    pub(super) fn calculate(&mut self, calc: &Calc, names: &LiveVariables) -> Option<bool> {
        self.number(calc, names).truth()
    }

    fn number(&mut self, calc: &Calc, names: &LiveVariables) -> Number {
        match calc {
            Calc::Number(number) => Number::Exact(*number),
            Calc::Value(expr) => match self.value(expr, names) {
                VariableValue::Text(text) if text.trim().is_empty() => Number::Exact(0),
                VariableValue::Text(text) => text.trim().parse().map_or(Number::Any, Number::Exact),
                VariableValue::NonZero => Number::NonZero,
                VariableValue::Unset | VariableValue::Job(_) | VariableValue::Unknown => Number::Any,
            },
            Calc::Unary('!', inner) => Number::from_truth(self.number(inner, names).truth().map(|truth| !truth)),
            Calc::Unary(_, inner) => match self.number(inner, names) {
                Number::Exact(number) => Number::Exact(number.saturating_neg()),
                other => other,
            },
            Calc::Binary(op @ ("&&" | "||"), left, right) => {
                let left = self.number(left, names).truth();
                let decided = if *op == "&&" { Some(false) } else { Some(true) };
                if left == decided {
                    return Number::from_truth(decided);
                }
                // The right side may not be reached, so what it assigns is lost either way.
                let right = self.number(right, names).truth();
                Number::from_truth(match (left, right) {
                    (_, right) if right == decided && left.is_none() => None,
                    (None, _) => None,
                    (_, right) => right,
                })
            }
            Calc::Binary(op, left, right) => {
                let (left, right) = (self.number(left, names), self.number(right, names));
                binary(op, left, right)
            }
            Calc::Assign(name, value) => {
                let value = self.number(value, names);
                self.store(name, value, names);
                value
            }
            Calc::Step(name, step, old) => {
                let before = self.number(&Calc::Value(Expr::Variable(name.clone())), names);
                let after = match before {
                    Number::Exact(number) => Number::Exact(number.saturating_add(*step)),
                    Number::NonZero | Number::Any => Number::Any,
                };
                self.store(name, after, names);
                if *old { before } else { after }
            }
            Calc::Unknown => Number::Any,
        }
    }

    fn store(&mut self, name: &str, number: Number, names: &LiveVariables) {
        let value = match number {
            Number::Exact(number) if number.saturating_abs() <= MAX_COUNT => {
                VariableValue::Text(number.to_string().into())
            }
            Number::Exact(_) | Number::Any => VariableValue::Unknown,
            Number::NonZero => VariableValue::NonZero,
        };
        self.assign(name, value, names);
    }

    /// Returns `true` if a test holds; `None` if that is unknown.
    pub(super) fn check(&mut self, check: &TestExpr, names: &LiveVariables) -> Option<bool> {
        match check {
            TestExpr::Not(inner) => self.check(inner, names).map(|holds| !holds),
            TestExpr::And(left, right) => match (self.check(left, names), self.check(right, names)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            TestExpr::Or(left, right) => match (self.check(left, names), self.check(right, names)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            TestExpr::Compare(left, op, right) => {
                let (left, right) = (self.value(left, names), self.value(right, names));
                compare(&left, op, &right)
            }
            TestExpr::NotEmpty(expr) => match self.value(expr, names) {
                VariableValue::Text(text) => Some(!text.is_empty()),
                VariableValue::NonZero | VariableValue::Job(_) => Some(true),
                VariableValue::Unset | VariableValue::Unknown => None,
            },
            TestExpr::Empty(expr) => self.check(&TestExpr::NotEmpty(expr.clone()), names).map(|holds| !holds),
            TestExpr::Unknown => None,
        }
    }
}

fn binary(op: &str, left: Number, right: Number) -> Number {
    use Number::{Any, Exact, NonZero};
    let truth = |holds: bool| Exact(i64::from(holds));
    match (op, left, right) {
        (",", _, right) => right,
        ("+", Exact(l), Exact(r)) => l.checked_add(r).map_or(Any, Exact),
        ("-", Exact(l), Exact(r)) => l.checked_sub(r).map_or(Any, Exact),
        ("*", Exact(l), Exact(r)) => l.checked_mul(r).map_or(Any, Exact),
        ("*", Exact(0), _) | ("*", _, Exact(0)) => Exact(0),
        ("|", Exact(l), Exact(r)) => Exact(l | r),
        ("|", NonZero, _) | ("|", _, NonZero) | ("+" | "-", NonZero, Exact(0)) | ("+", Exact(0), NonZero) => NonZero,
        ("==", Exact(l), Exact(r)) => truth(l == r),
        ("!=", Exact(l), Exact(r)) => truth(l != r),
        ("<", Exact(l), Exact(r)) => truth(l < r),
        ("<=", Exact(l), Exact(r)) => truth(l <= r),
        (">", Exact(l), Exact(r)) => truth(l > r),
        (">=", Exact(l), Exact(r)) => truth(l >= r),
        ("==", NonZero, Exact(0)) | ("==", Exact(0), NonZero) => truth(false),
        ("!=", NonZero, Exact(0)) | ("!=", Exact(0), NonZero) => truth(true),
        _ => Any,
    }
}

fn compare(left: &VariableValue, op: &str, right: &VariableValue) -> Option<bool> {
    let number = |value: &VariableValue| match value {
        VariableValue::Text(text) => text.trim().parse::<i64>().ok(),
        _ => None,
    };
    match op {
        "=" | "==" | "!=" => {
            let equal = match (left, right) {
                (VariableValue::Text(l), VariableValue::Text(r)) => Some(l == r),
                (VariableValue::NonZero, VariableValue::Text(text))
                | (VariableValue::Text(text), VariableValue::NonZero) => {
                    // A status of failure is a number from 1 to 255, written without leading zeros.
                    let possible = text.parse::<u8>().is_ok_and(|n| n > 0 && n.to_string() == **text);
                    if possible { None } else { Some(false) }
                }
                _ => None,
            };
            equal.map(|equal| equal == (op != "!="))
        }
        "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" => {
            if let (Some(l), Some(r)) = (number(left), number(right)) {
                return Some(match op {
                    "-eq" => l == r,
                    "-ne" => l != r,
                    "-lt" => l < r,
                    "-le" => l <= r,
                    "-gt" => l > r,
                    _ => l >= r,
                });
            }
            match (left, number(right), op) {
                (VariableValue::NonZero, Some(n), "-eq") if !(1..=255).contains(&n) => Some(false),
                (VariableValue::NonZero, Some(n), "-ne") if !(1..=255).contains(&n) => Some(true),
                (VariableValue::NonZero, Some(n), "-gt") if n <= 0 => Some(true),
                (VariableValue::NonZero, Some(n), "-gt") if n >= 255 => Some(false),
                (VariableValue::NonZero, Some(n), "-ge") if n <= 1 => Some(true),
                (VariableValue::NonZero, Some(n), "-lt") if n <= 1 => Some(false),
                (VariableValue::NonZero, Some(n), "-le") if n <= 0 => Some(false),
                _ => match (number(left), right, op) {
                    (Some(n), VariableValue::NonZero, "-eq") if !(1..=255).contains(&n) => Some(false),
                    (Some(n), VariableValue::NonZero, "-ne") if !(1..=255).contains(&n) => Some(true),
                    _ => None,
                },
            }
        }
        _ => None,
    }
}
