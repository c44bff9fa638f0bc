//! The table `gates/commands.toml`: the purposes of commands that check no code, and the texts that harnesses write
//! instead of output.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use regex::Regex;
use serde::Deserialize;

use crate::embedded;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandTable {
    pub(super) values: BTreeMap<String, Vec<String>>,
    pub(super) command: Vec<CommandEntry>,
    pub(super) interpreter: Vec<Interpreter>,
    pub(super) refused: Vec<RefusedCall>,
    unstarted: Vec<Unstarted>,
    missing: MissingTexts,
    pub(super) record: HarnessTable,
    pub(super) environment: Environment,
    pub(super) programs: ProgramFolders,
    idle: ProgramNames,
    brief: ProgramNames,
}

/// Names of programs.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramNames {
    names: Vec<String>,
}

/// The texts of programs that have no command of the given name.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct MissingTexts {
    has: Vec<String>,
}

/// The variables and files that a check may find in its environment and still be the same check.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Environment {
    /// Variables that do not change the findings of a check.
    pub(super) alike: Vec<String>,
    /// Variables that most environments have, and those that name the tools of a build.
    pub(super) usual: Vec<String>,
    /// Variables, each with the pattern of the values that do not change what a run tests.
    more: BTreeMap<String, String>,
    /// Variables that may choose a part of the tests.
    pub(super) narrowing: Vec<String>,
    /// Names of directories that hold the output of tools.
    pub(super) artefacts: Vec<String>,
    /// The ends of names of files that are sourced to find programs.
    pub(super) sourced: Vec<String>,
    /// The rules for such a file of the project.
    pub(super) script: EnvironmentScript,
}

/// The rules for a script that is sourced to find the programs of an environment.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EnvironmentScript {
    /// The commands that it may call.
    calls: Vec<String>,
    /// The commands that it may only call in `$( )`, for their output.
    prints: Vec<String>,
    /// The functions that it may define.
    functions: Vec<String>,
    /// The starts of names of other functions, and of variables, that are its own.
    own: Vec<String>,
    /// The variables that it may set.
    variables: Vec<String>,
    /// The variables that may only name the environment itself.
    places: Vec<String>,
    /// The variables that it may keep under another name.
    kept: Vec<String>,
    /// Patterns of whole statements that are allowed.
    statements: Vec<String>,
}

fn has(list: &[String], name: &str) -> bool {
    list.iter().any(|known| known == name)
}

impl EnvironmentScript {
    /// Returns `true` if a statement is allowed as it is.
    pub(super) fn has_statement(&self, text: &str) -> bool {
        let one =
            |pattern: &String| Regex::new(&format!("^(?:{pattern})$")).is_ok_and(|pattern| pattern.is_match(text));
        self.statements.iter().any(one)
    }

    /// Returns `true` if the script may call this command. `is_value`: its output is used as a value.
    pub(super) fn may_call(&self, name: &str, is_value: bool) -> bool {
        has(&self.calls, name) || self.may_define(name) || is_value && has(&self.prints, name)
    }

    /// Returns `true` if the script may define this function.
    pub(super) fn may_define(&self, name: &str) -> bool {
        has(&self.functions, name) || self.is_own(name)
    }

    /// Returns `true` if the script may set this variable to anything.
    pub(super) fn may_set(&self, name: &str) -> bool {
        has(&self.variables, name) || self.is_own(name)
    }

    /// Returns `true` if the script may set this variable to its environment.
    pub(super) fn leads_to_programs(&self, name: &str) -> bool {
        has(&self.places, name)
    }

    /// Returns the variable whose value another one keeps: `PATH` for `_OLD_VIRTUAL_PATH`.
    pub(super) fn kept_by<'n>(&self, name: &'n str) -> Option<&'n str> {
        let kept = name.strip_prefix("_OLD_")?;
        Some(kept.strip_prefix("VIRTUAL_").unwrap_or(kept)).filter(|kept| has(&self.kept, kept))
    }

    /// Returns `true` if the script may export or unset this variable.
    pub(super) fn may_pass(&self, name: &str) -> bool {
        self.may_set(name) || has(&self.places, name) || has(&self.kept, name) || self.kept_by(name).is_some()
    }

    /// Returns `true` if the script may work otherwise when the line has given this name a meaning of its own.
    pub(super) fn uses(&self, name: &str) -> bool {
        let is_kept = has(&self.kept, name) && name != "PATH";
        self.may_call(name, true)
            || has(&self.places, name)
            || is_kept
            || self.kept_by(name).is_some()
            || self
                .statements
                .iter()
                .any(|statement| statement.split(|c: char| !c.is_alphanumeric()).any(|word| word == name))
    }

    fn is_own(&self, name: &str) -> bool {
        self.own.iter().any(|start| name.starts_with(start.as_str()))
    }
}

