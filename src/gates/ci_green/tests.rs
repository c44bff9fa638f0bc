use super::*;
use crate::fact::hosting::{Trouble, TroubleKind};
use crate::gates::finding_text::plain;
use crate::gates::tests as examples;
use crate::policy::ModeFrom;

const ACTIONS: u64 = 15_368;

fn gate(params: &str) -> Gate {
    examples::gate_with("ci-green", params)
}

fn hosting(list: Vec<Check>) -> Hosting {
    Hosting { checks: ForgeAnswer::Known(Checks { list, missing: Vec::new() }), ..examples::hosting() }
}

fn requiring(mut hosting: Hosting, names: &[(&str, Option<u64>)]) -> Hosting {
    hosting.required =
        ForgeAnswer::Known(names.iter().map(|&(name, app)| RequiredStatus { name: name.to_owned(), app }).collect());
    hosting
}

fn ask(gate: &Gate, moment: Moment, hosting: Hosting) -> Finding {
    examples::judge(gate, &Facts { hosting: Some(hosting), ..Facts::at(moment) })
}

fn stop(list: Vec<Check>) -> (Answer, String) {
    let finding = ask(&gate(""), Moment::Stop, hosting(list));
    (finding.answer, finding.reason)
}

fn job(name: &str, run: u64, conclusion: &str) -> Check {
    let done = !conclusion.is_empty();
    Check {
        name: name.to_owned(),
        app: Some(ACTIONS),
        workflow: Some(".github/workflows/ci.yml".to_owned()),
        event: Some("pull_request".to_owned()),
        run,
        id: run * 100 + u64::try_from(name.len()).unwrap(),
        status: if done { "completed" } else { "in_progress" }.to_owned(),
        conclusion: done.then(|| conclusion.to_owned()),
        ..Check::default()
    }
}

fn status(name: &str, id: u64, state: &str) -> Check {
    let done = state != "pending";
    Check {
        name: name.to_owned(),
        kind: CheckKind::Status,
        id,
        status: if done { "completed" } else { "pending" }.to_owned(),
        conclusion: done.then(|| state.to_owned()),
        ..Check::default()
    }
}

#[test]
fn the_whole_table_of_conclusions() {
    for (status, conclusion, answer, reason) in [
        ("completed", Some("success"), Answer::Pass, "green"),
        ("completed", Some("skipped"), Answer::Pass, "green"),
        ("completed", Some("neutral"), Answer::Pass, "green"),
        ("completed", Some("failure"), Answer::Fail, "red"),
        ("completed", Some("timed_out"), Answer::Fail, "red"),
        ("completed", Some("cancelled"), Answer::Fail, "red"),
        ("completed", Some("action_required"), Answer::Fail, "red"),
        ("completed", Some("startup_failure"), Answer::Fail, "red"),
        ("completed", Some("stale"), Answer::Fail, "red"),
        ("completed", Some("error"), Answer::Fail, "red"),
        ("completed", Some("a_new_word"), Answer::Pending, "pending"),
        ("completed", Some(""), Answer::Pending, "pending"),
        ("completed", Some("SUCCESS"), Answer::Pending, "pending"),
        ("completed", None, Answer::Pending, "pending"),
        ("queued", None, Answer::Pending, "pending"),
        ("in_progress", None, Answer::Pending, "pending"),
        ("waiting", None, Answer::Pending, "pending"),
        ("requested", None, Answer::Pending, "pending"),
        ("pending", None, Answer::Pending, "pending"),
        ("", None, Answer::Pending, "pending"),
        ("a_new_word", None, Answer::Pending, "pending"),
        // A conclusion of an attempt that is being made again says nothing.
        ("in_progress", Some("success"), Answer::Pending, "pending"),
        ("queued", Some("failure"), Answer::Pending, "pending"),
    ] {
        for kind in [CheckKind::Run, CheckKind::Status] {
            let check = Check {
                kind,
                status: status.to_owned(),
                conclusion: conclusion.map(str::to_owned),
                ..job("build", 1, "success")
            };
            assert_eq!(stop(vec![check]), (answer, reason.to_owned()), "{kind:?} {status} {conclusion:?}");
        }
    }
}

