//! An agent's assessment of its own work: claims in a form, which are compared with the record.
//!
//! The form is read tolerantly, since a model fills it in: prose and fences around it, trailing commas, comments, words
//! for flags, and one text in place of a list are accepted.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::fact::final_message;

/// The maximum length of a text that is read, in bytes.
const MAX_TEXT: usize = 256 * 1024;

/// A filled-in form. Missing fields are `None` or empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Assessment {
    /// The task, in the agent's words.
    pub task_summary: String,
    /// `coding`, `docs`, `research`, `ops` or `other`. No gate depends on it.
    pub task_type: String,
    /// The state of the work.
    pub status: WorkStatus,
    /// The agent's confidence, from 0 to 1.
    pub confidence: Option<f64>,
    /// The checks that the agent claims.
    pub evidence: Evidence,
    /// The work that remains.
    pub remaining_work: Vec<String>,
    /// The next steps that the agent would take.
    pub next_steps: Vec<String>,
    /// The actions that the agent needs from a person.
    pub needs_user_action: Vec<String>,
    /// Security holes that the agent knows of and that are still there.
    pub security_issues: Vec<String>,
    /// `true` if the agent is stuck.
    pub stuck: bool,
    /// The approach that the agent would try instead.
    pub alternate_approach: String,
}

/// The state of the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Status"))]
#[serde(rename_all = "snake_case")]
pub enum WorkStatus {
    /// The work is done.
    Complete,
    /// The work is not done. An unknown word counts as this, too.
    #[default]
    InProgress,
    /// Something blocks the work.
    Blocked,
    /// The agent is stuck.
    Stuck,
    /// A person must do something first.
    WaitingForUser,
}

/// The checks that the agent claims.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Evidence {
    /// The tests.
    pub tests: ClaimedTests,
    /// The build.
    pub build: Build,
    /// The pull request.
    pub pr: ClaimedPull,
}

/// The agent's claims about tests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Tests"))]
#[serde(default)]
pub struct ClaimedTests {
    /// `true` if tests were run.
    pub ran: Option<bool>,
    /// `pass`, `fail` or `unknown`.
    pub results: String,
    /// `true` if tests were run after the last change.
    pub ran_after_changes: Option<bool>,
    /// The command lines that were run.
    pub commands: Vec<String>,
    /// `true` if some tests were skipped.
    pub skipped: Option<bool>,
    /// The reason why tests were skipped.
    pub skip_reason: String,
}

/// The agent's claims about the build.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Build {
    /// `true` if the build was run.
    pub ran: Option<bool>,
    /// `pass`, `fail` or `unknown`.
    pub results: String,
}

/// The agent's claims about the pull request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Pull"))]
#[serde(default)]
pub struct ClaimedPull {
    /// `true` if there is a pull request.
    pub created: Option<bool>,
    /// The URL of the pull request.
    pub url: String,
    /// `pass`, `fail`, `pending` or `unknown`.
    pub ci_status: String,
    /// `true` if the agent looked at the state of its checks.
    pub checked: Option<bool>,
}

/// An error for a text that holds no filled-in form.
#[derive(Debug, thiserror::Error)]
#[error("no self-assessment: {0}")]
pub struct NoAssessment(String);

impl Assessment {
    /// Reads a form out of the text around it. If the text holds several objects, the last one that is a form counts:
    /// models repeat the form before they fill it in.
    pub fn read(text: &str) -> Result<Self, NoAssessment> {
        if text.len() > MAX_TEXT {
            return Err(NoAssessment(format!("{} bytes are too many for the form", text.len())));
        }
        let mut last = None;
        let mut why = "the input has no JSON object".to_owned();
        for object in objects(text) {
            match parse(object) {
                Ok(map) if map.keys().any(|key| KEYS.contains(&key.as_str())) => last = Some(map),
                Ok(_) => "its JSON object is not a filled-in form".clone_into(&mut why),
                Err(error) => why = error,
            }
        }
        last.map(|map| Self::of(&map)).ok_or(NoAssessment(why))
    }

