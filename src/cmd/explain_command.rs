//! `gate explain-command`: explains what a command line executes, whose status it returns, and what its record proves.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::command_line::{
    LineJudgement, LineRecord, ObservedLine, Proves, interfering_command, judge, understand_in, witness,
};
use crate::engine::Workplace;
use crate::event::Ended;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::plural::counted;
use crate::policy::Policy;
use crate::render::explained_command;
use crate::render::ui::Ui;
use crate::repo_path::RepoPath;
use crate::runner::Project;
use crate::session::Session;
use crate::shell_kind::Shell;
use crate::source::project_files::DiskDirectory;

/// The maximum length of a line of a `--jsonl` file, in bytes.
const MAX_RECORD: usize = 64 * 1024 * 1024;

/// Arguments of `gate explain-command`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The command line, as the shell received it
    #[arg(required_unless_present = "jsonl", conflicts_with = "jsonl", allow_hyphen_values = true)]
    line: Option<String>,
    /// The recorded exit status
    #[arg(long, value_name = "N", conflicts_with = "jsonl", allow_negative_numbers = true)]
    status: Option<i32>,
    /// The file with the recorded output; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
    output: Option<PathBuf>,
    /// The shell that ran it; by default, bash
    #[arg(long, value_name = "SHELL")]
    shell: Option<Shell>,
    /// The directory it ran in, for task files such as package.json; the current one by default
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Read lines `{"id","command","exit_code","output"}` and print a JSON line for each; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    jsonl: Option<PathBuf>,
}

/// A line of a `--jsonl` file. Unknown keys are ignored: logs have many.
#[derive(Debug, Deserialize)]
struct CommandInput {
    #[serde(default)]
    id: serde_json::Value,
    command: String,
    #[serde(default, alias = "status_code")]
    exit_code: Option<i64>,
    #[serde(default, alias = "output_tail")]
    output: Option<String>,
    background: Option<bool>,
    shell: Option<Shell>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ExplainedCommand {
    schema_version: u32,
    id: serde_json::Value,
    #[serde(flatten)]
    judgement: LineJudgement,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct UnreadableLine {
    schema_version: u32,
    id: serde_json::Value,
    line: usize,
    error: String,
}

/// Explains one line, or every line of a file.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    if let Some(file) = &args.jsonl {
        // Records come from elsewhere: the files of the current directory are not theirs.
        let Some(dir) = &args.cwd else { return stream(file, args.shell, Project::without_runners(&()), ui) };
        let policy = policy_of(Workplace::of_session(dir, Session::current(dir)).ok().as_ref(), ui);
        return stream(file, args.shell, project(policy.as_ref(), &DiskDirectory(dir.clone())), ui);
    }
    let line = args.line.as_deref().unwrap_or_default();
    let files = DiskDirectory(args.cwd.clone().unwrap_or_else(|| PathBuf::from(".")));
    let output = args.output.as_deref().map(read_output).transpose()?;
    let shell = Some(args.shell.unwrap_or(Shell::Bash));
    let record = LineRecord { status: args.status, output: output.as_deref(), background: false, shell };
    let place = Workplace::here().ok();
    let policy = policy_of(place.as_ref(), ui);
    let project = project(policy.as_ref(), &files);
    let mut judgement = judge(line, &record, project);
    let seen = place.and_then(|place| SeenPlace::of(&place, &files.0));
    let told = seen.as_ref().map(|seen| seen.observed(line, &record));
    if let Some((told, policy)) = told.as_ref().zip(policy.as_ref()) {
        withdraw_pass(&mut judgement, told, policy);
    }
    if args.json {
        let answer = ExplainedCommand { schema_version: 1, id: serde_json::Value::Null, judgement };
        ui.json(&answer)?;
    } else {
        let declared = told.zip(policy.as_ref()).map(|(told, policy)| declared(&told, policy, &record));
        let understood = understand_in(line, shell, project).ok();
        explained_command::print(understood.as_ref(), &judgement, &record, &declared.unwrap_or_default(), ui);
    }
    Ok(Exit::Pass)
}

/// Returns the policy in the working tree of a repository. One that cannot be read is reported, and the line is explained
/// without it.
fn policy_of(place: Option<&Workplace>, ui: &mut Ui) -> Option<Policy> {
    match place?.policy(None) {
        Ok((policy, _)) => Some(policy),
        Err(failure) => {
            ui.say(format_args!("gate: {failure}"));
            None
        }
    }
}

fn project<'a>(policy: Option<&'a Policy>, files: &'a DiskDirectory) -> Project<'a> {
    policy.map_or_else(|| Project::without_runners(files), |policy| policy.project(files))
}

/// The place of a line in a working tree.
struct SeenPlace {
    root: PathBuf,
    dir: RepoPath,
}

