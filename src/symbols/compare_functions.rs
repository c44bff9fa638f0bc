//! Compares the functions of two states. A function without a partner is lost.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::broken_text::may_define;
use super::function::Function;
use super::outline::BINARY;
use super::pairing::{Outlines, Pairing};
use super::tokens::came_into;

/// The part of a body that must have come into a caller for the function to be part of it.
const INLINED: f64 = 0.5;

/// The result for all functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Preservation {
    /// Every function is still there.
    #[default]
    Preserved,
    /// A function was removed, or nothing is left of its work.
    Lost,
    /// Somebody must say that it was meant: a rename, a private function that went into its caller, generated code, a file
    /// that cannot be read.
    NeedsYes,
}

/// The change of one function.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FunctionChange {
    /// `lost`, `moved`, `renamed`, `emptied` or `new`.
    pub kind: &'static str,
    /// Its name: before the change, except for `new`.
    pub name: String,
    /// Its file, before the change except for `new`.
    pub file: String,
    /// Its first line there, from 1.
    pub line: usize,
    /// Its present place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<FunctionPlace>,
    /// The reason why this needs a confirmation and does not count as a loss: `generated`, `inlined`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
}

/// The place of a function.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FunctionPlace {
    /// Its name there.
    pub name: String,
    /// Its file.
    pub file: String,
    /// Its first line, from 1.
    pub line: usize,
}

/// A function that has another name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RenamedFunction {
    /// The name before.
    pub from: String,
    /// The name now.
    pub to: String,
}

/// A file that cannot be read, or not as a whole.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnparsedFile {
    /// Its path.
    pub file: String,
    /// The line of the first error, from 1; absent where the whole file is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// `before` or `after`.
    pub state: &'static str,
    /// The problem with it.
    pub why: String,
}

/// The changes of the functions of a tree.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FunctionDiff {
    /// 1.
    pub schema_version: u32,
    /// The sum.
    pub verdict: Preservation,
    /// Functions that were removed.
    pub lost: Vec<String>,
    /// Functions that are in another file or container.
    pub moved: Vec<String>,
    /// Functions that have another name.
    pub renamed: Vec<RenamedFunction>,
    /// Functions that do nothing any more.
    pub emptied: Vec<String>,
    /// Functions that were not there.
    pub new: Vec<String>,
    /// Files that cannot be read.
    pub unparsed: Vec<String>,
    /// The same with places, in order of the files.
    pub changes: Vec<FunctionChange>,
    /// The reason why each file of `unparsed` cannot be read.
    pub unparsed_why: Vec<UnparsedFile>,
}

/// Compares the functions of two states. Files that are the same in both can be left out.
pub fn compare(before: &Outlines, after: &Outlines) -> FunctionDiff {
    let old: Vec<&Function> =
        before.values().flat_map(|outline| &outline.functions).filter(|function| !function.declaration).collect();
    // The parameters of a type take the place of a constructor only where they are new.
    let headers: BTreeSet<(String, &str)> = before
        .values()
        .flat_map(|outline| &outline.functions)
        .filter(|function| function.is_header())
        .map(|function| (function.full(), function.parameters.as_str()))
        .collect();
    let counts = |function: &&Function| {
        !function.is_header() || !headers.contains(&(function.full(), function.parameters.as_str()))
    };
    let new: Vec<&Function> = after.values().flat_map(|outline| &outline.functions).filter(counts).collect();
    let (pairing, moves, aliased) = Pairing::of(old, new, after);
    let renamed_homes = renamed_homes(&pairing, &moves, before, after);
    report(&pairing, &aliased, &renamed_homes, before, after)
}

