//! Finds files that a checkout on another machine does not have in their present form.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::command::{run, run_any};
use super::config::{ConfigEntry, last};
use super::hidden_edits::has_rules;
use super::leftover_files::{is_code, is_made};
use super::status::{StatusPath, WorkingTreeStatus};
use super::tool_folders::find;
use super::{GitError, Repo};
use crate::embedded;
use crate::local_file::{LocalCause, LocalFile, is_collected, is_data, is_generated_folder, is_litter};
use crate::regular_file;
use crate::repo_path::RepoPath;
use crate::snapshot::SnapshotEntry;
use crate::user_folders::expand_home;

/// The largest number of files below ignored folders that are checked.
const MAX_LISTED: usize = 4096;
/// The most names that are searched for in tracked files.
const MAX_NAMES: usize = 64;
/// The part of a file, in bytes, that may say that a tool wrote it.
const MAX_HEADER: u64 = 1024;

/// An ignored file that may be needed.
struct Candidate {
    path: RepoPath,
    /// A folder above it is ignored as a whole.
    below: bool,
}

impl Repo {
    /// Returns the files that a checkout on another machine does not have in their present form. `files` is the
    /// content of the working tree; `attributes` says that the index holds attributes. Starts git only if something may
    /// be found.
    pub(super) fn local_files(
        &self,
        root: &Path,
        status: &WorkingTreeStatus,
        attributes: bool,
        files: &BTreeMap<RepoPath, Option<SnapshotEntry>>,
    ) -> Result<Vec<LocalFile>, GitError> {
        let mut found = self.needed_and_ignored(root, status)?;
        let outside = || self.attribute_files(root, &BTreeSet::from([&b""[..]]));
        let config = self.config_entries()?;
        if attributes || last(&config, "attr.tree").is_some() || outside().iter().any(|file| has_rules(file)) {
            found.extend(self.filtered(root, status, files)?);
        }
        Ok(found)
    }

    fn needed_and_ignored(&self, root: &Path, status: &WorkingTreeStatus) -> Result<Vec<LocalFile>, GitError> {
        let own = embedded::CLIENT_FILES;
        let mut candidates = candidates(root, &status.ignored);
        candidates.retain(|one| !own.iter().any(|own| own.as_bytes() == one.path.as_bytes()));
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        let paths: Vec<&RepoPath> = candidates.iter().map(|one| &one.path).collect();
        let folders = find(root, &paths, &self.edited_markers());
        candidates.retain(|one| !folders.iter().any(|folder| folder.holds(&one.path)));
        let rules = self.rules_of_this_machine(root)?;
        let sources = if rules.is_empty() { BTreeMap::new() } else { self.sources_of_rules(&candidates)? };
        let mut found = Vec::new();
        let mut open = Vec::new();
        for one in candidates {
            let source = sources.get(&one.path).map(|source| root.join(source));
            let rule = source.and_then(|source| {
                rules.iter().find(|(file, _)| *file == source || same_file(file, &source)).map(|(_, strict)| *strict)
            });
            match rule {
                Some(strict) if strict || is_code(&one.path) || is_collected(&one.path) => {
                    found.push(LocalFile { path: one.path, cause: LocalCause::Excluded });
                }
                Some(_) => (),
                None => open.push(one),
            }
        }
        open.retain(|one| {
            (is_code(&one.path) || is_collected(&one.path) || is_data(&one.path)) && !is_written(root, one)
        });
        let (collected, open): (Vec<_>, Vec<_>) =
            open.into_iter().partition(|one| !one.below && (is_collected(&one.path) || is_of_a_go_package(root, one)));
        let named = self.named_by_sources(open)?;
        let ignored = collected.into_iter().chain(named).map(|one| one.path);
        found.extend(ignored.map(|path| LocalFile { path, cause: LocalCause::Ignored }));
        Ok(found)
    }

