//! Finds the module of an import among the files of a tree.

use std::collections::BTreeMap;

use super::{ImportedName, SourceModule};

/// The depth to which names are followed through files that re-export them.
const MAX_HANDED_ON: usize = 8;

/// Endings that an import of JavaScript leaves out.
const ENDINGS: [&str; 8] = [".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts"];

/// Finds modules.
pub(super) struct Resolver<'m> {
    pub(super) modules: &'m [SourceModule],
    /// The folders of crates of Rust, by their names.
    pub(super) crates: BTreeMap<String, String>,
}

impl Resolver<'_> {
    /// Returns the files that a module may be, as paths.
    pub(super) fn candidates(&self, from: &SourceModule, module: &str) -> Vec<String> {
        match from.language.as_str() {
            "python" => python_candidates(&from.path, module),
            "rust" => {
                let mut found = rust_candidates(&from.path, module);
                let (first, rest) = module.split_once("::").unwrap_or((module, ""));
                let folder = self.crates.get(first).into_iter();
                found.extend(folder.flat_map(|folder| rust_files(folder, &rest.replace("::", "/"))));
                found
            }
            "go" => Vec::new(),
            "java" => vec![format!("{}.java", module.replace('.', "/"))],
            _ => javascript_candidates(&from.path, module),
        }
    }

    /// Returns the files of a module.
    pub(super) fn module(&self, from: &SourceModule, module: &str) -> Vec<usize> {
        let language = from.language.as_str();
        let all = 0..self.modules.len();
        if language == "go" {
            return all.filter(|at| is_package_at(&self.modules[*at], module)).collect();
        }
        if language == "java" {
            return all.filter(|at| self.modules[*at].package == module).collect();
        }
        let candidates = self.candidates(from, module);
        let anywhere = language == "python" && !module.starts_with('.');
        let is =
            |path: &str| candidates.iter().any(|one| path == one || (anywhere && path.ends_with(&format!("/{one}"))));
        all.filter(|at| is(&self.modules[*at].path)).collect()
    }

    /// Returns the files that a word before a dot or a path means.
    pub(super) fn receiver(&self, from: &SourceModule, receiver: &str) -> Vec<usize> {
        for import in &from.imports {
            if import.local.as_deref() != Some(receiver) {
                continue;
            }
            if let Some(name) = import.name.as_deref().filter(|name| !["*", "default"].contains(name))
                && ["javascript", "typescript", "tsx"].contains(&from.language.as_str())
            {
                return self.namespaces(&self.module(from, &import.module), name);
            }
            let whole = match (&import.name, from.language.as_str()) {
                (Some(name), "rust") if import.module.is_empty() => name.clone(),
                (Some(name), "rust") => format!("{}::{name}", import.module),
                (Some(name), "python") if import.module.ends_with('.') => format!("{}{name}", import.module),
                (Some(name), "python") => format!("{}.{name}", import.module),
                _ => import.module.clone(),
            };
            return self.module(from, &whole);
        }
        if matches!(from.language.as_str(), "rust" | "python") { self.module(from, receiver) } else { Vec::new() }
    }

    /// Returns the files that a name means if files of JavaScript pass it on as a namespace: `export * as name`.
    fn namespaces(&self, files: &[usize], name: &str) -> Vec<usize> {
        let named =
            |import: &&ImportedName| import.local.as_deref() == Some(name) && import.name.as_deref() == Some("*");
        let all = files.iter().map(|at| &self.modules[*at]);
        all.flat_map(|module| {
            module.imports.iter().filter(named).flat_map(|import| self.module(module, &import.module))
        })
        .collect()
    }

    /// Returns `true` if one of the files exports a name.
    pub(super) fn gives(&self, files: &[usize], name: &str, to: &SourceModule, depth: usize) -> bool {
        files.iter().any(|at| self.gives_one(*at, name, to, depth))
    }

    fn gives_one(&self, at: usize, name: &str, to: &SourceModule, depth: usize) -> bool {
        let module = &self.modules[at];
        let language = module.language.as_str();
        if language == "rust" && !self.is_declared(module) {
            return false;
        }
        if language == "rust" && self.has_exported_macro(module, name) {
            return true;
        }
        let function = module.functions.iter().find(|function| function.container.is_empty() && function.name == name);
        let inside = language == "rust" && is_below(&to.path, &module.path);
        if language == "go" && folder(&to.path) != folder(&module.path) && !name.starts_with(char::is_uppercase) {
            return false;
        }
        let is_of_package = language == "java" && to.package != module.package;
        if is_of_package && module.defined.get(name).is_some_and(|public| !public) {
            return false;
        }
        if let Some(function) = function
            && (inside
                || matches!(language, "python" | "go")
                || (language == "rust" && is_visible(&function.head, &to.path, &module.path))
                || (language != "rust" && module.is_public(function)))
        {
            return true;
        }
        if language == "python" || language == "java" || language == "go" {
            let here = module.defined.contains_key(name) || (language == "python" && has_module_getattr(module));
            let imported = module.imports.iter().any(|import| import.local.as_deref() == Some(name));
            let below = self.module(module, &format!(".{name}"));
            let package = module.path.ends_with("__init__.py") && !below.is_empty();
            if here || imported || package {
                return true;
            }
        } else if function.is_none()
            && !(language == "rust" && self.is_submodule(module, name))
            && module.defined.get(name).is_some_and(|public| *public || inside)
        {
            return true;
        }
        // A name in `__all__` alone is none.
        if language != "python" && module.listed.contains(name) {
            return true;
        }
        if language == "rust" && self.is_submodule(module, name) && depth > 0 {
            return true;
        }
        depth < MAX_HANDED_ON
            && module.imports.iter().any(|import| {
                let is_other = import.for_crate && crate_folder(&to.path) != crate_folder(&module.path);
                let open = import.handed_on && !is_other || inside || language == "python";
                let there = || self.module(module, &import.module);
                // What Rust passes on must be visible where it ends up.
                let to = if language == "rust" { to } else { module };
                if import.glob {
                    let there = there();
                    let all = there.iter().copied().filter(|at| self.gives_to_all(*at, name)).collect::<Vec<_>>();
                    return open && (there.is_empty() || self.gives(&all, name, to, depth + 1));
                }
                if !open || import.local.as_deref() != Some(name) {
                    return false;
                }
                let there = there();
                let wanted = import.name.as_deref().unwrap_or(name);
                let only_type = module.types_alone.contains(name)
                    && there.iter().any(|at| has_free_function(&self.modules[*at], wanted));
                !only_type
                    && (there.is_empty()
                        || wanted == "*"
                        || there.contains(&at)
                        || self.gives(&there, wanted, to, depth + 1))
            })
    }

    /// Returns `true` if `import *` or `export *` of a file may give a name.
    pub(super) fn gives_to_all(&self, at: usize, name: &str) -> bool {
        let module = &self.modules[at];
        match module.language.as_str() {
            "python" if module.lists_all && !module.uses.iter().any(|word| word.word == "__all__") => {
                module.listed.contains(name)
            }
            "python" => !name.starts_with('_') || !module.listed.is_empty(),
            "typescript" | "tsx" | "javascript" => name != "default",
            _ => true,
        }
    }

    /// Returns `true` if a name means only a file of a package of Python, and nothing in it.
    pub(super) fn is_only_file(&self, files: &[usize], name: &str) -> bool {
        !files.is_empty()
            && files.iter().all(|at| {
                let module = &self.modules[*at];
                module.path.ends_with("__init__.py")
                    && !self.module(module, &format!(".{name}")).is_empty()
                    && !module.defined.contains_key(name)
                    && !has_free_function(module, name)
                    && !module.imports.iter().any(|import| {
                        let there = self.module(module, &import.module);
                        let all =
                            || there.iter().copied().filter(|at| self.gives_to_all(*at, name)).collect::<Vec<_>>();
                        import.local.as_deref() == Some(name)
                            || (import.glob && (there.is_empty() || self.gives(&all(), name, module, 1)))
                    })
            })
    }

    /// Returns `true` unless the file above a Rust module is there and does not declare it.
    fn is_declared(&self, module: &SourceModule) -> bool {
        let own = rust_path(&module.path);
        let Some(name) = own.last().filter(|_| module.path.contains("src/")) else { return true };
        let above = rust_candidates(&module.path, "super");
        let mut above = self.modules.iter().filter(|other| above.contains(&other.path)).peekable();
        above.peek().is_none() || above.any(|other| other.defined.contains_key(name))
    }

    /// Returns `true` for the root of a crate in which some file has a macro with `#[macro_export]`.
    fn has_exported_macro(&self, root: &SourceModule, name: &str) -> bool {
        let is_exported = |other: &SourceModule| {
            other.macros.get(name) == Some(&true) && crate_folder(&other.path) == crate_folder(&root.path)
        };
        rust_path(&root.path).is_empty() && self.modules.iter().any(is_exported)
    }

    /// Returns `true` if a file of Rust knows a macro without an import: it or a module above has it, or has it from a module with
    /// `#[macro_use]`.
    pub(super) fn knows_macro(&self, module: &SourceModule, name: &str) -> bool {
        let is_around = |other: &&SourceModule| other.path == module.path || is_below(&module.path, &other.path);
        let mut around = self.modules.iter().filter(is_around);
        around.any(|other| self.shows_macro(other, name, 0))
    }

    fn shows_macro(&self, module: &SourceModule, name: &str, depth: usize) -> bool {
        let below = module.macro_modules.iter().flat_map(|inner| self.module(module, &format!("self::{inner}")));
        let mut below = below.filter(|_| depth < MAX_HANDED_ON);
        module.macros.contains_key(name) || below.any(|at| self.shows_macro(&self.modules[at], name, depth + 1))
    }

    /// Returns `true` if a name is that of a file below a Rust module.
    pub(super) fn is_submodule(&self, module: &SourceModule, name: &str) -> bool {
        !self.module(module, &format!("self::{name}")).is_empty()
    }
}

