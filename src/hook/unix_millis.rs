//! The present time, as the files of the hooks hold it.

use std::time::SystemTime;

/// Returns the present time, in milliseconds since 1970.
pub(super) fn millis_since_1970() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
