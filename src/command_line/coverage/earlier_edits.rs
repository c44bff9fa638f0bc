//! The files that a line changes before its checks begin (`sed -i … && npm test`): the checks saw them as the line left
//! them.

use super::ObservedLine;
use super::required_checks::{RequestedCheck, asked_of_leaf, asked_of_line, only_prepares};
use super::script_call::interpreter;
use super::start_directory::{DirectoryView, StartDirectory};
use crate::command_line::purpose::Purpose;
use crate::command_line::rewritten_files::{is_rewriter, may_rewrite, rewriter};
use crate::command_line::understanding::{understand, understand_in};
use crate::policy::Command;
use crate::repo_path::RepoPath;
use crate::runner::{Project, TaskRun, resolve};
use crate::shell::expanded_program::{Arg, Leaf};

/// The kinds of commands that check something.
const CHECKS: [&str; 4] = ["test", "build", "typecheck", "lint"];

/// Returns `true` if there are changed files, and the line made all of these changes before the checks of the commands in
/// `declared` that it ran.
pub fn changed_before_checks(
    changed: &[RepoPath],
    told: &ObservedLine<'_>,
    project: Project<'_>,
    declared: &[&Command],
) -> bool {
    if changed.is_empty() {
        return false;
    }
    edits_before_checks(told, project, declared).is_some_and(|edits| changed.iter().all(|path| edits.include(path)))
}

/// Returns `true` if git may change files in the line only before the checks of the commands in `declared` (`git merge x &&
/// npm test`).
pub fn moves_before_checks(told: &ObservedLine<'_>, project: Project<'_>, declared: &[&Command]) -> bool {
    edits_before_checks(told, project, declared).is_some_and(|edits| edits.by_git)
}

/// Returns the files that a line writes by itself if it runs a declared command and nothing else that builds:
/// `make clean && make test 2>&1 | tail`, `printf … >> lib.h && make test && git commit -am x`. Returns `None` if anything else
/// may build, or write a file whose name the line does not show.
pub fn runs_alone(declared: &Command, told: &ObservedLine<'_>, project: Project<'_>) -> Option<Vec<RepoPath>> {
    let start = std::str::from_utf8(told.dir.as_bytes()).ok()?;
    let place = StartDirectory { root: told.root, start, project };
    let view = DirectoryView(place);
    let project = place.project.with_files(&view);
    let understood = understand_in(told.line, told.shell, project).ok().filter(|line| !line.program.truncated)?;
    let asked = asked_of(&[declared], place);
    let mut written = Vec::new();
    for (leaf, purpose) in understood.steps() {
        let is_reader = !purpose.is_unknown && purpose.kinds.iter().all(|kind| *kind == "read");
        let is_idle = (only_prepares(leaf, purpose) || !purpose.edits && is_reader) && leaf.writes.is_empty();
        let is_check = || may_check(purpose) && asked_of_leaf(leaf, place).is_some_and(|own| serves(&own, &asked));
        if is_idle && leaf.name() != Some("sed") || records_in_git(leaf) || is_cleaning(leaf) {
            continue;
        }
        match written_texts(leaf) {
            Some(paths) => written.extend(paths.into_iter().filter_map(|path| from_root(leaf, path, place))),
            None if is_check() => {}
            None => return None,
        }
    }
    Some(written)
}

/// Returns the files into which a command prints, or that `sed -i SCRIPT FILE` edits; `None` for any other command, and if
/// the name of a file is not known.
fn written_texts(leaf: &Leaf) -> Option<Vec<&str>> {
    let operands = || leaf.argv.iter().skip(1).filter(|arg| !arg.text.starts_with('-'));
    let named: Vec<Option<&str>> = match leaf.name()? {
        "echo" | "printf" | "cat" => Vec::new(),
        "tee" => operands().map(Arg::literal).collect(),
        // `w` in a script of sed writes another file.
        "sed" if leaf.argv.iter().all(|word| !word.text.contains("w ") && !has_script(&word.text)) => {
            operands().skip(1).map(Arg::literal).collect()
        }
        _ => return None,
    };
    let redirected = leaf.writes.iter().map(|path| path.as_deref());
    let is_plain = |path: &&str| !path.contains(['*', '?', '[', '{', '$', '~']);
    redirected.chain(named).map(|path| path.filter(is_plain)).collect()
}

