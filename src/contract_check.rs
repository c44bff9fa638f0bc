//! Checks the conditions of a contract, and keeps the state at the beginning of its task.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::collect::changed_files::{FilesOf, changed_files, changed_paths};
use crate::command_line::{self, OutputKnowledge, Purpose, said};
use crate::contract::{Ask, ConditionOutcome, Contract, ContractCondition};
use crate::digest;
use crate::event::Ended;
use crate::git::{GitError, Repo};
use crate::globs::Globs;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::run::{self, Errand, Returned};
use crate::runner::Catalogue;
use crate::source::project_files::DiskDirectory;

/// The default time limit for a command of a contract.
pub const COMMAND_TIMEOUT: Duration = Duration::from_mins(2);

/// The maximum output of a command, in bytes.
const MAX_OUTPUT: u64 = 64 << 20;

/// The maximum size of a file that is read, in bytes.
const MAX_READ: u64 = 16 << 20;

/// The maximum number of names in a detail.
const MAX_NAMES: usize = 10;

/// Folders that tools fill.
const TOOL_FOLDERS: [&str; 8] =
    [".git", "node_modules", "__pycache__", ".venv", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".gradle"];

/// The result of one condition.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConditionResult {
    /// The condition as it is written.
    pub text: String,
    /// The outcome.
    pub outcome: ConditionOutcome,
    /// The reason, in one sentence. Empty if there is nothing to add.
    pub detail: String,
    /// The files that were read, or the commands that were run.
    pub evidence: Vec<String>,
}

/// A contract whose task began.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BegunContract {
    /// The version of this form: 1.
    #[serde(default = "first_version")]
    pub schema_version: u32,
    /// Its name.
    pub name: String,
    /// The file it was read from.
    pub file: PathBuf,
    /// The text at the beginning. It counts even if the file changes.
    pub text: String,
    /// The digest of the text.
    pub digest: String,
    /// The tree that the task began from.
    pub tree: Oid,
    /// `true` if it was met at the last check.
    #[serde(default)]
    pub met: bool,
}

/// The folder of begun contracts.
#[derive(Debug)]
pub struct ContractShelf {
    folder: PathBuf,
}

impl ContractShelf {
    /// Returns the folder of a repository.
    pub fn of(repo: &Repo) -> Self {
        Self { folder: repo.gate_dir().join("contracts") }
    }

    /// Returns all begun contracts, by name.
    ///
    /// # Errors
    ///
    /// A record cannot be read.
    pub fn all(&self) -> io::Result<Vec<BegunContract>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut all = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let text = fs::read(&path)?;
                all.push(serde_json::from_slice(&text).map_err(|error| {
                    io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", path.display()))
                })?);
            }
        }
        all.sort_by(|a: &BegunContract, b| a.name.cmp(&b.name));
        Ok(all)
    }

    /// Keeps a contract.
    ///
    /// # Errors
    ///
    /// The record cannot be written.
    pub fn put(&self, contract: &BegunContract) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        serde_json::to_writer_pretty(&mut file, contract)?;
        file.persist(self.folder.join(format!("{}.json", contract.name))).map_err(|error| error.error)?;
        Ok(())
    }
}

impl BegunContract {
    /// Returns the change of the file since the beginning, or `None` if it is the same.
    pub fn change(&self) -> Option<&'static str> {
        match fs::read(&self.file) {
            Ok(bytes) if digest::sha256(&bytes) == self.digest => None,
            Ok(_) => Some("the contract was changed after it began; the original counts"),
            Err(_) => Some("the file of the contract is gone; the original counts"),
        }
    }
}

/// Returns the version of records without one.
const fn first_version() -> u32 {
    1
}

/// Returns the digest of a contract's text.
pub fn contract_digest(text: &[u8]) -> String {
    digest::sha256(text)
}

