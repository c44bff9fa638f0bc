//! From the words of a simple command to the work it would execute.

mod script_commands;

use std::cell::Cell;

use self::script_commands::{ScriptCommand, followed};
use crate::runner::ambiguous_calls::is_met;
use crate::runner::arguments::ReadArguments;
use crate::runner::catalogue::{Catalogue, program_name};
use crate::runner::command_kind::{CommandKind, ExitMeaning, RunScope};
use crate::runner::project_files::{InDirectory, ProjectFiles};
use crate::runner::runner_definition::{Invoke, Runner};
use crate::runner::shadowing_module::shadowing_module;
use crate::runner::task::{TaskRun, resolve};
use crate::runner::task_order::{OrderedStep, TaskOrder, combined};

/// The largest depth of tasks that call tasks.
const MAX_DEPTH: u8 = 4;

/// The largest number of commands that are classified for one command. Scripts that call scripts can multiply.
const MAX_COMMANDS: u32 = 200;

/// The work that a simple command would execute.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a command")]
pub struct Invocation {
    /// The kinds of work; empty if the catalogue does not know the command.
    pub kinds: Vec<CommandKind>,
    /// The name: the id of the runner, or the task as people name it (`npm test`, `mise test:ci`).
    pub runner: Option<String>,
    /// The ids of the runners whose output it prints, task runners included, as far as they are known.
    pub runs: Vec<String>,
    /// The part of the existing checks that it executes. For tests, builds, linters and type checkers.
    pub scope: RunScope,
    /// The meaning of exit status 0.
    pub exit: ExitMeaning,
    /// `true` if exit status 0 is possible although no test was executed.
    pub empty_exits_zero: bool,
    /// `true` if it changes files of the working tree; build products do not count.
    pub edits: bool,
    /// `true` if it keeps running and watches for changes.
    pub watches: bool,
    /// `true` if a line about tests comes with status 0: its runner always prints one, and nothing keeps it from the
    /// output.
    pub speaks: bool,
    /// The file of the project that takes the place of the runner.
    pub shadowed_by: Option<String>,
    /// What the order of its commands says about their results.
    pub order: TaskOrder,
}

impl Invocation {
    fn unknown() -> Self {
        Self {
            kinds: Vec::new(),
            runner: None,
            runs: Vec::new(),
            scope: RunScope::NotApplicable,
            exit: ExitMeaning::Decides,
            empty_exits_zero: true,
            edits: false,
            watches: false,
            speaks: false,
            shadowed_by: None,
            order: TaskOrder::default(),
        }
    }

    /// Returns `true` if it executes tests, or would.
    pub fn is_test(&self) -> bool {
        self.kinds.contains(&CommandKind::Test)
    }
}

/// Returns the work that `argv` would execute. Wrappers (`env`, `timeout`, `npx`) are removed before; `None` is a word
/// that is not literal.
pub fn classify(catalogue: &Catalogue, argv: &[Option<String>], files: &dyn ProjectFiles) -> Invocation {
    match argv.first() {
        Some(Some(word)) if catalogue.may_start(word) => {
            classify_within(catalogue, argv, files, &Budget { left: &Cell::new(MAX_COMMANDS), depth: 0 })
        }
        _ => Invocation::unknown(),
    }
}

/// The number of commands that may still be classified.
struct Budget<'a> {
    left: &'a Cell<u32>,
    depth: u8,
}

impl Budget<'_> {
    /// Returns the budget for a command that a task runs.
    fn spend(&self) -> Option<Self> {
        let left = self.left.get().checked_sub(1).filter(|_| self.depth < MAX_DEPTH)?;
        self.left.set(left);
        Some(Self { left: self.left, depth: self.depth + 1 })
    }
}

