//! `gate review`: has a change reviewed by two models that did not make it.

use std::path::PathBuf;

use serde::Serialize;

use crate::engine::{Here, Workplace};
use crate::event::model_call::ModelCall;
use crate::event::{EventKind, Origin};
use crate::exit::Exit;
use crate::fact::review::ReviewState;
use crate::fact::subject::Base;
use crate::failure::Failure;
use crate::journal::NewEvent;
use crate::judge::word_question::WordQuestion;
use crate::model::model_settings::{ModelSettings, UserSettings};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::Severity;
use crate::render;
use crate::render::ui::{Ui, WARN};
use crate::review::author_model::{self, Kinship};
use crate::review::change_parts::{ChangePart, MAX_PARTS};
use crate::review::reading::{self, Reviewers};
use crate::routing;

/// Arguments of `gate review`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Review what differs from this revision; by default, from where the work left the default branch
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// Read the task from this file; by default, it is what the person asked for last in this session
    #[arg(long, value_name = "FILE")]
    task: Option<PathBuf>,
    /// Name the model that made the change, so that it does not review itself
    #[arg(long, value_name = "MODEL")]
    author: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The answer of `gate review`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReviewReport {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The commit that the change is compared with.
    pub base: Oid,
    /// The reviewed content.
    pub tree: Oid,
    /// The model that looked at the logic, by its name in the user's configuration.
    pub reviewer: String,
    /// The model that looked at security and at the task.
    pub auditor: String,
    /// Remarks on the choice of the models.
    pub warnings: Vec<String>,
    /// The state of the review.
    pub review: ReviewState,
    /// The calls that it took; none if everything was reviewed before.
    pub calls: Vec<ModelCall>,
}

/// Has the working tree reviewed, as far as it was not reviewed before.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    let place = Workplace::here()?;
    let settings = UserSettings::read().map_err(|error| Failure::new(Exit::BadInput, error))?;
    let auditor = named(&settings, settings.auditor.as_ref())?;
    named(&settings, settings.reviewer.as_ref())?;
    let here = place.look()?;
    let base = base(&place, &here, args.base.as_deref())?;
    let git = |error| Failure::new(Exit::CannotJudge, error);
    let tree = place.repo.keep(&here.look.snapshot).map_err(git)?.tree;
    let parts = place.change_parts(&base, &tree).map_err(git)?;
    if parts.len() > MAX_PARTS {
        let what = format!("the change has {} parts, and no more than {MAX_PARTS} are reviewed", parts.len());
        return Err(Failure::new(Exit::CannotJudge, what).remedy("gate review --base REV reviews less at once").into());
    }
    let task = task(&place, &here, args)?;
    let paths: Vec<_> = parts.iter().flat_map(ChangePart::paths).collect();
    let route = routing::route(&paths, &task, &settings.routes).map_err(|what| Failure::new(Exit::BadInput, what))?;
    let reviewer = named(&settings, route.model.as_ref().or(settings.reviewer.as_ref()))?;
    if reviewer.name == auditor.name {
        let what = format!("{} is both the reviewer and the auditor: two models are needed", reviewer.name);
        return Err(Failure::new(Exit::Usage, what)
            .remedy("name another model in [review] or [routing.models]")
            .into());
    }
    let mut warnings = Vec::new();
    for model in [reviewer, auditor] {
        warnings.extend(kinship(&place, args.author.as_deref(), model)?);
    }
    let store = place.reviews();
    let reading = reading::read(&store, &parts, &task, Reviewers { reviewer, auditor });
    record(&place, &reading.calls)?;
    let mut review = store.state(&parts);
    review.failed = reading.failed;
    let report = ReviewReport {
        schema_version: 1,
        base,
        tree,
        reviewer: reviewer.name.clone(),
        auditor: auditor.name.clone(),
        warnings,
        review,
        calls: reading.calls,
    };
    if args.json {
        ui.line(serde_json::to_string_pretty(&report)?);
    } else {
        for warning in &report.warnings {
            ui.say(format_args!("{WARN}warning:{WARN:#} {warning}"));
        }
        ui.raw(render::review::lines(&report.review, report.calls.len()));
    }
    let dissents = report.review.findings.iter().any(|finding| finding.severity >= Severity::Medium);
    Ok(match (dissents, report.review.unreviewed) {
        (true, _) => Exit::Blocked,
        (false, 0) => Exit::Pass,
        (false, _) => Exit::CannotJudge,
    })
}

/// Returns a reviewer, or an error if none is configured.
fn named<'s>(settings: &'s UserSettings, name: Option<&String>) -> Result<&'s ModelSettings, Failure> {
    name.and_then(|name| settings.models.get(name)).ok_or_else(|| {
        let file = crate::model::model_settings::path().unwrap_or_else(|| PathBuf::from("gate/config.toml"));
        Failure::new(Exit::Usage, "no reviewers are configured").remedy(format_args!(
            "name two models in {}:\n[review]\nreviewer = \"NAME\"\nauditor = \"NAME\"",
            file.display()
        ))
    })
}

/// Returns a warning if a reviewer is of the author's family. The author's own model does not review.
fn kinship(place: &Workplace, author: Option<&str>, model: &ModelSettings) -> Result<Option<String>, Failure> {
    match author_model::compare(model, author, place.session.agent.as_deref()) {
        Kinship::Same => {
            let what = format!("{} is the model that made the change: it does not review itself", model.name);
            Err(Failure::new(Exit::Usage, what).remedy("name another model in [review]"))
        }
        Kinship::Family(family) => {
            Ok(Some(format!("{} and the author are models of {family}: they may miss the same faults", model.name)))
        }
        Kinship::None => Ok(None),
    }
}

fn base(place: &Workplace, here: &Here, rev: Option<&str>) -> Result<Oid, Failure> {
    if let Some(rev) = rev {
        let none = || Failure::new(Exit::Usage, format!("`{rev}` is not a commit of this repository"));
        return super::named_commit(&place.repo, rev)?.ok_or_else(none);
    }
    match here.lineage.as_ref().map(|lineage| &lineage.base) {
        Some(Base::MergeBase { commit, .. }) => Ok(commit.clone()),
        _ => Err(Failure::new(Exit::CannotJudge, "gate cannot tell where this work began")
            .remedy("gate review --base REV compares it with a revision")),
    }
}

fn task(place: &Workplace, here: &Here, args: &Args) -> Result<String, Failure> {
    if let Some(path) = &args.task {
        let wrong = |error| Failure::new(Exit::Usage, format!("{}: {error}", path.display()));
        return std::fs::read_to_string(path).map_err(wrong);
    }
    let facts = place.facts_here(here, Moment::Stop, &place.session.id)?;
    let task = WordQuestion::of_turn(&facts, &[]).task;
    Ok(if task.is_empty() { "(nobody wrote it down)".to_owned() } else { task })
}

fn record(place: &Workplace, calls: &[ModelCall]) -> Result<(), Failure> {
    let session = Some(place.session.id.clone());
    let event = |call: &ModelCall| NewEvent {
        session: session.clone(),
        origin: Origin::observed(),
        kind: EventKind::Model(call.clone()),
    };
    let events = calls.iter().map(event).collect();
    let recorded = place.journal.append_with(|_| (events, ())).1;
    recorded.map(drop).map_err(|error| Failure::new(Exit::CannotJudge, error))
}
