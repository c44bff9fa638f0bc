//! Task aliases: `npm test`, `make check`, `mise run lint`. A file of the project defines the commands that they run.

use regex::Regex;

use self::task_words::{TaskWords, sorted};
use super::generated::called;
use super::project_files::{InDirectory, ProjectFiles};
use crate::runner::arguments::Upwards;
use crate::runner::catalogue::Catalogue;
use crate::runner::command_kind::CommandKind;
use crate::runner::invocation::MatchedRunner;
use crate::runner::runner_definition::Runner;
use crate::runner::task::task_files::{TaskDefinitions, TaskSource};

mod justfile;
mod makefile;
mod member_scripts;
mod rakefile;
mod shells;
mod task_definition;
mod task_files;
mod task_rules;
mod task_words;
mod taskfile;

pub use task_definition::TaskScript;
pub use task_rules::{Format, TaskNames, TaskRules};

/// A call of a task, resolved as far as the project's files can be read.
#[expect(clippy::struct_excessive_bools, reason = "independent facts about the task")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskRun {
    /// The id of the task runner.
    pub runner: String,
    /// The name of the task.
    pub task: String,
    /// The task that it stands for, because it has no step of its own: `check` for `test: check` in a Makefile.
    pub stands_for: Option<String>,
    /// The name in reports: `npm test`, `mise test:ci`.
    pub label: String,
    /// The shell lines it runs, those of the tasks it depends on first, or `None` if the file cannot be read, or does
    /// not define it in a way that can be followed.
    pub script: Option<Vec<String>>,
    /// The same lines if none of those failed whose failure the runner ignores and prints.
    pub unless_ignored: Option<Vec<String>>,
    /// The other scripts that it may have, because something outside of its file decides.
    pub variants: Vec<TaskScript>,
    /// The reason why status 0 of it proves nothing, whatever its lines do.
    pub doubt: Option<String>,
    /// `true` if the file has scripts that run before or after it because of their names (`pretest`).
    pub framed: bool,
    /// `true` if one of them runs after it.
    pub has_post: bool,
    /// `true` if each of its lines runs only after the one before it succeeded, and nothing runs beside it or after it.
    pub in_order: bool,
    /// The arguments that are passed on to the last line of the script, or `None` if one of them is not literal.
    pub arguments: Vec<Option<String>>,
    /// The directory it runs in, if the line names one, relative to where it is called.
    pub directory: Option<String>,
    /// `true` if this directory is that of a member of the workspace which the line names: `npm test -w @acme/core`.
    pub is_of_member: bool,
    /// The argument that restricts it to a part of the workspace.
    pub filtered: Option<String>,
    /// The option with which nothing is executed (`make -n`).
    pub nothing: Option<String>,
    /// `true` if it is the one that runs if none is named: `make all`.
    pub is_default: bool,
    /// `true` if an option makes the exit status 0 whatever happens (`make -i`).
    pub exit_zero: bool,
    /// `true` if other lines may follow the one that says that it failed (`make -k`).
    pub goes_past: bool,
}

/// Returns the files that define what `argv` does, if its runner looks for them in the folders above as well.
pub fn files_above(catalogue: &Catalogue, argv: &[Option<String>]) -> Option<Upwards> {
    let runner = crate::runner::invocation::find(catalogue, argv)?.runner;
    let of_tasks = runner.task.as_ref().filter(|rules| rules.upwards);
    let of_tasks = of_tasks.map(|rules| Upwards {
        files: rules.file.clone(),
        only_defined: rules.runs_programs,
        ..Upwards::default()
    });
    let upwards = of_tasks.or_else(|| runner.arguments.upwards.clone())?;
    let is_path = |word: &&str| upwards.unless.iter().any(|option| word.split('=').next() == Some(option));
    (!argv.iter().flatten().any(|word| is_path(&word.as_str()))).then_some(upwards)
}

