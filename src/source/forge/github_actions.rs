//! The job that this process is a step of, as GitHub Actions and its imitators describe it, and the event that started
//! it.
//!
//! The event names the judged commit, never `GITHUB_SHA`: for a pull request, that is a merge made for the test.
//! Variables: <https://docs.github.com/en/actions/reference/workflows-and-actions/variables>.

use std::env;
use std::path::PathBuf;

use serde::Deserialize;

use super::OwnJob;
use super::repository_url::owner_and_name;
use crate::foreign_text;
use crate::oid::Oid;
use crate::ref_names;

/// The job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkflowJob {
    /// The event that started it: `pull_request`, `push`, …
    pub event_name: String,
    /// The file that holds the event.
    pub event_path: Option<PathBuf>,
    /// `owner/name`, of whose workflow it is.
    pub repository: Option<String>,
    /// The file that takes the summary.
    pub summary: Option<PathBuf>,
    /// The file that takes outputs.
    pub output: Option<PathBuf>,
    /// The identity of the job.
    pub own: OwnJob,
}

impl WorkflowJob {
    /// Returns the job of this process; `None` outside of any.
    pub fn of_process() -> Option<Self> {
        Self::from_variables(|name| env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let event_name = variable("GITHUB_EVENT_NAME")?;
        let number = |name: &str| variable(name)?.trim().parse().ok();
        Some(Self {
            event_name,
            event_path: variable("GITHUB_EVENT_PATH").map(PathBuf::from),
            repository: variable("GITHUB_REPOSITORY"),
            summary: variable("GITHUB_STEP_SUMMARY").map(PathBuf::from),
            output: variable("GITHUB_OUTPUT").map(PathBuf::from),
            own: OwnJob {
                run: number("GITHUB_RUN_ID"),
                check_run: number("GATE_CHECK_RUN_ID"),
                job: variable("GITHUB_JOB"),
            },
        })
    }
}

/// The event that a job judges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobEvent {
    /// The repository that it happened in, `owner/name`.
    pub repository: String,
    /// Its default branch.
    pub default_branch: Option<String>,
    /// The kind of event, with its data.
    pub what: Happening,
}

/// The kind of event that starts a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A pull request was opened or changed.
    Pull(EventPull),
    /// A merge queue asks whether it may merge.
    MergeGroup {
        /// The commit that would be the new head of the base.
        head: Oid,
        /// The commit it is built on.
        base: Oid,
        /// The branch it would go to.
        base_branch: String,
    },
    /// Something was pushed.
    Push {
        /// The full name of the ref.
        name: String,
        /// The commit before, or `None` if it is new.
        before: Option<Oid>,
        /// The commit after, or `None` if it was deleted.
        after: Option<Oid>,
    },
    /// A person or a clock started it: the checked-out commit is judged.
    Asked,
}

/// The pull request of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPull {
    /// Its number.
    pub number: u64,
    /// Its last commit when the event was made.
    pub head: Oid,
    /// The branch it comes from.
    pub head_branch: String,
    /// The repository that is in, or `None` if it was deleted.
    pub head_repository: Option<String>,
    /// The branch it goes to.
    pub base_branch: String,
    /// The commit of the base branch at that time.
    pub base: Oid,
    /// The account that opened it.
    pub author: String,
}

/// The reason why an event cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// It is not JSON, or lacks something.
    #[error("the event `{name}` cannot be understood: {reason}")]
    Malformed {
        /// Its name.
        name: String,
        /// The problem.
        reason: String,
    },
    /// Nothing is known to judge for such an event.
    #[error("an event `{0}` names no commit that could be judged")]
    Unsupported(String),
}

#[derive(Deserialize)]
struct Payload {
    repository: EventRepo,
    number: Option<u64>,
    pull_request: Option<PullPayload>,
    merge_group: Option<MergeGroup>,
    #[serde(default, rename = "ref")]
    name: Option<String>,
    before: Option<Oid>,
    after: Option<Oid>,
}

#[derive(Deserialize)]
struct EventRepo {
    full_name: String,
    default_branch: Option<String>,
}

#[derive(Deserialize)]
struct PullPayload {
    number: Option<u64>,
    head: EventPullEnd,
    base: EventPullEnd,
    user: Option<EventUser>,
}

