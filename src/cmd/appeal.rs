//! `gate appeal`: saves a disputed verdict as a case that can be judged anywhere.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;

use crate::engine::Workplace;
use crate::event::{Appealed, EventKind, Origin};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::journal::NewEvent;
use crate::redact::redact_tokens;
use crate::render::ui::{Ui, WARN};
use crate::replay::appeal::{self, AppealError};
use crate::replay::gate_answers;
use crate::verdict::{Outcome, Verdict, verdict_files};

/// Arguments of `gate appeal`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The id of a verdict, or the path of its record; without it, the last one that refused
    #[arg(value_name = "VERDICT")]
    verdict: Option<String>,
    /// Record in the case what the right answer is
    #[arg(long, value_name = "ANSWER", value_enum)]
    expect: Option<Expect>,
    /// With `--expect block`: the question that should have been answered with `block`
    #[arg(long, value_name = "NAME", default_value = "completion", value_parser = questions())]
    question: String,
    /// Write the case to this file instead of printing it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The correct answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Expect {
    /// The work that was refused should have passed
    Pass,
    /// The work that passed should have been refused
    Block,
}

fn questions() -> PossibleValuesParser {
    PossibleValuesParser::new(gate_answers::questions())
}

/// Returns the error for a case in which no answer would be right: it would measure nothing.
fn nothing_to_expect(verdict: &Verdict, unasked: &[String]) -> Failure {
    if unasked.is_empty() {
        return Failure::new(Exit::Usage, format!("verdict {} refused nothing", verdict.id))
            .remedy("to record that it should have: gate appeal --expect block");
    }
    let gates = unasked.join(", ");
    Failure::new(
        Exit::Usage,
        format!("no question of a case is about what {gates} refused, so no answer to it can be right"),
    )
    .remedy("to share the verdict without an answer: gate appeal, without --expect")
}

/// Writes the case.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    let place = Workplace::here()?;
    let passed = args.expect == Some(Expect::Block);
    let disputed = |verdict: &Verdict| args.verdict.is_some() || (verdict.outcome == Outcome::Pass) == passed;
    let Some((_, verdict)) = super::explain::find_where(&place, args.verdict.as_deref(), disputed)? else {
        return Err(match &args.verdict {
            Some(what) => Failure::new(Exit::Usage, format!("`{what}` is not a verdict of this repository"))
                .remedy("to list verdicts: gate log"),
            None if passed => Failure::new(Exit::Usage, "no verdict here passed").remedy("to get one: gate check"),
            None => Failure::new(Exit::Usage, "no verdict here refused anything").remedy("to get one: gate check"),
        }
        .into());
    };
    let made = appeal::appeal(&place, &verdict, &super::replay::neutral(Some(&place)));
    let mut appeal = made.map_err(|error| match error {
        AppealError::Gone(error) => super::replay::cannot(&verdict.id, error),
        AppealError::Git(_) | AppealError::Case(_) => Failure::new(Exit::Internal, error),
    })?;
    match args.expect {
        Some(Expect::Pass) if !appeal::expect_pass(&mut appeal.case, &verdict) => {
            return Err(nothing_to_expect(&verdict, &appeal.unasked).into());
        }
        Some(Expect::Block) => appeal::expect_block(&mut appeal.case, &args.question),
        Some(Expect::Pass) | None => {}
    }
    for gate in &appeal.unasked {
        ui.say(format_args!("{WARN}warning:{WARN:#} a case has no question about what {gate} refused"));
    }
    for (question, then, now) in &appeal.lost {
        ui.say(format_args!(
            "{WARN}warning:{WARN:#} the case does not show why {question} was {}: {}; it answers {}: {}",
            then.verdict.as_str(),
            then.why,
            now.verdict.as_str(),
            now.why
        ));
    }
    let text = serde_json::to_string_pretty(&appeal.case)?;
    let text = redact_tokens(&text);
    match &args.output {
        Some(path) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            folder
                .map_or(Ok(()), std::fs::create_dir_all)
                .and_then(|()| verdict_files::write_bytes(path, format!("{text}\n").as_bytes()))
                .map_err(Failure::of_file(Exit::Usage, path))?;
            ui.say(format_args!(
                "gate: wrote verdict {} as a case to {}; read the file before you share it",
                verdict.id,
                path.display()
            ));
        }
        None => ui.line(text),
    }
    let kind = EventKind::Appealed(Appealed { blocked: verdict.outcome != Outcome::Pass, verdict: verdict.id });
    place.journal.append(NewEvent { session: Some(place.session.id.clone()), origin: Origin::observed(), kind })?;
    Ok(Exit::Pass)
}