/// A check of a working tree.
pub struct ContractCheck<'a> {
    /// The repository.
    pub repo: &'a Repo,
    /// The root of its working tree.
    pub root: &'a Path,
    /// The tree that the task began from.
    pub start: &'a Oid,
    /// The file of the contract itself, which is not part of the task.
    pub file: &'a Path,
    /// The time limit for a command.
    pub timeout: Duration,
}

type ConditionAnswer = (ConditionOutcome, String);

fn holds(detail: impl Into<String>) -> ConditionAnswer {
    (ConditionOutcome::Holds, detail.into())
}

fn fails(detail: impl Into<String>) -> ConditionAnswer {
    (ConditionOutcome::Fails, detail.into())
}

fn unreadable(detail: impl Into<String>) -> ConditionAnswer {
    (ConditionOutcome::Unreadable, detail.into())
}

fn decide(right: bool, detail: String) -> ConditionAnswer {
    if right { holds(detail) } else { fails(detail) }
}

/// Returns the line and the path of the first condition whose path leads out of the repository through a link.
pub fn leads_outside(root: &Path, contract: &Contract) -> Option<(usize, String)> {
    let all = contract.preconditions.iter().chain(&contract.postconditions);
    all.flat_map(|condition| condition.asks.iter().map(move |ask| (condition.line, ask))).find_map(|(line, ask)| {
        let paths: Vec<&String> = match ask {
            Ask::Exists(path) | Ask::Gone(path) | Ask::Lines(path, _) | Ask::Files(path, _) => vec![path],
            Ask::Equal(a, b) => vec![a, b],
            _ => Vec::new(),
        };
        paths.into_iter().find(|path| inside(root, path).is_none()).map(|path| (line, path.clone()))
    })
}

/// Returns the place of a path below the root, or `None` if links lead out of it.
fn inside(root: &Path, path: &str) -> Option<PathBuf> {
    let real_root = root.canonicalize().ok()?;
    let place = root.join(path);
    let mut there = place.clone();
    loop {
        if let Ok(real) = there.canonicalize() {
            return real.starts_with(&real_root).then_some(place);
        }
        // A link that leads to nothing leads somewhere all the same.
        if let Ok(target) = fs::read_link(&there) {
            let target = there.parent().unwrap_or(root).join(target);
            let lexical = target.components().any(|part| part.as_os_str() == "..");
            return (!lexical && target.starts_with(root)).then_some(place);
        }
        if !there.pop() {
            return None;
        }
    }
}

