//! The weights of strategies: they move slowly, and only where sessions show a difference. Nothing is ever switched.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::learn::interval::{self, Interval};
use crate::learn::strategies::{Strategies, Strategy, StrategyKind};

/// The part of the way that a weight goes to its target in one update.
const ALPHA: f64 = 0.1;
/// The weight of a switch about which nothing is known.
const NEUTRAL: f64 = 0.5;
/// The number of sessions that are needed on each side of a comparison.
pub const MIN_SAMPLES: usize = 8;
/// The number of new sessions that are needed for an update: whoever looks often sees differences that are none.
pub const MIN_NEW: usize = 10;
/// The share of errors that all comparisons of one update may make together.
const ERRORS: f64 = 0.05;

/// A session: its reward, and the values of its strategies.
#[derive(Clone, Debug, PartialEq)]
pub struct StrategySample {
    pub session: String,
    pub reward: f64,
    pub values: BTreeMap<String, f64>,
}

/// The weights after one update.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[expect(clippy::struct_field_names, reason = "the word of the record")]
pub struct Weights {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The time of the update.
    #[cfg_attr(test, schemars(with = "String"))]
    pub at: Timestamp,
    /// The number of sessions that it rests on.
    pub sessions: usize,
    /// These sessions. The record forgets old ones, so that their number does not show which are new.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<String>,
    /// The entry of the history that a rollback restored, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restores: Option<usize>,
    /// `true` if a rollback took back the first update: nothing is known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub emptied: bool,
    /// The weights by strategy.
    pub weights: BTreeMap<String, StrategyWeight>,
}

/// The weight of one strategy, and its reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StrategyWeight {
    /// The kind.
    pub kind: StrategyKind,
    /// For a switch from 0 to 1, where 0.5 means that nothing is known; for a number the number itself.
    pub weight: f64,
    /// The number of sessions with the strategy on, or with the best value.
    pub with: usize,
    /// The number of other sessions.
    pub without: usize,
    /// The mean reward with it, less the mean reward without it.
    pub difference: Option<f64>,
    /// The ends of the interval of the difference.
    pub interval: Option<(f64, f64)>,
    /// The result of the comparison in words.
    pub says: String,
    /// The change that a person may make in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<String>,
}

/// Returns the number of sessions that are new since `previous`.
pub fn new_sessions(previous: Option<&Weights>, samples: &[StrategySample]) -> usize {
    match previous {
        None => samples.len(),
        Some(previous) if previous.counted.is_empty() && samples.len() >= previous.sessions => {
            samples.len() - previous.sessions
        }
        Some(previous) => samples.iter().filter(|sample| !previous.counted.contains(&sample.session)).count(),
    }
}

/// Returns the weights after these sessions, all that the record has, or `None` if too few are new since `previous`.
pub fn update(
    strategies: &Strategies,
    previous: Option<&Weights>,
    samples: &[StrategySample],
    at: Timestamp,
) -> Option<Weights> {
    if new_sessions(previous, samples) < MIN_NEW {
        return None;
    }
    let alpha = ERRORS / interval::number(strategies.0.len().max(1));
    let weigh = |(name, strategy): (&String, &Strategy)| {
        let before =
            previous.and_then(|previous| previous.weights.get(name)).filter(|before| before.kind == strategy.kind);
        let of = |sample: &StrategySample| Some((*sample.values.get(name)?, sample.reward));
        let values: Vec<(f64, f64)> = samples.iter().filter_map(of).collect();
        let before = before.map(|before| before.weight);
        let weight = match strategy.kind {
            StrategyKind::Switch => switch(strategy, before.unwrap_or(NEUTRAL), &values, alpha),
            StrategyKind::Number => number(strategy, before.unwrap_or(strategy.value), &values, alpha),
        };
        (name.clone(), weight)
    };
    let weights = strategies.0.iter().map(weigh).collect();
    let counted = samples.iter().map(|sample| sample.session.clone()).collect();
    Some(Weights { schema_version: 1, at, sessions: samples.len(), counted, restores: None, emptied: false, weights })
}

/// Returns the rewards on both sides of a comparison.
fn sides(values: &[(f64, f64)], is_with: impl Fn(f64) -> bool) -> (Vec<f64>, Vec<f64>) {
    let (with, without): (Vec<_>, Vec<_>) = values.iter().partition(|(value, _)| is_with(*value));
    let rewards = |side: Vec<(f64, f64)>| side.into_iter().map(|(_, reward)| reward).collect();
    (rewards(with), rewards(without))
}

