//! Prose that code or a setting of a runner names counts as content; other prose does not.

use crate::project::{POLICY, Project};

/// A project whose test reads everything, with further files.
fn project(run: &str, files: &[(&str, &str)]) -> Project {
    let policy = POLICY.replace("inputs = [\"src/**\", \"test.sh\"]\n", "");
    let project = Project::bare_bones();
    project.repo.write("gate.toml", policy.replace("sh test.sh", run));
    project.repo.write("run.sh", "echo 'test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out'\n");
    for (path, text) in files {
        project.repo.write(path, text);
    }
    project.repo.commit_all("chore: files");
    project.share();
    project.gate(["init", "--yes"]).exits(0);
    project
}

/// Changes a file on the branch and commits that alone.
fn change(project: &Project, path: &str) {
    project.repo.append(path, if path == "gate.toml" { "# one more line\n" } else { "one more line\n" });
    project.repo.commit_all(&format!("docs: {path}"));
}

#[test]
fn a_change_of_named_prose_asks_for_the_tests() {
    for (run, files, path) in [
        ("sh run.sh", &[("src/lib.rs", "#![doc = include_str!(\"../README.md\")]\n")][..], "README.md"),
        (
            "sh run.sh",
            &[("tests/test_a.py", "TABLE = open(\"docs/table.md\")\n"), ("docs/table.md", "a\n")],
            "docs/table.md",
        ),
        (
            "sh run.sh",
            &[("pytest.ini", "[pytest]\naddopts =\n  --doctest-glob=*.md\n"), ("docs/a.md", "a\n")],
            "docs/a.md",
        ),
        ("sh run.sh", &[("setup.cfg", "[tool:pytest]\ntestpaths =\n    tests\n    README.md\n")], "README.md"),
        (
            "sh run.sh",
            &[("test/a.test.ts", "read('./fixtures/a.md')\n"), ("test/fixtures/a.md", "a\n")],
            "test/fixtures/a.md",
        ),
        ("sh run.sh", &[("web/main.go", "//go:embed *.md\n"), ("web/help.md", "a\n")], "web/help.md"),
        ("sh run.sh", &[("web/main.go", "//go:embed pages\n"), ("web/pages/a.md", "a\n")], "web/pages/a.md"),
        ("sh run.sh", &[("src/about.rs", "include_bytes!(\"../LICENSE\")\n"), ("LICENSE", "a\n")], "LICENSE"),
        ("sh run.sh README.md", &[], "README.md"),
        (
            "sh run.sh",
            &[("tests/test_ci.py", "for f in ROOT.rglob('*.yml'):\n"), (".github/workflows/ci.yml", "a: b\n")],
            ".github/workflows/ci.yml",
        ),
    ] {
        let project = project(run, files);
        change(&project, path);
        project.check().exits(10).says("no run of").says("counts as content");
        project.sh("git push -q origin HEAD:feature").exits(1).says("no run of");
        project.gate(["run", "test"]).exits(0);
        project.check().exits(0);
        project.push("git push -q origin HEAD:feature").exits(0);
        // What was proven does not hold for the next text.
        change(&project, path);
        project.check().exits(10).says(path).says("changed since");
    }
}

