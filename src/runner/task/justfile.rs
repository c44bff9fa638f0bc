//! The recipes of a justfile.

use std::collections::{BTreeMap, BTreeSet};

use super::task_definition::{Task, TaskStep};
use crate::runner::ProjectFiles;

/// The recipes of a justfile and of those that it imports.
pub(super) struct Justfile {
    text: String,
    /// The variables that are plain text.
    variables: BTreeMap<String, String>,
}

impl Justfile {
    /// Reads the recipes of a file.
    pub(super) fn read(text: &str, files: &dyn ProjectFiles) -> Self {
        let text = imported(text, files, &mut BTreeSet::new()).replace("\\\r\n", " ").replace("\\\n", " ");
        let variables = text.lines().filter(|line| !line.starts_with(['\t', ' ', '#'])).filter_map(variable).collect();
        Self { text, variables }
    }

    /// Returns the recipe that runs if none is named.
    pub(super) fn default_target(&self) -> Option<String> {
        self.text.lines().filter(|line| !line.starts_with(['\t', ' ', '#', '['])).find_map(header).map(str::to_owned)
    }

    /// Returns what a recipe runs, or `None` if there is none of this name.
    pub(super) fn task(&self, name: &str) -> Option<Task> {
        let is_alias = |line: &str| {
            line.strip_prefix("alias ")
                .and_then(|rest| rest.split_once(":="))
                .filter(|(alias, _)| alias.trim() == name)
                .map(|(_, of)| of.trim().to_owned())
        };
        if let Some(meant) = self.text.lines().find_map(is_alias) {
            return Some(Task { depends: vec![meant], ..Task::default() });
        }
        let mut found: Option<Task> = None;
        let mut lines = self.text.lines().peekable();
        let mut attributes = Vec::new();
        while let Some(line) = lines.next() {
            if line.starts_with('[') {
                attributes.push(line);
                continue;
            }
            let mine = header(line) == Some(name);
            if !line.starts_with(['\t', ' ', '#']) && !mine {
                attributes.clear();
            }
            if !mine {
                continue;
            }
            let is_script = attributes.iter().any(|line| line.contains("script"));
            let other_system = if cfg!(windows) { "[unix]" } else { "[windows]" };
            let elsewhere = attributes.iter().any(|line| line.starts_with(other_system));
            attributes.clear();
            let mut body: Vec<&str> = Vec::new();
            while let Some(next) = lines.next_if(|next| next.starts_with(['\t', ' ']) || next.trim().is_empty()) {
                body.push(next.trim());
            }
            if !elsewhere {
                found = Some(self.recipe(line, &body, is_script));
            }
        }
        found.map(|task| Task { doubt: self.doubt(), ..task })
    }

    fn recipe(&self, header: &str, body: &[&str], is_script: bool) -> Task {
        let rest = header.split_once(':').map_or("", |(_, rest)| rest);
        let words = rest.split('#').next().unwrap_or_default().replace(['(', ')'], " ");
        let named = |word: &&str| self.text.lines().any(|line| self::header(line) == Some(*word));
        let before = words.split("&&").next().unwrap_or_default();
        let after = words.split_once("&&").map_or("", |(_, after)| after);
        let tasks = |text: &str| text.split_whitespace().filter(named).map(str::to_owned).collect::<Vec<_>>();
        let body: Vec<&str> = body.iter().copied().filter(|line| !line.is_empty()).collect();
        let shebang = body.first().and_then(|line| line.strip_prefix("#!"));
        let mut steps = match shebang {
            None if !is_script => body.iter().filter_map(|line| self.line(line)).collect(),
            _ => vec![self.script(shebang, &body)],
        };
        steps.extend(tasks(after).into_iter().map(TaskStep::Task));
        Task { depends: tasks(before), steps, ..Task::default() }
    }

    /// Returns the step of a recipe that is one script.
    fn script(&self, shebang: Option<&str>, body: &[&str]) -> TaskStep {
        let program = shebang.unwrap_or("sh").trim();
        let mut words = program.split_whitespace().skip_while(|word| word.ends_with("env") || *word == "-S");
        let name = words.next().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
        if !matches!(name, "sh" | "bash" | "dash" | "zsh" | "ash" | "ksh") {
            return TaskStep::Line(format!("{program} recipe"));
        }
        let options: String =
            words.filter(|word| word.starts_with('-')).flat_map(|word| ["set ", word, "\n"]).collect();
        TaskStep::Line(options + &self.substituted(&body.join("\n")))
    }

