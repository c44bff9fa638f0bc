//! `gate explain`: explains the requirements of a gate, or the result of a verdict.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::engine::Workplace;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::judge::word_question::WordQuestion;
use crate::model::model_settings::UserSettings;
use crate::moment::Moment;
use crate::render;
use crate::render::ui::Ui;
use crate::routing;
use crate::verdict::{Verdict, verdict_files};

/// Arguments of `gate explain`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A gate, the id of a verdict, the path of its record, or `routing`; without any, the last verdict
    #[arg(value_name = "GATE|VERDICT")]
    what: Option<String>,
}

/// Prints the explanation.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    let head = place.repo.head()?.commit;
    let lineage = place.lineage(head.as_ref())?;
    let (policy, _) = place.policy(lineage.as_ref())?;
    if args.what.as_deref() == Some("routing") {
        return routing(&place, ui);
    }
    if let Some(text) = args.what.as_ref().and_then(|what| render::explain::gate(&policy, what)) {
        ui.raw(text);
        return Ok(Exit::Pass);
    }
    let Some((path, verdict)) = find(&place, args.what.as_deref())? else {
        let gates = render::explain::ids(&policy).join(", ");
        return Err(match &args.what {
            Some(what) => {
                Failure::new(Exit::Usage, format!("`{what}` is neither a gate nor a verdict of this repository"))
                    .remedy(format!("the gates are {gates}; to list verdicts: gate log"))
            }
            None => Failure::new(Exit::Usage, "there is no verdict yet").remedy("to get one: gate check"),
        }
        .into());
    };
    ui.raw(render::verdict::lines(&verdict, Some(&path)));
    for gate in verdict.gates.iter().filter(|gate| gate.answer >= crate::gates::finding::Answer::Unknown) {
        if let Some(text) = render::explain::gate(&policy, &gate.gate) {
            ui.line("");
            ui.raw(text);
        }
    }
    Ok(Exit::Pass)
}

/// Prints the kind of the work here, and the user's model for it.
fn routing(place: &Workplace, ui: &mut Ui) -> Result<Exit> {
    let settings = UserSettings::read().map_err(Failure::with(Exit::BadInput))?;
    let here = place.look()?;
    let facts = place.facts_here(&here, Moment::Stop, &place.session.id)?;
    let paths = routing::changed_paths(&facts);
    let task = WordQuestion::of_turn(&facts, &[]).task;
    let route = super::review::route(place, &settings, &paths, &task)?;
    ui.line(format_args!("{}: {}", route.kind, route.why));
    match route.model {
        Some(model) => ui.line(format_args!("model: {model}")),
        None => ui.line("model: none is configured for it in [routing.models]"),
    }
    if let Some(model) = route.feedback {
        ui.line(format_args!("after a refusal, OpenCode goes on with {model}"));
    }
    Ok(Exit::Pass)
}

/// Returns the record with this path or id, or the newest one.
pub(super) fn find(place: &Workplace, what: Option<&str>) -> Result<Option<(PathBuf, Verdict)>> {
    find_where(place, what, |_| true)
}

/// Returns such a record among those that `counts` accepts.
pub(super) fn find_where(
    place: &Workplace,
    what: Option<&str>,
    counts: impl Fn(&Verdict) -> bool,
) -> Result<Option<(PathBuf, Verdict)>> {
    if let Some(path) = what.map(PathBuf::from).filter(|path| path.is_file()) {
        return Ok(Some((path.clone(), read(&path)?)));
    }
    let records = verdict_files::records(&place.repo.gate_dir())?;
    let read = |path: PathBuf| Some((serde_json::from_slice::<Verdict>(&fs::read(&path).ok()?).ok()?, path));
    let mut readable = records.into_iter().rev().filter_map(read);
    let found = readable.find(|(verdict, _)| what.is_none_or(|what| verdict.id == what) && counts(verdict));
    Ok(found.map(|(verdict, path)| (path, verdict)))
}

/// Reads a record, or the summary that points to it.
pub(super) fn read(path: &Path) -> Result<Verdict> {
    let bytes = fs::read(path)?;
    let pointed = serde_json::from_slice::<serde_json::Value>(&bytes).ok();
    let pointed = pointed.as_ref().and_then(|summary| summary.get("record")?.as_str().map(PathBuf::from));
    let bytes = if let Some(record) = &pointed { fs::read(record)? } else { bytes };
    let verdict = serde_json::from_slice(&bytes).map_err(|error| {
        Failure::new(
            Exit::BadInput,
            format!("{}:{}:{}: not a verdict: {error}", path.display(), error.line(), error.column()),
        )
    })?;
    Ok(verdict)
}
