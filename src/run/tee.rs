//! Passes the child's output on, and keeps its beginning and end.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::head_and_tail::{Bounded, KeptOutput};
use super::output_streams::Channel;

/// The size of one read: the default capacity of a pipe.
const CHUNK: usize = 64 * 1024;
/// After the child's end, a stream that something still holds open is given up when nothing came for this long …
const QUIET: Duration = Duration::from_millis(250);
/// … or after this long of waiting in total …
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);
/// … or after this many bytes on each stream: more than a pipe can have held at the child's end.
const LEFT_OVER: u64 = 1024 * 1024;

/// The largest number of bytes of an unfinished line that are held back.
const MAX_BEGUN: usize = 128 * 1024;

/// One thread for each stream of the child.
#[derive(Debug)]
pub(super) struct Tee {
    shared: Arc<Shared>,
    /// The sources once more, for a check whether they hold bytes.
    sources: Vec<File>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<TeeState>,
    moved: Condvar,
}

#[derive(Debug)]
struct TeeState {
    kept: Bounded,
    /// The unfinished last line of each channel. Two channels are read independently, so a line of one may arrive
    /// within a line of the other, and a summary that is torn apart shows nothing.
    begun: Vec<Vec<u8>>,
    pumps: Vec<Pump>,
    undelivered: Option<String>,
    /// Somebody waits for movement. Telling it is a system call, so that it is not done before.
    watched: bool,
    /// The record is closed; later bytes are passed on and not kept.
    closed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pump {
    /// Waits for the child.
    Reading,
    /// Passes on the text that it read. This may take for ever: a pager, Ctrl-S.
    Writing,
    Done,
}

impl TeeState {
    /// Keeps a chunk of one channel: whole lines where there are several channels.
    fn keep(&mut self, index: usize, chunk: &[u8]) {
        if self.begun.len() == 1 {
            self.kept.push(chunk);
            return;
        }
        let begun = &mut self.begun[index];
        begun.extend_from_slice(chunk);
        let line_end = begun.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map(|at| at + 1);
        let whole = if begun.len() > MAX_BEGUN { begun.len() } else { line_end.unwrap_or(0) };
        self.kept.push(&begun[..whole]);
        begun.drain(..whole);
    }

    fn keep_begun_lines(&mut self) {
        for begun in &mut self.begun {
            self.kept.push(begun);
            begun.clear();
        }
    }

    fn total(&self) -> u64 {
        self.kept.total() + self.begun.iter().map(Vec::len).sum::<usize>() as u64
    }
}

impl Tee {
    /// Starts to pass on, and keeps everything if `whole`. Ends by itself when the far ends of all channels are closed.
    pub(super) fn start(channels: Vec<Channel>, whole: bool) -> io::Result<Self> {
        let state = TeeState {
            kept: Bounded::new(whole),
            begun: vec![Vec::new(); channels.len()],
            pumps: vec![Pump::Reading; channels.len()],
            undelivered: None,
            watched: false,
            closed: false,
        };
        let sources = channels.iter().map(|channel| channel.source.try_clone()).collect::<io::Result<_>>()?;
        let shared = Arc::new(Shared { state: Mutex::new(state), moved: Condvar::new() });
        for (index, channel) in channels.into_iter().enumerate() {
            let shared = Arc::clone(&shared);
            thread::Builder::new().name("tee".to_owned()).spawn(move || shared.pump(index, channel))?;
        }
        Ok(Self { shared, sources })
    }

    /// Ends the tee after the child: waits for the bytes that it left in its streams, and for no more than that.
    /// Returns the kept output, and any error in passing it on.
    ///
    /// A daemon that the child started may hold the streams open for ever; see [`QUIET`].
    pub(super) fn finish(&self) -> (KeptOutput, Option<String>) {
        let mut state = self.shared.lock();
        state.watched = true;
        let most = state.total() + LEFT_OVER * state.pumps.len() as u64;
        let mut patience = DRAIN_TIMEOUT;
        while state.pumps.iter().any(|pump| *pump != Pump::Done) && state.total() <= most && patience > Duration::ZERO {
            if state.pumps.contains(&Pump::Writing) {
                state = self.shared.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let before = (state.total(), state.pumps.clone());
            let since = Instant::now();
            let (after, timeout) =
                self.shared.moved.wait_timeout(state, QUIET.min(patience)).unwrap_or_else(PoisonError::into_inner);
            state = after;
            // On a busy machine a thread may not get its turn for longer than that.
            let unread =
                |(pump, source): (&Pump, &File)| *pump != Pump::Done && (holds_more(source) || has_ended(source));
            if state.pumps.iter().zip(&self.sources).any(unread) {
                continue;
            }
            patience = patience.saturating_sub(since.elapsed());
            if timeout.timed_out() && before == (state.total(), state.pumps.clone()) {
                break;
            }
        }
        state.closed = true;
        state.watched = false;
        state.keep_begun_lines();
        (state.kept.output(), state.undelivered.take())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, TeeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut TeeState)) {
        let mut state = self.lock();
        change(&mut state);
        if state.watched {
            self.moved.notify_all();
        }
    }

