//! The variables that a loop assigns: their values are unknown at its start.

use super::ast::{CommandShape, Script, SyntaxNode, Word, WordPiece};
use super::build_program::{MAX_DEPTH, Walker};
use super::expand::{Definitions, forget_assigned};

impl Walker {
    /// Variables that a loop's body assigns have no known value at its start.
    pub(super) fn forget(&self, script: &Script, scope: &mut Definitions, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        for item in &script.items {
            self.forget_node(&item.node, scope, depth);
        }
    }

    fn forget_node(&self, node: &SyntaxNode, scope: &mut Definitions, depth: usize) {
        let depth = depth + 1;
        match &node.kind {
            CommandShape::Simple(simple) => {
                for assignment in &simple.assignments {
                    scope.assign(assignment.name.clone(), None);
                }
                let first = simple.words.first().and_then(Word::as_literal).unwrap_or_default();
                if matches!(
                    first.as_str(),
                    "read"
                        | "export"
                        | "declare"
                        | "local"
                        | "typeset"
                        | "readonly"
                        | "eval"
                        | "mapfile"
                        | "let"
                        | "unset"
                        | "printf"
                        | "getopts"
                        | "shift"
                        | "set"
                ) {
                    for word in &simple.words[1..] {
                        if let Some(WordPiece::Text { text, .. }) = word.parts.first() {
                            let name = text.split('=').next().unwrap_or_default();
                            scope.assign(name.to_owned(), None);
                        }
                    }
                    if matches!(first.as_str(), "shift" | "set") {
                        scope.positional = None;
                    }
                }
            }
            CommandShape::AndOr { first, rest } => {
                self.forget_node(first, scope, depth);
                for (_, node) in rest {
                    self.forget_node(node, scope, depth);
                }
            }
            CommandShape::Group(script) => self.forget(script, scope, depth),
            CommandShape::If { arms, otherwise } => {
                for (condition, then) in arms {
                    self.forget(condition, scope, depth);
                    self.forget(then, scope, depth);
                }
                if let Some(script) = otherwise {
                    self.forget(script, scope, depth);
                }
            }
            CommandShape::While { condition, body, .. } => {
                self.forget(condition, scope, depth);
                self.forget(body, scope, depth);
            }
            CommandShape::For { variable, body, .. } => {
                if let Some(variable) = variable {
                    scope.assign(variable.clone(), None);
                }
                self.forget(body, scope, depth);
            }
            CommandShape::Case { arms, .. } => {
                for arm in arms {
                    self.forget(&arm.body, scope, depth);
                }
            }
            CommandShape::Time(Some(inner)) => self.forget_node(inner, scope, depth),
            CommandShape::Arithmetic(arithmetic) => forget_assigned(&scope.calc(arithmetic), scope),
            _ => {}
        }
    }
}
