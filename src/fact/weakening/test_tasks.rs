//! Tasks and shell scripts that ran tests and no longer do.

use std::collections::BTreeSet;

use super::table::{TaskFile, table};
use super::{Weakened, WeakeningKind, line_of};
use crate::command_line::{self, ExitDecides, Extent, LineRecord, Purpose, Understood};
use crate::foreign_text::shortened_in_bytes;
use crate::repo_path::RepoPath;
use crate::runner::{Catalogue, CommandKind, Project, ProjectFiles, resolve};
use crate::shell::expanded_program::Leaf;
use crate::shell_kind::Shell;

/// The maximum number of tasks of a file that are compared.
const TASKS: usize = 200;
/// The maximum length of a script that is shown, in bytes.
const SHOWN: usize = 120;

/// One file of a project.
struct One<'a> {
    name: &'a str,
    text: &'a str,
}

impl ProjectFiles for One<'_> {
    fn read(&self, path: &str) -> Option<String> {
        (path == self.name).then(|| self.text.to_owned())
    }
}

/// The effect of a task on tests.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TaskEffect {
    /// The task runs tests with so many commands, and its status is theirs. `only_a_part` is `true` if none of them
    /// runs all.
    Tests { commands: usize, only_a_part: bool },
    /// The task runs tests, and passes with any result.
    TestsMasked,
    /// The task runs nothing.
    Nothing,
    /// The task runs something else, or something unknown. `only_builds` is `true` if every command is known, and they build.
    Other { only_builds: bool },
}

pub(super) fn compare(path: &RepoPath, old: &str, new: &str, runners: &Catalogue, changes: &mut Vec<Weakened>) {
    let text = path.to_string();
    let file = text.rsplit('/').next().unwrap_or_default();
    if table().is_script(path) {
        let (before, was) = effect(&script(old), shell_of(old), Project { runners, files: &() });
        let (after, is) = effect(&script(new), shell_of(new), Project { runners, files: &() });
        changes.extend(weakened(&was, &is).map(|what| Weakened {
            what,
            path: path.clone(),
            line: None,
            names: vec![file.to_owned()],
            obsolete: Vec::new(),
            before: shortened_in_bytes(before, SHOWN),
            after: shortened_in_bytes(after, SHOWN),
        }));
        return;
    }
    let Some(tasks) = table().tasks(path) else { return };
    let (old, new) = (One { name: file, text: old }, One { name: file, text: new });
    let there: BTreeSet<String> = names(tasks, new.text).collect();
    for name in names(tasks, old.text).take(TASKS).collect::<BTreeSet<_>>() {
        let (before, was) = does(tasks, &name, &old, runners);
        if matches!(was, TaskEffect::TestsMasked | TaskEffect::Nothing) {
            continue;
        }
        let (after, is) = does(tasks, &name, &new, runners);
        // What a task of tests ran is a test, even if no runner is known in it.
        let runs_nothing = matches!(is, TaskEffect::Nothing | TaskEffect::Other { only_builds: true });
        let ran_something = was == TaskEffect::Other { only_builds: false };
        let is_emptied = ran_something && runs_nothing && is_called_a_test(&name, runners);
        let Some(what) = weakened(&was, &is).or(is_emptied.then_some(WeakeningKind::TaskEmptied)) else { continue };
        let shown = |text: String| shortened_in_bytes(text, SHOWN);
        let gone = if there.contains(&name) { "" } else { "nothing of this name" };
        let after = if after.is_empty() { gone.to_owned() } else { shown(after) };
        changes.push(Weakened {
            what,
            path: path.clone(),
            line: line_of_task(tasks, &name, new.text),
            names: vec![name],
            obsolete: Vec::new(),
            before: shown(before),
            after,
        });
    }
}

/// Returns how a task is weakened that had one effect and has another.
fn weakened(was: &TaskEffect, is: &TaskEffect) -> Option<WeakeningKind> {
    let TaskEffect::Tests { commands: before, only_a_part: was_a_part } = was else { return None };
    Some(match is {
        // What one command did, several may share among them.
        TaskEffect::Tests { commands, only_a_part: true } if !was_a_part && commands <= before => {
            WeakeningKind::Narrowed
        }
        TaskEffect::Tests { .. } => return None,
        TaskEffect::TestsMasked => WeakeningKind::TaskMasked,
        TaskEffect::Nothing => WeakeningKind::TaskEmptied,
        TaskEffect::Other { .. } => WeakeningKind::TaskReplaced,
    })
}

fn is_called_a_test(name: &str, runners: &Catalogue) -> bool {
    let (checks, preparing) = (&runners.names().checks, &runners.names().preparing);
    let words = || name.split(|c: char| !c.is_alphanumeric()).map(str::to_ascii_lowercase);
    words().any(|word| checks.contains(&word)) && !words().any(|word| preparing.contains(&word))
}

/// Returns the lines of a shell script, without comments.
fn script(text: &str) -> Vec<String> {
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let lines: Vec<&str> = text.lines().filter(is_code).collect();
    if lines.is_empty() { Vec::new() } else { vec![lines.join("\n")] }
}

