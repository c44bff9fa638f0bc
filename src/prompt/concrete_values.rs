//! Values that make a wish definite: numbers with a unit, quoted texts, statuses, names of errors.

use std::sync::LazyLock;

use crate::lazy_patterns::LazyPattern;

use super::prompt_text::regex;

static METRIC: LazyLock<LazyPattern> = LazyLock::new(|| {
    regex(
        r"(?i)(?:<|>|≤|≥|under|below|less than|within|at most|from|bajo|menos de|por debajo de|unter|moins de|menos que|de)?\s*\d[\d.,]*\s*(?:ms|s|sec\w*|seg\w*|min\w*|sekunden|%|x|kb|mb|gb|rps|req/s|qps|fps|times|veces|rows?|hours?|h)\b",
    )
});
static CONCRETE: LazyLock<LazyPattern> = LazyLock::new(|| {
    regex(
        r#"(?i)\b[1-5]\d\d\b|\b\w+(?:Error|Exception)\b|"[^"\n]*"|`[^`\n]+`|(?:^|[\s(\[=:,])'[^'\n]*'|«[^»]*»|»[^«\n]*«|„[^“”"\n]*[“”"]|“[^”\n]*”|[「『][^」』\n]*[」』]|\b(?:null|none|nil|undefined|true|false|nan)\b|\[\]|\*\.\w+|(?:^|\s)-[a-zA-Z]\b|\b\w+(?:,\w+){2,}\b|\bbecomes?:|->|→|\bexit (?:code|status) \d|\(\S*\)|\b\d+(?:\.\d+)?[a-z%]{0,3}\b"#,
    )
});

/// Returns `true` if the text has a number with a unit.
pub(super) fn has_metric(text: &str) -> bool {
    METRIC.about(text).is_some_and(|metric| metric.is_match(text))
}

/// Returns the number of concrete values in a text.
pub(super) fn concrete(text: &str) -> usize {
    CONCRETE.about(text).map_or(0, |concrete| concrete.find_iter(text).count())
}
