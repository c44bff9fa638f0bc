//! Comparison of command lines: one may repeat the work of another one under another spelling or in another wrapper.

use super::required_checks::{CheckKey, CheckSubject, RequestedCheck, asked_of_leaf, only_prepares};
use super::start_directory::{DirectoryView, StartDirectory, path_inside};
use crate::command_line::environment::set_for;
use crate::command_line::understand;
use crate::runner::{Catalogue, Project};

/// The working tree for which command lines are read.
#[derive(Clone, Copy)]
pub struct CommonGround<'a> {
    /// The absolute path of its root, if it is known.
    pub root: Option<&'a str>,
    /// The project, seen from the root.
    pub project: Project<'a>,
}

/// The work of the commands of a line.
#[derive(Clone, Debug)]
pub struct Deeds {
    each: Vec<CommandDeed>,
    /// `true` if all work of the line is listed.
    whole: bool,
    root: Option<String>,
}

/// The work of one command.
#[derive(Clone, Debug)]
struct CommandDeed {
    asked: RequestedCheck,
    /// A variable of the line that narrows it.
    narrowed_by: Option<String>,
}

impl Deeds {
    /// Returns the work of `line`, started in the directory `dir` from the root. Preparations (`cd`, `export`, `echo`)
    /// do not count.
    pub fn of(line: &str, dir: &str, ground: CommonGround<'_>) -> Self {
        let place = StartDirectory { root: ground.root, start: dir, project: ground.project };
        let view = DirectoryView(place);
        let project = place.project.with_files(&view);
        let mut found = Self { each: Vec::new(), whole: true, root: ground.root.map(str::to_owned) };
        let Ok(understood) = understand(line, project) else { return Self { whole: false, ..found } };
        for (leaf, purpose) in understood.steps() {
            if only_prepares(leaf, purpose) {
                continue;
            }
            match asked_of_leaf(leaf, place) {
                Some(asked) => {
                    let narrowed =
                        purpose.invocation.as_ref().and_then(|invocation| set_for(leaf, invocation, project.runners));
                    found.each.push(CommandDeed { asked, narrowed_by: narrowed.map(|narrowed| narrowed.by) });
                }
                None => found.whole = false,
            }
        }
        found
    }

    /// Returns `true` if the work of the line is known and is not empty.
    pub fn is_told(&self) -> bool {
        self.whole && !self.each.is_empty()
    }

    /// Returns `true` if everything that `other` does is done here again. A narrower selection of tests is another
    /// command, and so is one in another folder.
    pub fn repeat(&self, other: &Self) -> bool {
        let again = |deed: &CommandDeed| {
            let root = self.root.as_deref();
            let same =
                |mine: &CommandDeed| mine.narrowed_by == deed.narrowed_by && does(&mine.asked, &deed.asked.key, root);
            let in_parts = || deed.asked.parts.as_ref().is_some_and(|parts| self.all(parts, root));
            self.each.iter().any(same) || in_parts()
        };
        other.is_told() && other.each.iter().all(again)
    }

    /// Returns the folders in which the commands work, from the root.
    pub fn folders(&self) -> impl Iterator<Item = String> {
        self.each.iter().map(|deed| deed.asked.key.directory.clone())
    }

    /// Returns the folders in which runners start that name tests by paths from there, each with the endings of such paths.
    pub(super) fn starts<'a>(&'a self, catalogue: &'a Catalogue) -> Vec<(&'a str, &'a [String])> {
        let mut starts = Vec::new();
        let mut waiting: Vec<&RequestedCheck> = self.each.iter().map(|deed| &deed.asked).collect();
        while let Some(check) = waiting.pop() {
            let known = if let CheckSubject::Known(known) = &check.key.what { Some(&**known) } else { None };
            match known.and_then(|known| known.named_from_start(catalogue)) {
                Some(endings) => starts.push((check.key.directory.as_str(), endings)),
                None => waiting.extend(check.parts.iter().chain(&check.members).flatten()),
            }
        }
        starts
    }

    fn all(&self, parts: &[RequestedCheck], root: Option<&str>) -> bool {
        let done = |part: &RequestedCheck| {
            let direct = self.each.iter().any(|mine| mine.narrowed_by.is_none() && does(&mine.asked, &part.key, root));
            direct || part.parts.as_ref().is_some_and(|parts| self.all(parts, root))
        };
        !parts.is_empty() && parts.iter().all(done)
    }
}

