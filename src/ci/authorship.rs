//! The strictness of a job, by the authors of the judged commits.
//!
//! The marks that agents' clients leave show the authors, and a mark can be removed. So the rules for people are never
//! weaker than those that a maintainer would apply to anybody.

use std::collections::BTreeSet;

use crate::commit::author::{agent_of, agent_of_branch};
use crate::commit::change::Person;
use crate::fact::Note;
use crate::foreign_text;
use crate::git::{Range, Repo};
use crate::policy::{Policy, Strictness};

/// The authors of a range of commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authors {
    /// Agents had a hand in it, in so many of its commits.
    Agents {
        names: BTreeSet<String>,
        /// The commits with a mark.
        marked: usize,
    },
    /// Nothing of it has the mark of an agent.
    Unmarked,
    /// Some commits cannot be read.
    Unknown,
}

/// Reads who wrote `range`, which comes from `branch` and was proposed by `opener`.
pub fn of_range(repo: &Repo, range: &Range, branch: Option<&str>, opener: Option<&str>) -> Authors {
    let login = |login: &str| {
        let person = Person { name: login.to_owned(), email: String::new() };
        agent_of(&person, &person, "")
    };
    let mut names: BTreeSet<String> =
        branch.and_then(agent_of_branch).into_iter().chain(opener.and_then(login)).collect();
    let mut marked = 0;
    let Ok(log) = repo.log(range) else { return Authors::Unknown };
    for logged in log {
        match logged {
            Ok(logged) if !logged.cut_off => {
                let commit = logged.commit;
                let agent = agent_of(&commit.author, &commit.committer, &commit.message);
                marked += usize::from(agent.is_some());
                names.extend(agent);
            }
            _ => return Authors::Unknown,
        }
    }
    if names.is_empty() { Authors::Unmarked } else { Authors::Agents { names, marked } }
}

/// Lets no gate do more than the policy wants of such authors, and says so.
pub fn apply(policy: &mut Policy, authors: &Authors) -> Note {
    let Strictness { agents, people } = policy.ci;
    let (most, who) = match authors {
        Authors::Agents { names, marked } => {
            let names: Vec<String> = names.iter().map(|name| foreign_text::one_line(name)).collect();
            let names = names.join(", ");
            let noun = if *marked == 1 { "commit" } else { "commits" };
            (agents, format!("agents had a hand in it ({names}; {marked} {noun} with a mark)"))
        }
        Authors::Unmarked => (people, "no commit of it has the mark of an agent".to_owned()),
        Authors::Unknown => (agents.max(people), "gate cannot tell who wrote it".to_owned()),
    };
    for gate in &mut policy.gates {
        gate.mode = gate.mode.min(most);
    }
    let text = format!("{who}, so gates do no more than {} ([ci] in gate.toml)", most.as_str());
    Note::new("authorship", text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Mode, PolicySource};
    use crate::{config, gates};

    #[test]
    fn no_gate_does_more_than_its_authors_deserve() {
        let agents = || Authors::Agents { names: BTreeSet::from(["claude".to_owned()]), marked: 2 };
        for (ci, authors, most, says) in [
            ("people = \"warn\"", Authors::Unmarked, Mode::Warn, "no commit of it has the mark"),
            ("people = \"warn\"", agents(), Mode::Block, "(claude; 2 commits with a mark)"),
            ("people = \"warn\"", Authors::Unknown, Mode::Block, "cannot tell"),
            ("agents = \"observe\"", agents(), Mode::Observe, "no more than observe"),
            ("agents = \"observe\"", Authors::Unmarked, Mode::Block, "no more than block"),
            ("agents = \"warn\"\npeople = \"observe\"", Authors::Unknown, Mode::Warn, "cannot tell"),
        ] {
            let text = format!("[gates.tests]\nmode = \"block\"\n[gates.build]\nmode = \"off\"\n[ci]\n{ci}\n");
            let read = config::parse("gate.toml", &text, PolicySource::WorkingTree, &gates::check_params);
            let mut policy = read.unwrap();
            let note = apply(&mut policy, &authors);
            let mode = |id: &str| policy.gates.iter().find(|gate| gate.id == id).unwrap().mode;
            assert_eq!((mode("tests"), mode("build")), (most, Mode::Off), "{ci} {authors:?}");
            assert!(note.text.contains(says), "{}", note.text);
        }
    }
}
