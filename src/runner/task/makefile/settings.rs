//! The settings of a Makefile that decide what becomes of a failed line.

use super::variables::{Variables, known};
use crate::runner::task::shells::{are_plain, has_letter, names_a_shell};
use crate::runner::task::task_definition::TaskStep;

/// The special targets of a Makefile.
#[derive(Debug, Default)]
pub(super) struct Settings {
    /// The targets whose failures are ignored, or all.
    ignored: Vec<String>,
    ignores_all: bool,
    one_shell: bool,
    posix: bool,
    /// The options of the shell.
    pub(super) shell_flags: String,
}

impl Settings {
    /// Reads a special target; `false` if it is another one.
    pub(super) fn special(&mut self, target: &str, prerequisites: &[String]) -> bool {
        match target {
            ".IGNORE" if prerequisites.is_empty() => self.ignores_all = true,
            ".IGNORE" => self.ignored.extend_from_slice(prerequisites),
            ".ONESHELL" => self.one_shell = true,
            ".POSIX" => self.posix = true,
            _ => {
                return target.starts_with('.')
                    && target.bytes().skip(1).all(|byte| byte.is_ascii_uppercase() || byte == b'_')
                    && target != ".DEFAULT";
            }
        }
        true
    }

    /// Returns the lines as the shells of make run them; of each `true` if its failure is ignored.
    pub(super) fn lines(&self, lines: Vec<(bool, String)>, target: &str) -> Vec<TaskStep> {
        let ignores = self.ignores_all || self.ignored.iter().any(|name| name == target);
        let stops =
            self.posix || self.shell_flags.split_whitespace().any(|word| has_letter(word, 'e') || word == "errexit");
        let lines = if self.one_shell && lines.len() > 1 {
            let first = lines.first().is_some_and(|(ignored, _)| *ignored);
            vec![(first, lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n"))]
        } else {
            lines
        };
        let piped = self.shell_flags.contains("pipefail");
        let step = |(ignored, line): (bool, String)| {
            let is_plain = !line.contains([';', '|', '&', '\n', '(', '{']);
            let mut text = String::new();
            if stops && !is_plain {
                text.push_str("set -e\n");
            }
            if piped && line.contains('|') {
                text.push_str("set -o pipefail\n");
            }
            text.push_str(&line);
            if ignored || ignores { TaskStep::Ignored(text) } else { TaskStep::Line(text) }
        };
        lines.into_iter().map(step).collect()
    }
}

/// Returns the reason why status 0 of a target proves nothing. `own`: the variables of the target alone.
pub(super) fn doubt(variables: &Variables, own: impl Fn(&str) -> Option<String>) -> Option<String> {
    let value = |name: &str| own(name).or_else(|| variables.text(name).map(|text| variables.expand(text, &[])));
    if value("SHELL").is_some_and(|shell| !names_a_shell(&shell)) {
        return Some("the Makefile gives its recipes to a program that is no shell".to_owned());
    }
    if value(".SHELLFLAGS").is_some_and(|flags| !are_plain(&flags.split_whitespace().collect::<Vec<_>>())) {
        return Some("the shell of the Makefile does not run the recipes (.SHELLFLAGS)".to_owned());
    }
    let flags = ["MAKEFLAGS", "GNUMAKEFLAGS"].into_iter().filter_map(value).collect::<Vec<_>>().join(" ");
    let hides = |word: &&str| {
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        let letters = letters.or_else(|| Some(*word).filter(|word| word.len() < 4 && !word.contains(['=', '-'])));
        let long =
            ["--ig", "--dry", "--just-p", "--recon", "--q", "--t", "--ev"].iter().any(|one| word.starts_with(one));
        let is_number = |letters: &str| letters.starts_with(['j', 'l', 'O', 'I', 'C']);
        long && !matches!(*word, "--quiet" | "--trace")
            || letters.is_some_and(|letters| !is_number(letters) && letters.contains(['i', 'n', 'q', 't']))
            || word.starts_with("$(") && !known(word)
    };
    let found = flags.split_whitespace().find(hides)?;
    Some(format!("the Makefile sets MAKEFLAGS ({found})"))
}