/// Returns `true` if a module of Python makes its names on demand.
fn has_module_getattr(module: &SourceModule) -> bool {
    module.functions.iter().any(|function| function.container.is_empty() && function.name == "__getattr__")
}

/// Returns `true` for a file of the package of Go with this path.
fn is_package_at(file: &SourceModule, path: &str) -> bool {
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_there = path == folder || path.ends_with(&format!("/{folder}"));
    !folder.is_empty() && is_there && !file.is_outer_test()
}

fn has_free_function(module: &SourceModule, name: &str) -> bool {
    module.functions.iter().any(|function| function.container.is_empty() && function.name == name)
}

/// Returns `true` if a file of Rust may use a function with this head of another: `pub(super)` ends at the module above,
/// `pub(crate)` at the crate.
fn is_visible(head: &str, to: &str, module: &str) -> bool {
    if crate_folder(to) != crate_folder(module) {
        return head.contains("pub") && !head.contains("pub(");
    }
    let above = rust_path(module);
    let above = above.split_last().map_or(&[][..], |(_, above)| above);
    head.contains("pub") && (!head.contains("pub(super)") || rust_path(to).starts_with(above))
}

/// Returns `true` if a Rust module is inside another.
fn is_below(inner: &str, outer: &str) -> bool {
    let same_crate = crate_folder(inner) == crate_folder(outer);
    let (inner, outer) = (rust_path(inner), rust_path(outer));
    same_crate && inner.starts_with(&outer) && inner != outer
}

