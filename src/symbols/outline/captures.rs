//! The parts of functions that the query of a language captures.

use std::collections::{BTreeSet, HashMap};

use tree_sitter::{Node, Query, QueryCursor, QueryMatch, StreamingIterator, Tree};

use super::OutlineReader;
use crate::symbols::closures::closure_in;
use crate::symbols::qualified_names::{self, clean, segments};

/// The parts of a function in one match of the query.
#[derive(Default)]
pub(super) struct Definition<'t> {
    pub(super) name: String,
    pub(super) container: Vec<String>,
    pub(super) body: Option<Node<'t>>,
    pub(super) parameters: Option<Node<'t>>,
    pub(super) suffix: Option<String>,
    pub(super) mark: String,
    pub(super) closure: bool,
    /// It is the parameters of its type, as a constructor.
    pub(super) header: bool,
    /// The place where it begins, if that is not where its node begins.
    pub(super) start: Option<Node<'t>>,
}

/// The matches of the query, by node.
#[derive(Default)]
pub(super) struct Captured<'t> {
    pub(super) functions: HashMap<usize, Vec<Definition<'t>>>,
    pub(super) scopes: HashMap<usize, Vec<String>>,
    pub(super) suffixes: HashMap<usize, String>,
    pub(super) declarations: BTreeSet<usize>,
    pub(super) ignored: BTreeSet<usize>,
    pub(super) kept: BTreeSet<usize>,
    pub(super) anonymous: BTreeSet<usize>,
    pub(super) callbacks: BTreeSet<usize>,
    pub(super) aliases: HashMap<usize, Vec<(String, String)>>,
}

/// One match of the query.
struct Hit<'q, 'm, 't> {
    query: &'q Query,
    found: &'m QueryMatch<'m, 't>,
}

impl<'q, 't> Hit<'q, '_, 't> {
    fn node(&self, name: &str) -> Option<Node<'t>> {
        let names = self.query.capture_names();
        self.found.captures().iter().find(|part| names[part.index as usize] == name).map(|part| part.node)
    }

    fn setting(&self, name: &str) -> Option<&'q str> {
        let settings = self.query.property_settings(self.found.pattern_index).iter();
        settings.filter(|setting| &*setting.key == name).find_map(|setting| setting.value.as_deref())
    }
}

