//! Everything that reports on one commit, from the three places where GitHub keeps it.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join3;

use super::api_types::{CheckRun, CheckRuns, CommitStatus, Statuses, WorkflowRun, WorkflowRuns};
use super::client::ApiConnection;
use crate::event::hosting::{Check, CheckKind, Checks, Trouble, TroubleKind};
use crate::oid::Oid;
use crate::source::forge::OwnJob;

/// Returns check runs, commit statuses, and runs of workflows: a run that waits for approval, or could not start, has
/// no check run. If one of the three cannot be read, the result has the others, with a note that something is missing.
pub(super) async fn checks(client: &ApiConnection, repo: &str, commit: &Oid, own: &OwnJob) -> Result<Checks, Trouble> {
    let runs = format!("{repo}/commits/{commit}/check-runs?filter=latest");
    let statuses = format!("{repo}/commits/{commit}/status");
    let workflows = format!("{repo}/actions/runs?head_sha={commit}");
    let (runs, statuses, workflows) = join3(
        client.counted::<CheckRuns>(&runs, "check runs"),
        client.counted::<Statuses>(&statuses, "commit statuses"),
        client.counted::<WorkflowRuns>(&workflows, "runs of workflows"),
    )
    .await;
    let mut missing = Vec::new();
    let mut keep = |trouble: Trouble| missing.push(hinted(trouble));
    let runs = runs.map_err(&mut keep).ok();
    let statuses = statuses.map_err(&mut keep).ok();
    let workflows = workflows.map_err(&mut keep).ok();
    if runs.is_none() && statuses.is_none() && workflows.is_none() {
        return Err(missing.swap_remove(0));
    }
    let list = merged(&runs.unwrap_or_default(), &statuses.unwrap_or_default(), &workflows.unwrap_or_default(), own);
    Ok(Checks { list, missing })
}

/// Adds a hint: a token of the fine-grained kind cannot be given this permission at all.
fn hinted(mut trouble: Trouble) -> Trouble {
    if trouble.kind == TroubleKind::Forbidden && trouble.what.contains("by personal access token") {
        trouble.needs = Some("to read checks, which no fine-grained personal token can have: use a classic one, that of an app, or that of a job".to_owned());
    }
    trouble
}

fn merged(runs: &[CheckRun], statuses: &[CommitStatus], workflows: &[WorkflowRun], own: &OwnJob) -> Vec<Check> {
    let by_suite: BTreeMap<u64, &WorkflowRun> =
        workflows.iter().filter_map(|run| Some((run.check_suite_id?, run))).collect();
    let mut with_jobs = BTreeSet::new();
    let mut list = Vec::new();
    for run in runs {
        let suite = run.check_suite.as_ref().map(|suite| suite.id);
        let workflow = suite.and_then(|suite| by_suite.get(&suite).copied());
        with_jobs.extend(workflow.map(|workflow| workflow.id));
        list.push(Check {
            name: run.name.clone(),
            kind: CheckKind::Run,
            app: run.app.as_ref().map(|app| app.id),
            workflow: workflow.map(named),
            event: workflow.map(|workflow| workflow.event.clone()),
            from: workflow.and_then(WorkflowRun::from),
            run: workflow.map_or(suite.unwrap_or_default(), |workflow| workflow.id),
            id: run.id,
            status: run.status.clone(),
            conclusion: run.conclusion.clone(),
            url: run.html_url.clone(),
            own: is_own(run, workflow, own),
        });
    }
    for status in statuses {
        // A status has one word for both.
        let open = matches!(status.state.as_str(), "pending" | "expected");
        list.push(Check {
            name: status.context.clone(),
            kind: CheckKind::Status,
            app: status.app(),
            id: status.id,
            status: if open { "pending" } else { "completed" }.to_owned(),
            conclusion: (!open).then(|| status.state.clone()),
            url: status.target_url.clone(),
            ..Check::default()
        });
    }
    for run in workflows.iter().filter(|run| !with_jobs.contains(&run.id)) {
        list.push(Check {
            name: run.name.clone().or_else(|| run.path.clone()).unwrap_or_default(),
            kind: CheckKind::Workflow,
            workflow: Some(named(run)),
            event: Some(run.event.clone()),
            from: run.from(),
            run: run.id,
            id: run.id,
            status: run.status.clone().unwrap_or_default(),
            conclusion: run.conclusion.clone(),
            url: run.html_url.clone(),
            ..Check::default()
        });
    }
    list
}

/// Returns the name of a workflow with its number: several may share a name and even a path.
fn named(run: &WorkflowRun) -> String {
    format!("{} {}", run.workflow_id, run.path.as_deref().unwrap_or_default()).trim_end().to_owned()
}

/// Returns `true` if a check run belongs to the calling job: by its number if that is known, else by its name in the
/// own run.
fn is_own(check: &CheckRun, workflow: Option<&WorkflowRun>, own: &OwnJob) -> bool {
    if let Some(number) = own.check_run {
        return check.id == number;
    }
    let (Some(run), Some(job)) = (own.run, own.job.as_deref()) else { return false };
    let in_run = workflow.is_some_and(|workflow| workflow.id == run);
    // A job of a called workflow is `caller / job`, one of a matrix `job (values)`.
    let name = check.name.rsplit(" / ").next().unwrap_or(&check.name);
    in_run && check.status != "completed" && (name == job || name.starts_with(&format!("{job} (")))
}
