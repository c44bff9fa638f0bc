//! Task contracts: begun, checked, refused, unreadable.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::support::TestRepo;

fn contract(repo: &TestRepo, arguments: &[&str]) -> (Value, i32, String) {
    let mut command = repo.gate(["contract"].iter().chain(arguments));
    // The toolchain of this run, for contracts that build something.
    let home = std::env::var("HOME").unwrap_or_default();
    for (name, folder) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
        command.env(name, std::env::var(name).unwrap_or_else(|_| format!("{home}/{folder}")));
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (serde_json::from_slice(&output.stdout).unwrap_or_default(), output.status.code().unwrap(), text)
}

fn outcomes(found: &Value) -> Vec<String> {
    let one = |condition: &Value| condition["outcome"].as_str().unwrap().to_owned();
    found["conditions"].as_array().unwrap().iter().map(one).collect()
}

/// A repository with a file of Python, and a contract outside of it.
fn calc(text: &str) -> (TestRepo, String) {
    let repo = TestRepo::new();
    repo.write("README.md", "calc\n")
        .write("src/calc.py", "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n")
        .commit_all("calc");
    let file = repo.outside().join("contract.yaml");
    fs::write(&file, text).unwrap();
    (repo, file.to_str().unwrap().to_owned())
}

#[test]
fn conditions_are_verified_in_their_order() {
    let (repo, file) = calc(
        "task: Split calc\npreconditions:\n- file src/calc.py: exists, 6 lines\n- test -f README.md: success\npostconditions:\n\
         - src/calc.py: deleted\n- src/calc/: exists, 2 files\n- max file src/**: ≤ 3 lines\n\
         - all original functions: preserved\n- new dependencies: none\n- changed paths: only src/**\n\
         - pattern \"eval\\(\" in src/**: absent\n- src/calc/add.py: contains \"return\"\n- README.md: equals README.md\n\
         - test -d src/calc: success ← MANDATORY\n- README.md: at most 1 lines\n",
    );
    let (found, exit, text) = contract(&repo, &["begin", &file, "--json"]);
    assert_eq!((found["begin"].as_str(), exit), (Some("accepted"), 0), "{text}{found:#}");
    assert_eq!(outcomes(&found), ["holds", "holds"]);
    let (found, exit, _) = contract(&repo, &["check", "--json"]);
    assert_eq!((found["check"].as_str(), exit), (Some("open"), 10));
    repo.remove("src/calc.py")
        .write("src/calc/add.py", "def add(a, b):\n    return a + b\n")
        .write("src/calc/sub.py", "def sub(a, b):\n    return a - b\n");
    let (found, exit, _) = contract(&repo, &["check", "--json"]);
    assert_eq!((found["check"].as_str(), exit), (Some("met"), 0), "{found:#}");
    assert_eq!(found["conditions"].as_array().unwrap().len(), 11);
    assert_eq!(found["changed"], json!(false));
    repo.write("src/calc/sub.py", "X = 1\nY = 2\nZ = 3\nW = 4\n").write("notes.txt", "x\n");
    let (found, exit, _) = contract(&repo, &["check", "contract", "--json"]);
    assert_eq!(exit, 10);
    assert_eq!(
        outcomes(&found),
        ["holds", "holds", "fails", "fails", "holds", "fails", "holds", "holds", "holds", "holds", "holds"]
    );
    assert_eq!(found["conditions"][2]["detail"], "src/calc/sub.py has 4 lines");
    assert_eq!(found["conditions"][3]["detail"], "lost: sub");
    assert_eq!(found["conditions"][5]["detail"], "also changed: notes.txt");
}

#[test]
fn a_pattern_with_a_line_end_spans_lines() {
    let (repo, file) = calc(
        "task: x\npostconditions:\n- 'pattern \"X = 1\\nY\" in two.py: absent'\n- 'pattern \"X = 1\\s+Y\" in two.py: occurs'\n\
         - 'pattern \"(?s)X.*Y\" in two.py: occurs'\n- 'pattern \"X.*Y\" in two.py: absent'\n- 'max file bin/**: 3 lines'\n",
    );
    repo.write("two.py", "X = 1\nY = 2\n").write("bin/a.bin", "\0\0").commit_all("two lines");
    assert_eq!(contract(&repo, &["begin", &file]).1, 0);
    let (found, ..) = contract(&repo, &["check", "--json"]);
    assert_eq!(outcomes(&found), ["fails", "holds", "holds", "holds", "unreadable"], "{found:#}");
    assert_eq!(found["conditions"][0]["detail"], "it occurs in two.py:1");
}

