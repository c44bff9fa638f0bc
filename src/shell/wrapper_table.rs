//! The table of wrappers (`gates/wrappers.toml`): the form of each, and the place of the inner command in its words.

use std::sync::OnceLock;

use serde::Deserialize;

use super::container::ContainerWords;
use super::expanded_program::{Arg, Passes};
use crate::embedded;
use crate::shell::inner_command::{InnerCommand, Unwrapped, is_assignment, is_needed, join, plain};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrappersFile {
    inert: Vec<String>,
    processors: Vec<String>,
    installed: Vec<String>,
    wrapper: Vec<Wrapper>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "independent keys of a table")]
struct Wrapper {
    names: Vec<String>,
    subcommands: Vec<String>,
    optional: Vec<String>,
    values: Vec<String>,
    narrows: Vec<String>,
    directory: Vec<String>,
    operands: i8,
    assignments: bool,
    unsets: Vec<String>,
    command: Vec<String>,
    module: Vec<String>,
    script: Vec<String>,
    script_rest: Vec<String>,
    shell: bool,
    inert: Vec<String>,
    excused: Vec<String>,
    detached: Vec<String>,
    passes: Passes,
    honest: Vec<String>,
    appends: bool,
    remote: bool,
    strip_version: bool,
    alike: bool,
    neutral: Vec<String>,
    tasks: Vec<String>,
    joined: Vec<String>,
    mounts: bool,
    separated: bool,
    hushes: bool,
}

/// Returns the names of all wrappers.
pub fn wrapper_names() -> impl Iterator<Item = &'static str> {
    wrappers().iter().flat_map(|wrapper| wrapper.names.iter().map(String::as_str))
}

/// Returns the command after the wrapper `name` that `argv` begins with, if the table has it.
pub(super) fn remove(name: &str, argv: &[Arg]) -> Option<Unwrapped> {
    let mut of_that_name = wrappers().iter().filter(|wrapper| wrapper.names.iter().any(|known| known == name));
    of_that_name.find_map(|wrapper| wrapper.apply(name, argv))
}

/// Returns the options of a wrapper that take the next word as their value.
pub(crate) fn wrapper_values(name: &str) -> &'static [String] {
    let named = wrappers().iter().find(|wrapper| wrapper.names.iter().any(|known| known == name));
    named.map_or(&[], |wrapper| &wrapper.values)
}

/// Returns `true` if a wrapper shows the output of its command only when that fails.
pub fn hides_success(name: &str) -> bool {
    wrappers().iter().any(|wrapper| wrapper.hushes && wrapper.names.iter().any(|known| known == name))
}

fn file() -> &'static WrappersFile {
    static TABLE: OnceLock<WrappersFile> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut file: WrappersFile = embedded::table("wrappers.toml");
        for entry in &mut file.wrapper {
            let own = [&entry.values, &entry.neutral, &entry.script, &entry.command, &entry.script_rest];
            let free = |option: &&String| !own.iter().any(|list| list.contains(option));
            let more: Vec<String> = file.inert.iter().filter(free).cloned().collect();
            entry.inert.extend(more);
        }
        file
    })
}

fn wrappers() -> &'static [Wrapper] {
    &file().wrapper
}

/// Returns the commands that print the number of processors.
pub(super) fn processor_counts() -> &'static [String] {
    &file().processors
}

/// Returns the commands that print a folder of installed programs.
pub(super) fn installed_folders() -> &'static [String] {
    &file().installed
}

impl Wrapper {
    fn apply(&self, name: &str, argv: &[Arg]) -> Option<Unwrapped> {
        let mut found = self.unwrapped(name, argv)?;
        let inner = match &found.inner {
            InnerCommand::Argv(inner) => inner.len(),
            _ => 0,
        };
        let mut own = argv[1..argv.len().saturating_sub(inner)].to_vec();
        if let InnerCommand::Argv(inner) = &mut found.inner
            && found.module
        {
            own.pop();
            inner.splice(..0, ["python", "-m"].map(Arg::new));
        }
        for word in found.wrapper.split(' ').skip(1) {
            let at = own.iter().position(|arg| arg.literal() == Some(word));
            at.map(|at| own.remove(at));
        }
        if self.assignments {
            let (assigned, rest): (Vec<Arg>, Vec<Arg>) = own.into_iter().partition(|arg| is_assignment(&arg.text));
            own = rest;
            found.assigned = assigned.iter().filter_map(assignment).collect();
        }
        found.withheld = self.removed_variables(&mut own);
        if self.mounts
            && let Some(words) = ContainerWords::read(&own, &self.values)
            && let Some(folder) = words.folder_here()
        {
            found.remote = false;
            found.directory = Some(Arg::new(folder));
            found.assigned.extend(words.assigned);
            found.settings = Some(words.settings);
            return Some(found);
        }
        found.settings = (!self.alike).then(|| self.telling(own));
        Some(found)
    }

