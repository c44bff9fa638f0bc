//! Branches and loops that come to the same whatever is chosen: `if x { 0 } else { 0 }`, `for x in xs {}`.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::hollow_bodies::{Body, MAX_DEPTH, callee, expression, squeezed};

/// Endings of the kinds of nodes that hold statements.
const CONTAINERS: [&str; 10] = [
    "block", "body", "clause", "parenthesized_expression", "statement", "statements", "statement_list", "begin",
    "then", "else",
];

/// Endings of the kinds of nodes that run all that is in them.
const BLOCKS: [&str; 7] =
    ["statement_block", "block", "compound_statement", "statements", "statement_list", "expression_statement", "then"];

/// Conditions that always hold, and those that never do, without white space and parentheses.
const ALWAYS: [&str; 6] = ["true", "True", "1", "!0", "!false", "notFalse"];
const NEVER: [&str; 6] = ["false", "False", "0", "!1", "!true", "notTrue"];

/// Kinds of statements after which nothing of a block is reached.
const LEAVES: [&str; 8] = [
    "return_statement", "return_expression", "return", "jump_expression", "throw_statement", "raise_statement",
    "throw_expression", "co_return_statement",
];

/// Beginnings of the kinds of closures.
const CLOSURES: [&str; 7] = [
    "arrow_function", "lambda", "closure", "anonymous_function", "function_expression", "func_literal",
    "anonymous_method_expression",
];

/// The result of a branch that gives up.
const GIVES_UP: &str = "!";

