//! Untracked notes and logs at the top of a working tree: they count only where something names them.

use crate::project::Project;

/// Every file is an input of the tests.
const EVERYTHING: &str = "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh test.sh\"\n";
const PASSED: &str = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";

#[test]
fn a_scratch_file_takes_nothing_from_a_run() {
    let project = Project::with(EVERYTHING).edited("one");
    for name in ["todo.txt", "nohup.out", "change.patch", "debug_sum.py", "seed.js", ".claude/settings.local.json"] {
        project.repo.write(name, "later\n");
    }
    project
        .gate(["run", "test"])
        .exits(0)
        .says("this proves test for this commit")
        .never_says("not as in the last commit");
    project.check().exits(0);
    project.repo.write("todo.txt", "something else\n");
    project.check().exits(0);
    project.push("git push origin feature").exits(0);
    // Made after the run.
    project.sh("echo two >> src/lib.sh; git commit -qam 'feat: two'").exits(0);
    project.gate(["run", "test"]).exits(0);
    project.repo.write("debug.log", "line\n").remove("todo.txt");
    project.check().exits(0);
    project.push("git push origin feature").exits(0);
}

#[test]
fn an_untracked_file_that_something_names_counts() {
    let project = Project::with(EVERYTHING);
    project.repo.write("test.sh", format!("cat words.txt src/lib.sh && echo '{PASSED}'\n"));
    project.repo.write("words.txt", "one\n");
    project.repo.git(["add", "test.sh"]);
    project.repo.git(["commit", "-q", "-m", "test: read the words"]);
    project.gate(["run", "test"]).exits(0).says("not as in the last commit: words.txt");
    project.push("git push origin feature").exits(1).says("passed with words.txt on disk");
    project.repo.commit_all("test: add the words");
    project.check().exits(0);
    // In git it counts, whatever names it.
    project.repo.write("test.sh", format!("cat src/lib.sh && echo '{PASSED}'\n")).commit_all("test: read no words");
    project.gate(["run", "test"]).exits(0);
    project.repo.append("words.txt", "two\n").commit_all("test: more words");
    project.check().exits(10).says("words.txt changed");
    project.sh("git rm -q --cached words.txt && git commit -q -m 'test: no words'").exits(0);
    project.check().exits(10);
}

#[test]
fn untracked_files_that_a_build_or_a_runner_reads_count() {
    for name in [
        "requirements.txt", "CMakeLists.txt", "conftest.py", "tests/case.txt", "data.json", "random.py",
        "tests/debug_sum.py", "test-sum.js", ".claude/hooks/sum.py",
    ] {
        let project = Project::with(EVERYTHING).edited("one");
        project.repo.write(name, "x\n");
        project.gate(["run", "test"]).exits(0).says(&format!("not as in the last commit: {name}"));
        project.push("git push origin feature").exits(1);
    }
}

#[test]
fn a_scratch_file_that_code_reads_without_its_name_counts() {
    for reads in [
        "cat src/lib.sh; for f in *; do test -d $f || wc -c < $f; done",
        "cat src/lib.sh *.txt",
        "cat src/lib.sh; for f in words; do cat $f.txt; done",
        "cat src/lib.sh; name=words; cat \"${name}.txt\"",
    ] {
        let project = Project::with(EVERYTHING);
        project.repo.write("test.sh", format!("{reads} && echo '{PASSED}'\n"));
        project.repo.git(["add", "test.sh"]);
        project.repo.git(["commit", "-q", "-m", "test: read the words"]);
        project.repo.write("words.txt", "one\n");
        project.gate(["run", "test"]).exits(0).says("not as in the last commit: words.txt");
        project.push("git push origin feature").exits(1).says("words.txt");
    }
}

#[test]
fn a_script_that_other_code_loads_by_its_name_counts() {
    for (name, reads) in [
        ("debug_sum.py", "# python: from debug_sum import add\ncat src/lib.sh; python3 -c 'import debug_sum'"),
        ("seed.js", "cat src/lib.sh; test -e ./seed*"),
        ("check_sum.sh", "cat src/lib.sh; n=check_sum; . ./$n.sh"),
    ] {
        let project = Project::with(EVERYTHING);
        project.repo.write("test.sh", format!("{reads} && echo '{PASSED}'\n"));
        project.repo.git(["add", "test.sh"]);
        project.repo.git(["commit", "-q", "-m", "test: load a script"]);
        project.repo.write(name, "\n");
        project.gate(["run", "test"]).exits(0).says(&format!("not as in the last commit: {name}"));
        project.push("git push origin feature").exits(1).says(name);
    }
}

#[test]
fn a_scratch_file_that_a_run_reads_counts_whatever_its_name_is_made_of() {
    for reads in ["eval \"cat src/lib.sh wo\"\"rds.tx\"\"t\"", "cat src/lib.sh $(printf 'w%s.%s' ords txt)"] {
        let project = Project::with(EVERYTHING);
        project.repo.write("test.sh", format!("{reads} && echo '{PASSED}'\n"));
        project.repo.git(["add", "test.sh"]);
        project.repo.git(["commit", "-q", "-m", "test: read the words"]);
        project.repo.write("words.txt", "one\n").write("notes.txt", "a thought\n");
        let said = project.gate(["run", "test"]).exits(0).says("not as in the last commit: words.txt");
        said.never_says("notes.txt");
        project.gate(["status"]);
        project.push("git push origin feature").exits(1).says("passed with words.txt on disk").never_says("notes.txt");
        // Reading it elsewhere says nothing about the next run.
        project.repo.write("test.sh", format!("cat src/lib.sh && echo '{PASSED}'\n"));
        project.repo.git(["commit", "-qam", "test: read no words"]);
        project.sh("cat words.txt").exits(0);
        project.gate(["run", "test"]).exits(0).says("this proves test for this commit");
        project.push("git push origin feature").exits(0);
    }
}

#[test]
fn a_scratch_file_that_a_line_reads_beside_the_tests_does_not_count() {
    let project = Project::with(EVERYTHING).edited("one");
    project.repo.write("notes.txt", "a thought\n");
    project.sh("gate run -- 'cat notes.txt && sh test.sh'").exits(0).says("this proves test for this commit");
    project.sh("gate run -- 'sh test.sh > out.log && tail out.log'").exits(0).says("this proves test for this commit");
    project.push("git push origin feature").exits(0);
}
