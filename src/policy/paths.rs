//! The rules for the paths that count for a command or a gate.

use std::collections::BTreeSet;

use crate::globs::{self, Globs, InvalidGlob};
use crate::repo_path::RepoPath;

/// The rules for paths. A path counts when an `include` glob matches it and no `exclude` glob does, or a `keep` glob
/// takes it back, or the judged command or gate names it.
#[derive(Clone, Debug, Default)]
pub struct PathRules {
    /// The globs of the paths that count, as written, `!` for those that leave out.
    pub inputs: Vec<String>,
    /// The globs of the paths that are left out, as written, `!` for those that take back.
    pub ignore: Vec<String>,
    include: Globs,
    exclude: Globs,
    keep: Globs,
    /// The part of `exclude` that the project wrote itself.
    own: Globs,
    /// Paths that only the defaults leave out, and that count since a file of code names them.
    named: BTreeSet<RepoPath>,
    /// Scratch files, which are left out like those that the defaults leave out.
    scratch: BTreeSet<RepoPath>,
}

impl PathRules {
    /// Rules from `inputs` (globs; `!glob` excludes) and `ignore` (globs that are left out; `!glob` takes back). An input
    /// that names a folder stands for all that is in it.
    /// `*` does not cross `/`, `**` does; case matters.
    pub fn new<S: AsRef<str>>(inputs: &[S], ignore: &[S]) -> Result<Self, InvalidGlob> {
        Self::with_defaults(inputs, &[], ignore)
    }

    /// Returns the same rules, with `defaults` left out as long as nothing that is judged names them: see
    /// [`PathRules::naming`].
    pub fn with_defaults<S: AsRef<str>>(inputs: &[S], defaults: &[S], ignore: &[S]) -> Result<Self, InvalidGlob> {
        let mut rules = Self {
            inputs: inputs.iter().map(|glob| glob.as_ref().to_owned()).collect(),
            ignore: defaults.iter().chain(ignore).map(|glob| glob.as_ref().to_owned()).collect(),
            ..Self::default()
        };
        for glob in inputs.iter().map(AsRef::as_ref) {
            match glob.strip_prefix('!') {
                Some(glob) => {
                    rules.exclude.push(glob)?;
                    rules.own.push(glob)?;
                }
                None => {
                    rules.include.push(glob)?;
                    if let Some(below) = below_folder(glob) {
                        rules.include.push(&below)?;
                    }
                }
            }
        }
        for glob in defaults.iter().map(AsRef::as_ref) {
            rules.exclude.push(glob)?;
        }
        for glob in ignore.iter().map(AsRef::as_ref) {
            match glob.strip_prefix('!') {
                Some(glob) => rules.keep.push(glob)?,
                None => {
                    rules.exclude.push(glob)?;
                    rules.own.push(glob)?;
                }
            }
        }
        Ok(rules)
    }

    /// Returns `true` if only the defaults leave `path` out: it counts if the judged content names it.
    pub fn counts_if_named(&self, path: &RepoPath) -> bool {
        let os = path.to_os();
        self.is_excluded(path) && self.include.is_match(&os) && !self.keep.is_match(&os) && !self.own.is_match(&os)
    }

    /// Returns `true` if the defaults or the project's own globs leave `path` out, whatever takes it back.
    fn is_excluded(&self, path: &RepoPath) -> bool {
        self.exclude.is_match(path.to_os()) || self.scratch.contains(path)
    }

    /// Returns `true` if `path` is one of the scratch files.
    pub fn is_scratch(&self, path: &RepoPath) -> bool {
        self.scratch.contains(path)
    }

    /// Returns the same rules, with these scratch files left out as long as nothing that is judged names them.
    #[must_use]
    pub fn without_scratch(&self, paths: &BTreeSet<RepoPath>) -> Self {
        let mut rules = self.clone();
        rules.scratch.extend(paths.iter().cloned());
        rules
    }

    /// Returns the same rules, with those of `paths` included that only the defaults leave out.
    #[must_use]
    pub fn naming<'p>(&self, paths: impl IntoIterator<Item = &'p RepoPath>) -> Self {
        let mut rules = self.clone();
        rules.named.extend(paths.into_iter().filter(|path| self.counts_if_named(path)).cloned());
        rules
    }

    /// Returns `true` if `path` is left out by name, which is more than not being an input.
    pub fn leaves_out(&self, path: &RepoPath) -> bool {
        let os = path.to_os();
        self.is_excluded(path) && !self.keep.is_match(&os) && !self.named.contains(path)
    }

    /// Returns `true` if `path` counts. One that ends in `/` is a repository inside this one, listed as a whole: see
    /// [`PathRules::matches_below`].
    pub fn matches(&self, path: &RepoPath) -> bool {
        if let Some(folder) = path.as_bytes().strip_suffix(b"/") {
            return self.matches_below(&RepoPath::new(folder));
        }
        let os = path.to_os();
        self.include.is_match(&os) && (!self.is_excluded(path) || self.keep.is_match(&os) || self.named.contains(path))
    }

    /// Returns `true` if `path` counts, or anything that may lie below it: the content of another repository's commit
    /// is not listed, so that only the rules can decide.
    pub fn matches_below(&self, path: &RepoPath) -> bool {
        let inner = RepoPath::new([path.as_bytes(), b"/\0"].concat());
        let (os, inner) = (path.to_os(), inner.to_os());
        // A repository is not a document, whatever its folder is called; so only the policy's own rules know it by its
        // name.
        let left_out = (self.own.is_match(&os) || self.exclude.is_match(&inner)) && self.keep.is_empty();
        let included = self.inputs.iter().filter(|glob| !glob.starts_with('!'));
        !left_out && (self.matches(path) || included.into_iter().any(|glob| reaches_below(glob, path)))
    }
}

