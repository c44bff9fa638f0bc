//! Edits that a model of the user suggests.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::record::CuratedRecord;
use crate::engine::Workplace;
use crate::exit::Exit;
use crate::fact::FailedJudge;
use crate::failure::Failure;
use crate::foreign_text::plain;
use crate::judge::memory_question::MemoryQuestion;
use crate::learn::curator::suggested::{self, DroppedEdits, SuggestedEdit};
use crate::learn::curator::{CuratorSources, MAX_PROPOSALS, MemoryProposal, citable_evidence};
use crate::model::model_settings::ModelSettings;
use crate::plural::counted;
use crate::render::ui::{Ui, WARN};
use crate::verdict::verdict_files::write_json;

/// The largest number of commits that a model is shown.
const MAX_COMMITS: usize = 60;

/// The result of asking a model, besides its proposals.
#[derive(Debug, Default)]
pub(super) struct ModelResult {
    pub(super) dropped: Vec<DroppedEdits>,
    pub(super) failed: Option<FailedJudge>,
}

/// The last answer of a model. With it, a decision finds the proposals that the person saw.
#[derive(Serialize, Deserialize)]
struct KeptSuggestions {
    schema_version: u32,
    /// The digest of the question.
    question: String,
    edits: Vec<SuggestedEdit>,
}

/// Asks a model for more proposals, and adds those that hold.
pub(super) fn add(
    place: &Workplace,
    model: &ModelSettings,
    sources: &CuratorSources<'_>,
    record: &CuratedRecord,
    proposals: &mut Vec<MemoryProposal>,
    ui: &mut Ui,
) -> Result<ModelResult> {
    let name = &model.name;
    if proposals.len() >= MAX_PROPOSALS {
        ui.say(format_args!("gate: {name} was not asked, because the record alone shows {MAX_PROPOSALS} edits"));
        return Ok(ModelResult::default());
    }
    let evidence = citable_evidence::citable(sources, &commits(place, record)?, &record.evaluations);
    if evidence.is_empty() {
        ui.say(format_args!("gate: {name} was not asked, because the record holds no evidence"));
        return Ok(ModelResult::default());
    }
    let edits = match edits(place, model, &MemoryQuestion::new(sources.memory, &evidence))? {
        Ok(edits) => edits,
        Err(why) => {
            let why = plain(&why);
            ui.say(format_args!("{WARN}warning:{WARN:#} {name} gave no answer: {why}"));
            return Ok(ModelResult {
                failed: Some(FailedJudge { judge: name.clone(), why }),
                ..ModelResult::default()
            });
        }
    };
    let dropped = suggested::add(sources, &evidence, &edits, proposals);
    if !dropped.is_empty() {
        let all = counted(dropped.iter().map(|one| one.count as u64).sum::<u64>(), "proposal");
        let reasons: Vec<String> =
            dropped.iter().map(|one| format!("{} ({})", one.reason.words(), one.count)).collect();
        ui.say(format_args!("gate: dropped {all} of {name}: {}", reasons.join("; ")));
    }
    Ok(ModelResult { dropped, failed: None })
}

/// Returns the commits since the first session that was read, oldest first.
fn commits(place: &Workplace, record: &CuratedRecord) -> Result<Vec<(String, String)>> {
    let Some(since) = record.since else { return Ok(Vec::new()) };
    let mut commits = place.repo.subjects_since(since, MAX_COMMITS).map_err(Failure::with(Exit::CannotJudge))?;
    commits.reverse();
    Ok(commits)
}

/// Returns the edits that a model suggests, from its last answer if that was to the same question.
fn edits(
    place: &Workplace,
    model: &ModelSettings,
    question: &MemoryQuestion,
) -> Result<Result<Vec<SuggestedEdit>, String>> {
    let digest = match question.digest(model) {
        Ok(digest) => digest,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let file = place.repo.gate_dir().join("suggested-rules.json");
    if let Some(kept) = kept(&file).filter(|kept| kept.question == digest) {
        return Ok(Ok(kept.edits));
    }
    let (call, answer) = question.ask(model);
    super::super::review::record(place, call.as_slice())?;
    if let Ok(edits) = &answer {
        let kept = KeptSuggestions { schema_version: 1, question: digest, edits: edits.clone() };
        write_json(&file, &kept).map_err(Failure::of_file(Exit::CannotJudge, &file))?;
    }
    Ok(answer)
}

fn kept(file: &PathBuf) -> Option<KeptSuggestions> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}
