//! Changes to the files in which agent clients keep the hooks of gate, and to settings that switch hooks off.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::event::agent_work::{EditKind, FileEdit};
use crate::globs::Globs;

/// The files in which gate installs its hooks. A test compares the list with `gates/client-hooks/`.
pub const HOOK_FILES: [&str; 5] = [
    ".claude/settings.local.json", ".codex/hooks.json", ".gemini/settings.json", ".github/hooks/gate.json",
    ".opencode/plugins/gate.js",
];
/// The folders in which clients keep their settings.
const SETTINGS: [&str; 5] = [".claude", ".codex", ".gemini", ".copilot", ".opencode"];
/// The text that every line of a hook contains.
pub const CALL: &str = "gate hook ";

/// Settings and commands that switch the hooks of a client off, as the clients document them.
static SWITCH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?mx)
        disableAllHooks ["']? \s* (?: [:=] \s* | \s ) ["']? true \b
        | hooksConfig \b [^}]* \b enabled ["']? \s* [:=] \s* false \b
        | hooksConfig \b [^}]* \b disabled ["']? \s* : \s* \[ [^\]]* gate
        | (?: ^ | [\s/|\#@."'] ) (?: codex_ )? hooks \s* = \s* false \b
        | \b gemini \s+ hooks \s+ disable
        | \b codex \s+ features \s+ disable \s+ (?: codex_ )? hooks \b
        "#,
    )
    .ok()
});

/// Returns `true` if a text switches the hooks of a client off.
pub fn switches_off(text: &str) -> bool {
    SWITCH.as_ref().is_some_and(|switch| switch.is_match(text))
}

/// Returns `true` if a text names the settings of a client.
pub fn names_settings(text: &str) -> bool {
    SETTINGS.iter().any(|folder| text.contains(folder))
}

/// Returns `true` if a path is a file with hooks of gate.
pub fn is_hook_file(path: &str) -> bool {
    let path = path.replace('\\', "/");
    HOOK_FILES.iter().any(|file| path == *file || path.strip_suffix(file).is_some_and(|rest| rest.ends_with('/')))
}

/// Returns the files with hooks of gate that a deleted or moved path covers: the path itself, those below it, or those
/// that match its pattern. A file that is not below the root of the working tree is named by the path itself.
pub(super) fn hook_files_at(path: &str) -> Vec<String> {
    let path = path.replace('\\', "/");
    let place = path.trim_start_matches("./").trim_end_matches('/');
    if is_hook_file(place) {
        return vec![place.to_owned()];
    }
    if place.is_empty() || place == "." {
        return HOOK_FILES.map(str::to_owned).to_vec();
    }
    let pattern = Globs::new(&[place, &format!("{place}/**")]).unwrap_or_default();
    let below: Vec<String> =
        HOOK_FILES.into_iter().filter(|file| pattern.is_match(Path::new(file))).map(str::to_owned).collect();
    let folders = HOOK_FILES.iter().flat_map(|file| file.match_indices('/').map(|(at, _)| &file[..at]));
    let ends = |folder: &str| place.strip_suffix(folder).is_some_and(|rest| rest.ends_with('/'));
    if below.is_empty() && folders.into_iter().any(ends) { vec![place.to_owned()] } else { below }
}

/// Returns `true` if a path is a file with hooks of gate or a folder in which clients look for one.
pub fn holds_hook_files(path: &str) -> bool {
    !hook_files_at(path).is_empty()
}

/// Returns `true` if an edit of this path removes the hooks of gate.
pub(super) fn takes_out(path: &str, edit: &FileEdit) -> bool {
    let loses = edit.removed.contains(CALL) && !edit.added.contains(CALL);
    // A tool that writes the whole file does not tell what was there.
    let replaced = edit.how == EditKind::Deleted || edit.removed.is_empty() && !edit.added.contains(CALL);
    is_hook_file(path) && (loses || replaced)
}

/// Returns `true` if an edit of this path switches the hooks of a client off.
pub(super) fn switches(path: &str, edit: &FileEdit) -> bool {
    names_settings(path) && switches_off(&edit.added) && !switches_off(&edit.removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_definition::ClientFile;
    use crate::repo_path::RepoPath;
    use crate::source::sessions::Client;

    #[test]
    fn every_file_of_a_client_is_known() {
        let files: Vec<String> =
            Client::ALL.into_iter().map(|client| ClientFile::of(client.as_str()).install.file).collect();
        assert_eq!(files.len(), HOOK_FILES.len());
        assert!(files.iter().all(|file| is_hook_file(file) && is_hook_file(&format!("/work/shop/{file}"))));
        assert!(!is_hook_file(".claude/settings.json") && !is_hook_file("x.codex/hooks.json"));
    }

    #[test]
    fn what_switches_hooks_off() {
        for (text, off) in [
            (r#"{"disableAllHooks": true}"#, true),
            (r#"{"disableAllHooks": false}"#, false),
            ("claude config set disableAllHooks true", true),
            (r#"{"hooksConfig": {"enabled": false}}"#, true),
            (r#"{"hooksConfig": {"enabled": true}, "other": {"enabled": false}}"#, false),
            (r#"{"hooksConfig": {"disabled": ["gate"]}}"#, true),
            ("[features]\nhooks = false\n", true),
            ("features.hooks = false", true),
            ("[features]\nhooks = true\n", false),
            ("gemini hooks disable gate", true),
            ("codex features disable hooks", true),
            ("codex features list", false),
            ("sed -i 's/hooks = true/hooks = false/' ~/.codex/config.toml", true),
            ("git config core.webhooks = false", false),
        ] {
            assert_eq!(switches_off(text), off, "{text}");
        }
    }

    #[test]
    fn an_edit_that_takes_hooks_out() {
        let edit = |how: EditKind, removed: &str, added: &str| FileEdit {
            path: RepoPath::default(),
            how,
            removed: removed.to_owned(),
            added: added.to_owned(),
        };
        let line = "\"command\": \"gate hook codex Stop\"";
        for (path, edit, out) in [
            (".codex/hooks.json", edit(EditKind::Written, line, ""), true),
            (".codex/hooks.json", edit(EditKind::Written, "{", "{ // more"), false),
            (".codex/hooks.json", edit(EditKind::Written, "", "{}"), true),
            (".codex/hooks.json", edit(EditKind::Written, "", line), false),
            (".codex/hooks.json", edit(EditKind::Deleted, "", ""), true),
            ("docs/hooks.md", edit(EditKind::Written, line, ""), false),
            (".claude/settings.json", edit(EditKind::Written, "", "{\"permissions\": {}}"), false),
        ] {
            assert_eq!(takes_out(path, &edit), out, "{path} {edit:?}");
        }
        assert!(switches(".claude/settings.json", &edit(EditKind::Written, "", "\"disableAllHooks\": true")));
        for (path, holds) in [
            (".codex", true),
            ("/work/shop/.github/hooks/", true),
            (".gemini/*", true),
            (".c*", true),
            ("src", false),
            ("a/b", false),
        ] {
            assert_eq!(holds_hook_files(path), holds, "{path}");
        }
    }
}