/// Returns `true` for an option of sed whose value is a script: then the first other word is a file.
fn has_script(option: &str) -> bool {
    option.starts_with("--expression") || option.starts_with("--file") || matches!(option, "-e" | "-f" | "-ne" | "-ie")
}

/// Returns `true` for a call of git that leaves the files of the working tree as they are.
fn records_in_git(leaf: &Leaf) -> bool {
    const RECORDS: [&str; 9] = ["add", "commit", "push", "fetch", "diff", "status", "log", "show", "rev-parse"];
    let mut words = leaf.argv.iter().skip(1).map(|arg| arg.text.as_str());
    let prints = leaf.writes.is_empty() && !words.clone().any(|word| word.starts_with("--output"));
    let subcommand = words.find(|word| !word.starts_with('-'));
    leaf.name() == Some("git") && prints && subcommand.is_some_and(|word| RECORDS.contains(&word))
}

/// Returns `true` for a call that removes what was built: `make clean`.
fn is_cleaning(leaf: &Leaf) -> bool {
    const TOOLS: [&str; 6] = ["make", "gmake", "ninja", "cargo", "just", "task"];
    const TASKS: [&str; 3] = ["clean", "distclean", "mostlyclean"];
    let mut tasks =
        leaf.argv.iter().skip(1).map(|arg| arg.text.as_str()).filter(|word| !word.starts_with('-')).peekable();
    leaf.name().is_some_and(|name| TOOLS.contains(&name))
        && tasks.peek().is_some()
        && tasks.all(|task| TASKS.contains(&task))
}

/// Returns `true` if something in the line may change files after its checks began. Then files that are the same at the
/// end may have been others in between.
pub fn may_change_after_checks(told: &ObservedLine<'_>, project: Project<'_>) -> bool {
    edits_before_checks(told, project, &[]).is_none()
}

/// The files that a line changes before its first check.
#[derive(Default)]
struct EarlierEdits {
    /// The files that it names, from the root of the working tree.
    named: Vec<RepoPath>,
    /// The extensions of the files that its formatters change.
    formatted: Vec<String>,
    /// The programs that change manifests and lock files.
    installers: Vec<String>,
    /// `true` if git may have changed files.
    by_git: bool,
    /// `true` if a script or git may have changed any file.
    any_file: bool,
    /// The programs of the line.
    programs: Vec<String>,
}

impl EarlierEdits {
    fn include(&self, path: &RepoPath) -> bool {
        let is_formatted = |extension: &String| path.as_bytes().ends_with(extension.as_bytes());
        // A tool brings its lock file up to date before it builds or tests.
        let is_lock = || rewriter(path).is_some_and(|file| !file.manifest && self.programs.contains(&file.tool));
        self.any_file
            || self.named.contains(path)
            || self.formatted.iter().any(is_formatted)
            || self.installers.iter().any(|program| may_rewrite(program, path))
            || is_lock()
    }

    /// Adds the files that a command before the first check changes.
    fn add(&mut self, leaf: &Leaf, purpose: &Purpose, place: StartDirectory<'_>, project: Project<'_>) {
        let (named, formatted) = (edited_by(leaf, purpose, place), formatted_by(leaf, purpose, project));
        let is_installer = is_installer(leaf, purpose, project);
        let is_script = (purpose.is_unknown || purpose.kinds.contains(&"other")) && runs_script(leaf);
        let is_open = (purpose.edits || is_script) && named.is_empty() && formatted.is_empty();
        self.by_git |= leaf.name() == Some("git") && (purpose.edits || moves_head(leaf));
        self.any_file |= is_open && !is_installer && !only_prepares(leaf, purpose);
        self.named.extend(named);
        self.formatted.extend(formatted);
        self.installers.extend(leaf.name().filter(|_| is_installer).map(str::to_owned));
    }
}

/// Returns the program of a command, and those of its wrappers: pytest and uv for `uv run pytest`.
fn programs_of(leaf: &Leaf) -> Vec<String> {
    let wrappers = leaf.wrappers.iter().filter_map(|name| name.split(' ').next());
    leaf.name().into_iter().chain(wrappers).map(str::to_owned).collect()
}

