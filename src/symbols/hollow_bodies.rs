//! Bodies without work of their own: empty, a constant, or a lone failure.

use std::collections::HashSet;

use tree_sitter::Node;

use super::function_inputs::Inputs;
use super::hollow_table::HollowTable;

/// The depth from which a body counts as real.
pub(super) const MAX_DEPTH: usize = 24;

/// The size, in bytes, from which a body is no constant.
const MAX_CONSTANT: usize = 32 << 10;

/// Fields that say nothing about what is done.
const ASIDE: [&str; 2] = ["type", "label"];

/// Fields that hold the name of a local variable.
const LEFT: [&str; 4] = ["name", "pattern", "left", "declarator"];

/// Fields and kinds of nodes that hold what is handed to a call.
const ARGUMENTS: [&str; 4] = ["arguments", "value_arguments", "argument_list", "token_tree"];

/// A body that is read.
pub(super) struct Body<'a> {
    pub(super) table: &'a HollowTable,
    pub(super) text: &'a str,
    pub(super) inputs: &'a Inputs<'a>,
    /// `true` if constants of any size, messages and pauses are no work either.
    pub(super) is_lenient: bool,
    /// The local names that hold nothing of interest so far.
    pub(super) locals: HashSet<&'a str>,
    /// Local names declared without a value and not used yet. Such a declaration may itself do work.
    unused: HashSet<&'a str>,
    /// It has a branch or a loop.
    pub(super) branched: bool,
}

/// Returns `true` if `node` has no work of its own.
pub(super) fn is_hollow(table: &HollowTable, node: Node<'_>, text: &str, inputs: &Inputs<'_>) -> bool {
    Body::new(table, text, inputs, false).is_hollow(node)
}

/// Returns `true` if `node` makes the same value whatever is handed to it, or only says something. It may do so on purpose.
pub(super) fn is_constant(table: &HollowTable, node: Node<'_>, text: &str, inputs: &Inputs<'_>) -> bool {
    node.byte_range().len() <= MAX_CONSTANT && Body::new(table, text, inputs, true).is_hollow(node)
}

/// Returns `true` if a statement of a body is a message.
pub(super) fn says_something(table: &HollowTable, body: Node<'_>, text: &str, inputs: &Inputs<'_>) -> bool {
    let reader = Body::new(table, text, inputs, true);
    let mut inner = vec![(body, 0_usize)];
    while let Some((node, depth)) = inner.pop() {
        if reader.is_remark(node) {
            return true;
        }
        let mut cursor = node.walk();
        // In some grammars, the statements stand in a list.
        inner.extend(node.named_children(&mut cursor).filter(|_| depth < 2).map(|child| (child, depth + 1)));
    }
    false
}

/// Returns `true` if a body always ends by giving up: `throw …`, `exit(1)`, `return errors.New(…)`.
pub(super) fn gives_up(table: &HollowTable, body: Node<'_>, text: &str, inputs: &Inputs<'_>) -> bool {
    let reader = Body::new(table, text, inputs, false);
    let mut last = Some(body);
    let mut depth = 0;
    while let Some(node) = last.filter(|_| depth < MAX_DEPTH) {
        if reader.is_panic(node) {
            // Another way out gives something back.
            let returns =
                |text: &str| text.split(|c: char| !c.is_alphanumeric()).filter(|word| *word == "return").count();
            let before = text.get(body.start_byte()..node.start_byte()).unwrap_or_default();
            return returns(before) <= usize::from(before.trim_end().ends_with("return"));
        }
        let is_within = depth == 0 || table.through.contains(node.kind());
        let mut cursor = node.walk();
        last = node.named_children(&mut cursor).filter(|child| is_within && !child.is_extra()).last();
        depth += 1;
    }
    false
}

/// Returns `true` if the text has a variable in it: in the grammar of Kotlin, `"$x"` has no node for it.
pub(super) fn interpolates_in_text(kind: &str, written: &str) -> bool {
    let starts = |after: &str| after.starts_with(|c: char| c.is_alphabetic() || c == '{');
    kind == "string_literal" && written.split('$').skip(1).any(starts)
}

