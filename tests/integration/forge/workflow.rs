//! `gate init --ci`: the job that is written, and the ruleset that makes it binding.

use std::fs;

use serde_json::{Value, json};

use super::Clone;
use super::jobs::{Job, says};
use crate::support::files_below;

#[test]
fn the_job_is_written_once_and_never_over_another() {
    let repo = crate::support::TestRepo::with_commit();
    for (forge, path) in [
        ("github", ".github/workflows/gate.yml"),
        ("gitlab", ".gitlab/gate.yml"),
        ("gitea", ".gitea/workflows/gate.yml"),
    ] {
        let init = |args: &[&str]| repo.gate([&["init", "--ci", forge], args].concat()).output().unwrap();
        says(&init(&[]), 64, "gate cannot ask for confirmation without a terminal");
        says(&init(&["--dry-run"]), 0, "Nothing was changed");
        assert!(!repo.path(path).exists());
        says(&init(&["--yes"]), 0, "Wrote");
        let text = String::from_utf8(repo.read(path)).unwrap();
        assert!(text.contains("exit 1") && text.contains("--source URL@COMMIT"), "{text}");
        says(&init(&["--yes"]), 0, "Nothing to do");
        repo.append(path, "# mine\n");
        says(&init(&["--yes"]), 65, "says something else");
        assert!(repo.read(path).ends_with(b"# mine\n"));
        let uninstall = || repo.gate(["uninstall", "--yes"]).output().unwrap();
        says(&uninstall(), 0, "");
        assert!(repo.read(path).ends_with(b"# mine\n"), "{path} was changed since");
        let top = path.split('/').next().unwrap();
        repo.remove(top);
        says(&init(&["--yes"]), 0, "Wrote");
        repo.write(path, text);
        says(&uninstall(), 0, "");
        assert!(!repo.path(top).exists(), "{path}");
    }
}

#[test]
fn a_job_builds_gate_from_the_commit_that_it_is_given_and_fails_without_one() {
    let source = format!("https://host.example/own/gate.git@{}", "0123456789".repeat(4));
    for (forge, path) in [
        ("github", ".github/workflows/gate.yml"),
        ("gitlab", ".gitlab/gate.yml"),
        ("gitea", ".gitea/workflows/gate.yml"),
    ] {
        let repo = crate::support::TestRepo::with_commit();
        let init = |args: &[&str]| repo.gate([&["init", "--ci", forge], args].concat()).output().unwrap();
        let sentence = format!("This job fails until it says where to get gate from: gate init --ci {forge} --source");
        says(&init(&["--yes"]), 0, &sentence);
        // The remedy that is printed replaces the job that fails.
        says(&init(&["--yes", "--source", &source]), 0, "Wrote");
        let text = String::from_utf8(repo.read(path)).unwrap();
        assert!(text.contains("fetch --quiet --depth 1 'https://host.example/own/gate.git' 0123456789"), "{text}");
        assert!(!text.contains("exit 1") && !text.contains("evidence-gate"), "{text}");
        says(&init(&["--yes", "--source", &source]), 0, "Nothing to do");
        says(&repo.gate(["uninstall", "--yes"]).output().unwrap(), 0, "");
        assert!(!repo.path(path).exists());
        for wrong in [
            "https://host/x.git",
            "https://host/x.git@main",
            "https://h/x y.git@",
            "-x@0123456789012345678901234567890123456789",
        ] {
            assert_eq!(init(&["--yes", "--source", wrong]).status.code(), Some(64), "{wrong}");
        }
    }
}

#[test]
fn what_is_generated_names_no_package_of_a_registry_and_no_address_that_is_not_ours() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for path in ["templates", "hooks", "action"].iter().flat_map(|folder| files_below(&root.join(folder))) {
        let text = fs::read_to_string(&path).unwrap();
        for words in ["evidence-gate", "docs.rs", "crates.io", "npx ", "pip install"] {
            assert!(!text.contains(words), "{}: {words}", path.display());
        }
    }
}

#[test]
fn the_jobs_put_nothing_of_others_into_a_script() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in ["action.yml", "templates/ci/github.yml", "templates/ci/gitea.yml"] {
        let text = fs::read_to_string(root.join(file)).unwrap();
        let mut script = None;
        for line in text.lines() {
            let indent = line.len() - line.trim_start().len();
            let key = line.trim_start().trim_start_matches("- ");
            if key.starts_with("run:") {
                script = Some(indent);
            } else if script.is_some_and(|at| indent <= at) {
                script = None;
            }
            assert!(script.is_none() || !line.contains("${{"), "{file}: {line}");
            let pinned = |uses: &str| uses.split_once('@').is_some_and(|(_, at)| at.len() >= 40);
            assert!(key.strip_prefix("uses:").is_none_or(pinned), "{file}: {line}");
        }
    }
}

#[test]
fn a_job_that_was_committed_stays_and_is_named() {
    let repo = crate::support::TestRepo::with_commit();
    let run = |args: &[&str]| repo.gate(args).output().unwrap();
    says(&run(&["init", "--ci", "github", "--yes"]), 0, "Commit it");
    repo.commit_all("the job");
    let output = run(&["uninstall", "--yes"]);
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("gate.yml is tracked by git and stays"), "{text}");
    assert_eq!(repo.git(["status", "--porcelain"]), "");
}

#[test]
fn the_ruleset_that_is_printed_is_one_and_makes_the_job_required() {
    let repo = crate::support::TestRepo::with_commit();
    let output = repo.gate(["init", "--ci", "github", "--yes"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, command) =
        text.split_once("gh api --method POST 'repos/{owner}/{repo}/rulesets' --input - <<'END'\n").unwrap();
    let ruleset: Value = serde_json::from_str(command.split("\nEND\n").next().unwrap()).unwrap();
    assert_eq!((&ruleset["enforcement"], &ruleset["bypass_actors"]), (&json!("active"), &json!([])));
    let job = Job::of_pull(Clone::strict().green());
    // As the forge then lists them for the branch, which is held against its published schema.
    for rule in ruleset["rules"].as_array().unwrap() {
        let mut rule = rule.clone();
        rule["ruleset_id"] = 1.into();
        rule["ruleset_source"] = "o/r".into();
        rule["ruleset_source_type"] = "Repository".into();
        job.clone.server.state().rules.push(rule);
    }
    assert_eq!(job.judge(&[]).reason("ci-green"), "absent");
    job.clone.server.state().done("gate", &job.clone.head, "success");
    assert_eq!(job.judge(&[]).summary(), ("open", "green", 0));
}
