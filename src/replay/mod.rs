//! Judging again what was recorded: a case is a session and its repository, written down.
//!
//! ```text
//! case  →  world: contents, commits, runs, pushes  →  facts  →  gates  →  one word for each question
//! ```
//!
//! The facts and the gates are those of every other judgement; only where facts come from differs. A case is also written
//! from what is recorded: of a session ([`session`]), of a verdict that its reader contradicts ([`appeal`]). A verdict
//! itself is judged again from the repository and the journal ([`verdict`]).

pub mod answer;
pub mod appeal;
pub mod case;
pub mod compose;
pub mod content;
pub mod facts;
pub mod history;
pub mod hosting;
pub mod neutral;
pub mod packages;
pub mod policy;
pub mod proof;
pub mod remote;
pub mod session;
pub mod tale;
pub mod verdict;
pub mod world;

pub use answer::{Answers, Said, answer};
pub use case::{Case, CaseError, Word};
