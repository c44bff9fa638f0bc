//! Scripts that a line writes with `cat > file <<'END'` before it runs them.

use std::rc::Rc;

use super::ast::{Redirect, RedirectTo, SimpleCommand};
use super::build_program::{WalkContext, Walker};
use super::expand::{Definitions, WrittenScript};
use super::expanded_program::{Arg, InputSource, Leaf, Program, ProgramStep, Sink};
use super::inner_command::ShellOptions;
use super::simple_command::{fresh, shell};
use crate::shell_kind::Shell;

/// Commands that change no file that is not named after `>`.
const READERS: [&str; 11] = ["chmod", "cat", "ls", "echo", "printf", "mkdir", "set", "export", "head", "wc", ":"];
/// The first lines of scripts that `sh` or `bash` runs.
const FIRST_LINES: [&str; 4] = ["#!/bin/sh", "#!/bin/bash", "#!/usr/bin/env bash", "#!/usr/bin/env sh"];

impl Definitions {
    /// Remembers the text of a script that a command writes, or forgets all if the command may change them.
    pub(super) fn note_written(
        &mut self,
        simple: &SimpleCommand,
        redirects: &[Redirect],
        argv: &[Arg],
        context: &WalkContext,
        (leaves, files): (usize, usize),
    ) {
        let name = argv.first().and_then(Arg::literal).unwrap_or_default();
        let is_plain = simple.assignments.is_empty()
            && context.wrappers.is_empty()
            && !(context.background || context.repeated || context.shadowed || self.programs_replaced)
            && !self.functions.contains_key(name)
            && !self.aliases.contains_key(name);
        let (InputSource::Text(Some(text)), Sink::File(Some(path))) = (&context.stdin, &context.stdout) else {
            if !(is_plain && READERS.contains(&name) && context.writes.is_empty()) {
                self.written.clear();
            }
            return;
        };
        let writes_over = redirects.iter().any(|redirect| matches!(redirect.to, RedirectTo::File(_)));
        let is_known_place = path.starts_with('/') || self.directory.is_none() && context.directory.is_none();
        let is_device = path.starts_with("/dev/") && !path.starts_with("/dev/shm/") || path.starts_with("/proc/");
        let is_script = is_plain && name == "cat" && argv.len() == 1 && writes_over && context.writes.len() == 1;
        // The shell must be able to say that it cannot write the file.
        let tells = context.stderr == Sink::Terminal && self.streams.is_none();
        if is_script && tells && is_known_place && !is_device && !keeps_files(&context.source) {
            self.written.insert(path.clone(), WrittenScript { text: Rc::from(text.as_str()), leaves, files });
        } else {
            self.written.clear();
        }
    }
}

impl Walker {
    /// Concludes nothing from a line that may have written the script that it ran: a command beside it, in a pipe.
    pub(super) fn distrust_touched_scripts(&mut self) {
        let program = &self.program;
        let is_touched = program.followed.iter().any(|path| touches(program, path));
        self.program.truncated |= is_touched;
    }

    /// Follows a call of a script that the line wrote, or returns `None` for any other command.
    pub(super) fn written_script(
        &mut self,
        argv: &[Arg],
        scope: &Definitions,
        context: &WalkContext,
    ) -> Option<ProgramStep> {
        // Something in the background may write the file, too.
        if scope.written.is_empty() || self.program.leaves.iter().any(|leaf| leaf.background) {
            return None;
        }
        let words: Vec<&str> = argv.iter().map_while(Arg::literal).collect();
        let (first, rest) = words.split_first()?;
        let called = first.rsplit('/').next().filter(|name| matches!(*name, "sh" | "bash"));
        let flags = rest.iter().take_while(|_| called.is_some()).take_while(|word| word.starts_with('-')).count();
        let at = if called.is_some() { flags + 1 } else { 0 };
        let path = words.get(at)?;
        let is_same_place = path.starts_with('/') || scope.directory.is_none() && context.directory.is_none();
        let script = scope.written.get(*path).filter(|_| is_same_place && path.contains(['/', '.']))?;
        // In a subshell or a pipe, a command may have written it as well.
        let between = self.program.leaves.get(script.leaves..).unwrap_or_default();
        let is_reader = |leaf: &Leaf| leaf.writes.is_empty() && leaf.name().is_some_and(|name| READERS.contains(&name));
        if self.files != script.files || !between.iter().all(is_reader) {
            return None;
        }
        let text = Rc::clone(&script.text);
        let first_line = text.lines().next().unwrap_or_default().trim_end();
        let own = first_line.strip_prefix("#!").map(|_| {
            let line = first_line.split(" -").next().unwrap_or(first_line);
            FIRST_LINES.contains(&line).then(|| if line.ends_with("bash") { "bash" } else { "sh" })
        });
        let name = match (called, own) {
            (Some(called), _) => called,
            (None, Some(Some(own))) => own,
            (None, _) => return None,
        };
        // Called by its path, the options of its first line count.
        let given = if called.is_some() { &rest[..flags] } else { &[] };
        let own_flags = first_line.split_once(" -").map(|(_, flags)| flags).filter(|_| called.is_none());
        let flags: String = given.iter().map(|flag| &flag[1..]).chain(own_flags).collect();
        if !flags.chars().all(|flag| "eux".contains(flag)) {
            return None;
        }
        let options =
            ShellOptions { errexit: flags.contains('e'), nounset: flags.contains('u'), ..ShellOptions::default() };
        self.program.followed.push((*path).to_owned());
        let mut inner = context.clone();
        inner.wrappers.push(name.to_owned());
        let mut fresh = fresh(scope, argv[at + 1..].to_vec(), options.nounset);
        let step = self.inner_script(Some(&text), &mut fresh, &inner);
        Some(shell(Shell::of_path(name), options, step))
    }
}

/// Returns `true` if a command of a line that ran the script `path` may have written it, besides the `cat` that did.
fn touches(program: &Program, path: &str) -> bool {
    let names = |text: &str| text.contains(path);
    let writes = |leaf: &Leaf| leaf.writes.iter().any(|file| file.as_deref().is_none_or(names));
    let is_known = |leaf: &Leaf| leaf.name().is_some_and(|name| name == "rm" || READERS.contains(&name));
    let is_writer = |leaf: &&Leaf| !is_known(leaf) && leaf.argv.iter().any(|arg| names(&arg.text));
    program.leaves.iter().any(|leaf| is_writer(&leaf)) || program.leaves.iter().filter(|leaf| writes(leaf)).count() > 1
}

/// Returns `true` if a line may tell its shell to keep files that are already there.
fn keeps_files(line: &str) -> bool {
    let is_option = |rest: &str| rest.split_whitespace().next().is_some_and(|flags| flags.contains('C'));
    line.contains("noclobber") || line.split("set -").skip(1).any(is_option)
}
