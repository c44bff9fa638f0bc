//! `gate init` in the settings of agent clients: what a person wrote there stays, and all of it comes out again.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, differences};

const ALL: &str = "claude,codex,opencode,gemini,copilot";

const CLAUDE: &str = "{\n    \"permissions\": {\n        \"allow\": [\"Bash(ls:*)\"]\n    },\n    \"hooks\": {\n        \
                      \"Stop\": [ { \"hooks\": [ { \"type\": \"command\", \"command\": \"say done\" } ] } ]\n    }\n}\n";
const GEMINI: &str = "{\n\t// mine\n\t\"theme\": \"dark\",\n}\n";

fn init(s: &Sandbox, dir: &std::path::Path, clients: &str) -> String {
    let (code, out, err) = s.gate(dir, &["init", "--yes", "--clients", clients]);
    assert_eq!(code, 0, "{out}{err}");
    format!("{out}{err}")
}

#[test]
fn hooks_go_into_every_client_and_come_out_byte_for_byte() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    s.write("repo/.claude/settings.local.json", CLAUDE, 0o600);
    s.write("repo/.gemini/settings.json", GEMINI, 0o644);
    let before = s.traces();
    let said = init(&s, &dir, ALL);
    for words in
        ["+++ b/.claude/settings.local.json", "+++ b/.codex/hooks.json", "Codex runs a hook only after you trust it"]
    {
        assert!(said.contains(words), "no {words:?} in\n{said}");
    }

    let claude: Value =
        serde_json::from_str(&fs::read_to_string(dir.join(".claude/settings.local.json")).unwrap()).unwrap();
    assert_eq!(claude["permissions"]["allow"], json!(["Bash(ls:*)"]));
    let stops = claude["hooks"]["Stop"].as_array().unwrap();
    assert_eq!(stops[0]["hooks"][0]["command"], "say done", "the person's own hook stays first");
    assert!(stops[1]["hooks"][0]["command"].as_str().unwrap().ends_with("gate hook claude Stop"));
    assert!(stops[1]["hooks"][0]["timeout"].as_u64().unwrap() > 10, "the limit is said, in seconds");
    let gemini = fs::read_to_string(dir.join(".gemini/settings.json")).unwrap();
    assert!(gemini.contains("// mine") && gemini.contains("gate hook gemini AfterAgent"), "{gemini}");
    assert!(fs::read_to_string(dir.join(".opencode/plugins/gate.js")).unwrap().contains("session.idle"));

    let status = s.git(&dir, &["status", "--porcelain", "-uall"]);
    let status: Vec<&str> = status.lines().filter(|line| !line.ends_with("gate.toml")).collect();
    assert_eq!(status, [""; 0], "nothing of it is for a commit");

    let (_, again, _) = s.gate(&dir, &["init", "--yes", "--clients", ALL]);
    assert!(!again.contains("+++"), "twice is once: {again}");
    s.uninstall(&dir);
    assert_eq!(differences(&before, &s.traces()), Vec::<String>::new());
}

#[test]
fn what_a_client_writes_in_between_stays() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    init(&s, &dir, "claude");
    let path = dir.join(".claude/settings.local.json");
    let mut settings: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    settings["permissions"] = json!({"allow": ["Bash(make:*)"]});
    fs::write(&path, settings.to_string()).unwrap();
    let exclude = dir.join(".git/info/exclude");
    fs::write(&exclude, fs::read_to_string(&exclude).unwrap() + "*.tmp\n").unwrap();
    s.uninstall(&dir);
    let left: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(left, json!({"permissions": {"allow": ["Bash(make:*)"]}}));
    let exclude = fs::read_to_string(&exclude).unwrap();
    assert!(exclude.ends_with("*.tmp\n") && !exclude.contains("claude"), "{exclude}");
}

