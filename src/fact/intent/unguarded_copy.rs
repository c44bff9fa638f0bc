//! Pushes from a copy of this repository in which the hooks of gate are not installed: `git clone URL /tmp/x && cd /tmp/x
//! && git push`.

use super::path_context::{GuardedRepository, PathContext};
use super::{Intent, IntentKind};
use crate::command_line::Understood;
use crate::shell::expanded_program::{Arg, Leaf};

/// A call of git.
struct GitCall<'l> {
    /// The folder that `-C` names.
    folder: Option<&'l str>,
    subcommand: &'l str,
    /// The words after the subcommand that are not options.
    operands: Vec<&'l str>,
}

/// A repository that a line makes, or gives a remote.
struct OtherRepository {
    /// The folder, or `None` if the line does not show it.
    folder: Option<String>,
    /// `true` if the line makes it.
    is_new: bool,
    /// `true` if it pushes to a remote of the guarded repository.
    leads_here: bool,
}

/// Adds the pushes of a line that go to a remote of this repository from such a copy.
pub(super) fn of_copies(line: &Understood, from: &PathContext<'_>, found: &mut Vec<Intent>) {
    let Some(own) = from.own else { return };
    let calls = || line.steps().map(|(leaf, _)| leaf).filter(|leaf| !leaf.remote);
    let pushes = || calls().filter_map(|leaf| Some((leaf, git_call(leaf).filter(|call| call.subcommand == "push")?)));
    if pushes().next().is_none() {
        return;
    }
    let others: Vec<OtherRepository> = calls().filter_map(|leaf| other_repository(leaf, from, own)).collect();
    for (leaf, call) in pushes() {
        let folder = folder_of(leaf, call.folder, from);
        let known = folder.as_deref().and_then(|folder| own.unguarded_remotes(folder));
        let mut made = others.iter().filter(|other| other.folder == folder);
        let is_other = known.is_some() || made.clone().any(|other| other.is_new);
        let names_remote = call.operands.iter().any(|url| is_remote(url, leaf, from, own));
        let leads_here =
            made.any(|other| other.leads_here) || names_remote || known.iter().flatten().any(|url| own.has_remote(url));
        if is_other && leads_here {
            let what = folder.unwrap_or_else(|| "the copy".to_owned());
            found.push(Intent { kind: IntentKind::PushesCopy, what });
        }
    }
}

/// Returns the repository that a command makes or gives a remote.
fn other_repository(leaf: &Leaf, from: &PathContext<'_>, own: &dyn GuardedRepository) -> Option<OtherRepository> {
    let words: Vec<&str> = leaf.argv.iter().skip(1).map(literal).collect();
    if let (Some("gh"), ["repo", "clone", name, rest @ ..]) = (leaf.name(), words.as_slice()) {
        let url = if name.contains(':') { (*name).to_owned() } else { format!("https://github.com/{name}") };
        let target = rest.first().copied().filter(|word| !word.starts_with('-'));
        let folder = cloned_into(leaf, None, name, target, from);
        return Some(OtherRepository { folder, is_new: true, leads_here: own.has_remote(&url) });
    }
    let call = git_call(leaf)?;
    let here = || folder_of(leaf, call.folder, from);
    let leads_here = |url: &str| is_remote(url, leaf, from, own);
    match (call.subcommand, call.operands.as_slice()) {
        ("clone", [url, target @ ..]) => {
            let folder = cloned_into(leaf, call.folder, url, target.first().copied(), from);
            Some(OtherRepository { folder, is_new: true, leads_here: leads_here(url) })
        }
        ("init", target) => {
            let folder =
                target.first().map_or_else(here, |target| cloned_into(leaf, call.folder, target, Some(target), from));
            let is_new = folder.as_deref().is_none_or(|folder| folder != ".");
            Some(OtherRepository { folder, is_new, leads_here: false })
        }
        ("remote", ["add" | "set-url", _, url, ..]) => {
            Some(OtherRepository { folder: here(), is_new: false, leads_here: leads_here(url) })
        }
        _ => None,
    }
}

/// Returns the folder into which a clone of `url` goes.
fn cloned_into(
    leaf: &Leaf,
    folder: Option<&str>,
    url: &str,
    target: Option<&str>,
    from: &PathContext<'_>,
) -> Option<String> {
    let last = url.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or(url);
    let target = target.unwrap_or_else(|| last.strip_suffix(".git").unwrap_or(last));
    let folder = folder.map_or_else(|| target.to_owned(), |folder| format!("{folder}/{target}"));
    folder_of(leaf, Some(&folder), from)
}

/// Returns the folder `inner`, seen from where a command runs, or `None` if the line does not show it.
fn folder_of(leaf: &Leaf, inner: Option<&str>, from: &PathContext<'_>) -> Option<String> {
    let inner = inner.unwrap_or(".");
    let is_plain = |text: &str| !text.contains(['$', '`', '*']);
    let dir = match &leaf.directory {
        Some(_) if inner.starts_with('/') => None,
        Some(directory) => Some(directory.path.as_deref().filter(|path| is_plain(path))?),
        None => None,
    };
    is_plain(inner).then(|| from.resolve(dir, inner))
}

fn is_remote(url: &str, leaf: &Leaf, from: &PathContext<'_>, own: &dyn GuardedRepository) -> bool {
    if url.contains(':') {
        return own.has_remote(url);
    }
    url.contains('/') && folder_of(leaf, Some(url), from).is_some_and(|path| own.has_remote(&path))
}

/// Returns the text of an argument, or `$` if only the run shows it.
fn literal(arg: &Arg) -> &str {
    if arg.whole { &arg.text } else { "$" }
}

/// Reads a call of git; `None` for other commands.
fn git_call(leaf: &Leaf) -> Option<GitCall<'_>> {
    if leaf.name() != Some("git") {
        return None;
    }
    let mut words = leaf.argv[1..].iter().map(literal);
    let mut folder = None;
    let subcommand = loop {
        match words.next()? {
            "-C" => folder = words.next(),
            "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" | "--config-env" => {
                words.next();
            }
            option if option.starts_with('-') => {}
            name => break name,
        }
    };
    let mut operands = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "-b" | "--branch" | "-o" | "--origin" | "--depth" | "-c" | "--config" | "-j" | "--jobs" | "--reference"
            | "--push-option" | "--receive-pack" | "--exec" => {
                words.next();
            }
            "--repo" => operands.extend(words.next()),
            option if option.starts_with('-') => operands.extend(option.strip_prefix("--repo=")),
            operand => operands.push(operand),
        }
    }
    Some(GitCall { folder, subcommand, operands })
}
