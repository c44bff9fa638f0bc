//! Test runners, builders, linters and task runners: the ways to invoke each, and the meaning of its output.
//!
//! The facts about a runner are data, one file in `gates/runners/`; `docs/runners.md` describes the keys. Nothing here
//! starts a process or reads a file: texts and words come in, readings go out.

pub mod ambiguous_calls;
pub mod arguments;
pub mod catalogue;
pub mod check_identity;
pub mod command_kind;
pub mod example;
pub mod generated;
pub mod invocation;
pub mod junit;
pub mod name_source;
pub mod output;
pub mod output_line;
mod output_tally;
pub mod plain_yaml;
mod printed_names;
pub mod project;
pub mod project_files;
pub mod runner_directory;
mod shadowing_module;
pub mod task;
pub mod task_order;
pub mod test_names;
pub mod word_splitting;

pub use ambiguous_calls::claimed_by_other;
pub use arguments::Upwards;
pub use catalogue::{BuildReuse, Catalogue, Runner, SealedPart, file_of};
pub use check_identity::Identity;
pub use command_kind::{CommandKind, ExitMeaning, RunScope};
pub use invocation::{Invocation, classify};
pub use junit::{JunitError, read_junit, read_junit_names};
pub use output::{OutputReading, read_output_as, read_output_of, why_nothing_ran};
pub(crate) use output_line::{output_lines, without_prefix};
pub use output_tally::OutputOutcome;
pub(crate) use output_tally::shown_line;
pub use project::Project;
pub use project_files::{InDirectory, ProjectFiles};
pub use task::{TaskRun, TaskScript, files_above, positions, resolve};
pub use test_names::NamedTests;
