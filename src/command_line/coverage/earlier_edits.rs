//! The files that a line changes before its checks begin (`sed -i … && npm test`): the checks saw them as the line left
//! them.

use super::ObservedLine;
use super::required_checks::{asked_of_leaf, only_prepares};
use super::start_directory::{DirectoryView, StartDirectory};
use crate::command_line::purpose::Purpose;
use crate::command_line::understanding::{understand, understand_in};
use crate::repo_path::RepoPath;
use crate::runner::{Project, TaskRun, resolve};
use crate::shell::expanded_program::Leaf;

/// Returns `true` if there are changed files, and the line made all of these changes before its checks.
pub fn changed_before_checks(changed: &[RepoPath], told: &ObservedLine<'_>, project: Project<'_>) -> bool {
    if changed.is_empty() {
        return false;
    }
    edits_before_checks(told, project).is_some_and(|edits| changed.iter().all(|path| edits.include(path)))
}

/// Returns `true` if something in the line may change files after its checks began. Then files that are the same at the
/// end may have been others in between.
pub fn may_change_after_checks(told: &ObservedLine<'_>, project: Project<'_>) -> bool {
    edits_before_checks(told, project).is_none()
}

/// The files that a line changes before its first check.
#[derive(Default)]
struct EarlierEdits {
    /// The files that it names, from the root of the working tree.
    named: Vec<RepoPath>,
    /// The extensions of the files that its formatters change.
    formatted: Vec<String>,
}

impl EarlierEdits {
    fn include(&self, path: &RepoPath) -> bool {
        let is_formatted = |extension: &String| path.as_bytes().ends_with(extension.as_bytes());
        self.named.contains(path) || self.formatted.iter().any(is_formatted)
    }
}

/// Returns the files that a line changes before its first check, or `None` if anything after the beginning of that check
/// may change files, too.
fn edits_before_checks(told: &ObservedLine<'_>, project: Project<'_>) -> Option<EarlierEdits> {
    let start = std::str::from_utf8(told.dir.as_bytes()).ok()?;
    let place = StartDirectory { root: told.root, start, project };
    let view = DirectoryView(place);
    let project = place.project.with_files(&view);
    let understood = understand_in(told.line, told.shell, project).ok()?;
    let steps: Vec<(&Leaf, &Purpose)> = understood.steps().collect();
    let is_check = |(leaf, purpose): &(&Leaf, &Purpose)| may_check(purpose) && asked_of_leaf(leaf, place).is_some();
    let Some(first) = steps.iter().position(is_check) else { return Some(EarlierEdits::default()) };
    // What runs in the background may end after the check began.
    let mut later =
        steps.iter().enumerate().filter(|(at, (leaf, _))| *at > first || *at < first && leaf.background || leaf.late);
    if understood.program.truncated || later.any(|(_, (leaf, purpose))| may_edit(leaf, purpose)) {
        return None;
    }
    let before = || steps[..first].iter().filter(|(leaf, _)| !leaf.background && !leaf.late);
    Some(EarlierEdits {
        named: before().flat_map(|(leaf, purpose)| edited_by(leaf, purpose, place)).collect(),
        formatted: before().flat_map(|(leaf, purpose)| formatted_by(leaf, purpose, project)).collect(),
    })
}

/// Returns the extensions of the files that a formatter, or a task of nothing but formatters, changes.
fn formatted_by(leaf: &Leaf, purpose: &Purpose, project: Project<'_>) -> Vec<String> {
    if !purpose.edits {
        return Vec::new();
    }
    let tasks = resolve(project.runners, &leaf.words(), project.files);
    if tasks.is_empty() {
        let runners: Vec<_> = purpose.runs().filter_map(|id| project.runners.runner(id)).collect();
        return runners.iter().flat_map(|runner| runner.formats.iter().cloned()).collect();
    }
    tasks.iter().map(|task| formatted_by_task(task, project)).collect::<Option<Vec<_>>>().unwrap_or_default().concat()
}

/// Returns the extensions of the files that a task changes, or `None` if it may do anything else.
fn formatted_by_task(task: &TaskRun, project: Project<'_>) -> Option<Vec<String>> {
    let lines =
        task.script.as_ref().filter(|_| !task.framed && task.arguments.is_empty() && task.directory.is_none())?;
    let mut found = Vec::new();
    for line in lines {
        let understood = understand(line, project).ok()?;
        for (leaf, purpose) in understood.steps() {
            let is_task = !resolve(project.runners, &leaf.words(), project.files).is_empty();
            let formats = if is_task { Vec::new() } else { formatted_by(leaf, purpose, project) };
            if formats.is_empty() && !only_prepares(leaf, purpose) || !leaf.writes.is_empty() {
                return None;
            }
            found.extend(formats);
        }
    }
    Some(found)
}

/// Returns `true` if a command may be a check: its program is unknown or a runner, and it changes no file.
fn may_check(purpose: &Purpose) -> bool {
    const CHECKS: [&str; 4] = ["test", "build", "typecheck", "lint"];
    !purpose.edits && (purpose.is_unknown || purpose.kinds.iter().any(|kind| CHECKS.contains(kind)))
}

