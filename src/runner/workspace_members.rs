//! The members of a workspace, as the files of package managers list them.

use serde_json::Value;

use super::plain_yaml;
use super::project_files::ProjectFiles;

/// Returns the patterns of the folders that are packages of a workspace, or `None` if it is not one.
///
/// `package`: the `package.json` of the workspace. `pnpm`: the text of the `pnpm-workspace.yaml` beside it.
pub fn package_folders(package: &Value, pnpm: Option<&str>) -> Option<Vec<String>> {
    let of_pnpm = pnpm.and_then(plain_yaml::read).unwrap_or_default();
    let workspaces = &package["workspaces"];
    let lists = [workspaces, &workspaces["packages"], &of_pnpm["packages"]].map(Value::as_array);
    if lists.iter().all(Option::is_none) {
        return None;
    }
    let entries = lists.into_iter().flatten().flatten().filter_map(Value::as_str);
    Some(entries.filter(|entry| !entry.starts_with('!')).map(str::to_owned).collect())
}

/// Returns the folders that an entry of such a list means, or `None` if they are not known. `x/*` is each folder in `x`.
pub fn folders(entry: &str, files: &dyn ProjectFiles) -> Option<Vec<String>> {
    let entry = entry.trim_start_matches("./").trim_end_matches('/');
    let (folder, every) = match entry.strip_suffix('*') {
        Some("") => ("", true),
        Some(folder) => (folder.strip_suffix('/')?, true),
        None => (entry, false),
    };
    if folder.contains(['*', '?', '[', '!', '{', '\\']) {
        return None;
    }
    if !every {
        return Some(vec![folder.to_owned()]);
    }
    let inner = files.names(if folder.is_empty() { "." } else { folder })?.into_iter();
    let inner = inner.filter_map(|name| name.strip_suffix('/').map(str::to_owned));
    Some(inner.map(|name| if folder.is_empty() { name } else { format!("{folder}/{name}") }).collect())
}
