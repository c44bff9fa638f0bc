//! Checks the hooks in agent clients: they must exist, and each must answer.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{DoctorCheck, canary_push};
use crate::client_definition::ClientFile;
use crate::digest::hex_digest;
use crate::install::{InstallTarget, SwitchedOff, client_hooks_off, installed, title};
use crate::source::sessions::Client;

/// Returns one check for each client that has hooks here.
pub(super) fn look(repository: &InstallTarget) -> Vec<DoctorCheck> {
    let Some(root) = &repository.root else { return Vec::new() };
    let off = client_hooks_off(repository).into_iter();
    let mut checks: Vec<DoctorCheck> =
        off.map(|SwitchedOff { what, remedy }| DoctorCheck::broken("client", what, remedy)).collect();
    for client in Client::ALL {
        let Some(hooks) = installed(root, client) else { continue };
        let install = ClientFile::of(client.as_str()).install;
        let name = title(client);
        checks.push(match hooks.iter().find_map(|(event, line)| silent(root, event, line)) {
            None => DoctorCheck::ok("client", format!("{name}: the hooks in {} answer", install.file)),
            Some(why) => {
                let what = format!("{name}: a hook in {} does not answer: {why}", install.file);
                DoctorCheck::broken("client", what, "gate init")
            }
        });
        if client == Client::Codex {
            checks.push(super::codex_trust::look(root));
        }
    }
    checks
}

/// Returns the reason why a hook does not answer, or `None` if it does.
fn silent(root: &Path, event: &str, line: &str) -> Option<String> {
    let token = hex_digest(&[line.as_bytes(), &std::process::id().to_be_bytes()])[..16].to_owned();
    let child = Command::new("sh")
        .args(["-c", line])
        .current_dir(root)
        .env(canary_push::VARIABLE, &token)
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
        Ok(done) if String::from_utf8_lossy(&done.stdout).contains(&canary_push::refusal(&token)) => None,
        Ok(done) => {
            let words = String::from_utf8_lossy(&done.stderr);
            Some(format!("{event}: {}", words.lines().next().unwrap_or("it said nothing")))
        }
    }
}
