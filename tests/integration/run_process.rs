//! A command under `gate` behaves as without it. Each test starts this test binary again, which then stands for `gate`:
//! it runs one command with its own streams, and leaves a report beside.
#![cfg(target_os = "linux")]

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gate::event::Ended;
use gate::run::{CommandLine, HEAD, Spec, StartProblem, TAIL, run};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{TestFolder, run_with_input};

const LINE: &str = "RUN_PROCESS_LINE";

const REPORT: &str = "RUN_PROCESS_REPORT";

const AFTER: &str = "RUN_PROCESS_AFTER";

/// What the test harness prints before a test runs.
pub const PREAMBLE: &str = "running 1 test";

/// No test waits for it unless something is broken.
const LONG: Duration = Duration::from_mins(1);

/// Stands for `gate` where the environment says so; else it is a test like the others.
#[test]
fn a_command_runs() {
    let Some(line) = std::env::var_os(LINE) else {
        let finished = run(&Spec {
            line: CommandLine::Shell("exit 4"),
            dir: Path::new("/"),
            env: &[],
            without: &[],
            whole: false,
        });
        assert_eq!((finished.ended, finished.exit_code()), (Ended::Exited(4), 4));
        return;
    };
    let line = line.into_string().unwrap();
    let env = [(OsString::from("SET_BY_CALLER"), OsString::from("yes"))];
    let finished =
        run(&Spec { line: CommandLine::Shell(&line), dir: Path::new("."), env: &env, without: &[], whole: false });
    let memory = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = memory.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
    let report = json!({
        "ended": finished.ended,
        "millis": finished.millis,
        "total": finished.output.total,
        "kept": finished.output.head.len() + finished.output.tail.len(),
        "cut": finished.output.cut,
        "text": String::from_utf8_lossy(&[finished.output.head.as_slice(), &finished.output.tail].concat()),
        "undelivered": finished.undelivered,
        "peak_kib": peak.unwrap_or(0_u64),
    });
    fs::write(std::env::var_os(REPORT).unwrap(), report.to_string()).unwrap();
    if std::env::var_os(AFTER).is_some() {
        let mut rest = String::new();
        std::io::stdin().read_line(&mut rest).unwrap();
    }
    #[expect(clippy::exit, reason = "this process stands for gate")]
    std::process::exit(finished.exit_code().into());
}

pub struct Gate {
    folder: TestFolder,
}

impl Gate {
    pub fn new() -> Self {
        Self { folder: TestFolder::new() }
    }

    fn report_path(&self) -> PathBuf {
        self.folder.path().join("report.json")
    }

    pub fn report(&self) -> Value {
        serde_json::from_slice(&fs::read(self.report_path()).expect("gate lived to write its report")).unwrap()
    }

    /// `gate run -- sh -c LINE`, with what it inherits under control.
    pub fn command(&self, line: &str) -> Command {
        self.command_through(&[], line)
    }

