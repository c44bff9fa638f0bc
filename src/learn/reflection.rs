//! A reflection: what the record says of a task, and what its agent says it learned from it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::digest::hex_digest;
use crate::learn::similarity;
use crate::learn::task_record::{GateFailure, TaskOutcome, TaskRecord};
use crate::policy::{Mode, Policy};
use crate::redact::redact;

/// The longest whatWorked and whatToImprove, in characters.
pub const MAX_SENTENCE: usize = 100;
/// The longest lessonLearned, in characters.
pub const MAX_LESSON: usize = 150;
/// The number of files that a lesson can depend on.
const MAX_CAUSE_FILES: usize = 8;

/// One reflection, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reflection {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The task, the same each time it is reflected.
    pub id: String,
    /// The number of the cycle: one for each reflected task.
    pub cycle: u64,
    /// The time at which the task ended.
    #[cfg_attr(test, schemars(with = "String"))]
    pub at: Timestamp,
    /// The role of the agent.
    pub role: String,
    /// The session.
    pub session: String,
    /// The client, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The beginning of the task.
    pub task: String,
    /// The outcome, from verdicts.
    pub outcome: TaskOutcome,
    /// The number of refused claims.
    pub attempts: u32,
    /// The gates that failed, and what cleared them.
    pub failures: Vec<GateFailure>,
    /// The outcome that the agent claims, `unknown` if its answer could not be read. Missing if there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<TaskOutcome>,
    /// The agent's words about what worked.
    #[serde(rename = "whatWorked", default, skip_serializing_if = "Option::is_none")]
    pub what_worked: Option<String>,
    /// The agent's words about what to improve.
    #[serde(rename = "whatToImprove", default, skip_serializing_if = "Option::is_none")]
    pub what_to_improve: Option<String>,
    /// The agent's lesson.
    #[serde(rename = "lessonLearned", default, skip_serializing_if = "Option::is_none")]
    pub lesson_learned: Option<String>,
    /// The reasons why parts of the answer were rejected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<String>,
    /// The number of times that nearly the same was learned in this role.
    pub seen: u32,
    /// The earlier tasks in which nearly the same was learned, as cycle and session, newest first (at most 8).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen_before: Vec<(u64, String)>,
    /// The things that the lesson depends on.
    pub cause: LessonCause,
}

/// The things that a lesson depends on. Once one of them is gone, the lesson is not shown any more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LessonCause {
    /// The files that its words name.
    pub files: Vec<String>,
    /// The gates that failed, with the digests of their rules.
    pub rules: BTreeMap<String, String>,
}

impl LessonCause {
    /// Returns the cause of a lesson in `words`, which may name files for which `exists` is true.
    pub fn of(words: &str, failures: &[GateFailure], policy: &Policy, exists: &dyn Fn(&str) -> bool) -> Self {
        let names = words.split(|c: char| c.is_whitespace() || "`'\"“”(),;:!?".contains(c));
        let names = names.map(|name| name.trim_end_matches('.')).filter(|name| name.contains(['.', '/']));
        let mut files: Vec<String> = names.filter(|name| exists(name)).map(str::to_owned).collect();
        files.sort();
        files.dedup();
        files.truncate(MAX_CAUSE_FILES);
        let rules = failures.iter().filter_map(|failure| Some((failure.gate.clone(), rule(policy, &failure.gate)?)));
        Self { files, rules: rules.collect() }
    }

    /// Returns `true` if every file is still there and every rule still applies.
    pub fn holds(&self, policy: &Policy, exists: &dyn Fn(&str) -> bool) -> bool {
        let same = |(gate, digest): (&String, &String)| rule(policy, gate).as_ref() == Some(digest);
        self.files.iter().all(|file| exists(file)) && self.rules.iter().all(same)
    }
}

