//! `gate status`: shows the proof for the commit and for the working tree on one screen.

use std::fs;

use anyhow::Result;

use crate::cmd::housekeeping::tidy;
use crate::cmd::named_tests;
use crate::collect::plan_progress;
use crate::engine::{Here, Workplace};
use crate::event::EventKind;
use crate::exit::Exit;
use crate::fact::{Facts, PlanProgress};
use crate::failure::Failure;
use crate::gates::finding::Answer;
use crate::model::model_settings::UserSettings;
use crate::moment::Moment;
use crate::policy::Mode;
use crate::render::observe_mode::{Observed, ObservedCase};
use crate::render::status::ModelCost;
use crate::render::ui::{Ui, WARN};
use crate::verdict::{Verdict, verdict_files};
use crate::{gates, render};

/// Arguments of `gate status`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the state as JSON
    #[arg(long)]
    json: bool,
    /// List every case that an observing gate would have blocked, with its reason
    #[arg(long)]
    observed: bool,
    /// List the tests of each command by name, if its runner names them
    #[arg(long, conflicts_with = "observed")]
    tests: bool,
}

/// Prints the state, without counting an attempt or writing a record.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    if args.tests {
        return named_tests::of_commands(&place, args.json, ui);
    }
    if args.observed {
        let observed = observed(&place)?;
        if args.json {
            ui.line(render::observe_mode::json(&observed)?);
        } else {
            ui.raw(render::observe_mode::lines(&observed));
        }
        return Ok(Exit::Pass);
    }
    let here = place.look()?;
    let facts = place.facts_here(&here, Moment::Stop, &place.session.id)?;
    let results = gates::judge(&here.policy, &facts);
    let plan = plan(&place, &here, &facts)?;
    let models = model_cost(&place, ui)?;
    let status = render::status::StatusView {
        schema_version: 1,
        branch: here.head.branch.as_deref(),
        policy: &here.policy,
        facts: &facts,
        results: &results,
        would_block: here.state.would_block(),
        attempts: &here.state.judged(&place.session.id).made_by_gate(),
        plan: plan.as_ref(),
        models,
    };
    if args.json {
        ui.line(render::status::json(&status)?);
    } else {
        ui.raw(render::status::lines(&status));
    }
    tidy(&place, &here.policy, ui);
    Ok(Exit::Pass)
}

/// Returns the plan of this session; outside of a client, else the latest of any session.
fn plan(place: &Workplace, here: &Here, facts: &Facts) -> Result<Option<PlanProgress>> {
    let others = || here.state.latest_plan().filter(|_| place.session.agent.is_none());
    let (None, Some(plan)) = (&facts.plan, others()) else { return Ok(facts.plan.clone()) };
    let progress = plan_progress::read(&place.repo, plan, here.head.commit.as_ref());
    Ok(Some(progress.map_err(Failure::with(Exit::CannotJudge))?))
}

/// Returns the cost of the user's models in this session; outside of a client, in the one that asked last. `None`: no
/// model is configured.
fn model_cost(place: &Workplace, ui: &mut Ui) -> Result<Option<ModelCost>> {
    let settings = match UserSettings::read() {
        Ok(settings) => settings,
        Err(error) => {
            ui.say(format_args!("{WARN}warning:{WARN:#} {error}"));
            return Ok(None);
        }
    };
    if settings.models.is_empty() {
        return Ok(None);
    }
    let events = place.journal.latest_events()?;
    let asked = || events.iter().rev().find(|event| matches!(event.kind, EventKind::Model(_)))?.session.clone();
    let latest = if place.session.agent.is_none() { asked() } else { None };
    let mut cost = ModelCost { session: latest.unwrap_or_else(|| place.session.id.clone()), ..ModelCost::default() };
    for event in &events {
        match &event.kind {
            EventKind::Model(call) if event.session.as_ref() == Some(&cost.session) => cost.add(call),
            _ => {}
        }
    }
    let used_up = settings.models.values().filter(|model| model.is_used_up());
    cost.used_up = used_up.map(|model| model.name.clone()).collect();
    Ok(Some(cost))
}

/// Returns the cases that observing gates would have blocked, oldest first: each gate and content once.
fn observed(place: &Workplace) -> Result<Observed> {
    let mut cases: Vec<ObservedCase> = Vec::new();
    let records = verdict_files::records(&place.repo.gate_dir())?;
    let verdicts = records.iter().filter_map(|path| serde_json::from_slice::<Verdict>(&fs::read(path).ok()?).ok());
    for verdict in verdicts {
        let failed = verdict.gates.iter().filter(|gate| gate.mode == Mode::Observe && gate.answer == Answer::Fail);
        for gate in failed {
            let case = ObservedCase::of(&verdict, gate);
            if !cases.iter().any(|known| known.is_same(&case)) {
                cases.push(case);
            }
        }
    }
    let counted: u64 = place.state()?.would_block().values().sum();
    let earlier = counted.saturating_sub(cases.len() as u64);
    Ok(Observed { cases, earlier })
}
