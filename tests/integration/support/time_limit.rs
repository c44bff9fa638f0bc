//! A time limit for each test: one that hangs is named, and ends the test run.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The time that one test may take. The slowest needs a tenth of it on two busy cores.
const TEST_TIMEOUT: Duration = Duration::from_mins(10);
/// The time between two looks at the tests that are running.
const INTERVAL: Duration = Duration::from_secs(1);

/// A test that is running: its name, which libtest gives its thread, and its beginning.
struct RunningTest {
    name: String,
    began: Instant,
}

fn running() -> MutexGuard<'static, Vec<Arc<RunningTest>>> {
    static RUNNING: OnceLock<Mutex<Vec<Arc<RunningTest>>>> = OnceLock::new();
    let running = RUNNING.get_or_init(|| {
        thread::spawn(watch);
        Mutex::default()
    });
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the test run when a test takes longer than [`TEST_TIMEOUT`].
#[expect(clippy::exit, clippy::print_stderr, reason = "a thread that hangs cannot be ended in any other way")]
fn watch() {
    loop {
        thread::park_timeout(INTERVAL);
        if let Some(test) = running().iter().find(|test| test.began.elapsed() > TEST_TIMEOUT) {
            eprintln!("the test {} did not end within {} s", test.name, TEST_TIMEOUT.as_secs());
            std::process::exit(101);
        }
    }
}

/// The time limit of the test that holds it.
pub struct TimeLimit(Arc<RunningTest>);

impl TimeLimit {
    /// Starts the time of the test on this thread.
    pub fn start() -> Self {
        let name = thread::current().name().unwrap_or("(without a name)").to_owned();
        let test = Arc::new(RunningTest { name, began: Instant::now() });
        running().push(Arc::clone(&test));
        Self(test)
    }
}

impl Drop for TimeLimit {
    fn drop(&mut self) {
        running().retain(|test| !Arc::ptr_eq(test, &self.0));
    }
}

impl std::fmt::Debug for TimeLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the time limit of {}", self.0.name)
    }
}

/// A temporary folder for a test, with the test's time limit.
#[derive(Debug)]
pub struct TestFolder {
    folder: TempDir,
    _limit: TimeLimit,
}

impl TestFolder {
    /// Makes an empty folder; it is removed with the value.
    pub fn new() -> Self {
        Self { folder: TempDir::new().expect("a temporary directory"), _limit: TimeLimit::start() }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}
