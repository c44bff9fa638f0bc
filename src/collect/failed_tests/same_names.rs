//! The names that a test uses, and what they mean in the file where it is now.

use std::collections::BTreeSet;
use std::ops::Range;

use super::same_subject::MovedTest;
use super::test_words::{is_word, tokens};
use super::{place_in, words};
use crate::fact::weakening::{adds_replacement, is_test_file, test_texts};
use crate::repo_path::RepoPath;
use crate::surroundings::{OuterStatement, OuterStatementKind, Surroundings, VisibleImport, spaced};

/// Words of code that gives names a meaning by their text.
const DYNAMIC: [&str; 16] = [
    "globals", "locals", "vars(", "exec(", "eval(", "setattr", "__import__", "sys.modules", "sys.path", "__dict__",
    "__code__", "globalThis", "defineProperty", "Object.assign", "require.cache", ".extend(",
];
/// The beginnings of statements that change nothing that a test calls.
const HARMLESS: [&str; 2] = ["sys.path", "@pytest.mark."];
/// The beginning of a statement of Python that only a script runs.
const MAIN: &str = "if __name__ ==";

impl MovedTest<'_> {
    /// Returns `true` if each name that the test uses means the same in both files, or what the change made of it, as `is_moved`
    /// says of a name and its old module. `None`: the names of this language are not read.
    pub(super) fn has_same_names(&self, is_moved: impl Fn(&str, &str) -> bool) -> Option<bool> {
        let (was, before, now) = self.texts()?;
        let known = format!("{}\n{}", spaced(was), spaced(before));
        let old = surroundings(self.old, was, &self.test.name)?.into_iter().next()?;
        let mut new = surroundings(self.new, now, self.new_name)?;
        if !is_test_file(self.new) {
            // What stands at the top of a file of code is what the test is about.
            for around in &mut new {
                around.statements.retain(|statement| statement.depth > 0);
            }
        }
        let tests: Vec<usize> = places(self.new, now).into_iter().map(|(_, at)| at).collect();
        let is_same = |now: &Surroundings| {
            let names = SameNames { moved: self, was: &old, now, known: &known, tests: &tests };
            names.used().all(|name| names.means_the_same(name, &is_moved))
                && now.statements.iter().all(|statement| names.is_harmless(statement))
                && names.has_no_new_star()
                && names.is_nothing_patched()
        };
        Some(!new.is_empty() && new.iter().all(is_same))
    }
}

/// Returns the names of the tests of a file, each with its place in bytes.
pub(super) fn places(path: &RepoPath, text: &str) -> Vec<(String, usize)> {
    let place = |(name, body): (String, &str)| (name, place_in(text, body));
    test_texts(path, text).into_iter().map(place).collect()
}

/// Returns the surroundings of each test of this name. `None`: the names of its language are not read.
pub(super) fn surroundings(path: &RepoPath, text: &str, name: &str) -> Option<Vec<Surroundings>> {
    let named = places(path, text).into_iter().filter(|(test, _)| test == name);
    named.map(|(_, at)| surroundings_at(path, text, at)).collect()
}

/// Returns the surroundings of the statement that holds a byte. `None`: the names of its language are not read, or this program
/// was built without grammars.
pub(super) fn surroundings_at(path: &RepoPath, text: &str, at: usize) -> Option<Surroundings> {
    #[cfg(feature = "symbols")]
    return crate::symbols::surroundings(&path.to_string(), text, at);
    #[cfg(not(feature = "symbols"))]
    {
        let _ = (path, text, at);
        None
    }
}

/// The surroundings of a test in both files.
pub(super) struct SameNames<'a> {
    pub(super) moved: &'a MovedTest<'a>,
    pub(super) was: &'a Surroundings,
    pub(super) now: &'a Surroundings,
    /// The texts that were there before, with single spaces.
    pub(super) known: &'a str,
    /// The places of all tests of the new file.
    pub(super) tests: &'a [usize],
}