#[test]
fn a_precondition_that_fails_refuses_the_task() {
    let (repo, file) =
        calc("task: x\npreconditions:\n- frobnicate-zz --check: success\npostconditions:\n- README.md: deleted\n");
    let (found, exit, _) = contract(&repo, &["begin", &file, "--json"]);
    assert_eq!((found["begin"].as_str(), exit), (Some("refused"), 10));
    assert!(found["conditions"][0]["detail"].as_str().unwrap().contains("command not found"), "{found:#}");
    let (_, exit, text) = contract(&repo, &["check", "--json"]);
    assert_eq!(exit, 12, "{text}");
}

#[test]
fn the_original_counts_when_a_contract_is_changed() {
    let (repo, file) = calc("task: x\npostconditions:\n- README.md: deleted\n");
    assert_eq!(contract(&repo, &["begin", &file]).1, 0);
    fs::write(&file, "task: x\npostconditions:\n- README.md: exists\n").unwrap();
    let (found, exit, _) = contract(&repo, &["check", "--json"]);
    assert_eq!((found["check"].as_str(), exit), (Some("open"), 10));
    assert_eq!(found["changed"], json!(true));
    let (_, exit, text) = contract(&repo, &["begin", &file]);
    assert_eq!(exit, 64);
    assert!(text.contains("open already") && text.contains("gate contract check contract"), "{text}");
    let (found, ..) = contract(&repo, &["list", "--json"]);
    assert_eq!(found["contracts"][0]["state"], "open");
}

#[test]
fn commands_are_judged_like_any_run() {
    let (repo, file) = calc(
        "task: x\npostconditions:\n- cargo test | tail -3: success\n- sleep 30: success\n- cat /dev/zero: success\n\
         - test -f README.md: success\n- test -f none: success\n",
    );
    assert_eq!(contract(&repo, &["begin", &file]).1, 0);
    let (found, ..) = contract(&repo, &["check", "--json", "--timeout", "1"]);
    assert_eq!(outcomes(&found), ["fails", "fails", "fails", "holds", "fails"], "{found:#}");
    assert_eq!(found["conditions"][1]["detail"], "timed out after 1 second");
}

#[test]
fn what_is_up_to_date_was_built() {
    let (repo, file) = calc(
        "task: x\npreconditions:\n- \"make: success\"\n- make all: success\npostconditions:\n- make: success\n- make all: success\n\
         - make test: success\n- \"make all: all pass\"\n- \"! grep -q zzz README.md: success\"\n",
    );
    repo.write("Makefile", "all: out.txt\nout.txt: README.md\n\tcp README.md out.txt\ntest: out.txt\n")
        .commit_all("make");
    let (found, exit, text) = contract(&repo, &["begin", &file, "--json"]);
    assert_eq!((found["begin"].as_str(), exit), (Some("accepted"), 0), "{text}{found:#}");
    let (found, ..) = contract(&repo, &["check", "--json"]);
    // Where tests are asked for, nothing to do is not a test.
    assert_eq!(outcomes(&found), ["holds", "holds", "fails", "fails", "holds"], "{found:#}");
    assert_eq!(found["conditions"][2]["detail"], "no test ran");
}

#[test]
fn what_has_no_end_is_not_read() {
    let (repo, file) = calc(
        "task: x\npostconditions:\n- pipe: exists, 3 lines\n- pipe: equals README.md\n- import map: verifies pipe\n- pipe: exists\n\
         - README.md: exists\n",
    );
    let pipe = repo.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let pipe = pipe.to_str().unwrap();
    let folder = repo.path("src");
    for wrong in [pipe, folder.to_str().unwrap()] {
        let (found, exit, said) = contract(&repo, &["begin", wrong, "--json"]);
        assert_eq!((exit, found["error"]["kind"].as_str()), (65, Some("form")), "{said}");
        assert!(said.contains(":1: this is not a regular file") && said.lines().count() > 1, "{said}");
    }
    assert_eq!(contract(&repo, &["begin", &file]).1, 0);
    let (found, ..) = contract(&repo, &["check", "--json"]);
    assert_eq!(outcomes(&found), ["unreadable", "unreadable", "unreadable", "holds", "holds"], "{found:#}");
    fs::remove_file(&file).unwrap();
    assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    assert_eq!(contract(&repo, &["check", "--json"]).0["changed"], json!(true));
    for arguments in [["import-map", pipe, "--json"], ["import-map", "--verify", pipe], ["board", "put", "signals/x"]] {
        let mut command = repo.gate(arguments);
        if arguments[0] == "board" {
            command.arg(pipe);
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(65) && said.contains("it is not a regular file"), "{arguments:?}: {said}");
    }
}