impl Body<'_> {
    /// Returns the parts of a branch or a loop, each with `true` if it only chooses what is done. Where the condition is a
    /// constant, what it rules out is no part.
    fn parts<'t>(&self, node: Node<'t>) -> Vec<(Node<'t>, bool)> {
        let (table, kind) = (self.table, node.kind());
        let mut cursor = node.walk();
        let mut children: Vec<(Node<'t>, Option<&str>)> = Vec::new();
        for (at, child) in (0_u32..).zip(node.named_children(&mut cursor)) {
            if !child.is_extra() && !table.marks.contains(child.kind()) {
                children.push((child, node.field_name_for_named_child(at)));
            }
        }
        let last = children.len().saturating_sub(1);
        let first_without_field = children.iter().position(|(_, field)| field.is_none());
        let chooses = |at: usize, child: Node<'t>, field: Option<&str>| {
            if table.loops.contains(kind) {
                return at != last && !matches!(field, Some("body" | "alternative"));
            }
            match field {
                Some("value") if kind == "match_arm" => false,
                Some(field) => table.heads.contains(field),
                None => {
                    table.head_kinds.contains(child.kind())
                        || child.kind().ends_with("pattern")
                        || (table.subjects.contains(kind) && first_without_field == Some(at))
                        || (table.middles.contains(kind) && at == 1)
                }
            }
        };
        let mut parts: Vec<(Node<'t>, bool)> =
            children.iter().enumerate().map(|(at, &(child, field))| (child, chooses(at, child, field))).collect();
        if let Some(holds) = self.constant_condition(node) {
            let mut done = 0;
            parts.retain(|(_, chooses)| {
                done += usize::from(!chooses);
                !chooses && (done == 1) == holds
            });
        }
        parts
    }

    /// Returns `true` or `false` if the condition of a branch is a constant.
    fn constant_condition(&self, branch: Node<'_>) -> Option<bool> {
        let in_middle = branch.named_child(1).filter(|_| self.table.middles.contains(branch.kind()));
        let condition = branch.child_by_field_name("condition").or(in_middle)?;
        let written = squeezed(self.written(condition));
        let written = written.trim_matches(['(', ')']);
        let is_one = |known: &[&str]| known.contains(&written);
        if is_one(&ALWAYS) { Some(true) } else { is_one(&NEVER).then_some(false) }
    }

    /// Returns `true` if nothing after a statement is reached.
    pub(super) fn leaves(&self, statement: Node<'_>, depth: usize) -> bool {
        let kind = statement.kind();
        if LEAVES.contains(&kind) {
            return true;
        }
        if depth > MAX_DEPTH {
            return false;
        }
        if self.table.branches.contains(kind) && self.constant_condition(statement) == Some(true) {
            return self.parts(statement).first().is_some_and(|(part, _)| self.leaves(*part, depth + 1));
        }
        let mut cursor = statement.walk();
        BLOCKS.iter().any(|ending| kind.ends_with(ending))
            && !is_closure_kind(kind)
            && statement.named_children(&mut cursor).any(|child| self.leaves(child, depth + 1))
    }

    /// Returns `true` for a branch or a loop in which nothing is done.
    pub(super) fn is_hollow_branch(&mut self, node: Node<'_>, depth: usize) -> bool {
        self.branched = true;
        let is_loop = self.table.loops.contains(node.kind());
        let parts = self.parts(node);
        parts.into_iter().all(|(part, chooses)| {
            self.table.jumps.contains(part.kind())
                || if chooses { self.only_looks(part, is_loop) } else { self.hollow(part, depth + 1) }
        })
    }

    /// Returns `true` if nothing changes where `node` is evaluated, other than the counters of a loop.
    pub(super) fn only_looks(&self, node: Node<'_>, counts: bool) -> bool {
        let table = self.table;
        let mut inner = vec![(node, 0_usize)];
        while let Some((node, depth)) = inner.pop() {
            let kind = node.kind();
            let changes = table.changes.contains(kind) && !(counts && !kind.contains("await") && !kind.contains("new"));
            let runs = table.runs.contains(kind) && !table.looks.is_match(&squeezed(self.written(node)));
            if depth > MAX_DEPTH || changes || runs || table.raises.contains(kind) {
                return false;
            }
            let mut cursor = node.walk();
            inner.extend(node.named_children(&mut cursor).map(|child| (child, depth + 1)));
        }
        true
    }

    /// Returns `true` if all ways through a body without work end with the same value, or all of them give up.
    pub(super) fn ends_alike(&self, node: Node<'_>) -> bool {
        let mut results = BTreeSet::new();
        self.collect_results(node, &mut results, 0);
        let gives_up = results.contains(GIVES_UP);
        results.len() <= 1
            && (!gives_up || self.table.otherwise.is_match(self.written(node)) || self.ends_with_panic(node))
    }

    fn ends_with_panic(&self, node: Node<'_>) -> bool {
        let mut cursor = node.walk();
        let last = node.named_children(&mut cursor).filter(|child| !child.is_extra()).last();
        last.is_some_and(|last| self.is_panic(last))
    }

    fn collect_results(&self, node: Node<'_>, results: &mut BTreeSet<String>, depth: usize) {
        let (kind, table, written) = (node.kind(), self.table, self.written(node));
        let is_aside = node.is_extra()
            || table.jumps.contains(kind)
            || table.bindings.contains(kind)
            || table.marks.contains(kind)
            || table.handlers.contains(kind)
            || table.discards.is_match(written.trim())
            || (self.is_lenient && self.is_remark(node))
            || matches!(kind, "pass_statement" | "empty_statement");
        if depth > 2 * MAX_DEPTH || is_aside {
            return;
        }
        if self.is_panic(node) {
            results.insert(GIVES_UP.to_owned());
        } else if kind.starts_with("try") {
            // What is raised in it is caught.
            let mut tried = BTreeSet::new();
            for (part, _) in self.parts(node).into_iter().filter(|(_, chooses)| !chooses) {
                self.collect_results(part, &mut tried, depth + 1);
            }
            tried.remove(GIVES_UP);
            results.extend(tried);
        } else if table.branches.contains(kind) || table.loops.contains(kind) {
            for (part, _) in self.parts(node).into_iter().filter(|(_, chooses)| !chooses) {
                self.collect_results(part, results, depth + 1);
            }
        } else if kind.starts_with("return") || kind == "jump_expression" {
            let value = node.named_child(0);
            match value.filter(|value| table.branches.contains(value.kind())) {
                Some(branch) => self.collect_results(branch, results, depth + 1),
                None => _ = results.insert(value.map(|value| squeezed(self.written(value))).unwrap_or_default()),
            }
        } else if CONTAINERS.iter().any(|ending| kind.ends_with(ending)) {
            let mut cursor = node.walk();
            for child in node.named_children(&mut cursor) {
                self.collect_results(child, results, depth + 1);
                if self.leaves(child, depth) {
                    break;
                }
            }
        } else {
            results.insert(squeezed(written));
        }
    }

    /// Returns `true` for a call that visits each part of something with a closure that does nothing.
    pub(super) fn visits_for_nothing(&mut self, call: Node<'_>, depth: usize) -> bool {
        let call = expression(call);
        let called = callee(call, self.text);
        let called = called.split(['{', '|']).next().unwrap_or(&called);
        if !self.table.visits.is_match(called.strip_suffix("do").filter(|rest| rest.contains('.')).unwrap_or(called)) {
            return false;
        }
        let mut inner = vec![call];
        let mut closures = 0;
        while let Some(node) = inner.pop() {
            if is_closure(node, call) {
                closures += 1;
                if !self.is_hollow_closure(node, depth + 1) {
                    return false;
                }
                continue;
            }
            if node != call && self.table.runs.contains(node.kind()) && !self.only_looks(node, false) {
                return false;
            }
            let mut cursor = node.walk();
            inner.extend(node.named_children(&mut cursor));
        }
        closures == 1
    }

    /// Returns `true` for a closure that does nothing.
    pub(super) fn is_hollow_closure(&mut self, closure: Node<'_>, depth: usize) -> bool {
        if let Some(body) = closure.child_by_field_name("body") {
            return self.hollow(body, depth);
        }
        let mut cursor = closure.walk();
        let parts: Vec<Node<'_>> = closure.named_children(&mut cursor).collect();
        parts.into_iter().all(|part| part.kind().contains("parameter") || part.is_extra() || self.hollow(part, depth))
    }

    /// Returns `true` if the value of a node is only read from variables.
    pub(super) fn only_reads(&self, node: Node<'_>) -> bool {
        let table = self.table;
        let is_plain = table.names.contains(node.kind()) || table.members.contains(node.kind());
        is_plain && !self.written(node).contains(['(', '[', '{'])
    }
}

/// Returns `true` for a closure, or the block of a call in Ruby.
fn is_closure(node: Node<'_>, call: Node<'_>) -> bool {
    let is_block = matches!(node.kind(), "block" | "do_block") && node.parent() == Some(call);
    is_block || is_closure_kind(node.kind())
}

/// Returns `true` for the kind of a closure.
pub(super) fn is_closure_kind(kind: &str) -> bool {
    CLOSURES.iter().any(|start| kind.starts_with(start)) && !kind.contains("parameter") && !kind.contains("capture")
}