#[derive(Deserialize)]
struct EventPullEnd {
    #[serde(rename = "ref")]
    branch: String,
    sha: Oid,
    repo: Option<EventRepoName>,
}

#[derive(Deserialize)]
struct EventRepoName {
    full_name: String,
}

#[derive(Deserialize)]
struct EventUser {
    login: String,
}

#[derive(Deserialize)]
struct MergeGroup {
    head_sha: Oid,
    base_sha: Oid,
    base_ref: String,
}

impl JobEvent {
    /// Reads an event called `name`.
    ///
    /// # Errors
    ///
    /// [`EventError::Malformed`] where it is not an event of that name, and [`EventError::Unsupported`] for names that
    /// say nothing about a commit.
    pub fn read(name: &str, text: &[u8]) -> Result<Self, EventError> {
        // The reason repeats what was read, and a line of it could be a command to the runner.
        let malformed = |reason: String| {
            let reason = foreign_text::plain(&reason);
            EventError::Malformed { name: name.to_owned(), reason }
        };
        let known = ["pull_request", "pull_request_target", "merge_group", "push", "workflow_dispatch", "schedule"];
        if !known.contains(&name) {
            return Err(EventError::Unsupported(name.to_owned()));
        }
        let payload: Payload = serde_json::from_slice(text).map_err(|error| malformed(error.to_string()))?;
        let lacks = |what: &str| malformed(format!("it has no `{what}`"));
        // Where it is not known whom to ask, nothing would be asked, and what nobody asks passes.
        if owner_and_name(&payload.repository.full_name).is_none() {
            return Err(malformed("`repository.full_name` is not `owner/name`".to_owned()));
        }
        let what = match name {
            "pull_request" | "pull_request_target" => {
                let pull = payload.pull_request.ok_or_else(|| lacks("pull_request"))?;
                Happening::Pull(EventPull {
                    number: pull.number.or(payload.number).ok_or_else(|| lacks("number"))?,
                    head: pull.head.sha,
                    head_branch: pull.head.branch,
                    head_repository: pull.head.repo.map(|repo| repo.full_name),
                    base_branch: pull.base.branch,
                    base: pull.base.sha,
                    author: pull.user.map(|user| user.login).unwrap_or_default(),
                })
            }
            "merge_group" => {
                let group = payload.merge_group.ok_or_else(|| lacks("merge_group"))?;
                let base_branch = ref_names::short(&group.base_ref).to_owned();
                Happening::MergeGroup { head: group.head_sha, base: group.base_sha, base_branch }
            }
            "push" => Happening::Push {
                name: payload.name.ok_or_else(|| lacks("ref"))?,
                before: payload.before.filter(|oid| !oid.is_zero()),
                after: Some(payload.after.ok_or_else(|| lacks("after"))?).filter(|oid| !oid.is_zero()),
            },
            _ => Happening::Asked,
        };
        Ok(Self { repository: payload.repository.full_name, default_branch: payload.repository.default_branch, what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "1111111111111111111111111111111111111111";
    const B: &str = "2222222222222222222222222222222222222222";
    const ZERO: &str = "0000000000000000000000000000000000000000";

    fn pull(head_repo: &str) -> String {
        format!(
            r#"{{"number":7,"pull_request":{{"head":{{"ref":"f","sha":"{A}","repo":{head_repo}}},"base":{{"ref":"main",
            "sha":"{B}","repo":{{"full_name":"o/r"}}}},"user":{{"login":"bot"}}}},
            "repository":{{"full_name":"o/r","default_branch":"main"}}}}"#
        )
    }

    #[test]
    fn every_kind_of_event() {
        let read = |name: &str, text: &str| JobEvent::read(name, text.as_bytes()).unwrap().what;
        for name in ["pull_request", "pull_request_target"] {
            let Happening::Pull(pull) = read(name, &pull("null")) else { panic!("{name}") };
            assert_eq!((pull.number, pull.head.as_str(), pull.head_repository), (7, A, None));
        }
        let group = format!(
            r#"{{"merge_group":{{"head_sha":"{A}","base_sha":"{B}","base_ref":"refs/heads/main"}},
            "repository":{{"full_name":"o/r"}}}}"#
        );
        let Happening::MergeGroup { base_branch, .. } = read("merge_group", &group) else { panic!() };
        assert_eq!(base_branch, "main");
        for (before, after, expected) in
            [(A, B, (Some(A), Some(B))), (ZERO, B, (None, Some(B))), (A, ZERO, (Some(A), None))]
        {
            let text = format!(
                r#"{{"ref":"refs/heads/x","before":"{before}","after":"{after}","repository":{{"full_name":"o/r"}}}}"#
            );
            let Happening::Push { before, after, .. } = read("push", &text) else { panic!() };
            assert_eq!((before.as_ref().map(Oid::as_str), after.as_ref().map(Oid::as_str)), expected);
        }
        assert_eq!(read("workflow_dispatch", r#"{"repository":{"full_name":"o/r"}}"#), Happening::Asked);
    }

    /// Checks examples; `tests/components/run` reads the whole collection that these are from.
    #[test]
    fn what_github_sends_is_understood() {
        let file = include_str!("../../../tests/data/forge/webhooks.json");
        let file: serde_json::Value = serde_json::from_str(file).unwrap();
        let read: Vec<String> = file["payloads"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| {
                let name = one["event"].as_str().unwrap();
                let event = JobEvent::read(name, one["payload"].to_string().as_bytes()).unwrap();
                let what = match event.what {
                    Happening::Pull(pull) => {
                        let from = pull.head_repository.unwrap_or_default();
                        format!("#{} {} {from}:{} by {}", pull.number, pull.head.short(), pull.head_branch, pull.author)
                    }
                    Happening::MergeGroup { head, base, base_branch } => {
                        format!("{} on {base_branch} at {}", head.short(), base.short())
                    }
                    Happening::Push { name, before, after } => {
                        let short = |oid: Option<Oid>| oid.map_or("nothing".to_owned(), |oid| oid.short().to_owned());
                        format!("{name} from {} to {}", short(before), short(after))
                    }
                    Happening::Asked => "what is checked out".to_owned(),
                };
                format!("{name}: {what} in {}", event.repository)
            })
            .collect();
        let pull = "pull_request: #2 ec26c3e Codertocat/Hello-World:changes by Codertocat in Codertocat/Hello-World";
        let expected = [
            "merge_group: 2ffea6d on main at 380387f in octo-org/octo-repo",
            pull,
            pull,
            pull,
            pull,
            pull,
            pull,
            "push: refs/tags/simple-tag from nothing to 6113728 in Codertocat/Hello-World",
            "push: refs/tags/simple-tag from 6113728 to nothing in Codertocat/Hello-World",
            "push: refs/heads/master from nothing to 6113728 in Codertocat/Hello-World",
            "workflow_dispatch: what is checked out in octo-org/octo-repo",
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn what_is_no_event_says_what_it_lacks() {
        for (name, text, says) in [
            ("pull_request", "{", "EOF"),
            ("pull_request", "[]", "pull_request"),
            ("pull_request", r#"{"repository":{"full_name":"o/r"}}"#, "no `pull_request`"),
            ("push", r#"{"repository":{"full_name":"o/r"},"ref":"x"}"#, "no `after`"),
            ("push", r#"{"repository":{"full_name":"o/r"},"ref":"x","after":"HEAD"}"#, "object id"),
            ("merge_group", r#"{"repository":{"full_name":"o/r"}}"#, "no `merge_group`"),
            ("issues", "{}", "names no commit"),
        ] {
            let error = JobEvent::read(name, text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(says), "{name} {text}: {error}");
        }
    }

    #[test]
    fn a_job_is_known_by_its_variables() {
        let variables = [
            ("GITHUB_EVENT_NAME", "push"),
            ("GITHUB_RUN_ID", "12"),
            ("GITHUB_JOB", "gate"),
            ("GATE_CHECK_RUN_ID", "x"),
        ];
        let get = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let own = OwnJob { run: Some(12), check_run: None, job: Some("gate".to_owned()) };
        assert_eq!(WorkflowJob::from_variables(get).unwrap().own, own);
        assert_eq!(WorkflowJob::from_variables(|_| None), None);
    }
}
