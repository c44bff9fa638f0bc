//! A source file as a module: its definitions, imports and uses.

mod crates;
mod import_map;
mod imports;
mod missing_modules;
mod parts;
mod resolve;
#[cfg(test)]
mod split_tests;
mod surroundings;
mod unused_imports;
mod uses;
mod verify_split;
#[cfg(test)]
mod verify_tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::function::Function;
use super::outline::with_tree;

pub use crates::is_manifest_of;
pub use import_map::{ImportMap, import_map};
pub use surroundings::surroundings;
pub use verify_split::{MapVerification, verify};

/// The languages of which imports are read.
const WITH_IMPORTS: [&str; 7] = ["rust", "python", "typescript", "tsx", "javascript", "go", "java"];

/// One name that a file imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ImportedName {
    /// The module that it comes from, as written: `a::b`, `.a`, `./a`, `a/b`.
    pub(super) module: String,
    /// Its name there, or `None` for the module itself.
    pub(super) name: Option<String>,
    /// Its name here; `None`: all names, or none.
    pub(super) local: Option<String>,
    /// All names of the module.
    pub(super) glob: bool,
    /// `true` if the file passes it on to others.
    pub(super) handed_on: bool,
    /// `true` if a file of Rust passes it on within its crate alone.
    pub(super) for_crate: bool,
    /// Its line, from 1.
    pub(super) line: usize,
}

/// A place where a word is used.
#[derive(Clone, Debug)]
pub(super) struct WordUse {
    pub(super) word: String,
    /// The word before it: `a` in `a.word`.
    pub(super) receiver: Option<String>,
    /// The place, in bytes.
    pub(super) at: usize,
}

/// A source file as a module.
#[derive(Debug, Default)]
pub(super) struct SourceModule {
    pub(super) path: String,
    pub(super) language: String,
    pub(super) functions: Vec<Function>,
    pub(super) imports: Vec<ImportedName>,
    /// Names at the top of the file; true: others may use them.
    pub(super) defined: BTreeMap<String, bool>,
    /// Words that a function or a block declares for itself: where, and the word.
    pub(super) declared: Vec<(usize, String)>,
    pub(super) uses: Vec<WordUse>,
    /// The decorators, each with the place of what it decorates.
    pub(super) decorators: Vec<(Range<usize>, usize)>,
    /// Names that a list passes on: `__all__`, `export { … }`.
    pub(super) listed: BTreeSet<String>,
    /// `true` if such a list has all names that Python's `import *` gives.
    pub(super) lists_all: bool,
    /// Names that are passed on as types alone: `export type { … }`.
    pub(super) types_alone: BTreeSet<String>,
    /// The traits of Rust that the file defines.
    pub(super) traits: BTreeSet<String>,
    /// The macros of Rust that the file defines; true: the whole crate and others know them.
    pub(super) macros: BTreeMap<String, bool>,
    /// The modules below a file of Rust whose macros it knows: `#[macro_use] mod a;`.
    pub(super) macro_modules: BTreeSet<String>,
    /// Words that only texts name: documentation, annotations in quotes.
    pub(super) mentioned: BTreeSet<String>,
    /// The package that the file says it is in.
    pub(super) package: String,
    /// The line of the first error; the file does not parse.
    pub(super) error_line: Option<usize>,
}

impl SourceModule {
    /// Reads a file. The error says why it cannot be read.
    pub(super) fn read(path: &str, bytes: &[u8]) -> Result<Self, Option<&'static str>> {
        with_tree(path, bytes, |language, text, tree, outline| {
            let id = language.entry.id.clone();
            let mut module =
                Self { path: path.to_owned(), language: id, error_line: outline.error_line, ..Self::default() };
            // An `impl` names its type, and does not define it.
            let scopes = outline.scopes.iter().filter(|scope| !scope.contains('.') && language.entry.id != "rust");
            module.defined = scopes.map(|scope| (scope.clone(), module.language != "java")).collect();
            module.functions = outline.functions.into_iter().filter(|function| !function.is_header()).collect();
            let imported = imports::read(tree, text, &mut module);
            uses::read(tree, text, &imported, &mut module);
            module
        })
    }

    /// Returns `true` if imports of this language are read.
    pub(super) fn has_imports(&self) -> bool {
        WITH_IMPORTS.contains(&self.language.as_str())
    }

    /// Returns `true` for a test of Go that is outside of the package that it tests: `package a_test`.
    pub(super) fn is_outer_test(&self) -> bool {
        self.language == "go" && self.package.ends_with("_test")
    }

    /// Returns `true` if others may use a function.
    pub(super) fn is_public(&self, function: &Function) -> bool {
        let has = |word: &str| function.head.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == word);
        let inside_function = self.functions.iter().any(|other| {
            other.range.start <= function.range.start
                && other.range.end >= function.range.end
                && other.range != function.range
        });
        if inside_function || function.declaration {
            return false;
        }
        let top = function.container.first().unwrap_or(&function.name);
        match self.language.as_str() {
            "rust" => has("pub"),
            "python" => {
                let hidden = |name: &String| name.starts_with('_') && !(name.starts_with("__") && name.ends_with("__"));
                let listed = self.listed.is_empty() || self.listed.contains(top);
                listed && !hidden(&function.name) && !function.container.iter().any(hidden)
            }
            "go" => function.name.starts_with(char::is_uppercase),
            "java" => has("public") || has("default"),
            _ => {
                let exported = self.defined.get(top) == Some(&true) || self.listed.contains(top) || !function.private;
                exported
                    && !function.name.starts_with('#')
                    && !has("private")
                    && (function.container.is_empty() || self.listed.contains(top) || self.exports(top))
            }
        }
    }

    /// Returns `true` if the code uses the name of an import.
    pub(super) fn uses_name(&self, local: &str) -> bool {
        self.uses.iter().any(|word| {
            (word.word == local && word.receiver.is_none())
                || word.receiver.as_deref().is_some_and(|receiver| {
                    receiver.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').next() == Some(local)
                })
        }) || (self.language == "rust" && self.defined.contains_key(local))
    }

    fn exports(&self, name: &str) -> bool {
        self.defined.get(name).is_some_and(|public| *public)
    }

    /// Returns the words in the decorators of a function.
    pub(super) fn decorating<'m>(&'m self, function: &'m Function) -> impl Iterator<Item = &'m WordUse> {
        let own = |place: usize| {
            self.decorators.iter().any(|(range, at)| *at == function.range.start && range.contains(&place))
        };
        self.uses.iter().filter(move |word| own(word.at))
    }

    /// Returns the words that a function uses, without those that it declares.
    pub(super) fn used_in<'m>(&'m self, function: &'m Function) -> impl Iterator<Item = &'m WordUse> {
        let own: BTreeSet<&str> =
            self.declared.iter().filter(|(at, _)| function.range.contains(at)).map(|(_, word)| word.as_str()).collect();
        self.uses.iter().filter(move |word| {
            function.range.contains(&word.at) && (word.receiver.is_some() || !own.contains(word.word.as_str()))
        })
    }
}
