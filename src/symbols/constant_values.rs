//! Values that do not depend on what a function is given: `Duration::from_secs(30)`, `[{"id": 1}]`, `Status.OK`.

use tree_sitter::Node;

use super::function_inputs::Inputs;
use super::hollow_bodies::{Body, MAX_DEPTH, arguments, callee, squeezed};

/// Fields that hold the name of a part, and no value.
const NAMES_OF_PARTS: [&str; 5] = ["field", "key", "label", "name", "type"];

/// Families of languages in which a name with a capital letter may be a property of the instance.
const WITH_CAPITAL_MEMBERS: &str = "dotnet";

/// Families of languages in which `name.Other` is of a module, and never of the instance.
const WITH_MODULES: [&str; 4] = ["go", "python", "rust", "c"];

/// Returns `true` for the name of a constant: `MAX_SIZE`.
fn is_upper(name: &str) -> bool {
    name.len() > 1
        && name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

impl Body<'_> {
    /// Returns `true` if the value of a node is the same whatever the function is given.
    pub(super) fn is_constant(&self, node: Node<'_>, field: Option<&str>, depth: usize) -> bool {
        let Some(inputs) = self.inputs else { return false };
        let (kind, table, written) = (node.kind(), self.table, self.written(node));
        if node.is_extra() || self.is_type(node) || field.is_some_and(|field| NAMES_OF_PARTS.contains(&field)) {
            return true;
        }
        if depth > MAX_DEPTH || inputs.has(written) || table.raises.contains(kind) || table.computes.contains(kind) {
            return false;
        }
        if table.makes.contains(kind) || table.runs.contains(kind) {
            let called = callee(node, self.text);
            // `"x".to_string()`.
            let is_converted = called.starts_with(['"', '\'']) && table.conversions.is_match(&called);
            let is_made = table.makes.contains(kind)
                || is_converted
                || table.factories.is_match(&called)
                || inputs.is_type_called(&called);
            return is_made && !self.is_statement(node) && self.has_constant_arguments(node, depth);
        }
        // `new Conf { Name = "a" }`.
        let is_part = node.parent().is_some_and(|parent| parent.kind() == "initializer_expression");
        if let Some(value) = node.child_by_field_name("right").filter(|_| is_part) {
            return self.is_constant(value, None, depth + 1);
        }
        if table.changes.contains(kind) {
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

    fn has_constant_parts(&self, node: Node<'_>, depth: usize) -> bool {
        let mut cursor = node.walk();
        let mut more = cursor.goto_first_child();
        while more {
            let child = cursor.node();
            // In the macros of Rust, fields are no nodes.
            let is_key = node.kind() == "token_tree" && child.next_sibling().is_some_and(|next| next.kind() == ":");
            let is_instance = matches!(child.kind(), "this" | "self");
            let counts = child.is_named() && !is_key;
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
            names_it || self.is_constant(child, None, depth + 1)
        })
    }

    /// Returns `true` if the value of a node goes nowhere. In Kotlin, a call on its own stands in a block; in Rust, it is the
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
        let name = name.trim_start_matches('$');
        is_upper(name) || (name.starts_with(char::is_uppercase) && inputs.family != WITH_CAPITAL_MEMBERS)
    }

    /// Returns `true` for a constant of a type or a module: `Status.OK`, `http.StatusOK`, `i32::MAX`.
    fn is_constant_path(&self, path: &str, inputs: &Inputs<'_>) -> bool {
        let mut parts = path.split(['.', ':', '\\', '-', '>', '?', '!']).filter(|part| !part.is_empty());
        let (Some(root), Some(last)) = (parts.next(), parts.next_back()) else { return false };
        if path.contains(['(', '[', '{']) || inputs.has(root) || root.starts_with('$') {
            return false;
        }
        let has_type = root.starts_with(char::is_uppercase);
        is_upper(last)
            || self.table.named_values.is_match(path)
            || (last.starts_with(char::is_uppercase)
                && if has_type { inputs.family != WITH_CAPITAL_MEMBERS } else { WITH_MODULES.contains(&inputs.family) })
    }
}
