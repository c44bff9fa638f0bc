//! `gate attest`: sign what was proven here, so that it counts where nobody saw it run.

use std::path::PathBuf;

use anyhow::Result;
use jiff::Timestamp;

use crate::attest::sign::{SignError, Signer};
use crate::attest::statement::Statement;
use crate::attest::test_run::{self, Seen, TestRun};
use crate::attest::{Envelope, LONGEST, NAMESPACE, NOTES};
use crate::cmd::attest_verdict;
use crate::engine::Workplace;
use crate::event::Grade;
use crate::exit::Exit;
use crate::fact::Facts;
use crate::fact::attested::{self, LARGEST};
use crate::fact::collect::{self, BaseOf, Sources};
use crate::fact::evidence::{RunFact, Shows};
use crate::fact::lineage::Lineage;
use crate::failure::Failure;
use crate::gates::{self, finding::Answer};
use crate::git::GitError;
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::{Command, Policy, PolicySource, Signers};
use crate::render::ui::{BAD, GOOD, Ui};
use crate::ssh::PublicKey;
use crate::ssh::signers::{Standing, standing};

/// Arguments of `gate attest`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The commit whose content was tested
    #[arg(value_name = "REV", default_value = "HEAD")]
    rev: String,
    /// Sign what `gate ci` judged instead: the verdict.json that it wrote here
    #[arg(long, value_name = "FILE", conflicts_with = "rev")]
    verdict: Option<PathBuf>,
    /// Sign with this SSH key instead of git's user.signingKey; the private key, or the public one of an agent's
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Push the statements to the remote, together with those of others
    #[arg(long)]
    push: bool,
    /// Where to push
    #[arg(long, value_name = "NAME", requires = "push")]
    remote: Option<String>,
    /// Print the signed statements as JSON, one a line
    #[arg(long)]
    json: bool,
}

/// Signs, keeps, and pushes where that is asked for.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    let exit = match &args.verdict {
        Some(path) => {
            let (trees, statement) = attest_verdict::statement(&place, path)?;
            let mut desk = Desk::new(args, &place, None);
            desk.sign(&trees, &statement, "the verdict", ui)?;
            Exit::Pass
        }
        None => runs(args, &place, ui)?,
    };
    if args.push {
        push(args, &place, ui)?;
    }
    Ok(exit)
}

/// Attests what the declared commands showed about a commit.
fn runs(args: &Args, place: &Workplace, ui: &mut Ui) -> Result<Exit> {
    let commit = place
        .repo
        .commit(&args.rev)?
        .ok_or_else(|| Failure::new(Exit::Usage, format!("`{}` is not a commit of this repository", args.rev)))?;
    let lineage = collect::lineage(&place.repo, &commit, BaseOf::AnyRemote)?;
    let (policy, _) = place.policy(Some(&lineage))?;
    if policy.commands.is_empty() {
        let failure = Failure::new(Exit::Usage, "no command is declared, so there is nothing to attest");
        return Err(failure.remedy("declare one: gate init --test '<command>'").into());
    }
    let (facts, open) = known(place, &policy, &args.rev, &lineage)?;
    let Some(subject) = facts.subjects.first() else { return Ok(Exit::CannotJudge) };
    let Some(tree) = &subject.tree else { return Ok(Exit::CannotJudge) };
    let mut desk = Desk::new(args, place, Some(&policy));
    let mut exit = Exit::Pass;
    for (command, found) in open {
        let run = found.evidence.and_then(|id| {
            let runs = subject.runs.get(&command.name)?;
            runs.iter().find(|run| run.id == id && run.grade == Grade::Observed)
        });
        let attested = run.map(|run| attest(command, tree, run));
        match attested {
            Some(Ok(run)) => {
                let statement = run.statement()?;
                let word = if run.passed { format!("{GOOD}PASSED{GOOD:#}") } else { format!("{BAD}FAILED{BAD:#}") };
                let what = format!("`{}` {word} on {} (tree {})", run.line, commit.short(), tree.short());
                desk.sign(std::slice::from_ref(tree), &statement, &what, ui)?;
            }
            Some(Err(why)) => {
                ui.say(format_args!("gate: not attested: `{}`: {why}", command.run));
                exit = Exit::Blocked;
            }
            None => {
                ui.say(format_args!("gate: not attested: {}", found.message));
                if let Some(remedy) = &found.remedy {
                    ui.say(format_args!("      {remedy}"));
                }
                if found.answer >= Answer::Unknown {
                    exit = Exit::Blocked;
                }
            }
        }
    }
    Ok(exit)
}

/// What is known of a command.
struct Found {
    answer: Answer,
    message: String,
    remedy: Option<String>,
    /// The run that the answer rests on, where it says how that ended.
    evidence: Option<String>,
}