/// Returns the word before a list of tokens: in a macro of Rust, both are a call.
fn word_before(node: Node<'_>) -> Option<Node<'_>> {
    node.prev_sibling().filter(|word| node.kind() == "token_tree" && word.kind() == "identifier")
}

/// Returns the expression that a statement is.
pub(super) fn expression(statement: Node<'_>) -> Node<'_> {
    statement.named_child(0).filter(|_| statement.kind() == "expression_statement").unwrap_or(statement)
}

/// Returns a text without white space.
pub(super) fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Returns what is handed to a call.
pub(super) fn arguments(call: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = call.walk();
    call.child_by_field_name(ARGUMENTS[0])
        .or_else(|| call.named_children(&mut cursor).find(|child| ARGUMENTS.contains(&child.kind())))
}

/// Returns what a call calls, without white space: `a.b`, `panic!`, `newError`.
pub(super) fn callee(call: Node<'_>, text: &str) -> String {
    let end = arguments(call).map_or(call.end_byte(), |arguments| arguments.start_byte());
    let written = squeezed(text.get(call.start_byte()..end).unwrap_or_default());
    let bracket = written.find('(').filter(|_| end == call.end_byte());
    bracket.map_or_else(|| written.clone(), |at| written[..at].to_owned())
}

impl<'a> Body<'a> {
    pub(super) fn new(table: &'a HollowTable, text: &'a str, inputs: &'a Inputs<'a>, is_lenient: bool) -> Self {
        Self { table, text, inputs, is_lenient, locals: HashSet::new(), unused: HashSet::new(), branched: false }
    }

    /// Returns `true` if a whole body does nothing.
    fn is_hollow(&mut self, node: Node<'_>) -> bool {
        self.hollow(node, 0) && self.unused.is_empty() && (!self.branched || self.ends_alike(node))
    }

    pub(super) fn written(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    pub(super) fn hollow(&mut self, node: Node<'_>, depth: usize) -> bool {
        depth <= MAX_DEPTH
            && (self.does_nothing(node, depth)
                || (self.is_lenient && (self.is_constant(node, None, depth) || self.fills_local(node, depth))))
    }

    fn does_nothing(&mut self, node: Node<'_>, depth: usize) -> bool {
        let (kind, table) = (node.kind(), self.table);
        let written = self.written(node);
        // What is tried cannot fail: it does nothing, or the whole does something.
        if table.handlers.contains(kind) {
            return true;
        }
        if table.branches.contains(kind) || table.loops.contains(kind) {
            return self.is_hollow_branch(node, depth);
        }
        if table.bindings.contains(kind) && self.is_hollow_binding(node, depth) {
            return true;
        }
        if table.names.contains(kind) && self.locals.contains(written) {
            self.unused.remove(written);
            return true;
        }
        if node.is_extra()
            || table.marks.contains(kind)
            || table.raises.contains(kind)
            || table.words.contains(written.trim())
        {
            return true;
        }
        if table.discards.is_match(written.trim()) {
            return true;
        }
        // The work of a class without a name is in its methods, which count by themselves.
        if node.named_child(0).is_some_and(|class| class.kind() == "anonymous_class") {
            return false;
        }
        if table.calls.contains(kind)
            && (self.is_hollow_call(node, written, depth) || self.visits_for_nothing(node, depth))
        {
            return true;
        }
        let is_sized = || kind.starts_with("array_creation") && self.inputs.are_used(written);
        if table.collections.contains(kind) && (self.has_content(node) || is_sized()) {
            return false;
        }
        if table.constants.contains(kind) {
            return !self.interpolates(node, depth) && !interpolates_in_text(kind, written);
        }
        // An expression statement of a grammar without a node of its own for it.
        (table.collections.contains(kind) || table.through.contains(kind)) && self.all_hollow(node, depth)
    }

    /// Returns `true` if everything in a node but types is hollow. A message before it gives up is not work.
    fn all_hollow(&mut self, node: Node<'_>, depth: usize) -> bool {
        let mut cursor = node.walk();
        let mut more = cursor.goto_first_child();
        let (mut remarks, mut last) = (false, None);
        while more {
            let child = cursor.node();
            // In some grammars, the instance is no node of its own.
            if !child.is_named() && child.kind() == "this" {
                return false;
            }
            if child.is_named()
                && !cursor.field_name().is_some_and(|field| ASIDE.contains(&field))
                && !self.is_type(child)
            {
                if !self.hollow(child, depth + 1) {
                    if !self.is_remark(child) {
                        return false;
                    }
                    remarks = true;
                }
                last = Some(child);
                // What follows is never reached.
                if self.leaves(child, depth) {
                    break;
                }
            }
            more = cursor.goto_next_sibling();
        }
        let last_is = |is: fn(&Self, Node<'_>) -> bool| last.is_some_and(|last| is(self, last));
        // A message about what was handed over may be all that was meant.
        let says_only = self.is_lenient && !last_is(Self::hands_on_input);
        !remarks || says_only || last_is(Self::is_panic)
    }

    /// Returns `true` for a message that nothing is computed for.
    pub(super) fn is_remark(&self, statement: Node<'_>) -> bool {
        let call = expression(statement);
        let is_said = self.table.runs.contains(call.kind())
            && self.table.remarks.is_match(&callee(call, self.text))
            && !arguments(call).is_some_and(|handed| self.runs_something(handed, false));
        if !self.is_lenient {
            return is_said;
        }
        let written = squeezed(self.written(call));
        let is_pause = self.table.pauses.is_match(written.trim_end_matches(';')) && !self.hands_on_input(statement);
        (is_said && written.contains(['"', '\'', '`'])) || is_pause
    }

    /// Returns `true` if a statement hands on what the function is given.
    fn hands_on_input(&self, statement: Node<'_>) -> bool {
        let call = expression(statement);
        let handed = arguments(call).or_else(|| call.named_child(0).and_then(arguments));
        self.inputs.are_used(handed.map(|handed| self.written(handed)).unwrap_or_default())
    }

    pub(super) fn is_panic(&self, statement: Node<'_>) -> bool {
        let call = expression(statement);
        let raises = [statement, call].iter().any(|node| self.table.raises.contains(node.kind()));
        let table = self.table;
        let called = callee(call, self.text);
        let leaves =
            (table.fails.is_match(&called) || table.exits.is_match(&called)) && !self.runs_something(call, true);
        raises || (table.runs.contains(call.kind()) && (table.panics.is_match(&called) || leaves))
    }

    pub(super) fn is_type(&self, node: Node<'_>) -> bool {
        self.table.types.iter().any(|ending| node.kind().ends_with(ending.as_str()))
    }

    /// Returns `true` if a node has elements, or types and names of fields: `Foo {}` has none.
    fn has_content(&self, node: Node<'_>) -> bool {
        let mut cursor = node.walk();
        node.named_children(&mut cursor).any(|child| {
            let counts = !child.is_extra() && !self.is_type(child) && !self.table.nothing.contains(self.written(child));
            counts && (!self.table.collections.contains(child.kind()) || self.has_content(child))
        })
    }

    /// Returns `true` for a local variable without a value, or with one that is hollow.
    fn is_hollow_binding(&mut self, node: Node<'_>, depth: usize) -> bool {
        let table = self.table;
        let is_local = match node.kind() {
            "assignment" => node.parent().is_some_and(|parent| table.assigns.contains(parent.kind())),
            "assignment_expression" => node.named_child(0).is_some_and(|left| left.kind() == "variable_name"),
            _ => true,
        };
        let (mut names, mut values) = (Vec::new(), Vec::new());
        let mut cursor = node.walk();
        for (at, child) in (0_u32..).zip(node.named_children(&mut cursor)) {
            let field = node.field_name_for_named_child(at);
            if child.is_extra() || table.marks.contains(child.kind()) || field == Some("type") || self.is_type(child) {
                continue;
            }
            if field.map_or(names.is_empty(), |field| LEFT.contains(&field)) {
                let Some(more) = self.names_in(child) else { return false };
                names.extend(more);
            } else {
                values.push(child);
            }
        }
        if names.is_empty() || !is_local {
            return false;
        }
        if !values.iter().all(|value| self.hollow(*value, depth + 1)) {
            // A copy that nobody reads: where it is read, it is none of the names that hold nothing.
            return !values.is_empty() && values.iter().all(|value| self.only_reads(*value));
        }
        if values.is_empty() {
            self.unused.extend(&names);
        }
        self.locals.extend(names);
        true
    }

    /// Returns the plain names that stand on the left of a binding, or `None` if other things stand there.
    fn names_in(&self, node: Node<'_>) -> Option<Vec<&'a str>> {
        let table = self.table;
        if table.names.contains(node.kind()) {
            return Some(vec![self.written(node)]);
        }
        if !table.lists.contains(node.kind()) {
            return None;
        }
        let mut cursor = node.walk();
        let parts: Vec<Node<'_>> = node.named_children(&mut cursor).filter(|child| !self.is_type(*child)).collect();
        let are_names = parts.iter().all(|child| table.names.contains(child.kind()));
        are_names.then(|| parts.into_iter().map(|child| self.written(child)).collect())
    }

    pub(super) fn interpolates(&self, node: Node<'_>, depth: usize) -> bool {
        let mut cursor = node.walk();
        depth < MAX_DEPTH
            && node
                .named_children(&mut cursor)
                .any(|child| self.table.interpolations.contains(child.kind()) || self.interpolates(child, depth + 1))
    }

    fn is_hollow_call(&mut self, node: Node<'_>, written: &str, depth: usize) -> bool {
        let table = self.table;
        let whole = squeezed(written);
        let whole = whole.trim_end_matches([';', '!']);
        if table.gives_up.is_match(whole) || table.empty.is_match(whole) {
            return true;
        }
        if table.prints.is_match(whole) {
            return !self.runs_something(node, false);
        }
        let callee = callee(node, self.text);
        let callee = callee.trim_end_matches(';');
        if table.panics.is_match(callee) {
            return true;
        }
        if table.fails.is_match(callee) {
            return !self.runs_something(node, true);
        }
        if table.exits.is_match(callee) {
            // With the status that it is given, it is what a program ends with.
            return !self.runs_something(node, false) && !self.hands_on_input(node);
        }
        let Some(arguments) = arguments(node) else { return false };
        if table.asserts.is_match(callee) {
            let text = self.text;
            let is_test = |child: &Node<'_>| text.get(child.byte_range()) == Some("t");
            let mut cursor = arguments.walk();
            let mut asserted = arguments.named_children(&mut cursor).filter(|child| !is_test(child)).peekable();
            return asserted.peek().is_some() && asserted.all(|child| self.does_nothing(child, depth + 1));
        }
        table.wraps.is_match(callee) && self.hollow(arguments, depth + 1)
    }

    /// Returns `true` if something in a call runs code that may do work: not a conversion, nor, with `errors`, what makes an
    /// error.
    fn runs_something(&self, call: Node<'_>, errors: bool) -> bool {
        let mut inner = vec![(call, 0_usize)];
        while let Some((node, depth)) = inner.pop() {
            let called = match word_before(node) {
                Some(word) => Some(self.written(word).to_owned()),
                None => self.table.runs.contains(node.kind()).then(|| callee(node, self.text)),
            };
            let runs = node.id() != call.id() && called.is_some_and(|called| !self.is_harmless(&called, errors));
            if depth > MAX_DEPTH || runs {
                return true;
            }
            let mut cursor = node.walk();
            inner.extend(node.named_children(&mut cursor).map(|child| (child, depth + 1)));
        }
        false
    }

    fn is_harmless(&self, callee: &str, errors: bool) -> bool {
        self.table.conversions.is_match(callee) || (errors && self.table.constructors.is_match(callee))
    }
}