impl SameNames<'_> {
    /// Returns the names that the test used and still uses, those of its parameters included: a fixture has the name of one.
    fn used(&self) -> impl Iterator<Item = &str> {
        let head = self.moved.test.body.lines().next().unwrap_or_default();
        let head = words(head.strip_prefix(self.moved.test.name.as_str()).unwrap_or_default());
        let still = self.was.used.iter().filter(|name| self.now.used.contains(*name));
        still.map(String::as_str).chain(head)
    }

    /// Returns `true` if a name means the same in both files, or what the change made of it.
    fn means_the_same(&self, name: &str, is_moved: impl Fn(&str, &str) -> bool) -> bool {
        let (code_was, code_now) = (bound(self.was, name), bound(self.now, name));
        let (was, now) = (imported(self.was, name), imported(self.now, name));
        let is_one_file = self.moved.old == self.moved.new;
        let is_kept = |code: &&OuterStatement| {
            let is_redefined = matches!(code.kind, OuterStatementKind::Definition(_)) && is_one_file;
            code_was.iter().any(|known| known.text == code.text || is_redefined && known.kind == code.kind)
        };
        if !is_test_file(self.moved.new) {
            let is_of_file = |import: &&VisibleImport| ["super", "crate", "self"].contains(&last_part(&import.module));
            return code_now.iter().all(is_kept)
                && now
                    .iter()
                    .all(|import| is_of_file(import) || was.iter().any(|known| is_same_import(known, import, false)));
        }
        if !is_test_file(self.moved.old) && code_was.iter().any(|code| code.depth == 0) && code_now.is_empty() {
            // It moved from the file of its code into one that imports this.
            return now.iter().all(|import| is_module_of(&import.module, self.moved.old));
        }
        let is_left = !code_now.is_empty() || code_was.is_empty() || self.is_elsewhere(&code_was);
        if !code_now.iter().all(is_kept) || !is_left {
            return false;
        }
        let is_import = |known: &VisibleImport, import: &VisibleImport| is_same_import(known, import, is_one_file);
        let all_of = |surroundings: &Surroundings, import: &VisibleImport| {
            let mut stars = surroundings.imports.iter().filter(|star| star.local.is_none());
            stars.any(|star| is_same_module(star, import))
        };
        let follows =
            |known: &&VisibleImport| is_moved(known.name.as_deref().unwrap_or(name), last_part(&known.module));
        match (was.as_slice(), now.as_slice()) {
            ([], []) => true,
            (known, []) => {
                let is_given = |import: &&VisibleImport| {
                    self.is_of_package(import) || all_of(self.now, import) || self.imports_module_of(import)
                };
                code_now.is_empty() && (known.iter().all(is_given) || known.iter().all(follows))
            }
            ([], all) => {
                all.iter().all(|import| !code_was.is_empty() || self.is_of_package(import) || all_of(self.was, import))
            }
            (known, all) => {
                let is_kept = |import: &&VisibleImport| known.iter().any(|known| is_import(known, import));
                let is_still_there = |known: &&VisibleImport| all.iter().any(|import| is_import(known, import));
                all.iter().all(is_kept) && known.iter().all(is_still_there)
                    || all.len() == 1 && known.iter().all(follows)
            }
        }
    }

    /// Returns `true` if the new file imports the module from which the old one took a name: `calc.add` in place of `add`.
    fn imports_module_of(&self, known: &VisibleImport) -> bool {
        let module = last_part(&known.module);
        self.now.imports.iter().any(|import| {
            let is_it =
                import.name.as_deref().map_or_else(|| last_part(&import.module) == module, |name| name == module);
            is_it && import.local.as_deref() == Some(module)
        })
    }

    /// Returns `true` if code that was next to a test stands in another file of tests now.
    fn is_elsewhere(&self, code: &[&OuterStatement]) -> bool {
        let mut texts = self.moved.changed.files.iter().filter_map(|file| file.new.as_deref()).map(spaced);
        texts.any(|text| code.iter().all(|statement| text.contains(&statement.text)))
    }

    /// Returns `true` if an import names a package that is installed, not a file of the project, as far as its form shows that.
    fn is_of_package(&self, import: &VisibleImport) -> bool {
        match self.now.language.as_str() {
            "javascript" | "typescript" | "tsx" => !import.module.contains(['/', '.']),
            "go" | "java" => true,
            _ => false,
        }
    }

    /// Returns `true` if a statement was there before, or changes nothing that the test uses.
    fn is_harmless(&self, statement: &OuterStatement) -> bool {
        let text = &statement.text;
        let is_test = self.is_test(statement);
        let names_own = |names: &str| names == self.moved.new_name;
        match &statement.kind {
            // The last one counts.
            OuterStatementKind::Definition(name) if names_own(name) => {
                return !bound(self.was, &self.moved.test.name).is_empty();
            }
            OuterStatementKind::Assignment(names) if names.iter().any(|name| names_own(name)) => return false,
            OuterStatementKind::Import => return true,
            _ => {}
        }
        if is_test || self.known.contains(text.as_str()) || HARMLESS.iter().any(|start| text.starts_with(start)) {
            return !text.contains("usefixtures") || self.known.contains(text.as_str());
        }
        let names_it = |word: &str| self.is_watched(word);
        match &statement.kind {
            OuterStatementKind::Definition(_) => !self.sets_member(text),
            OuterStatementKind::Assignment(names) => !names.iter().any(|name| names_it(name)) && !is_dynamic(text),
            OuterStatementKind::Other if text.starts_with(MAIN) => !self.sets_member(text),
            OuterStatementKind::Other => !words(text).any(names_it) && !is_dynamic(text),
            OuterStatementKind::Decorator => false,
            OuterStatementKind::Import => true,
        }
    }

    /// Returns `true` if nothing around the test replaces code while tests run. What another test replaces, it replaces for itself.
    fn is_nothing_patched(&self) -> bool {
        let Some((was, before, now)) = self.moved.texts() else { return true };
        let others = self.now.statements.iter().filter(|statement| self.is_test(statement)).map(|test| &test.range);
        let outside = without(now, others);
        !adds_replacement(&format!("{was}\n{before}"), &outside)
            && self
                .imported_helpers()
                .all(|(old, new)| !adds_replacement(old, new) && (old == new || !self.sets_member(new)))
    }

    /// Returns the changed files of tests that the new file imports and the old one did not, each before and after.
    fn imported_helpers(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_known = |import: &VisibleImport| self.was.imports.iter().any(|known| is_same_module(known, import));
        let modules: BTreeSet<&str> = self
            .now
            .imports
            .iter()
            .filter(|import| !is_known(import))
            .map(|import| last_part(&import.module))
            .collect();
        let files = self.moved.changed.files.iter().filter(|file| file.path != *self.moved.new);
        files.filter_map(move |file| {
            let path = file.path.to_string();
            let stem = path.rsplit('/').next()?.split('.').next()?;
            modules.contains(stem).then_some((file.old.as_deref().unwrap_or_default(), file.new.as_deref()?))
        })
    }

    pub(super) fn is_test(&self, statement: &OuterStatement) -> bool {
        self.tests.iter().any(|at| statement.range.contains(at))
    }

    /// Returns `true` if a word is a name that the old file gave the test, or the module that it is from.
    pub(super) fn is_watched(&self, word: &str) -> bool {
        let is_used = |name: &str| self.was.used.contains(name);
        let is_of_import = |import: &VisibleImport| {
            let local = import.local.as_deref().unwrap_or_default();
            is_used(local) && !self.is_of_package(import) && (local == word || last_part(&import.module) == word)
        };
        self.was.imports.iter().any(is_of_import) || is_used(word) && !bound(self.was, word).is_empty()
    }

    /// Returns `true` if code sets a member of something that the test uses, or the meaning of its name.
    pub(super) fn sets_member(&self, text: &str) -> bool {
        let words = tokens(text);
        let is_of_target = |word: &&String| is_word(word) || [".", "[", "]", "\"", "'"].contains(&word.as_str());
        let is_set = |at: usize| {
            let target: Vec<&String> = words[..at].iter().rev().take_while(is_of_target).collect();
            words[at] == "="
                && target.iter().any(|word| *word == "." || *word == "[")
                && target.iter().any(|word| self.is_watched(word))
        };
        let is_global =
            |pair: &[String]| ["global", "nonlocal"].contains(&pair[0].as_str()) && self.is_watched(&pair[1]);
        (0..words.len()).any(is_set) || words.windows(2).any(is_global)
    }

    /// Returns `true` if the new file takes all names of no other module than the old one: the last import of a name counts.
    fn has_no_new_star(&self) -> bool {
        let stars =
            |of: &Surroundings| of.imports.iter().filter(|import| import.local.is_none()).cloned().collect::<Vec<_>>();
        let known = |star: &VisibleImport| self.was.imports.iter().any(|known| is_same_module(known, star));
        self.now.language != "python" || stars(self.now).iter().all(known)
    }
}