#[test]
fn in_ci_what_is_pending_cannot_be_judged() {
    for list in [vec![job("a", 1, "")], vec![], vec![status("s", 1, "pending")]] {
        let finding = ask(&gate(""), Moment::Ci, hosting(list));
        assert_eq!(finding.answer, Answer::Unknown, "{finding:?}");
        assert!(WAITING.contains(&finding.reason.as_str()));
    }
}

#[test]
fn red_outweighs_pending_and_pending_outweighs_green() {
    let (green, red, open) = (job("a", 1, "success"), job("b", 1, "failure"), job("c", 1, ""));
    assert_eq!(stop(vec![green.clone(), red.clone(), open.clone()]).1, "red");
    assert_eq!(stop(vec![green.clone(), open]).1, "pending");
    assert_eq!(stop(vec![green]).1, "green");
    let finding = ask(&gate(""), Moment::Stop, hosting(vec![job("a", 1, "success"), job("build (windows)", 1, "")]));
    assert_eq!(finding.message, "1 of 2 checks pending on 1111111 (this head): build (windows)");
}

#[test]
fn nothing_at_all_is_not_green() {
    assert_eq!(stop(Vec::new()), (Answer::Pending, "none".to_owned()));
}

#[test]
fn the_newest_run_of_a_workflow_counts_with_all_its_jobs() {
    let other_workflow = Check { workflow: Some(".github/workflows/other.yml".to_owned()), ..job("a", 1, "failure") };
    let other_event = Check { event: Some("push".to_owned()), ..job("a", 1, "failure") };
    let no_workflow =
        |run, conclusion| Check { workflow: None, app: Some(7), event: None, ..job("a", run, conclusion) };
    let other_app = Check { app: Some(8), ..no_workflow(1, "failure") };
    for (what, list, reason) in [
        (
            "an older failure is undone by a newer success",
            vec![job("a", 1, "failure"), job("a", 2, "success")],
            "green",
        ),
        ("in whichever order", vec![job("a", 2, "success"), job("a", 1, "failure")], "green"),
        ("an older success by a newer failure", vec![job("a", 1, "success"), job("a", 2, "failure")], "red"),
        ("and by a run that is not done", vec![job("a", 1, "success"), job("a", 2, "")], "pending"),
        ("a job that went from the newer run is gone", vec![job("b", 1, "failure"), job("a", 2, "success")], "green"),
        ("another workflow with a job of that name", vec![other_workflow, job("a", 2, "success")], "red"),
        ("another event", vec![other_event, job("a", 2, "success")], "red"),
        ("several jobs of one name in one run", vec![job("a", 1, "success"), job("a", 1, "failure")], "red"),
        ("skipping undoes no failure", vec![job("a", 1, "failure"), job("a", 2, "skipped")], "red"),
        ("skipping twice neither", vec![job("a", 1, "failure"), job("a", 2, "skipped"), job("a", 3, "skipped")], "red"),
        (
            "a success in between does",
            vec![job("a", 1, "failure"), job("a", 2, "success"), job("a", 3, "skipped")],
            "green",
        ),
        ("an app without workflows, again", vec![no_workflow(1, "failure"), no_workflow(2, "success")], "green"),
        ("an app without workflows, and another", vec![other_app, no_workflow(2, "success")], "red"),
        ("a status again", vec![status("s", 1, "failure"), status("s", 2, "success")], "green"),
        ("a status and a run of one name", vec![status("a", 9, "failure"), job("a", 2, "success")], "red"),
        ("a pending status beside green runs", vec![status("s", 1, "pending"), job("a", 2, "success")], "pending"),
    ] {
        assert_eq!(stop(list).1, reason, "{what}");
    }
}

