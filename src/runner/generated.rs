//! Files of builds that a generator wrote: `ninja test` in a folder that Meson made is `meson test`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::invocation::MatchedRunner;
use super::project_files::ProjectFiles;
use super::task::TaskRun;
use crate::lazy_patterns::compiled;

/// A file that a generator wrote, and what its targets do.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GeneratedFile {
    /// The file.
    pub file: String,
    /// A text at its beginning.
    pub has: String,
    /// Its targets; an empty name is the target that is made if none is named.
    pub tasks: BTreeMap<String, GeneratedTask>,
}

/// A target of a generated file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratedTask {
    /// The line that it stands for.
    pub runs: String,
    /// Regular expressions for what the generator writes for it. Each one matches exactly once: anybody can copy the
    /// beginning of the file.
    pub written: Vec<String>,
}

/// The number of bytes at the beginning of a file in which its generator names itself.
const HEAD: usize = 1000;

impl GeneratedFile {
    /// Returns the line for a target, if the generator wrote this text.
    pub(super) fn line(&self, text: &str, target: &str) -> Option<&String> {
        let head = text.get(..text.floor_char_boundary(HEAD)).unwrap_or(text);
        let task = self.tasks.get(target).filter(|_| head.contains(&self.has))?;
        let is_there = |written: &String| {
            let pattern = compiled(&format!("(?m){written}"));
            pattern.is_some_and(|pattern| pattern.find_iter(text).take(2).count() == 1)
        };
        task.written.iter().all(is_there).then_some(&task.runs)
    }
}

/// Returns the call of a target of a generated file, if nothing else is asked of the runner.
pub(super) fn called(found: &MatchedRunner<'_>, files: &dyn ProjectFiles) -> Option<TaskRun> {
    let runner = found.runner;
    let first = runner.generated.first()?;
    let words: Vec<&str> = found.rest.iter().copied().collect::<Option<_>>()?;
    let named = runner.arguments.essence(&words).only_word()?.to_owned();
    let target = match found.names.as_slice() {
        [] => named,
        [name] if named.is_empty() => (*name).to_owned(),
        _ => return None,
    };
    let text = files.read(&first.file)?;
    let line = runner.generated.iter().find_map(|generated| generated.line(&text, &target))?;
    Some(TaskRun {
        runner: runner.id.clone(),
        label: format!("{} {target}", found.program).trim_end().to_owned(),
        task: target,
        script: Some(vec![line.clone()]),
        in_order: true,
        ..TaskRun::default()
    })
}
