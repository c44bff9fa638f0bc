//! The reward of a session: seven terms with fixed weights, each bounded, none of them fed by what an agent can inflate.
//! `docs/reward.md` explains each term and each decision.

use serde::Serialize;

/// The number of lines that a proven task stands for: neither more lines nor fewer change a term.
const LINES_PER_TASK: f64 = 100.0;
/// The number of files that a proven task stands for.
const FILES_PER_TASK: f64 = 2.0;
/// The number of tokens for each of these lines at which `TokenEff` is 0.
const TOKENS_PER_LINE: f64 = 500.0;
/// The number of minutes for each of these lines at which `TimeEff` is 0.
const MINUTES_PER_LINE: f64 = 0.5;
/// The part of `ErrorEff` that one error for each file costs.
const COST_OF_ERROR: f64 = 0.1;
/// The number of wasted calls of one kind for each task at which its part of `ToolEff` is 0.
const WASTE_PER_TASK: f64 = 5.0;

/// The numbers of a session. Each is of the record or of the client's log; a missing one is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RewardNumbers {
    /// The tasks of a person that ended in success.
    pub proven_tasks: u32,
    /// The reverts of the session: those that the record shows on its own branch.
    pub reverts: u32,
    /// The tokens that were read uncached or written.
    pub tokens: Option<u64>,
    /// The failed checks and the gates that refused a claim.
    pub errors: u32,
    /// The health before the session, from 0 to 100.
    pub health_before: Option<f64>,
    /// The health at its last verdict.
    pub health_after: Option<f64>,
    /// The tests that failed first and passed after a change of other files than tests. `None` if no runner names tests.
    pub tests_proven: Option<u32>,
    /// The tool calls that failed or were refused.
    pub failed_calls: Option<u32>,
    /// The command lines that were repeated although nothing changed.
    pub repeated_calls: Option<u32>,
    /// The claims that were refused.
    pub refused_claims: u32,
    /// The minutes of work. A pause counts for at most five.
    pub minutes: Option<f64>,
    /// The failed checks of sub-agents.
    pub subagent_errors: u32,
}

/// One term of the reward.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RewardTerm {
    /// Its name.
    pub name: &'static str,
    /// Its weight.
    pub weight: f64,
    /// Its value, or `None` if a number is missing.
    pub value: Option<f64>,
    /// Its smallest possible value.
    pub min: f64,
    /// Its largest possible value.
    pub max: f64,
    /// The formula with its numbers, or the reason why it is missing.
    pub shown: String,
}

/// The reward of a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[expect(clippy::struct_field_names, reason = "the word of the record")]
pub struct Reward {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The session.
    pub session: String,
    /// The reward, or `None` if a term is missing.
    pub reward: Option<f64>,
    /// The reward if every missing term were as small as possible. It is what `gate learn` compares.
    pub low: f64,
    /// The reward if every missing term were as large as possible.
    pub high: f64,
    /// The terms.
    pub terms: Vec<RewardTerm>,
    /// The numbers that they are made of.
    pub numbers: RewardNumbers,
}

impl Reward {
    /// Returns the reward of a session with these numbers.
    pub fn of(session: &str, numbers: RewardNumbers) -> Self {
        // A revert takes back what was proven.
        let tasks = f64::from(numbers.proven_tasks.saturating_sub(numbers.reverts));
        let terms = vec![
            token_eff(&numbers, tasks),
            error_eff(&numbers, tasks),
            quality_delta(&numbers),
            test_delta(&numbers, tasks),
            tool_eff(&numbers, tasks),
            time_eff(&numbers, tasks),
            rework_pen(&numbers),
        ];
        let sum = |missing: fn(&RewardTerm) -> f64| -> f64 {
            terms.iter().map(|term| term.weight * term.value.unwrap_or_else(|| missing(term))).sum()
        };
        let (low, high) = (sum(|term| term.min), sum(|term| term.max));
        let reward = terms.iter().all(|term| term.value.is_some()).then_some(low);
        Self { schema_version: 1, session: session.to_owned(), reward, low, high, terms, numbers }
    }
}

