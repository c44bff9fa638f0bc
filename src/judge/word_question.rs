//! The question to a judge of words: the material, and the prompt made from it.

use minijinja::context;
use serde::{Deserialize, Serialize};

use crate::digest::hex_digest;
use crate::event::agent_work::{Speaker, StopKind};
use crate::event::forwarded_text::own_words;
use crate::event::task_context::known_lines;
use crate::fact::{Deed, Facts, Step};
use crate::gates::finding::Finding;
use crate::judge::quoted_material::{NoRandomness, PromptMarks};
use crate::templates::{self, TemplateError};

/// The template of the prompt.
pub const TEMPLATE: &str = "judges/words.md";

/// The longest task, in bytes.
const MAX_TASK: usize = 8 * 1024;
/// The longest record, in bytes.
const MAX_RECORD: usize = 16 * 1024;
/// The maximum length of the last message, in bytes.
const MAX_WORDS: usize = 24 * 1024;
/// The longest line of the record, in bytes.
const MAX_LINE: usize = 300;

/// The material for a judge of words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordQuestion {
    /// The task, in a person's words.
    pub task: String,
    /// More about the task, one line each: its class and score, the person's answers, and the plan.
    #[serde(default)]
    pub context: String,
    /// The record, one line for each act.
    pub record: String,
    /// The open questions, one line for each finding.
    pub open: String,
    /// The last message of the agent, or the form that cannot be read.
    pub words: String,
}

/// A prompt, and the word that its answer repeats.
#[derive(Clone, Debug)]
pub struct WordPrompt {
    pub text: String,
    /// The word.
    pub ticket: String,
}

/// A prompt that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// The template.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// The random words.
    #[error(transparent)]
    Randomness(#[from] NoRandomness),
}

impl WordQuestion {
    /// Returns the question about the last turn. `open` are the findings that would need an understanding of words.
    pub fn of_turn(facts: &Facts, open: &[&Finding]) -> Self {
        let steps = facts.story.turn();
        let task = steps.iter().find_map(|step| match &step.deed {
            Deed::Prompted { from: Speaker::Person, text } => Some(own_words(text).into_owned()),
            _ => None,
        });
        let words = steps.iter().rev().find_map(|step| match &step.deed {
            Deed::Stopped { text, how: StopKind::Completed, .. } | Deed::Said(text) if !text.trim().is_empty() => {
                Some(text.clone())
            }
            _ => None,
        });
        let planned = facts.plan.iter().flat_map(|plan| &plan.steps).map(|step| &step.task);
        let open: Vec<&str> = open.iter().map(|finding| finding.message.as_str()).collect();
        Self {
            task: task.unwrap_or_default(),
            context: known_lines(facts.task.as_ref(), planned).join("\n"),
            record: steps.iter().filter_map(line).collect::<Vec<_>>().join("\n"),
            open: open.join("\n"),
            words: facts.unread_assessment.clone().or(words).unwrap_or_default(),
        }
    }

    /// Returns the digest of the material: the same material is asked about once.
    pub fn digest(&self) -> String {
        let parts = [&self.task, &self.context, &self.record, &self.open, &self.words].map(String::as_bytes);
        hex_digest(&parts)[..32].to_owned()
    }

    /// Returns a prompt with new random words.
    pub fn prompt(&self) -> Result<WordPrompt, PromptError> {
        let marks = PromptMarks::new()?;
        let [task, context, open] =
            [&self.task, &self.context, &self.open].map(|text| marks.quote(text, MAX_TASK).text);
        let has_context = !self.context.is_empty();
        let (record, words) = (marks.quote(&self.record, MAX_RECORD), marks.quote_both_ends(&self.words, MAX_WORDS));
        let text = templates::render_with(
            TEMPLATE,
            &context! {
                fence => &marks.fence, ticket => &marks.ticket, task, context, has_context, open, record => record.text,
                record_note => record.note, words => &words.text, words_note => words.note,
            },
            &[("ticket", &marks.ticket), ("words", &words.text)],
        )?;
        Ok(WordPrompt { text, ticket: marks.ticket })
    }
}

/// Returns one act as a line; `None` for what is not an act.
fn line(step: &Step) -> Option<String> {
    let text = match &step.deed {
        Deed::Ran(ran) => {
            let end = match ran.ended {
                Some(ended) if ended.success() => "exit status 0".to_owned(),
                Some(ended) => format!("{ended:?}"),
                None => "no exit status is recorded".to_owned(),
            };
            let result = ran.result.map(|result| format!(", as a check: {result:?}")).unwrap_or_default();
            format!("ran: {} ({end}{result})", ran.line)
        }
        Deed::Edited(files) => {
            let paths: Vec<String> = files.iter().map(|file| file.path.to_string()).collect();
            format!("edited: {}", paths.join(", "))
        }
        Deed::Used { tool, target, failed, .. } => {
            format!("used {tool}: {target}{}", if *failed { " (failed)" } else { "" })
        }
        Deed::Asked(question) => format!("asked: {question}"),
        Deed::Denied(_) => "a tool call was refused".to_owned(),
        _ => return None,
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(text[..text.floor_char_boundary(MAX_LINE)].to_owned())
}
