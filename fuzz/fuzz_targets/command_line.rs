//! Any command line, with any record of it and any text in every file of the project: the judgement does not fail,
//! does not take long, and does not contradict itself.
//!
//! An input is a byte for the status, then the line, the output and the text of the files, with U+0001 between them.
#![no_main]

use std::fs;

use gate::command_line::{CheckOutcome, Extent, LineJudgement, LineRecord, ObservedLine, Proves, judge, witness};
use gate::event::Ended;
use gate::policy::{Command, PathRules};
use gate::repo_path::RepoPath;
use gate::runner::{Catalogue, CommandKind, Project, ProjectFiles};
use libfuzzer_sys::fuzz_target;

mod support;

/// Every file has the same text, so that tasks call themselves as often as the analysis lets them.
struct Everywhere<'a>(Option<&'a str>);

impl ProjectFiles for Everywhere<'_> {
    fn read(&self, _: &str) -> Option<String> {
        self.0.map(str::to_owned)
    }
}

fuzz_target!(init: support::plant("command_line", seeds()), |data: &[u8]| {
    let Some((status, text)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(text);
    let mut parts = text.splitn(3, support::SEPARATOR);
    let line = parts.next().unwrap_or_default();
    let output = parts.next();
    let files = Everywhere(parts.next());
    let project = Project::without_runners(&files);

    // 0 to 127 are statuses, the others stand for a record without one.
    let record = LineRecord { status: i8::try_from(*status).ok().map(i32::from), output, background: *status == 255 };
    consistent(line, &judge(line, &record, project));
    let nothing = judge(line, &LineRecord::default(), project);
    consistent(line, &nothing);
    assert_eq!(nothing.proves, Proves::Nothing, "without a record nothing is proven: {line:?} {nothing:?}");
    witnessed(line, &record, project);
});

/// What the line shows about declared commands: about itself, about a check and about a task.
fn witnessed(line: &str, record: &LineRecord<'_>, project: Project<'_>) {
    let declared: Vec<Command> = [line, "cargo test", "npm test"].map(command).into();
    let dir = RepoPath::from("");
    let ended = record.status.map(Ended::Exited);
    let told = ObservedLine {
        line,
        dir: &dir,
        root: Some("/r"),
        ended,
        output: record.output,
        cut: false,
        background: record.background,
    };
    for shown in witness(&declared, &told, project) {
        assert!(!record.background, "{line:?} is still running: {shown:?}");
        assert!(!(shown.masked.is_some() && !shown.ended.success()), "{line:?} failed and is masked: {shown:?}");
    }
    for shown in witness(&declared, &ObservedLine { ended: None, output: None, ..told }, project) {
        let open = shown.masked.is_some() || shown.report.as_ref().is_some_and(|report| report.passed == 0);
        assert!(open || !shown.ended.success(), "without a record {line:?} shows {shown:?}");
    }
}

fn command(run: &str) -> Command {
    let inputs = PathRules::new::<&str>(&[], &[]).expect("no globs are globs");
    let (name, gate) = ("it".to_owned(), "tests".to_owned());
    Command { name, gate, run: run.to_owned(), dir: RepoPath::from(""), inputs, reports: Vec::new() }
}

fn consistent(line: &str, judged: &LineJudgement) {
    let holds = match judged.proves {
        Proves::FullPass => {
            judged.result == Some(CheckOutcome::Pass)
                && judged.scope == Some(Extent::Full)
                && judged.decisive_kind == Some(CommandKind::Test)
        }
        Proves::PartialPass => judged.result == Some(CheckOutcome::Pass),
        Proves::Fail => judged.result == Some(CheckOutcome::Fail),
        Proves::Nothing => true,
    };
    assert!(holds, "{line:?} {judged:?}");
    assert!(!judged.reason.is_empty(), "{line:?} {judged:?}");
}

fn seeds() -> Vec<Vec<u8>> {
    let input = |status: u8, line: &str, rest: &str| [&[status], line.as_bytes(), rest.as_bytes()].concat();
    let mut seeds = Vec::new();
    let recorded = support::project().join("tests/data/command-lines.jsonl");
    for line in fs::read_to_string(recorded).expect("the data of the tests is there").lines() {
        let entry: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        let status = entry["exit_code"].as_u64().and_then(|status| u8::try_from(status).ok()).unwrap_or(128);
        let output = entry["output"].as_str().map(|output| format!("\u{1}{output}")).unwrap_or_default();
        seeds.push(input(status, entry["command"].as_str().unwrap_or_default(), &output));
    }
    for example in Catalogue::embedded().runners().flat_map(|runner| &runner.example) {
        if example.files.is_empty() {
            seeds.push(input(0, &example.line, ""));
        }
        for text in example.files.values() {
            seeds.push(input(0, &example.line, &format!("\u{1}\u{1}{text}")));
        }
    }
    seeds
}
