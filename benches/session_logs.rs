//! Reading session logs, beside programs that do less.
//!
//! `cargo bench --bench session_logs` reads generated logs of 12 and 100 MB; `-- --large` one of a gigabyte too;
//! `-- --file PATH` one of Claude Code's. The first row of each table counts lines and understands nothing. The readers
//! run as processes of their own, so that what they need at most can be measured.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::unwrap_used,
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "benchmarks are not published"
)]

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use gate::event::EventKind;
use gate::event::agent_work::Act;
use gate::source::sessions::{self, Client, Cursors, Roots, SessionLog};
use serde::Deserialize;

#[path = "support/measure.rs"]
mod measure;

use measure::{Contender, compare};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [reader, path, ..] = args.as_slice()
        && let Some(read) = reader.strip_prefix("--read=")
    {
        let count = match read {
            "gate" => whole(Path::new(path)),
            "gate-newer" => newer(Path::new(path)),
            "borrowed" => borrowed(Path::new(path)),
            _ => values(Path::new(path)),
        };
        println!("{count}");
        return;
    }
    // Without this word it is a test run, which has nothing to measure.
    if !args.iter().any(|arg| arg == "--bench") {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary directory");
    if let Some(at) = args.iter().position(|arg| arg == "--file") {
        table(Path::new(&args[at + 1]), 9, false);
        return;
    }
    let sizes: &[(usize, usize)] =
        if args.iter().any(|arg| arg == "--large") { &[(12, 9), (100, 9), (1000, 3)] } else { &[(12, 9), (100, 9)] };
    for (megabytes, rounds) in sizes {
        let path = folder.path().join(format!("{megabytes}.jsonl"));
        generate(&path, megabytes * 1_000_000);
        table(&path, *rounds, *megabytes <= 12);
        fs::remove_file(&path).expect("the log is there");
    }
}

fn table(path: &Path, rounds: usize, with_jq: bool) {
    let size = fs::metadata(path).expect("the log").len() / 1_000_000;
    let own = std::env::current_exe().expect("this program");
    let reader = |name: &'static str| {
        let (own, path) = (own.clone(), path.to_path_buf());
        move || {
            let mut command = Command::new(&own);
            command.arg(format!("--read={name}")).arg(&path);
            command
        }
    };
    let other = |program: &'static str, args: &'static [&'static str]| {
        let path = path.to_path_buf();
        move || {
            let mut command = Command::new(program);
            command.args(args).arg(&path);
            command
        }
    };
    let count = |name| String::from_utf8(reader(name)().output().expect("it starts").stdout).expect("a number");
    let counts = ["gate", "borrowed", "value"].map(count);
    assert!(counts.iter().all(|count| *count == counts[0]), "all see the same commands: {counts:?}");
    // The first look leaves where it ended; the following ones find one line more.
    reader("gate-newer")().output().expect("it starts");
    let mut contenders = vec![
        Contender::new("wc -l", other("wc", &["-l"])),
        Contender::new("every line parsed, borrowing (serde_json)", reader("borrowed")),
        Contender::new("every line parsed into values (serde_json)", reader("value")),
        Contender::new("gate: all events, redacted", reader("gate")),
        Contender::new("gate: a second look", reader("gate-newer")),
    ];
    if with_jq && Command::new("jq").arg("--version").output().is_ok() {
        contenders.push(Contender::new(
            "jq",
            other("jq", &["-c", "select(.type==\"assistant\").message.content[]?|select(.name==\"Bash\").id"]),
        ));
    }
    compare(&format!("a log of {size} MB, {} commands", counts[0].trim()), rounds, contenders);
    let _ = fs::remove_dir_all(state(path));
}

fn whole(path: &Path) -> u64 {
    let mut commands = 0;
    let mut count = |event: gate::event::Event| {
        if let EventKind::Work(work) = event.kind
            && matches!(work.act, Act::Command(_))
        {
            commands += 1;
        }
    };
    let source = SessionLog::new(Client::Claude, path.to_path_buf());
    sessions::read_each(&source, &Roots::of_the_log(), &mut count).expect("the log can be read");
    commands
}

fn state(path: &Path) -> PathBuf {
    path.with_extension("state")
}

