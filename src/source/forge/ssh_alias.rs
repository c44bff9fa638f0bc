//! The names that people give to hosts in the settings of their SSH client: `git@github.com-work:o/r.git`.

use super::token::printed;

/// Returns the host for `alias`, as the SSH client resolves it; `alias` itself if it is not an alias.
pub fn host(alias: &str) -> Option<String> {
    let resolved = printed(&duct::cmd("ssh", ["-G", "--", alias]))?;
    resolved.lines().find_map(|line| line.strip_prefix("hostname ")).map(|host| host.trim().to_ascii_lowercase())
}
