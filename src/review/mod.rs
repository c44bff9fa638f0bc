//! Reviews a change by two models that did not make it: a reviewer and an auditor.
//!
//! ```text
//! diff  →  parts: whole functions  →  prompts  →  answers with quotes  →  findings, kept for each part
//! ```
//!
//! What a part was said to contain is kept under the digest of the part, so that no content is reviewed twice and a
//! finding stays until the content there changes, or the other one of the two answers that it is wrong.

pub mod author_model;
pub mod change_parts;
pub mod reading;
pub mod review_answer;
pub mod review_store;
pub mod second_opinion;