/// Returns `true` if a command gives a script to an interpreter: `python3 - <<EOF`, `bash fix.sh`, `node -e '…'`, `./fix.sh`.
fn runs_script(leaf: &Leaf) -> bool {
    let is_script = leaf.argv.first().is_some_and(|program| program.text.starts_with("./"));
    let asks = |arg: &Arg| matches!(arg.text.as_str(), "-V" | "--version" | "-h" | "--help");
    let is_interpreter = leaf.name().is_some_and(|program| interpreter(program).is_some());
    is_script || is_interpreter && !leaf.argv.iter().skip(1).any(asks)
}

/// Returns `true` for a command of git that makes `HEAD` another commit and changes no file: `git reset --soft`, `git commit`.
fn moves_head(leaf: &Leaf) -> bool {
    leaf.argv.iter().any(|arg| matches!(arg.text.as_str(), "reset" | "commit"))
}

/// Returns the files that a line changes before its first check, or `None` if anything after the beginning of that check
/// may change files, too. Without `declared`, any program that is not known may be a check.
fn edits_before_checks(told: &ObservedLine<'_>, project: Project<'_>, declared: &[&Command]) -> Option<EarlierEdits> {
    let start = std::str::from_utf8(told.dir.as_bytes()).ok()?;
    let place = StartDirectory { root: told.root, start, project };
    let view = DirectoryView(place);
    let project = place.project.with_files(&view);
    let understood = understand_in(told.line, told.shell, project).ok()?;
    let steps: Vec<(&Leaf, &Purpose)> = understood.steps().collect();
    let asked = asked_of(declared, place);
    let is_check = |(leaf, purpose): &(&Leaf, &Purpose)| {
        may_check(purpose) && !is_installer(leaf, purpose, project) && asked_of_leaf(leaf, place).is_some()
    };
    let is_declared = |(leaf, purpose): &(&Leaf, &Purpose)| {
        may_check(purpose) && asked_of_leaf(leaf, place).is_some_and(|own| serves(&own, &asked))
    };
    let first = steps.iter().position(is_declared).or_else(|| steps.iter().position(is_check));
    let Some(first) = first else { return Some(EarlierEdits::default()) };
    // What runs in the background may end after the check began.
    let is_later = |at: usize, leaf: &Leaf| at > first || at < first && leaf.background || leaf.late;
    let mut later = steps.iter().enumerate().filter(|(at, (leaf, _))| is_later(*at, leaf)).map(|(_, step)| step);
    // A program of the project that is declared is a check.
    let may_edit = |step: &(&Leaf, &Purpose)| may_edit(step.0, step.1) && !is_declared(step);
    if understood.program.truncated || later.any(may_edit) {
        return None;
    }
    let programs = steps.iter().flat_map(|(leaf, _)| programs_of(leaf)).collect();
    let mut edits = EarlierEdits { programs, ..EarlierEdits::default() };
    for (leaf, purpose) in steps[..first].iter().filter(|(leaf, _)| !leaf.background && !leaf.late) {
        edits.add(leaf, purpose, place, project);
    }
    Some(edits)
}

/// Returns the checks of declared commands.
fn asked_of(declared: &[&Command], place: StartDirectory<'_>) -> Vec<RequestedCheck> {
    let of = |command: &&Command| {
        let start = std::str::from_utf8(command.dir.as_bytes()).ok()?;
        asked_of_line(&command.run, StartDirectory { start, ..place })
    };
    declared.iter().filter_map(of).flatten().collect()
}

/// Returns `true` if a check is one of those that are asked for, or is or has a part of one.
fn serves(own: &RequestedCheck, asked: &[RequestedCheck]) -> bool {
    let is_one = |check: &RequestedCheck| own.key.covers(&check.key);
    let parts = |check: &RequestedCheck| [check.parts.clone(), check.members.clone()].into_iter().flatten().flatten();
    asked.iter().any(|check| is_one(check) || parts(check).any(|part| serves(own, &[part])))
        || parts(own).any(|part| serves(&part, asked))
}

/// Returns `true` for a command of a package manager that checks nothing: `npm install`, `uv version`.
fn is_installer(leaf: &Leaf, purpose: &Purpose, project: Project<'_>) -> bool {
    leaf.name().is_some_and(is_rewriter)
        && !purpose.kinds.iter().any(|kind| CHECKS.contains(kind))
        && resolve(project.runners, &leaf.words(), project.files).is_empty()
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
    !purpose.edits && (purpose.is_unknown || purpose.kinds.iter().any(|kind| CHECKS.contains(kind)))
}

