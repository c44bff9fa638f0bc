//! `gate commit --split`: splits the last commit, or the staged changes, into several commits that make one change
//! each.

use anyhow::Result;

use crate::cmd::commits::gate_and_yardstick;
use crate::collect::{self, BaseOf};
use crate::commit::change::{Commit, Person};
use crate::commit::split::{self, Proposal, SplitPart};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::git::{self, CommitRewrite, Repo, TreeDiff};
use crate::oid::Oid;
use crate::render;
use crate::render::ui::{DIM, STRONG, Ui};

/// Arguments of `gate commit`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Propose to split the last commit, or the staged changes, into several commits; make them if you agree
    #[arg(long, required = true)]
    split: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    /// The message for the staged changes
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
}

/// The commit or index that is split.
struct SplitSource {
    commit: Commit,
    /// The commit of `HEAD`.
    head: Oid,
    /// The parent of the first part.
    parent: Option<Oid>,
    tree: Oid,
    staged: bool,
}

/// Shows the plan, asks for confirmation, and carries it out.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = super::place_of_agent()?;
    let repo = &place.repo;
    for (file, what) in [("MERGE_HEAD", "a merge"), ("CHERRY_PICK_HEAD", "a cherry-pick"), ("REVERT_HEAD", "a revert")]
    {
        if repo.git_dir().join(file).exists() {
            return Err(Failure::new(Exit::Usage, format!("{what} is under way")).remedy("finish it first").into());
        }
    }
    let Some(head) = repo.head()?.commit else {
        return Err(Failure::new(Exit::Usage, "there is no commit yet").into());
    };
    let lineage = collect::lineage(repo, &head, BaseOf::AnyRemote)?;
    let (policy, _) = place.policy(Some(&lineage))?;
    let (_, yardstick) = gate_and_yardstick(&policy)?;
    if yardstick.table.is_empty() {
        return Err(Failure::new(Exit::Usage, "gate.toml has no [scopes], and a split is made by scope")
            .remedy("gate init --scopes")
            .into());
    }
    let source = source(repo, head, args.message.as_deref())?;
    let judgement = yardstick.judge(&source.commit);
    let what = if source.staged { "what is staged" } else { source.commit.short() };
    let parts = match split::propose(&source.commit, &judgement, &yardstick.table, &yardstick.rules) {
        Proposal::Whole => {
            ui.line(format_args!("gate: {what} makes one change according to [scopes], so there is nothing to split"));
            return Ok(Exit::Pass);
        }
        Proposal::Refused { subject, rule } => {
            let refused = format!(
                "{what} crosses scopes, but gate cannot split it: the part `{subject}` would be refused as well ({})",
                rule.as_str()
            );
            return Err(Failure::new(Exit::Blocked, refused).remedy("split it by hand: git reset HEAD~1").into());
        }
        Proposal::Parts(parts) => parts,
    };
    ui.raw(render::commits::plan(&parts, &yardstick.table));
    explain(&source, ui);
    if !args.yes {
        if !ui.is_interactive() {
            ui.say("Nothing was changed: `gate commit --split --yes` makes these commits.");
            return Ok(Exit::Usage);
        }
        if !ui.confirm(&format!("Make these {} commits?", parts.len())) {
            ui.say("Nothing was changed.");
            return Ok(Exit::Pass);
        }
    }
    let made = carry_out(repo, &source, &parts)?;
    for (part, commit) in parts.iter().zip(&made) {
        ui.line(format_args!(
            "{STRONG}{}{STRONG:#} {}",
            commit.short(),
            part.message.lines().next().unwrap_or_default()
        ));
    }
    ui.say(format_args!("{DIM}to undo this: git reset --soft {}{DIM:#}", source.head));
    Ok(Exit::Pass)
}

/// Returns the staged changes if there are any, else the last commit.
fn source(repo: &Repo, head: Oid, message: Option<&str>) -> Result<SplitSource> {
    let staged = repo.staged(&head, None)?;
    if !staged.is_empty() {
        let Some(message) = message else {
            return Err(Failure::new(Exit::Usage, "something is staged, and its commits need a message")
                .remedy("gate commit --split -m 'fix: …'; without anything staged, the last commit is split")
                .into());
        };
        let commit = Commit {
            id: None,
            parents: vec![head.clone()],
            author: Person::default(),
            committer: Person::default(),
            message: message.to_owned(),
            files: staged,
            agent: None,
            looked_into: true,
        };
        let tree = repo.index_tree()?;
        return Ok(SplitSource { commit, parent: Some(head.clone()), head, tree, staged: true });
    }
    if message.is_some() {
        return Err(Failure::new(Exit::Usage, "nothing is staged, and the last commit keeps its own message").into());
    }
    let logged = repo.log(&repo.named_range(head.as_str())?)?.next().transpose()?;
    let Some(logged) = logged.filter(|logged| !logged.cut_off) else {
        return Err(Failure::new(Exit::CannotJudge, "what the last commit changes is not in this shallow clone")
            .remedy("git fetch --deepen 1")
            .into());
    };
    let mut commit = logged.commit;
    if commit.parents.len() > 1 {
        return Err(Failure::new(Exit::Usage, "the last commit is a merge, which cannot be split").into());
    }
    repo.lines().look_into(&mut commit)?;
    let parent = commit.parents.first().cloned();
    let tree = repo.tree_of(&head)?;
    Ok(SplitSource { commit, head, parent, tree, staged: false })
}

/// Prints notes for the person before the confirmation.
fn explain(source: &SplitSource, ui: &mut Ui) {
    let kept = if source.staged { "" } else { "; author and dates are kept" };
    ui.say(format_args!(
        "{DIM}The last commit will have exactly the same tree{kept}. The working tree and the index do not change."
    ));
    ui.say(format_args!(
        "Hooks do not run, because the content stays the same; no check has run on the parts alone.{DIM:#}"
    ));
}

/// Creates the commits, and moves `HEAD` once, at the end, if it has not moved.
fn carry_out(repo: &Repo, source: &SplitSource, parts: &[SplitPart]) -> Result<Vec<Oid>> {
    let base = if let Some(parent) = &source.parent { repo.tree_of(parent)? } else { repo.empty_tree() };
    let Some(TreeDiff::Changes(changes)) = repo.diff_trees(&[(base, source.tree.clone())])?.pop() else {
        return Err(Failure::new(Exit::CannotJudge, "what is to be split cannot be read").into());
    };
    let mut parts: Vec<git::CommitPlan> = parts
        .iter()
        .map(|part| git::CommitPlan {
            message: part.message.clone(),
            changes: changes
                .iter()
                .filter(|change| part.paths.contains(&change.path))
                .map(|change| (change.path.clone(), change.after.clone()))
                .collect(),
        })
        .collect();
    // A path that no part names (git tells a copy from a move differently) belongs to the last one.
    let named: std::collections::BTreeSet<_> =
        parts.iter().flat_map(|part| part.changes.iter().map(|(path, _)| path.clone())).collect();
    let rest = changes.iter().filter(|change| !named.contains(&change.path));
    let rest: Vec<_> = rest.map(|change| (change.path.clone(), change.after.clone())).collect();
    if let Some(last) = parts.last_mut() {
        last.changes.extend(rest);
    }
    let like = (!source.staged).then(|| source.head.clone());
    let made = repo.build(&CommitRewrite { parent: source.parent.clone(), tree: source.tree.clone(), like, parts })?;
    if let Some(last) = made.last() {
        repo.move_head(last, &source.head, "gate commit --split")?;
    }
    Ok(made)
}