/// Returns the places of the arguments of `argv` that are no options, or `None` if they are not known.
pub fn positions(catalogue: &Catalogue, argv: &[Option<String>]) -> Option<Vec<usize>> {
    let found = crate::runner::invocation::find(catalogue, argv)?;
    let first = argv.len() - found.rest.len();
    let (mut places, mut at) = (Vec::new(), 0);
    while let Some(word) = found.rest.get(at) {
        let word = word.filter(|word| *word != "--")?;
        let next = found.rest.get(at + 1).copied().flatten();
        if !word.starts_with('-') {
            places.push(first + at);
        } else if !word.contains('=') && found.runner.arguments.takes(word, next) {
            at += 1;
        }
        at += 1;
    }
    Some(places)
}

/// Returns the tasks that `argv` calls; none if it calls no task.
pub fn resolve(catalogue: &Catalogue, argv: &[Option<String>], files: &dyn ProjectFiles) -> Vec<TaskRun> {
    match crate::runner::invocation::find(catalogue, argv) {
        Some(found) => match &found.runner.task {
            Some(rules) => calls(catalogue, rules, &found, files),
            None => called(&found, files).into_iter().collect(),
        },
        None => Vec::new(),
    }
}

/// Returns `true` if a Makefile has no recipe for a target whose name does not say that it only prepares something.
fn lacks_recipe(catalogue: &Catalogue, rules: &TaskRules, tasks: Option<&TaskDefinitions>, name: &str) -> bool {
    rules.format == Format::Makefile
        && !self::words(name).iter().any(|word| catalogue.names().preparing.contains(word))
        && tasks.is_some_and(|tasks| tasks.lacks(name))
}

