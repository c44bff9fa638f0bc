//! The roles of agents: what each may write and run.

use super::PathRules;
use crate::repo_path::RepoPath;

/// The roles of a policy, from `[roles]` in `gate.toml`.
#[derive(Clone, Debug, Default)]
pub struct Roles {
    /// `true` if every change needs a role.
    pub required: bool,
    /// The roles, in the order of the file.
    pub list: Vec<Role>,
}

/// One role.
#[derive(Clone, Debug)]
pub struct Role {
    /// Its name.
    pub name: String,
    /// Other names for it, such as types of sub-agents.
    pub aliases: Vec<String>,
    /// The paths that it may write.
    pub write: PathRules,
    /// The beginnings of the commands that it may run, or `None` if it may run any.
    pub run: Option<Vec<String>>,
    /// The folders of the board that it may write to, or `None` if it may write to all of them.
    pub board: Option<Vec<String>>,
}

/// The names of the folders of the board.
pub const BOARD_FOLDERS: [&str; 4] = ["context", "signals", "artifacts", "reviews"];

impl Roles {
    /// Returns the role of a name or an alias, letters of either case.
    pub fn named(&self, name: &str) -> Option<&Role> {
        let is_it = |role: &&Role| {
            role.name.eq_ignore_ascii_case(name) || role.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name))
        };
        self.list.iter().find(is_it)
    }
}

impl Role {
    /// Returns `true` if it may write a path.
    pub fn may_write(&self, path: &RepoPath) -> bool {
        self.write.matches(path)
    }

    /// Returns `true` if it may run a command.
    pub fn may_run(&self, line: &str) -> bool {
        let Some(beginnings) = &self.run else { return true };
        let words: Vec<&str> = line.split_whitespace().collect();
        beginnings.iter().any(|beginning| {
            let beginning: Vec<&str> = beginning.split_whitespace().collect();
            words.starts_with(&beginning)
        })
    }

    /// Returns `true` if it may write to a folder of the board.
    pub fn may_post(&self, folder: &str) -> bool {
        self.board.as_ref().is_none_or(|folders| folders.iter().any(|known| known == folder))
    }

    /// Returns the globs that it may write, for a sentence.
    pub fn writes(&self) -> String {
        if self.write.inputs.is_empty() { "nothing".to_owned() } else { self.write.inputs.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(write: &[&str], run: Option<&[&str]>) -> Role {
        let write = PathRules::new(write, &[]).unwrap();
        let run = run.map(|lines| lines.iter().map(|line| (*line).to_owned()).collect());
        Role { name: "tester".to_owned(), aliases: vec!["qa-agent".to_owned()], write, run, board: None }
    }

    #[test]
    fn a_role_writes_what_its_globs_say() {
        let tester = role(&["tests/**", "!tests/golden/**"], None);
        assert!(tester.may_write(&"tests/a.rs".into()));
        assert!(!tester.may_write(&"tests/golden/a".into()) && !tester.may_write(&"src/a.rs".into()));
        assert!(!role(&[], None).may_write(&"tests/a.rs".into()));
    }

    #[test]
    fn a_command_is_named_by_its_first_words() {
        let tester = role(&[], Some(&["cargo test", "pytest"]));
        for (line, may) in [
            ("cargo test --lib", true),
            ("cargo", false),
            ("cargo publish", false),
            ("pytest -x", true),
            ("pytest3", false),
        ] {
            assert_eq!(tester.may_run(line), may, "{line}");
        }
        assert!(role(&[], None).may_run("anything") && !role(&[], Some(&[])).may_run("ls"));
    }

    #[test]
    fn a_role_has_other_names() {
        let roles = Roles { required: false, list: vec![role(&[], None)] };
        assert!(roles.named("Tester").is_some() && roles.named("qa-agent").is_some() && roles.named("qa").is_none());
    }
}
