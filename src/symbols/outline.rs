//! The functions of one file.

mod captures;

use std::borrow::Cow;
use std::collections::BTreeSet;

use tree_sitter::{Node, Tree};

use self::captures::{Captured, Definition};
use super::closures::is_callback;
use super::function::Function;
use super::function_inputs::Inputs;
use super::hollow_bodies::{gives_up, is_constant, is_hollow, says_something};
use super::hollow_table::HollowTable;
use super::language::{LanguageTable, SourceLanguage};
use super::parsing::{errors, parse_repaired};
use super::tokens;

/// The size, in bytes, from which a file is not read.
pub const MAX_FILE: usize = 8 << 20;
/// The reason why a file with bytes that are no text is not read.
pub(super) const BINARY: &str = "it is binary";

/// The functions and aliases of one file.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// Its functions, in order.
    pub functions: Vec<Function>,
    /// Its types, namespaces and modules, by full name.
    pub scopes: BTreeSet<String>,
    /// Other names for functions: the name, and the function that it means.
    pub aliases: Vec<FunctionAlias>,
    /// The places that the parser could not make sense of, as text; empty where it could.
    pub errors: Vec<String>,
    /// The line of the first of them, from 1.
    pub error_line: Option<usize>,
    /// The whole text if the parser does not understand it: it may define functions that were not read.
    pub broken: String,
    /// The languages between which its functions may move.
    pub(super) family: String,
    /// The reason why nothing was read from it.
    pub unread: Option<&'static str>,
}

/// Another name for a function.
#[derive(Clone, Debug)]
pub struct FunctionAlias {
    /// The containers around it, and its name, joined by dots.
    pub name: String,
    /// The last part of the name that it means.
    pub target: String,
}

/// Reads the functions of a file. A file of a language that is not read has none.
pub fn outline(path: &str, bytes: &[u8]) -> Outline {
    with_tree(path, bytes, |_, _, _, outline| outline)
        .unwrap_or_else(|why| Outline { unread: why, ..Outline::default() })
}