    /// Returns the files of ignore rules that are not committed, if they hold any, with `true` if every file that they
    /// hide counts. A person's own rules hide unwanted files of all repositories, so that only files that look needed
    /// count.
    fn rules_of_this_machine(&self, root: &Path) -> Result<Vec<(PathBuf, bool)>, GitError> {
        let config: Vec<ConfigEntry> = self.config_entries()?;
        let mut rules = vec![(self.common_dir().join("info/exclude"), true)];
        match last(&config, "core.excludesfile") {
            Some(entry) => rules.push((root.join(expand_home(&entry.value)), entry.is_local())),
            None => {
                let home = std::env::home_dir().map(|home| home.join(".config"));
                let base = std::env::var_os("XDG_CONFIG_HOME").filter(|name| !name.is_empty()).map(PathBuf::from);
                rules.extend(base.or(home).map(|base| (base.join("git/ignore"), false)));
            }
        }
        rules.retain(|(file, _)| has_rules(file));
        Ok(rules)
    }

    /// Returns the file of the rule that hides each of the candidates.
    fn sources_of_rules(&self, candidates: &[Candidate]) -> Result<BTreeMap<RepoPath, PathBuf>, GitError> {
        if candidates.is_empty() {
            return Ok(BTreeMap::new());
        }
        // This command knows no literal paths; `./` keeps a name that begins with `:` from being anything else.
        let mut input = Vec::new();
        for one in candidates {
            input.extend_from_slice(b"./");
            input.extend_from_slice(one.path.as_bytes());
            input.push(0);
        }
        let mut command = self.command();
        command.env_remove("GIT_LITERAL_PATHSPECS").args(["check-ignore", "--verbose", "-z", "--stdin"]);
        let told = match run(&mut command, Some(&input)) {
            // 1: by now, none of them is ignored.
            Err(GitError::Failed { status: Some(1), .. }) => return Ok(BTreeMap::new()),
            told => told?,
        };
        let fields: Vec<&[u8]> = told.split(|&byte| byte == 0).collect();
        // Source, line, pattern, path.
        let path = |field: &[u8]| RepoPath::new(field.strip_prefix(b"./").unwrap_or(field));
        Ok(fields.chunks_exact(4).map(|four| (path(four[3]), RepoPath::new(four[0]).to_os())).collect())
    }

    /// Returns the files that a tracked file imports, includes or requires.
    fn named_by_sources(&self, candidates: Vec<Candidate>) -> Result<Vec<Candidate>, GitError> {
        let mut names: Vec<String> = candidates.iter().filter_map(|one| name_in_sources(&one.path)).collect();
        names.sort();
        names.dedup();
        names.truncate(MAX_NAMES);
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let mut command = self.command();
        command
            .env_remove("GIT_LITERAL_PATHSPECS")
            .args(["grep", "-I", "-h", "-w", "-F", "--no-color", "--no-line-number"]);
        for name in &names {
            command.args(["-e", name]);
        }
        command.args(["--", ":(top)", ":(exclude,top)*.md", ":(exclude,top)*.rst", ":(exclude,top)*.lock"]);
        let output = run_any(&mut command, None)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<&str> = text.lines().filter(|line| line.len() < 2000 && takes_in(line)).collect();
        let is_named = |one: &Candidate| {
            name_in_sources(&one.path).is_some_and(|name| lines.iter().any(|line| has_word(line, &name)))
        };
        Ok(candidates.into_iter().filter(is_named).collect())
    }

