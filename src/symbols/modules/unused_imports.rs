//! Imports of a part that nothing in it uses.

use std::collections::BTreeSet;

use super::import_map::{ImportMap, spelling};
use super::verify_split::MapProblem;
use super::{ImportedName, SourceModule};

/// The methods of Rust traits. Code that uses a trait through them never names it.
const TRAIT_METHODS: &[(&str, &[&str])] = &[
    ("Write", &["write", "write_all", "flush", "write_fmt", "write_str", "write_char", "writeln"]),
    ("Read", &["read", "read_to_string", "read_to_end", "read_exact", "bytes", "take"]),
    ("BufRead", &["lines", "read_line", "read_until", "fill_buf"]),
    ("Seek", &["seek", "rewind", "stream_position"]),
    ("FromStr", &["from_str"]),
    ("Hash", &["hash"]),
    ("Hasher", &["finish", "write"]),
    ("Borrow", &["borrow"]),
    ("BorrowMut", &["borrow_mut"]),
];

/// Finds the imports of a part that it does not use.
pub(super) fn unused(
    map: &ImportMap,
    modules: &[SourceModule],
    module: &SourceModule,
    problems: &mut BTreeSet<MapProblem>,
) {
    let package = module.path.ends_with("__init__.py");
    for import in module.imports.iter().filter(|import| !import.handed_on && !import.glob) {
        let Some(local) = import.local.as_deref() else { continue };
        let own_module = module.language == "rust" && ["self", "super", "crate"].contains(&local);
        let listed = module.listed.contains(local) || (package && module.listed.is_empty());
        if own_module
            || listed
            || local == "React"
            || is_used(module, local)
            || module.mentioned.contains(local)
            || is_trait(map, modules, module, import, local)
        {
            continue;
        }
        let name = spelling(&module.language, import);
        problems.insert(MapProblem { kind: "unused import", name, file: module.path.clone() });
    }
}

/// Returns `true` for a trait of Rust, which is used by its methods, and for what the file before the split did not name
/// either.
fn is_trait(
    map: &ImportMap,
    modules: &[SourceModule],
    module: &SourceModule,
    import: &ImportedName,
    local: &str,
) -> bool {
    let name = import.name.as_deref().unwrap_or(local);
    let unnamed = || map.unnamed_imports.iter().any(|unnamed| unnamed == name);
    if module.language != "rust" || !local.starts_with(char::is_uppercase) {
        return unnamed();
    }
    match TRAIT_METHODS.iter().find(|(name, _)| Some(*name) == import.name.as_deref()) {
        Some((_, methods)) => {
            module.uses.iter().any(|word| methods.contains(&word.word.as_str()) || word.word == "write")
        }
        None => {
            unnamed()
                || modules.iter().any(|other| other.traits.contains(name))
                || local.ends_with("Ext")
                || ["Digest", "Rng", "Parser", "Itertools", "TryFrom", "TryInto"].contains(&local)
        }
    }
}

/// Returns `true` if a file uses the name of an import.
pub(super) fn is_used(module: &SourceModule, local: &str) -> bool {
    module.uses.iter().any(|word| {
        (word.word == local && word.receiver.is_none())
            || word.receiver.as_deref().is_some_and(|receiver| {
                receiver.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').next() == Some(local)
            })
    }) || (module.language == "rust" && module.defined.contains_key(local))
}
