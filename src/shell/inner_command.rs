//! A command that a wrapper starts.

use super::expanded_program::{Arg, Passes};

/// The command or script that a command runs in its place.
#[derive(Clone, Debug, PartialEq)]
pub enum InnerCommand {
    /// Another simple command.
    Argv(Vec<Arg>),
    /// A shell script, and the parameters it is given.
    Script {
        /// Its text; `None` when it is not literal.
        text: Option<String>,
        /// `$0`, `$1`, …
        parameters: Vec<Arg>,
        /// Options set by the shell's own arguments.
        options: ShellOptions,
    },
    /// Standard input, read as a shell script (`bash -s`, `bash <<EOF`).
    Stdin(ShellOptions),
}

impl InnerCommand {
    /// Returns a script without parameters, for a shell without options. `text` is `None` when it is not literal.
    pub(super) fn script(text: Option<String>) -> Self {
        Self::Script { text, parameters: Vec::new(), options: ShellOptions::default() }
    }
}

/// The options with which a shell starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent options of a shell")]
pub struct ShellOptions {
    /// `-e`
    pub errexit: bool,
    /// `-o pipefail`
    pub pipefail: bool,
    /// `-u`
    pub nounset: bool,
    /// `-l`, `-i`: it reads files of the home folder first.
    pub start_files: bool,
}

/// A wrapper removed.
#[derive(Clone, Debug, PartialEq)]
pub struct Unwrapped {
    /// The inner command.
    pub inner: InnerCommand,
    /// Its name, with its subcommand.
    pub wrapper: String,
    /// The relation of its status to the command's.
    pub passes: Passes,
    /// The option that narrows the work of the command.
    pub narrowed_by: Option<String>,
    /// The directory the command runs in.
    pub directory: Option<Arg>,
    /// `true` if the inner command is a module of Python.
    pub module: bool,
    /// `true` if it runs on another machine or in a container.
    pub remote: bool,
    /// `true` if words that are not shown are added.
    pub appends: bool,
    /// Variables that it sets; a value is `None` when it is not literal.
    pub assigned: Vec<(String, Option<String>)>,
    /// Variables that it removes.
    pub withheld: Vec<String>,
    /// The other words before the inner command, without its subcommand and words that do not change the check, or
    /// `None` if they do not change the inner command.
    pub settings: Option<Vec<Arg>>,
}

pub(super) fn plain(name: &str, inner: InnerCommand) -> Unwrapped {
    Unwrapped {
        inner,
        wrapper: name.to_owned(),
        passes: Passes::Own,
        narrowed_by: None,
        directory: None,
        module: false,
        remote: false,
        appends: false,
        assigned: Vec::new(),
        withheld: Vec::new(),
        settings: None,
    }
}

pub(super) fn join(words: &[Arg]) -> Option<String> {
    let words: Option<Vec<_>> = words.iter().map(|arg| arg.whole.then_some(arg.text.as_str())).collect();
    words.map(|words| words.join(" "))
}

/// Returns `true` if a word is `NAME=…`.
pub fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Returns `true` if a command may be another one without this variable.
pub(super) fn is_needed(name: &str) -> bool {
    matches!(name, "PATH" | "HOME")
}
