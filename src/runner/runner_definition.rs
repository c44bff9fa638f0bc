//! One runner, as its file in `gates/runners/` describes it.

use serde::Deserialize;

use super::output_rules::Output;
use crate::runner::arguments::Arguments;
use crate::runner::command_kind::{CommandKind, ExitMeaning};
use crate::runner::example::Example;
use crate::runner::generated::GeneratedFile;
use crate::runner::name_source::NameSource;
use crate::runner::output_line::{LineRule, Means};
use crate::runner::task::TaskRules;

/// A runner: the content of one file of `gates/runners/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Runner {
    /// Its name as people write it: `cargo test`. The file has the same name with `-` for each blank.
    pub id: String,
    /// The kinds of work that it does; empty for a task runner, whose task decides.
    #[serde(default)]
    pub kinds: Vec<CommandKind>,
    /// `true` if it stands for many programs that are alike, each with its own name.
    #[serde(default)]
    pub family: bool,
    /// The ways to start it.
    #[serde(default)]
    pub invoke: Vec<Invoke>,
    /// The rules for its arguments.
    #[serde(default)]
    pub arguments: Arguments,
    /// The rules to find and name tasks, if it is a task runner.
    pub task: Option<TaskRules>,
    /// The files of builds that a generator wrote, and what their targets do.
    #[serde(default)]
    pub generated: Vec<GeneratedFile>,
    /// The meaning of exit status 0.
    #[serde(default)]
    pub exit: ExitMeaning,
    /// `true` if exit status 0 is possible although no test was executed.
    #[serde(default = "yes")]
    pub empty_exits_zero: bool,
    /// Exit statuses that mean that it did not understand its arguments, and executed nothing.
    #[serde(default)]
    pub usage_exit: Vec<i32>,
    /// The extensions of the files that it changes where it edits.
    #[serde(default)]
    pub formats: Vec<String>,
    /// The way in which it finds that what it built before is of the present sources, if other sources can pass for them.
    pub reuse: Option<BuildReuse>,
    /// Report files (`JUnit` XML) it writes, as globs relative to the directory it runs in.
    #[serde(default)]
    pub reports: Vec<String>,
    /// `true` if it changes files of the working tree by default.
    #[serde(default)]
    pub edits: bool,
    /// The rules to read its output.
    #[serde(default)]
    pub output: Output,
    /// The way in which its tests are known by name, if they are.
    pub names: Option<NameSource>,
    /// Command lines with the classification they must get. They are tests.
    #[serde(default)]
    pub example: Vec<Example>,
    /// The digest of its file, for a runner of the repository.
    #[serde(skip)]
    pub digest: String,
}

impl Runner {
    /// Returns `true` if its counts are those of tests. Others count packages or targets.
    pub fn counts_tests(&self) -> bool {
        let is_part = |rule: &LineRule| matches!(rule.means, Means::PartPassed | Means::PartFailed);
        !self.output.line.iter().any(is_part)
    }
}

/// The way in which a runner finds that what it built before is of the present sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BuildReuse {
    /// The sources are older than what was built.
    ByAge,
    /// The sources have the size, and the time in seconds, of those from which Python compiled.
    ByStamp,
    /// It takes what was built as it is.
    AsItIs,
    /// It runs programs that another tool builds, and builds nothing.
    Unbuilt,
}

const fn yes() -> bool {
    true
}

/// One way to start a runner.
// The keys of a file, each of them one yes or no of its own.
#[expect(clippy::struct_excessive_bools)]
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Invoke {
    /// Names of the program, without directory and extension.
    pub program: Vec<String>,
    /// The words that must follow, in their order, options before and between them allowed. `test|t` is either; `*x`
    /// ends in `x`, `x*` begins with it; a word that begins with `-` is an option that must be there.
    #[serde(default)]
    pub words: Vec<String>,
    /// Options before the last of `words` that take a value as the next argument.
    #[serde(default)]
    pub before: Vec<String>,
    /// Options whose value is the directory to work in, when started like this.
    #[serde(default)]
    pub directory: Vec<String>,
    /// `true` if the words may be anywhere among the positional arguments (`mvn clean test`).
    #[serde(default)]
    pub anywhere: bool,
    /// The number of arguments after the words that are neither a task nor a filter.
    #[serde(default)]
    pub skip: usize,
    /// `true` if the last of these is the folder in which it works, as if it were started there.
    #[serde(default)]
    pub in_folder: bool,
    /// `true` if it is started in a folder that the same command from the folder above names: `cd build && cmake ..` is
    /// `cmake -B build`.
    #[serde(default)]
    pub from_inside: bool,
    /// Words that may follow these and mean nothing: `yarn workspace a run test`.
    #[serde(default)]
    pub then: Vec<String>,
    /// The option that the last of these is the value of: `yarn workspace a test`.
    pub names: Option<String>,
    /// The options that give the first arguments after the words, which are not options, other names
    /// (`discover tests`).
    #[serde(default)]
    pub positions: Vec<String>,
    /// The options that the words stand for: `pnpm recursive run` is `pnpm -r run`.
    #[serde(default)]
    pub adds: Vec<String>,
    /// The task that is called, for a task runner with a command of its own for it (`npm test`).
    pub task: Option<String>,
    /// The kinds of work that it does when started like this, if they differ from the runner's.
    pub kinds: Option<Vec<CommandKind>>,
    /// The part it is restricted to when started like this.
    #[serde(default)]
    pub filtered: bool,
    /// `true` if it executes nothing when started like this.
    #[serde(default)]
    pub nothing: bool,
    /// `true` if it changes files when started like this, or `None` if it is as the runner says.
    pub edits: Option<bool>,
    /// The meaning of exit status 0 when started like this, if it differs from the runner's.
    pub exit: Option<ExitMeaning>,
    /// `true` if it keeps running and watches for changes when started like this.
    #[serde(default)]
    pub watches: bool,
    /// `true` if it is the same check as without the words (`vitest run`, `vitest --run`).
    #[serde(default)]
    pub plain: bool,
}

/// Returns the name of the file of a runner, below the folder of the tables.
pub fn file_of(id: &str) -> String {
    format!("runners/{}.toml", id.replace(' ', "-"))
}

impl Invoke {
    /// Returns its weight among ways that all match. A task runner takes every word; what is named in full comes first.
    pub(super) fn weight(&self, runner: &Runner) -> usize {
        self.words.len() * 2 + usize::from(runner.task.is_none() || self.task.is_some())
    }
}

impl Runner {
    /// Returns the ways to start it through a program of this name.
    pub(super) fn starts(&self, program: &str) -> impl Iterator<Item = &Invoke> {
        self.invoke.iter().filter(move |invoke| invoke.program.iter().any(|name| name == program))
    }
}