/// Returns the glob for what is below the path that a glob names, or `None` if its last part is a pattern.
fn below_folder(glob: &str) -> Option<String> {
    let path = glob.trim_end_matches('/');
    let last = path.rsplit('/').next().filter(|last| !last.is_empty())?;
    (!path.contains(['{', '[', '\\']) && !last.contains(['*', '?'])).then(|| format!("{path}/**"))
}

/// Returns `true` if `glob` could match something in the folder `path`, also in case of doubt.
fn reaches_below(glob: &str, path: &RepoPath) -> bool {
    let path = path.to_os();
    let mut folders = path.components();
    for part in glob.split('/') {
        // A brace or a class may hold slashes, and then these are not parts.
        let doubtful = part == "**" || part.contains(['{', '}', '[', ']']);
        let Some(folder) = folders.next().filter(|_| !doubtful) else { return true };
        if !globs::check(part).is_ok_and(|glob| glob.compile_matcher().is_match(folder.as_os_str())) {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_that_names_a_folder_stands_for_all_in_it() {
        let rules = PathRules::new(&["src", "web/", "**/Dockerfile", "a/*.rs"], &["docs"]).unwrap();
        let matches = |path: &str| rules.matches(&RepoPath::from(path));
        for path in ["src", "src/a/b.rs", "web/x.ts", "x/Dockerfile", "a/b.rs"] {
            assert!(matches(path), "{path}");
        }
        for path in ["srcs/a.rs", "a/src/b.rs", "a/b.rs/c", "docs/a.rs"] {
            assert!(!matches(path), "{path}");
        }
    }

    #[test]
    fn ignored_paths_can_be_taken_back() {
        let rules = PathRules::new(&["**", "!web/**"], &["**/*.md", "!README.md"]).unwrap();
        for (path, counts) in [
            ("src/lib.rs", true),
            ("web/app.ts", false),
            ("docs/a.md", false),
            ("README.md", true),
            ("a/README.md", false),
        ] {
            assert_eq!(rules.matches(&RepoPath::from(path)), counts, "{path}");
        }
    }

    #[test]
    fn a_named_path_counts_where_only_the_defaults_leave_it_out() {
        let rules = PathRules::with_defaults(&["**", "!web/**"], &["**/*.md"], &["docs/**"]).unwrap();
        let paths = ["README.md", "docs/a.md", "web/a.md"].map(RepoPath::from);
        assert!(paths.iter().all(|path| !rules.matches(path)));
        let named = rules.naming(&paths);
        assert_eq!(paths.map(|path| named.matches(&path)), [true, false, false]);
        assert!(!named.matches(&RepoPath::from("a/README.md")));
    }

    #[test]
    fn a_scratch_file_counts_where_it_is_named_or_taken_back() {
        let rules = PathRules::with_defaults(&["**"], &["**/*.md"], &["!kept.txt"]).unwrap();
        let paths = ["todo.txt", "read.txt", "kept.txt"].map(RepoPath::from);
        let rules = rules.without_scratch(&paths.iter().cloned().collect());
        assert_eq!(paths.each_ref().map(|path| rules.matches(path)), [false, false, true]);
        let named = rules.naming([&paths[1]]);
        assert_eq!(paths.each_ref().map(|path| named.matches(path)), [false, true, true]);
        assert!(rules.matches(&RepoPath::from("other.txt")));
    }

    #[test]
    fn a_repository_inside_counts_when_anything_in_it_could() {
        for (inputs, counts) in [
            (&["**"][..], true),
            (&["vendor/**"], true),
            (&["vendor/sub"], true),
            (&["vendor/sub/src/*.c"], true),
            (&["vendor/*/src/*.c"], true),
            (&["**/*.c"], true),
            (&["{src,vendor}/**"], true),
            (&["src/**"], false),
            (&["vendor/other/**"], false),
            (&["vendor"], true),
            (&["vendor/*.c"], false),
            (&["**", "!vendor/**"], false),
            (&["**", "!vendor/sub/**"], false),
        ] {
            let rules = PathRules::new(inputs, &["**/*.md"]).unwrap();
            assert_eq!(rules.matches(&RepoPath::from("vendor/sub/")), counts, "{inputs:?}");
            assert_eq!(rules.matches_below(&RepoPath::from("vendor/sub")), counts, "{inputs:?}");
        }
    }

    #[test]
    fn star_stays_inside_a_directory_and_any_byte_is_a_name() {
        let rules = PathRules::new(&["src/*.rs"], &[]).unwrap();
        assert!(!rules.matches(&RepoPath::from("src/a/b.rs")));
        assert!(rules.matches(&RepoPath::new(*b"src/\xff\n.rs")));
    }
}
