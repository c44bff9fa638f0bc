//! Models that the user configured: a command that reads the prompt on its standard input, or an endpoint.
//!
//! They are in the user's own configuration and never in the repository's, since an agent may write there. A model gets
//! text and gives text: no tools, an empty directory, a small environment, a time limit, and a budget for each day.

mod answer_text;
mod command_call;
pub mod daily_budget;
#[cfg(feature = "github")]
mod endpoint_call;
pub mod model_name;
pub mod model_settings;

use std::time::{Duration, Instant};

pub use self::command_call::is_in_model_call;
use self::daily_budget::{BudgetError, DailyBudget};
use self::model_settings::{ModelAccess, ModelSettings};

use crate::redact::REDACTED;

/// The largest answer that is read, in bytes.
const MAX_ANSWER: u64 = 1024 * 1024;
/// The number of bytes of a token, on average.
const BYTES_OF_TOKEN: usize = 4;

/// The end of one call of a model.
#[derive(Debug)]
pub struct ModelReply {
    /// The answer, or the reason why there is none.
    pub answer: Result<String, ModelError>,
    /// The tokens of the call; 0 if the model was not called.
    pub tokens: TokenCount,
    /// The time that it took, in milliseconds.
    pub milliseconds: u64,
}

/// The tokens of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenCount {
    /// The tokens that went in.
    pub input: u64,
    /// The tokens that came out.
    pub output: u64,
}

impl TokenCount {
    /// Estimates the tokens of a call that reports none: one for each four bytes.
    fn estimate(prompt: &str, answer: &str) -> Self {
        let of = |text: &str| text.len().div_ceil(BYTES_OF_TOKEN) as u64;
        Self { input: of(prompt), output: of(answer) }
    }

    const fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// What a model gave back: the answer, and the tokens if it reports them.
#[derive(Debug)]
struct ModelOutput {
    answer: Result<String, ModelError>,
    tokens: Option<TokenCount>,
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
    /// counts against the budget of the day, whether its answer is of use or not.
    pub fn ask(&self, prompt: &str, patience: Duration) -> ModelReply {
        let began = Instant::now();
        let (answer, tokens) = match self.call_within_budget(prompt, patience) {
            Ok((answer, tokens)) => (answer, tokens),
            Err(error) => (Err(error), TokenCount::default()),
        };
        let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        ModelReply { answer, tokens, milliseconds }
    }

    fn call_within_budget(
        &self,
        prompt: &str,
        patience: Duration,
    ) -> Result<(Result<String, ModelError>, TokenCount), ModelError> {
        let budget = DailyBudget::of_today(&self.name)?;
        budget.take_call(self.daily_calls, self.daily_tokens)?;
        let patience = patience.min(Duration::from_secs(self.timeout));
        let output = match &self.access {
            ModelAccess::Command { line, env } => command_call::call(line, env, prompt, patience),
            #[cfg(feature = "github")]
            ModelAccess::Endpoint(endpoint) => endpoint_call::call(endpoint, prompt, patience),
            #[cfg(not(feature = "github"))]
            ModelAccess::Endpoint(_) => Err(ModelError::Endpoint("this build of gate has no network".to_owned())),
        };
        let output = match output {
            // The prompt was sent.
            Err(error @ (ModelError::TooSlow(_) | ModelError::TooMuch | ModelError::Answer(_))) => {
                ModelOutput { answer: Err(error), tokens: None }
            }
            output => output?,
        };
        let said = output.answer.as_deref().unwrap_or_default();
        let tokens = output.tokens.unwrap_or_else(|| TokenCount::estimate(prompt, said));
        budget.add_tokens(tokens.total())?;
        let is_empty = output.answer.as_ref().is_ok_and(|text| text.trim().is_empty());
        let answer = if is_empty { Err(ModelError::Answer("the answer is empty".to_owned())) } else { output.answer };
        Ok((answer, tokens))
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
