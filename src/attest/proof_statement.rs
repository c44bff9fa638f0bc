//! A red–green proof, as a statement about the content with the change.

use serde::{Deserialize, Serialize};

use super::statement::Statement;
use super::test_run::is_id;
use crate::event::red_green::MAX_NAMES;
use crate::event::{CommandRef, RedGreen, RedGreenProof};
use crate::oid::Oid;
use crate::policy::command_key;
use crate::repo_path::RepoPath;

/// The form of the predicate.
pub const PREDICATE: &str = "urn:evidence-gate/red-green/v1";

/// A proof, and the event that recorded it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofStatement {
    /// The id of its event in the journal: later proofs have greater ones.
    pub id: String,
    pub proof: RedGreenProof,
}

/// The predicate.
#[derive(Serialize, Deserialize)]
struct ProofPredicate {
    id: String,
    name: String,
    line: String,
    dir: RepoPath,
    base: Oid,
    results: RedGreen,
}

impl ProofStatement {
    /// Returns it as a statement.
    pub fn statement(&self) -> serde_json::Result<Statement> {
        let RedGreenProof { command, base, tree, results } = &self.proof;
        let predicate = ProofPredicate {
            id: self.id.clone(),
            name: command.name.clone().unwrap_or_default(),
            line: command.line.clone(),
            dir: command.dir.clone(),
            base: base.clone(),
            results: results.clone(),
        };
        Ok(Statement::about([tree], PREDICATE, serde_json::to_value(predicate)?))
    }

    /// Reads a statement of the form [`PREDICATE`]; `Err` gives its problem.
    pub fn read(statement: &Statement) -> Result<Self, &'static str> {
        let predicate: ProofPredicate = serde_json::from_value(statement.predicate.clone())
            .map_err(|_| "it is not a red–green proof that gate made")?;
        let [tree] = <[Oid; 1]>::try_from(statement.trees()).map_err(|_| "it is not about one tree")?;
        let ProofPredicate { id, name, line, dir, base, results } = predicate;
        if results.lists().iter().any(|list| list.len() > MAX_NAMES) || !is_id(&id) {
            return Err("it is longer than any that gate writes");
        }
        let key = command_key(&line, &dir);
        let command = CommandRef { name: Some(name), line, dir, key };
        Ok(Self { id, proof: RedGreenProof { command, base, tree, results } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proof() -> ProofStatement {
        let (line, dir) = ("pytest -q".to_owned(), RepoPath::from("web"));
        let key = command_key(&line, &dir);
        let command = CommandRef { name: Some("test".to_owned()), line, dir, key };
        let results = RedGreen { proven: vec!["tests/test_a.py::one".to_owned()], ..RedGreen::default() };
        let (base, tree) = ("1".repeat(40).parse().unwrap(), "2".repeat(40).parse().unwrap());
        ProofStatement { id: "019b-0001-ab".to_owned(), proof: RedGreenProof { command, base, tree, results } }
    }

    #[test]
    fn a_proof_survives_the_way() {
        let text = serde_json::to_string(&proof().statement().unwrap()).unwrap();
        assert_eq!(ProofStatement::read(&serde_json::from_str(&text).unwrap()), Ok(proof()));
    }

    #[test]
    fn what_is_no_proof_is_refused() {
        let change = |edit: &dyn Fn(&mut serde_json::Value)| {
            let mut value = serde_json::to_value(proof().statement().unwrap()).unwrap();
            edit(&mut value);
            ProofStatement::read(&serde_json::from_value(value).unwrap()).err()
        };
        let no_proof = Some("it is not a red–green proof that gate made");
        assert_eq!(change(&|value| value["predicate"]["base"] = "main".into()), no_proof);
        assert_eq!(change(&|value| value["predicate"]["results"] = 1.into()), no_proof);
        let long = Some("it is longer than any that gate writes");
        assert_eq!(change(&|value| value["predicate"]["id"] = "a\u{1b}b".into()), long);
        assert_eq!(change(&|value| value["predicate"]["results"]["proven"] = vec!["a"; MAX_NAMES + 1].into()), long);
        let two = change(&|value| {
            let subject = value["subject"][0].clone();
            value["subject"].as_array_mut().unwrap().push(subject);
        });
        assert_eq!(two, Some("it is not about one tree"));
    }
}
