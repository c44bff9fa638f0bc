//! Compares the functions of two states.
//!
//! Each step pairs the functions that the steps before left over: the same place, the same name elsewhere, the same
//! body in another container, another name. A function without a partner is lost.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use super::function::Function;
use super::outline::Outline;
use super::tokens::{came_into, similarity};

/// The outlines of the files of one state, by path.
pub type Outlines = BTreeMap<String, Outline>;

/// Bodies of fewer words are alike by chance.
const FEW_WORDS: usize = 6;

/// The likeness from which a function under the same name in another file is the same.
const SAME_NAME: f64 = 0.25;

/// The likeness from which a method of the same type and name in another file is the same.
const SAME_METHOD: f64 = 0.12;

/// The likeness from which a function in another container is the same.
const OTHER_CONTAINER: f64 = 0.45;

/// The likeness from which a function of another name in the same place is the same.
const OTHER_NAME: f64 = 0.55;

/// The likeness from which a function of another name in another file is the same.
const OTHER_NAME_AND_FILE: f64 = 0.7;

/// The part of a body that must have come into a caller for the function to be part of it.
const INLINED: f64 = 0.5;

/// The result for all functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Preservation {
    /// Every function is still there.
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
#[derive(Clone, Debug, Serialize)]
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
    let new: Vec<&Function> = after.values().flat_map(|outline| &outline.functions).collect();
    let mut pairing = Pairing { taken: vec![false; new.len()], partner: vec![None; old.len()], old, new };
    pairing.same_place();
    pairing.same_name_elsewhere();
    let mut moves = pairing.other_container();
    pairing.merged(&mut moves);
    let aliased = pairing.aliased(after);
    pairing.other_name();
    let renamed_homes = renamed_homes(&pairing, &moves, before, after);
    report(&pairing, &aliased, &renamed_homes, before, after)
}

struct Pairing<'f> {
    old: Vec<&'f Function>,
    new: Vec<&'f Function>,
    /// The function after for each before.
    partner: Vec<Option<usize>>,
    /// `true` for each later function that has a partner.
    taken: Vec<bool>,
}

