//! How the action gets its program: a released one by its checksum, or none; and what the release job makes of one.
//!
//! The real `act` runs that job: only compiling, uploads between jobs, and what GitHub alone can do have stand-ins.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};
use std::{fs, thread};

use serde_json::json;

use crate::installed;
use crate::support::TestRepo;

const TARGET: &str = "x86_64-unknown-linux-musl";

/// Serves one file where that version of it is, and nothing else; returns its own address.
fn serving(version: &str, file: Vec<u8>) -> String {
    let path = format!("/o/gate/releases/download/v{version}/gate-{TARGET}.tar.gz");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let found = lines.next().is_some_and(|line| line.starts_with(&format!("GET {path} ")));
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            let (status, body) = if found { (200, file.as_slice()) } else { (404, &b""[..]) };
            let head = format!("HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        }
    });
    url
}

/// What the action would run in a job: `releases` is its list.
struct Job {
    repo: TestRepo,
    version: String,
    archive: Vec<u8>,
}

impl Job {
    fn new() -> Self {
        let repo = TestRepo::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        repo.write("action/install.sh", fs::read(root.join("action/install.sh")).unwrap());
        repo.script("program/gate", "#!/bin/sh\necho released\n");
        repo.script(
            "bin/cargo",
            "#!/bin/sh\nmkdir -p \"$RUNNER_TEMP/gate/bin\"\necho \"$*\" >\"$RUNNER_TEMP/gate/asked\"\n",
        );
        let mut tar = Command::new("tar");
        tar.args(["-czf", "program.tar.gz", "-C", "program", "."]).current_dir(repo.root());
        assert!(tar.status().unwrap().success());
        let archive = repo.read("program.tar.gz");
        Self { repo, version: "1.2.3".to_owned(), archive }
    }

    fn run(&self, releases: &str, architecture: &str) -> Output {
        let repo = &self.repo;
        repo.write("action/releases.txt", format!("# version target sum\n{releases}"));
        let temporary = repo.path("temporary");
        let _ = fs::remove_dir_all(&temporary);
        fs::create_dir(&temporary).unwrap();
        let path = format!("{}:{}", repo.path("bin").display(), std::env::var("PATH").unwrap());
        let mut command = repo.command_in("bash", repo.root());
        command.arg("action/install.sh").env("PATH", path).env("RUNNER_TEMP", temporary);
        command.env("RUNNER_OS", "Linux").env("RUNNER_ARCH", architecture).env("ACTION_REPOSITORY", "o/gate");
        command.env("GITHUB_SERVER_URL", serving(&self.version, self.archive.clone()));
        command.output().unwrap()
    }

    fn built(&self) -> bool {
        self.repo.path("temporary/gate/asked").exists()
    }

    /// What the installed program says.
    fn program(&self) -> Option<String> {
        let output = Command::new(self.repo.path("temporary/gate/bin/gate")).arg("--version").output().ok()?;
        Some(String::from_utf8(output.stdout).unwrap())
    }
}

#[test]
fn a_released_program_is_used_by_its_checksum_alone() {
    let job = Job::new();
    let line = |sum: &str| format!("1.2.3 {TARGET} {sum}\n");
    let right = hex_sum(&job);
    let output = job.run(&line(&right), "X64");
    assert!(output.status.success(), "{output:?}");
    assert_eq!((job.program().as_deref(), job.built()), (Some("released\n"), false));
    // The last line of a platform counts.
    let output = job.run(&(line(&"0".repeat(64)) + &line(&right)), "X64");
    assert!(output.status.success(), "{output:?}");

    let wrong = job.run(&line(&"0".repeat(64)), "X64");
    assert_eq!((wrong.status.code(), job.program(), job.built()), (Some(1), None, false), "{wrong:?}");
    assert!(String::from_utf8_lossy(&wrong.stderr).contains(&right), "{wrong:?}");
    let gone = job.run(&line(&right).replace("1.2.3", "9.9.9"), "X64");
    assert_eq!((gone.status.success(), job.program(), job.built()), (false, None, false), "{gone:?}");
}

