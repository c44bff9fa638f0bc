//! The project's own virtual environment: which programs a declared command finds there.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::client_session::Session;
use crate::project::Project;
use crate::running::declared;

const SCRIPT: &str = "#!/bin/sh\necho \"$VIRTUAL_ENV\"\n";
const RECORD: &str = ".venv/lib/python3.11/site-packages/own-1.0.dist-info/RECORD";

/// A project with an environment as `venv` and an installer leave it, and with the command `own-tests` of that.
fn with_environment() -> Project {
    with_program("own-tests", SCRIPT)
}

/// The same with a declared command of this name.
fn with_program(name: &str, script: &str) -> Project {
    let project = declared(name);
    let home = project.repo.outside().join("python");
    fs::create_dir_all(&home).expect("a folder");
    fs::copy(env!("CARGO_BIN_EXE_gate"), home.join("python3")).expect("a program");
    project
        .repo
        .write(".gitignore", ".venv/\n")
        .write(".venv/pyvenv.cfg", format!("home = {}\nversion = 3.11.7\n", home.display()))
        .script(format!(".venv/bin/{name}"), script)
        .write(RECORD, recorded(name, script));
    link(&project, &home.join("python3"));
    project.edit("two");
    project
}

/// The line about a program in `RECORD`.
fn recorded(name: &str, script: &str) -> String {
    let hexadecimal = gate::digest::sha256(script.as_bytes());
    let digits = |at: usize| u8::from_str_radix(&hexadecimal[at..at + 2], 16).expect("digits");
    let digest: Vec<u8> = (0..hexadecimal.len()).step_by(2).map(digits).collect();
    format!("../../../bin/{name},sha256={},{}\nown.py,,\n", URL_SAFE_NO_PAD.encode(digest), script.len())
}

/// Makes `python3` of the environment a link.
fn link(project: &Project, target: &std::path::Path) {
    let place = project.repo.root().join(".venv/bin/python3");
    let _ = fs::remove_file(&place);
    std::os::unix::fs::symlink(target, place).expect("a link");
}

#[test]
fn a_declared_command_runs_in_the_virtual_environment_of_the_project() {
    let project = with_environment();
    project.gate(["run", "test"]).exits(0).says("/.venv").says("this proves test for this commit");
    project.push("git push origin feature").exits(0);
    // So does any other line, however it is written.
    for line in [&["own-tests"][..], &["sh", "-c", "own-tests"], &["time own-tests"]] {
        project.gate(["run", "--"].iter().chain(line)).exits(0);
    }
    // An active environment stays the one that counts.
    project.gate_with(&[("VIRTUAL_ENV", "/other")], &["run", "test"]).exits(127);
    // A copy of the interpreter, as on Windows, is as good as a link to it.
    let original = project.repo.outside().join("python/python3");
    fs::remove_file(project.repo.root().join(".venv/bin/python3")).expect("removed");
    fs::copy(original, project.repo.root().join(".venv/bin/python3")).expect("a copy");
    project.gate(["run", "test"]).exits(0);
    // What git tracks is content of the project, and nothing that an installer made.
    project.sh("git add --force .venv && git commit --quiet --message 'chore: tools'").exits(0);
    project.gate(["run", "test"]).exits(127).never_says("/.venv");
}

#[test]
fn a_made_up_interpreter_runs_nothing() {
    let project = with_environment();
    let root = project.repo.root();
    let inside = root.join("python3");
    fs::copy("/bin/true", &inside).expect("a program");
    let script = root.join(".venv/python3-script");
    fs::write(&script, SCRIPT).expect("a script");
    for target in [std::path::Path::new("/bin/true"), &inside, &script, std::path::Path::new("/missing/python3")] {
        link(&project, target);
        project
            .gate(["run", "test"])
            .exits(127)
            .says("it did not run in the project's virtual environment")
            .says("/.venv/bin/python3 is not a Python interpreter of this machine");
    }
}

#[test]
fn a_script_that_no_installer_wrote_runs_nothing() {
    let project = with_environment();
    let refused = |why: &str| {
        let said = project.gate(["run", "test"]).exits(127);
        said.says(&format!("{why} is not the script that an installer wrote"));
    };
    project.repo.write(RECORD, recorded("own-tests", "#!/bin/sh\nexec other\n"));
    refused("/.venv/bin/own-tests");
    project.repo.write(RECORD, "own.py,,\n");
    refused("/.venv/bin/own-tests");
    // A program that runs tests may be started by the line, too.
    project
        .repo
        .write(RECORD, recorded("own-tests", SCRIPT))
        .script(".venv/bin/pytest", "#!/bin/sh\necho '1 passed in 0.1s'\n");
    refused("/.venv/bin/pytest");
    // A shell runs a file without a first line, too, and a link leads anywhere.
    project.repo.script(".venv/bin/pytest", "echo '1 passed in 0.1s'\n");
    refused("/.venv/bin/pytest");
    let pytest = project.repo.root().join(".venv/bin/pytest");
    fs::remove_file(&pytest).expect("removed");
    std::os::unix::fs::symlink("/bin/true", &pytest).expect("a link");
    refused("/.venv/bin/pytest");
    // What has nothing to do with tests is a person's own business.
    fs::remove_file(&pytest).expect("removed");
    project.repo.script(".venv/bin/my-notes", "#!/bin/sh\n");
    project.gate(["run", "test"]).exits(0);
}

#[test]
fn an_environment_that_the_agent_wrote_runs_nothing() {
    let project = with_environment();
    let session = Session::claude(&project);
    session.prompt("Make the tests pass");
    session.run("echo 'home = /usr/bin' > .venv/pyvenv.cfg");
    project.gate(["run", "test"]).exits(127).says("an edit wrote").says("so no installer made this environment");
}

#[test]
fn a_made_up_program_proves_nothing_however_a_line_finds_it() {
    let script = "#!/bin/sh\necho '===== 1 passed in 0.01s ====='\n";
    let project = with_program("pytest", script);
    let own = project.repo.root().join(".venv");
    let search = format!("{}:{}", own.join("bin").display(), std::env::var("PATH").expect("a path"));
    let active = own.display().to_string();
    let lines = [
        ".venv/bin/pytest",
        "./.venv/bin/pytest",
        "PATH=\"$PWD/.venv/bin:$PATH\" pytest",
        "PATH=$(pwd)/.venv/bin:$PATH pytest",
        ". .venv/bin/activate && pytest",
        "cd . && source .venv/bin/activate && pytest",
    ];
    let activate = format!("VIRTUAL_ENV={active}\nexport VIRTUAL_ENV\nPATH=\"$VIRTUAL_ENV/bin:$PATH\"\nexport PATH\n");
    project.repo.script(".venv/bin/activate", &activate);
    let runs = |is_trusted: bool| {
        let words = "pytest is not the script that an installer wrote";
        for line in lines {
            project.edit(line);
            let said = project.gate(["run", "--", line]).exits(0);
            if is_trusted {
                said.says("this proves test")
            } else {
                said.says(words)
            };
        }
        let said = project.gate_with(&[("VIRTUAL_ENV", &active), ("PATH", &search)], &["run", "test"]).exits(0);
        if is_trusted {
            said.never_says(words)
        } else {
            said.says(words)
        };
    };
    runs(true);
    project.repo.script(".venv/bin/pytest", &script.replace("1 passed", "2 passed"));
    runs(false);
}
