//! Checks that Codex trusts the hooks that gate installed here. Codex silently skips the others.
//!
//! Codex keeps the hooks that a person trusts in its own `config.toml`, under `hooks.state`: the file, the event and
//! the position of a hook, and a digest of the hook at that time. Codex 0.169.0 takes the digest of the hook as JSON
//! with sorted keys (`codex-rs/hooks/src/engine/discovery.rs`). A hook that was changed since is skipped like one never
//! trusted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::DoctorCheck;
use crate::client_definition::ClientFile;
use crate::digest::sha256;

/// The remedy: `/hooks` in Codex.
const REMEDY: &str = "start codex here, enter /hooks, and trust gate's hooks";

/// Returns one check of all hooks of gate in this working tree.
pub(super) fn look(root: &Path) -> DoctorCheck {
    let file = root.join(ClientFile::of("codex").install.file);
    let hooks = std::fs::read_to_string(&file).map(|text| of_gate(&text)).unwrap_or_default();
    let home = std::env::var_os("CODEX_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".codex")));
    let config = home.and_then(|home| std::fs::read_to_string(home.join("config.toml")).ok()).unwrap_or_default();
    let files = [file.canonicalize().unwrap_or_else(|_| file.clone()), file];
    say(&hooks, &config, &files)
}

fn say(hooks: &[CodexHook], config: &str, files: &[PathBuf]) -> DoctorCheck {
    let config: toml::Table = config.parse().unwrap_or_default();
    let state = config.get("hooks").and_then(|hooks| hooks.get("state"));
    let of_hook = |hook: &CodexHook| {
        let state = files.iter().find_map(|file| state?.get(format!("{}:{}", file.display(), hook.position)));
        state.map_or(Trust::Never, |state| Trust::of(state, &hook.digest))
    };
    let (mut trusted, mut changed) = (0, 0);
    for trust in hooks.iter().map(of_hook) {
        trusted += usize::from(trust == Trust::Now);
        changed += usize::from(trust == Trust::Before);
    }
    let all = hooks.len();
    if trusted == all {
        return DoctorCheck::ok("client-trust", format!("Codex trusts all {all} hooks of gate here"));
    }
    let since = if changed > 0 { format!(" ({changed} changed since they were trusted)") } else { String::new() };
    let what = format!("Codex trusts {trusted} of {all} hooks of gate here{since}; it silently skips the others");
    DoctorCheck::warn("client-trust", what, REMEDY)
}

/// The trust in a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    Now,
    /// As it was then.
    Before,
    Never,
}

impl Trust {
    fn of(state: &toml::Value, digest: &str) -> Self {
        let off = state.get("enabled").and_then(toml::Value::as_bool) == Some(false);
        match state.get("trusted_hash").and_then(toml::Value::as_str) {
            Some(trusted) if trusted == digest && !off => Self::Now,
            Some(_) if !off => Self::Before,
            _ => Self::Never,
        }
    }
}

/// A hook, as Codex knows it.
#[derive(Debug, PartialEq, Eq)]
struct CodexHook {
    /// `stop:0:0`: the event, the group, and the place in the group.
    position: String,
    digest: String,
}

/// Returns the hooks of gate in the text of a settings file.
fn of_gate(text: &str) -> Vec<CodexHook> {
    let settings: Value = serde_json::from_str(text).unwrap_or_default();
    let events = settings.get("hooks").and_then(Value::as_object);
    let mut found = Vec::new();
    for (event, groups) in events.into_iter().flatten() {
        for (at, group) in groups.as_array().into_iter().flatten().enumerate() {
            let hooks = group.get("hooks").and_then(Value::as_array).into_iter().flatten().enumerate();
            let ours = hooks.filter(|(_, hook)| {
                let line = hook.get("command").and_then(Value::as_str).unwrap_or_default();
                line.contains(&format!("gate hook codex {event}"))
            });
            for (place, hook) in ours {
                let event = snake(event);
                let digest = digest(&event, group.get("matcher"), hook);
                found.push(CodexHook { position: format!("{event}:{at}:{place}"), digest });
            }
        }
    }
    found
}

