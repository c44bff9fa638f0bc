//! Runs a command as if `gate` were not there, and keeps its output in bounded memory.
//!
//! The child stays in the process group and on the controlling terminal of `gate`, with its standard input, so that
//! Ctrl-C, Ctrl-Z, prompts and `/dev/tty` need no help. If standard output or standard error of `gate` is a terminal,
//! the child gets the far end of a pseudo-terminal of the same size; if it is a pipe or a file, a pipe.
//! The output is passed on byte for byte as it comes.
//!
//! Some differences from a run without `gate` cannot be avoided:
//!
//! - When the reader of the output goes away (`gate run test | head`), the child is not killed by `SIGPIPE`: it runs to
//!   its end, since its status is the result.
//! - A program that sets terminal modes through its standard *output* sets them on the pseudo-terminal. Those that
//!   use standard input or `/dev/tty`, as nearly all do, reach the real one.
//! - A background process that outlives the command and still writes to its output loses that output when `gate` ends.
//! - `SIGTERM`, `SIGHUP`, `SIGUSR1` and `SIGUSR2` are passed on to the child, and `SIGINT` and `SIGQUIT` if they
//!   cannot have come from the keyboard; sent to the whole process group, they reach it twice.

mod bounded_command;
mod head_and_tail;
mod output_streams;
mod process;
#[cfg(unix)]
mod pty;
mod self_command;
#[cfg(unix)]
mod signals;
mod start_error;
mod tee;
mod terminal_text;

pub use bounded_command::{BoundedCommand, Returned, run_unseen};
pub use head_and_tail::{HEAD, KeptOutput, TAIL};
pub use process::{CommandLine, Finished, Spec, run};
pub use self_command::{run_itself, start_itself};
pub use start_error::{StartError, StartProblem};
pub use terminal_text::{clean_tail, plain_text};
