//! Tests that load the code of another working tree show nothing about their own.

use std::path::Path;

use crate::project::{Project, Said};

const POLICY: &str = r#"version = 1
prompts = "off"
[commands.test]
gate = "tests"
run = "python3 -m unittest -q"
"#;

/// Makes an environment of Python into which the package of a working tree is installed in place.
fn environment(project: &Project, name: &str, tree: &Path) -> String {
    let home = project.repo.outside().join(name).display().to_string();
    let install =
        "for folder in \"$0\"/lib/python3*/site-packages; do echo \"$1/src\" >\"$folder/__editable__.pth\"; done";
    project.sh(&format!("python3 -m venv --without-pip {home}")).exits(0);
    project.sh(&format!("sh -c '{install}' {home} {}", tree.display())).exits(0);
    home
}

fn run(project: &Project, tree: &Path, environment: &str) -> Said {
    project.sh_in(tree, &format!("PATH={environment}/bin:$PATH gate run test"))
}

#[test]
fn a_package_installed_from_another_tree_proves_nothing() {
    let project = Project::with(POLICY);
    let test = "import unittest\nfrom calc import add\nclass T(unittest.TestCase):\n    def test_add(self):\n        \
                self.assertEqual(add(1, 2), 3)\n";
    project.repo.write("src/calc/__init__.py", "def add(a, b): return a + b\n").write("test_calc.py", test);
    project.repo.write(".gitignore", "__pycache__/\n").commit_all("feat: calc");
    let (main, other) = (project.repo.root().to_owned(), project.repo.outside().join("other"));
    let of_main = environment(&project, "of-main", &main);
    run(&project, &main, &of_main).exits(0).says("this proves test");

    project.repo.git(["worktree", "add", "-q", other.to_str().unwrap(), "-b", "fix"]);
    project.repo.write("../other/src/calc/__init__.py", "def add(a, b): return b + a\n");
    project.sh_in(&other, "git commit -qam 'fix: order'").exits(0);
    run(&project, &other, &of_main).exits(0).says("this run proves nothing").says("is not of this working tree");
    project
        .push_in(&other, "git push -q origin HEAD:fix")
        .exits(1)
        .says("src/calc/__init__.py, which is not of this working tree");
    project.sh_in(&other, "gate attest").exits(10);

    let of_other = environment(&project, "of-other", &other);
    run(&project, &other, &of_other).exits(0).says("this proves test");
    project.push_in(&other, "git push -q origin HEAD:fix").exits(0);
    run(&project, &main, &of_main).exits(0).says("this proves test");
}

#[test]
fn a_module_from_outside_stands_for_none_of_this_tree() {
    let project = Project::with(&POLICY.replace("run =", "dir = \"tests\"\nrun =").replace("-q", "-q test_calc"));
    let test = "import unittest\nfrom calc import add\nclass T(unittest.TestCase):\n    def test_add(self):\n        \
                self.assertEqual(add(1, 2), 3)\n";
    project.repo.write("calc.py", "def add(a, b): return a - b\n").write("tests/test_calc.py", test);
    project.repo.write("tests/__init__.py", "").write(".gitignore", "__pycache__/\n").commit_all("feat: calc");
    project.repo.write("../better/calc.py", "def add(a, b): return a + b\n");
    let better = project.repo.outside().join("better");
    let line =
        |path: &Path| format!("cd tests && PYTHONPATH={} gate run -- python3 -m unittest -q test_calc", path.display());
    project.sh(&line(&better)).exits(0).says("this run proves nothing").says("is not of this working tree");
    project.sh(&line(project.repo.root())).exits(1);
}