#[test]
fn only_clients_that_are_here_get_hooks() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    fs::create_dir_all(s.path("home/.codex")).unwrap();
    let (code, out, err) = s.gate(&dir, &["init", "--yes"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(dir.join(".codex/hooks.json").exists());
    assert!(!dir.join(".claude").exists() && !dir.join(".opencode").exists());
    s.uninstall(&dir);
    let (_, out, _) = s.gate(&dir, &["init", "--yes", "--no-clients"]);
    assert!(!dir.join(".codex").exists(), "{out}");
    let (code, _, err) = s.gate(&dir, &["init", "--yes", "--clients", "vim"]);
    assert_eq!(code, 64, "{err}");
}

#[test]
fn settings_that_cannot_be_read_are_left_alone_and_shared_ones_named() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    s.write("repo/.claude/settings.local.json", "{ not json", 0o644);
    s.write("repo/.gemini/settings.json", GEMINI, 0o644);
    s.git(&dir, &["add", "-f", ".gemini/settings.json"]);
    s.git(&dir, &["commit", "-q", "-m", "settings"]);
    let said = init(&s, &dir, "claude,gemini");
    assert!(said.contains("is not what Claude Code documents"), "{said}");
    assert_eq!(fs::read_to_string(dir.join(".claude/settings.local.json")).unwrap(), "{ not json");
    assert!(said.contains("git tracks the file: commit it"), "{said}");
    let gemini = fs::read_to_string(dir.join(".gemini/settings.json")).unwrap();
    assert!(!gemini.contains("PATH"), "no path of this machine in a shared file: {gemini}");
}

#[test]
fn doctor_asks_the_hooks_and_names_what_codex_does_not_trust() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    init(&s, &dir, "claude,codex");
    let (_, out, err) = s.gate(&dir, &["doctor"]);
    assert!(out.contains("Claude Code: the hooks in .claude/settings.local.json answer"), "{out}{err}");
    assert!(out.contains("Codex trusts 0 of 9 hooks of gate here"), "{out}");
    assert!(out.contains("start codex here, enter /hooks"), "{out}");
    let path = dir.join(".claude/settings.local.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("gate hook claude Stop", "false gate hook claude Stop")).unwrap();
    let (code, out, _) = s.gate(&dir, &["doctor"]);
    assert_eq!(code, 10, "{out}");
    assert!(out.contains("a hook in .claude/settings.local.json does not answer: Stop"), "{out}");
}

/// What a person trusted through `/hooks` as Codex 0.169.0 writes it down: place and digest of each hook.
fn trust(s: &Sandbox, hooks: &std::path::Path) {
    let settings: Value = serde_json::from_str(&fs::read_to_string(hooks).unwrap()).unwrap();
    let mut config = String::from("model = \"mine\"\n");
    for (event, groups) in settings["hooks"].as_object().unwrap() {
        let mut name = String::new();
        for char in event.chars() {
            if char.is_uppercase() && !name.is_empty() {
                name.push('_');
            }
            name.extend(char.to_lowercase());
        }
        let group = &groups[0];
        let hook = &group["hooks"][0];
        let matcher = group.get("matcher").map(|matcher| format!(",\"matcher\":{matcher}")).unwrap_or_default();
        let identity = format!(
            r#"{{"event_name":"{name}","hooks":[{{"async":false,"command":{},"timeout":{},"type":"command"}}]{matcher}}}"#,
            hook["command"], hook["timeout"],
        );
        let digest = gate::digest::sha256(identity.as_bytes());
        let key = format!("{}:{name}:0:0", hooks.display());
        let _ = write!(config, "[hooks.state.{key:?}]\ntrusted_hash = \"sha256:{digest}\"\n");
    }
    s.write("home/.codex/config.toml", config, 0o600);
}

#[test]
fn doctor_knows_what_codex_trusts_and_what_changed_since() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    init(&s, &dir, "codex");
    let hooks = dir.join(".codex/hooks.json");
    trust(&s, &hooks);
    let (_, out, err) = s.gate(&dir, &["doctor"]);
    assert!(out.contains("Codex trusts all 9 hooks of gate here"), "{out}{err}");
    let text = fs::read_to_string(&hooks).unwrap();
    fs::write(&hooks, text.replace("gate hook codex Stop", "gate hook codex  Stop")).unwrap();
    let (_, out, _) = s.gate(&dir, &["doctor"]);
    assert!(out.contains("is not asked at Stop"), "{out}");
    fs::write(&hooks, text.replacen("\"timeout\": 60", "\"timeout\": 61", 1)).unwrap();
    let (_, out, _) = s.gate(&dir, &["doctor"]);
    assert!(out.contains("Codex trusts 8 of 9 hooks of gate here (1 changed since they were trusted)"), "{out}");
}