#[test]
fn names_with_brackets_are_names_and_may_be_globs() {
    let (repo, file) = calc(
        "task: x\npostconditions:\n- \"src/[ab].py: deleted\"\n- \"src/{calc,x}.py: gone\"\n- \"app/[id].ts: exists, 1 lines\"\n\
         - \"app/[slug].ts: deleted\"\n",
    );
    repo.write("src/a.py", "a\n").write("app/[id].ts", "x\n").commit_all("more");
    assert_eq!(contract(&repo, &["begin", &file]).1, 0);
    let (found, ..) = contract(&repo, &["check", "--json"]);
    assert_eq!(outcomes(&found), ["fails", "fails", "holds", "holds"], "{found:#}");
}

#[test]
fn binary_files_are_not_meant_by_a_glob() {
    let (repo, file) = calc(
        "task: x\npostconditions:\n- \"pattern \\\"TODO\\\" in **: absent\"\n- \"max file **: 9 lines\"\n\
         - \"pattern \\\"TODO\\\" in logo.png: absent\"\n- \"max file logo.png: 9 lines\"\n- \"max file src: 9 lines\"\n\
         - \"changed paths: only src\"\n",
    );
    repo.write("logo.png", b"\x89PNG\0\0TODO".as_slice()).commit_all("logo");
    assert_eq!(contract(&repo, &["begin", &file]).1, 0);
    repo.write("src/new.py", "x\n");
    let (found, ..) = contract(&repo, &["check", "--json"]);
    assert_eq!(outcomes(&found), ["holds", "holds", "unreadable", "unreadable", "fails", "fails"], "{found:#}");
    assert_eq!(found["conditions"][4]["detail"], "src is a folder; its files are src/**");
    let said = "also changed: src/new.py; the files of the folder are src/**";
    assert_eq!(found["conditions"][5]["detail"], said);
    repo.write("src/calc.py", "TODO\n");
    assert_eq!(outcomes(&contract(&repo, &["check", "--json"]).0)[0], "fails");
}

#[test]
fn old_manifests_of_python_are_manifests() {
    let (repo, file) = calc("task: x\npostconditions:\n- new dependencies: none\n");
    repo.write("setup.py", "setup(install_requires=['a'])\n")
        .write("setup.cfg", "[metadata]\nname = x\n")
        .commit_all("old");
    assert_eq!(contract(&repo, &["begin", &file]).1, 0);
    for (path, text, outcome) in [
        ("setup.py", "setup(version='2', install_requires=['a>=2'])\n", "holds"),
        ("setup.py", "setup(install_requires=['a', 'b'])\n", "fails"),
        ("setup.py", "setup(install_requires=read())\n", "unreadable"),
        ("setup.py", "setup(install_requires=['a'])\n", "holds"),
        ("setup.cfg", "[metadata]\nname = x\n[options]\ninstall_requires =\n    b\n", "fails"),
    ] {
        repo.write(path, text);
        assert_eq!(outcomes(&contract(&repo, &["check", "--json"]).0), [outcome], "{text}");
    }
}

/// Aliases that would multiply into a billion texts.
const BOMB: &str = "task: x\na: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n\
                    c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\npostconditions: *c\n";

#[test]
fn toml_is_read_as_strictly() {
    for (text, line, kind) in [
        ("", 1, "empty"),
        ("task = \"x\"\npostconditions = []\npostconditions = []\n", 3, "duplicate_key"),
        ("task = \"x\"\npostconditions = [\n  \"moon phase: full\",\n]\n", 3, "unknown_condition"),
        ("task = \"x\"\npostconditions = [{a = 1}]\n", 2, "form"),
        ("task = \"x\npostconditions = []\n", 1, "syntax"),
    ] {
        let (repo, _) = calc("");
        let file = repo.outside().join("c.toml");
        fs::write(&file, text).unwrap();
        let (found, exit, said) = contract(&repo, &["begin", file.to_str().unwrap(), "--json"]);
        assert_eq!((exit, found["error"]["kind"].as_str()), (65, Some(kind)), "{text}: {said}");
        assert_eq!(found["error"]["line"], json!(line), "{text}: {said}");
    }
    let (repo, _) = calc("");
    let file = repo.outside().join("c.toml");
    for (text, said) in
        [("task = \"x\"\ntask = \"y\"\n", "the key `task` occurs twice"), ("task = x\n", "put texts in quotes")]
    {
        fs::write(&file, text).unwrap();
        let (_, exit, told) = contract(&repo, &["begin", file.to_str().unwrap()]);
        assert!(exit == 65 && told.contains(said), "{text}: {told}");
    }
}

