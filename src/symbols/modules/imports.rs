//! The imports of a file, by language.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::{ImportedName, SourceModule};

struct Imports<'a> {
    text: &'a str,
    module: &'a mut SourceModule,
    /// The places of imports: words in them are not uses.
    places: Vec<Range<usize>>,
}

/// Reads the imports, and returns their places.
pub(super) fn read(tree: &Tree, text: &str, module: &mut SourceModule) -> Vec<Range<usize>> {
    let language = module.language.clone();
    let mut imports = Imports { text, module, places: Vec::new() };
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let taken = match language.as_str() {
            "rust" => imports.rust(node),
            "python" => imports.python(node),
            "go" => imports.go(node),
            "java" => imports.java(node),
            "javascript" | "typescript" | "tsx" => imports.javascript(node),
            _ => false,
        };
        if taken {
            imports.places.push(node.byte_range());
        } else if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return imports.places;
            }
        }
    }
}

fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

impl<'a> Imports<'a> {
    fn written(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// Returns the text of the child that is in this field.
    fn field(&self, node: Node<'_>, name: &str) -> Option<&'a str> {
        Some(self.written(node.child_by_field_name(name)?))
    }

    /// Returns the same without quotes.
    fn unquoted_field(&self, node: Node<'_>, name: &str) -> Option<&'a str> {
        Some(self.unquoted(node.child_by_field_name(name)?))
    }

    fn unquoted(&self, node: Node<'_>) -> &'a str {
        self.written(node).trim_matches(['"', '\'', '`'])
    }

    fn push(&mut self, node: Node<'_>, module: &str, name: Option<&str>, local: Option<&str>, handed_on: bool) {
        self.module.imports.push(ImportedName {
            module: module.to_owned(),
            name: name.map(str::to_owned),
            local: local.map(str::to_owned),
            glob: false,
            handed_on,
            for_crate: false,
            line: node.start_position().row + 1,
        });
    }

    fn glob(&mut self, node: Node<'_>, module: &str, handed_on: bool) {
        self.push(node, module, None, None, handed_on);
        if let Some(last) = self.module.imports.last_mut() {
            last.glob = true;
        }
    }

    fn rust(&mut self, node: Node<'_>) -> bool {
        if node.kind() == "extern_crate_declaration" {
            return true;
        }
        let Some(argument) = node.child_by_field_name("argument").filter(|_| node.kind() == "use_declaration") else {
            return false;
        };
        let written = self.written(node);
        let known = self.module.imports.len();
        self.rust_tree(argument, "", written.starts_with("pub"));
        let for_crate = written.starts_with("pub(") || written.starts_with("pub (");
        self.module.imports[known..].iter_mut().for_each(|import| import.for_crate = for_crate);
        true
    }

    fn rust_tree(&mut self, node: Node<'_>, prefix: &str, handed_on: bool) {
        let joined = |path: &str| if prefix.is_empty() { path.to_owned() } else { format!("{prefix}::{path}") };
        match node.kind() {
            "scoped_use_list" => {
                let path = self.field(node, "path").unwrap_or_default();
                let prefix = if path.is_empty() { prefix.to_owned() } else { joined(path) };
                for inner in node.child_by_field_name("list").map(children).unwrap_or_default() {
                    self.rust_tree(inner, &prefix, handed_on);
                }
            }
            "use_list" => {
                for inner in children(node) {
                    self.rust_tree(inner, prefix, handed_on);
                }
            }
            "use_wildcard" => {
                let path = children(node).first().map_or("", |path| self.written(*path));
                self.glob(node, &joined(path), handed_on);
            }
            "use_as_clause" => {
                let path = self.field(node, "path").unwrap_or_default();
                let alias = self.field(node, "alias");
                self.rust_path(node, &joined(path), alias, handed_on);
            }
            "line_comment" | "block_comment" => {}
            _ => {
                let path = joined(self.written(node));
                self.rust_path(node, &path, None, handed_on);
            }
        }
    }

    fn rust_path(&mut self, node: Node<'_>, path: &str, alias: Option<&str>, handed_on: bool) {
        let path = path.strip_suffix("::self").unwrap_or(path);
        let (module, name) = path.rsplit_once("::").map_or(("", path), |(module, name)| (module, name));
        let local = alias.unwrap_or(name);
        self.push(node, module, Some(name), (local != "_").then_some(local), handed_on);
    }

    fn python(&mut self, node: Node<'_>) -> bool {
        match node.kind() {
            "import_statement" => {
                for name in children(node) {
                    let alias = self.field(name, "alias");
                    let path = self.field(name, "name").unwrap_or_else(|| self.written(name));
                    let local = alias.unwrap_or_else(|| path.split('.').next().unwrap_or(path));
                    self.push(name, path, None, Some(local), false);
                }
                true
            }
            "import_from_statement" => {
                let Some(module) = node.child_by_field_name("module_name") else { return true };
                let path = self.written(module).to_owned();
                for name in children(node).into_iter().filter(|name| name.id() != module.id()) {
                    match name.kind() {
                        "wildcard_import" => self.glob(name, &path, true),
                        "dotted_name" | "aliased_import" => {
                            let real = self.field(name, "name").unwrap_or_else(|| self.written(name));
                            let alias = self.field(name, "alias");
                            self.push(name, &path, Some(real), Some(alias.unwrap_or(real)), alias == Some(real));
                        }
                        _ => {}
                    }
                }
                true
            }
            "future_import_statement" => {
                // It gives no name that the code uses.
                for name in children(node) {
                    let real = self.written(name.child_by_field_name("name").unwrap_or(name));
                    self.push(name, "__future__", Some(real), None, false);
                }
                true
            }
            "assignment" => {
                let left = self.field(node, "left");
                if left == Some("__all__")
                    && let Some(list) = node.child_by_field_name("right")
                {
                    let names = children(list).into_iter().filter(|name| name.kind() == "string");
                    let names: Vec<String> = names.map(|name| self.unquoted(name).to_owned()).collect();
                    self.module.lists_all = ["list", "tuple"].contains(&list.kind());
                    self.module.listed.extend(names);
                    return true;
                }
                false
            }
            _ => false,
        }
    }

    fn go(&mut self, node: Node<'_>) -> bool {
        match node.kind() {
            "package_clause" => {
                let name = children(node).first().map(|name| self.written(*name)).unwrap_or_default();
                name.clone_into(&mut self.module.package);
                true
            }
            "import_spec" => {
                let path = self.unquoted_field(node, "path").unwrap_or_default();
                let alias = self.field(node, "name");
                match alias {
                    Some("_") => self.push(node, path, None, None, false),
                    Some(".") => self.glob(node, path, false),
                    Some(alias) => self.push(node, path, None, Some(alias), false),
                    None => self.push(node, path, None, Some(go_package(path)), false),
                }
                true
            }
            _ => false,
        }
    }

    fn java(&mut self, node: Node<'_>) -> bool {
        match node.kind() {
            "package_declaration" => {
                let name = children(node).last().map(|name| self.written(*name)).unwrap_or_default();
                name.clone_into(&mut self.module.package);
                true
            }
            "import_declaration" => {
                let parts = children(node);
                let Some(path) = parts.iter().find(|part| part.kind() != "asterisk") else { return true };
                let path = self.written(*path);
                if parts.iter().any(|part| part.kind() == "asterisk") {
                    self.glob(node, path, false);
                } else {
                    let (module, name) = path.rsplit_once('.').unwrap_or(("", path));
                    self.push(node, module, Some(name), Some(name), false);
                }
                true
            }
            _ => false,
        }
    }

    fn javascript(&mut self, node: Node<'_>) -> bool {
        match node.kind() {
            "import_statement" => {
                let source = self.unquoted_field(node, "source").unwrap_or_default();
                let Some(clause) = children(node).into_iter().find(|child| child.kind() != "string") else {
                    self.push(node, source, None, None, false);
                    return true;
                };
                if clause.kind() == "import_require_clause" {
                    let source = self.unquoted_field(clause, "source").unwrap_or_default();
                    let local = children(clause).first().map(|name| self.written(*name));
                    self.push(node, source, None, local, false);
                    return true;
                }
                for part in children(clause) {
                    match part.kind() {
                        "identifier" => self.push(part, source, Some("default"), Some(self.written(part)), false),
                        "namespace_import" => {
                            let local = children(part).first().map(|name| self.written(*name));
                            self.push(part, source, Some("*"), local, false);
                        }
                        _ => {
                            for name in children(part) {
                                let real = self.unquoted_field(name, "name");
                                let alias = self.field(name, "alias");
                                self.push(name, source, real, alias.or(real), false);
                            }
                        }
                    }
                }
                true
            }
            "export_statement" => self.export(node),
            "call_expression" => self.require(node),
            "assignment_expression" => {
                self.exports(node);
                false
            }
            _ => false,
        }
    }

    fn export(&mut self, node: Node<'_>) -> bool {
        if self.written(node).starts_with("export default") {
            self.module.listed.insert("default".to_owned());
        }
        let source = self.unquoted_field(node, "source");
        let clause = children(node).into_iter().find(|child| child.kind() == "export_clause");
        if let Some(clause) = clause.filter(|_| self.written(node).starts_with("export type")) {
            let names = children(clause).into_iter();
            let names =
                names.filter_map(|name| name.child_by_field_name("alias").or_else(|| name.child_by_field_name("name")));
            let names: Vec<String> = names.map(|name| self.unquoted(name).to_owned()).collect();
            self.module.types_alone.extend(names);
        }
        let whole = children(node).into_iter().find(|child| child.kind() == "namespace_export");
        match (source, clause) {
            (Some(source), None) if whole.is_some() => {
                let local = whole.and_then(|whole| children(whole).first().map(|name| self.unquoted(*name)));
                self.push(node, source, Some("*"), local, true);
            }
            (Some(source), None) => self.glob(node, source, true),
            (Some(source), Some(clause)) => {
                for name in children(clause) {
                    let real = self.unquoted_field(name, "name");
                    let alias = self.unquoted_field(name, "alias");
                    self.push(name, source, real, alias.or(real), true);
                }
            }
            (None, Some(clause)) => {
                for name in children(clause) {
                    let names = ["name", "alias"].into_iter().filter_map(|field| self.unquoted_field(name, field));
                    let names: Vec<String> = names.map(str::to_owned).collect();
                    self.module.listed.extend(names);
                }
                return false;
            }
            (None, None) => {
                if let Some(value) = node.child_by_field_name("value").filter(|value| value.kind() == "identifier") {
                    let name = self.written(value).to_owned();
                    self.module.listed.insert(name);
                }
                return false;
            }
        }
        true
    }

    fn require(&mut self, node: Node<'_>) -> bool {
        let callee = self.field(node, "function");
        let argument = node.child_by_field_name("arguments").and_then(|list| children(list).first().copied());
        let Some(argument) = argument.filter(|argument| argument.kind() == "string") else { return false };
        if !matches!(callee, Some("require" | "import")) {
            return false;
        }
        let source = self.unquoted(argument);
        if self.is_passed_on(node) {
            self.glob(node, source, true);
            return true;
        }
        let declarator = node.parent().filter(|parent| parent.kind() == "variable_declarator");
        match declarator.and_then(|declarator| declarator.child_by_field_name("name")) {
            Some(name) if name.kind() == "identifier" => {
                self.push(node, source, None, Some(self.written(name)), false);
            }
            Some(pattern) if pattern.kind() == "object_pattern" => {
                for name in children(pattern) {
                    let key = self.field(name, "key");
                    let value = self.field(name, "value");
                    let whole = self.written(name);
                    self.push(node, source, key.or(Some(whole)), value.or(Some(whole)), false);
                }
            }
            _ => self.push(node, source, None, None, false),
        }
        true
    }

    /// Returns `true` for a module all of whose names are exported: `module.exports = require("./a")`, `{ ...require("./a") }`
    /// in its place, `Object.assign(exports, require("./a"))`.
    fn is_passed_on(&self, node: Node<'_>) -> bool {
        let Some(parent) = node.parent() else { return false };
        let is_whole = |text: Option<&str>| matches!(text, Some("exports" | "module.exports"));
        match parent.kind() {
            "assignment_expression" => is_whole(self.field(parent, "left")),
            "spread_element" => {
                let assigned = parent.parent().and_then(|object| object.parent());
                assigned.is_some_and(|assigned| is_whole(self.field(assigned, "left")))
            }
            "arguments" => {
                let call = parent.parent().filter(|call| self.field(*call, "function") == Some("Object.assign"));
                call.is_some() && is_whole(children(parent).first().map(|first| self.written(*first)))
            }
            _ => false,
        }
    }

    fn exports(&mut self, node: Node<'_>) {
        let left = self.field(node, "left").unwrap_or_default();
        if left == "module.exports"
            && let Some(object) = node.child_by_field_name("right").filter(|right| right.kind() == "object")
        {
            let names: Vec<String> = children(object)
                .into_iter()
                .map(|part| self.field(part, "key").unwrap_or_else(|| self.written(part)).to_owned())
                .collect();
            self.module.listed.extend(names);
        } else if let Some(name) = left.strip_prefix("module.exports.").or_else(|| left.strip_prefix("exports.")) {
            self.module.listed.insert(name.to_owned());
        }
    }
}

/// Returns the name of a package by its path, without the version at the end and `go-` before it.
fn go_package(path: &str) -> &str {
    let mut parts = path.rsplit('/');
    let last = parts.next().unwrap_or(path);
    let version =
        last.strip_prefix('v').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()));
    let name = if version { parts.next().unwrap_or(last) } else { last };
    let name = name.split_once(".v").map_or(name, |(name, _)| name);
    name.strip_prefix("go-").unwrap_or(name)
}
