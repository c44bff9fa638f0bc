//! The hooks in agent clients: are they there, and does each answer?

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Check, canary};
use crate::client_file::ClientFile;
use crate::digest::hex_digest;
use crate::install::{Repository, installed, title};
use crate::source::sessions::Client;

/// One check for each client that has hooks here.
pub(super) fn look(repository: &Repository) -> Vec<Check> {
    let Some(root) = &repository.root else { return Vec::new() };
    let mut checks = Vec::new();
    for client in Client::ALL {
        let Some(hooks) = installed(root, client) else { continue };
        let install = ClientFile::of(client.as_str()).install;
        let missing: Vec<&str> = install
            .events
            .keys()
            .filter(|event| !hooks.iter().any(|(there, _)| there == *event))
            .map(String::as_str)
            .collect();
        let name = title(client);
        if !missing.is_empty() {
            let what = format!("{name} is not asked at {} ({})", missing.join(", "), install.file);
            checks.push(Check::warn("client", what, "gate init"));
        }
        checks.push(match hooks.iter().find_map(|(event, line)| silent(root, event, line)) {
            None => Check::ok("client", format!("{name}: the hooks in {} answer", install.file)),
            Some(why) => {
                let what = format!("{name}: a hook in {} does not answer: {why}", install.file);
                Check::broken("client", what, "gate init")
            }
        });
        if client == Client::Codex {
            checks.push(trust(root, hooks.len()));
        }
    }
    checks
}

/// Why a hook does not answer; `None`: it does.
fn silent(root: &Path, event: &str, line: &str) -> Option<String> {
    let token = hex_digest(&[line.as_bytes(), &std::process::id().to_be_bytes()])[..16].to_owned();
    let child = Command::new("sh")
        .args(["-c", line])
        .current_dir(root)
        .env(canary::VARIABLE, &token)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return Some(error.to_string()),
    };
    if let Some(mut stdin) = child.stdin.take() {
        // Who does not read it says nothing either.
        let _ = stdin.write_all(b"{\"session_id\": \"canary\"}");
    }
    match child.wait_with_output() {
        Err(error) => Some(error.to_string()),
        Ok(done) if String::from_utf8_lossy(&done.stdout).contains(&canary::refusal(&token)) => None,
        Ok(done) => {
            let words = String::from_utf8_lossy(&done.stderr);
            Some(format!("{event}: {}", words.lines().next().unwrap_or("it said nothing")))
        }
    }
}

/// Codex passes over hooks that nobody trusted. What it trusts is in its configuration, by file and position.
fn trust(root: &Path, hooks: usize) -> Check {
    const REMEDY: &str = "start codex here, enter /hooks, and trust those of gate";
    let home = std::env::var_os("CODEX_HOME")
        .map(std::path::PathBuf::from)
        .or_else(|| Some(std::path::PathBuf::from(std::env::var_os("HOME")?).join(".codex")));
    let text = home.and_then(|home| std::fs::read_to_string(home.join("config.toml")).ok()).unwrap_or_default();
    let config: toml::Table = text.parse().unwrap_or_default();
    let file = root.join(ClientFile::of("codex").install.file);
    let files = [file.clone(), file.canonicalize().unwrap_or(file)];
    let state = config.get("hooks").and_then(|hooks| hooks.get("state")).and_then(toml::Value::as_table);
    let of_ours = |key: &str| {
        files.iter().any(|file| key.strip_prefix(&*file.to_string_lossy()).is_some_and(|rest| rest.starts_with(':')))
    };
    let trusted = state.into_iter().flatten().filter(|(key, value)| {
        of_ours(key)
            && value.get("trusted_hash").is_some()
            && value.get("enabled").and_then(toml::Value::as_bool) != Some(false)
    });
    let trusted = trusted.count();
    if trusted >= hooks {
        Check::ok("client-trust", format!("Codex was told to trust {trusted} hooks of this working tree"))
    } else {
        let what = format!(
            "Codex was told to trust {trusted} of {hooks} hooks here; it passes over the others without a word"
        );
        Check::warn("client-trust", what, REMEDY)
    }
}
