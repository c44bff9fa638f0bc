//! The real `act` runs the job that `gate init` writes and the action, from a pull request to the verdict.
//!
//! No network and no container: `actions/checkout` and `actions/upload-artifact` are replaced by what does the same with
//! a repository and a folder of this machine, and `cargo install` by a copy of the program under test.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};

use crate::clone::{Clone, NAMED};
use crate::installed;

/// One command, which fails where the source is broken.
const TESTED: &str = "version = 1
[commands.test]
gate = \"tests\"
run = \"sh test.sh\"
inputs = [\"src/**\", \"test.sh\"]
[gates.build]
mode = \"off\"
[gates.atomic]
mode = \"off\"
";

const CHECKOUT: &str = "name: checkout
description: Checks out of a repository of this machine
inputs:
  ref:
    default: ''
  fetch-depth:
    default: '1'
  persist-credentials:
    default: 'true'
runs:
  using: composite
  steps:
    - shell: bash
      env:
        REF: ${{ inputs.ref }}
        DEPTH: ${{ inputs.fetch-depth }}
      run: |
        test \"$DEPTH\" = 0 && test -n \"$REF\"
        git init --quiet .
        git remote add origin \"$TEST_ORIGIN\"
        git fetch --quiet origin '+refs/heads/*:refs/remotes/origin/*'
        git checkout --quiet --detach \"$REF\"
";

const UPLOAD: &str = "name: upload
description: Copies what would be uploaded
inputs:
  name:
    default: artifact
  path:
    required: true
  if-no-files-found:
    default: warn
runs:
  using: composite
  steps:
    - shell: bash
      env:
        FROM: ${{ inputs.path }}
      run: cp -R \"$FROM\" \"$TEST_ARTIFACTS\"
";

/// Installs the program under test, whatever it is asked for, and nothing else.
const CARGO: &str = "#!/bin/sh
set -eu
test \"$1 $2\" = 'install --locked'
into=$(dirname \"$0\")
while [ $# -gt 0 ]; do
    if [ \"$1\" = --root ]; then into=$2/bin; fi
    shift
done
mkdir -p \"$into\"
cp \"$TEST_GATE\" \"$into/gate\"
";

/// A pull request in which a job is to be run.
struct Proposed {
    clone: Clone,
}

/// What a run of `act` came to.
struct Ran {
    output: Output,
    artifacts: PathBuf,
}

impl Proposed {
    /// `source` is what the pull request makes of the source; `workflow` is written to the branch it goes to.
    fn new(source: &str, workflow: impl FnOnce(&Clone)) -> Self {
        let clone = Clone::with(&format!("{TESTED}{NAMED}"));
        let repo = &clone.repo;
        repo.git(["checkout", "-q", "main"]);
        repo.write("test.sh", "if grep -q broken src/lib.rs; then exit 1; fi\n");
        workflow(&clone);
        repo.commit_all("the job");
        repo.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
        repo.git(["checkout", "-q", "-B", "feature"]);
        repo.write("src/lib.rs", source);
        let head = repo.commit_all("change");
        let clone = Clone { head, ..clone };
        clone.pushed();
        clone.server.state().pull(7, "o/r", "feature", &clone.head);
        clone.server.state().done("build", &clone.head, "success");
        Self { clone }
    }

    fn run(&self, workflow: &str) -> Ran {
        let (repo, server) = (&self.clone.repo, &self.clone.server);
        let place = |name: &str| repo.outside().join(name);
        let write = |path: &Path, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let base = repo.git(["rev-parse", "refs/remotes/origin/main"]);
        let end = |branch: &str, commit: &str| json!({ "ref": branch, "sha": commit, "repo": { "full_name": "o/r", "default_branch": "main" } });
        let event = json!({
            "action": "opened",
            "number": 7,
            "pull_request": {
                "number": 7,
                "head": end("feature", &self.clone.head),
                "base": end("main", &base),
                "user": { "login": "someone" },
            },
            "repository": { "full_name": "o/r", "name": "r", "owner": { "login": "o" }, "default_branch": "main" },
        });
        write(&place("event.json"), &event.to_string());
        write(&place("checkout/action.yml"), CHECKOUT);
        write(&place("upload/action.yml"), UPLOAD);
        // Only what belongs to the action, of the whole project.
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for file in ["action.yml", "action/install.sh", "action/releases.txt"] {
            write(&place("action").join(file), &fs::read_to_string(root.join(file)).unwrap());
        }
        let cargo = place("bin/cargo");
        write(&cargo, CARGO);
        fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();

        let text = fs::read_to_string(repo.path(workflow)).unwrap();
        let pinned = |action: &str| {
            let (_, rest) = text.split_once(&format!("{action}@"))?;
            Some(format!("{action}@{}", rest.split_whitespace().next()?))
        };
        let stand_ins = [("actions/checkout", "checkout"), ("actions/upload-artifact", "upload"), ("o/gate", "action")];
        let artifacts = place("artifacts");
        let url = server.url();
        let path = format!("{}:{}", place("bin").display(), std::env::var("PATH").unwrap());
        let variables = [
            ("PATH", path.as_str()),
            ("GITHUB_SERVER_URL", &url),
            ("GITHUB_API_URL", &format!("{url}/api/v3")),
            ("GITHUB_REPOSITORY", "o/r"),
            ("RUNNER_OS", "Linux"),
            ("TEST_ORIGIN", repo.root().to_str().unwrap()),
            ("TEST_ARTIFACTS", artifacts.to_str().unwrap()),
            ("TEST_GATE", env!("CARGO_BIN_EXE_gate")),
        ];
        let mut command = repo.command_in(installed::program("act"), repo.root());
        command.env("PATH", &path).args(["pull_request", "-W", workflow, "-P", "ubuntu-latest=-self-hosted"]);
        command.args(["-s", "GITHUB_TOKEN=job-token", "--no-cache-server", "--action-offline-mode", "-e"]);
        command.arg(place("event.json"));
        for (action, folder) in stand_ins {
            if let Some(pinned) = pinned(action) {
                command.args(["--local-repository", &format!("{pinned}={}", place(folder).display())]);
            }
        }
        for (name, value) in variables {
            command.args(["--env", &format!("{name}={value}")]);
        }
        Ran { output: command.output().unwrap(), artifacts }
    }
}

impl Ran {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned() + &String::from_utf8_lossy(&self.output.stderr)
    }

    fn verdict(&self) -> Value {
        let path = self.artifacts.join("verdict.json");
        serde_json::from_slice(&fs::read(&path).unwrap_or_else(|_| panic!("{}", self.text()))).unwrap()
    }
}

fn written(clone: &Clone) {
    written_for("github", clone);
}

fn written_for(forge: &str, clone: &Clone) {
    // What is fetched is not built: `cargo` is replaced.
    let source = format!("{}@{}", clone.repo.root().display(), clone.repo.git(["rev-parse", "HEAD"]));
    let output = clone.repo.gate(["init", "--ci", forge, "--yes", "--source", &source]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

const JOB: &str = ".github/workflows/gate.yml";

#[test]
fn the_job_lets_a_proven_change_pass() {
    let proposed = Proposed::new("pub fn two() {}\n", written);
    let ran = proposed.run(JOB);
    assert!(ran.output.status.success(), "{}", ran.text());
    let verdict = ran.verdict();
    assert_eq!((&verdict["outcome"], &verdict["complete"]), (&json!("pass"), &json!(true)), "{verdict:#}");
    assert_eq!(verdict["subjects"][0]["commit"], proposed.clone.head.as_str());
    assert!(ran.artifacts.join("gate.sarif").is_file() && ran.artifacts.join("gate.junit.xml").is_file());
    let state = proposed.clone.server.state();
    assert!(state.log.iter().all(|(_, _, token)| token.as_deref() == Some("Bearer job-token")), "{:?}", state.log);
}

#[test]
fn the_job_blocks_what_fails() {
    let proposed = Proposed::new("pub fn broken() {}\n", written);
    let ran = proposed.run(JOB);
    assert!(!ran.output.status.success(), "{}", ran.text());
    assert_eq!(ran.verdict()["outcome"], "blocked");
    assert!(ran.text().contains("exit status 10"), "{}", ran.text());
}

#[test]
fn the_job_blocks_a_change_whose_other_checks_fail() {
    let proposed = Proposed::new("pub fn two() {}\n", written);
    proposed.clone.server.state().done("lint", &proposed.clone.head, "failure");
    let ran = proposed.run(JOB);
    assert!(!ran.output.status.success(), "{}", ran.text());
    assert_eq!(ran.verdict()["outcome"], "blocked");
}

/// Its runner is a relative of `act`. No forge is asked: the base is named.
#[test]
fn the_job_for_gitea_and_forgejo_judges_without_asking() {
    for (source, passes) in [("pub fn two() {}\n", true), ("pub fn broken() {}\n", false)] {
        let proposed = Proposed::new(source, |clone| written_for("gitea", clone));
        let ran = proposed.run(".gitea/workflows/gate.yml");
        assert_eq!(ran.output.status.success(), passes, "{}", ran.text());
        assert!(
            ran.text().contains(if passes { "passed on this content" } else { "failed on this content" }),
            "{}",
            ran.text()
        );
        assert!(proposed.clone.server.state().log.is_empty(), "{}", ran.text());
    }
}

const USES: &str = "name: uses
on: pull_request
permissions: {}
jobs:
  gate:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v0
        with:
          ref: ${{ github.event.pull_request.head.sha }}
          fetch-depth: 0
      - id: gate
        uses: o/gate@v0
        with:
          wait: 1s
          comment: true
      - if: always()
        env:
          OUTCOME: ${{ steps.gate.outputs.outcome }}
        run: echo \"it says $OUTCOME\"
      - if: always()
        uses: actions/upload-artifact@v0
        with:
          path: ${{ runner.temp }}/gate/verdict
";

fn uses(clone: &Clone) {
    clone.repo.write(".github/workflows/uses.yml", USES);
}

#[test]
fn the_action_judges_comments_and_says_the_outcome() {
    for (source, outcome, code) in [("pub fn two() {}\n", "pass", 0), ("pub fn broken() {}\n", "blocked", 1)] {
        let proposed = Proposed::new(source, uses);
        let ran = proposed.run(".github/workflows/uses.yml");
        assert_eq!(ran.output.status.code(), Some(code), "{}", ran.text());
        assert!(ran.text().contains(&format!("it says {outcome}")), "{}", ran.text());
        assert_eq!(ran.verdict()["outcome"], outcome);
        let state = proposed.clone.server.state();
        assert_eq!(state.comments.len(), 1, "{}", ran.text());
    }
}
