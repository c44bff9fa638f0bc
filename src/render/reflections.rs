//! Reflections for people, and their list for programs.

use std::fmt::Write as _;

use serde::Serialize;

use crate::learn::branch_fate::BranchFate;
use crate::learn::reflection::Reflection;
use crate::learn::reflection_store::{KEPT_PER_ROLE, Reflections};
use crate::learn::task_record::TaskOutcome;
use crate::render::ui::{BAD, DIM, GOOD, STRONG, WARN};

/// The kept reflections.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReflectionList<'r> {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The reflections, the oldest first.
    pub reflections: Vec<&'r Reflection>,
}

/// Returns one reflection for people.
pub fn human(one: &Reflection, fate: Option<BranchFate>) -> String {
    let style = match one.outcome {
        TaskOutcome::Success => GOOD,
        TaskOutcome::Partial | TaskOutcome::Unknown => WARN,
        TaskOutcome::Blocked => BAD,
    };
    let refusals = if one.attempts == 1 { "1 refusal" } else { &format!("{} refusals", one.attempts) };
    let mut text = format!("{style}{}{style:#} after {refusals}  {STRONG}{}{STRONG:#}", one.outcome.as_str(), one.task);
    let _ = writeln!(text, "  {DIM}role {}, session {}, {}{DIM:#}", one.role, one.session, one.at.strftime("%Y-%m-%d"));
    let mut line = |label: &str, words: &str| {
        let _ = writeln!(text, "  {label}: {words}");
    };
    let course = one.course();
    if !course.is_empty() {
        line("record", &course);
    }
    match fate {
        Some(BranchFate::Merged) => line("branch", "merged"),
        Some(BranchFate::Gone) => line("branch", "deleted, and not on the default branch: squashed or abandoned"),
        Some(BranchFate::Open) | None => {}
    }
    for (label, words) in
        [("worked", &one.what_worked), ("improve", &one.what_to_improve), ("lesson", &one.lesson_learned)]
    {
        if let Some(words) = words {
            line(label, words);
        }
    }
    if one.seen > 1 {
        line("seen", &format!("{} times", one.seen));
    }
    for reason in &one.rejected {
        line("rejected", reason);
    }
    if one.claimed == Some(TaskOutcome::Unknown) {
        line("answer", "its outcome could not be read");
    }
    if let Some(contradiction) = one.contradiction() {
        let _ = writeln!(text, "  {WARN}contradiction: {contradiction}{WARN:#}");
    }
    text
}

/// Returns the kept reflections of one role, or of all, role by role.
pub fn list(all: &Reflections, role: Option<&str>) -> String {
    let mut roles: Vec<&str> = all.0.iter().map(|one| one.role.as_str()).collect();
    roles.sort_unstable();
    roles.dedup();
    roles.retain(|name| role.is_none_or(|role| role == *name));
    let mut text = String::new();
    for role in roles {
        let _ = writeln!(text, "{STRONG}{role}{STRONG:#}, the last {KEPT_PER_ROLE}:");
        all.of_role(role).for_each(|one| text.push_str(&human(one, None)));
    }
    let common = all.common_lessons();
    if !common.is_empty() {
        let _ = writeln!(text, "{STRONG}Lessons that held in several roles:{STRONG:#}");
    }
    for lesson in common {
        let words = lesson.newest.lesson_learned.as_deref().unwrap_or_default();
        let _ = writeln!(text, "  {words}  {DIM}{}{DIM:#}", lesson.roles.join(", "));
    }
    text
}