impl Pairing<'_> {
    fn pair(&mut self, old: usize, new: usize) {
        self.partner[old] = Some(new);
        self.taken[new] = true;
    }

    fn open_old(&self) -> Vec<usize> {
        (0..self.old.len()).filter(|at| self.partner[*at].is_none()).collect()
    }

    fn open_new(&self) -> Vec<usize> {
        (0..self.new.len()).filter(|at| !self.taken[*at]).collect()
    }

    /// Pairs the likeliest first.
    fn greedy(&mut self, mut candidates: Vec<(f64, usize, usize)>) -> Vec<(usize, usize)> {
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        let mut made = Vec::new();
        for (_, old, new) in candidates {
            if self.partner[old].is_none() && !self.taken[new] {
                self.pair(old, new);
                made.push((old, new));
            }
        }
        made
    }

    /// Returns the open functions after, by a key.
    fn by<K: std::hash::Hash + Eq>(&self, key: impl Fn(&Function) -> K) -> HashMap<K, Vec<usize>> {
        let mut by: HashMap<K, Vec<usize>> = HashMap::new();
        for at in self.open_new() {
            by.entry(key(self.new[at])).or_default().push(at);
        }
        by
    }

    fn same_place(&mut self) {
        let by = self.by(|function| (function.path.clone(), function.full()));
        let mut candidates = Vec::new();
        for old in self.open_old() {
            let function = self.old[old];
            for &new in by.get(&(function.path.clone(), function.full())).into_iter().flatten() {
                if let Some(rank) = rank(function, self.new[new]) {
                    candidates.push((rank, old, new));
                }
            }
        }
        self.greedy(candidates);
    }

    fn same_name_elsewhere(&mut self) {
        let by = self.by(Function::full);
        let mut candidates = Vec::new();
        for old in self.open_old() {
            let function = self.old[old];
            for &new in by.get(&function.full()).into_iter().flatten() {
                let other = self.new[new];
                let Some(rank) = rank(function, other).filter(|_| function.family == other.family) else { continue };
                let alike = similarity(&function.body, &other.body);
                let enough = if function.container.is_empty() { SAME_NAME } else { SAME_METHOD };
                let few = function.body.len().min(other.body.len()) < FEW_WORDS;
                if other.hollow || alike >= enough || (few && !function.container.is_empty()) {
                    candidates.push((rank, old, new));
                }
            }
        }
        self.greedy(candidates);
    }

    /// Pairs functions with the same name and body in another type, module or function.
    fn other_container(&mut self) -> Vec<(usize, usize)> {
        let by = self.by(|function| function.name.clone());
        let (mut clear, mut short) = (Vec::new(), Vec::new());
        for old in self.open_old() {
            let function = self.old[old];
            for &new in by.get(&function.name).into_iter().flatten() {
                let other = self.new[new];
                if function.family != other.family || suffixes_differ(function, other) {
                    continue;
                }
                let alike = alike_across(function, other);
                let near = if function.path == other.path { 0.05 } else { 0.0 };
                let few = function.body.len().min(other.body.len()) < FEW_WORDS;
                if few && alike >= 1.0 {
                    short.push((alike + near, old, new));
                } else if !few && alike >= OTHER_CONTAINER {
                    clear.push((alike + near, old, new));
                }
            }
        }
        let mut made = self.greedy(clear);
        // A short body shows nothing by itself, but it goes along with others of its type.
        let homes: BTreeSet<(String, String)> =
            made.iter().map(|&(old, new)| (self.old[old].home(), self.new[new].home())).collect();
        short.retain(|&(_, old, new)| {
            let (from, to) = (self.old[old], self.new[new]);
            from.path == to.path || from.container.is_empty() || homes.contains(&(from.home(), to.home()))
        });
        made.extend(self.greedy(short));
        made
    }

    /// Pairs several functions that became one: the same name and body, in a place that is new.
    fn merged(&mut self, moves: &mut Vec<(usize, usize)>) {
        let targets: Vec<(usize, usize)> = moves.clone();
        for old in self.open_old() {
            let function = self.old[old];
            let same = |&&(other, _): &&(usize, usize)| {
                self.old[other].name == function.name
                    && self.old[other].body == function.body
                    && self.old[other].family == function.family
            };
            if let Some(&(_, new)) = targets.iter().find(same) {
                self.partner[old] = Some(new);
                moves.push((old, new));
                continue;
            }
            // A copy of a free function was dropped in favour of one that stays.
            if function.container.is_empty() && function.body.len() >= 2 * FEW_WORDS {
                let copy = (0..self.new.len()).find(|&at| {
                    let other = self.new[at];
                    other.container.is_empty()
                        && other.name == function.name
                        && other.body == function.body
                        && other.path != function.path
                });
                self.partner[old] = copy;
            }
        }
    }

    /// Pairs functions whose name remains as another name of a function.
    fn aliased(&mut self, after: &Outlines) -> BTreeSet<usize> {
        let mut aliased = BTreeSet::new();
        for old in self.open_old() {
            let function = self.old[old];
            let full = function.full();
            let stands = |alias: &&super::outline::FunctionAlias| {
                let name = alias.name.rsplit('.').next().unwrap_or(&alias.name);
                (alias.name == full || (function.container.is_empty() && name == function.name))
                    && self.new.iter().any(|other| other.name == alias.target)
            };
            if let Some(alias) = after.values().flat_map(|outline| &outline.aliases).find(stands) {
                let alike = |at: &usize| similarity(&function.body, &self.new[*at].body) >= OTHER_NAME;
                let target = self.open_new().into_iter().filter(|at| self.new[*at].name == alias.target).find(alike);
                if let Some(target) = target {
                    self.taken[target] = true;
                }
                aliased.insert(old);
            }
        }
        aliased
    }

    /// Pairs functions with another name for the same body.
    fn other_name(&mut self) {
        let mut by_body: HashMap<&[u32], Vec<usize>> = HashMap::new();
        for at in self.open_new() {
            by_body.entry(&self.new[at].body).or_default().push(at);
        }
        let mut candidates = Vec::new();
        let open = self.open_new();
        for old in self.open_old() {
            let function = self.old[old];
            let few = function.body.len() < FEW_WORDS;
            let same_body = by_body.get(function.body.as_slice()).map(Vec::as_slice).unwrap_or_default();
            let pool: &[usize] = if few { same_body } else { &open };
            for &new in pool {
                let other = self.new[new];
                let beside = function.path == other.path || function.home() == other.home();
                if function.family != other.family || other.declaration || suffixes_differ(function, other) {
                    continue;
                }
                // By chance, several short bodies are the same; a constant is no body at all.
                if few {
                    let alone = same_body.len() == 1 && function.home() == other.home() && function.path == other.path;
                    if !alone || function.hollow || function.parameter_tokens != other.parameter_tokens {
                        continue;
                    }
                }
                // Much longer or shorter: cannot be alike.
                let (short, long) =
                    (function.body.len().min(other.body.len()), function.body.len().max(other.body.len()));
                if short * 2 + 2 < long {
                    continue;
                }
                let alike = similarity(&function.body, &other.body);
                let parameters = similarity(&function.parameter_tokens, &other.parameter_tokens) / 50.0;
                if alike >= if beside { OTHER_NAME } else { OTHER_NAME_AND_FILE } {
                    candidates.push((alike + parameters + if beside { 0.05 } else { 0.0 }, old, new));
                }
            }
        }
        self.greedy(candidates);
    }
}