fn newer(path: &Path) -> u64 {
    let source = SessionLog::new(Client::Claude, path.to_path_buf());
    let cursors = Cursors::of(&state(path));
    let known = cursors.load(&source);
    if known.is_some() {
        let mut log = OpenOptions::new().append(true).open(path).expect("the log");
        log.write_all(line(1, 300).as_bytes()).expect("it can be written");
    }
    let newer = sessions::newer(known, &source, &Roots::of_the_log(), &mut |_| ()).expect("the log can be read");
    cursors.save(&newer.cursor).expect("a cursor can be kept");
    newer.summary.counts.commands
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<Message<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: Content<'a>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content<'a> {
    Blocks(#[serde(borrow)] Vec<Block<'a>>),
    Text(#[serde(borrow)] Cow<'a, str>),
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
}

fn lines(path: &Path, mut each: impl FnMut(&[u8])) {
    let mut lines = BufReader::with_capacity(1 << 20, File::open(path).expect("the log"));
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).expect("the log can be read") > 0 {
        each(&line);
        line.clear();
    }
}

fn borrowed(path: &Path) -> u64 {
    let mut commands = 0;
    lines(path, |line| {
        let Ok(line) = serde_json::from_slice::<Line<'_>>(line) else { return };
        if let (Some("assistant"), Some(Message { content: Content::Blocks(blocks) })) =
            (line.kind.as_deref(), line.message)
        {
            commands += blocks.iter().filter(|block| block.name.as_deref() == Some("Bash")).count() as u64;
        }
    });
    commands
}

fn values(path: &Path) -> u64 {
    let mut commands = 0;
    lines(path, |line| {
        let Ok(line) = serde_json::from_slice::<serde_json::Value>(line) else { return };
        let blocks = line["message"]["content"].as_array();
        if line["type"] == "assistant" {
            commands += blocks.into_iter().flatten().filter(|block| block["name"] == "Bash").count() as u64;
        }
    });
    commands
}

/// A log in the proportions of real ones: lines of 1.5 KB in the middle, 5.7 KB in the mean, some of megabytes.
fn generate(path: &Path, bytes: usize) {
    let mut out = BufWriter::new(File::create(path).expect("a file"));
    let (mut written, mut number, mut random) = (0, 0_usize, 7_usize);
    while written < bytes {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let size = match (random >> 33) % 1000 {
            0 if number > 2000 => 2_000_000,
            0..=9 => 57_000,
            10..=99 => 16_000,
            100..=499 => 3_000,
            _ => 500,
        };
        let text = line(number, size);
        out.write_all(text.as_bytes()).expect("it can be written");
        written += text.len();
        number += 1;
    }
}

/// One line, in turn: a command, its result, a reading, its result, words, something that tells nothing.
fn line(number: usize, size: usize) -> String {
    const CODE: &str = "    let total = items.iter().map(|item| item[\"price\"]).sum::<f64>();\n\tif total > 0.0 { return Ok(total) }\n";
    let (turn, kind) = (number / 6, number % 6);
    let text: String = CODE.chars().cycle().take(size).collect();
    let text = serde_json::to_string(&text).expect("a string");
    let head = format!(
        "\"parentUuid\":\"p{number}\",\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"/w/shop\",\"sessionId\":\"s\",\
         \"version\":\"2.1.0\",\"gitBranch\":\"main\""
    );
    let tail = format!(
        "\"uuid\":\"00000000-0000-4000-8000-{number:012}\",\"timestamp\":\"2026-03-01T10:{:02}:{:02}.{:03}Z\"",
        number / 60_000 % 60,
        number / 1000 % 60,
        number % 1000
    );
    let assistant = |content: String| {
        format!(
            "{{{head},\"message\":{{\"id\":\"m{turn}\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[{content}],\
             \"stop_reason\":\"tool_use\",\"usage\":{{\"input_tokens\":100,\"output_tokens\":20}}}},\"type\":\"assistant\",{tail}}}\n"
        )
    };
    let result = |id: String, given: String| {
        format!(
            "{{{head},\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"{id}\",\"type\":\"tool_result\",\
             \"content\":{text},\"is_error\":false}}]}},{tail},\"toolUseResult\":{given}}}\n"
        )
    };
    match kind {
        0 => assistant(format!(
            "{{\"type\":\"tool_use\",\"id\":\"b{turn}\",\"name\":\"Bash\",\"input\":{{\"command\":\"cargo test -p part{turn}\"}}}}"
        )),
        1 => result(format!("b{turn}"), format!("{{\"stdout\":{text},\"stderr\":\"\",\"interrupted\":false}}")),
        2 => assistant(format!(
            "{{\"type\":\"tool_use\",\"id\":\"r{turn}\",\"name\":\"Read\",\"input\":{{\"file_path\":\"/w/shop/src/part{turn}.rs\"}}}}"
        )),
        3 => result(format!("r{turn}"), format!("{{\"type\":\"text\",\"file\":{{\"content\":{text}}}}}")),
        4 => assistant(format!("{{\"type\":\"text\",\"text\":{text}}}")),
        _ => format!("{{\"type\":\"progress\",\"data\":{{\"output\":{text}}},{head},{tail}}}\n"),
    }
}
