use super::*;
use crate::fact::hosting::{Landed, OtherBase, StartedFor, Trouble, TroubleKind};
use crate::gates::tests::{self as examples, HEAD};
use crate::policy::{ModeFrom, PolicySource};

const OTHER: &str = "2222222222222222222222222222222222222222";

fn gate(params: &str) -> Gate {
    examples::gate_with("pull-request", params)
}

fn pull(number: u64, state: PullState, head: &str) -> Pull {
    Pull {
        number,
        url: format!("https://github.com/o/r/pull/{number}"),
        state,
        draft: false,
        head: head.parse().unwrap(),
        head_branch: "feature".to_owned(),
        head_repository: Some("o/r".to_owned()),
        base_branch: "main".to_owned(),
    }
}

fn open() -> Pull {
    pull(7, PullState::Open, HEAD)
}

fn hosting(pulls: Vec<Pull>) -> Hosting {
    Hosting { pulls: ForgeAnswer::Known(pulls), ..examples::hosting() }
}

fn ask(params: &str, moment: Moment, hosting: Hosting) -> Finding {
    judge(&gate(params), moment, hosting)
}

fn judge(gate: &Gate, moment: Moment, hosting: Hosting) -> Finding {
    examples::judge(gate, &Facts { hosting: Some(hosting), ..Facts::at(moment) })
}

#[test]
fn every_state_has_its_answer() {
    let orphan = || Pull { head_repository: None, ..open() };
    let fork = || Pull { head_repository: Some("me/r".to_owned()), ..open() };
    let (stop, ci) = (Moment::Stop, Moment::Ci);
    let cases = [
        ("open at this commit", vec![open()], "", stop, Answer::Pass, "open"),
        ("the same one listed twice", vec![open(), open()], "", stop, Answer::Pass, "open"),
        ("a draft", vec![Pull { draft: true, ..open() }], "", stop, Answer::Pass, "open"),
        ("a draft refused", vec![Pull { draft: true, ..open() }], "draft = 'refuse'", stop, Answer::Fail, "draft"),
        ("none", vec![], "", stop, Answer::Pending, "none"),
        ("none and required", vec![], "required = true", stop, Answer::Fail, "none"),
        ("none in CI", vec![], "", ci, Answer::Fail, "none"),
        ("closed", vec![pull(6, PullState::Closed, HEAD)], "", stop, Answer::Fail, "closed"),
        ("closed, another commit", vec![pull(6, PullState::Closed, OTHER)], "", stop, Answer::Fail, "closed"),
        ("closed, and open again", vec![pull(6, PullState::Closed, HEAD), open()], "", stop, Answer::Pass, "open"),
        ("merged", vec![pull(6, PullState::Merged, HEAD)], "", stop, Answer::Pass, "merged"),
        ("merged, and work goes on", vec![pull(6, PullState::Merged, OTHER)], "", stop, Answer::Pending, "none"),
        (
            "closed before it was merged",
            vec![pull(5, PullState::Closed, OTHER), pull(6, PullState::Merged, OTHER)],
            "",
            stop,
            Answer::Pending,
            "none",
        ),
        ("several", vec![open(), Pull { number: 8, ..open() }], "", stop, Answer::Fail, "several"),
        (
            "of another branch",
            vec![Pull { head_branch: "Feature".to_owned(), ..open() }],
            "",
            stop,
            Answer::Pending,
            "none",
        ),
        ("of a fork with that branch", vec![fork()], "", stop, Answer::Pending, "none"),
        ("of a deleted fork", vec![orphan()], "", stop, Answer::Pending, "deleted-fork"),
        (
            "of a deleted fork, at another commit",
            vec![Pull { head: OTHER.parse().unwrap(), ..orphan() }],
            "",
            stop,
            Answer::Pending,
            "deleted-fork",
        ),
        ("of a deleted fork, and required", vec![orphan()], "required = true", stop, Answer::Fail, "deleted-fork"),
        ("of a deleted fork, and the job is not its own", vec![orphan()], "", ci, Answer::Fail, "deleted-fork"),
        (
            "of a deleted fork, and another is open",
            vec![orphan(), Pull { number: 8, ..open() }],
            "",
            stop,
            Answer::Pass,
            "open",
        ),
        (
            "of a deleted fork, and another was merged",
            vec![orphan(), pull(8, PullState::Merged, HEAD)],
            "",
            stop,
            Answer::Pass,
            "merged",
        ),
        (
            "merged from a fork that was deleted then",
            vec![Pull { state: PullState::Merged, ..orphan() }],
            "",
            stop,
            Answer::Pass,
            "merged",
        ),
        (
            "of a deleted fork, another branch",
            vec![Pull { head_branch: "x".to_owned(), ..orphan() }],
            "",
            stop,
            Answer::Pending,
            "none",
        ),
        (
            "of a deleted fork, closed",
            vec![Pull { state: PullState::Closed, ..orphan() }],
            "",
            stop,
            Answer::Pending,
            "none",
        ),
        (
            "spelt in capitals",
            vec![Pull { head_repository: Some("O/R".to_owned()), ..open() }],
            "",
            stop,
            Answer::Pass,
            "open",
        ),
        ("to another branch", vec![Pull { base_branch: "next".to_owned(), ..open() }], "", stop, Answer::Pass, "open"),
        ("to a branch that is not taken", vec![open()], "bases = ['release/*']", stop, Answer::Fail, "other-base"),
        ("to one that is", vec![open()], "bases = ['ma*']", stop, Answer::Pass, "open"),
        ("overtaken", vec![pull(7, PullState::Open, OTHER)], "", ci, Answer::Unknown, "moved"),
        ("the list lags behind", vec![pull(7, PullState::Open, OTHER)], "", stop, Answer::Pending, "lags"),
    ];
    for (what, pulls, params, moment, answer, reason) in cases {
        let finding = ask(params, moment, hosting(pulls));
        assert_eq!((finding.answer, finding.reason.as_str()), (answer, reason), "{what}: {}", finding.message);
        assert_ne!(finding.message, finding.reason, "{what}: no words");
        assert!(!finding.message.contains("{{"), "{}", finding.message);
    }
}