    /// Returns the tracked files whose bytes are not those that git stores for them, through a filter that this machine
    /// sets.
    fn filtered(
        &self,
        root: &Path,
        status: &WorkingTreeStatus,
        files: &BTreeMap<RepoPath, Option<SnapshotEntry>>,
    ) -> Result<Vec<LocalFile>, GitError> {
        let filters = drivers(&self.config_entries()?).into_iter().map(|name| format!("filter={name}"));
        let encodings = self.encodings_of_this_machine(root).into_iter();
        let attributes: Vec<_> = filters.chain(encodings.map(|name| format!("working-tree-encoding={name}"))).collect();
        if attributes.is_empty() {
            return Ok(Vec::new());
        }
        let mut command = self.command();
        command.env_remove("GIT_LITERAL_PATHSPECS").args(["ls-files", "-z", "--stage", "--full-name", "--"]);
        command.args(attributes.iter().map(|attribute| format!(":(top,attr:{attribute})")));
        let listed = run(&mut command, None)?;
        let changed: BTreeMap<&RepoPath, &StatusPath> = status.paths.iter().map(|one| (&one.path, one)).collect();
        let mut found = Vec::new();
        for line in listed.split(|&byte| byte == 0) {
            // Mode, id, stage, path.
            let Some(tab) = memchr::memchr(b'\t', line) else { continue };
            let head = String::from_utf8_lossy(&line[..tab]).into_owned();
            let path = RepoPath::new(&line[tab + 1..]);
            let Some(stored) = head.split(' ').nth(1) else { continue };
            let seen = files.get(&path).and_then(Option::as_ref).filter(|_| changed.contains_key(&path));
            let stored = seen.map_or(stored, |entry| entry.oid.as_str());
            let file = root.join(path.to_os());
            if !fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file()) {
                continue;
            }
            if self.raw_id(&file).is_none_or(|id| id != stored) {
                found.push(LocalFile { path, cause: LocalCause::Filtered });
            }
        }
        Ok(found)
    }

    /// Returns the encodings of files that attributes ask for and that no commit has.
    fn encodings_of_this_machine(&self, root: &Path) -> BTreeSet<String> {
        let files = self.attribute_files(root, &BTreeSet::new());
        let texts = files.iter().filter_map(|file| regular_file::read_text(file).ok());
        let encodings = |text: String| {
            let words = text.split_whitespace().filter_map(|word| word.strip_prefix("working-tree-encoding="));
            words.filter(|name| is_attribute_value(name)).map(str::to_owned).collect::<Vec<_>>()
        };
        texts.flat_map(encodings).collect()
    }

    /// Returns the id that the bytes of a file have without any filter.
    fn raw_id(&self, file: &Path) -> Option<String> {
        if self.is_sha256() {
            let bytes = fs::read(file).ok()?;
            return Some(crate::digest::sha256(&[format!("blob {}\0", bytes.len()).as_bytes(), &bytes].concat()));
        }
        Some(git2::Oid::hash_file(git2::ObjectType::Blob, file).ok()?.to_string())
    }
}

/// Returns the filters that are set and that are not git-lfs as it installs itself: that one checks the content by its
/// pointer.
fn drivers(config: &[ConfigEntry]) -> BTreeSet<String> {
    const LFS: [&str; 5] = [
        "git-lfs clean -- %f",
        "git-lfs smudge -- %f",
        "git-lfs smudge --skip -- %f",
        "git-lfs filter-process",
        "git-lfs filter-process --skip",
    ];
    let filters = config.iter().filter(|entry| !LFS.contains(&entry.value.as_str()));
    let names = filters.filter_map(|entry| {
        let (name, what) = entry.key.strip_prefix("filter.")?.rsplit_once('.')?;
        matches!(what, "clean" | "smudge" | "process").then(|| name.to_owned())
    });
    names.filter(|name| is_attribute_value(name)).collect()
}

/// Returns `true` if a pathspec can name this value of an attribute.
fn is_attribute_value(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// Returns the ignored files outside of folders that tools fill, without the leftovers of editors.
fn candidates(root: &Path, ignored: &[Vec<u8>]) -> Vec<Candidate> {
    let mut found = Vec::new();
    for path in ignored {
        if let Some(folder) = path.strip_suffix(b"/") {
            let mut below = Vec::new();
            list(root, &RepoPath::new(folder), &mut below);
            found.extend(below.into_iter().map(|path| Candidate { path, below: true }));
        } else {
            found.push(Candidate { path: RepoPath::new(path.as_slice()), below: false });
        }
        if found.len() >= MAX_LISTED * 4 {
            break;
        }
    }
    found.retain(|one| !is_made(&one.path) && !is_litter(&one.path) && !one.path.as_bytes().starts_with(b".gate/"));
    found
}

/// Adds the files below an ignored folder, without folders that tools fill and other repositories.
fn list(root: &Path, folder: &RepoPath, found: &mut Vec<RepoPath>) {
    let name = folder.as_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let place = root.join(folder.to_os());
    if is_made(&RepoPath::new([folder.as_bytes(), b"/x"].concat())) || name == b".git" || place.join(".git").exists() {
        return;
    }
    if !find(root, &[&RepoPath::new([folder.as_bytes(), b"/x"].concat())], &[]).is_empty() {
        return;
    }
    let mut entries: Vec<_> = fs::read_dir(&place).into_iter().flatten().flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        if found.len() >= MAX_LISTED {
            return;
        }
        let Ok(kind) = entry.file_type() else { continue };
        let name = RepoPath::from_os(&entry.file_name());
        let path = RepoPath::new([folder.as_bytes(), b"/", name.as_bytes()].concat());
        if kind.is_dir() {
            list(root, &path, found);
        } else {
            found.push(path);
        }
    }
}

