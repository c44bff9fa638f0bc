//! The lessons of the record: what came out of each task, what its agent says it learned, and what helps the next one.
//!
//! Outcomes come from verdicts and are never typed. A lesson is a quotation of an agent, kept with its origin.

pub mod branch_fate;
pub mod curator;
pub mod injection;
pub mod interval;
pub mod ledger;
pub mod memory_file;
pub mod metrics;
pub mod reflection;
pub mod reflection_store;
pub mod reply;
pub mod reward;
#[cfg(test)]
mod reward_gaming_tests;
pub mod reward_numbers;
pub mod rotation;
pub mod similarity;
pub mod strategies;
pub mod task_record;
pub mod weight_history;
pub mod weights;

use std::path::{Component, Path};

use crate::templates;

/// The role of an agent for which none is named.
pub const DEFAULT_ROLE: &str = "agent";

/// The template of the question at the end of a task.
pub const PROMPT: &str = "reflection.md";

/// Returns the question to the agent at the end of a task.
pub fn question(reflection: &reflection::Reflection) -> Result<templates::RenderedText, templates::TemplateError> {
    let context = minijinja::context! {
        action => if reflection.task.is_empty() { "the work of this session" } else { &reflection.task },
        outcome => reflection.outcome.as_str(),
        course => reflection.course(),
        sentence => reflection::MAX_SENTENCE,
        lesson => reflection::MAX_LESSON,
    };
    templates::told(PROMPT, &context)
}

/// Returns `true` if a relative path that a lesson names exists below the root of the working tree.
pub fn exists_below(root: &Path, name: &str) -> bool {
    let path = Path::new(name);
    let stays = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    stays && root.join(path).exists()
}