    /// The same, started by another program.
    pub fn command_through(&self, starter: &[&str], line: &str) -> Command {
        let own = std::env::current_exe().unwrap();
        let mut command = match starter.split_first() {
            None => Command::new(own),
            Some((program, arguments)) => {
                let mut command = Command::new(program);
                command.args(arguments).arg(own);
                command
            }
        };
        command
            .args(["--exact", "run_process::a_command_runs", "--nocapture", "-q"])
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.folder.path())
            .env("TERM", "xterm")
            .env(LINE, line)
            .env(REPORT, self.report_path());
        command
    }

    /// Runs to its end: exit code, standard output, standard error.
    fn run(&self, line: &str, input: &str) -> (Option<i32>, String, String) {
        let output = run_with_input(&mut self.command(line), input);
        let out = after_preamble(&String::from_utf8_lossy(&output.stdout));
        (output.status.code(), out, String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn after_preamble(out: &str) -> String {
    let (_, rest) = out.split_once(PREAMBLE).expect("the test harness says what it runs");
    rest.trim_start_matches('\r').strip_prefix('\n').unwrap_or(rest).to_owned()
}

/// Reads until `text` has come. Fails when the stream ends before.
pub fn read_until(stream: &mut impl Read, text: &str) -> String {
    let mut seen = Vec::new();
    let mut byte = [0];
    while !String::from_utf8_lossy(&seen).contains(text) {
        match stream.read(&mut byte) {
            Ok(1) => seen.push(byte[0]),
            end => panic!("{end:?} before {text:?} in {:?}", String::from_utf8_lossy(&seen)),
        }
    }
    String::from_utf8(seen).unwrap()
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn the_status_is_the_childs_own() {
    for (line, code, ended) in [
        ("exit 0", 0, json!({"exited": 0})),
        ("exit 1", 1, json!({"exited": 1})),
        ("exit 3", 3, json!({"exited": 3})),
        ("exit 255", 255, json!({"exited": 255})),
        ("no-such-program-here", 127, json!({"exited": 127})),
        ("ulimit -c 0; kill -KILL $$", 137, json!({"signalled": 9})),
        ("ulimit -c 0; kill -SEGV $$", 139, json!({"signalled": 11})),
        ("kill -PIPE $$", 141, json!({"signalled": 13})),
    ] {
        let gate = Gate::new();
        assert_eq!(gate.run(line, "").0, Some(code), "{line}");
        assert_eq!(gate.report()["ended"], ended, "{line}");
    }
}

/// Another process writes them: a file that this one has open for writing while a test beside starts a child cannot be
/// executed as long as that child holds it.
fn write_programs(folder: &Path, script: &str) {
    assert!(Command::new("sh").args(["-ec", script]).current_dir(folder).status().unwrap().success());
}

#[test]
fn what_cannot_be_started_is_explained() {
    let folder = TestFolder::new();
    write_programs(
        folder.path(),
        "echo '#!/bin/sh' >plain; echo '#!/no/such/interpreter' >orphan; printf '\\1\\2no program' >garbage
         chmod +x orphan garbage",
    );
    let missing = folder.path().join("missing");
    let here = folder.path();
    for (program, dir, problem, code, word) in [
        ("no-such-program-here", here, StartProblem::NotFound, 127, "`no-such-program-here` in PATH"),
        ("./none", here, StartProblem::NotFound, 127, "./none"),
        ("./plain", here, StartProblem::NotExecutable, 126, "not executable"),
        ("./orphan", here, StartProblem::NotExecutable, 126, "interpreter"),
        ("./garbage", here, StartProblem::NotExecutable, 126, "not a program"),
        ("true", missing.as_path(), StartProblem::BadDirectory, 126, "missing"),
        ("true", &here.join("plain"), StartProblem::BadDirectory, 126, "plain"),
    ] {
        let argv = [OsString::from(program)];
        let finished = run(&Spec { line: CommandLine::Argv(&argv), dir, env: &[], without: &[], whole: false });
        assert_eq!((finished.ended, finished.exit_code()), (Ended::NotStarted, code), "{program}");
        let error = finished.start_error.unwrap();
        assert_eq!(error.problem, problem, "{program}: {error}");
        assert!(error.what.contains(word), "{program}: {error}");
        assert!(!error.remedy.is_empty(), "{program}");
    }
    let nothing = run(&Spec { line: CommandLine::Argv(&[]), dir: here, env: &[], without: &[], whole: false });
    assert_eq!(nothing.exit_code(), 127);
}

#[test]
fn a_relative_program_is_looked_for_in_the_directory_of_the_command() {
    let folder = TestFolder::new();
    write_programs(folder.path(), "mkdir bin; printf '#!/bin/sh\\nexit 5\\n' >bin/five; chmod +x bin/five");
    let argv = [OsString::from("bin/five")];
    let finished =
        run(&Spec { line: CommandLine::Argv(&argv), dir: folder.path(), env: &[], without: &[], whole: false });
    assert_eq!(finished.ended, Ended::Exited(5));
}

#[test]
fn streams_pass_through_and_stay_apart() {
    let gate = Gate::new();
    let (code, out, err) = gate.run("cat; echo error >&2; printf 'no newline'", "from outside\n");
    assert_eq!(code, Some(0));
    assert_eq!(out, "from outside\nno newline");
    assert_eq!(err, "error\n");
    assert_eq!(gate.report()["total"], 29);
    assert_eq!(gate.report()["cut"], false);
}

#[test]
fn streams_that_go_to_one_place_keep_their_order() {
    let gate = Gate::new();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let line = "i=0; while [ $i -lt 50 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done";
    let mut command = gate.command(line);
    command.stdin(Stdio::null()).stdout(writer.try_clone().unwrap()).stderr(writer);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    let expected = (0..50).flat_map(|i| [format!("out {i}\n"), format!("err {i}\n")]).collect::<String>();
    assert_eq!(after_preamble(&text), expected);
    assert_eq!(gate.report()["text"], expected);
}

#[test]
fn huge_output_takes_bounded_memory() {
    let gate = Gate::new();
    let mut command = gate.command("head -c 200000000 /dev/zero; echo; echo end");
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap();
    assert!(status.success());
    let report = gate.report();
    assert_eq!(report["total"], 200_000_005);
    assert_eq!(report["kept"], HEAD + TAIL);
    assert_eq!(report["cut"], true);
    assert!(report["text"].as_str().unwrap().ends_with("\0\nend\n"));
    assert!(report["peak_kib"].as_u64().unwrap() < 64 * 1024, "{}", report["peak_kib"]);
}

#[test]
fn a_reader_that_goes_away_ends_neither_the_child_nor_the_record() {
    let gate = Gate::new();
    let line = "echo first; read go; yes | head -c 1000000; echo last >&2; exit 3";
    let mut child =
        gate.command(line).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    read_until(&mut child.stdout.take().unwrap(), "first\n");
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(output.stderr, b"last\n");
    assert_eq!(gate.report()["total"], 1_000_011);
    assert_eq!(gate.report()["undelivered"], Value::Null);
}

#[test]
fn output_that_could_not_be_written_is_told() {
    let gate = Gate::new();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut command = gate.command("echo lost >&2; exit 6");
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(full).status().unwrap();
    assert_eq!(status.code(), Some(6));
    assert!(gate.report()["undelivered"].as_str().unwrap().contains("space"));
    assert_eq!(gate.report()["text"], "lost\n");
}

#[test]
fn a_daemon_that_keeps_the_output_open_does_not_keep_us() {
    for line in [
        "sleep 300 & echo $! running",
        "(while echo x; do sleep 0.02; done) & echo $! running",
        "yes & echo $! running",
    ] {
        let gate = Gate::new();
        let mut child = gate.command(line).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        // Somebody has to read, or the noisy ones would stand still.
        let reader = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = out.by_ref().take(64 * 1024 * 1024).read_to_end(&mut text);
            drop(out);
        });
        let began = Instant::now();
        assert!(child.wait().unwrap().success(), "{line}");
        assert!(began.elapsed() < LONG / 2, "{line} took {:?}", began.elapsed());
        let text = gate.report()["text"].as_str().unwrap().to_owned();
        let before = text.split(" running\n").next().unwrap();
        let pid = before.rsplit('\n').next().unwrap().parse().ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            let _ = kill_process(pid, Signal::KILL);
        }
        assert!(line.starts_with("yes") || pid.is_some(), "{line}: {text}");
        reader.join().unwrap();
    }
}