impl SeenPlace {
    /// Returns the place `dir`, or `None` if it is outside of the working tree.
    fn of(place: &Workplace, dir: &Path) -> Option<Self> {
        let root = place.work_tree().ok()?.canonicalize().ok()?;
        let dir =
            dir.canonicalize().ok()?.strip_prefix(&root).ok().map(|inner| RepoPath::from_os(inner.as_os_str()))?;
        Some(Self { root, dir })
    }

    /// Returns the line as it was seen here. Without a status, success is assumed.
    fn observed<'a>(&'a self, line: &'a str, record: &LineRecord<'a>) -> ObservedLine<'a> {
        ObservedLine {
            line,
            dir: &self.dir,
            root: self.root.to_str(),
            ended: Some(Ended::Exited(record.status.unwrap_or(0))),
            output: record.output,
            cut: false,
            background: record.background,
            shell: record.shell,
        }
    }
}

fn files_of(told: &ObservedLine<'_>) -> DiskDirectory {
    DiskDirectory(PathBuf::from(told.root.unwrap_or(".")))
}

/// Withdraws a pass if a command of the line may change what its checks run.
fn withdraw_pass(judgement: &mut LineJudgement, told: &ObservedLine<'_>, policy: &Policy) {
    if !matches!(judgement.proves, Proves::FullPass | Proves::PartialPass) {
        return;
    }
    if let Some(command) = interfering_command(told, policy.project(&files_of(told))) {
        judgement.proves = Proves::Nothing;
        judgement.reason = format!("`{command}` may change what runs after it");
    }
}

/// Returns phrases for the declared commands that the line would be a run of.
fn declared(told: &ObservedLine<'_>, policy: &Policy, record: &LineRecord<'_>) -> Vec<String> {
    let shown = witness(&policy.commands, told, policy.project(&files_of(told)));
    let passed = shown.into_iter().filter(|shown| {
        let counted = shown.report.as_ref().is_none_or(|report| report.passed > 0 && report.failed == 0);
        shown.ended.success() && shown.masked.is_none() && counted
    });
    let words = passed.map(|shown| {
        let name = shown.command.name.unwrap_or_default();
        let when = if record.status.is_none() { ", if its status is 0" } else { "" };
        format!("the declared command {name} (`{}`){when}", shown.command.line)
    });
    words.collect()
}

fn open(path: &Path) -> anyhow::Result<Box<dyn io::Read>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    let file = File::open(path).map_err(|error| {
        Failure::new(Exit::BadInput, format!("cannot read {}: {error}", path.display()))
            .remedy("Give the path of a file, or - for standard input.")
    })?;
    Ok(Box::new(file))
}

fn read_output(path: &Path) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut open(path)?, &mut bytes)
        .map_err(|error| Failure::new(Exit::BadInput, format!("cannot read {}: {error}", path.display())))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Answers line by line. A bad line is reported and does not stop the others.
fn stream(path: &Path, shell: Option<Shell>, project: Project<'_>, ui: &mut Ui) -> anyhow::Result<Exit> {
    let mut reader = BufReader::new(open(path)?);
    let mut buffer = Vec::new();
    let (mut number, mut bad) = (0, 0);
    loop {
        buffer.clear();
        let read = io::Read::take(&mut reader, MAX_RECORD as u64 + 1)
            .read_until(b'\n', &mut buffer)
            .map_err(|error| Failure::new(Exit::BadInput, format!("cannot read {}: {error}", path.display())))?;
        if read == 0 {
            break;
        }
        number += 1;
        if buffer.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<CommandInput>(&buffer) {
            Ok(input) => {
                let record = LineRecord {
                    status: input.exit_code.map(|code| i32::try_from(code).unwrap_or(1)),
                    output: input.output.as_deref(),
                    background: input.background.unwrap_or(false),
                    shell: Some(input.shell.or(shell).unwrap_or(Shell::Bash)),
                };
                let judgement = judge(&input.command, &record, project);
                ui.line(serde_json::to_string(&ExplainedCommand { schema_version: 1, id: input.id, judgement })?);
            }
            Err(error) => {
                bad += 1;
                let id = serde_json::from_slice::<serde_json::Value>(&buffer)
                    .ok()
                    .and_then(|value| value.get("id").cloned())
                    .unwrap_or_default();
                ui.line(serde_json::to_string(&UnreadableLine {
                    schema_version: 1,
                    id,
                    line: number,
                    error: error.to_string(),
                })?);
                ui.say(format_args!("gate: {}: line {number}: {error}", path.display()));
            }
        }
    }
    if bad > 0 {
        ui.say(format_args!("gate: {bad} of {} could not be read", counted(number, "line")));
        return Ok(Exit::BadInput);
    }
    Ok(Exit::Pass)
}
