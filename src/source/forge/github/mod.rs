//! GitHub, through its REST API: <https://docs.github.com/en/rest>.
//!
//! `octocrab` makes the connection; the types of the answers are this program's own and minimal. Those of `octocrab`
//! know no queued check runs, and its typed calls can query branches only, never one commit.

mod api_types;
mod checks;
mod client;

use std::collections::BTreeMap;

use futures_util::future::join;

use self::api_types::{ApiRepo, Branch, Comment, NewComment, PullShape, User, Viewer};
use self::client::{ApiConnection, encoded};
use super::repository_url::ForgeRepository;
use super::token::Token;
use super::{Forge, MergeRules, OwnJob, Patience, Repository};
use crate::event::hosting::{Checks, Pull, RequiredStatus, Trouble, TroubleKind};
use crate::oid::Oid;

/// A repository on GitHub.
pub(super) struct GitHub {
    client: ApiConnection,
    place: ForgeRepository,
    token: Option<Token>,
    patience: Patience,
}

impl GitHub {
    /// Prepares the connection; nothing is sent.
    pub(super) fn connect(place: &ForgeRepository, token: Option<&Token>, patience: Patience) -> Result<Self, Trouble> {
        let client = ApiConnection::new(&place.api, token, patience)?;
        Ok(Self { client, place: place.clone(), token: token.cloned(), patience })
    }

    fn route(&self, rest: &str) -> String {
        format!("/repos/{}/{}{rest}", self.place.owner, self.place.name)
    }

    /// Returns the login that this token writes as.
    fn login(&self) -> Result<String, Trouble> {
        match self.client.wait(self.client.get::<User>("/user", "who the token belongs to")) {
            Ok(user) => Ok(user.login),
            // The token of an app belongs to no user. Most often it is that of a job.
            Err(trouble) if trouble.kind == TroubleKind::Forbidden => {
                Ok(self.viewer().unwrap_or_else(|| "github-actions[bot]".to_owned()))
            }
            Err(trouble) => Err(trouble),
        }
    }

    /// Returns the login for the token of an app, which only GraphQL knows, or `None` if it is unknown.
    fn viewer(&self) -> Option<String> {
        // On a server of one's own that is not below the REST API: https://docs.github.com/en/enterprise-server/graphql
        let api = self.place.api.strip_suffix("/v3").unwrap_or(&self.place.api);
        let client = ApiConnection::new(api, self.token.as_ref(), self.patience).ok()?;
        let body = serde_json::json!({ "query": "query { viewer { login } }" });
        let said: Viewer = client.wait(client.post("/graphql", &body, "who the token belongs to")).ok()?;
        Some(said.data.viewer.login)
    }
}

impl Forge for GitHub {
    fn repository(&self) -> Result<Repository, Trouble> {
        let repo: ApiRepo = self.client.wait(self.client.get(&self.route(""), "the repository"))?;
        Ok(Repository {
            name: repo.full_name,
            default_branch: repo.default_branch,
            parent: repo.parent.map(|parent| parent.full_name),
        })
    }

    fn pulls(&self, repository: &str, branch: &str) -> Result<Vec<Pull>, Trouble> {
        // Without its owner, GitHub ignores the branch and lists every pull request.
        let owner = repository.split('/').next().unwrap_or_default();
        let head = format!("{}:{}", encoded(owner), encoded(branch));
        let list = async |state: &str| -> Result<Vec<Pull>, Trouble> {
            let route = self.route(&format!("/pulls?state={state}&head={head}"));
            let shapes: Vec<PullShape> = self.client.pages(&route, "the pull requests").await?;
            shapes.into_iter().filter(|shape| shape.is_of(owner, branch)).map(PullShape::pull).collect()
        };
        self.client.wait(async {
            let mut pulls = list("open").await?;
            // One whose repository was deleted is of no branch any more.
            if pulls.iter().all(|pull| pull.head_repository.is_none()) {
                pulls.extend(list("closed").await?);
            }
            Ok(pulls)
        })
    }

    fn pull(&self, number: u64) -> Result<Pull, Trouble> {
        let route = self.route(&format!("/pulls/{number}"));
        self.client.wait(self.client.get::<PullShape>(&route, "the pull request"))?.pull()
    }

    fn pulls_with(&self, commit: &Oid) -> Result<Vec<Pull>, Trouble> {
        let route = self.route(&format!("/commits/{commit}/pulls"));
        let shapes: Vec<PullShape> = self.client.wait(self.client.pages(&route, "the pull requests of a commit"))?;
        shapes.into_iter().map(PullShape::pull).collect()
    }

    fn checks(&self, commit: &Oid, own: &OwnJob) -> Result<Checks, Trouble> {
        self.client.wait(checks::checks(&self.client, &self.route(""), commit, own))
    }

    fn rules(&self, branch: &str) -> Result<MergeRules, Trouble> {
        let name = encoded(branch);
        let rules = self.route(&format!("/rules/branches/{name}"));
        let branch = self.route(&format!("/branches/{name}"));
        self.client.wait(async {
            let (rules, branch) = join(
                self.client.pages::<api_types::BranchRule>(&rules, "the rules of the branch"),
                self.client.get::<Branch>(&branch, "the branch"),
            )
            .await;
            let branch = branch?;
            let rules = match rules {
                // A server that knows no rulesets.
                Err(trouble) if trouble.kind == TroubleKind::NotFound => Vec::new(),
                other => other?,
            };
            let protected = branch.protected || rules.iter().any(api_types::BranchRule::protects);
            let mut required: BTreeMap<(String, Option<u64>), RequiredStatus> = BTreeMap::new();
            for one in rules.into_iter().flat_map(api_types::BranchRule::required).chain(branch.required()) {
                required.insert((one.name.clone(), one.app), one);
            }
            Ok(MergeRules { required: required.into_values().collect(), protected })
        })
    }

    fn comment(&self, number: u64, marker: &str, text: &str) -> Result<(), Trouble> {
        let comments = self.route(&format!("/issues/{number}/comments"));
        let login = self.login()?;
        self.client.wait(async {
            let list = self.client.pages::<Comment>(&comments, "the comments").await?;
            let own = list.into_iter().find(|comment| comment.is_by(&login) && comment.begins_with(marker));
            let body = NewComment { body: text };
            match own {
                Some(comment) if comment.body.as_deref() == Some(text) => Ok(()),
                Some(comment) => {
                    let route = self.route(&format!("/issues/comments/{}", comment.id));
                    self.client.patch(&route, &body, "the comment").await
                }
                None => self.client.post::<_, serde_json::Value>(&comments, &body, "a comment").await.map(drop),
            }
        })
    }
}
