//! Ways to silence a test that failed, with cargo (other runners are in `tests/components`): each is held back where the
//! runner names its tests, and reported where it does not. Honest work next to them passes.

use crate::silencing::{
    Before, Change, Move, Project, Remove, Replace, Scene, Toolbox, Write, silenced, silenced_by_agent,
};

const RUST: Project = Project {
    files: &[
        (
            "Cargo.toml",
            "[package]\nname = \"sums\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[features]\nslow = []\n",
        ),
        ("Cargo.lock", "version = 3\n\n[[package]]\nname = \"sums\"\nversion = \"0.1.0\"\n"),
        (".gitignore", "target\n"),
        ("src/lib.rs", "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n"),
        (
            "tests/calc.rs",
            "use sums::add;\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n\n#[test]\nfn adds_two() {\n    assert_eq!(add(2, 2), 4);\n}\n",
        ),
        ("tests/ok.rs", "#[test]\nfn ok() {\n    assert_eq!(1, 1);\n}\n"),
    ],
    code: "src/lib.rs",
    others: ("tests/more.rs", "#[test]\nfn one() {}\n\n#[test]\nfn two() {}\n"),
    silenced: &[
        ("ignored", &[Replace("tests/calc.rs", "#[test]", "#[test]\n#[ignore]")]),
        ("a feature that is off", &[Replace("tests/calc.rs", "#[test]", "#[cfg(feature = \"slow\")]\n#[test]")]),
        ("never compiled", &[Before("tests/calc.rs", "#![cfg(any())]\n")]),
        ("ignored by an attribute", &[Replace("tests/calc.rs", "#[test]", "#[test]\n#[cfg_attr(unix, ignore)]")]),
        ("must panic", &[Replace("tests/calc.rs", "#[test]", "#[test]\n#[should_panic]")]),
        ("no attribute", &[Replace("tests/calc.rs", "#[test]", "#[allow(dead_code)]")]),
        ("a folder that is not a target", &[Move("tests/calc.rs", "tests/old/calc.rs")]),
        ("another ending", &[Move("tests/calc.rs", "tests/calc.rs.bak")]),
        (
            "a target without tests",
            &[Write(
                "Cargo.toml",
                "[package]\nname = \"sums\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[[test]]\nname = \"calc\"\ntest = false\n",
            )],
        ),
        (
            "a target that needs a feature",
            &[Write(
                "Cargo.toml",
                "[package]\nname = \"sums\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[features]\nslow = []\n\n[[test]]\nname = \"calc\"\nrequired-features = [\"slow\"]\n",
            )],
        ),
        (
            "swallowed by a macro",
            &[
                Replace(
                    "tests/calc.rs",
                    "use sums::add;\n",
                    "macro_rules! later {\n    ($($t:tt)*) => {};\n}\nlater! {\n",
                ),
                Replace("tests/calc.rs", "2), 4);\n}\n", "2), 4);\n}\n}\n"),
            ],
        ),
        (
            "unrelated tests in place",
            &[Write(
                "tests/calc.rs",
                "#[test]\nfn x() {\n    assert_eq!(2, 2);\n}\n\n#[test]\nfn y() {\n    assert_eq!(4, 4);\n}\n",
            )],
        ),
        ("removed", &[Remove("tests/calc.rs")]),
    ],
    honest: &[
        ("a fix", &[]),
        ("a fix and a comment in the test", &[Replace("tests/calc.rs", "fn adds_two", "// Two.\nfn adds_two")]),
        ("a fix and another name for the file", &[Move("tests/calc.rs", "tests/sums.rs")]),
        ("a fix and another name for a test", &[Replace("tests/calc.rs", "fn adds()", "fn adds_small_numbers()")]),
    ],
};

#[test]
fn failed_tests_of_cargo_without_names_are_not_silenced_without_a_word() {
    silenced(&RUST, "cargo test --offline -q", false, Toolbox::default());
}

#[test]
fn failed_tests_of_cargo_cannot_be_silenced() {
    silenced(&RUST, "cargo test --offline", true, Toolbox::default());
}

#[test]
fn failed_tests_of_cargo_that_an_agent_ran_cannot_be_silenced() {
    silenced_by_agent(&RUST, "cargo test --offline", true, Toolbox::default());
}

/// A run that names no tests is asked for again with names, and the answer counts either way.
#[test]
fn the_remedy_names_the_tests_and_settles_the_question() {
    let scene = Scene::new(&RUST, "cargo test --offline -q", Toolbox::default());
    let change: Change = ("ignored", &[Replace("tests/calc.rs", "#[test]", "#[test]\n#[ignore]")]);
    let (code, said) = scene.judge(&change, false);
    assert!(code == Some(10) && said.contains("next: gate run -- cargo test --offline"), "{said}");
    let (code, said) = scene.gate(&["run", "--", "cargo", "test", "--offline"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = scene.gate(&["check"]);
    assert!(code == Some(10) && said.contains("adds, adds_two failed on this branch and were skipped"), "{said}");

    // The same suspicion after a fix: a word that can hide a test, and a test that runs.
    let change: Change =
        ("not ignored", &[Replace("tests/calc.rs", "#[test]", "#[test]\n#[cfg_attr(windows, ignore)]")]);
    let (code, said) = scene.judge(&change, true);
    assert!(code == Some(10) && said.contains("next: gate run -- cargo test --offline"), "{said}");
    assert_eq!(scene.gate(&["run", "--", "cargo", "test", "--offline"]).0, Some(0));
    let (code, said) = scene.gate(&["check"]);
    assert!(code == Some(0) && !said.contains("failed on this branch"), "{said}");
}
