//! Reads the names that a piece of code uses, and the statements around it.

use std::collections::BTreeSet;
use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::{ImportedName, SourceModule, WordUse, imports, uses};
use crate::surroundings::{OuterStatement, OuterStatementKind, Surroundings, VisibleImport, spaced};
use crate::symbols::outline::with_tree;

/// Kinds of nodes that hold statements one below the other.
const BLOCKS: [&str; 13] = [
    "module", "program", "source_file", "translation_unit", "compilation_unit", "block", "statement_block",
    "class_body", "declaration_list", "body_statement", "compound_statement", "field_declaration_list",
    "namespace_body",
];
/// Kinds of nodes that define a function, a type or a module by its name.
const DEFINITIONS: [&str; 6] = ["function", "method", "class", "_item", "type", "macro_definition"];
/// Kinds of nodes that give a name to a value, although they are called definitions.
const VALUES: [&str; 3] = ["const_item", "static_item", "let_declaration"];
/// The names by which a method knows its object.
const OBJECTS: [&str; 3] = ["self", "cls", "this"];

/// Reads the surroundings of the statement that holds the byte `at`. `None`: the file is in a language whose imports are not
/// read, or it has no such statement.
pub fn surroundings(path: &str, text: &str, at: usize) -> Option<Surroundings> {
    let read = with_tree(path, text.as_bytes(), |language, text, tree, _| {
        let mut module = SourceModule { language: language.entry.id.clone(), ..SourceModule::default() };
        let places = imports::read(tree, text, &mut module);
        uses::read(tree, text, &places, &mut module);
        module.has_imports().then(|| read_around(tree, text, at, &module, &places)).flatten()
    });
    read.ok().flatten()
}

fn read_around(
    tree: &Tree,
    text: &str,
    at: usize,
    module: &SourceModule,
    places: &[Range<usize>],
) -> Option<Surroundings> {
    let blocks = blocks_around(tree, at);
    let own = blocks.last()?.1;
    let is_own = |place: usize| own.byte_range().contains(&place);
    let used = used_in(module, &own.byte_range());
    let mut found = Surroundings { language: module.language.clone(), used, ..Surroundings::default() };
    for (depth, (block, inside)) in blocks.iter().enumerate() {
        let mut cursor = block.walk();
        for node in block.named_children(&mut cursor).filter(|node| node.id() != inside.id()) {
            found.statements.extend(statement(node, depth, text, places));
        }
        decorators(*inside, (at, depth), text, &mut found.statements);
        found.bases.extend(bases(*inside, text));
    }
    let is_hidden = |place: usize| {
        let around = found.statements.iter().find(|statement| statement.range.contains(&place));
        is_own(place) || around.is_some_and(|around| matches!(around.kind, OuterStatementKind::Definition(_)))
    };
    let line_starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let place_of = |import: &ImportedName| line_starts.get(import.line - 1).copied().unwrap_or_default();
    let is_visible = |import: &&ImportedName| (import.local.is_some() || import.glob) && !is_hidden(place_of(import));
    let visible = |import: &ImportedName| VisibleImport {
        module: import.module.clone(),
        name: import.name.clone(),
        local: import.local.clone(),
    };
    found.imports = module.imports.iter().filter(is_visible).map(visible).collect();
    Some(found)
}

/// Returns the blocks around a byte, outermost first, each with its statement that holds the byte.
fn blocks_around(tree: &Tree, at: usize) -> Vec<(Node<'_>, Node<'_>)> {
    let mut found = Vec::new();
    let mut node = tree.root_node();
    loop {
        let mut cursor = node.walk();
        let Some(inside) = node.children(&mut cursor).find(|child| child.byte_range().contains(&at)) else {
            return found;
        };
        if BLOCKS.contains(&node.kind()) {
            found.push((node, inside));
        }
        node = inside;
    }
}

/// Returns the names that code in this place uses: those that it does not declare, and members of its object.
fn used_in(module: &SourceModule, own: &Range<usize>) -> BTreeSet<String> {
    let declared = module.declared.iter().filter(|(at, _)| own.contains(at));
    let declared: BTreeSet<&str> = declared.map(|(_, word)| word.as_str()).collect();
    let is_free = |word: &&WordUse| match word.receiver.as_deref() {
        None => !declared.contains(word.word.as_str()),
        Some(receiver) => OBJECTS.contains(&receiver),
    };
    let inside = module.uses.iter().filter(|word| own.contains(&word.at));
    inside.filter(is_free).map(|word| word.word.clone()).collect()
}

