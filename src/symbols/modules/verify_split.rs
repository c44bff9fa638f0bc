//! Compares a tree with the map of a file that was split.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::import_map::{ImportMap, free, last_part};
use super::missing_modules::{imports_of_missing_modules, names_of_missing_modules};
use super::parts;
use super::resolve::Resolver;
use super::unused_imports::unused;
use super::{SourceModule, crates};
use crate::symbols::function::Function;
use crate::symbols::language::LanguageTable;

/// Platforms in the names of files of Go.
const PLATFORMS: [&str; 16] = [
    "linux", "windows", "darwin", "freebsd", "netbsd", "openbsd", "solaris", "plan9", "js", "wasm", "unix", "amd64",
    "arm64", "386", "arm", "android",
];

/// One problem of a split.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MapProblem {
    /// `missing name`, `resolves twice`, `lost cross reference`, `unused import` or `missing import`.
    pub kind: &'static str,
    /// The name, the import as the map writes it, or `caller -> called`.
    pub name: String,
    /// The file with the problem.
    pub file: String,
}

/// The result of checking the names of a map.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MapVerification {
    /// 1.
    pub schema_version: u32,
    /// Nothing is wrong.
    pub verifies: bool,
    /// The problems, by file.
    pub problems: Vec<MapProblem>,
    /// Files that were left out because they do not parse.
    pub unparsed: Vec<String>,
}

/// Holds the files of a tree against a map.
pub fn verify(map: &ImportMap, files: &[(String, Vec<u8>)]) -> MapVerification {
    let mut modules = Vec::new();
    let mut unread = Vec::new();
    for (path, bytes) in files {
        match SourceModule::read(path, bytes) {
            Ok(module) if module.has_imports() => {
                if module.error_line.is_some() {
                    unread.push((path, bytes));
                }
                modules.push(module);
            }
            Err(Some(_)) => unread.push((path, bytes)),
            _ => {}
        }
    }
    let parts = parts::find(map, &modules);
    let part_paths: BTreeSet<&str> = parts.iter().map(|at| modules[*at].path.as_str()).collect();
    let counts = |(path, bytes): &(&String, &Vec<u8>)| {
        part_paths.contains(path.as_str()) || parts::may_be_one(map, path) || parts::names_one(map, bytes)
    };
    let unparsed: Vec<String> = unread.into_iter().filter(counts).map(|(path, _)| path.clone()).collect();
    let check = MapCheck { map, resolver: Resolver { modules: &modules, crates: crates::folders(files) }, parts };
    let mut problems = BTreeSet::new();
    check.names(&mut problems);
    check.references(&mut problems);
    for (at, module) in modules.iter().enumerate() {
        check.imported_names(at, module, &mut problems);
        problems.extend(names_of_missing_modules(map, &check.resolver, module).into_iter().map(|name| MapProblem {
            kind: "missing name",
            name: name.to_owned(),
            file: module.path.clone(),
        }));
        check.paths(at, module, &mut problems);
        if check.parts.contains(&at) {
            let nowhere = imports_of_missing_modules(map, &check.resolver, module).into_iter();
            problems.extend(nowhere.map(|name| MapProblem { kind: "missing import", name, file: module.path.clone() }));
            problems.extend(unused(map, &modules, module).into_iter().map(|name| MapProblem {
                kind: "unused import",
                name,
                file: module.path.clone(),
            }));
            check.listed(at, module, &mut problems);
            check.missing(at, module, &mut problems);
        }
    }
    let mut problems: Vec<MapProblem> = problems.into_iter().collect();
    problems.sort_by(|a, b| (&a.file, a.kind, &a.name).cmp(&(&b.file, b.kind, &b.name)));
    MapVerification { schema_version: 1, verifies: problems.is_empty() && unparsed.is_empty(), problems, unparsed }
}

struct MapCheck<'m> {
    map: &'m ImportMap,
    resolver: Resolver<'m>,
    parts: BTreeSet<usize>,
}

