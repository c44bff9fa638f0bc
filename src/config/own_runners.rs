//! The runners that a repository describes itself: the files of `gate/runners/`.

use std::collections::BTreeMap;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use super::error::{Report, nearest, quoted};
use super::fields::{Span, is_name};
use super::{ConfigError, text_of};
use crate::digest::hex_digest;
use crate::runner::{Catalogue, Runner, claimed_by_other, file_of};

/// The folder of the runners that a repository describes, from its root.
pub const OWN_RUNNERS: &str = "gate/runners";
/// The maximum number of runners that a repository may describe.
const MAX_RUNNERS: usize = 100;

/// Reads the files of [`OWN_RUNNERS`], by name. `place` stands in front of their paths in errors.
pub(super) fn catalogue(place: &str, files: &BTreeMap<String, Vec<u8>>) -> Result<Arc<Catalogue>, ConfigError> {
    let mut parsed = Vec::new();
    for (index, (name, bytes)) in files.iter().enumerate() {
        let file =
            RunnerFile { path: format!("{place}{OWN_RUNNERS}/{name}"), name, text: text_of_file(place, name, bytes)? };
        if index >= MAX_RUNNERS {
            let mut report = Report::new(&file.path, file.text);
            report.add(&(0..0), format!("more runners than a repository may describe ({MAX_RUNNERS})"));
            return Err(report.into());
        }
        let runner = file.parse()?;
        parsed.push((file, runner));
    }
    let (files, own): (Vec<RunnerFile<'_>>, Vec<Runner>) = parsed.into_iter().unzip();
    let catalogue = Catalogue::with_own(own);
    for file in files {
        file.check(&catalogue)?;
    }
    Ok(Arc::new(catalogue))
}

fn text_of_file<'a>(place: &str, name: &str, bytes: &'a [u8]) -> Result<&'a str, ConfigError> {
    text_of(&format!("{place}{OWN_RUNNERS}/{name}"), bytes)
}

/// One file of [`OWN_RUNNERS`].
struct RunnerFile<'a> {
    /// Its path, as errors name it.
    path: String,
    name: &'a str,
    text: &'a str,
}