#[test]
fn a_fork_counts_where_the_branch_was_pushed_to_it() {
    let fork = Pull { head_repository: Some("me/r".to_owned()), ..open() };
    let mut from_fork = hosting(vec![fork]);
    from_fork.head.repository = Some("me/r".to_owned());
    assert_eq!(ask("", Moment::Stop, from_fork.clone()).reason, "open");
    assert_eq!(ask("forks = 'refuse'", Moment::Stop, from_fork.clone()).reason, "fork");
    // The default branch of a fork is not a protected place.
    from_fork.head.branch = Some("main".to_owned());
    assert_eq!(ask("", Moment::Stop, from_fork).reason, "none");
}

#[test]
fn what_a_job_was_started_for_is_known_by_its_number() {
    let started = |pull: Pull, params: &str, repository: Option<&str>| {
        let mut hosting = hosting(vec![pull]);
        hosting.started_for = Some(StartedFor { number: 7, base_branch: "main".to_owned() });
        hosting.head.repository = repository.map(str::to_owned);
        ask(params, Moment::Ci, hosting)
    };
    let orphan = Pull { head_repository: None, ..open() };
    // Deleted before the job was started, or since.
    for repository in [None, Some("me/r")] {
        let finding = started(orphan.clone(), "", repository);
        assert_eq!((finding.answer, finding.reason.as_str()), (Answer::Pass, "open"));
        assert!(finding.message.contains("was deleted"), "{}", finding.message);
        let refused = started(orphan.clone(), "forks = 'refuse'", repository);
        assert_eq!(refused.reason, "fork");
        assert!(refused.message.contains("comes from a repository that was deleted"), "{}", refused.message);
        let moved = started(Pull { head: OTHER.parse().unwrap(), ..orphan.clone() }, "", repository);
        assert_eq!((moved.answer, moved.reason.as_str()), (Answer::Unknown, "moved"));
    }
    // Renamed since.
    let renamed = Pull { head_repository: Some("me/new".to_owned()), ..open() };
    assert_eq!(started(renamed, "", Some("me/r")).reason, "open");
    // From the default branch of a fork that was deleted: nothing that pull requests go to.
    let mut of_main = hosting(vec![Pull { head_branch: "main".to_owned(), ..orphan }]);
    (of_main.head.branch, of_main.head.repository) = (Some("main".to_owned()), None);
    assert_eq!(ask("", Moment::Ci, of_main).reason, "deleted-fork");
}

#[test]
fn where_it_goes_is_pointed_out_where_nothing_speaks_for_it() {
    let to = |base: &str, known: Option<(bool, bool)>| {
        let mut hosting = hosting(vec![Pull { base_branch: base.to_owned(), ..open() }]);
        hosting.base = known.map(|(protected, proposed)| OtherBase { protected, proposed });
        hosting
    };
    let cases = [
        ("the default branch", to("main", None), "", Answer::Pass, "open"),
        ("a branch of which nothing is known", to("next", None), "", Answer::Pass, "open"),
        ("one that the forge protects", to("next", Some((true, false))), "", Answer::Pass, "open"),
        ("one that is proposed itself", to("step-1", Some((false, true))), "", Answer::Pass, "open"),
        ("any other", to("scratch", Some((false, false))), "", Answer::Pending, "unknown-base"),
        ("one that the policy names", to("scratch", Some((false, false))), "bases = ['scratch']", Answer::Pass, "open"),
        ("one beside those it names", to("x", Some((true, true))), "bases = ['main']", Answer::Fail, "other-base"),
    ];
    for (what, hosting, params, answer, reason) in cases {
        for moment in [Moment::Stop, Moment::Ci] {
            let finding = ask(params, moment, hosting.clone());
            assert_eq!((finding.answer, finding.reason.as_str()), (answer, reason), "{what}: {}", finding.message);
        }
    }
    let finding = ask("", Moment::Stop, to("scratch", Some((false, false))));
    assert!(finding.message.contains("goes to scratch, which is not main"), "{}", finding.message);
    assert!(finding.fix.as_deref().is_some_and(|fix| fix.contains("gh pr edit 7 --base main")), "{:?}", finding.fix);

    // What the policy protects by a pattern is a branch that work is meant for.
    let protected = examples::gate("protected-branch");
    let policy = Policy { gates: vec![gate(""), protected], ..Policy::empty(PolicySource::Defaults) };
    let facts = Facts { hosting: Some(to("release/1.2", Some((false, false)))), ..Facts::at(Moment::Stop) };
    assert_eq!(super::super::judge(&policy, &facts)[0].findings[0].reason, "open");
}

