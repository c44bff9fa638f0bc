//! Hooks that were installed and no longer run: deleted, emptied, or switched off by a setting.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::hook_managers::{author, managers};
use super::install_record::{FileRole, HookRecord, InstallRecord};
use super::{InstallTarget, clients, json_edit};
use crate::client_definition::{ClientFile, HookSwitch, Install};
use crate::source::sessions::Client;

/// Hooks that run no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchedOff {
    /// The hook or setting, and its consequence.
    pub what: String,
    /// The command to type or the change to make.
    pub remedy: String,
}

/// Returns the hooks of git that were installed here and are not called. `hooks_path` is `core.hooksPath`, if it is
/// set.
pub fn git_hooks_off(repository: &InstallTarget, hooks_path: Option<&str>) -> Vec<SwitchedOff> {
    let record = InstallRecord::load(repository).unwrap_or_default();
    let mut by_state: BTreeMap<(PathBuf, HookState), Vec<&str>> = BTreeMap::new();
    for hook in record.hooks.iter().filter(|hook| hook.name != super::WORKTREE_HOOK) {
        if let Some(state) = hook_state(repository, hook, hooks_path) {
            by_state.entry(state).or_default().push(&hook.name);
        }
    }
    by_state.into_iter().map(|((folder, state), names)| say(&folder, state, &names)).collect()
}

/// The state of a git hook that does not call gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum HookState {
    Gone,
    Empty,
    Another,
    NoRunBit,
    EndsBefore,
}

fn say(folder: &Path, state: HookState, names: &[&str]) -> SwitchedOff {
    let one = names.len() == 1;
    let (noun, is, does) = if one { ("hook", "is", "does") } else { ("hooks", "are", "do") };
    let (has, it, ends) = if one { ("has", "it", "ends") } else { ("have", "them", "end") };
    let state = match state {
        HookState::Gone => format!("{is} gone from"),
        HookState::Empty => format!("{is} empty in"),
        HookState::Another => format!("{does} not call gate any more in"),
        HookState::NoRunBit => format!("{has} no execute permission, so git skips {it} in"),
        HookState::EndsBefore => format!("{ends} before gate is called in"),
    };
    let judged = names.iter().map(|name| if *name == "commit-msg" { "commits" } else { "pushes" });
    let (names, judged) = (names.join(" and "), judged.collect::<Vec<_>>().join(" and "));
    let what = format!("the {names} {noun} of git {state} {}, so {judged} are not judged", folder.display());
    SwitchedOff { what, remedy: "gate init".to_owned() }
}

