//! The proven runs for a commit, as statements that may be signed, and the reasons why others may not be.

use anyhow::Result;

use crate::attest::proof_statement::ProofStatement;
use crate::attest::test_run::{self, ObservedRun, TestRun};
use crate::collect::merge_base::Lineage;
use crate::collect::{self, BaseOf, Sources};
use crate::engine::Workplace;
use crate::event::Grade;
use crate::exit::Exit;
use crate::fact::{Facts, RunFact, RunProof};
use crate::failure::Failure;
use crate::gates::{self, finding::Answer};
use crate::journal::JournalState;
use crate::local_file::{LocalCause, LocalFile};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::{Command, Mode, Policy};

/// A commit, and the results of the declared commands for it.
#[derive(Clone, Debug)]
pub struct Proven {
    pub commit: Oid,
    /// Its content.
    pub tree: Oid,
    /// The policy that the commands are of.
    pub policy: Policy,
    /// The runs that may be signed, and the reasons why others may not, in the order of the policy's gates.
    pub runs: Vec<Result<TestRun, Withheld>>,
    /// The newest red–green proof of each command on exactly this content.
    pub proofs: Vec<ProofStatement>,
}

/// The reason why a command has nothing to sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withheld {
    /// The reason, as a sentence that names the command.
    pub why: String,
    pub remedy: Option<String>,
    /// `true` if something is missing, `false` if no gate needs a run.
    pub lacks: bool,
}

/// Returns the proven runs for the commit that `rev` names.
pub fn at(place: &Workplace, rev: &str) -> Result<Proven> {
    let commit = place
        .repo
        .named_commit(rev)
        .map_err(Failure::with(Exit::CannotJudge))?
        .ok_or_else(|| Failure::new(Exit::Usage, format!("`{rev}` is not a commit of this repository")))?;
    let lineage = collect::lineage(&place.repo, &commit, BaseOf::AnyRemote)?;
    let (policy, _) = place.policy(Some(&lineage))?;
    if policy.commands.is_empty() {
        let failure = Failure::new(Exit::Usage, "no command is declared, so there is nothing to attest");
        return Err(failure.remedy("declare one: gate init --test '<command>'").into());
    }
    let tree = place.repo.tree_of(&commit)?;
    let (facts, answers) = answers(place, &policy, rev, &lineage)?;
    let subject = facts.subjects.first();
    let run_of = |command: &Command, id: &str| {
        let runs = subject.and_then(|subject| subject.runs.get(&command.name))?;
        runs.iter().find(|run| run.id == id && run.grade == Grade::Observed)
    };
    let mut runs = Vec::new();
    for (command, answer) in answers {
        let run = answer.evidence.as_deref().and_then(|id| run_of(command, id));
        runs.push(match run {
            Some(run) if !local_inputs(command, run).is_empty() => Err(beside_local_files(command, run)),
            Some(run) => attested(command, &tree, run).map_err(|why| Withheld {
                why: format!("`{}`: {why}", command.run),
                remedy: None,
                lacks: true,
            }),
            None => Err(answer.withheld),
        });
    }
    let proofs = proofs(&place.state()?, &policy, &tree);
    Ok(Proven { commit, tree, policy, runs, proofs })
}

fn proofs(state: &JournalState, policy: &Policy, tree: &Oid) -> Vec<ProofStatement> {
    let newest = |command: &Command| {
        let key = command.reference().key;
        let mut proofs = state.proofs().iter().filter(|(_, proof)| proof.command.key == key && proof.tree == *tree);
        proofs.next().map(|(id, proof)| ProofStatement { id: id.clone(), proof: proof.clone() })
    };
    policy.commands.iter().filter_map(newest).collect()
}

/// The answer of a gate about a command.
struct CommandAnswer {
    /// The message if there is no run to sign.
    withheld: Withheld,
    /// The run that the answer rests on, if it says how that ended.
    evidence: Option<String>,
}

/// Returns the answers of the gates that require commands, as if only gate's own observations counted.
fn answers<'a>(
    place: &Workplace,
    policy: &'a Policy,
    name: &str,
    lineage: &Lineage,
) -> Result<(Facts, Vec<(&'a Command, CommandAnswer)>)> {
    let mut asked = policy.clone();
    asked.gates.retain(|gate| policy.commands.iter().any(|command| command.gate == gate.id));
    for gate in &mut asked.gates {
        gate.min_grade = Grade::Observed;
        gate.mode = Mode::Block;
        gate.moments = vec![Moment::Ci];
    }
    let state = place.state()?;
    let sources = Sources { repo: &place.repo, journal: &place.journal, state: &state, policy: &asked };
    let facts = collect::at_commit(sources, Moment::Ci, name, lineage)?;
    let results = gates::judge(&asked, &facts);
    let mut answers = Vec::new();
    for finding in results.into_iter().flat_map(|result| result.findings) {
        let named = policy.commands.iter().find(|command| Some(&command.name) == finding.command.as_ref());
        let Some(command) = named else { continue };
        let ended = matches!(finding.reason.as_str(), "passed" | "failed");
        let evidence = finding.evidence.into_iter().next().filter(|_| ended);
        let lacks = finding.answer >= Answer::Unknown;
        let withheld = Withheld { why: finding.message, remedy: finding.remedy, lacks };
        answers.push((command, CommandAnswer { withheld, evidence }));
    }
    Ok((facts, answers))
}

/// Returns the input files of a run that a checkout on another machine does not have in the same form.
fn local_inputs<'r>(command: &Command, run: &'r RunFact) -> Vec<&'r LocalFile> {
    run.local_files.iter().filter(|file| command.inputs.matches(&file.path)).collect()
}

/// Refuses a run with such local files. It reports the first cause only.
fn beside_local_files(command: &Command, run: &RunFact) -> Withheld {
    let files = local_inputs(command, run);
    let cause = files.first().map_or(LocalCause::Ignored, |file| file.cause);
    let paths: Vec<_> = files.iter().filter(|file| file.cause == cause).map(|file| &file.path).collect();
    Withheld {
        why: format!("`{}` ran on files that other checkouts do not have: {}", command.run, cause.reason(&paths)),
        remedy: Some(format!("{}; or remove it; then: gate run {}", cause.remedy(&paths), command.name)),
        lacks: true,
    }
}

/// Returns a run in the form of an attestation; `Err` says why it cannot be attested.
fn attested(command: &Command, tree: &Oid, run: &RunFact) -> Result<TestRun, &'static str> {
    let passed = match run.shows() {
        RunProof::Pass => true,
        RunProof::Fail => false,
        RunProof::Nothing | RunProof::Masked => return Err("how it ended shows nothing"),
    };
    let (Some(changed), Some(differs)) = (run.changed.clone(), run.differs.clone()) else {
        return Err("the content it ran on cannot be compared any more");
    };
    let lists = [&changed, &differs, &run.untracked, &run.opaque];
    if lists.iter().any(|list| list.len() > test_run::MAX_PATHS) {
        return Err(
            "too many files changed while it ran, or are not in the commit: what it leaves behind can be ignored",
        );
    }
    let seen = ObservedRun {
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
