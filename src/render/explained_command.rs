//! A judged command line, for people.

use crate::command_line::{CheckOutcome, ExitDecides, Extent, LineJudgement, LineRecord, Proves, Purpose, Understood};
use crate::render::ui::{BAD, DIM, GOOD, STRONG, Ui, WARN};
use crate::shell::exit_status;
use crate::shell::expanded_program::{Leaf, Sink};

/// The largest width to which a column is filled.
const MAX_COLUMN: usize = 100;

/// Prints each command of the line, then the proofs of the whole, and last the command that would prove it. `declared`:
/// the declared commands that it proves, in words.
pub fn print(
    understood: Option<&Understood>,
    judgement: &LineJudgement,
    record: &LineRecord<'_>,
    declared: &[String],
    ui: &mut Ui,
) {
    if let Some(understood) = understood {
        let rows: Vec<[String; 4]> = understood
            .program
            .leaves
            .iter()
            .zip(&understood.purposes)
            .enumerate()
            .map(|(id, (leaf, purpose))| [command(leaf), kinds(purpose), place(leaf), facts(understood, id)])
            .collect();
        let width =
            |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).min(MAX_COLUMN);
        let (first, second, third) = (width(0), width(1), width(2));
        for [command, kinds, place, facts] in &rows {
            let line = format!("{command:first$}  {kinds:second$}  {place:third$}  {facts}");
            ui.line(format_args!("  {}", line.trim_end()));
        }
        ui.line("");
    }
    if let Some(decides) = judgement.exit_decides {
        let text = match decides {
            ExitDecides::Yes => "decides: 0 means that every check ran and passed",
            ExitDecides::NoMasked => "does not decide",
            ExitDecides::Unknown => "may not decide",
        };
        ui.line(format_args!("  exit status  {text}"));
    }
    if let Some(result) = judgement.result {
        let text = match result {
            CheckOutcome::Pass => "passed",
            CheckOutcome::Fail => "failed",
            CheckOutcome::NoTests => "no test was executed",
            CheckOutcome::Unknown if record.status.is_none() && record.output.is_none() => {
                "not known: no status and no output were given"
            }
            CheckOutcome::Unknown => "not shown",
        };
        ui.line(format_args!("  result       {text}"));
    }
    if let Some(place) = &judgement.pushes_to {
        ui.line(format_args!("  pushes to    {place}"));
    }
    if judgement.edits_files {
        ui.line("  edits        files of the working tree");
    }
    for command in declared {
        ui.line(format_args!("  proves       {GOOD}{command}{GOOD:#}"));
    }
    if judgement.proves == Proves::Nothing && !declared.is_empty() {
        return;
    }
    let (style, proves) = match judgement.proves {
        Proves::FullPass => (GOOD, "a full pass"),
        Proves::PartialPass => (WARN, "a partial pass"),
        Proves::Fail => (BAD, "a failure"),
        Proves::Nothing if judgement.result.is_some() && record.status.is_none() && record.output.is_none() => {
            (WARN, "nothing yet: its exit status is not known (--status N)")
        }
        Proves::Nothing => (WARN, "nothing"),
    };
    ui.line(format_args!("  proves       {style}{proves}{style:#}"));
    ui.line(format_args!("  {DIM}because      {}{DIM:#}", judgement.reason));
    if let Some(command) = &judgement.would_prove {
        ui.line(format_args!("  would prove  {STRONG}{command}{STRONG:#}"));
    }
}

fn command(leaf: &Leaf) -> String {
    let words: Vec<String> =
        leaf.argv.iter().map(|arg| arg.shown().unwrap_or_else(|| "…".to_owned()).replace('\n', " ")).collect();
    let whole = words.join(" ");
    let short: String = whole.chars().take(48).collect();
    if short.len() < whole.len() { format!("{short}…") } else { short }
}

fn kinds(purpose: &Purpose) -> String {
    let mut text = purpose.kinds.join(", ");
    match (purpose.extent, &purpose.narrowed_by) {
        (Some(Extent::Full), _) => text += " (full)",
        (Some(Extent::Filtered), Some(by)) => text.extend([" (filtered: ", by, ")"]),
        (Some(Extent::Filtered), None) => text += " (filtered)",
        (Some(Extent::NoneExecuted), _) => text += " (nothing executed)",
        (None, _) => {}
    }
    if text.is_empty() { "-".to_owned() } else { text }
}

fn place(leaf: &Leaf) -> String {
    if let Some(top) = leaf.directory.as_ref().and_then(|directory| directory.from_top.as_deref()) {
        return if top.is_empty() { "at the top of the working tree".to_owned() } else { format!("in {top}") };
    }
    match leaf.directory.as_ref().map(|directory| (&directory.path, directory.certain)) {
        None => String::new(),
        Some((Some(path), true)) => format!("in {path}"),
        Some((Some(path), false)) => format!("in {path}, if that exists"),
        Some((None, _)) => "in a directory that is not shown".to_owned(),
    }
}

/// Returns phrases about one check: what its exit status means, and where its output goes.
fn facts(understood: &Understood, id: usize) -> String {
    let purpose = &understood.purposes[id];
    if purpose.invocation.is_none() && purpose.extent.is_none() {
        return String::new();
    }
    let leaf = &understood.program.leaves[id];
    let fate = exit_status::fate(&understood.program, id);
    let mut facts = vec![if fate.decides() && purpose.honest() {
        "its status decides".to_owned()
    } else if !fate.complete {
        "too complex to follow".to_owned()
    } else if fate.on_zero.not_run && !fate.on_zero.failed {
        "status 0 does not prove that it ran".to_owned()
    } else {
        "its status is hidden".to_owned()
    }];
    if matches!((&leaf.stdout, &leaf.stderr), (Sink::Nowhere, Sink::Nowhere)) {
        facts.push("its output is thrown away".to_owned());
    }
    if leaf.remote {
        facts.push("runs elsewhere".to_owned());
    }
    facts.join(", ")
}