fn term(name: &'static str, weight: f64, value: Option<f64>, shown: String) -> RewardTerm {
    RewardTerm { name, weight, value: value.map(|value| value.clamp(0.0, 1.0)), min: 0.0, max: 1.0, shown }
}

/// Returns `1 - min(1, spent / allowed)`. Where nothing is proven, nothing is allowed, and the value is 0.
fn saved(spent: f64, allowed: f64) -> f64 {
    if allowed > 0.0 { 1.0 - (spent / allowed).min(1.0) } else { 0.0 }
}

fn token_eff(numbers: &RewardNumbers, tasks: f64) -> RewardTerm {
    // More tokens than a float holds exactly are far beyond the limit.
    #[expect(clippy::cast_precision_loss, reason = "see above")]
    let tokens = numbers.tokens.map(|tokens| tokens as f64);
    let value = tokens.map(|tokens| saved(tokens, tasks * LINES_PER_TASK * TOKENS_PER_LINE));
    let shown = match numbers.tokens {
        Some(tokens) => format!("1 - min(1, {tokens} tokens / ({tasks} tasks × {LINES_PER_TASK} × {TOKENS_PER_LINE}))"),
        None => "missing: no log of the client counts tokens".to_owned(),
    };
    term("TokenEff", 0.15, value, shown)
}

fn error_eff(numbers: &RewardNumbers, tasks: f64) -> RewardTerm {
    let errors = numbers.errors;
    let value = saved(f64::from(errors) * COST_OF_ERROR, tasks * FILES_PER_TASK);
    let shown = format!("1 - min(1, {errors} errors / ({tasks} tasks × {FILES_PER_TASK}) × {COST_OF_ERROR})");
    term("ErrorEff", 0.25, Some(value), shown)
}

fn quality_delta(numbers: &RewardNumbers) -> RewardTerm {
    let both = numbers.health_before.zip(numbers.health_after);
    let shown = match both {
        Some((before, after)) => format!("({after} - {before}) / 100"),
        None => "missing: no verdict before this session, or none in it".to_owned(),
    };
    let value = both.map(|(before, after)| ((after - before) / 100.0).clamp(-1.0, 1.0));
    RewardTerm { name: "QualityDelta", weight: 0.20, value, min: -1.0, max: 1.0, shown }
}

fn test_delta(numbers: &RewardNumbers, tasks: f64) -> RewardTerm {
    let (all, reverts) = (numbers.proven_tasks, numbers.reverts);
    // A revert must not make the same tests count for fewer tasks.
    let kept = |tests: u32| f64::from(tests.saturating_sub(reverts));
    let value = numbers.tests_proven.map(|tests| if tasks > 0.0 { kept(tests) / f64::from(all) } else { 0.0 });
    let shown = match numbers.tests_proven {
        Some(tests) => format!("min(1, ({tests} tests that failed first - {reverts} reverts) / {all} tasks)"),
        None => "missing: no run names its tests".to_owned(),
    };
    term("TestDelta", 0.15, value, shown)
}

fn tool_eff(numbers: &RewardNumbers, tasks: f64) -> RewardTerm {
    let counts = numbers.failed_calls.zip(numbers.repeated_calls);
    let refused = numbers.refused_claims;
    let part = |count: u32| saved(f64::from(count), tasks * WASTE_PER_TASK);
    let value = counts.map(|(failed, repeated)| (part(failed) + part(repeated) + part(refused)) / 3.0);
    let shown = match counts {
        Some((failed, repeated)) => format!(
            "mean of 1 - min(1, n / ({tasks} tasks × {WASTE_PER_TASK})) for {failed} failed calls, {repeated} repeated \
             lines, {refused} refused claims"
        ),
        None => "missing: no client reported what its agent did".to_owned(),
    };
    term("ToolEff", 0.10, value, shown)
}

fn time_eff(numbers: &RewardNumbers, tasks: f64) -> RewardTerm {
    let value = numbers.minutes.map(|minutes| saved(minutes, tasks * LINES_PER_TASK * MINUTES_PER_LINE));
    let shown = match numbers.minutes {
        Some(minutes) => {
            format!("1 - min(1, {minutes:.1} min / ({tasks} tasks × {LINES_PER_TASK} × {MINUTES_PER_LINE}))")
        }
        None => "missing: fewer than two events".to_owned(),
    };
    term("TimeEff", 0.10, value, shown)
}