#[test]
fn a_command_has_two_minutes() {
    let (repo, _) = calc("");
    let help = repo.gate(["contract", "check", "--help"]).output().unwrap();
    assert!(String::from_utf8_lossy(&help.stdout).contains("[default: 120]"), "{help:?}");
}

#[test]
fn only_a_person_ends_a_contract_that_is_not_met() {
    let (repo, file) = calc("task: x\npostconditions:\n- README.md: deleted\n");
    assert_eq!(contract(&repo, &["begin", &file]).1, 0);
    let (_, exit, said) = contract(&repo, &["drop", "contract"]);
    assert!(exit == 11 && said.contains("only a person at a terminal"), "{said}");
    assert_eq!(contract(&repo, &["list", "--json"]).0["contracts"][0]["state"], "open");
}

#[test]
fn what_cannot_be_read_is_said_with_its_line_and_nothing_runs() {
    for (text, line, kind) in [
        ("", 1, "empty"),
        ("task: x\n", 1, "empty"),
        ("task: x\npreconditions:\n- README.md: exists\npostconditions: []\n", 4, "empty"),
        ("task: x\npostconditions:\n- README.md: deleted\npostconditions:\n- touch ran: success\n", 4, "duplicate_key"),
        (
            "task: x\npreconditions:\n- touch ran: success\npostconditions:\n- moon phase: full\n",
            5,
            "unknown_condition",
        ),
        ("task: x\npostconditions:\n- README.md: exists, shiny\n", 3, "unknown_condition"),
        ("task: !!python/object/apply:os.system [touch ran]\npostconditions:\n- README.md: exists\n", 1, "tag"),
        ("a: &a [x, *a]\npostconditions: *a\n", 1, "alias"),
        ("task: x\npostconditions:\n- ../other: exists\n", 3, "outside"),
        ("task: x\npostconditions:\n- /etc/passwd: exists\n", 3, "outside"),
        ("task: x\npostconditions:\n- link/passwd: exists\n", 3, "outside"),
        ("task: x\nowner: me\npostconditions:\n- README.md: exists\n", 2, "unknown_key"),
        ("task: [x\n", 1, "syntax"),
        ("task: x\npostconditions:\n- {a: {b: c}}\n", 3, "form"),
        ("task: x\0y\n", 1, "binary"),
        ("task: x\npostconditions:\n- pattern \"eval(\" in src/**: absent\n", 3, "pattern"),
        ("task: x\npostconditions:\n- \"max file src/[a: 3 lines\"\n", 3, "glob"),
        ("task: x\npostconditions:\n- a/../../b: exists\n", 3, "outside"),
        ("task: x\npostconditions:\n- README.md: equals link/passwd\n", 3, "outside"),
        (BOMB, 2, "alias"),
        ("task: x\npostconditions:\n- src/*.rs: deleted\n", 3, "glob"),
        ("task: x\npostconditions:\n- nothing?.rs: gone\n", 3, "glob"),
        ("task: x\npostconditions:\n- \"src/**: max 1500 lines\"\n", 3, "glob"),
        ("task: x\npostconditions:\n- src/*: exists, 2 files\n", 3, "glob"),
        ("task: x\npostconditions:\n- README.md: equals src/*\n", 3, "glob"),
        ("task: x\npostconditions:\n- .git/config: exists\n", 3, "outside"),
        ("task: x\npostconditions:\n- touch ran: success\n- moon phase: ok\n", 4, "unknown_condition"),
        (
            "task: x\npreconditions:\n- touch ran: success\n- all tests: pass\npostconditions:\n- a: gone\n",
            4,
            "unknown_condition",
        ),
        ("task: x\npostconditions:\n- README.md: passes\n", 3, "unknown_condition"),
        ("task: x\npostconditions:\n- src: green\n", 3, "unknown_condition"),
        ("task: x\npostconditions:\n- changed files: anything\n", 3, "unknown_condition"),
    ] {
        let (repo, file) = calc(text);
        repo.link("link", "/etc");
        let (found, exit, said) = contract(&repo, &["begin", &file, "--json"]);
        assert_eq!(exit, 65, "{text}: {said}");
        assert_eq!(
            (found["begin"].as_str(), found["error"]["kind"].as_str()),
            (Some("error"), Some(kind)),
            "{text}: {said}"
        );
        assert_eq!(found["error"]["line"], json!(line), "{text}: {said}");
        assert!(said.contains(&format!("contract.yaml:{line}: ")) && said.lines().count() > 1, "{said}");
        assert!(!repo.path("ran").exists(), "{text}");
    }
    let (repo, file) = calc("");
    fs::write(&file, vec![b'#'; 50 << 20]).unwrap();
    assert_eq!(contract(&repo, &["begin", &file, "--json"]).0["error"]["kind"], "too_large");
}

