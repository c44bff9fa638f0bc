//! `gate log` reads the end of a long journal, and shows what it would show if it read all of it.

use gate::event::{CommandRef, Damage, EventKind, Origin, RunStarted};
use gate::journal::{Journal, NewEvent};
use gate::repo_path::RepoPath;

use crate::project::Project;

#[test]
fn the_last_entries_of_a_long_journal_are_the_last_of_all() {
    let project = Project::new();
    project.gate(["run", "test"]);
    let journal = Journal::open(&project.gate_dir(), Some(project.repo.root()));
    let new = |number: u32| {
        let command =
            CommandRef { name: None, line: format!("make {number}"), dir: RepoPath::default(), key: String::new() };
        let kind = match number % 3 {
            0 => EventKind::RunStarted(RunStarted { command }),
            _ => EventKind::Damage(Damage { what: format!("number {number}") }),
        };
        NewEvent { session: None, origin: Origin::observed(), kind }
    };
    for part in 0..10 {
        let ((), recorded) = journal.append_with(|_| ((0..400).map(|number| new(part * 400 + number)).collect(), ()));
        recorded.unwrap();
    }
    project.sh("git commit --quiet --allow-empty --message later").exits(0);
    let all = project.gate(["log", "--json", "-n", "0"]).exits(0).out;
    let all: Vec<&str> = all.lines().collect();
    assert!(all.len() > 4_000);
    for (count, args) in [(40, vec!["log", "--json"]), (3, vec!["log", "--json", "-n", "3"])] {
        let last = project.gate(args).exits(0).out;
        assert_eq!(last.lines().collect::<Vec<_>>(), all[all.len() - count..], "{count}");
    }
}