fn classify_within(
    catalogue: &Catalogue,
    argv: &[Option<String>],
    files: &dyn ProjectFiles,
    budget: &Budget<'_>,
) -> Invocation {
    let Some(found) = find(catalogue, argv) else {
        return interpreted(catalogue, argv)
            .map_or_else(Invocation::unknown, |argv| classify_within(catalogue, &argv, files, budget));
    };
    if found.runner.task.is_none() && resolve(catalogue, argv, files).is_empty() {
        let options = &found.rest[..found.before.min(found.rest.len())];
        return Invocation { shadowed_by: shadowing_module(&found.names, options, files), ..direct(&found, files) };
    }
    let runs_programs = found.runner.task.as_ref().is_some_and(|rules| rules.runs_programs);
    let mut in_order = true;
    let steps = resolve(catalogue, argv, files).into_iter().map(|run| {
        in_order &= run.in_order;
        // What is not known about one task of a call is what its runner says of all of them, unless that is all there is.
        let idle = run.script.is_none() && !run.goes_past;
        let step = |invocation| OrderedStep { invocation, idle, decides: true, chained: true };
        if runs_programs
            && run.script.is_none()
            && catalogue.runs_as_program(&run.task)
            && let Some(budget) = budget.spend()
        {
            let argv: Vec<_> = std::iter::once(Some(run.task)).chain(run.arguments).collect();
            return step(classify_within(catalogue, &argv, files, &budget));
        }
        step(task(catalogue, &run, files, budget))
    });
    let steps: Vec<OrderedStep> = steps.collect();
    let is_one = steps.len() == 1;
    combined(catalogue, steps, in_order || is_one).unwrap_or_else(Invocation::unknown)
}

/// A runner, the way in which it is started, and its arguments.
pub(crate) struct MatchedRunner<'a> {
    pub runner: &'a Runner,
    pub invoke: &'a Invoke,
    pub program: String,
    pub name: String,
    /// The words that name the work.
    pub names: Vec<&'a str>,
    /// The arguments that are neither a choice nor a task, such as the folder of a build.
    pub skipped: Vec<Option<&'a str>>,
    /// The arguments.
    pub rest: Vec<Option<&'a str>>,
    /// The number of options before the last of the words that name the work.
    pub before: usize,
}

/// Returns the runner that `argv` starts: the one with the longest row of matching words.
pub(crate) fn find<'a>(catalogue: &'a Catalogue, argv: &'a [Option<String>]) -> Option<MatchedRunner<'a>> {
    let words: Vec<Option<&str>> = argv.iter().map(Option::as_deref).collect();
    let (program, rest) = words.split_first()?;
    let program = program_name(|name| catalogue.knows_program(name), (*program)?);
    let mut best: Option<(usize, MatchedRunner<'_>)> = None;
    for (runner, invoke) in catalogue.starts_given(&program, rest) {
        let Some(Matched { names, skipped, rest, before }) = matched(runner, invoke, rest) else { continue };
        // `python -c '…' -m pytest` runs the text, and hands it the rest.
        let inline = catalogue.names().inline.get(&program).map(Vec::as_slice).unwrap_or_default();
        if rest.iter().take(before).flatten().any(|word| inline.iter().any(|option| option == word)) {
            continue;
        }
        let weight = invoke.weight(runner);
        if best.as_ref().is_none_or(|(other, _)| weight > *other) {
            let name = if runner.family { family_name(runner, &program, &names) } else { runner.id.clone() };
            best = Some((
                weight,
                MatchedRunner { runner, invoke, program: program.clone(), name, names, skipped, rest, before },
            ));
        }
    }
    best.map(|(_, found)| found)
}

/// Returns the name of one of many programs that are alike: `cargo doc`, `shellcheck`, `mypy` for `python -m mypy`.
fn family_name(runner: &Runner, program: &str, words: &[&str]) -> String {
    if let ["-m", module, ..] = words {
        return (*module).to_owned();
    }
    let by_option = runner.id.contains(" -");
    let words = words.iter().filter(|word| by_option || !word.starts_with('-'));
    std::iter::once(&program).chain(words).copied().collect::<Vec<_>>().join(" ")
}

/// The words that a way to start a runner needs, and the other arguments.
struct Matched<'a> {
    names: Vec<&'a str>,
    skipped: Vec<Option<&'a str>>,
    rest: Vec<Option<&'a str>>,
    before: usize,
}