/// Returns the folder and the state of a hook that does not call gate.
fn hook_state(repository: &InstallTarget, hook: &HookRecord, hooks_path: Option<&str>) -> Option<(PathBuf, HookState)> {
    let installed = hook.path(repository);
    let folder =
        hooks_path.map_or_else(|| installed.parent().map(Path::to_owned), |path| absolute(repository, path))?;
    let path = folder.join(&hook.name);
    let call = "gate hook ";
    let beside = ["", ".legacy", ".old"].map(|ending| PathBuf::from(format!("{}{ending}", path.display())));
    let content = std::fs::read(&path);
    let calls =
        |path: &PathBuf| std::fs::read(path).is_ok_and(|bytes| memchr::memmem::find(&bytes, call.as_bytes()).is_some());
    if let Some(text) = content.as_ref().ok().filter(|_| calls(&path)) {
        let is_reached = reaches_gate(&String::from_utf8_lossy(text));
        return match (is_executable(&path), is_reached) {
            (false, _) => Some((folder, HookState::NoRunBit)),
            (true, false) => Some((folder, HookState::EndsBefore)),
            (true, true) => None,
        };
    }
    let in_tree = repository.root.iter().map(|root| root.join(".husky").join(&hook.name));
    if beside.into_iter().chain(in_tree).any(|path| calls(&path)) {
        return None;
    }
    let names = [hook.name.as_str()];
    let state = match content {
        // What else is there was put there by a hook manager, which `gate doctor` looks at.
        Ok(bytes) if author(&managers(repository, &names), &bytes).is_some() => return None,
        Ok(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => HookState::Empty,
        Ok(_) => HookState::Another,
        // git reads hooks from its configuration, too.
        Err(_) if repository.hook_config().iter().any(|setting| setting.value.contains(call)) => return None,
        Err(_) => HookState::Gone,
    };
    Some((folder, state))
}

/// Whether nothing at the top level of a hook ends it before the line that calls gate. What a condition may skip is not
/// followed: `gate doctor` sends a push through the hook.
fn reaches_gate(text: &str) -> bool {
    let mut depth = 0_usize;
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if line.contains("hook git ") || line.contains("gate hook ") {
            return true;
        }
        let first = line.split(|c: char| c.is_whitespace() || c == ';').next().unwrap_or_default();
        match first {
            "exit" if depth == 0 => return false,
            "if" | "case" | "for" | "while" | "until" | "{" | "(" => depth += 1,
            "fi" | "esac" | "done" | "}" | ")" => depth = depth.saturating_sub(1),
            _ if line.ends_with('{') => depth += 1,
            _ => {}
        }
    }
    false
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    let mode = |meta: std::fs::Metadata| std::os::unix::fs::PermissionsExt::mode(&meta.permissions());
    std::fs::metadata(path).is_ok_and(|meta| mode(meta) & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    true
}

fn absolute(repository: &InstallTarget, path: &str) -> Option<PathBuf> {
    match path.strip_prefix("~/") {
        Some(below) => Some(PathBuf::from(std::env::var_os("HOME")?).join(below)),
        None => Some(repository.base().join(path)),
    }
}

/// Returns the hooks in agent clients that were installed in this repository and are not called in this working tree.
pub fn client_hooks_off(repository: &InstallTarget) -> Vec<SwitchedOff> {
    let Some(root) = &repository.root else { return Vec::new() };
    let record = InstallRecord::load(repository).unwrap_or_default();
    // Nothing is read where nothing was installed.
    if record.files.iter().all(|file| file.role != FileRole::Client) {
        return Vec::new();
    }
    let main = repository.git_dir.canonicalize().ok().as_ref() == Some(&repository.common_dir);
    clients::recorded(&record).into_iter().filter_map(|client| client_off(root, client, main)).collect()
}

fn client_off(root: &Path, client: Client, main: bool) -> Option<SwitchedOff> {
    let install = ClientFile::of(client.as_str()).install;
    let (name, file) = (clients::title(client), &install.file);
    let init = "gate init".to_owned();
    let Some(hooks) = clients::installed(root, client) else {
        let state = if main { "are gone from" } else { "are not in this working tree:" };
        let what = format!("the hooks of gate for {name} {state} {file}, so its sessions here are not judged");
        return Some(SwitchedOff { what, remedy: init });
    };
    let missing = |event: &&String| !hooks.iter().any(|(there, _)| there == *event);
    let missing: Vec<&str> = install.events.keys().filter(missing).map(String::as_str).collect();
    if !missing.is_empty() {
        let what = format!("{name} is not asked at {} ({file})", missing.join(", "));
        return Some(SwitchedOff { what, remedy: init });
    }
    let (switch, file) = switch_off(root, &install)?;
    let what = format!("{name} runs no hooks: {file} sets `{}`, so its sessions are not judged", switch.key);
    Some(SwitchedOff { what, remedy: format!("take `{}` out of {file}", switch.key) })
}

/// Returns the setting that switches the hooks of a client off, and its file. The first file that has the setting
/// decides.
fn switch_off<'i>(root: &Path, install: &'i Install) -> Option<(&'i HookSwitch, &'i str)> {
    install.switches.iter().find_map(|switch| {
        let found =
            switch.files.iter().find_map(|file| Some((file.as_str(), setting(&settings(root, file)?, &switch.key)?)));
        found.filter(|(_, value)| *value == Value::Bool(switch.off)).map(|(file, _)| (switch, file))
    })
}

/// Reads a settings file, JSON or TOML.
fn settings(root: &Path, file: &str) -> Option<Value> {
    let path = match file.strip_prefix("~/") {
        Some(below) => PathBuf::from(std::env::var_os("HOME").filter(|home| !home.is_empty())?).join(below),
        None => root.join(file),
    };
    let text = std::fs::read_to_string(path).ok()?;
    if Path::new(file).extension().is_some_and(|ending| ending == "toml") {
        toml::from_str(&text).ok()
    } else {
        json_edit::value(&text)
    }
}

/// Returns the value of a setting whose key has dots.
fn setting(settings: &Value, key: &str) -> Option<Value> {
    key.split('.').try_fold(settings, |value, part| value.get(part)).cloned()
}