/// Returns `true` unless a command is known to change no file.
fn may_edit(leaf: &Leaf, purpose: &Purpose) -> bool {
    const HARMLESS: [&str; 8] = ["test", "build", "typecheck", "push", "vcs", "pr", "ci_query", "read"];
    let harmless = !purpose.is_unknown && purpose.kinds.iter().all(|kind| HARMLESS.contains(kind));
    purpose.edits || !(harmless || only_prepares(leaf, purpose))
}

/// Returns the files that one command changes, as far as its words name them.
fn edited_by(leaf: &Leaf, purpose: &Purpose, place: StartDirectory<'_>) -> Vec<RepoPath> {
    let redirected = leaf.writes.iter().flatten().cloned();
    let named = redirected.chain(purpose.changed_paths(leaf));
    let from_root = |path: String| match &leaf.directory {
        Some(directory) if !path.starts_with('/') => place.inside(&format!("{}/{path}", directory.path.as_ref()?)),
        _ => place.inside(&path),
    };
    named.filter_map(from_root).map(|path| RepoPath::from(path.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::command_line::coverage::tests::{TaskFiles, ran};
    use crate::event::Ended;

    fn before(line: &str, changed: &[&str]) -> bool {
        let package =
            r#"{"scripts":{"format":"prettier --write . && node x","fmt":"prettier --write src && eslint --fix ."}}"#;
        let files = TaskFiles(BTreeMap::from([("package.json", package)]));
        let changed: Vec<RepoPath> = changed.iter().map(|path| RepoPath::from(*path)).collect();
        changed_before_checks(&changed, &told(line, &RepoPath::from("")), Project::without_runners(&files))
    }

    fn told<'a>(line: &'a str, dir: &'a RepoPath) -> ObservedLine<'a> {
        ran(line, dir, Some(Ended::Exited(0)), Some(""))
    }

    #[test]
    fn what_comes_after_a_check_may_change_files_back() {
        for (line, may) in [
            ("sh swap.sh; pytest -q; sh unswap.sh", true),
            ("make swap && pytest -q && make unswap", true),
            ("(sleep 1; cp a b) & pytest -q; wait", true),
            ("trap 'sh unswap.sh' EXIT; sh swap.sh; pytest -q", true),
            ("sh ../swap.sh; sh test.sh && sh ../back.sh", true),
            ("pytest -q", false),
            ("sh swap.sh; pytest -q", false),
            ("cargo test && cargo build", false),
            ("pytest -q && git push", false),
            ("npm ci && npm test | tail -5", false),
        ] {
            let files = TaskFiles(BTreeMap::from([("package.json", r#"{"scripts":{"test":"jest"}}"#)]));
            let dir = RepoPath::from("");
            let project = Project::without_runners(&files);
            assert_eq!(may_change_after_checks(&told(line, &dir), project), may, "{line}");
        }
    }

    #[test]
    fn what_a_formatter_changes_before_the_tests_is_what_they_run_on() {
        for (line, changed) in [
            ("gofmt -w . && go test ./... && go build ./...", &["a.go", "sub/b.go"][..]),
            ("gofmt -w .; go vet ./...; go test ./...", &["a.go"]),
            ("gofmt -w . && go test ./... && git commit -qam D && git push -q origin f", &["a.go"]),
            ("cargo fmt && cargo test", &["src/lib.rs"]),
            ("ruff format . && ruff check --fix && pytest", &["a/b.py"]),
            ("black . && pytest", &["a.py"]),
            ("npx prettier --write src && npm test", &["src/a.ts"]),
            ("npx eslint --fix . && npm test", &["src/a.ts"]),
            ("npm run fmt && npm test", &["src/a.ts", "src/b.js"]),
            ("npx biome format --write && npm test", &["src/a.ts"]),
            ("mix format && mix test", &["lib/a.ex"]),
            ("rubocop -a; bundle exec rspec", &["lib/a.rb"]),
            ("clang-format -i src/a.c && make test", &["src/a.c"]),
            ("sed -i s/a/b/ notes.txt && cargo fmt && cargo test", &["notes.txt", "a.rs"]),
        ] {
            assert!(before(line, changed), "{line}: {changed:?}");
        }
        for (line, changed) in [
            ("gofmt -w . && go test ./...", &["testdata/golden.txt"][..]),
            ("gofmt -w . && go test ./...", &["a.go", "testdata/golden.txt"]),
            ("gofmt -l . && go test ./...", &["a.go"]),
            ("go test ./... && gofmt -w .", &["a.go"]),
            ("gofmt -w . && go test ./... && gofmt -w .", &["a.go"]),
            ("gofmt -w . && go test ./... && go generate ./...", &["a.go"]),
            ("gofmt -w . & go test ./...", &["a.go"]),
            ("sed -i s/a/b/ a.go & go test ./...", &["a.go"]),
            ("cargo fmt --check && cargo test", &["src/lib.rs"]),
            ("cargo fmt && cargo test", &["tests/out.snap"]),
            ("cargo fmt && ./check", &["a.py"]),
            ("npx eslint . && npm test", &["src/a.ts"]),
            ("npm run fmt && npm test", &["snap/a.json"]),
            ("npm test && npm run fmt", &["src/a.ts"]),
            ("mix format --check-formatted && mix test", &["lib/a.ex"]),
            ("mix format && mix test", &["mix.lock"]),
            ("npm run format && npm test", &["src/a.ts"]),
            ("cargo test", &["src/lib.rs"]),
        ] {
            assert!(!before(line, changed), "{line}: {changed:?}");
        }
    }
}
