//! What `find` is about to do with what it finds.

use std::path::Path;

use super::{Intent, IntentKind, Place, push_path, removed_arguments};
use crate::globs::Globs;
use crate::runner::word_splitting::simple_commands;
use crate::shell::expanded_program::{Arg, Leaf};

/// The names of hooks of git that guard the work.
const HOOKS: [&str; 3] = ["pre-push", "commit-msg", "pre-commit"];

/// The programs that only read what they are handed.
const READERS: [&str; 14] =
    ["cat", "grep", "egrep", "rg", "head", "tail", "ls", "wc", "stat", "file", "echo", "printf", "sha256sum", "md5sum"];

/// What `find` is about to do that hands what it finds to the command of a leaf.
pub(super) fn of_exec(place: Place<'_>, found: &mut Vec<Intent>) {
    // What stands behind the place of the file that it finds says nothing here.
    let text = place.leaf.text.split("{}").next().unwrap_or_default();
    let commands = simple_commands(text).unwrap_or_default();
    let search = commands.into_iter().find(|argv| argv.first().is_some_and(|name| name.ends_with("find")));
    let argv = search.into_iter().flatten().map(Arg::new).collect();
    let leaf = Leaf { argv, directory: place.leaf.directory.clone(), ..Leaf::default() };
    if changes(&leaf) {
        of_find(Place { leaf: &leaf, ..place }, found);
    }
}

/// Returns `true` if it changes what it finds, as far as its words show it.
pub(super) fn changes(leaf: &Leaf) -> bool {
    let mut words = leaf.texts();
    while let Some(word) = words.next() {
        match word {
            "-delete" => return true,
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let program = words.next().unwrap_or_default();
                if !READERS.contains(&program.rsplit('/').next().unwrap_or_default()) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// What lies below its start points, and has the name that it asks for.
pub(super) fn of_find(place: Place<'_>, found: &mut Vec<Intent>) {
    let argv = &place.leaf.argv;
    let begins = |arg: &Arg| arg.text.starts_with(['-', '(', '!', ')']);
    let end = argv.iter().skip(1).position(begins).map_or(argv.len(), |at| at + 1);
    let names = argv.windows(2).filter(|pair| matches!(&*pair[0].text, "-name" | "-iname")).map(|pair| &*pair[1].text);
    let names: Vec<&str> = names.collect();
    let globs = Globs::new(&names).ok().filter(|_| !names.is_empty());
    let is_meant = |name: &str| globs.as_ref().is_none_or(|globs| globs.is_match(Path::new(name)));
    let here = [Arg::new(".")];
    let starts = if end > 1 { &argv[1..end] } else { &here };
    let mut below = Vec::new();
    if argv.iter().any(|arg| arg.text == "-empty") {
        return;
    }
    if argv.iter().any(|arg| arg.text == "-delete") || removes(argv) {
        removed_arguments(place, starts, &mut below);
    }
    let base = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    below.retain(|intent| intent.kind == IntentKind::ChangesClientHooks && is_meant(&base(&intent.what)));
    let within = starts.iter().map(|start| place.of(&start.text));
    for start in within {
        push_path(&start, &mut below);
        let holds = start == ".git" || start == "." && globs.is_some();
        let leaves_out = argv.iter().any(|arg| arg.text.contains(".git/") || arg.text == "-prune");
        let hook = HOOKS.into_iter().find(|name| is_meant(name)).filter(|_| holds && !leaves_out);
        if let Some(hook) = hook {
            below.push(Intent { kind: IntentKind::ChangesHooks, what: format!(".git/hooks/{hook}") });
        }
    }
    found.extend(below);
}

/// Returns `true` if it hands what it finds to a program that removes it.
fn removes(argv: &[Arg]) -> bool {
    let program = |pair: &[Arg]| matches!(&*pair[1].text, "rm" | "mv" | "unlink" | "shred" | "/bin/rm");
    argv.windows(2).any(|pair| matches!(&*pair[0].text, "-exec" | "-execdir" | "-ok" | "-okdir") && program(pair))
}
