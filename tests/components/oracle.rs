//! `gh` and `gate` before the same forge, state by state. Where they differ, `docs/ci-differences.md` says so and why,
//! and says nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::json;

use crate::clone::Clone;
use crate::gh::Gh;
use crate::graphql;
use crate::server::State;

/// How a state comes to be: of an open pull request on which nothing reports yet.
type Made = Box<dyn Fn(&mut State, &str)>;

fn state(made: impl Fn(&mut State, &str) + 'static) -> Made {
    Box::new(made)
}

/// Conclusions of a check run: <https://docs.github.com/en/graphql/reference/enums#checkconclusionstate>.
const CONCLUSIONS: &[&str] = &[
    "success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required", "stale", "startup_failure",
];
/// What a check run is before it has one.
const OPEN: &[&str] = &["queued", "in_progress", "waiting", "requested", "pending"];
/// A commit status has one word.
const STATUSES: &[&str] = &["success", "failure", "error", "pending"];

/// A run of workflow `workflow` with one job `name`.
fn ran(state: &mut State, workflow: u64, event: &str, head: &str, name: &str, conclusion: &str) {
    let run = state.workflow(workflow, event, head, "completed", Some(conclusion));
    state.job(run, name, head, "completed", Some(conclusion));
}

/// Two runs, one after the other: workflow, event, name of the job, conclusion.
fn jobs(runs: [(u64, &'static str, &'static str, &'static str); 2]) -> Made {
    state(move |state, head| {
        for (workflow, event, name, conclusion) in runs {
            ran(state, workflow, event, head, name, conclusion);
        }
    })
}

/// What comes after a run with this conclusion.
fn after<T>(conclusion: &'static str, then: impl Fn(&mut State, &str) -> T + 'static) -> Made {
    state(move |state, head| {
        ran(state, 1, "push", head, "build", conclusion);
        then(state, head);
    })
}

fn require(state: &mut State, name: &str) {
    state.rules.push(json!({
        "type": "required_status_checks",
        "ruleset_id": 1,
        "ruleset_source_type": "Repository",
        "ruleset_source": "o/r",
        "parameters": {
            "required_status_checks": [{ "context": name }],
            "strict_required_status_checks_policy": false,
        },
    }));
}

#[allow(clippy::too_many_lines, reason = "one table")]
fn states() -> Vec<(String, Made)> {
    let mut all: Vec<(String, Made)> = Vec::new();
    for &conclusion in CONCLUSIONS {
        all.push((
            format!("a check run that ended `{conclusion}`"),
            state(move |state, head| _ = state.done("build", head, conclusion)),
        ));
    }
    for &status in OPEN {
        all.push((
            format!("a check run that is `{status}`"),
            state(move |state, head| {
                let run = state.workflow(1, "push", head, status, None);
                state.job(run, "build", head, status, None);
            }),
        ));
    }
    for &word in STATUSES {
        all.push((format!("a commit status `{word}`"), state(move |state, _| state.status("build", word))));
    }
    let mut add = |name: &str, made: Made| all.push((name.to_owned(), made));
    add("nothing at all", state(|_, _| {}));
    add(
        "a failure, then a success of the same job by the same event",
        jobs([(1, "push", "build", "failure"), (1, "push", "build", "success")]),
    );
    add(
        "a success, then a failure of the same job by the same event",
        jobs([(1, "push", "build", "success"), (1, "push", "build", "failure")]),
    );
    add(
        "a failure by one event, a success by another",
        jobs([(1, "push", "build", "failure"), (1, "pull_request", "build", "success")]),
    );
    add(
        "a failure in one workflow, a success of that name in another",
        jobs([(1, "push", "build", "failure"), (2, "push", "build", "success")]),
    );
    add(
        "the same in two workflows that have one name, too",
        state(|state, head| {
            ran(state, 1, "push", head, "build", "failure");
            ran(state, 2, "push", head, "build", "success");
            for run in &mut state.runs {
                run["name"] = "ci".into();
            }
        }),
    );
    add(
        "two jobs of one name in one run, the first of them failed",
        state(|state, head| {
            let run = state.workflow(1, "push", head, "completed", Some("failure"));
            state.job(run, "build", head, "completed", Some("failure"));
            state.job(run, "build", head, "completed", Some("success"));
        }),
    );
    add(
        "a failure, then the same job skipped",
        jobs([(1, "push", "build", "failure"), (1, "push", "build", "skipped")]),
    );
    add(
        "a failure, then a run without that job",
        jobs([(1, "push", "build", "failure"), (1, "push", "test", "success")]),
    );
    add(
        "a success, and a run that could not start",
        after("success", |state, head| state.workflow(2, "push", head, "completed", Some("startup_failure"))),
    );
    add(
        "a success, and a run that waits for a person's approval",
        after("success", |state, head| state.workflow(2, "pull_request", head, "completed", Some("action_required"))),
    );
    add(
        "a success, and a run that is queued and has no job yet",
        after("success", |state, head| state.workflow(2, "push", head, "queued", None)),
    );
    add("a success and a pending status", after("success", |state, _| state.status("legacy", "pending")));
    add("a failure and something pending", after("failure", |state, _| state.status("legacy", "pending")));
    add("a success, and something required that did not report", after("success", |state, _| require(state, "e2e")));
    add(
        "more checks than one page holds, the last of them failed",
        state(|state, head| {
            for number in 0..120 {
                ran(state, number, "push", head, &format!("job {number}"), "success");
            }
            ran(state, 120, "push", head, "the last", "failure");
        }),
    );
    all
}

/// What gate says of the checks, in the words of [`Gh::checks`].
fn gate_checks(reason: &str) -> &str {
    match reason {
        "green" => "green",
        "red" => "not green",
        "pending" | "approval" | "absent" => "pending",
        "none" => "nothing",
        other => panic!("{other}"),
    }
}

/// The differences that are listed under a heading: state, what `gh` says, what gate says.
fn listed(heading: &str) -> BTreeMap<String, (String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ci-differences.md");
    let text = fs::read_to_string(path).unwrap();
    let (_, section) = text.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(1).filter(|line| !line.starts_with("| ---"));
    let rows = rows.map(|row| {
        let cells: Vec<String> = row.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
        assert!(cells.len() == 4 && cells.iter().all(|cell| !cell.is_empty()), "{row}");
        (cells[0].clone(), (cells[1].clone(), cells[2].clone()))
    });
    rows.collect()
}

#[test]
fn checks_differ_where_it_is_listed_and_nowhere_else() {
    let mut differ = BTreeMap::new();
    let mut seen = BTreeMap::new();
    for (what, made) in states() {
        let clone = Clone::strict();
        {
            let mut state = clone.server.state();
            state.unpublished = vec!["stale", "startup_failure"];
            state.pull(7, "o/r", "feature", &clone.head);
            made(&mut state, &clone.head);
        }
        let gh = Gh::beside(&clone).checks(7, &[]);
        let verdict = clone.check();
        let gate = gate_checks(verdict.reason("ci-green"));
        *seen.entry((gh, gate.to_owned())).or_insert(0) += 1;
        if gh != gate {
            differ.insert(what, (gh.to_owned(), gate.to_owned()));
        }
    }
    assert_eq!(differ, listed("Checks"), "{seen:?}");
    assert!(graphql::is_of_the_schema() > 0);
    // The table knows all answers, and most of them are the same.
    for word in ["green", "not green", "pending", "nothing"] {
        assert!(seen.contains_key(&(word, word.to_owned())), "{word}: {seen:?}");
    }
}

#[test]
fn pull_requests_differ_where_it_is_listed_and_nowhere_else() {
    const OTHER: &str = "3333333333333333333333333333333333333333";
    type Change = fn(&mut State, &str);
    let closed: Change = |state, head| {
        state.pull(7, "o/r", "feature", head)["state"] = "closed".into();
    };
    let merged: Change = |state, head| {
        let pull = state.pull(7, "o/r", "feature", head);
        pull["state"] = "closed".into();
        pull["merged_at"] = "2026-01-02T03:04:05Z".into();
    };
    let states: &[(&str, Change)] = &[
        ("none", |_, _| {}),
        ("open at this commit", |state, head| _ = state.pull(7, "o/r", "feature", head)),
        ("open at another commit", |state, _| _ = state.pull(7, "o/r", "feature", OTHER)),
        ("a draft at this commit", |state, head| state.pull(7, "o/r", "feature", head)["draft"] = true.into()),
        ("closed", closed),
        ("merged", merged),
        ("closed, and a new one open", |state, head| {
            state.pull(6, "o/r", "feature", head)["state"] = "closed".into();
            state.pull(7, "o/r", "feature", head);
        }),
        ("two open for one branch", |state, head| {
            state.pull(6, "o/r", "feature", head)["base"]["ref"] = "next".into();
            state.pull(7, "o/r", "feature", head);
        }),
        ("of a fork with a branch of that name", |state, head| _ = state.pull(7, "evil/r", "feature", head)),
        ("of another branch at this commit", |state, head| _ = state.pull(7, "o/r", "other", head)),
    ];
    let mut differ = BTreeMap::new();
    for (what, change) in states {
        let clone = Clone::strict();
        change(&mut clone.server.state(), &clone.head);
        let gh = Gh::beside(&clone).view("feature");
        let gh = match gh {
            None => "none",
            Some(pull) => {
                assert_eq!(pull["headRefName"], "feature", "{what}");
                match (pull["state"].as_str().unwrap(), pull["headRefOid"] == clone.head.as_str()) {
                    ("OPEN", true) => "open",
                    ("OPEN", false) => "open elsewhere",
                    ("CLOSED", _) => "closed",
                    ("MERGED", _) => "merged",
                    (other, _) => panic!("{other}"),
                }
            }
        };
        let verdict = clone.check();
        let gate = match verdict.reason("pull-request") {
            // The branch was pushed, and the answer is of before that.
            "lags" => "open elsewhere",
            other => other,
        };
        if gh != gate {
            differ.insert((*what).to_owned(), (gh.to_owned(), gate.to_owned()));
        }
    }
    assert_eq!(differ, listed("Pull requests"));
    graphql::is_of_the_schema();
}
