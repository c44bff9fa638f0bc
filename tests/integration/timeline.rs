//! The timeline of a real repository: what git recorded and what the journal holds, as one line of events.

use std::path::Path;
use std::process::{Command, Stdio};

use gate::event::{CommandRef, Ended, Event, EventKind, GitEvent, Grade, Origin, Run, RunStarted};
use gate::oid::Oid;
use gate::render::timeline::{human, json};
use gate::repo_path::RepoPath;
use gate::snapshot::KeptSnapshot;
use gate::source::git::{Reflog, read};
use gate::timeline::{Entry, merge};
use jiff::Timestamp;

use crate::support::TestFolder;

/// A git that no setting of this machine reaches; every commit is one second later than the last.
fn git(dir: &Path) -> Command {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    command.current_dir(dir).env("HOME", dir).env("XDG_CONFIG_HOME", dir).env("GIT_CONFIG_NOSYSTEM", "1");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "A").env(format!("GIT_{role}_EMAIL"), "a@example.com");
    }
    command.stdin(Stdio::null());
    command
}

fn at(dir: &Path, second: i64, args: &[&str]) {
    let date = format!("@{second} +0000");
    let mut command = git(dir);
    command.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date).args(args);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A repository with a remote, two commits, an amend, a branch and a push; the second counts from 1000.
fn repository() -> TestFolder {
    let dir = TestFolder::new();
    let root = dir.path();
    at(root, 1000, &["init", "-q", "-b", "main", "."]);
    at(root, 1000, &["init", "-q", "--bare", "remote.git"]);
    at(root, 1000, &["remote", "add", "origin", "./remote.git"]);
    at(root, 1001, &["commit", "-q", "--allow-empty", "-m", "one"]);
    at(root, 1002, &["commit", "-q", "--allow-empty", "-m", "two"]);
    at(root, 1003, &["commit", "-q", "--allow-empty", "--amend", "-m", "two, better"]);
    at(root, 1004, &["push", "-q", "--no-verify", "origin", "main"]);
    at(root, 1005, &["switch", "-q", "-c", "feature"]);
    dir
}

fn logs(dir: &Path) -> Vec<Vec<Event>> {
    read(|| git(dir), 1000).unwrap().into_iter().map(|log: Reflog| log.events).collect()
}

fn movement(entry: &Entry) -> &GitEvent {
    let EventKind::Git(movement) = &entry.event.kind else { panic!("{entry:?}") };
    movement
}

#[test]
fn one_entry_for_what_git_recorded_twice() {
    let dir = repository();
    let timeline = merge(logs(dir.path()));
    let told: Vec<(&str, &str)> =
        timeline.iter().map(movement).map(|git| (git.action.as_str(), git.reference.as_str())).collect();
    assert_eq!(
        told,
        [
            ("commit (initial)", "refs/heads/main"),
            ("commit", "refs/heads/main"),
            ("commit (amend)", "refs/heads/main"),
            ("push", "refs/remotes/origin/main"),
            ("checkout", "HEAD"),
            ("branch", "refs/heads/feature"),
        ]
    );
    assert_eq!(movement(&timeline[2]).old, movement(&timeline[1]).new, "where it stood before");
    assert_eq!(movement(&timeline[3]).new, movement(&timeline[2]).new, "a push is seen though hooks were skipped");
}

#[test]
fn repositories_with_nothing_to_tell() {
    let dir = TestFolder::new();
    assert!(read(|| git(dir.path()), 10).is_err(), "no repository");
    at(dir.path(), 1, &["init", "-q", "."]);
    assert_eq!(logs(dir.path()), Vec::<Vec<Event>>::new(), "an unborn branch");
    assert!(read(|| Command::new("/nonexistent/git"), 10).is_err());
}

fn event(id: &str, millis: i64, kind: EventKind) -> Event {
    let at = Timestamp::from_millisecond(millis).unwrap();
    Event { id: id.to_owned(), at, session: None, origin: Origin::observed(), kind }
}

fn command(key: &str) -> CommandRef {
    CommandRef { name: Some(key.to_owned()), line: "make".to_owned(), dir: RepoPath::default(), key: key.to_owned() }
}

fn started(key: &str) -> EventKind {
    EventKind::RunStarted(RunStarted { command: command(key) })
}