#[test]
fn a_workflow_without_jobs_counts_too() {
    let run = |run, status: &str, conclusion: Option<&str>| Check {
        kind: CheckKind::Workflow,
        status: status.to_owned(),
        conclusion: conclusion.map(str::to_owned),
        ..job("CI", run, "success")
    };
    for (what, list, reason) in [
        ("bad YAML", vec![run(1, "completed", Some("startup_failure"))], "red"),
        ("a fork waits", vec![run(1, "completed", Some("action_required"))], "approval"),
        ("it waits in a queue", vec![run(1, "queued", None), status("s", 1, "success")], "pending"),
        ("a newer one waits", vec![run(2, "queued", None), job("a", 1, "success")], "pending"),
        ("an older one is forgotten", vec![run(1, "completed", Some("cancelled")), job("a", 2, "success")], "green"),
    ] {
        assert_eq!(stop(list).1, reason, "{what}");
    }
    // It is not a report of the name that is required.
    let waiting = requiring(hosting(vec![run(1, "completed", Some("success"))]), &[("CI", None)]);
    assert_eq!(ask(&gate(""), Moment::Stop, waiting).reason, "absent");
}

#[test]
fn what_is_required_must_report() {
    let green = || vec![job("build", 1, "success")];
    for (what, list, required, params, reason) in [
        ("it has", green(), vec![("build", None)], "", "green"),
        ("it has not", green(), vec![("test", None)], "", "absent"),
        ("by another app", green(), vec![("build", Some(7))], "", "absent"),
        ("by that app", green(), vec![("build", Some(ACTIONS))], "", "green"),
        (
            "a status is not a report of an app",
            vec![status("build", 1, "success")],
            vec![("build", Some(7))],
            "",
            "absent",
        ),
        ("it was skipped, which a forge takes", vec![job("build", 1, "skipped")], vec![("build", None)], "", "green"),
        ("but the policy does not", vec![job("build", 1, "skipped")], vec![], "required = ['build']", "red"),
        ("neutral neither", vec![job("build", 1, "neutral")], vec![], "required = ['build']", "red"),
        ("the policy names another", green(), vec![], "required = ['test']", "absent"),
        (
            "others count as well",
            vec![job("build", 1, "success"), job("lint", 1, "failure")],
            vec![("build", None)],
            "",
            "red",
        ),
        (
            "unless they do not",
            vec![job("build", 1, "success"), job("lint", 1, "failure")],
            vec![("build", None)],
            "only_required = true",
            "green",
        ),
        ("or are left out", [green(), vec![job("x/y", 1, "failure")]].concat(), vec![], "ignore = ['x/*']", "green"),
        ("where nothing is required all count", vec![job("a", 1, "failure")], vec![], "only_required = true", "red"),
        ("nothing at all", vec![], vec![("build", None)], "", "absent"),
        ("other words for green", vec![job("a", 1, "skipped")], vec![], "green = ['success']", "pending"),
    ] {
        let finding = ask(&gate(params), Moment::Stop, requiring(hosting(list), &required));
        assert_eq!(finding.reason, reason, "{what}");
    }
}

