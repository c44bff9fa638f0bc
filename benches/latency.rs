//! How long people and agents wait: the pre-push hook, `gate check` and `gate run`, each beside the least that the
//! same answer could cost.
//!
//! `cargo bench --bench latency` takes some minutes; `-- --quick` takes a small repository and a few rounds. What the
//! rows mean, and the aims, is in `docs/performance.md`. `-- push`, `-- check`, `-- run` or `-- log` measures that alone;
//! `--rounds=N` sets their number, `--keep` leaves the repositories.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    missing_docs,
    unreachable_pub,
    dead_code,
    reason = "benchmarks are not published"
)]

use std::path::PathBuf;

mod support;

use support::measure::{Contender, compare};
use support::repository::{GATE, Repository};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // Without this word it is a test run, which has nothing to measure.
    if !args.iter().any(|arg| arg == "--bench") {
        return;
    }
    let quick = args.iter().any(|arg| arg == "--quick");
    let only = args.iter().find(|arg| !arg.starts_with("--")).map_or("", String::as_str);
    let rounds = args.iter().find_map(|arg| arg.strip_prefix("--rounds=")?.parse().ok());
    let rounds = rounds.unwrap_or(if quick { 7 } else { 15 });
    let sizes: &[usize] = if quick { &[1_000] } else { &[1_000, 50_000] };
    let journals: &[usize] = if quick { &[100, 10_000] } else { &[100, 100_000] };
    for &files in sizes {
        let repo = Repository::generate(files);
        for &entries in journals {
            repo.journal(entries);
            let place = format!("{files} files, {entries} journal entries");
            let wanted = |name: &str| only.is_empty() || only == name;
            if wanted("push") {
                for branch in ["1", "1000"] {
                    hook(&repo, &place, branch, rounds);
                    push(&repo, &place, branch, rounds);
                }
            }
            if wanted("check") {
                check(&repo, &format!("{place}, nothing changed"), rounds);
            }
            if wanted("run") {
                run(&repo, &place, rounds);
            }
            if wanted("log") {
                log(&repo, &place, rounds);
            }
            if wanted("check") {
                repo.make_dirty();
                check(&repo, &format!("{place}, 32 paths changed"), rounds);
            }
        }
        if args.iter().any(|arg| arg == "--keep") {
            repo.keep();
        }
    }
}

/// The hook alone, as git starts it.
fn hook(repo: &Repository, place: &str, branch: &str, rounds: usize) {
    let contender = |name: &str, hooks: PathBuf| {
        let (_, stdin) = repo.hook(&hooks, branch);
        Contender::new(name, move || repo.hook(&hooks, branch).0).stdin(stdin)
    };
    let title = format!("pre-push hook alone, push of {branch} ({place})");
    let rows = vec![
        contender("sh with one git call: git log --raw -z", repo.outside("hooks/log")),
        contender("sh with one git call: git rev-parse", repo.outside("hooks/sh")),
        contender("gate", repo.hooks()).limit(1.0, 15.0),
    ];
    compare(&title, rounds, rows);
}

/// The hook inside a real push.
fn push(repo: &Repository, place: &str, branch: &str, rounds: usize) {
    let contender = |name: &str, hooks: PathBuf| {
        Contender::new(name, move || repo.push(branch, &hooks)).after(|| repo.unpush(branch))
    };
    let title = format!("git push of {branch} ({place})");
    let rows = vec![
        contender("sh hook with one git call: git log --raw -z", repo.outside("hooks/log")),
        contender("sh hook with one git call: git rev-parse", repo.outside("hooks/sh")),
        contender("no hook", repo.outside("hooks/none")),
        contender("gate", repo.hooks()).limit(1.0, 15.0),
    ];
    compare(&title, rounds, rows);
}

fn check(repo: &Repository, place: &str, rounds: usize) {
    let rows = vec![
        Contender::new("git status", || repo.command_with("git", &["status", "--porcelain", "-uall"])),
        Contender::new("gate check", || repo.command_with(GATE, &["check"])).limit(1.2, 10.0),
    ];
    compare(&format!("gate check ({place})"), rounds, rows);
}

/// The newest entries of a timeline of any length.
fn log(repo: &Repository, place: &str, rounds: usize) {
    let rows = vec![
        Contender::new("git log -g --raw -n 40", || repo.command_with("git", &["log", "-g", "--raw", "-n", "40"])),
        Contender::new("gate log", || repo.command_with(GATE, &["log"])).limit(1.0, 12.0),
    ];
    compare(&format!("gate log ({place})"), rounds, rows);
}

fn run(repo: &Repository, place: &str, rounds: usize) {
    let shell = |script: &'static str| move || repo.command_with("sh", &["-c", script]);
    let gate = |args: &'static [&'static str]| move || repo.command_with(GATE, args);
    let rows = vec![
        Contender::new("git status twice", shell("git status --porcelain -uall; true; git status --porcelain -uall")),
        Contender::new("sh -c true", shell("true")),
        Contender::new("true", || repo.command("true")),
        Contender::new("gate run -- true", gate(&["run", "--", "true"])),
        Contender::new("gate run test", gate(&["run", "test"])).limit(1.2, 20.0),
    ];
    compare(&format!("gate run ({place})"), rounds, rows);
}
