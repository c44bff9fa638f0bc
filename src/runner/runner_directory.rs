//! The directory in which a command tells its runner to work.

use std::ops::Range;

use crate::runner::catalogue::Catalogue;
use crate::runner::invocation::find;

/// The words of a command that name the directory in which its runner works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryWords {
    /// The positions of the words.
    pub words: Range<usize>,
    /// The directory, relative to where the command is started, or `None` if the words do not show it.
    pub directory: Option<String>,
}

/// Returns the first words of `argv` that send its runner to another directory: `make -C web test` is `make test`,
/// started in `web`.
pub fn named(catalogue: &Catalogue, argv: &[Option<String>]) -> Option<DirectoryWords> {
    let found = find(catalogue, argv)?;
    let arguments = &found.runner.arguments;
    let task = found.runner.task.as_ref();
    let directories = || {
        found
            .invoke
            .directory
            .iter()
            .chain(&arguments.directory)
            .chain(task.into_iter().flat_map(|rules| &rules.directory))
    };
    if directories().next().is_none() && arguments.manifest.is_empty() {
        return None;
    }
    // What stands behind the name of a task is the task's, but for what a task runner takes wherever it stands.
    let names = found.invoke.words.len() + usize::from(task.is_some() && found.invoke.task.is_none());
    let anywhere = |name: &str| {
        task.is_none_or(|rules| rules.several)
            || arguments.filter.iter().chain(&arguments.neutral).any(|option| option == name)
    };
    let (mut at, mut seen) = (1, 0);
    while let Some(word) = argv.get(at) {
        let Some(word) = word.as_deref() else {
            at += 1;
            continue;
        };
        if word == "--" {
            return None;
        }
        if !word.starts_with('-') || word == "-" {
            seen += 1;
            at += 1;
            continue;
        }
        let (name, attached) = arguments.split(word);
        let next = argv.get(at + 1).and_then(Option::as_deref);
        let takes = attached.is_none() && (found.invoke.before.contains(&name) || arguments.takes(&name, next));
        let words = at..at + 1 + usize::from(takes);
        at = words.end;
        if seen >= names && !anywhere(&name) {
            continue;
        }
        let value = if takes { argv.get(words.start + 1)?.as_deref() } else { attached };
        let value = value.filter(|value| !value.is_empty() && !value.ends_with('…'));
        if directories().any(|option| *option == name) {
            return Some(DirectoryWords { words, directory: value.map(str::to_owned) });
        }
        // A file of another name is another check.
        let usual = arguments.manifest.iter().filter_map(|entry| entry.split_once('='));
        for (_, file) in usual.filter(|(option, _)| *option == name) {
            let (folder, base) = value.and_then(|value| value.rsplit_once('/')).unwrap_or((".", value?));
            if base == file {
                return Some(DirectoryWords { words, directory: Some(folder.to_owned()) });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_send_a_runner_elsewhere() {
        for (line, want) in [
            ("make -C ../wt test", Some((1..3, Some("../wt")))),
            ("make test --directory=web", Some((2..3, Some("web")))),
            ("make -Cweb", Some((1..2, Some("web")))),
            ("npm --prefix ../wt test", Some((1..3, Some("../wt")))),
            ("npm test --prefix ../wt", Some((2..4, Some("../wt")))),
            ("npm run lint -C=web", Some((3..4, Some("web")))),
            ("npm test -- --prefix ../wt", None),
            ("pnpm -C web test", Some((1..3, Some("web")))),
            ("pnpm test -C web", None),
            ("yarn --cwd web test", Some((1..3, Some("web")))),
            ("cargo test --manifest-path ../wt/Cargo.toml", Some((2..4, Some("../wt")))),
            ("cargo test --manifest-path=Cargo.toml", Some((2..3, Some(".")))),
            ("cargo -C web clippy", Some((1..3, Some("web")))),
            ("cargo nextest run --manifest-path a/b/Cargo.toml", Some((3..5, Some("a/b")))),
            ("cargo test -- --manifest-path x/Cargo.toml", None),
            ("go -C ../wt test ./...", Some((1..3, Some("../wt")))),
            ("go test -C=../wt ./...", Some((2..3, Some("../wt")))),
            ("go -C ../wt vet ./...", Some((1..3, Some("../wt")))),
            ("cargo test --manifest-path ?", None),
            ("mvn -q -f web/pom.xml test", Some((2..4, Some("web")))),
            ("mvn --file=pom.xml test", Some((1..2, Some(".")))),
            ("mvn -f web/ci.xml test", None),
            ("gradle -p web test", Some((1..3, Some("web")))),
            ("make -C ? test", Some((1..3, None))),
            ("ctest --test-dir build -j4", Some((1..3, Some("build")))),
            ("pytest --rootdir ../wt", None),
            ("cargo test", None),
            ("ls -C web", None),
        ] {
            let argv: Vec<Option<String>> =
                line.split(' ').map(|word| (word != "?").then(|| word.to_owned())).collect();
            let want = want.map(|(words, directory)| DirectoryWords { words, directory: directory.map(str::to_owned) });
            assert_eq!(named(Catalogue::embedded(), &argv), want, "{line}");
        }
    }
}
