//! Reviews a change by two models that did not make it: a reviewer and an auditor.
//!
//! ```text
//! diff  →  hunks: whole functions  →  parts  →  prompts  →  answers with quotes  →  findings, kept for each hunk
//! ```
//!
//! What a hunk was said to contain is kept under the digest of the hunk, so that no content is reviewed twice. A finding is
//! bound to the lines that it quotes: it stays until they change, or the other one of the two answers that it is wrong.

pub mod author_model;
pub mod change_hunks;
pub mod change_part;
pub mod hunk_line;
pub mod quotes;
pub mod reading;
pub mod review_answer;
pub mod review_store;
pub mod second_opinion;