/// Returns the digest of what a gate asks here, or `None` if it is off or gone.
fn rule(policy: &Policy, id: &str) -> Option<String> {
    let gate = policy.gates.iter().find(|gate| gate.id == id && gate.mode != Mode::Off)?;
    let mut commands: Vec<String> = policy
        .commands
        .iter()
        .filter(|command| command.gate == id)
        .map(|command| format!("{}\0{}\0{}", command.name, command.run, command.dir))
        .collect();
    commands.sort();
    let params = gate.params.to_string();
    let parts = [gate.kind.as_bytes(), params.as_bytes(), commands.join("\n").as_bytes()].map(<[u8]>::to_vec);
    Some(hex_digest(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>())[..16].to_owned())
}

impl Reflection {
    /// Returns the reflection of a task that nobody was asked about.
    pub fn of(task: &TaskRecord, role: &str) -> Self {
        Self {
            schema_version: 1,
            id: task.id(),
            cycle: 0,
            at: task.ended,
            role: role.to_owned(),
            session: task.session.clone(),
            client: task.client.clone(),
            task: clean(&task.task),
            outcome: task.outcome,
            attempts: task.attempts,
            failures: task.failures.clone(),
            claimed: None,
            what_worked: None,
            what_to_improve: None,
            lesson_learned: None,
            rejected: Vec::new(),
            seen: 1,
            seen_before: Vec::new(),
            cause: LessonCause::default(),
        }
    }

    /// Adds the answer of the agent. The outcome stays that of the record.
    #[must_use]
    pub fn answered(self, reply: ReflectionReply) -> Self {
        Self {
            claimed: Some(reply.outcome),
            what_worked: reply.what_worked,
            what_to_improve: reply.what_to_improve,
            lesson_learned: reply.lesson_learned,
            rejected: reply.rejected,
            ..self
        }
    }

    /// Adds the things that its words and failures depend on.
    #[must_use]
    pub fn with_cause(self, policy: &Policy, exists: &dyn Fn(&str) -> bool) -> Self {
        let words = [&self.what_worked, &self.what_to_improve, &self.lesson_learned];
        let words: Vec<&str> = words.into_iter().filter_map(|words| words.as_deref()).collect();
        let cause = LessonCause::of(&words.join(" "), &self.failures, policy, exists);
        Self { cause, ..self }
    }

    /// Returns a sentence if the agent claims another outcome than the record shows.
    pub fn contradiction(&self) -> Option<String> {
        let claimed = self.claimed.filter(|claimed| *claimed != TaskOutcome::Unknown && *claimed != self.outcome)?;
        Some(format!("the agent says {}, and the record says {}", claimed.as_str(), self.outcome.as_str()))
    }

    /// Returns `true` if both hold nearly the same lesson. Reflections without a lesson are never the same.
    pub fn is_again(&self, other: &Self) -> bool {
        let lessons = self.lesson_learned.as_deref().zip(other.lesson_learned.as_deref());
        lessons.is_some_and(|(one, other)| similarity::is_same(one, other))
    }

    /// Returns what failed and what cleared it, in one line. Empty if nothing failed.
    pub fn course(&self) -> String {
        let part = |failure: &GateFailure| match &failure.cleared_by {
            Some(by) => format!("{} failed, cleared by {by}", failure.gate),
            None => format!("{} failed and is open", failure.gate),
        };
        self.failures.iter().map(part).collect::<Vec<_>>().join("; ")
    }
}

/// Returns a text on one line, without secrets and personal data.
pub fn clean(text: &str) -> String {
    static PERSONAL: LazyLock<[(Regex, &str); 3]> = LazyLock::new(|| {
        [
            (r"[\w.+'-]+@[\w-]+(?:\.[\w-]+)+", "[address]"),
            (r"(?:(?:/[\w.-]+)*/home/|(?:[A-Za-z]:)?/Users/|[A-Za-z]:\\Users\\)[^/\\\s]+|~[A-Za-z_][\w-]*", "~"),
            (r"\+\d[\d ()./-]{7,}\d|\(0?\d{2,5}\)[ -]?\d{2,4}[ -]?\d{3,}|\b0\d{2,5}[/ -]\d{5,}|\b\d{3}[-.]\d{3}[-.]\d{4}\b", "[number]"),
        ]
        .map(|(pattern, with)| (Regex::new(pattern).expect("a pattern that a test tries"), with))
    });
    let mut text: String = redact(text).split_whitespace().collect::<Vec<_>>().join(" ");
    text.retain(|c| !c.is_control());
    for (pattern, with) in PERSONAL.iter() {
        text = pattern.replace_all(&text, *with).into_owned();
    }
    text
}

