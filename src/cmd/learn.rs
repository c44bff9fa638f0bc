//! `gate learn`: compares the rewards of sessions by their strategies, and proposes what a person may switch.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use anyhow::Result;
use jiff::Timestamp;

use crate::embedded::{TEMPLATES, file};
use crate::engine::Workplace;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::learn::strategies::{self, Strategies};
use crate::learn::weight_history;
use crate::learn::weights::{self, MIN_NEW, StrategySample};
use crate::render::strategy_report::{self, PlotSeries};
use crate::render::ui::Ui;
use crate::shell_quote::shell_line;

/// Arguments of `gate learn`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder for the report and the plots; by default, .git/gate/strategies
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the newest weights as JSON
    #[arg(long)]
    json: bool,
    /// Undo the last update
    #[arg(long)]
    rollback: bool,
    /// Print a schedule for a daily run, as a line for cron or as a workflow
    #[arg(long, value_name = "KIND", conflicts_with_all = ["out", "json", "rollback"])]
    schedule: Option<Schedule>,
}

/// The forms of a schedule.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Schedule {
    /// A line for crontab
    Cron,
    /// A workflow of GitHub Actions
    Github,
}

/// Updates the weights if enough sessions are new, and writes the report.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    let root = place.work_tree()?.to_owned();
    if let Some(schedule) = args.schedule {
        ui.raw(scheduled(schedule, &root));
        return Ok(Exit::Pass);
    }
    let strategies = Strategies::read(&root).map_err(Failure::with(Exit::BadInput))?;
    if strategies.0.is_empty() {
        let failure = format!("{} declares no strategy", strategies::FILE);
        return Err(Failure::new(Exit::NothingFails, failure).remedy("docs/learning.md shows one").into());
    }
    let gate_dir = place.repo.gate_dir();
    let unreadable = |error| {
        let remedy = format!(
            "remove that line, or the file to begin again; the reports in {} stay",
            weight_history::folder(&gate_dir).display()
        );
        Failure::new(Exit::BadInput, format!("the history of weights cannot be read: {error}")).remedy(remedy)
    };
    let mut history = weight_history::read(&gate_dir).map_err(unreadable)?;
    let samples = samples(&place)?;
    if args.rollback {
        let Some(back) = weights::rollback(&history, Timestamp::now()) else {
            return Err(Failure::new(Exit::NothingFails, "there is no update to undo")
                .remedy("to see the weights: gate learn")
                .into());
        };
        weight_history::append(&gate_dir, &back)?;
        history.push(back);
    } else {
        match weights::update(&strategies, history.last(), &samples, Timestamp::now()) {
            Some(new) => {
                weight_history::append(&gate_dir, &new)?;
                history.push(new);
            }
            None => {
                let new = weights::new_sessions(history.last(), &samples);
                ui.say(format_args!(
                    "gate: not enough data: {MIN_NEW} new sessions with strategies are needed; so far: {new}"
                ));
            }
        }
    }
    let out = args.out.clone().unwrap_or_else(|| weight_history::folder(&gate_dir));
    let report = strategy_report::markdown(&strategies, &history);
    write(&out, &report, &history, &samples).map_err(Failure::of_file(Exit::BadInput, &out))?;
    ui.show(args.json, &history.last(), report)?;
    Ok(Exit::Pass)
}

/// Returns the sessions whose strategies were recorded, in their order.
fn samples(place: &Workplace) -> Result<Vec<StrategySample>> {
    let ledger = super::reward::ledger(place)?;
    let settings = ledger.settings();
    let sample = |session: String| {
        let values = settings.get(session.as_str())?.strategies.clone();
        let reward = (!values.is_empty()).then(|| ledger.reward(&session)).flatten()?;
        // A session that was never judged is still at work, or was only a question.
        reward.numbers.health_after?;
        // Nor does the first of all compare with the others: what was there before it is unknown.
        reward.numbers.health_before?;
        Some(StrategySample { session, reward: reward.low, values })
    };
    Ok(ledger.sessions().into_iter().filter_map(sample).collect())
}

fn write(out: &Path, report: &str, history: &[weights::Weights], samples: &[StrategySample]) -> io::Result<()> {
    let rewards = PlotSeries { name: "reward".to_owned(), values: samples.iter().map(|one| one.reward).collect() };
    fs::create_dir_all(out)?;
    for (name, text) in [
        ("report.md", report.to_owned()),
        ("weights.svg", strategy_report::svg("Weights by update", &strategy_report::weight_series(history))),
        ("rewards.svg", strategy_report::svg("Rewards by session", &[rewards])),
    ] {
        fs::write(out.join(name), text)?;
    }
    Ok(())
}

/// Returns the text of a schedule for this working tree.
fn scheduled(schedule: Schedule, root: &Path) -> String {
    let name = match schedule {
        Schedule::Cron => "learn/crontab",
        Schedule::Github => "learn/github.yml",
    };
    let gate = env::current_exe().map_or_else(|_| "gate".to_owned(), |path| path.display().to_string());
    let text = file(TEMPLATES, name).unwrap_or_default();
    let quoted = |word: &str| shell_line([word]);
    text.replace("@ROOT@", &quoted(&root.display().to_string())).replace("@GATE@", &quoted(&gate))
}
