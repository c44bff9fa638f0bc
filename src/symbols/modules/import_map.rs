//! The map of a file before it is split: its imports, its exports, and the dependencies inside it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{ImportedName, SourceModule, WordUse};
use crate::symbols::function::Function;

impl ImportMap {
    /// Returns the names by which the file called its imports; if the map does not have them, the last part of each.
    pub(super) fn called(&self) -> BTreeMap<String, String> {
        if !self.local_names.is_empty() {
            return self.local_names.clone();
        }
        let last = |import: &String| {
            let local = import.rsplit(['#', '.', ':', '/']).next().unwrap_or(import);
            (local != "*" && !import.starts_with("__future__.")).then(|| (local.to_owned(), import.clone()))
        };
        self.external_imports.iter().filter_map(last).collect()
    }
}

/// A map of the imports, the public functions and the cross references of one file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportMap {
    /// 1.
    #[serde(default = "first_version")]
    pub schema_version: u32,
    /// The file that was read, from the root of the repository where it lies in one.
    #[serde(default)]
    pub file: String,
    /// Its language.
    #[serde(default)]
    pub language: String,
    /// The imports, one entry for each name.
    pub external_imports: Vec<String>,
    /// The functions that others may use.
    pub public_functions: Vec<String>,
    /// The functions of the same file that each function calls or passes on by name.
    pub cross_references: BTreeMap<String, Vec<String>>,
    /// The names by which the file calls its imports.
    #[serde(default)]
    pub local_names: BTreeMap<String, String>,
    /// All functions of the file.
    #[serde(default)]
    pub functions: Vec<String>,
    /// The other names that the file defines at its top: types, constants.
    #[serde(default)]
    pub definitions: Vec<String>,
    /// The names of imports that the file does not use by name, such as traits that are there for their methods.
    #[serde(default)]
    pub unnamed_imports: Vec<String>,
}

const fn first_version() -> u32 {
    1
}

/// Reads the map of a file. The error gives the reason why there is none.
pub fn import_map(path: &str, bytes: &[u8]) -> Result<ImportMap, String> {
    let module = SourceModule::read(path, bytes).map_err(|why| match why {
        Some(why) => why.to_owned(),
        None => "it is in no language whose imports are read".to_owned(),
    })?;
    if !module.has_imports() {
        return Err(format!("imports of {} are not read", module.language));
    }
    if let Some(line) = module.error_line {
        return Err(format!("line {line} does not parse"));
    }
    let mut external_imports = Vec::new();
    let mut local_names = BTreeMap::new();
    for import in module.imports.iter().filter(|import| !is_export(&module, import)) {
        let spelling = spelling(&module.language, import);
        if let Some(local) = &import.local {
            local_names.insert(local.clone(), spelling.clone());
        }
        if !external_imports.contains(&spelling) {
            external_imports.push(spelling);
        }
    }
    let mut public_functions: Vec<String> = Vec::new();
    for function in module.functions.iter().filter(|function| module.is_public(function)) {
        if !public_functions.contains(&function.full()) {
            public_functions.push(function.full());
        }
    }
    let mut functions: Vec<String> = module.functions.iter().map(Function::full).collect();
    functions.dedup();
    Ok(ImportMap {
        schema_version: 1,
        file: path.to_owned(),
        language: module.language.clone(),
        external_imports,
        public_functions,
        cross_references: cross_references(&module),
        local_names,
        functions,
        definitions: definitions(&module),
        unnamed_imports: unnamed_imports(&module),
    })
}

