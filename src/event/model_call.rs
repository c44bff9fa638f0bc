//! A model was asked.

use serde::{Deserialize, Serialize};

/// One call of a model of the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ModelCall {
    /// The name in the user's configuration.
    pub name: String,
    /// The model's own name, if the configuration has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The purpose.
    pub purpose: CallPurpose,
    /// The SHA-256 of the prompt, as the model received it.
    pub prompt: String,
    /// The tokens that went in: estimated if the model does not say.
    pub input_tokens: u64,
    /// The tokens that came out: estimated if the model does not say.
    pub output_tokens: u64,
    /// The time that it took, in milliseconds.
    pub milliseconds: u64,
    /// The reason why there is no valid answer; `None` if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// `true` if the model was not called, since the budget of the day is used up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_called: bool,
}

/// The purpose of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum CallPurpose {
    /// To read the last message of a turn.
    Words,
    /// To review a change.
    Review,
    /// To name the kind of a task.
    Routing,
    /// To propose edits to the memory file.
    Curate,
}

as_str!(CallPurpose);

impl ModelCall {
    /// Returns a call that has not been answered yet.
    pub const fn new(name: String, model: Option<String>, purpose: CallPurpose, prompt: String) -> Self {
        let (input_tokens, output_tokens, milliseconds) = (0, 0, 0);
        let (failure, not_called) = (None, false);
        Self { name, model, purpose, prompt, input_tokens, output_tokens, milliseconds, failure, not_called }
    }

    /// Sets the cost.
    pub const fn took(&mut self, input_tokens: u64, output_tokens: u64, milliseconds: u64) {
        self.input_tokens = input_tokens;
        self.output_tokens = output_tokens;
        self.milliseconds = milliseconds;
    }
}