/// Finds types that have another name: the old one was removed, the new one did not exist, and most of the
/// functions of the one are in the other.
fn renamed_homes(
    pairing: &Pairing<'_>,
    moves: &[(usize, usize)],
    before: &Outlines,
    after: &Outlines,
) -> BTreeSet<String> {
    let scopes = |outlines: &Outlines| -> BTreeSet<String> {
        outlines.values().flat_map(|outline| outline.scopes.iter().cloned()).collect()
    };
    let (were, are) = (scopes(before), scopes(after));
    let mut to: BTreeMap<String, (BTreeSet<String>, usize)> = BTreeMap::new();
    for &(old, new) in moves {
        let (homes, methods) = to.entry(pairing.old[old].home()).or_default();
        homes.insert(pairing.new[new].home());
        *methods += 1;
    }
    // In another file it is a move: the functions are in another type.
    let stays = |&&(old, new): &&(usize, usize)| pairing.old[old].path == pairing.new[new].path;
    let in_place: BTreeSet<String> = moves.iter().filter(stays).map(|&(old, _)| pairing.old[old].home()).collect();
    let renamed = |(from, (to, methods)): (String, (BTreeSet<String>, usize))| {
        let only = to.first().filter(|_| to.len() == 1)?;
        if methods * 2 <= pairing.old.iter().filter(|function| function.home() == from).count() {
            return None;
        }
        // `Parser.Token` and `Token` are one type in another place.
        let type_gone =
            were.contains(&from) && !are.contains(&from) && from.rsplit('.').next() != only.rsplit('.').next();
        // `util` went into `util.detail`.
        let type_gone = type_gone && !only.strip_prefix(&from).is_some_and(|rest| rest.starts_with('.'));
        (type_gone && in_place.contains(&from) && are.contains(only) && !were.contains(only)).then_some(from)
    };
    to.into_iter().filter_map(renamed).collect()
}

fn report(
    pairing: &Pairing<'_>,
    aliased: &BTreeSet<usize>,
    renamed_homes: &BTreeSet<String>,
    before: &Outlines,
    after: &Outlines,
) -> FunctionDiff {
    let mut diff = FunctionDiff { schema_version: 1, ..FunctionDiff::default() };
    let doubtful = unparsed(before, after, &mut diff);
    let (ambiguous_old, ambiguous_new) = (repeated(&pairing.old), repeated(&pairing.new));
    let (mut lost, mut doubt) = (false, doubtful);
    for (at, &function) in pairing.old.iter().enumerate() {
        if aliased.contains(&at) || function.callback {
            continue;
        }
        let name = function.shown(ambiguous_old.contains(&function.full()));
        let change = |kind, to: Option<&Function>, note| FunctionChange {
            kind,
            name: name.clone(),
            file: function.path.clone(),
            line: function.line,
            to: to.map(|to| place(to, &ambiguous_new)),
            note,
        };
        let Some(new) = pairing.partner[at] else {
            if after.get(&function.path).is_some_and(|outline| may_define(outline, function)) {
                doubt = true;
                continue;
            }
            let note =
                if function.generated { Some("generated") } else { inlined(pairing, function).then_some("inlined") };
            lost |= note.is_none();
            doubt |= note.is_some();
            diff.changes.push(change("lost", None, note));
            diff.lost.push(name.clone());
            continue;
        };
        let other = pairing.new[new];
        let was_shell = function.is_shell() || function.gives_up_like(other);
        let idle = other.idle && !function.idle && !was_shell && function.same_head(other);
        if (other.hollow && !was_shell) || idle || (!function.gives_up_like(other) && function.became_constant(other)) {
            let note = function.generated.then_some("generated");
            lost |= note.is_none();
            doubt |= note.is_some();
            diff.changes.push(change("emptied", Some(other), note));
            diff.emptied.push(name.clone());
        } else if function.name != other.name
            || (function.home() != other.home() && renamed_homes.contains(&function.home()))
        {
            doubt = true;
            diff.changes.push(change("renamed", Some(other), None));
            diff.renamed.push(RenamedFunction { from: name.clone(), to: place(other, &ambiguous_new).name });
        } else if function.path != other.path || function.home() != other.home() {
            diff.changes.push(change("moved", Some(other), None));
            diff.moved.push(name.clone());
        }
    }
    for (at, function) in
        pairing.new.iter().enumerate().filter(|(_, function)| !function.declaration && !function.callback)
    {
        if !pairing.taken[at] {
            let FunctionPlace { name, file, line } = place(function, &ambiguous_new);
            diff.new.push(name.clone());
            diff.changes.push(FunctionChange { kind: "new", name, file, line, to: None, note: None });
        }
    }
    diff.changes.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    diff.verdict = match (lost, doubt) {
        (true, _) => Preservation::Lost,
        (false, true) => Preservation::NeedsYes,
        (false, false) if !diff.renamed.is_empty() => Preservation::NeedsYes,
        (false, false) => Preservation::Preserved,
    };
    diff
}

