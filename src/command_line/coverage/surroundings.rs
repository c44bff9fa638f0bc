//! Commands that change the shell in which the others of a line run.

use crate::command_line::command_table::table;
use crate::command_line::purpose::Understood;
use crate::shell::expanded_program::{Arg, Leaf};

use super::start_directory::{StartDirectory, directory, path_inside};

/// The size, in bytes, from which a sourced file is not read.
const MAX_SOURCED: usize = 64 << 10;

/// Returns `true` if a line reads a script into its shell that may change its other commands.
pub(super) fn surroundings_change(understood: &Understood, place: StartDirectory<'_>) -> bool {
    understood.program.leaves.iter().any(|leaf| {
        let opaque = |arg: Option<&Arg>| arg.is_none_or(|arg| !arg.whole);
        // `. "$HOME/.cargo/env"`: what stands at its end is enough.
        let file = leaf.text.split_whitespace().nth(1).unwrap_or_default().trim_end_matches(['"', '\'']);
        let finds_programs = || table().environment.sourced.iter().any(|name| file.ends_with(name.as_str()));
        match leaf.name() {
            Some("." | "source") => leaf.argv.len() > 2 || !finds_programs() || does_more(leaf, place),
            Some("go" | "npm" | "pnpm" | "yarn") if keeps_setting(leaf) => true,
            _ => leaf.wrappers.last().is_some_and(|name| name == "eval") && opaque(leaf.argv.first()),
        }
    })
}

/// Returns `true` if a file of the project that is sourced does more than to find programs: it leaves the shell, goes to
/// another folder, or replaces or narrows what runs. A file outside of the project cannot be read.
fn does_more(leaf: &Leaf, place: StartDirectory<'_>) -> bool {
    let named = leaf.argv.get(1).and_then(Arg::literal);
    let path = named.and_then(|path| path_inside(place.root, &directory(leaf, place)?, path));
    let text = path.and_then(|path| place.project.files.read(&path));
    text.is_some_and(|text| text.len() > MAX_SOURCED || table().environment.does_more(&text))
}

/// Returns `true` for a call that writes a setting which decides what later calls run: `go env -w GOFLAGS=-run=A`. Another
/// one of the line may take it back.
fn keeps_setting(leaf: &Leaf) -> bool {
    const DECIDING: [&str; 5] = ["GOFLAGS", "script-shell", "node-options", "ignore-scripts", "if-present"];
    let words: Vec<&str> = leaf.argv.iter().skip(1).map(|arg| arg.text.as_str()).collect();
    let is_written = matches!(words[..], ["env", "-w", ..] | ["config" | "c", "set", ..] | ["set", ..]);
    is_written && words.iter().any(|word| DECIDING.iter().any(|name| word.split('=').next() == Some(name)))
}
