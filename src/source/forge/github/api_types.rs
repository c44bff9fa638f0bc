//! The parts of GitHub's answers that are read, and nothing more: lean servers leave out much of the rest.

use serde::{Deserialize, Serialize};

use super::client::{Counted, trouble};
use crate::event::hosting::{Pull, PullState, RequiredStatus, Trouble, TroubleKind};

#[derive(Debug, Deserialize)]
pub(super) struct ApiRepo {
    pub(super) full_name: String,
    #[serde(default)]
    pub(super) default_branch: String,
    pub(super) parent: Option<RepoName>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RepoName {
    pub(super) full_name: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct User {
    pub(super) login: String,
}

/// The account of the token, as GraphQL returns it.
#[derive(Debug, Deserialize)]
pub(super) struct Viewer {
    pub(super) data: ViewerData,
}

#[derive(Debug, Deserialize)]
pub(super) struct ViewerData {
    pub(super) viewer: User,
}

/// A pull request. Lists say `merged_at`, and only the answer about one says `merged`.
#[derive(Debug, Deserialize)]
pub(super) struct PullShape {
    number: u64,
    #[serde(default)]
    html_url: String,
    state: String,
    draft: Option<bool>,
    merged_at: Option<String>,
    head: End,
    base: End,
}

#[derive(Debug, Deserialize)]
struct End {
    #[serde(rename = "ref")]
    branch: String,
    sha: String,
    repo: Option<RepoName>,
    /// The owner of the repository, also after it was deleted.
    user: Option<User>,
}

impl PullShape {
    /// Returns `true` if it comes from `branch` of a repository of `owner`. Of a deleted one, only the owner is known.
    pub(super) fn is_of(&self, owner: &str, branch: &str) -> bool {
        let theirs = || self.head.user.as_ref().is_some_and(|user| user.login.eq_ignore_ascii_case(owner));
        self.head.branch == branch && (self.head.repo.is_some() || theirs())
    }

    pub(super) fn pull(self) -> Result<Pull, Trouble> {
        let head =
            self.head.sha.parse().map_err(|_| {
                trouble(TroubleKind::Malformed, format!("the head of #{} is not a commit", self.number))
            })?;
        let state = match (self.state.as_str(), &self.merged_at) {
            (_, Some(_)) => PullState::Merged,
            ("open", None) => PullState::Open,
            ("closed", None) => PullState::Closed,
            _ => return Err(trouble(TroubleKind::Malformed, format!("#{} is neither open nor closed", self.number))),
        };
        Ok(Pull {
            number: self.number,
            url: self.html_url,
            state,
            draft: self.draft.unwrap_or(false),
            head,
            head_branch: self.head.branch,
            head_repository: self.head.repo.map(|repo| repo.full_name),
            base_branch: self.base.branch,
        })
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct CheckRuns {
    total_count: usize,
    check_runs: Vec<CheckRun>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CheckRun {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) status: String,
    pub(super) conclusion: Option<String>,
    pub(super) html_url: Option<String>,
    pub(super) app: Option<Id>,
    pub(super) check_suite: Option<Id>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Id {
    pub(super) id: u64,
}

impl Counted for CheckRuns {
    type Item = CheckRun;

    fn parts(self) -> (usize, Vec<CheckRun>) {
        (self.total_count, self.check_runs)
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Statuses {
    total_count: usize,
    statuses: Vec<CommitStatus>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CommitStatus {
    pub(super) id: u64,
    pub(super) context: String,
    pub(super) state: String,
    pub(super) target_url: Option<String>,
    avatar_url: Option<String>,
}

impl CommitStatus {
    /// Returns the app that wrote it. Only the picture of its writer shows that in this answer: `/in/NUMBER` is that of
    /// an app, `/u/` and `/oa/` are those of others, and the server sets it.
    pub(super) fn app(&self) -> Option<u64> {
        let path = self.avatar_url.as_deref()?.split(['?', '#']).next()?;
        let (rest, number) = path.rsplit_once('/')?;
        number.parse().ok().filter(|_| rest.ends_with("/in"))
    }
}

impl Counted for Statuses {
    type Item = CommitStatus;

    fn parts(self) -> (usize, Vec<CommitStatus>) {
        (self.total_count, self.statuses)
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct WorkflowRuns {
    total_count: usize,
    workflow_runs: Vec<WorkflowRun>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WorkflowRun {
    pub(super) id: u64,
    pub(super) name: Option<String>,
    pub(super) path: Option<String>,
    pub(super) workflow_id: u64,
    pub(super) event: String,
    pub(super) status: Option<String>,
    pub(super) conclusion: Option<String>,
    head_branch: Option<String>,
    head_repository: Option<RepoName>,
    pub(super) check_suite_id: Option<u64>,
    pub(super) html_url: Option<String>,
}

impl WorkflowRun {
    /// Returns the branch it ran for, `owner/name:branch`.
    pub(super) fn from(&self) -> Option<String> {
        Some(format!("{}:{}", self.head_repository.as_ref()?.full_name, self.head_branch.as_ref()?))
    }
}

impl Counted for WorkflowRuns {
    type Item = WorkflowRun;

    fn parts(self) -> (usize, Vec<WorkflowRun>) {
        (self.total_count, self.workflow_runs)
    }
}

/// A rule of any ruleset that is active for a branch.
#[derive(Debug, Deserialize)]
pub(super) struct BranchRule {
    #[serde(rename = "type")]
    kind: String,
    parameters: Option<RuleParameters>,
}

#[derive(Debug, Deserialize)]
struct RuleParameters {
    #[serde(default)]
    required_status_checks: Vec<RequiredCheck>,
}

/// A required check, as rulesets (`integration_id`) and as branch protection (`app_id`) write it.
#[derive(Debug, Deserialize)]
struct RequiredCheck {
    context: String,
    integration_id: Option<i64>,
    app_id: Option<i64>,
}

impl RequiredCheck {
    /// Returns the required status. Any app is accepted if none is named; branch protection writes that as -1.
    fn required(self) -> RequiredStatus {
        let app = self.integration_id.or(self.app_id).and_then(|id| u64::try_from(id).ok());
        RequiredStatus { name: self.context, app }
    }
}

impl BranchRule {
    /// Returns `true` if it blocks changes without a review or a check.
    pub(super) fn protects(&self) -> bool {
        ["pull_request", "required_status_checks", "workflows", "merge_queue"].contains(&self.kind.as_str())
    }

    pub(super) fn required(self) -> Vec<RequiredStatus> {
        let list = match self.parameters {
            Some(parameters) if self.kind == "required_status_checks" => parameters.required_status_checks,
            _ => Vec::new(),
        };
        list.into_iter().map(RequiredCheck::required).collect()
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Branch {
    #[serde(default)]
    pub(super) protected: bool,
    protection: Option<Protection>,
}

#[derive(Debug, Deserialize)]
struct Protection {
    required_status_checks: Option<ProtectedChecks>,
}

#[derive(Debug, Deserialize)]
struct ProtectedChecks {
    enforcement_level: Option<String>,
    #[serde(default)]
    contexts: Vec<String>,
    #[serde(default)]
    checks: Vec<RequiredCheck>,
}

impl Branch {
    pub(super) fn required(self) -> Vec<RequiredStatus> {
        let Some(checks) = self.protection.and_then(|protection| protection.required_status_checks) else {
            return Vec::new();
        };
        if checks.enforcement_level.as_deref() == Some("off") {
            return Vec::new();
        }
        let mut list: Vec<RequiredStatus> = checks.checks.into_iter().map(RequiredCheck::required).collect();
        for name in checks.contexts {
            if list.iter().all(|one| one.name != name) {
                list.push(RequiredStatus { name, app: None });
            }
        }
        list
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Comment {
    pub(super) id: u64,
    pub(super) body: Option<String>,
    user: Option<User>,
}

impl Comment {
    pub(super) fn is_by(&self, login: &str) -> bool {
        self.user.as_ref().is_some_and(|user| user.login == login)
    }

    /// Returns `true` if a comment begins with the mark. In another position, the mark is only quoted: jobs of other
    /// workflows write by the same name.
    pub(super) fn begins_with(&self, marker: &str) -> bool {
        self.body.as_deref().is_some_and(|body| body.starts_with(marker))
    }
}

#[derive(Debug, Serialize)]
pub(super) struct NewComment<'a> {
    pub(super) body: &'a str,
}
