//! Remembered answers. Histories name the same paths and people again and again, and matching them against all patterns
//! costs more than a look-up in a table.

use std::collections::HashMap;
use std::fmt;
use std::sync::Mutex;

use foldhash::fast::RandomState;

/// The largest number of answers that are kept, so that memory does not grow with a history.
const MAX_ENTRIES: usize = 1 << 14;

/// The answers of a function that depends only on the bytes of its argument.
pub(super) struct Memo<V>(Mutex<HashMap<Box<[u8]>, V, RandomState>>);

impl<V: Clone> Memo<V> {
    /// Returns the answer about `key`, computed by `ask` if it is unknown.
    pub(super) fn get(&self, key: &[u8], ask: impl FnOnce() -> V) -> V {
        // A thread that panicked has left whole answers.
        let lock = || self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(known) = lock().get(key) {
            return known.clone();
        }
        let found = ask();
        let mut known = lock();
        if known.len() >= MAX_ENTRIES {
            known.clear();
        }
        known.insert(key.into(), found.clone());
        found
    }
}

impl<V> Default for Memo<V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// A copy finds its answers out itself.
impl<V> Clone for Memo<V> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<V> fmt::Debug for Memo<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memo")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_found_out_once_and_their_number_is_bounded() {
        let memo = Memo::default();
        assert_eq!((memo.get(b"a", || 1), memo.get(b"a", || 2), memo.get(b"b", || 3)), (1, 1, 3));
        for number in 0..3 * MAX_ENTRIES {
            memo.get(&number.to_le_bytes(), || 0);
        }
        assert!(memo.0.lock().unwrap().len() <= MAX_ENTRIES);
        assert_eq!(memo.clone().get(b"a", || 4), 4);
    }
}
