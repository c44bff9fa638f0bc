//! Reads a judge's answer. What does not have the form is not an answer.

use serde::de::{DeserializeOwned, IntoDeserializer as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::policy::Severity;

/// The largest number of items of a list.
const MAX_ITEMS: usize = 20;
/// The largest number of braces at which an object is looked for.
const MAX_BRACES: usize = 1000;
/// The longest sentence, in bytes.
const MAX_SENTENCE: usize = 1000;

/// The answer of a judge of words.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordAnswer {
    #[serde(rename = "ticket")]
    _ticket: String,
    /// `true` if the words say that the task is done.
    pub complete: bool,
    #[serde(deserialize_with = "severity")]
    pub severity: Severity,
    /// The reason, in one sentence.
    pub reason: String,
    /// The work that is left.
    pub missing: Vec<String>,
    /// `true` if a person must act.
    pub requires_human_action: bool,
    /// The actions that only a person can take.
    pub human_actions: Vec<String>,
}

/// Returns the JSON object of an answer that repeats the ticket. It may stand in a fence, in prose, or after a model's
/// thoughts, and twice if both are the same. Material cannot hold the ticket, so what it says is not an answer.
pub fn object<T: DeserializeOwned>(text: &str, ticket: &str) -> Result<T, String> {
    let objects = objects(text);
    let ours: Vec<&&str> = objects.iter().filter(|one| ticket_of(one).is_some_and(|own| own == ticket)).collect();
    match ours[..] {
        [] if objects.is_empty() && text.contains('{') => Err("its JSON object has no end".to_owned()),
        [] if objects.is_empty() => Err("it holds no JSON object".to_owned()),
        [] => Err("it does not have the ticket of the question".to_owned()),
        [first, ref others @ ..] => {
            let value = |one: &str| serde_json::from_str::<Value>(one).ok();
            if others.iter().any(|other| value(other) != value(first)) {
                return Err("it holds two different answers".to_owned());
            }
            serde_json::from_str(first).map_err(|error| format!("it does not have the form: {error}"))
        }
    }
}

/// Returns the ticket that an object repeats.
fn ticket_of(object: &str) -> Option<String> {
    serde_json::from_str::<Value>(object).ok()?["ticket"].as_str().map(str::to_owned)
}

/// Returns the JSON objects of a text that lie in no other one.
fn objects(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut tries = 0;
    while let Some(start) = text[at..].find('{').map(|start| at + start) {
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(_)) => {
                let end = start + values.byte_offset();
                found.push(&text[start..end]);
                at = end;
            }
            _ => at = start + 1,
        }
        tries += 1;
        if tries == MAX_BRACES {
            break;
        }
    }
    found
}

/// Reads a severity in capital or small letters.
pub fn severity<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Severity, D::Error> {
    let text = String::deserialize(deserializer)?.to_ascii_uppercase();
    Severity::deserialize(text.into_deserializer())
}

impl WordAnswer {
    /// Reads the answer to the prompt with this ticket.
    pub fn read(text: &str, ticket: &str) -> Result<Self, String> {
        let answer: Self = object(text, ticket)?;
        if answer.reason.trim().is_empty() || answer.reason.len() > MAX_SENTENCE {
            return Err("its reason is empty or too long".to_owned());
        }
        if answer.missing.len().max(answer.human_actions.len()) > MAX_ITEMS
            || answer.missing.iter().chain(&answer.human_actions).any(|item| item.len() > MAX_SENTENCE)
        {
            return Err("its lists are too long".to_owned());
        }
        let contradicts = answer.complete && (answer.severity > Severity::Low || !answer.missing.is_empty());
        if contradicts {
            return Err("it contradicts itself: complete, and something is missing".to_owned());
        }
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: &str = r#"{"ticket": "t1", "complete": false, "severity": "LOW", "reason": "Two modules are left.",
        "missing": ["c.py"], "requires_human_action": false, "human_actions": []}"#;

    #[test]
    fn an_answer_has_exactly_its_form() {
        assert!(!WordAnswer::read(OPEN, "t1").unwrap().complete);
        for text in [
            format!("```json\n{OPEN}\n```"),
            format!("<think>{{\"ticket\": \"x\"}} hmm {{</think>\n{OPEN}"),
            format!("The map {{a}} is used.\n{OPEN}"),
            format!("```json\n{OPEN}\n```\nThe set {{x}} is left."),
            format!("{OPEN}\n{OPEN}"),
            OPEN.replace("\"LOW\"", "\"low\""),
        ] {
            assert!(!WordAnswer::read(&text, "t1").unwrap_or_else(|why| panic!("{text}: {why}")).complete);
        }
        for (text, words) in [
            (String::new(), "no JSON"),
            ("complete".to_owned(), "no JSON"),
            ("}{".to_owned(), "no end"),
            (OPEN.replace("t1", "t2"), "ticket"),
            (OPEN.replace("\"ticket\": \"t1\", ", ""), "ticket"),
            (OPEN.replace("\"complete\": false", "\"complete\": \"false\""), "form"),
            (OPEN.replace("\"complete\": false", "\"complete\": true"), "contradicts"),
            (OPEN.replace("\"LOW\"", "\"urgent\""), "form"),
            (OPEN.replace("\"missing\"", "\"extra\": 1, \"missing\""), "form"),
            (OPEN.replace("Two modules are left.", " "), "reason"),
            (format!("{OPEN}\n{}", OPEN.replace("false, \"human", "true, \"human")), "two different"),
            (format!("{{\"a\": {OPEN}}}"), "ticket"),
            (OPEN.replace("\"missing\"", "\"ticket\": \"t1\", \"missing\""), "form"),
            (OPEN[..60].to_owned(), "no end"),
        ] {
            let error = WordAnswer::read(&text, "t1").unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
