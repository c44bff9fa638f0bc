//! The checks that a command line requires, each with a key that identifies another run of the same check.

use std::collections::{BTreeMap, BTreeSet};

use crate::command_line::command_table::table;
use crate::command_line::purpose::Purpose;
use crate::command_line::understanding::{CHECKS, understand};
use crate::repo_path::seen_from;
use crate::runner::{Catalogue, Identity, ProjectFiles, TaskRun, files_above, resolve};
use crate::shell::exit_status;
use crate::shell::expanded_program::Leaf;
use crate::shell_quote::shell_word;

use super::content_comes_and_goes;
use super::folder_above::{call_from_settings, folder_above, workspace_above};
use super::script_call::{script_call, script_lines};
use super::search_path::{finds_installed_programs, places_here};
use super::start_directory::{DirectoryView, StartDirectory, directory};
use super::surroundings::surroundings_change;
use super::words_of_call::{take_neutral_values, words_of};

/// The maximum depth of tasks that call tasks.
const MAX_DEPTH: usize = 4;
/// The maximum number of commands that are read for one line.
const MAX_COMMANDS: usize = 64;

/// The identity of a check: two runs with the same key are runs of the same check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CheckKey {
    /// The directory, from the root of the working tree; empty for the root.
    pub(super) directory: String,
    /// The variables that the line sets for it and that may change its findings.
    pub(super) environment: BTreeMap<String, String>,
    /// The variables that the line removes.
    pub(super) withheld: BTreeSet<String>,
    /// Its wrappers: containers, other machines, environments that are chosen by options.
    pub(super) inside: Vec<(String, Vec<String>)>,
    pub(super) what: CheckSubject,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CheckSubject {
    /// A runner or a task of the catalogue.
    Known(Box<Identity>),
    /// Any other program, compared word by word; a script of the project by its interpreter and its path.
    Program(Vec<String>),
}

impl CheckKey {
    /// Returns `true` if a run of this check is a run of `asked`, too.
    pub(super) fn covers(&self, asked: &Self) -> bool {
        let same = match (&self.what, &asked.what) {
            (CheckSubject::Known(mine), CheckSubject::Known(theirs)) => mine.covers(theirs),
            (CheckSubject::Program(mine), CheckSubject::Program(theirs)) => mine == theirs,
            _ => false,
        };
        same && self.directory == asked.directory
            && self.has_variables_of(asked)
            && self.withheld.is_superset(&asked.withheld)
            && self.inside == asked.inside
    }

    /// Returns `true` if the variables are those of `asked`, except for those that change nothing about it.
    fn has_variables_of(&self, asked: &Self) -> bool {
        let anyway = |(name, value): (&String, &String)| table().environment.is_indifferent(name, value);
        asked.environment.iter().all(|(name, value)| self.environment.get(name) == Some(value))
            && self.environment.iter().all(|one| asked.environment.contains_key(one.0) || anyway(one))
    }
}

/// A check that a line requires, and its parts if it is a task that can be followed.
#[derive(Clone, Debug)]
pub(super) struct RequestedCheck {
    pub(super) key: CheckKey,
    pub(super) parts: Option<Vec<RequestedCheck>>,
    /// The same check of each member of a workspace, which together are this one.
    pub(super) members: Option<Vec<RequestedCheck>>,
    /// `true` if the files on disk show that its work was done already.
    pub(super) settled: bool,
    /// `true` if it is a share of a larger check, in which there may be no test.
    pub(super) is_share: bool,
}

impl RequestedCheck {
    /// Adds the variables and the wrappers of a call to the parts of its task.
    fn surround(&mut self, call: &CheckKey) {
        for (name, value) in &call.environment {
            self.key.environment.entry(name.clone()).or_insert_with(|| value.clone());
        }
        let own = &self.key.environment;
        self.key.withheld.extend(call.withheld.iter().filter(|name| !own.contains_key(*name)).cloned());
        self.key.inside.splice(..0, call.inside.iter().cloned());
        self.parts.iter_mut().chain(&mut self.members).flatten().for_each(|part| part.surround(call));
    }
}

/// Returns all checks that must succeed for a line to succeed, or `None` if they are unknown or if something else
/// decides, too.
pub(super) fn asked_of_line(line: &str, place: StartDirectory<'_>) -> Option<Vec<RequestedCheck>> {
    of_line(line, place, &mut 0, 0)
}

