//! The places in which the shell looks for programs.

use crate::command_line::command_table::table;
use crate::tool_folder::environment_names;

/// Returns `true` if a search path leads only to folders of programs outside of the working tree, and to those of the
/// installed programs of this project.
pub(super) fn finds_installed_programs(path: &str, root: Option<&str>, directory: &str) -> bool {
    path.split(':').all(|place| {
        let home = ["$PATH", "$HOME/", "~/"].iter().any(|start| place.starts_with(start));
        let inside = root.is_none_or(|root| place.starts_with(root));
        let outside = (home || place.starts_with('/') && !inside) && !place.contains("..");
        outside && table().programs.has(place) || is_of_project(place, root, directory)
    })
}

/// Returns a search path with the folders in `directory` as they are seen from there.
pub(super) fn places_here(path: &str, root: Option<&str>, directory: &str) -> String {
    let here = root.map(|root| format!("{}/{directory}", root.trim_end_matches('/')));
    let here = here.as_deref().map(|here| here.trim_end_matches('/'));
    let starts = || std::iter::once("$PWD").chain(here);
    let seen = |place| {
        let below = starts().find_map(|start| str::strip_prefix(place, start));
        match below {
            Some("" | "/") => ".",
            Some(rest) => rest.strip_prefix('/').unwrap_or(place),
            None => place,
        }
    };
    path.split(':').map(seen).collect::<Vec<_>>().join(":")
}

/// Returns `true` for a folder into which a package manager puts programs, in `directory`, above it or at the root:
/// `$PWD/.venv/bin`.
pub(super) fn is_of_project(place: &str, root: Option<&str>, directory: &str) -> bool {
    let installed = |path: &str| match path.rsplit_once('/') {
        Some((tool, "bin" | "Scripts")) => tool == "vendor" || environment_names().iter().any(|name| name == tool),
        _ => path == "node_modules/.bin",
    };
    let root = root.map(|root| root.trim_end_matches('/'));
    let here = root.map(|root| format!("{root}/{directory}")).filter(|_| !directory.is_empty());
    let place = place.trim_end_matches('/');
    let starts = ["$PWD", "."].into_iter().chain(root).chain(here.as_deref());
    let mut below = starts.filter_map(|start| place.strip_prefix(start)?.strip_prefix('/')).chain([place]);
    below.any(|rest| {
        let above = rest.len() - rest.trim_start_matches("../").len();
        installed(&rest[above..])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_paths() {
        for (path, fine) in [
            ("$HOME/.cargo/bin:$PATH", true),
            ("/usr/local/go/bin:$PATH", true),
            ("~/.local/bin:/usr/bin", true),
            ("/home/a/.dotnet:/opt/zig-0.14:$PATH", true),
            ("/tmp/env/bin/:/home/a/node-22/bin:$PATH", true),
            ("/tmp/fake:$PATH", false),
            ("$HOME/fake:$PATH", false),
            ("/home/a/fake:$PATH", false),
            ("/dev/shm/.fake:$PATH", false),
            ("/usrfake:/opt2/x:$PATH", false),
            ("/work/repo/fake:$PATH", false),
            ("fake:$PATH", false),
            ("$PWD/fake:$PATH", false),
            (":$PATH", false),
            ("/usr/../work/repo:$PATH", false),
            ("$PWD/.venv/bin:$PATH", true),
            ("./venv/bin/:$PATH", true),
            (".venv/bin:$PATH", true),
            ("../node_modules/.bin:node_modules/.bin:$PATH", true),
            ("/work/repo/.venv/bin:$PATH", true),
            ("/work/repo/web/node_modules/.bin:$PATH", true),
            ("vendor/bin:$PATH", true),
            ("bin:$PATH", false),
            ("$PWD/sub/.venv/bin:$PATH", false),
            ("$PWD/.venv/bin/../../fake:$PATH", false),
            ("/work/repo/api/node_modules/.bin:$PATH", false),
            ("$PWD/.venv/bin:$PWD/fake:$PATH", false),
            ("x/node_modules/.bin:$PATH", false),
        ] {
            assert_eq!(finds_installed_programs(path, Some("/work/repo"), "web"), fine, "{path}");
        }
    }
}