#[test]
fn commands_that_run_no_program_which_could_fail_prove_nothing() {
    let lines = [
        "true: success", ":: success", "exit 0: success", "echo 5 passed: all pass", "[ -f README.md ]: all pass",
        "python3 -c pass: success",
    ];
    let conditions: String = lines.iter().map(|line| format!("- \"{line}\"\n")).collect::<Vec<_>>().concat();
    let (repo, file) = calc(&format!("task: x\npostconditions:\n{conditions}"));
    assert_eq!(contract(&repo, &["begin", &file]).1, 0);
    let (found, exit, _) = contract(&repo, &["check", "--json"]);
    assert_eq!(exit, 10, "{found:#}");
    for condition in found["conditions"].as_array().unwrap() {
        assert_eq!(condition["outcome"], "fails", "{condition}");
        assert!(condition["detail"].as_str().unwrap().contains("so it proves nothing"), "{condition}");
    }
    let (repo, file) = calc("task: x\npreconditions:\n- \"true: success\"\npostconditions:\n- README.md: deleted\n");
    assert_eq!(contract(&repo, &["begin", &file]).1, 10);
}

#[test]
fn a_build_passes_no_tests() {
    let (repo, file) = calc("task: x\npostconditions:\n- \"make: all pass\"\n- \"make: success\"\n");
    repo.write("Makefile", "all:\n\t@true\n").commit_all("make");
    assert_eq!(contract(&repo, &["begin", &file]).1, 0);
    let (found, ..) = contract(&repo, &["check", "--json"]);
    assert_eq!(outcomes(&found), ["fails", "holds"], "{found:#}");
    let detail = found["conditions"][0]["detail"].as_str().unwrap();
    assert!(detail.contains("`make: success` asks for its status"), "{detail}");
}

#[test]
fn a_remedy_fits_the_error_of_yaml() {
    for (text, remedy) in [
        ("task: x\npostconditions:\n\t- README.md: exists\n", "put spaces in place of the tab"),
        ("task: x\npostconditions:\n- \"README.md: exists\n- a: gone\n", "close the quote"),
        ("task: x\npostconditions: [README.md\n", "close the bracket"),
        ("task: x\npostconditions:\n- README.md: exists: now\n", "a condition is one line, "),
        ("task: x\npostconditions:\n- a: gone\n  b\n c: d\n", "in the column of the others"),
    ] {
        let (repo, file) = calc(text);
        let (_, exit, said) = contract(&repo, &["begin", &file]);
        assert!(exit == 65 && said.contains(remedy), "{text}: {said}");
    }
}

#[test]
fn a_new_nested_repository_is_looked_into() {
    let (repo, file) = calc(
        "task: x\npostconditions:\n- \"pattern \\\"FIXME\\\" in **/*.py: absent\"\n- \"max file: 2 lines\"\n- \"max file **/*.py: 2 lines\"\n",
    );
    assert_eq!(contract(&repo, &["begin", &file]).1, 0);
    repo.write("vendor/tool/run.py", "a\n# FIXME\nc\n");
    let tool = repo.path("vendor/tool");
    let tool = tool.to_str().unwrap();
    let holds = |found: &Value| outcomes(found).iter().filter(|outcome| **outcome == "holds").count();
    repo.git(["-C", tool, "init", "--quiet"]);
    assert_eq!(holds(&contract(&repo, &["check", "--json"]).0), 0);
    repo.git(["-C", tool, "add", "--all"]);
    repo.git(["-C", tool, "commit", "--quiet", "--message", "tool"]);
    let (found, ..) = contract(&repo, &["check", "--json"]);
    assert_eq!(holds(&found), 0, "{found:#}");
    assert_eq!(found["conditions"][0]["detail"], "it occurs in vendor/tool/run.py:2");
}

