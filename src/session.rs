//! The session that does the work: an agent's, under its client's name, or the person's at this working tree.

use std::path::Path;

use serde::Deserialize;

use crate::digest::hex_digest;
use crate::embedded;

/// The beginning of the id of a session that nothing names.
const LOCAL: &str = "local-";

/// The session at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The id under which attempts are counted.
    pub id: String,
    /// The agent client that started this process, or `None` if none is recognised.
    pub agent: Option<String>,
}

/// A client and the variables that it sets for its commands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClientVariables {
    name: String,
    variables: Vec<String>,
    session: Option<String>,
}

impl Session {
    /// Reads the session from the environment of this process. `GATE_SESSION` names a session directly. Without any
    /// name, one working tree is one session: two agents in two working trees do not share their attempts.
    pub fn current(root: &Path) -> Self {
        Self::from_variables(root, |name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn from_variables(root: &Path, get: impl Fn(&str) -> Option<String>) -> Self {
        let client = clients().into_iter().find(|client| client.variables.iter().any(|name| get(name).is_some()));
        let named = get("GATE_SESSION").or_else(|| get(client.as_ref()?.session.as_deref()?));
        let id =
            named.unwrap_or_else(|| format!("{LOCAL}{}", &hex_digest(&[root.as_os_str().as_encoded_bytes()])[..12]));
        Self { id, agent: client.map(|client| client.name) }
    }

    /// Returns `true` if a client started this process and nothing names its session.
    pub fn is_unnamed(&self) -> bool {
        self.agent.is_some() && self.id.starts_with(LOCAL)
    }
}

/// Returns `true` if a client sets a variable for its commands that names the session.
pub fn names_sessions(client: &str) -> bool {
    clients().iter().any(|known| known.name == client && known.session.is_some())
}

/// Returns the role that `GATE_ROLE` names for the agents below this process, or `None` if it names none. A name has at
/// most 40 letters, digits, `-`, `_`, `.` and spaces.
pub fn role() -> Option<String> {
    std::env::var("GATE_ROLE").ok().as_deref().and_then(role_name)
}

/// Returns the value of `GATE_ROLE`, if it is set and is not the name of a role.
pub fn malformed_role() -> Option<String> {
    let value = std::env::var_os("GATE_ROLE").filter(|value| !value.is_empty())?.to_string_lossy().into_owned();
    role_name(&value).is_none().then_some(value)
}

/// Returns a text as the name of a role, if it is one.
pub fn role_name(text: &str) -> Option<String> {
    const MAX_ROLE: usize = 40;
    let name = text.trim();
    let allowed = |c: char| c.is_alphanumeric() || "-_. ".contains(c);
    (!name.is_empty() && name.chars().count() <= MAX_ROLE && name.chars().all(allowed)).then(|| name.to_owned())
}

fn clients() -> Vec<ClientVariables> {
    embedded::part("agents.toml", "client")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(variables: &[(&str, &str)]) -> Session {
        let get = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Session::from_variables(Path::new("/repo"), get)
    }

    #[test]
    fn the_embedded_file_is_readable_and_names_the_five_clients() {
        let names: Vec<_> = clients().into_iter().map(|client| client.name).collect();
        for client in ["claude", "codex", "gemini", "opencode", "copilot"] {
            assert!(names.iter().any(|name| name == client), "{client}");
        }
    }

    #[test]
    fn a_client_is_recognised_and_its_session_taken() {
        let claude = session(&[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s1")]);
        assert_eq!((claude.id.as_str(), claude.agent.as_deref()), ("s1", Some("claude")));
        assert_eq!(session(&[("CLAUDECODE", "1"), ("GATE_SESSION", "mine")]).id, "mine");
        assert!(!claude.is_unnamed() && !session(&[]).is_unnamed());
        assert!(session(&[("GEMINI_CLI", "1")]).is_unnamed());
        assert_eq!(["claude", "gemini", "opencode"].map(names_sessions), [true, false, false]);
    }

    #[test]
    fn a_role_is_a_short_plain_name() {
        assert_eq!(role_name(" back end-2 ").as_deref(), Some("back end-2"));
        for wrong in ["", "  ", "a\nb", "a<b", &"x".repeat(41)] {
            assert_eq!(role_name(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_person_is_a_session_for_each_working_tree() {
        let person = session(&[]);
        assert_eq!(person.agent, None);
        assert!(person.id.starts_with("local-"));
        assert_ne!(person, Session::from_variables(Path::new("/other"), |_| None));
    }
}
