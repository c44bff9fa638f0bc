//! The direction of the last scores.

use serde::Serialize;

use super::ScoredPrompt;

/// The fewest scores that show a direction.
const MIN_SCORES: usize = 6;
/// The difference of the means that counts as a change.
const MIN_CHANGE: f64 = 0.5;

/// The direction of the last scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PromptTrend {
    /// The later half is higher.
    Rising,
    /// There is no clear change, or there are too few scores.
    Stable,
    /// The later half is lower.
    Declining,
}

impl PromptTrend {
    /// Compares the mean of the later half with that of the earlier half.
    pub(super) fn of(scores: &[ScoredPrompt]) -> Self {
        if scores.len() < MIN_SCORES {
            return Self::Stable;
        }
        let (earlier, later) = scores.split_at(scores.len() / 2);
        let change = mean(later) - mean(earlier);
        if change >= MIN_CHANGE {
            Self::Rising
        } else if change <= -MIN_CHANGE {
            Self::Declining
        } else {
            Self::Stable
        }
    }
}

fn mean(scores: &[ScoredPrompt]) -> f64 {
    let count = u32::try_from(scores.len()).unwrap_or(u32::MAX);
    scores.iter().map(|scored| scored.score).sum::<f64>() / f64::from(count.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halves_are_compared() {
        let of = |scores: &[f64]| {
            let scores: Vec<_> = scores.iter().map(|&score| ScoredPrompt { at: 0, score, halted: false }).collect();
            PromptTrend::of(&scores)
        };
        assert_eq!(of(&[2.0, 2.0, 2.0, 4.0, 4.0, 4.0]), PromptTrend::Rising);
        assert_eq!(of(&[4.0, 4.0, 4.0, 2.0, 2.0, 2.0]), PromptTrend::Declining);
        assert_eq!(of(&[3.0, 4.0, 3.0, 4.0, 3.0, 4.0]), PromptTrend::Stable);
        assert_eq!(of(&[1.0, 5.0]), PromptTrend::Stable);
    }
}
