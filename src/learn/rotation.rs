//! The form `rotation.json`: one history of cycles, each with its role, its action and its reflection.

use jiff::Timestamp;
use serde::Serialize;

use crate::learn::reflection::Reflection;
use crate::learn::reflection_store::Reflections;
use crate::learn::task_record::TaskOutcome;

/// The rotation of roles, with its history.
#[derive(Debug, Serialize)]
pub struct Rotation<'r> {
    /// The position of the last role in the order of their names.
    pub current_index: usize,
    /// The role of the newest cycle.
    pub last_role: Option<&'r str>,
    /// The time of the newest cycle.
    pub last_run: Option<Timestamp>,
    /// The number of cycles so far.
    pub cycle_count: u64,
    /// The kept cycles, the oldest first.
    pub history: Vec<RotationEntry<'r>>,
}

/// One cycle.
#[derive(Debug, Serialize)]
pub struct RotationEntry<'r> {
    cycle: u64,
    role: &'r str,
    timestamp: Timestamp,
    action: &'r str,
    reflection: RotationReflection<'r>,
}

/// The reflection of a cycle.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RotationReflection<'r> {
    outcome: TaskOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    what_worked: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    what_to_improve: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lesson_learned: Option<&'r str>,
}

impl<'r> Rotation<'r> {
    /// Returns the kept reflections in this form.
    pub fn of(all: &'r Reflections) -> Self {
        let mut history: Vec<RotationEntry<'r>> = all.0.iter().map(entry).collect();
        history.sort_by_key(|entry| entry.cycle);
        let mut roles: Vec<&str> = all.0.iter().map(|one| one.role.as_str()).collect();
        roles.sort_unstable();
        roles.dedup();
        let last = history.last();
        Self {
            current_index: last.and_then(|last| roles.iter().position(|role| *role == last.role)).unwrap_or(0),
            last_role: last.map(|last| last.role),
            last_run: last.map(|last| last.timestamp),
            cycle_count: last.map_or(0, |last| last.cycle),
            history,
        }
    }
}

fn entry(one: &Reflection) -> RotationEntry<'_> {
    RotationEntry {
        cycle: one.cycle,
        role: &one.role,
        timestamp: one.at,
        action: &one.task,
        reflection: RotationReflection {
            outcome: one.outcome,
            what_worked: one.what_worked.as_deref(),
            what_to_improve: one.what_to_improve.as_deref(),
            lesson_learned: one.lesson_learned.as_deref(),
        },
    }
}
