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
pub use modules::{ImportMap, MapVerification, import_map, surroundings, verify};
pub use outline::{Outline, outline};
pub use pairing::Outlines;

/// Returns `true` if two files are in languages between which code may move.
pub fn are_kin(a: &str, b: &str) -> bool {
    language::LanguageTable::embedded().is_some_and(|table| table.are_kin(a, b))
}

/// Returns `true` if functions of such a file may be read.
pub fn is_read(path: &str) -> bool {
    language::LanguageTable::embedded().is_some_and(|table| table.may_know(path))
}