#[test]
fn without_a_release_for_the_platform_it_is_built_from_the_source() {
    let job = Job::new();
    for (releases, architecture) in [(String::new(), "X64"), (format!("1.2.3 {TARGET} {}\n", hex_sum(&job)), "ARM64")] {
        let output = job.run(&releases, architecture);
        assert!(output.status.success() && job.built(), "{output:?}");
        let asked = fs::read_to_string(job.repo.path("temporary/gate/asked")).unwrap();
        assert!(asked.starts_with("install --locked --path ") && asked.contains(" --root "), "{asked}");
    }
}

/// As `sha256sum` says it.
fn hex_sum(job: &Job) -> String {
    let output = Command::new("sha256sum").arg(job.repo.path("program.tar.gz")).output().unwrap();
    String::from_utf8(output.stdout).unwrap()[..64].to_owned()
}

/// A build of the source would be the program under test.
const BUILD: &str = "#!/bin/sh
set -eu
test \"$*\" = \"build --locked --profile dist --target $TARGET\"
mkdir -p \"target/$TARGET/dist\"
cp \"$TEST_GATE\" \"target/$TARGET/dist/gate\"
";
const UPLOAD: &str = "mkdir -p \"$TEST_ARTIFACTS\" && cp \"$INPUT_PATH\" \"$TEST_ARTIFACTS\"";
const DOWNLOAD: &str = "mkdir -p \"$INPUT_PATH\" && cp \"$TEST_ARTIFACTS\"/* \"$INPUT_PATH\"";
const ATTEST: &str = "test -s \"$INPUT_SUBJECT_CHECKSUMS\"";
/// What is released is what its arguments name.
const GH: &str = "#!/bin/sh
set -eu
printf '%s\\n' \"$@\" >\"$TEST_ARTIFACTS/../asked\"
mkdir \"$TEST_ARTIFACTS/../published\"
for file; do if [ -f \"$file\" ]; then cp \"$file\" \"$TEST_ARTIFACTS/../published\"; fi; done
cp releases.txt \"$TEST_ARTIFACTS/..\"
";

/// Runs the release of `tag` for one platform under the real `act`.
fn released(repo: &TestRepo, tag: &str) -> Output {
    const WORKFLOW: &str = ".github/workflows/release.yml";
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workflow = fs::read_to_string(root.join(WORKFLOW)).unwrap();
    repo.write(WORKFLOW, &workflow);
    // What is checked out is what `act` is started in.
    for file in ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
        repo.write(file, fs::read(root.join(file)).unwrap());
    }
    repo.commit_all("release");
    let place = |name: &str| repo.outside().join(name);
    let mut stand_ins = Vec::new();
    for (action, script) in [
        ("actions/upload-artifact", UPLOAD),
        ("actions/download-artifact", DOWNLOAD),
        ("actions/attest-build-provenance", ATTEST),
    ] {
        let (_, rest) = workflow.split_once(&format!("{action}@")).unwrap();
        let name = action.replace('/', "-");
        let inputs = ["path", "subject-checksums"];
        let env: Vec<String> = inputs
            .map(|input| {
                let name = input.to_uppercase().replace('-', "_");
                format!("        INPUT_{name}: ${{{{ inputs.{input} }}}}\n")
            })
            .to_vec();
        repo.write(
            format!("../{name}/action.yml"),
            format!(
                "name: {name}\ndescription: A stand-in\ninputs:\n  path: {{ default: '' }}\n  \
                 subject-checksums: {{ default: '' }}\nruns:\n  using: composite\n  steps:\n    - shell: bash\n      \
                 env:\n{}      run: |\n        {script}\n",
                env.concat()
            ),
        );
        let pinned = rest.split_whitespace().next().unwrap();
        stand_ins.push(format!("{action}@{pinned}={}", place(&name).display()));
    }
    for (name, script) in [("cargo", BUILD), ("gh", GH), ("rustup", "#!/bin/sh\n"), ("sudo", "#!/bin/sh\n")] {
        repo.script(format!("../bin/{name}"), script);
    }
    let event = json!({
        "ref": format!("refs/tags/{tag}"),
        "repository": { "full_name": "o/gate", "name": "gate", "owner": { "login": "o" }, "default_branch": "main" },
    });
    repo.write("../event.json", event.to_string());
    let path = format!("{}:{}", place("bin").display(), std::env::var("PATH").unwrap());
    let mut command = repo.command_in(installed::program("act"), repo.root());
    command.env("PATH", &path).args(["push", "-W", WORKFLOW, "--matrix", &format!("target:{TARGET}")]);
    command.args(["-P", "ubuntu-24.04=-self-hosted", "-s", "GITHUB_TOKEN=job-token", "--no-cache-server"]);
    command.args(["--action-offline-mode", "-e"]).arg(place("event.json"));
    for stand_in in &stand_ins {
        command.args(["--local-repository", stand_in]);
    }
    for (name, value) in [
        ("PATH", path.as_str()),
        ("RUNNER_OS", "Linux"),
        ("TEST_GATE", env!("CARGO_BIN_EXE_gate")),
        ("TEST_ARTIFACTS", place("artifacts").to_str().unwrap()),
    ] {
        command.args(["--env", &format!("{name}={value}")]);
    }
    command.output().unwrap()
}

