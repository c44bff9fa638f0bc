//! Models that the user configured: a command that reads the prompt on its standard input, or an endpoint.
//!
//! They are in the user's own configuration and never in the repository's, since an agent may write there. A model gets
//! text and gives text: no tools, an empty directory, a small environment, a time limit, and a budget for each day.

mod answer_text;
mod command_call;
pub mod daily_budget;
#[cfg(feature = "github")]
mod endpoint_call;
pub mod model_settings;

use std::time::{Duration, Instant};

pub use self::command_call::is_in_model_call;
use self::daily_budget::{BudgetError, DailyBudget};
use self::model_settings::{ModelAccess, ModelSettings};

use crate::redact::REDACTED;

/// The largest answer that is read, in bytes.
const MAX_ANSWER: u64 = 1024 * 1024;

/// An answer of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelReply {
    /// The text.
    pub text: String,
    /// The tokens that went in, or 0 if the model does not say.
    pub input_tokens: u64,
    /// The tokens that came out, or 0 if the model does not say.
    pub output_tokens: u64,
    /// The time that it took, in milliseconds.
    pub milliseconds: u64,
}

/// A call without an answer.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The day's budget is used up, or cannot be counted.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The model took too long.
    #[error("no answer within {0} s")]
    TooSlow(u64),
    /// The command could not be started, or failed.
    #[error("{0}")]
    Command(String),
    /// The key for the endpoint is missing.
    #[error("{0}")]
    Key(String),
    /// The endpoint limits its calls.
    #[error("the endpoint limits its calls{0}")]
    Limited(String),
    /// The endpoint refused, failed, or could not be reached.
    #[error("{0}")]
    Endpoint(String),
    /// The answer is not one.
    #[error("{0}")]
    Answer(String),
    /// The answer is larger than any answer.
    #[error("the answer is larger than {MAX_ANSWER} bytes")]
    TooMuch,
}

/// The shortest value that is taken for a secret, in bytes.
const MIN_SECRET: usize = 8;

/// Returns what a model said without the values that only it may know, such as its key.
fn without(text: &str, secrets: &[String]) -> String {
    let mut secrets: Vec<&str> = secrets.iter().map(|one| one.trim()).filter(|one| one.len() >= MIN_SECRET).collect();
    secrets.sort_by_key(|one| std::cmp::Reverse(one.len()));
    secrets.into_iter().fold(text.to_owned(), |text, secret| text.replace(secret, REDACTED))
}

impl ModelSettings {
    /// Returns `true` if today's budget is used up.
    pub fn is_used_up(&self) -> bool {
        let spent = DailyBudget::of_today(&self.name).and_then(|budget| budget.spent());
        spent.is_ok_and(|spent| spent.calls >= self.daily_calls || spent.tokens >= self.daily_tokens)
    }

    /// Sends a prompt and waits for the answer, at most for `patience` and for the model's own time limit. Every call
    /// counts against the budget of the day.
    pub fn ask(&self, prompt: &str, patience: Duration) -> Result<ModelReply, ModelError> {
        let budget = DailyBudget::of_today(&self.name)?;
        budget.take_call(self.daily_calls, self.daily_tokens)?;
        let began = Instant::now();
        let patience = patience.min(Duration::from_secs(self.timeout));
        let reply = match &self.access {
            ModelAccess::Command { line, env } => command_call::call(line, env, prompt, patience),
            #[cfg(feature = "github")]
            ModelAccess::Endpoint(endpoint) => endpoint_call::call(endpoint, prompt, patience),
            #[cfg(not(feature = "github"))]
            ModelAccess::Endpoint(_) => Err(ModelError::Endpoint("this build of gate has no network".to_owned())),
        };
        let mut reply = reply?;
        reply.milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        budget.add_tokens(reply.input_tokens.saturating_add(reply.output_tokens))?;
        if reply.text.trim().is_empty() {
            return Err(ModelError::Answer("the answer is empty".to_owned()));
        }
        Ok(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_in_no_text_that_comes_back() {
        let keys = ["local-key-1234".to_owned(), "local-key-1234-long".to_owned(), "1".to_owned()];
        let clean = without("Bearer local-key-1234-long, local-key-1234 and 1", &keys);
        assert_eq!(clean, "Bearer [redacted], [redacted] and 1");
    }
}
