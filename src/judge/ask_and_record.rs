//! One question to a model, and the record of it.

use std::time::Duration;

use crate::digest::sha256;
use crate::event::model_call::{CallPurpose, ModelCall};
use crate::model::ModelError;
use crate::model::model_settings::ModelSettings;
use crate::redact::redact;

/// Sends a prompt to a model and reads its answer with `read`, at most for `patience`. Returns the call with its cost and
/// with the reason why there is no valid answer, if there is none.
pub fn ask<T>(
    model: &ModelSettings,
    purpose: CallPurpose,
    prompt: &str,
    patience: Duration,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> (ModelCall, Result<T, String>) {
    let digest = sha256(prompt.as_bytes());
    let mut call = ModelCall::new(model.name.clone(), model.model.clone(), purpose, digest);
    let reply = model.ask(prompt, patience);
    call.took(reply.tokens.input, reply.tokens.output, reply.milliseconds);
    call.not_called = matches!(reply.answer, Err(ModelError::Budget(_)));
    // A failing model may repeat anything, and the reason is kept.
    let answer = reply.answer.map_err(|error| redact(&error.to_string()).into_owned());
    let answer = answer.and_then(|text| read(&text).map_err(|why| format!("its answer is not valid: {why}")));
    call.failure = answer.as_ref().err().cloned();
    (call, answer)
}
