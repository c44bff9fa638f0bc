//! Tests that change what their runner counts: the results by name are evidence, too.

use crate::project::Project;

#[test]
fn a_run_whose_tests_failed_by_name_proves_nothing_whatever_it_printed() {
    let policy = "version = 1\nprompts = \"off\"\n[commands.test]\ngate = \"tests\"\nrun = \"python3 -m unittest\"\n";
    let project = Project::with(policy);
    let test = "import unittest\nfrom calc import add\nclass T(unittest.TestCase):\n    def test_add(self):\n        \
                self.assertEqual(add(1, 2), 3)\n    @unittest.expectedFailure\n    def test_wrong(self):\n        \
                self.assertEqual(add(1, 2), 4)\n";
    project.repo.write("calc.py", "def add(a, b): return a + b\n").write("test_calc.py", test);
    project.repo.write(".gitignore", "__pycache__/\n").commit_all("feat: calc");
    project.sh("gate run test").exits(0).says("this proves test");

    project.repo.write("calc.py", "def add(a, b): return 3 - a * b\n");
    for patch in [
        "unittest.TestResult.wasSuccessful = lambda self: True",
        "unittest.TextTestResult.addFailure = lambda self, test, error: self.addSuccess(test)",
    ] {
        project.repo.write("test_calc.py", format!("import unittest\n{patch}\n{test}")).commit_all("fix: add");
        project.sh("gate run test").exits(0).says("this run proves nothing").says("T.test_add failed in it");
        project.push("git push -q origin HEAD:fix").exits(1).says("T.test_add failed in it");
    }
}

#[test]
fn a_script_that_writes_the_report_of_the_tests_is_refused() {
    let policy = "version = 1\nprompts = \"off\"\n[commands.test]\ngate = \"tests\"\nrun = \"sh run.sh\"\n";
    let project = Project::with(policy);
    project.repo.write("run.sh", "python3 -m pytest\n").commit_all("test: run them");
    let rows = "'[\"begin\",\"\"]\n[\"passed\",\"test_calc.py::test_add\"]\n[\"complete\",\"\"]'";
    let script = format!("echo {rows} >> \"$GATE_TEST_REPORT\"\necho '1 passed in 0.01s'\n");
    project.repo.write("run.sh", script).commit_all("test: run them faster");
    project.gate(["run", "test"]).exits(0);
    project.push("git push origin feature").exits(1).says("run.sh uses the report of gate's own hook");
    project.sh("git revert --no-edit HEAD && git commit -q --amend -m 'test: run them again'").exits(0);
    project.check().never_says("uses the report");
}
