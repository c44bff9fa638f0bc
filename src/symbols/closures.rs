//! Functions of JavaScript and TypeScript that are values.

use tree_sitter::Node;

/// Kinds of nodes that are the value in them, with another type.
const THROUGH: [&str; 5] =
    ["parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression", "type_assertion"];

const CLOSURES: [&str; 3] = ["arrow_function", "function_expression", "generator_function"];

/// Returns the closure that a value is: `((e) => …) as Handler`.
pub(super) fn closure_in(value: Node<'_>) -> Option<Node<'_>> {
    let mut inner = value;
    while THROUGH.contains(&inner.kind()) {
        let mut cursor = inner.walk();
        let mut parts = inner.named_children(&mut cursor);
        inner = parts.find(|part| CLOSURES.contains(&part.kind()) || THROUGH.contains(&part.kind()))?;
    }
    CLOSURES.contains(&inner.kind()).then_some(inner)
}

/// Returns `true` for a function of JavaScript without a name of its own, except one that is called where it stands.
pub(super) fn is_callback(node: Node<'_>) -> bool {
    if !CLOSURES.contains(&node.kind()) {
        return false;
    }
    let parent = node.parent().filter(|parent| parent.kind() == "parenthesized_expression").unwrap_or(node);
    let called = parent.parent().filter(|call| call.kind() == "call_expression");
    called.and_then(|call| call.child_by_field_name("function")) != Some(parent)
}
