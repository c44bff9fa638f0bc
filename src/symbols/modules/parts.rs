//! The files that a split made.

use std::collections::{BTreeMap, BTreeSet};

use super::SourceModule;
use super::import_map::{ImportMap, last_part};
use crate::symbols::function::Function;

/// Returns the files that received functions of the map, and the file that represents the whole. A file with a function
/// of the same name is none as long as the whole has its own: unless the function is a copy.
pub(super) fn find(map: &ImportMap, modules: &[SourceModule]) -> BTreeSet<usize> {
    let folder = map.file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let near = |path: &str| folder.is_empty() || path.starts_with(&format!("{folder}/"));
    let mut by_name: BTreeMap<&str, Vec<(usize, &Function)>> = BTreeMap::new();
    let of_package = |module: &SourceModule| !module.is_outer_test() || map.file.ends_with("_test.go");
    for (at, module) in modules.iter().enumerate().filter(|(_, one)| near(&one.path) && of_package(one)) {
        for function in module.functions.iter().filter(|function| function.name != "main") {
            by_name.entry(&function.name).or_default().push((at, function));
        }
    }
    let mut parts: BTreeSet<usize> = (0..modules.len()).filter(|at| may_be_one(map, &modules[*at].path)).collect();
    let whole = modules.iter().position(|module| module.path == map.file);
    for name in map.functions.iter().chain(&map.public_functions) {
        let there = by_name.get(last_part(name)).map(Vec::as_slice).unwrap_or_default();
        let exact: Vec<&(usize, &Function)> = there.iter().filter(|(_, function)| function.full() == *name).collect();
        if let Some((_, own)) = exact.iter().find(|(at, _)| Some(*at) == whole) {
            let copies = exact.iter().filter(|(_, other)| other.body == own.body && other.same_head(own));
            parts.extend(copies.map(|(at, _)| *at));
        } else if exact.is_empty() {
            parts.extend(there.iter().map(|(at, _)| *at));
        } else {
            parts.extend(exact.iter().map(|(at, _)| *at));
        }
    }
    parts
}

/// Returns `true` if a file by its path is the file of the map, or below it.
pub(super) fn may_be_one(map: &ImportMap, path: &str) -> bool {
    let stem = map.file.rsplit_once('.').map_or(map.file.as_str(), |(stem, _)| stem);
    path == map.file || path.strip_prefix(stem).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns `true` if a text has the name of a public function of the map.
pub(super) fn names_one(map: &ImportMap, text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let wanted: BTreeSet<&str> = map.public_functions.iter().map(|name| last_part(name)).collect();
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').any(|word| wanted.contains(word))
}