impl Environment {
    /// Returns `true` if this variable does not change what a run tests.
    pub(super) fn is_indifferent(&self, name: &str, value: &str) -> bool {
        let pattern = self.more.get(name).map(|pattern| Regex::new(&format!("^(?:{pattern})?$")));
        pattern.is_some_and(|pattern| pattern.is_ok_and(|pattern| pattern.is_match(value)))
    }
}

/// The folders in which programs are installed.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProgramFolders {
    /// Their usual names.
    names: Vec<String>,
    /// The starts of their paths.
    below: Vec<String>,
    /// The starts of paths of temporary files.
    temporary: Vec<String>,
}

impl ProgramFolders {
    /// Returns `true` if an installer would put programs into this folder.
    pub(super) fn has(&self, folder: &str) -> bool {
        let folder = folder.trim_end_matches('/');
        let is_below = |start: &String| {
            folder.strip_prefix(start.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let begins = |starts: &[String]| starts.iter().any(is_below);
        let is_named = folder.rsplit('/').next().is_some_and(|name| self.names.iter().any(|known| known == name));
        is_named || begins(&self.below) || folder.contains("/.") && !begins(&self.temporary)
    }
}

/// The tools that print nothing, and the texts of the harnesses that record them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HarnessTable {
    /// Runners that print nothing unless they fail.
    pub(super) silent: Vec<String>,
    /// Beginnings of the lines with which task runners name what they start.
    pub(super) banners: Vec<String>,
    /// The texts that harnesses write in the place of an empty output.
    pub(super) placeholders: Vec<String>,
    /// Runners whose closing lines go to standard error.
    pub(super) on_stderr: Vec<String>,
    /// Lines that stand for omitted lines.
    pub(super) elisions: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct CommandEntry {
    pub(super) names: Vec<String>,
    pub(super) words: Vec<String>,
    pub(super) options: Vec<String>,
    pub(super) kinds: Vec<String>,
    pub(super) edits: bool,
    pub(super) paths: Option<Paths>,
    pub(super) elsewhere: Option<String>,
    pub(super) prints: Prints,
}

/// The arguments of a command that are files which it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Paths {
    All,
    Last,
    /// All except the first one, which is a script.
    Rest,
}

/// The texts that a command can print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Prints {
    /// Its own messages.
    #[default]
    Own,
    /// Its arguments.
    Words,
    /// The files or revisions named in its arguments.
    Files,
    /// Texts from elsewhere.
    Anything,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Interpreter {
    pub(super) names: Vec<String>,
    pub(super) inline: Vec<String>,
    writes: Vec<String>,
    idle: Vec<String>,
    #[serde(skip)]
    compiled: OnceLock<Vec<Regex>>,
}

impl Interpreter {
    /// Returns `true` if no statement of a script can fail or looks at anything.
    pub(super) fn idles(&self, script: &str) -> bool {
        let statements = script.split([';', '\n']).map(str::trim).filter(|text| !text.is_empty());
        let mut statements = statements.peekable();
        let idle = Regex::new(&format!("^(?:{})$", self.idle.join("|"))).ok();
        statements.peek().is_some() && idle.is_some_and(|idle| statements.all(|statement| idle.is_match(statement)))
    }

    /// Returns `true` if a script looks as if it writes files.
    pub(super) fn writes(&self, script: &str) -> bool {
        let compiled = self.compiled.get_or_init(|| self.writes.iter().filter_map(|is| Regex::new(is).ok()).collect());
        compiled.iter().any(|pattern| pattern.is_match(script))
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RefusedCall {
    pub(super) says: HarnessAnswer,
    starts: Vec<String>,
    contains: Vec<String>,
}

/// The message of a program that could not start another one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unstarted {
    /// The programs that print it.
    by: Vec<String>,
    /// Texts of which every such line contains at least one.
    has: Vec<String>,
    /// The pattern of the line. Its group `name` is the program that could not be started.
    is: String,
    #[serde(skip)]
    compiled: OnceLock<Option<Regex>>,
}

/// The text of a harness about a call, instead of its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum HarnessAnswer {
    /// The call did not run.
    Rejected,
    /// The call continues in the background.
    Background,
}

pub(super) fn table() -> &'static CommandTable {
    static TABLE: OnceLock<CommandTable> = OnceLock::new();
    TABLE.get_or_init(|| embedded::table("commands.toml"))
}

impl CommandTable {
    /// Returns the text of a harness in the place of an output. Only the beginning is read: logs contain logs.
    pub(super) fn harness_says(&self, output: &str) -> Option<HarnessAnswer> {
        let start: String = output.trim_start().chars().take(400).collect();
        let first = start.lines().next().unwrap_or_default();
        let found = self.refused.iter().find(|refused| {
            refused.starts.iter().any(|text| start.starts_with(text.as_str()))
                || refused.contains.iter().any(|text| first.contains(text.as_str()))
        });
        found.map(|refused| refused.says)
    }

