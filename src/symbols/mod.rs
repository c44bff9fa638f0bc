//! The functions of source files, and what became of them between two states of a tree.
//!
//! Pure over texts: who reads them decides where they come from.

mod compare_functions;
mod function;
mod hollow_bodies;
mod language;
mod modules;
mod outline;
mod qualified_names;
mod tokens;

pub use compare_functions::{
    FunctionChange, FunctionDiff, FunctionPlace, Outlines, Preservation, RenamedFunction, UnparsedFile, compare,
};
pub use function::Function;
pub use modules::{ImportMap, MapProblem, MapVerification, import_map, verify};
pub use outline::{FunctionAlias, MAX_FILE, Outline, outline};

/// Whether two files are in languages between which code may move.
pub fn are_kin(a: &str, b: &str) -> bool {
    language::LanguageTable::embedded().is_some_and(|table| table.are_kin(a, b))
}

/// Whether functions of such a file are read.
pub fn is_read(path: &str) -> bool {
    language::LanguageTable::embedded().is_some_and(|table| table.knows(path))
}