#[test]
fn what_goes_elsewhere_since_is_not_judged_by_the_former_base() {
    let mut retargeted = hosting(vec![Pull { base_branch: "release".to_owned(), ..open() }]);
    retargeted.started_for = Some(StartedFor { number: 7, base_branch: "main".to_owned() });
    let finding = ask("", Moment::Ci, retargeted);
    assert_eq!((finding.answer, finding.reason.as_str()), (Answer::Unknown, "other-goal"), "{}", finding.message);
    assert!(finding.message.contains("now goes to release, but this job judges it for main"), "{}", finding.message);
}

#[test]
fn what_was_not_pushed_is_not_in_it() {
    let mut behind = hosting(vec![pull(7, PullState::Open, OTHER)]);
    behind.head.pushed = Some(OTHER.parse().unwrap());
    let finding = ask("", Moment::Stop, behind);
    assert_eq!((finding.answer, finding.reason.as_str()), (Answer::Fail, "other-head"));
    assert_eq!(finding.message, "#7 is at 2222222, but the judged commit is 1111111");
    let mut never = hosting(Vec::new());
    never.head.pushed = None;
    assert_eq!(ask("", Moment::Stop, never).reason, "unpushed");
}

#[test]
fn where_there_is_none_to_be_had_none_is_asked_for() {
    let with = |change: &dyn Fn(&mut Hosting)| {
        let mut hosting = hosting(Vec::new());
        change(&mut hosting);
        ask("required = true", Moment::Ci, hosting).reason
    };
    assert_eq!(with(&|hosting| hosting.head.via = Via::MergeQueue), "merge-queue");
    assert_eq!(with(&|hosting| hosting.head.via = Via::Landed), "landed");
    assert_eq!(with(&|hosting| hosting.head.branch = None), "detached");
    assert_eq!(with(&|hosting| hosting.head.branch = Some("main".to_owned())), "default-branch");
}

#[test]
fn what_landed_was_merged_into_the_branch_it_landed_on() {
    let landed = |pulls: Vec<Pull>| {
        let mut hosting = hosting(Vec::new());
        hosting.head.via = Via::Landed;
        hosting.landed = vec![Landed { commit: HEAD.parse().unwrap(), pulls: ForgeAnswer::Known(pulls) }];
        let finding = ask("", Moment::Ci, hosting);
        (finding.answer, finding.reason)
    };
    let merged = |base: &str| Pull { base_branch: base.to_owned(), ..pull(7, PullState::Merged, HEAD) };
    assert_eq!(landed(vec![merged("main")]), (Answer::Pass, "brought".to_owned()));
    assert_eq!(landed(vec![merged("scratch"), merged("main")]), (Answer::Pass, "brought".to_owned()));
    for direct in [vec![], vec![open()], vec![pull(7, PullState::Closed, HEAD)], vec![merged("scratch")]] {
        assert_eq!(landed(direct), (Answer::Fail, "direct".to_owned()));
    }
}

#[test]
fn what_cannot_be_read_is_no_absence() {
    let trouble = Trouble { kind: TroubleKind::NotFound, what: "404".to_owned(), needs: None };
    let unreadable = || Hosting { pulls: ForgeAnswer::Unreadable(trouble.clone()), ..hosting(Vec::new()) };
    assert_eq!(ask("", Moment::Stop, unreadable()).answer, Answer::Unknown);
    assert_eq!(ask("offline = 'warn'", Moment::Stop, unreadable()).answer, Answer::Unknown);
    let default = Gate { mode_from: ModeFrom::AllGates, ..gate("") };
    let finding = judge(&default, Moment::Stop, unreadable());
    assert_eq!((finding.answer, finding.reason.as_str()), (Answer::Pending, "offline"));
}

#[test]
fn names_of_branches_reach_no_terminal_and_no_shell() {
    let mut hosting = hosting(Vec::new());
    hosting.head.branch = Some("x\u{1b}]0;t\u{7};$(id)".to_owned());
    let finding = ask("", Moment::Stop, hosting);
    assert!(!finding.message.chars().any(char::is_control), "{:?}", finding.message);
    assert_eq!(finding.remedy.as_deref(), Some("gh pr create --fill"));
}

#[test]
fn the_one_pull_request_of_this_commit_is_found() {
    assert_eq!(open_pull(&hosting(vec![open()])).map(|pull| pull.number), Some(7));
    assert_eq!(open_pull(&hosting(vec![open(), Pull { number: 8, ..open() }])), None);
    assert_eq!(open_pull(&hosting(vec![pull(7, PullState::Open, OTHER)])), None);
}