    /// Returns an output without the additions of harnesses: the status, and a word for nothing.
    pub(super) fn bare<'a>(&self, output: &'a str) -> &'a str {
        let rest = match output.split_once('\n') {
            Some((first, rest)) if first.starts_with("Exit code ") => rest,
            _ => output,
        };
        if self.record.placeholders.iter().any(|text| text == rest.trim()) { "" } else { rest }
    }

    /// Returns the programs of which one reports in this line that it could not start another one, and the name of that
    /// one if it is given.
    pub(super) fn unstarted<'a>(&self, line: &'a str) -> Option<(&[String], Option<&'a str>)> {
        let has = |entry: &&Unstarted| entry.has.iter().any(|text| line.contains(text.as_str()));
        self.unstarted.iter().filter(has).find_map(|entry| {
            let pattern = entry.compiled.get_or_init(|| Regex::new(&entry.is).ok()).as_ref()?;
            let found = pattern.captures(line)?;
            Some((entry.by.as_slice(), found.name("name").map(|name| name.as_str())))
        })
    }

    /// Returns the first line of an output that says that there is no such program, subcommand, script or task.
    pub(super) fn missing<'a>(&self, output: &'a str) -> Option<&'a str> {
        let says = |line: &&str| {
            let line = line.to_lowercase();
            self.missing.has.iter().any(|text| line.contains(text.as_str()))
        };
        output.lines().find(says)
    }

    /// Returns the number of lines of an output, blank ones among them included, or `None` if lines in the middle of it are
    /// missing.
    pub(super) fn visible_lines(&self, output: &str) -> Option<usize> {
        let mut lines = output.trim_end().lines().map(str::trim);
        let count = lines.clone().count();
        (!lines.any(|line| self.record.elisions.iter().any(|text| text == line))).then_some(count)
    }

    /// Returns the interpreter of this name.
    pub(super) fn interpreter(&self, name: &str) -> Option<&Interpreter> {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        self.interpreter.iter().find(|entry| entry.names.iter().any(|known| known == name || known == stem))
    }

    /// Returns `true` for a program whose status says nothing about any file.
    pub(super) fn is_idle(&self, name: &str) -> bool {
        self.idle.names.iter().any(|known| known == name)
    }

    /// Returns `true` for a program that prepares a check and ends soon.
    pub(super) fn is_brief(&self, name: &str) -> bool {
        self.brief.names.iter().any(|known| known == name)
    }

    /// Returns the first entry that matches a command.
    pub(super) fn command(&self, name: &str, args: &[Option<String>]) -> Option<&CommandEntry> {
        let values = self.values.get(name).map(Vec::as_slice).unwrap_or_default();
        let mut words: Vec<&str> = Vec::new();
        let mut skip = false;
        for arg in args {
            let text = arg.as_deref().unwrap_or("\u{0}");
            if std::mem::take(&mut skip) {
                continue;
            }
            if text.starts_with('-') {
                skip = values.iter().any(|value| value == text);
            } else {
                words.push(text);
            }
        }
        self.command.iter().find(|entry| {
            entry.names.iter().any(|known| known == name)
                && entry.words.len() <= words.len()
                && entry
                    .words
                    .iter()
                    .zip(&words)
                    .all(|(wanted, word)| wanted.split('|').any(|wanted| fits(wanted, word)))
                && (entry.options.is_empty()
                    || args.iter().flatten().any(|arg| {
                        let option = arg.split_once('=').map_or(arg.as_str(), |(option, _)| option);
                        entry.options.iter().any(|wanted| wanted == arg || fits(wanted, option))
                    }))
        })
    }
}

/// Matches a word against a pattern in which `*` stands for any text.
fn fits(wanted: &str, word: &str) -> bool {
    let mut parts = wanted.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = word.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        let table = table();
        for interpreter in &table.interpreter {
            assert!(interpreter.writes.iter().all(|pattern| Regex::new(pattern).is_ok()));
        }
        assert!(table.unstarted.iter().all(|entry| Regex::new(&entry.is).is_ok()));
        for pattern in table.environment.more.values() {
            Regex::new(pattern).unwrap();
        }
    }

    #[test]
    fn patterns() {
        for (wanted, word, fit) in [
            ("push", "push", true),
            ("push", "pushes", false),
            ("*", "x", true),
            ("*/actions/*", "repos/a/b/actions/runs", true),
            ("*/actions/*", "repos/a/b/pulls", false),
            ("*/commits/*/status*", "repos/a/commits/abc/statuses", true),
        ] {
            assert_eq!(fits(wanted, word), fit, "{wanted} {word}");
        }
    }
}
