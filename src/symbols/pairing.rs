//! Pairs the functions of two states.
//!
//! Each step pairs the functions that the steps before left over: the same place, the same name elsewhere, the same
//! body in another container, another name.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::function::Function;
use super::outline::{FunctionAlias, Outline};
use super::tokens::{overlap, shared_words, similarity, word};

/// Bodies of fewer words are alike by chance.
const FEW_WORDS: usize = 6;

/// The likeness from which a function under the same name in another file is the same.
const SAME_NAME: f64 = 0.25;

/// The likeness from which a method of the same type and name in another file is the same.
const SAME_METHOD: f64 = 0.12;

/// The likeness from which a function in another container is the same.
const OTHER_CONTAINER: f64 = 0.45;

/// The part of the shorter of two functions of one name in different containers from which it is what is left of the other.
const REMAINDER: f64 = 0.75;

/// The same for a method and a function, if no other has that name.
const METHOD_AND_FUNCTION: f64 = 0.5;

/// The number of words from which parameters show that a function was rewritten.
const MANY_PARAMETERS: usize = 8;

/// The likeness of parameters from which a function under the same name in another file is the same.
const SAME_PARAMETERS: f64 = 0.5;

/// The part of the words of the shorter of two functions from which one with a name of several words is the other, rewritten.
const REWORKED: f64 = 0.5;

/// The same for a method beside its type, or for a function that is called as before.
const REWORKED_IN_PLACE: f64 = 0.4;

/// The likeness from which a function of another name in the same place is the same.
const OTHER_NAME: f64 = 0.55;

/// The likeness from which a function of another name in another file is the same.
const OTHER_NAME_AND_FILE: f64 = 0.7;

/// The functions of two states, and what became of each.
pub(super) struct Pairing<'f> {
    pub(super) old: Vec<&'f Function>,
    pub(super) new: Vec<&'f Function>,
    /// The function after for each before.
    pub(super) partner: Vec<Option<usize>>,
    /// `true` for each later function that has a partner.
    pub(super) taken: Vec<bool>,
}

/// Pairs of functions that are in another container: before, and after.
pub(super) type Moves = Vec<(usize, usize)>;

impl<'f> Pairing<'f> {
    /// Pairs the functions. Returns the pairs with another container, and the functions that are another name now.
    pub(super) fn of(
        old: Vec<&'f Function>,
        new: Vec<&'f Function>,
        after: &Outlines,
    ) -> (Self, Moves, BTreeSet<usize>) {
        let mut pairing = Self { taken: vec![false; new.len()], partner: vec![None; old.len()], old, new };
        pairing.same_place();
        pairing.same_name_elsewhere();
        let mut moves = pairing.other_container();
        pairing.constructors(&mut moves);
        pairing.merged(&mut moves);
        pairing.reworked();
        let aliased = pairing.aliased(after);
        pairing.other_name();
        (pairing, moves, aliased)
    }

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
                if other.hollow
                    || alike >= enough
                    || (few && !function.container.is_empty())
                    || same_call(function, other)
                {
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
        let mut names: HashMap<&str, usize> = HashMap::new();
        for old in self.open_old() {
            *names.entry(&self.old[old].name).or_default() += 1;
        }
        for old in self.open_old() {
            let function = self.old[old];
            let there = by.get(&function.name).map(Vec::as_slice).unwrap_or_default();
            let alone = there.len() == 1 && names.get(function.name.as_str()) == Some(&1);
            for &new in there {
                let other = self.new[new];
                if function.family != other.family || suffixes_differ(function, other) {
                    continue;
                }
                let alike = alike_across(function, other);
                let near = if function.path == other.path { 0.05 } else { 0.0 };
                let few = function.body.len().min(other.body.len()) < FEW_WORDS;
                if few && alike >= 1.0 {
                    short.push((alike + near, old, new));
                } else if !few && (alike >= OTHER_CONTAINER || remains(function, other, alone)) {
                    clear.push((alike + near, old, new));
                }
            }
        }
        let mut made = self.greedy(clear);
        // A short body shows nothing by itself, but it goes along with others of its type.
        let homes: BTreeSet<(String, String)> =
            made.iter().map(|&(old, new)| (self.old[old].home(), self.new[new].home())).collect();
        let whole_types = self.whole_types(&short);
        let alone = self.only_pairs(&short);
        short.retain(|&(_, old, new)| {
            let (from, to) = (self.old[old], self.new[new]);
            let homes_of = (from.home(), to.home());
            from.path == to.path
                || from.container.is_empty()
                || homes.contains(&homes_of)
                || whole_types.contains(&homes_of)
                || alone.contains(&(old, new))
        });
        made.extend(self.greedy(short));
        made
    }