pub(super) fn bound<'s>(of: &'s Surroundings, name: &str) -> Vec<&'s OuterStatement> {
    let is_it = |statement: &&OuterStatement| match &statement.kind {
        OuterStatementKind::Definition(defined) => defined == name,
        OuterStatementKind::Assignment(names) => names.contains(name),
        _ => false,
    };
    of.statements.iter().filter(is_it).collect()
}

pub(super) fn imported<'s>(of: &'s Surroundings, name: &str) -> Vec<&'s VisibleImport> {
    of.imports.iter().filter(|import| import.local.as_deref() == Some(name)).collect()
}

/// Returns `true` if a module is that of a file, by its last part: `shop::pricing` of `src/pricing.rs`. The root of a crate has
/// any name.
fn is_module_of(module: &str, path: &RepoPath) -> bool {
    let path = path.to_string();
    let stem = path.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default();
    let folder = path.rsplit('/').nth(1).unwrap_or_default();
    match stem {
        "lib" | "main" => !module.contains(':'),
        "mod" | "index" | "__init__" => last_part(module) == folder,
        stem => last_part(module) == stem,
    }
}

/// Returns `true` if two imports take the same from the same module. Only the last part of a module is compared, as a path
/// begins elsewhere in another folder; in one file, all of it, and `other` may take it from the package.
pub(super) fn is_same_import(one: &VisibleImport, other: &VisibleImport, is_one_file: bool) -> bool {
    const WHOLE: [Option<&str>; 3] = [None, Some("*"), Some("default")];
    let (name, other_name) = (one.name.as_deref(), other.name.as_deref());
    let is_same_name = name == other_name || WHOLE.contains(&name) && WHOLE.contains(&other_name);
    let is_module = |whole: &VisibleImport, part: &VisibleImport| {
        let name = part.name.as_deref().unwrap_or_default();
        let is_whole = || whole.module == format!("{}.{name}", part.module);
        whole.name.is_none() && name == last_part(&whole.module) && (!is_one_file || is_whole())
    };
    let is_same_place = if is_one_file {
        one.module == other.module || is_package_of(&other.module, &one.module)
    } else {
        is_same_module(one, other)
    };
    is_same_name && is_same_place || is_module(one, other) || is_module(other, one)
}

