use super::*;
use crate::event::{Grade, RunReport, Waived};
use crate::fact::session_steps::Story;
use crate::fact::session_steps::test_builder::Tale;
use crate::gates::tests as examples;
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::{Mode, PathRules, PolicySource};

const TREE: &str = "1111111111111111111111111111111111111111";

fn command(name: &str, inputs: &[&str]) -> Command {
    Command {
        name: name.to_owned(),
        gate: "tests".to_owned(),
        run: format!("run-{name}"),
        dir: RepoPath::default(),
        inputs: PathRules::new(inputs, &["**/*.md"]).unwrap(),
        reports: Vec::new(),
        after_write: false,
    }
}

fn policy(commands: Vec<Command>) -> Policy {
    Policy { commands, gates: vec![examples::gate("tests")], ..Policy::empty(PolicySource::Defaults) }
}

fn paths(list: &[&str]) -> Vec<RepoPath> {
    list.iter().map(|path| RepoPath::from(*path)).collect()
}

fn subject(name: &str, changed: Option<&[&str]>) -> Subject {
    Subject {
        commit: Some(TREE.parse().unwrap()),
        tree: Some(TREE.parse().unwrap()),
        changed: changed.map(paths),
        ..Subject::empty(name)
    }
}

fn run(id: &str, exit: i32, differs: Option<&[&str]>) -> RunFact {
    RunFact {
        over_time: exit == 124,
        changed: Some(Vec::new()),
        differs: differs.map(paths),
        ..RunFact::new(id.to_owned(), Grade::Observed, Ended::Exited(exit), TREE.parse::<Oid>().unwrap())
    }
}

fn report(passed: u64, failed: u64) -> RunReport {
    RunReport { runner: "r".to_owned(), passed, failed, skipped: 3 }
}

/// Returns the finding for the only command of one subject.
fn ask(subject: Subject) -> Finding {
    ask_all(vec![subject]).remove(0)
}

fn ask_all(subjects: Vec<Subject>) -> Vec<Finding> {
    let facts = Facts { subjects, ..Facts::at(Moment::Stop) };
    crate::gates::judge(&policy(vec![command("test", &["**"])]), &facts).remove(0).findings
}

fn with_runs(runs: Vec<RunFact>) -> Finding {
    let mut subject = subject("HEAD", Some(&["src/lib.rs"]));
    subject.runs.insert("test".to_owned(), runs);
    ask(subject)
}

#[test]
fn a_run_beside_files_that_were_taken_out_of_git_shows_nothing_of_the_commit() {
    let left = |id: &str, paths_: &[&str]| RunFact { left_behind: paths(paths_), ..run(id, 0, Some(&[])) };
    let finding = with_runs(vec![left("b", &["src/gen.rs"])]);
    assert_eq!((finding.answer, finding.reason.as_str()), (Answer::Fail, "left-behind"));
    assert!(finding.message.contains("src/gen.rs"), "{}", finding.message);
    // Without them it passed as well: what is there now is made by it, or not needed.
    for runs in [
        vec![left("b", &["src/gen.rs"]), left("a", &[])],
        vec![left("b", &[]), left("a", &["src/gen.rs"])],
        vec![left("b", &["docs/conf.py"])],
    ] {
        let mut subject = subject("HEAD", Some(&["src/lib.rs"]));
        subject.runs.insert("test".to_owned(), runs);
        let facts = Facts { subjects: vec![subject], ..Facts::at(Moment::Stop) };
        let found = crate::gates::judge(&policy(vec![command("test", &["src/**"])]), &facts).remove(0).findings;
        assert_eq!(found[0].answer, Answer::Pass, "{}", found[0].message);
    }
}

#[test]
fn the_commands_that_cure_a_doubt_are_the_remedy() {
    let of = |why: &str| {
        let verbatim = RunFact { masked: Some(why.to_owned()), verbatim: true, ..run("a", 0, Some(&[])) };
        let found = with_runs(vec![verbatim]);
        (found.message, found.remedy, found.fix)
    };
    let (message, remedy, fix) = of("bytecode of other content of a.py: rm -- 'a b.pyc' && gate run test");
    assert!(message.ends_with("bytecode of other content of a.py"), "{message}");
    assert_eq!((remedy.as_deref(), fix), (Some("rm -- 'a b.pyc' && gate run test"), None));
    let (message, remedy, fix) = of("a.js is older than a.ts: build it, then: gate run test");
    assert!(message.ends_with("build it, then: gate run test"), "{message}");
    assert_eq!((remedy, fix), (None, None));
    assert!(of("its status is that of `tail`").2.is_some());
    let (_, remedy, fix) = of("a.py was edited while it ran; run it again");
    assert_eq!((remedy.as_deref(), fix), (Some("gate run test"), None));
    assert_eq!(of("it loaded /x/a.py; use an environment that loads the files of this one").2, None);
}

