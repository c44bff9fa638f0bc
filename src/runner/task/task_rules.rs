//! The rules of a task runner, and the meanings of the names of tasks, as the tables describe them.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::runner::command_kind::CommandKind;

/// The rules by which a task runner finds and names its tasks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[expect(clippy::struct_excessive_bools, reason = "independent rules of a table")]
pub struct TaskRules {
    /// The name of a task in reports; `{task}` is its name, `{program}` the program that is called.
    pub label: String,
    /// The name of a task that runs tests, if it differs.
    pub test_label: Option<String>,
    /// The files that may define tasks; the first that is there counts.
    #[serde(default)]
    pub file: Vec<String>,
    /// Folders whose files may add to any task.
    #[serde(default)]
    pub folders: Vec<String>,
    /// The format of these files.
    #[serde(default)]
    pub format: Format,
    /// Words that are commands of the runner itself, for runners that take a task without `run`.
    #[serde(default)]
    pub not_tasks: Vec<String>,
    /// The task that runs when none is named; empty: the first in the file.
    pub default_task: Option<String>,
    /// Options whose value is the directory to run in.
    #[serde(default)]
    pub directory: Vec<String>,
    /// Options whose value is the file that defines the tasks.
    #[serde(default)]
    pub other_file: Vec<String>,
    /// `true` if it looks for the file in the folders above as well, and works where that is.
    #[serde(default)]
    pub upwards: bool,
    /// `true` if it takes several tasks (`make lint test`).
    #[serde(default)]
    pub several: bool,
    /// `true` if a name that is not a task is a program (`yarn jest`).
    #[serde(default)]
    pub runs_programs: bool,
    /// Its programs that are installed with a project's packages, so that `pnpm turbo` calls one.
    #[serde(default)]
    pub packaged: Vec<String>,
    /// `true` if a name is a task only if the file defines it.
    #[serde(default)]
    pub only_defined: bool,
    /// The meanings of names here. They come before the general list.
    #[serde(default)]
    pub names: BTreeMap<String, Vec<CommandKind>>,
}

/// The format in which a file defines tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// It cannot be followed.
    #[default]
    Opaque,
    /// JSON with an object `scripts` or `tasks` of strings, or of lists of strings.
    JsonScripts,
    /// Rules with tab-indented recipes.
    Makefile,
    /// Rules with indented recipes.
    Justfile,
    /// YAML with `tasks:`, each with `cmds:` or `cmd:`.
    Taskfile,
    /// TOML with a table of tasks: a string, a list, or a table with `run`, `cmd` or `shell`.
    TomlTasks,
    /// The table `alias` of cargo's configuration.
    CargoAlias,
    /// Ruby, of which only the prerequisites of the default task are read.
    Rakefile,
}

/// The meanings of task names, from `gates/runners/_tasks.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct TaskNames {
    /// Interpreters that run another program, which their first positional argument names.
    pub interpreters: Vec<String>,
    /// Words of the name or of an argument of a script that checks something.
    pub checks: Vec<String>,
    /// Words of one that does something else, before or after it.
    pub preparing: Vec<String>,
    /// Words of one that serves the checks in the background.
    pub serving: Vec<String>,
    /// Options with which no program executes anything but the answer to them.
    pub nothing_arguments: Vec<String>,
    /// Options of an interpreter whose value is the program that it runs, whatever follows, by the interpreter's name.
    pub inline: BTreeMap<String, Vec<String>>,
    /// Programs that test nothing and succeed: a task of these alone is empty.
    pub inert: Vec<String>,
    /// Words of a name that say the kind, the earlier in the list the stronger.
    pub word: Vec<NameWord>,
    /// Words that may occur together with `test` without choosing a part of the tests.
    pub whole: Vec<String>,
    /// Words with which a task that formats only checks.
    pub checking: Vec<String>,
    /// Words in the name of a task that may test as well.
    pub mixed: Vec<String>,
    /// Words with which a task stays to watch.
    pub watching: Vec<String>,
    /// Arguments that choose no part, for any runner that a task may start.
    pub neutral_arguments: Vec<String>,
    /// Variables that choose no part, each with the pattern of the values for which this holds.
    pub neutral_values: BTreeMap<String, String>,
    /// Arguments with which files are changed, for any runner that a task may start.
    pub editing_arguments: Vec<String>,
}

/// A word of a task's name, and its meaning.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NameWord {
    /// The words.
    pub is: Vec<String>,
    /// The kinds of work that the words stand for.
    pub kinds: Vec<CommandKind>,
}