    /// Takes the options that remove variables out of its own words, and returns the names of these variables.
    fn removed_variables(&self, own: &mut Vec<Arg>) -> Vec<String> {
        let mut names = Vec::new();
        let mut words = std::mem::take(own).into_iter().peekable();
        while let Some(arg) = words.next() {
            let text = arg.literal().unwrap_or_default();
            let attached = self.unsets.iter().find_map(|option| {
                let rest = text.strip_prefix(option.as_str())?;
                if option.starts_with("--") {
                    rest.strip_prefix('=')
                } else {
                    Some(rest).filter(|rest| !rest.is_empty())
                }
            });
            let name = match attached {
                Some(name) => Some(name.to_owned()),
                None if self.unsets.iter().any(|option| option == text) => {
                    words.peek().and_then(Arg::literal).map(str::to_owned)
                }
                None => None,
            };
            match name.filter(|name| !is_needed(name)) {
                Some(name) => {
                    if attached.is_none() {
                        words.next();
                    }
                    names.push(name);
                }
                None => own.push(arg),
            }
        }
        names
    }

    /// Returns its own words without those that do not change the inner command, and without their values.
    fn telling(&self, own: Vec<Arg>) -> Vec<Arg> {
        let mut own = own.into_iter();
        let mut found = Vec::new();
        while let Some(arg) = own.next() {
            let (option, value) =
                arg.text.split_once('=').map_or((&*arg.text, None), |(name, text)| (name, Some(text)));
            let is = |list: &[String]| list.iter().any(|entry| entry == option);
            let begins = |entry: &String| entry.strip_suffix('*').is_some_and(|start| option.starts_with(start));
            if is(&self.neutral) || self.neutral.iter().any(begins) {
                if value.is_none() && (is(&self.values) || is(&self.script)) {
                    own.next();
                }
            } else if arg.literal() != Some("--") {
                found.push(arg);
            }
        }
        found
    }

    /// Returns several commands of the program, as a script that runs them in turn; `None` if a word of them is
    /// unknown.
    fn in_turn(&self, name: &str, words: &[Arg]) -> Option<String> {
        let mut script = format!("{name} ");
        for arg in words {
            let word = arg.literal()?;
            let end = self.joined.iter().find_map(|joint| word.strip_suffix(joint.as_str()));
            let word = end.unwrap_or(word);
            if !word.is_empty() {
                script.extend(["'", word.replace('\'', r"'\''").as_str(), "' "]);
            }
            if end.is_some() {
                script.extend(["&& ", name, " "]);
            }
        }
        Some(script)
    }

    fn unwrapped(&self, name: &str, argv: &[Arg]) -> Option<Unwrapped> {
        let mut found = plain(name, InnerCommand::Argv(Vec::new()));
        found.passes = self.passes;
        found.appends = self.appends;
        found.remote = self.remote;
        let mut rest = &argv[1..];
        if !self.subcommands.is_empty() {
            rest = self.options(rest, &mut found, false)?.0;
            let (words, after) = self.subcommand(rest)?;
            found.wrapper = format!("{name} {words}");
            rest = after;
        }
        if !self.joined.is_empty() {
            let text = self.in_turn(name, rest);
            found.inner = InnerCommand::script(text);
            return Some(found);
        }
        for _ in 0..2 {
            let (after, end) = self.options(rest, &mut found, true)?;
            rest = after;
            match end {
                WordsEnd::Script(text) => return Some(found.script(text)),
                WordsEnd::Command => return found.argv(rest, self),
                WordsEnd::Operands
                    if rest.first().and_then(Arg::literal).is_some_and(|word| self.may_be_skipped(word)) =>
                {
                    rest = &rest[1..];
                }
                WordsEnd::Operands => break,
            }
        }
        if self.operands < 0 {
            let at = rest.iter().position(|arg| arg.literal() == Some("--"))?;
            return found.argv(&rest[at + 1..], self);
        }
        for _ in 0..self.operands {
            rest = rest.get(1..)?;
            let (after, end) = self.options(rest, &mut found, true)?;
            rest = after;
            match end {
                WordsEnd::Script(text) => return Some(found.script(text)),
                WordsEnd::Command => return found.argv(rest, self),
                WordsEnd::Operands => {}
            }
        }
        found.argv(rest, self)
    }