fn of_line(line: &str, place: StartDirectory<'_>, looked: &mut usize, depth: usize) -> Option<Vec<RequestedCheck>> {
    let view = DirectoryView(place);
    let understood = understand(line, place.project.with_files(&view)).ok()?;
    let mut asked = Vec::new();
    if surroundings_change(&understood, place) {
        return None;
    }
    for (id, (leaf, purpose)) in understood.steps().enumerate() {
        if only_prepares(leaf, purpose) {
            continue;
        }
        *looked += 1;
        let checks = CHECKS.iter().any(|kind| purpose.is(*kind));
        if *looked > MAX_COMMANDS
            || checks && !purpose.honest()
            || !exit_status::fate(&understood.program, id).decides()
        {
            return None;
        }
        asked.push(of_leaf(leaf, place, looked, depth)?);
    }
    (!asked.is_empty()).then_some(asked)
}

/// Returns the checks of a line of a script. A word that is there only if a variable is set may not make a difference.
fn of_script_line(
    line: &str,
    place: StartDirectory<'_>,
    looked: &mut usize,
    depth: usize,
) -> Option<Vec<RequestedCheck>> {
    let Some([without, with]) = optional_word(line) else { return of_line(line, place, looked, depth) };
    let (without, with) = (of_line(&without, place, looked, depth)?, of_line(&with, place, looked, depth)?);
    let same =
        |(one, other): (&RequestedCheck, &RequestedCheck)| one.key.covers(&other.key) && other.key.covers(&one.key);
    (without.len() == with.len() && without.iter().zip(&with).all(same)).then_some(without)
}

/// Returns a line without a word that is there only if a variable is set, and with it: `bats ${CI+-t} test`.
fn optional_word(line: &str) -> Option<[String; 2]> {
    let (before, rest) = line.split_once(" ${")?;
    let (inner, after) = rest.split_once('}')?;
    let (name, word) = inner.split_once('+')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = name.strip_suffix(':').unwrap_or(name);
    let is_plain = word.starts_with('-') && word.chars().all(|c| is_name(c) || "-=./".contains(c));
    let quoted = before.contains(['\'', '"', '`', '\\', '#']);
    let fits = name.chars().all(is_name) && is_plain && !quoted && (after.is_empty() || after.starts_with(' '));
    fits.then(|| [format!("{before}{after}"), format!("{before} {word}{after}")])
}

/// Returns the check of one command.
pub(super) fn asked_of_leaf(leaf: &Leaf, place: StartDirectory<'_>) -> Option<RequestedCheck> {
    of_leaf(leaf, place, &mut 0, 0)
}

