//! A run that used what was built from other content proves nothing, and the remedy that is said makes it prove.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::project::Project;
use crate::running::{declared, stands_in};

/// A `make` that builds again only what is younger than its build.
const MAKE: &str =
    "[ -e out ] && ! [ src/in.txt -nt out ] || cp src/in.txt out\ngrep -q good out && echo '2 passed in 0.01s'";
const AN_HOUR: Duration = Duration::from_hours(1);

/// Gives a file a time in the past.
fn age(project: &Project, path: &str) {
    let file = fs::File::options().write(true).open(project.repo.root().join(path)).expect("a file");
    file.set_modified(SystemTime::now() - AN_HOUR).expect("a time");
}

#[test]
fn tests_that_import_an_older_build_prove_nothing() {
    let project = declared("mocha");
    let repo = &project.repo;
    repo.write(".gitignore", "dist/\n")
        .write("package.json", "{\"main\": \"dist/calc.js\"}\n")
        .write("src/calc.ts", "1\n");
    repo.write("test/calc.js", "const calc = require('../dist/calc.js');\n").commit_all("chore: start");
    repo.git(["push", "-q", "--no-verify", "origin", "HEAD:main"]);
    repo.git(["fetch", "-q", "origin"]);
    repo.write("dist/calc.js", "1\n").write("src/calc.ts", "2\n").commit_all("fix: calc");
    let (_bin, path) = stands_in("mocha", "echo '  1 passing (3ms)'");
    let run = format!("{path} gate run test");
    let edited = |ahead: bool| {
        let file = fs::File::options().write(true).open(repo.path("src/calc.ts")).expect("a file");
        let now = SystemTime::now();
        file.set_modified(if ahead { now + AN_HOUR } else { now - AN_HOUR }).expect("a time");
    };
    edited(true);
    let why = "dist/calc.js, which the tests import, is older than src/calc.ts, from which it is made: build it";
    project.sh(&run).exits(0).says(why);
    project.check().exits(10);
    // It was built since.
    edited(false);
    project.sh(&run).exits(0).says("this proves test for this commit");
    // The tests read the sources themselves.
    repo.write("test/calc.js", "const calc = require('../src/calc.ts');\n").commit_all("test: sources");
    edited(true);
    project.sh(&run).exits(0).says("this proves test for this commit");
}

#[test]
fn ctest_on_a_build_that_is_older_than_a_source_proves_nothing() {
    let project = declared("ctest --test-dir build");
    let repo = &project.repo;
    repo.write(".gitignore", "build/\n").write("src/calc.c", "1\n").commit_all("chore: start");
    repo.git(["push", "-q", "--no-verify", "origin", "HEAD:main"]);
    repo.git(["fetch", "-q", "origin"]);
    let object = "build/CMakeFiles/t.dir/src/calc.c.o";
    repo.write("build/CMakeCache.txt", "\n").write(object, "1").write("src/calc.c", "2\n").commit_all("fix: calc");
    let (_bin, path) = stands_in("ctest", "echo '100% tests passed, 0 tests failed out of 2'");
    let (_more, builds) = stands_in("cmake", &format!("until [ {object} -nt src/calc.c ]; do touch {object}; done"));
    let path = format!("{path}; {builds}");
    age(&project, "src/calc.c");
    project.sh(&format!("{path} gate run test")).exits(0).says("this proves test for this commit");
    let ahead = fs::File::options().write(true).open(repo.path("src/calc.c")).expect("a file");
    ahead.set_modified(SystemTime::now() + Duration::from_millis(200)).expect("a time");
    let said = project.sh(&format!("{path} gate run test")).exits(0).says("older than that file: cmake --build build");
    assert_eq!(typed(&project, &said.text(), "cmake --build ", &path), 0);
    project.sh(&format!("{path} gate run test")).exits(0).says("this proves test for this commit");
}

/// Types the remedy that a message of `gate run` ends in.
fn typed(project: &Project, said: &str, start: &str, path: &str) -> i32 {
    let remedy = said.split_once(start).expect("a remedy").1.lines().next().expect("a line");
    project.sh(&format!("{path}; export PATH; {start}{remedy}")).code
}