/// Returns the names of imports that a file never uses by name.
fn unnamed_imports(module: &SourceModule) -> Vec<String> {
    let unnamed = |import: &&ImportedName| {
        let unnamed = |local: &str| !module.uses_name(local) && !module.mentioned.contains(local);
        !import.handed_on && import.local.as_deref().is_some_and(unnamed)
    };
    let names = module.imports.iter().filter(unnamed).filter_map(|import| import.name.clone().or(import.local.clone()));
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns the names at the top of a file that are not functions. In Rust, words in small letters are macros or modules.
fn definitions(module: &SourceModule) -> Vec<String> {
    let counts = |name: &&String| {
        !name.starts_with("__")
            && (module.language != "rust" || name.starts_with(char::is_uppercase) || module.macros.contains_key(*name))
            && !module.functions.iter().any(|f| f.container.is_empty() && f.name == **name)
            && !module.imports.iter().any(|import| import.local.as_ref() == Some(*name))
    };
    module.defined.keys().filter(counts).cloned().collect()
}

/// Returns `true` if a file passes the name on from another file: that is not an import of its own.
fn is_export(module: &SourceModule, import: &ImportedName) -> bool {
    import.handed_on && ["typescript", "tsx", "javascript"].contains(&module.language.as_str())
}

/// Returns an import as the map writes it.
pub(super) fn spelling(language: &str, import: &ImportedName) -> String {
    let joined = |between: &str, name: &str| match import.module.as_str() {
        "" => name.to_owned(),
        module if language == "python" && module.ends_with('.') => format!("{module}{name}"),
        module => format!("{module}{between}{name}"),
    };
    let between = match language {
        "rust" => "::",
        "python" | "java" => ".",
        "go" => return import.module.clone(),
        _ => "#",
    };
    match (&import.name, import.glob) {
        (_, true) => joined(between, "*"),
        (Some(name), false) => joined(between, name),
        (None, false) => import.module.clone(),
    }
}

/// Returns, for each function, the functions of the same file that it uses.
fn cross_references(module: &SourceModule) -> BTreeMap<String, Vec<String>> {
    let mut references: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for function in &module.functions {
        let full = function.full();
        for word in module.used_in(function).chain(module.decorating(function)) {
            let Some(target) = target(module, function, word) else { continue };
            let name = target.full();
            if name == full {
                continue;
            }
            let list = references.entry(full.clone()).or_default();
            if !list.contains(&name) {
                list.push(name);
            }
        }
    }
    references
}

/// Returns the function of the same file that a word means.
fn target<'m>(module: &'m SourceModule, from: &Function, word: &WordUse) -> Option<&'m Function> {
    let mut named = module.functions.iter().filter(|function| function.name == word.word);
    let home = from.home();
    let Some(receiver) = &word.receiver else {
        let classes = module.language == "java";
        return named.find(|function| {
            let own = function.home();
            own.is_empty()
                || own == from.full()
                || (!home.is_empty() && own == home && !in_type(module, &own))
                || (classes && (home == own || home.starts_with(&format!("{own}."))))
                || from.full().starts_with(&format!("{own}.")) && !in_type(module, &own)
        });
    };
    let plain = receiver.trim_start_matches(['&', '*', '(']).trim_end_matches(')');
    let first = plain.split(['<', '[']).next().unwrap_or(plain);
    if ["self", "Self", "this", "cls"].contains(&first) || is_receiver(module, from, first) {
        let kin: Vec<&Function> = named.collect();
        let method_home = method_home(module, from);
        return kin.into_iter().find(|function| function.home() == method_home);
    }
    let last = first.rsplit([':', '.']).next().unwrap_or(first);
    let candidates: Vec<&Function> = named.collect();
    // What a call of the type gives: `Bot(x).go()`, `new Bot(x).go()`.
    let made = first.split('(').next().unwrap_or(first).trim_start_matches("new ");
    let is_home = |own: &String| own == last || own == made;
    if let Some(found) = candidates.iter().find(|function| function.container.last().is_some_and(is_home)) {
        return Some(found);
    }
    // A value: of that type, if the function names the type.
    if !first.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let names_type = |own: &String| {
        module.uses.iter().any(|used| from.range.contains(&used.at) && used.word == *own)
            || from.parameters.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == own)
    };
    match candidates.as_slice() {
        [only] if only.container.last().is_some_and(names_type) => Some(only),
        _ => None,
    }
}

fn in_type(module: &SourceModule, home: &str) -> bool {
    module.defined.contains_key(home.split('.').next().unwrap_or(home))
        && !module.functions.iter().any(|function| function.full() == home)
}

/// Returns the type that a function, or the method around it, belongs to.
fn method_home(module: &SourceModule, from: &Function) -> String {
    let around = module
        .functions
        .iter()
        .filter(|other| other.range.start < from.range.start && other.range.end >= from.range.end);
    around.min_by_key(|other| other.range.start).map_or_else(|| from.home(), Function::home)
}

/// Returns `true` for the receiver of a method of Go.
fn is_receiver(module: &SourceModule, from: &Function, word: &str) -> bool {
    module.language == "go"
        && from.head.trim_start().strip_prefix("func").is_some_and(|head| {
            head.trim_start().strip_prefix('(').is_some_and(|head| head.split_whitespace().next() == Some(word))
        })
        && !from.container.is_empty()
}

/// Returns the last part of a name.
pub(super) fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Names without containers.
pub(super) fn free(names: &[String]) -> BTreeSet<&str> {
    names.iter().filter(|name| !name.contains('.')).map(String::as_str).collect()
}
