//! `gate eval`: measures how often gate is right about labelled cases.

use std::path::{Path, PathBuf};

use crate::eval::eval_report::{EvalCost, EvalReport, EvalWay, SuiteReport};
use crate::eval::fact_answer::of_facts;
use crate::eval::judge_answer::{of_both, of_judge};
use crate::eval::labelled_case::LabelledCase;
use crate::eval::measure::Measurement;
use crate::eval::suite::{self, PROJECT_CASES, SuiteError};
use crate::eval::suite_kind::Suite;
use crate::eval::{doubtful_labels, project_cases};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::git::Repo;
use crate::model::model_settings::{ModelSettings, UserSettings};
use crate::render;
use crate::render::ui::Ui;

/// Arguments of `gate eval`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The suite; without it, all of them
    #[arg(value_name = "SUITE", value_enum)]
    suite: Option<Suite>,
    /// Read the cases of SUITE from this file or, for `project`, from this folder
    #[arg(long, value_name = "PATH", requires = "suite")]
    cases: Option<PathBuf>,
    /// Also ask this model of your configuration; show the rates of the facts, of the model, and of both together
    #[arg(long, value_name = "NAME")]
    judge: Option<String>,
    /// Exit with 10 if less than this percentage of the answers of a suite is right
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    floor: Option<u8>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Print tables in Markdown, for a comment on a pull request
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

/// Measures the suites, and prints the rates.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    let judge = args.judge.as_deref().map(configured).transpose()?;
    let mut suites = Vec::new();
    let mut failed = None;
    for (suite, from) in asked(args)? {
        match measured(suite, from.as_deref(), judge.as_ref()) {
            Ok(reports) => suites.extend(reports),
            // The others are measured all the same.
            Err(error) => failed = Some(unreadable(error)),
        }
    }
    if let Some(error) = failed.take_if(|_| suites.is_empty()) {
        return Err(error.into());
    }
    let report = EvalReport { schema_version: 1, suites };
    if args.json {
        ui.json(&report)?;
    } else if args.markdown {
        ui.raw(render::eval::markdown(&report));
    } else {
        ui.raw(render::eval::lines(&report));
    }
    if let Some(error) = failed {
        return Err(error.into());
    }
    let floor = f64::from(args.floor.unwrap_or(0)) / 100.0;
    let is_below = |suite: &SuiteReport| suite.total().hits.rate.unwrap_or(0.0) < floor;
    if report.suites.iter().any(|suite| suite.total().hits.of == 0 && !suite.unjudged.is_empty()) {
        return Ok(Exit::CannotJudge);
    }
    Ok(if report.suites.iter().any(is_below) { Exit::Blocked } else { Exit::Pass })
}

/// Returns the suites to measure, each with the place of its cases if that is not the program itself.
fn asked(args: &Args) -> Result<Vec<(Suite, Option<PathBuf>)>, Failure> {
    let own = || {
        let root = std::env::current_dir().ok().and_then(|dir| Repo::discover(&dir).ok()?.root().map(Path::to_owned));
        root.map(|root| root.join(PROJECT_CASES)).filter(|folder| folder.is_dir())
    };
    match (args.suite, &args.cases) {
        (Some(suite), Some(path)) => Ok(vec![(suite, Some(path.clone()))]),
        (Some(Suite::Project), None) => {
            let remedy = format!("to write one: gate appeal --expect pass --output {PROJECT_CASES}/NAME.json");
            let none = || Failure::new(Exit::Usage, format!("there are no cases in {PROJECT_CASES}")).remedy(remedy);
            Ok(vec![(Suite::Project, Some(own().ok_or_else(none)?))])
        }
        (Some(suite), None) => Ok(vec![(suite, None)]),
        (None, _) => {
            let mut all: Vec<_> = Suite::BUILT_IN.into_iter().map(|suite| (suite, None)).collect();
            all.extend(own().map(|folder| (Suite::Project, Some(folder))));
            Ok(all)
        }
    }
}

/// Returns the model with this name.
pub(super) fn configured(name: &str) -> Result<ModelSettings, Failure> {
    let settings = UserSettings::read().map_err(Failure::with(Exit::BadInput))?;
    settings.into_judge(name).map_err(Failure::with(Exit::BadInput))?.ok_or_else(|| {
        let file = crate::model::model_settings::path().unwrap_or_default();
        let what = format!("there is no [models.{name}] in {}", file.display());
        Failure::new(Exit::Usage, what).remedy(format!("add it:\n[models.{name}]\ncommand = \"claude -p\""))
    })
}

/// Measures one suite in each way.
fn measured(suite: Suite, from: Option<&Path>, judge: Option<&ModelSettings>) -> Result<Vec<SuiteReport>, SuiteError> {
    let cases = match (suite, from) {
        (Suite::Project, Some(folder)) => return Ok(vec![project_cases::measure(folder)?]),
        (_, Some(path)) => suite::from_file(path)?,
        (_, None) => suite::built_in(suite)?,
    };
    let place = from.map_or_else(|| "built-in".to_owned(), |path| path.display().to_string());
    let second = if from.is_none() { suite::second_labels(suite) } else { std::collections::BTreeMap::new() };
    let mut report = by_facts(suite, &cases, place.clone());
    report.doubtful = doubtful_labels::find(suite, &cases, &second);
    let mut reports = vec![report];
    if let Some(judge) = judge {
        reports.extend(by_judge(suite, &cases, &place, judge));
    }
    Ok(reports)
}

fn by_facts(suite: Suite, cases: &[LabelledCase], place: String) -> SuiteReport {
    let mut measurement = Measurement::new(suite);
    for case in cases {
        measurement.add(case, of_facts(suite, &case.inputs).map_err(|error| error.to_string()));
    }
    measurement.report(place, EvalWay::Facts, None, EvalCost::default())
}

/// Measures the judge alone, and both. Each case is asked about once.
fn by_judge(suite: Suite, cases: &[LabelledCase], place: &str, judge: &ModelSettings) -> [SuiteReport; 2] {
    let [mut alone, mut both] = [Measurement::new(suite), Measurement::new(suite)];
    let mut cost = EvalCost::default();
    for case in cases {
        let facts = of_facts(suite, &case.inputs).map_err(|error| error.to_string());
        let open = facts.as_ref().map(|answer| answer.why.clone()).unwrap_or_default();
        let answer = of_judge(suite, &case.inputs, &open, judge, &mut cost);
        let together = facts.and_then(|facts| answer.as_ref().map(|own| of_both(&facts, own)).map_err(Clone::clone));
        alone.add(case, answer);
        both.add(case, together);
    }
    let name = || Some(judge.name.clone());
    [
        alone.report(place.to_owned(), EvalWay::Judge, name(), cost),
        both.report(place.to_owned(), EvalWay::Both, name(), cost),
    ]
}

fn unreadable(error: SuiteError) -> Failure {
    let exit = match &error {
        SuiteError::Read { .. } => Exit::Usage,
        SuiteError::TooLarge { .. } | SuiteError::Parse { .. } | SuiteError::Case { .. } => Exit::BadInput,
    };
    Failure::new(exit, error)
}
