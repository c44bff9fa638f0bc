//! Bodies without work of their own: empty, a constant, or a lone failure.

use std::collections::HashSet;

use regex::RegexSet;
use serde::Deserialize;
use std::sync::OnceLock;
use tree_sitter::Node;

/// The depth from which a body counts as real.
const MAX_DEPTH: usize = 24;

/// `[hollow]` in `gates/symbols/languages.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HollowTable {
    through: HashSet<String>,
    collections: HashSet<String>,
    constants: HashSet<String>,
    interpolations: HashSet<String>,
    raises: HashSet<String>,
    words: HashSet<String>,
    discards: Vec<String>,
    calls: HashSet<String>,
    gives_up: Vec<String>,
    empty: Vec<String>,
    wraps: Vec<String>,
    pub(super) elsewhere: HashSet<String>,
}

/// The patterns of hollow bodies.
pub(super) struct Hollow {
    pub(super) table: HollowTable,
    discards: OnceLock<Option<RegexSet>>,
    calls: OnceLock<Option<RegexSet>>,
    wraps: OnceLock<Option<RegexSet>>,
}

fn is_match(set: &OnceLock<Option<RegexSet>>, patterns: &[&[String]], text: &str) -> bool {
    let compile = || RegexSet::new(patterns.iter().copied().flatten()).ok();
    set.get_or_init(compile).as_ref().is_some_and(|set| set.is_match(text))
}

/// Returns `true` if the text has a variable in it: in the grammar of Kotlin, `"$x"` has no node for it.
fn interpolates_in_text(kind: &str, written: &str) -> bool {
    let starts = |after: &str| after.starts_with(|c: char| c.is_alphabetic() || c == '{');
    kind == "string_literal" && written.split('$').skip(1).any(starts)
}

impl Hollow {
    pub(super) fn new(table: HollowTable) -> Self {
        Self { table, discards: OnceLock::new(), calls: OnceLock::new(), wraps: OnceLock::new() }
    }

    /// Checks that the patterns of the table compile.
    #[cfg(test)]
    pub(super) fn check(&self) -> Result<(), regex::Error> {
        let table = &self.table;
        for patterns in [&table.discards, &table.gives_up, &table.empty, &table.wraps] {
            RegexSet::new(patterns)?;
        }
        Ok(())
    }

    /// Returns `true` if `node` has no work of its own.
    pub(super) fn is_hollow(&self, node: Node<'_>, text: &str) -> bool {
        self.hollow(node, text, 0)
    }

    fn hollow(&self, node: Node<'_>, text: &str, depth: usize) -> bool {
        let (kind, table) = (node.kind(), &self.table);
        let written = text.get(node.byte_range()).unwrap_or_default();
        if depth > MAX_DEPTH {
            return false;
        }
        if node.is_extra() || table.raises.contains(kind) || table.words.contains(written.trim()) {
            return true;
        }
        if !table.discards.is_empty() && is_match(&self.discards, &[&table.discards], written.trim()) {
            return true;
        }
        // The work of a class without a name is in its methods, which count by themselves.
        if node.named_child(0).is_some_and(|class| class.kind() == "anonymous_class") {
            return false;
        }
        if table.calls.contains(kind) && self.is_hollow_call(node, written, text, depth) {
            return true;
        }
        if table.collections.contains(kind) && self.has_content(node) {
            return false;
        }
        if table.constants.contains(kind) {
            return !self.interpolates(node, depth) && !interpolates_in_text(kind, written);
        }
        // An expression statement of a grammar without a node of its own for it.
        if table.collections.contains(kind) || table.through.contains(kind) {
            let mut cursor = node.walk();
            let inner: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
            let is_type =
                |child: &Node<'_>| child.kind().contains("type") && child.kind() != "type_conversion_expression";
            return inner.into_iter().all(|child| is_type(&child) || self.hollow(child, text, depth + 1));
        }
        false
    }

    /// Returns `true` if a node has elements, or types and names of fields: `Foo {}` has none.
    fn has_content(&self, node: Node<'_>) -> bool {
        let mut cursor = node.walk();
        node.named_children(&mut cursor).any(|child| {
            let counts = !child.is_extra() && !child.kind().contains("type");
            counts && (!self.table.collections.contains(child.kind()) || self.has_content(child))
        })
    }

    fn interpolates(&self, node: Node<'_>, depth: usize) -> bool {
        let mut cursor = node.walk();
        depth < MAX_DEPTH
            && node
                .named_children(&mut cursor)
                .any(|child| self.table.interpolations.contains(child.kind()) || self.interpolates(child, depth + 1))
    }

    fn is_hollow_call(&self, node: Node<'_>, written: &str, text: &str, depth: usize) -> bool {
        let table = &self.table;
        let squeezed: String = written.chars().filter(|c| !c.is_whitespace()).collect();
        let squeezed = squeezed.trim_end_matches([';', '!']);
        if is_match(&self.calls, &[&table.gives_up, &table.empty], squeezed) {
            return true;
        }
        let Some(open) = squeezed.find('(') else { return false };
        if !is_match(&self.wraps, &[&table.wraps], &squeezed[..open]) {
            return false;
        }
        let arguments = ["arguments", "value_arguments", "argument_list"];
        let mut cursor = node.walk();
        let found = node
            .child_by_field_name("arguments")
            .or_else(|| node.named_children(&mut cursor).find(|child| arguments.contains(&child.kind())));
        found.is_some_and(|arguments| self.hollow(arguments, text, depth + 1))
    }
}
