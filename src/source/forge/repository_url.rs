//! The repository and the forge that a URL names.

use std::env;
use std::path::PathBuf;

/// A repository on a forge of a known kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgeRepository {
    /// The host, in lower case, with its port where the web does not use the usual one.
    pub host: String,
    pub owner: String,
    /// Its name there.
    pub name: String,
    /// The URL of its API, without a slash at the end.
    pub api: String,
}

/// The settings of the environment about forges.
#[derive(Clone, Debug, Default)]
pub struct ForgeSettings {
    /// Hosts that are GitHub, in addition to its own: as `gh` and the job of a workflow know them.
    pub hosts: Vec<String>,
    /// The host of the job's own forge, and where its API is.
    pub job: Option<(String, String)>,
    /// Hosts that are reached without TLS, as the job's own forge says it is.
    pub plain: Vec<String>,
}

impl ForgeSettings {
    /// Reads the environment of this process and the file in which `gh` keeps the hosts it knows.
    pub fn of_process() -> Self {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let hosts_file = variable("GH_CONFIG_DIR")
            .map(PathBuf::from)
            .or_else(|| Some(PathBuf::from(variable("XDG_CONFIG_HOME")?).join("gh")))
            .or_else(|| Some(PathBuf::from(variable("HOME")?).join(".config/gh")));
        let known = hosts_file.and_then(|folder| std::fs::read_to_string(folder.join("hosts.yml")).ok());
        Self::from_parts(variable, &known.unwrap_or_default())
    }

    fn from_parts(variable: impl Fn(&str) -> Option<String>, gh_hosts: &str) -> Self {
        let mut known = Self::default();
        known.hosts.extend(variable("GH_HOST").map(|host| host.to_ascii_lowercase()));
        // The file has one key for each host, at the beginning of a line.
        let keys = gh_hosts.lines().filter(|line| !line.starts_with([' ', '\t', '#', '-']));
        known.hosts.extend(keys.filter_map(|line| Some(line.trim_end().strip_suffix(':')?.to_ascii_lowercase())));
        if let Some(server) = variable("GITHUB_SERVER_URL")
            && let Some((scheme, host)) = server.split_once("://")
        {
            let host = host.trim_end_matches('/').to_ascii_lowercase();
            if scheme == "http" {
                known.plain.push(host.clone());
            }
            let api = variable("GITHUB_API_URL").map(|api| api.trim_end_matches('/').to_owned());
            known.job = Some((host.clone(), api.unwrap_or_else(|| api_of(&host, scheme == "http"))));
            known.hosts.push(host);
        }
        known
    }

    /// Returns the repository that `url` names, if its host is a forge of a known kind.
    pub fn place(&self, url: &str) -> Option<ForgeRepository> {
        let (host, path) = host_and_path(url)?;
        self.of_path(&host, path)
    }

    /// Returns the same for a host that is only a name of SSH: `resolve` finds the real host.
    pub fn place_behind(&self, url: &str, resolve: impl Fn(&str) -> Option<String>) -> Option<ForgeRepository> {
        self.place(url).or_else(|| {
            let alias = alias(url)?;
            self.of_path(&resolve(alias)?, host_and_path(url)?.1)
        })
    }

    fn of_path(&self, host: &str, path: &str) -> Option<ForgeRepository> {
        let github = host == GITHUB || host.ends_with(".ghe.com") || self.hosts.iter().any(|known| known == host);
        let (owner, name) = path.split_once('/').filter(|_| github)?;
        if !is_name(owner) || !is_name(name) {
            return None;
        }
        Some(self.at(host, owner, name))
    }

    /// Returns the repository `owner/name` on `host`.
    pub fn at(&self, host: &str, owner: &str, name: &str) -> ForgeRepository {
        let of_job = self.job.as_ref().filter(|(job, _)| job == host).map(|(_, api)| api.clone());
        ForgeRepository {
            host: host.to_owned(),
            owner: owner.to_owned(),
            name: name.to_owned(),
            api: of_job.unwrap_or_else(|| api_of(host, self.plain.iter().any(|plain| plain == host))),
        }
    }
}

impl ForgeRepository {
    /// Returns `owner/name`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    /// Returns another repository of the same forge; `None` if the name is not `owner/name`.
    pub fn other(&self, full_name: &str) -> Option<Self> {
        let (owner, name) = owner_and_name(full_name)?;
        Some(Self { owner: owner.to_owned(), name: name.to_owned(), ..self.clone() })
    }
}

/// Everybody's GitHub.
pub const GITHUB: &str = "github.com";

/// Returns the URL of a host's API: <https://docs.github.com/en/enterprise-server/rest/quickstart>.
fn api_of(host: &str, plain: bool) -> String {
    let scheme = if plain { "http" } else { "https" };
    if host == GITHUB {
        "https://api.github.com".to_owned()
    } else if host.ends_with(".ghe.com") {
        format!("https://api.{host}")
    } else {
        format!("{scheme}://{host}/api/v3")
    }
}

