//! What it costs to judge the commits of a range, beside what git needs to list them.
//!
//! `cargo bench --bench commits` judges a generated history; `-- --repo PATH` judges a real one, with the table of
//! scopes that `gate init --scopes` derives for it. The first row of each table is what the others are compared with.
//! Another linter is measured beside it with `--peer COMMAND`, where `{count}` is the number of commits, as in
//! `--peer 'commitlint --from HEAD~{count} || true'`.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "benchmarks are not published"
)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[path = "support/measure.rs"]
mod measure;

use measure::{Contender, compare};

const GATE: &str = env!("CARGO_BIN_EXE_gate");
/// How many commits are judged.
const COUNTS: [usize; 4] = [1, 100, 1_000, 10_000];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // Without this word it is a test run, which has nothing to measure.
    if !args.iter().any(|arg| arg == "--bench") {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary directory");
    let given = args.iter().position(|arg| arg == "--repo").and_then(|at| args.get(at + 1)).map(PathBuf::from);
    let peers = args.iter().zip(args.iter().skip(1)).filter(|(option, _)| *option == "--peer").map(|(_, peer)| peer);
    let peers: Vec<String> = peers.cloned().collect();
    let repo = folder.path().join("repo");
    match &given {
        Some(path) => {
            git(folder.path(), &["clone", "-q", "--shared", "--no-checkout", &path.to_string_lossy(), "repo"]);
        }
        None => generate(&repo),
    }
    let derived = gate(&repo, &["init", "--scopes"]).stderr(Stdio::null()).output().expect("gate starts");
    std::fs::write(repo.join("gate.toml"), derived.stdout).expect("a table");
    for count in COUNTS {
        let rounds = if count > 1_000 { 5 } else { 11 };
        let number = format!("--max-count={count}");
        let log = |more: &'static [&'static str]| {
            let (repo, number) = (repo.clone(), number.clone());
            move || {
                let mut command = Command::new("git");
                command.current_dir(&repo).args(["log", &number]).args(more).arg("HEAD");
                command
            }
        };
        let history = || gate(&repo, &["commits", "--history", &count.to_string(), "--json"]);
        let mut contenders = vec![
            Contender::new("git log --raw -z", log(&["--raw", "-z"])),
            Contender::new("git log --raw -z, with messages", log(&["--raw", "-z", "--format=%H%x00%B"])),
            Contender::new("git log --name-status", log(&["--name-status"])),
            Contender::new("gate commits", history).limit(1.2, 10.0),
        ];
        for peer in &peers {
            let (repo, line) = (repo.clone(), peer.replace("{count}", &count.to_string()));
            contenders.push(Contender::new(line.clone(), move || {
                let mut command = Command::new("sh");
                command.current_dir(&repo).args(["-c", &line]);
                command
            }));
        }
        let history = given.as_deref().unwrap_or(Path::new("a generated history"));
        compare(&format!("{count} commits of {}", history.display()), rounds, contenders);
    }
}

fn gate(repo: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(GATE);
    command.current_dir(repo).args(args);
    command
}

fn git(dir: &Path, args: &[&str]) {
    let done = Command::new("git").current_dir(dir).args(args).status().expect("git starts");
    assert!(done.success(), "git {args:?}");
}

/// A linear history over 300 folders of 10 files, one to five files a commit.
fn generate(repo: &Path) {
    std::fs::create_dir_all(repo).expect("a folder");
    git(repo, &["init", "-q", "-b", "main"]);
    let mut import = Command::new("git")
        .current_dir(repo)
        .args(["fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("git starts");
    let mut pipe = import.stdin.take().expect("a pipe");
    let mut number: usize = 7;
    for commit in 0..10_100 {
        let part = commit * 37 % 300;
        let message = format!("feat(part{part}): change {commit}\n\nWhy it changes.\n");
        let mut text = format!(
            "commit refs/heads/main\ncommitter A <a@b> {} +0000\ndata {}\n{message}",
            1_700_000_000 + commit,
            message.len()
        );
        for _ in 0..=commit % 5 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let content = format!("pub fn f{commit}() -> usize {{\n    {number}\n}}\n").repeat(20);
            let path = format!("packages/part{part}/file{}.rs", number % 10);
            text = format!("{text}M 100644 inline {path}\ndata {}\n{content}\n", content.len());
        }
        pipe.write_all(text.as_bytes()).expect("git reads");
    }
    drop(pipe);
    assert!(import.wait().expect("git ends").success());
}