#[test]
fn a_named_check_proves_only_by_success_of_its_newest_report() {
    let own = Check { own: true, ..job("test", 1, "success") };
    let other = Check { workflow: Some("other".to_owned()), ..job("test", 1, "failure") };
    for (what, list, proven) in [
        ("success", vec![job("test", 1, "success")], true),
        ("a status", vec![status("test", 1, "success")], true),
        ("nothing", vec![], false),
        ("another name", vec![job("tests", 1, "success")], false),
        ("skipped", vec![job("test", 1, "skipped")], false),
        ("skipped after a success", vec![job("test", 1, "success"), job("test", 2, "skipped")], false),
        ("a newer failure", vec![job("test", 1, "success"), job("test", 2, "failure")], false),
        ("an older failure", vec![job("test", 1, "failure"), job("test", 2, "success")], true),
        ("red elsewhere", vec![job("test", 1, "success"), other], false),
        ("still running", vec![job("test", 1, "")], false),
        ("the asking job", vec![own], false),
    ] {
        assert_eq!(succeeded(&Checks { list, missing: Vec::new() }, &[], "test"), proven, "{what}");
    }
    // Of one app, where the forge wants it of that app.
    let of =
        |app| [RequiredStatus { name: "test".to_owned(), app }, RequiredStatus { name: "a".to_owned(), app: Some(9) }];
    for (what, list, app, proven) in [
        ("of that app", vec![job("test", 1, "success")], Some(ACTIONS), true),
        ("of another", vec![job("test", 1, "success")], Some(7), false),
        ("of any", vec![status("test", 1, "success")], None, true),
        ("a status of that name", vec![status("test", 1, "success")], Some(ACTIONS), false),
        ("and one beside it", vec![status("test", 1, "success"), job("test", 1, "failure")], Some(ACTIONS), false),
    ] {
        assert_eq!(succeeded(&Checks { list, missing: Vec::new() }, &of(app), "test"), proven, "{what}");
    }
}

#[test]
fn the_asking_job_does_not_count() {
    let own = Check { own: true, ..job("gate", 1, "") };
    assert_eq!(stop(vec![own.clone(), job("a", 1, "success")]).1, "green");
    assert_eq!(stop(vec![own.clone(), job("a", 1, "failure")]).1, "red");
    // It is not in the same run as what it waits for, so it must not make that run the newest.
    assert_eq!(stop(vec![Check { own: true, ..job("gate", 2, "") }, job("a", 1, "failure")]).1, "red");
    // What it said itself in an earlier run of the same is not held against it; the same words of others are.
    let again = Check { own: true, ..job("gate", 3, "") };
    for former in ["failure", "cancelled", "action_required"] {
        let before = [job("gate", 1, former), job("gate", 2, former)];
        let with = |more: Check| stop([&[again.clone(), more], &before[..]].concat()).1;
        assert_eq!(with(job("a", 3, "success")), "green", "{former}");
        assert_eq!(with(job("a", 1, "failure")), "red", "{former}");
        assert_eq!(with(Check { workflow: Some("other".to_owned()), ..job("gate", 2, former) }), "red", "{former}");
        assert_eq!(with(Check { event: Some("push".to_owned()), ..job("gate", 2, former) }), "red", "{former}");
        assert_eq!(with(Check { id: 9999, ..job("gate", 3, former) }), "red", "{former}");
    }
    let jobless = Check { kind: CheckKind::Workflow, ..job("the workflow", 2, "cancelled") };
    let alone = ask(&gate(""), Moment::Ci, hosting(vec![again, job("gate", 1, "cancelled"), jobless]));
    assert_eq!((alone.answer, alone.reason.as_str()), (Answer::Skip, "alone"));
    let alone = ask(&gate(""), Moment::Ci, hosting(vec![own.clone()]));
    assert_eq!((alone.answer, alone.reason.as_str()), (Answer::Skip, "alone"));
    // It cannot wait for itself.
    let required = requiring(hosting(vec![own, job("a", 1, "success")]), &[("gate", None), ("a", None)]);
    assert_eq!(ask(&gate(""), Moment::Ci, required).reason, "green");
}

fn trouble(kind: TroubleKind) -> Trouble {
    Trouble { kind, what: "it said no".to_owned(), needs: Some("checks: read".to_owned()) }
}

