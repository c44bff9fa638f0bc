//! Answers to the conditions that files decide.

use std::collections::BTreeSet;

use regex::RegexBuilder;

use super::content::{ContractContent, FoundAt, UnreadFile};
use super::manifests::{dependencies_in, is_lock_file, is_manifest, packages_in};
#[cfg(feature = "symbols")]
use super::unread_functions::{defined, is_unread};
use crate::collect::changed_files::changed_files;
use crate::contract::{Ask, ConditionOutcome};
use crate::git::GitError;
use crate::globs::Globs;
use crate::plural::counted;
use crate::repo_path::RepoPath;

/// The maximum number of names in a detail.
const MAX_NAMES: usize = 10;

/// The outcome of a requirement, and its reason.
pub type ConditionAnswer = (ConditionOutcome, String);

/// Returns the answer that a requirement is met.
pub fn holds(detail: impl Into<String>) -> ConditionAnswer {
    (ConditionOutcome::Holds, detail.into())
}

/// Returns the answer that a requirement is not met.
pub fn fails(detail: impl Into<String>) -> ConditionAnswer {
    (ConditionOutcome::Fails, detail.into())
}

/// Returns the answer that a requirement cannot be judged.
pub fn unreadable(detail: impl Into<String>) -> ConditionAnswer {
    (ConditionOutcome::Unreadable, detail.into())
}

fn decide(right: bool, detail: String) -> ConditionAnswer {
    if right { holds(detail) } else { fails(detail) }
}

fn unread(path: &str, why: &UnreadFile) -> ConditionAnswer {
    let detail = format!("{path} {why}");
    if *why == UnreadFile::Missing { fails(detail) } else { unreadable(detail) }
}