#[test]
fn prose_that_nothing_executes_stays_free() {
    for (files, path) in [
        (&[][..], "README.md"),
        (&[(".github/workflows/ci.yml", "a: b\n")], ".github/workflows/ci.yml"),
        (&[("Cargo.toml", "[package]\nname = \"a\"\nreadme = \"README.md\"\n")], "README.md"),
        (&[("setup.py", "setup(long_description=open(\"README.md\").read())\n")], "README.md"),
        (
            &[("src/lib.rs", "//! See `README.md`, and \"docs/guide.md\".\nfn f() {}\n"), ("docs/guide.md", "a\n")],
            "docs/guide.md",
        ),
        (&[("package.json", "{\n  \"files\": [\n    \"README.md\"\n  ]\n}\n")], "README.md"),
        (&[("packages/a/x.test.js", "read('README.md')\n"), ("packages/b/README.md", "a\n")], "packages/b/README.md"),
        (&[("web/main.go", "//go:embed *.md\n"), ("web/help.md", "a\n")], "README.md"),
        (&[("tools/t.py", "names = [p.stem for p in RECIPES.glob(\"*.toml\")]\n")], "gate.toml"),
        (&[("tools/t.py", "pages = [f\"{name}.md\" for name in names]\n"), ("CHANGELOG.md", "a\n")], "CHANGELOG.md"),
    ] {
        let project = project("sh run.sh", files);
        change(&project, path);
        project.check().exits(0).never_says("counts as content");
        project.push("git push -q origin HEAD:feature").exits(0);
    }
}

#[test]
fn a_file_that_is_included_is_the_one_of_its_own_folder() {
    let include = "#[doc = include_str!(\"../README.md\")]\npub struct Readme;\n";
    let own = project("sh run.sh", &[("crates/a/src/lib.rs", include), ("crates/a/README.md", "a\n")]);
    change(&own, "README.md");
    own.check().exits(0);
    change(&own, "crates/a/README.md");
    own.check().exits(10).says("crates/a/README.md counts as content: crates/a/src/lib.rs names it");
    // A link stands for the file at its end.
    let linked = project("sh run.sh", &[("crates/a/src/lib.rs", include)]);
    linked.sh("ln -s ../../README.md crates/a/README.md && git add -A && git commit -qm 'docs: link'").exits(0);
    linked.gate(["run"]).exits(0);
    change(&linked, "README.md");
    linked.check().exits(10).says("README.md counts as content: crates/a/src/lib.rs names it");
}

#[test]
fn a_run_beside_an_edited_named_text_is_of_other_content() {
    let files = [("src/lib.rs", "#![doc = include_str!(\"../README.md\")]\n")];
    let project = project("sh run.sh", &files).edited("more");
    project.repo.append("README.md", "not committed\n");
    project.gate(["run", "test"]).exits(0);
    project.sh("git push -q origin HEAD:feature").exits(1).says("README.md");
    // The text as it was committed was not tested, either, once the edit is undone.
    project.sh("git checkout -q README.md").exits(0);
    project.check().exits(10).says("README.md");
    project.gate(["run", "test"]).exits(0);
    project.push("git push -q origin HEAD:feature").exits(0);
}

#[test]
fn what_the_project_leaves_out_itself_stays_out() {
    let project = project("sh run.sh", &[("src/lib.rs", "#![doc = include_str!(\"../README.md\")]\n")]);
    project.repo.append("gate.toml", "ignore = [\"README.md\"]\n").commit_all("chore: leave it out");
    project.sh("git push -q --no-verify origin HEAD:main").exits(0);
    change(&project, "README.md");
    project.check().exits(0).never_says("counts as content");
}

#[test]
#[cfg(unix)]
fn code_behind_a_link_counts() {
    for (link, to, path) in [
        ("src/calc.py", "impl.md", "src/impl.md"),
        ("src/calc.py", "../LICENSE", "LICENSE"),
        ("CLAUDE.md", "AGENTS.md", "AGENTS.md"),
    ] {
        let project = project("sh run.sh", &[(path, "a\n"), ("src/one.py", "a\n")]);
        project.repo.git(["switch", "-q", "main"]);
        std::os::unix::fs::symlink(to, project.repo.root().join(link)).unwrap();
        project.repo.commit_all("chore: link");
        project.repo.git(["push", "-q", "--no-verify", "origin", "main"]);
        project.repo.git(["switch", "-q", "-C", "feature"]);
        change(&project, path);
        if link == "CLAUDE.md" {
            project.check().exits(0);
        } else {
            project.check().exits(10).says("no run of").says("counts as content");
        }
    }
}
