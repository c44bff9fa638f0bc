//! The functions of source files, and what became of them between two states of a tree.
//!
//! Pure over texts: who reads them decides where they come from.

mod compare;
mod function;
mod hollow;
mod language;
mod names;
mod outline;
mod tokens;

pub use compare::{
    FunctionChange, FunctionDiff, FunctionPlace, Outlines, Preservation, RenamedFunction, UnparsedFile, compare,
};
pub use function::Function;
pub use outline::{FunctionAlias, MAX_FILE, Outline, outline};

/// Whether functions of such a file are read.
pub fn is_read(path: &str) -> bool {
    language::LanguageTable::embedded().is_some_and(|table| table.knows(path))
}
