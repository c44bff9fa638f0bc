//! The variables of a line that can decide a status. The others need not be followed.

use std::collections::HashMap;

use super::expanded_program::{Calc, Expr, LeafId, Program, ProgramStep, TestExpr};

/// The names of the variables that can decide a status.
#[derive(Debug, Default)]
pub(super) struct LiveVariables {
    pub(super) index: HashMap<String, usize>,
    pub(super) pipestatus: bool,
}

impl LiveVariables {
    /// Collects them: those that are read when a status is made, and those from which they are assigned.
    ///
    /// The output of an `echo` matters only if something reads it.
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

    fn check(&mut self, check: &TestExpr) {
        match check {
            TestExpr::Not(inner) => self.check(inner),
            TestExpr::And(left, right) | TestExpr::Or(left, right) => {
                self.check(left);
                self.check(right);
            }
            TestExpr::Compare(left, _, right) => {
                self.expr(left);
                self.expr(right);
            }
            TestExpr::Empty(expr) | TestExpr::NotEmpty(expr) => self.expr(expr),
            TestExpr::Unknown => {}
        }
    }

    fn collect<'a>(&mut self, step: &'a ProgramStep, assigned: &mut Vec<(&'a str, &'a Expr)>) {
        match step {
            ProgramStep::Seq(steps)
            | ProgramStep::Pipe(steps)
            | ProgramStep::Rounds(steps)
            | ProgramStep::Either(steps) => {
                for step in steps {
                    self.collect(step, assigned);
                }
            }
            ProgramStep::AndOr(first, rest) => {
                self.collect(first, assigned);
                for (_, step) in rest {
                    self.collect(step, assigned);
                }
            }
            ProgramStep::Not(inner)
            | ProgramStep::Subshell(inner)
            | ProgramStep::Shell(_, inner)
            | ProgramStep::OnlyIn(_, inner)
            | ProgramStep::BothStreams(inner)
            | ProgramStep::Substitution(inner)
            | ProgramStep::Background(inner)
            | ProgramStep::Repeat(inner, _)
            | ProgramStep::Call(inner, _)
            | ProgramStep::Eval(inner)
            | ProgramStep::Wrapped(_, inner)
            | ProgramStep::TrapExit(Some(inner))
            | ProgramStep::TrapErr(Some(inner)) => self.collect(inner, assigned),
            ProgramStep::If(arms, otherwise) => {
                for (condition, then) in arms {
                    self.collect(condition, assigned);
                    self.collect(then, assigned);
                }
                if let Some(step) = otherwise {
                    self.collect(step, assigned);
                }
            }
            ProgramStep::While(condition, _, body) => {
                self.collect(condition, assigned);
                self.collect(body, assigned);
            }
            ProgramStep::Case(value, arms) => {
                self.expr(value);
                for (_, body, _) in arms {
                    self.collect(body, assigned);
                }
            }
            ProgramStep::After(before, step) => {
                for step in before {
                    self.collect(step, assigned);
                }
                self.collect(step, assigned);
            }
            ProgramStep::Assign(values, inner) => {
                // An assignment takes its value even where nobody reads it, but only then it matters.
                self.pipestatus |= values.iter().any(|(_, value)| matches!(value, Expr::PipeStatus(..)));
                assigned.extend(values.iter().map(|(name, value)| (name.as_str(), value)));
                for step in inner {
                    self.collect(step, assigned);
                }
            }
            ProgramStep::Bind(values) => assigned.extend(values.iter().map(|(name, value)| (name.as_str(), value))),
            ProgramStep::Exit(value) | ProgramStep::Return(value) | ProgramStep::Wait(Some(value)) => self.expr(value),
            ProgramStep::Test(check) | ProgramStep::Condition(check) | ProgramStep::DoubleEquals(check) => {
                self.check(check);
            }
            ProgramStep::Calculate(calc) => self.calc(calc),
            _ => {}
        }
    }
}