fn of_leaf(leaf: &Leaf, place: StartDirectory<'_>, looked: &mut usize, depth: usize) -> Option<RequestedCheck> {
    if leaf.shadowed || leaf.appended || leaf.argv.iter().any(|arg| !arg.whole) {
        return None;
    }
    let catalogue = place.project.runners;
    let mut directory = directory(leaf, place)?;
    let mut words: Vec<Option<String>> = words_of(leaf, &directory, place).into_iter().map(Some).collect();
    let values = take_neutral_values(&mut words, catalogue);
    let above = files_above(catalogue, &words);
    let started = directory.clone();
    if let Some(above) = above.as_ref().filter(|above| !above.below) {
        directory = folder_above(&directory, above, place);
    }
    let from_settings = above.as_ref().and_then(|above| call_from_settings(&words, above, &directory, place));
    let tasks = {
        let here = DirectoryView(StartDirectory { start: &directory, ..place });
        resolve(catalogue, &words, if leaf.remote { &() } else { &here })
    };
    let only_here = above.as_ref().is_some_and(|above| above.only_defined) && directory != started;
    let TaskParts { all: mut parts, each: inner_parts } =
        parts_of_tasks(&tasks, &directory, only_here, place, looked, depth)?;
    // All tasks of one call run in one directory.
    let first = tasks.first().filter(|task| !task.is_of_member);
    if let Some(named) = first.and_then(|task| task.directory.as_deref()) {
        directory = if named.starts_with(['/', '~']) { return None } else { seen_from(&directory, named)? };
    }
    let goals = if tasks.len() > 1 { goals(catalogue, &words, &tasks, inner_parts, &directory) } else { None };
    if let [task] = &tasks[..] {
        as_called_by_default(task, &mut words);
    }
    let (mut each, mut settled) = (None, false);
    let (mut packages, mut shares) = (Vec::new(), Vec::new());
    let what = match Identity::of(catalogue, &words) {
        Some(identity) if leaf.remote => CheckSubject::Known(Box::new(identity)),
        Some(identity) => {
            let identity = from_above(identity, &mut directory);
            let root = above.as_ref().and_then(|above| workspace_above(&identity, above, &directory, place));
            directory = root.unwrap_or(directory);
            let view = DirectoryView(StartDirectory { start: &directory, ..place });
            let identity = identity.within(catalogue, directory.is_empty(), &view);
            let root = place.root.map(|root| format!("{}/{directory}", root.trim_end_matches('/')));
            settled = root.is_some_and(|root| identity.is_settled(catalogue, root.trim_end_matches('/'), &view));
            let home = |identity| at_home(identity, &directory, catalogue, &view);
            each = identity.by_member(catalogue, &view).map(|each| each.into_iter().map(home).collect::<Vec<_>>());
            packages = identity.by_package(catalogue, &view).into_iter().map(home).collect();
            shares = identity.by_share(catalogue).into_iter().map(home).collect();
            let (identity, folder) = home(identity);
            directory = folder;
            CheckSubject::Known(Box::new(identity))
        }
        None => {
            let call = script_call(words.into_iter().flatten().collect(), &directory, place);
            if !leaf.remote {
                parts = parts_of_script(&call, &directory, place, looked, depth);
            }
            CheckSubject::Program(call)
        }
    };
    let environment = environment(leaf, place.root, &started)?.into_iter().chain(values).collect();
    let key = CheckKey { directory, environment, withheld: withheld(leaf)?, inside: inside(leaf)?, what };
    // The task of every member is not that of the file here.
    let mut parts = goals.or(parts).filter(|parts| !parts.is_empty() && each.is_none());
    let alone = |(identity, directory)| {
        let key = CheckKey { what: CheckSubject::Known(Box::new(identity)), directory, ..key.clone() };
        RequestedCheck { key, parts: None, members: None, settled: false, is_share: false }
    };
    let each = each.filter(|each| each.len() > 1);
    let mut members: Option<Vec<RequestedCheck>> = each.map(|each| each.into_iter().map(alone).collect());
    for member in members.iter_mut().flatten() {
        member.parts = parts_of_member(&member.key, place, looked, depth);
    }
    parts.iter_mut().flatten().for_each(|part| part.surround(&key));
    if matches!(&key.what, CheckSubject::Known(identity) if identity.has_separate_members(catalogue)) {
        parts = parts.or_else(|| members.take());
    }
    if !packages.is_empty() {
        parts = Some(packages.into_iter().map(alone).collect());
    } else if !shares.is_empty() && members.is_none() {
        let share = |share| RequestedCheck { is_share: true, ..alone(share) };
        parts = Some(shares.into_iter().map(share).collect());
    } else if let Some((words, folder)) = from_settings.filter(|_| !key.environment.contains_key("PYTHONPATH"))
        && let Some(identity) = Identity::of(catalogue, &words)
    {
        let view = DirectoryView(StartDirectory { start: &folder, ..place });
        parts = Some(vec![alone((identity.within(catalogue, folder.is_empty(), &view), folder.clone()))]);
    }
    Some(RequestedCheck { key, parts, members, settled, is_share: false })
}

/// Returns the checks of the task of one member of a workspace, if they are known.
fn parts_of_member(
    key: &CheckKey,
    place: StartDirectory<'_>,
    looked: &mut usize,
    depth: usize,
) -> Option<Vec<RequestedCheck>> {
    let CheckSubject::Known(identity) = &key.what else { return None };
    let line = identity.task_line(place.project.runners).filter(|_| depth < MAX_DEPTH)?;
    let place = StartDirectory { start: &key.directory, ..place };
    let [only] = <[RequestedCheck; 1]>::try_from(of_line(&line, place, looked, depth + 1)?).ok()?;
    let mut parts = only.parts?;
    for part in &mut parts {
        part.surround(key);
    }
    Some(parts)
}

