//! The rules of Makefiles and justfiles.

use std::collections::{BTreeMap, BTreeSet};

use super::Format;
use super::task_definition::{Task, TaskStep};

/// The rules of a Makefile or a justfile.
pub(super) struct MakeRules {
    make: bool,
    text: String,
    /// The names that have a rule.
    targets: BTreeSet<String>,
    /// The variables that are plain text.
    variables: BTreeMap<String, String>,
}

/// Returns the first target of a line that begins a rule which runs if none is named.
fn first_target(line: &str) -> Option<&str> {
    let is_rule = |(targets, rest): &(&str, &str)| !rest.starts_with('=') && !targets.contains('=');
    let (targets, _) = line.split_once(':').filter(is_rule)?;
    let target = targets.split_whitespace().next()?.trim_start_matches('@');
    (!target.starts_with(['.', '[']) && !target.contains('%') && target != "set").then_some(target)
}

/// Returns `true` if a line of a Makefile that begins with this word may stand for rules that are not in the file.
fn may_hold_rules(word: &str) -> bool {
    let prints = ["$(info", "$(warning", "$(error", "$(shell"].contains(&word);
    matches!(word, "include" | "-include" | "sinclude" | "load" | "-load")
        || word.starts_with(['$']) && !prints && !word.contains([':', '='])
}

/// The target that `make` runs if none is named.
enum DefaultGoal<'m> {
    /// The first one of the file.
    First,
    /// The one that the file names.
    Named(&'m str),
    /// The file names one in a way that is not read.
    Unknown,
}

impl MakeRules {
    /// Reads the rules of a file.
    pub(super) fn new(text: &str, format: Format) -> Self {
        let make = format == Format::Makefile;
        let text = text.replace("\\\r\n", " ").replace("\\\n", " ");
        let mut targets = BTreeSet::new();
        let own = make.then(|| ("MAKE".to_owned(), "make".to_owned()));
        let mut variables: BTreeMap<String, String> = own.into_iter().collect();
        for line in text.lines().filter(|line| !line.starts_with(['\t', ' ', '#', '.'])) {
            if let Some((names, _)) = line.split_once(':').filter(|(_, rest)| !rest.starts_with('=')) {
                targets.extend(names.split_whitespace().map(|name| name.trim_start_matches('@').to_owned()));
            }
            variables.extend(variable(line, make));
        }
        Self { make, text, targets, variables }
    }

    /// Returns the target that runs if none is named, or `None` if this file does not say it.
    pub(super) fn default_target(&self) -> Option<&str> {
        match self.default_goal() {
            DefaultGoal::First => {}
            DefaultGoal::Named(goal) => return Some(goal),
            DefaultGoal::Unknown => return None,
        }
        // The first target may be in another file, or in a part of this one that counts only sometimes.
        let (mut conditions, mut in_definition) = (0_usize, false);
        for line in self.text.lines().filter(|line| !line.starts_with(['\t', '#'])) {
            let line = if self.make { line.trim_start() } else { line };
            let word = line.split_whitespace().next().unwrap_or_default();
            match word {
                "endef" => in_definition = false,
                _ if in_definition || line.starts_with([' ', '#']) => continue,
                "define" | "override" if self.make => in_definition = line.contains("define"),
                "ifeq" | "ifneq" | "ifdef" | "ifndef" if self.make => conditions += 1,
                "endif" => conditions = conditions.saturating_sub(1),
                _ if self.make && may_hold_rules(word) => return None,
                _ => {}
            }
            if let Some(target) = first_target(line) {
                return Some(target).filter(|target| conditions == 0 && !target.contains('$'));
            }
        }
        None
    }