    /// Finds short functions that are the only one of that name and body on both sides.
    fn only_pairs(&self, pairs: &[(f64, usize, usize)]) -> BTreeSet<(usize, usize)> {
        let (mut olds, mut news) = (BTreeMap::<usize, usize>::new(), BTreeMap::<usize, usize>::new());
        for &(_, old, new) in pairs {
            *olds.entry(old).or_default() += 1;
            *news.entry(new).or_default() += 1;
        }
        let only = |&(old, new): &(usize, usize)| {
            let (from, to) = (self.old[old], self.new[new]);
            let parameters =
                from.parameter_tokens == to.parameter_tokens || from.container.is_empty() != to.container.is_empty();
            olds.get(&old) == Some(&1) && news.get(&new) == Some(&1) && parameters && !from.hollow
        };
        pairs.iter().map(|&(_, old, new)| (old, new)).filter(only).collect()
    }

    /// Finds types of short methods that are gone, with all of their methods in one type that was not there.
    fn whole_types(&self, pairs: &[(f64, usize, usize)]) -> BTreeSet<(String, String)> {
        let mut count: BTreeMap<(String, String), BTreeSet<usize>> = BTreeMap::new();
        for &(_, old, new) in pairs {
            count.entry((self.old[old].home(), self.new[new].home())).or_default().insert(old);
        }
        let whole = |(from, to): &(String, String), methods: &BTreeSet<usize>| {
            let all = self.old.iter().filter(|function| function.home() == *from).count();
            methods.len() > 1
                && methods.len() == all
                && !self.new.iter().any(|function| function.home() == *from)
                && !self.old.iter().any(|function| function.home() == *to)
        };
        count.into_iter().filter(|(homes, methods)| whole(homes, methods)).map(|(homes, _)| homes).collect()
    }