/// An answer, as far as it could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReflectionReply {
    /// The claimed outcome, `unknown` if it could not be read.
    pub outcome: TaskOutcome,
    /// What worked.
    pub what_worked: Option<String>,
    /// What to improve.
    pub what_to_improve: Option<String>,
    pub lesson_learned: Option<String>,
    /// The reasons why parts were rejected.
    pub rejected: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EventKind;
    use crate::learn::task_record::tasks;
    use crate::learn::task_record::tests::{event, judged, prompt};
    use crate::moment::Moment;
    use crate::policy::PolicySource;

    #[test]
    fn secrets_and_personal_data_are_removed() {
        for (text, expected) in [
            ("ask jo.doe+x@mail.example.org\nfirst", "ask [address] first"),
            ("see /home/jo/work/a.rs", "see ~/work/a.rs"),
            (r"see C:\Users\jo\a.rs", r"see ~\a.rs"),
            ("call +49 (0)30 1234567 now", "call [number] now"),
            ("1 + 12345678 stays", "1 + 12345678 stays"),
            ("call 0170/1234567, (555) 123-4567 or 555-123-4567", "call [number], [number] or [number]"),
            ("from ~bob/x, C:/Users/bob/x and /data/home/bob/x", "from ~/x, ~/x and ~/x"),
            ("bob.o'neil@example.org knows", "[address] knows"),
            (
                "see ~/work and ~5 files, 2026-11-24 and 192.168.100.200",
                "see ~/work and ~5 files, 2026-11-24 and 192.168.100.200",
            ),
            ("token ghp_0123456789abcdefghijklmnopqrstuvwxyzAB", "token [redacted]"),
            ("a\u{1b}[31m b", "a[31m b"),
        ] {
            assert_eq!(clean(text), expected);
        }
    }

    #[test]
    fn a_claim_that_the_record_contradicts_is_shown_and_changes_nothing() {
        let kinds = [prompt("x"), judged(Moment::Stop, &["tests"], 1)];
        let events: Vec<_> = (0..).zip(kinds).map(|(at, kind): (i64, EventKind)| event(at, "s", kind)).collect();
        let task = tasks(&events).remove(0);
        for (answer, says) in [
            ("Outcome: success", Some("the agent says success, and the record says blocked")),
            ("Outcome: blocked", None),
            ("no idea", None),
        ] {
            let reflection = Reflection::of(&task, "dev").answered(ReflectionReply::read(answer));
            assert_eq!(reflection.outcome, TaskOutcome::Blocked);
            assert_eq!(reflection.contradiction().as_deref(), says, "{answer}");
        }
    }

    #[test]
    fn a_cause_is_gone_with_its_file_or_its_rule() {
        let policy = Policy::empty(PolicySource::Defaults);
        let exists = |name: &str| ["src/a.rs", "Makefile.am"].contains(&name);
        let cause = LessonCause::of("Read `src/a.rs`, not src/b.rs. See Makefile.am.", &[], &policy, &exists);
        assert_eq!(cause.files, ["Makefile.am", "src/a.rs"]);
        assert!(cause.holds(&policy, &exists));
        assert!(!cause.holds(&policy, &|name| name == "src/a.rs"));
        let ruled = LessonCause { rules: BTreeMap::from([("tests".to_owned(), "0".to_owned())]), ..cause };
        assert!(!ruled.holds(&policy, &exists));
    }
}
