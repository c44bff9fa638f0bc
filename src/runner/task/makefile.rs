//! Reads a Makefile as make would, as far as its text says what a target runs.

mod conditions;
mod reader;
mod settings;
mod variables;

use self::reader::Reader;
use self::settings::Settings;
use self::variables::{Locals, Variables, known, stem};
use super::task_definition::{Task, TaskStep};
use crate::runner::ProjectFiles;

/// A rule of a Makefile.
#[derive(Debug, Default)]
struct Rule {
    targets: Vec<String>,
    prerequisites: Vec<String>,
    recipe: Option<Vec<String>>,
    /// `true` for `a:: b`: each such rule runs.
    double: bool,
    /// `true` if the targets are patterns.
    pattern: bool,
    /// The pattern of the targets of a static pattern rule.
    static_pattern: Option<String>,
    /// `true` if something outside of the file decides if it counts, or an unread part stands before it.
    uncertain: bool,
}

/// The rules and settings of a Makefile.
#[derive(Debug, Default)]
pub(super) struct Makefile {
    variables: Variables,
    rules: Vec<Rule>,
    /// Settings for single targets: `test: SHELL = bash`.
    own: Vec<(String, String, String, String)>,
    settings: Settings,
    /// A part of the file that is not understood.
    unread: Option<String>,
    /// The texts of files that it may include.
    possible: Vec<String>,
    /// The number of conditions that something outside of the file decides.
    pub(super) open_questions: usize,
    /// The number of lines.
    pub(super) lines: usize,
}

impl Makefile {
    /// Reads a file. `given`: the variables of the command line. `flipped`: the open question that is answered the other
    /// way.
    pub(super) fn read(
        text: &str,
        files: &dyn ProjectFiles,
        given: &[(String, String)],
        flipped: Option<usize>,
    ) -> Self {
        Reader::read(text, files, given, flipped)
    }

    /// Returns the reason why status 0 of any target proves nothing, or `None` if there is none.
    pub(super) fn doubt(&self, target: &str) -> Option<String> {
        let own = |name: &str| {
            let mut mine = self.own.iter().rev().filter(|(of, variable, ..)| of == target && variable == name);
            mine.next().map(|(.., value)| self.variables.expand(value, &[]))
        };
        let is_rule = |line: &str| line.strip_prefix(target).is_some_and(|rest| rest.trim_start().starts_with(':'));
        let replaces = |text: &String| text.lines().any(is_rule);
        let other = || {
            let found = self.possible.iter().any(replaces);
            found.then(|| format!("a file that the Makefile may include has a rule for `{target}`, too"))
        };
        settings::doubt(&self.variables, own).or_else(|| self.unread.clone()).or_else(other)
    }

    /// Returns the target that runs if none is named, or `None` if this file does not say it.
    pub(super) fn default_target(&self) -> Option<String> {
        if let Some(goal) = self.variables.text(".DEFAULT_GOAL") {
            let goal = self.variables.expand(goal, &[]);
            return (known(&goal) && !goal.contains(char::is_whitespace)).then_some(goal);
        }
        let is_goal = |rule: &&Rule| !rule.pattern && !rule.targets.first().is_some_and(|name| name.starts_with('.'));
        let first = self.rules.iter().find(is_goal)?;
        first.targets.first().filter(|name| !first.uncertain && known(name)).cloned()
    }

    /// Returns what a target runs, or `None` if no rule is about it.
    pub(super) fn task(&self, name: &str) -> Option<Task> {
        let explicit: Vec<&Rule> =
            self.rules.iter().filter(|rule| !rule.pattern && rule.targets.iter().any(|one| one == name)).collect();
        let with_recipe = |rule: &&&Rule| rule.recipe.is_some();
        let double = explicit.iter().any(|rule| rule.double);
        let mut chosen: Vec<(&Rule, String)> = Vec::new();
        if double {
            chosen.extend(explicit.iter().filter(with_recipe).map(|rule| (*rule, String::new())));
        } else if let Some(rule) = explicit.iter().rfind(with_recipe) {
            let pattern = rule.static_pattern.as_deref().unwrap_or_default();
            chosen.push((rule, stem(name, pattern).unwrap_or_default().to_owned()));
        }
        if chosen.is_empty() {
            // The shortest stem wins.
            let fits = |rule: &&Rule| rule.pattern && rule.recipe.is_some();
            let stems = self.rules.iter().filter(fits).filter_map(|rule| {
                let found =
                    rule.targets.iter().filter_map(|pattern| stem(name, pattern)).min_by_key(|stem| stem.len())?;
                Some((rule, found.to_owned()))
            });
            chosen.extend(stems.min_by_key(|(_, stem)| stem.len()));
        }
        if explicit.is_empty() && chosen.is_empty() {
            let default = self.rules.iter().rfind(|rule| rule.targets.iter().any(|name| name == ".DEFAULT"))?;
            chosen.push((default, String::new()));
        }
        let mut task = Task { doubt: self.doubt(name), ..Task::default() };
        let implicit = chosen.iter().filter(|(rule, _)| rule.pattern);
        let named = explicit.iter().map(|rule| (*rule, rule.static_pattern.as_deref().and_then(|of| stem(name, of))));
        let rules = named.chain(implicit.map(|(rule, stem)| (*rule, Some(stem.as_str()))));
        for (rule, stem) in rules {
            let filled = |word: &String| stem.map_or_else(|| word.clone(), |stem| word.replacen('%', stem, 1));
            for word in rule.prerequisites.iter().map(filled) {
                let is_target = self.has_rule(&word);
                task.needs_files |= !is_target;
                if is_target && !task.depends.contains(&word) {
                    task.depends.push(word);
                }
            }
        }
        for (rule, stem) in chosen {
            task.steps.extend(self.recipe(rule, name, &stem));
        }
        Some(task)
    }