#[test]
fn a_file_that_was_put_back_with_its_old_time_must_be_touched() {
    let project = declared("make test");
    project.repo.write(".gitignore", "out\n").write("Makefile", "test:\n\t./t.sh\n").write("src/in.txt", "bad\n");
    project.repo.commit_all("chore: start");
    age(&project, "src/in.txt");
    let (_bin, path) = stands_in("make", MAKE);
    let run = format!("{path} gate run test");
    project.sh(&run).exits(1);
    project.sh("mv src/in.txt backup").exits(0);
    project.repo.write("src/in.txt", "good\n");
    project.sh(&run).exits(0);
    // The build is still that of the good content.
    project.sh("mv backup src/in.txt").exits(0);
    for _ in 0..2 {
        let said =
            project.sh(&run).exits(0).says("this run proves nothing about test: src/in.txt is older than").err.clone();
        project.check().exits(10);
        assert!(said.contains("touch -- src/in.txt && gate run test"), "{said}");
    }
    let said = project.sh(&run).err.clone();
    assert_eq!(typed(&project, &said, "touch -- ", &path), 1, "the tests fail on this content");

    project.repo.write("src/in.txt", "good\nmore\n").commit_all("fix: in");
    project.sh(&run).exits(0).says("this proves test for this commit");
    // Git gives the files that it writes the present time.
    project.repo.write("src/in.txt", "good\nagain\n");
    project.sh(&run).exits(0);
    project.repo.git(["checkout", "--", "src/in.txt"]);
    project.sh(&run).exits(0).says("this proves test for this commit");
    // What no command reads may be as old as it likes.
    project.repo.write("README.md", "other\n").commit_all("docs: other");
    project.sh(&run).exits(0).says("this proves test");
    project.repo.write("README.md", "# test\n");
    age(&project, "README.md");
    project.sh(&run).exits(0).says("this proves test");
}

#[test]
fn bytecode_that_python_does_not_compare_must_go() {
    let project = declared("python3 -m unittest");
    project.repo.write(".gitignore", "__pycache__/\n").write("src/calc.py", "def add(a, b):\n    return a - b\n");
    project.repo.commit_all("chore: start");
    let (_bin, path) = stands_in("python3", "echo; echo 'Ran 1 test in 0.001s'; echo; echo OK");
    let run = format!("{path} gate run test");
    let bytecode = |flags: u8| [[0x6f, 0x0d, 0x0d, 0x0a], [flags, 0, 0, 0], [1; 4], [1; 4]].concat();
    for flags in [0, 3] {
        project.repo.write("src/__pycache__/calc.cpython-312.pyc", bytecode(flags));
        project.sh(&run).exits(0).says("this proves test for this commit");
    }
    project.repo.write("src/__pycache__/calc.cpython-312.pyc", bytecode(1));
    let said =
        project.sh(&run).exits(0).says("this run proves nothing about test: Python runs src/__pycache__").err.clone();
    assert_eq!(typed(&project, &said, "rm -- ", &path), 0);
    project.sh(&run).exits(0).says("this proves test for this commit");
}

#[test]
fn an_edit_with_its_time_set_back_is_not_what_python_ran() {
    let project = declared("python3 -m unittest -q src.test_calc");
    let test = "import unittest\nfrom src import calc\nclass T(unittest.TestCase):\n    def test_add(self): \
                self.assertEqual(calc.add(1, 2), 3)\n";
    let with = |operator: &str| format!("def add(a, b):\n    return a {operator} b\n");
    project.repo.write(".gitignore", "__pycache__/\n").write("src/test_calc.py", test).write("src/calc.py", with("+"));
    project.repo.commit_all("feat: calc");
    let run = "unset PYTHONDONTWRITEBYTECODE; gate run test";
    // Nothing but the compiler saw the good content.
    project.sh("python3 -m compileall -q src && touch -r src/calc.py .git/time").exits(0);
    project.repo.write("src/calc.py", with("-"));
    project.sh("touch -r .git/time src/calc.py && git commit -qam 'fix: calc'").exits(0);
    let said = project.sh(run).exits(0).says("this run proves nothing about test: Python may have run").err.clone();
    let remedy = said.split_once("rm -- ").expect("a remedy").1.lines().next().expect("a line");
    assert_eq!(project.sh(&format!("rm -- {remedy}")).code, 1, "{said}");
}

#[test]
fn tests_of_a_program_that_is_older_than_its_source_prove_nothing() {
    const PASSES: &str = "this proves test for this commit";
    let project = declared("./check.sh");
    let repo = &project.repo;
    let source = |path: &str, ahead: bool| {
        let file = fs::File::options().write(true).open(repo.path(path)).expect("a file");
        let now = SystemTime::now();
        file.set_modified(if ahead { now + AN_HOUR } else { now - AN_HOUR }).expect("a time");
    };
    repo.write(".gitignore", "bin/\n*.so\n")
        .write("src/calc.c", "1\n")
        .write("Makefile", "bin/calc: src/calc.c\n\tcc\n");
    repo.script("check.sh", "#!/bin/sh\n[ -e bin/calc ] && echo '1 passed in 0.01s'\n").commit_all("chore: start");
    repo.git(["push", "-q", "--no-verify", "origin", "HEAD:main"]);
    repo.git(["fetch", "-q", "origin"]);
    repo.write("bin/calc", "\u{7f}ELF program").write("src/calc.c", "2\n").commit_all("fix: calc");
    source("src/calc.c", true);
    let why = "bin/calc, which the tests use, is older than src/calc.c: rm -- bin/calc, build it again";
    project.sh("gate run test").exits(0).says(why);
    project.check().exits(10);
    source("src/calc.c", false);
    project.sh("gate run test").exits(0).says(PASSES);
    source("src/calc.c", true);
    // Nothing of the tests names it.
    repo.script("check.sh", "#!/bin/sh\necho '1 passed in 0.01s'\n").commit_all("test: other");
    project.sh("gate run test").exits(0).says(PASSES);
    // The line itself builds what is older.
    repo.script("check.sh", "#!/bin/sh\nmake -q bin/calc; [ -e bin/calc ] && echo '1 passed in 0.01s'\n")
        .commit_all("test: make");
    project.sh("gate run test").exits(0).says(PASSES);
    // A source of another language, and one that only tests have.
    repo.script("check.sh", "#!/bin/sh\n[ -e bin/calc ] && echo '1 passed in 0.01s'\n").commit_all("test: program");
    source("src/calc.c", false);
    for path in ["src/calc.go", "tests/data/calc.c"] {
        repo.write(path, "1\n").commit_all("test: more");
        source(path, true);
        project.sh("gate run test").exits(0).says(PASSES);
    }
}

