//! Imports of a part that nothing in it uses.

use super::import_map::{ImportMap, spelling};
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

/// Returns the imports of a part that it does not use, as the map writes them.
pub(super) fn unused(map: &ImportMap, modules: &[SourceModule], module: &SourceModule) -> Vec<String> {
    let mut found = Vec::new();
    let package = module.path.ends_with("__init__.py");
    for import in module.imports.iter().filter(|import| !import.handed_on && !import.glob) {
        let Some(local) = import.local.as_deref() else { continue };
        let own_module = module.language == "rust" && ["self", "super", "crate"].contains(&local);
        let listed = module.listed.contains(local) || (package && module.listed.is_empty());
        if own_module
            || listed
            || local == "React"
            || module.uses_name(local)
            || module.mentioned.contains(local)
            || is_trait(map, modules, module, import, local)
        {
            continue;
        }
        found.push(spelling(&module.language, import));
    }
    found
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
