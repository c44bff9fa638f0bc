//! Python: the test runner of a project, and its environment manager.

use std::path::Path;

use super::file_list::{depth, join, prefix, within};
use super::{Detection, Files, TESTS};

/// Files that say "a Python project is here".
const MARKERS: [&str; 10] = [
    "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "requirements-dev.txt", "Pipfile", "tox.ini",
    "noxfile.py", "pytest.ini", "manage.py",
];

/// Lockfiles, and the command that enters the environment they describe.
const ENVIRONMENTS: [(&str, &str); 4] =
    [("uv.lock", "uv run "), ("poetry.lock", "poetry run "), ("Pipfile.lock", "pipenv run "), ("pdm.lock", "pdm run ")];

/// Returns the Python projects that have tests.
pub(super) fn find(files: &Files) -> Vec<Detection> {
    let mut dirs: Vec<String> = MARKERS.iter().flat_map(|marker| files.folders_with(marker)).collect();
    dirs.sort_by_key(|dir| (depth(dir), dir.clone()));
    dirs.dedup();
    if dirs.is_empty() && files.below("").any(is_test_file) {
        dirs.push(String::new());
    }
    let all = dirs.clone();
    dirs.into_iter()
        .filter_map(|dir| {
            // The tests of a project inside this one are that project's.
            let own = |path: &str| !all.iter().any(|d| *d != dir && within(d, &dir) && within(path, d));
            let PythonRunner { run, reason, guessed } = runner(files, &dir, &own)?;
            let lock = ENVIRONMENTS.iter().find(|(lock, _)| {
                // A lockfile at the root covers the members of a uv workspace.
                files.has(&join(&dir, lock)) || files.has(lock)
            });
            let (run, reason) = match lock {
                Some((lock, prefix)) => (format!("{prefix}{run}"), format!("{reason}; {lock} is there")),
                None => (run, reason),
            };
            let manifests = MARKERS.iter().map(|m| join(&dir, m)).filter(|path| files.has(path)).collect();
            let (stack, commands) = ("python".to_owned(), vec![(TESTS, run, reason)]);
            Some(Detection { stack, dir, manifests, commands, guessed, ..Detection::default() })
        })
        .collect()
}

/// A command line and the fact it rests on.
struct PythonRunner {
    run: String,
    reason: String,
    guessed: bool,
}

fn runner(files: &Files, dir: &str, own: &dyn Fn(&str) -> bool) -> Option<PythonRunner> {
    let known = |run: &str, reason: String| Some(PythonRunner { run: run.to_owned(), reason, guessed: false });
    let guess = |run: &str, reason: String| Some(PythonRunner { run: run.to_owned(), reason, guessed: true });
    let text = |name: &str| files.text(&join(dir, name));
    let pyproject = text("pyproject.toml");
    let tests: Vec<&str> = files.below(dir).filter(|path| own(path) && is_test_file(path)).take(2_000).collect();

    let configured = [
        ("pytest.ini", files.has(&join(dir, "pytest.ini"))),
        ("pyproject.toml", pyproject.contains("[tool.pytest")),
        ("tox.ini", text("tox.ini").contains("[pytest]")),
        ("setup.cfg", text("setup.cfg").contains("[tool:pytest]")),
    ];
    let elsewhere =
        ["python_files", "testpaths"].iter().any(|key| configured.iter().any(|(name, _)| text(name).contains(key)));
    // Settings alone test nothing: those of a part are often there for tests that lie in another.
    let sources = files
        .below(dir)
        .any(|path| own(path) && Path::new(path).extension().is_some_and(|extension| extension == "py"));
    let nothing = tests.is_empty() && sources && !elsewhere;
    if let Some((name, _)) = configured.iter().find(|(_, there)| *there && !nothing) {
        return known("pytest", format!("pytest is configured in {}", join(dir, name)));
    }
    let imports =
        |path: &&&str| files.text(path).lines().any(|l| l.starts_with("import pytest") || l.starts_with("from pytest"));
    if let Some(path) = tests.iter().find(imports) {
        return known("pytest", format!("{path} imports pytest"));
    }
    // tox and nox run their whole list of environments: the documents, linters and every version of Python. Where they
    // call pytest, pytest is the suite.
    let sources = [
        "pyproject.toml", "requirements.txt", "requirements-dev.txt", "Pipfile", "setup.py", "setup.cfg", "tox.ini",
        "noxfile.py",
    ];
    if let Some(name) = sources.iter().find(|name| ["pytest", "py.test"].iter().any(|tool| text(name).contains(tool)))
        && !tests.is_empty()
    {
        let run =
            folder_in_ci(files, dir, &tests).map_or_else(|| "pytest".to_owned(), |folder| format!("pytest {folder}"));
        return known(&run, format!("{} names pytest, and there are tests", join(dir, name)));
    }
    let unittest = |name: &str| !tests.is_empty() && text(name).contains("-m unittest");
    let unittest = unittest("tox.ini") || unittest("noxfile.py") || !tests.is_empty() && runs_unittest(&pyproject);
    if !unittest && (text("tox.ini").contains("[testenv") || pyproject.contains("[tool.tox")) {
        return known("tox", "tox is configured".to_owned());
    }
    if !unittest && files.has(&join(dir, "noxfile.py")) {
        return known("nox", format!("{} is there", join(dir, "noxfile.py")));
    }
    if tests.is_empty() {
        return None;
    }
    if let Some(path) = files.below(dir).find(|path| own(path) && path.rsplit('/').next() == Some("conftest.py")) {
        return guess("pytest", format!("{path} is there, which only pytest reads"));
    }
    if files.has(&join(dir, "manage.py")) {
        return known("python3 manage.py test", format!("{} is there", join(dir, "manage.py")));
    }
    if let Some(path) = tests.iter().find(|path| has_bare_tests(&files.text(path))) {
        return guess("pytest", format!("{path} has test functions outside of classes, which unittest does not run"));
    }
    let folder = plain_folder(files, dir, &tests).map(|folder| format!(" -s {folder}"));
    // By itself it collects `test*.py`.
    let is_collected = |path: &&str| path.rsplit('/').next().is_some_and(|name| name.starts_with("test"));
    let pattern = (!tests.iter().any(is_collected)).then(|| " -p '*_test.py'".to_owned());
    let options: String = folder.into_iter().chain(pattern).collect();
    let run = if options.is_empty() {
        "python3 -m unittest".to_owned()
    } else {
        format!("python3 -m unittest discover{options}")
    };
    guess(&run, format!("{} is a test, and no other runner is configured", tests[0]))
}

