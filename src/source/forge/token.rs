//! Chooses the token for a host as `gh` does, so that a setup for `gh` works here
//! (<https://cli.github.com/manual/gh_help_environment>).
//!
//! A token for github.com is given to no other host: a host comes from the URL of a remote, which anybody can set.

use std::time::Duration;
use std::{env, fmt};

use super::repository_url::{ForgeRepository, ForgeSettings, GITHUB};

/// A token, and where it was found.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    secret: String,
    /// A variable, or a command.
    pub from: &'static str,
}

impl Token {
    /// Returns the token itself. It is only ever sent in a header.
    pub fn secret(&self) -> &str {
        &self.secret
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("from", &self.from).finish_non_exhaustive()
    }
}

/// The time limit for `gh`: it may ask a keyring that waits for a person.
const TOKEN_TIMEOUT: Duration = Duration::from_secs(3);

/// Returns the token for `place`: from the environment, else from `gh`, if that is installed.
pub fn find(place: &ForgeRepository, known: &ForgeSettings) -> Option<Token> {
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
    of_environment(place, known, variable).or_else(|| of_gh(&place.host))
}

fn of_environment(
    place: &ForgeRepository,
    known: &ForgeSettings,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<Token> {
    let public = place.host == GITHUB || place.host.ends_with(".ghe.com");
    // The token of a job is for the forge that the job runs on.
    let of_job = variable("GITHUB_ACTIONS").as_deref() == Some("true")
        && known.job.as_ref().is_some_and(|(host, _)| *host == place.host);
    // Somebody else's API under the name of the public host gets none.
    let at_home = place.api == format!("https://api.{}", place.host);
    let names: &[&'static str] = match (public && at_home, of_job) {
        (true, _) => &["GH_TOKEN", "GITHUB_TOKEN"],
        (false, true) if !public => &["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"],
        (false, false) if !public => &["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"],
        (false, _) => &[],
    };
    names.iter().find_map(|&from| Some(Token { secret: variable(from)?.trim().to_owned(), from }))
}

/// Returns the token that `gh` has for `host`.
fn of_gh(host: &str) -> Option<Token> {
    // Its own variables have been looked at, and one of them for another host must not come back through it.
    let mut command = duct::cmd("gh", ["auth", "token", "--hostname", host]);
    for name in ["GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"] {
        command = command.env_remove(name);
    }
    let secret = printed(&command)?.trim().to_owned();
    let whole = !secret.is_empty() && secret.bytes().all(|b| b.is_ascii_graphic());
    whole.then_some(Token { secret, from: "gh auth token" })
}

/// Returns the output of a program that succeeds in time.
pub(super) fn printed(command: &duct::Expression) -> Option<String> {
    let handle = command.stdin_null().stderr_null().stdout_capture().unchecked().start().ok()?;
    let output = match handle.wait_timeout(TOKEN_TIMEOUT) {
        Ok(Some(output)) => output.clone(),
        Ok(None) | Err(_) => {
            let _ = handle.kill();
            return None;
        }
    };
    output.status.success().then(|| String::from_utf8(output.stdout).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_to_its_own_host_only() {
        let all = [
            ("GH_TOKEN", "gh"),
            ("GITHUB_TOKEN", "github"),
            ("GH_ENTERPRISE_TOKEN", "gh-enterprise"),
            ("GITHUB_ENTERPRISE_TOKEN", "enterprise"),
        ];
        let known = ForgeSettings { hosts: vec!["ghe.example.org".to_owned()], ..ForgeSettings::default() };
        let job = ForgeSettings {
            job: Some(("ghe.example.org".to_owned(), "https://ghe.example.org/api/v3".to_owned())),
            ..known.clone()
        };
        let lured =
            ForgeSettings { job: Some((GITHUB.to_owned(), "https://evil.example/api".to_owned())), ..known.clone() };
        let running = [("GITHUB_ACTIONS", "true")];
        for (what, url, known, without, more, expected) in [
            ("public", "https://github.com/o/r", &known, &[][..], &[][..], Some("gh")),
            ("public, second name", "https://github.com/o/r", &known, &["GH_TOKEN"], &[], Some("github")),
            ("public, no more", "https://github.com/o/r", &known, &["GH_TOKEN", "GITHUB_TOKEN"], &[], None),
            ("data residency", "https://a.ghe.com/o/r", &known, &[], &[], Some("gh")),
            ("enterprise", "https://ghe.example.org/o/r", &known, &[], &[], Some("gh-enterprise")),
            (
                "enterprise, no more",
                "https://ghe.example.org/o/r",
                &known,
                &["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"],
                &[],
                None,
            ),
            (
                "in its job",
                "https://ghe.example.org/o/r",
                &job,
                &["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"],
                &running,
                Some("gh"),
            ),
            (
                "in another's job",
                "https://ghe.example.org/o/r",
                &lured,
                &["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"],
                &running,
                None,
            ),
            ("a lure", "https://github.com/o/r", &lured, &[], &running, None),
        ] {
            let variable = |name: &str| {
                let found = all.iter().chain(more).find(|(key, _)| *key == name && !without.contains(key));
                found.map(|(_, value)| (*value).to_owned())
            };
            let token = of_environment(&known.place(url).unwrap(), known, variable);
            assert_eq!(token.as_ref().map(Token::secret), expected, "{what}");
            assert!(!format!("{token:?}").contains("secret"), "{what}");
        }
    }
}