/// Returns `true` unless a command is known to change no file.
fn may_edit(leaf: &Leaf, purpose: &Purpose) -> bool {
    const HARMLESS: [&str; 8] = ["test", "build", "typecheck", "push", "vcs", "pr", "ci_query", "read"];
    // Linters whose settings can say what an option says: `fix = true`.
    const FIXED_BY_SETTINGS: [&str; 2] = ["ruff", "golangci-lint"];
    let may_fix = || purpose.runs().count() == 0 || purpose.runs().any(|id| FIXED_BY_SETTINGS.contains(&id));
    let is_harmless = |kind: &&str| HARMLESS.contains(kind) || *kind == "lint" && !may_fix();
    let harmless = !purpose.is_unknown && purpose.kinds.iter().all(is_harmless);
    purpose.edits || !(harmless || only_prepares(leaf, purpose))
}

/// Returns the files that one command changes, as far as its words name them.
fn edited_by(leaf: &Leaf, purpose: &Purpose, place: StartDirectory<'_>) -> Vec<RepoPath> {
    let redirected = leaf.writes.iter().flatten().cloned();
    let named = redirected.chain(purpose.changed_paths(leaf));
    named.filter_map(|path| from_root(leaf, &path, place)).collect()
}

/// Returns a path that a command names, from the root of the working tree, or `None` if it is outside of it or unknown.
fn from_root(leaf: &Leaf, path: &str, place: StartDirectory<'_>) -> Option<RepoPath> {
    let inner = match &leaf.directory {
        Some(directory) if !path.starts_with('/') => place.inside(&format!("{}/{path}", directory.path.as_ref()?)),
        _ => place.inside(path),
    };
    inner.map(|path| RepoPath::from(path.as_str()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::command_line::coverage::tests::{TaskFiles, declared, ran};
    use crate::event::Ended;

    fn before(line: &str, changed: &[&str]) -> bool {
        let package = r#"{"scripts":{"test":"jest","format":"prettier --write . && node x","fmt":"prettier --write src && eslint --fix ."}}"#;
        let files = TaskFiles(BTreeMap::from([("package.json", package)]));
        let changed: Vec<RepoPath> = changed.iter().map(|path| RepoPath::from(*path)).collect();
        let test = declared("npm test", "");
        let used: &[&Command] = if line.contains("npm test") { &[&test] } else { &[] };
        changed_before_checks(&changed, &told(line, &RepoPath::from("")), Project::without_runners(&files), used)
    }

    fn told<'a>(line: &'a str, dir: &'a RepoPath) -> ObservedLine<'a> {
        ran(line, dir, Some(Ended::Exited(0)), Some(""))
    }

    #[test]
    fn a_file_that_a_line_writes_before_its_checks() {
        for (line, is) in [
            ("cat > a_test.go <<'EOT'\npackage a\nEOT\nnpm test", true),
            ("cat > a_test.go <<'EOT'\npackage a\nEOT\nnpm test 2>&1 | grep -v 'no test files'", true),
            (
                "cat > a_test.go <<'EOT'\npackage a\n\nfunc f() {\n\tif x() != 1 {\n\t}\n}\nEOT\nnpm run build && npm test",
                true,
            ),
            ("cat > a_test.go <<'EOT'\npackage a\nEOT\ngo vet ./... && npm test", true),
            ("cat > a_test.go <<'EOT'\npackage a\nEOT\nnpm test; go vet ./...", true),
            ("cat > a_test.go <<'EOT'\npackage a\nEOT\nnpm test; cargo clippy -- -D warnings", true),
            ("cat > a_test.go <<'EOT'\npackage a\nEOT\nnpm test; cargo clippy --fix", false),
            ("cat > a_test.go <<'EOT'\npackage a\nEOT\nnpm test; ruff check .", false),
            (
                "cat > a_test.go <<'EOT'\npackage a\nEOT\ngo build ./... && npm test 2>&1 | grep -v 'no test files'",
                true,
            ),
        ] {
            assert_eq!(before(line, &["a_test.go"]), is, "{line}");
        }
    }

    #[test]
    fn a_line_may_run_one_command_alone() {
        for (line, is) in [
            ("npm test", true),
            ("npm test 2>&1 | tail -5", true),
            ("cd . && npm test > /tmp/out 2>&1; echo $?; tail -5 /tmp/out", true),
            ("make clean && npm test", true),
            ("npm test | tee test.log | grep -v skipped", true),
            ("cp a b && npm test", false),
            ("make swap && npm test", false),
            ("npm test && npm run build", false),
            ("echo x > data.txt; npm test", true),
            ("npm test && git add -A && git commit -qm x", true),
            ("npm test 2>&1 | tail -5 && git diff --stat", true),
            ("sed -i s/a/b/ lib.c && npm test", true),
            ("F=t/ru; cat ../fake > ${F}n && npm test", true),
            ("cat ../fake > \"$F\" && npm test", false),
            ("cat ../fake > t/ru? && npm test", false),
            ("git show HEAD:fake > t/run && npm test", false),
            ("git diff --output=t/run && npm test", false),
            ("sed -i s/a/b/ t/* && npm test", false),
            ("sed -n 'w t/run' ../fake && npm test", false),
            ("sed -i -e s/a/b/ t/run && npm test", false),
            ("npm test 2>&1 | sed -n 1,20p", true),
            ("git stash pop && npm test", false),
            ("git checkout main && npm test", false),
            ("python3 make_data.py; npm test", false),
        ] {
            let files = TaskFiles(BTreeMap::from([("package.json", r#"{"scripts":{"test":"jest","build":"tsc"}}"#)]));
            let (dir, test) = (RepoPath::from(""), declared("npm test", ""));
            let written = runs_alone(&test, &told(line, &dir), Project::without_runners(&files));
            assert_eq!(written.is_some(), is, "{line}");
        }
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
    fn git_may_move_head_before_the_checks() {
        let test = declared("pytest", "");
        for (line, moves) in [
            ("git merge -q x && pytest", true),
            ("git reset -q --soft HEAD~1 && git commit -qm a && pytest", true),
            ("git status && pytest", false),
            ("git log -1; pytest", false),
            ("pytest && git checkout x", false),
            ("pytest", false),
        ] {
            let dir = RepoPath::from("");
            assert_eq!(
                moves_before_checks(&told(line, &dir), Project::without_runners(&()), &[&test]),
                moves,
                "{line}"
            );
        }
    }

    #[test]
    fn what_a_line_changes_before_the_tests_is_what_they_run_on() {
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
            ("sed -i s/a/b/ Cargo.toml && cargo test", &["Cargo.toml", "Cargo.lock"]),
            ("npm run format && npm test", &["src/a.ts"]),
            ("git merge -q --no-edit other && npm test", &["src/a.ts", "b/c.js"]),
            ("git stash pop && git cherry-pick x; npx jest", &["src/a.ts"]),
            ("python3 - <<'EOF'\nopen('a', 'w')\nEOF\nnpm test", &["a"]),
            ("bash fix.sh && npm test 2>&1 | tail -5", &["src/a.ts"]),
            ("node -e 'x()' && npm run lint; npm test", &["src/a.ts"]),
            ("npm install --save-dev ms@2 && npm test", &["package.json", "package-lock.json"]),
            ("npm version --no-git-tag-version patch && npm test", &["package.json", "package-lock.json"]),
            ("npm pkg set description=hi && npm test", &["package.json"]),
            ("go mod tidy && go test ./... && go build ./...", &["go.mod", "go.sum"]),
            ("uv add iniconfig && uv run pytest -q", &["pyproject.toml", "uv.lock"]),
            ("uv version 0.3.0 && uv run pytest -q", &["pyproject.toml", "uv.lock"]),
            ("sed -i s/a/b/ pyproject.toml && uv run pytest -q", &["pyproject.toml", "uv.lock"]),
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
            ("cargo test", &["src/lib.rs"]),
            ("npm install ms & npm test", &["package.json"]),
            ("bash fix.sh & npm test", &["src/a.ts"]),
            ("bash fix.sh && npm test; git checkout src", &["src/a.ts"]),
            ("npm test && git merge other", &["src/a.ts"]),
            ("git status && npm test", &["src/a.ts"]),
            ("npx eslint . ; npm test", &["src/a.ts"]),
            ("python3 -V; npm test", &["src/a.ts"]),
            ("docker ps && cmake --version && npm test", &["src/a.ts"]),
            ("pytest", &["package-lock.json"]),
            ("npm test && npm install ms", &["package.json"]),
            ("npm install ms && npm test", &["package.json", "a.js"]),
            ("npm install ms && npm test", &["Cargo.toml"]),
            ("go test ./...", &["go.mod"]),
        ] {
            assert!(!before(line, changed), "{line}: {changed:?}");
        }
    }
}