    /// Returns the target that one stands for: `check` for `test: check`.
    pub(super) fn only_prerequisite(&self, name: &str) -> Option<String> {
        let is_sure = self.open_questions == 0 && self.own.iter().all(|(of, ..)| of != name);
        let task = self.task(name).filter(|task| is_sure && task.doubt.is_none() && !task.needs_files)?;
        let [only] = &task.depends[..] else { return None };
        task.steps.is_empty().then(|| only.clone())
    }

    /// Returns `true` if a rule says how to make a name. What compilers make is left out.
    fn has_rule(&self, name: &str) -> bool {
        let is_object = || [".o", ".obj", ".lo", ".a", ".so", ".d"].iter().any(|end| name.ends_with(end));
        let is_made = |rule: &Rule| {
            if rule.pattern {
                rule.recipe.is_some() && !is_object() && rule.targets.iter().any(|one| stem(name, one).is_some())
            } else {
                rule.targets.iter().any(|one| one == name)
            }
        };
        self.rules.iter().any(is_made)
    }

    /// Returns the lines of a recipe.
    fn recipe(&self, rule: &Rule, target: &str, stem: &str) -> Vec<TaskStep> {
        let all = rule.prerequisites.join(" ").replace('%', stem);
        let first = all.split_whitespace().next().unwrap_or_default().to_owned();
        let mut locals: Locals = [("@", target), ("<", &first), ("^", &all), ("+", &all), ("?", &all), ("*", stem)]
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .to_vec();
        locals.push(("@D".to_owned(), ".".to_owned()));
        locals.push(("@F".to_owned(), target.rsplit('/').next().unwrap_or_default().to_owned()));
        for (_, name, operator, value) in self.own.iter().filter(|(of, ..)| of == target) {
            let old = self.variables.expand(self.variables.text(name).unwrap_or_default(), &locals);
            let value = self.variables.expand(value, &locals);
            match operator.as_str() {
                "?=" if self.variables.text(name).is_some() => {}
                "+=" => locals.push((name.clone(), format!("{old} {value}").trim().to_owned())),
                _ => locals.push((name.clone(), value)),
            }
        }
        let mut lines: Vec<(bool, String)> = Vec::new();
        for raw in rule.recipe.iter().flatten() {
            let (outer, plain) = marks(raw);
            // A variable may hold several lines, each with its own marks.
            for line in self.variables.expand(plain, &locals).split('\n').filter_map(continued) {
                let (inner, text) = marks(&line);
                let is_comment = text.starts_with('#') && !text.contains('\n');
                if !(text.is_empty() || is_comment || is_unset(text)) {
                    lines.push((outer || inner, text.to_owned()));
                }
            }
        }
        self.settings.lines(lines, target)
    }
}

/// Lines of a recipe that the shell reads as one are joined by a newline behind a backslash, which is not a break.
fn continued(line: &str) -> Option<String> {
    let text = line.replace('\u{1}', "\n");
    (!text.trim().is_empty()).then_some(text)
}

/// Returns `true` if a line is nothing but a variable that nothing sets.
fn is_unset(line: &str) -> bool {
    let name = line.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')'));
    name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
}

/// Splits the marks off a line of a recipe; `true` if its failure is ignored. They may stand in any order.
fn marks(line: &str) -> (bool, &str) {
    let line = line.trim();
    let plain = line.trim_start_matches(['@', '+', '-', ' ', '\t']);
    (line[..line.len() - plain.len()].contains('-'), plain)
}

#[cfg(test)]
mod tests;
