//! Measures how often gate is right: labelled ends of sessions are judged, and the answers are counted by class.
//!
//! ```text
//! evals/*.json  →  labelled_case  →  session_end: a case  →  replay: facts, gates  →  rates
//! ```
//!
//! Cases are data. A class is what decides a case: `T` the trace, `C` a contract, `S` reading the code, `X` only the
//! words, `L` a model.

pub mod doubtful_labels;
pub mod eval_report;
pub mod fact_answer;
pub mod judge_answer;
pub mod labelled_case;
pub mod measure;
pub mod project_cases;
pub mod rates;
pub mod session_end;
pub mod suite;
pub mod suite_kind;