impl<'m> MapCheck<'m> {
    fn modules(&self) -> &'m [SourceModule] {
        self.resolver.modules
    }

    /// Returns the present places of a function of the map: in the parts, by its full name, or else by its last part.
    fn places(&self, name: &str) -> Vec<(usize, &'m Function)> {
        let all = || self.parts.iter().flat_map(|at| self.modules()[*at].functions.iter().map(move |f| (*at, f)));
        let exact: Vec<_> = all().filter(|(_, function)| function.full() == name).collect();
        if !exact.is_empty() {
            return exact;
        }
        // Another function of the map that ends in the same name is itself.
        let is_other = |full: &String| self.map.functions.contains(full) || self.map.public_functions.contains(full);
        all().filter(|(_, function)| function.name == last_part(name) && !is_other(&function.full())).collect()
    }

    /// Checks that every public function exists exactly once.
    fn names(&self, problems: &mut BTreeSet<MapProblem>) {
        for name in &self.map.public_functions {
            let places = self.places(name);
            let files: BTreeSet<usize> = places.iter().filter(|(_, f)| f.full() == *name).map(|(at, _)| *at).collect();
            if places.is_empty() && !self.is_another_name(name) {
                let file = self.whole();
                problems.insert(MapProblem { kind: "missing name", name: name.clone(), file });
            } else if files.len() > 1 && !self.are_of_platforms(&files) {
                let file = files.iter().next_back().map(|at| self.modules()[*at].path.clone()).unwrap_or_default();
                problems.insert(MapProblem { kind: "resolves twice", name: name.clone(), file });
            }
        }
    }

    /// Returns `true` if each of some files of Go is built for another platform.
    fn are_of_platforms(&self, files: &BTreeSet<usize>) -> bool {
        let platform = |path: &str| {
            let stem = path.strip_suffix(".go")?;
            let last = stem.rsplit('_').next().filter(|last| last.len() < stem.len())?;
            PLATFORMS.contains(&last).then(|| last.to_owned())
        };
        let named: Vec<String> = files.iter().filter_map(|at| platform(&self.modules()[*at].path)).collect();
        named.len() == files.len() && named.iter().collect::<BTreeSet<_>>().len() == files.len()
    }

    /// Returns `true` if the function has become a name for another.
    fn is_another_name(&self, name: &str) -> bool {
        self.parts.iter().any(|at| self.modules()[*at].defined.contains_key(name))
    }

    /// Returns the file that represents the whole: the old one, or the index of the folder.
    fn whole(&self) -> String {
        let stem = self.map.file.rsplit_once('.').map_or(self.map.file.as_str(), |(stem, _)| stem);
        let index = |at: &&usize| {
            let path = &self.modules()[**at].path;
            let name = path.rsplit('/').next().unwrap_or(path);
            path.starts_with(&format!("{stem}/"))
                && (name.starts_with("index.") || name == "mod.rs" || name == "__init__.py")
        };
        let there = self.parts.iter().find(|at| self.modules()[**at].path == self.map.file);
        let found = there.or_else(|| self.parts.iter().find(index));
        found.map_or_else(|| self.map.file.clone(), |at| self.modules()[*at].path.clone())
    }

    /// Checks that every cross reference still exists.
    fn references(&self, problems: &mut BTreeSet<MapProblem>) {
        for (from, targets) in &self.map.cross_references {
            let callers = self.places(from);
            for target in targets {
                let last = last_part(target);
                let made = |&(at, function): &(usize, &Function)| {
                    let module = &self.modules()[at];
                    let others: BTreeSet<&str> = module
                        .imports
                        .iter()
                        .filter(|import| import.name.as_deref() == Some(last))
                        .filter_map(|import| import.local.as_deref())
                        .collect();
                    let used = |word: &str| word == last || others.contains(word);
                    module.uses.iter().any(|word| function.range.contains(&word.at) && used(&word.word))
                        || module.decorating(function).any(|word| used(&word.word))
                };
                // A call of a missing function is no call.
                if callers.is_empty() {
                    continue;
                }
                if !callers.iter().any(made) {
                    let file = self.modules()[callers[0].0].path.clone();
                    let name = format!("{from} -> {target}");
                    problems.insert(MapProblem { kind: "lost cross reference", name, file });
                } else if self.places(target).is_empty()
                    && !self.is_in_package(callers[0].0, target)
                    && !self.map.public_functions.contains(target)
                    && !self.is_another_name(target)
                {
                    let file = self.modules()[callers[0].0].path.clone();
                    problems.insert(MapProblem { kind: "missing name", name: target.clone(), file });
                }
            }
        }
    }

    /// Returns `true` if a class of the same package of Java has a method, under another root.
    fn is_in_package(&self, from: usize, name: &str) -> bool {
        let package = &self.modules()[from].package;
        let here = |other: &&SourceModule| other.language == "java" && other.package == *package;
        self.modules().iter().filter(here).any(|other| other.functions.iter().any(|f| f.full() == name))
    }

    /// Checks that the names imported from a file of the tree exist.
    fn imported_names(&self, at: usize, module: &SourceModule, problems: &mut BTreeSet<MapProblem>) {
        let known: BTreeSet<&str> =
            free(&self.map.functions).into_iter().chain(free(&self.map.public_functions)).collect();
        for import in &module.imports {
            let Some(name) = import.name.as_deref().filter(|name| *name != "*") else { continue };
            let there = self.resolver.module(module, &import.module);
            let mine = there.iter().any(|target| self.parts.contains(target))
                || self.resolver.candidates(module, &import.module).contains(&self.map.file);
            if !mine || (there.contains(&at) && module.language != "rust") {
                continue;
            }
            // A name that means a file of the package, and not the function of that name in it.
            let wanted = known.contains(name) && is_value(module, import.local.as_deref().unwrap_or(name));
            let only_file = wanted && module.language == "python" && self.resolver.is_only_file(&there, name);
            let is_module = |target: &usize| self.resolver.is_submodule(&self.modules()[*target], name);
            let module_alone = module.language == "rust" && !wanted && there.iter().any(is_module);
            if only_file || (!module_alone && !self.resolver.gives(&there, name, module, 0)) {
                let relevant = known.contains(name) || there.iter().any(|target| self.parts.contains(target));
                if relevant {
                    let name = name.to_owned();
                    problems.insert(MapProblem { kind: "missing name", name, file: module.path.clone() });
                }
            }
        }
    }

    /// Names with a path before them: `config::parse`, `ops.create`, `Keys.hash`.
    fn paths(&self, at: usize, module: &SourceModule, problems: &mut BTreeSet<MapProblem>) {
        for word in &module.uses {
            let Some(receiver) = &word.receiver else { continue };
            let full = |function: &&String| {
                last_part(function) == word.word
                    && (!function.contains('.') || function.rsplit_once('.').is_some_and(|(home, _)| home == receiver))
            };
            if let Some(name) = self.hidden(module, receiver, &word.word) {
                problems.insert(MapProblem { kind: "missing name", name, file: module.path.clone() });
                continue;
            }
            let Some(function) = self.map.functions.iter().find(full) else { continue };
            if function.contains('.') {
                // The type is there, and the function is not in it.
                let typed = self.modules().iter().any(|other| other.defined.contains_key(receiver));
                let there = self.modules().iter().any(|other| other.functions.iter().any(|f| f.full() == *function));
                if module.language == "java" && typed && !there {
                    let name = function.clone();
                    problems.insert(MapProblem { kind: "missing name", name, file: module.path.clone() });
                }
                continue;
            }
            let there = self.resolver.receiver(module, receiver);
            let there: Vec<usize> = there.into_iter().filter(|target| *target != at).collect();
            if there.iter().any(|target| self.parts.contains(target))
                && !self.resolver.gives(&there, &word.word, module, 0)
            {
                let name = function.clone();
                problems.insert(MapProblem { kind: "missing name", name, file: module.path.clone() });
            }
        }
    }

    /// Returns the function of the map that a method of Java was if the class in another file keeps it private.
    fn hidden(&self, module: &SourceModule, class: &str, method: &str) -> Option<String> {
        let name = self.map.functions.iter().find(|name| name.contains('.') && last_part(name) == method)?;
        let of_class = |f: &&Function| f.name == method && f.container.last().is_some_and(|home| home == class);
        let mut there = self.modules().iter().flat_map(|other| &other.functions).filter(of_class).peekable();
        let hidden = module.language == "java" && there.peek().is_some();
        (hidden && there.all(|f| f.private && f.path != module.path)).then(|| name.clone())
    }

    /// Checks that the names in `__all__` exist.
    fn listed(&self, at: usize, module: &SourceModule, problems: &mut BTreeSet<MapProblem>) {
        for name in module.listed.iter().filter(|name| module.language == "python" && !name.starts_with("__")) {
            if !self.resolver.gives(&[at], name, module, 0) {
                let (name, file) = (name.clone(), module.path.clone());
                problems.insert(MapProblem { kind: "missing name", name, file });
            }
        }
    }

    /// Words that the file as a whole imported or defined, and that a part does not know.
    fn missing(&self, at: usize, module: &SourceModule, problems: &mut BTreeSet<MapProblem>) {
        let package = ["go", "java"].contains(&module.language.as_str());
        let own: BTreeSet<&str> = free(&self.map.functions);
        let defined = self.defined_elsewhere(module);
        let called = self.map.called();
        let declared: BTreeMap<&str, Vec<usize>> =
            module.declared.iter().fold(BTreeMap::new(), |mut all, (at, word)| {
                all.entry(word.as_str()).or_insert_with(Vec::new).push(*at);
                all
            });
        for word in &module.uses {
            let name = match (&word.receiver, module.language.as_str()) {
                (None, _) => word.word.as_str(),
                // A class before its method.
                (Some(class), "java") if class.starts_with(char::is_uppercase) => class.as_str(),
                (Some(_), _) => continue,
            };
            let of_the_map = defined.contains(name) && self.is_of_the_file(module, word.at);
            let import = called.get(name).or_else(|| self.wildcard(module, name));
            let relevant = of_the_map || import.is_some() || own.contains(name);
            if !relevant || declared.contains_key(name) || self.knows(at, module, name) {
                continue;
            }
            if let Some(import) = import {
                let problem = MapProblem { kind: "missing import", name: import.clone(), file: module.path.clone() };
                problems.insert(problem);
            } else if of_the_map || !self.places(name).is_empty() {
                if package && self.beside(module, name) {
                    continue;
                }
                problems.insert(MapProblem {
                    kind: "missing import",
                    name: name.to_owned(),
                    file: module.path.clone(),
                });
            }
        }
        if module.language != "java" {
            return;
        }
        // A method of another class needs its class.
        for function in &module.functions {
            for word in module.used_in(function).filter(|word| word.receiver.is_none()) {
                let meant = self.map.functions.iter().find(|full| full.contains('.') && last_part(full) == word.word);
                let Some(full) = meant else { continue };
                let in_class = module.functions.iter().any(|other| {
                    other.name == word.word
                        && (function.home() == other.home() || function.home().starts_with(&other.home()))
                });
                let imported =
                    module.imports.iter().any(|import| import.local.as_ref() == Some(&word.word) || import.glob);
                let called = self.map.cross_references.values().any(|list| list.contains(full));
                if called
                    && !in_class
                    && !imported
                    && !self.inherits(module, &word.word)
                    && !module.defined.contains_key(&word.word)
                {
                    let name = full.clone();
                    problems.insert(MapProblem { kind: "missing name", name, file: module.path.clone() });
                }
            }
        }
    }

    /// Returns the import of all types of a package by which the file before had a type, and which a part does without.
    fn wildcard(&self, module: &SourceModule, name: &str) -> Option<&'m String> {
        let has_type = |import: &&String| {
            let package = import.strip_suffix(".*").unwrap_or_default();
            LanguageTable::embedded().is_some_and(|table| table.has_type(&module.language, package, name))
        };
        let is_of_tree = || self.modules().iter().any(|other| other.defined.contains_key(name));
        self.map.external_imports.iter().find(has_type).filter(|_| !is_of_tree())
    }

    /// Returns the types and constants of the map that stand in another file now.
    fn defined_elsewhere(&self, module: &SourceModule) -> BTreeSet<&'m str> {
        let stands = |name: &&&String| {
            self.modules().iter().any(|other| other.path != module.path && other.defined.contains_key(**name))
        };
        self.map.definitions.iter().filter(|name| stands(&name)).map(String::as_str).collect()
    }

    /// Returns `true` if a place is in a function of the map, or outside of functions in a file with a type of the map.
    fn is_of_the_file(&self, module: &SourceModule, at: usize) -> bool {
        let mut around = module.functions.iter().filter(|function| function.range.contains(&at)).peekable();
        if around.peek().is_none() {
            return self.map.definitions.iter().any(|name| module.defined.contains_key(name));
        }
        around.any(|function| self.map.functions.contains(&function.full()))
    }

    /// Returns `true` if a type that the file names outside of its functions has the method: a class that it extends.
    fn inherits(&self, module: &SourceModule, method: &str) -> bool {
        let outside = |at: usize| !module.functions.iter().any(|function| function.range.contains(&at));
        let of_type = |word: &str| {
            self.modules()
                .iter()
                .flat_map(|other| &other.functions)
                .any(|f| f.name == method && f.container.last().is_some_and(|home| home == word))
        };
        module.uses.iter().any(|word| outside(word.at) && of_type(&word.word))
    }

    /// Returns `true` if the name is in the same package.
    fn beside(&self, module: &SourceModule, name: &str) -> bool {
        let folder = |path: &str| path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
        self.modules().iter().any(|other| {
            (folder(&other.path) == folder(&module.path)
                && (module.language == "java" || other.package == module.package)
                || (module.language == "java" && other.package == module.package))
                && (other.defined.contains_key(name) || has_function(other, name))
        })
    }

    /// Returns `true` if a file defines or imports a name.
    fn knows(&self, at: usize, module: &SourceModule, name: &str) -> bool {
        if module.defined.contains_key(name)
            || has_function(module, name)
            || module.language == "rust" && self.resolver.knows_macro(module, name)
        {
            return true;
        }
        module.imports.iter().any(|import| {
            if import.glob {
                let there = self.resolver.module(module, &import.module);
                // All names of something that is not in the tree: nobody knows.
                return there.is_empty()
                    || there.iter().any(|target| {
                        let other = &self.modules()[*target];
                        *target != at
                            && self.resolver.gives_to_all(*target, name)
                            && (other.defined.contains_key(name)
                                || has_function(other, name)
                                || other.imports.iter().any(|import| import.local.as_deref() == Some(name))
                                || self.resolver.gives(&[*target], name, module, 0))
                    });
            }
            import.local.as_deref() == Some(name)
                && !(import.handed_on && module.language != "rust" && module.language != "python")
        })
    }
}

fn has_function(module: &SourceModule, name: &str) -> bool {
    module.functions.iter().any(|function| function.name == name && function.container.is_empty())
}

/// Returns `true` if a word is used for itself somewhere, and not only before a dot.
fn is_value(module: &SourceModule, word: &str) -> bool {
    let alone = module.uses.iter().filter(|used| used.receiver.is_none() && used.word == word).count();
    let before_dots = module.uses.iter().filter(|used| used.receiver.as_deref() == Some(word)).count();
    alone > before_dots
}
