//! A command under `gate` at a terminal.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, OutputModes, Winsize, tcgetattr, tcsetattr, tcsetwinsize};
use serde_json::json;

use crate::run_process::{Gate, PREAMBLE, read_until};

/// A terminal: the side of the person at it.
struct Terminal {
    person: File,
    line: PathBuf,
}

impl Terminal {
    /// With the given size, and without processing of output, so that its bytes can be compared.
    fn new(rows: u16, columns: u16) -> Self {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let line = PathBuf::from(ptsname(&person, Vec::new()).unwrap().into_string().unwrap());
        let terminal = Self { person: person.into(), line };
        terminal.resize(rows, columns);
        let mut modes = tcgetattr(&terminal.person).unwrap();
        modes.output_modes.remove(OutputModes::OPOST);
        tcsetattr(&terminal.person, OptionalActions::Now, &modes).unwrap();
        terminal
    }

    fn resize(&self, rows: u16, columns: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.person, size).unwrap();
    }

    fn line(&self) -> Stdio {
        let mut options = File::options();
        std::os::unix::fs::OpenOptionsExt::custom_flags(
            &mut options,
            i32::try_from(rustix::fs::OFlags::NOCTTY.bits()).unwrap(),
        );
        options.read(true).write(true).open(&self.line).unwrap().into()
    }

    /// In a new session of which this is the controlling terminal.
    fn start(&self, gate: &Gate, starter: &[&str], line: &str) -> Child {
        // Whoever started the tests in the background made them ignore the keyboard; a terminal's programs do not.
        let starter = [&["env", "--default-signal=INT,QUIT", "setsid", "--ctty", "--wait"], starter].concat();
        let mut command = gate.command_through(&starter, line);
        command.stdin(self.line()).stdout(self.line()).stderr(self.line());
        command.spawn().unwrap()
    }

    fn types(&mut self, text: &str) {
        self.person.write_all(text.as_bytes()).unwrap();
    }

    fn shows(&mut self, text: &str) -> String {
        read_until(&mut self.person, text)
    }
}

#[test]
fn at_a_terminal_the_child_sees_a_terminal() {
    let gate = Gate::new();
    let mut terminal = Terminal::new(33, 101);
    let line = "test -t 0 && test -t 1 && test -t 2 && stty size <&1 && stty size <&2 && \
                printf '\\033[31mred\\033[0m\\tx\\r\\n\\001\\377' && tty && echo end && exit 9";
    let mut child = terminal.start(&gate, &[], line);
    let mut shown = Vec::new();
    let mut byte = [0];
    while !shown.ends_with(b"end\n") {
        assert_eq!(terminal.person.read(&mut byte).unwrap(), 1);
        shown.push(byte[0]);
    }
    let start = shown.windows(PREAMBLE.len()).position(|part| part == PREAMBLE.as_bytes()).unwrap();
    let mut expected = b"33 101\n33 101\n\x1b[31mred\x1b[0m\tx\r\n\x01\xff".to_vec();
    expected.extend(format!("{}\nend\n", terminal.line.display()).bytes());
    assert_eq!(shown[start + PREAMBLE.len() + 1..], expected, "{:?}", String::from_utf8_lossy(&shown));
    assert_eq!(child.wait().unwrap().code(), Some(9));
}

#[test]
fn only_what_is_a_terminal_outside_is_one_inside() {
    let gate = Gate::new();
    let terminal = Terminal::new(24, 80);
    let mut command = gate.command("test -t 1 && ! test -t 2 && echo to the terminal && echo to the pipe >&2");
    command.stdin(Stdio::null()).stdout(terminal.line()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(err, "to the pipe\n");
    assert!(child.wait().unwrap().success());
    assert!(gate.report()["text"].as_str().unwrap().contains("to the terminal\n"));
}

#[test]
fn the_size_follows_the_terminal() {
    let gate = Gate::new();
    let mut terminal = Terminal::new(24, 80);
    let line = "trap 'stty size <&1' WINCH; stty size <&1; echo ready; while :; do sleep 0.02; done";
    let mut child = terminal.start(&gate, &[], line);
    let before = terminal.shows("ready\n");
    assert!(before.contains("24 80\n"), "{before}");
    terminal.resize(50, 132);
    terminal.shows("50 132\n");
    terminal.types("\u{3}");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn an_interrupt_from_the_keyboard_is_the_childs() {
    for (line, code, ended) in [
        ("trap 'echo caught; exit 42' INT; echo ready; while :; do sleep 0.02; done", 42, json!({"exited": 42})),
        ("echo ready; exec sleep 300", 130, json!({"signalled": 2})),
    ] {
        let gate = Gate::new();
        let mut terminal = Terminal::new(24, 80);
        let mut child = terminal.start(&gate, &[], line);
        terminal.shows("ready\n");
        terminal.types("\u{3}");
        assert_eq!(child.wait().unwrap().code(), Some(code), "{line}");
        assert_eq!(gate.report()["ended"], ended, "{line}");
    }
}

#[test]
fn an_interrupt_is_delivered_once_each_time() {
    let gate = Gate::new();
    let mut terminal = Terminal::new(24, 80);
    let line =
        "n=0; trap 'n=$((n+1)); echo number $n; test $n = 3 && exit 3' INT; echo ready; while :; do sleep 0.02; done";
    let mut child = terminal.start(&gate, &[], line);
    terminal.shows("ready\n");
    for n in 1..=3 {
        terminal.types("\u{3}");
        terminal.shows(&format!("number {n}\n"));
    }
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[test]
fn prompts_work_and_the_job_can_be_stopped_and_continued() {
    let gate = Gate::new();
    let mut terminal = Terminal::new(24, 80);
    let script = "set -m; \"$0\" \"$@\"; echo stopped $?; fg >/dev/null; echo ended $?";
    let line = "printf 'name? '; read name; echo hello $name; echo from the terminal >/dev/tty; exit 5";
    let mut child = terminal.start(&gate, &["bash", "--norc", "-c", script], line);
    terminal.shows("name? ");
    terminal.types("\u{1a}");
    terminal.shows("stopped 148");
    terminal.types("you\n");
    let shown = terminal.shows("ended 5");
    assert!(shown.contains("hello you") && shown.contains("from the terminal"), "{shown}");
    assert!(child.wait().unwrap().success());
    assert_eq!(gate.report()["ended"], json!({"exited": 5}));
}