    /// Skips options. `None` when one of them means that nothing is run.
    fn options<'a>(&self, mut rest: &'a [Arg], found: &mut Unwrapped, last: bool) -> Option<(&'a [Arg], WordsEnd)> {
        while let Some((first, after)) = rest.split_first() {
            let text = first.text.as_str();
            // Of `env`, `-` is `-i`.
            if self.assignments && (is_assignment(text) || text == "-") {
                rest = after;
                continue;
            }
            if self.script_rest.iter().any(|option| option == text) {
                return Some((after, WordsEnd::Command));
            }
            if !text.starts_with('-') || text == "-" {
                break;
            }
            if text == "--" {
                if last && self.operands <= 0 {
                    return Some((after, WordsEnd::Command));
                }
                if self.operands < 0 {
                    break;
                }
                rest = after;
                continue;
            }
            let (option, value) = match text.split_once('=') {
                Some((option, value)) if text.starts_with("--") => (option, Some(value)),
                _ => (text, None),
            };
            let is = |list: &[String]| list.iter().any(|entry| entry == option);
            if is(&self.inert) || self.begins_inert(option) {
                return None;
            }
            if self.excused_by_zero(text, after.first()) {
                found.passes = Passes::Maybe;
            }
            if is(&self.detached) {
                found.passes = Passes::Detached;
            }
            if is(&self.honest) {
                found.passes = Passes::Own;
            }
            // Short options of one letter come in bundles: `script -qec '…'`.
            let bundled = |list: &[String]| {
                !text.starts_with("--")
                    && text.len() > 2
                    && list
                        .iter()
                        .any(|entry| entry.len() == 2 && text.ends_with(&entry[1..]) && is_letters(&text[1..]))
            };
            if self.honest.iter().any(|entry| entry.len() == 2 && !text.starts_with("--") && text.contains(&entry[1..]))
            {
                found.passes = Passes::Own;
            }
            if self
                .detached
                .iter()
                .any(|entry| entry.len() == 2 && is_letters(&text[1..]) && text.contains(&entry[1..]))
            {
                found.passes = Passes::Detached;
            }
            if is(&self.command) {
                return Some((after, WordsEnd::Command));
            }
            if is(&self.module) {
                found.module = true;
                return Some((after, WordsEnd::Command));
            }
            if is(&self.script) || bundled(&self.script) {
                let script = match value {
                    Some(value) => Arg { text: value.to_owned(), ..first.clone() },
                    None => after.first()?.clone(),
                };
                return Some((after, WordsEnd::Script(script)));
            }
            let takes_next = is(&self.values) && value.is_none();
            let value = if takes_next { after.first() } else { None };
            if is(&self.narrows) {
                found.narrowed_by = Some(option.to_owned());
            }
            if is(&self.directory) {
                let inline = text.split_once('=').map(|(_, dir)| Arg { text: dir.to_owned(), ..first.clone() });
                found.directory = inline.or_else(|| value.cloned());
            }
            rest = if takes_next { after.get(1..).unwrap_or_default() } else { after };
        }
        Some((rest, WordsEnd::Operands))
    }

    /// Returns `true` if `option` abbreviates an option with which the wrapper runs nothing, and no other option:
    /// `--ver`.
    fn begins_inert(&self, option: &str) -> bool {
        let long = option.len() > 3 && option.starts_with("--");
        let other = [&self.values, &self.neutral, &self.script, &self.command, &self.detached, &self.honest];
        let known = || other.iter().any(|list| list.iter().any(|entry| entry.starts_with(option)));
        long && self.inert.iter().any(|entry| entry.starts_with(option)) && !known()
    }

    /// Returns `true` if an option makes the wrapper exit with 0 when it does not run the command: `flock -nE0`.
    fn excused_by_zero(&self, text: &str, next: Option<&Arg>) -> bool {
        let zero = |value: &str| value.trim_start_matches('=').parse::<u32>().is_ok_and(|value| value == 0);
        let following = || next.is_some_and(|arg| !arg.whole || zero(&arg.text));
        self.excused.iter().any(|entry| match entry.strip_prefix("--") {
            Some(_) => {
                text == entry && following()
                    || text
                        .split_once('=')
                        .is_some_and(|(option, value)| option.len() > 3 && entry.starts_with(option) && zero(value))
            }
            None => {
                !text.starts_with("--")
                    && text.split_once(&entry[1..]).is_some_and(|(letters, value)| {
                        is_letters(letters.trim_start_matches('-'))
                            && if value.is_empty() { following() } else { zero(value) }
                    })
            }
        })
    }

    /// Returns `true` if a word may come before the command and means nothing here.
    fn may_be_skipped(&self, word: &str) -> bool {
        let version = word.strip_prefix('v').unwrap_or(word);
        let is_version = version.starts_with(|c: char| c.is_ascii_digit())
            && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        self.optional.iter().any(|known| known == word || known == "VERSION" && is_version)
    }

    /// Returns `true` if a word names a task of the project, and not a program: `test`, `test:cov`.
    fn names_task(&self, word: &str) -> bool {
        self.tasks.iter().any(|task| match task.split_once(':') {
            Some(_) => word.contains(':') && !word.contains('/'),
            None => task == word,
        })
    }

    /// Matches one of the subcommands, `*` standing for any word.
    fn subcommand<'a>(&self, rest: &'a [Arg]) -> Option<(String, &'a [Arg])> {
        self.subcommands.iter().find_map(|words| {
            let mut taken = 0;
            for word in words.split(' ') {
                // Options between `compose` and `exec` belong to `compose`.
                while taken > 0 && rest.get(taken).is_some_and(|arg| arg.text.starts_with('-')) {
                    let has_value = self.values.iter().any(|v| *v == rest[taken].text);
                    taken += if has_value { 2 } else { 1 };
                }
                let given = rest.get(taken)?;
                if word != "*" && given.literal() != Some(word) {
                    return None;
                }
                taken += 1;
            }
            Some((words.clone(), rest.get(taken..).unwrap_or_default()))
        })
    }
}

