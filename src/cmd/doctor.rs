//! `gate doctor`: checks that the installation works, and reports faults.

use crate::cmd::install_failure;
use crate::collect::{self, BaseOf};
use crate::doctor::{CheckSource, DoctorCheck, Health, examine, signers};
use crate::engine::Workplace;
use crate::event::{EventKind, Origin};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::git::DefaultBranch;
use crate::install::InstallTarget;
use crate::journal::NewEvent;
use crate::policy::PolicySource;
use crate::render;
use crate::render::ui::Ui;

/// Arguments of `gate doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the checks as JSON
    #[arg(long)]
    json: bool,
    /// Record that you have seen the faults of the journal, so that verdicts no longer mention them; nothing is
    /// repaired
    #[arg(long)]
    repair: bool,
}

/// Checks the repository of the current directory. Exits with 10 if something is broken.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    let repository = InstallTarget::discover(&std::env::current_dir()?).map_err(install_failure)?;
    if args.repair {
        repair(ui)?;
    }
    let checks = examine(&repository, sources());
    if args.json {
        render::doctor::json(&checks, ui)?;
    } else {
        render::doctor::text(&checks, ui);
    }
    Ok(if Health::worst(&checks) == Health::Broken { Exit::Blocked } else { Exit::Pass })
}

/// Records that a person acknowledged the faults of the journal.
fn repair(ui: &mut Ui) -> anyhow::Result<()> {
    let place = Workplace::here()?;
    if place.session.agent.is_some() {
        return Err(Failure::new(Exit::NeedsHuman, "only a person can acknowledge a damaged journal").into());
    }
    let integrity = place.journal.verify()?;
    if place.repo.lost_its_journal() {
        place.repo.renew_journal_mark()?;
        ui.say(format_args!("gate: acknowledged: {}", collect::JOURNAL_REMOVED));
    } else if integrity.is_intact() {
        ui.say("gate: the journal is intact: there is nothing to repair");
    }
    if integrity.is_intact() {
        return Ok(());
    }
    let session = Some(place.session.id.clone());
    let kind = EventKind::Repaired(integrity.to_repaired());
    place.journal.append(NewEvent { session, origin: Origin::observed(), kind })?;
    ui.say(format_args!("gate: acknowledged: {integrity}; those lines stay as they are and prove nothing"));
    Ok(())
}

/// Returns the checks of other parts of the program.
fn sources() -> Vec<CheckSource<'static>> {
    match Workplace::here() {
        Ok(place) => {
            vec![Box::new(move || [policy(&place), journal(&place), concealment(&place), remotes(&place)].concat())]
        }
        Err(failure) => vec![Box::new(move || vec![DoctorCheck::broken("repository", failure.what, failure.remedy)])],
    }
}

fn policy(place: &Workplace) -> Vec<DoctorCheck> {
    let head = place.repo.head().ok().and_then(|head| head.commit);
    let lineage = head.and_then(|head| collect::lineage(&place.repo, &head, BaseOf::AnyRemote).ok());
    match place.policy(lineage.as_ref()) {
        Err(failure) => {
            vec![DoctorCheck::broken("policy", failure.what, "fix gate.toml; `gate schema policy` describes it")]
        }
        Ok((policy, notes)) => {
            let (found, remedy) = match &policy.source {
                PolicySource::Defaults => {
                    (Some(DoctorCheck::warn("policy", "there is no gate.toml: the defaults apply", "gate init")), "")
                }
                // A note says that it is not committed yet.
                PolicySource::WorkingTree => (None, "git add gate.toml && git commit"),
                PolicySource::Commit(commit) => {
                    (Some(DoctorCheck::ok("policy", format!("gate.toml of {}", commit.short()))), "")
                }
            };
            let notes = notes.into_iter().map(|note| DoctorCheck::warn("policy", note.text, remedy));
            found.into_iter().chain(notes).chain(signers::look(&place.repo, &policy)).collect()
        }
    }
}

fn journal(place: &Workplace) -> Vec<DoctorCheck> {
    let whole = match place.journal.verify() {
        Ok(_) if place.repo.lost_its_journal() => {
            DoctorCheck::warn("journal", collect::JOURNAL_REMOVED, "gate doctor --repair")
        }
        Ok(integrity) if integrity.is_intact() => DoctorCheck::ok("journal", integrity.to_string()),
        Ok(integrity) => {
            let what = format!("{integrity}; nothing else is lost, and those lines prove nothing");
            DoctorCheck::warn("journal", what, "gate doctor --repair")
        }
        Err(error) => DoctorCheck::broken("journal", error.to_string(), "nothing can be recorded until it can be read"),
    };
    let unwritable = place.journal.probe().err().map(|error| {
        let what = format!("the journal cannot be written: {error}");
        DoctorCheck::warn("journal", what, "runs are kept in .gate/spool until it can")
    });
    std::iter::once(whole).chain(unwritable).collect()
}

fn concealment(place: &Workplace) -> Vec<DoctorCheck> {
    let tool_folders = place.repo.root().and_then(|_| place.repo.snapshot().ok()).map(|here| here.tool_folders);
    let unlisted = tool_folders.unwrap_or_default().into_iter().filter(|folder| !folder.is_checkout());
    let missing = unlisted.map(|folder| {
        let what = format!("{}/ ({}) is untracked and not in .gitignore", folder.path, folder.what);
        DoctorCheck::warn("tool-folder", what, folder.remedy())
    });
    match place.repo.concealment() {
        Ok(found) if found.is_empty() => {
            std::iter::once(DoctorCheck::ok("concealment", "nothing hides edits from git")).chain(missing).collect()
        }
        Ok(found) => {
            let hidden = found.into_iter().map(|one| DoctorCheck::warn(one.kind.as_str(), one.what, ""));
            hidden.chain(missing).collect()
        }
        Err(error) => vec![DoctorCheck::broken("concealment", error.to_string(), "")],
    }
}

fn remotes(place: &Workplace) -> Vec<DoctorCheck> {
    let remotes = place.repo.remotes().unwrap_or_default();
    let check = |remote: crate::git::Remote| match place.repo.remote_default_branch(&remote.name, &remote.push_url) {
        DefaultBranch::Known(branch) => DoctorCheck::ok(
            "default-branch",
            format!("the default branch of {} is {}", remote.name, branch.trim_start_matches("refs/heads/")),
        ),
        DefaultBranch::EmptyRemote => DoctorCheck::ok("default-branch", format!("{} has no branch yet", remote.name)),
        DefaultBranch::Unborn => {
            DoctorCheck::ok("default-branch", format!("{} does not have its default branch yet", remote.name))
        }
        DefaultBranch::Unknown(why) => DoctorCheck::warn(
            "default-branch",
            format!(
                "the default branch of {} cannot be told, so every push to a branch of it is refused: {why}",
                remote.name
            ),
            format!("git remote set-head {} --auto", remote.name),
        ),
    };
    remotes.into_iter().map(check).collect()
}
