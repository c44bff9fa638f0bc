//! The targets that a makefile or a justfile really has.

use super::file_list::{join, prefix};
use super::{BUILD, Detection, Files, TESTS};

/// Folders with a `Makefile` or a `justfile` that has a target for tests or for a build.
pub(super) fn find(files: &Files) -> Vec<Detection> {
    let mut found: Vec<Detection> = Vec::new();
    for (tool, names) in
        [("make", ["GNUmakefile", "makefile", "Makefile"]), ("just", ["justfile", "Justfile", ".justfile"])]
    {
        for name in names {
            for dir in files.folders_with(name) {
                let seen = found.iter().any(|other| other.dir == dir);
                let manifest = join(&dir, name);
                let targets = targets(&files.text(&manifest));
                let pick = |gate: &'static str, wanted: &[&str]| {
                    let target = wanted.iter().find(|wanted| targets.iter().any(|target| target == *wanted))?;
                    Some((gate, format!("{tool} {target}"), format!("{manifest} has a target `{target}`")))
                };
                let commands: Vec<_> =
                    pick(TESTS, &["test", "tests", "check"]).into_iter().chain(pick(BUILD, &["build"])).collect();
                if !seen && !commands.is_empty() {
                    let (stack, manifests) = (tool.to_owned(), vec![manifest]);
                    found.push(Detection { stack, dir, manifests, commands, ..Detection::default() });
                }
            }
        }
    }
    found.extend(
        mise(files).into_iter().filter(|mise| found.iter().all(|other| other.dir != mise.dir)).collect::<Vec<_>>(),
    );
    found
}

/// The tasks of mise: those of its settings, and the scripts in its folders.
fn mise(files: &Files) -> Vec<Detection> {
    let mut found: Vec<Detection> = Vec::new();
    for name in ["mise.toml", ".mise.toml"] {
        for dir in files.folders_with(name) {
            let manifest = join(&dir, name);
            let Ok(table) = files.text(&manifest).parse::<toml::Table>() else { continue };
            let listed = |task: &str| table.get("tasks").is_some_and(|tasks| tasks.get(task).is_some());
            let script = |task: &str| {
                let below = prefix(&dir);
                let places = ["mise-tasks/", ".mise-tasks/", "mise/tasks/", ".mise/tasks/", ".config/mise/tasks/"];
                places.iter().any(|place| files.has(&format!("{below}{place}{task}")))
            };
            let pick = |gate: &'static str, wanted: &[&str]| {
                let task = wanted.iter().find(|task| listed(task) || script(task))?;
                Some((gate, format!("mise run {task}"), format!("mise has a task `{task}` ({manifest})")))
            };
            let commands: Vec<_> = pick(TESTS, &["test", "tests"]).into_iter().chain(pick(BUILD, &["build"])).collect();
            if !commands.is_empty() && found.iter().all(|other| other.dir != dir) {
                found.push(Detection {
                    stack: "mise".to_owned(),
                    dir,
                    manifests: vec![manifest],
                    commands,
                    ..Detection::default()
                });
            }
        }
    }
    found
}

/// Returns the names before a `:` at the beginning of a line, without variables (`:=`).
fn targets(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in text.lines() {
        let starts = line.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '@'));
        let Some((head, rest)) = line.split_once(':') else { continue };
        if !starts || rest.starts_with('=') || rest.starts_with(":=") || head.contains('=') && !head.contains(' ') {
            continue;
        }
        // `test a='1' *args:` is a recipe of just with parameters; `test lint:` are two targets of make.
        names.extend(head.split_whitespace().map(|word| word.trim_start_matches('@').to_owned()));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::targets;

    #[test]
    fn only_what_can_be_made_is_a_target() {
        for (text, expected) in [
            ("test:\n\tgo test\n", vec!["test"]),
            ("test := 1\nX:=2\nbuild ::= 3\n", vec![]),
            (".PHONY: test\n\ttest: x\n# test:\n", vec![]),
            ("lint test: deps\n", vec!["lint", "test"]),
            ("@test *args:\n  cargo test\n", vec!["test", "*args"]),
            ("check::\n", vec!["check"]),
            ("URL=http://x\n", vec![]),
        ] {
            assert_eq!(targets(text), expected, "{text:?}");
        }
    }
}