fn rework_pen(numbers: &RewardNumbers) -> RewardTerm {
    let (reverts, errors) = (numbers.reverts, numbers.subagent_errors);
    let value = -((f64::from(reverts) + f64::from(errors) * 0.5) * 0.2).min(1.0);
    let shown = format!("-min(1, ({reverts} reverts + {errors} errors of sub-agents × 0.5) × 0.2)");
    // A negative zero is written as one.
    RewardTerm { name: "ReworkPen", weight: 0.05, value: Some(value + 0.0), min: -1.0, max: 0.0, shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> RewardNumbers {
        RewardNumbers {
            proven_tasks: 2,
            tokens: Some(20_000),
            errors: 2,
            health_before: Some(100.0),
            health_after: Some(100.0),
            tests_proven: Some(1),
            failed_calls: Some(0),
            repeated_calls: Some(0),
            minutes: Some(20.0),
            ..RewardNumbers::default()
        }
    }

    #[test]
    fn every_term_is_bounded_whatever_the_numbers_are() {
        let numbers = |n: u32, some: bool| RewardNumbers {
            proven_tasks: n % 7,
            reverts: n % 5,
            tokens: some.then_some(u64::from(n) * 1_000_003),
            errors: n,
            health_before: some.then_some(f64::from(n % 101)),
            health_after: some.then_some(f64::from(n * 7 % 101)),
            tests_proven: some.then_some(n),
            failed_calls: some.then_some(n),
            repeated_calls: some.then_some(n),
            refused_claims: n,
            minutes: some.then_some(f64::from(n) * 3.5),
            subagent_errors: n,
        };
        for n in (0..400).chain([u32::MAX / 7]) {
            for some in [true, false] {
                let reward = Reward::of("s", numbers(n, some));
                assert_eq!(reward.reward.is_some(), some);
                assert!((-0.25..=0.95).contains(&reward.low) && reward.low <= reward.high && reward.high <= 0.951);
                for term in &reward.terms {
                    let value = term.value.unwrap_or(term.min);
                    assert!(value.is_finite() && (term.min..=term.max).contains(&value), "{term:?}");
                }
            }
        }
        let weights: f64 = Reward::of("s", good()).terms.iter().map(|term| term.weight).sum();
        assert!((weights - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_terms_are_those_of_the_table() {
        let reward = Reward::of("s", good());
        let value = |name: &str| reward.terms.iter().find(|term| term.name == name).unwrap().value.unwrap();
        for (name, expected) in [
            ("TokenEff", 1.0 - 20_000.0 / 100_000.0),
            ("ErrorEff", 1.0 - 2.0 / 4.0 * 0.1),
            ("QualityDelta", 0.0),
            ("TestDelta", 0.5),
            ("ToolEff", 1.0),
            ("TimeEff", 1.0 - 20.0 / 100.0),
            ("ReworkPen", 0.0),
        ] {
            assert!((value(name) - expected).abs() < 1e-9, "{name}: {}", value(name));
        }
    }

    #[test]
    fn a_missing_number_is_missing_and_not_zero() {
        let reward = Reward::of("s", RewardNumbers { tokens: None, ..good() });
        assert_eq!((reward.reward, reward.terms[0].value), (None, None));
        assert!(reward.terms[0].shown.starts_with("missing: "));
        assert!((reward.high - reward.low - 0.15).abs() < 1e-9);
        let nothing =
            Reward::of("s", RewardNumbers { tokens: Some(0), minutes: Some(0.0), ..RewardNumbers::default() });
        assert_eq!(nothing.terms[0].value, Some(0.0), "nothing was proven, so nothing was saved");
    }

    #[test]
    fn a_revert_costs_more_than_its_penalty() {
        let kept = Reward::of("s", good()).low;
        let reverted = Reward::of("s", RewardNumbers { reverts: 1, ..good() }).low;
        assert!(kept - reverted > 0.02, "{kept} {reverted}");
    }
}
