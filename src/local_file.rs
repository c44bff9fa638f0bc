//! Files that a checkout elsewhere does not have as they are here: no commit contains them, or a filter of this clone
//! changes them.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::embedded;
use crate::globs::Globs;
use crate::repo_path::RepoPath;
use crate::shell_quote::{shell_line, shell_word};

/// The reason why a checkout elsewhere does not have a file as it is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LocalCause {
    /// A `.gitignore` hides it, and it was never added.
    Ignored,
    /// An ignore rule that is not committed hides it.
    Excluded,
    /// A git filter or attribute of this machine gives it other content than the commit has.
    Filtered,
    /// Git converts it: a checkout writes other line endings, another `$Id$` or another encoding.
    Converted,
    /// It is a plain file here and a link in git.
    Unlinked,
    /// It is a link to something that no commit contains.
    Linked,
    /// It is a repository of its own, of which nobody knows where to fetch it.
    Unnamed,
    /// It can be executed here, and git is told not to look at modes.
    Executable,
    /// It is a manifest that reads a dependency from a folder outside of the repository.
    Outside,
    /// It is a submodule at a commit that no branch of a remote has.
    Unpushed,
    /// It is an installed package that the lock file does not list.
    Unlisted,
}

/// A file that exists here and that a checkout of the same commit elsewhere lacks, or has with other content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LocalFile {
    /// The path, relative to the root of the working tree.
    pub path: RepoPath,
    /// The reason.
    pub cause: LocalCause,
}

impl LocalCause {
    /// Returns the word for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ignored => "ignored-file",
            Self::Excluded => "local-exclude",
            Self::Filtered => "local-filter",
            Self::Converted => "converted-file",
            Self::Unlinked => "link-as-file",
            Self::Linked => "local-link",
            Self::Unnamed => "local-repository",
            Self::Executable => "local-mode",
            Self::Outside => "outside-dependency",
            Self::Unpushed => "unpushed-submodule",
            Self::Unlisted => "unlisted-package",
        }
    }

    /// Returns a sentence about `paths`, which are not empty: why a checkout elsewhere does not have them, and the
    /// remedy.
    pub fn sentence(self, paths: &[&RepoPath]) -> String {
        format!("{}; {}", self.reason(paths), self.remedy(paths))
    }

    /// Returns a sentence about `paths`, which are not empty: why a checkout elsewhere does not have them.
    pub fn reason(self, paths: &[&RepoPath]) -> String {
        const NAMED: usize = 3;
        let mut names = paths.iter().take(NAMED).map(ToString::to_string).collect::<Vec<_>>().join(", ");
        if paths.len() > NAMED {
            names = format!("{names} and {} more", paths.len() - NAMED);
        }
        let words = match self {
            Self::Ignored => "looks needed, but .gitignore hides it and no commit has it",
            Self::Excluded => "is hidden by an ignore rule that is not committed, so no commit has it",
            Self::Filtered => {
                "differs from its commit through a git filter or attribute that is set only on this machine"
            }
            Self::Converted => "has other bytes here (line endings, ids, encoding) than git writes at a checkout",
            Self::Unlinked => "is a plain file here and a link in git, which core.symlinks=false hides",
            Self::Linked => "is a link to something that no commit contains",
            Self::Unnamed => "is a repository of its own that .gitmodules does not name, so nobody else can fetch it",
            Self::Executable => {
                "is executable here and not in git, which core.fileMode=false keeps from seeing the mode"
            }
            Self::Outside => {
                "reads a dependency from a folder outside of this repository, which a checkout elsewhere lacks"
            }
            Self::Unpushed => "is a submodule at a commit that was made here and that no branch of its remote has",
            Self::Unlisted => "is imported and installed here, but package-lock.json does not list it",
        };
        format!("{names} {words}")
    }

    /// Returns the remedy that puts the files into a checkout elsewhere.
    pub fn remedy(self, paths: &[&RepoPath]) -> String {
        let paths: Vec<String> = paths.iter().take(3).map(ToString::to_string).collect();
        let named = shell_line(paths.iter().map(String::as_str));
        match self {
            Self::Filtered => {
                "commit the content that the tests need, and run them where no filter changes it".to_owned()
            }
            Self::Linked => "commit the content that the tests need in its place".to_owned(),
            Self::Unnamed => "make it a submodule (git submodule add), or commit its files instead".to_owned(),
            Self::Converted => format!(
                "let git write it and run it again: git add -- {named} && rm {named} && git checkout-index -- {named}"
            ),
            Self::Unlinked => format!(
                "let git write the link and run it again: git config core.symlinks true && git checkout-index -f -- {named}"
            ),
            Self::Executable => {
                format!("commit its mode if it is needed: git update-index --add --chmod=+x -- {named}")
            }
            Self::Outside => "depend on a published version, or move the folder into this repository".to_owned(),
            Self::Unpushed => {
                let push = |path: &String| format!("git -C {} push origin HEAD:refs/heads/NAME", shell_word(path));
                format!(
                    "push it to a branch of its remote: {}",
                    paths.iter().map(push).collect::<Vec<_>>().join(" && ")
                )
            }
            Self::Unlisted => {
                format!("add it: {}", paths.iter().map(|path| install(path)).collect::<Vec<_>>().join(" && "))
            }
            Self::Ignored | Self::Excluded => format!("commit it if it is needed: git add --force -- {named}"),
        }
    }
}

