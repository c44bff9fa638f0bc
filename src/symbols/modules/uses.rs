//! The words that a file uses, and those that it declares.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::{SourceModule, WordUse};

/// The kinds of nodes that name a member, with the field of its object, and the field of the member.
const MEMBERS: [(&str, &str, &str); 11] = [
    ("field_expression", "value", "field"),
    ("scoped_identifier", "path", "name"),
    ("scoped_type_identifier", "path", "name"),
    ("attribute", "object", "attribute"),
    ("member_expression", "object", "property"),
    ("selector_expression", "operand", "field"),
    ("method_invocation", "object", "name"),
    ("field_access", "object", "field"),
    ("qualified_type", "package", "name"),
    ("nested_type_identifier", "module", "name"),
    ("nested_identifier", "object", "property"),
];

/// Kinds of nodes whose words are declared.
const DECLARES: [&str; 16] = [
    "parameters", "lambda_parameters", "formal_parameters", "inferred_parameters", "closure_parameters",
    "typed_parameter", "object_pattern", "array_pattern", "rest_pattern", "typed_default_parameter",
    "tuple_struct_pattern_binding", "list_splat_pattern", "dictionary_splat_pattern", "as_pattern_target",
    "type_parameter", "infer_type",
];

/// Kinds of nodes that bind their left side.
const BINDS: [&str; 11] = [
    "assignment", "short_var_declaration", "for_in_clause", "for_statement", "for_in_statement", "range_clause",
    "enhanced_for_statement", "for_expression", "named_expression", "assignment_pattern", "object_assignment_pattern",
];

/// Kinds of nodes that are parts of a list on a left side.
const LISTS: [&str; 9] = [
    "expression_list", "pattern_list", "tuple_pattern", "list_pattern", "ref_pattern", "mut_pattern",
    "reference_pattern", "slice_pattern", "tuple",
];

/// Kinds of nodes whose field `name` is a use.
const NAMES_USE: [&str; 12] = [
    "annotation", "marker_annotation", "generic_type", "nested_type_identifier", "type_query", "method_invocation",
    "scoped_identifier", "export_specifier", "jsx_opening_element", "jsx_self_closing_element", "jsx_closing_element",
    "scoped_type_identifier",
];

