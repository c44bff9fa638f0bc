//! `gate metrics`: measures over the recorded tasks.

use anyhow::Result;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::engine::Workplace;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::learn::branch_fate::{self, BranchFate};
use crate::learn::metrics::{MeasuredTask, Metrics};
use crate::learn::task_record;
use crate::render;
use crate::render::ui::{Ui, WARN};

mod forge_pulls;

/// Arguments of `gate metrics`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Count only what came after this day or time (2026-03-01), and compare mistakes before and after it
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Ask the forge about the pull requests and checks of the last 50 tasks
    #[arg(long)]
    forge: bool,
    /// Print as JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print the metrics as CSV
    #[arg(long)]
    csv: bool,
}

/// Prints the metrics of the repository.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let since = args.since.as_deref().map(time).transpose()?;
    let place = Workplace::here()?;
    let ledger = super::reward::ledger(&place)?;
    let mut tasks = Vec::new();
    for record in task_record::tasks(&ledger.events) {
        let is_merged = branch_fate::of(&place.repo, &record)? == BranchFate::Merged;
        tasks.push(MeasuredTask { model: ledger.usage(&record.session).models.pop(), is_merged, pull: None, record });
    }
    if args.forge
        && let Err(error) = forge_pulls::ask(&place.repo, &mut tasks)
    {
        ui.say(format_args!("{WARN}warning:{WARN:#} {error}"));
    }
    let root = place.repo.root().unwrap_or(place.repo.common_dir());
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let metrics = Metrics::of(&name, &tasks, &ledger.events, since, args.forge);
    if args.json {
        ui.json(&metrics)?;
    } else if args.csv {
        ui.raw(render::learning::metrics_csv(&metrics));
    } else {
        ui.raw(render::learning::metrics(&metrics));
    }
    Ok(Exit::Pass)
}

/// Reads a time, or a day, which begins at midnight UTC.
fn time(text: &str) -> Result<Timestamp, Failure> {
    let day = || text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok().map(|day| day.timestamp());
    text.parse().ok().or_else(day).ok_or_else(|| {
        Failure::new(Exit::Usage, format_args!("`{}` is not a time", text.escape_debug()))
            .remedy("write a day (2026-03-01) or a time (2026-03-01T12:00:00Z)")
    })
}