    /// Reads `.DEFAULT_GOAL`.
    fn default_goal(&self) -> DefaultGoal<'_> {
        const GOAL: &str = ".DEFAULT_GOAL";
        let sets = |line: &&str| !line.trim_start().starts_with('#') && line.contains(GOAL) && line.contains('=');
        let mut lines = self.text.lines().filter(|_| self.make).filter(sets);
        let Some(line) = lines.next() else { return DefaultGoal::First };
        let value = line.strip_prefix(GOAL).and_then(|rest| rest.split_once('=')).map(|(_, value)| value.trim());
        let is_plain = |value: &&str| !value.contains(['$', ' ', '#']);
        let named = value.filter(is_plain).filter(|_| lines.next().is_none());
        named.map_or(DefaultGoal::Unknown, DefaultGoal::Named)
    }

    /// Returns the rule of a target.
    pub(super) fn rule(&self, name: &str) -> Option<Task> {
        let mut task: Option<Task> = None;
        let mut inside = false;
        for line in self.text.lines() {
            let indented = line.starts_with(['\t', ' ']);
            if inside && indented && !line.trim().is_empty() {
                let task = task.as_mut()?;
                task.steps.extend(self.recipe_line(line, name));
                continue;
            }
            if indented || line.starts_with('#') || line.trim().is_empty() {
                continue;
            }
            inside = false;
            let Some((targets, rest)) = line.split_once(':').filter(|(_, rest)| !rest.starts_with('=')) else {
                continue;
            };
            let mut targets = targets.split_whitespace().map(|target| target.trim_start_matches('@'));
            let mine = if self.make {
                targets.any(|target| target == name)
            } else {
                // In a justfile the words after the name are its parameters.
                targets.next() == Some(name)
            };
            if !mine {
                continue;
            }
            inside = true;
            let (rest, inline) = match rest.split_once(';').filter(|_| self.make) {
                Some((rest, line)) => (rest, Some(line)),
                None => (rest, None),
            };
            let rest = rest.trim_start_matches(':').split('#').next().unwrap_or_default();
            let task = task.get_or_insert_default();
            // Files are prerequisites, too; they have no rule that matters here.
            let words = rest.split_whitespace().take_while(|word| *word != "|" && *word != "&&");
            let (tasks, other): (Vec<_>, Vec<_>) =
                words.map(|word| word.trim_matches(['(', ')'])).partition(|word| self.targets.contains(*word));
            task.depends.extend(tasks.into_iter().map(str::to_owned));
            task.needs_files |= !other.is_empty();
            task.steps.extend(inline.and_then(|line| self.recipe_line(line, name)));
        }
        task
    }

    /// Returns a line of the recipe for `target` without the marks for the task runner.
    fn recipe_line(&self, line: &str, target: &str) -> Option<TaskStep> {
        // `@`, `+` and `-` may stand in any order.
        let line = line.trim();
        let plain = line.trim_start_matches(['@', '+', '-', ' ', '\t']);
        let mut text = self.without_unset(&self.substituted(plain.trim_end()));
        if self.make && !text.contains("$$") {
            text = text.replace("$@", target);
        }
        if line[..line.len() - plain.len()].contains('-') {
            // Its failure is ignored, so that it proves nothing.
            text.push_str(" || true");
        }
        (!text.is_empty() && !text.starts_with('#')).then_some(TaskStep::Line(text))
    }

    /// Returns the line without variables that nothing sets: names in small letters, which neither the file nor make
    /// knows, in a file that includes no other.
    fn without_unset(&self, line: &str) -> String {
        let includes =
            |line: &str| line.trim_start_matches(['-', 's']).starts_with("include ") || line.contains("$(eval");
        if !self.make || !line.contains('$') || self.text.lines().any(includes) {
            return line.to_owned();
        }
        let is_set = |name: &str| {
            self.text.lines().any(|line| {
                let line = line.trim_start();
                let is_command =
                    ["export ", "override ", "define ", "unexport "].iter().any(|word| line.starts_with(word));
                let left = line.split_once(['=', ':']).map_or(line, |(left, _)| left);
                (is_command || line.contains('='))
                    && left.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name)
            })
        };
        let mut out = line.to_owned();
        for (open, close) in [("$(", ')'), ("${", '}')] {
            let names: Vec<String> = line
                .match_indices(open)
                .filter(|(at, _)| !line[..*at].ends_with('$'))
                .filter_map(|(at, _)| line[at + 2..].split_once(close).map(|(name, _)| name.to_owned()))
                .filter(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'))
                .filter(|name| !is_set(name))
                .collect();
            for name in names {
                out = out.replace(&format!("{open}{name}{close}"), "");
            }
        }
        out.trim_end().to_owned()
    }

    /// Returns the line with the values of the known variables, each substituted once.
    fn substituted(&self, line: &str) -> String {
        let mut out = String::with_capacity(line.len());
        let mut rest = line;
        while let Some(at) = rest.find(['$', '{']) {
            let (before, from) = rest.split_at(at);
            out.push_str(before);
            let form = [("$(", ")"), ("${", "}"), ("{{", "}}")].iter().find_map(|(open, close)| {
                let (name, after) = from.strip_prefix(open)?.split_once(close)?;
                Some((self.variables.get(name.trim())?, after))
            });
            match form {
                Some((value, after)) => {
                    out.push_str(value);
                    rest = after;
                }
                None => {
                    let (one, after) = from.split_at(1);
                    out.push_str(one);
                    rest = after;
                }
            }
        }
        out.push_str(rest);
        out
    }
}

