//! `gate attest`: signs proven results, so that they count on other machines.

use std::path::PathBuf;

use anyhow::Result;

use crate::attest::NOTES;
use crate::attest::issuance::notes_repository::{self, NotesRepository};
use crate::attest::issuance::{provable_runs, remote, verdict_statement};
use crate::attest::statement::Statement;
use crate::engine::Workplace;
use crate::exit::Exit;
use crate::oid::Oid;
use crate::policy::Policy;
use crate::render::ui::{BAD, GOOD, Ui};

/// Arguments of `gate attest`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The commit whose content was tested
    #[arg(value_name = "REV", default_value = "HEAD")]
    rev: String,
    /// Sign the verdict of `gate ci` instead: the verdict.json that it wrote here
    #[arg(long, value_name = "FILE", conflicts_with = "rev")]
    verdict: Option<PathBuf>,
    /// Sign with this SSH key instead of git's user.signingKey: a private key, or the public key of a key in ssh-agent
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Push the statements to the remote, together with the statements of others
    #[arg(long)]
    push: bool,
    /// The remote to push to
    #[arg(long, value_name = "NAME", requires = "push")]
    remote: Option<String>,
    /// Print the signed statements as JSON, one per line
    #[arg(long)]
    json: bool,
}

/// Signs, keeps, and pushes if requested.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    let mut signing =
        Signing { notes: NotesRepository::new(&place.repo, args.key.clone()), place: &place, json: args.json };
    let exit = match &args.verdict {
        Some(path) => {
            let (trees, statement) = verdict_statement::of_file(&place, path)?;
            signing.sign(&trees, &statement, "the verdict", None, ui)?;
            Exit::Pass
        }
        None => signing.runs(&args.rev, ui)?,
    };
    if args.push {
        let remote = args.remote.clone().map_or_else(|| remote::of_branch(&place.repo), Ok)?;
        if remote::push(&place.repo, &remote)? {
            ui.say(format_args!("gate: pushed {NOTES} to {remote}"));
        } else {
            ui.say(format_args!("gate: nothing is attested here, so nothing was pushed"));
        }
    }
    Ok(exit)
}

struct Signing<'a> {
    notes: NotesRepository<'a>,
    place: &'a Workplace,
    json: bool,
}

impl Signing<'_> {
    /// Attests the results of the declared commands for a commit.
    fn runs(&mut self, rev: &str, ui: &mut Ui) -> Result<Exit> {
        let proven = provable_runs::at(self.place, rev)?;
        let mut policy = Some(&proven.policy);
        let mut exit = Exit::Pass;
        for run in &proven.runs {
            match run {
                Ok(run) => {
                    let word = if run.passed { format!("{GOOD}PASSED{GOOD:#}") } else { format!("{BAD}FAILED{BAD:#}") };
                    let (commit, tree) = (proven.commit.short(), proven.tree.short());
                    let what = format!("`{}` {word} on {commit} (tree {tree})", run.line);
                    // What becomes of this key's signatures is said once.
                    if self.sign(std::slice::from_ref(&proven.tree), &run.statement()?, &what, policy, ui)? {
                        policy = None;
                    }
                }
                Err(withheld) => {
                    ui.say(format_args!("gate: not attested: {}", withheld.why));
                    if let Some(remedy) = &withheld.remedy {
                        ui.say(format_args!("      {remedy}"));
                    }
                    if withheld.lacks {
                        exit = Exit::Blocked;
                    }
                }
            }
        }
        for proof in &proven.proofs {
            let (commit, tree) = (proven.commit.short(), proven.tree.short());
            let what = format!("the red–green proof with `{}` on {commit} (tree {tree})", proof.proof.command.line);
            self.sign(std::slice::from_ref(&proven.tree), &proof.statement()?, &what, policy, ui)?;
        }
        Ok(exit)
    }

    /// Signs a statement and reports it. With a policy, also reports whether the statement counts there. Returns
    /// `true` if it was signed now.
    fn sign(
        &mut self,
        trees: &[Oid],
        statement: &Statement,
        what: &str,
        policy: Option<&Policy>,
        ui: &mut Ui,
    ) -> Result<bool> {
        let kept = self.notes.sign(trees, statement, what, |key| {
            ui.say(format_args!("gate: touch the hardware key {} to sign", key.fingerprint()));
        })?;
        if self.json {
            ui.line(serde_json::to_string(&kept.envelope)?);
        }
        let Some(key) = &kept.signed else {
            ui.say(format_args!("gate: already attested: {what}, signed with {}", kept.by()));
            return Ok(false);
        };
        ui.say(format_args!("gate: attested: {what}, signed with {}", key.fingerprint()));
        if let Some(why) = policy.and_then(|policy| notes_repository::objection(&self.place.repo, policy, key)) {
            ui.say(format_args!("gate: this does not count in CI yet: the policy {why}"));
        }
        Ok(true)
    }
}
