//! Processes the items of a stream on several threads and keeps the order of the results.

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The number of items that a thread takes at once.
const BATCH: usize = 16;
/// The number of batches per thread that may be in progress. Memory must not grow while one batch takes long, and the
/// other threads must not run out of work meanwhile.
const OPEN: usize = 32;
/// The maximum number of threads.
const MAX_THREADS: usize = 4;

/// Does `work` on each item and hands the results to `sink` in the order of the items. `worker` creates the state of
/// one thread. Stops at the first error, of an item or of `sink`.
pub fn in_order<I, O, E, W>(
    items: impl Iterator<Item = Result<I, E>>,
    worker: impl Fn() -> W + Sync,
    sink: impl FnMut(O) -> Result<(), E>,
) -> Result<(), E>
where
    I: Send,
    O: Send,
    W: FnMut(I) -> O,
{
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let (give, given) = mpsc::sync_channel::<(usize, Vec<I>)>(threads * OPEN);
    let given = Mutex::new(given);
    let (done, results) = mpsc::channel();
    thread::scope(|scope| {
        // Whichever way this ends, it is dropped here, and with it each thread ends.
        let give = give;
        for _ in 0..threads {
            let (done, given, worker) = (done.clone(), &given, &worker);
            scope.spawn(move || {
                let mut work = worker();
                while let Ok((at, batch)) = given.lock().unwrap_or_else(PoisonError::into_inner).recv() {
                    let all = AssertUnwindSafe(|| batch.into_iter().map(&mut work).collect::<Vec<O>>());
                    if done.send((at, panic::catch_unwind(all))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(done);
        let mut order = Order { results, sink, early: BTreeMap::new(), next: 0 };
        let mut batch = Vec::with_capacity(BATCH);
        let mut number = 0;
        let mut hand_over = |batch: &mut Vec<I>| {
            order.take_until(number, threads * OPEN)?;
            if !batch.is_empty() && give.send((number, std::mem::take(batch))).is_ok() {
                number += 1;
            }
            Ok(number)
        };
        for item in items {
            batch.push(item?);
            if batch.len() == BATCH {
                hand_over(&mut batch)?;
            }
        }
        let given = hand_over(&mut batch)?;
        order.take_until(given, 1)
    })
}

/// The results of one batch, with its number.
type BatchResult<O> = (usize, thread::Result<Vec<O>>);

/// Puts results back into order.
struct Order<O, S> {
    results: Receiver<BatchResult<O>>,
    sink: S,
    /// The batches that were finished before their turn.
    early: BTreeMap<usize, Vec<O>>,
    /// The number of the batch whose turn it is.
    next: usize,
}

impl<O, E, S: FnMut(O) -> Result<(), E>> Order<O, S> {
    /// Hands out results until fewer than `open` of the `given` batches are in progress, and whatever else is ready.
    fn take_until(&mut self, given: usize, open: usize) -> Result<(), E> {
        loop {
            while let Some(batch) = self.early.remove(&self.next) {
                batch.into_iter().try_for_each(&mut self.sink)?;
                self.next += 1;
            }
            let result =
                if given - self.next >= open { self.results.recv().ok() } else { self.results.try_recv().ok() };
            match result {
                Some((at, Ok(batch))) => self.early.insert(at, batch),
                Some((_, Err(panic))) => panic::resume_unwind(panic),
                None => return Ok(()),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn doubled(items: impl Iterator<Item = Result<usize, &'static str>>) -> (Vec<usize>, Result<(), &'static str>) {
        let mut out = Vec::new();
        let ended = in_order(
            items,
            || |item: usize| 2 * item,
            |item| {
                out.push(item);
                Ok(())
            },
        );
        (out, ended)
    }

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for count in [0, 1, BATCH - 1, BATCH, 5 * BATCH + 3, 10_000] {
            let (out, ended) = doubled((0..count).map(Ok));
            assert_eq!((out, ended), ((0..count).map(|item| 2 * item).collect(), Ok(())));
        }
    }

    #[test]
    fn the_first_error_ends_it() {
        let items = (0..10_000).map(|item| if item == 5_000 { Err("torn") } else { Ok(item) });
        let (out, ended) = doubled(items);
        assert_eq!(ended, Err("torn"));
        assert!(out.len() <= 5_000 && out.iter().enumerate().all(|(at, &item)| item == 2 * at));
        let refused =
            in_order((0..10_000).map(Ok), || |item: usize| item, |item| if item < 70 { Ok(()) } else { Err(item) });
        assert_eq!(refused, Err(70));
    }

    #[test]
    fn no_more_is_on_its_way_than_can_be_held() {
        let (read, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let items = (0..10_000).map(|item| {
            let ahead = read.fetch_add(1, Ordering::Relaxed) - taken.load(Ordering::Relaxed);
            assert!(ahead <= (MAX_THREADS * OPEN + 2) * BATCH, "{ahead}");
            Ok::<usize, ()>(item)
        });
        let sink = |_| {
            taken.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        in_order(items, || |item: usize| item, sink).unwrap();
        assert_eq!(taken.load(Ordering::Relaxed), 10_000);
    }

    #[test]
    fn a_panic_is_passed_on() {
        let work = || |item: usize| if item == 77 { panic!("seventy-seven") } else { item };
        let passed = panic::catch_unwind(|| in_order((0..10_000).map(Ok::<_, ()>), work, |_| Ok(())));
        assert_eq!(passed.unwrap_err().downcast_ref::<&str>(), Some(&"seventy-seven"));
    }
}