/// Compares `rest` with `invoke`; `None` if that needs other words.
fn matched<'a>(runner: &Runner, invoke: &'a Invoke, rest: &[Option<&'a str>]) -> Option<Matched<'a>> {
    let takes_value = |name: &str| {
        !name.contains('=')
            && (invoke.before.iter().any(|option| option == name)
                || runner.arguments.value.iter().any(|option| option == name))
    };
    let mut left: Vec<Option<&str>> = invoke.adds.iter().map(|option| Some(option.as_str())).collect();
    let (mut names, mut at) = (Vec::new(), 0);
    for wanted in &invoke.words {
        let is = |word: &str| wanted.split('|').any(|alternative| is_met(alternative, word));
        loop {
            let word = *rest.get(at)?;
            at += 1;
            match word {
                Some(word) if is(word) => {
                    names.push(word);
                    // Which of several goals it was decides nothing; each is an argument as well.
                    if invoke.anywhere {
                        left.push(Some(word));
                    }
                    break;
                }
                Some("--") => return None,
                Some(option) if option.starts_with('-') || option.starts_with('+') => {
                    // An option of the program itself says nothing about what the runner does.
                    let kept = !invoke.before.iter().any(|before| before == option.split('=').next().unwrap_or(option));
                    left.extend(kept.then_some(word));
                    if takes_value(option) {
                        left.extend(rest.get(at).copied().filter(|_| kept));
                        at += 1;
                    }
                }
                _ if invoke.anywhere => left.push(word),
                _ => return None,
            }
        }
    }
    let skipped = rest[at..].iter().take(invoke.skip).copied().collect::<Vec<_>>();
    at += skipped.len();
    at += usize::from(rest.get(at).copied().flatten().is_some_and(|word| invoke.then.iter().any(|then| then == word)));
    left.retain(|word| !word.is_some_and(|word| word.starts_with('+')));
    let before = left.len();
    left.extend(&rest[at..]);
    Some(Matched { names, skipped, rest: left, before })
}

/// Returns `true` if a command expands the patterns in its arguments itself.
pub(crate) fn expands_patterns(catalogue: &Catalogue, argv: &[Option<String>]) -> bool {
    find(catalogue, argv).is_some_and(|found| found.runner.arguments.globs)
}

/// Removes an interpreter: `node node_modules/.bin/jest …` is `jest …`.
pub(crate) fn interpreted(catalogue: &Catalogue, argv: &[Option<String>]) -> Option<Vec<Option<String>>> {
    let program = program_name(|name| catalogue.knows_program(name), argv.first()?.as_deref()?);
    if !catalogue.names().interpreters.contains(&program) {
        return None;
    }
    let script = argv.iter().skip(1).position(|word| word.as_deref().is_none_or(|word| !word.starts_with('-')))? + 1;
    let word = argv.get(script)?.as_deref()?;
    // A shell looks for a script here first: `sh mvnw test`.
    let is_script = word.contains('/') || word.ends_with('w') && program.ends_with("sh");
    let known = is_script && catalogue.knows_program(&program_name(|name| catalogue.knows_program(name), word));
    known.then(|| argv[script..].to_vec())
}

fn direct(found: &MatchedRunner<'_>, files: &dyn ProjectFiles) -> Invocation {
    let MatchedRunner { runner, invoke, name, rest, .. } = found;
    let read = runner.arguments.read(rest);
    let mut kinds = invoke.kinds.clone().unwrap_or_else(|| runner.kinds.clone());
    let mut nothing = read.nothing.clone().or_else(|| invoke.nothing.then(|| invoke.words.join(" ")));
    if nothing.is_some() && kinds.len() > 1 {
        // `mvn package -DskipTests` is a build.
        let before = kinds.len();
        kinds.retain(|kind| *kind != CommandKind::Test);
        if kinds.len() < before && kinds.contains(&CommandKind::Build) && !invoke.nothing {
            nothing = None;
        }
    }
    let scope = scope(&kinds, nothing, &read, invoke);
    let exit = match read.exit_zero {
        Some(true) => ExitMeaning::ZeroOnFindings,
        Some(false) => ExitMeaning::Decides,
        None => invoke.exit.unwrap_or(runner.exit),
    };
    let executes = !matches!(scope, RunScope::NoneExecuted { .. });
    let hushes = |hush: &String| {
        rest.iter().flatten().any(|word| word.contains(hush.as_str()))
            || found.names.contains(&hush.trim_start_matches('-'))
    };
    let speaks = executes && !runner.output.hushed.iter().any(hushes) && runner.output.speaks(files);
    Invocation {
        edits: executes && read.edit.unwrap_or_else(|| invoke.edits.unwrap_or(runner.edits)),
        kinds,
        runner: Some(name.clone()),
        runs: vec![runner.id.clone()],
        scope,
        exit,
        empty_exits_zero: runner.empty_exits_zero || read.empty_exits_zero,
        watches: read.watch || invoke.watches,
        speaks,
        shadowed_by: None,
        order: TaskOrder::alone(&runner.id),
    }
}

fn scope(kinds: &[CommandKind], nothing: Option<String>, read: &ReadArguments, invoke: &Invoke) -> RunScope {
    let checks = [CommandKind::Test, CommandKind::Build, CommandKind::Typecheck, CommandKind::Lint];
    if !kinds.iter().any(|kind| checks.contains(kind)) {
        return RunScope::NotApplicable;
    }
    match (nothing, &read.filter) {
        (Some(why), _) => RunScope::NoneExecuted { why },
        (_, Some(by)) => RunScope::Filtered { by: by.clone() },
        _ if invoke.filtered => RunScope::Filtered { by: invoke.words.join(" ") },
        _ => RunScope::Full,
    }
}

/// Returns the work of a task: that of its script, or, if that cannot be followed, the one that its name implies.
fn task(catalogue: &Catalogue, run: &TaskRun, files: &dyn ProjectFiles, budget: &Budget<'_>) -> Invocation {
    let named = named(catalogue, run);
    if let Some(why) = &run.nothing {
        return Invocation { scope: RunScope::NoneExecuted { why: why.clone() }, edits: false, ..named };
    }
    if named.is_test() && is_inert(catalogue, run, files, budget) {
        let why = run.script.iter().flatten().map(|line| format!("`{}`", line.trim())).collect::<Vec<_>>().join(", ");
        return Invocation { scope: RunScope::NoneExecuted { why }, edits: false, ..named };
    }
    let Some(commands) = run.script.as_ref().and_then(|lines| followed(lines)) else {
        let here = InDirectory { files, directory: run.directory.as_deref() };
        let speaks = catalogue.runner(&run.runner).is_some_and(|runner| runner.output.speaks(&here));
        return Invocation { speaks: speaks && named.is_test(), ..named };
    };
    let last = commands.len().saturating_sub(1);
    let steps = commands.into_iter().enumerate().map(|(index, command)| {
        let mut argv = command.argv.clone();
        if index == last {
            argv.extend(run.arguments.iter().cloned());
        }
        let here = InDirectory { files, directory: run.directory.as_deref() };
        let there = InDirectory { files: &here, directory: command.directory.as_deref() };
        let found = match budget.spend() {
            Some(budget) => classify_within(catalogue, &argv, &there, &budget),
            None => Invocation::unknown(),
        };
        let exit = if command.decides { found.exit } else { ExitMeaning::ZeroOnFindings };
        let speaks = found.speaks && command.decides && command.visible;
        let program = command.argv.first().and_then(Option::as_deref);
        let is_inert = program.is_some_and(|program| catalogue.names().inert.iter().any(|name| name == program));
        OrderedStep {
            idle: found.kinds.is_empty() && (command.reads || is_inert),
            decides: command.decides,
            chained: command.chained,
            invocation: Invocation { exit, speaks, ..found },
        }
    });
    let checks = [CommandKind::Test, CommandKind::Build, CommandKind::Typecheck, CommandKind::Lint];
    // A task with the name of tests that runs nothing known is what its name says.
    let says_enough = |whole: &Invocation| !named.is_test() || whole.kinds.iter().any(|kind| checks.contains(kind));
    let Some(mut whole) = combined(catalogue, steps.collect(), run.in_order).filter(says_enough) else { return named };
    whole.order.goes_on |= run.has_post;
    // The name of the task stays the name of what ran; a subset that the name announces stays one.
    whole.runner.clone_from(&named.runner);
    if catalogue.runner(&run.runner).is_some_and(|runner| runner.task.is_some()) {
        whole.runs.insert(0, run.runner.clone());
    }
    if run.exit_zero {
        whole.exit = ExitMeaning::ZeroOnFindings;
    }
    if whole.scope == RunScope::Full
        && let RunScope::Filtered { by } = &named.scope
        && (run.filtered.is_some() || (whole.is_test() && named.is_test() && run.arguments.is_empty()))
    {
        whole.scope = RunScope::Filtered { by: by.clone() };
    }
    whole
}

/// Returns the work of a task without a known script: only its name counts.
fn named(catalogue: &Catalogue, run: &TaskRun) -> Invocation {
    let names = catalogue.names();
    let rules = catalogue.runner(&run.runner).and_then(|runner| runner.task.as_ref());
    let kinds = rules.map_or_else(|| vec![CommandKind::Other], |rules| names.kinds(rules, &run.task));
    let chosen = || names.choosing(&run.arguments).map(str::to_owned);
    let part = run.filtered.clone().or_else(chosen).or_else(|| {
        let told = rules.is_some_and(|rules| rules.names.contains_key(&run.task));
        names.part(&run.task).filter(|_| kinds.contains(&CommandKind::Test) && !told)
    });
    let read = ReadArguments { filter: part, ..ReadArguments::default() };
    Invocation {
        scope: scope(&kinds, None, &read, &Invoke::default()),
        edits: kinds.contains(&CommandKind::Format)
            || kinds.contains(&CommandKind::Codegen)
            || run.arguments.iter().flatten().any(|argument| names.editing_arguments.contains(argument)),
        kinds,
        runner: Some(run.label.clone()),
        runs: vec![run.runner.clone()],
        exit: if run.exit_zero { ExitMeaning::ZeroOnFindings } else { ExitMeaning::Decides },
        empty_exits_zero: true,
        watches: names.watches(&run.task),
        speaks: false,
        shadowed_by: None,
        order: TaskOrder { opaque: true, ..TaskOrder::default() },
    }
}

/// Returns `true` if a task, and every task that it calls, runs only programs that execute no test and succeed.
fn is_inert(catalogue: &Catalogue, run: &TaskRun, files: &dyn ProjectFiles, budget: &Budget<'_>) -> bool {
    let commands = run.script.as_ref().filter(|_| !run.framed).and_then(|lines| followed(lines));
    let is_inert = |command: &ScriptCommand| {
        let program = command.argv.first().and_then(Option::as_deref);
        if program.is_some_and(|program| catalogue.names().inert.iter().any(|name| name == program)) {
            return true;
        }
        let here = InDirectory { files, directory: run.directory.as_deref() };
        let there = InDirectory { files: &here, directory: command.directory.as_deref() };
        let calls = resolve(catalogue, &command.argv, &there);
        let empty = |call: &TaskRun| budget.spend().is_some_and(|budget| is_inert(catalogue, call, &there, &budget));
        !calls.is_empty() && calls.iter().all(empty)
    };
    commands.is_some_and(|commands| commands.iter().all(is_inert))
}

#[cfg(test)]
mod tests;
