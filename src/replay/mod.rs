//! Judging again what was recorded: a case is a session and its repository, written down.
//!
//! ```text
//! case  →  world: contents, commits, runs, pushes  →  facts  →  gates  →  one word for each question
//! ```
//!
//! The facts and the gates are those of every other judgement; only where facts come from differs.

pub mod answer;
pub mod case;
pub mod content;
pub mod facts;
pub mod history;
pub mod hosting;
pub mod packages;
pub mod policy;
pub mod proof;
pub mod remote;
pub mod tale;
pub mod world;

pub use answer::{Answers, Said, answer};
pub use case::{Case, CaseError, Word};