/// Reads a file, and passes on its language, its text, its tree and its functions. The error says why it cannot be
/// read; `None`: it is not in a supported language.
pub(super) fn with_tree<T>(
    path: &str,
    bytes: &[u8],
    then: impl FnOnce(&SourceLanguage, &str, &Tree, Outline) -> T,
) -> Result<T, Option<&'static str>> {
    let table = LanguageTable::embedded().filter(|table| table.knows(path, bytes)).ok_or(None)?;
    if bytes.len() > MAX_FILE {
        return Err(Some("it is larger than 8 MiB"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let wide = wide_text(bytes);
    if wide.is_none() && bytes.contains(&0) {
        return Err(Some(BINARY));
    }
    // The grammars take any line ending; texts are compared by their tokens.
    let text = wide.map_or_else(|| String::from_utf8_lossy(bytes), Cow::Owned);
    let language = table.of(path, &text).ok_or(None)?;
    let (text, tree) = parse_repaired(language, language.readable(text)).ok_or(Some("the parser gave up on it"))?;
    let reader = OutlineReader { table, language, path, text: &text, generated: table.is_generated(path, &text) };
    let outline = reader.read(&tree);
    Ok(then(language, &text, &tree, outline))
}

/// Returns the text of a file in UTF-16 with its mark, as some editors for Windows write it.
fn wide_text(bytes: &[u8]) -> Option<String> {
    let pairs = |bytes: &[u8], read: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|pair| read([pair[0], pair[1]]));
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => Some(pairs(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Some(pairs(rest, u16::from_be_bytes)),
        _ => None,
    }
}

struct OutlineReader<'a> {
    table: &'a LanguageTable,
    language: &'a SourceLanguage,
    path: &'a str,
    text: &'a str,
    generated: bool,
}

/// The surroundings of a node.
#[derive(Clone, Default)]
struct Around {
    containers: Vec<String>,
    /// In a function.
    inside: bool,
    exported: bool,
    conditions: Vec<String>,
}

impl<'a> OutlineReader<'a> {
    fn written(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn read(&self, tree: &Tree) -> Outline {
        let mut found = Outline { family: self.language.entry.family.clone(), ..Outline::default() };
        (found.errors, found.error_line) = errors(tree, self.text);
        if found.error_line.is_some() {
            self.text.clone_into(&mut found.broken);
        }
        let Some(captured) = self.captured(tree) else { return found };
        self.walk(tree, &captured, &mut found);
        found
    }

    /// Visits the tree once, with a stack of the surrounding nodes.
    fn walk(&self, tree: &Tree, captured: &Captured<'_>, found: &mut Outline) {
        let mut stack: Vec<(Around, bool)> = vec![(Around::default(), false)];
        let mut cursor = tree.walk();
        loop {
            let node = cursor.node();
            let (mut around, mut ignored) = stack.last().cloned().unwrap_or_default();
            if captured.kept.contains(&node.id()) {
                ignored = false;
            }
            let anonymous = !around.inside && captured.anonymous.contains(&node.id());
            if anonymous || captured.ignored.contains(&node.id()) {
                ignored = true;
            }
            if node.kind() == "export_statement" {
                around.exported = true;
            }
            if let Some(field) = self.language.entry.conditions.around.get(node.kind())
                && let Some(condition) = node.child_by_field_name(field)
            {
                around.conditions.push(self.written(condition).to_owned());
            }
            if node.kind() == "preproc_else"
                && let Some(last) = around.conditions.last_mut()
            {
                last.insert(0, '!');
            }
            if !ignored {
                self.enter(node, captured, &mut around, found);
            }
            if node.kind() == "class_body" {
                around.inside = false;
            } else if is_callback(node) {
                around.inside = true;
            }
            if cursor.goto_first_child() {
                stack.push((around, ignored));
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                stack.pop();
            }
        }
    }

    fn enter(&self, node: Node<'_>, captured: &Captured<'_>, around: &mut Around, found: &mut Outline) {
        for (name, target) in captured.aliases.get(&node.id()).into_iter().flatten() {
            let name = around.containers.iter().map(String::as_str).chain([name.as_str()]).collect::<Vec<_>>();
            found.aliases.push(FunctionAlias { name: name.join("."), target: target.clone() });
        }
        if let Some(names) = captured.scopes.get(&node.id()) {
            let repeated = names.len() == 1 && around.containers.last() == names.last() && node.kind() == "pair";
            if !repeated {
                around.containers.extend(names.iter().cloned());
            }
            found.scopes.insert(around.containers.join("."));
        }
        let Some(definitions) = captured.functions.get(&node.id()) else { return };
        let outer = around.clone();
        for (at, definition) in definitions.iter().enumerate() {
            if definition.closure && outer.inside {
                continue;
            }
            let declaration = captured.declarations.contains(&node.id());
            let suffix = captured.suffixes.get(&node.id());
            let mut function = self.function(node, definition, &outer, suffix, declaration);
            function.callback = captured.callbacks.contains(&node.id());
            if at == 0 && !definition.header {
                around.inside = true;
                around.containers.clone_from(&function.container);
                around.containers.push(function.name.clone());
            }
            found.functions.push(function);
        }
    }

    fn function(
        &self,
        node: Node<'_>,
        definition: &Definition<'_>,
        around: &Around,
        suffix: Option<&String>,
        declaration: bool,
    ) -> Function {
        let mut container = around.containers.clone();
        if !(container.len() >= definition.container.len() && container.ends_with(&definition.container)) {
            container.extend(definition.container.iter().cloned());
        }
        let mut conditions = around.conditions.clone();
        conditions.extend(self.conditions_before(node));
        let body = definition.body;
        let end = body.or(definition.parameters.filter(|_| definition.header)).unwrap_or(node);
        let head_end =
            if definition.header { end.end_byte() } else { body.map_or(node.end_byte(), |body| body.start_byte()) };
        let first = definition.start.unwrap_or(node);
        let head = self.text.get(first.start_byte()..head_end).unwrap_or_default();
        let parameters = definition.parameters.map(|node| self.written(node)).unwrap_or_default();
        let parameters = parameters.split_whitespace().collect::<Vec<_>>().join(" ");
        let ignored = &self.language.entry;
        let receiver = node.child_by_field_name("receiver").and_then(|node| first_parameter(self.written(node)));
        let instance: Vec<String> = ignored.instance.iter().cloned().chain(receiver).collect();
        let mut code = tokens::Code::new(self.text, &ignored.comments, &instance, &definition.name);
        let parameter_tokens = definition.parameters.map(|node| code.read(node)).unwrap_or_default();
        let body_tokens = body.map(|body| code.read(body)).unwrap_or_default();
        let with_first: Vec<String> = ignored.instance.iter().cloned().chain(first_parameter(&parameters)).collect();
        let mut code_of_first = tokens::Code::new(self.text, &ignored.comments, &with_first, &definition.name);
        let body_of_first = body.map(|body| code_of_first.read(body)).unwrap_or_default();
        // A constructor that the compiler writes copies; such a destructor frees nothing.
        let frees_nothing =
            definition.name.starts_with('~') && body.is_some_and(|body| body.kind() == "default_method_clause");
        // What does not parse may do anything; in Python, the error may be behind the function.
        let is_broken = node.has_error() || node.next_sibling().is_some_and(|next| next.is_error());
        let family = &self.language.entry.family;
        let receiver = node.child_by_field_name("receiver").map(|node| self.written(node)).unwrap_or_default();
        let inputs = Inputs::new(&parameters, receiver, &ignored.instance, head, family);
        let does_nothing = |body| is_hollow(&self.table.hollow, body, self.text, &inputs);
        let idle = !definition.header && !is_broken && body.is_none_or(does_nothing);
        let is_elsewhere = self.is_elsewhere(node, definition);
        let hollow = frees_nothing || (idle && !is_elsewhere);
        let makes_constant = |body| is_constant(&self.table.hollow, body, self.text, &inputs);
        let constant = !is_broken && !definition.header && !is_elsewhere && body.is_some_and(makes_constant);
        let is_default = |body| {
            let value = self.written(body).trim_end_matches(['}', ';', ' ', '\t', '\r', '\n']);
            (value.ends_with("()") || value.ends_with('{')) && !value.contains("Self")
        };
        let default_value = constant && body.is_some_and(is_default);
        let uses_inputs = body.is_some_and(|body| inputs.are_used(self.written(body)));
        let lone_dots = body.is_some_and(|body| self.written(body).trim() == "...");
        Function {
            path: self.path.to_owned(),
            line: first.start_position().row + 1,
            family: family.clone(),
            private: around.inside || self.is_private(node, head, &definition.name, around),
            declaration: (declaration && hollow) || lone_dots || definition.header,
            generated: self.generated,
            container,
            name: definition.name.clone(),
            suffix: definition.suffix.clone().or_else(|| suffix.cloned()),
            mark: definition.mark.clone(),
            condition: conditions.join(" && "),
            parameter_tokens,
            hollow,
            idle,
            constant,
            default_value,
            gives_up: body.is_some_and(|body| gives_up(&self.table.hollow, body, self.text, &inputs)),
            only_says: constant
                && body.is_some_and(|body| says_something(&self.table.hollow, body, self.text, &inputs)),
            uses_inputs,
            callback: false,
            parameters,
            head: head.to_owned(),
            range: first.start_byte()..end.end_byte(),
            body: body_tokens,
            body_of_first,
        }
    }

    /// Returns `true` if the initialisers of a constructor, or its parameters, do its work before its body.
    fn is_elsewhere(&self, node: Node<'_>, definition: &Definition<'_>) -> bool {
        let HollowTable { elsewhere, before_body, .. } = &self.table.hollow;
        let mut cursor = node.walk();
        let own = node.children(&mut cursor).any(|child| before_body.contains(child.kind()));
        let Some(parameters) = definition.parameters else { return own };
        let mut cursor = parameters.walk();
        own || definition.body.is_some_and(|body| body.kind() == "default_method_clause")
            || parameters.named_children(&mut cursor).any(|parameter| {
                let mut inner = parameter.walk();
                elsewhere.contains(parameter.kind())
                    || parameter.children(&mut inner).any(|child| elsewhere.contains(child.kind()))
            })
    }

    fn conditions_before(&self, node: Node<'_>) -> Vec<String> {
        let kinds = &self.language.entry.conditions.before;
        let mut found = Vec::new();
        let mut before = node.prev_sibling();
        while let Some(sibling) =
            before.filter(|sibling| kinds.iter().any(|kind| kind == sibling.kind()) || sibling.is_extra())
        {
            let written = self.written(sibling).trim_start_matches("#[").trim_end_matches(']');
            if written.starts_with("cfg(") {
                found.push(written.to_owned());
            }
            before = sibling.prev_sibling();
        }
        found
    }

    fn is_private(&self, node: Node<'_>, head: &str, name: &str, around: &Around) -> bool {
        let signs = &self.language.entry.private;
        let has = |word: &String| head.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == word);
        let in_type = around.containers.len() > usize::from(around.inside);
        signs.without.as_ref().is_some_and(|word| !has(word))
            || signs.with.as_ref().is_some_and(has)
            || signs.prefix.as_ref().is_some_and(|prefix| name.starts_with(prefix.as_str()) && !name.starts_with("__"))
            || (signs.lower_case && name.starts_with(char::is_lowercase))
            || (signs.not_exported && !around.exported && !in_type)
            || self.language.private_line().is_some_and(|line| {
                let before = self.text.get(..node.start_byte()).unwrap_or_default();
                before.lines().any(|text| line.is_match(text)) || before.ends_with("private ")
            })
    }
}

/// Returns the name of the first parameter: `a: A`, `A a`, `a A`.
fn first_parameter(parameters: &str) -> Option<String> {
    let first = parameters.trim_start_matches('(').split([',', ')']).next()?;
    let (written, named) = first.split_once(':').map_or((first, false), |(name, _)| (name, true));
    let mut words =
        written.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').filter(|word| !word.is_empty());
    let name = if named || parameters.contains('*') { words.next() } else { words.next_back() };
    name.map(str::to_owned)
}
