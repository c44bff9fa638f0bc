//! One name, one type: no two types of `src/` share their name.

use std::collections::{BTreeMap, BTreeSet};

use crate::architecture::files;

/// The names that every file with this subject may define: its reader knows which one is meant.
const BY_CONVENTION: &[&str] = &["Args", "Params", "Error"];

/// Names that are still defined more than once. The list only shrinks.
const REMAINING: &[&str] = &[];

/// The types that the code defines: its structs, enums, traits, unions and aliases, without the associated types of impls.
fn types(code: &str) -> impl Iterator<Item = &str> {
    code.lines().filter_map(|line| {
        let indented = line.starts_with(' ');
        let line = line.trim_start();
        let item = match line.strip_prefix("pub(") {
            Some(rest) => rest.split_once(") ")?.1,
            None => line.strip_prefix("pub ").unwrap_or(line),
        };
        let (kind, rest) = item.split_once(' ')?;
        let is_type = ["struct", "enum", "trait", "union"].contains(&kind) || (kind == "type" && !indented);
        let name = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        (is_type && name.starts_with(|c: char| c.is_ascii_uppercase())).then_some(name)
    })
}

fn defined_twice() -> BTreeMap<String, Vec<String>> {
    let mut defined: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files() {
        for name in types(&file.code) {
            defined.entry(name.to_owned()).or_default().push(file.path.display().to_string());
        }
    }
    defined.retain(|name, places| places.len() > 1 && !BY_CONVENTION.contains(&name.as_str()));
    defined
}

#[test]
fn no_two_types_share_a_name() {
    let twice = defined_twice();
    let allowed: BTreeSet<&str> = REMAINING.iter().copied().collect();
    let new: Vec<_> = twice.iter().filter(|(name, _)| !allowed.contains(name.as_str())).collect();
    assert!(new.is_empty(), "give one of each a name of its own: {new:#?}");
    let gone: Vec<_> = allowed.into_iter().filter(|name| !twice.contains_key(*name)).collect();
    assert!(gone.is_empty(), "these are unique now; take them off the list: {gone:?}");
}

#[test]
fn types_are_found_as_they_are_written() {
    let code = "pub struct A<T>(T);\npub(super) enum B {}\n    struct Inner;\nimpl X for Y {\n    type Item = u8;\n}\n\
                type C = u8;\npub fn f(kind: &str) {}\nlet x = \"struct of things\";\n";
    assert_eq!(types(code).collect::<Vec<_>>(), ["A", "B", "Inner", "C"]);
}