/// Returns the likeness of a function in a type and one outside, whose first parameter is the instance.
fn alike_across(a: &Function, b: &Function) -> f64 {
    let plain = similarity(&a.body, &b.body);
    if a.container.is_empty() == b.container.is_empty() {
        return plain;
    }
    plain.max(similarity(&a.body_of_first, &b.body)).max(similarity(&a.body, &b.body_of_first))
}

fn suffixes_differ(a: &Function, b: &Function) -> bool {
    matches!((&a.suffix, &b.suffix), (Some(a), Some(b)) if a != b)
}

/// Returns a number for how well two functions of one name fit; `None`: one reads what the other writes.
fn rank(a: &Function, b: &Function) -> Option<f64> {
    if suffixes_differ(a, b) {
        return None;
    }
    let points = |same: bool, worth: f64| if same { worth } else { 0.0 };
    Some(
        points(a.body == b.body, 4.0)
            + points(a.suffix == b.suffix, 3.0)
            + points(a.condition == b.condition, 2.0)
            + points(a.parameters == b.parameters, 2.0)
            + points(a.mark == b.mark, 1.0)
            + points(!b.hollow, 0.5)
            + similarity(&a.parameter_tokens, &b.parameter_tokens)
            + similarity(&a.body, &b.body),
    )
}

/// Finds types that have another name: the old one was removed, the new one did not exist, and everything that moved
/// out of the one is in the other.
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
    let mut to: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for &(old, new) in moves {
        to.entry(pairing.old[old].home()).or_default().insert(pairing.new[new].home());
    }
    let renamed = |(from, to): (String, BTreeSet<String>)| {
        let only = to.first().filter(|_| to.len() == 1)?;
        let type_gone = were.contains(&from) && !are.contains(&from);
        (type_gone && are.contains(only) && !were.contains(only)).then_some(from)
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
    let mut diff = FunctionDiff {
        schema_version: 1,
        verdict: Preservation::Preserved,
        lost: Vec::new(),
        moved: Vec::new(),
        renamed: Vec::new(),
        emptied: Vec::new(),
        new: Vec::new(),
        unparsed: Vec::new(),
        changes: Vec::new(),
        unparsed_why: Vec::new(),
    };
    let doubtful = unparsed(before, after, &mut diff);
    let (ambiguous_old, ambiguous_new) = (repeated(&pairing.old), repeated(&pairing.new));
    let (mut lost, mut doubt) = (false, doubtful);
    for (at, &function) in pairing.old.iter().enumerate() {
        if aliased.contains(&at) {
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
            if may_be_in(function, after) {
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
        if other.hollow && !function.hollow {
            lost = true;
            diff.changes.push(change("emptied", Some(other), None));
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
    for (at, function) in pairing.new.iter().enumerate().filter(|(_, function)| !function.declaration) {
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

/// Finds files that cannot be read. Returns `true` if this leaves a doubt: the macros of C break the grammar in valid
/// files.
fn unparsed(before: &Outlines, after: &Outlines, diff: &mut FunctionDiff) -> bool {
    let mut doubt = false;
    for (state, outlines, others) in [("before", before, after), ("after", after, before)] {
        for (path, outline) in outlines {
            let why = match (outline.unread, outline.error_line) {
                (Some(why), _) => why.to_owned(),
                (None, Some(_)) => "it does not parse".to_owned(),
                (None, None) => continue,
            };
            let other = others.get(path);
            let macros = outline.functions.iter().any(|function| function.family == "c");
            let known = other.is_some_and(|other| {
                other.unread == outline.unread
                    && if macros { other.errors.len() == outline.errors.len() } else { outline.unread.is_some() }
            });
            doubt |= !known;
            if !diff.unparsed.contains(path) {
                diff.unparsed.push(path.clone());
            }
            diff.unparsed_why.push(UnparsedFile { file: path.clone(), line: outline.error_line, state, why });
        }
    }
    doubt
}

/// Returns `true` if a function may still be in a file that does not parse.
fn may_be_in(function: &Function, after: &Outlines) -> bool {
    let Some(outline) = after.get(&function.path) else { return false };
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    outline.unread.is_some()
        || outline.broken.match_indices(&function.name).any(|(at, name)| {
            let rest = outline.broken[at + name.len()..].trim_start();
            !outline.broken[..at].ends_with(word) && rest.starts_with(['(', '<', '=', '[', ':', '{', '\n'])
        })
}

/// Returns `true` if a private function was moved into one that called it.
fn inlined(pairing: &Pairing<'_>, function: &Function) -> bool {
    if !function.private || function.body.len() < 3 {
        return false;
    }
    pairing.old.iter().enumerate().any(|(at, caller)| {
        let Some(new) = pairing.partner[at] else { return false };
        let other = pairing.new[new];
        caller.path == function.path
            && caller.body != other.body
            && came_into(&function.body, &other.body, &caller.body) >= INLINED
    })
}