/// Returns the digest of a hook as Codex takes it: its event, its matcher, its line and its limit.
fn digest(event: &str, matcher: Option<&Value>, hook: &Value) -> String {
    let mut handler = BTreeMap::from([
        ("type", json!("command")),
        ("command", json!(hook.get("command"))),
        ("timeout", json!(hook.get("timeout").and_then(Value::as_u64).unwrap_or(600).max(1))),
        ("async", json!(hook.get("async").and_then(Value::as_bool).unwrap_or(false))),
    ]);
    if let Some(message) = hook.get("statusMessage").filter(|message| message.is_string()) {
        handler.insert("statusMessage", message.clone());
    }
    let mut identity = BTreeMap::from([("event_name", json!(event)), ("hooks", json!([handler]))]);
    // Events without a tool or a source ignore what they are to match.
    let ignores = matches!(event, "user_prompt_submit" | "stop");
    if let Some(matcher) = matcher.filter(|matcher| matcher.is_string() && !ignores) {
        identity.insert("matcher", matcher.clone());
    }
    format!("sha256:{}", sha256(json!(identity).to_string().as_bytes()))
}

/// Returns `PreToolUse` as `pre_tool_use`.
fn snake(event: &str) -> String {
    let mut name = String::with_capacity(event.len() + 4);
    for char in event.chars() {
        if char.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(char.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Health;

    const SETTINGS: &str = r#"{"hooks": {
        "Stop": [
            {"hooks": [{"type": "command", "command": "say done"}]},
            {"hooks": [{"type": "command", "command": "gate hook codex Stop", "timeout": 60}]}
        ],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "gate hook codex PreToolUse", "timeout": 30}]}]
    }}"#;

    fn state(position: &str, digest: &str, more: &str) -> String {
        format!("[hooks.state.\"/w/.codex/hooks.json:{position}\"]\ntrusted_hash = \"{digest}\"\n{more}\n")
    }

    #[test]
    fn hooks_are_known_by_their_place_and_all_that_they_are() {
        let hooks = of_gate(SETTINGS);
        let mut positions: Vec<&str> = hooks.iter().map(|hook| &*hook.position).collect();
        positions.sort_unstable();
        assert_eq!(positions, ["pre_tool_use:0:0", "stop:1:0"], "those of others are not asked about");
        let digests = |text: &str| of_gate(text).into_iter().map(|hook| hook.digest).collect::<Vec<_>>();
        assert_eq!(digests(SETTINGS), digests(&SETTINGS.replace("say done", "say more")));
        for (from, to) in
            [("\"timeout\": 60", "\"timeout\": 61"), ("\"Bash\"", "\"Edit\""), ("gate hook", "x gate hook")]
        {
            assert_ne!(digests(SETTINGS), digests(&SETTINGS.replace(from, to)), "{from}");
        }
        assert_eq!(of_gate("{ not json"), []);
        // As Codex 0.169.0 takes it, of the same hook.
        let hook = json!({"type": "command", "command": "gate hook codex Stop", "timeout": 60});
        assert_eq!(
            digest("stop", None, &hook),
            "sha256:63f641bb7de19b4765181ae6a0b0cc08988e8ca1b92d0a60a6484827aebfd65e"
        );
    }

    #[test]
    fn only_what_was_trusted_as_it_is_now_is_trusted() {
        let hooks = of_gate(SETTINGS);
        let files = [PathBuf::from("/w/.codex/hooks.json")];
        let [a, b] = &hooks[..] else { panic!("{hooks:?}") };
        let now = |hook: &CodexHook, more| state(&hook.position, &hook.digest, more);
        for (config, health, words) in [
            (String::new(), Health::Warn, "trusts 0 of 2 hooks of gate here; it silently skips"),
            (now(a, "") + &now(b, ""), Health::Ok, "trusts all 2 hooks"),
            (now(a, "") + &now(b, "enabled = true"), Health::Ok, "trusts all 2 hooks"),
            (
                now(a, "") + &now(b, "enabled = false"),
                Health::Warn,
                "trusts 1 of 2 hooks of gate here; it silently skips",
            ),
            (
                now(a, "") + &state(&b.position, "sha256:0", ""),
                Health::Warn,
                "trusts 1 of 2 hooks of gate here (1 changed",
            ),
            ("not toml [".to_owned(), Health::Warn, "trusts 0 of 2"),
        ] {
            let check = say(&hooks, &config, &files);
            assert_eq!(check.health, health, "{config}");
            assert!(check.what.contains(words), "{} without {words}", check.what);
        }
    }
}
