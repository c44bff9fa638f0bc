//! The reply to a handoff: exactly one of the allowed outputs, complete, or a list of its errors.

mod format;

use minijinja::context;
use serde::{Deserialize, Serialize};

use self::format::{Document, ReplyField};
use super::TERMINAL_AT;
use crate::escalation::{self, Escalation, LAYERS};
use crate::templates::sentences::say;

/// The outputs with fields, and their required fields.
const OUTPUTS: [(&str, &[&str]); 5] = [
    ("contract_correction", CORRECTION),
    ("architecture_correction", CORRECTION),
    ("environment_fix", CORRECTION),
    ("test_harness_fix", CORRECTION),
    (RETRY, PACKET),
];
const RETRY: &str = "retry_packet_for_coder";
const CORRECTION: &[&str] = &["failure_layer", "observations", "new_hypothesis", "action"];
/// The seven fields of a retry packet.
const PACKET: &[&str] = &[
    "new_hypothesis", "failure_layer", "files_to_recheck", "forced_checklist", "constraints", "what_not_to_retry",
    "decision_memory_notes",
];
/// The fields that any output may have in addition to its own.
const OPTIONAL: &[&str] = &["observations", "action"];
/// The maximum size of a reply, in bytes: it is a plan, not a transcript.
const MAX_REPLY: usize = 32 * 1024;

/// An accepted reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// A correction or a fix, or a packet for the agent that failed.
    Output(ReplyOutput),
    /// Something is missing that every hypothesis needs.
    NeedContext(String),
    /// The rescue is over as well.
    Terminal(Box<Escalation>),
}

/// An output with fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReplyOutput {
    /// Its name.
    pub name: String,
    /// The fields in their order: name, and one item or more.
    pub fields: Vec<(String, Vec<String>)>,
}

impl ReplyOutput {
    /// Returns the items of a field, none if it is missing.
    pub fn field(&self, name: &str) -> &[String] {
        self.fields.iter().find(|(known, _)| known == name).map_or(&[], |(_, items)| items)
    }

    /// Returns the new hypothesis, as one text.
    pub fn hypothesis(&self) -> String {
        self.field("new_hypothesis").join(" ")
    }
}

impl Reply {
    /// Returns the output's name in the contract.
    pub fn name(&self) -> &str {
        match self {
            Self::Output(output) => &output.name,
            Self::NeedContext(_) => "NEED_CONTEXT",
            Self::Terminal(_) => "ESCALATION",
        }
    }
}

/// An error in a reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct Refusal {
    /// The line, counted from 1, if it is known.
    pub line: Option<usize>,
    /// The description of the error.
    pub what: String,
}

impl Refusal {
    fn at(line: usize, what: impl Into<String>) -> Self {
        Self { line: Some(line), what: what.into() }
    }

    fn of(what: impl Into<String>) -> Self {
        Self { line: None, what: what.into() }
    }
}

/// Reads a reply to the rescue attempt `attempt`. `spent` are the hypotheses of earlier replies.
pub fn accept(text: &str, attempt: u32, spent: &[String]) -> Result<Reply, Vec<Refusal>> {
    if text.len() > MAX_REPLY {
        return Err(vec![Refusal::of(say("reply", "large", &context! { bytes => text.len(), most => MAX_REPLY }))]);
    }
    let reply = read(text)?;
    let refused = |mark: &str, what: String| Err(vec![Refusal { line: line_of(text, mark), what }]);
    match &reply {
        Reply::Terminal(_) if attempt < TERMINAL_AT => {
            refused("<ESCALATION>", say("reply", "too_early", &context! { at => TERMINAL_AT, attempt }))
        }
        Reply::Terminal(payload) if payload.attempt < TERMINAL_AT => {
            refused("attempt:", say("reply", "attempt", &context! { at => TERMINAL_AT, attempt => payload.attempt }))
        }
        Reply::Output(_) | Reply::NeedContext(_) if attempt >= TERMINAL_AT => {
            refused(reply.name(), say("reply", "only_terminal", &context! { attempt, name => reply.name() }))
        }
        Reply::Output(output) => match repeated(&output.hypothesis(), spent) {
            Some(before) => refused("new_hypothesis", say("reply", "repeated", &context! { before })),
            None => Ok(reply),
        },
        _ => Ok(reply),
    }
}

/// Returns the first line that contains `mark`, counted from 1.
fn line_of(text: &str, mark: &str) -> Option<usize> {
    Some(text.lines().position(|line| line.contains(mark))? + 1)
}