    fn pump(&self, index: usize, channel: Channel) {
        let Channel { mut source, sink } = channel;
        let mut sink = Some(sink);
        let mut buffer = vec![0; CHUNK];
        loop {
            let chunk = match source.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => &buffer[..count],
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                // Linux ends a pseudo-terminal with EIO; nothing else can happen to a pipe of ours.
                Err(_) => break,
            };
            self.change(|state| {
                state.pumps[index] = Pump::Writing;
                if !state.closed {
                    state.keep(index, chunk);
                }
            });
            let delivered = sink.as_mut().map_or(Ok(()), |sink| deliver(sink, chunk));
            if delivered.is_err() {
                sink = None;
            }
            self.change(|state| {
                state.pumps[index] = Pump::Reading;
                // A reader that has enough is the ordinary end of `| head`; a full disk is not.
                if let Err(error) = delivered
                    && error.kind() != ErrorKind::BrokenPipe
                {
                    state.undelivered.get_or_insert_with(|| error.to_string());
                }
            });
        }
        self.change(|state| state.pumps[index] = Pump::Done);
    }
}

/// Returns `true` if it holds bytes that were written and not read.
#[cfg(unix)]
fn holds_more(source: &File) -> bool {
    rustix::io::ioctl_fionread(source).is_ok_and(|count| count > 0)
}

#[cfg(not(unix))]
fn holds_more(_: &File) -> bool {
    false
}

/// Returns `true` if no process can write to it, so that its reader is about to see the end.
#[cfg(unix)]
fn has_ended(source: &File) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut wanted = [PollFd::new(source, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut wanted, Some(&now)).is_ok() && wanted[0].revents().contains(PollFlags::HUP)
}

#[cfg(not(unix))]
fn has_ended(_: &File) -> bool {
    false
}

fn deliver(sink: &mut File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match sink.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Somebody who shares our output made it non-blocking, as Node.js does. There is no call in reach that
            // waits for it, and it is rare.
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(Duration::from_millis(1)),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::fd::OwnedFd;

    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

    use super::*;

    #[test]
    fn an_output_that_does_not_block_loses_nothing() {
        let (mut reader, writer) = io::pipe().unwrap();
        fcntl_setfl(&writer, fcntl_getfl(&writer).unwrap() | OFlags::NONBLOCK).unwrap();
        let mut sink = File::from(OwnedFd::from(writer));
        let mut filling = 0;
        while let Ok(count) = sink.write(&[1; 4096]) {
            filling += count;
        }
        let delivery = thread::spawn(move || deliver(&mut sink, &vec![2; 300_000]));
        let mut all = Vec::new();
        reader.read_to_end(&mut all).unwrap();
        delivery.join().unwrap().unwrap();
        assert_eq!(all, [vec![1; filling], vec![2; 300_000]].concat());
    }

    #[test]
    fn lines_of_two_channels_stay_whole() {
        let mut state = TeeState {
            kept: Bounded::new(false),
            begun: vec![Vec::new(); 2],
            pumps: vec![Pump::Reading; 2],
            undelivered: None,
            watched: false,
            closed: false,
        };
        for (index, chunk) in
            [(0, "test result: "), (1, "  Running unit"), (0, "ok. 1 passed\nrest"), (1, "tests\r\nend")]
        {
            state.keep(index, chunk.as_bytes());
        }
        assert_eq!(state.total(), 54);
        state.keep_begun_lines();
        assert_eq!(state.total(), 54);
        assert_eq!(*state.kept.output().end(), *b"test result: ok. 1 passed\n  Running unittests\r\nrestend");
    }

    #[test]
    fn what_lies_in_a_pipe_is_seen() {
        let (reader, mut writer) = io::pipe().unwrap();
        let reader = File::from(OwnedFd::from(reader));
        assert!(!holds_more(&reader));
        writer.write_all(b"x").unwrap();
        assert!(holds_more(&reader));
    }
}