/// Returns `true` if a tool wrote the file: the file says so, or it lies among generated files or next to its source.
fn is_written(root: &Path, one: &Candidate) -> bool {
    let mut parts: Vec<&[u8]> = one.path.as_bytes().split(|&byte| byte == b'/').collect();
    parts.pop();
    if parts.into_iter().any(is_generated_folder) {
        return true;
    }
    let file = root.join(one.path.to_os());
    let of = |extensions: &[&str]| extensions.iter().any(|extension| file.with_extension(extension).exists());
    let made_of = match file.extension().and_then(|extension| extension.to_str()) {
        Some("js" | "jsx" | "mjs" | "cjs") => of(&["ts", "tsx", "mts", "cts", "coffee"]),
        Some("c" | "cpp") => of(&["pyx", "y", "l"]),
        _ => false,
    };
    if made_of {
        return true;
    }
    let mut header = Vec::new();
    let read = fs::File::open(&file).and_then(|file| file.take(MAX_HEADER).read_to_end(&mut header));
    let header = String::from_utf8_lossy(&header).to_lowercase();
    read.is_ok()
        && ["do not edit", "@generated", "generated by", "auto-generated", "autogenerated"]
            .iter()
            .any(|word| header.contains(word))
}

/// Returns `true` if the file is compiled into a Go package because it lies among its files.
fn is_of_a_go_package(root: &Path, one: &Candidate) -> bool {
    let is_go = |name: &std::ffi::OsStr| Path::new(name).extension().is_some_and(|extension| extension == "go");
    let file = root.join(one.path.to_os());
    let Some((folder, name)) = file.parent().zip(file.file_name()) else { return false };
    let beside = || {
        fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .any(|entry| entry.file_name() != name && is_go(&entry.file_name()))
    };
    is_go(name) && beside()
}

/// Returns the word by which a source file takes the file in: the name of a module, or the whole name of data.
fn name_in_sources(path: &RepoPath) -> Option<String> {
    let file = path.to_os();
    let name = file.file_name()?.to_str()?;
    if is_data(path) {
        return Some(name.to_owned());
    }
    let stem = file.file_stem()?.to_str()?;
    let stem = if matches!(stem, "__init__" | "index" | "mod") { file.parent()?.file_name()?.to_str()? } else { stem };
    Some(stem.to_owned())
}

/// Returns `true` if the line has a word with which a language includes another file.
fn takes_in(line: &str) -> bool {
    const WORDS: [&str; 29] = [
        "import", "from", "require", "require_relative", "include", "include_str", "include_bytes", "mod", "use",
        "using", "source", "load", "extern", "open", "embed", "readFileSync",
        // By a name in a string.
        "import_module", "__import__", "import_string", "run_path", "run_module", "spec_from_file_location",
        "pytest_plugins", "setupFiles", "setupFilesAfterEnv", "globalSetup", "readFile", "read_text", "dofile",
    ];
    WORDS.iter().any(|word| has_word(line, word))
}

/// Returns `true` if `line` contains `word` as a whole word.
fn has_word(line: &str, word: &str) -> bool {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].chars().next_back().is_some_and(of_word)
            && !line[at + word.len()..].chars().next().is_some_and(of_word)
    })
}

fn same_file(a: &Path, b: &Path) -> bool {
    a.canonicalize().ok().zip(b.canonicalize().ok()).is_some_and(|(a, b)| a == b)
}
