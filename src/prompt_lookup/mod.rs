//! Looks the names of a prompt up in the files of a repository, within limits of work and time.

mod name_search;
mod reading_order;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use self::name_search::NameSearch;
use self::reading_order::{LookupBudget, by_value};
use crate::prompt::{Findings, LookupResult, NameInPrompt, NameKind};

/// The longest time for one prompt. A name that was not reached by then, or with the work that one prompt may cost, counts
/// as not looked up, never as missing.
pub const LOOKUP_TIMEOUT: Duration = Duration::from_millis(100);
const MAX_FILE_BYTES: u64 = 256 * 1024;
const MAX_PLACES: usize = 20;
/// A shorter word is part of too many names.
const MIN_PART: usize = 4;
/// A shorter word is in files by chance.
const MIN_TELLING: usize = 6;
/// A word in more files than these says nothing about the place.
const MAX_TELLING_MENTIONS: usize = 2;
/// Other files hold no names that people mean.
const UNREAD: [&str; 12] =
    [".png", ".jpg", ".gif", ".svg", ".ico", ".woff2", ".pdf", ".zip", ".gz", ".lock", ".min.js", "package-lock.json"];

/// Looks the names up among the given paths, which are relative to `root`.
pub fn look_up(root: &Path, paths: &[String], names: &[NameInPrompt], limit: Duration) -> Findings {
    let end = Instant::now() + limit;
    let mut findings =
        Findings { commands: commands(root, paths), is_frontend: is_frontend(paths), ..Findings::default() };
    let mut wanted: Vec<(&NameInPrompt, NameMatches)> = Vec::new();
    let file_paths: Vec<FilePath<'_>> = paths.iter().map(FilePath::of).collect();
    let is_looked_up = |name: &&NameInPrompt| name.kind != NameKind::Command;
    let (explicit, plain): (Vec<_>, Vec<_>) = names.iter().filter(is_looked_up).partition(|name| !name.kind.is_plain());
    let mut in_time = true;
    for name in explicit.into_iter().chain(plain) {
        if wanted.iter().any(|(other, _)| other.text == name.text) {
            continue;
        }
        if Instant::now() > end {
            in_time = false;
            break;
        }
        wanted.push((name, by_path(name, &file_paths)));
    }
    let complete = in_time && read_files(root, paths, &mut wanted, end);
    for (name, mut place) in wanted {
        place.within(name);
        let (places, exact) = place.best();
        // The paths alone say whether a file is there.
        if !places.is_empty() || complete || name.kind == NameKind::Path {
            let places = places.iter().take(MAX_PLACES).cloned().collect();
            findings.names.insert(name.text.clone(), LookupResult { places, exact });
        }
    }
    findings
}

/// Returns `true` if most of the source files make up an interface.
fn is_frontend(paths: &[String]) -> bool {
    const INTERFACE: [&str; 6] = ["tsx", "jsx", "vue", "svelte", "css", "scss"];
    const OTHER: [&str; 15] =
        ["rs", "py", "go", "java", "kt", "rb", "php", "cs", "c", "cpp", "ex", "scala", "sql", "ts", "js"];
    let count = |endings: &[&str]| {
        paths.iter().filter(|path| path.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending))).count()
    };
    count(&INTERFACE) > count(&OTHER)
}

/// The places of one name, by the quality of the match.
#[derive(Default)]
struct NameMatches {
    path: BTreeSet<String>,
    /// As `path`, for another form of the word: "transfers" in `transfer.go`.
    inflected: BTreeSet<String>,
    definition: BTreeSet<String>,
    mention: BTreeSet<String>,
    part: BTreeSet<String>,
    takes_mentions: bool,
}

impl NameMatches {
    fn places_by_path(&self) -> impl Iterator<Item = &String> {
        self.path.iter().chain(&self.inflected).chain(&self.part)
    }

    /// Decides between several places by the text before the last part of the name: `json` in `render::json::row`.
    fn within(&mut self, name: &NameInPrompt) {
        if self.path.is_empty() {
            self.path = std::mem::take(&mut self.inflected);
        }
        without_tests(&mut self.path);
        without_tests(&mut self.definition);
        without_tests(&mut self.mention);
        if name.kind != NameKind::Word || name.text.len() < MIN_TELLING {
            self.mention.retain(|_| self.takes_mentions);
        }
        let parts: Vec<String> =
            name.text.to_lowercase().split([':', '.']).filter(|part| !part.is_empty()).map(str::to_owned).collect();
        if name.kind == NameKind::Identifier && parts.len() > 1 && self.definition.len() > 1 {
            let qualifier = &parts[parts.len() - 2];
            let fits: BTreeSet<String> =
                self.definition.iter().filter(|path| path.to_lowercase().contains(qualifier)).cloned().collect();
            if !fits.is_empty() {
                self.definition = fits;
            }
        }
    }

