//! The functions of source files, and their changes between two states of a tree.
//!
//! Everything here is a pure function over texts; the caller reads them.

mod branches;
mod broken_text;
mod closures;
mod compare_functions;
#[cfg(test)]
mod constant_tests;
mod constant_values;
#[cfg(test)]
mod emptied_tests;
mod function;
mod function_inputs;
mod hollow_bodies;
mod hollow_table;
#[cfg(test)]
mod hollow_tests;
mod language;
mod modules;
mod outline;
mod pairing;
mod parsing;
mod qualified_names;
mod repairs;
#[cfg(test)]
mod syntax_tests;
mod tokens;

pub use compare_functions::{FunctionChange, FunctionDiff, Preservation, compare};
use modules::is_manifest_of;
pub use modules::{ImportMap, MapVerification, import_map, surroundings, verify};
pub use outline::{Outline, outline};
pub use pairing::Outlines;

/// Returns `true` if functions of such a file may be read.
pub fn is_read(path: &str) -> bool {
    language::LanguageTable::embedded().is_some_and(|table| table.may_know(path))
}

/// Returns `true` if a map of the file `like`, which may be unknown, is held against such a file.
pub fn counts_for_map(path: &str, like: &str) -> bool {
    let are_kin = || language::LanguageTable::embedded().is_some_and(|table| table.are_kin(path, like));
    is_manifest_of(path, like) || if like.is_empty() { is_read(path) } else { are_kin() }
}
