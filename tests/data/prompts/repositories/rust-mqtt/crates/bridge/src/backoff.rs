use std::time::Duration;

pub const MAX_BACKOFF: Duration = Duration::from_secs(60);

pub fn next_delay(attempt: u32) -> Duration {
    let secs = 2u64.saturating_pow(attempt);
    Duration::from_secs(secs).min(MAX_BACKOFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_is_capped() {
        assert_eq!(next_delay(10), MAX_BACKOFF);
    }
}