/// Returns `true` if two imports name the same module, by the last part of it, or one of them the package of the other, which
/// passes its names on. A package that is only dots has no name.
fn is_same_module(one: &VisibleImport, other: &VisibleImport) -> bool {
    let (part, other_part) = (last_part(&one.module), last_part(&other.module));
    part == other_part
        || part.is_empty()
        || other_part.is_empty()
        || is_package_of(&one.module, &other.module)
        || is_package_of(&other.module, &one.module)
}

/// Returns `true` if a module is the package of another one: `shop` of `shop.pricing`, `./src/index.js` of `./src/pricing.js`.
fn is_package_of(package: &str, module: &str) -> bool {
    let index = package.rsplit_once('/').filter(|_| last_part(package) == "index").map(|(folder, _)| folder);
    match index {
        Some(folder) => module.rsplit_once('/').is_some_and(|(own, _)| own == folder),
        None => module.strip_prefix(package).is_some_and(|rest| rest.starts_with('.')),
    }
}

/// Returns the last part of a module without its ending: `calc` of `../src/calc.js`, `src.calc` and `crate::calc`.
pub(super) fn last_part(module: &str) -> &str {
    let file = module.rsplit('/').next().unwrap_or(module);
    let mut endings = ["js", "ts", "mjs", "cjs", "jsx", "tsx", "mts", "cts"].iter();
    let file = endings.find_map(|end| file.strip_suffix(end)?.strip_suffix('.')).unwrap_or(file);
    file.rsplit(['.', ':']).next().unwrap_or(file)
}

/// Returns a text without some of its parts, which do not overlap.
fn without<'r>(text: &str, parts: impl Iterator<Item = &'r Range<usize>>) -> String {
    let mut parts: Vec<&Range<usize>> = parts.collect();
    parts.sort_by_key(|part| part.start);
    let mut kept = String::new();
    let mut at = 0;
    for part in parts {
        kept.push_str(text.get(at..part.start).unwrap_or_default());
        at = part.end;
    }
    kept + text.get(at..).unwrap_or_default()
}

pub(super) fn is_dynamic(text: &str) -> bool {
    DYNAMIC.iter().any(|word| text.contains(word))
}