/// Returns `true` if a command, or one of its parts, is this one.
fn does(mine: &RequestedCheck, asked: &CheckKey, root: Option<&str>) -> bool {
    is_again(&mine.key, asked, root) || mine.parts.iter().flatten().any(|part| does(part, asked, root))
}

fn is_again(mine: &CheckKey, asked: &CheckKey, root: Option<&str>) -> bool {
    let same = match (&mine.what, &asked.what) {
        (CheckSubject::Known(mine), CheckSubject::Known(theirs)) => mine.covers(theirs),
        (CheckSubject::Program(words), CheckSubject::Program(theirs)) => {
            CommandCall::of(words, &mine.directory, root).is(&CommandCall::of(theirs, &asked.directory, root))
        }
        _ => false,
    };
    // Another variable beside makes no other command of it.
    let set = || asked.environment.iter().all(|(name, value)| mine.environment.get(name) == Some(value));
    same && mine.directory == asked.directory && mine.inside == asked.inside && set()
}

/// A program that is not in the catalogue, and its arguments.
#[derive(Debug, PartialEq)]
struct CommandCall {
    /// Its name. For a program of the project, its path from the root after `./`.
    program: String,
    /// The arguments before the first option: their order may matter.
    operands: Vec<String>,
    /// The options, sorted, each with its arguments up to the next one.
    options: Vec<Vec<String>>,
}

impl CommandCall {
    fn of(words: &[String], directory: &str, root: Option<&str>) -> Self {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (program, rest) = started(&words, directory, root);
        let mut call = Self { program, operands: Vec::new(), options: Vec::new() };
        let mut rest = rest.iter();
        for word in rest.by_ref() {
            if *word == "--" {
                break;
            }
            if word.starts_with('-') && word.len() > 1 {
                // `--name=value` is `--name value`.
                let (name, value) = word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
                call.options.push(std::iter::once(name).chain(value).map(plain).collect());
            } else if let Some(option) = call.options.last_mut() {
                option.push(plain(word));
            } else {
                call.operands.push(plain(word));
            }
        }
        call.options.sort();
        // What follows `--` stands where it does.
        let after: Vec<String> = rest.map(|word| plain(word)).collect();
        if !after.is_empty() {
            call.options.push(std::iter::once("--".to_owned()).chain(after).collect());
        }
        call
    }

    fn is(&self, other: &Self) -> bool {
        self == other || self.program == other.program && self.pair().is_some_and(|pair| other.pair() == Some(pair))
    }

    /// Returns one option and one other word, in this order: both orders mean the same.
    fn pair(&self) -> Option<(&str, &str)> {
        match (&self.operands[..], &self.options[..]) {
            ([word], [option]) if option.len() == 1 => Some((&option[0], word)),
            ([], [option]) if option.len() == 2 => Some((&option[0], &option[1])),
            _ => None,
        }
    }
}

