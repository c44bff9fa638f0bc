//! The shell, read and never run: the commands that a line would execute, and the one whose status it would return.
//!
//! ```text
//! text  →  parse (syntax tree)  →  walk (expanded, unwrapped program)  →  status (what a status implies)
//! ```
//!
//! Nothing here knows tests: they are the subject of [`crate::command_line`].

pub(crate) mod ast;
pub mod build_program;
mod builtins;
pub(crate) mod command_outcome;
mod container;
mod control_flow;
pub(crate) mod dialect;
pub mod exit_status;
mod expand;
pub(crate) mod expanded_program;
pub(crate) mod inner_command;
mod live_variables;
mod loop_variables;
mod loop_words;
mod lower;
mod lower_words;
mod nproc;
mod other_shells;
pub(crate) mod parse;
pub(crate) mod parse_error;
mod path_walk;
mod redirections;
mod shell_arguments;
mod shell_state;
mod simple_command;
pub(crate) mod unwrap;
mod wrapper_table;
mod written_scripts;

pub(crate) use container::{ContainerWords, folder_here};
pub(crate) use wrapper_table::wrapper_values;
pub use wrapper_table::{hides_success, wrapper_names};