fn read(text: &str) -> Result<Reply, Vec<Refusal>> {
    let body = unfenced(text);
    let trimmed = body.trim();
    if trimmed.is_empty() {
        return Err(vec![Refusal::of(say("reply", "empty", &context! {}))]);
    }
    if let Some(rest) = trimmed.strip_prefix("[NEED_CONTEXT:") {
        return match rest.strip_suffix(']').map(str::trim) {
            Some(target) if !target.is_empty() && !target.contains(['\n', '[', ']']) => {
                Ok(Reply::NeedContext(target.to_owned()))
            }
            _ => Err(vec![Refusal::at(1, say("reply", "need_context", &context! {}))]),
        };
    }
    if trimmed.starts_with("<ESCALATION>") {
        let skipped = body.len() - body.trim_start().len();
        let before = body[..skipped].matches('\n').count();
        return match escalation::parse(trimmed) {
            Ok(payload) => Ok(Reply::Terminal(Box::new(payload))),
            Err(error) => Err(vec![Refusal::at(before + error.number, error.what)]),
        };
    }
    let names: Vec<&str> = OUTPUTS.iter().map(|(name, _)| *name).collect();
    let document = if trimmed.starts_with('{') { format::json(trimmed) } else { format::text(&body, &names) }?;
    complete(document).map(Reply::Output)
}

/// Returns the text inside a fence that contains all of it. The lines stay at their places.
fn unfenced(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let written = |line: &&str| !line.trim().is_empty();
    let first = lines.iter().position(&written);
    let last = lines.iter().rposition(written);
    match (first, last) {
        (Some(first), Some(last))
            if first < last && lines[first].trim_start().starts_with("```") && lines[last].trim() == "```" =>
        {
            let keep = |(at, line): (usize, &&str)| if at == first || at == last { "" } else { *line }.to_owned();
            lines.iter().enumerate().map(keep).collect::<Vec<_>>().join("\n")
        }
        _ => text.to_owned(),
    }
}

/// Checks that every field is present, known, filled, and valid.
fn complete(document: Document) -> Result<ReplyOutput, Vec<Refusal>> {
    let Document { output, line, fields } = document;
    let Some((_, wanted)) = OUTPUTS.iter().find(|(name, _)| *name == output) else {
        let names: Vec<&str> = OUTPUTS.iter().map(|(name, _)| *name).collect();
        return Err(vec![Refusal::at(
            line,
            say("reply", "no_output", &context! { output => &output, names => names.join(", ") }),
        )]);
    };
    let mut refusals = Vec::new();
    for (at, ReplyField { name, line, items }) in fields.iter().enumerate() {
        if !wanted.contains(&name.as_str()) && !OPTIONAL.contains(&name.as_str()) {
            refusals.push(Refusal::at(*line, say("reply", "no_field", &context! { name, output => &output })));
        } else if fields[..at].iter().any(|before| before.name == *name) {
            refusals.push(Refusal::at(*line, say("reply", "twice", &context! { name })));
        } else if items.is_empty() {
            refusals.push(Refusal::at(*line, say("reply", "no_item", &context! { name })));
        } else if name == "failure_layer" {
            refusals.extend(layers(items, *line));
        }
    }
    for name in wanted.iter().filter(|name| fields.iter().all(|field| field.name != **name)) {
        refusals.push(Refusal::at(line, say("reply", "lacks", &context! { output => &output, name => *name })));
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    Ok(ReplyOutput { name: output, fields: fields.into_iter().map(|field| (field.name, field.items)).collect() })
}

fn layers(items: &[String], line: usize) -> Option<Refusal> {
    let layer = |item: &String| {
        item.split([':', '(', '—', ',']).next().unwrap_or_default().trim().to_lowercase().replace([' ', '-'], "_")
    };
    let wrong = items.iter().find(|item| !LAYERS.contains(&layer(item).as_str()))?;
    Some(Refusal::at(line, say("reply", "no_layer", &context! { wrong, layers => LAYERS.join(", ") })))
}

/// The number of words from which a hypothesis can be recognised inside a longer one.
const TELLING: usize = 6;

/// Returns the earlier hypothesis that says the same in other words: they share more than four fifths of the words of
/// the shorter one, if it has enough words, or more than two thirds of those of the longer one, and the same numbers.
fn repeated<'a>(hypothesis: &str, spent: &'a [String]) -> Option<&'a str> {
    type Words = std::collections::BTreeSet<String>;
    let is_number = |word: &str| word.chars().any(char::is_numeric);
    let words = |text: &str| -> Words {
        text.to_lowercase()
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|word| word.chars().count() > 2 || (!word.is_empty() && (!word.is_ascii() || is_number(word))))
            .map(str::to_owned)
            .collect()
    };
    let numbers = |words: &Words| words.iter().filter(|word| is_number(word)).cloned().collect::<Words>();
    let new = words(hypothesis);
    let same = |before: &&String| {
        let old = words(before);
        let shared = new.intersection(&old).count();
        let (shorter, longer) = (new.len().min(old.len()), new.len().max(old.len()));
        numbers(&new) == numbers(&old)
            && shared > 0
            && ((shorter >= TELLING && shared * 5 > shorter * 4) || shared * 3 > longer * 2)
    };
    spent.iter().find(same).map(String::as_str)
}

#[cfg(test)]
mod tests;
