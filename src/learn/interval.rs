//! Confidence intervals for small counts and means. The level is 95 %.

use serde::Serialize;

/// The normal quantile of the level.
const Z: f64 = 1.959_964;

/// The two-sided quantiles of Student's distribution for 1 to 30 degrees of freedom.
const T: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// An interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    /// Returns `true` if zero lies outside.
    pub fn excludes_zero(self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// Returns a count as a number. Counts beyond 2^32 are far from what is counted here.
pub fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Returns the Wilson interval of a share, or `None` of nothing.
pub fn of_share(part: usize, whole: usize) -> Option<Interval> {
    let (share, whole) = (number(part.min(whole)) / number(whole), number(whole));
    if whole == 0.0 {
        return None;
    }
    let middle = share + Z * Z / (2.0 * whole);
    let width = Z * (share * (1.0 - share) / whole + Z * Z / (4.0 * whole * whole)).sqrt();
    let below = 1.0 + Z * Z / whole;
    Some(Interval { low: ((middle - width) / below).max(0.0), high: ((middle + width) / below).min(1.0) })
}

/// Returns the mean of some values, or `None` of none.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / number(values.len()))
}

/// Returns the variance of a sample of at least two values.
fn variance(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() >= 2)?;
    Some(values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / number(values.len() - 1))
}

/// Returns the quantile of the standard normal distribution that leaves `alpha` outside, half on each side.
fn normal_quantile(alpha: f64) -> f64 {
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if outside(middle) > alpha { low = middle } else { high = middle }
    }
    high
}

/// Returns the share of the standard normal distribution that lies further from zero than `z` (Abramowitz and Stegun,
/// 7.1.26).
fn outside(z: f64) -> f64 {
    const PARTS: [f64; 5] = [0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];
    let x = z / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    PARTS.iter().rev().fold(0.0, |sum, part| (sum + part) * t) * (-x * x).exp()
}

/// Returns the quantile of Student's distribution that leaves `alpha` outside, after Cornish and Fisher. Below seven
/// degrees of freedom it grows with that of the table.
fn adjusted_quantile(freedom: f64, alpha: f64) -> f64 {
    let z = normal_quantile(alpha);
    if freedom < 7.0 {
        return quantile(freedom) * z / Z;
    }
    let (z3, z5) = (z.powi(3), z.powi(5));
    z + (z3 + z) / (4.0 * freedom) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * freedom.powi(2))
}

fn quantile(freedom: f64) -> f64 {
    // A smaller number of degrees of freedom gives a wider interval. The value is at least 1 and at most 30.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped")]
    let whole = freedom.clamp(1.0, 1e6) as usize;
    T.get(whole - 1).copied().unwrap_or(if whole < 60 { T[29] } else { 2.0 })
}

/// Returns the interval of a mean, or `None` of fewer than two values.
pub fn of_mean(values: &[f64]) -> Option<Interval> {
    let (mean, variance) = (mean(values)?, variance(values)?);
    let width = quantile(number(values.len()) - 1.0) * (variance / number(values.len())).sqrt();
    Some(Interval { low: mean - width, high: mean + width })
}

/// Returns Welch's interval of the difference of two means, which leaves `alpha` outside, or `None` where one has fewer
/// than two values.
pub fn of_difference(of: &[f64], minus: &[f64], alpha: f64) -> Option<Interval> {
    let difference = mean(of)? - mean(minus)?;
    let (a, b) = (variance(of)? / number(of.len()), variance(minus)? / number(minus.len()));
    let below = a.powi(2) / (number(of.len()) - 1.0) + b.powi(2) / (number(minus.len()) - 1.0);
    let freedom = if below > 0.0 { (a + b).powi(2) / below } else { 1e6 };
    let width = adjusted_quantile(freedom, alpha) * (a + b).sqrt();
    Some(Interval { low: difference - width, high: difference + width })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_textbooks() {
        let near = |interval: Option<Interval>, low: f64, high: f64| {
            let interval = interval.unwrap();
            assert!((interval.low - low).abs() < 2e-3 && (interval.high - high).abs() < 2e-3, "{interval:?}");
        };
        near(of_share(8, 10), 0.490, 0.943);
        near(of_share(0, 10), 0.0, 0.278);
        near(of_share(10, 10), 0.722, 1.0);
        near(of_mean(&[1.0, 2.0, 3.0, 4.0, 5.0]), 1.037, 4.963);
        near(of_difference(&[3.0, 4.0, 5.0], &[1.0, 2.0, 3.0], 0.05), -0.267, 4.267);
        assert!((normal_quantile(0.05) - Z).abs() < 1e-5);
        assert!((adjusted_quantile(20.0, 0.01) - 2.845).abs() < 5e-3);
        assert!((adjusted_quantile(58.0, 0.05) - 2.002).abs() < 2e-3);
    }

    #[test]
    fn too_little_has_no_interval() {
        assert_eq!(of_share(0, 0), None);
        assert_eq!(of_mean(&[1.0]), None);
        assert_eq!(of_difference(&[1.0, 2.0], &[1.0], 0.05), None);
        assert_eq!(mean(&[]), None);
        assert!(!Interval { low: -0.1, high: 0.1 }.excludes_zero());
        assert!(of_difference(&[2.0, 2.0], &[1.0, 1.0], 0.05).unwrap().excludes_zero());
    }
}
