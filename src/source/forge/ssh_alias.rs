//! The names that people give to hosts in the settings of their SSH client: `git@github.com-work:o/r.git`.

use super::token::printed;

/// The host behind `alias`, as the SSH client resolves it; `alias` itself where it stands for nothing else.
pub fn host(alias: &str) -> Option<String> {
    let resolved = printed(&duct::cmd("ssh", ["-G", "--", alias]))?;
    resolved.lines().find_map(|line| line.strip_prefix("hostname ")).map(|host| host.trim().to_ascii_lowercase())
}