impl ContractContent<'_> {
    /// Returns the answer to requirements that must all be met. `command` answers for a command line, and
    /// knows whether its tests must pass.
    pub fn answer(&self, asks: &[Ask], mut command: impl FnMut((&str, bool)) -> ConditionAnswer) -> ConditionAnswer {
        let mut details = Vec::new();
        for ask in asks {
            let (outcome, detail) = match ask {
                Ask::Command { line, tests } => command((line, *tests)),
                ask => self.of_files(ask).unwrap_or_else(|error| unreadable(error.to_string())),
            };
            if outcome != ConditionOutcome::Holds {
                return (outcome, detail);
            }
            details.extend((!detail.is_empty()).then_some(detail));
        }
        holds(details.join("; "))
    }

    fn of_files(&self, ask: &Ask) -> Result<ConditionAnswer, GitError> {
        Ok(match ask {
            Ask::Command { .. } => unreadable("a command is not read from files"),
            Ask::IsFile(path) if self.at(path) == FoundAt::Folder => fails(format!("{path} is a folder")),
            Ask::Exists(path) | Ask::IsFile(path) => self.exists(path),
            Ask::Gone(path) => match self.is_there(path) {
                None => unread(path, &UnreadFile::Outside),
                Some(true) => fails(format!("{path} is still there")),
                // Brackets and braces may be meant as a glob.
                Some(false) if path.contains(['[', '{']) && !self.matching(path)?.is_empty() => {
                    fails(format!("files that match {path} are still there"))
                }
                Some(false) => holds(""),
            },
            Ask::Lines(path, limit) => match self.lines(path) {
                Ok(lines) => decide(limit.allows(lines), format!("{path} has {}", counted(lines, "line"))),
                Err(why) => unread(path, &why),
            },
            Ask::Files(path, limit) => match self.files_in(path) {
                Ok(files) => decide(limit.allows(files), format!("{path} has {}", counted(files, "file"))),
                Err(UnreadFile::Missing) => fails(format!("the folder {path} does not exist")),
                Err(why) => unread(path, &why),
            },
            Ask::MaxLines(glob, most) => self.longest(glob.as_deref(), *most)?,
            Ask::FunctionsPreserved => self.functions()?,
            Ask::NoNewDependency => self.dependencies()?,
            Ask::OnlyChanged(globs) => self.only_changed(globs)?,
            Ask::Pattern { pattern, glob, occurs } => self.pattern(pattern, glob, *occurs)?,
            Ask::Equal(a, b) => self.equal(a, b),
            Ask::ImportMap(map) => self.import_map(map),
        })
    }

    fn exists(&self, path: &str) -> ConditionAnswer {
        match self.at(path) {
            FoundAt::Outside => unread(path, &UnreadFile::Outside),
            FoundAt::Nothing => unread(path, &UnreadFile::Missing),
            FoundAt::File if path.ends_with('/') => fails(format!("{path} is not a folder")),
            FoundAt::File | FoundAt::Folder => holds(""),
        }
    }

    fn longest(&self, glob: Option<&str>, most: usize) -> Result<ConditionAnswer, GitError> {
        let files: Vec<RepoPath> = match glob {
            Some(glob) => {
                let files = self.matching(glob)?;
                if files.is_empty() {
                    return Ok(fails(self.no_match(glob)));
                }
                files
            }
            None => self.changed_files_there()?,
        };
        let mut too_long = Vec::new();
        let mut unread = Vec::new();
        let mut is_any_read = false;
        for path in files {
            let lines = self.lines(&text_of(&path));
            is_any_read |= lines.is_ok();
            match lines {
                Ok(lines) if lines > most => too_long.push(format!("{path} has {}", counted(lines, "line"))),
                // Without a glob, files without lines are not meant; with one, binary files are not.
                Err(UnreadFile::Binary) if glob.is_none_or(is_pattern) => {}
                Err(why) if glob.is_some() => unread.push(format!("{path} {why}")),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(match (too_long.is_empty(), unread.is_empty()) {
            (false, _) => fails(listed(&too_long)),
            (true, false) => unreadable(listed(&unread)),
            (true, true) => match glob.filter(|_| !is_any_read) {
                Some(glob) => unreadable(format!("{glob} matches only binary files")),
                None => holds(""),
            },
        })
    }

    /// Returns the files that the task changed or created, those of new nested repositories included.
    fn changed_files_there(&self) -> Result<Vec<RepoPath>, GitError> {
        let changed = self.changed()?.into_iter().filter(|(_, there)| *there).map(|(path, _)| path);
        let (folders, mut files): (Vec<RepoPath>, Vec<RepoPath>) =
            changed.partition(|path| self.at(&text_of(path)) == FoundAt::Folder);
        if !folders.is_empty() {
            let is_inside = |path: &RepoPath| folders.iter().any(|folder| is_below(&text_of(path), &text_of(folder)));
            files.extend(self.files()?.into_iter().filter(is_inside));
        }
        Ok(files)
    }

    #[cfg(feature = "symbols")]
    fn functions(&self) -> Result<ConditionAnswer, GitError> {
        use crate::symbols::Preservation;
        let diff = self.state(|state| crate::collect::functions::function_diff(self.repo, self.start, state))?;
        let mut told = Vec::new();
        for (word, names) in [("lost", &diff.lost), ("emptied", &diff.emptied), ("does not parse", &diff.unparsed)] {
            if !names.is_empty() {
                told.push(format!("{word}: {}", listed(names)));
            }
        }
        let renamed: Vec<String> = diff.renamed.iter().map(|pair| format!("{} -> {}", pair.from, pair.to)).collect();
        if !renamed.is_empty() {
            told.push(format!("renamed: {}", listed(&renamed)));
        }
        let only_unparsed = diff.lost.is_empty() && diff.emptied.is_empty() && diff.renamed.is_empty();
        let gone = self.gone_unread()?;
        Ok(match diff.verdict {
            Preservation::Preserved if !gone.is_empty() => {
                unreadable(format!("gate does not read the functions of these files, and they miss: {}", listed(&gone)))
            }
            Preservation::Preserved => holds(""),
            Preservation::NeedsYes if only_unparsed => unreadable(told.join("; ")),
            Preservation::NeedsYes | Preservation::Lost => fails(told.join("; ")),
        })
    }

    /// Returns the functions, with their files, of languages that are not read whose definitions are gone.
    #[cfg(feature = "symbols")]
    fn gone_unread(&self) -> Result<Vec<String>, GitError> {
        let counts = |path: &RepoPath| is_unread(&path.to_string()) && !self.is_noise(path);
        let files = self.state(|state| changed_files(self.repo, self.start, state, counts))?;
        let names = |content: &Option<Vec<u8>>| {
            content.as_ref().map(|content| defined(&String::from_utf8_lossy(content))).unwrap_or_default()
        };
        let after: BTreeSet<String> = files.iter().flat_map(|file| names(&file.after)).collect();
        let gone = files.iter().flat_map(|file| {
            let gone = names(&file.before).into_iter().filter(|name| !after.contains(name));
            gone.map(|name| format!("{name} of {}", file.path)).collect::<Vec<_>>()
        });
        Ok(gone.collect())
    }

    #[cfg(not(feature = "symbols"))]
    fn functions(&self) -> Result<ConditionAnswer, GitError> {
        let _ = self;
        Ok(unreadable("this gate was built without the feature `symbols`"))
    }

    #[cfg(feature = "symbols")]
    fn import_map(&self, map: &str) -> ConditionAnswer {
        let text = match self.map_bytes(map) {
            Ok(text) => text,
            Err(why) => return unreadable(format!("{map} {why}")),
        };
        let Ok(read) = serde_json::from_slice::<crate::symbols::ImportMap>(&text) else {
            return unreadable(format!("{map} is not an import map"));
        };
        let Ok(paths) = self.files() else { return unreadable("the files cannot be listed") };
        let files: Vec<(String, Vec<u8>)> = paths
            .iter()
            .filter(|path| crate::symbols::counts_for_map(&path.to_string(), &read.file))
            .filter_map(|path| Some((path.to_string(), self.bytes(&text_of(path)).ok()?)))
            .collect();
        let verification = crate::symbols::verify(&read, &files);
        let told: Vec<String> = verification
            .problems
            .iter()
            .map(|problem| format!("{}: {} {}", problem.file, problem.kind, problem.name))
            .collect();
        decide(verification.verifies, listed(&told))
    }

    #[cfg(not(feature = "symbols"))]
    fn import_map(&self, _: &str) -> ConditionAnswer {
        let _ = self;
        unreadable("this gate was built without the feature `symbols`")
    }

    fn only_changed(&self, globs: &[String]) -> Result<ConditionAnswer, GitError> {
        let whole: Vec<String> =
            globs.iter().map(|glob| if glob.ends_with('/') { format!("{glob}**") } else { glob.clone() }).collect();
        let Ok(allowed) = Globs::new(&whole) else { return Ok(unreadable("one of the globs cannot be read")) };
        let changed = self.changed()?;
        let outside: Vec<String> = changed
            .iter()
            .filter(|(path, _)| !allowed.is_match(path.to_os()))
            .map(|(path, _)| path.to_string())
            .collect();
        if outside.is_empty() {
            return Ok(holds(""));
        }
        let below = |glob: &&String| !is_pattern(glob) && outside.iter().any(|path| is_below(path, glob));
        let hint = globs.iter().find(below).map(|glob| format!("; the files of the folder are {glob}/**"));
        Ok(fails(format!("also changed: {}{}", listed(&outside), hint.unwrap_or_default())))
    }

    /// Returns the sentence that no file matches a glob.
    fn no_match(&self, glob: &str) -> String {
        if !is_pattern(glob) && self.at(glob) == FoundAt::Folder {
            return format!("{glob} is a folder; its files are {}/**", glob.trim_end_matches('/'));
        }
        format!("no file matches {glob}")
    }

    fn pattern(&self, pattern: &str, glob: &str, occurs: bool) -> Result<ConditionAnswer, GitError> {
        // A pattern that can match the end of a line may go over several.
        let spans_lines = ["\n", r"\n", r"\s", "(?s"].iter().any(|sign| pattern.contains(sign));
        let Ok(pattern) = RegexBuilder::new(pattern).multi_line(spans_lines).build() else {
            return Ok(unreadable(format!("`{pattern}` is not a regular expression")));
        };
        let files = self.matching(glob)?;
        if files.is_empty() {
            return Ok(fails(self.no_match(glob)));
        }
        let mut found = Vec::new();
        for path in files {
            match self.text(&text_of(&path)) {
                Ok(text) => {
                    let line = if spans_lines {
                        pattern.find(&text).map(|hit| text[..hit.start()].matches('\n').count())
                    } else {
                        text.lines().position(|line| pattern.is_match(line))
                    };
                    found.extend(line.map(|line| format!("{path}:{}", line + 1)));
                }
                Err(UnreadFile::Binary) if is_pattern(glob) => {}
                Err(why) => return Ok(unreadable(format!("{path} {why}"))),
            }
        }
        Ok(match (occurs, found.is_empty()) {
            (true, true) => fails("it does not occur"),
            (true, false) | (false, true) => holds(listed(&found)),
            (false, false) => fails(format!("it occurs in {}", listed(&found))),
        })
    }

    fn equal(&self, a: &str, b: &str) -> ConditionAnswer {
        match (self.bytes(a), self.bytes(b)) {
            (Ok(one), Ok(other)) if one == other => holds(""),
            (Ok(_), Ok(_)) => fails(format!("{a} and {b} differ")),
            (Err(why), _) => unread(a, &why),
            (_, Err(why)) => unread(b, &why),
        }
    }

    fn dependencies(&self) -> Result<ConditionAnswer, GitError> {
        let names_any = |path: &str| is_manifest(path) || is_lock_file(path);
        let counts = |path: &RepoPath| names_any(&path.to_string()) && !self.is_noise(path);
        let files = self.state(|state| changed_files(self.repo, self.start, state, counts))?;
        let (mut before, mut after, mut locked_before, mut locked) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        // The first lock file says nothing of what is new.
        let had_lock = files.iter().any(|file| file.before.is_some() && is_lock_file(&file.path.to_string()));
        for file in files {
            let path = file.path.to_string();
            let sides = [(&file.before, &mut before, &mut locked_before), (&file.after, &mut after, &mut locked)];
            for (content, names, packages) in sides {
                let Some(content) = content else { continue };
                let text = String::from_utf8_lossy(content);
                if is_lock_file(&path) {
                    packages.extend(packages_in(&path, &text));
                    continue;
                }
                match dependencies_in(&path, &text) {
                    Some(found) => names.extend(found),
                    None => return Ok(unreadable(format!("{path} cannot be read as a manifest"))),
                }
            }
        }
        let mut new: Vec<String> = after.difference(&before).cloned().collect();
        let only_locked = locked.difference(&locked_before).filter(|name| had_lock && !after.contains(*name));
        new.extend(only_locked.map(|name| format!("{name} (in a lock file)")));
        Ok(if new.is_empty() { holds("") } else { fails(format!("new: {}", listed(&new))) })
    }
}

fn is_pattern(glob: &str) -> bool {
    glob.contains(['*', '?', '[', '{']) || glob.ends_with('/')
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder.trim_start_matches("./").trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
}

fn text_of(path: &RepoPath) -> String {
    String::from_utf8_lossy(path.as_bytes()).into_owned()
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MAX_NAMES).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
