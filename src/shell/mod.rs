//! The shell, read and never run: what a command line would execute, and whose status it would return.
//!
//! ```text
//! text  →  parse (syntax tree)  →  walk (expanded, unwrapped program)  →  status (what a status implies)
//! ```
//!
//! Nothing here knows what a test is: that is [`crate::command_line`].

pub mod ast;
pub mod dialect;
mod expand;
mod lower;
mod machine;
pub mod parse;
pub mod program;
mod simple;
mod state;
pub mod status;
pub mod unwrap;
pub mod walk;
