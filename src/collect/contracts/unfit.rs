//! Conditions that can be read, and that cannot be judged here.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::content;
use crate::command_line::{self, Understood};
use crate::contract::{Ask, Contract, ContractError};
use crate::runner::{Catalogue, Project};
use crate::shell::expanded_program::Leaf;
use crate::source::project_files::DiskDirectory;

/// Returns the first condition of a contract that cannot be judged in the working tree at `root`: its path leads out of
/// the repository through a link, or it names no command. Nothing is run.
pub fn unfit(root: &Path, runners: &Catalogue, contract: &Contract) -> Option<ContractError> {
    let all = contract.preconditions.iter().chain(&contract.postconditions);
    let mut asks = all.flat_map(|condition| condition.asks.iter().map(move |ask| (condition, ask)));
    asks.find_map(|(condition, ask)| {
        let (kind, what) = match ask {
            Ask::Command { line, .. } => ("unknown_condition", of_command(root, runners, line)?),
            ask => ("outside", format!("`{}` leads outside the repository", leading_out(root, ask)?)),
        };
        Some(ContractError { kind, line: condition.line, what: format!("{what}: `{}`", condition.text) })
    })
}

fn leading_out<'a>(root: &Path, ask: &'a Ask) -> Option<&'a str> {
    let mut paths = ask.paths().into_iter().filter(|path| !path.contains(['*', '?', '[', '{']));
    paths.find(|path| content::inside(root, path).is_none())
}

fn of_command(root: &Path, runners: &Catalogue, line: &str) -> Option<String> {
    let files = DiskDirectory(root.to_owned());
    let understood = command_line::understand(line, Project { runners, files: &files }).ok()?;
    let is_program = |name: &str| if name.contains('/') { is_executable(&root.join(name)) } else { is_program(name) };
    let name = no_program(&understood, &is_program, &|name| root.join(name).exists())?;
    Some(format!("gate does not understand this condition: there is no program `{name}`"))
}

/// Returns the reason why a line proves nothing, whatever its status is, or `None` if it may prove something.
pub fn idle_reason(project: Project<'_>, line: &str, tests: bool) -> Option<String> {
    let understood = command_line::understand(line, project).ok()?;
    let what = if tests { "runs no test" } else { "runs no program that could fail" };
    if command_line::is_idle(&understood, tests) {
        return Some(format!("it {what}, so it proves nothing"));
    }
    if tests && command_line::only_builds(line, project) {
        return Some(format!("it runs no test: `{line}: success` asks for its status, `all pass` for tests"));
    }
    runs_in_background(&understood)
        .then(|| "it runs in the background, and its status is that of the shell: take the `&` away".to_owned())
}

/// Returns `true` if everything that a line does goes on while the line ends.
fn runs_in_background(understood: &Understood) -> bool {
    const WAITING: [&str; 10] = ["wait", "true", ":", "echo", "printf", "sleep", "kill", "cd", "disown", "exit"];
    let works = |leaf: &&Leaf| !leaf.name().is_some_and(|name| WAITING.contains(&name));
    let mut work = understood.program.leaves.iter().filter(works).peekable();
    work.peek().is_some() && work.all(|leaf| leaf.background)
}

/// Returns the first word of a line that is not a command: a file of the tree, or prose. A program that is missing here
/// is still one if more than plain words are in its line.
fn no_program<'a>(
    line: &'a Understood,
    is_program: &dyn Fn(&str) -> bool,
    is_in_tree: &dyn Fn(&str) -> bool,
) -> Option<&'a str> {
    let ([leaf], [purpose]) = (&line.program.leaves[..], &line.purposes[..]) else { return None };
    let name = leaf.argv.first()?.literal()?;
    if !purpose.is_unknown || leaf.shadowed || !leaf.wrappers.is_empty() || is_program(name) {
        return None;
    }
    let prose = !name.contains('/')
        && leaf.argv.iter().all(|arg| arg.literal().is_some_and(|text| text.chars().all(char::is_alphabetic)))
        && leaf.environment.is_empty();
    (prose || is_in_tree(name)).then_some(name)
}

fn is_executable(path: &Path) -> bool {
    let mode = path.metadata().map_or(0, |file| if file.is_file() { file.permissions().mode() } else { 0 });
    mode & 0o111 != 0
}

fn is_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_and_files_are_no_commands() {
        let found = |line: &str| {
            let understood = command_line::understand(line, Project::without_runners(&())).unwrap();
            let is_program = |name: &str| ["make", "tool"].contains(&name);
            let is_in_tree = |name: &str| ["README.md", "docs", "tool"].contains(&name);
            no_program(&understood, &is_program, &is_in_tree).map(str::to_owned)
        };
        for (line, name) in [
            ("moon phase", "moon"),
            ("all tests", "all"),
            ("the tests", "the"),
            ("README.md", "README.md"),
            ("docs", "docs"),
        ] {
            assert_eq!(found(line).as_deref(), Some(name), "{line}");
        }
        for line in [
            "frobnicate-zz --check",
            "frobnicate-zz",
            "frobnicate --check",
            "tool",
            "tool all tests",
            "make all",
            "./README.md",
            "cargo test",
            "python3 -m unittest test_calc",
            "test -f README.md",
            "X=1 moon phase",
            "moon phase && make",
            "cd docs",
            "[ -f README.md ]",
        ] {
            assert_eq!(found(line), None, "{line}");
        }
    }

    #[test]
    fn what_goes_on_in_the_background_shows_nothing() {
        for (line, idle) in [
            ("cargo check &", true),
            ("cargo check & wait", true),
            ("(cargo check &)", true),
            ("nohup cargo check >/dev/null 2>&1 &", true),
            ("cargo check", false),
            ("./server & sleep 1; curl -f localhost:80; kill $!", false),
        ] {
            assert_eq!(idle_reason(Project::without_runners(&()), line, false).is_some(), idle, "{line}");
        }
    }
}
