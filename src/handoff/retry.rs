//! What a reply ruled out and the agent did all the same.

use crate::shell::program::{Arg, Leaf};
use crate::shell::walk;
use crate::verdict::escalation::history::Done;

/// The items of `ruled_out` that one of `acts` repeats. An item names a command line or a path as code
/// (`` `pytest -k clock` ``), or is one as a whole; words around it are for people and not compared. A command is the same
/// whatever the order of its words is, and whatever stands around it in its line; a folder (`src/`) is all that is in it.
pub fn repeated<'a>(ruled_out: &'a [String], acts: &[Done]) -> Vec<&'a str> {
    let acts: Vec<Act> = acts.iter().filter_map(Act::of).collect();
    ruled_out
        .iter()
        .filter(|item| named(item).iter().any(|name| acts.iter().any(|act| act.repeats(name))))
        .map(String::as_str)
        .collect()
}

/// What was done, as it is compared.
enum Act {
    /// A command line, and the commands it executes.
    Ran(String, Vec<Vec<String>>),
    /// Paths that were changed.
    Edited(Vec<String>),
}

impl Act {
    fn of(done: &Done) -> Option<Self> {
        match done {
            Done::Ran(line, _) => Some(Self::Ran(plain(line), commands(line))),
            Done::Edited(paths) => Some(Self::Edited(paths.iter().map(ToString::to_string).collect())),
            Done::Refused(_) => None,
        }
    }

    fn repeats(&self, name: &str) -> bool {
        match self {
            Self::Ran(line, ran) => {
                let ruled_out = commands(name);
                line == name || (!ruled_out.is_empty() && ruled_out.iter().all(|command| ran.contains(command)))
            }
            Self::Edited(paths) => {
                let name = name.strip_prefix("./").unwrap_or(name);
                paths.iter().any(|path| path == name || (name.ends_with('/') && path.starts_with(name)))
            }
        }
    }
}

/// The commands of a line, each as its program and its other words in the order of the alphabet; none where the line cannot
/// be read.
fn commands(line: &str) -> Vec<Vec<String>> {
    let command = |leaf: &Leaf| -> Option<Vec<String>> {
        let mut words: Vec<String> = leaf.argv.iter().skip(1).map(Arg::shown).collect::<Option<_>>()?;
        // `--name=value` is `--name value`.
        let option = |word: String| match word.split_once('=').filter(|_| word.starts_with('-')) {
            Some((name, value)) => vec![name.to_owned(), value.to_owned()],
            None => vec![word],
        };
        words = words.into_iter().flat_map(option).collect();
        words.sort();
        words.insert(0, leaf.name()?.to_owned());
        Some(words)
    };
    let leaves = walk::program(line).map(|program| program.leaves).unwrap_or_default();
    leaves.iter().filter_map(command).collect()
}

/// What stands in an item as code; the item itself where nothing does.
fn named(item: &str) -> Vec<String> {
    let code: Vec<String> = item.split('`').skip(1).step_by(2).map(plain).filter(|code| !code.is_empty()).collect();
    if code.is_empty() { vec![plain(item)] } else { code }
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo_path::RepoPath;

    #[test]
    fn a_command_or_a_path_that_was_ruled_out() {
        let acts = [
            Done::Ran("pytest  -k clock".to_owned(), None),
            Done::Ran("cd api && timeout 60 go test -run=TestA -v ./... 2>&1 | tail -5".to_owned(), None),
            Done::Edited(vec![RepoPath::from("src/pool.rs")]),
            Done::Refused(5),
        ];
        for (item, hit) in [
            ("`pytest -k clock` again", true),
            ("pytest -k clock", true),
            ("editing `src/pool.rs`", true),
            ("src/pool.rs", true),
            ("`./src/pool.rs`", true),
            ("nothing in `src/`", true),
            ("nothing in `sr/`", false),
            ("`pytest clock -k`", true),
            ("`go test ./... -v -run TestA`", true),
            ("`go test ./... -v -run TestB`", false),
            ("`go vet ./...`", false),
            ("`pytest -k clock -x`", false),
            ("`if then`", false),
            ("`pytest`", false),
            ("do not touch the clock", false),
            ("", false),
        ] {
            let items = [item.to_owned()];
            assert_eq!(!repeated(&items, &acts).is_empty(), hit, "{item}");
        }
    }
}