fn folder(path: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    parts
}

fn javascript_candidates(from: &str, module: &str) -> Vec<String> {
    if !module.starts_with('.') {
        return Vec::new();
    }
    let mut parts = folder(from);
    for part in module.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let base = parts.join("/");
    let mut found = vec![base.clone()];
    found.extend(ENDINGS.iter().map(|ending| format!("{base}{ending}")));
    let index = if base.is_empty() { "index".to_owned() } else { format!("{base}/index") };
    found.extend(ENDINGS.iter().map(|ending| format!("{index}{ending}")));
    for (written, real) in [(".js", [".ts", ".tsx"]), (".mjs", [".mts", ".ts"]), (".jsx", [".tsx", ".ts"])] {
        if let Some(stem) = base.strip_suffix(written) {
            found.extend(real.iter().map(|ending| format!("{stem}{ending}")));
        }
    }
    found
}

fn python_candidates(from: &str, module: &str) -> Vec<String> {
    let dots = module.len() - module.trim_start_matches('.').len();
    let mut parts: Vec<&str> = if dots == 0 { Vec::new() } else { folder(from) };
    for _ in 1..dots {
        parts.pop();
    }
    parts.extend(module.trim_start_matches('.').split('.').filter(|part| !part.is_empty()));
    let base = parts.join("/");
    if base.is_empty() {
        return vec!["__init__.py".to_owned()];
    }
    vec![format!("{base}.py"), format!("{base}/__init__.py")]
}

/// Returns the root of the crate that a file is in, and the names of the modules down to it.
fn rust_path(path: &str) -> Vec<String> {
    let mut parts: Vec<String> = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if let Some(src) = parts.iter().rposition(|part| part == "src") {
        parts.drain(..=src);
    }
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        parts.pop();
    }
    parts
}

fn rust_candidates(from: &str, module: &str) -> Vec<String> {
    let root = crate_folder(from);
    let here = rust_path(from);
    let mut words = module.split("::").filter(|word| !word.is_empty()).peekable();
    let mut parts: Vec<String> = match words.peek() {
        Some(&"crate") => {
            words.next();
            Vec::new()
        }
        Some(&"self") => {
            words.next();
            here
        }
        Some(&"super") => {
            let mut parts = here;
            while words.next_if_eq(&"super").is_some() {
                parts.pop();
            }
            parts
        }
        _ => here,
    };
    parts.extend(words.map(str::to_owned));
    rust_files(root, &parts.join("/"))
}

/// Returns the files that a module of Rust may be, below the folder of its crate.
fn rust_files(root: &str, base: &str) -> Vec<String> {
    if base.is_empty() {
        return vec![format!("{root}lib.rs"), format!("{root}main.rs"), format!("{root}mod.rs")];
    }
    vec![format!("{root}{base}.rs"), format!("{root}{base}/mod.rs")]
}

/// Returns the folder of the crate that a file of Rust is in.
fn crate_folder(path: &str) -> &str {
    path.rfind("src/").map_or("", |at| &path[..at + 4])
}