fn calls(
    catalogue: &Catalogue,
    rules: &TaskRules,
    found: &MatchedRunner<'_>,
    files: &dyn ProjectFiles,
) -> Vec<TaskRun> {
    let MatchedRunner { runner, invoke, program, rest, .. } = found;
    let Some(words) = sorted(catalogue, rules, found) else { return Vec::new() };
    let TaskWords { own, mut names, mut handed, directory, other_file, variable, given } = words;
    let read = runner.arguments.read(&own);
    if read.nothing.is_some() && names.is_empty() {
        return Vec::new();
    }
    // An option of rake is one of the tasks that it runs, too.
    let changed = rules.format == Format::Rakefile && runner.arguments.makes_a_difference(&own);
    let (directory, is_of_member) = folder_of_call(runner, directory, &own, files);
    let here = InDirectory { files, directory: directory.as_deref() };
    let added = |folder: &String| here.names(folder).is_some_and(|names| !names.is_empty());
    let file = match other_file {
        _ if changed || rules.folders.iter().any(added) => None,
        Some(path) => here.read(path),
        None => rules.file.iter().find_map(|path| here.read(path)),
    };
    let source = file.as_deref().map(|text| TaskSource { format: rules.format, text, files: &here, given: &given });
    let tasks = source.as_ref().and_then(|source| TaskDefinitions::read(source, None));
    // `make` is `make test` if that is the first target.
    let tests = |name: &String| catalogue.names().kinds(rules, name).contains(&CommandKind::Test);
    let default_task = tasks.as_ref().and_then(|tasks| tasks.default_task(rules));
    if names.is_empty() {
        let named = default_task.as_ref().filter(|name| tests(name)).or(rules.default_task.as_ref());
        let Some(name) = named else { return Vec::new() };
        names.push(name);
    }
    let text = file.as_deref().filter(|_| rules.several);
    let all_names =
        |name: &str| text.map_or_else(|| vec![name.to_owned()], |text| task_files::matching(rules.format, text, name));
    let mut names: Vec<String> = names.into_iter().flat_map(all_names).collect();
    if let Some(text) = file.as_deref().filter(|_| rules.format == Format::Justfile)
        && let Some(more) = justfile::more_recipes(text, &names, &handed)
    {
        names.extend(more);
        handed.clear();
    }
    let filtered = read.filter.clone().or(variable).or_else(|| invoke.filtered.then(|| invoke.words.join(" ")));
    let goes_past = goes_past(runner, rest, file.as_deref());
    let mut runs = Vec::new();
    for name in names {
        let name = name.as_str();
        if invoke.task.is_none() && invoke.words.is_empty() && rules.not_tasks.iter().any(|word| word == name) {
            continue;
        }
        let generated = file.as_deref().and_then(|text| {
            runner.generated.iter().find_map(|generated| generated.line(text, name)).map(|line| vec![line.clone()])
        });
        let defined = || tasks.as_ref().and_then(|tasks| tasks.script(name));
        let found = generated.map_or_else(defined, |lines| Some(TaskScript { lines, ..TaskScript::default() }));
        let is_missing =
            found.is_none() && tests(&name.to_owned()) && lacks_recipe(catalogue, rules, tasks.as_ref(), name);
        let open = tasks.as_ref().zip(source.as_ref()).filter(|_| tests(&name.to_owned()));
        let variants = open.map(|(tasks, source)| tasks.variants(name, source)).unwrap_or_default();
        let TaskScript { lines, unless_ignored, doubt } = found.unwrap_or_default();
        let script = Some(lines).filter(|lines| !lines.is_empty());
        let doubt = doubt.or_else(|| is_missing.then(|| format!("gate does not find the recipe of `{name}`")));
        if rules.only_defined && script.is_none() {
            continue;
        }
        let absent = script.is_none() && file.is_some() && rules.format == Format::JsonScripts && is_optional(&own);
        let called: Vec<&str> = own.iter().copied().flatten().chain(invoke.words.iter().map(String::as_str)).collect();
        let in_no_member = matches!(&tasks, Some(TaskDefinitions::Json(package)) if member_scripts::none_defines(&called, package, &here, name));
        let has_script = |word: &str| {
            let tasks = tasks.as_ref().filter(|_| rules.format == Format::JsonScripts);
            tasks.is_some_and(|tasks| tasks.script(&format!("{word}{name}")).is_some())
        };
        // Each line of the recipe is one whose failure is ignored.
        let ignored = |lines: &Vec<String>| !lines.is_empty() && lines.iter().all(|line| line.ends_with(" || true"));
        let always_succeeds =
            doubt.is_some() || rules.format == Format::Makefile && script.as_ref().is_some_and(ignored);
        let (is_test, has_post) = (tests(&name.to_owned()), has_script("post"));
        let exit_zero = read.exit_zero == Some(true) || always_succeeds;
        let is_alone = script.as_ref().is_some_and(|lines| lines.len() == 1);
        let keeps_order = is_alone || file.as_deref().is_some_and(|text| task_files::keeps_order(rules.format, text));
        let label = rules.test_label.as_deref().filter(|_| is_test).unwrap_or(&rules.label);
        runs.push(TaskRun {
            runner: runner.id.clone(),
            task: name.to_owned(),
            stands_for: tasks.as_ref().and_then(|tasks| tasks.stands_for(name)),
            label: label.replace("{program}", program).replace("{task}", name).trim_end().to_owned(),
            script,
            unless_ignored,
            variants,
            doubt,
            framed: has_script("pre") || has_post,
            has_post,
            in_order: keeps_order && !(has_post || goes_past || exit_zero),
            arguments: handed.clone(),
            directory: directory.clone(),
            is_of_member,
            filtered: filtered.clone(),
            nothing: read
                .nothing
                .clone()
                .or_else(|| absent.then(|| "--if-present".to_owned()))
                .or_else(|| in_no_member.then(|| "no member that has the script".to_owned())),
            is_default: default_task.as_deref() == Some(name),
            exit_zero,
            goes_past,
        });
    }
    runs
}

/// Returns the folder in which a call runs its tasks, and `true` if that is the folder of the member that its words name.
fn folder_of_call(
    runner: &Runner,
    named: Option<String>,
    words: &[Option<&str>],
    files: &dyn ProjectFiles,
) -> (Option<String>, bool) {
    let words: Option<Vec<&str>> = words.iter().copied().collect();
    let of_member = |words: &[&str]| runner.arguments.at_home(&runner.arguments.essence(words), files);
    let member = words.filter(|_| named.is_none()).and_then(|words| of_member(&words)).map(|(folder, _)| folder);
    let is_of_member = member.is_some();
    (named.or(member), is_of_member)
}