/// Compares two sides, and moves the weight to `target` of the difference where zero lies outside of its interval.
fn compared(
    kind: StrategyKind,
    before: f64,
    (with, without): (&[f64], &[f64]),
    alpha: f64,
    target: impl Fn(Interval) -> Option<f64>,
) -> (StrategyWeight, Option<Interval>) {
    let enough = with.len() >= MIN_SAMPLES && without.len() >= MIN_SAMPLES;
    let interval = enough.then(|| interval::of_difference(with, without, alpha)).flatten();
    let shown = interval.filter(|interval| interval.excludes_zero());
    let moved = shown.and_then(target).map(|target| before * (1.0 - ALPHA) + target * ALPHA);
    let says = match (enough, shown) {
        (false, _) => {
            format!("not enough data: {} with, {} without; {MIN_SAMPLES} of each are needed", with.len(), without.len())
        }
        (true, None) => "no difference is shown".to_owned(),
        (true, Some(interval)) if interval.low > 0.0 => "sessions with it are better".to_owned(),
        (true, Some(_)) => "sessions with it are worse".to_owned(),
    };
    let difference = interval::mean(with).zip(interval::mean(without)).map(|(with, without)| with - without);
    let weight = StrategyWeight {
        kind,
        weight: moved.unwrap_or(before),
        with: with.len(),
        without: without.len(),
        difference,
        interval: interval.map(|interval| (interval.low, interval.high)),
        says,
        proposal: None,
    };
    (weight, shown)
}

fn switch(strategy: &Strategy, before: f64, values: &[(f64, f64)], alpha: f64) -> StrategyWeight {
    let (with, without) = sides(values, |value| value >= NEUTRAL);
    let target = |interval: Interval| Some(f64::from(u8::from(interval.low > 0.0)));
    let (mut weight, shown) = compared(StrategyKind::Switch, before, (&with, &without), alpha, target);
    let better = shown.map(|interval| interval.low > 0.0);
    weight.proposal = better.filter(|on| *on != (strategy.value >= NEUTRAL)).map(|on| format!("value = {on}"));
    weight
}

fn number(strategy: &Strategy, before: f64, values: &[(f64, f64)], alpha: f64) -> StrategyWeight {
    let mut tried: Vec<f64> = values.iter().map(|(value, _)| *value).collect();
    tried.sort_by(f64::total_cmp);
    tried.dedup();
    let is = |one: f64| move |value: f64| value.total_cmp(&one).is_eq();
    let mean_of = |one: f64| {
        let (with, _) = sides(values, is(one));
        (with.len() >= MIN_SAMPLES).then(|| interval::mean(&with)).flatten().map(|mean| (one, mean))
    };
    let means: Vec<(f64, f64)> = tried.iter().filter_map(|one| mean_of(*one)).collect();
    let best = means.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(strategy.value, |(best, _)| *best);
    let (with, without) = sides(values, is(best));
    // The best of several is compared, so each of them could have been it.
    let alpha = alpha / interval::number(means.len().max(1));
    let target = |interval: Interval| (interval.low > 0.0).then_some(best);
    let (mut weight, shown) = compared(StrategyKind::Number, before, (&with, &without), alpha, target);
    let is_better = shown.is_some_and(|interval| interval.low > 0.0);
    weight.proposal = (is_better && !is(best)(strategy.value)).then(|| format!("value = {best}"));
    weight
}