#[test]
fn tests_that_were_taken_for_the_command_are_named() {
    let story = |line: &str, status: i32| {
        let counts = if status == 0 { "2 passed in 0.10s" } else { "1 failed in 0.10s" };
        Tale::default().prompt("Fix it").ran(line, status, counts).story()
    };
    let of = |story: Story, runs: Vec<RunFact>, commands: Vec<Command>| {
        let mut subject = subject("HEAD", Some(&["src/lib.rs"]));
        subject.runs.insert("test".to_owned(), runs);
        let facts = Facts { subjects: vec![subject], story, ..Facts::at(Moment::Stop) };
        crate::gates::judge(&policy(commands), &facts).remove(0).findings.remove(0).message
    };
    let one = || vec![command("test", &["**"])];
    let two = || vec![command("test", &["**"]), command("web", &["web/**"])];
    let other = "; `pytest -q tests/a.py` passed, but ran only a part of the tests: tests/a.py";
    let line = "pytest -q tests/a.py";
    assert_eq!(of(story(line, 0), vec![], one()), format!("gate has seen no run of `run-test` on this content{other}"));
    let stale = of(story("A=1 run-test", 0), vec![run("a", 0, Some(&["src/lib.rs"]))], one());
    assert_eq!(stale, "src/lib.rs changed since `run-test` passed");
    let stale = of(story(line, 0), vec![run("a", 0, Some(&["src/lib.rs"]))], one());
    assert_eq!(stale, format!("src/lib.rs changed since `run-test` passed{other}"));
    for (story, runs, commands) in [
        (story(line, 1), vec![], one()),
        (story("run-test", 0), vec![], one()),
        (story("ls", 0), vec![], one()),
        (story(line, 0), vec![], two()),
        (Story::default(), vec![], one()),
    ] {
        let found = of(story, runs, commands);
        assert!(!found.contains("cannot know"), "{found}");
    }
}

