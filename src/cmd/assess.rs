//! `gate assess`: compares an agent's assessment of its own work with the record.

use std::io::Read;
use std::path::PathBuf;

use anyhow::Result;

use crate::embedded::{TEMPLATES, file};
use crate::engine::{Uncommitted, Workplace};
use crate::exit::Exit;
use crate::fact::assessment::Assessment;
use crate::failure::Failure;
use crate::gates::word_judge;
use crate::model::model_settings::UserSettings;
use crate::moment::Moment;
use crate::render;
use crate::render::ui::Ui;

/// Arguments of `gate assess`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The filled-in form, with any text around it; by default, standard input
    #[arg(value_name = "FILE")]
    form: Option<PathBuf>,
    /// Print the form to fill in, and what it is for
    #[arg(long, conflicts_with_all = ["form", "json"])]
    prompt: bool,
    /// Print the verdict as JSON
    #[arg(long)]
    json: bool,
}

/// Judges the current content as `gate check` does, including the claims of the form.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    if args.prompt {
        ui.raw(file(TEMPLATES, "self-assessment.md").unwrap_or_default());
        return Ok(Exit::Pass);
    }
    let mut text = String::new();
    let read = match args.form.as_deref().filter(|path| path.as_os_str() != "-") {
        Some(path) => std::fs::read(path).map(|bytes| text = String::from_utf8_lossy(&bytes).into_owned()),
        None => {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes).map(|_| text = String::from_utf8_lossy(&bytes).into_owned())
        }
    };
    read.map_err(|error| Failure::new(Exit::Usage, format!("the self-assessment cannot be read: {error}")))?;
    let form = Assessment::read(&text);
    let place = Workplace::here()?;
    let here = place.look()?;
    let mut facts = place.facts_here(&here, Moment::Stop, &place.session.id)?;
    match form {
        Ok(form) => facts.assessment = Some(form),
        Err(error) => {
            facts.unread_assessment = Some(text);
            if !has_judges()? || word_judge::to_be_read(&here.policy, &facts, &[]).is_none() {
                return Err(Failure::new(Exit::BadInput, error).remedy("gate assess --prompt prints the form").into());
            }
        }
    }
    let judgement = place.judge(&here.policy, &here.state, facts, Some(Uncommitted::Work(&here.look.snapshot)));
    let record = judgement.written.as_deref();
    ui.show(args.json, &judgement.verdict, render::verdict::lines(&judgement.verdict, record))?;
    Ok(judgement.verdict.outcome.exit())
}

/// Returns `true` if the user configured judges of last resort.
fn has_judges() -> Result<bool, Failure> {
    let settings = UserSettings::read().map_err(Failure::with(Exit::BadInput))?;
    Ok(!settings.judges.is_empty())
}