    fn of(map: &Map<String, Value>) -> Self {
        let evidence = inner(map, "evidence");
        let (tests, build, pull) = (inner(&evidence, "tests"), inner(&evidence, "build"), inner(&evidence, "pr"));
        let status = match text(map, "status").to_lowercase().replace([' ', '-'], "_").as_str() {
            "complete" | "completed" | "done" => WorkStatus::Complete,
            "blocked" => WorkStatus::Blocked,
            "stuck" => WorkStatus::Stuck,
            "waiting_for_user" | "waiting" => WorkStatus::WaitingForUser,
            _ => WorkStatus::InProgress,
        };
        Self {
            task_summary: text(map, "task_summary"),
            task_type: text(map, "task_type"),
            status,
            confidence: map.get("confidence").and_then(number),
            evidence: Evidence {
                tests: ClaimedTests {
                    ran: flag(&tests, "ran"),
                    results: result(&tests, "results"),
                    ran_after_changes: flag(&tests, "ran_after_changes"),
                    commands: list(&tests, "commands"),
                    skipped: flag(&tests, "skipped"),
                    skip_reason: text(&tests, "skip_reason"),
                },
                build: Build { ran: flag(&build, "ran"), results: result(&build, "results") },
                pr: ClaimedPull {
                    created: flag(&pull, "created"),
                    url: text(&pull, "url"),
                    ci_status: result(&pull, "ci_status"),
                    checked: flag(&pull, "checked"),
                },
            },
            remaining_work: list(map, "remaining_work"),
            next_steps: list(map, "next_steps"),
            needs_user_action: list(map, "needs_user_action"),
            security_issues: list(map, "security_issues"),
            stuck: flag(map, "stuck").unwrap_or(false),
            alternate_approach: text(map, "alternate_approach"),
        }
    }
}

/// The keys of which a form has at least one.
const KEYS: [&str; 4] = ["status", "evidence", "remaining_work", "needs_user_action"];

fn inner(map: &Map<String, Value>, key: &str) -> Map<String, Value> {
    map.get(key).and_then(Value::as_object).cloned().unwrap_or_default()
}