    /// Pairs the constructors and destructors of a type that is gone with those of the type that has its methods.
    fn constructors(&mut self, moves: &mut Moves) {
        let news = self.open_new();
        let mut candidates = Vec::new();
        for old in self.open_old() {
            let function = self.old[old];
            // `function Stack() {}` became `class Stack { constructor() {} }`.
            let is_its_class = |other: &Function| {
                other.name == "constructor" && other.home() == function.full() && other.family == function.family
            };
            candidates.extend(news.iter().filter(|&&new| is_its_class(self.new[new])).map(|&new| (1.0, old, new)));
            let home = function.home();
            let gone_to = moves.iter().find(|&&(other, _)| self.old[other].home() == home);
            let Some(to) = gone_to.map(|&(_, new)| self.new[new].home()).filter(|_| function.constructs().is_some())
            else {
                continue;
            };
            if self.new.iter().any(|other| other.home() == home) {
                continue;
            }
            let fits = |other: &Function| other.home() == to && other.constructs() == function.constructs();
            for &new in news.iter().filter(|&&new| fits(self.new[new])) {
                let other = self.new[new];
                let parameters = similarity(&function.parameter_tokens, &other.parameter_tokens);
                candidates.push((parameters + similarity(&function.body, &other.body), old, new));
            }
        }
        moves.extend(self.greedy(candidates));
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

    /// Pairs functions that were moved and rewritten at once: the only ones of their name, with words of each other.
    fn reworked(&mut self) {
        let by = self.by(Function::full);
        let mut names: HashMap<String, usize> = HashMap::new();
        for old in self.open_old() {
            *names.entry(self.old[old].full()).or_default() += 1;
        }
        let mut candidates = Vec::new();
        for old in self.open_old() {
            let function = self.old[old];
            let full = function.full();
            let Some([new]) = by.get(&full).map(Vec::as_slice).filter(|_| names.get(&full) == Some(&1)) else {
                continue;
            };
            let other = self.new[*new];
            let enough = match function.container.is_empty() {
                false if are_near(&function.path, &other.path) => REWORKED_IN_PLACE,
                true if self.is_still_called(function) => REWORKED_IN_PLACE,
                _ if is_of_words(&function.name) => REWORKED,
                _ => continue,
            };
            let short = function.body.len().min(other.body.len());
            let alike = shared_words(&function.body, &other.body);
            let fits = function.family == other.family && !suffixes_differ(function, other);
            if fits && short >= FEW_WORDS && alike >= enough {
                candidates.push((alike, old, *new));
            }
        }
        self.greedy(candidates);
    }

    /// Returns `true` if a function that remains uses a name before and after.
    fn is_still_called(&self, function: &Function) -> bool {
        let name = word(&function.name);
        let uses = |caller: &Function| caller.body.contains(&name);
        self.partner
            .iter()
            .enumerate()
            .any(|(old, new)| new.is_some_and(|new| uses(self.old[old]) && uses(self.new[new])))
    }

    /// Pairs functions whose name remains as another name of a function.
    fn aliased(&mut self, after: &Outlines) -> BTreeSet<usize> {
        let mut aliased = BTreeSet::new();
        for old in self.open_old() {
            let function = self.old[old];
            let full = function.full();
            let stands = |alias: &&FunctionAlias| {
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
                // By chance, several short bodies are the same; a constant is not a body at all.
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

/// Returns `true` for a name of several words, which hardly two functions have by chance: `read_rows`, `readRows`.
fn is_of_words(name: &str) -> bool {
    let letters: Vec<char> = name.trim_matches('_').chars().collect();
    letters.contains(&'_') || letters.windows(2).any(|pair| pair[0].is_lowercase() && pair[1].is_uppercase())
}

/// Returns `true` for two files of one folder, or a file and one in the folder of its name.
fn are_near(a: &str, b: &str) -> bool {
    let folder = |path: &str| path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
    let stem = |path: &str| path.rsplit_once('.').map_or(path, |(stem, _)| stem).to_owned();
    folder(a) == folder(b) || stem(a) == folder(b) || folder(a) == stem(b)
}

/// Returns the likeness of a function in a type and one outside, whose first parameter is the instance.
fn alike_across(a: &Function, b: &Function) -> f64 {
    let plain = similarity(&a.body, &b.body);
    if a.container.is_empty() == b.container.is_empty() {
        return plain;
    }
    plain.max(similarity(&a.body_of_first, &b.body)).max(similarity(&a.body, &b.body_of_first))
}

/// Returns `true` if one of two functions of one name is what is left of the other, which was split.
fn remains(a: &Function, b: &Function, alone: bool) -> bool {
    let short = a.body.len().min(b.body.len());
    let into_function = a.container.is_empty() != b.container.is_empty();
    (short >= 4 * FEW_WORDS && overlap(&a.body, &b.body) >= REMAINDER)
        || (alone && into_function && short >= 2 * FEW_WORDS && overlap(&a.body, &b.body) >= METHOD_AND_FUNCTION)
}

/// Returns `true` if two free functions of one name are called in the same way, with many parameters.
fn same_call(a: &Function, b: &Function) -> bool {
    a.container.is_empty()
        && a.parameter_tokens.len().min(b.parameter_tokens.len()) >= MANY_PARAMETERS
        && similarity(&a.parameter_tokens, &b.parameter_tokens) >= SAME_PARAMETERS
}

fn suffixes_differ(a: &Function, b: &Function) -> bool {
    matches!((&a.suffix, &b.suffix), (Some(a), Some(b)) if a != b)
}

/// Returns a number for how well two functions of one name fit, or `None` if one reads what the other writes.
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

/// The outlines of the files of one state, by path.
pub type Outlines = BTreeMap<String, Outline>;
