//! Judges of last resort: models that read words where facts decide nothing.
//!
//! A judge may say that something is not done. It proves nothing: what it reads as done stays as unproven as before.

pub mod answer_form;
pub mod ask_and_record;
pub mod consultation;
pub mod kind_question;
pub mod memory_question;
pub mod quoted_material;
pub mod word_question;
