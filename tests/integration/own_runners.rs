//! The runners that a repository describes itself: `gate/runners/*.toml`.

use std::collections::BTreeMap;

use serde_json::json;

use crate::client_session::Session;
use crate::project::Project;

const RUNNER: &str = "gate/runners/house-check.toml";

/// Returns the section of docs/runners.md about such runners.
fn section() -> String {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/runners.md")).unwrap();
    text.split("## A runner of your own").nth(1).unwrap().split("\n## ").next().unwrap().to_owned()
}

/// Returns the files of its worked example, by path.
fn example() -> BTreeMap<String, String> {
    let section = section();
    let blocks = section.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    blocks.filter_map(|(_, content)| Some((path_in(content)?.to_owned(), content.to_owned()))).collect()
}

/// Returns the path that a comment in the first two lines of a block names.
fn path_in(block: &str) -> Option<&str> {
    block.lines().take(2).find_map(|line| line.strip_prefix("# "))
}

/// A project with the worked example, on a branch whose base has all of it.
fn project() -> Project {
    let files = example();
    let project = Project::bare_bones();
    project.repo.write("gate.toml", &files["gate.toml"]).script("tools/check.sh", &files["tools/check.sh"]);
    project.repo.write(RUNNER, &files[RUNNER]).commit_all("tests: the script and its runner");
    project.share();
    project.gate(["init", "--yes"]).exits(0);
    project
}

#[test]
fn the_worked_example_of_the_docs_does_what_it_shows() {
    let project = project();
    let section = section();
    let console = section.split("```console\n").nth(1).unwrap().split("```").next().unwrap();
    let shown: Vec<&str> = console.split("$ ").skip(1).collect();
    assert_eq!(shown.len(), 3, "{console}");
    for block in shown {
        let (command, output) = block.split_once('\n').unwrap();
        let said = project.sh(command).text();
        assert!(output.lines().count() > 0, "{command} shows nothing");
        for line in output.lines() {
            assert!(said.contains(line), "`{command}` does not say `{line}`:\n{said}");
        }
    }
}

#[test]
fn a_silent_run_proves_nothing_and_a_counted_one_does() {
    let project = project().edited("more");
    project.gate_with(&[("QUIET", "1")], &["run", "test"]).says("this run proves nothing about test");
    project.push("git push origin feature").exits(1);
    project.gate(["run", "test"]).exits(0).says("2 passed");
    project.push("git push origin feature").exits(0);
}

#[test]
fn a_failure_that_only_the_runner_shows_is_not_a_pass() {
    let project = project();
    project
        .repo
        .script("tools/check.sh", "#!/bin/sh\necho 'house-check: 1 passed, 1 failed'\n")
        .commit_all("tests: fails");
    project.gate(["run", "test"]).says("this run proves nothing about test");
    project.push("git push origin feature").exits(1);
}

#[test]
fn a_change_is_not_judged_by_the_runner_that_it_brings() {
    let project = project();
    let lax = example()[RUNNER].replace("always = true", "always = false");
    project.repo.append("src/lib.sh", "more\n").write(RUNNER, lax).commit_all("tests: a silent run is enough");
    project.gate_with(&[("QUIET", "1")], &["run", "test"]).says("this run proves nothing about test");
    project.check().says("policy changed in these commits");
    project.push("git push origin feature").exits(1).says("policy changed in these commits");

    // Another branch of the same base that describes a second runner is judged without it.
    project.repo.git(["switch", "-q", "-c", "other", "origin/main"]);
    let files = example();
    let second = files[RUNNER].replace("house-check", "second-check").replace("check.sh", "second.sh");
    project.repo.script("tools/second.sh", "#!/bin/sh\necho 'second-check: 7 passed, 0 failed'\n");
    project.repo.write("gate/runners/second-check.toml", second).commit_all("tests: a second runner");
    project.gate(["run", "--", "./tools/second.sh"]).never_says("7 passed, 0 failed, 0 skipped");
    project.check().says("policy changed in these commits");
}

#[test]
fn a_change_that_takes_the_runner_away_asks_for_less() {
    let project = project();
    project.repo.remove(RUNNER).commit_all("tests: no runner");
    project.check().says("the runner of the command test (`./tools/check.sh`) proves less");
}