/// Returns the entry that takes back the newest of a history, or `None` if there is nothing before it.
pub fn rollback(history: &[Weights], at: Timestamp) -> Option<Weights> {
    let newest = history.last().filter(|newest| !newest.emptied)?;
    let current = newest.restores.unwrap_or(history.len() - 1);
    // The sessions stay counted, so that the same sessions do not move the weights again.
    let counted = newest.counted.clone();
    let Some(to) = current.checked_sub(1) else {
        return Some(Weights {
            at,
            sessions: newest.sessions,
            counted,
            restores: None,
            emptied: true,
            weights: BTreeMap::new(),
            ..newest.clone()
        });
    };
    let to = history[to].restores.unwrap_or(to);
    Some(Weights { at, sessions: newest.sessions, counted, restores: Some(to), ..history[to].clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns numbers from 0 to 1 that depend on the seed alone.
    struct Dice(u64);

    impl Dice {
        fn uniform(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut x = self.0;
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            f64::from(u32::try_from((x ^ (x >> 31)) >> 32).unwrap()) / f64::from(u32::MAX)
        }

        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
        }
    }

    fn strategies() -> Strategies {
        let mut text = "version = 1\n[strategies.batch]\nvalue = 3\n".to_owned();
        for name in ["check-after-write", "import-map", "tests-first", "subagents", "small-commits"] {
            text = format!("{text}[strategies.{name}]\nvalue = false\n");
        }
        Strategies::parse(&text).unwrap()
    }

    /// Returns the weights after 60 sessions with an update after each ten, whose rewards depend on one strategy.
    fn simulated(seed: u64, effect: f64) -> Weights {
        let (strategies, mut dice) = (strategies(), Dice(seed));
        let mut samples = Vec::new();
        let mut weights: Option<Weights> = None;
        for session in 0..60_i64 {
            let values: BTreeMap<String, f64> = strategies
                .0
                .iter()
                .map(|(name, strategy)| {
                    let on = f64::from(u8::from(dice.uniform() < 0.5));
                    (name.clone(), if strategy.kind == StrategyKind::Number { 3.0 + on } else { on })
                })
                .collect();
            let reward = 0.5 + effect * values["tests-first"] + 0.1 * dice.normal();
            samples.push(StrategySample { session: session.to_string(), reward, values });
            let at = Timestamp::from_second(session).unwrap();
            weights = update(&strategies, weights.as_ref(), &samples, at).or(weights);
        }
        weights.unwrap()
    }

    #[test]
    fn a_planted_strategy_is_found_within_sixty_sessions() {
        let found = (0..100).filter(|seed| {
            let weights = simulated(*seed, 0.15).weights;
            let planted = &weights["tests-first"];
            let others =
                weights.iter().filter(|(name, one)| *name != "tests-first" && one.kind == StrategyKind::Switch);
            planted.proposal.as_deref() == Some("value = true")
                && planted.weight > NEUTRAL
                && others.clone().all(|(_, one)| one.weight < planted.weight)
        });
        let found = found.count();
        assert!(found >= 95, "{found} of 100");
    }

    #[test]
    fn on_noise_no_weight_drifts() {
        let calm = (1_000..1_100).filter(|seed| {
            let weights = simulated(*seed, 0.0).weights;
            weights.values().all(|one| {
                let start = if one.kind == StrategyKind::Switch { NEUTRAL } else { 3.0 };
                (one.weight - start).abs() <= 0.1
            })
        });
        let calm = calm.count();
        assert!(calm >= 95, "{calm} of 100");
    }

    #[test]
    fn too_few_sessions_say_so_and_change_nothing() {
        let strategies = strategies();
        let sample = |session: usize| {
            let values = BTreeMap::from([("tests-first".to_owned(), 1.0)]);
            StrategySample { session: session.to_string(), reward: 1.0, values }
        };
        let samples = |from: usize, to: usize| (from..to).map(sample).collect::<Vec<_>>();
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(update(&strategies, None, &samples(0, MIN_NEW - 1), now), None);
        let one_sided = update(&strategies, None, &samples(0, 30), now).unwrap();
        let weight = &one_sided.weights["tests-first"];
        assert_eq!((weight.weight, weight.proposal.as_deref()), (NEUTRAL, None));
        assert!(weight.says.starts_with("not enough data: 30 with, 0 without"), "{}", weight.says);
        assert_eq!(update(&strategies, Some(&one_sided), &samples(0, 39), now), None, "nine are new");
        // The record forgets old sessions.
        assert_eq!(update(&strategies, Some(&one_sided), &samples(25, 39), now), None, "nine are new");
        assert_eq!(update(&strategies, Some(&one_sided), &samples(25, 40), now).unwrap().sessions, 15);
    }

    #[test]
    fn a_number_moves_toward_the_best_value_by_a_tenth() {
        let strategies = strategies();
        let samples: Vec<StrategySample> = (0..40_u32)
            .map(|session| {
                let batch = f64::from(session % 4 + 1);
                let reward = if session % 4 == 1 { 0.8 } else { 0.4 } + f64::from(session % 3) * 0.01;
                let values = BTreeMap::from([("batch".to_owned(), batch)]);
                StrategySample { session: session.to_string(), reward, values }
            })
            .collect();
        let weights = update(&strategies, None, &samples, Timestamp::UNIX_EPOCH).unwrap();
        let batch = &weights.weights["batch"];
        assert!((batch.weight - (3.0 * 0.9 + 2.0 * 0.1)).abs() < 1e-9);
        assert_eq!(batch.proposal.as_deref(), Some("value = 2"));
    }

    #[test]
    fn a_history_is_rolled_back_step_by_step() {
        let entry = |sessions: usize, weight: f64| {
            let strategies = strategies();
            let mut weights = update(&strategies, None, &[], Timestamp::UNIX_EPOCH).unwrap_or(Weights {
                schema_version: 1,
                at: Timestamp::UNIX_EPOCH,
                sessions,
                counted: Vec::new(),
                restores: None,
                emptied: false,
                weights: BTreeMap::new(),
            });
            let one = switch(&strategies.0["tests-first"], weight, &[], 0.05);
            weights.weights.insert("tests-first".to_owned(), one);
            weights
        };
        let mut history = vec![entry(10, 0.5), entry(20, 0.55), entry(30, 0.595)];
        let weight = |weights: &Weights| weights.weights["tests-first"].weight;
        for expected in [0.55, 0.5] {
            let back = rollback(&history, Timestamp::UNIX_EPOCH).unwrap();
            assert!((weight(&back) - expected).abs() < 1e-9);
            assert_eq!(back.sessions, 30);
            history.push(back);
        }
        let first = rollback(&history, Timestamp::UNIX_EPOCH).unwrap();
        assert!(first.weights.is_empty() && first.sessions == 30, "the first update can be taken back, too");
        history.push(first);
        assert_eq!(rollback(&history, Timestamp::UNIX_EPOCH), None);
        assert_eq!(rollback(&[], Timestamp::UNIX_EPOCH), None);
    }
}