/// Leaves out the name of the task that runs if none is named, and puts the task in its place for which it stands:
/// `make test` is `make check` where the Makefile says `test: check`.
fn as_called_by_default(task: &TaskRun, words: &mut Vec<Option<String>>) {
    let is_name = |word: &Option<String>| word.as_deref() == Some(&*task.task);
    match &task.stands_for {
        Some(other) => match words.iter_mut().find(|word| is_name(word)) {
            Some(word) => *word = Some(other.clone()),
            None => words.push(Some(other.clone())),
        },
        None if task.is_default => words.retain(|word| !is_name(word)),
        None => {}
    }
}

/// The checks of the tasks that one call starts.
struct TaskParts {
    /// The checks of all tasks together, or `None` if those of one task are unknown.
    all: Option<Vec<RequestedCheck>>,
    /// The checks of each task.
    each: Vec<Option<Vec<RequestedCheck>>>,
}

/// Returns the checks of tasks that start in `directory`, or `None` if one of them shows nothing by its status. `only_here`:
/// a task without a script is a program, which another folder may have.
fn parts_of_tasks(
    tasks: &[TaskRun],
    directory: &str,
    only_here: bool,
    place: StartDirectory<'_>,
    looked: &mut usize,
    depth: usize,
) -> Option<TaskParts> {
    let catalogue = place.project.runners;
    let mut parts = Some(Vec::new());
    let mut inner_parts = Vec::new();
    for task in tasks {
        if task.nothing.is_some() || task.exit_zero || only_here && task.script.is_none() {
            return None;
        }
        let inner = seen_from(directory, task.directory.as_deref().unwrap_or_default());
        let lines = match &task.script {
            // What runs before or after it belongs to it.
            Some(lines) if task.filtered.is_none() && !task.framed => script(lines, &task.arguments),
            // `yarn jest` is jest.
            None if catalogue.runs_as_program(&task.task) => script(std::slice::from_ref(&task.task), &task.arguments),
            _ => None,
        };
        let found = match (lines, inner.as_deref()) {
            (Some(lines), Some(start)) if depth < MAX_DEPTH => {
                let place = StartDirectory { start, ..place };
                let asked = lines.iter().map(|line| of_script_line(line, place, looked, depth + 1));
                asked.collect::<Option<Vec<_>>>()
            }
            _ => None,
        };
        let found = found.map(|found| found.into_iter().flatten().collect::<Vec<_>>());
        match (&mut parts, &found) {
            (Some(parts), Some(found)) => parts.extend(found.iter().cloned()),
            _ => parts = None,
        }
        inner_parts.push(found);
    }
    Some(TaskParts { all: parts, each: inner_parts })
}

/// Returns the checks of a script of the project that a call starts, if they are known.
fn parts_of_script(
    call: &[String],
    directory: &str,
    place: StartDirectory<'_>,
    looked: &mut usize,
    depth: usize,
) -> Option<Vec<RequestedCheck>> {
    let lines = script_lines(call, directory, place).filter(|_| depth < MAX_DEPTH)?;
    let view = DirectoryView(StartDirectory { start: directory, ..place });
    let understood = understand(&lines, place.project.with_files(&view)).ok()?;
    let (program, purposes) = (&understood.program, &understood.purposes);
    if (0..purposes.len()).any(|id| !purposes[id].edits && content_comes_and_goes(program, purposes, id)) {
        return None;
    }
    of_script_line(&lines, StartDirectory { start: directory, ..place }, looked, depth + 1)
}

/// Returns a check as it is written in the folder above, if that makes no difference, and goes there.
fn from_above(identity: Identity, directory: &mut String) -> Identity {
    match identity.seen_from_above(directory) {
        Some((seen, above)) => {
            *directory = above;
            seen
        }
        None => identity,
    }
}

/// Returns a check and the folder in which it runs: a check of one member of a workspace is one in the member's folder.
fn at_home(identity: Identity, directory: &str, catalogue: &Catalogue, files: &dyn ProjectFiles) -> (Identity, String) {
    let home = identity.at_home(catalogue, files);
    let home = home.and_then(|(folder, there)| Some((there, seen_from(directory, &folder)?)));
    home.unwrap_or_else(|| (identity, directory.to_owned()))
}

