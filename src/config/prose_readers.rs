//! Declared commands that read documents: for these, documents are content like any other file.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::embedded;

/// Words that may come before a program and start it.
const STARTERS: [&str; 24] = [
    "npx", "bunx", "pnpx", "pnpm", "yarn", "npm", "bun", "exec", "dlx", "uv", "uvx", "tool", "run", "pipx", "poetry",
    "hatch", "pdm", "bundle", "python", "python3", "-m", "--", "-y", "--yes",
];
/// Endings of documents.
const DOCUMENTS: [&str; 6] = ["md", "markdown", "rst", "adoc", "asciidoc", "textile"];

/// The table `gates/prose-readers.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProseReaders {
    programs: Vec<String>,
    of_folder: Vec<String>,
    everything: Vec<String>,
}

/// Returns `true` if a command line starts a program that reads documents.
pub(super) fn reads_documents(run: &str) -> bool {
    static TABLE: LazyLock<ProseReaders> = LazyLock::new(|| embedded::table("prose-readers.toml"));
    let is_starter = |word: &&str| STARTERS.contains(word) || word.contains('=');
    run.split(['&', '|', ';', '\n']).any(|call| {
        let mut words = call.split_whitespace().map(|word| word.trim_matches(['"', '\''])).skip_while(is_starter);
        let Some(program) = words.next() else { return false };
        let name = program.rsplit('/').next().unwrap_or(program);
        let is_one = |list: &[String], word: &str| list.iter().any(|known| known == word);
        is_one(&TABLE.programs, name)
            || is_one(&TABLE.of_folder, name) && words.any(|word| is_one(&TABLE.everything, word))
    })
}

/// Returns `true` for a glob of documents of one kind: `**/*.md`.
pub(super) fn is_of_documents(glob: &str) -> bool {
    glob.strip_prefix("**/*.").is_some_and(|ending| DOCUMENTS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_read_documents() {
        for run in [
            "mkdocs build --strict",
            "sphinx-build -W docs out",
            "npx markdownlint-cli2 '**/*.md'",
            "npx prettier --check .",
            "pnpm exec prettier -c \"**/*\"",
            "pre-commit run --all-files",
            "python -m mkdocs build",
            "ruff check . && codespell .",
            "CI=1 npx -y cspell '**'",
        ] {
            assert!(reads_documents(run), "{run}");
        }
        for run in ["pytest", "prettier --check src", "pip install mkdocs && pytest", "cargo test", "npm run docs", ""]
        {
            assert!(!reads_documents(run), "{run}");
        }
    }
}
