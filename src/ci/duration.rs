//! Spans of time as people write them on a command line.

use std::time::Duration;

/// Reads `90s`, `20m` or `2h`; a number alone is seconds.
///
/// # Errors
///
/// A fragment that describes the expected form.
pub fn span(text: &str) -> Result<Duration, String> {
    let (number, unit) =
        if let Some(at) = text.find(|c: char| !c.is_ascii_digit()) { text.split_at(at) } else { (text, "s") };
    let each = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => 0,
    };
    let seconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(each)).filter(|_| each > 0);
    // Longer than any job.
    let seconds = seconds.filter(|seconds| *seconds <= 7 * 24 * 3600);
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| "write a number with s, m or h, such as 20m; a week at most".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        for (text, seconds) in
            [("20m", Some(1200)), ("90s", Some(90)), ("2h", Some(7200)), ("7", Some(7)), ("0", Some(0))]
        {
            assert_eq!(span(text).ok().map(|span| span.as_secs()), seconds, "{text}");
        }
        for wrong in ["", "m", "-1m", "1d", "1.5m", "20 m", "1000h", "99999999999999999999s"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
    }
}