    /// Returns a line of a recipe without its marks.
    fn line(&self, line: &str) -> Option<TaskStep> {
        let plain = line.trim_start_matches(['@', '-', ' ']);
        let text = self.substituted(plain.trim_end());
        let ignored = line[..line.len() - plain.len()].contains('-');
        // just does not tell of a failure that it ignores.
        let text = if ignored { format!("{text} || true") } else { text };
        (!plain.is_empty() && !plain.starts_with('#')).then_some(TaskStep::Line(text))
    }

    /// Returns the reason why status 0 of a recipe proves nothing.
    fn doubt(&self) -> Option<String> {
        let shell = self
            .text
            .lines()
            .find_map(|line| line.strip_prefix("set shell")?.split_once(":=").map(|(_, list)| list))?;
        let words: Vec<&str> = shell.split(['[', ']', ',', '"', '\'', ' ']).filter(|word| !word.is_empty()).collect();
        let (program, options) = words.split_first()?;
        (!super::shells::runs_lines(program, options))
            .then(|| "the justfile gives its recipes to a program that does not run them (set shell)".to_owned())
    }

    /// Returns the line with the values of the known variables.
    fn substituted(&self, line: &str) -> String {
        let mut out = String::with_capacity(line.len());
        let mut rest = line;
        while let Some((before, from)) = rest.split_once("{{") {
            out.push_str(before);
            let value = from.split_once("}}").and_then(|(name, after)| Some((self.variables.get(name.trim())?, after)));
            match value {
                Some((value, after)) => {
                    out.push_str(value);
                    rest = after;
                }
                None => {
                    out.push_str("{{");
                    rest = from;
                }
            }
        }
        out + rest
    }
}

/// Returns a text in which the first `import` of each file is replaced by the file.
fn imported(text: &str, files: &dyn ProjectFiles, seen: &mut BTreeSet<String>) -> String {
    if !text.contains("import") {
        return text.to_owned();
    }
    let lines = text.lines().map(|line| imported_file(line, files, seen).unwrap_or_else(|| line.to_owned()));
    lines.collect::<Vec<_>>().join("\n")
}

fn imported_file(line: &str, files: &dyn ProjectFiles, seen: &mut BTreeSet<String>) -> Option<String> {
    let path = line.strip_prefix("import")?.trim_start_matches('?').trim().trim_matches(['"', '\'']);
    let path = path.strip_prefix("./").unwrap_or(path);
    let text = files.read(path).filter(|_| seen.insert(path.to_owned()))?;
    Some(imported(&text, files, seen))
}

/// Returns the name of the recipe that a line begins.
fn header(line: &str) -> Option<&str> {
    let (head, _) = line.split_once(':').filter(|(_, rest)| !rest.starts_with('='))?;
    let name = head.split_whitespace().next()?.trim_start_matches('@');
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    (is_name
        && !name.is_empty()
        && !line.starts_with(['\t', ' ', '#', '['])
        && !matches!(name, "set" | "alias" | "mod" | "export"))
    .then_some(name)
}

/// Reads a line that gives a variable a plain text as its value.
fn variable(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(":=")?;
    let name = name.trim().trim_start_matches("export ").trim();
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    let value = value.trim().trim_matches(['"', '\'']);
    let usable = plain && !name.is_empty() && !value.contains(['$', '{']) && value.len() < 1024;
    usable.then(|| (name.to_owned(), value.to_owned()))
}

/// Returns the words behind recipes of a justfile if they are recipes, too, because none of all these has parameters.
pub(super) fn more_recipes(text: &str, names: &[String], words: &[Option<String>]) -> Option<Vec<String>> {
    let has_no_parameters = |name: &String| text.lines().any(|line| is_bare_header(line, name));
    let words: Vec<String> = words.iter().cloned().collect::<Option<_>>()?;
    (!words.is_empty() && names.iter().chain(&words).all(has_no_parameters)).then_some(words)
}

/// Returns `true` if a line of a justfile begins the recipe `name`, which has no parameters.
fn is_bare_header(line: &str, name: &str) -> bool {
    let rest = line.strip_prefix('@').unwrap_or(line).strip_prefix(name);
    rest.is_some_and(|rest| rest.starts_with(':') && !rest.starts_with(":="))
}