/// Reads a line that gives a variable a plain text as its value.
fn variable(line: &str, make: bool) -> Option<(String, String)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!']).trim().trim_start_matches("export ").trim();
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    let value = if make { value.trim() } else { value.trim().trim_matches(['"', '\'']) };
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

/// Returns `true` if a Makefile gives its recipes to a program that ignores them, or to a shell that only reads them.
pub(super) fn executes_nothing(text: &str) -> bool {
    text.lines().any(sets_inert_shell)
}

/// Returns `true` if a line of a Makefile sets such a shell, for all targets or for one.
fn sets_inert_shell(line: &str) -> bool {
    let Some((left, value)) = line.split_once('=').filter(|_| !line.starts_with(['\t', '#'])) else { return false };
    let value = value.split('#').next().unwrap_or_default();
    let name = left.trim_end().trim_end_matches([':', '?', '+', '!']);
    match name.rsplit([' ', '\t', ':']).find(|word| !word.is_empty()).unwrap_or_default() {
        "SHELL" => !names_a_shell(value),
        ".SHELLFLAGS" => value.split_whitespace().any(only_reads),
        _ => false,
    }
}

/// Returns `true` if the program that a value names is a shell; of a value with a variable, any part of it.
fn names_a_shell(value: &str) -> bool {
    const SHELLS: [&str; 12] =
        ["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "busybox", "fish", "cmd", "pwsh", "powershell"];
    let is_shell = |name: &str| {
        let name = name.to_ascii_lowercase();
        SHELLS.contains(&name.strip_suffix(".exe").unwrap_or(&name))
    };
    if value.contains('$') {
        return value.split(|c: char| !(c.is_alphanumeric() || c == '.')).any(is_shell);
    }
    let name = |path: &str| path.rsplit(['/', '\\']).next().map(str::to_owned).unwrap_or_default();
    let mut words = value.trim().trim_matches('"').split_whitespace().map(name);
    words
        .find(|word| word != "env" && !word.starts_with('-') && !word.contains('='))
        .is_some_and(|name| is_shell(&name))
}

/// Returns `true` if an option of a shell makes it read commands without running them.
fn only_reads(option: &str) -> bool {
    let letters = option.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
    option == "noexec" || letters.is_some_and(|letters| letters.contains('n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_goal_is_the_first_rule_that_always_counts() {
        for (text, expected) in [
            ("X = http://a\nexport Y = 1\n.PHONY: test\ntest:\n\tgo test ./...\n", Some("test")),
            ("ifeq ($(OS),Windows_NT)\n  X = a\nelse\n  X = b\nendif\n$(info a)\ntest:\n\tx\n", Some("test")),
            ("define HELP\nbuild:\nendef\ntest:\n\tx\n", Some("test")),
            ("ifdef X\ntest:\n\tx\nendif\nall:\n\ty\n", None),
            ("ifeq (1,1)\n  test:\n\tx\nendif\n", None),
            ("  include a.mk\ntest:\n\tx\n", None),
            ("$(eval $(call rules))\ntest:\n\tx\n", None),
            ("$(TARGETS):\n\tx\ntest:\n\tx\n", None),
        ] {
            assert_eq!(MakeRules::new(text, Format::Makefile).default_target(), expected, "{text}");
        }
    }

    #[test]
    fn a_shell_that_executes_nothing_is_found() {
        for (line, expected) in [
            ("SHELL = /bin/true", true),
            ("SHELL = /usr/bin/env true", true),
            ("SHELL := env -S true", true),
            ("test: SHELL = true", true),
            ("export SHELL=echo # bash", true),
            (".SHELLFLAGS = -nc", true),
            ("test: .SHELLFLAGS = -o noexec -c", true),
            ("SHELL = /bin/bash", false),
            ("SHELL := /usr/bin/env -S bash -o pipefail", false),
            ("SHELL = $(shell which bash)", false),
            ("SHELL := C:\\Windows\\cmd.exe", false),
            ("\tSHELL=/bin/true pytest", false),
            ("MY_SHELL = true", false),
            (".SHELLFLAGS := -eu -o pipefail -c", false),
        ] {
            assert_eq!(executes_nothing(line), expected, "{line}");
        }
    }
}
