//! A task of all members of a workspace, which succeeds where no member defines it.

use serde_json::Value;

use crate::runner::project_files::ProjectFiles;
use crate::runner::workspace_members;

/// The maximum number of members that are looked at.
const MAX_MEMBERS: usize = 200;

/// Returns `true` if a script is called in all members of a workspace, and none of them has it.
///
/// `words`: the words and options of the call. `package`: the `package.json` of the workspace.
pub(super) fn none_defines(words: &[&str], package: &Value, files: &dyn ProjectFiles, script: &str) -> bool {
    let names: Vec<&str> = words.iter().map(|word| word.split('=').next().unwrap_or_default()).collect();
    let asks = |known: &[&str]| names.iter().any(|name| known.contains(name));
    if !asks(&["--workspaces", "-ws", "-r", "--recursive", "workspaces"])
        || asks(&["--filter", "-F", "-w", "--workspace"])
    {
        return false;
    }
    let defines = |package: &Value| package["scripts"].get(script).is_some();
    let root_counts = !asks(&["--workspaces", "-ws"]) || asks(&["--include-workspace-root", "-iwr"]);
    if root_counts && defines(package) {
        return false;
    }
    let Some(folders) = members(package, files) else { return false };
    let texts = folders.iter().map(|folder| files.read(&format!("{folder}/package.json")));
    let packages = texts.flatten().map(|text| serde_json::from_str::<Value>(&text).ok());
    // One that cannot be read may define it.
    !packages.into_iter().any(|package| package.is_none_or(|package| defines(&package)))
}

/// Returns the folders that may be members, or `None` if they are not known.
fn members(package: &Value, files: &dyn ProjectFiles) -> Option<Vec<String>> {
    let pnpm = files.read("pnpm-workspace.yaml");
    let mut found = Vec::new();
    for entry in workspace_members::package_folders(package, pnpm.as_deref())? {
        found.extend(workspace_members::folders(&entry, files)?);
    }
    (found.len() <= MAX_MEMBERS).then_some(found)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_script_that_no_member_has() {
        let root = r#"{"workspaces":["a","b"],"scripts":{"test":"npm test --workspaces --if-present"}}"#;
        for (words, a, b, none) in [
            ("--workspaces --if-present", r#"{"scripts":{"build":"x"}}"#, "{}", true),
            ("-ws --if-present", "{}", r#"{"scripts":{"test":"x"}}"#, false),
            ("--workspaces --if-present --include-workspace-root", "{}", "{}", false),
            ("-w a --if-present", "{}", "{}", false),
            ("--if-present", "{}", "{}", false),
            ("--workspaces --if-present", "{}", "no json", false),
        ] {
            let files = BTreeMap::from(
                [("a/package.json", a), ("b/package.json", b)].map(|(p, t)| (p.to_owned(), t.to_owned())),
            );
            let words: Vec<&str> = words.split(' ').collect();
            let package = serde_json::from_str(root).unwrap();
            assert_eq!(none_defines(&words, &package, &files, "test"), none, "{words:?} {a} {b}");
        }
        let files = BTreeMap::from([
            ("pnpm-workspace.yaml".to_owned(), "packages:\n  - a\n".to_owned()),
            ("a/package.json".to_owned(), "{}".to_owned()),
        ]);
        assert!(none_defines(&["-r"], &serde_json::json!({}), &files, "test"));
    }
}
