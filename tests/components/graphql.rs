//! What the small GitHub says to the questions that `gh` puts in GraphQL, out of the state from which it answers all
//! others. What was asked and said is held against the schema that GitHub publishes.
//!
//! Fields: <https://docs.github.com/en/graphql/reference/objects>. What is said of a commit is its roll-up: of each check
//! suite the latest check runs, and the statuses; a run of a workflow without check runs is in none.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use regex::Regex;
use serde_json::{Map, Value, json};

use crate::installed;
use crate::server::{ACTIONS, State};

/// How many nodes one answer has.
const PAGE: usize = 100;

/// What was asked and said so far, by whichever test.
static EXCHANGED: Mutex<Vec<Value>> = Mutex::new(Vec::new());

/// Fails where a question or an answer is not of GitHub's schema; returns how many there were. They are kept: tests that
/// run side by side must not take each other's.
pub fn is_of_the_schema() -> usize {
    let exchanged = EXCHANGED.lock().unwrap().clone();
    let package = installed::folder("graphql");
    assert!(package.is_dir(), "{} is not there: run tests/components/run", package.display());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/components/graphql.mjs");
    let mut node = Command::new("node");
    let mut node = node.arg(script).arg(package).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    node.stdin.take().unwrap().write_all(&serde_json::to_vec(&exchanged).unwrap()).unwrap();
    let output = node.wait_with_output().unwrap();
    let wrong = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && wrong.is_empty(), "not of GitHub's schema:\n{wrong}");
    exchanged.len()
}

/// The answer to one question.
pub fn answer(state: &State, body: &Value) -> Value {
    let answer = said(state, body);
    let exchange = json!({ "query": body["query"], "variables": body["variables"], "answer": answer });
    EXCHANGED.lock().unwrap().push(exchange);
    answer
}

fn said(state: &State, body: &Value) -> Value {
    let query = body["query"].as_str().unwrap();
    let variables = &body["variables"];
    let data = if query.contains("__type(") {
        types(query)
    } else if query.contains("pullRequests(") {
        let of_branch = |pull: &&Value| pull["head"]["ref"] == variables["headRefName"];
        let states = variables["states"].as_array();
        let in_state = |pull: &&Value| states.is_none_or(|states| states.contains(&shown(state, pull, 0)["state"]));
        let newest_first = state.pulls.iter().rev().filter(of_branch).filter(in_state);
        let nodes: Vec<Value> = newest_first.map(|pull| shown(state, pull, 0)).collect();
        json!({ "repository": { "pullRequests": { "nodes": nodes }, "defaultBranchRef": { "name": "main" } } })
    } else if query.contains("pullRequest(number:") {
        let number = &variables["pr_number"];
        let pull = state.pulls.iter().find(|pull| pull["number"] == *number);
        json!({ "repository": { "pullRequest": pull.map(|pull| shown(state, pull, 0)) } })
    } else if query.contains("node(id:") {
        let after = variables["endCursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
        let pull = state.pulls.iter().find(|pull| id(pull) == variables["id"]);
        json!({ "node": pull.map(|pull| shown(state, pull, after)) })
    } else {
        panic!("a question that is not known here: {query}")
    };
    json!({ "data": data })
}

/// The fields that are asked for before they are used. A name that is not there is a server that is too old.
fn types(query: &str) -> Value {
    let asked = Regex::new(r#"(\w+): __type\(name: "(\w+)"\)"#).unwrap();
    let fields = |name: &str| -> &[&str] {
        match name {
            "PullRequest" => &["isInMergeQueue", "isMergeQueueEnabled"],
            "StatusCheckRollupContextConnection" => {
                &["checkRunCount", "checkRunCountsByState", "statusContextCount", "statusContextCountsByState"]
            }
            "WorkflowRun" => &["event"],
            _ => &[],
        }
    };
    let one = |name: &str| -> Value {
        let list: Vec<Value> = fields(name).iter().map(|field| json!({ "name": field })).collect();
        json!({ "fields": list })
    };
    let all: Map<String, Value> =
        asked.captures_iter(query).map(|found| (found[1].to_owned(), one(&found[2]))).collect();
    all.into()
}

fn id(pull: &Value) -> Value {
    format!("PR_{}", pull["number"]).into()
}

fn shown(state: &State, pull: &Value, after: usize) -> Value {
    let (owner, own) = (pull["head"]["repo"]["full_name"].as_str().unwrap_or(""), &pull["base"]["repo"]["full_name"]);
    let is = match (pull["state"].as_str().unwrap(), pull["merged_at"].is_null()) {
        (_, false) => "MERGED",
        ("open", true) => "OPEN",
        (_, true) => "CLOSED",
    };
    json!({
        "__typename": "PullRequest",
        "id": id(pull),
        "number": pull["number"],
        "url": pull["html_url"],
        "state": is,
        "isDraft": pull["draft"],
        "headRefName": pull["head"]["ref"],
        "headRefOid": pull["head"]["sha"],
        "baseRefName": pull["base"]["ref"],
        "isCrossRepository": owner != own.as_str().unwrap(),
        "headRepositoryOwner": { "__typename": "User", "id": "U_1", "name": null, "login": owner.split('/').next() },
        "statusCheckRollup": { "nodes": [{ "commit": { "statusCheckRollup": rollup(state, pull, after) } }] },
    })
}

/// `null` where nothing reports.
fn rollup(state: &State, pull: &Value, after: usize) -> Value {
    let head = &pull["head"]["sha"];
    let runs = state.check_runs.iter().filter(|run| run["head_sha"] == *head).map(|run| check_run(state, run));
    let all: Vec<Value> = runs.chain(state.statuses.iter().map(|status| context(state, status))).collect();
    if all.is_empty() {
        return Value::Null;
    }
    let end = all.len().min(after + PAGE);
    let page = json!({ "hasNextPage": end < all.len(), "endCursor": end.to_string() });
    json!({ "contexts": { "nodes": all[after..end], "pageInfo": page } })
}

fn check_run(state: &State, run: &Value) -> Value {
    let workflow = state.runs.iter().find(|one| one["check_suite_id"] == run["check_suite"]["id"]);
    let workflow = workflow.filter(|_| run["app"]["id"] == ACTIONS);
    json!({
        "__typename": "CheckRun",
        "name": run["name"],
        "status": capitals(&run["status"]),
        "conclusion": capitals(&run["conclusion"]),
        "startedAt": run["started_at"],
        "completedAt": run["completed_at"],
        "detailsUrl": run["details_url"],
        "isRequired": is_required(state, &run["name"]),
        "checkSuite": { "workflowRun": workflow.map(|workflow| json!({
            "event": workflow["event"],
            "workflow": { "name": workflow["name"] },
        })) },
    })
}

fn context(state: &State, status: &Value) -> Value {
    json!({
        "__typename": "StatusContext",
        "context": status["context"],
        "state": capitals(&status["state"]),
        "targetUrl": status["target_url"],
        "createdAt": status["created_at"],
        "description": status["description"],
        "isRequired": is_required(state, &status["context"]),
    })
}

fn capitals(word: &Value) -> Value {
    word.as_str().map_or(Value::Null, |word| word.to_uppercase().into())
}

fn is_required(state: &State, name: &Value) -> bool {
    let of_rules =
        state.rules.iter().filter_map(|rule| rule["parameters"]["required_status_checks"].as_array()).flatten();
    of_rules.into_iter().any(|one| one["context"] == *name)
}
