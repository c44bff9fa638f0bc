//! Looks the names of a prompt up in the files of a repository, within a time limit.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use regex::RegexSet;

use crate::prompt::{Findings, LookupResult, NameInPrompt, NameKind};

/// The longest time for one prompt. A name that was not reached by then counts as not looked up, never as missing.
pub const LOOKUP_TIMEOUT: Duration = Duration::from_millis(100);
const MAX_FILE_BYTES: u64 = 256 * 1024;
const MAX_PLACES: usize = 20;
/// Other files hold no names that people mean.
const UNREAD: [&str; 12] =
    [".png", ".jpg", ".gif", ".svg", ".ico", ".woff2", ".pdf", ".zip", ".gz", ".lock", ".min.js", "package-lock.json"];

/// Looks the names up among the given paths, which are relative to `root`.
pub fn look_up(root: &Path, paths: &[String], names: &[NameInPrompt], limit: Duration) -> Findings {
    let end = Instant::now() + limit;
    let mut findings = Findings { commands: commands(root, paths), ..Findings::default() };
    let mut wanted: Vec<(&NameInPrompt, NameMatches)> = Vec::new();
    for name in names {
        if name.kind == NameKind::Command || wanted.iter().any(|(other, _)| other.text == name.text) {
            continue;
        }
        wanted.push((name, by_path(name, paths)));
        if Instant::now() > end {
            return findings;
        }
    }
    let complete = read_files(root, paths, &mut wanted, end);
    for (name, mut place) in wanted {
        place.within(name);
        let (places, exact) = place.best();
        if !places.is_empty() || complete {
            let places = places.iter().take(MAX_PLACES).cloned().collect();
            findings.names.insert(name.text.clone(), LookupResult { places, exact });
        }
    }
    findings
}

/// The places of one name, by the quality of the match.
#[derive(Default)]
struct NameMatches {
    path: BTreeSet<String>,
    definition: BTreeSet<String>,
    mention: BTreeSet<String>,
    part: BTreeSet<String>,
    takes_mentions: bool,
}

impl NameMatches {
    /// Decides between several places by the text before the last part of the name: `json` in `render::json::row`.
    fn within(&mut self, name: &NameInPrompt) {
        without_tests(&mut self.path);
        without_tests(&mut self.definition);
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
            None => (&self.part, false),
        }
    }
}

/// Returns `true` for `README.md` and "README".
fn is_named_without_ending(path: &str, wanted: &str) -> bool {
    !wanted.contains(['.', '/']) && path.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.'))
}

/// Leaves tests out when the name has a place of its own.
fn without_tests(places: &mut BTreeSet<String>) {
    let own = |path: &&String| !path.contains("test") && !path.contains("spec");
    if places.len() > 1 && places.iter().any(|path| own(&path)) {
        places.retain(|path| own(&path));
    }
}

fn by_path(name: &NameInPrompt, paths: &[String]) -> NameMatches {
    let mut place = NameMatches {
        takes_mentions: !matches!(name.kind, NameKind::Path | NameKind::Word | NameKind::Table),
        ..NameMatches::default()
    };
    let lower = name.text.to_lowercase();
    let mut wanted = name.text.trim_start_matches("./").trim_matches('/').to_owned();
    if name.kind == NameKind::Path {
        // A frame of a trace has the path of another machine before it.
        loop {
            let hits = paths.iter().filter(|path| {
                **path == wanted
                    || path.ends_with(&format!("/{wanted}"))
                    || path.starts_with(&format!("{wanted}/"))
                    || path.contains(&format!("/{wanted}/"))
                    || is_named_without_ending(path, &wanted)
            });
            let mut hits: BTreeSet<String> = hits.cloned().collect();
            if hits.contains(&wanted) || hits.iter().any(|path| path.contains(&format!("{wanted}/"))) {
                hits = BTreeSet::from([wanted.clone()]);
            }
            place.path.extend(hits);
            match wanted.split_once('/') {
                Some((_, rest)) if place.path.is_empty() && name.text.starts_with('/') => wanted = rest.to_owned(),
                _ => return place,
            }
        }
    }
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    for path in paths {
        let file = path.rsplit('/').next().unwrap_or(path);
        let stem = file.split('.').next().unwrap_or(file).to_lowercase();
        if name.kind == NameKind::Word && name.text.len() >= 4 {
            if stem == lower || stem == singular || file.to_lowercase() == lower {
                place.path.insert(path.clone());
            } else if path.to_lowercase().contains(singular) {
                place.part.insert(path.clone());
            }
        } else if name.kind == NameKind::Identifier && (file == name.text || stem == lower) {
            place.definition.insert(path.clone());
        }
    }
    place
}

/// Reads the files for facts that paths do not show. Returns `false` if the time was over before the end.
fn read_files(root: &Path, paths: &[String], wanted: &mut [(&NameInPrompt, NameMatches)], end: Instant) -> bool {
    let short = |name: &NameInPrompt| match name.kind {
        NameKind::Identifier => name.text.rsplit([':', '.']).next().unwrap_or_default().to_owned(),
        NameKind::Route => name.text.trim_end_matches('/').to_owned(),
        _ => name.text.clone(),
    };
    let names: Vec<String> = wanted.iter().map(|(name, _)| regex::escape(&short(name))).collect();
    let defined = names.iter().map(|name| {
        format!(
            r"(?im)(?:\b(?:fn|def|func|function|class|struct|enum|trait|type|interface|const|let|var|static|mod|model|table|module|export|macro_rules!)\s+(?:if not exists\s+)?(?:\([^)]*\)\s*)?(?:public\.)?[`{q}]?{name}\b|^\s*(?:pub(?:\([a-z]+\))?\s+|export\s+|async\s+)*{q}?(?:--)?{name}{q}?\s*(?::|=|\?:))",
            q = "\""
        )
    });
    let mentioned = wanted.iter().zip(&names).map(|((name, _), text)| match name.kind {
        NameKind::Route | NameKind::Flag => text.clone(),
        _ => format!(r"\b{text}\b"),
    });
    let (Ok(defined), Ok(mentioned)) = (RegexSet::new(defined), RegexSet::new(mentioned)) else { return false };
    for path in paths {
        if Instant::now() > end {
            return false;
        }
        let full = root.join(path);
        let is_read = !UNREAD.iter().any(|end| path.ends_with(end));
        let fits =
            is_read && fs::symlink_metadata(&full).is_ok_and(|data| data.is_file() && data.len() <= MAX_FILE_BYTES);
        let Some(text) = fits.then(|| fs::read(&full).ok()).flatten() else { continue };
        let text = String::from_utf8_lossy(&text);
        for at in mentioned.matches(&text) {
            wanted[at].1.mention.insert(path.clone());
        }
        for at in defined.matches(&text) {
            wanted[at].1.definition.insert(path.clone());
        }
    }
    true
}

/// Returns the commands that Makefiles, justfiles and `package.json` declare.
fn commands(root: &Path, paths: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for (file, program) in [("Makefile", "make"), ("justfile", "just"), ("package.json", "npm run")] {
        let Some(text) =
            paths.iter().any(|path| path == file).then(|| fs::read_to_string(root.join(file)).ok()).flatten()
        else {
            continue;
        };
        if file == "package.json" {
            let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
            found.extend(
                value["scripts"].as_object().into_iter().flatten().map(|(name, _)| format!("{program} {name}")),
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