#[test]
fn a_package_that_only_the_lock_file_names_is_new() {
    let (repo, file) = calc("task: x\npostconditions:\n- new dependencies: none\n");
    let package = |name: &str| format!("[[package]]\nname = \"{name}\"\nversion = \"1\"\nsource = \"registry\"\n\n");
    let own = "[[package]]\nname = \"own\"\nversion = \"1\"\n";
    repo.write("Cargo.lock", format!("{own}\n{}", package("a"))).commit_all("lock");
    assert_eq!(contract(&repo, &["begin", &file]).1, 0);
    for (lock, outcome) in [
        (format!("{own}\n{}", package("a").replace("\"1\"", "\"2\"")), "holds"),
        (format!("{own}\n{}", own.replace("own", "other")), "holds"),
        (format!("{own}\n{}{}", package("a"), package("b")), "fails"),
    ] {
        repo.write("Cargo.lock", lock);
        let (found, ..) = contract(&repo, &["check", "--json"]);
        assert_eq!(outcomes(&found), [outcome], "{found:#}");
    }
}

#[test]
fn files_that_cannot_be_counted_are_unreadable() {
    let (repo, file) = calc(
        "task: x\npostconditions:\n- big.txt: at most 3 lines\n- data.bin: 1 lines\n- max file nothing/**: 3 lines\n- src: 3 lines\n",
    );
    assert_eq!(contract(&repo, &["begin", &file]).1, 0);
    repo.write("big.txt", vec![b'x'; 50 << 20]).write("data.bin", b"\0\x01".as_slice());
    let (found, exit, _) = contract(&repo, &["check", "--json"]);
    assert_eq!(exit, 10);
    assert_eq!(outcomes(&found), ["unreadable", "unreadable", "fails", "unreadable"], "{found:#}");
}

#[test]
fn toml_says_the_same() {
    let (repo, _) = calc("");
    let file = repo.outside().join("split.toml");
    fs::write(
        &file,
        "task = \"x\"\npreconditions = [\"README.md: exists\"]\npostconditions = [\n  { \"README.md\" = \"deleted\" },\n]\n",
    )
    .unwrap();
    let file = file.to_str().unwrap();
    assert_eq!(contract(&repo, &["begin", file, "--json"]).1, 0);
    repo.remove("README.md");
    let (found, exit, _) = contract(&repo, &["check", "--json"]);
    assert_eq!((found["check"].as_str(), found["name"].as_str(), exit), (Some("met"), Some("split"), 0));
}

#[test]
fn what_new_prints_can_be_begun() {
    let (repo, file) = calc("");
    let output = repo.gate(["contract", "new", "Split: \"a\""]).output().unwrap();
    fs::write(&file, &output.stdout).unwrap();
    let (found, exit, text) = contract(&repo, &["begin", &file, "--json"]);
    assert_eq!((exit, found["task"].as_str()), (10, Some("Split: \"a\"")), "{text}{found:#}");
}

/// The contracts in `../shared/evals/contracts/contracts`, where they are.
#[test]
fn shared_contracts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/evals/contracts/contracts");
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let case = entry.unwrap().path();
        let label: Value = serde_json::from_slice(&fs::read(case.join("label.json")).unwrap()).unwrap();
        let repo = TestRepo::new();
        copy(&case.join("begin"), repo.root());
        repo.commit_all("begin");
        let file = repo.outside().join("contract.yaml");
        fs::copy(case.join("contract.yaml"), &file).unwrap();
        let file = file.to_str().unwrap();
        let (found, _, text) = contract(&repo, &["begin", file, "--json"]);
        assert_eq!(found["begin"], label["begin"], "{}: {text}{found:#}", case.display());
        if label["begin"] != "accepted" {
            continue;
        }
        if case.join("check").is_dir() {
            for entry in fs::read_dir(repo.root()).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.ends_with(".git") {
                    fs::remove_dir_all(path).unwrap();
                } else if path.is_file() {
                    fs::remove_file(path).unwrap();
                }
            }
            copy(&case.join("check"), repo.root());
        }
        let (found, _, text) = contract(&repo, &["check", "--json"]);
        assert_eq!(found["check"], label["check"], "{}: {text}{found:#}", case.display());
        let meant = label["postconditions"].as_array().unwrap();
        let meant: Vec<&str> = meant.iter().map(|condition| condition["outcome"].as_str().unwrap()).collect();
        assert_eq!(outcomes(&found), meant, "{}: {found:#}", case.display());
    }
}

fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-R").arg(from.join(".")).arg(to).status().unwrap();
    assert!(status.success());
}