/// Returns each of several tasks of one call as a check of its own: `make lint test` is `make lint` and `make test`.
fn goals(
    catalogue: &Catalogue,
    words: &[Option<String>],
    tasks: &[TaskRun],
    parts: Vec<Option<Vec<RequestedCheck>>>,
    directory: &str,
) -> Option<Vec<RequestedCheck>> {
    let names: Vec<&str> = tasks.iter().map(|task| task.task.as_str()).collect();
    let is = |name: &str, word: &Option<String>| word.as_deref() == Some(name);
    // A word that is there twice may be the value of an option.
    let once = |name: &&str| words.iter().filter(|word| is(name, word)).count() == 1;
    if !names.iter().all(once) {
        return None;
    }
    let goal = |(task, parts): (&TaskRun, Option<Vec<RequestedCheck>>)| {
        let name = task.task.as_str();
        let other = |word: &Option<String>| names.iter().any(|other| *other != name && is(other, word));
        let mut own: Vec<Option<String>> = words.iter().filter(|word| !other(word)).cloned().collect();
        as_called_by_default(task, &mut own);
        let what = CheckSubject::Known(Box::new(Identity::of(catalogue, &own)?));
        let (environment, withheld, inside) = (BTreeMap::new(), BTreeSet::new(), Vec::new());
        let key = CheckKey { directory: directory.to_owned(), environment, withheld, inside, what };
        Some(RequestedCheck {
            key,
            parts: parts.filter(|parts| !parts.is_empty()),
            members: None,
            settled: false,
            is_share: false,
        })
    };
    tasks.iter().zip(parts).map(goal).collect()
}

/// Returns the lines of a script, with the arguments of the call after the last one.
fn script(lines: &[String], arguments: &[Option<String>]) -> Option<Vec<String>> {
    let mut lines = lines.to_vec();
    let last = lines.last_mut()?;
    for argument in arguments {
        last.push(' ');
        last.push_str(&shell_word(argument.as_deref()?));
    }
    Some(lines)
}

/// Returns the variables that may change the findings of a command, or `None` if one of them is unknown.
fn environment(leaf: &Leaf, root: Option<&str>, directory: &str) -> Option<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    // What the line exports before a `cd` names another folder.
    let moved = |value: &&String| leaf.directory.is_some() && value.contains("$PWD");
    let given =
        leaf.given.iter().map(|(name, value)| (name, value.as_ref().filter(|value| name == "PATH" || !moved(value))));
    let set = leaf.environment.iter().map(|(name, value)| (name, value.as_ref()));
    for (name, value) in given.chain(set) {
        if table().environment.alike.contains(name) {
            continue;
        }
        let value =
            value.filter(|_| name == "PYTHONPATH").map(|path| places_here(path, root, directory)).or(value.cloned());
        if name == "PATH" && value.as_deref().is_some_and(|path| finds_installed_programs(path, root, directory)) {
            continue;
        }
        found.insert(name.clone(), value);
    }
    found.into_iter().map(|(name, value)| Some((name, value?))).collect()
}

/// Returns the variables that a line removes before a command and that may change its findings, or `None` if it also sets
/// one of them, in an order that is not known here.
fn withheld(leaf: &Leaf) -> Option<BTreeSet<String>> {
    let set = |name: &String| leaf.environment.iter().any(|(set, _)| set == name);
    let matters = |name: &&String| !table().environment.alike.contains(*name);
    (!leaf.withheld.iter().any(set)).then(|| leaf.withheld.iter().filter(matters).cloned().collect())
}

/// Returns the wrappers in which a command may be a different one, or `None` if their words are unknown.
fn inside(leaf: &Leaf) -> Option<Vec<(String, Vec<String>)>> {
    let mut found = Vec::new();
    for (name, words) in &leaf.inside {
        let words: Vec<String> = words.iter().map(|arg| arg.literal().map(str::to_owned)).collect::<Option<_>>()?;
        if leaf.remote || !words.is_empty() {
            found.push((name.clone(), words));
        }
    }
    Some(found)
}

/// Returns `true` if a command is only a preparation: it changes directories, sets variables, or prints something.
pub(in crate::command_line) fn only_prepares(leaf: &Leaf, purpose: &Purpose) -> bool {
    purpose.kinds.is_empty() && !matches!(leaf.name(), Some("false" | "kill" | "pkill" | "killall"))
        || matches!(leaf.name(), Some("echo" | "printf"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_from_a_directory() {
        for (directory, path, want) in [
            ("", "", Some("")),
            ("", "web", Some("web")),
            ("web", "../api/", Some("api")),
            ("web/a", "./../b/.", Some("web/b")),
            ("web", "..", Some("")),
            ("web", "../..", None),
        ] {
            assert_eq!(seen_from(directory, path).as_deref(), want, "{directory} {path}");
        }
    }
}