enum WordsEnd {
    Operands,
    Command,
    Script(Arg),
}

impl Unwrapped {
    fn script(mut self, text: Arg) -> Self {
        self.inner = InnerCommand::script(text.whole.then_some(text.text));
        self
    }

    fn argv(mut self, rest: &[Arg], wrapper: &Wrapper) -> Option<Self> {
        let rest = match rest.first().and_then(Arg::literal) {
            Some("--") => &rest[1..],
            _ => rest,
        };
        if rest.is_empty() || rest.first().and_then(Arg::literal).is_some_and(|word| wrapper.names_task(word)) {
            return None;
        }
        if wrapper.shell {
            let text = join(rest);
            self.inner = InnerCommand::script(text);
            return Some(self);
        }
        let mut argv = rest.to_vec();
        if wrapper.separated && argv.get(1).and_then(Arg::literal) == Some("--") {
            argv.remove(1);
        }
        if wrapper.strip_version
            && let Some(first) = argv.first_mut()
            && let Some(at) = first.text.rfind('@').filter(|at| *at > 0)
        {
            first.text.truncate(at);
        }
        self.inner = InnerCommand::Argv(argv);
        Some(self)
    }
}

fn is_letters(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphabetic())
}

/// Returns the name and the value of `NAME=…`.
fn assignment(arg: &Arg) -> Option<(String, Option<String>)> {
    let (name, value) = arg.text.split_once('=')?;
    Some((name.to_owned(), arg.whole.then(|| value.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        let file: WrappersFile = embedded::table("wrappers.toml");
        assert!(file.wrapper.len() > 30);
    }
}
