//! `gate appeal`: saves a disputed verdict as a case that can be judged anywhere.

use std::path::PathBuf;

use crate::engine::Workplace;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::redact::redact_tokens;
use crate::render::ui::{Ui, WARN};
use crate::replay::appeal::{self, AppealError};
use crate::verdict::{Outcome, verdict_files};

/// Arguments of `gate appeal`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The id of a verdict, or the path of its record; without it, the last one that refused
    #[arg(value_name = "VERDICT")]
    verdict: Option<String>,
    /// Record in the case what would have been right
    #[arg(long, value_name = "ANSWER", value_enum)]
    expect: Option<Expect>,
    /// Write the case to this file instead of printing it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The correct answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Expect {
    /// Everything that stopped should have passed
    Pass,
}

/// Writes the case.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    let place = Workplace::here()?;
    let refused = |verdict: &crate::verdict::Verdict| args.verdict.is_some() || verdict.outcome != Outcome::Pass;
    let Some((_, verdict)) = super::explain::find_where(&place, args.verdict.as_deref(), refused)? else {
        return Err(match &args.verdict {
            Some(what) => Failure::new(Exit::Usage, format!("`{what}` is not a verdict of this repository"))
                .remedy("to list verdicts: gate log"),
            None => Failure::new(Exit::Usage, "no verdict here refused anything").remedy("to get one: gate check"),
        }
        .into());
    };
    let made = appeal::appeal(&place, &verdict, &super::replay::neutral(Some(&place)));
    let mut appeal = made.map_err(|error| match error {
        AppealError::Gone(error) => super::replay::cannot(&verdict.id, error),
        AppealError::Git(_) | AppealError::Case(_) => Failure::new(Exit::Internal, error),
    })?;
    if args.expect == Some(Expect::Pass) {
        appeal::expect_pass(&mut appeal.case, &verdict);
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
                .map_err(|error| Failure::new(Exit::Usage, format!("{}: {error}", path.display())))?;
            ui.say(format_args!(
                "gate: {} holds verdict {} as a case; read it before you share it",
                path.display(),
                verdict.id
            ));
        }
        None => ui.line(text),
    }
    Ok(Exit::Pass)
}
