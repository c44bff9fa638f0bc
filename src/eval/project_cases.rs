//! A project's own cases: what `gate appeal` wrote, with the answers that are right.

use std::path::Path;

use crate::eval::eval_report::{EvalCost, EvalWay, SuiteReport};
use crate::eval::fact_answer::EvalAnswer;
use crate::eval::measure::Measurement;
use crate::eval::suite::SuiteError;
use crate::eval::suite_kind::Suite;
use crate::replay::{Case, answer};

/// Judges every case of a folder. Each expected answer counts as one case, and its question is its class.
pub fn measure(folder: &Path) -> Result<SuiteReport, SuiteError> {
    let read = |source| SuiteError::Read { path: folder.to_owned(), source };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut measurement = Measurement::new(Suite::Project);
    for path in &paths {
        add(&mut measurement, path)?;
    }
    Ok(measurement.report(folder.display().to_string(), EvalWay::Facts, None, EvalCost::default()))
}

fn add(measurement: &mut Measurement, path: &Path) -> Result<(), SuiteError> {
    let wrong = |what: String| SuiteError::Case { path: path.to_owned(), what };
    let bytes = std::fs::read(path).map_err(|source| SuiteError::Read { path: path.to_owned(), source })?;
    let case = Case::read(&bytes).map_err(|error| wrong(error.to_string()))?;
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if case.expect.is_empty() {
        measurement.leave_out(&name, "the case has no `expect`, so no answer is right".to_owned());
        return Ok(());
    }
    let answers = answer(&case).map_err(|error| wrong(error.to_string()))?;
    for (question, expected) in &case.expect {
        let Some(said) = answers.gates.get(question) else {
            return Err(wrong(format!("`{question}` in `expect` is not a question")));
        };
        // Any answer but a block is right for a question that does not arise.
        let word = if said.verdict.agrees(&expected.verdict) { &expected.verdict } else { said.verdict.as_str() };
        let answer = EvalAnswer {
            word: word.to_owned(),
            why: said.why.clone(),
            severity: None,
            needs_person: false,
            score: None,
        };
        measurement.count(&name, question, vec![expected.verdict.clone()], &answer);
    }
    Ok(())
}
