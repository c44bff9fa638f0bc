//! How often git is started: a number that grows with nothing, which is what keeps a push and a check fast.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use gate::event::{CommandRef, EventKind, FailingGate, Judged, Origin, Run};
use gate::journal::{Journal, NewEvent};
use gate::moment::Moment;
use gate::oid::Oid;
use gate::policy::command_key;
use gate::repo_path::RepoPath;
use gate::snapshot::KeptSnapshot;

use crate::support::{TestRepo, run_with_input};

const POLICY: &str = "version = 1\n\n[commands.test]\ngate = \"tests\"\nrun = \"true\"\n";

/// A repository whose branch `work` is `size` commits ahead of `main`, with `size` files and `size` journal entries.
struct Sized {
    repo: TestRepo,
    /// Where each start of git leaves a line.
    starts: PathBuf,
}

impl Sized {
    fn new(size: usize) -> Self {
        let repo = TestRepo::new();
        repo.add_bare_remote("origin");
        repo.write("gate.toml", POLICY).commit_all("policy");
        repo.git(["push", "-q", "origin", "main"]);
        repo.git(["remote", "set-head", "origin", "main"]);
        repo.git(["checkout", "-q", "-b", "work"]);
        import(&repo, size);
        repo.git(["reset", "-q", "--hard", "work"]);
        fill(&repo, size);
        let starts = repo.outside().join("starts");
        let git = Command::new("sh").args(["-c", "command -v git"]).output().unwrap().stdout;
        let counting = format!(
            "#!/bin/sh\necho \"$*\" >> '{}'\nexec '{}' \"$@\"\n",
            starts.display(),
            String::from_utf8(git).unwrap().trim()
        );
        repo.script("../counting/git", &counting);
        let sized = Self { repo, starts };
        assert_eq!(sized.gate(&["run", "test"], "").0, 0);
        sized
    }

    /// Runs `gate`; returns its status and what git was started with.
    fn gate(&self, args: &[&str], input: &str) -> (i32, Vec<String>) {
        self.gate_with(&[], args, input)
    }

    fn gate_with(&self, variables: &[(&str, &str)], args: &[&str], input: &str) -> (i32, Vec<String>) {
        let _ = fs::remove_file(&self.starts);
        let mut command = self.repo.gate(args);
        command.envs(variables.iter().copied());
        let path = std::env::var_os("PATH").unwrap();
        let path = [self.repo.outside().join("counting")].into_iter().chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(path).unwrap());
        let status = run_with_input(&mut command, input).status.code().unwrap();
        let lines = fs::read_to_string(&self.starts).unwrap_or_default();
        (status, lines.lines().map(str::to_owned).collect())
    }

    fn push(&self) -> (i32, Vec<String>) {
        let tip = self.repo.git(["rev-parse", "work"]);
        let input = format!("refs/heads/work {tip} refs/heads/work {}\n", "0".repeat(40));
        let url = self.repo.outside().join("origin.git");
        self.gate(&["hook", "git", "pre-push", "origin", url.to_str().unwrap()], &input)
    }
}

fn import(repo: &TestRepo, size: usize) {
    let mut stream = String::new();
    for number in 0..size {
        let _ = write!(
            stream,
            "commit refs/heads/work\ncommitter Test <test@example.com> 1767323045 +0000\ndata 1\nx\n{}\
             M 100644 inline src/d{}/f{number}\ndata 2\n{}\n",
            if number == 0 { "from refs/heads/work^0\n" } else { "" },
            number % 20,
            number % 10,
        );
    }
    repo.fast_import(&stream);
}

/// Runs on the trees of the branch, and verdicts about them.
fn fill(repo: &TestRepo, size: usize) {
    let trees: Vec<Oid> = repo.git(["log", "--format=%T", "work"]).lines().map(|line| line.parse().unwrap()).collect();
    let events = (0..size).map(|number| {
        let tree = trees[number % trees.len()].clone();
        let kind = if number % 3 == 0 { EventKind::Judged(judged(number, tree)) } else { EventKind::Run(run(tree)) };
        NewEvent { session: Some(format!("s{}", number % 7)), origin: Origin::observed(), kind }
    });
    let journal = Journal::open(&repo.path(".git/gate"), Some(repo.root()));
    let ((), recorded) = journal.append_with(|_| (events.collect(), ()));
    assert_eq!(recorded.unwrap().events.len(), size);
}

fn run(tree: Oid) -> Box<Run> {
    let dir = RepoPath::default();
    let key = command_key("true", &dir);
    let snapshot = KeptSnapshot::of_tree(tree);
    Box::new(Run {
        millis: 1,
        ..Run::passed(CommandRef { name: Some("test".to_owned()), line: "true".to_owned(), dir, key }, snapshot)
    })
}

fn judged(number: usize, tree: Oid) -> Judged {
    let failing = FailingGate { gate: "tests".to_owned(), fingerprint: number.to_string(), blocks: true };
    let verdict = format!("v{number}");
    Judged { verdict, trees: vec![tree], failing: vec![failing], blocked: true, attempt: 1, ..Judged::at(Moment::Stop) }
}