    fn best(&self) -> (&BTreeSet<String>, bool) {
        let exact = [&self.path, &self.definition].into_iter().find(|places| !places.is_empty());
        match exact {
            Some(places) => (places, true),
            None if self.takes_mentions && !self.mention.is_empty() => (&self.mention, true),
            None if self.part.is_empty() && self.mention.len() <= MAX_TELLING_MENTIONS => (&self.mention, false),
            None => (&self.part, false),
        }
    }
}

/// Returns `true` for `README.md` and "README", `src/ui/Button.tsx` and "ui/Button".
fn is_named_without_ending(path: &str, wanted: &str) -> bool {
    let Some((before, rest)) = path.rsplit_once(wanted) else { return false };
    let is_whole = before.is_empty() || wanted.contains('/') && before.ends_with('/');
    is_whole && !wanted.contains('.') && rest.starts_with('.') && !rest.contains('/')
}

/// Leaves tests out when the name has a place of its own.
fn without_tests(places: &mut BTreeSet<String>) {
    let own = |path: &&String| !["test", "spec", "bench", "example", "docs/"].iter().any(|part| path.contains(part));
    if places.len() > 1 && places.iter().any(|path| own(&path)) {
        places.retain(|path| own(&path));
    }
}

/// The shortest stem of a word: "load" of "loader".
const MIN_STEM: usize = 4;

/// Returns the verb or noun from which a word is made: "scroll" for "scrolling", "index" for "indexación".
fn word_stem(word: &str) -> Option<&str> {
    const ENDINGS: [&str; 10] = ["ations", "ation", "ación", "ação", "ings", "ing", "ers", "er", "ors", "or"];
    let stem = ENDINGS.iter().find_map(|ending| word.strip_suffix(ending))?;
    (stem.len() >= MIN_STEM).then_some(stem)
}

/// A path, and what names are compared with.
struct FilePath<'a> {
    path: &'a String,
    lower: String,
    file: &'a str,
    /// The name of the file without endings, in small letters.
    stem: String,
}

impl<'a> FilePath<'a> {
    fn of(path: &'a String) -> Self {
        let file = path.rsplit('/').next().unwrap_or(path);
        Self { path, lower: path.to_lowercase(), file, stem: file.split('.').next().unwrap_or(file).to_lowercase() }
    }
}