#[test]
fn what_cannot_be_read_is_never_green() {
    let unreadable = |kind| Hosting { checks: ForgeAnswer::Unreadable(trouble(kind)), ..hosting(Vec::new()) };
    for kind in [
        TroubleKind::Offline,
        TroubleKind::Timeout,
        TroubleKind::Unauthorized,
        TroubleKind::Forbidden,
        TroubleKind::RateLimited,
        TroubleKind::NotFound,
        TroubleKind::Server,
        TroubleKind::Malformed,
        TroubleKind::Moved,
    ] {
        let finding = ask(&gate(""), Moment::Stop, unreadable(kind));
        assert_eq!((finding.answer, finding.reason.as_str()), (Answer::Unknown, "unreadable"), "{kind:?}");
        assert!(finding.message.contains("checks: read"), "{}", finding.message);
        // Let through, and recorded, only where the policy says so, only for outages, and never in CI.
        let let_through = if kind.is_outage() { Answer::Pending } else { Answer::Unknown };
        assert_eq!(ask(&gate("offline = 'warn'"), Moment::Stop, unreadable(kind)).answer, let_through, "{kind:?}");
        assert_eq!(ask(&gate("offline = 'warn'"), Moment::Ci, unreadable(kind)).answer, Answer::Unknown);
        // Whoever did not ask for the gate is not stopped by a forge.
        let default = Gate { mode_from: ModeFrom::Default, ..gate("") };
        assert_eq!(ask(&default, Moment::Stop, unreadable(kind)).answer, Answer::Pending);
        assert_eq!(ask(&default, Moment::Ci, unreadable(kind)).answer, Answer::Unknown);
    }
}

#[test]
fn a_list_that_may_be_incomplete_is_not_green_and_may_be_red() {
    let partial = |list| {
        let checks = Checks { list, missing: vec![trouble(TroubleKind::Forbidden)] };
        Hosting { checks: ForgeAnswer::Known(checks), ..hosting(Vec::new()) }
    };
    for (list, answer, reason) in [
        (vec![job("a", 1, "success")], Answer::Unknown, "incomplete"),
        (vec![job("a", 1, "")], Answer::Unknown, "incomplete"),
        (vec![], Answer::Unknown, "incomplete"),
        (vec![job("a", 1, "failure")], Answer::Fail, "red"),
    ] {
        let finding = ask(&gate(""), Moment::Stop, partial(list.clone()));
        assert_eq!((finding.answer, finding.reason.as_str()), (answer, reason), "{list:?}");
        let unknown = Hosting { required: ForgeAnswer::Unreadable(trouble(TroubleKind::Forbidden)), ..hosting(list) };
        assert_eq!(ask(&gate(""), Moment::Stop, unknown).answer, answer);
    }
}

#[test]
fn a_commit_that_was_not_pushed_has_no_checks_to_ask_for() {
    let mut unpushed = hosting(vec![job("a", 1, "failure")]);
    unpushed.head.pushed = None;
    assert_eq!(ask(&gate(""), Moment::Stop, unpushed.clone()).reason, "unpushed");
    assert_eq!(ask(&gate(""), Moment::Ci, unpushed).reason, "red");
}

#[test]
fn names_are_shown_without_what_a_terminal_obeys() {
    let name = "a\u{1b}[2J\n::error::b\u{202e}c`$(id)`";
    let finding = ask(&gate(""), Moment::Stop, hosting(vec![job(name, 1, "failure")]));
    assert!(!finding.message.chars().any(|c| c.is_control() || c == '\u{202e}'), "{:?}", finding.message);
    assert!(finding.remedy.is_none() && finding.fix.is_some_and(|fix| !fix.contains("id")));
    assert_eq!(plain(&"x".repeat(200)).chars().count(), 81);
}

#[test]
fn malformed_params_are_errors_of_the_policy() {
    for (params, key) in [("ignore = ['a[']", "ignore"), ("reqired = []", "reqired"), ("offline = 'no'", "offline")] {
        let error = check(&toml::from_str(params).unwrap()).unwrap_err();
        assert_eq!(error.key.as_deref(), Some(key), "{}", error.what);
    }
}