/// The answers of the gates that ask for commands, as if nothing counted but what gate itself saw.
fn known<'a>(
    place: &Workplace,
    policy: &'a Policy,
    name: &str,
    lineage: &Lineage,
) -> Result<(Facts, Vec<(&'a Command, Found)>)> {
    let mut asked = policy.clone();
    asked.gates.retain(|gate| policy.commands.iter().any(|command| command.gate == gate.id));
    for gate in &mut asked.gates {
        gate.min_grade = Grade::Observed;
        gate.mode = crate::policy::Mode::Block;
        gate.moments = vec![Moment::Ci];
    }
    let state = place.state()?;
    let sources = Sources { repo: &place.repo, journal: &place.journal, state: &state, policy: &asked };
    let facts = collect::at_commit(sources, Moment::Ci, name, lineage)?;
    let results = gates::judge(&asked, &facts);
    let mut open = Vec::new();
    for finding in results.into_iter().flat_map(|result| result.findings) {
        let named = policy.commands.iter().find(|command| Some(&command.name) == finding.command.as_ref());
        let Some(command) = named else { continue };
        let ended = matches!(finding.reason.as_str(), "passed" | "failed");
        let evidence = finding.evidence.into_iter().next().filter(|_| ended);
        open.push((
            command,
            Found { answer: finding.answer, message: finding.message, remedy: finding.remedy, evidence },
        ));
    }
    Ok((facts, open))
}

/// A run as it can be attested; `Err` says why it cannot.
fn attest(command: &Command, tree: &Oid, run: &RunFact) -> Result<TestRun, &'static str> {
    let passed = match run.shows() {
        Shows::Pass => true,
        Shows::Fail => false,
        Shows::Nothing | Shows::Masked => return Err("how it ended shows nothing"),
    };
    let (Some(changed), Some(differs)) = (run.changed.clone(), run.differs.clone()) else {
        return Err("the content it ran on cannot be compared any more");
    };
    let lists = [&changed, &differs, &run.untracked, &run.opaque];
    if lists.iter().any(|list| list.len() > test_run::MOST_PATHS) {
        return Err(
            "too many files changed while it ran, or are not in the commit: what it leaves behind can be ignored",
        );
    }
    let seen = Seen {
        id: run.id.clone(),
        dir: command.dir.clone(),
        ended: run.ended,
        report: run.report.clone(),
        changed,
        differs,
        untracked: run.untracked.clone(),
        opaque: run.opaque.clone(),
    };
    Ok(TestRun { tree: tree.clone(), passed, name: command.name.clone(), line: command.run.clone(), seen })
}

/// Where statements are signed and kept.
struct Desk<'a> {
    args: &'a Args,
    place: &'a Workplace,
    /// Whose signers the key is looked for in; `None`: nobody has to count it.
    policy: Option<&'a Policy>,
    signer: Option<Signer>,
    /// Whether it was said what becomes of this key's signatures.
    told: bool,
}

impl<'a> Desk<'a> {
    fn new(args: &'a Args, place: &'a Workplace, policy: Option<&'a Policy>) -> Self {
        Self { args, place, policy, signer: None, told: false }
    }

    /// Signs `statement` and keeps it with each of `trees`, once.
    fn sign(&mut self, trees: &[Oid], statement: &Statement, what: &str, ui: &mut Ui) -> Result<()> {
        let payload = serde_json::to_vec(statement)?;
        let known = self.place.repo.notes(NOTES, trees, LARGEST)?;
        if let Some(envelope) = known.iter().find_map(|(_, note)| holding(note, &payload)) {
            let by = envelope.signatures.first().map_or("", |signed| signed.keyid.as_str()).to_owned();
            self.show(&envelope, ui)?;
            ui.say(format_args!("gate: already attested: {what}, signed with {by}"));
            return Ok(());
        }
        let signer = match &self.signer {
            Some(signer) => signer,
            None => {
                let found = Signer::find(&self.place.repo, self.args.key.as_deref()).map_err(refused)?;
                self.signer.insert(found)
            }
        };
        let (envelope, key) = signer.sign(&payload).map_err(refused)?;
        let line = serde_json::to_string(&envelope)?;
        if line.len() > LONGEST {
            return Err(Failure::new(Exit::CannotJudge, format!("{what} makes too long a statement")).into());
        }
        for tree in trees {
            self.place.repo.add_to_note(NOTES, tree, std::slice::from_ref(&line), LARGEST)?;
        }
        self.show(&envelope, ui)?;
        ui.say(format_args!("gate: attested: {what}, signed with {}", key.fingerprint()));
        self.tell(&key, ui);
        Ok(())
    }

