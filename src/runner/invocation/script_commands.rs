//! The commands in the lines of a script, such as the recipe of a task.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::shell::command_outcome::ObservedEnding;
use crate::shell::expanded_program::{InputSource, Program, Sink};
use crate::shell::{build_program, exit_status};

/// The largest number of commands in a line that is followed.
const MAX_COMMANDS_OF_LINE: usize = 48;
/// The largest number of lines whose commands are kept.
const MAX_KEPT: usize = 512;

/// The commands of each line that was followed, or `None` for a line that cannot be followed.
type KnownLines = HashMap<String, Option<Vec<ScriptCommand>>>;

thread_local! {
    // A task that others call is followed once for each of them, and each path through a line is walked.
    static KNOWN: RefCell<KnownLines> = RefCell::default();
}

/// A command of a script.
#[expect(clippy::struct_excessive_bools, reason = "independent facts about the command")]
#[derive(Clone)]
pub(super) struct ScriptCommand {
    pub(super) argv: Vec<Option<String>>,
    pub(super) directory: Option<String>,
    /// `true` if the script succeeds only if it ran and succeeded.
    pub(super) decides: bool,
    /// `true` if the next command of the script starts only after it succeeded.
    pub(super) chained: bool,
    /// `true` if the task prints all of its output.
    pub(super) visible: bool,
    /// `true` if it reads what another command prints.
    pub(super) reads: bool,
}

/// Returns the commands of a script's lines, with wrappers removed, or `None` if a line is not shell, or runs something
/// that no text shows.
pub(super) fn followed(lines: &[String]) -> Option<Vec<ScriptCommand>> {
    let mut commands = Vec::new();
    for line in lines {
        let known = KNOWN.with_borrow(|known| known.get(line).cloned());
        let of_line = known.unwrap_or_else(|| {
            let found = commands_of(line);
            KNOWN.with_borrow_mut(|known| keep(known, line, found.clone()));
            found
        });
        commands.extend(of_line?);
    }
    Some(commands)
}

fn keep(known: &mut KnownLines, line: &str, commands: Option<Vec<ScriptCommand>>) {
    if known.len() >= MAX_KEPT {
        known.clear();
    }
    known.insert(line.to_owned(), commands);
}

fn commands_of(line: &str) -> Option<Vec<ScriptCommand>> {
    let is_short = |program: &Program| !program.truncated && program.leaves.len() <= MAX_COMMANDS_OF_LINE;
    let program = build_program::program(line).ok().filter(is_short)?;
    let mut commands = Vec::with_capacity(program.leaves.len());
    for (id, leaf) in program.leaves.iter().enumerate() {
        let directory = match &leaf.directory {
            Some(directory) => Some(directory.path.clone()?),
            None => None,
        };
        let decides = exit_status::fate(&program, id).decides();
        let visible = leaf.stdout == Sink::Terminal && leaf.stderr == Sink::Terminal;
        let before_next = || exit_status::fate_seen(&program, id, &[ObservedEnding::end(id + 1, true)]);
        let is_last = id + 1 == program.leaves.len();
        let chained = if is_last { decides } else { before_next().always_succeeded() };
        let reads = matches!(leaf.stdin, InputSource::Pipe(_));
        commands.push(ScriptCommand { argv: leaf.words(), directory, decides, chained, visible, reads });
    }
    Some(commands)
}
