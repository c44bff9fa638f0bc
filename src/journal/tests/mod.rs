//! Tests of the journal from within: line form, chain, torn tails, state and checkpoint.

mod compression;
mod damage;
mod folding;
mod form;
mod last_events;
mod pruning;
mod run_index;

use proptest::prelude::*;

use super::{Journal, JournalLine, NewEvent};
use crate::event::{
    Act, AgentWork, CommandRef, Damage, Ended, EventKind, FailingGate, GitEvent, Grade, Judged, Origin, Repaired, Run,
    RunReport, RunStarted, Trial, Waived,
};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::snapshot::KeptSnapshot;

/// A journal in a directory of its own, which lives as long as the first value.
fn scratch() -> (tempfile::TempDir, Journal) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join(".git")).unwrap();
    let journal = Journal::open(&dir.path().join(".git/gate"), Some(dir.path()));
    (dir, journal)
}

fn oid(number: u64) -> Oid {
    format!("{number:040x}").parse().unwrap()
}

fn command(key: &str) -> CommandRef {
    let line = format!("make {key}");
    CommandRef { name: Some("test".to_owned()), line, dir: RepoPath::default(), key: key.to_owned() }
}

fn snapshot(tree: u64) -> KeptSnapshot {
    KeptSnapshot::of_tree(oid(tree))
}

fn run(key: &str, start: u64, end: u64) -> Run {
    Run { end: snapshot(end), millis: 5, tail: "ok\n".to_owned(), ..Run::passed(command(key), snapshot(start)) }
}

fn observed(kind: EventKind) -> NewEvent {
    NewEvent { session: None, origin: Origin::observed(), kind }
}

fn a_run(key: &str, start: u64, end: u64) -> NewEvent {
    observed(EventKind::Run(Box::new(run(key, start, end))))
}

fn damage(what: &str) -> NewEvent {
    observed(EventKind::Damage(Damage { what: what.to_owned() }))
}

fn ids(journal: &Journal) -> Vec<String> {
    let event = |line| if let JournalLine::Event(event) = line { Some(event.id) } else { None };
    journal.events().unwrap().filter_map(event).collect()
}

fn oids() -> impl Strategy<Value = Oid> {
    prop_oneof![(0..4u64).prop_map(oid), Just(Oid::empty_tree(true))]
}

fn paths() -> impl Strategy<Value = Vec<RepoPath>> {
    prop::collection::vec(prop::collection::vec(1u8..=255, 1..6).prop_map(RepoPath::new), 0..3)
}

fn snapshots() -> impl Strategy<Value = KeptSnapshot> {
    (prop::option::of(oids()), oids(), paths(), paths(), paths(), paths()).prop_map(
        |(head, tree, untracked, hidden, opaque, left_behind)| KeptSnapshot {
            head,
            untracked,
            hidden,
            opaque,
            left_behind,
            ..KeptSnapshot::of_tree(tree)
        },
    )
}

fn commands() -> impl Strategy<Value = CommandRef> {
    (prop::option::of("[a-c]"), any::<String>(), "[k-m]").prop_map(|(name, line, key)| CommandRef {
        name,
        line,
        dir: RepoPath::default(),
        key,
    })
}

fn runs() -> impl Strategy<Value = Run> {
    let ended =
        prop_oneof![any::<i32>().prop_map(Ended::Exited), (1..65).prop_map(Ended::Signalled), Just(Ended::NotStarted)];
    let report = (any::<String>(), any::<u64>(), any::<u64>(), any::<u64>())
        .prop_map(|(runner, passed, failed, skipped)| RunReport { runner, passed, failed, skipped });
    let rest = (
        paths(),
        ended,
        any::<u64>(),
        prop::option::of(report),
        (prop::option::of(any::<String>()), any::<String>()),
        any::<String>(),
    );
    (commands(), snapshots(), snapshots(), rest).prop_map(
        |(command, start, end, (changed, ended, millis, report, (masked, tail), policy))| Run {
            end,
            logs: changed.clone(),
            changed,
            ended,
            millis,
            report,
            masked,
            tail,
            policy,
            ..Run::passed(command, start)
        },
    )
}

fn moments() -> impl Strategy<Value = Moment> {
    prop_oneof![Just(Moment::Stop), Just(Moment::Push), Just(Moment::Commit)]
}

fn verdicts() -> impl Strategy<Value = Judged> {
    let failing = ("[g-i]", "[xy]", any::<bool>()).prop_map(|(gate, fingerprint, blocks)| FailingGate {
        gate,
        fingerprint,
        blocks,
    });
    let (trees, failing) = (prop::collection::vec(oids(), 0..3), prop::collection::vec(failing, 0..3));
    (any::<String>(), moments(), trees, failing, any::<bool>(), any::<u32>()).prop_map(
        |(verdict, moment, trees, failing, blocked, attempt)| Judged {
            commits: trees.clone(),
            verdict,
            trees,
            failing,
            blocked,
            attempt,
            ..Judged::at(moment)
        },
    )
}

fn kinds() -> impl Strategy<Value = EventKind> {
    let git = (any::<String>(), any::<String>(), prop::option::of(oids()), prop::option::of(oids()), any::<String>());
    prop_oneof![
        commands().prop_map(|command| EventKind::RunStarted(RunStarted { command })),
        runs().prop_map(|run| EventKind::Run(Box::new(run))),
        verdicts().prop_map(EventKind::Judged),
        ("[g-i]", oids(), any::<String>(), any::<String>())
            .prop_map(|(gate, tree, reason, by)| EventKind::Waived(Waived { gate, tree, reason, by })),
        git.prop_map(|(action, reference, old, new, message)| {
            EventKind::Git(GitEvent { action, reference, old, new, message })
        }),
        (prop::option::of(any::<String>()), any::<String>()).prop_map(|(call, text)| {
            EventKind::Work(Box::new(AgentWork { actor: None, call, head: None, act: Act::Said(text) }))
        }),
        ("[a-c]", any::<String>(), oids(), any::<i32>(), prop::collection::vec(any::<String>(), 0..3)).prop_map(
            |(key, line, tree, status, signature)| {
                EventKind::Trial(Trial { key, line, tree, ended: Ended::Exited(status), signature })
            }
        ),
        any::<String>().prop_map(|what| EventKind::Damage(Damage { what })),
        (prop::collection::vec(1..100_u64, 0..3), 0..9_u64).prop_map(|(damaged, faults)| {
            EventKind::Repaired(Repaired { cut: Vec::new(), edited: Vec::new(), damaged, faults })
        }),
        ("z[a-z]*", any::<String>(), any::<u64>()).prop_map(|(kind, text, number)| EventKind::Unknown {
            kind,
            data: serde_json::json!({ "text": text, "number": number, "list": [null, true] }),
        }),
    ]
}

fn new_events() -> impl Strategy<Value = NewEvent> {
    let grades = prop_oneof![
        Just(Grade::Claimed),
        Just(Grade::Transcribed),
        Just(Grade::Hooked),
        Just(Grade::Observed),
        Just(Grade::Attested),
        Just(Grade::Ci)
    ];
    (prop::option::of("[st]"), any::<String>(), grades, kinds()).prop_map(|(session, by, grade, kind)| NewEvent {
        session,
        origin: Origin { by, grade },
        kind,
    })
}
