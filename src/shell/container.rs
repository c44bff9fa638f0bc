//! Containers that work on the files of this directory: `docker run -v $PWD:/x -w /x image npm test`.

use super::expanded_program::Arg;

/// Options of `docker run`, `exec` and similar commands that do not change the input of a check, by whether they take a
/// value.
const PLAIN: [&str; 17] = [
    "--rm", "-i", "-t", "-it", "-ti", "--interactive", "--tty", "--init", "-T", "--no-TTY", "--no-deps",
    "--service-ports", "--build", "--privileged", "-q", "--quiet", "--quiet-pull",
];
const PLAIN_VALUES: [&str; 24] = [
    "--name", "--network", "--net", "-u", "--user", "--platform", "-m", "--memory", "--cpus", "-p", "--publish", "-l",
    "--label", "--add-host", "--hostname", "-h", "--pull", "--security-opt", "--cap-add", "--shm-size", "--ulimit",
    "--gpus", "--ipc", "--index",
];
/// Folders that tools fill. A mount over one of them hides no content of the project.
const TOOL_FOLDERS: [&str; 9] =
    ["node_modules", ".venv", "venv", "target", ".tox", ".nox", ".gradle", ".cache", "__pycache__"];

/// The words between a container tool and the command that it runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ContainerWords {
    /// The mounts: `.:/app`, `type=bind,source=.,target=/app`.
    pub(crate) mounts: Vec<String>,
    /// The folder in which the command runs.
    pub(crate) workdir: Option<String>,
    /// Variables that are set for it.
    pub(crate) assigned: Vec<(String, Option<String>)>,
    /// The image or the service.
    pub(crate) operand: Option<String>,
    /// Words that may make it another check.
    pub(crate) settings: Vec<Arg>,
}

impl ContainerWords {
    /// Reads the words; `values` are the options that take the next word. `None`: one of them is not known.
    pub(crate) fn read(own: &[Arg], values: &[String]) -> Option<Self> {
        let mut found = Self::default();
        let mut own = own.iter().filter(|arg| arg.literal() != Some("--"));
        while let Some(arg) = own.next() {
            let text = arg.literal()?;
            if !text.starts_with('-') {
                found.operand = Some(text.to_owned());
                continue;
            }
            let (option, inline) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
            let takes = inline.is_none() && values.iter().any(|known| known == option);
            let value = if takes { own.next()?.literal() } else { inline };
            match (option, value) {
                ("-v" | "--volume" | "--mount", Some(value)) => found.mounts.push(value.to_owned()),
                ("-w" | "--workdir", Some(value)) => found.workdir = Some(value.to_owned()),
                ("-e" | "--env", Some(value)) => {
                    let set = value.split_once('=').map(|(name, value)| (name.to_owned(), Some(value.to_owned())));
                    found.assigned.extend(set);
                }
                (option, None) if PLAIN.contains(&option) => {}
                (option, Some(_)) if PLAIN_VALUES.contains(&option) => {}
                _ => found.settings.push(arg.clone()),
            }
        }
        Some(found)
    }

    /// Returns the folder in which the command runs, relative to the line's directory, if the container has the same
    /// files there.
    pub(crate) fn folder_here(&self) -> Option<String> {
        folder_here(&self.mounts, self.workdir.as_deref()?)
    }
}

/// Returns the folder of this directory that is mounted as `workdir` in a container with these mounts, or `None` if any
/// of the files there are not those of this directory.
pub(crate) fn folder_here(mounts: &[String], workdir: &str) -> Option<String> {
    let mounts: Vec<(String, String)> = mounts.iter().map(|mount| read_mount(mount)).collect::<Option<_>>()?;
    let below = |path: &str, folder: &str| Some(path.strip_prefix(folder)?.trim_end_matches('/').to_owned());
    let here = |source: &str| matches!(source, "." | "./" | "./.");
    let target = mounts.iter().find(|(source, _)| here(source)).map(|(_, target)| target.trim_end_matches('/'))?;
    let inner = below(workdir, target).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
    let hides = |(source, other): &(String, String)| {
        let inside = other.strip_prefix(target).is_some_and(|rest| rest.starts_with('/'));
        let name = other.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        !here(source) && inside && !TOOL_FOLDERS.contains(&name)
    };
    if target.is_empty() || mounts.iter().any(hides) {
        return None;
    }
    let inner = inner.trim_start_matches('/');
    Some(if inner.is_empty() { ".".to_owned() } else { inner.to_owned() })
}

/// Returns the source and the target of a mount; the source is empty if the tool makes the folder itself.
fn read_mount(mount: &str) -> Option<(String, String)> {
    if mount.contains("target=") || mount.contains("destination=") || mount.contains("dst=") {
        let value = |names: &[&str]| {
            mount
                .split(',')
                .find_map(|part| part.split_once('=').filter(|(name, _)| names.contains(name)).map(|(_, value)| value))
        };
        let target = value(&["target", "destination", "dst"])?;
        return Some((value(&["source", "src"]).unwrap_or_default().to_owned(), target.to_owned()));
    }
    match mount.split(':').collect::<Vec<_>>()[..] {
        [target] => Some((String::new(), target.to_owned())),
        [source, target] | [source, target, _] => Some((source.to_owned(), target.to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_mount_of_this_directory_shows_its_files() {
        for (mounts, workdir, expected) in [
            (&[".:/x"][..], "/x", Some(".")),
            (&["./:/x:ro"], "/x/", Some(".")),
            (&[".:/x", "/x/node_modules"], "/x/web", Some("web")),
            (&["type=bind,source=.,target=/x"], "/x", Some(".")),
            (&[".:/x", "cache:/root/.cache"], "/x", Some(".")),
            (&[".:/x", "./fake:/x/src"], "/x", None),
            (&["./tests:/x"], "/x", None),
            (&["data:/x"], "/x", None),
            (&[".:/x"], "/y", None),
            (&[".:/x"], "/xy", None),
            (&[], "/x", None),
        ] {
            let mounts: Vec<String> = mounts.iter().map(|mount| (*mount).to_owned()).collect();
            assert_eq!(folder_here(&mounts, workdir).as_deref(), expected, "{mounts:?} {workdir}");
        }
    }
}