/// The commands that git was started with, without settings and in order of their names: those that run beside each
/// other come in any order.
fn subcommands(starts: &[String]) -> Vec<&str> {
    let mut found: Vec<_> = starts
        .iter()
        .map(|line| {
            let mut words = line.split(' ').filter(|word| *word != "--no-optional-locks");
            loop {
                match words.next() {
                    Some("-c") => drop(words.next()),
                    word => return word.unwrap_or_default(),
                }
            }
        })
        .collect();
    found.sort_unstable();
    found
}

#[test]
fn the_number_of_processes_grows_with_nothing() {
    for size in [10, 1_000] {
        let sized = Sized::new(size);
        // Far back, git itself is asked where a branch left: it reads commits faster. Once, however far that is.
        let far: &[&str] = if size > 64 { &["merge-base"] } else { &[] };
        let expect = |what: &str, (status, starts): (i32, Vec<String>), expected: &[&str]| {
            let mut expected = [expected, far].concat();
            expected.sort_unstable();
            assert_eq!((status, subcommands(&starts)), (0, expected), "{what}, {size} commits, files and entries");
        };
        // What is near is read in process; else one lists the new commits. Nothing here depends on their lines.
        let commits: &[&str] = if size > 64 { &["log"] } else { &[] };
        let compared: &[&str] = if size > 64 { &["diff-tree"] } else { &[] };
        // Records of decisions may stand in any file of the base. They are looked for once, and then kept.
        expect("a first push", sized.push(), &[&["grep", "ls-tree"], commits, compared].concat());
        expect("a push", sized.push(), &[commits, compared].concat());
        let looking = ["status"];
        expect("a check", sized.gate(&["check"], ""), &[&looking[..], commits, compared].concat());
        for number in (0..size).step_by(size / 10) {
            sized.repo.write(format!("src/d{}/f{number}", number % 20), "changed").write(format!("new/{number}"), "");
        }
        assert_eq!(sized.gate(&["run", "test"], "").0, 0);
        // A run on exactly this content is found by the id of its tree, which needs no git.
        expect("a check of changes", sized.gate(&["check"], ""), &[&looking[..], commits, compared].concat());
    }
}

#[test]
fn what_is_kept_already_is_not_written_again_however_much_differs() {
    let sized = Sized::new(10);
    let write = |name: &str| {
        for number in 0..400 {
            sized.repo.write(format!("src/{name}/f{number}"), format!("{name} {number}"));
        }
    };
    let count = |args: &[&str]| subcommands(&sized.gate(args, "").1).join(" ");
    // Records of decisions are looked for once.
    sized.gate(&["check"], "");
    write("new");
    assert_eq!(count(&["run", "test"]), "read-tree status status update-index write-tree");
    assert_eq!(count(&["run", "test"]), "pack-objects status status", "the same content is packed once");
    assert_eq!(count(&["check"]), "status");
    assert_eq!(count(&["run", "test"]), "status status", "the same content, packed");
    write("newer");
    assert_eq!(count(&["run", "test"]), "read-tree status status update-index write-tree", "other content");
}

#[test]
fn what_goes_along_with_any_change_is_not_read_however_large_it_is() {
    let sized = Sized::new(10);
    let large = "name = \"a\"\nversion = \"1.0.0\"\n".repeat(20_000);
    let push = |path: &str| {
        sized.repo.write(path, &large).write("src/d1/f1", path).commit_all("a change");
        assert_eq!(sized.gate(&["run", "test"], "").0, 0);
        sized.push()
    };
    // The decisions of the base are looked for once.
    assert_eq!(sized.push().0, 0);
    let (status, starts) = push("Cargo.lock");
    assert_eq!((status, subcommands(&starts)), (0, Vec::new()), "{starts:?}");
    let (status, starts) = push("src/large.rs");
    assert_eq!((status, subcommands(&starts)), (0, vec!["diff-tree"]), "its own lines count, and git reads them");
}

#[test]
fn configuration_in_another_place_is_asked_for_once() {
    let sized = Sized::new(10);
    let config = sized.repo.outside().join("elsewhere.gitconfig");
    fs::write(&config, "[user]\n\tname = N\n\temail = n@example.com\n").unwrap();
    let variables = [("GIT_CONFIG_GLOBAL", config.to_str().unwrap())];
    let lists = |started: &[String]| started.iter().filter(|line| line.contains("config --list")).count();
    for args in [&["check"][..], &["status"]] {
        let (_, started) = sized.gate_with(&variables, args, "");
        assert!(lists(&started) <= 1, "{args:?}: {started:?}");
    }
    // What it names is not watched: then it is asked for each time.
    fs::write(&config, "[include]\n\tpath = other\n").unwrap();
    let (_, started) = sized.gate_with(&variables, &["check"], "");
    assert!(lists(&started) >= 1, "{started:?}");
}