/// Returns the command that adds an installed package to the manifest beside its `node_modules`.
fn install(package: &str) -> String {
    let (folder, name) = package.split_once("node_modules/").unwrap_or(("", package));
    let prefix = folder.strip_suffix('/').map(|folder| format!("--prefix {} ", shell_word(folder))).unwrap_or_default();
    format!("npm install {prefix}--save-dev {}", shell_word(name))
}

/// The table `gates/local-files.toml`, as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LocalFileTable {
    collected: Vec<String>,
    data: Vec<String>,
    litter: Vec<String>,
    generated: Vec<String>,
}

/// The compiled rules of the table.
struct LocalFileRules {
    collected: Globs,
    data: Globs,
    litter: Globs,
    generated: Vec<String>,
}

fn rules() -> &'static LocalFileRules {
    static RULES: LazyLock<LocalFileRules> = LazyLock::new(|| {
        let LocalFileTable { collected, data, litter, generated } = embedded::table("local-files.toml");
        let globs = |patterns: &[String]| Globs::new(patterns).unwrap_or_default();
        LocalFileRules { collected: globs(&collected), data: globs(&data), litter: globs(&litter), generated }
    });
    &RULES
}

/// Returns `true` for files that a runner finds by name alone: tests, plugins and settings.
pub(crate) fn is_collected(path: &RepoPath) -> bool {
    rules().collected.is_match(path.to_os())
}

/// Returns `true` for data that source files may name in full.
pub(crate) fn is_data(path: &RepoPath) -> bool {
    rules().data.is_match(path.to_os())
}

/// Returns `true` for files that editors and desktops leave behind.
pub(crate) fn is_litter(path: &RepoPath) -> bool {
    rules().litter.is_match(path.to_os())
}

/// Returns `true` for a folder name that code generators use for their output.
pub(crate) fn is_generated_folder(name: &[u8]) -> bool {
    rules().generated.iter().any(|known| known.as_bytes() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runners_find_by_its_name_is_collected() {
        for (path, is) in [
            ("conftest.py", true),
            ("tests/conftest.py", true),
            ("tests/test_a.py", true),
            ("calc_test.go", true),
            ("src/a.test.ts", true),
            ("vitest.config.mts", true),
            (".npmrc", true),
            (".cargo/config.toml", true),
            ("src/version.py", false),
            ("coverage.json", false),
            (".env", false),
        ] {
            assert_eq!(is_collected(&RepoPath::from(path)), is, "{path}");
        }
        assert!(is_data(&RepoPath::from("src/rules.json")) && !is_data(&RepoPath::from("src/a.py")));
        assert!(is_litter(&RepoPath::from("src/.DS_Store")) && !is_litter(&RepoPath::from("src/store.py")));
        assert!(is_generated_folder(b"__generated__") && !is_generated_folder(b"src"));
    }
}
