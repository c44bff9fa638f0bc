//! A person at a terminal, played by a pseudo terminal.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// No dialogue takes as long unless it hangs.
const LINE_TIMEOUT: Duration = Duration::from_mins(1);

/// Runs `line` in `shell` with a terminal for its three streams; `typed` lies in its input before it asks. The status
/// and everything that the terminal showed.
pub fn run(mut shell: Command, line: &str, typed: &str) -> (i32, String) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let end = || Stdio::from(File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap());
    shell.args(["-c", line]).stdin(end()).stdout(end()).stderr(end()).process_group(0);
    let mut child = shell.spawn().unwrap();
    let group = Pid::from_child(&child);
    // The ends that this process gave away must not keep the terminal open.
    drop(shell);
    let mut terminal = File::from(terminal);
    terminal.write_all(typed.as_bytes()).unwrap();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut shown = Vec::new();
        // At the end of the last process on it, a terminal answers with an error.
        let _ = terminal.read_to_end(&mut shown);
        let status = child.wait().unwrap();
        let code = status.code().or_else(|| Some(128 + status.signal()?)).unwrap();
        let _ = sender.send((code, String::from_utf8_lossy(&shown).into_owned()));
    });
    receiver.recv_timeout(LINE_TIMEOUT).unwrap_or_else(|_| {
        let _ = kill_process_group(group, Signal::KILL);
        panic!("`{line}` hangs on a terminal")
    })
}
