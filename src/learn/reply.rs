//! Reads the answer of an agent to the question at the end of a task, in whatever form it comes.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::learn::reflection::{MAX_LESSON, MAX_SENTENCE, ReflectionReply, clean};
use crate::learn::task_record::TaskOutcome;

/// The longest answer that is read, in bytes.
const MAX_ANSWER: usize = 64 * 1024;

/// The fields of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReflectionField {
    Outcome,
    Worked,
    Improve,
    Lesson,
}

impl ReflectionField {
    /// Returns the field that a label means.
    fn of(label: &str) -> Option<Self> {
        let letters: String = label.chars().filter(char::is_ascii_alphabetic).collect();
        Some(match letters.to_ascii_lowercase().as_str() {
            "outcome" | "result" | "status" => Self::Outcome,
            "whatworked" | "worked" => Self::Worked,
            "whattoimprove" | "toimprove" | "improve" | "improvement" | "improvements" => Self::Improve,
            "lessonlearned" | "lessonslearned" | "lesson" | "lessons" => Self::Lesson,
            _ => return None,
        })
    }
}

impl ReflectionReply {
    /// Reads an answer: a JSON object anywhere in the text, or labelled lines. Nothing that it says is an error.
    pub fn read(text: &str) -> Self {
        let end = (0..=text.len().min(MAX_ANSWER)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        let text = text[..end].trim_start_matches('\u{feff}');
        let fields = json_fields(text).or_else(|| json_fields(&without_trailing_commas(text)));
        let fields = fields.or_else(|| Some(labelled_lines(text)).filter(|fields| !fields.is_empty()));
        let fields = fields.unwrap_or_else(|| numbered_lines(text));
        let mut reply = Self {
            outcome: TaskOutcome::Unknown,
            what_worked: None,
            what_to_improve: None,
            lesson_learned: None,
            rejected: Vec::new(),
        };
        for (field, value) in fields {
            reply.take(field, &value);
        }
        reply
    }

    /// Returns `true` if the answer holds at least one field.
    pub fn says_something(&self) -> bool {
        self.outcome != TaskOutcome::Unknown
            || self.what_worked.is_some()
            || self.what_to_improve.is_some()
            || self.lesson_learned.is_some()
            || !self.rejected.is_empty()
    }

    fn take(&mut self, field: ReflectionField, value: &str) {
        let (name, most, slot) = match field {
            ReflectionField::Outcome => {
                self.outcome = outcome(value);
                return;
            }
            ReflectionField::Worked => ("whatWorked", MAX_SENTENCE, &mut self.what_worked),
            ReflectionField::Improve => ("whatToImprove", MAX_SENTENCE, &mut self.what_to_improve),
            ReflectionField::Lesson => ("lessonLearned", MAX_LESSON, &mut self.lesson_learned),
        };
        let value = clean(without_marks(value));
        let is_nothing = ["", "-", "none", "n/a", "na", "nothing", "null"];
        if is_nothing.contains(&value.trim_end_matches('.').to_lowercase().as_str()) {
            return;
        }
        let length = value.chars().count();
        if length > most {
            self.rejected.push(format!("{name} has {length} characters, and {most} are allowed"));
        } else {
            *slot = Some(value);
        }
    }
}

/// Returns a text without the marks around all of it. Those around its last word stay.
fn without_marks(text: &str) -> &str {
    let mut text = text.trim();
    for mark in ["**", "__", "*", "_", "\""] {
        let inner = text.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
        text = inner.filter(|inner| !inner.contains(mark)).unwrap_or(text).trim();
        // A label in bold leaves its second mark.
        text = text.strip_prefix(mark).filter(|rest| !rest.contains(mark)).unwrap_or(text).trim();
    }
    text
}

/// Returns the outcome that words claim, `Unknown` if they claim none or several.
fn outcome(words: &str) -> TaskOutcome {
    let words = words.to_lowercase();
    let has = |part: &str| words.contains(part);
    let negated = ["not ", "n't ", "un"].iter().any(|no| has(&format!("{no}success")));
    let partial = has("partial") || has("partly");
    let success = has("success") && !partial && !negated;
    match (success, partial, has("block")) {
        (true, false, false) => TaskOutcome::Success,
        (false, true, false) => TaskOutcome::Partial,
        (false, false, true) => TaskOutcome::Blocked,
        _ => TaskOutcome::Unknown,
    }
}

/// Returns the fields of the first JSON object that has any, or `None` if there is none.
fn json_fields(text: &str) -> Option<Vec<(ReflectionField, String)>> {
    /// The number of braces that may begin the object.
    const MAX_STARTS: usize = 32;
    for (at, _) in text.match_indices('{').take(MAX_STARTS) {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        let Some(Ok(Value::Object(mut object))) = values.next() else { continue };
        if let Some(Value::Object(inner)) = object.remove("reflection") {
            object = inner;
        }
        let fields =
            object.iter().filter_map(|(key, value)| Some((ReflectionField::of(key)?, value.as_str()?.to_owned())));
        let fields: Vec<_> = fields.collect();
        if !fields.is_empty() {
            return Some(fields);
        }
    }
    None
}

/// Returns a text without the commas that models leave before the end of an object.
fn without_trailing_commas(text: &str) -> String {
    static COMMA: LazyLock<Regex> = LazyLock::new(|| Regex::new(r",\s*\}").expect("a pattern that a test tries"));
    COMMA.replace_all(text, "}").into_owned()
}

/// Returns the fields of lines that only repeat the numbers of the question, if the first one is an outcome.
fn numbered_lines(text: &str) -> Vec<(ReflectionField, String)> {
    static LINE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)^[\s>*]*([1-4])[.)]\s*(\S.*)$").expect("a pattern that a test tries"));
    use ReflectionField::{Improve, Lesson, Outcome, Worked};
    let lines: Vec<(String, String)> =
        LINE.captures_iter(text).map(|found| (found[1].to_owned(), found[2].to_owned())).collect();
    let in_order = lines.iter().map(|(number, _)| number.as_str()).eq(["1", "2", "3", "4"]);
    if !in_order || outcome(&lines[0].1) == TaskOutcome::Unknown {
        return Vec::new();
    }
    [Outcome, Worked, Improve, Lesson].into_iter().zip(lines.into_iter().map(|(_, value)| value)).collect()
}

