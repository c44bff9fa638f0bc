//! The words of a call of tasks.

use super::task_rules::TaskRules;
use crate::runner::catalogue::Catalogue;
use crate::runner::invocation::MatchedRunner;
use crate::runner::runner_definition::Runner;

/// The words of a call of tasks, sorted by what they are.
#[derive(Default)]
pub(super) struct TaskWords<'a> {
    /// The options of the task runner.
    pub(super) own: Vec<Option<&'a str>>,
    /// The tasks.
    pub(super) names: Vec<&'a str>,
    /// The arguments for the task.
    pub(super) handed: Vec<Option<String>>,
    /// The directory to run in.
    pub(super) directory: Option<String>,
    /// The file that defines the tasks, if it is another one.
    pub(super) other_file: Option<&'a str>,
    /// A variable that may change what a task does.
    pub(super) variable: Option<String>,
    /// All variables of the line.
    pub(super) given: Vec<(String, String)>,
}

/// Returns the sorted words of a call, or `None` if they do not show the name of the task.
pub(super) fn sorted<'a>(
    catalogue: &Catalogue,
    rules: &TaskRules,
    found: &'a MatchedRunner<'_>,
) -> Option<TaskWords<'a>> {
    let MatchedRunner { runner, invoke, rest, before, .. } = found;
    let value = |name: &str, next: Option<&str>| {
        invoke.before.iter().any(|option| option == name) || runner.arguments.takes(name, next)
    };
    let mut words = TaskWords::default();
    words.names.extend(invoke.task.as_deref());
    let is_own = |at: usize, word: &str, unnamed: bool| {
        word.starts_with('-') && (at <= *before || unnamed || rules.several || owns(runner, word))
    };
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        at += 1;
        match *word {
            Some("--") => {
                words.handed.extend(rest[at..].iter().map(|word| word.map(str::to_owned)));
                break;
            }
            Some(word) if is_own(at, word, words.names.is_empty()) => {
                words.own.push(Some(word));
                let (name, attached) = word.split_once('=').map_or((word, None), |(name, text)| (name, Some(text)));
                let mut text = attached;
                let name = runner.arguments.whole_name(name);
                if attached.is_none() && value(name, rest.get(at).copied().flatten()) {
                    text = rest.get(at).copied().flatten();
                    words.own.extend(rest.get(at));
                    at += 1;
                }
                if rules.directory.iter().any(|option| option == name) {
                    words.directory = text.map(str::to_owned);
                }
                if rules.other_file.iter().any(|option| option == name) {
                    words.other_file = Some(text.unwrap_or_default());
                }
            }
            // `make test T=login`: what a variable does to the recipe is not known.
            Some(word) if rules.several && word.contains('=') => {
                words.given.extend(word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())));
                if !catalogue.names().is_neutral(word) {
                    words.variable.get_or_insert_with(|| word.to_owned());
                }
            }
            Some(word) if words.names.is_empty() || rules.several => words.names.push(word),
            // A task whose name the text does not show.
            None if words.names.is_empty() => return None,
            word => words.handed.push(word.map(str::to_owned)),
        }
    }
    Some(words)
}

/// Returns `true` if the option belongs to the task runner itself, at any position.
fn owns(runner: &Runner, word: &str) -> bool {
    let arguments = &runner.arguments;
    let name = arguments.whole_name(word.split('=').next().unwrap_or(word));
    [&arguments.filter, &arguments.neutral, &arguments.exit_zero].into_iter().flatten().any(|option| option == name)
}