fn place(function: &Function, ambiguous: &BTreeSet<String>) -> FunctionPlace {
    FunctionPlace {
        name: function.shown(ambiguous.contains(&function.full())),
        file: function.path.clone(),
        line: function.line,
    }
}

/// Returns the full names that occur more than once in a file.
fn repeated(functions: &[&Function]) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let again = |function: &&&Function| !seen.insert((function.path.clone(), function.full(), function.suffix.clone()));
    functions.iter().filter(again).map(|function| function.full()).collect()
}

fn count_errors(outlines: &Outlines) -> BTreeMap<&String, usize> {
    let all = outlines.values().flat_map(|outline| &outline.errors);
    all.fold(BTreeMap::new(), |mut count, error| {
        *count.entry(error).or_default() += 1;
        count
    })
}

/// Finds files that cannot be read. Returns `true` if this leaves a doubt: grammars do not know all of their languages, and the
/// macros of C break its grammar in valid files, so what does not parse must be new.
fn unparsed(before: &Outlines, after: &Outlines, diff: &mut FunctionDiff) -> bool {
    let mut doubt = false;
    for (state, outlines, others) in [("before", before, after), ("after", after, before)] {
        let (here, there) = (count_errors(outlines), count_errors(others));
        for (path, outline) in outlines {
            let why = match (outline.unread, outline.error_line) {
                (Some(why), _) => why.to_owned(),
                (None, Some(_)) => "it does not parse".to_owned(),
                (None, None) => continue,
            };
            let other = others.get(path);
            let known = if outline.unread.is_some() {
                // Source that nobody reads may have lost anything; a binary file has no functions.
                other.is_some_and(|other| other.unread == outline.unread && other.unread == Some(BINARY))
            } else {
                // The same ones, so that nothing in them changed. In C, as often there as here; or as many, without a body.
                other.is_some_and(|other| other.errors == outline.errors)
                    || outline.family == "c"
                        && (outline.errors.iter().all(|error| there.get(error) >= here.get(error))
                            || other.is_some_and(|other| other.errors.len() == outline.errors.len())
                                && !outline.errors.iter().any(|error| error.contains('{')))
            };
            doubt |= !known;
            if !diff.unparsed.contains(path) {
                diff.unparsed.push(path.clone());
            }
            diff.unparsed_why.push(UnparsedFile { file: path.clone(), line: outline.error_line, state, why });
        }
    }
    doubt
}

/// Returns `true` if a private function was moved into one that called it.
fn inlined(pairing: &Pairing<'_>, function: &Function) -> bool {
    if !function.private || function.body.len() < 3 {
        return false;
    }
    pairing.old.iter().enumerate().any(|(at, caller)| {
        let Some(new) = pairing.partner[at] else { return false };
        let other = pairing.new[new];
        // The words of a function in a function are among those of the outer one.
        let before = if function.home() == caller.full() { &[] } else { caller.body.as_slice() };
        caller.path == function.path
            && caller.body != other.body
            && came_into(&function.body, &other.body, before) >= INLINED
    })
}