#[test]
fn signals_for_gate_reach_the_child() {
    for (name, signal) in [
        ("TERM", Signal::TERM),
        ("HUP", Signal::HUP),
        ("USR1", Signal::USR1),
        ("USR2", Signal::USR2),
        ("INT", Signal::INT),
    ] {
        let gate = Gate::new();
        let line = format!("trap 'echo got {name}; exit 7' {name}; echo ready; while :; do sleep 0.02; done");
        // Whoever started the tests may ignore a signal, as `nohup` and a shell's `&` do, and a shell cannot trap it then.
        let mut command = gate.command_through(&["env", "--default-signal"], &line);
        // A group of its own: never in the foreground of the terminal that the tests may run in.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
        let mut child = command.spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        read_until(&mut out, "ready\n");
        send(&child, signal);
        read_until(&mut out, &format!("got {name}\n"));
        assert_eq!(child.wait().unwrap().code(), Some(7), "{name}");
        assert_eq!(gate.report()["ended"], json!({"exited": 7}), "{name}");
    }
}

#[test]
fn a_child_that_is_terminated_is_reported_so() {
    let gate = Gate::new();
    let mut child =
        gate.command("echo ready; exec sleep 300").stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    read_until(&mut child.stdout.take().unwrap(), "ready\n");
    send(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!(gate.report()["ended"], json!({"signalled": 15}));
}

#[test]
fn after_the_run_signals_have_their_ordinary_effect() {
    let gate = Gate::new();
    let mut command = gate.command("echo ready");
    command.env(AFTER, "1").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    read_until(&mut out, "ready\n");
    let began = Instant::now();
    while !gate.report_path().exists() {
        assert!(began.elapsed() < LONG);
        std::thread::yield_now();
    }
    // It waits for a line: to close its input would end it in another way.
    let input = child.stdin.take();
    send(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    drop(input);
}

#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    let gate = Gate::new();
    let mut command =
        gate.command_through(&["sh", "-c", "trap '' HUP; exec \"$0\" \"$@\""], "kill -HUP $$; echo survived");
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(after_preamble(&String::from_utf8_lossy(&output.stdout)), "survived\n");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_status_is_known_even_where_dying_children_are_ignored() {
    let gate = Gate::new();
    let starter = ["sh", "-c", "trap '' CHLD; exec \"$0\" \"$@\""];
    let status = gate.command_through(&starter, "exit 7").stdin(Stdio::null()).stdout(Stdio::null()).status();
    assert_eq!(status.unwrap().code(), Some(7));
    assert_eq!(gate.report()["ended"], json!({"exited": 7}));
}

#[test]
fn the_repository_of_the_caller_is_not_inherited_and_all_else_is() {
    let gate = Gate::new();
    let line = "echo \"[$GIT_DIR$GIT_INDEX_FILE$GIT_WORK_TREE$GIT_PREFIX] $GIT_AUTHOR_NAME $SET_BY_CALLER $OTHER\"";
    let mut command = gate.command(line);
    for (name, value) in [
        ("GIT_DIR", "/nowhere"),
        ("GIT_INDEX_FILE", "x"),
        ("GIT_WORK_TREE", "x"),
        ("GIT_PREFIX", "x"),
        ("GIT_AUTHOR_NAME", "somebody"),
        ("OTHER", "kept"),
    ] {
        command.env(name, value);
    }
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(after_preamble(&String::from_utf8_lossy(&output.stdout)), "[] somebody yes kept\n");
}