/// Returns `true` if the settings of a tool run unittest: `["python", "-m", "unittest"]`.
fn runs_unittest(pyproject: &str) -> bool {
    let line = pyproject.replace(['"', '\'', ','], " ");
    line.split_whitespace().collect::<Vec<_>>().windows(2).any(|pair| pair == ["-m", "unittest"])
}

/// Returns the innermost folder, seen from `dir`, that holds all tests and is not a package. Discovery from the top
/// follows packages only, so it would find nothing in it.
fn plain_folder(files: &Files, dir: &str, tests: &[&str]) -> Option<String> {
    let first = tests.first()?.strip_prefix(&prefix(dir))?;
    let folders = first.match_indices('/').map(|(at, _)| &first[..at]);
    let holds_all = |folder: &&str| tests.iter().all(|path| within(path, &join(dir, folder)));
    let is_plain = |folder: &&str| !files.has(&join(&join(dir, folder), "__init__.py"));
    folders.take_while(holds_all).filter(is_plain).last().map(str::to_owned)
}

/// Returns the folder of tests that the project's own scripts and jobs hand to pytest, if there are tests elsewhere as well:
/// these may need what is not installed.
fn folder_in_ci(files: &Files, dir: &str, tests: &[&str]) -> Option<&'static str> {
    let folder = join(dir, "scripts");
    let jobs = files.below(".github/workflows").chain(files.below(&folder));
    let scripts = ["tox.ini", "noxfile.py", "Makefile"].map(|name| join(dir, name));
    let sources: Vec<String> =
        jobs.take(64).chain(scripts.iter().map(String::as_str)).map(|path| files.text(path)).collect();
    let named = |folder: &&str| sources.iter().any(|text| text.contains(&format!("pytest {folder}")));
    let (inside, outside): (Vec<&&str>, Vec<&&str>) = tests.iter().partition(|path| within(path, &join(dir, "tests")));
    if inside.is_empty() || outside.is_empty() { None } else { Some("tests").filter(named) }
}

/// Returns `true` if a file has test functions outside of classes.
fn has_bare_tests(text: &str) -> bool {
    text.lines().any(|line| line.strip_prefix("async ").unwrap_or(line).starts_with("def test_"))
}

fn is_test_file(path: &str) -> bool {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    let python = name.strip_suffix(".py");
    let measured = path.split('/').any(|part| matches!(part, "bench" | "benches" | "benchmark" | "benchmarks"));
    !measured
        && python.is_some_and(|stem| {
            stem.starts_with("test_") || stem.ends_with("_test") || matches!(stem, "test" | "tests")
        })
}