#[test]
fn a_run_that_finds_nothing_to_do_takes_nothing_from_the_one_before() {
    const MAKEFILE: &str = "check: stamp\nstamp: test.sh\n\tsh test.sh\n\ttouch stamp\n";
    let project = Project::with("version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"make check\"\n");
    project.repo.write("Makefile", MAKEFILE).write(".gitignore", "stamp\n").commit_all("make");
    project.repo.write("test.sh", "echo '3 passed in 0.01s'\n").commit_all("tests");
    project.gate(["run", "test"]).exits(0);
    project.gate(["check"]).exits(0);
    project.gate(["run", "--", "make check"]);
    project.gate(["check"]).exits(0).never_says("executed no test");
}

#[test]
fn an_object_that_is_older_than_an_edited_header_proves_nothing() {
    let project = declared("make test");
    let repo = &project.repo;
    repo.write(".gitignore", "*.o\n")
        .write("src/calc.h", "#define ONE 1\n")
        .write("src/all.h", "#include \"calc.h\"\n");
    repo.write("Makefile", "test:\n\tcc\n")
        .write("src/calc.c", "# include \"all.h\"\n")
        .write("src/other.c", "int main(void);\n")
        .commit_all("chore: start");
    repo.git(["push", "-q", "--no-verify", "origin", "HEAD:main"]);
    repo.git(["fetch", "-q", "origin"]);
    // The rule of `calc.o` names `calc.c` alone.
    let (_bin, path) = stands_in(
        "make",
        "cd src; [ calc.o -nt calc.c ] || echo > calc.o\n[ -e other.o ] || echo > other.o\necho '2 passed in 0.01s'",
    );
    repo.write("src/calc.o", "\n")
        .write("src/other.o", "\n")
        .write("src/calc.h", "#define ONE 2\n")
        .commit_all("fix: one");
    for path in ["src/calc.c", "src/other.c"] {
        let file = fs::File::options().write(true).open(repo.path(path)).expect("a file");
        file.set_modified(SystemTime::now() - 2 * AN_HOUR).expect("a time");
    }
    let header = fs::File::options().write(true).open(repo.path("src/calc.h")).expect("a file");
    header.set_modified(SystemTime::now() + Duration::from_millis(200)).expect("a time");
    let why = "src/calc.o was made before src/calc.h, which its source includes, was edited: rm -- src/calc.o && gate run test";
    project.sh(&format!("{path} gate run test")).exits(0).says(why);
    project.check().exits(10).says("next: rm -- src/calc.o && gate run test");
    // Long enough for the edit to be in the past.
    header.set_modified(SystemTime::now() - AN_HOUR).expect("a time");
    project
        .sh(&format!("{path}; export PATH; rm -- src/calc.o && gate run test"))
        .exits(0)
        .says("this proves test for this commit");
}

#[test]
fn a_built_file_whose_time_was_set_forward_proves_nothing() {
    let project = declared("make test");
    let repo = &project.repo;
    repo.write(".gitignore", "out\n").write("Makefile", "test:\n\tcc\n").write("src/in.txt", "good\n");
    repo.commit_all("chore: start");
    let (_bin, path) = stands_in("make", MAKE);
    project.sh(&format!("{path} gate run test")).exits(0).says("this proves test for this commit");
    repo.write("src/in.txt", "bad\n").commit_all("fix: in");
    project.sh("touch -d '+1 hour' out");
    let why = "the time of out was set forward, so that it may not have been built again: rm -- out && gate run test";
    project.sh(&format!("{path} gate run test")).exits(0).says(why);
    project.check().exits(10);
    project.sh(&format!("{path}; export PATH; rm -- out && gate run test")).exits(1);
    repo.write("src/in.txt", "good again\n").commit_all("fix: in");
    project.sh(&format!("{path} gate run test")).exits(0).says("this proves test for this commit");
}
