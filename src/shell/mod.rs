//! The shell, read and never run: what a command line would execute, and whose status it would return.
//!
//! ```text
//! text  →  parse (syntax tree)  →  walk (expanded, unwrapped program)  →  status (what a status implies)
//! ```
//!
//! Nothing here knows what a test is: that is [`crate::command_line`].

pub mod ast;
mod branches;
mod builtins;
pub mod dialect;
mod expand;
mod forget;
mod lower;
mod lower_words;
mod machine;
mod names;
mod other_shells;
pub mod parse;
mod processors;
pub mod program;
mod simple;
mod state;
pub mod status;
mod streams;
pub mod unwrap;
pub mod walk;
mod wrapper;

pub use wrapper::wrapper_names;