fn run(key: &str) -> EventKind {
    let tree = Oid::empty_tree(false);
    let snapshot = KeptSnapshot::of_tree(tree);
    EventKind::Run(Box::new(Run { ended: Ended::Exited(101), millis: 1234, ..Run::passed(command(key), snapshot) }))
}

fn ids(timeline: &[Entry]) -> Vec<&str> {
    timeline.iter().map(|entry| entry.event.id.as_str()).collect()
}

#[test]
fn a_command_is_one_entry_and_each_source_keeps_its_order() {
    // The clock went back between `c` and `d`; another source lies in between.
    let journal = vec![
        event("a", 1_000, started("k")),
        event("b", 2_000, started("l")),
        event("c", 9_000, run("k")),
        event("d", 3_000, run("m")),
        event("e", 9_500, started("k")),
    ];
    let other = vec![event("x", 2_500, run("n")), event("y", 9_200, run("n"))];
    let timeline = merge(vec![journal, other]);
    assert_eq!(ids(&timeline), ["b", "x", "c", "d", "y", "e"]);
    let at = |millis| Timestamp::from_millisecond(millis).unwrap();
    assert_eq!(timeline[2].started, Some(("a".to_owned(), at(1_000))), "an end knows its start");
    assert_eq!(timeline[3].started, None, "one that was not recorded is not invented");
}

#[test]
fn a_commit_follows_the_run_of_the_same_second_and_a_hook_is_heard_once() {
    let git_event = |id: &str, millis, reference: &str| {
        let new = Some(Oid::empty_tree(false));
        let (action, message) = ("commit".to_owned(), "commit: x".to_owned());
        let movement = GitEvent { action, reference: reference.to_owned(), old: None, new, message };
        event(id, millis, EventKind::Git(movement))
    };
    let by_git = |event: Event| Event { origin: Origin { by: "git".to_owned(), grade: Grade::Observed }, ..event };
    let journal = vec![event("run", 5_700, run("k")), git_event("hook", 5_900, "HEAD")];
    let head = vec![by_git(git_event("head", 5_000, "HEAD")), by_git(git_event("later", 60_000, "HEAD"))];
    let branch = vec![by_git(git_event("branch", 5_000, "refs/heads/x"))];
    let timeline = merge(vec![journal, head.clone(), branch]);
    assert_eq!(ids(&timeline), ["run", "hook", "later"]);
    assert_eq!(movement(&timeline[1]).reference, "refs/heads/x", "the branch says more than HEAD");
    assert_eq!(timeline[1].also, [Origin { by: "git".to_owned(), grade: Grade::Observed }]);
    assert_eq!(ids(&merge(vec![vec![event("run", 5_700, run("k"))], head])), ["run", "head", "later"]);
}

#[test]
fn lines_for_people_and_for_programs() {
    let escape = EventKind::Git(GitEvent {
        action: "commit".to_owned(),
        reference: "refs/heads/x".to_owned(),
        old: None,
        new: Some(Oid::empty_tree(false)),
        message: "commit: \u{1b}[2Jgone\nsecond line".to_owned(),
    });
    let timeline = merge(vec![vec![
        event("1", 1_000, started("tests")),
        event("2", 61_000, run("tests")),
        event("3", 62_000, escape),
        event("4", 63_000, started("build")),
    ]]);
    let shown: Vec<String> =
        timeline.iter().map(|entry| anstream::adapter::strip_str(&human(entry)).to_string()).collect();
    assert_eq!(
        shown,
        [
            "1970-01-01 00:01:01Z  observed gate   run tests: exit status 101 in 1.2 s  4b825dc",
            "1970-01-01 00:01:02Z  observed gate   commit x:  [2Jgone second line  4b825dc",
            "1970-01-01 00:01:03Z  observed gate   run build: started; its end is not recorded",
        ]
    );
    let value: serde_json::Value = serde_json::from_str(&json(&timeline[0]).unwrap()).unwrap();
    assert_eq!(value["kind"], "run");
    assert_eq!(value["started"]["id"], "1");
    assert_eq!(value["data"]["ended"]["exited"], 101);
    for entry in &timeline {
        assert!(!json(entry).unwrap().contains('\n'));
    }
}