impl RunnerFile<'_> {
    /// Parses the file, and checks what needs no other file.
    fn parse(&self) -> Result<Runner, ConfigError> {
        let mut report = Report::new(&self.path, self.text);
        if let Err(error) = DeTable::parse(self.text) {
            return Err(super::syntax(report, &error));
        }
        let mut runner: Runner = match toml::from_str(self.text) {
            Ok(runner) => runner,
            Err(error) => {
                add_malformed(&mut report, &error);
                return Err(report.into());
            }
        };
        self.check_name(&runner, &mut report);
        if runner.kinds.is_empty() && runner.task.is_none() {
            report.add(&(0..0), "missing key `kinds`: what it does, such as [\"test\"]");
        }
        if runner.invoke.is_empty() {
            report.add(&(0..0), "missing table [[invoke]]: the program that starts it");
        }
        for (at, _) in runner.invoke.iter().enumerate().filter(|(_, invoke)| invoke.program.is_empty()) {
            report.add(
                &self.at(&["invoke", &at.to_string(), "program"]),
                "`program` is empty: it takes the names of the programs that start the runner",
            );
        }
        if runner.names.as_ref().is_some_and(|names| names.hook.is_some()) {
            report.add(
                &self.at(&["names", "hook"]),
                "`hook` loads files of gate itself; a runner of a repository has none",
            );
        }
        self.check_lines(&runner, &mut report);
        runner.digest =
            hex_digest(&[toml::from_str::<toml::Table>(self.text).unwrap_or_default().to_string().as_bytes()]);
        report.finish(runner)
    }

    fn check_name(&self, runner: &Runner, report: &mut Report<'_>) {
        let (path, id) = (file_of(&runner.id), self.at(&["id"]));
        let wanted = path.rsplit('/').next().unwrap_or(&path);
        let stem = wanted.trim_end_matches(".toml");
        if !is_name(stem) || stem.starts_with('_') {
            report.add(&id, "the id of a runner is made of lowercase letters, digits, blanks, `.`, `_` and `-`");
        } else if wanted != self.name {
            report.add(
                &id,
                format!("the file of the runner `{}` is called {wanted}: rename it, or change `id`", runner.id),
            );
        } else if Catalogue::embedded().runner(&runner.id).is_some() {
            report
                .add(&id, format!("gate itself has a runner `{}`: choose another id, and rename the file", runner.id));
        }
    }

    fn check_lines(&self, runner: &Runner, report: &mut Report<'_>) {
        for (at, rule) in runner.output.line.iter().enumerate() {
            let place = |key| self.at(&["output", "line", &at.to_string(), key]);
            if let Err(error) = rule.check() {
                report.add(&place("is"), not_a_pattern(&error));
            }
            if rule.has.is_empty() {
                report.add(&place("has"), "`has` is empty: it takes a text that is in every such line");
            }
        }
        if let Some(Err(error)) = runner.names.as_ref().map(crate::runner::name_source::NameSource::check) {
            report.add(&self.at(&["names", "line"]), not_a_pattern(&error));
        }
    }

    /// Checks the file against all runners.
    fn check(&self, catalogue: &Catalogue) -> Result<(), ConfigError> {
        let mut report = Report::new(&self.path, self.text);
        let Some(runner) =
            catalogue.own().iter().find(|runner| file_of(&runner.id).ends_with(&format!("/{}", self.name)))
        else {
            return Ok(());
        };
        if let Some(like) = runner.output.like.as_ref().filter(|like| catalogue.runner(like).is_none()) {
            report.add(&self.at(&["output", "like"]), format!("there is no runner {}", quoted(like)));
        }
        for (at, invoke) in runner.invoke.iter().enumerate() {
            if let Some(claimed) = claimed_by_other(catalogue, runner, invoke) {
                let other = &claimed.by;
                let is_own = catalogue.own().iter().any(|own| own.id == *other);
                let other =
                    if is_own { format!("gate/{}", file_of(other)) } else { format!("gate's own runner `{other}`") };
                let what = format!("`{}` is claimed by {other} as well: give one of them other words", claimed.call);
                report.add(&self.at(&["invoke", &at.to_string(), "program"]), what);
            }
        }
        for (at, example) in runner.example.iter().enumerate() {
            if let Some(difference) = example.difference(catalogue, runner) {
                report.add(&self.at(&["example", &at.to_string(), "line"]), difference);
            }
        }
        report.finish(())
    }

    /// Returns the place of a value, given by the keys and indexes that lead to it, or of the last one that is there.
    fn at(&self, keys: &[&str]) -> Span {
        let Ok(table) = DeTable::parse(self.text) else { return 0..0 };
        let mut place = 0..0;
        let mut value = table.get_ref().get(keys.first().copied().unwrap_or_default());
        for key in keys.iter().skip(1).map(Some).chain([None]) {
            let Some(found) = value else { break };
            place = found.span();
            value = key.and_then(|key| match found.get_ref() {
                DeValue::Table(table) => table.get(*key),
                DeValue::Array(list) => list.get(key.parse::<usize>().ok()?),
                _ => None,
            });
        }
        place
    }
}

/// Adds the error for text that is not TOML, or has a key or a value that is not understood.
fn add_malformed(report: &mut Report<'_>, error: &toml::de::Error) {
    let at = error.span().unwrap_or(0..0);
    let message = error.message();
    let words: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    match words.split_first() {
        Some((word, known)) if message.starts_with("unknown field") => {
            let meant = nearest(word, known.iter().copied());
            report.add_meant(&at, format!("unknown key {} in a runner file", quoted(word)), meant);
        }
        Some((key, _)) if message.starts_with("missing field") => report.add(&at, format!("missing key `{key}`")),
        _ => report.add(&at, message),
    }
}

/// Returns the message for a pattern that does not compile: its last line names the problem.
fn not_a_pattern(error: &regex::Error) -> String {
    let message = error.to_string();
    let problem = message.lines().last().unwrap_or_default();
    format!("not a regular expression: {}", problem.trim_start_matches("error: "))
}
