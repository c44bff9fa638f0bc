//! How the action gets its program: a released one by its checksum, or none.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;

use crate::support::TestRepo;

const PATH: &str = "/o/gate/releases/download/v1.2.3/gate-x86_64-unknown-linux-musl.tar.gz";

/// Serves one file at [`PATH`], and nothing else; returns its own address.
fn serving(file: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let found = lines.next().is_some_and(|line| line.starts_with(&format!("GET {PATH} ")));
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
        Self { repo, archive }
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
        command.env("GITHUB_SERVER_URL", serving(self.archive.clone()));
        command.output().unwrap()
    }

    fn built(&self) -> bool {
        self.repo.path("temporary/gate/asked").exists()
    }

    /// What the installed program says.
    fn program(&self) -> Option<String> {
        let output = Command::new(self.repo.path("temporary/gate/bin/gate")).output().ok()?;
        Some(String::from_utf8(output.stdout).unwrap())
    }
}

#[test]
fn a_released_program_is_used_by_its_checksum_alone() {
    let job = Job::new();
    let line = |sum: &str| format!("1.2.3 x86_64-unknown-linux-musl {sum}\n");
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
    for (releases, architecture) in
        [(String::new(), "X64"), (format!("1.2.3 x86_64-unknown-linux-musl {}\n", hex_sum(&job)), "ARM64")]
    {
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
