//! Test runners, builders, linters and task runners: the ways to invoke each, and the meaning of its output.
//!
//! The facts about a runner are data, one file in `gates/runners/`; `docs/runners.md` describes the keys. Nothing here
//! starts a process or reads a file: texts and words come in, readings go out.

pub(crate) mod ambiguous_calls;
pub(crate) mod arguments;
pub(crate) mod catalogue;
pub(crate) mod check_identity;
pub(crate) mod command_kind;
pub(crate) mod example;
pub(crate) mod generated;
pub(crate) mod glob_expansion;
pub(crate) mod invocation;
pub(crate) mod junit;
pub(crate) mod name_source;
pub(crate) mod output;
pub(crate) mod output_line;
pub(crate) mod output_rules;
mod output_tally;
pub(crate) mod plain_yaml;
mod printed_names;
pub(crate) mod project;
pub(crate) mod project_files;
pub(crate) mod runner_definition;
pub(crate) mod runner_directory;
mod shadowing_module;
pub(crate) mod task;
pub(crate) mod task_order;
pub(crate) mod test_names;
pub(crate) mod word_splitting;
pub(crate) mod workspace_members;

pub use ambiguous_calls::claimed_by_other;
pub use arguments::Upwards;
pub use catalogue::Catalogue;
pub use check_identity::Identity;
pub use command_kind::{CommandKind, ExitMeaning, RunScope};
pub use invocation::{Invocation, classify};
pub use junit::{JunitError, read_junit, read_junit_names};
pub use output::{OutputReading, read_output_as, read_output_of, why_nothing_ran};
pub(crate) use output_line::{output_lines, without_prefix};
pub use output_rules::SealedPart;
pub use output_tally::OutputOutcome;
pub(crate) use output_tally::shown_line;
pub use project::Project;
pub use project_files::{InDirectory, ProjectFiles};
pub use runner_definition::{BuildReuse, Runner, file_of};
pub use task::{TaskRun, TaskScript, files_above, positions, resolve};
pub use test_names::{NamedTests, end_alike};