/// Reads the uses and declarations of the file.
pub(super) fn read(tree: &Tree, text: &str, imports: &[Range<usize>], module: &mut SourceModule) {
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let import = imports.iter().any(|place| place.start <= node.start_byte() && node.end_byte() <= place.end);
        if let Some(at) = decorated(node) {
            module.decorators.push((node.byte_range(), at));
        }
        if !import && cursor.goto_first_child() {
            continue;
        }
        if !import && is_word(node) {
            word(node, text, module);
        } else if !import {
            mentioned(node, text, module);
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// Reads the words that only texts name: in tags of Javadoc, and in annotations of Python in quotes.
fn mentioned(node: Node<'_>, text: &str, module: &mut SourceModule) {
    let kind = node.kind();
    let written = text.get(node.byte_range()).unwrap_or_default();
    let words = |text: &str| -> Vec<String> {
        let parts = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    if kind == "block_comment" && module.language == "java" && written.starts_with("/**") {
        let tags = ["link", "linkplain", "see", "throws", "exception", "value"];
        for part in written.split('@').skip(1) {
            let mut named = words(part.split(['}', '\n']).next().unwrap_or(part)).into_iter();
            if named.next().is_some_and(|tag| tags.contains(&tag.as_str())) {
                module.mentioned.extend(named);
            }
        }
    } else if kind == "string_content" && module.language == "python" && is_annotation(node) {
        module.mentioned.extend(words(written));
    }
}

/// Returns `true` if a text of Python stands where a type does: in an annotation, first in `cast(…)`.
fn is_annotation(node: Node<'_>) -> bool {
    let mut around = node.parent();
    for _ in 0..8 {
        let Some(outer) = around else { return false };
        match outer.kind() {
            "type" => return true,
            "argument_list" => {
                let first = outer.named_child(0).is_some_and(|first| first.byte_range().contains(&node.start_byte()));
                let call = outer.prev_sibling().is_some_and(|called| called.kind() != "string");
                return first && call;
            }
            "block" | "module" => return false,
            _ => around = outer.parent(),
        }
    }
    false
}

fn is_word(node: Node<'_>) -> bool {
    node.is_named()
        && (node.kind().ends_with("identifier") || node.kind() == "shorthand_property_identifier_pattern")
        && node.kind() != "statement_identifier"
}

fn word(node: Node<'_>, text: &str, module: &mut SourceModule) {
    let written = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default().to_owned();
    let Some(parent) = node.parent() else { return };
    let field = |parent: Node<'_>, child: Node<'_>, name: &str| {
        parent.child_by_field_name(name).is_some_and(|found| found.id() == child.id())
    };
    // The name of an argument is that of a parameter elsewhere; a key is a word of its own.
    let named_argument = parent.kind() == "keyword_argument" && field(parent, node, "name");
    let key = ["pair", "field_initializer", "keyed_element", "pair_pattern", "element_value_pair"]
        .contains(&parent.kind())
        && (field(parent, node, "key") || field(parent, node, "field"));
    if named_argument || key || is_key_of_go(node) {
        return;
    }
    // A module that a macro of Rust declares.
    if parent.kind() == "token_tree" && node.prev_sibling().is_some_and(|word| word.kind() == "mod") {
        module.defined.entry(written(node)).or_insert(true);
        return;
    }
    if parent.kind() == "trait_item" && field(parent, node, "name") {
        module.traits.insert(written(node));
    }
    if parent.kind() == "macro_definition" && field(parent, node, "name") {
        module.macros.insert(written(node), has_attribute(parent, text, "macro_export"));
    } else if parent.kind() == "mod_item" && has_attribute(parent, text, "macro_use") {
        module.macro_modules.insert(written(node));
    }
    let member = MEMBERS.iter().find(|(kind, _, name)| *kind == parent.kind() && field(parent, node, name));
    if let Some((_, object, _)) = member
        && let Some(object) = parent.child_by_field_name(object)
    {
        module.uses.push(WordUse { word: written(node), receiver: Some(written(object)), at: node.start_byte() });
        return;
    }
    if let Some(top) = declared(node) {
        if top {
            let public = is_exported(node, text, &module.language);
            let known = module.defined.entry(written(node)).or_insert(public);
            *known |= public;
        } else {
            module.declared.push((node.start_byte(), written(node)));
        }
        return;
    }
    // The name of an attribute or a field.
    if node.kind().ends_with("property_identifier") && node.kind() != "shorthand_property_identifier" {
        return;
    }
    let receiver = (parent.kind() == "method_reference").then(|| parent.named_child(0)).flatten();
    let receiver = receiver.filter(|receiver| receiver.id() != node.id()).map(written);
    let receiver = receiver.or_else(|| path_before(node, text));
    module.uses.push(WordUse { word: written(node), receiver, at: node.start_byte() });
}

/// Returns the place of what a decorator stands before.
fn decorated(node: Node<'_>) -> Option<usize> {
    let mut next = node.next_named_sibling().filter(|_| node.kind() == "decorator");
    while let Some(other) = next.filter(|next| next.kind() == "decorator") {
        next = other.next_named_sibling();
    }
    next.map(|next| next.start_byte())
}

/// Returns `true` if an attribute of Rust stands before an item.
fn has_attribute(item: Node<'_>, text: &str, name: &str) -> bool {
    let mut before = item.prev_named_sibling();
    while let Some(attribute) =
        before.filter(|node| node.kind() == "attribute_item" || node.kind().ends_with("comment"))
    {
        let written = text.get(attribute.byte_range()).unwrap_or_default();
        if attribute.kind() == "attribute_item" && written.contains(name) {
            return true;
        }
        before = attribute.prev_named_sibling();
    }
    false
}

/// Returns `true` for the key in a composite literal of Go.
fn is_key_of_go(node: Node<'_>) -> bool {
    let element = node.parent().filter(|parent| parent.kind() == "literal_element");
    element.is_some_and(|element| {
        element.prev_named_sibling().is_none() && element.parent().is_some_and(|pair| pair.kind() == "keyed_element")
    })
}

/// Returns the path before a word that the grammar reads as a list of tokens: in macros of Rust, in types of Java.
fn path_before(node: Node<'_>, text: &str) -> Option<String> {
    if !["token_tree", "scoped_type_identifier"].contains(&node.parent()?.kind()) {
        return None;
    }
    let last = node.prev_sibling().filter(|between| ["::", "."].contains(&between.kind()))?.prev_sibling()?;
    let mut first = last;
    while let Some(before) = first.prev_sibling().filter(|between| between.kind() == "::") {
        first = before.prev_sibling()?;
    }
    text.get(first.start_byte()..last.end_byte()).map(str::to_owned)
}

/// Returns `Some` if a word is declared, with `true` if at the top of the file.
fn declared(node: Node<'_>) -> Option<bool> {
    let (mut inner, mut parent) = (node, node.parent()?);
    while LISTS.contains(&parent.kind()) {
        (inner, parent) = (parent, parent.parent()?);
    }
    let is = |name: &str| {
        let mut cursor = parent.walk();
        parent.children_by_field_name(name, &mut cursor).any(|found| found.id() == inner.id())
    };
    let kind = parent.kind();
    let named = !NAMES_USE.contains(&kind) && !kind.ends_with("expression") && is("name") && kind != "qualified_type";
    let bound = BINDS.contains(&kind) && (is("left") || is("name"));
    let patterned = is("pattern") || is("parameter") || (is("alias") && kind != "export_specifier");
    if !(named || bound || patterned || DECLARES.contains(&kind) || kind == "identifier_list") {
        return None;
    }
    // At the top: only what wraps declarations stands around it.
    let wraps = [
        "export_statement", "lexical_declaration", "variable_declaration", "expression_statement",
        "decorated_definition", "const_declaration", "var_declaration", "type_declaration", "var_spec_list",
        "const_spec_list", "ambient_declaration", "block", "if_statement", "elif_clause", "else_clause",
        "try_statement", "except_clause",
    ];
    let mut around = parent.parent();
    while let Some(outer) = around.filter(|outer| wraps.contains(&outer.kind())) {
        around = outer.parent();
    }
    let top = around.is_none_or(|outer| outer.parent().is_none());
    Some(top && !patterned && !DECLARES.contains(&kind))
}

/// Returns `true` if the declaration at the top of the file that holds a node is exported.
fn is_exported(node: Node<'_>, text: &str, language: &str) -> bool {
    let mut top = node;
    while let Some(parent) = top.parent().filter(|parent| parent.parent().is_some()) {
        top = parent;
    }
    let head = text.get(top.start_byte()..node.start_byte()).unwrap_or_default();
    let word = text.get(node.byte_range()).unwrap_or_default();
    ["pub", "export", "public"].iter().any(|mark| head.split(|c: char| !c.is_alphanumeric()).any(|part| part == *mark))
        || language == "go" && top.kind().ends_with("_declaration") && word.starts_with(char::is_uppercase)
}