fn statement(node: Node<'_>, depth: usize, text: &str, imports: &[Range<usize>]) -> Option<OuterStatement> {
    let range = node.byte_range();
    let written = text.get(range.clone())?;
    let kind = match inner(node).kind() {
        kind if kind.contains("comment") || is_text(node) => return None,
        _ if is_import(node, imports) => OuterStatementKind::Import,
        kind if !VALUES.contains(&kind) && DEFINITIONS.iter().any(|part| kind.contains(part)) => {
            let name = inner(node).child_by_field_name("name").and_then(|name| text.get(name.byte_range()));
            OuterStatementKind::Definition(name.unwrap_or_default().to_owned())
        }
        _ => match assigned(node, text) {
            names if names.is_empty() => OuterStatementKind::Other,
            names => OuterStatementKind::Assignment(names),
        },
    };
    Some(OuterStatement { text: spaced(written), kind, range, depth })
}

/// Returns the node inside of what only wraps it: decorators, `export`.
fn inner(node: Node<'_>) -> Node<'_> {
    let field = ["definition", "declaration"].iter().find_map(|field| node.child_by_field_name(field));
    match field {
        Some(inside) if ["decorated_definition", "export_statement"].contains(&node.kind()) => inside,
        _ => node,
    }
}

fn is_text(node: Node<'_>) -> bool {
    node.kind() == "expression_statement" && node.named_child(0).is_some_and(|only| only.kind() == "string")
}

/// Returns `true` if a statement does nothing but import.
fn is_import(node: Node<'_>, imports: &[Range<usize>]) -> bool {
    let is_place = |node: Node<'_>| imports.iter().any(|place| *place == node.byte_range());
    let mut cursor = node.walk();
    let mut inside = node.named_children(&mut cursor).peekable();
    let is_declared = |child: Node<'_>| {
        child.kind() == "variable_declarator" && child.child_by_field_name("value").is_some_and(is_place)
            || child.kind() == "import_spec_list"
    };
    is_place(node) || inside.peek().is_some() && inside.all(|child| is_place(child) || is_declared(child))
}

/// Returns the names to which a statement gives values, those of members and their objects included.
fn assigned(node: Node<'_>, text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let node = if node.kind() == "expression_statement" { node.named_child(0).unwrap_or(node) } else { inner(node) };
    let mut cursor = node.walk();
    let is_declarator = |child: &Node<'_>| child.kind().ends_with("declarator") || child.kind().ends_with("_spec");
    let declarators = node.named_children(&mut cursor).filter(is_declarator);
    for part in std::iter::once(node).chain(declarators) {
        let is_bound = part.kind().contains("assignment") || is_declarator(&part) || VALUES.contains(&part.kind());
        let sides = ["left", "name", "pattern"].iter().filter_map(|field| part.child_by_field_name(field));
        for side in sides.filter(|_| is_bound) {
            let written = text.get(side.byte_range()).unwrap_or_default();
            found.extend(words(written).map(str::to_owned));
        }
    }
    found
}

/// Returns the words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').filter(|word| !word.is_empty())
}

/// Returns what a class inherits from.
fn bases(node: Node<'_>, text: &str) -> Option<String> {
    let node = inner(node);
    let named = ["superclasses", "superclass", "interfaces"].iter().find_map(|field| node.child_by_field_name(field));
    let mut cursor = node.walk();
    let found = named.or_else(|| node.named_children(&mut cursor).find(|child| child.kind() == "class_heritage"))?;
    Some(spaced(text.get(found.byte_range())?))
}

/// Collects what decorates the statement that holds a byte.
fn decorators(node: Node<'_>, (at, depth): (usize, usize), text: &str, found: &mut Vec<OuterStatement>) {
    let mut cursor = node.walk();
    for child in node.children(&mut cursor).filter(|child| child.kind() == "decorator") {
        let written = text.get(child.byte_range()).unwrap_or_default();
        let (text, kind) = (spaced(written), OuterStatementKind::Decorator);
        found.push(OuterStatement { text, kind, range: child.byte_range(), depth });
    }
    // A decorated class or an exported one is inside of another node.
    let mut cursor = node.walk();
    let next = node.named_children(&mut cursor).find(|child| child.byte_range().contains(&at));
    if let Some(next) = next.filter(|next| !BLOCKS.contains(&next.kind())) {
        decorators(next, (at, depth), text, found);
    }
}