fn text(map: &Map<String, Value>, key: &str) -> String {
    match map.get(key) {
        Some(Value::String(text)) if !is_nothing(text) => text.trim().to_owned(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

fn result(map: &Map<String, Value>, key: &str) -> String {
    let word = match map.get(key) {
        Some(Value::Bool(true)) => "pass".to_owned(),
        Some(Value::Bool(false)) => "fail".to_owned(),
        _ => text(map, key).to_lowercase(),
    };
    match word.as_str() {
        "passed" | "passing" | "green" | "success" | "ok" => "pass".to_owned(),
        "failed" | "failing" | "red" | "failure" | "error" => "fail".to_owned(),
        _ => word,
    }
}

fn flag(map: &Map<String, Value>, key: &str) -> Option<bool> {
    match map.get(key)? {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => match text.trim().to_lowercase().as_str() {
            "true" | "yes" => Some(true),
            "false" | "no" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Returns a list of texts. A single text is a list of one, and a word for nothing is an empty list.
fn list(map: &Map<String, Value>, key: &str) -> Vec<String> {
    let items = match map.get(key) {
        Some(Value::Array(items)) => items.clone(),
        Some(item @ (Value::String(_) | Value::Object(_))) => vec![item.clone()],
        _ => Vec::new(),
    };
    let text = |item: Value| match item {
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    items.into_iter().map(text).filter(|text| !is_nothing(text)).collect()
}

fn is_nothing(text: &str) -> bool {
    text.chars().all(|c| !c.is_alphanumeric()) || final_message::nothing(text)
}

/// Returns the outermost `{ … }` of a text. Braces in strings and comments do not count.
fn objects(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    let mut unclosed = 0;
    while let Some(start) = text[at..].find('{').map(|offset| at + offset) {
        let (mut depth, mut quoted, mut escaped, mut end) = (0usize, false, false, None);
        for (offset, byte) in bytes[start..].iter().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                b'{' if !quoted => depth += 1,
                b'}' if !quoted => {
                    depth -= 1;
                    if depth == 0 {
                        end = Some(start + offset + 1);
                        break;
                    }
                }
                _ => {}
            }
        }
        match end {
            Some(end) => {
                found.push(&text[start..end]);
                at = end;
            }
            // A brace in prose; a text of nothing but braces is not searched for ever.
            None if unclosed < 32 => {
                unclosed += 1;
                at = start + 1;
            }
            None => break,
        }
    }
    found
}

/// Parses JSON as models write it: with trailing commas, comments, and words of Python.
fn parse(object: &str) -> Result<Map<String, Value>, String> {
    let strict = serde_json::from_str(object).or_else(|_| serde_json::from_str(&cleaned(object)));
    match strict {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err("it is not a JSON object".to_owned()),
        Err(error) => Err(format!("its JSON cannot be read: {error}")),
    }
}

fn cleaned(object: &str) -> String {
    let mut text = String::with_capacity(object.len());
    let mut chars = object.chars().peekable();
    let (mut quoted, mut escaped) = (false, false);
    while let Some(c) = chars.next() {
        if quoted {
            quoted = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            // A string that goes over several lines.
            text.push_str(if c == '\n' { "\\n" } else { "" });
            if c != '\n' {
                text.push(c);
            }
            continue;
        }
        match c {
            '"' => {
                quoted = true;
                text.push(c);
            }
            '/' if chars.peek() == Some(&'/') => {
                for skipped in chars.by_ref() {
                    if skipped == '\n' {
                        break;
                    }
                }
            }
            '/' if chars.peek() == Some(&'*') => {
                let mut before = ' ';
                for skipped in chars.by_ref().skip(1) {
                    if before == '*' && skipped == '/' {
                        break;
                    }
                    before = skipped;
                }
            }
            '}' | ']' => {
                let kept = text.trim_end().trim_end_matches(',').len();
                text.truncate(kept);
                text.push(c);
            }
            '“' | '”' => text.push('"'),
            _ => text.push(c),
        }
    }
    [("True", "true"), ("False", "false"), ("None", "null")]
        .iter()
        .fold(text, |text, (word, json)| text.replace(&format!(": {word}"), &format!(": {json}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &str = r#"{"status": "complete", "confidence": 0.9, "evidence": {"tests": {"ran": true, "results": "pass",
        "ran_after_changes": true, "commands": ["cargo test"]}}, "remaining_work": []}"#;

    #[test]
    fn the_form_is_found_in_whatever_surrounds_it() {
        let whole = Assessment::read(FORM).unwrap();
        assert_eq!(whole.status, WorkStatus::Complete);
        assert_eq!(whole.evidence.tests.commands, ["cargo test"]);
        for text in [
            format!("Here it is:\n```json\n{FORM}\n```\nThat is all {{honestly}}."),
            format!("<assessment>{FORM}</assessment>"),
            FORM.replace("[]}", "[],}"),
            FORM.replace("\"pass\"", "\"passed\" // all of them\n"),
            FORM.replace("\"confidence\"", "/* sure */ \"confidence\""),
            FORM.replace(": true", ": True"),
            FORM.replace("true", "\"yes\""),
            FORM.replace("[]", "\"none\""),
            FORM.replace("[\"cargo test\"]", "\"cargo test\""),
            format!("{{\"status\": \"in_progress\"}}\nNow filled in:\n{FORM}"),
        ] {
            assert_eq!(Assessment::read(&text).unwrap(), whole, "{text}");
        }
    }

    #[test]
    fn what_is_no_form_is_refused_with_a_reason() {
        for text in ["", "All done.", "{", "}{", "{\"a\": 1}", "[1, 2]", "{\"status\": }", "{{{{{"] {
            assert!(Assessment::read(text).is_err(), "{text}");
        }
        assert!(Assessment::read(&"{".repeat(300_000)).unwrap_err().to_string().contains("bytes"));
    }

    #[test]
    fn an_entry_that_says_that_there_is_none_is_none() {
        let none = [
            "None known", "none identified.", "No known issues", "No issues found", "No security issues",
            "Nothing left to do", "nothing that I know of", "There are no open problems.", "All done!", "keine",
            "Keine bekannt", "Ninguna", "无", "---",
        ];
        for entry in none {
            assert!(is_nothing(entry), "{entry}");
        }
        let some = [
            "no rate limit on login",
            "No tests for the parser",
            "nothing escapes the output of users",
            "done except the docs",
            "None of the inputs is checked",
            "SQL injection in login is still open",
            "no issue was opened for the leak",
        ];
        for entry in some {
            assert!(!is_nothing(entry), "{entry}");
        }
    }

    #[test]
    fn words_that_are_not_known_claim_nothing() {
        let read = Assessment::read(r#"{"status": "almost", "stuck": "maybe", "needs_user_action": "N/A."}"#).unwrap();
        assert_eq!(read, Assessment::default());
    }
}
