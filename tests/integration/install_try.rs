//! `gate init --try`: what was derived is run before anybody depends on it.

use crate::support::TestRepo;

/// A recipe that passes.
const PASSES: &str = "@sh suite.sh";

/// Code and output of `gate init` with these arguments.
fn init(repo: &TestRepo, args: &[&str]) -> (i32, String) {
    let output = repo.gate([&["init", "--no-hooks"], args].concat()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout) + &text(&output.stderr))
}

/// A repository whose makefile has these recipes for `test` and `build`.
fn made(test: &str, build: &str) -> TestRepo {
    let repo = TestRepo::new();
    repo.write("Makefile", format!("test:\n\t{test}\nbuild:\n\t{build}\n"));
    repo.write("suite.sh", "true\n").write("notes.c", "one\n").commit_all("start");
    repo
}

#[test]
fn commands_that_pass_are_declared_and_what_they_ran_counts() {
    let repo = made(PASSES, "@true");
    let (code, said) = init(&repo, &["--try", "--yes"]);
    assert_eq!(code, 0, "{said}");
    for words in ["trying 1 of 2: test: make test", "trying 2 of 2: build: make build", "passed", "`make test`"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let policy = String::from_utf8(repo.read("gate.toml")).unwrap();
    let table: toml::Table = policy.parse().unwrap();
    assert_eq!(table["commands"].as_table().unwrap().len(), 2, "{policy}");
    repo.commit_all("declare");
    let run = repo.gate(["run"]).output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(said.contains("every command that is needed has passed"), "{said}");
}

#[test]
fn a_command_that_fails_is_a_comment_until_a_person_decides() {
    for (recipe, what) in [
        ("@exit 3", "ended with status"),
        ("@no-such-program-here", "ended with status"),
        (
            "@echo 'running 0 tests'; echo 'test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out'",
            "executed no test",
        ),
        (&format!("{PASSES} && echo made >>notes.c"), "changed while it ran"),
    ] {
        let repo = made(recipe, "@true");
        let (code, said) = init(&repo, &["--try", "--yes"]);
        assert_eq!(code, 10, "{recipe}: {said}");
        assert!(said.contains("cannot count") && said.contains(what), "{recipe}: {said}");
        assert!(said.contains("gets it as a comment, and you decide"), "{said}");
        let policy = String::from_utf8(repo.read("gate.toml")).unwrap();
        let table: toml::Table = policy.parse().unwrap();
        assert_eq!(table["commands"].as_table().unwrap().keys().collect::<Vec<_>>(), ["build"], "{policy}");
        assert!(policy.contains("# Not declared: ") && policy.contains("#: run = \"make test\""), "{policy}");
    }
}

#[test]
fn without_consent_nothing_is_written() {
    let repo = made(PASSES, "@true");
    for args in [&["--try"][..], &["--try", "--dry-run"]] {
        let (code, said) = init(&repo, args);
        assert_eq!(code, 0, "{said}");
        assert!(said.to_lowercase().contains("nothing was changed"), "{said}");
        assert!(!repo.path("gate.toml").exists());
    }
}

#[test]
fn what_gate_toml_declares_is_tried_and_stays() {
    let repo = made(PASSES, "@true");
    repo.write("gate.toml", "version = 1\n[commands.t]\ngate = \"tests\"\nrun = \"make nothing\"\n");
    repo.commit_all("declare");
    let (code, said) = init(&repo, &["--try", "--yes"]);
    assert_eq!(code, 10, "{said}");
    assert!(said.contains("make nothing") && said.contains("change it there"), "{said}");
    assert!(String::from_utf8(repo.read("gate.toml")).unwrap().contains("make nothing"));
}

#[test]
fn the_command_that_is_named_replaces_the_one_that_fails() {
    let repo = made("@exit 3", "@true");
    let (code, said) = init(&repo, &["--try", "--yes", "--test", "sh suite.sh"]);
    assert_eq!(code, 0, "{said}");
    assert!(String::from_utf8(repo.read("gate.toml")).unwrap().contains("sh suite.sh"), "{said}");
}

#[test]
fn a_build_that_hides_its_failures_is_not_declared() {
    for (script, declared) in [("tsc; cp a.d.ts dist/", false), ("tsc && cp a.d.ts dist/", true)] {
        let repo = TestRepo::new();
        let package = format!("{{\"scripts\": {{\"test\": \"jest\", \"build\": \"{script}\"}}}}");
        repo.write("package.json", package).write("package-lock.json", "{}").commit_all("start");
        let (code, said) = init(&repo, &["--yes"]);
        assert_eq!(code, 0, "{said}");
        let policy = String::from_utf8(repo.read("gate.toml")).unwrap();
        assert_eq!(policy.contains("npm run build"), declared, "{policy}");
        let note = "No build is declared: `npm run build` ends with status 0 even if a part of it fails.";
        assert_eq!(said.contains(note), !declared, "{said}");
    }
}
