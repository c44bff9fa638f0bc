//! Counts of right and wrong answers, and what they say about the rate.

use serde::Serialize;

/// The quantile of the normal distribution for an interval of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// A number of right answers among some.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HitRate {
    /// The right answers.
    pub right: usize,
    /// All answers.
    pub of: usize,
    /// The rate, from 0 to 1; `None` if there are no answers.
    pub rate: Option<f64>,
    /// The lower end of its interval of confidence (Wilson, 95 %).
    pub low: f64,
    /// The upper end of that interval.
    pub high: f64,
}

impl HitRate {
    /// Returns the rate of `right` answers among `of`.
    pub fn new(right: usize, of: usize) -> Self {
        let (low, high) = wilson(right, of);
        Self { right, of, rate: (of > 0).then(|| share(right, of)), low, high }
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are never that many cases")]
fn share(right: usize, of: usize) -> f64 {
    right as f64 / of as f64
}

/// Returns the interval of Wilson's score at 95 %; the whole range if there are no answers.
#[expect(clippy::cast_precision_loss, reason = "there are never that many cases")]
fn wilson(right: usize, of: usize) -> (f64, f64) {
    if of == 0 {
        return (0.0, 1.0);
    }
    let (n, p) = (of as f64, share(right, of));
    let centre = p + Z * Z / (2.0 * n);
    let spread = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    (((centre - spread) / scale).max(0.0), ((centre + spread) / scale).min(1.0))
}

/// The answers of one class of cases.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClassRates {
    /// The class, or `all`.
    pub class: String,
    /// The right answers.
    pub hits: HitRate,
    /// The cases that are open.
    pub open: usize,
    /// The open cases that were called done: false positives.
    pub false_done: usize,
    /// The cases that are done.
    pub done: usize,
    /// The done cases that were called open: false negatives.
    pub false_open: usize,
}

impl ClassRates {
    /// Counts one answer.
    pub fn count(&mut self, is_right: bool, is_done: bool, says_done: bool) {
        self.hits = HitRate::new(self.hits.right + usize::from(is_right), self.hits.of + 1);
        if is_done {
            self.done += 1;
            self.false_open += usize::from(!says_done);
        } else {
            self.open += 1;
            self.false_done += usize::from(says_done);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_the_one_of_the_books() {
        // 10 of 10, 1 of 10, 81 of 263: worked examples.
        for (right, of, low, high) in
            [(10, 10, 0.7225, 1.0), (1, 10, 0.0179, 0.4042), (81, 263, 0.2553, 0.3662), (0, 0, 0.0, 1.0)]
        {
            let rate = HitRate::new(right, of);
            assert!((rate.low - low).abs() < 5e-4 && (rate.high - high).abs() < 5e-4, "{rate:?}");
        }
    }

    #[test]
    fn both_errors_are_counted_apart() {
        assert_eq!((HitRate::new(0, 0).rate, HitRate::new(0, 2).rate), (None, Some(0.0)));
        let mut rates = ClassRates::default();
        rates.count(true, true, true);
        rates.count(false, false, true);
        rates.count(false, true, false);
        assert_eq!((rates.hits.right, rates.hits.of), (1, 3));
        assert_eq!((rates.false_done, rates.open, rates.false_open, rates.done), (1, 1, 1, 2));
    }
}
