//! Asks a model for the kind of a piece of work.

use std::time::Duration;

use minijinja::context;
use serde::Deserialize;

use crate::event::model_call::{CallPurpose, ModelCall};
use crate::judge::answer_form::object;
use crate::judge::ask_and_record;
use crate::judge::quoted_material::PromptMarks;
use crate::judge::word_question::PromptError;
use crate::model::model_settings::ModelSettings;
use crate::repo_path::RepoPath;
use crate::templates;

/// The template of the prompt.
pub const TEMPLATE: &str = "judges/routing.md";

/// The longest part of the task and of the list of files that is shown, in bytes.
const MAX_SHOWN: usize = 8 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KindForm {
    #[serde(rename = "ticket")]
    _ticket: String,
    kind: String,
}

/// Asks for one of these kinds. Returns the call, if there was one, and the answer.
pub fn ask(
    model: &ModelSettings,
    task: &str,
    paths: &[RepoPath],
    kinds: &[&str],
) -> (Option<ModelCall>, Result<String, String>) {
    let (prompt, ticket) = match prompt(task, paths, kinds) {
        Ok(prompt) => prompt,
        Err(error) => return (None, Err(error.to_string())),
    };
    let (call, answer) =
        ask_and_record::ask(model, CallPurpose::Routing, &prompt, Duration::MAX, |text| read(text, &ticket, kinds));
    (Some(call), answer)
}

fn read(text: &str, ticket: &str, kinds: &[&str]) -> Result<String, String> {
    let form: KindForm = object(text, ticket)?;
    if kinds.contains(&form.kind.as_str()) { Ok(form.kind) } else { Err("it names no kind".to_owned()) }
}

/// Returns a prompt with new random words, and the word that the answer repeats.
fn prompt(task: &str, paths: &[RepoPath], kinds: &[&str]) -> Result<(String, String), PromptError> {
    let marks = PromptMarks::new()?;
    let files: Vec<String> = paths.iter().map(ToString::to_string).collect();
    let [task, files] = [task, &files.join("\n")].map(|text| marks.quote(text, MAX_SHOWN).text);
    let kinds = kinds.join(", ");
    let values = context! { fence => &marks.fence, ticket => &marks.ticket, task => &task, files, kinds };
    let text = templates::render_with(TEMPLATE, &values, &[("ticket", &marks.ticket), ("task", &task)])?;
    Ok((text, marks.ticket))
}