/// Returns the shell for which a script is written.
fn shell_of(script: &str) -> Shell {
    let first = script.lines().next().unwrap_or_default();
    if first.starts_with("#!") && first.contains("bash") { Shell::Bash } else { Shell::Sh }
}

fn names<'a>(tasks: &'a TaskFile, text: &'a str) -> impl Iterator<Item = String> {
    let found = tasks.name.about(text).into_iter().flat_map(move |pattern| pattern.captures_iter(text));
    found.filter_map(|groups| Some(groups.name("name")?.as_str().to_owned()))
}

/// Returns the line that defines a task.
fn line_of_task(tasks: &TaskFile, name: &str, text: &str) -> Option<u32> {
    let mut found = tasks.name.about(text).into_iter().flat_map(|pattern| pattern.captures_iter(text));
    let place = found.find_map(|groups| groups.name("name").filter(|found| found.as_str() == name))?;
    Some(line_of(text, place.start()))
}

/// Returns the script of a task in one line, and its effect.
fn does(tasks: &TaskFile, name: &str, files: &One<'_>, runners: &Catalogue) -> (String, TaskEffect) {
    let call = tasks.call.replace("{name}", name);
    let argv: Vec<Option<String>> = call.split(' ').map(|word| Some(word.to_owned())).collect();
    let mut lines: Vec<String> = Vec::new();
    for task in resolve(runners, &argv, files) {
        lines.extend(task.script.unwrap_or_default().iter().map(|line| with_compilers(line)));
    }
    if lines.is_empty() {
        let shown = String::new();
        // It is defined, and what it has only prints; a variable may stand for anything.
        let defined =
            tasks.name.about(files.text).into_iter().flat_map(|pattern| pattern.captures_iter(files.text)).any(
                |groups| {
                    let own = groups.name("name").is_some_and(|found| found.as_str() == name);
                    let line = groups
                        .get(0)
                        .map_or("", |found| files.text[found.start()..].trim_start().lines().next().unwrap_or(""));
                    own && !line.contains('$')
                },
            );
        return (shown, if defined { TaskEffect::Nothing } else { TaskEffect::Other { only_builds: false } });
    }
    effect(&lines, Shell::Sh, Project { runners, files })
}

/// Returns a line of a Makefile with a compiler in place of each variable that make itself sets to one.
fn with_compilers(line: &str) -> String {
    const COMPILERS: [(&str, &str); 3] = [("$(CC)", "cc"), ("$(CXX)", "g++"), ("$(AR)", "ar")];
    COMPILERS.iter().fold(line.to_owned(), |line, (variable, program)| line.replace(variable, program))
}

/// Returns the lines of a task or of a script in one line, and their effect. No lines do nothing.
fn effect(lines: &[String], shell: Shell, project: Project<'_>) -> (String, TaskEffect) {
    let shown = lines.iter().flat_map(|line| line.lines()).map(str::trim).collect::<Vec<_>>().join("; ");
    let understood: Vec<_> = lines.iter().filter_map(|line| command_line::understand(line, project).ok()).collect();
    let purposes = || understood.iter().flat_map(|line| &line.purposes);
    let tests = |extent: Option<Extent>| extent.is_some_and(|extent| extent != Extent::NoneExecuted);
    if purposes().any(|purpose| purpose.is(CommandKind::Test) && tests(purpose.extent)) {
        let passed = LineRecord { status: Some(0), shell: Some(shell), ..LineRecord::default() };
        let judged = lines.iter().map(|line| command_line::judge(line, &passed, project));
        let masked = judged
            .filter(|judged| judged.decisive_kind == Some(CommandKind::Test))
            .any(|judged| judged.exit_decides == Some(ExitDecides::NoMasked));
        let its = || purposes().filter(|purpose| purpose.is(CommandKind::Test) && tests(purpose.extent));
        let only_a_part = its().all(|purpose| purpose.extent == Some(Extent::Filtered));
        let tests = TaskEffect::Tests { commands: its().count(), only_a_part };
        return (shown, if masked { TaskEffect::TestsMasked } else { tests });
    }
    let only_answers = |leaf: &Leaf| matches!(&leaf.argv[..], [_, word] if matches!(word.text.as_str(), "--version" | "--help" | "-v" | "-V" | "-h"));
    let idle = |name: Option<&str>| name.is_some_and(|name| table().idle.iter().any(|idle| idle == name));
    let does_nothing = |leaf: &Leaf, purpose: &Purpose| {
        idle(leaf.name()) || only_answers(leaf) || (purpose.is(CommandKind::Test) && !tests(purpose.extent))
    };
    let is_known = understood.len() == lines.len();
    let all = |is: &dyn Fn(&Leaf, &Purpose) -> bool| {
        is_known && understood.iter().flat_map(Understood::steps).all(|(leaf, purpose)| is(leaf, purpose))
    };
    let effect = if all(&does_nothing) {
        TaskEffect::Nothing
    } else {
        let builds = |leaf: &Leaf, purpose: &Purpose| purpose.is(CommandKind::Build) || does_nothing(leaf, purpose);
        TaskEffect::Other { only_builds: all(&builds) }
    };
    (shown, effect)
}