impl OutlineReader<'_> {
    /// Runs the query.
    pub(super) fn captured<'t>(&self, tree: &'t Tree) -> Option<Captured<'t>> {
        let query = self.language.query()?;
        let mut captured = Captured::default();
        let mut cursor = QueryCursor::new();
        let mut matches = cursor.matches(query, tree.root_node(), self.text.as_bytes());
        while let Some(found) = matches.next() {
            let hit = Hit { query, found };
            let id = |name: &str| hit.node(name).map(|node| node.id());
            if let Some(function) = id("function")
                && let Some(definition) = self.definition(&hit)
            {
                captured.add(function, definition);
            }
            if let Some(scope) = id("scope") {
                let written = hit.node("scope.name").map(|name| self.segments(name));
                let fixed = hit.setting("name").map(|name| vec![name.to_owned()]);
                captured.scopes.insert(scope, fixed.or(written).unwrap_or_default());
            }
            if let Some(suffixed) = id("suffixed")
                && let Some(suffix) = hit.setting("suffix")
            {
                captured.suffixes.insert(suffixed, suffix.to_owned());
            }
            captured.declarations.extend(id("declaration"));
            captured.ignored.extend(id("ignore"));
            captured.anonymous.extend(id("anonymous"));
            captured.callbacks.extend(id("callback"));
            captured.kept.extend(id("keep"));
            if let (Some(alias), Some(name), Some(target)) = (id("alias"), hit.node("name"), hit.node("target")) {
                let target = clean(self.written(target));
                let target = target.rsplit(['.', ':', '\\']).next().unwrap_or(target).to_owned();
                let name = clean(self.written(name)).to_owned();
                if name != target {
                    captured.aliases.entry(alias).or_default().push((name, target));
                }
            }
        }
        Some(captured)
    }

    fn segments(&self, name: Node<'_>) -> Vec<String> {
        segments(self.written(name), self.language.entry.paths)
    }

    /// Returns the function that a match defines.
    fn definition<'t>(&self, hit: &Hit<'_, '_, 't>) -> Option<Definition<'t>> {
        // A method for each name of a list: the parameter of the loop must be what is defined.
        if let (Some(parameter), Some(argument)) = (hit.node("parameter"), hit.node("argument"))
            && self.written(parameter) != self.written(argument)
        {
            return None;
        }
        let suffix = hit.setting("suffix").or_else(|| Some(self.written(hit.node("suffix")?)));
        let definition = Definition {
            suffix: suffix.map(str::to_owned),
            closure: hit.setting("closure").is_some(),
            header: hit.setting("header").is_some(),
            ..Definition::default()
        };
        let name = hit.node("name");
        if let Some(declarator) = hit.node("declarator") {
            let declared = qualified_names::declared(declarator, self.text)?;
            let (body, parameters) = (hit.node("body"), Some(declared.parameters));
            let (name, container, mark) = (declared.name, declared.container, declared.mark);
            return Some(Definition { name, container, body, parameters, mark, ..definition });
        }
        let written = name.map(|name| clean(self.written(name)).to_owned());
        if hit.node("function").is_some_and(|function| function.kind() == "fn") {
            let (parameters, body) = listed_function(name?, self.text)?;
            return Some(Definition { name: written?, body: Some(body), parameters: Some(parameters), ..definition });
        }
        let own = hit.setting("name").map(str::to_owned).or(written)?;
        let (prefix, ending) = (hit.setting("prefix"), hit.setting("ending"));
        let value = hit.node("value");
        let closure = value.and_then(closure_in);
        if value.is_some() && closure.is_none() {
            return None;
        }
        let part = |name| closure.map_or_else(|| hit.node(name), |found| found.child_by_field_name(name));
        Some(Definition {
            name: format!("{}{own}{}", prefix.unwrap_or_default(), ending.unwrap_or_default()),
            container: hit.node("container").map(|container| self.segments(container)).unwrap_or_default(),
            body: part("body"),
            parameters: part("parameters"),
            start: name.filter(|_| hit.setting("from") == Some("name")),
            ..definition
        })
    }
}

impl<'t> Captured<'t> {
    /// Adds a definition to those of its node. One with a body, or with a container, completes one of the same name.
    fn add(&mut self, node: usize, definition: Definition<'t>) {
        let known = self.functions.entry(node).or_default();
        match known.iter_mut().find(|other| other.name == definition.name) {
            Some(other) if other.body.is_none() => *other = definition,
            Some(other) if other.container.is_empty() => other.container = definition.container,
            Some(_) => {}
            None => known.push(definition),
        }
    }
}

/// Returns the parameters and the body of a function in a list of tokens, or `None` if it has no body.
fn listed_function<'t>(name: Node<'t>, text: &str) -> Option<(Node<'t>, Node<'t>)> {
    let (mut depth, mut parameters, mut next) = (0_usize, None, name.next_sibling());
    while let Some(token) = next {
        let written = text.get(token.byte_range()).unwrap_or_default();
        let opens = |bracket| token.kind() == "token_tree" && written.starts_with(bracket);
        match (parameters, written) {
            (_, "<") => depth += 1,
            (_, ">" | ">>") => depth = depth.saturating_sub(written.len()),
            (_, ";" | "fn") if depth == 0 => return None,
            (None, _) if depth == 0 && opens('(') => parameters = Some(token),
            (Some(parameters), _) if depth == 0 && opens('{') => return Some((parameters, token)),
            _ => {}
        }
        next = token.next_sibling();
    }
    None
}
