//! Commands that change the shell in which the others of a line run.

use crate::command_line::command_table::table;
use crate::command_line::purpose::Understood;
use crate::command_line::written_files::written_files;
use crate::shell::expanded_program::{Arg, Leaf};

use super::sourced_file::only_finds_programs;
use super::start_directory::{StartDirectory, directory, path_inside};

/// The size, in bytes, from which a sourced file is not read.
const MAX_SOURCED: usize = 64 << 10;

/// Returns the command of a line that may change what its other commands run: it reads a script into their shell, or
/// writes a setting.
pub(super) fn interfering<'a>(understood: &'a Understood, place: StartDirectory<'_>) -> Option<&'a Leaf> {
    understood.program.leaves.iter().find(|leaf| changes_others(leaf, understood, place))
}

/// Returns `true` if there is such a command.
pub(super) fn surroundings_change(understood: &Understood, place: StartDirectory<'_>) -> bool {
    interfering(understood, place).is_some()
}

fn changes_others(leaf: &Leaf, understood: &Understood, place: StartDirectory<'_>) -> bool {
    let opaque = |arg: Option<&Arg>| arg.is_none_or(|arg| !arg.whole);
    // `. "$HOME/.cargo/env"`: what stands at its end is enough.
    let file = leaf.text.split_whitespace().nth(1).unwrap_or_default().trim_end_matches(['"', '\'']);
    let finds_programs = || table().environment.sourced.iter().any(|name| file.ends_with(name.as_str()));
    match leaf.name() {
        Some("." | "source") => leaf.argv.len() > 2 || !finds_programs() || does_more(leaf, understood, place),
        Some("go" | "npm" | "pnpm" | "yarn") if keeps_setting(leaf) => true,
        _ => leaf.wrappers.last().is_some_and(|name| name == "eval") && opaque(leaf.argv.first()),
    }
}

/// Returns `true` if a file of the project that is sourced does more than to find programs, or if the line may have
/// written the file. A file outside of the project cannot be read.
fn does_more(leaf: &Leaf, understood: &Understood, place: StartDirectory<'_>) -> bool {
    if leaf.names_set.iter().any(|name| table().environment.script.uses(name)) {
        return true;
    }
    let Some(named) = leaf.argv.get(1).and_then(Arg::literal) else {
        let Some(below) = below_variable(&leaf.text) else { return true };
        // The variable may be empty, or name the top of the work tree.
        let at_top = below.trim_start_matches('/');
        return [path_inside(place.root, "", &below), Some(at_top.to_owned())]
            .into_iter()
            .flatten()
            .any(|path| script_does_more(&path, place));
    };
    if ["/proc/", "/dev/"].iter().any(|folder| named.starts_with(folder)) {
        return true;
    }
    let file = named.rsplit('/').next().unwrap_or(named);
    if understood.program.leaves.iter().any(|other| writes(other, file)) {
        return true;
    }
    let path = directory(leaf, place).and_then(|here| path_inside(place.root, &here, named));
    path.is_some_and(|path| script_does_more(&path, place))
}

/// Returns `true` if a file of the project is there and does more than to find programs.
fn script_does_more(path: &str, place: StartDirectory<'_>) -> bool {
    let text = place.project.files.read(path);
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_there = || place.project.files.names(folder).is_some_and(|names| names.iter().any(|one| one == name));
    // A file that is there and cannot be read may do anything.
    text.is_none() && is_there()
        || text.is_some_and(|text| text.len() > MAX_SOURCED || !only_finds_programs(path, &text))
}

/// Returns the path below a folder that one variable names: `/.cargo/env` for `. "$HOME/.cargo/env"`.
fn below_variable(text: &str) -> Option<String> {
    let path = text.split_whitespace().nth(1).unwrap_or_default().replace(['"', '{', '}'], "");
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    let below = path.strip_prefix('$').or_else(|| path.strip_prefix('~').filter(|rest| rest.starts_with('/')));
    let below = below.filter(|rest| rest.chars().all(plain) && !rest.contains(".."))?;
    Some(below[below.find('/')?..].to_owned())
}

/// Returns `true` if a command writes a file of this name.
fn writes(leaf: &Leaf, file: &str) -> bool {
    let named = written_files(leaf).unwrap_or_default().named;
    let redirected = leaf.writes.iter().flatten().map(String::as_str);
    redirected
        .chain(named.iter().map(|written| written.path.as_str()))
        .any(|path| path.rsplit('/').next() == Some(file))
}

/// Returns `true` for a call that writes a setting which decides what later calls run: `go env -w GOFLAGS=-run=A`. Another
/// one of the line may take it back.
fn keeps_setting(leaf: &Leaf) -> bool {
    const DECIDING: [&str; 5] = ["GOFLAGS", "script-shell", "node-options", "ignore-scripts", "if-present"];
    let words: Vec<&str> = leaf.argv.iter().skip(1).map(|arg| arg.text.as_str()).collect();
    let is_written = matches!(words[..], ["env", "-w", ..] | ["config" | "c", "set", ..] | ["set", ..]);
    is_written && words.iter().any(|word| DECIDING.iter().any(|name| word.split('=').next() == Some(name)))
}