#[test]
fn a_change_that_breaks_a_runner_file_is_refused_and_its_repair_is_judged() {
    let project = project();
    project.repo.write(RUNNER, "id = \"house-check\"\nkinds = [\"test\"\n").commit_all("tests: broken");
    project
        .check()
        .says("this change makes gate/runners/house-check.toml unreadable")
        .says("house-check.toml:2:16: not TOML");
    project.repo.write(RUNNER, &example()[RUNNER]).commit_all("tests: whole again");
    project.gate(["run", "test"]).exits(0).says("2 passed");
}

#[test]
fn a_bad_file_is_an_error_with_its_place_and_what_to_do() {
    let good = &example()[RUNNER];
    let changed = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        good.replace(from, to)
    };
    let cases = [
        (changed("kinds =", "kidns ="), ":3:1: unknown key `kidns` in a runner file", "did you mean `kinds`?"),
        (
            changed("id = \"house-check\"", "id = \"other\""),
            ":2:6: the file of the runner `other` is called other.toml",
            "rename it",
        ),
        (
            changed("id = \"house-check\"", "id = \"House/Check\""),
            ":2:6: the id of a runner is made of lowercase letters",
            "",
        ),
        (
            changed("[\"check.sh\"]", "[\"cargo\"]\nwords = [\"test\"]"),
            "`cargo test` is claimed by gate's own runner `cargo test` as well",
            "other words",
        ),
        (changed("(?<passed>", "(?<passed"), "not a regular expression:", "is = "),
        (changed("has = [\"house-check: \"]", "has = []"), "`has` is empty", ""),
        (
            changed("scope = \"filtered\"", "scope = \"full\""),
            "`scope` is \"filtered\" for this line, not \"full\"",
            "./tools/check.sh --only parser",
        ),
        (changed("always = true", "like = \"nope\""), "there is no runner `nope`", "like = "),
        (changed("[[invoke]]\nprogram = [\"check.sh\"]\n", ""), "missing table [[invoke]]", ""),
        (changed("[\"check.sh\"]", "[]"), "`program` is empty", ""),
        (changed("kinds = [\"test\"]\n", ""), "missing key `kinds`", ""),
        (changed("kinds = [\"test\"]", "kinds = [\"tests\"]"), ":3:", "tests"),
        (changed("id =", "id"), ":2:", "not TOML"),
        (
            format!("{good}\n[names]\n[names.hook]\nfiles = []\nvariable = []\n"),
            "a runner of a repository has none",
            "",
        ),
    ];
    let project = Project::bare_bones();
    project.repo.write("gate.toml", &example()["gate.toml"]).script("tools/check.sh", &example()["tools/check.sh"]);
    for (text, what, more) in &cases {
        project.repo.write(RUNNER, text);
        project.gate(["run", "test"]).exits(65).says(RUNNER).says(what).says(more);
    }
    // What does not lie in a regular file is not read.
    project.repo.remove(RUNNER).link(RUNNER, "../../gate.toml");
    project.gate(["run", "test"]).exits(65).says(RUNNER).says("not a regular file");
    // Two files of the repository that claim one call.
    project.repo.remove(RUNNER).write(RUNNER, good);
    project.repo.write("gate/runners/my-check.toml", good.replace("id = \"house-check\"", "id = \"my-check\""));
    project.gate(["run", "test"]).exits(65).says(RUNNER).says("gate/runners/my-check.toml");
    // Other files are nobody's concern.
    project.repo.remove("gate/runners/my-check.toml").write("gate/runners/README.md", "no TOML\n");
    project.gate(["run", "test"]).exits(0).says("2 passed");
}

#[test]
fn what_an_agent_runs_is_counted_by_the_runner_of_the_base() {
    let project = project();
    let session = Session::claude(&project);
    session.hook("SessionStart", json!({"source": "startup"})).quiet();
    session.prompt("change the library");
    project.edit("a change");
    assert_eq!(session.run("QUIET=1 ./tools/check.sh"), 0);
    session.stop("All done, all tests pass!").pushes("Next: gate run test");
    assert_eq!(session.run("./tools/check.sh 2>&1 | tail -1"), 0);
    session.stop("Now the tests pass.").quiet();
    let run = project.journal().into_iter().rfind(|line| line["kind"] == "run").unwrap();
    assert_eq!(run["data"]["report"]["passed"], json!(2), "{run}");
}
