//! Files that are read through a symbolic link: what runs `calc.py` runs the file that stands behind it.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::table::{Naming, naming};
use crate::git::{GitError, MentionsIn, Repo, WantedFile};
use crate::repo_path::RepoPath;

/// The mode of a symbolic link.
const LINK: u32 = 0o120_000;

/// A symbolic link with the name of code, and the path inside of the repository to which it leads.
#[derive(Debug)]
pub(super) struct CodeLink {
    pub(super) path: RepoPath,
    pub(super) target: RepoPath,
}

/// Returns the links of a content that have the name of code.
pub(super) fn code_links(repo: &Repo, content: MentionsIn<'_>) -> Result<Vec<CodeLink>, GitError> {
    let found: Vec<(RepoPath, Vec<u8>)> = match content {
        MentionsIn::Tree(tree) => {
            let mut links = repo.tree_entries(tree)?;
            links.retain(|(path, entry)| entry.mode == LINK && is_code(path));
            let wanted: Vec<_> = links.iter().map(|(_, entry)| WantedFile::Is(entry.oid.clone())).collect();
            let texts = if wanted.is_empty() { Vec::new() } else { repo.blobs(&wanted)? };
            links.into_iter().zip(texts).filter_map(|((path, _), text)| Some((path, text?))).collect()
        }
        MentionsIn::WorkingTree => {
            let Some(root) = repo.root() else { return Ok(Vec::new()) };
            let link = |path: RepoPath| {
                let text = fs::read_link(root.join(path.to_os())).ok()?;
                Some((path, RepoPath::from_os(text.as_os_str()).as_bytes().to_vec()))
            };
            repo.work_files()?.into_iter().filter(is_code).filter_map(link).collect()
        }
    };
    let resolved = |(path, text): (RepoPath, Vec<u8>)| {
        let target = target(&path, &RepoPath::new(text))?;
        Some(CodeLink { path, target })
    };
    Ok(found.into_iter().filter_map(resolved).collect())
}

/// Hidden files such as `.cursorrules` are prose or settings, and have no ending of a language.
fn is_code(path: &RepoPath) -> bool {
    let name = path.to_os();
    let name = Path::new(&name).file_name().map(|name| name.to_string_lossy().into_owned());
    naming(path) == Naming::Code && name.is_some_and(|name| !name.starts_with('.'))
}

/// Returns the path to which a link leads; `None` if it leads out of the repository.
fn target(link: &RepoPath, text: &RepoPath) -> Option<RepoPath> {
    let mut found: PathBuf = link.to_os().parent()?.to_owned();
    for part in Path::new(&text.to_os()).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => found.pop().then_some(())?,
            Component::Normal(part) => found.push(part),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(RepoPath::from_os(found.as_os_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_links() {
        let of = |link: &str, text: &str| target(&link.into(), &text.into());
        assert_eq!(of("src/calc.py", "impl.md"), Some("src/impl.md".into()));
        assert_eq!(of("src/calc.py", "../LICENSE"), Some("LICENSE".into()));
        assert_eq!(of("src/calc.py", "./a/../impl.md"), Some("src/impl.md".into()));
        assert_eq!(of("src/calc.py", "../../LICENSE"), None, "it leads out");
        assert_eq!(of("src/calc.py", "/etc/impl.md"), None);
    }

    #[test]
    fn links_of_prose_are_no_code() {
        for (path, code) in [("src/calc.py", true), ("CLAUDE.md", false), (".cursorrules", false), ("a/LICENSE", false)]
        {
            assert_eq!(is_code(&path.into()), code, "{path}");
        }
    }
}
