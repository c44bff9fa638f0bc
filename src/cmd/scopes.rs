//! `gate init --scopes`: derives a first table of scopes, for a person to edit.

use crate::cmd::commits::gate;
use crate::cmd::consent::{Consent, carry_out};
use crate::cmd::install_failure;
use crate::commit::derive_scopes::{self, HistoryCommit};
use crate::commit::message::CommitMessage;
use crate::commit::package_dependencies::{self, MAX_MANIFESTS};
use crate::commit::rules::CommitRules;
use crate::engine::Workplace;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::git::{GitError, Range, Repo};
use crate::install::{InstallTarget, plan_scopes};
use crate::oid::Oid;
use crate::render::ui::Ui;
use crate::repo_path::RepoPath;

/// The number of commits of the history that are read.
const LOOKED_AT: usize = 2000;

/// Adds the table to `gate.toml` after confirmation; otherwise prints it and changes nothing.
pub(super) fn main(consent: Consent, ui: &mut Ui) -> anyhow::Result<Exit> {
    let place = Workplace::here()?;
    let repo = &place.repo;
    let Some(tip) = repo.head()?.commit else {
        return Err(Failure::new(Exit::Usage, "there is no commit yet to derive scopes from").into());
    };
    let (policy, _) = place.policy(None)?;
    let malformed = |what: String| Failure::new(Exit::BadInput, what);
    let rules = CommitRules::read(&gate(&policy)?.params).map_err(|error| malformed(error.what))?;
    let listed = repo.files_of(&tip)?;
    let range = Range { revisions: vec![tip.to_string()], exclude: Vec::new(), limit: Some(LOOKED_AT) };
    let mut history = Vec::new();
    for logged in repo.log(&range)? {
        let commit = logged?.commit;
        let message = CommitMessage::parse(&commit.message, &rules.styles, &rules.types);
        let paths: Vec<RepoPath> = commit.files.into_iter().map(|file| file.path).collect();
        history.push(HistoryCommit { declared: message.scopes().to_vec(), paths });
    }
    let mut scopes = derive_scopes::derive(&listed, &history, &rules).map_err(|error| malformed(error.to_string()))?;
    let manifests = manifests(repo, &tip, &listed)?;
    package_dependencies::join_dependent(&mut scopes, &manifests).map_err(|error| malformed(error.to_string()))?;
    if scopes.is_empty() {
        ui.say("gate: no parts were recognised; write [scopes] by hand: name = [\"folder/**\"]");
        return Ok(Exit::Pass);
    }
    let table = derive_scopes::text(&scopes);
    if consent.asks_to_write(ui) {
        let repository = InstallTarget::discover(&std::env::current_dir()?).map_err(install_failure)?;
        let plan = plan_scopes(&repository, &table).map_err(install_failure)?;
        if carry_out(&repository, &plan, consent, ui)? {
            ui.say("Edit and commit it; `gate commits --history 500` shows what it would have said.");
        }
        return Ok(Exit::Pass);
    }
    ui.raw(table);
    ui.say("Put this into gate.toml (gate init --scopes --yes does) and edit it; `gate commits --history 500` shows what it would have said.");
    Ok(Exit::Pass)
}

/// Returns the manifests of a commit, with their text.
fn manifests(repo: &Repo, commit: &Oid, listed: &[RepoPath]) -> Result<Vec<(RepoPath, String)>, GitError> {
    let paths: Vec<RepoPath> =
        listed.iter().filter(|path| package_dependencies::is_manifest(path)).take(MAX_MANIFESTS).cloned().collect();
    let texts = repo.blobs_at(commit, &paths)?.into_iter().map(Option::unwrap_or_default);
    Ok(paths.into_iter().zip(texts.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())).collect())
}
