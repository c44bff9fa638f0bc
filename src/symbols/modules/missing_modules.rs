//! Imports from a module that would have to be in the tree and is missing, of names that the split file had.

use std::collections::BTreeSet;

use super::import_map::{ImportMap, free};
use super::resolve::Resolver;
use super::{ImportedName, SourceModule};

/// The parts of the name of a package of Java that those of one project share.
const MIN_PACKAGE_PARTS: usize = 2;

/// Returns the names of a split file that a file imports from modules that are missing.
pub(super) fn names_of_missing_modules<'n>(
    map: &'n ImportMap,
    resolver: &Resolver<'n>,
    module: &'n SourceModule,
) -> BTreeSet<&'n str> {
    let own: BTreeSet<&str> = free(&map.functions)
        .into_iter()
        .chain(free(&map.public_functions))
        .chain(map.definitions.iter().map(String::as_str))
        .collect();
    let mut missing = BTreeSet::new();
    for import in &module.imports {
        if !is_missing(map, resolver, module, import) {
            continue;
        }
        match (&import.name, module.language.as_str()) {
            // The package is called by its own name.
            (None, "go") => {
                let local = import.local.as_deref();
                let of_package =
                    |name: &str| module.uses.iter().any(|word| word.word == name && word.receiver.as_deref() == local);
                missing.extend(own.iter().copied().filter(|name| local.is_some() && of_package(name)));
            }
            // A class that stands in another package of the project.
            (Some(name), "java") => {
                let mut others = resolver.modules.iter();
                missing
                    .extend(others.find_map(|other| other.defined.get_key_value(name)).map(|(name, _)| name.as_str()));
            }
            (Some(name), _) => missing.extend(own.get(name.as_str())),
            (None, _) => {}
        }
    }
    missing
}

/// Returns the imports of the map that a part has from another place, where nothing is: `.a` from a folder below.
pub(super) fn imports_of_missing_modules(
    map: &ImportMap,
    resolver: &Resolver<'_>,
    module: &SourceModule,
) -> BTreeSet<String> {
    if map.file.is_empty() {
        return BTreeSet::new();
    }
    let whole = SourceModule { path: map.file.clone(), language: module.language.clone(), ..SourceModule::default() };
    let called = map.called();
    let mut found = BTreeSet::new();
    for import in module.imports.iter().filter(|import| leads_nowhere(resolver, module, import)) {
        let Some(before) = import.local.as_ref().and_then(|local| called.get(local)) else { continue };
        let parent = before.rsplit_once(['#', '.', ':']).map_or("", |(parent, _)| parent.trim_end_matches(':'));
        let places = [resolver.candidates(&whole, before), resolver.candidates(&whole, parent)].concat();
        let now = [resolver.candidates(module, &import.module), resolver.candidates(module, &full(module, import))];
        if !now.concat().iter().any(|place| places.contains(place)) {
            found.insert(before.clone());
        }
    }
    found
}

/// Returns `true` if the module of an import would have to be in the tree, and is not.
fn is_missing(map: &ImportMap, resolver: &Resolver<'_>, module: &SourceModule, import: &ImportedName) -> bool {
    leads_nowhere(resolver, module, import) && !was_imported(map, import)
}

/// Returns `true` if the module of an import is none of the tree, and cannot be that of a library.
fn leads_nowhere(resolver: &Resolver<'_>, module: &SourceModule, import: &ImportedName) -> bool {
    let whole = full(module, import);
    let is_there = !resolver.module(module, &import.module).is_empty() || !resolver.module(module, &whole).is_empty();
    !is_there
        && is_of_project(resolver, module, &import.module)
        && !is_asset(module, &import.module)
        && !names_item(resolver, module, import)
}

/// Returns the path of the name that is imported, which may be a module.
fn full(module: &SourceModule, import: &ImportedName) -> String {
    let name = import.name.as_deref().unwrap_or_default();
    match module.language.as_str() {
        "rust" => format!("{}::{name}", import.module),
        "python" if import.module.ends_with('.') => format!("{}{name}", import.module),
        "python" => format!("{}.{name}", import.module),
        _ => import.module.clone(),
    }
}

/// Returns `true` if a module can only be one of this tree, and not of a library.
fn is_of_project(resolver: &Resolver<'_>, from: &SourceModule, named: &str) -> bool {
    let head = |mark: &str| named.split(mark).next().unwrap_or_default().to_owned();
    match from.language.as_str() {
        "rust" => {
            let first = head("::");
            ["crate", "super", "self"].contains(&first.as_str()) || resolver.crates.contains_key(&first)
        }
        "python" => {
            let first = head(".");
            let is_top = |path: &str| {
                let path = path.strip_prefix("src/").unwrap_or(path);
                path.strip_prefix(first.as_str()).is_some_and(|rest| rest == ".py" || rest.starts_with('/'))
            };
            first.is_empty() || resolver.modules.iter().any(|other| is_top(&other.path))
        }
        // The path of the project stands before each package of it.
        "go" => resolver.modules.iter().flat_map(|other| other.imports.iter().map(move |import| (other, import))).any(
            |(other, import)| {
                let found = resolver.module(other, &import.module);
                let folder = found.first().and_then(|at| resolver.modules[*at].path.rsplit_once('/'));
                let project = folder.and_then(|(folder, _)| import.module.strip_suffix(folder));
                project.is_some_and(|project| !project.is_empty() && named.starts_with(project))
            },
        ),
        "java" => {
            let shared = |package: &str| {
                let parts: Vec<&str> = package.split('.').take(MIN_PACKAGE_PARTS).collect();
                !package.is_empty() && named.split('.').take(parts.len()).eq(parts.iter().copied())
            };
            resolver.modules.iter().any(|other| shared(&other.package))
        }
        _ => named.starts_with('.'),
    }
}

/// Returns `true` if the file that was split had the same import.
fn was_imported(map: &ImportMap, import: &ImportedName) -> bool {
    map.external_imports.iter().any(|other| {
        other
            .strip_prefix(import.module.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ':', '/', '#']))
    })
}

/// Returns `true` for a file that is no source, such as a style sheet.
fn is_asset(module: &SourceModule, place: &str) -> bool {
    let ending = place.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending);
    let is_script = ["javascript", "typescript", "tsx"].contains(&module.language.as_str());
    is_script && ending.is_some_and(|ending| ["css", "scss", "json", "svg", "vue", "svelte", "astro"].contains(&ending))
}

/// Returns `true` if the last word of a path of Rust is a type, an inline module or another name of one.
fn names_item(resolver: &Resolver<'_>, module: &SourceModule, import: &ImportedName) -> bool {
    let last = import.module.rsplit("::").next().unwrap_or_default();
    module.language == "rust"
        && resolver.modules.iter().any(|other| {
            other.defined.contains_key(last) || other.imports.iter().any(|one| one.local.as_deref() == Some(last))
        })
}
