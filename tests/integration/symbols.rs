//! What became of functions: the cases of `tests/data/functions`, those of `evals` where they are, and the command.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::support::TestRepo;

#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
}

/// One case: files before and after, and what is to be said of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct Case {
    name: String,
    before: String,
    after: String,
    verdict: String,
    lost: Vec<String>,
    moved: Vec<String>,
    renamed: Vec<(String, String)>,
    emptied: Vec<String>,
    new: Vec<String>,
    unparsed: Vec<String>,
}

/// Writes the files of `== path` sections, and takes away all others.
fn put(repo: &TestRepo, text: &str) {
    clear(repo);
    for part in format!("\n{}", text.trim_start_matches('\n')).split("\n== ").skip(1) {
        let (path, content) = part.split_once('\n').unwrap_or((part, ""));
        repo.write(path, content);
    }
}

fn clear(repo: &TestRepo) {
    for entry in fs::read_dir(repo.root()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with(".git") {
            fs::remove_dir_all(path).unwrap();
        } else if path.is_file() {
            fs::remove_file(path).unwrap();
        }
    }
}

fn diff(repo: &TestRepo, arguments: &[&str]) -> (Value, i32) {
    let output = repo.gate(["symbols", "diff", "--json"].iter().chain(arguments)).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {text}"));
    (value, output.status.code().unwrap())
}

/// A name without what tells it from others of its name: `[get]` and `[cfg(unix)]`, then ` const`, then `(int)`.
fn stripped(name: &str) -> String {
    let bracket = name.find('[').filter(|at| name.ends_with(']') && *at > 0 && !name[..*at].ends_with(['.', ']', ' ']));
    let operator = name.contains("operator[]") || name.ends_with(".[]");
    let name = if operator { name } else { &name[..bracket.unwrap_or(name.len())] };
    let name = name.replace(" const", "");
    let from = name.find("operator()").map_or(0, |at| at + "operator()".len());
    let end = name[from..].find('(').map_or(name.len(), |at| from + at);
    let name = &name[..end];
    if name.contains("operator") { name } else { name.split('<').next().unwrap_or(name) }.to_owned()
}

fn names(value: &Value) -> Vec<String> {
    let mut names: Vec<String> =
        value.as_array().unwrap().iter().map(|name| stripped(name.as_str().unwrap())).collect();
    names.sort();
    names
}

fn sorted(list: &[String]) -> Vec<String> {
    let mut list: Vec<String> = list.iter().map(|name| stripped(name)).collect();
    list.sort();
    list
}

#[test]
fn cases_of_every_language() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/functions");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 12, "one file for each language");
    let repo = TestRepo::with_commit();
    let mut wrong = Vec::new();
    for file in files {
        let cases: Cases = toml::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        for case in cases.case {
            put(&repo, &case.before);
            repo.git(["add", "--all"]);
            repo.git(["commit", "--quiet", "--allow-empty", "--message", "before"]);
            put(&repo, &case.after);
            let (found, exit) = diff(&repo, &["HEAD"]);
            let renamed: BTreeSet<(String, String)> = found["renamed"]
                .as_array()
                .unwrap()
                .iter()
                .map(|pair| (stripped(pair["from"].as_str().unwrap()), stripped(pair["to"].as_str().unwrap())))
                .collect();
            let expected = match case.verdict.as_str() {
                "preserved" => 0,
                "lost" => 10,
                _ => 11,
            };
            let right = found["verdict"] == case.verdict.as_str()
                && exit == expected
                && [
                    ("lost", &case.lost),
                    ("moved", &case.moved),
                    ("emptied", &case.emptied),
                    ("new", &case.new),
                    ("unparsed", &case.unparsed),
                ]
                .iter()
                .all(|(key, expected)| names(&found[*key]) == sorted(expected))
                && renamed == case.renamed.into_iter().collect();
            if !right {
                wrong.push(format!("{}: {}: {found:#}", file.display(), case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[derive(Deserialize)]
struct Label {
    verdict: String,
    lost: Vec<String>,
    emptied: Vec<String>,
    renamed: Vec<(String, String)>,
    #[serde(default)]
    also_accept: Vec<String>,
    #[serde(default)]
    optional: Vec<String>,
}

/// The pairs in `../shared/evals/contracts/preserved`, where they are.
#[test]
fn shared_pairs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/evals/contracts/preserved");
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut wrong = Vec::new();
    for entry in entries {
        let case = entry.unwrap().path();
        let label: Label = serde_json::from_slice(&fs::read(case.join("label.json")).unwrap()).unwrap();
        let repo = TestRepo::new();
        for (state, message) in [("before", "before"), ("after", "after")] {
            clear(&repo);
            let status = std::process::Command::new("cp")
                .arg("-R")
                .arg(format!("{}/.", case.join(state).display()))
                .arg(repo.root())
                .status()
                .unwrap();
            assert!(status.success());
            repo.commit_all(message);
        }
        let (found, _) = diff(&repo, &["HEAD~1", "HEAD"]);
        let verdict = found["verdict"].as_str().unwrap();
        let optional: Vec<String> = sorted(&label.optional);
        let mut told = [names(&found["lost"]), names(&found["emptied"])].concat();
        let mut meant = [sorted(&label.lost), sorted(&label.emptied)].concat();
        told.retain(|name| !optional.contains(name));
        meant.retain(|name| !optional.contains(name));
        told.sort();
        meant.sort();
        let verdict_right = verdict == label.verdict || label.also_accept.iter().any(|other| other == verdict);
        if !verdict_right || told != meant || found["renamed"].as_array().unwrap().len() != label.renamed.len() {
            wrong.push(format!("{}: {found:#}", case.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_working_tree_counts_with_what_is_not_committed() {
    let repo = TestRepo::with_commit();
    repo.write("src/lib.rs", "mod one;\n").write("src/one.rs", "pub fn one() -> u32 {\n    1\n}\n");
    let (found, exit) = diff(&repo, &["HEAD"]);
    assert_eq!((found["verdict"].as_str(), exit), (Some("preserved"), 0));
    assert_eq!(names(&found["moved"]), ["one"]);
    assert_eq!(found["changes"][0]["to"]["file"], "src/one.rs");
    repo.remove("src/one.rs");
    let output = repo.gate(["symbols", "diff", "HEAD"]).output().unwrap();
    assert_eq!(output.status.code(), Some(10));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("lost: 1 gone") && text.contains("one src/lib.rs:1"), "{text}");
}

#[test]
fn what_cannot_be_compared_is_said() {
    let repo = TestRepo::with_commit();
    let output = repo.gate(["symbols", "diff", "nowhere"]).output().unwrap();
    assert_eq!(output.status.code(), Some(64));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("`nowhere` is not a commit or tree of this repository"), "{text}");
    repo.write("src/lib.rs", b"pub fn one() {\0}".as_slice());
    let (found, exit) = diff(&repo, &["HEAD"]);
    assert_eq!((found["verdict"].as_str(), exit), (Some("needs_yes"), 11));
    assert_eq!(found["unparsed_why"][0]["why"], "it is binary");
    repo.write("src/lib.rs", vec![b' '; (8 << 20) + 1]);
    assert_eq!(diff(&repo, &["HEAD"]).0["unparsed_why"][0]["why"], "it is larger than 8 MiB");
}
