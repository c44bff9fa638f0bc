//! The lock of an open file, taken within a time limit.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::thread;
use std::time::{Duration, Instant};

/// The longest pause between two attempts.
const MAX_PAUSE: Duration = Duration::from_millis(10);

/// Takes the lock of a file, which ends with the file. Returns `false` if another process holds it for the whole of
/// `timeout`. On a file system without locks it is always free.
///
/// `File::lock` would wait for ever for a process that was stopped, and so would a push.
///
/// # Errors
///
/// The system cannot lock the file.
pub fn take(file: &File, timeout: Duration) -> io::Result<bool> {
    let begun = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => return Ok(true),
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Interrupted => {}
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if begun.elapsed() >= timeout => return Ok(false),
            Err(TryLockError::WouldBlock) => {
                thread::sleep(pause);
                pause = (pause * 2).min(MAX_PAUSE);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_another_one_holds_is_not_waited_for_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let open =
            || File::options().create(true).truncate(false).write(true).open(folder.path().join("lock")).unwrap();
        let (first, second) = (open(), open());
        assert!(take(&first, Duration::ZERO).unwrap());
        assert!(!take(&second, Duration::from_millis(20)).unwrap());
        drop(first);
        assert!(take(&second, Duration::ZERO).unwrap());
    }
}
