//! Every JSON record has a published schema, and satisfies it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::record_samples::samples;
use crate::support::files_below;

fn schemas() -> BTreeMap<String, Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/schema");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, serde_json::from_slice(&fs::read(&path).unwrap()).unwrap())
        })
        .collect()
}

#[test]
fn every_record_satisfies_the_schema_of_its_name() {
    let schemas = schemas();
    let mut seen = BTreeSet::new();
    for (name, record) in samples().0 {
        let validator = jsonschema::validator_for(&schemas[name]).unwrap();
        let wrong: Vec<String> =
            validator.iter_errors(&record).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(wrong.is_empty(), "{name}: {wrong:#?}\n{record:#}");
        // What people and agents write has none, or calls it otherwise.
        if !["assessment", "policy"].contains(&name) {
            assert_eq!(record["schema_version"], 1, "{name}: {record:#}");
            assert_eq!(record.as_object().unwrap().keys().next().unwrap(), "schema_version", "{name}: it comes first");
        }
        seen.insert(name.to_owned());
    }
    let known: BTreeSet<String> = schemas.into_keys().collect();
    assert_eq!(seen, known, "each schema has a real record here");
}

#[test]
fn the_page_about_records_names_each_schema() {
    let page = include_str!("../../docs/records.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let named: BTreeSet<String> = rows
        .flat_map(|cell| cell.split(", "))
        .filter(|name| name.starts_with('`'))
        .map(|name| name.replace('`', ""))
        .collect();
    assert_eq!(named, schemas().into_keys().collect());
}

#[test]
fn the_schema_of_a_case_accepts_the_cases_of_this_project() {
    let validator = jsonschema::validator_for(&schemas()["case"]).unwrap();
    let mut cases = files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"));
    cases.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    for path in &cases {
        let case: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        assert!(validator.is_valid(&case), "{}", path.display());
    }
    assert!(cases.len() > 100, "{} cases", cases.len());
}
