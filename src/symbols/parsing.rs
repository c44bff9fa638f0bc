//! Parses the text of a file, repaired where its grammar cannot read it.

use std::borrow::Cow;
use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, Parser, Tree};

use super::language::SourceLanguage;

/// The number of times a parser may ask to continue, for each byte of the file: a text that takes longer is not source.
const MAX_STEPS_PER_BYTE: usize = 64;

/// Parses a text in a language.
fn parse(language: &SourceLanguage, text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()?).ok()?;
    let mut left = text.len().saturating_mul(MAX_STEPS_PER_BYTE) + (1 << 20);
    let mut stop = |_: &tree_sitter::ParseState| {
        left = left.saturating_sub(1);
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let bytes = text.as_bytes();
    let mut read = |at: usize, _| bytes.get(at..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(ParseOptions::new().progress_callback(&mut stop)))
}

/// Parses a text. If it has errors, keeps each repair of the language that leaves fewer of them, or all of them together: of two
/// things that a grammar does not know, one can hide that the other was repaired.
pub(super) fn parse_repaired<'t>(language: &SourceLanguage, text: Cow<'t, str>) -> Option<(Cow<'t, str>, Tree)> {
    let mut best = (parse(language, &text)?, text);
    let mut left = count_errors(&best.0);
    for repair in language.when_broken() {
        if left == 0 {
            break;
        }
        let Some(repaired) = repair.apply(&best.1) else { continue };
        let Some(tree) = parse(language, &repaired) else { continue };
        let now = count_errors(&tree);
        if now < left {
            left = now;
            best = (tree, Cow::Owned(repaired));
        }
    }
    let together = |text: &str| {
        let repaired =
            language.when_broken().iter().fold(text.to_owned(), |text, repair| repair.apply(&text).unwrap_or(text));
        Some((parse(language, &repaired)?, repaired))
    };
    if left > 0
        && let Some((tree, repaired)) = together(&best.1)
        && count_errors(&tree) < left
    {
        best = (tree, Cow::Owned(repaired));
    }
    Some((best.1, best.0))
}

/// Returns the places that could not be parsed, as text, and the line of the first.
pub(super) fn errors(tree: &Tree, text: &str) -> (Vec<String>, Option<usize>) {
    let (mut found, mut line) = (Vec::new(), None);
    each_error(tree, |node| {
        let written: Vec<&str> = text.get(node.byte_range()).unwrap_or_default().split_whitespace().collect();
        found.push(format!("{}{}", if node.is_missing() { node.kind() } else { "" }, written.join(" ")));
        line.get_or_insert(node.start_position().row + 1);
    });
    (found, line)
}

/// Returns `true` if an error of C is only that a function has no type: `TEST(a, b) {`, `main() {`. It is read all the same.
fn is_before_body(node: Node<'_>) -> bool {
    let statement = if node.is_missing() { node.parent() } else { Some(node) };
    let Some(statement) = statement.filter(|statement| match statement.kind() {
        "expression_statement" => node.kind() == ";",
        "ERROR" => statement.child_count() == 1,
        _ => false,
    }) else {
        return false;
    };
    let calls = statement.named_child(0).is_some_and(|call| call.kind() == "call_expression");
    let mut next = statement.next_named_sibling();
    while let Some(declaration) = next.filter(|next| next.kind() == "declaration") {
        next = declaration.next_named_sibling();
    }
    calls && next.is_some_and(|body| body.kind() == "compound_statement")
}

/// Visits the places that could not be parsed.
fn each_error(tree: &Tree, mut visit: impl FnMut(Node<'_>)) {
    let mut cursor = tree.walk();
    let may_lack_types = tree.root_node().kind() == "translation_unit";
    let may_lack_bodies = tree.root_node().kind() == "module";
    loop {
        let node = cursor.node();
        // A line break that a grammar did not find is not an error of the source.
        let is_missing = node.is_missing() && !node.kind().starts_with('_');
        // The grammar of Python takes a body that is not indented for the end of the function.
        let lacks_body = may_lack_bodies && node.kind() == "block" && node.child_count() == 0;
        // The part that is missing is hidden in a node without parts.
        let hides_error = node.has_error() && node.child_count() == 0;
        let wrong = node.is_error() || is_missing || hides_error || lacks_body;
        if wrong && !(may_lack_types && is_before_body(node)) {
            visit(node);
        }
        if (node.has_error() || may_lack_bodies) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

fn count_errors(tree: &Tree) -> usize {
    let mut count = 0;
    each_error(tree, |_| count += 1);
    count
}
