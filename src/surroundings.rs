//! The names that a piece of code uses, and the statements around it. `symbols` reads them.

use std::collections::BTreeSet;
use std::ops::Range;

/// A statement beside some code, or beside a block that holds the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OuterStatement {
    /// Its text, with single spaces.
    pub text: String,
    /// Its kind.
    pub kind: OuterStatementKind,
    /// Its place in the file, in bytes.
    pub range: Range<usize>,
    /// The number of blocks around it; 0 at the top of the file.
    pub depth: usize,
}

/// The kinds of statements.
#[cfg_attr(not(feature = "symbols"), expect(dead_code, reason = "without grammars, nothing makes them"))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OuterStatementKind {
    /// It defines a function, a type or a module of this name.
    Definition(String),
    /// It gives values to these names, or to members of them.
    Assignment(BTreeSet<String>),
    /// It imports names, and does nothing else.
    Import,
    /// It changes the definition that follows.
    Decorator,
    /// Any other.
    Other,
}

/// One import that the code can see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisibleImport {
    /// The module, as written.
    pub module: String,
    /// The name in the module, or `None` for the module itself.
    pub name: Option<String>,
    /// The name in this file; `None` for all names of the module.
    pub local: Option<String>,
}

/// The surroundings of one piece of code.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The language of the file: `python`, `tsx`.
    pub language: String,
    /// The names that the code uses and does not declare itself.
    pub used: BTreeSet<String>,
    /// The imports that it can see, in order.
    pub imports: Vec<VisibleImport>,
    /// The statements before and after it, and before and after each block around it.
    pub statements: Vec<OuterStatement>,
    /// The base classes of each class around it, as written.
    pub bases: Vec<String>,
}

/// Returns a text with single spaces in place of any blanks.
pub fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