fn by_path(name: &NameInPrompt, paths: &[FilePath<'_>]) -> NameMatches {
    let mut place = NameMatches {
        takes_mentions: !name.kind.is_plain() && !matches!(name.kind, NameKind::Path | NameKind::Table),
        ..NameMatches::default()
    };
    let lower = name.text.to_lowercase();
    // "@src/a.rs" mentions a file, and the package `@shop/utils` is in a folder `utils`.
    let is_package = name.text.starts_with('@') && name.text.matches('/').count() == 1;
    let mut wanted = name.text.trim_start_matches('@').trim_start_matches("./").trim_matches('/').to_owned();
    if name.kind == NameKind::Path {
        // A frame of a trace has the path of another machine before it.
        loop {
            let (file, folder, inner) = (format!("/{wanted}"), format!("{wanted}/"), format!("/{wanted}/"));
            let hits = paths.iter().map(|place| place.path).filter(|path| {
                **path == wanted
                    || path.ends_with(&file)
                    || path.starts_with(&folder)
                    || path.contains(&inner)
                    || is_named_without_ending(path, &wanted)
            });
            let mut hits: BTreeSet<String> = hits.cloned().collect();
            if hits.contains(&wanted) || hits.iter().any(|path| path.contains(&folder)) {
                hits = BTreeSet::from([wanted.clone()]);
            }
            place.path.extend(hits);
            match wanted.split_once('/') {
                Some((_, rest)) if place.path.is_empty() && (is_package || name.text.starts_with('/')) => {
                    wanted = rest.to_owned();
                }
                _ => return place,
            }
        }
    }
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    let joined = lower.replace(' ', "");
    for FilePath { path, lower: lower_path, file, stem } in paths {
        let path = *path;
        if name.kind == NameKind::Phrase {
            let stem = stem.replace(['_', '-'], "");
            if stem == joined {
                place.path.insert(path.clone());
            } else if stem.contains(&joined) {
                place.part.insert(path.clone());
            }
        } else if name.kind == NameKind::Word && lower.len() < MIN_PART {
            if path.rsplit('/').skip(1).any(|part| part == lower || part.strip_suffix('s') == Some(singular)) {
                place.part.insert(path.clone());
            }
        } else if name.kind == NameKind::Word {
            if *stem == lower || lower_path.rsplit('/').next() == Some(&lower) {
                place.path.insert(path.clone());
            } else if *stem == singular || Some(stem.as_str()) == lower.strip_suffix("ing") {
                place.inflected.insert(path.clone());
            } else if lower_path.contains(singular) || word_stem(&lower).is_some_and(|stem| path.contains(stem)) {
                place.part.insert(path.clone());
            }
        } else if name.kind == NameKind::Identifier && (*file == name.text || *stem == lower) {
            place.definition.insert(path.clone());
        }
    }
    place
}

/// Reads the files for facts that paths do not show. Returns `false` if work or time was used up before the end.
fn read_files(root: &Path, paths: &[String], wanted: &mut [(&NameInPrompt, NameMatches)], end: Instant) -> bool {
    let Some(search) = NameSearch::of(wanted.iter().map(|(name, _)| *name).collect()) else { return false };
    let mut budget = LookupBudget::until(end);
    let telling: BTreeSet<String> = wanted.iter().flat_map(|(_, found)| found.places_by_path()).cloned().collect();
    for path in by_value(paths, |path| telling.contains(path)) {
        if UNREAD.iter().any(|end| path.ends_with(end)) {
            continue;
        }
        let full = root.join(path);
        let length = fs::symlink_metadata(&full).ok().filter(|data| data.is_file() && data.len() <= MAX_FILE_BYTES);
        if !budget.takes(length.as_ref().map_or(0, fs::Metadata::len)) {
            return false;
        }
        let Some(text) = length.and_then(|_| fs::read(&full).ok()) else { continue };
        let text = String::from_utf8_lossy(&text);
        for ((_, found), uses) in wanted.iter_mut().zip(search.uses(&text)) {
            let places = [
                (&mut found.mention, uses.is_mentioned),
                (&mut found.definition, uses.is_defined),
                (&mut found.part, uses.is_part),
            ];
            places
                .into_iter()
                .filter(|(_, is_there)| *is_there)
                .for_each(|(places, _)| _ = places.insert(path.clone()));
        }
    }
    true
}

/// The files that tell which program runs the scripts of `package.json`.
const PACKAGE_MANAGERS: [(&str, &str); 6] = [
    ("pnpm-lock.yaml", "pnpm"),
    ("pnpm-workspace.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
];

fn package_manager(paths: &[String]) -> &'static str {
    PACKAGE_MANAGERS.iter().find(|(file, _)| paths.iter().any(|path| path == file)).map_or("npm", |(_, name)| name)
}

/// Returns the commands that Makefiles, justfiles and `package.json` declare.
fn commands(root: &Path, paths: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for (file, program) in [("Makefile", "make"), ("justfile", "just"), ("package.json", "npm")] {
        let Some(text) =
            paths.iter().any(|path| path == file).then(|| fs::read_to_string(root.join(file)).ok()).flatten()
        else {
            continue;
        };
        if file == "package.json" {
            let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
            let program = value["packageManager"].as_str().and_then(|name| name.split('@').next()).map_or_else(
                || package_manager(paths),
                |name| PACKAGE_MANAGERS.iter().find(|(_, known)| *known == name).map_or(program, |(_, known)| known),
            );
            found.extend(
                value["scripts"].as_object().into_iter().flatten().map(|(name, _)| format!("{program} run {name}")),
            );
        } else {
            let targets = text
                .lines()
                .filter(|line| !line.starts_with([' ', '\t', '.', '#']))
                .filter_map(|line| line.split_once(':'));
            found.extend(
                targets
                    .filter(|(name, rest)| !rest.starts_with('=') && !name.contains(' '))
                    .map(|(name, _)| format!("{program} {name}")),
            );
        }
    }
    if paths.iter().any(|path| path == "Cargo.toml") {
        found.push("cargo test".to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_run_by_the_package_manager_of_the_project() {
        for (file, program) in [("pnpm-workspace.yaml", "pnpm"), ("yarn.lock", "yarn"), ("README.md", "npm")] {
            assert_eq!(package_manager(&["package.json".to_owned(), file.to_owned()]), program);
        }
    }
}
