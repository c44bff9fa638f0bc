//! Values that do not depend on what a function is given: `Duration::from_secs(30)`, `[{"id": 1}]`, `Status.OK`.

use tree_sitter::Node;

use super::branches::is_closure_kind;
use super::function_inputs::Inputs;
use super::hollow_bodies::{Body, MAX_DEPTH, arguments, callee, interpolates_in_text, squeezed};

/// Fields that hold the name of a part, and no value.
const NAMES_OF_PARTS: [&str; 5] = ["field", "key", "label", "name", "type"];

/// Families of languages in which a type is a value.
const WITH_TYPES_AS_VALUES: [&str; 3] = ["python", "jvm", "rust"];

/// Returns `true` for the name of a constant: `MAX_SIZE`.
fn is_upper(name: &str) -> bool {
    name.len() > 1
        && name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Returns `true` if a text has a parameter in it: `"{name}"`, `"$name"`.
fn names_inputs(text: &str, inputs: &Inputs<'_>) -> bool {
    let is_named = |at: usize| {
        let rest = text[at + 1..].trim_start_matches(['{', '$']);
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        inputs.has(&rest[..end])
    };
    text.match_indices(['{', '$']).any(|(at, _)| is_named(at))
}

impl Body<'_> {
    /// Returns `true` if the value of a node is the same whatever the function is given.
    pub(super) fn is_constant(&self, node: Node<'_>, field: Option<&str>, depth: usize) -> bool {
        let (kind, table, written, inputs) = (node.kind(), self.table, self.written(node), self.inputs);
        if node.is_extra() || self.is_type(node) || field.is_some_and(|field| NAMES_OF_PARTS.contains(&field)) {
            return true;
        }
        if depth > MAX_DEPTH || inputs.has(written) || table.raises.contains(kind) || table.computes.contains(kind) {
            return false;
        }
        if table.constants.contains(kind) {
            let is_filled = self.interpolates(node, depth) || interpolates_in_text(kind, written);
            return !is_filled && !names_inputs(written, inputs);
        }
        if is_closure_kind(kind) {
            return self.is_empty_closure(node, depth + 1);
        }
        if table.runs.contains(kind) && table.replies.is_match(squeezed(written).trim_end_matches(';')) {
            return self.has_constant_arguments(node, depth);
        }
        if table.makes.contains(kind) || table.runs.contains(kind) {
            let called = callee(node, self.text);
            // `"x".to_string()`.
            let is_converted = called.starts_with(['"', '\'']) && table.conversions.is_match(&called);
            let is_made = table.makes.contains(kind)
                || is_converted
                || table.factories.is_match(&called)
                || inputs.is_type_called(&called);
            let is_empty = table.runs.contains(kind) && squeezed(written).trim_end_matches(';').ends_with("()");
            let is_made = is_made && (!is_empty || is_converted || table.defaults.is_match(&called));
            let is_plain = !kind.starts_with("array_creation") || !inputs.are_used(written);
            return is_made && is_plain && !self.is_statement(node) && self.has_constant_arguments(node, depth);
        }
        // `new Conf { Name = "a" }`.
        let is_part = node.parent().is_some_and(|parent| parent.kind() == "initializer_expression");
        if let Some(value) = node.child_by_field_name("right").filter(|_| is_part) {
            return self.is_constant(value, None, depth + 1);
        }
        if table.changes.contains(kind) {
            return false;
        }
        // `{ name: }`: the value is the variable of that name.
        if kind == "pair" && node.child_by_field_name("value").is_none() {
            return false;
        }
        if table.members.contains(kind) {
            return self.is_constant_path(&squeezed(written), inputs);
        }
        if table.names.contains(kind) || kind == "constant" || kind == "name" {
            return self.is_constant_name(written, inputs);
        }
        self.has_constant_parts(node, depth)
    }

    /// Returns `true` for a call that puts constants into a local that holds nothing but those.
    pub(super) fn fills_local(&self, call: Node<'_>, depth: usize) -> bool {
        let called = callee(call, self.text);
        let root = called.split(['.', '-', ':']).next().unwrap_or_default();
        self.table.runs.contains(call.kind())
            && called.len() > root.len()
            && self.locals.contains(root)
            && self.has_constant_arguments(call, depth)
    }

    /// Returns `true` for a closure that does nothing.
    fn is_empty_closure(&self, closure: Node<'_>, depth: usize) -> bool {
        Body::new(self.table, self.text, self.inputs, false).is_hollow_closure(closure, depth)
    }

    fn has_constant_parts(&self, node: Node<'_>, depth: usize) -> bool {
        let mut cursor = node.walk();
        let mut more = cursor.goto_first_child();
        while more {
            let child = cursor.node();
            // In the macros of Rust, fields are no nodes.
            let is_key = node.kind() == "token_tree" && child.next_sibling().is_some_and(|next| next.kind() == ":");
            let is_conversion = node.kind() == "token_tree"
                && child.prev_sibling().is_some_and(|before| before.kind() == ".")
                && self.table.conversions.is_match(self.written(child));
            // `1 to 2`.
            let is_operator = node.kind() == "infix_expression" && node.named_child(1) == Some(child);
            let is_instance = matches!(child.kind(), "this" | "self");
            let counts = child.is_named() && !is_key && !is_conversion && !is_operator;
            if is_instance || (counts && !self.is_constant(child, cursor.field_name(), depth + 1)) {
                return false;
            }
            more = cursor.goto_next_sibling();
        }
        true
    }

    /// Returns `true` if constants are handed to what makes a value. The name of what is made does not count.
    fn has_constant_arguments(&self, node: Node<'_>, depth: usize) -> bool {
        let mut cursor = node.walk();
        let handed = arguments(node).map(|handed| handed.start_byte());
        let is_call = self.table.runs.contains(node.kind());
        node.named_children(&mut cursor).enumerate().all(|(at, child)| {
            let names_it = match handed {
                Some(start) => child.end_byte() <= start,
                None => at == 0 || (is_call && self.table.names.contains(child.kind())),
            };
            names_it || self.is_constant(child, None, depth + 1) || self.is_reply_to(child)
        })
    }

    /// Returns `true` for the arguments of a reply of Go, of which the first are the reply itself and the request.
    fn is_reply_to(&self, arguments: Node<'_>) -> bool {
        let written = squeezed(self.written(arguments));
        written == "(w,r)" || (written.starts_with("(w,\"") && !self.inputs.are_used(&written[2..]))
    }

    /// Returns `true` if nothing uses the value of a node. In Kotlin, a call on its own stands in a block; in Rust, it is the
    /// value of the block.
    fn is_statement(&self, node: Node<'_>) -> bool {
        let is_call = self.table.runs.contains(node.kind());
        node.parent().is_some_and(|parent| match parent.kind() {
            "expression_statement" => true,
            "block" | "statements" => {
                is_call && ["function", "macro"].iter().all(|field| node.child_by_field_name(field).is_none())
            }
            _ => false,
        })
    }

    fn is_constant_name(&self, name: &str, inputs: &Inputs<'_>) -> bool {
        if self.locals.contains(name) {
            return true;
        }
        // A type, as an argument.
        name.starts_with(char::is_uppercase) && !is_upper(name) && WITH_TYPES_AS_VALUES.contains(&inputs.family)
    }

    /// Returns `true` for a value of the type that the function returns, and for one that is known by its name: `Status.OK`,
    /// `http.StatusOK`, `i32::MAX`. Another one may be a setting that was worked out elsewhere.
    fn is_constant_path(&self, path: &str, inputs: &Inputs<'_>) -> bool {
        let mut parts = path.split(['.', ':', '\\', '-', '>', '?', '!']).filter(|part| !part.is_empty());
        let (Some(root), Some(last)) = (parts.next(), parts.next_back()) else { return false };
        if path.contains(['(', '[', '{']) || inputs.has(root) || root.starts_with('$') {
            return false;
        }
        let is_returned = root.starts_with(char::is_uppercase) && inputs.is_in_head(root);
        self.table.named_values.is_match(path) || (is_returned && last.starts_with(char::is_uppercase))
    }
}