/// Returns the host of a URL, or of git's `host:path`, and its path without `.git`.
fn host_and_path(url: &str) -> Option<(String, &str)> {
    let (authority, path, web) = match url.split_once("://") {
        Some((scheme @ ("http" | "https"), rest)) => {
            let (authority, path) = rest.split_once('/')?;
            let usual = if scheme == "https" { ":443" } else { ":80" };
            (authority.strip_suffix(usual).unwrap_or(authority), path, true)
        }
        Some(("ssh" | "git" | "git+ssh" | "ssh+git", rest)) => {
            let (authority, path) = rest.split_once('/')?;
            (authority, path, false)
        }
        Some(_) => return None,
        None => {
            let (authority, path) = url.split_once(':').filter(|(host, _)| !host.contains('/') && host.len() > 1)?;
            (authority, path, false)
        }
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_ascii_lowercase();
    // The port of the web is where the API is; that of SSH says nothing.
    let host = if web { host } else { host.split_once(':').map_or(host.clone(), |(host, _)| host.to_owned()) };
    // SSH over the port of HTTPS: https://docs.github.com/en/authentication/troubleshooting-ssh
    let host = if host == "ssh.github.com" { GITHUB.to_owned() } else { host };
    let path = path.trim_matches('/');
    Some((host, path.strip_suffix(".git").unwrap_or(path)))
}

/// Returns the two parts of `owner/name`; `None` if it is not a valid name of a repository. Nothing else goes into a
/// URL.
pub(super) fn owner_and_name(full_name: &str) -> Option<(&str, &str)> {
    full_name.split_once('/').filter(|(owner, name)| is_name(owner) && is_name(name))
}

/// Returns the host in a URL of SSH, as written.
fn alias(url: &str) -> Option<&str> {
    let authority = match url.split_once("://") {
        Some(("ssh" | "git+ssh" | "ssh+git", rest)) => rest.split_once('/')?.0,
        Some(_) => return None,
        None => url.split_once(':').filter(|(host, _)| !host.contains('/') && host.len() > 1)?.0,
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    let plain = !host.starts_with('-') && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    Some(host).filter(|host| plain && !host.is_empty())
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name != "."
        && name != ".."
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(variables: &[(&str, &str)], gh_hosts: &str) -> ForgeSettings {
        let get = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        ForgeSettings::from_parts(get, gh_hosts)
    }

    #[test]
    fn a_name_that_only_ssh_knows_is_looked_up() {
        let known = known(&[], "");
        let resolve = |alias: &str| match alias {
            "Work" | "github.com-work" => Some("github.com".to_owned()),
            "-oProxyCommand=x" => panic!("an option"),
            other => Some(other.to_owned()),
        };
        for (url, found) in [
            ("git@github.com-work:o/r.git", Some("o/r")),
            ("ssh://git@Work:22/o/r", Some("o/r")),
            ("git@github.com:o/r", Some("o/r")),
            ("git@elsewhere:o/r", None),
            ("https://Work/o/r", None),
            ("git@-oProxyCommand=x:o/r", None),
            ("/srv/Work:o/r", None),
        ] {
            let place = known.place_behind(url, resolve);
            assert_eq!(place.as_ref().map(ForgeRepository::full_name).as_deref(), found, "{url}");
            assert!(place.is_none_or(|place| place.api == "https://api.github.com"), "{url}");
        }
    }

    #[test]
    fn every_form_of_a_url() {
        let known = known(&[("GH_HOST", "Git.Example.com")], "ghe.example.org:\n    user: x\nother.example.org:\n");
        for (url, found) in [
            ("https://github.com/o/r.git", Some(("github.com", "o/r", "https://api.github.com"))),
            ("https://github.com/o/r", Some(("github.com", "o/r", "https://api.github.com"))),
            ("https://user:secret@GitHub.com:443/o/r/", Some(("github.com", "o/r", "https://api.github.com"))),
            ("git@github.com:o/r.git", Some(("github.com", "o/r", "https://api.github.com"))),
            ("ssh://git@github.com/o/r.git", Some(("github.com", "o/r", "https://api.github.com"))),
            ("ssh://git@ssh.github.com:443/o/r.git", Some(("github.com", "o/r", "https://api.github.com"))),
            ("https://sub.ghe.com/o/r", Some(("sub.ghe.com", "o/r", "https://api.sub.ghe.com"))),
            ("git@git.example.com:o/r", Some(("git.example.com", "o/r", "https://git.example.com/api/v3"))),
            ("https://ghe.example.org/o/r.x", Some(("ghe.example.org", "o/r.x", "https://ghe.example.org/api/v3"))),
            (
                "ssh://git@other.example.org:2222/o/r",
                Some(("other.example.org", "o/r", "https://other.example.org/api/v3")),
            ),
            ("https://gitlab.com/o/r", None),
            ("https://github.com.evil.example/o/r", None),
            ("https://evil.example/github.com/o/r", None),
            ("https://github.com@evil.example/o/r", None),
            ("https://github.com/o/r/x", None),
            ("https://github.com/o", None),
            ("https://github.com/../r", None),
            ("https://github.com/o/r?x=y", None),
            ("https://github.com/o/r%2f..", None),
            ("/srv/git/github.com/o/r", None),
            ("file:///github.com/o/r", None),
            ("C:/github.com/o/r", None),
            ("../o/r", None),
            ("", None),
        ] {
            let place = known.place(url);
            let found = found.map(|(host, name, api)| (host.to_owned(), name.to_owned(), api.to_owned()));
            assert_eq!(place.map(|place| (place.host.clone(), place.full_name(), place.api)), found, "{url}");
        }
    }

    #[test]
    fn a_job_says_where_its_own_forge_is_and_no_other() {
        let job = [("GITHUB_SERVER_URL", "http://127.0.0.1:8080"), ("GITHUB_API_URL", "http://127.0.0.1:8080/api/v3/")];
        let known = known(&job, "");
        assert_eq!(known.place("http://127.0.0.1:8080/o/r").unwrap().api, "http://127.0.0.1:8080/api/v3");
        assert_eq!(known.place("https://github.com/o/r").unwrap().api, "https://api.github.com");
        assert_eq!(known.place("http://127.0.0.1:9090/o/r"), None);
        let other = known.place("http://127.0.0.1:8080/o/r").unwrap();
        assert_eq!(other.other("me/r").unwrap().full_name(), "me/r");
        assert_eq!(other.other("me/../r"), None);
    }
}
