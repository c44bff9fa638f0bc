//! `gate prove`: shows that the tests of a change fail without it and pass with it.

use std::time::Duration;

use anyhow::Result;

use crate::cmd::named_commit;
use crate::collect::attested::AttestedRuns;
use crate::collect::merge_base::Lineage;
use crate::collect::{self, Sources};
use crate::engine::Workplace;
use crate::event::{EventKind, Origin, RedGreen, RedGreenProof};
use crate::exit::Exit;
use crate::fact::subject::Base;
use crate::failure::Failure;
use crate::gates::regression;
use crate::journal::NewEvent;
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::{Command, Policy};
use crate::red_green::{RedGreenError, RedGreenTrial};
use crate::render::ui::{BAD, GOOD, Ui, WARN};

/// The time limit for each run, if no other is given, in seconds.
const TRIAL_SECONDS: u64 = 600;

/// Arguments of `gate prove`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The declared command that runs the tests; by default, the first one of the gate `tests`
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// The commit without the change; by default, the one where the branch left its base
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// The time limit for each of the two runs, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = TRIAL_SECONDS)]
    timeout: u64,
}

/// Runs the tests without the change and with it, each on a clean checkout, and records and prints what that shows.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = super::place_of_agent()?;
    place.work_tree()?;
    let base = base(&place, args.base.as_deref())?;
    let (policy, _) = place.policy(None)?;
    let command = command(&policy, args.name.as_deref())?;
    let kept = place.repo.keep_now()?;
    ui.say(format_args!("gate: prove: {} without the change since {}, then with it", command.run, base.short()));
    let patience = Duration::from_secs(args.timeout);
    let trial = ChangeTrial { place: &place, policy: &policy, base: &base, tree: &kept.tree };
    Ok(say(&trial.record(command, patience)?, ui))
}

/// Both contents of a change.
struct ChangeTrial<'a> {
    place: &'a Workplace,
    policy: &'a Policy,
    /// The commit without the change.
    base: &'a Oid,
    /// The content with the change, as a tree.
    tree: &'a Oid,
}

impl ChangeTrial<'_> {
    /// Runs the tests on both contents, and records what that shows.
    fn record(&self, command: &Command, patience: Duration) -> Result<RedGreen> {
        let (repo, runners) = (&self.place.repo, &self.policy.runners);
        let trial = RedGreenTrial { repo, command, runners, base: self.base, tree: self.tree, patience };
        let results = trial.run().map_err(failure)?;
        let proof = RedGreenProof {
            command: command.reference(),
            base: repo.tree_of(self.base)?,
            tree: self.tree.clone(),
            results: results.clone().bounded(),
        };
        let session = Some(self.place.session.id.clone());
        let event = NewEvent { session, origin: Origin::observed(), kind: EventKind::Proof(Box::new(proof)) };
        self.place.journal.append(event).map_err(Failure::with(Exit::CannotJudge))?;
        Ok(results)
    }
}

/// Makes the proofs that the gate `regression` lacks in a CI job. A trial that shows nothing is reported, and the gate
/// says what is missing.
pub(super) fn missing(
    place: &Workplace,
    policy: &Policy,
    lineage: &Lineage,
    attested: &AttestedRuns,
    ui: &mut Ui,
) -> Result<()> {
    let Base::MergeBase { commit: base, .. } = &lineage.base else { return Ok(()) };
    let state = place.state()?;
    let sources = Sources { repo: &place.repo, journal: &place.journal, state: &state, policy };
    let mut facts = collect::at_commit(sources, Moment::Ci, "HEAD", lineage)?;
    attested.add_to(&place.repo, policy, &mut facts)?;
    let tree = place.repo.tree_of(&lineage.commit)?;
    let trial = ChangeTrial { place, policy, base, tree: &tree };
    let patience = Duration::from_secs(TRIAL_SECONDS);
    for name in regression::unproven(policy, &facts) {
        let Some(command) = policy.commands.iter().find(|command| command.name == name) else { continue };
        ui.say(format_args!("gate: prove: {} without the change since {}, then with it", command.run, base.short()));
        if let Err(error) = trial.record(command, patience) {
            ui.say(format_args!("gate: prove: {error}"));
        }
    }
    Ok(())
}

/// Returns the commit without the change.
fn base(place: &Workplace, named: Option<&str>) -> Result<Oid> {
    if let Some(rev) = named {
        let missing = || Failure::new(Exit::BadInput, format!("`{rev}` is not a commit"));
        return Ok(named_commit(&place.repo, rev)?.ok_or_else(missing)?);
    }
    let head = place.repo.head()?.commit;
    let lineage = place.lineage(head.as_ref())?;
    match lineage.map(|lineage| lineage.base) {
        Some(Base::MergeBase { commit, .. }) => Ok(commit),
        _ => {
            let failure = Failure::new(Exit::CannotJudge, "gate cannot tell where this branch left its base");
            Err(failure.remedy("name the commit without the change: gate prove --base REV").into())
        }
    }
}

fn command<'a>(policy: &'a Policy, named: Option<&str>) -> Result<&'a Command, Failure> {
    let found = policy.commands.iter().find(|command| match named {
        Some(name) => command.name == name,
        None => command.gate == "tests",
    });
    found.ok_or_else(|| {
        let what = named.map_or_else(
            || "no command of the gate `tests` is declared".to_owned(),
            |name| format!("no declared command is called `{name}`"),
        );
        Failure::new(Exit::BadInput, what).remedy("declare it in gate.toml, or: gate init --test '<command>'")
    })
}

fn failure(error: RedGreenError) -> Failure {
    let (exit, remedy) = match &error {
        RedGreenError::NoTests(_) => (Exit::Blocked, "add a test that fails without the change"),
        RedGreenError::Broken { .. } => {
            (Exit::CannotJudge, "make it pass on a clean checkout of the commit, then: gate prove")
        }
        RedGreenError::Unfinished { .. } => (Exit::CannotJudge, "give it more time: gate prove --timeout SECONDS"),
        RedGreenError::Unnamed(_) => {
            (Exit::CannotJudge, "make the runner print the names of its tests (docs/tests-by-name.md)")
        }
        RedGreenError::Checkout(_) | RedGreenError::Git(_) => (Exit::CannotJudge, ""),
    };
    Failure::new(exit, error).remedy(remedy)
}

/// Prints the fate of the tests, and returns whether the change is proven by at least one.
fn say(fate: &RedGreen, ui: &mut Ui) -> Exit {
    let rows = [
        (
            GOOD,
            "fails without this change and passes with it",
            "fail without this change and pass with it",
            &fate.proven,
        ),
        (
            WARN,
            "passes without this change, too, and shows nothing about it",
            "pass without this change, too, and show nothing about it",
            &fate.indifferent,
        ),
        (BAD, "does not pass with this change", "do not pass with this change", &fate.failing),
        (
            WARN,
            "passes with this change, and has no known result without it",
            "pass with this change, and have no known result without it",
            &fate.unknown,
        ),
    ];
    for (style, one, many, tests) in rows.into_iter().filter(|(.., tests)| !tests.is_empty()) {
        let told = if tests.len() == 1 { format!("1 test {one}") } else { format!("{} tests {many}", tests.len()) };
        ui.line(format_args!("{style}{told}{style:#}"));
        for test in tests {
            ui.line(format_args!("  {test}"));
        }
    }
    if !fate.proven.is_empty() && fate.failing.is_empty() {
        return Exit::Pass;
    }
    if fate.proven.is_empty() {
        ui.say("gate: no test fails without this change and passes with it, so no test shows what the change does");
    }
    Exit::Blocked
}