impl ContractCheck<'_> {
    /// Returns the result of each condition, in order.
    pub fn results(&self, conditions: &[ContractCondition]) -> Vec<ConditionResult> {
        conditions.iter().map(|condition| self.result(condition)).collect()
    }

    fn result(&self, condition: &ContractCondition) -> ConditionResult {
        let mut result = ConditionResult {
            text: condition.text.clone(),
            outcome: ConditionOutcome::Holds,
            detail: String::new(),
            evidence: Vec::new(),
        };
        let mut details = Vec::new();
        for ask in &condition.asks {
            let (outcome, detail) = self.answer(ask, &mut result.evidence);
            details.extend((!detail.is_empty()).then_some(detail));
            if outcome != ConditionOutcome::Holds {
                result.outcome = outcome;
                details = details.split_off(details.len().saturating_sub(1));
                break;
            }
        }
        result.detail = details.join("; ");
        result
    }

    fn answer(&self, ask: &Ask, evidence: &mut Vec<String>) -> ConditionAnswer {
        let answered = match ask {
            Ask::Command(line) => Ok(self.command(line, evidence)),
            Ask::Exists(path) => Ok(self.exists(path)),
            Ask::Gone(path) => Ok(match inside(self.root, path) {
                None => unreadable(format!("{path} leads outside the repository")),
                Some(place) => decide(fs::symlink_metadata(&place).is_err(), String::new())
                    .or_detail(|| format!("{path} is still there")),
            }),
            Ask::Lines(path, limit) => Ok(self.lines(path, |lines| limit.allows(lines))),
            Ask::Files(path, limit) => Ok(self.files(path, |files| limit.allows(files))),
            Ask::MaxLines(glob, most) => self.longest(glob.as_deref(), *most),
            Ask::FunctionsPreserved => self.functions(),
            Ask::NoNewDependency => self.dependencies(),
            Ask::OnlyChanged(globs) => self.only_changed(globs),
            Ask::Pattern { pattern, glob, occurs } => self.pattern(pattern, glob, *occurs),
            Ask::Equal(a, b) => Ok(self.equal(a, b)),
            Ask::ImportMap(map) => Ok(self.import_map(map)),
        };
        answered.unwrap_or_else(|error| unreadable(error.to_string()))
    }

    fn exists(&self, path: &str) -> ConditionAnswer {
        let Some(place) = inside(self.root, path) else {
            return unreadable(format!("{path} leads outside the repository"));
        };
        match fs::metadata(place) {
            Ok(data) if path.ends_with('/') && !data.is_dir() => fails(format!("{path} is no folder")),
            Ok(_) => holds(""),
            Err(_) => fails(format!("{path} does not exist")),
        }
    }

    fn lines(&self, path: &str, allows: impl Fn(usize) -> bool) -> ConditionAnswer {
        let Some(place) = inside(self.root, path) else {
            return unreadable(format!("{path} leads outside the repository"));
        };
        match count_lines(&place) {
            Ok(lines) => decide(allows(lines), format!("{path} has {lines} lines")),
            Err(why) if why.contains("does not exist") => fails(format!("{path} does not exist")),
            Err(why) => unreadable(format!("{path} {why}")),
        }
    }

    fn files(&self, path: &str, allows: impl Fn(usize) -> bool) -> ConditionAnswer {
        let Some(place) = inside(self.root, path) else {
            return unreadable(format!("{path} leads outside the repository"));
        };
        let Ok(entries) = fs::read_dir(place) else { return fails(format!("the folder {path} does not exist")) };
        let files = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())).count();
        decide(allows(files), format!("{path} has {files} files"))
    }

    /// Returns the files of the working tree that a glob matches, without those of tools.
    fn matching(&self, glob: &str) -> Result<Vec<RepoPath>, GitError> {
        let glob = if glob.ends_with('/') { format!("{glob}**") } else { glob.trim_start_matches("./").to_owned() };
        let Ok(globs) = Globs::new(&[glob]) else { return Ok(Vec::new()) };
        let mut files = self.repo.work_files()?;
        files.retain(|path| {
            let place = self.root.join(path.to_os());
            globs.is_match(path.to_os())
                && !self.is_noise(path)
                && fs::symlink_metadata(place).is_ok_and(|data| data.is_file())
        });
        Ok(files)
    }

    /// Returns `true` if a file is in a folder that a tool fills, or is the contract itself.
    fn is_noise(&self, path: &RepoPath) -> bool {
        let os = path.to_os();
        if self.root.join(&os) == *self.file {
            return true;
        }
        let mut folder = self.root.to_owned();
        os.parent().into_iter().flat_map(Path::components).any(|part| {
            folder.push(part);
            TOOL_FOLDERS.iter().any(|name| part.as_os_str() == *name) || folder.join("CACHEDIR.TAG").exists()
        })
    }

    fn changed(&self) -> Result<Vec<(RepoPath, bool)>, GitError> {
        let snapshot = self.repo.snapshot()?;
        let changes = changed_paths(self.repo, self.start, FilesOf::WorkTree(&snapshot))?;
        let changes = changes.into_iter().map(|change| (change.path, change.after.is_some()));
        Ok(changes.filter(|(path, _)| !self.is_noise(path)).collect())
    }

    fn longest(&self, glob: Option<&str>, most: usize) -> Result<ConditionAnswer, GitError> {
        let files: Vec<RepoPath> = match glob {
            Some(glob) => {
                let files = self.matching(glob)?;
                if files.is_empty() {
                    return Ok(fails(format!("no file matches {glob}")));
                }
                files
            }
            None => self.changed()?.into_iter().filter(|(_, there)| *there).map(|(path, _)| path).collect(),
        };
        let mut too_long = Vec::new();
        let mut unread = Vec::new();
        for path in files {
            match count_lines(&self.root.join(path.to_os())) {
                Ok(lines) if lines > most => too_long.push(format!("{path} has {lines} lines")),
                // Without a glob, files without lines are not meant.
                Err(why) if glob.is_some() => unread.push(format!("{path} {why}")),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(match (too_long.is_empty(), unread.is_empty()) {
            (false, _) => fails(listed(&too_long)),
            (true, false) => unreadable(listed(&unread)),
            (true, true) => holds(""),
        })
    }

    #[cfg(feature = "symbols")]
    fn functions(&self) -> Result<ConditionAnswer, GitError> {
        use crate::symbols::Preservation;
        let snapshot = self.repo.snapshot()?;
        let diff = crate::collect::functions::function_diff(self.repo, self.start, FilesOf::WorkTree(&snapshot))?;
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
        Ok(match diff.verdict {
            Preservation::Preserved => holds(""),
            Preservation::NeedsYes if only_unparsed => unreadable(told.join("; ")),
            Preservation::NeedsYes | Preservation::Lost => fails(told.join("; ")),
        })
    }

    #[cfg(not(feature = "symbols"))]
    fn functions(&self) -> Result<ConditionAnswer, GitError> {
        let _ = self;
        Ok(unreadable("this gate was built without the feature `symbols`"))
    }

    #[cfg(feature = "symbols")]
    fn import_map(&self, map: &str) -> ConditionAnswer {
        let text = match fs::read(self.root.join(map)) {
            Ok(text) => text,
            Err(error) => return unreadable(format!("{map}: {error}")),
        };
        let Ok(read) = serde_json::from_slice::<crate::symbols::ImportMap>(&text) else {
            return unreadable(format!("{map} is no import map"));
        };
        let Ok(paths) = self.repo.work_files() else { return unreadable("the files cannot be listed") };
        let wanted = |path: &RepoPath| read.file.is_empty() || crate::symbols::are_kin(&path.to_string(), &read.file);
        let files: Vec<(String, Vec<u8>)> = paths
            .iter()
            .filter(|path| wanted(path))
            .filter_map(|path| Some((path.to_string(), fs::read(self.root.join(path.to_os())).ok()?)))
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
        let Ok(allowed) = Globs::new(&whole) else { return Ok(unreadable("one of the globs is none")) };
        let changed = self.changed()?;
        let outside: Vec<String> = changed
            .iter()
            .filter(|(path, _)| !allowed.is_match(path.to_os()))
            .map(|(path, _)| path.to_string())
            .collect();
        Ok(if outside.is_empty() { holds("") } else { fails(format!("also changed: {}", listed(&outside))) })
    }

    fn pattern(&self, pattern: &str, glob: &str, occurs: bool) -> Result<ConditionAnswer, GitError> {
        let Ok(pattern) = Regex::new(pattern) else {
            return Ok(unreadable(format!("`{pattern}` is no regular expression")));
        };
        let files = self.matching(glob)?;
        if files.is_empty() {
            return Ok(fails(format!("no file matches {glob}")));
        }
        let mut found = Vec::new();
        for path in files {
            match read_text(&self.root.join(path.to_os())) {
                Ok(text) => {
                    let line = text.lines().position(|line| pattern.is_match(line));
                    found.extend(line.map(|line| format!("{path}:{}", line + 1)));
                }
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
        let mut contents = Vec::new();
        for path in [a, b] {
            let Some(place) = inside(self.root, path) else {
                return unreadable(format!("{path} leads outside the repository"));
            };
            match fs::metadata(&place)
                .map_err(|_| ())
                .and_then(|data| if data.len() > MAX_READ { Err(()) } else { fs::read(&place).map_err(|_| ()) })
            {
                Ok(content) => contents.push(content),
                Err(()) if fs::metadata(&place).is_ok() => return unreadable(format!("{path} cannot be read")),
                Err(()) => return fails(format!("{path} does not exist")),
            }
        }
        decide(contents[0] == contents[1], String::new()).or_detail(|| format!("{a} and {b} differ"))
    }

    fn dependencies(&self) -> Result<ConditionAnswer, GitError> {
        let snapshot = self.repo.snapshot()?;
        let manifest = |path: &RepoPath| is_manifest(&path.to_string()) && !self.is_noise(path);
        let files = changed_files(self.repo, self.start, FilesOf::WorkTree(&snapshot), manifest)?;
        let (mut before, mut after) = (BTreeSet::new(), BTreeSet::new());
        for file in files {
            let path = file.path.to_string();
            for (content, names) in [(&file.before, &mut before), (&file.after, &mut after)] {
                let Some(content) = content else { continue };
                match dependencies_in(&path, &String::from_utf8_lossy(content)) {
                    Some(found) => names.extend(found),
                    None => return Ok(unreadable(format!("{path} cannot be read as a manifest"))),
                }
            }
        }
        let new: Vec<String> = after.difference(&before).cloned().collect();
        Ok(if new.is_empty() { holds("") } else { fails(format!("new: {}", listed(&new))) })
    }

    fn command(&self, line: &str, evidence: &mut Vec<String>) -> ConditionAnswer {
        let Ok(folder) = tempfile::tempdir() else { return unreadable("there is no room for the output") };
        let output = folder.path().join("output");
        let files = DiskDirectory(self.root.to_owned());
        let understood = command_line::understand(line, &files).ok();
        let ids: Vec<String> =
            understood.iter().flat_map(|line| &line.purposes).flat_map(Purpose::runs).map(str::to_owned).collect();
        let runners: Vec<_> = ids.iter().filter_map(|id| Catalogue::embedded().runner(id)).collect();
        let errand = Errand {
            line,
            dir: self.root,
            env: None,
            input: None,
            output: &output,
            errors: true,
            patience: self.timeout,
            most: MAX_OUTPUT,
        };
        evidence.push(format!("run: {line}"));
        let ended = match errand.run() {
            Ok(Returned::Ended(ended)) => ended,
            Ok(Returned::OutOfTime) => {
                return fails(format!("timed out after {} seconds", self.timeout.as_secs()));
            }
            Ok(Returned::TooMuch) => return fails("it printed more than 64 MiB"),
            Err(error) => return unreadable(format!("it could not be started: {error}")),
        };
        let printed = fs::read(&output).unwrap_or_default();
        let text = run::plain_text(&printed);
        let said = said(line, &runners, ended, &text, OutputKnowledge::ToItsEnd, None, &files);
        if let Some(report) = &said.report {
            evidence.push(format!("{} passed, {} failed, {} skipped", report.passed, report.failed, report.skipped));
            if report.passed == 0 && report.failed == 0 {
                return fails("no test ran");
            }
        }
        match ended {
            Ended::Exited(0) => match said.masked {
                Some(why) => fails(format!("status 0 proves nothing: {why}")),
                None => holds(""),
            },
            Ended::Exited(127) => fails("command not found (status 127)"),
            Ended::Exited(status) => fails(format!("status {status}{}", last_line(&text))),
            Ended::Signalled(signal) => fails(format!("killed by signal {signal}")),
            Ended::NotStarted => fails("it could not be started"),
        }
    }
}

trait OrDetail {
    fn or_detail(self, detail: impl FnOnce() -> String) -> Self;
}

impl OrDetail for ConditionAnswer {
    /// Returns the same result, with the reason if it is a failure.
    fn or_detail(self, detail: impl FnOnce() -> String) -> Self {
        if self.0 == ConditionOutcome::Holds { self } else { (self.0, detail()) }
    }
}

fn last_line(text: &str) -> String {
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    line.map_or_else(String::new, |line| format!(": {}", line.trim().chars().take(160).collect::<String>()))
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MAX_NAMES).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn read_text(path: &Path) -> Result<String, String> {
    let data = fs::metadata(path).map_err(|_| "does not exist".to_owned())?;
    if data.is_dir() {
        return Err("is a folder".to_owned());
    }
    if data.len() > MAX_READ {
        return Err("is larger than 16 MiB".to_owned());
    }
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(MAX_READ + 1).read_to_end(&mut bytes));
    read.map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.contains(&0) {
        return Err("is binary".to_owned());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the number of lines. Text after the last line break counts as one.
fn count_lines(path: &Path) -> Result<usize, String> {
    Ok(read_text(path)?.lines().count())
}

fn is_manifest(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    ["Cargo.toml", "package.json", "pyproject.toml", "go.mod", "Gemfile", "composer.json", "pom.xml"].contains(&name)
        || name.ends_with(".csproj")
        || name.starts_with("build.gradle")
        || (name.starts_with("requirements") && Path::new(name).extension().is_some_and(|end| end == "txt"))
}

/// Returns the names of the dependencies in a manifest, or `None` if it cannot be read.
fn dependencies_in(path: &str, text: &str) -> Option<BTreeSet<String>> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let by_lines = |pattern: &str| -> Option<BTreeSet<String>> {
        let pattern = Regex::new(pattern).ok()?;
        Some(
            pattern.captures_iter(text).filter_map(|found| found.get(1)).map(|name| name.as_str().to_owned()).collect(),
        )
    };
    match name {
        "Cargo.toml" | "pyproject.toml" => {
            let table: toml::Table = text.parse().ok()?;
            let mut names = BTreeSet::new();
            in_table(&table, &mut names);
            Some(names)
        }
        "package.json" | "composer.json" => {
            let value: serde_json::Value = serde_json::from_str(text).ok()?;
            let keys = [
                "dependencies",
                "devDependencies",
                "peerDependencies",
                "optionalDependencies",
                "require",
                "require-dev",
            ];
            let lists = keys.iter().filter_map(|key| value[*key].as_object());
            Some(lists.flat_map(|list| list.keys().cloned()).collect())
        }
        "go.mod" => by_lines(r"(?m)^\s*(?:require\s+)?([\w.-]+\.[\w-]+(?:/[\w.~-]+)*)\s+v\d"),
        "Gemfile" => by_lines(r#"(?m)^\s*gem\s+["']([^"']+)"#),
        "pom.xml" => by_lines(r"(?s)<dependency>.*?<artifactId>\s*([^<\s]+)"),
        _ if name.ends_with(".csproj") => by_lines(r#"<PackageReference\s+[^>]*Include="([^"]+)""#),
        _ if name.starts_with("build.gradle") => by_lines(r#"["']([\w.-]+:[\w.-]+)(?::[^"']*)?["']"#),
        _ => by_lines(r"(?m)^\s*([A-Za-z0-9][\w.-]*)"),
    }
}

fn in_table(table: &toml::Table, names: &mut BTreeSet<String>) {
    let requirement =
        |text: &str| text.split(|c: char| !c.is_alphanumeric() && !"._-".contains(c)).next().map(str::to_owned);
    for (key, value) in table {
        let lists = key.ends_with("dependencies") || key == "dependency-groups";
        match value {
            toml::Value::Table(inner) if key.ends_with("dependencies") && key != "optional-dependencies" => {
                names.extend(inner.keys().filter(|name| *name != "python").cloned());
            }
            toml::Value::Table(inner) if key == "optional-dependencies" || key == "dependency-groups" => {
                let lists = inner.values().filter_map(toml::Value::as_array).flatten();
                names.extend(lists.filter_map(toml::Value::as_str).filter_map(requirement));
            }
            toml::Value::Table(inner) => in_table(inner, names),
            toml::Value::Array(list) if lists => {
                names.extend(list.iter().filter_map(toml::Value::as_str).filter_map(requirement));
            }
            _ => {}
        }
    }
}
