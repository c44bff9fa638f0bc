//! The effect of the variables that a line sets for a check: they may select a part of it, or make it execute nothing.

use regex::Regex;

use crate::runner::{Catalogue, Invocation};
use crate::shell::expanded_program::Leaf;

use super::command_table::table;
use super::run_settings::{Inherited, run_settings};
use super::setting_effect::{How, Narrowed};

/// Returns the effect of the variables that a line sets for one of its checks.
pub(super) fn set_for(leaf: &Leaf, invocation: &Invocation, runners: &Catalogue) -> Option<Narrowed> {
    let set = leaf.environment.iter().chain(&leaf.given).filter(|(_, value)| value.as_deref() != Some(""));
    let found: Vec<Narrowed> =
        set.filter_map(|(name, value)| of(name, value.as_deref(), invocation, runners)).collect();
    let first = |how| found.iter().find(|narrowed| narrowed.how == how);
    first(How::Nothing).or(first(How::Masked)).or(found.first()).cloned()
}

fn of(name: &str, value: Option<&str>, invocation: &Invocation, runners: &Catalogue) -> Option<Narrowed> {
    let mut known = run_settings().inherited.iter().filter(|entry| entry.is_named(name)).peekable();
    if known.peek().is_some() {
        let mut known = known.filter(|entry| entry.concerns(invocation, runners) && !entry.hooks);
        return known.find_map(|entry| entry.read(name, value));
    }
    let listed = table().environment.narrowing.iter().any(|known| known == name);
    listed.then(|| Narrowed { by: name.to_owned(), how: How::Part })
}

impl Inherited {
    /// Returns `true` if the runners that a command starts read the variable, as far as they are known.
    pub(super) fn concerns(&self, invocation: &Invocation, runners: &Catalogue) -> bool {
        let runs = &invocation.runs;
        if self.runners.is_empty() {
            return true;
        }
        let task = |id: &String| runners.runner(id).is_some_and(|runner| runner.task.is_some());
        runs.iter().any(|id| self.runners.contains(id)) || !self.named_only && runs.iter().all(task)
    }

    /// A value without the parts that change nothing.
    fn left_of(&self, value: &str) -> String {
        let patterns = self.without.iter().filter_map(|pattern| Regex::new(pattern).ok());
        patterns.fold(value.to_owned(), |value, pattern| pattern.replace_all(&value, "").into_owned())
    }

    /// Returns the effect of a value, where `None` is a value that is not literal.
    pub(super) fn read(&self, name: &str, value: Option<&str>) -> Option<Narrowed> {
        let narrowed = |how, option: Option<&str>| {
            let option: String = option.map(|option| format!(": {option}")).unwrap_or_default();
            Some(Narrowed { by: format!("{name}{option}").chars().take(100).collect(), how })
        };
        let how = match (self.masks, self.printed) {
            (true, true) => How::Printed,
            (true, false) => How::Masked,
            (false, _) => How::Part,
        };
        let Some(value) = value.map(str::trim) else { return narrowed(how, None) };
        let left = self.left_of(value);
        let value = left.trim();
        let fits = |pattern: &String| Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(value));
        let counts = self.when.is_empty() || self.when.iter().any(fits);
        if value.is_empty() || !counts || self.unless.iter().any(fits) {
            return None;
        }
        if !self.row {
            return narrowed(how, None);
        }
        let runner = self.runners.first().and_then(|id| Catalogue::embedded().runner(id))?;
        let row = if self.options { options(value, self.letters) } else { value.to_owned() };
        let read = runner.arguments.read_row(&row);
        match (&read.nothing, &read.filter) {
            (Some(option), _) => narrowed(How::Nothing, Some(option)),
            _ if read.exit_zero == Some(true) => narrowed(How::Masked, None),
            (None, Some(option)) => narrowed(How::Part, Some(option)),
            (None, None) => None,
        }
    }
}

/// Returns the options of a list, each with the next word as its value. With `letters`, the first word may be options
/// without a dash, as `make` passes them to the `make` that it starts.
fn options(row: &str, letters: bool) -> String {
    let mut words = row.split_whitespace().take_while(|word| *word != "--").peekable();
    let mut found = Vec::new();
    if letters && let Some(first) = words.next_if(|word| !word.starts_with('-')) {
        let letters: String = first.chars().filter(char::is_ascii_alphabetic).collect();
        found.extend((!first.contains('=') && !letters.is_empty()).then(|| format!("-{letters}")));
    }
    while let Some(word) = words.next() {
        if word.starts_with('-') {
            let value = words.next_if(|value| !value.starts_with('-') && !word.contains('='));
            found.push(value.map_or_else(|| word.to_owned(), |value| format!("{word}={value}")));
        }
    }
    found.join(" ")
}
