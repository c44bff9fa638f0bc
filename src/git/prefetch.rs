//! An iterator that a thread of its own reads ahead.

use std::sync::mpsc::{self, IntoIter};
use std::thread::{self, JoinHandle};
use std::{iter, panic};

/// The number of items that are handed over at once.
const BATCH: usize = 64;
/// The largest number of batches that are read ahead. It bounds the memory.
const OPEN: usize = 64;

/// The items of an iterator, in their order. Dropped early, it leaves the iterator to be dropped by its thread.
pub(super) struct Ahead<T> {
    items: iter::Flatten<IntoIter<Vec<T>>>,
    reader: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> Ahead<T> {
    /// Begins to read.
    pub(super) fn new(mut from: impl Iterator<Item = T> + Send + 'static) -> Self {
        let (give, given) = mpsc::sync_channel::<Vec<T>>(OPEN);
        let reader = thread::spawn(move || {
            loop {
                let batch: Vec<T> = from.by_ref().take(BATCH).collect();
                if batch.is_empty() || give.send(batch).is_err() {
                    return;
                }
            }
        });
        Self { items: given.into_iter().flatten(), reader: Some(reader) }
    }
}

impl<T> Iterator for Ahead<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let item = self.items.next();
        // A reader that died has not come to the end, and what it did not read must not be taken for nothing.
        if item.is_none()
            && let Some(Err(panic)) = self.reader.take().map(JoinHandle::join)
        {
            panic::resume_unwind(panic);
        }
        item
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn items_come_in_their_order() {
        for count in [0, 1, BATCH, BATCH * OPEN + 7, 3 * BATCH * OPEN] {
            assert!(Ahead::new(0..count).eq(0..count), "{count}");
        }
    }

    #[test]
    fn what_a_dead_reader_did_not_read_is_not_nothing() {
        let from = (0..=BATCH).inspect(|&at| assert!(at < BATCH, "sixty-four"));
        let mut ahead = Ahead::new(from);
        assert!(ahead.by_ref().take(BATCH).eq(0..BATCH));
        let died = panic::catch_unwind(panic::AssertUnwindSafe(|| ahead.next()));
        assert_eq!(died.unwrap_err().downcast_ref::<&str>(), Some(&"sixty-four"));
    }

    #[test]
    fn no_more_is_read_than_can_be_held() {
        let read = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&read);
        let mut ahead = Ahead::new((0..10 * BATCH * OPEN).inspect(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        }));
        assert_eq!(ahead.next(), Some(0));
        // One batch was taken, the channel holds its own, and the reader has one in its hands.
        assert!(read.load(Ordering::Relaxed) <= (OPEN + 2) * BATCH);
        drop(ahead);
    }
}
