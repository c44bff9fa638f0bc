//! Signals while a child runs: `gate` survives them and passes on those that the child would not get by itself.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

use duct::unix::HandleExt;
use rustix::process::{Pid, Signal, getpgrp, kill_current_process_group, kill_process_group};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};
use signal_hook::iterator::{Handle, Signals};

use super::pty::Mirror;

/// Signals that end a process that does not handle them.
const ENDING: [i32; 6] = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2];

/// The number of running children.
static RUNNING: Mutex<usize> = Mutex::new(0);

/// As long as it exists, signals do not end `gate`. Afterwards they have their earlier effect.
#[derive(Debug)]
pub(super) struct Watch {
    signals: Option<Signals>,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Takes the signals. They wait until [`Watch::forward`] says where they go.
    pub(super) fn start() -> io::Result<Self> {
        let ignored = ignored();
        let ending: Vec<i32> = ENDING.into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0).collect();
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = idle(&ending)?;
        // SIGCHLD, because one that was ignored by whoever started us would let the child's status vanish.
        let signals = Signals::new(ending.iter().copied().chain([SIGCHLD, SIGWINCH]))?;
        idle.store(false, Ordering::SeqCst);
        *running += 1;
        Ok(Self { handle: signals.handle(), signals: Some(signals), thread: None })
    }

    /// Passes signals on to `child` from now on, those that came before included.
    pub(super) fn forward(&mut self, child: Arc<duct::Handle>, mut mirrors: Vec<Mirror>) {
        let Some(mut signals) = self.signals.take() else { return };
        let watch = move || {
            for signal in signals.forever() {
                match signal {
                    SIGWINCH => resize(&mut mirrors),
                    SIGCHLD => {}
                    SIGINT | SIGQUIT if typed() => {}
                    // Already gone: its status tells more than this error would.
                    _ => drop(child.send_signal(signal)),
                }
            }
        };
        self.thread = thread::Builder::new().name("signals".to_owned()).spawn(watch).ok();
    }

    /// Passes signals on to the process group of `child`, which gets none of those that are typed.
    pub(super) fn forward_to_group(&mut self, child: Arc<duct::Handle>) {
        let Some(mut signals) = self.signals.take() else { return };
        let watch = move || {
            for signal in signals.forever().filter(|signal| ![SIGCHLD, SIGWINCH].contains(signal)) {
                let Some(signal) = Signal::from_named_raw(signal) else { continue };
                for group in groups(&child) {
                    let _ = kill_process_group(group, signal);
                }
            }
        };
        self.thread = thread::Builder::new().name("signals".to_owned()).spawn(watch).ok();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        *running -= 1;
        if *running == 0
            && let Ok(idle) = idle(&[])
        {
            idle.store(true, Ordering::SeqCst);
        }
    }
}

/// Returns the switch that gives the signals their ordinary effect while no child runs, because an installed handler
/// cannot be removed. The handler itself reads it, so that the Ctrl-C that ended the child never counts as a later one.
fn idle(ending: &[i32]) -> io::Result<&'static Arc<AtomicBool>> {
    static IDLE: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(idle) = IDLE.get() {
        return Ok(idle);
    }
    let idle = Arc::new(AtomicBool::new(false));
    for signal in ending {
        signal_hook::flag::register_conditional_default(*signal, Arc::clone(&idle))?;
    }
    Ok(IDLE.get_or_init(|| idle))
}

/// Returns the process group that a child leads.
pub(super) fn groups(child: &duct::Handle) -> impl Iterator<Item = Pid> {
    child.pids().into_iter().filter_map(|id| Pid::from_raw(i32::try_from(id).ok()?))
}

/// Returns `true` if an interrupt comes from the keyboard, and so has reached the child already: only the process group
/// in the foreground of the terminal gets those.
fn typed() -> bool {
    let Ok(terminal) = std::fs::File::open("/dev/tty") else { return false };
    rustix::termios::tcgetpgrp(terminal).is_ok_and(|foreground| foreground == getpgrp())
}

/// Passes the new size on. The child got the signal at the same moment as gate, when its terminal still had the old
/// size.
fn resize(mirrors: &mut [Mirror]) {
    let mut changed = false;
    for mirror in mirrors {
        changed |= mirror.follow();
    }
    if changed {
        // It comes back to us as well, and ends here: nothing has changed then.
        let _ = kill_current_process_group(Signal::WINCH);
    }
}

/// Returns the ignored signals, as a bit set: `nohup` and a shell's `&` ignore some, and a handler would undo it for
/// the child.
#[cfg(target_os = "linux")]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(not(target_os = "linux"))]
fn ignored() -> u64 {
    0
}
