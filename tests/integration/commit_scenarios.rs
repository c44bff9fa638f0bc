//! Commits from the shared collection of scenarios, where it lies beside the repository; the same cases, written out, are
//! in the unit tests of the judgement.

use std::collections::BTreeSet;
use std::path::Path;

use gate::commit::change::{Commit, FileChange, PathStatus, Person};
use gate::commit::change_class::Texture;
use gate::commit::derive_scopes;
use gate::commit::judge::{CommitOutcome, judge};
use gate::commit::rules::CommitRules;
use gate::commit::scopes::ScopeTable;
use gate::embedded;
use gate::repo_path::RepoPath;
use serde_json::Value;

fn rules() -> CommitRules {
    let table: toml::Table = embedded::table("atomic.toml");
    CommitRules::read(table["params"].as_table().unwrap()).unwrap()
}

fn commit(event: &Value) -> Commit {
    let files = event["files"].as_array().unwrap().iter().map(|file| {
        let status = file["status"].as_str().unwrap();
        let status = match status.split_at(1) {
            ("A", _) => PathStatus::Added,
            ("D", _) => PathStatus::Deleted,
            ("R", score) => PathStatus::Renamed(score.parse().unwrap()),
            _ => PathStatus::Modified,
        };
        let count = |key: &str| u32::try_from(file[key].as_u64().unwrap_or(0)).unwrap();
        let texture = Texture { added: count("add"), removed: count("del"), ..Texture::default() };
        let path = RepoPath::from(file["path"].as_str().unwrap());
        FileChange { path, from: None, status, texture: (texture.lines() > 0).then_some(texture) }
    });
    let oid = |digit: &str| digit.repeat(40).parse().unwrap();
    Commit {
        id: Some(oid("1")),
        parents: vec![oid("2")],
        author: Person::default(),
        committer: Person::default(),
        message: event["message"].as_str().unwrap().to_owned(),
        files: files.collect(),
        agent: None,
        looked_into: true,
    }
}

/// What a scenario expects, and what comes out with the table that `gate init --scopes` derives from its paths.
fn replay(file: &Path) -> Option<(String, Vec<CommitOutcome>)> {
    let scenario: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let expected = scenario["expect"]["atomic"]["verdict"].as_str().filter(|verdict| *verdict != "na")?.to_owned();
    let commits: Vec<Commit> = scenario["events"]
        .as_array()?
        .iter()
        .filter(|event| event["t"] == "commit" && event["files"].is_array())
        .map(commit)
        .collect();
    let mut paths: BTreeSet<RepoPath> =
        commits.iter().flat_map(|commit| &commit.files).map(|file| file.path.clone()).collect();
    for name in scenario["start"]["files"].as_object().into_iter().flat_map(|files| files.keys()) {
        paths.insert(RepoPath::from(name.as_str()));
    }
    let paths: Vec<RepoPath> = paths.into_iter().collect();
    let table = ScopeTable::new(derive_scopes::derive(&paths, &[], &rules()).unwrap()).unwrap();
    Some((expected, commits.iter().map(|commit| judge(commit, &table, &rules()).outcome()).collect()))
}

#[test]
fn scenarios_about_atomic_commits() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/scenarios");
    let Ok(files) = std::fs::read_dir(folder) else { return };
    let mut judged = 0;
    for file in files {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let Some((expected, outcomes)) = replay(&path) else { continue };
        let worst = outcomes.iter().max().copied().unwrap_or(CommitOutcome::Skip);
        let wanted: &[CommitOutcome] = match expected.as_str() {
            "block" => &[CommitOutcome::Block],
            "warn" => &[CommitOutcome::Advise],
            _ => &[CommitOutcome::Skip, CommitOutcome::Pass, CommitOutcome::Advise],
        };
        assert!(wanted.contains(&worst), "{}: {expected}, found {worst:?}", path.display());
        judged += 1;
    }
    assert!(judged >= 6, "the collection holds six: {judged}");
}