/// Returns the fields of lines such as `1. **What worked:** words`. Lines without a label continue the field before.
fn labelled_lines(text: &str) -> Vec<(ReflectionField, String)> {
    static LINE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^[\s>#*+\-]*(?:\d+[.)]\s*)?[*_`]*([A-Za-z][A-Za-z ]{2,20})[*_`]*\s*[:：—–=][*_`]*\s*(.*)$")
            .expect("a pattern that a test tries")
    });
    let mut fields: Vec<(ReflectionField, String)> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let labelled =
            LINE.captures(line).and_then(|found| Some((ReflectionField::of(&found[1])?, found[2].to_owned())));
        if let Some(field) = labelled {
            fields.push(field);
            goes_on = true;
        } else if line.trim().is_empty() || line.trim_start().starts_with("```") {
            goes_on = false;
        } else if let Some((_, value)) = fields.last_mut().filter(|_| goes_on) {
            value.push(' ');
            value.push_str(line.trim());
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    type Fields<'a> = (TaskOutcome, Option<&'a str>, Option<&'a str>, Option<&'a str>);

    fn fields(reply: &ReflectionReply) -> Fields<'_> {
        let [worked, improve, lesson] =
            [&reply.what_worked, &reply.what_to_improve, &reply.lesson_learned].map(Option::as_deref);
        (reply.outcome, worked, improve, lesson)
    }

    #[test]
    fn answers_are_read_in_many_forms() {
        use TaskOutcome::{Blocked, Partial, Success, Unknown};
        let all = |outcome| (outcome, Some("small steps"), Some("read first"), Some("test early"));
        for (text, expected) in [
            (
                "1. **Outcome:** Success\n2. **What worked:** small steps\n3. **What to improve:** read first\n\
                 4. **Lesson learned:** test early",
                all(Success),
            ),
            (
                "- Outcome: partially successful\n- Worked: small steps\n- Improve: read first\n- Lesson: test early",
                all(Partial),
            ),
            (
                "Here:\n```json\n{\"outcome\": \"blocked\", \"whatWorked\": \"small steps\", \"whatToImprove\": \
                 \"read first\", \"lessonLearned\": \"test early\"}\n```\nDone.",
                all(Blocked),
            ),
            (
                "{} {\"a\": 1} {\"reflection\": {\"what_worked\": \"small steps\"}}",
                (Unknown, Some("small steps"), None, None),
            ),
            ("1. success\n2. small steps\n3. read first\n4. test early", all(Success)),
            ("Here:\n1) partial\n2) small steps\n3) read first\n4) test early\nDone.", all(Partial)),
            ("1. fine\n2. small steps\n3. read first\n4. test early", (Unknown, None, None, None)),
            ("1. success\n3. read first\n4. test early", (Unknown, None, None, None)),
            (
                "{\"outcome\": \"success\", \"whatWorked\": \"small steps\",\n}",
                (Success, Some("small steps"), None, None),
            ),
            ("**Outcome**: success\n\nWhat worked:\nsmall\nsteps", (Success, Some("small steps"), None, None)),
            ("Outcome: not successful", (Unknown, None, None, None)),
            ("Outcome: unsuccessful, blocked by CI", (Blocked, None, None, None)),
            ("Outcome: success or blocked", (Unknown, None, None, None)),
            ("Outcome: success\nLesson learned: none.", (Success, None, None, None)),
            ("The outcome was fine: all good", (Unknown, None, None, None)),
            ("", (Unknown, None, None, None)),
            ("{\"outcome\": [1, {\"", (Unknown, None, None, None)),
            ("{{{{{{{{", (Unknown, None, None, None)),
        ] {
            assert_eq!(fields(&ReflectionReply::read(text)), expected, "{text}");
        }
        assert!(!ReflectionReply::read("All good.").says_something());
    }

    #[test]
    fn what_is_too_long_is_rejected_with_a_reason_and_not_cut() {
        for (length, rejected) in [(100, 0), (101, 1)] {
            let reply = ReflectionReply::read(&format!("Worked: {}\nLesson: {}", "ü".repeat(length), "x".repeat(150)));
            assert_eq!(reply.rejected.len(), rejected);
            assert_eq!(reply.what_worked.is_some(), rejected == 0);
            assert!(reply.lesson_learned.is_some());
        }
        let reply = ReflectionReply::read(&format!("Lesson: {}", "x".repeat(151)));
        assert_eq!(reply.rejected, ["lessonLearned has 151 characters, and 150 are allowed"]);
    }

    #[test]
    fn an_answer_of_any_length_is_read_in_little_time() {
        let long = format!("{}\nOutcome: success", "{\"a\":".repeat(100_000));
        assert_eq!(ReflectionReply::read(&long).outcome, TaskOutcome::Unknown, "only its beginning is read");
    }
}
