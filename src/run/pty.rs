//! A pseudo-terminal that stands in for a real one as output.
//!
//! It is not a controlling terminal: the child keeps the real one, and only its output goes through this one.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::OwnedFd;

use rustix::pty::{OpenptFlags, grantpt, openpt, unlockpt};
use rustix::termios::{
    LocalModes, OptionalActions, OutputModes, Winsize, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize,
};

/// Both ends, and the means to keep the size right.
#[derive(Debug)]
pub(super) struct Pty {
    /// The own end: it returns the bytes that the child writes.
    pub(super) ours: File,
    /// The child's end.
    pub(super) childs: File,
    pub(super) mirror: Mirror,
}

/// A pseudo-terminal whose size follows that of a real terminal.
#[derive(Debug)]
pub(super) struct Mirror {
    real: File,
    ours: File,
    last: Winsize,
}

/// Opens a pseudo-terminal with the modes and the size of `real`. Fails if `real` is not a terminal.
pub(super) fn open_like(real: &File) -> io::Result<Pty> {
    if !real.is_terminal() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let ours = open_ours()?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let childs = open_childs(&ours)?;

    // The bytes must come out as the child wrote them: the real terminal does its own processing of them.
    let mut modes = tcgetattr(real)?;
    modes.output_modes.remove(OutputModes::OPOST);
    modes.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&childs, OptionalActions::Now, &modes)?;
    let last = tcgetwinsize(real)?;
    tcsetwinsize(&ours, last)?;

    let ours = File::from(ours);
    let mirror = Mirror { real: real.try_clone()?, ours: ours.try_clone()?, last };
    Ok(Pty { ours, childs: childs.into(), mirror })
}

impl Mirror {
    /// Takes over the size of the real terminal. Returns `true` if it has changed.
    pub(super) fn follow(&mut self) -> bool {
        let Ok(now) = tcgetwinsize(&self.real) else { return false };
        let plain = |size: Winsize| (size.ws_row, size.ws_col, size.ws_xpixel, size.ws_ypixel);
        if plain(now) == plain(self.last) {
            return false;
        }
        self.last = now;
        tcsetwinsize(&self.ours, now).is_ok()
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd", target_os = "netbsd"))]
fn open_ours() -> io::Result<OwnedFd> {
    Ok(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd", target_os = "netbsd")))]
fn open_ours() -> io::Result<OwnedFd> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::CLOEXEC)?;
    Ok(ours)
}

/// Opens the child's end through the own end, not through a path: this works in containers with another `/dev/pts`.
#[cfg(target_os = "linux")]
fn open_childs(ours: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    Ok(rustix::pty::ioctl_tiocgptpeer(ours, flags)?)
}

#[cfg(not(target_os = "linux"))]
fn open_childs(ours: &OwnedFd) -> io::Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    let name = rustix::pty::ptsname(ours, Vec::new())?;
    Ok(rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?)
}
