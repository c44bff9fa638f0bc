//! Log files that one command of a line writes and another one shows: their content may change in between.

use crate::shell::expanded_program::{Arg, InputSource, Leaf, LeafId, Program};

use super::command_table::{Prints, table};
use super::shown_output::may_show;

/// Returns `true` if a command between the one that wrote the log and the one that shows it may have written other
/// lines into it: a command that names it and is not known to only read, or a change of the directory that its name is
/// relative to. A redirection into the log is judged like any other text that the line shows.
pub(super) fn changed(program: &Program, path: &str, wrote: LeafId, shows: LeafId) -> bool {
    let between = wrote + 1..shows;
    let moves = |id: LeafId| matches!(program.leaves[id].name(), Some("cd" | "pushd" | "popd" | "chdir"));
    let directory = |id: LeafId| program.leaves[id].directory.as_ref().map(|directory| &directory.path);
    let elsewhere = !path.starts_with('/') && directory(wrote) != directory(shows) && between.clone().any(moves);
    elsewhere || between.into_iter().any(|id| changes(program, id, path))
}

/// Returns `true` if a command may write other lines into the file.
pub(super) fn changes(program: &Program, id: LeafId, path: &str) -> bool {
    let leaf = &program.leaves[id];
    let args = leaf.argv.get(1..).unwrap_or_default();
    let whole = args.iter().any(|arg| plain(&arg.text) == plain(path));
    match leaf.name() {
        // These name what they say, and what is gone is not shown.
        Some("echo" | "printf" | "rm" | "rmdir" | "unlink" | "mkdir" | "touch") => false,
        // What it passes on is looked at where it comes from, as long as the line shows that.
        Some("tee") => whole && !(matches!(leaf.stdin, InputSource::Pipe(_)) && may_show(program, id)),
        Some(name) if only_reads(name, leaf) => {
            scripts(name) && args.iter().any(|arg| arg.text.contains([' ', '>', '"']) && names(&arg.text, path))
        }
        name => {
            let script = name.is_some_and(|name| scripts(name) || table().interpreter(name).is_some());
            let text = |arg: &Arg| (script || !arg.text.contains(char::is_whitespace)) && names(&arg.text, path);
            let handed = matches!(&leaf.stdin, InputSource::Text(Some(text)) if names(text, path));
            whole || handed || args.iter().any(|arg| text(arg) || arg.pattern && fits(&arg.text, path))
        }
    }
}

/// Returns `true` if a program takes a script that may write files.
fn scripts(name: &str) -> bool {
    matches!(name, "sed" | "gsed" | "awk" | "gawk" | "mawk" | "perl")
}

/// Returns `true` if a command is known not to change the files that its arguments name.
fn only_reads(name: &str, leaf: &Leaf) -> bool {
    let words = leaf.words();
    let Some(entry) = table().command(name, words.get(1..).unwrap_or_default()) else { return false };
    let args = leaf.argv.get(1..).unwrap_or_default();
    let letter = |letter: char| {
        let bundle = |text: &str| text.starts_with('-') && !text.starts_with("--") && text.contains(letter);
        args.iter().any(|arg| bundle(&arg.text))
    };
    let long = |start: &str| args.iter().any(|arg| arg.text.starts_with(start));
    let operands = args.iter().filter(|arg| !arg.text.starts_with('-')).count();
    let writes = match name {
        "sed" | "gsed" => letter('i') || long("--i"),
        "sort" | "less" => letter('o') || letter('O') || long("--o") || long("--log"),
        "uniq" | "xxd" => operands > 1,
        _ => false,
    };
    let quiet = entry.kinds.iter().all(|kind| kind == "read") && entry.prints != Prints::Anything;
    quiet && !entry.edits && entry.paths.is_none() && !writes
}

/// Returns a path without a prefix that makes no difference.
fn plain(path: &str) -> &str {
    path.trim_start_matches("./")
}

/// Returns `true` if a text names the file, alone or as a part of it: `of=t.log`, `open('t.log', 'w')`.
fn names(text: &str, path: &str) -> bool {
    let path = plain(path);
    let inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    !path.is_empty()
        && text.match_indices(path).any(|(at, found)| {
            !text[..at].ends_with(inner) && !text[at + found.len()..].starts_with(|c| inner(c) || c == '/')
        })
}

/// Returns `true` if a pattern may match the file.
fn fits(pattern: &str, path: &str) -> bool {
    const ANY: [char; 3] = ['*', '?', '['];
    let (pattern, path) = (plain(pattern), plain(path));
    let start = pattern.split(ANY).next().unwrap_or_default();
    let end = pattern.rsplit(|c| ANY.contains(&c) || c == ']').next().unwrap_or_default();
    path.starts_with(start) && path.ends_with(end)
}