/// Returns the program that the words start, and its own arguments: `sh -e ./a.sh x` starts `a.sh`.
fn started<'w>(words: &'w [&'w str], directory: &str, root: Option<&str>) -> (String, &'w [&'w str]) {
    let Some((first, rest)) = words.split_first() else { return (String::new(), words) };
    let names = Catalogue::embedded().names();
    let name = first.rsplit(['/', '\\']).next().unwrap_or(first);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if names.interpreters.iter().any(|known| known == stem) {
        let shell = stem.ends_with("sh");
        let flags =
            |word: &&&str| shell && word.starts_with('-') && word[1..].bytes().all(|flag| b"efuvx".contains(&flag));
        let skipped = rest.iter().take_while(flags).count();
        if let Some(script) = rest.get(skipped).filter(|word| !word.starts_with('-')) {
            return (own(script, directory, root).unwrap_or_else(|| (*script).to_owned()), &rest[skipped + 1..]);
        }
    }
    let path = Some(first).filter(|first| first.contains('/')).and_then(|first| own(first, directory, root));
    (path.unwrap_or_else(|| name.to_owned()), rest)
}

/// Returns the path of a program of the project, from its root.
fn own(path: &str, directory: &str, root: Option<&str>) -> Option<String> {
    path_inside(root, directory, path).map(|path| format!("./{path}"))
}

fn plain(word: &str) -> String {
    let word = word.strip_prefix("./").filter(|rest| !rest.is_empty()).unwrap_or(word);
    word.strip_suffix('/').filter(|rest| !rest.is_empty()).unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::command_line::coverage::tests::TaskFiles;

    fn again(before: &str, now: &str) -> bool {
        let files = TaskFiles(BTreeMap::from([
            ("package.json", r#"{"scripts":{"test":"jest --ci"}}"#),
            ("Makefile", "clock:\n\tpytest -k clock\n"),
        ]));
        let ground = CommonGround { root: Some("/work/repo"), project: Project::without_runners(&files) };
        Deeds::of(now, "", ground).repeat(&Deeds::of(before, "", ground))
    }

    #[test]
    fn the_same_in_other_words() {
        for (before, now) in [
            ("pytest -k clock", "python3 -m pytest -k clock"),
            ("pytest -k clock", "pytest -q -k clock"),
            ("pytest -k clock", "timeout 60 nice -n 5 pytest -k clock 2>&1 | tail -3"),
            ("pytest -k clock", "cd /work/repo && pytest -k clock"),
            ("pytest -k clock", "cd . && FOO=1 pytest -k clock"),
            ("pytest -k clock", "env FOO=1 pytest -k clock"),
            ("pytest -k clock", "bash -c 'pytest -k clock || true'"),
            ("pytest -k clock", "uv run pytest -k clock"),
            ("pytest -k clock", "make clock"),
            ("pytest -k 'clock and not slow'", "pytest -k \"clock and not slow\""),
            ("jest", "npx jest"),
            ("jest --ci", "npm test"),
            ("npm test", "npm run test"),
            ("go test ./... -v -run TestA", "go test -run=TestA ./..."),
            ("./test.sh", "sh ./test.sh"),
            ("sh test.sh", "bash -e ./test.sh"),
            ("sh test.sh", "/work/repo/test.sh"),
            ("cd api && sh t.sh", "cd api && sh t.sh"),
            ("cd api && sh t.sh", "(cd api; ./t.sh)"),
            ("sh test.sh -k clock", "sh test.sh clock -k"),
            ("tool --in a --out b", "tool --out=b --in=a"),
            ("FOO=1 tool", "BAR=2 FOO=1 tool"),
            ("python tools/fix.py src", "python3 ./tools/fix.py src/"),
            ("make && ./a.out", "make; ./a.out"),
        ] {
            assert!(again(before, now), "{before} → {now}");
        }
    }

    #[test]
    fn another_command() {
        for (before, now) in [
            ("cp a b", "cp b a"),
            ("diff old new", "diff new old"),
            ("gcc -o a b", "gcc a -o b"),
            ("tool --in a --out b", "tool --in b --out a"),
            ("pytest -k clock", "pytest -k clocks"),
            ("pytest", "pytest -k clock"),
            ("pytest", "PYTEST_ADDOPTS='-k clock' pytest"),
            ("pytest -k clock", "pytest"),
            ("pytest tests/a.py", "pytest tests/b.py"),
            ("pytest", "cd api && pytest"),
            ("cd api && sh t.sh", "cd web && sh t.sh"),
            ("sh test.sh", "sh test.sh --all"),
            ("sh api/t.sh", "sh web/t.sh"),
            ("go test ./...", "go vet ./..."),
            ("cargo test", "cargo test --lib"),
            ("FOO=1 tool", "tool"),
            ("make && ./a.out", "make"),
            ("tool -- a b", "tool -- b a"),
            ("echo x", "echo x"),
            ("if then", "if then"),
            ("", "pytest"),
            ("pytest", "docker compose exec app pytest"),
        ] {
            assert!(!again(before, now), "{before} → {now}");
        }
    }
}