    fn show(&self, envelope: &Envelope, ui: &mut Ui) -> Result<()> {
        if self.args.json {
            ui.line(serde_json::to_string(envelope)?);
        }
        Ok(())
    }

    /// Says where this key counts for nothing, once.
    fn tell(&mut self, key: &PublicKey, ui: &mut Ui) {
        let Some(policy) = self.policy.filter(|_| !self.told) else { return };
        self.told = true;
        let why = match &policy.source {
            _ if policy.signers == Signers::Nobody => Some("names no signers ([attest] in gate.toml)".to_owned()),
            PolicySource::Commit(commit) => match attested::signers(&self.place.repo, policy, commit) {
                Ok((signers, _)) => match standing(&signers, key, NAMESPACE, Timestamp::now()) {
                    Standing::Allowed(_) => None,
                    Standing::Expired(signer, until) => {
                        Some(format!("allowed this key of {} until {until}", signer.name))
                    }
                    Standing::NotYet(signer, from) => {
                        Some(format!("allows this key of {} from {from} on", signer.name))
                    }
                    Standing::Elsewhere(signer) => {
                        Some(format!("allows {} to sign for other things only", signer.name))
                    }
                    Standing::Unknown => Some("does not name this key as a signer".to_owned()),
                },
                Err(why) => Some(format!("cannot say who may sign: {why}")),
            },
            PolicySource::WorkingTree | PolicySource::Defaults => Some("is not committed".to_owned()),
        };
        if let Some(why) = why {
            ui.say(format_args!("gate: this counts for nothing in CI yet: the policy {why}"));
        }
    }
}

/// The envelope in a note that holds exactly this payload.
fn holding(note: &[u8], payload: &[u8]) -> Option<Envelope> {
    let text = String::from_utf8_lossy(note);
    let envelopes = text.lines().filter_map(|line| serde_json::from_str::<Envelope>(line).ok());
    let mut same = envelopes.filter(|envelope| envelope.payload().as_deref() == Some(payload));
    same.find(|envelope| envelope.signers(payload).is_ok())
}

fn refused(error: SignError) -> Failure {
    let remedy = match &error {
        SignError::NoKey => {
            "git config gpg.format ssh && git config user.signingKey ~/.ssh/id_ed25519.pub, or: --key FILE"
        }
        SignError::NotStarted { .. } => "install OpenSSH, or name another program: git config gpg.ssh.program",
        SignError::Unverifiable(_) => "use an Ed25519, ECDSA (P-256, P-384) or RSA key",
        SignError::Git(_) | SignError::Refused { .. } | SignError::File(_) => "",
    };
    Failure::new(Exit::CannotJudge, error).remedy(remedy)
}

fn push(args: &Args, place: &Workplace, ui: &mut Ui) -> Result<()> {
    let remote = match &args.remote {
        Some(remote) => remote.clone(),
        None => remote(place)?,
    };
    match place.repo.push_notes(&remote, NOTES) {
        Ok(true) => ui.say(format_args!("gate: pushed {NOTES} to {remote}")),
        Ok(false) => ui.say(format_args!("gate: nothing is attested here, so nothing was pushed")),
        Err(why) => {
            let what = format!("{NOTES} could not be pushed to {remote}: {why}");
            return Err(Failure::new(Exit::CannotJudge, what).remedy("gate attest --push tries again").into());
        }
    }
    Ok(())
}

/// Where the branch that is checked out is pushed.
fn remote(place: &Workplace) -> Result<String, Failure> {
    let git = |error: GitError| Failure::new(Exit::Internal, error);
    let remotes = place.repo.remotes().map_err(git)?;
    let branch = place.repo.head().map_err(git)?.branch;
    let branch = branch.as_deref().and_then(|name| name.strip_prefix("refs/heads/"));
    let of_branch = |key: &str| place.repo.config(&format!("branch.{}.{key}", branch?)).ok().flatten();
    let set = of_branch("pushremote");
    let set = set.or_else(|| place.repo.config("remote.pushdefault").ok().flatten()).or_else(|| of_branch("remote"));
    let known = |name: &str| remotes.iter().any(|remote| remote.name == name);
    if let Some(name) = set.filter(|name| known(name)) {
        return Ok(name);
    }
    match remotes.as_slice() {
        _ if known("origin") => Ok("origin".to_owned()),
        [one] => Ok(one.name.clone()),
        [] => Err(Failure::new(Exit::Usage, "there is no remote to push to").remedy("git remote add origin URL")),
        _ => {
            let names: Vec<_> = remotes.iter().map(|remote| remote.name.as_str()).collect();
            let remedy = format!("gate attest --push --remote {}", names.join("|"));
            Err(Failure::new(Exit::Usage, "there are several remotes, and none is called origin").remedy(remedy))
        }
    }
}
