//! The tests that are new or changed, and the proofs on record that are of the same change.

use crate::collect::Sources;
use crate::collect::draft::base_tree;
use crate::event::{Grade, RedGreenProof};
use crate::fact::regression::{self, ChangedTest, ProofFact, TestedChange};
use crate::fact::weakening::{DeclaredTest, declared_tests, is_test_file};
use crate::fact::{Facts, Subject};
use crate::git::{GitError, Repo, TreeDiff};
use crate::oid::Oid;
use crate::policy::{Command, Policy};
use crate::repo_path::RepoPath;

/// The gate whose commands run tests.
const TESTS: &str = "tests";

/// The difference between two contents, from the point of view of their tests.
#[derive(Debug, Default)]
pub struct TestDiff {
    /// The files of tests that differ, and those that tests read.
    pub files: Vec<RepoPath>,
    /// The other files that differ.
    pub others: Vec<RepoPath>,
    /// The tests that are new or changed, each with its file.
    pub tests: Vec<(RepoPath, DeclaredTest)>,
}

impl TestDiff {
    /// Compares the trees `base` and `tree`.
    pub fn between(repo: &Repo, base: &Oid, tree: &Oid) -> Result<Self, GitError> {
        let diff = repo.diff_trees(&[(base.clone(), tree.clone())])?.pop();
        let Some(TreeDiff::Changes(changes)) = diff else { return Ok(Self::default()) };
        let paths = changes.into_iter().map(|change| change.path);
        let (files, others): (Vec<_>, Vec<_>) = paths.partition(belongs_to_tests);
        let mut tests = Vec::new();
        // A test may have moved from one of these files to another.
        let mut old = Vec::new();
        for path in files.iter().filter(|path| is_test_file(path)) {
            old.extend(declared(repo, base, path)?);
        }
        for path in files.iter().filter(|path| is_test_file(path)) {
            let new = declared(repo, tree, path)?;
            let is_known = |test: &DeclaredTest| {
                let same =
                    |known: &DeclaredTest| known.name == test.name && own_lines(&known.body) == own_lines(&test.body);
                old.iter().any(same)
            };
            tests.extend(new.into_iter().filter(|test| !is_known(test)).map(|test| (path.clone(), test)));
        }
        Ok(Self { files, others, tests })
    }
}

fn declared(repo: &Repo, tree: &Oid, path: &RepoPath) -> Result<Vec<DeclaredTest>, GitError> {
    let text = repo.blob_at(tree, path)?.and_then(|bytes| String::from_utf8(bytes).ok());
    Ok(text.map(|text| declared_tests(path, &text)).unwrap_or_default())
}

/// Returns the lines of a test, without what belongs to the next one: the beginning of its first line, decorators and
/// comments.
fn own_lines(body: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = body.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::trim).collect();
    let is_of_next = |line: &&str| line.is_empty() || ["@", "#", "//"].iter().any(|start| line.starts_with(start));
    while lines.last().is_some_and(is_of_next) {
        lines.pop();
    }
    lines
}

/// Returns `true` if a file holds tests, or lies where tests and what they read lie.
pub(super) fn belongs_to_tests(path: &RepoPath) -> bool {
    const FOLDERS: [&str; 6] = ["test", "tests", "spec", "__tests__", "testdata", "fixtures"];
    let path_text = path.to_string();
    let mut parts = path_text.split('/').rev();
    let name = parts.next().unwrap_or_default();
    is_test_file(path) || name == "conftest.py" || parts.any(|folder| FOLDERS.contains(&folder))
}

/// Adds to `facts` the tests that each subject changes, and the proofs that were recorded here, if a gate needs them.
pub(super) fn collect(sources: Sources<'_>, facts: &mut Facts) -> Result<(), GitError> {
    let Sources { repo, state, policy, .. } = sources;
    let moment = facts.moment;
    if policy.gates_of(regression::GATE, moment).next().is_none() {
        return Ok(());
    }
    for subject in &facts.subjects {
        let Some((base, tree)) = contents(repo, subject)? else { continue };
        let change = changed(policy, &subject.name, &TestDiff::between(repo, &base, &tree)?);
        facts.tested_changes.extend(change);
    }
    add_proofs(repo, policy, facts, state.proofs(), Grade::Observed).map(drop)
}

/// Returns the trees without the change of a subject and with it, if both are known.
fn contents(repo: &Repo, subject: &Subject) -> Result<Option<(Oid, Oid)>, GitError> {
    let base = base_tree(repo, &subject.base)?;
    Ok(base.zip(subject.tree.clone()))
}

fn changed(policy: &Policy, subject: &str, diff: &TestDiff) -> Option<TestedChange> {
    let commands: Vec<&Command> = policy.commands.iter().filter(|command| command.gate == TESTS).collect();
    let readers = |path: &RepoPath| {
        let readers = commands.iter().filter(|command| command.inputs.matches(path));
        readers.map(|command| command.name.clone()).collect::<Vec<_>>()
    };
    let tests = diff.tests.iter().map(|(path, test)| ChangedTest {
        path: path.clone(),
        name: test.name.clone(),
        commands: readers(path),
    });
    let tests: Vec<_> = tests.filter(|test| !test.commands.is_empty()).collect();
    let only_tests = diff.others.iter().all(|path| readers(path).is_empty());
    (!tests.is_empty()).then(|| TestedChange { subject: subject.to_owned(), tests, only_tests, proofs: Vec::new() })
}

/// Adds the proofs that are of the change of a subject: on every file that the command reads, both contents agree with
/// those of the proof. Returns the ids of those that were added.
pub fn add_proofs(
    repo: &Repo,
    policy: &Policy,
    facts: &mut Facts,
    proofs: &[(String, RedGreenProof)],
    grade: Grade,
) -> Result<Vec<String>, GitError> {
    let policy = policy.without_scratch(&facts.scratch);
    let policy = policy.naming(&facts.named_texts);
    let mut added = Vec::new();
    for change in &mut facts.tested_changes {
        let subject = facts.subjects.iter().find(|subject| subject.name == change.subject);
        let Some((base, tree)) = subject.map_or(Ok(None), |subject| contents(repo, subject))? else { continue };
        for (id, proof) in proofs {
            let command = policy.commands.iter().find(|command| command.reference().key == proof.command.key);
            let Some(command) = command else { continue };
            let pairs = [(proof.base.clone(), base.clone()), (proof.tree.clone(), tree.clone())];
            if repo.diff_trees(&pairs)?.iter().all(|diff| agrees(command, diff)) {
                let fact =
                    ProofFact { id: id.clone(), grade, command: command.name.clone(), results: proof.results.clone() };
                change.proofs.retain(|known| known.id != *id);
                change.proofs.push(fact);
                if !added.contains(id) {
                    added.push(id.clone());
                }
            }
        }
        change.proofs.sort_by(|a, b| b.id.cmp(&a.id));
    }
    Ok(added)
}

/// Returns `true` if two contents are equal on everything that a command reads.
fn agrees(command: &Command, diff: &TreeDiff) -> bool {
    match diff {
        TreeDiff::Changes(changes) => !changes.iter().any(|change| command.inputs.matches(&change.path)),
        TreeDiff::Unreadable => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_ends_where_the_next_one_begins() {
        let alone = "test_old():\n    assert old() == 1\n";
        let followed = "test_old():\n    assert old() == 1\n\n\n# Another.\n@slow\ndef ";
        assert_eq!(own_lines(alone), own_lines(followed));
        assert_ne!(own_lines(alone), own_lines(&followed.replace('1', "2")));
    }
}