#[test]
fn what_another_branch_changed_is_not_called_changed_here() {
    let of = |differs: &[&str]| {
        let mut subject = subject("b", Some(&["ci.yml"]));
        subject.runs.insert("test".to_owned(), vec![run("a", 0, Some(differs))]);
        ask(subject).message
    };
    let changed = "ci.yml changed since `run-test` passed";
    assert_eq!(of(&["ci.yml"]), changed);
    let others = "and that run had other versions of t.c, which this branch did not change";
    assert_eq!(of(&["ci.yml", "t.c"]), format!("{changed}, {others}"));
    assert_eq!(of(&["t.c"]), "t.c changed since `run-test` passed");
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn what_runs_show() {
    let changed = |paths_: &[&str], mut run: RunFact| {
        run.changed = Some(paths(paths_));
        run
    };
    let counted = |counts, mut run: RunFact| {
        run.report = Some(counts);
        run
    };
    let graded = |grade, mut run: RunFact| {
        run.grade = grade;
        run
    };
    let masked = |run: RunFact| RunFact { masked: Some("tail gives the status".to_owned()), ..run };
    let same: Option<&[&str]> = Some(&[]);
    let cases: Vec<(&str, Vec<RunFact>, Answer, &str)> = vec![
        ("nothing ran", vec![], Answer::Fail, "missing"),
        ("a pass on this content", vec![run("a", 0, same)], Answer::Pass, "passed"),
        (
            "a pass on this content, only documentation differs",
            vec![run("a", 0, Some(&["README.md"]))],
            Answer::Pass,
            "passed",
        ),
        (
            "what changed while it ran cannot be told",
            vec![RunFact { changed: None, ..run("a", 0, same) }],
            Answer::Fail,
            "missing",
        ),
        ("a pass on other content", vec![run("a", 0, Some(&["src/lib.rs"]))], Answer::Fail, "stale"),
        ("one byte away counts as other content", vec![run("a", 0, Some(&["x"]))], Answer::Fail, "stale"),
        ("its objects are gone", vec![run("a", 0, None)], Answer::Fail, "missing"),
        ("a failure on this content", vec![run("a", 101, same)], Answer::Fail, "failed"),
        (
            "who killed it is not the code",
            vec![RunFact { ended: Ended::Signalled(9), ..run("a", 0, same) }],
            Answer::Fail,
            "killed",
        ),
        ("a shell tells the signal", vec![run("a", 143, same)], Answer::Fail, "killed"),
        ("a time limit", vec![run("a", 124, same)], Answer::Fail, "killed"),
        ("tests failed before it was killed", vec![counted(report(1, 2), run("a", 143, same))], Answer::Fail, "failed"),
        (
            "a crash is a failure",
            vec![RunFact { ended: Ended::Signalled(11), ..run("a", 0, same) }],
            Answer::Fail,
            "failed",
        ),
        ("it never started", vec![RunFact { ended: Ended::NotStarted, ..run("a", 0, same) }], Answer::Fail, "failed"),
        ("a failure after a pass, same content", vec![run("b", 1, same), run("a", 0, same)], Answer::Fail, "failed"),
        ("a pass after a failure, same content", vec![run("b", 0, same), run("a", 1, same)], Answer::Unknown, "flaky"),
        ("a pass after a missing program", vec![run("b", 0, same), run("a", 127, same)], Answer::Pass, "passed"),
        ("an interrupt after a pass", vec![run("b", 130, same), run("a", 0, same)], Answer::Pass, "passed"),
        ("a time limit after a failure", vec![run("b", 124, same), run("a", 1, same)], Answer::Fail, "failed"),
        (
            "an interrupt after a pass on other content",
            vec![run("b", 130, same), run("a", 0, Some(&["src/lib.rs"]))],
            Answer::Fail,
            "killed",
        ),
        (
            "a test failed before the interrupt",
            vec![counted(report(1, 2), run("b", 143, same)), run("a", 0, same)],
            Answer::Fail,
            "failed",
        ),
        ("a pass after an interrupt", vec![run("b", 0, same), run("a", 130, same)], Answer::Pass, "passed"),
        (
            "a pass after a crash",
            vec![run("b", 0, same), RunFact { ended: Ended::Signalled(11), ..run("a", 0, same) }],
            Answer::Unknown,
            "flaky",
        ),
        (
            "a file that was not added",
            vec![RunFact { untracked: paths(&["src/b.rs"]), ..run("a", 0, Some(&["src/b.rs"])) }],
            Answer::Fail,
            "not-added",
        ),
        (
            "a pass after a failure of other content",
            vec![run("b", 0, same), run("a", 1, Some(&["src/a.rs"]))],
            Answer::Pass,
            "passed",
        ),
        (
            "a later run of other content does not matter",
            vec![run("b", 1, Some(&["src/a.rs"])), run("a", 0, same)],
            Answer::Pass,
            "passed",
        ),
        ("only failures of other content", vec![run("a", 1, Some(&["src/a.rs"]))], Answer::Fail, "missing"),
        ("edited while it ran", vec![changed(&["src/lib.rs"], run("a", 0, same))], Answer::Fail, "unsettled"),
        ("documentation edited while it ran", vec![changed(&["a.md"], run("a", 0, same))], Answer::Pass, "passed"),
        (
            "edited while it ran, but an older run holds",
            vec![changed(&["src/lib.rs"], run("b", 0, same)), run("a", 0, same)],
            Answer::Pass,
            "passed",
        ),
        ("counts say it failed", vec![counted(report(3, 1), run("a", 0, same))], Answer::Fail, "failed"),
        ("counts say nothing ran", vec![counted(report(0, 0), run("a", 0, same))], Answer::Fail, "vacuous"),
        ("counts say it passed", vec![counted(report(3, 0), run("a", 0, same))], Answer::Pass, "passed"),
        ("its status is that of tail", vec![masked(run("a", 0, same))], Answer::Fail, "masked"),
        (
            "its status is that of tail, and an older run showed more",
            vec![masked(run("b", 0, same)), run("a", 0, same)],
            Answer::Pass,
            "passed",
        ),
        (
            "its status is that of tail, and an older run showed a failure",
            vec![masked(run("b", 0, same)), run("a", 1, same)],
            Answer::Fail,
            "failed",
        ),
        ("its status is that of tail, and it is not zero", vec![masked(run("a", 1, same))], Answer::Fail, "failed"),
        ("a masked run of other content", vec![masked(run("a", 0, Some(&["src/lib.rs"])))], Answer::Fail, "missing"),
        ("a claim is worth nothing", vec![graded(Grade::Claimed, run("a", 0, same))], Answer::Fail, "low-grade"),
        ("a log is worth too little", vec![graded(Grade::Transcribed, run("a", 0, same))], Answer::Fail, "low-grade"),
        ("a hook is enough", vec![graded(Grade::Hooked, run("a", 0, same))], Answer::Pass, "passed"),
        (
            "a failing claim does not undo a pass",
            vec![graded(Grade::Claimed, run("b", 1, same)), run("a", 0, same)],
            Answer::Pass,
            "passed",
        ),
    ];
    for (what, runs, answer, reason) in cases {
        let finding = with_runs(runs);
        assert_eq!((finding.answer, finding.reason.as_str()), (answer, reason), "{what}: {}", finding.message);
        assert_ne!(finding.message, finding.reason, "{what}: the gate file has no words for it");
        let advised = finding.remedy.is_some() || finding.fix.is_some();
        assert_eq!(
            advised,
            finding.answer >= Answer::Unknown,
            "{what}: what to do is said when, and only when, something is wrong"
        );
    }
}

#[test]
fn the_nearest_tested_content_is_named() {
    let far = run("b", 0, Some(&["src/a.rs", "src/b.rs"]));
    let near = run("a", 0, Some(&["src/c.rs", "docs.md"]));
    let finding = with_runs(vec![far, near]);
    assert_eq!(finding.paths, paths(&["src/c.rs"]));
    assert_eq!(finding.message, "src/c.rs changed since `run-test` passed");
    assert_eq!(finding.remedy.as_deref(), Some("gate run test"));
    assert_eq!(finding.evidence, ["a"]);
}

#[test]
fn only_what_changed_asks() {
    let two = policy(vec![command("test", &["**", "!web/**"]), command("web-test", &["web/**"])]);
    let reasons = |changed: Option<&[&str]>| {
        let facts = Facts { subjects: vec![subject("HEAD", changed)], ..Facts::at(Moment::Stop) };
        crate::gates::judge(&two, &facts)
            .remove(0)
            .findings
            .into_iter()
            .map(|finding| finding.reason)
            .collect::<Vec<_>>()
    };
    assert_eq!(reasons(Some(&["web/app.ts"])), ["not-required", "missing"]);
    assert_eq!(reasons(Some(&["src/lib.rs"])), ["missing", "not-required"]);
    assert_eq!(reasons(Some(&["README.md", "web/README.md"])), ["not-required", "not-required"]);
    assert_eq!(reasons(Some(&[])), ["not-required", "not-required"]);
    assert_eq!(reasons(None), ["missing", "missing"], "what cannot be told counts as changed");
}

#[test]
fn content_that_no_tree_expresses_agrees_with_nothing() {
    let mut dirty_submodule = run("a", 0, Some(&[]));
    dirty_submodule.opaque = paths(&["vendor/lib"]);
    assert_eq!(with_runs(vec![dirty_submodule]).reason, "opaque");

    let mut here = subject("working tree", Some(&[]));
    here.opaque = paths(&["vendor/lib"]);
    here.runs.insert("test".to_owned(), vec![run("a", 0, Some(&[]))]);
    assert_eq!(ask(here).reason, "opaque");
}

#[test]
fn tested_but_not_committed() {
    let mut head = subject("HEAD", Some(&["src/lib.rs"]));
    head.runs.insert("test".to_owned(), vec![run("a", 0, Some(&["src/util.rs"]))]);
    let mut tree = subject("working tree", Some(&["src/lib.rs", "src/util.rs"]));
    tree.role = SubjectKind::WorkingTree;
    tree.runs.insert("test".to_owned(), vec![run("a", 0, Some(&[]))]);
    let findings = ask_all(vec![head, tree]);
    assert_eq!(findings[0].reason, "uncommitted");
    assert_eq!(findings[0].remedy, None, "nobody knows whether it belongs to the commit");
    let fix = findings[0].fix.as_deref().unwrap();
    assert!(fix.ends_with("git stash && (gate run test; git stash pop)"), "{fix}");
    assert_eq!(findings[1].reason, "passed");
}

#[test]
fn a_run_beside_other_changes_asks_for_one_of_the_commit_alone() {
    let commit = || Some(TREE.parse::<Oid>().unwrap());
    let on = |exit, differs: &[&str]| RunFact { head: commit(), ..run("b", exit, Some(differs)) };
    let elsewhere = |runs| {
        let mut other = subject("feature", Some(&["src/lib.rs"]));
        other.checked_out = Some(false);
        other.runs.insert("test".to_owned(), runs);
        ask(other).reason
    };
    let older = run("a", 0, Some(&["src/c.rs"]));
    let added = |run: RunFact| RunFact { untracked: paths(&["src/new.rs"]), ..run };
    for (runs, reason, stash) in [
        (vec![on(0, &["src/b.rs"])], "beside", "git stash && (gate run test; git stash pop)"),
        (vec![on(1, &["src/b.rs"])], "beside", "git stash && (gate run test; git stash pop)"),
        (vec![on(0, &["src/b.rs", "src/d.rs"]), older.clone()], "beside", "git stash && "),
        (vec![added(on(0, &["src/b.rs", "src/new.rs"]))], "beside", "list the rest in .gitignore, then: gate run test"),
        (vec![added(on(0, &["src/new.rs"]))], "not-added", "list the rest in .gitignore, then: gate run test"),
        (vec![added(on(1, &["src/new.rs"]))], "beside", "list the rest in .gitignore, then: gate run test"),
    ] {
        let finding = with_runs(runs);
        assert_eq!(finding.reason, reason, "{}", finding.message);
        assert!(finding.fix.as_deref().unwrap().contains(stash), "{finding:?}");
        assert!(!finding.fix.unwrap().contains("git add --"));
    }
    let lock = with_runs(vec![on(0, &["Cargo.lock"])]).fix.unwrap();
    assert!(lock.starts_with("commit it as the run left it: git add -- Cargo.lock && git commit -m"), "{lock}");
    assert_eq!(with_runs(vec![on(0, &["docs.md"])]).reason, "passed");
    assert_eq!(with_runs(vec![older.clone(), on(0, &["src/b.rs"])]).reason, "stale", "a later run was elsewhere");
    assert_eq!(elsewhere(vec![on(0, &["src/b.rs"])]), "stale", "checking it out leaves the rest behind");
}

#[test]
fn a_command_whose_folder_is_nowhere_is_not_passed_over() {
    let ask = |changed: &[&str], folderless: &[&str]| {
        let policy = policy(vec![command("web", &["web/**"])]);
        let folderless = folderless.iter().map(|&name| name.to_owned()).collect();
        let facts = Facts { subjects: vec![subject("HEAD", Some(changed))], folderless, ..Facts::at(Moment::Stop) };
        let finding = crate::gates::judge(&policy, &facts).remove(0).findings.remove(0);
        (finding.answer, finding.reason)
    };
    assert_eq!(ask(&["a"], &["web"]), (Answer::Unknown, "astray".to_owned()));
    assert_eq!(ask(&["a"], &["other"]).1, "not-required");
    assert_eq!(ask(&["web/a"], &["web"]).1, "missing", "it is asked for all the same");
}

#[test]
fn what_each_run_writes_is_named_as_that() {
    let writes = |id: &str, path: &str| RunFact { changed: Some(paths(&[path])), ..run(id, 0, Some(&[])) };
    let once = with_runs(vec![writes("b", "out.db"), writes("a", "src/lib.rs")]);
    assert_eq!((once.reason.as_str(), once.remedy.as_deref(), once.fix), ("unsettled", Some("gate run test"), None));
    let again = with_runs(vec![writes("b", "out.db"), writes("a", "out.db")]);
    assert_eq!((again.reason.as_str(), again.remedy), ("unsettled", None));
    assert!(again.fix.unwrap().contains(".gitignore"));
}

#[test]
fn only_a_commit_that_is_known_to_fail_is_told_to_take_the_rest() {
    let ask = |untracked: &[&str]| {
        let mut head = subject("HEAD", Some(&["src/b.rs"]));
        let good = RunFact { untracked: paths(untracked), ..run("b", 0, Some(&["src/a.rs"])) };
        head.runs.insert("test".to_owned(), vec![good.clone(), run("a", 1, Some(&[]))]);
        let mut tree = subject("working tree", Some(&["src/a.rs"]));
        tree.role = SubjectKind::WorkingTree;
        tree.runs.insert("test".to_owned(), vec![RunFact { differs: Some(Vec::new()), ..good }]);
        ask_all(vec![head, tree]).remove(0)
    };
    assert_eq!(ask(&[]).remedy.as_deref(), Some("git add -- src/a.rs && git commit"));
    assert_eq!(ask(&["src/a.rs"]).remedy, None, "nobody names what was never added");
}

#[test]
fn a_changed_declaration_voids_what_the_old_one_proved() {
    let mut head = subject("HEAD", Some(&["src/lib.rs"]));
    head.former_lines.insert("test".to_owned(), "make test".to_owned());
    let finding = ask(head);
    assert_eq!(finding.reason, "redeclared");
    assert!(finding.message.contains("make test"), "{}", finding.message);
}

#[test]
fn a_branch_that_is_not_checked_out_is_named_in_the_remedy() {
    let mut other = subject("feature", Some(&["src/lib.rs"]));
    other.branch = Some("feature".to_owned());
    other.checked_out = Some(false);
    assert_eq!(ask(other).remedy.as_deref(), Some("git switch feature && gate run test"));
}

#[test]
fn without_a_declared_command_source_changes_are_said() {
    let facts = |changed: &[&str]| Facts { subjects: vec![subject("HEAD", Some(changed))], ..Facts::at(Moment::Stop) };
    let result = crate::gates::judge(&policy(Vec::new()), &facts(&["src/lib.rs"])).remove(0);
    assert_eq!((result.answer, result.findings[0].reason.as_str()), (Answer::Unknown, "undeclared"));
    assert_eq!(crate::gates::judge(&policy(Vec::new()), &facts(&["a.md"])).remove(0).answer, Answer::Skip);
}

#[test]
fn a_waiver_holds_for_one_gate_and_one_content() {
    let waiver = |gate: &str, tree: &str| Waived {
        gate: gate.to_owned(),
        tree: tree.parse().unwrap(),
        reason: "why".to_owned(),
        by: "who".to_owned(),
    };
    let answer = |waivers: Vec<Waived>| {
        let facts = Facts { subjects: vec![subject("HEAD", Some(&["a"]))], waivers, ..Facts::at(Moment::Stop) };
        crate::gates::judge(&policy(vec![command("test", &["**"])]), &facts).remove(0).answer
    };
    assert_eq!(answer(vec![waiver("tests", TREE)]), Answer::Waived);
    assert_eq!(answer(vec![waiver("build", TREE)]), Answer::Fail);
    assert_eq!(answer(vec![waiver("tests", &TREE.replace('1', "2"))]), Answer::Fail);
}

#[test]
fn a_gate_that_is_off_or_of_another_moment_is_not_asked() {
    let mut policy = policy(vec![command("test", &["**"])]);
    let facts =
        Facts { moment: Moment::Commit, subjects: vec![subject("HEAD", Some(&["a"]))], ..Facts::at(Moment::Stop) };
    assert!(crate::gates::judge(&policy, &facts).is_empty());
    policy.gates[0].mode = Mode::Off;
    assert!(crate::gates::judge(&policy, &Facts { moment: Moment::Stop, ..facts }).is_empty());
}

#[test]
fn what_was_red_before_the_work_and_is_fixed_in_it() {
    let reasons = |head: &[&str], later: i32| {
        let mut head = subject("HEAD", Some(head));
        head.runs.insert("test".to_owned(), vec![run("b", later, Some(&["src/a.rs"])), run("a", 1, Some(&[]))]);
        let mut tree = subject("working tree", Some(&["src/a.rs"]));
        tree.role = SubjectKind::WorkingTree;
        tree.runs.insert("test".to_owned(), vec![run("b", later, Some(&[])), run("a", 1, Some(&["src/a.rs"]))]);
        ask_all(vec![head, tree]).into_iter().map(|finding| finding.reason).collect::<Vec<_>>()
    };
    assert_eq!(reasons(&[], 0), ["not-required", "passed"], "nobody hands the start over");
    assert_eq!(reasons(&[], 1), ["failed", "failed"]);
    assert_eq!(reasons(&["src/b.rs"], 0), ["uncommitted", "passed"], "a commit of its own");
}
