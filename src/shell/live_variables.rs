//! Which variables of a line can decide a status. The others need not be followed.

use std::collections::HashMap;

use super::program::{Calc, Check, Expr, LeafId, Program, Step};

/// The names of the variables that can decide a status.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) index: HashMap<String, usize>,
    pub(super) pipestatus: bool,
}

impl Names {
    /// Collects them: those that are read where a status is made, and those from which they are assigned.
    ///
    /// What an `echo` prints matters only if it is looked at.
    pub(super) fn of(program: &Program, printing: impl Iterator<Item = LeafId>) -> Self {
        let mut names = Self::default();
        let mut assigned = Vec::new();
        printing.filter_map(|id| program.leaves.get(id)).flat_map(|leaf| &leaf.prints).for_each(|p| names.expr(p));
        names.collect(&program.root, &mut assigned);
        loop {
            let before = names.index.len();
            for (name, value) in &assigned {
                if names.index.contains_key(*name) {
                    names.expr(value);
                }
            }
            if names.index.len() == before {
                return names;
            }
        }
    }

    fn add(&mut self, name: &str) {
        let next = self.index.len();
        self.index.entry(name.to_owned()).or_insert(next);
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Variable(name) => self.add(name),
            Expr::PipeStatus(..) => self.pipestatus = true,
            Expr::Concat(parts) => parts.iter().for_each(|part| self.expr(part)),
            Expr::Arithmetic(calc) => self.calc(calc),
            _ => {}
        }
    }

    fn calc(&mut self, calc: &Calc) {
        match calc {
            Calc::Value(expr) => self.expr(expr),
            Calc::Unary(_, inner) => self.calc(inner),
            Calc::Binary(_, left, right) => {
                self.calc(left);
                self.calc(right);
            }
            Calc::Assign(name, value) => {
                self.add(name);
                self.calc(value);
            }
            Calc::Step(name, ..) => self.add(name),
            Calc::Number(_) | Calc::Unknown => {}
        }
    }

    fn check(&mut self, check: &Check) {
        match check {
            Check::Not(inner) => self.check(inner),
            Check::And(left, right) | Check::Or(left, right) => {
                self.check(left);
                self.check(right);
            }
            Check::Compare(left, _, right) => {
                self.expr(left);
                self.expr(right);
            }
            Check::Empty(expr) | Check::NotEmpty(expr) => self.expr(expr),
            Check::Unknown => {}
        }
    }

    fn collect<'a>(&mut self, step: &'a Step, assigned: &mut Vec<(&'a str, &'a Expr)>) {
        match step {
            Step::Seq(steps) | Step::Pipe(steps) | Step::Rounds(steps) | Step::Either(steps) => {
                for step in steps {
                    self.collect(step, assigned);
                }
            }
            Step::AndOr(first, rest) => {
                self.collect(first, assigned);
                for (_, step) in rest {
                    self.collect(step, assigned);
                }
            }
            Step::Not(inner)
            | Step::Subshell(inner)
            | Step::Shell(_, inner)
            | Step::OnlyIn(_, inner)
            | Step::BothStreams(inner)
            | Step::Substitution(inner)
            | Step::Background(inner)
            | Step::Repeat(inner, _)
            | Step::Call(inner, _)
            | Step::Eval(inner)
            | Step::Wrapped(_, inner)
            | Step::TrapExit(Some(inner))
            | Step::TrapErr(Some(inner)) => self.collect(inner, assigned),
            Step::If(arms, otherwise) => {
                for (condition, then) in arms {
                    self.collect(condition, assigned);
                    self.collect(then, assigned);
                }
                if let Some(step) = otherwise {
                    self.collect(step, assigned);
                }
            }
            Step::While(condition, _, body) => {
                self.collect(condition, assigned);
                self.collect(body, assigned);
            }
            Step::Case(value, arms) => {
                self.expr(value);
                for (_, body, _) in arms {
                    self.collect(body, assigned);
                }
            }
            Step::After(before, step) => {
                for step in before {
                    self.collect(step, assigned);
                }
                self.collect(step, assigned);
            }
            Step::Assign(values, inner) => {
                // An assignment takes its value even where nobody reads it, but only then it matters.
                self.pipestatus |= values.iter().any(|(_, value)| matches!(value, Expr::PipeStatus(..)));
                assigned.extend(values.iter().map(|(name, value)| (name.as_str(), value)));
                for step in inner {
                    self.collect(step, assigned);
                }
            }
            Step::Bind(values) => assigned.extend(values.iter().map(|(name, value)| (name.as_str(), value))),
            Step::Exit(value) | Step::Return(value) | Step::Wait(Some(value)) => self.expr(value),
            Step::Test(check) | Step::Condition(check) | Step::DoubleEquals(check) => self.check(check),
            Step::Calculate(calc) => self.calc(calc),
            _ => {}
        }
    }
}
