//! Reads the files of a policy: `gate.toml` and `gate/runners/`, in a commit or in the working tree.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use crate::config::{self, PolicyFiles};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::git::{GitError, Repo, TreeFile};
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// Reads the files of the policy in a commit. Returns `None` if it has no `gate.toml`.
pub fn at(repo: &Repo, commit: &Oid) -> Result<Option<PolicyFiles>, GitError> {
    let Some(policy) = content_at(repo, commit, &RepoPath::from(config::FILE))? else { return Ok(None) };
    let mut runners = BTreeMap::new();
    for path in repo.paths_in_folder(commit, &RepoPath::from(config::OWN_RUNNERS))? {
        let text = path.to_string();
        let name = text.rsplit('/').next().unwrap_or(&text);
        if PolicyFiles::is_runner(name)
            && let Some(content) = content_at(repo, commit, &path)?
        {
            runners.insert(name.to_owned(), content);
        }
    }
    Ok(Some(PolicyFiles { policy, runners }))
}

fn content_at(repo: &Repo, commit: &Oid, path: &RepoPath) -> Result<Option<Vec<u8>>, GitError> {
    Ok(match repo.regular_file_at(commit, path)? {
        TreeFile::Nothing => None,
        TreeFile::Regular(content) => Some(content),
        TreeFile::Other => Some(config::NOT_A_FILE.to_vec()),
    })
}

/// Reads the files of the policy in the working tree below `root`. Returns `None` if it has no `gate.toml`.
pub fn here(root: &Path) -> Result<Option<PolicyFiles>, Failure> {
    let Some(policy) = gate_toml(root)? else { return Ok(None) };
    let mut runners = BTreeMap::new();
    for entry in fs::read_dir(root.join(config::OWN_RUNNERS)).into_iter().flatten().flatten() {
        let Some(name) = entry.file_name().to_str().filter(|name| PolicyFiles::is_runner(name)).map(str::to_owned)
        else {
            continue;
        };
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let content = if is_file { fs::read(entry.path()) } else { Ok(config::NOT_A_FILE.to_vec()) };
        let content = content.map_err(|error| {
            let path = entry.path();
            Failure::new(Exit::BadInput, format!("{}/{name} cannot be read: {error}", config::OWN_RUNNERS))
                .remedy(format!("make it readable, or remove it: {}", path.display()))
        })?;
        runners.insert(name, content);
    }
    Ok(Some(PolicyFiles { policy, runners }))
}

/// Reads the `gate.toml` below `root`. Returns an error for anything that is not a file.
fn gate_toml(root: &Path) -> Result<Option<Vec<u8>>, Failure> {
    let path = root.join(config::FILE);
    let refused = |what: &str| {
        let remedy = format!("the policy is a file at the root of the repository: {}", path.display());
        Failure::new(Exit::BadInput, format!("{} {what}", config::FILE)).remedy(remedy)
    };
    // Whatever else it is, reading it may never end.
    let read = fs::metadata(&path).and_then(|meta| meta.is_file().then(|| fs::read(&path)).transpose());
    match read {
        Ok(Some(bytes)) => Ok(Some(bytes)),
        Ok(None) if path.is_dir() => Err(refused("is a directory")),
        Ok(None) => Err(refused("is not a regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(refused(&format!("cannot be read: {error}"))),
    }
}
