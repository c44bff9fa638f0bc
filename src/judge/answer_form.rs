//! Reads a judge's answer. What does not have the form is no answer.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::policy::Severity;

/// The largest number of items of a list.
const MAX_ITEMS: usize = 20;
/// The longest sentence, in bytes.
const MAX_SENTENCE: usize = 1000;

/// The answer of a judge of words.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordAnswer {
    ticket: String,
    /// `true` if the words say that the task is done.
    pub complete: bool,
    /// The severity.
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

/// Returns the only JSON object of an answer, which may stand in a fence or in prose.
pub fn object<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let start = text.find('{').ok_or("it holds no JSON object")?;
    let end = text.rfind('}').filter(|end| *end > start).ok_or("its JSON object has no end")?;
    serde_json::from_str(&text[start..=end]).map_err(|error| format!("it does not have the form: {error}"))
}

impl WordAnswer {
    /// Reads the answer to the prompt with this ticket.
    pub fn read(text: &str, ticket: &str) -> Result<Self, String> {
        let answer: Self = object(text)?;
        if answer.ticket != ticket {
            return Err("it does not have the ticket of the question".to_owned());
        }
        let items = || answer.missing.iter().chain(&answer.human_actions);
        if answer.reason.trim().is_empty() || answer.reason.len() > MAX_SENTENCE {
            return Err("its reason is empty or too long".to_owned());
        }
        if answer.missing.len().max(answer.human_actions.len()) > MAX_ITEMS
            || items().any(|item| item.len() > MAX_SENTENCE)
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
        WordAnswer::read(&format!("```json\n{OPEN}\n```"), "t1").unwrap();
        for (text, words) in [
            (String::new(), "no JSON"),
            ("complete".to_owned(), "no JSON"),
            ("}{".to_owned(), "no end"),
            (OPEN.replace("t1", "t2"), "ticket"),
            (OPEN.replace("\"ticket\": \"t1\", ", ""), "ticket"),
            (OPEN.replace("\"complete\": false", "\"complete\": \"false\""), "form"),
            (OPEN.replace("\"complete\": false", "\"complete\": true"), "contradicts"),
            (OPEN.replace("\"LOW\"", "\"low\""), "form"),
            (OPEN.replace("\"missing\"", "\"extra\": 1, \"missing\""), "form"),
            (OPEN.replace("Two modules are left.", " "), "reason"),
            (format!("{OPEN}\n{OPEN}"), "form"),
            (format!("{{\"a\": {OPEN}"), "form"),
            (OPEN[..60].to_owned(), "no end"),
        ] {
            let error = WordAnswer::read(&text, "t1").unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