/// Returns `true` if an argument, or a variable in an argument or in the file of the tasks, may be an option with which
/// other lines follow the one that says that a task failed.
fn goes_past(runner: &Runner, words: &[Option<&str>], file: Option<&str>) -> bool {
    let output = &runner.output;
    let is_assigned = |name: &String| {
        words.iter().flatten().any(|word| word.split(['=', '+', ':']).next() == Some(name))
            || file.is_some_and(|text| text.contains(name.as_str()))
    };
    runner.arguments.given(words).iter().any(|option| output.goes_past.contains(option))
        || output.goes_past.iter().any(|option| option == "*")
        || output.goes_past_with.iter().any(is_assigned)
}

/// Returns `true` if a missing task does not fail the command; another package of the workspace may define it.
fn is_optional(words: &[Option<&str>]) -> bool {
    const OTHERS: [&str; 8] = ["-w", "--workspace", "--workspaces", "-ws", "-r", "--recursive", "--filter", "-F"];
    let names: Vec<&str> = words.iter().flatten().map(|word| word.split('=').next().unwrap_or_default()).collect();
    names.contains(&"--if-present") && !names.iter().any(|name| OTHERS.contains(name))
}

impl TaskNames {
    /// Returns the kinds of work of a task, by its name alone.
    pub(crate) fn kinds(&self, rules: &TaskRules, task: &str) -> Vec<CommandKind> {
        if let Some(kinds) = rules.names.get(task) {
            return kinds.clone();
        }
        let words = words(task);
        let found = self.word.iter().find(|entry| words.iter().any(|word| entry.is.iter().any(|is| is == word)));
        let mut kinds = found.map_or_else(|| vec![CommandKind::Other], |entry| entry.kinds.clone());
        if kinds == [CommandKind::Format] && words.iter().any(|word| self.checking.contains(word)) {
            kinds = vec![CommandKind::Lint];
        }
        kinds
    }

    /// Returns the part of the tests that a task is restricted to by its name.
    pub(crate) fn part(&self, task: &str) -> Option<String> {
        words(task).into_iter().find(|word| !self.whole.contains(word)).map(|_| format!("the task {task}"))
    }

    /// Returns `true` if a task of this name may test, although it is not known as a test.
    pub(crate) fn may_test(&self, task: &str) -> bool {
        words(task).iter().any(|word| self.mixed.contains(word))
    }

    /// Returns `true` if a task of this name keeps running and watches.
    pub(crate) fn watches(&self, task: &str) -> bool {
        words(task).iter().any(|word| self.watching.contains(word))
    }

    /// Returns `true` if a task of this name certainly runs no checks of this kind.
    pub(crate) fn is_no(&self, kind: CommandKind, task: &str) -> bool {
        let words = words(task);
        let found = self.word.iter().find(|entry| words.iter().any(|word| entry.is.iter().any(|is| is == word)));
        found.is_some_and(|entry| !entry.kinds.contains(&kind))
    }

    /// Returns `true` if an argument chooses nothing for any program.
    fn is_neutral(&self, word: &str) -> bool {
        let name = word.split('=').next().unwrap_or(word);
        self.neutral_arguments.iter().any(|argument| argument == name || argument == word)
            || self.has_neutral_value(word)
    }

    /// Returns `true` if a word gives a variable a value that chooses nothing.
    pub(crate) fn has_neutral_value(&self, word: &str) -> bool {
        let Some((name, value)) = word.split_once('=') else { return false };
        let pattern = self.neutral_values.get(name).map(|pattern| Regex::new(&format!("^(?:{pattern})$")));
        pattern.is_some_and(|pattern| pattern.is_ok_and(|pattern| pattern.is_match(value)))
    }

    /// Returns the argument that chooses a part, among those passed on to a task with an unknown runner.
    pub(crate) fn choosing<'a>(&self, arguments: &'a [Option<String>]) -> Option<&'a str> {
        let word = arguments.iter().find(|word| !word.as_deref().is_some_and(|word| self.is_neutral(word)))?;
        Some(word.as_deref().unwrap_or("an argument that the text does not show"))
    }
}

/// Returns the words of a name: `test:ci`, `lint-fix`, `build_all`, `//pkg:testE2E`.
fn words(task: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for c in task.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && lower) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().into_iter().for_each(|word| word.extend(c.to_lowercase()));
        }
        lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}
