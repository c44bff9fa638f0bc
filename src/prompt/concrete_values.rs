//! Values that make a wish definite: numbers with a unit, quoted texts, statuses, names of errors.

use super::prompt_patterns::PromptPattern;

static METRIC: PromptPattern = PromptPattern::named("metric");
static CONCRETE: PromptPattern = PromptPattern::named("concrete");

/// Returns `true` if the text has a number with a unit.
pub(super) fn has_metric(text: &str) -> bool {
    METRIC.is_match(text)
}

/// Returns the number of concrete values in a text.
pub(super) fn concrete(text: &str) -> usize {
    CONCRETE.find_iter(text).count()
}