#[test]
fn what_is_released_is_what_the_action_takes() {
    let repo = TestRepo::with_commit();
    let version = env!("CARGO_PKG_VERSION");
    let output = released(&repo, &format!("v{version}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let published = repo.outside().join("published");
    let names: std::collections::BTreeSet<_> =
        fs::read_dir(&published).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names, ["SHA256SUMS".to_owned(), format!("gate-{TARGET}.tar.gz")].into());
    let sums = Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(&published).output();
    assert!(sums.unwrap().status.success());
    // The line that it prints, committed, has the action take that program and no other.
    let archive = fs::read(published.join(format!("gate-{TARGET}.tar.gz"))).unwrap();
    let releases = fs::read_to_string(repo.outside().join("releases.txt")).unwrap();
    assert!(releases.starts_with(&format!("{version} {TARGET} ")), "{releases}");
    let job = Job { version: version.to_owned(), archive, ..Job::new() };
    let output = job.run(&releases, "X64");
    assert!(output.status.success(), "{output:?}");
    assert_eq!((job.program(), job.built()), (Some(format!("gate {version}\n")), false));
    for file in ["LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
        assert!(job.repo.path("temporary/gate/bin").join(file).is_file(), "{file}");
    }
    let mut changed = job.archive.clone();
    *changed.last_mut().unwrap() ^= 1;
    let job = Job { archive: changed, ..job };
    let output = job.run(&releases, "X64");
    assert_eq!((output.status.code(), job.program(), job.built()), (Some(1), None, false), "{output:?}");
    // `gh` knows every option that it is asked with.
    let help = repo.command_in(installed::program("gh"), repo.root()).args(["release", "create", "--help"]).output();
    let help = String::from_utf8(help.unwrap().stdout).unwrap();
    let asked = fs::read_to_string(repo.outside().join("asked")).unwrap();
    let options: Vec<&str> = asked.lines().filter(|word| word.starts_with("--")).collect();
    assert!(options.len() > 2 && options.iter().all(|option| help.contains(option)), "{options:?}");
    assert!(asked.contains(&format!("release\ncreate\nv{version}\n")), "{asked}");
}

#[test]
fn a_tag_that_is_not_the_version_releases_nothing() {
    let repo = TestRepo::with_commit();
    let output = released(&repo, "v999.0.0");
    assert!(!output.status.success(), "{output:?}");
    assert!(!repo.outside().join("artifacts").exists() && !repo.outside().join("published").exists());
}
